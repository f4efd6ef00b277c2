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
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
//% local paired = arch.dual_issue and forward.skips and not cache.token and spec.k_path ~= "direct" -- which has no register left
//% local fused = forward.fused -- products become exponents by a multiply-add, where no key is masked
/* The running state of the wave's rows: per tile of $(N) rows, the operand Q, the output before its division by l, the maximum m (in units of
 * log 2, after scaling) and the lane's share of the sum l. */
struct fmha_rows {
//% if spec.q_path == "register" then
    $(atom.q) q[$(R)][$(KT)];
//% else
//%     local cell = cache.cell
    $(cell) *q_lds[$(R)];
//% end
//% if cache.native then
    float row_scale[$(R)]; /* of the lane's row: what makes a score of a product */
//% end
    accumulator o[$(R)][$(VT)];
    float m[$(R)], l[$(R)];
//% if paired then
    f32x2 references[$(R)]; /* m twice: pairs issued at once have one each */
//% end
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
//% if paired then
        rows.references[r] = (f32x2)(0.0f);
//% end
        rows.m[r] = -0x1.fffffep127f; /* as good as -inf, which it is not: then a row that has seen no key has the weights 2^-inf = 0 */
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
 * order, or two parts in either. The next tile's barriers keep its parts from those that are still read here. */
FMHA_INLINE void fmha_add_scores(const struct fmha_rows &rows, accumulator s[$(R)][$(J)])
{
#pragma clang fp contract(off)
//%     local part_cells = R * J * fours * lanes
    typedef float float4 __attribute__((ext_vector_type(4)));
    float4 *parts = (float4 *)rows.s_lds + rows.lane, *own = parts + rows.v_first / $(VT * M) * $(part_cells);
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
//%     if sharing == 2 then
    const float4 *other = rows.v_first ? parts : parts + $(part_cells);
//%     end
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
#pragma unroll
            for (int e = 0; e < $(fours); ++e) {
                const u32 cell = (u32)((r * $(J) + j) * $(fours) + e) * $(lanes);
//%     if sharing == 2 then
                const float4 sum = other[cell] + (float4){s[r][j][4 * e], s[r][j][4 * e + 1], s[r][j][4 * e + 2], s[r][j][4 * e + 3]};
//%     else
                float4 sum = parts[cell];
#pragma unroll
                for (int part = 1; part < $(sharing); ++part)
                    sum += parts[(u32)part * $(part_cells) + cell];
//%     end
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    s[r][j][4 * e + i] = sum[i];
            }
        }
    }
}

//% end
//% if fused then
FMHA_INLINE f32x2 fmha_multiply_add(f32x2 a, f32x2 b, f32x2 c)
{
#ifdef FMHA_EMULATED /* not every host's compiler has it of vectors */
    return (f32x2){__builtin_fmaf(a.x, b.x, c.x), __builtin_fmaf(a.y, b.y, c.y)};
#else
    return __builtin_elementwise_fma(a, b, c);
#endif
}

//% end
//% local count, together = forward.early, forward.together -- operands that are read ahead of those that are multiplied, and at once
//% if count then
/* Folds a tile into the rows, and brings the next one of K and this one of V into LDS in between; see fmha_next_tiles. */
//% else
/* Folds a tile into the rows. broken: becomes not 0 if V, straight from global memory, has something that is not finite in a masked tile. */
//% end
//% local places = count and "struct fmha_keys &keys, struct fmha_ahead &ahead, int tile, int tiles, int full" or "const struct fmha_keys &keys, int tile, int tiles"
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, $(places), bool masked, u32 &broken)
{
#pragma clang fp contract(off)
    accumulator s[$(R)][$(J)];
    $(operand) p[$(R)][$(J)];
//% if not count then
    (void)tiles, (void)broken;
//% end

    /* S^T = K Q^T */
//% forward.priority(1)
//% if count then
//%     for n = 0, count - 1 do
//%         local one = "k" .. n
    const $(early.k_type) $(one) = ahead.$(one);
//%     end
//%     for n = 0, early.k_count - 1 do
//%         local begins = n % together == 0
//%         for later = n + count, begins and math.min(n + count + together, early.k_count) - 1 or 0 do
//%             local next, read = "k" .. later, early.read_k(later, "masked")
    const $(early.k_type) $(next) = $(read);
//%         end
//%         if begins then
    FMHA_SCHEDULE_FENCE();
//%         end
//%         local j, t = early.k_product(n)
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//%         early.multiply(n, "s[r][" .. j .. "]", "k" .. n, "fmha_q_operand(rows, r, " .. t .. ")", t == 0)
    }
//%         if n % together == together - 1 then
    FMHA_SCHEDULE_FENCE();
//%         end
//%     end

//%     forward.priority(0)
    fmha_next_tiles(keys, tile, tiles, full, masked, broken);
//%     for n = 0, count - 1 do
//%         local one, read = "v" .. n, early.read_v(n)
    const $(early.v_type) $(one) = $(read);
//%     end
    FMHA_SCHEDULE_FENCE();
//% else
#pragma unroll
    for (int j = 0; j < $(J); ++j) {
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            s[r][j] = (accumulator)(0.0f);
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const $(atom.k_rows) k = fmha_k_operand(keys, tile, masked, (u32)j, (u32)t);
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
//%     forward.priority(0)
//% end

//% if forward.sharing > 1 then
    fmha_add_scores(rows, s);

//% end
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//% if fused then
        /* m' = max(m, rowmax S), S not scaled yet where no key is masked: the scale is not negative there. */
        float maximum = masked ? rows.m[r] : -fmha_infinity();
//% else
        /* m' = max(m, rowmax S). The exponent below is a difference of two products rounded alike, so it is never positive. */
        float maximum = rows.m[r];
//% end
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
//% if fused then
                if (masked)
//% end
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
                if (masked && i % 8 == 7)
                    FMHA_SCHEDULE_FENCE(); /* the comparisons, which wait for nothing, would be made first, and hold scalar registers */
            }
        }
//% if fused then
        if (!masked)
            maximum = __builtin_fmaxf(rows.m[r], maximum * $(score.scale));
//% end
//% if cache.token or not forward.skips then
        maximum = fmha_group_max(maximum);
        const float reference = maximum;
//% end
//% if cache.token then
        const float alpha = __builtin_amdgcn_exp2f(rows.m[r] - reference);
        rows.m[r] = maximum;

        /* P = 2^(S - m'), l = alpha l + rowsum P */
        float sum = 0.0f;
//%     if cache.evens then
        float largest = 0.0f;
//%     end
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
//%     local exponent = forward.exponent("s[r][j][i]", "reference")
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
//% local function rescale()
            const float alpha = __builtin_amdgcn_exp2f(rows.m[r] - maximum);
            rows.m[r] = maximum;
//%     if paired then
            rows.references[r] = (f32x2){maximum, maximum};
            FMHA_OPAQUE(rows.references[r]);
//%     end
            rows.l[r] *= alpha;
#pragma unroll
            for (int t = 0; t < $(VT); ++t)
                rows.o[r][t] *= alpha;
//% end
//% if forward.skips then
        /* What weights are relative to need not be the maximum: until one is 2^$(forward.slack) times as large, nothing is rescaled. Of the whole wave, so that
         * one row for which that does not hold has all of them rescaled, by what may be 1; and so that lane groups need not know each other's maxima before. */
//%     local larger = forward.slack > 0 and "maximum - rows.m[r] > " .. forward.slack .. ".0f" or "maximum > rows.m[r]" -- m + 8 would be rounded, up to 16 from 2^27 on
        if ($(ballot)($(larger))) {
            maximum = fmha_group_max(maximum);
//%     rescale()
        }
        const float reference = rows.m[r];
//% end

        /* P = 2^(S - m'), l = alpha l + rowsum P, two by two: as packed operations, or as pairs issued at once, for which each half has a reference of its own
         * and what is alike stands side by side. */
//% if paired then
        f32x2 sum = {0.0f, 0.0f};
        const f32x2 references = rows.references[r];
//% else
        f32x2 sum = {0.0f, 0.0f}, references = {reference, reference};
//% end
//% if fused then
        /* An exponent is rounded once, so what it is larger by is the rounding of m' at most, 2^-9 here. Beyond, it is a difference of two products rounded
         * alike, to which nothing is added before it is made. */
        float factor = masked ? 1.0f : $(score.scale);
        if (!masked && $(ballot)(__builtin_fabsf(reference) >= 32768.0f)) {
#pragma unroll
            for (int j = 0; j < $(J); ++j)
                s[r][j] = s[r][j] * $(score.scale) - reference;
            factor = 1.0f;
            references = (f32x2)(0.0f);
        }
        const f32x2 factors = {factor, factor};
//% end
//% if arch.dual_issue then
//%     if not paired then
        FMHA_OPAQUE(references);
//%     end
        FMHA_OPAQUE(sum);
//% end
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
            f32x2 weight[$(L // 2)];
//% local registers = L // 4 * cache.cell_bytes
            u32 own[$(registers)];
#pragma unroll
            for (int i = 0; i < $(L // 2); ++i) {
//% local scores = "(f32x2){s[r][j][2 * i], s[r][j][2 * i + 1]}"
//% local pair = forward.exponent(scores, "references")
//% if fused then
//%     local shift = forward.exponent("-references")
                weight[i] = masked ? $(pair) : fmha_multiply_add($(scores), factors, $(shift));
//% else
                weight[i] = $(pair);
//% end
            }
//% if arch.dual_issue then
            FMHA_SCHEDULE_FENCE();
//% end
#pragma unroll
            for (int i = 0; i < $(L // 2); ++i)
                weight[i] = (f32x2){__builtin_amdgcn_exp2f(weight[i].x), __builtin_amdgcn_exp2f(weight[i].y)};
//% if arch.dual_issue then
            FMHA_SCHEDULE_FENCE();
//% end
#pragma unroll
            for (int i = 0; i < $(L // 2); ++i)
//% if arch.dual_issue then
                sum += weight[i];
//% else
                sum = j + i == 0 ? weight[0] : sum + weight[i];
//% end
//% if arch.dual_issue then
            FMHA_SCHEDULE_FENCE();
//% end
//% if score.weights then
#pragma unroll
            for (int i = 0; i < $(L); i += $(score.run)) {
                float some[$(score.run)];
#pragma unroll
                for (int n = 0; n < $(score.run); ++n)
                    some[n] = weight[(i + n) / 2][n % 2];
                fmha_weigh(rows.score, r, some, query, first_key + j * $(M) + i);
#pragma unroll
                for (int n = 0; n < $(score.run); ++n)
                    weight[(i + n) / 2][n % 2] = some[n];
                FMHA_SCHEDULE_FENCE();
            }
//% end
//% if cache.native then
#pragma unroll
            for (int i = 0; i < $(L // 4); ++i)
                own[i] = fmha_pack_four(weight[2 * i].x, weight[2 * i].y, weight[2 * i + 1].x, weight[2 * i + 1].y);
//% else
//%     local packed = arch.packed_f32 and spec.dtype == "bf16" and "fmha_pack_weights(weight[i])" or "fmha_pack(weight[i].x, weight[i].y)"
#pragma unroll
            for (int i = 0; i < $(L // 2); ++i)
                own[i] = $(packed);
//% end
            p[r][j] = fmha_gather_operand(own, rows.group);
        }
//% if arch.dual_issue then
        FMHA_OPAQUE(sum);
//% end
//% if not forward.skips then
        {
//%     rescale()
        }
//% end
        rows.l[r] += sum.x + sum.y;
//% end
//% if R > 1 then
        FMHA_SCHEDULE_FENCE(); /* one tile of rows after the other: fewer registers */
//% end
    }


    /* O^T = alpha O^T + V^T P^T */
//% forward.priority(1)
//% if count then
//%     for n = 0, early.v_count - 1 do
//%         local begins = n % together == 0
//%         for later = n + count, begins and n + count + together - 1 or 0 do
//%             local first = later - early.v_count -- of K's next tile
//%             local next = first < 0 and "v" .. later or "k" .. first
//%             local read = first < 0 and early.read_v(later) or early.read_k(first, "masked")
//%             if first < 0 then
    const $(early.v_type) $(next) = $(read);
//%             else
    ahead.$(next) = $(read);
//%             end
//%         end
//%         if begins then
    FMHA_SCHEDULE_FENCE();
//%         end
//%         local t, j = early.v_product(n)
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//%         early.multiply(n, "rows.o[r][" .. t .. "]", "v" .. n, "p[r][" .. j .. "]")
    }
//%         if n % together == together - 1 then
    FMHA_SCHEDULE_FENCE();
//%         end
//%     end
//% else
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
//% end
//% forward.priority(0)
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
