//% -- Q as an operand of fp8: each row by a scale of its own, which becomes a part of what makes scores of products.
//% local D, R, KT, M, N, operand = spec.head_dim, forward.wave_tiles, forward.k_steps, atom.tile, atom.n, atom.operand
//% local words = atom.share // 2
//% local fours, wide = words // 2, "u32x" .. words -- of a lane's share: registers of fp8, and of Q's type
//% local largest, of_row = cache.largest, score.of_row
/* Loads the operand Q: the lane holds row `lane_row` of each tile of $(N), quantized: number = value / scale, where the scale is the row's largest finite
 * magnitude by $(largest). The last query stands in for rows past the end. */
FMHA_INLINE void fmha_load_q(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch, u32 lane_row)
{
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
//% if spec.op ~= "forward" then
        const int query = rows.query[r];
        (void)lane_row;
//% else
        const int query = fmha_min(rows.query[r] + (int)lane_row, $(forward.seqlen_q) - 1);
//% end
        const element *q = arguments.q + $(forward.q_begin) + rows.head[r] * arguments.stride_q_head + query * arguments.stride_q_row;
        const u32 share = fmha_share(rows.lane);
        float magnitude = 0.0f; /* of the lane's share of the row */
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const $(wide) pairs = fmha_load_operand(q + t * $(M), share, $(D) - t * $(M));
#pragma unroll
            for (int i = 0; i < $(words); ++i) {
                const float low = __builtin_fabsf(fmha_low(pairs[i])), high = __builtin_fabsf(fmha_high(pairs[i]));
                magnitude = __builtin_fmaxf(magnitude, __builtin_fmaxf(fmha_is_finite(low) ? low : 0.0f, fmha_is_finite(high) ? high : 0.0f));
            }
        }
        const float scale = __builtin_fmaxf(fmha_group_max(magnitude) / $(largest), 0x1p-126f);
        rows.row_scale[r] = $(of_row) * scale;
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const $(wide) pairs = fmha_load_operand(q + t * $(M), share, $(D) - t * $(M));
            u32 own[$(fours)];
#pragma unroll
            for (int i = 0; i < $(words); i += 2)
                own[i / 2] =
                    fmha_pack_four(fmha_low(pairs[i]) / scale, fmha_high(pairs[i]) / scale, fmha_low(pairs[i + 1]) / scale, fmha_high(pairs[i + 1]) / scale);
            const $(operand) all = fmha_gather_operand(own, rows.group);
//% if spec.q_path == "register" then
            rows.q[r][t] = all;
//% else
            *($(operand) *)(rows.q_lds[r] + rows.lane % $(N) * $(forward.q_row) + (u32)t * $(M) + share) = all;
//% end
            FMHA_SCHEDULE_FENCE(); /* divisions of one operand after the other: fewer registers */
        }
    }
//% if spec.q_path == "lds" then
    fmha_wave_barrier();
//% end
}
