//% -- Q as an operand, the same in both orientations.
//% local D, DV = spec.head_dim, forward.v_columns
//% local R, KT = forward.wave_tiles, forward.k_steps
//% local fast = spec.align == 16
//% local operand, replicated = atom.operand, atom.replicated
//% local M, N = atom.tile, atom.n
//% local own_row = spec.orientation == "qk" and atom.row("rows.lane") or "rows.lane % " .. N
//% if cache.native then
//%     include("ops/forward_q_fp8.hip")
//% elseif cache.scaled then
//%     include("ops/forward_q_fp4.hip")
//% else
/* Loads the operand Q: the lane holds row `lane_row` of each tile of $(N). The last query stands in for rows past the end. */
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
//% if forward.sharing > 1 then
        const element *q = arguments.q + $(forward.q_begin) + rows.head[r] * arguments.stride_q_head + query * arguments.stride_q_row + rows.k_first;
//% else
        const element *q = arguments.q + $(forward.q_begin) + rows.head[r] * arguments.stride_q_head + query * arguments.stride_q_row;
//% end
#pragma unroll
        for (int t = 0; t < $(KT); ++t) {
//% if tiles.ragged then
//%     local present = tiles.present("rows.", "(u32)t")
            const u32 present = $(present);
            if (present == 0) { /* the wave's part is longer than what is left of the row */
//%     if spec.q_path == "register" then
                rows.q[r][t] = ($(operand)){};
//%     else
                for (u32 i = rows.lane; i < $(N * M // 8); i += $(spec.wave))
                    *fmha_lds8(rows.q_lds[r], i / $(M // 8) * $(forward.q_row) + (u32)t * $(M) + i % $(M // 8) * 8) = (u32x4){0, 0, 0, 0};
//%     end
                continue;
            }
//% elseif forward.sharing > 1 then
//%     local present = tiles.present("rows.", "(u32)t")
            const u32 present = $(present); /* elements of the row from here on */
//% else
            const u32 present = $(D) - t * $(M); /* elements of the row from here on */
//% end
//% if spec.q_path == "register" then
//%     local q_operand = tiles.load_operand("q + t * " .. M, "fmha_share(rows.lane)", "present")
            rows.q[r][t] = $(q_operand);
//% elseif replicated then
            const u32x4 zero = {0, 0, 0, 0}, low = fmha_load8(q + t * 16), high = present > 8 ? fmha_load8(q + t * 16 + 8) : zero;
            if (rows.group < 2) /* each of the first two lane groups stores one half */
                *fmha_lds8(rows.q_lds[r], rows.lane % 16 * $(forward.q_row) + (u32)t * 16 + rows.group * 8) = rows.group == 0 ? low : high;
//% else
            const u32 share = fmha_share(rows.lane);
            element *to = rows.q_lds[r] + rows.lane % $(N) * $(forward.q_row) + (u32)t * $(M) + share;
//%     if atom.share == 16 then
            const $(operand) all = fmha_load_operand(q + t * $(M), share, present);
            *fmha_lds8(to, 0) = __builtin_shufflevector(all, all, 0, 1, 2, 3);
            *fmha_lds8(to, 8) = __builtin_shufflevector(all, all, 4, 5, 6, 7);
//%     else
            *($(operand) *)to = fmha_load_operand(q + t * $(M), share, present);
//%     end
//% end
        }
    }
//% if spec.q_path == "lds" then
    fmha_wave_barrier();
//% end
}
//% end

FMHA_INLINE $(atom.q) fmha_q_operand(const struct fmha_rows &rows, int r, int t)
{
//% if spec.q_path == "register" then
    return rows.q[r][t];
//% else
    const u32 at = $(own_row) * $(forward.q_row) + (u32)t * $(M);
//%     local q_operand = tiles.lds_operand("rows.q_lds[r]", "at", "fmha_share(rows.lane)")
    return $(q_operand);
//% end
}
//% if spec.orientation == "kq" then
//%     local words = math.min(atom.sums, 8) // 2
//%     local vector = "u32x" .. words

/* $(2 * words) neighbouring elements of a row of O. */
FMHA_INLINE void fmha_store_packed(element *to, const u32 packed[$(words)])
{
//%     if fast then
    $(vector) all;
#pragma unroll
    for (int i = 0; i < $(words); ++i)
        all[i] = packed[i];
    *($(vector) *)to = all;
//%     else
#pragma unroll
    for (int i = 0; i < $(words); ++i) {
        to[2 * i] = __builtin_bit_cast(element, (unsigned short)packed[i]);
        to[2 * i + 1] = __builtin_bit_cast(element, (unsigned short)(packed[i] >> 16));
    }
//%     end
}
//% end
