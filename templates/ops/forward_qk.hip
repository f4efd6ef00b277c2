//% -- S = Q K^T and O = P V. A lane owns the key, and of the output the dimension, lane mod N, of sixteen or thirty-two; lane group g holds
//% -- the queries L g ... L g + L - 1 of a tile of N (L elements of an accumulator). Row maxima and sums are butterflies over N lanes, and P
//% -- goes through LDS to become an operand. With --pipeline 2, Q K^T of the next tile is issued before the softmax of this one.
//%
//% local D, DV, BK = spec.head_dim, forward.v_columns, spec.block_k
//% local R, VT, KT, J = forward.wave_tiles, forward.v_steps, forward.k_steps, forward.key_steps
//% local L, N, operand = atom.sums, atom.n, atom.operand
//% local fence = forward.k_fence
//% local causal = spec.mask ~= "none"
//% -- Q in registers and P are read as operands, whose rows are the atom's to choose; Q in LDS stands there row by row.
//% local p_row = atom.row("rows.lane")
//% local q_row = spec.q_path == "register" and p_row or "rows.lane % " .. N
/* The running state of the wave's rows: per tile of $(N) rows, the operand Q, the output before its division by l, and per row the maximum m
 * (in units of log 2, after scaling) and the lane's share of the sum l. */
struct fmha_rows {
//% if spec.q_path == "register" then
    $(operand) q[$(R)][$(KT)];
//% else
    element *q_lds[$(R)];
//% end
    element *p_lds[$(R)];
    accumulator o[$(R)][$(VT)];
    float m[$(R)][$(L)], l[$(R)][$(L)];
//% if spec.pipeline == 2 then
    accumulator s[$(R)][$(J)]; /* scores of the tile to come */
//% end
    int query[$(R)], head[$(R)]; /* first query and head of a tile; the same in all lanes */
//% forward.sequence_members()
//% forward.slice_members()
//% forward.scale_members()
//% if cache.evens then
    u32 v_unit[$(R)][$(L)]; /* bits of the power of two that O of a row is in units of */
//% end
    float scale_log2;
//% if forward.diagonal then
    int diagonal;
//% end
//% if score.any then
    struct fmha_score score;
//% end
    u32 lane, group;
};

//% include("ops/forward_q.hip")

//% if score.spans then
/* Whether the lane's i-th query sees the key: all but what fmha_modify says. */
FMHA_INLINE bool fmha_sees(const struct fmha_rows &rows, int r, int i, int key)
{
    int low, high;
    fmha_span(rows.score, rows.query[r] + (int)fmha_group_first(rows.group) + i, low, high);
//%     if score.gaps then
    return fmha_in_span(rows.score, key, low, high) && fmha_visits(rows.score, key / $(BK));
//%     else
    return fmha_in_span(rows.score, key, low, high);
//%     end
}

//% else
/* Keys below this number are seen by the lane's i-th query. */
FMHA_INLINE int fmha_visible(const struct fmha_rows &rows, const struct fmha_keys &keys, int r, int i)
{
//% if causal then
    return fmha_min(keys.seqlen_k, rows.query[r] + (int)fmha_group_first(rows.group) + i + 1 + rows.diagonal);
//% else
    (void)rows, (void)r, (void)i;
    return keys.seqlen_k;
//% end
}
//% end

FMHA_INLINE void fmha_begin(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
    fmha_load_q(rows, arguments, batch, fmha_natural($(q_row)));
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int i = 0; i < $(L); ++i) {
            rows.m[r][i] = -fmha_infinity();
            rows.l[r][i] = 0.0f;
//% if cache.evens then
            rows.v_unit[r][i] = 0x00800000;
//% end
        }
#pragma unroll
        for (int t = 0; t < $(VT); ++t)
            rows.o[r][t] = (accumulator)(0.0f);
    }
}

/* S = Q K^T of a tile. */
FMHA_INLINE void fmha_products(accumulator s[$(R)][$(J)], const struct fmha_rows &rows, const struct fmha_keys &keys, int tile, bool part)
{
//% forward.priority(1)
#pragma unroll
    for (int j = 0; j < $(J); ++j) {
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            s[r][j] = (accumulator)(0.0f);
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const $(operand) k = fmha_k_operand(keys, tile, part, (u32)j, (u32)t);
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                s[r][j] = fmha_mma(fmha_q_operand(rows, r, t), k, s[r][j]);
//% if fence > 0 then
            if (t % $(fence) == $(fence - 1) || (part && t % 2 == 1))
                FMHA_SCHEDULE_FENCE();
//% else
            if (part && t % 2 == 1)
                FMHA_SCHEDULE_FENCE();
//% end
        }
    }
//% forward.priority(0)
}

//% if spec.pipeline == 2 then
FMHA_INLINE void fmha_scores(struct fmha_rows &rows, const struct fmha_keys &keys, int tile)
{
    fmha_products(rows.s, rows, keys, tile, true);
}

//% end
/* Adds the elements of V that are not finite, from key `first` on, to the rows that see their keys, whatever the weight. */
FMHA_INLINE void fmha_add_broken(struct fmha_rows &rows, const struct fmha_keys &keys, int first)
{
#pragma nounroll
    for (int key = first; key < keys.seqlen_k; ++key) {
#pragma unroll
        for (int t = 0; t < $(VT); ++t) {
            const u32 dimension = (u32)t * $(N) + rows.lane % $(N);
            const float v = fmha_broken_element(keys, key, dimension);
#pragma unroll
            for (int r = 0; r < $(R); ++r) {
#pragma unroll
                for (int i = 0; i < $(L); ++i)
//% if score.hides then
                    rows.o[r][t][i] += fmha_sees(rows, r, i, key) && fmha_modify(rows.score, r, 0.0f, rows.query[r] + (int)fmha_group_first(rows.group) + i, key) != -fmha_infinity() ? v : 0.0f;
//% elseif score.spans then
                    rows.o[r][t][i] += fmha_sees(rows, r, i, key) ? v : 0.0f;
//% else
                    rows.o[r][t][i] += key < fmha_visible(rows, keys, r, i) ? v : 0.0f;
//% end
            }
            FMHA_SCHEDULE_FENCE();
        }
    }
}

/* Folds a tile into the rows. broken: becomes not 0 if V, straight from global memory, has something that is not finite in a masked tile. */
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, const struct fmha_keys &keys, int tile, int tiles, bool masked, u32 &broken)
{
#pragma clang fp contract(off)
    accumulator s[$(R)][$(J)];
    (void)broken;
//% if spec.pipeline == 2 then
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int j = 0; j < $(J); ++j)
            s[r][j] = rows.s[r][j];
    }
    fmha_scores(rows, keys, fmha_min(tile + 1, tiles - 1));
//% else
    (void)tiles;
    fmha_products(s, rows, keys, tile, masked);
//% end

#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        /* m' = max(m, rowmax S). The exponents below are differences of two products rounded alike, so they are never positive. */
        float maximum[$(L)];
//% if score.transforms or score.weights or score.spans then
        const int first_key = tile * $(BK) + (int)(rows.lane % $(N)), first_query = rows.query[r] + (int)fmha_group_first(rows.group);
//% end
#pragma unroll
        for (int i = 0; i < $(L); ++i) {
            maximum[i] = rows.m[r][i];
//% if score.spans then
            int low, high;
            fmha_span(rows.score, first_query + i, low, high);
//% end
#pragma unroll
            for (int j = 0; j < $(J); ++j) {
                s[r][j][i] *= $(score.scale);
//% if cache.token then
                s[r][j][i] *= keys.k_scale_lds[(u32)j * $(N) + rows.lane % $(N)];
//% end
//% if score.transforms then
                s[r][j][i] = fmha_modify(rows.score, r, s[r][j][i], first_query + i, first_key + j * $(N));
//%     if score.fence then
                FMHA_SCHEDULE_FENCE();
//%     end
//% end
//% if score.spans then
                if (masked)
                    s[r][j][i] = fmha_in_span(rows.score, first_key + j * $(N), low, high) ? s[r][j][i] : -fmha_infinity();
//% else
                if (masked) {
                    const int visible = fmha_visible(rows, keys, r, i) - tile * $(BK) - (int)(rows.lane % $(N));
                    s[r][j][i] = j * $(N) < visible ? s[r][j][i] : -fmha_infinity();
                }
//% end
                maximum[i] = __builtin_fmaxf(maximum[i], s[r][j][i]);
            }
        }
#pragma unroll
        for (int i = 0; i < $(L); ++i) {
            maximum[i] = fmha_row_max(maximum[i]);
            /* A row that has seen no key has no maximum: any finite reference gives it the weights 2^-inf = 0. */
            const float reference = maximum[i] == -fmha_infinity() ? 0.0f : maximum[i];
            const float alpha = __builtin_amdgcn_exp2f(rows.m[r][i] - reference);
            rows.m[r][i] = maximum[i];

            /* P = 2^(S - m'), l = alpha l + rowsum P */
            float sum = 0.0f;
#pragma unroll
            for (int j = 0; j < $(J); ++j) {
//% local exponent = forward.exponent("s[r][j][i]", "reference")
//% if score.weights then
                float weight = __builtin_amdgcn_exp2f($(exponent));
                sum += weight;
                fmha_weigh(rows.score, r, &weight, first_query + i, first_key + j * $(N));
                FMHA_SCHEDULE_FENCE();
//% else
                const float weight = __builtin_amdgcn_exp2f($(exponent));
                sum += weight;
//% end
//% if cache.token then
                s[r][j][i] = weight * keys.v_scale_lds[(u32)j * $(N) + rows.lane % $(N)]; /* into the weight, not into l */
            }
//%     if cache.evens then
            float largest = 0.0f, shrink;
#pragma unroll
            for (int j = 0; j < $(J); ++j)
                largest = __builtin_fmaxf(largest, __builtin_fabsf(s[r][j][i]));
            const float per_unit = fmha_unit(rows.v_unit[r][i], fmha_row_max(largest), shrink);
//%     end
//%     local of_unit, factor = cache.evens and " * per_unit" or "", cache.evens and "alpha * shrink" or "alpha"
//%     local weight = "s[r][j][i]" .. of_unit
#pragma unroll
            for (int j = 0; j < $(J); ++j)
                rows.p_lds[r][fmha_row(fmha_group_first(rows.group) + (u32)i) * $(forward.p_row) + (u32)j * $(N) + rows.lane % $(N)] = fmha_to_element($(weight));
            rows.l[r][i] = rows.l[r][i] * alpha + sum;
#pragma unroll
            for (int t = 0; t < $(VT); ++t)
                rows.o[r][t][i] *= $(factor);
//% else
                rows.p_lds[r][fmha_row(fmha_group_first(rows.group) + (u32)i) * $(forward.p_row) + (u32)j * $(N) + rows.lane % $(N)] = fmha_to_element(weight);
            }
            rows.l[r][i] = rows.l[r][i] * alpha + sum;
#pragma unroll
            for (int t = 0; t < $(VT); ++t)
                rows.o[r][t][i] *= alpha;
//% end
        }
//% if R > 1 then
        FMHA_SCHEDULE_FENCE(); /* one tile of rows after the other: fewer registers */
//% end
    }
    fmha_wave_barrier();

    /* O = alpha O + P V */
//% forward.priority(1)
#pragma unroll
    for (int j = 0; j < $(J); ++j) {
        $(operand) p[$(R)];
#pragma unroll
        for (int r = 0; r < $(R); ++r) {
            const u32 at = $(p_row) * $(forward.p_row) + (u32)j * $(N);
//% local p_operand = tiles.lds_operand("rows.p_lds[r]", "at", "fmha_group_first(rows.group)")
            p[r] = $(p_operand);
        }
#pragma unroll
        for (int t = 0; t < $(VT); ++t) {
//% if forward.v_lds then
            const $(operand) v = fmha_v_operand(keys, (u32)t, (u32)j);
//% else
            const $(operand) v = fmha_v_operand(keys, tile, masked, (u32)t, (u32)j, broken);
//% end
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                rows.o[r][t] = fmha_mma(p[r], v, rows.o[r][t]);
//% if forward.v_lds then
            if (masked || t % 4 == 3)
                FMHA_SCHEDULE_FENCE();
//% else
            FMHA_SCHEDULE_FENCE();
//% end
        }
    }
//% forward.priority(0)
    fmha_wave_barrier(); /* P of the next tile overwrites this one */
}

//% local numerator = cache.evens and "__builtin_bit_cast(float, rows.v_unit[r][i])" or forward.numerator
/* O = o / l and LSE = log 2 (m + log2 l); a row without a visible key has l = 0, O = 0 and LSE = -inf. */
FMHA_INLINE void fmha_end(const struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
#pragma clang fp contract(off)
    u32 lane = rows.lane;
    FMHA_OPAQUE(lane); /* what follows from it is worked out here, not kept in registers through the loops */
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        const i64 lse_row = $(forward.lse_row);
        element *o_head = arguments.o + $(forward.o_begin) + rows.head[r] * arguments.stride_o_head;
#pragma unroll
        for (int i = 0; i < $(L); ++i) {
            const int query = rows.query[r] + (int)fmha_group_first(lane / $(N)) + i;
//% if score.finishes then
//%     local whole, begin = forward.l:gsub("^l", "fmha_row_sum(rows.l[r][i])"), forward.factor
//%     if numerator then begin = begin .. " * " .. numerator end
            float m = rows.m[r][i], l = $(whole), factor = $(begin);
            fmha_finish(rows.score, r, m, l, factor);
            const float inverse = l == 0.0f ? 0.0f : factor / l;
//% else
//%     local dividend = numerator or "1.0f"
            const float l = fmha_row_sum(rows.l[r][i]), inverse = l == 0.0f ? 0.0f : $(dividend) / l;
//% end
            if (query < $(forward.seqlen_q)) {
                element *o = o_head + query * arguments.stride_o_row;
#pragma unroll
                for (int t = 0; t < $(VT); ++t) {
                    const u32 dimension = (u32)t * $(N) + lane % $(N);
//% local own = "dimension < " .. DV .. (forward.v_shared and " && dimension >= rows.v_own" or "")
                    if ($(own))
                        o[dimension] = fmha_to_element(rows.o[r][t][i] * inverse);
                }
//% local m, l = score.finishes and "m" or "rows.m[r][i]", score.finishes and "l" or forward.l
                if ($(forward.writes_lse) && lane % $(N) == 0)
                    arguments.lse[lse_row + query] = 0.69314718055994531f * ($(m) + __builtin_amdgcn_logf($(l)));
            }
            FMHA_SCHEDULE_FENCE();
        }
    }
}
