//% -- Q as an operand of mxfp4: a lane has blocks of 32 neighbouring values of its row, each with a scale of its own.
//% local R, KT, N, blocks = forward.wave_tiles, forward.k_steps, atom.n, spec.head_dim // 32
//% local groups = 64 // N
//% local first = (forward.sharing > 1 and "rows.k_first / 32 + " or "") .. "t * " .. groups .. " + rows.group"
//% local whole = forward.sharing * KT * groups == blocks
//% q_blocks = { load = "fmha_load8(from + i * 8)" }
//% include("ops/q_blocks.hip")

/* Loads the operand Q: the lane holds row `lane_row` of each tile of $(N), quantized. The last query stands in for rows past the end. */
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
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
            const u32 block = $(first);
//% if whole then
            rows.q[r][t].scale = fmha_quantize(q + block * 32, rows.q[r][t].numbers);
//% else
            /* Behind the last block are zeros with the scale 1, which make nothing of whatever they meet. */
            const bool is_there = block < $(blocks);
            u32x4 numbers;
            const u32 scale = fmha_quantize(q + (is_there ? block : $(blocks - 1)) * 32, numbers);
            rows.q[r][t].numbers = is_there ? numbers : (u32x4){0, 0, 0, 0};
            rows.q[r][t].scale = is_there ? scale : 127;
//% end
            FMHA_SCHEDULE_FENCE(); /* one block after the other: fewer registers */
        }
    }
}
