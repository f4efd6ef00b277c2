//% -- S^T = K Q^T and O^T = V^T P^T. A lane owns the query lane mod N, of sixteen or thirty-two; its lane group g holds, of each M keys, the
//% -- numbers L g ... L g + L - 1 (L elements of an accumulator), and of the output the dimensions with those numbers. So the row's maximum
//% -- and sum are in-lane but for one exchange between groups or two, P becomes an operand as it stands or by exchanging whole registers,
//% -- and the output's neighbours are neighbours in memory.
//%
//% local D, DV, BK = spec.head_dim, forward.v_columns, spec.block_k
//% local R, KT, VT, J = forward.wave_tiles, forward.k_steps, forward.v_steps, forward.key_steps
//% local L, M, N, operand = atom.sums, atom.tile, atom.n, atom.operand
//% local fence = forward.k_fence
//% local causal = spec.mask ~= "none"
//% local fast = spec.align == 16
/* The running state of the wave's rows: per tile of $(N) rows, the operand Q, the output before its division by l, the maximum m (in units of
 * log 2, after scaling) and the lane's share of the sum l. */
struct fmha_rows {
//% if spec.q_path == "register" then
    $(operand) q[$(R)][$(KT)];
//% else
//%     local cell = cache.cell
    $(cell) *q_lds[$(R)];
//% end
//% if cache.native then
    float row_scale[$(R)]; /* of the lane's row: what makes a score of a product */
//% end
    accumulator o[$(R)][$(VT)];
    float m[$(R)], l[$(R)];
//% if spec.op ~= "forward" then
    int query[$(R)], head[$(R)]; /* of the lane's row */
//% else
    int query[$(R)], head[$(R)]; /* first query and head of a tile; the same in all lanes */
//% end
//% forward.split_members()
//% forward.sequence_members()
//% forward.slice_members()
//% forward.scale_members()
//% if cache.evens then
    u32 v_unit[$(R)]; /* bits of the power of two that O of the lane's row is in units of */
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
/* Whether the lane's query sees the key: all but what fmha_modify says. */
FMHA_INLINE bool fmha_sees(const struct fmha_rows &rows, int r, int key)
{
    int low, high;
    fmha_span(rows.score, $(forward.query), low, high);
//%     if score.gaps then
    return fmha_in_span(rows.score, key, low, high) && fmha_visits(rows.score, key / $(BK));
//%     else
    return fmha_in_span(rows.score, key, low, high);
//%     end
}

//% else
/* Keys below this number are seen by the lane's query. */
FMHA_INLINE int fmha_visible(const struct fmha_rows &rows, const struct fmha_keys &keys, int r)
{
//% if causal then
    return fmha_min(keys.seqlen_k, $(forward.query) + 1 + rows.diagonal);
//% else
    (void)rows, (void)r;
    return keys.seqlen_k;
//% end
}
//% end

FMHA_INLINE void fmha_begin(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
    fmha_load_q(rows, arguments, batch, rows.lane % $(N));
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        rows.m[r] = -fmha_infinity();
        rows.l[r] = 0.0f;
//% if cache.evens then
        rows.v_unit[r] = 0x00800000;
//% end
#pragma unroll
        for (int t = 0; t < $(VT); ++t)
            rows.o[r][t] = (accumulator)(0.0f);
    }
}

/* Adds the elements of V that are not finite, from key `first` on, to the rows that see their keys, whatever the weight. */
FMHA_INLINE void fmha_add_broken(struct fmha_rows &rows, const struct fmha_keys &keys, int first)
{
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//% if score.spans then
#pragma nounroll
        for (int key = first; key < keys.seqlen_k; ++key) {
//%     local hidden = score.hides and "fmha_modify(rows.score, r, 0.0f, " .. forward.query .. ", key) == -fmha_infinity()"
//%     if hidden then
            if (!fmha_sees(rows, r, key) || $(hidden))
                continue;
//%     else
            if (!fmha_sees(rows, r, key))
                continue;
//%     end
//% else
        const int end = fmha_visible(rows, keys, r);
#pragma nounroll
        for (int key = first; key < end; ++key) {
//% end
#pragma unroll
            for (int t = 0; t < $(VT); ++t) {
#pragma unroll
                for (int i = 0; i < $(L); ++i) {
//% if forward.sharing > 1 then
                    const u32 dimension = rows.v_first + (u32)t * $(M) + fmha_group_first(rows.group) + (u32)i;
//% else
                    const u32 dimension = (u32)t * $(M) + fmha_group_first(rows.group) + (u32)i;
//% end
                    rows.o[r][t][i] += fmha_broken_element(keys, key, dimension);
                }
                FMHA_SCHEDULE_FENCE();
            }
        }
    }
}

//% if forward.sharing > 1 then
//%     local sharing, lanes, fours = forward.sharing, spec.wave, L // 4
/* Each wave's sums over its part of the head dimension become the scores, the same in all waves that share the rows: they add the parts in one
 * order. The next tile's barriers keep its parts from those that are still read here. */
FMHA_INLINE void fmha_add_scores(const struct fmha_rows &rows, accumulator s[$(R)][$(J)])
{
#pragma clang fp contract(off)
    typedef float float4 __attribute__((ext_vector_type(4)));
    float4 *parts = (float4 *)rows.s_lds + rows.lane, *own = parts + rows.v_first / $(VT * M) * $(R * J * fours * lanes);
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
#pragma unroll
            for (int e = 0; e < $(fours); ++e)
                own[((r * $(J) + j) * $(fours) + e) * $(lanes)] = (float4){s[r][j][4 * e], s[r][j][4 * e + 1], s[r][j][4 * e + 2], s[r][j][4 * e + 3]};
        }
    }
    fmha_barrier();
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
#pragma unroll
            for (int e = 0; e < $(fours); ++e) {
                float4 sum = parts[((r * $(J) + j) * $(fours) + e) * $(lanes)];
#pragma unroll
                for (int part = 1; part < $(sharing); ++part)
                    sum += parts[part * $(R * J * fours * lanes) + ((r * $(J) + j) * $(fours) + e) * $(lanes)];
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    s[r][j][4 * e + i] = sum[i];
            }
        }
    }
}

//% end
/* Folds a tile into the rows. broken: becomes not 0 if V, straight from global memory, has something that is not finite in a masked tile. */
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, const struct fmha_keys &keys, int tile, int tiles, bool masked, u32 &broken)
{
#pragma clang fp contract(off)
    accumulator s[$(R)][$(J)];
    $(operand) p[$(R)][$(J)];
    (void)tiles, (void)broken;

    /* S^T = K Q^T */
#pragma unroll
    for (int j = 0; j < $(J); ++j) {
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            s[r][j] = (accumulator)(0.0f);
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const $(atom.rows) k = fmha_k_operand(keys, tile, masked, (u32)j, (u32)t);
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                s[r][j] = fmha_mma(k, fmha_q_operand(rows, r, t), s[r][j]);
//% if fence > 0 then
            if (t % $(fence) == $(fence - 1) || (masked && t % 2 == 1))
                FMHA_SCHEDULE_FENCE();
//% else
            if (masked && t % 2 == 1)
                FMHA_SCHEDULE_FENCE();
//% end
        }
    }

//% if forward.sharing > 1 then
    fmha_add_scores(rows, s);

//% end
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        /* m' = max(m, rowmax S). The exponent below is a difference of two products rounded alike, so it is never positive. */
        float maximum = rows.m[r];
//% if score.transforms or score.weights or score.spans then
        const int query = $(forward.query), first_key = tile * $(BK) + (int)fmha_group_first(rows.group);
//% end
//% if score.spans then
        int low, high;
        fmha_span(rows.score, query, low, high);
//% end
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
#pragma unroll
            for (int i = 0; i < $(L); ++i) {
                s[r][j][i] *= $(score.scale);
//% if cache.token then
                s[r][j][i] *= keys.k_scale_lds[(u32)j * $(M) + fmha_group_first(rows.group) + (u32)i];
//% end
//% if score.transforms then
                s[r][j][i] = fmha_modify(rows.score, r, s[r][j][i], query, first_key + j * $(M) + i);
//%     if score.fence then
                if (i % 4 == 3)
                    FMHA_SCHEDULE_FENCE();
//%     end
//% end
//% if score.spans then
                if (masked)
                    s[r][j][i] = fmha_in_span(rows.score, first_key + j * $(M) + i, low, high) ? s[r][j][i] : -fmha_infinity();
//% else
                if (masked) {
                    const int visible = fmha_visible(rows, keys, r) - tile * $(BK) - (int)fmha_group_first(rows.group);
                    s[r][j][i] = j * $(M) + i < visible ? s[r][j][i] : -fmha_infinity();
                }
//% end
                maximum = __builtin_fmaxf(maximum, s[r][j][i]);
            }
        }
        maximum = fmha_group_max(maximum);
        /* A row that has seen no key has no maximum: any finite reference gives it the weights 2^-inf = 0. */
        const float reference = maximum == -fmha_infinity() ? 0.0f : maximum;
        const float alpha = __builtin_amdgcn_exp2f(rows.m[r] - reference);
        rows.m[r] = maximum;

        /* P = 2^(S - m'), l = alpha l + rowsum P */
        float sum = 0.0f;
//% if cache.token then
//%     if cache.evens then
        float largest = 0.0f;
//%     end
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
//%     local exponent = forward.exponent("s[r][j][i]")
#pragma unroll
            for (int i = 0; i < $(L); ++i) {
                s[r][j][i] = __builtin_amdgcn_exp2f($(exponent));
                sum += s[r][j][i];
            }
//%     if score.weights then
            float weight[$(L)];
#pragma unroll
            for (int i = 0; i < $(L); ++i)
                weight[i] = s[r][j][i];
#pragma unroll
            for (int i = 0; i < $(L); i += $(score.run)) {
                fmha_weigh(rows.score, r, weight + i, query, first_key + j * $(M) + i);
                FMHA_SCHEDULE_FENCE();
            }
#pragma unroll
            for (int i = 0; i < $(L); ++i)
                s[r][j][i] = weight[i];
//%     end
            /* V's scale goes into the weight, not into l. */
#pragma unroll
            for (int i = 0; i < $(L); ++i) {
                s[r][j][i] *= keys.v_scale_lds[(u32)j * $(M) + fmha_group_first(rows.group) + (u32)i];
//%     if cache.evens then
                largest = __builtin_fmaxf(largest, __builtin_fabsf(s[r][j][i]));
//%     end
            }
        }
//%     if cache.evens then
        float shrink;
        const float per_unit = fmha_unit(rows.v_unit[r], fmha_group_max(largest), shrink);
//%     end
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
//%     local registers = L // 4 * cache.cell_bytes
            u32 own[$(registers)];
//%     local of_unit = cache.evens and " * per_unit" or ""
//%     local low, high = "s[r][j][i]" .. of_unit, "s[r][j][i + 1]" .. of_unit
#pragma unroll
//%     if cache.native then
            for (int i = 0; i < $(L); i += 4)
                own[i / 4] = fmha_pack_four($(low), $(high), s[r][j][i + 2] * per_unit, s[r][j][i + 3] * per_unit);
//%     else
            for (int i = 0; i < $(L); i += 2)
                own[i / 2] = fmha_pack($(low), $(high));
//%     end
            p[r][j] = fmha_gather_operand(own, rows.group);
        }
        rows.l[r] = rows.l[r] * alpha + sum;
//%     local factor = cache.evens and "alpha * shrink" or "alpha"
#pragma unroll
        for (int t = 0; t < $(VT); ++t)
            rows.o[r][t] *= $(factor);
//% else
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
//% local registers = L // 4 * cache.cell_bytes
            u32 own[$(registers)];
//% if cache.native then
#pragma unroll
            for (int i = 0; i < $(L); i += 4) {
                float weight[4];
#pragma unroll
                for (int n = 0; n < 4; ++n) {
//%     local exponent = forward.exponent("s[r][j][i + n]")
                    weight[n] = __builtin_amdgcn_exp2f($(exponent));
                    sum += weight[n];
                }
                own[i / 4] = fmha_pack_four(weight[0], weight[1], weight[2], weight[3]);
            }
//% elseif score.weights then
            float weight[$(L)];
#pragma unroll
            for (int i = 0; i < $(L); ++i) {
//%     local exponent = forward.exponent("s[r][j][i]")
                weight[i] = __builtin_amdgcn_exp2f($(exponent));
                sum += weight[i];
            }
#pragma unroll
            for (int i = 0; i < $(L); i += $(score.run)) {
                fmha_weigh(rows.score, r, weight + i, query, first_key + j * $(M) + i);
                FMHA_SCHEDULE_FENCE();
            }
#pragma unroll
            for (int i = 0; i < $(L); i += 2)
                own[i / 2] = fmha_pack(weight[i], weight[i + 1]);
//% else
#pragma unroll
            for (int i = 0; i < $(L); i += 2) {
//% local low, high = forward.exponent("s[r][j][i]"), forward.exponent("s[r][j][i + 1]")
                const float low = __builtin_amdgcn_exp2f($(low));
                const float high = __builtin_amdgcn_exp2f($(high));
                sum += low;
                sum += high;
                own[i / 2] = fmha_pack(low, high);
            }
//% end
            p[r][j] = fmha_gather_operand(own, rows.group);
        }
        rows.l[r] = rows.l[r] * alpha + sum;
#pragma unroll
        for (int t = 0; t < $(VT); ++t)
            rows.o[r][t] *= alpha;
//% end
//% if R > 1 then
        FMHA_SCHEDULE_FENCE(); /* one tile of rows after the other: fewer registers */
//% end
    }


    /* O^T = alpha O^T + V^T P^T */
#pragma unroll
    for (int t = 0; t < $(VT); ++t) {
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
//% if forward.v_lds then
            const $(atom.rows) v = fmha_v_operand(keys, (u32)t, (u32)j);
//% else
            const $(atom.rows) v = fmha_v_operand(keys, tile, masked, (u32)t, (u32)j, broken);
//% end
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                rows.o[r][t] = fmha_mma(v, p[r][j], rows.o[r][t]);
        }
//% if forward.v_lds then
        if (masked || t % 4 == 3)
            FMHA_SCHEDULE_FENCE();
//% else
        FMHA_SCHEDULE_FENCE();
//% end
    }
}

/* Stores the lane's part of a row of O: o / l. */
//% local own_parameter, own_member = forward.v_shared and ", u32 v_own" or "", forward.v_shared and ", rows.v_own" or ""
//% local own = "dimension < " .. DV .. (forward.v_shared and " && dimension >= v_own" or "")
//% if forward.sharing > 1 then
//%     own = "true"
//%     if forward.sharing * VT * M > DV then own_parameter, own_member, own = ", u32 v_first", ", rows.v_first", "v_first + dimension < " .. DV end
//% end
//% local parameters, row = "element *to, const accumulator o[" .. VT .. "], float inverse, u32 group" .. own_parameter, "o, rows.o[r], inverse, lane / " .. N .. own_member
FMHA_INLINE void fmha_store_row($(parameters))
{
#pragma clang fp contract(off)
//% local pieces = (L + 7) // 8 -- of what a lane has of a tile
//% local words, element = L // pieces // 2, pieces == 1 and "2 * i" or "e + 2 * i"
#pragma unroll
//% if pieces == 1 then
    for (int t = 0; t < $(VT); ++t) {
        const u32 dimension = (u32)t * $(M) + fmha_group_first(group);
//% else
    for (int n = 0; n < $(VT * pieces); ++n) {
        const int t = n / $(pieces), e = n % $(pieces) * 8; /* elements e ... e + 7 of tile t */
        const u32 dimension = (u32)t * $(M) + fmha_group_first(group) + (u32)e;
//% end
        u32 packed[$(words)];
#pragma unroll
        for (int i = 0; i < $(words); ++i)
            packed[i] = fmha_pack(o[t][$(element)] * inverse, o[t][$(element) + 1] * inverse);
        if ($(own))
            fmha_store_packed(to + dimension, packed);
        FMHA_SCHEDULE_FENCE();
    }
}

//% local numerator = cache.evens and "__builtin_bit_cast(float, rows.v_unit[r])" or forward.numerator
//% local decode = spec.op ~= "forward" and decoding
//% if decode then decode.store_row(parameters, own) end
/* O = o / l and LSE = log 2 (m + log2 l); a row without a visible key has l = 0, O = 0 and LSE = -inf. */
FMHA_INLINE void fmha_end(const struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
#pragma clang fp contract(off)
    u32 lane = rows.lane;
    FMHA_OPAQUE(lane); /* what follows from it is worked out here, not kept in registers through the loops */
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//% if decode then
        const int query = rows.query[r];
//% else
        const int query = rows.query[r] + (int)(lane % $(N));
//% end
//% if score.finishes then
//%     local whole, begin = forward.l:gsub("^l", "fmha_group_sum(rows.l[r])"), forward.factor
//%     if numerator then begin = begin .. " * " .. numerator end
        float m = rows.m[r], l = $(whole), factor = $(begin);
        fmha_finish(rows.score, r, m, l, factor);
        const float inverse = l == 0.0f ? 0.0f : factor / l;
//% else
        const float l = fmha_group_sum(rows.l[r]);
//%     local dividend = numerator or "1.0f"
        const float inverse = l == 0.0f ? 0.0f : $(dividend) / l;
//% end
//% if decode then
        if (rows.first[r] + (int)(lane % $(N)) >= rows.count)
            continue;
//% else
        if (query >= $(forward.seqlen_q))
            continue;
//% end
//% local m, l = score.finishes and "m" or "rows.m[r]", score.finishes and "l" or forward.l
//% if decode then decode.store(m, l, row) end
        if ($(forward.writes_lse) && lane / $(N) == 0)
            arguments.lse[$(forward.lse_row) + query] = 0.69314718055994531f * ($(m) + __builtin_amdgcn_logf($(l)));
        element *o = arguments.o + $(forward.o_begin) + rows.head[r] * arguments.stride_o_head + query * arguments.stride_o_row;
        fmha_store_row($(row));
    }
}
