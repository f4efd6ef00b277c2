//% -- S = Q K^T and O = P V where a lane has, of a tile of sixteen queries, two rows: lane / 4 and eight more, and of each sixteen keys, and of the
//% -- output's dimensions, four columns. So P is the next product's operand where it is, and maxima and sums of a row are exchanges of four lanes.
//% --
//% -- Where nothing changes a score but the scale, the scale is multiplied in the exponent: a weight is 2^(s scale - m'), one multiply-add of the
//% -- product as it comes, m' the rounded product of the scale and the largest s. That is at most half a unit of m' above 0, which is nothing but for
//% -- scores so large that the unit is: then products are rounded first, as m' is. A scale below zero is above it for -Q, a scale of zero is 1 for Q = 0.
//%
//% local D, DV, BK = spec.head_dim, forward.v_columns, spec.block_k
//% local R, VT, KT, J = forward.wave_tiles, forward.v_steps, forward.k_steps, forward.key_steps
//% local N, slots = atom.n, forward.slots
//% local causal, fast, decode = spec.mask ~= "none", spec.align == 16, spec.op ~= "forward"
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
//% local folded = not score.transforms and score.scale == "rows.scale_log2" -- the scale is multiplied in the exponent
/* The running state of the wave's rows: per tile of $(N) rows, the operand Q, the output before its division by l, and per row the maximum m
 * (in units of log 2, after scaling) and the lane's share of the sum l. */
struct fmha_rows {
//% if spec.q_path == "register" then
    u32x4 q[$(R)][$(KT)];
//% else
    element *q_lds[$(R)];
//%     if atom.together then
    fmha_place q_tile; /* the first of those that the wave has rows of */
//%     else
    fmha_place q_row; /* of the lane's share of an operand of the first tile */
//%     end
//% end
    accumulator o[$(R)][$(VT)];
    float m[$(slots)], l[$(slots)];
//% if folded then
    bool large; /* some m of the wave is so large that products are rounded before it is subtracted */
//% end
    int query[$(slots)], head[$(slots)]; /* of the lane's rows, two of a tile */
//% if decode then
    int first[$(slots)], count; /* a row's number among those of the key head, and how many there are */
//% end
//% forward.sequence_members()
//% forward.slice_members()
    float scale_log2;
//% if forward.diagonal then
    int diagonal;
//% end
//% if score.any then
    struct fmha_score score;
//% end
    u32 lane, group;
};

/* Two neighbouring elements. */
FMHA_INLINE u32 fmha_load2(const element *from)
{
//% if fast then
    return *(const u32 *)from;
//% else
    return (u32)from[1] << 16 | from[0];
//% end
}

/* Loads the operand Q. The last query stands in for rows past the end. */
FMHA_INLINE void fmha_load_q(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
//% if folded then
    const u32 sign = rows.scale_log2 < 0.0f ? 0x80008000 : 0, kept = rows.scale_log2 == 0.0f ? 0 : 0xffffffff;
    rows.scale_log2 = rows.scale_log2 == 0.0f ? 1.0f : __builtin_fabsf(rows.scale_log2);
//% end
//% if atom.together then
    const u32 row = __builtin_amdgcn_workitem_id_x() / 32 % 4 * 16 + fmha_first_row(rows.lane); /* of 64 */
//% end
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int query = fmha_min(rows.query[2 * r + h], $(forward.seqlen_q) - 1);
            const element *q = arguments.q + $(forward.q_begin) + rows.head[2 * r + h] * arguments.stride_q_head + query * arguments.stride_q_row;
#pragma unroll
            for (int t = 0; t < $(KT); ++t) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    const u32 column = (u32)(t * $(N) + e * 8);
//% local some = D % N ~= 0
//% local zero = some and "column < " .. D .. " ? fmha_load2(q + column + fmha_first_column(rows.lane)) : 0" or "fmha_load2(q + column + fmha_first_column(rows.lane))"
                    u32 pair = $(zero);
//% if folded then
                    pair = (pair ^ sign) & kept;
//% end
//% if spec.q_path == "register" then
                    rows.q[r][t][e * 2 + h] = pair;
//% elseif atom.together then
                    *(u32 *)((char *)rows.q_lds[r] + column / 64 * 8192 + (row + h * 8) * 128 + (column / 8 % 8 ^ row % 8) * 16 + rows.lane % 4 * 4) = pair;
//% else
                    *(u32 *)(rows.q_lds[r] + (fmha_first_row(rows.lane) + h * 8) * $(forward.q_row) + column + fmha_first_column(rows.lane)) = pair;
//% end
                }
            }
        }
    }
//% if atom.together then
    rows.q_tile = fmha_place_of(rows.q_lds[0]);
//% elseif spec.q_path == "lds" then
    rows.q_row = fmha_place_of(rows.q_lds[0] + rows.lane % $(N) * $(forward.q_row) + rows.lane / $(N) * 8);
    fmha_wave_barrier();
//% end
}

//% if not atom.together then
FMHA_INLINE u32x4 fmha_q_operand(const struct fmha_rows &rows, int r, int t)
{
//% if spec.q_path == "register" then
    return rows.q[r][t];
//% else
    return fmha_load_matrices(rows.q_row + r * $(2 * N * forward.q_row) + t * 32);
//% end
}

//% end
//% if score.spans then
/* Whether the lane's row n sees the key: all but what fmha_modify says. */
FMHA_INLINE bool fmha_sees(const struct fmha_rows &rows, int n, int key)
{
    int low, high;
    fmha_span(rows.score, rows.query[n], low, high);
//%     if score.gaps then
    return fmha_in_span(rows.score, key, low, high) && fmha_visits(rows.score, key / $(BK));
//%     else
    return fmha_in_span(rows.score, key, low, high);
//%     end
}

//% else
/* Keys below this number are seen by the lane's row n. */
FMHA_INLINE int fmha_visible(const struct fmha_rows &rows, const struct fmha_keys &keys, int n)
{
//%     if causal then
    return fmha_min(keys.seqlen_k, rows.query[n] + 1 + rows.diagonal);
//%     else
    (void)rows, (void)n;
    return keys.seqlen_k;
//%     end
}

//% end
FMHA_INLINE void fmha_begin(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
    fmha_load_q(rows, arguments, batch);
//% if folded then
    rows.large = true;
//% end
#pragma unroll
    for (int n = 0; n < $(slots); ++n) {
        rows.m[n] = -0x1.fffffep127f; /* no number is below it, and what it makes of -inf is 2^-inf = 0 */
        rows.l[n] = 0.0f;
    }
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int t = 0; t < $(VT); ++t)
            rows.o[r][t] = (accumulator)(0.0f);
    }
}

/* Adds the elements of V that are not finite, from key `first` on, to the rows that see their keys, whatever the weight. */
FMHA_INLINE void fmha_add_broken(struct fmha_rows &rows, const struct fmha_keys &keys, int first)
{
#pragma clang fp contract(off)
#pragma unroll 1
    for (int key = first; key < keys.seqlen_k; ++key) {
        bool sees[$(slots)];
#pragma unroll
        for (int n = 0; n < $(slots); ++n)
//% if score.hides then
            sees[n] = fmha_sees(rows, n, key) && fmha_modify(rows.score, n, 0.0f, rows.query[n], key) != -fmha_infinity();
//% elseif score.spans then
            sees[n] = fmha_sees(rows, n, key);
//% else
            sees[n] = key < fmha_visible(rows, keys, n);
//% end
#pragma unroll
        for (int t = 0; t < $(VT); ++t) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float v = fmha_broken_element(keys, key, (u32)t * $(N) + fmha_first_column(rows.lane) + (u32)fmha_column_of(i));
#pragma unroll
                for (int n = 0; n < $(slots); ++n)
                    rows.o[n / 2][t][fmha_element_of(n % 2, i)] += sees[n] ? v : 0.0f;
            }
        }
    }
}

/* Folds a tile into the rows. */
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, const struct fmha_keys &keys, int tile, int tiles, bool masked, u32 &broken)
{
#pragma clang fp contract(off)
    accumulator s[$(R)][$(J)];
    (void)tiles, (void)broken;

    /* S = Q K^T */
//% if atom.together then
    const fmha_place k_tile = fmha_k_tile(keys), v_tile = fmha_v_tile(keys);
    fmha_products_begin();
#pragma unroll
    for (int t = 0; t < $(KT); ++t) {
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            fmha_multiply_k(s[r], rows.q_tile + r * $(128 * forward.q_row) + t / 4 * 8192 + t % 4 * 32, k_tile + t / 4 * $(BK * 128) + t % 4 * 32, t > 0);
    }
    fmha_products_commit();
#pragma unroll
    for (int r = 0; r < $(R); ++r)
        fmha_products_wait(s[r]);
//% else
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int j = 0; j < $(J); ++j)
            s[r][j] = (accumulator)(0.0f);
    }
#pragma unroll
    for (int t = 0; t < $(KT); ++t) {
        u32x4 q[$(R)];
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            q[r] = fmha_q_operand(rows, r, t);
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
            const u32x4 k = fmha_k_operand(keys, (u32)j, (u32)t);
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                s[r][j] = fmha_mma(q[r], k, s[r][j]);
        }
    }
//% end

    /* What weights are relative to need not be the maximum: until one is 2^$(forward.slack) times as large, nothing is rescaled. So a lane looks at its own
     * scores alone, and a row's maximum is made where it is needed. */
    float maxima[$(slots)]; /* of the lane's scores */
    bool outgrown = false;
//% if folded then
    float factor = rows.scale_log2;
//% end
#pragma unroll
    for (int n = 0; n < $(slots); ++n) {
//% if not score.spans then
        const int visible = masked ? fmha_visible(rows, keys, n) - tile * $(BK) - (int)fmha_first_column(rows.lane) : 0;
//% end
//% if score.transforms or score.spans then
        const int first_key = tile * $(BK) + (int)fmha_first_column(rows.lane);
//% end
//% if score.spans then
        int low, high;
        fmha_span(rows.score, rows.query[n], low, high);
//% end
        float maximum = -fmha_infinity();
#pragma unroll
        for (int j = 0; j < $(J); ++j) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float &one = s[n / 2][j][fmha_element_of(n % 2, i)];
//% if not folded then
//%     local scale = score.scale:gsub("%[r%]", "[n]")
                one *= $(scale);
//% end
//% if score.transforms then
                one = fmha_modify(rows.score, n, one, rows.query[n], first_key + j * $(N) + fmha_column_of(i));
//% end
                if (masked)
//% if score.spans then
                    one = fmha_in_span(rows.score, first_key + j * $(N) + fmha_column_of(i), low, high) ? one : -fmha_infinity();
//% else
                    one = j * $(N) + fmha_column_of(i) < visible ? one : -fmha_infinity();
//% end
                maximum = __builtin_fmaxf(maximum, one);
            }
        }
//% if folded then
        maximum *= factor;
//% end
        maxima[n] = maximum;
        outgrown |= maxima[n] - rows.m[n] > $(forward.slack).0f;
    }
    if ($(ballot)(outgrown)) { /* m' = max(m, rowmax S), O = alpha O */
        float alpha[$(slots)];
//% if folded then
        bool large = false;
//% end
#pragma unroll
        for (int n = 0; n < $(slots); ++n) {
            const float maximum = __builtin_fmaxf(fmha_row_max(maxima[n]), rows.m[n]);
            alpha[n] = __builtin_amdgcn_exp2f(rows.m[n] - maximum);
            rows.m[n] = maximum;
            rows.l[n] *= alpha[n];
//% if folded then
            large |= !(__builtin_fabsf(maximum) < 0x1p20f);
//% end
        }
//% if folded then
        rows.large = $(ballot)(large) != 0;
//% end
#pragma unroll
        for (int r = 0; r < $(R); ++r) {
#pragma unroll
            for (int t = 0; t < $(VT); ++t) {
#pragma unroll
                for (int e = 0; e < 8; ++e)
                    rows.o[r][t][e] *= alpha[2 * r + e / 2 % 2];
            }
        }
    }
//% if folded then
    if (rows.large) { /* products are rounded first */
#pragma unroll
        for (int r = 0; r < $(R); ++r) {
#pragma unroll
            for (int j = 0; j < $(J); ++j)
                s[r][j] *= factor;
        }
        factor = 1.0f;
    }
//% end

    /* P = 2^(S - m'), l = l + rowsum P, O = O + P V: matrix instructions of sixteen keys go on beside the exponentials of the next */
#pragma unroll
    for (int j = 0; j < $(J); ++j) {
        u32x4 p[$(R)];
#pragma unroll
        for (int n = 0; n < $(slots); ++n) {
#pragma unroll
            for (int i = 0; i < 4; i += 2) {
                float weight[2];
#pragma unroll
                for (int e = 0; e < 2; ++e) {
//% if folded then
                    weight[e] = __builtin_amdgcn_exp2f(__builtin_fmaf(s[n / 2][j][fmha_element_of(n % 2, i + e)], factor, -rows.m[n]));
//% else
                    weight[e] = __builtin_amdgcn_exp2f(s[n / 2][j][fmha_element_of(n % 2, i + e)] - rows.m[n]);
//% end
                    rows.l[n] += weight[e];
//% if score.weights then
                    fmha_weigh(rows.score, n, &weight[e], rows.query[n], tile * $(BK) + (int)fmha_first_column(rows.lane) + j * $(N) + fmha_column_of(i + e));
//% end
                }
                p[n / 2][fmha_element_of(n % 2, i) / 2] = fmha_pack(weight[0], weight[1]);
            }
        }
//% if atom.together then
        fmha_products_begin();
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            fmha_multiply_v(rows.o[r], p[r], v_tile + j * 2048, true);
        fmha_products_commit();
    }
#pragma unroll
    for (int r = 0; r < $(R); ++r)
        fmha_products_wait(rows.o[r]);
//% else
#pragma unroll
        for (int t = 0; t < $(VT); ++t) {
            const u32x4 v = fmha_v_operand(keys, (u32)t, (u32)j);
#pragma unroll
            for (int r = 0; r < $(R); ++r)
                rows.o[r][t] = fmha_mma(p[r], v, rows.o[r][t]);
        }
    }
//% end
}

/* O = o / l and LSE = log 2 (m + log2 l); a row without a visible key has l = 0, O = 0 and LSE = -inf. */
FMHA_INLINE void fmha_end(const struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
#pragma clang fp contract(off)
    const u32 lane = rows.lane;
#pragma unroll
    for (int n = 0; n < $(slots); ++n) {
//% local at = forward.lse_row:gsub("%[r%]", "[n]")
        const i64 lse_row = $(at);
        const int query = rows.query[n];
        float m = rows.m[n], l = fmha_row_sum(rows.l[n]), factor = 1.0f;
//% if score.finishes then
        fmha_finish(rows.score, n, m, l, factor);
//% end
        const float inverse = l == 0.0f ? 0.0f : factor / l;
//% if decode then
        if (rows.first[n] >= rows.count)
            continue;
//%     local rows_of_split = decoding.rows_of_split
        if (arguments.splits > 1) { /* the part of the split's keys, as float32 */
            const i64 row = (i64)(int)__builtin_amdgcn_workgroup_id_x() * ($(rows_of_split)) + lse_row + query;
            float *o = arguments.o_partial + row * $(spec.head_dim_v);
#pragma unroll
            for (int t = 0; t < $(VT); ++t) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const u32 dimension = (u32)(t * $(N) + fmha_column_of(i)) + fmha_first_column(lane);
                    if (dimension < $(DV))
                        o[dimension] = rows.o[n / 2][t][fmha_element_of(n % 2, i)] * inverse;
                }
            }
            if (lane % 4 == 0)
                arguments.lse_partial[row] = 0.69314718055994531f * (m + __builtin_amdgcn_logf(l));
            continue;
        }
//% else
        if (query >= $(forward.seqlen_q))
            continue;
//% end
        element *o = arguments.o + $(forward.o_begin) + rows.head[n] * arguments.stride_o_head + query * arguments.stride_o_row;
#pragma unroll
        for (int t = 0; t < $(VT); ++t) {
#pragma unroll
            for (int i = 0; i < 4; i += 2) {
                const u32 dimension = (u32)(t * $(N) + fmha_column_of(i)) + fmha_first_column(lane);
                const u32 pair = fmha_pack(rows.o[n / 2][t][fmha_element_of(n % 2, i)] * inverse, rows.o[n / 2][t][fmha_element_of(n % 2, i + 1)] * inverse);
//% local own = (DV % N ~= 0 and "(u32)(t * " .. N .. " + fmha_column_of(i)) < " .. DV or "true") .. (forward.v_shared and " && dimension >= rows.v_own" or "")
                if ($(own)) {
//% if fast then
                    *(u32 *)(o + dimension) = pair;
//% else
                    o[dimension] = (element)pair;
                    o[dimension + 1] = (element)(pair >> 16);
//% end
                }
            }
        }
        if ($(forward.writes_lse) && lane % 4 == 0)
            arguments.lse[lse_row + query] = 0.69314718055994531f * (m + __builtin_amdgcn_logf(l));
    }
}
