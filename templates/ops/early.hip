//% -- How a tile follows another where operands are read ahead of their products. K is in LDS a tile ahead of V: while the workgroup has scores of a tile,
//% -- K's next tile takes the place of this one, and V's tile that of the one before. What an operation needs:
//% --   struct fmha_ahead        the next tile's first operands of K, out of LDS and perhaps not there yet
//% --   fmha_start               brings the first tile, or one that was not sent for
//% --   fmha_next_tiles          between the products of a tile
//% local blocks, J, KT = atom.blocks, forward.key_steps, forward.k_steps
//% local step = forward.wave_tiles * atom.instructions // blocks * arch.matrix_cycles[atom.n] -- cycles that the matrix unit has with one operand, or a block of one
//% local wanted = 100 -- between a read and its use
//% -- Operands of eight bytes a lane are read two at once, where both products come out even.
//% local each, both = J * KT * blocks, J * forward.v_steps * blocks
//% forward.together = atom.share == 4 and each % 2 == 0 and both % 2 == 0 and 2 or 1
//% forward.early = math.min((wanted + step * forward.together - 1) // (step * forward.together) * forward.together, each, both)
//% local count = forward.early
//% local class = arch.accumulators or "v"
//% -- Number n of a tile's operands, or blocks of them: types, how they are read and multiplied.
//% local unit = blocks > 1 and "block" or "operand"
//% local function block_of(n) return blocks > 1 and ", " .. n % blocks or "" end
//% early = {
//%     k_type = blocks > 1 and atom.operand or atom.k_rows, v_type = blocks > 1 and atom.operand or atom.rows,
//%     k_count = each, v_count = both,
//%     k_product = function(n) return n // blocks // KT, n // blocks % KT end, -- of keys, of dimensions
//%     v_product = function(n) return n // blocks // J, n // blocks % J end,   -- of columns, of keys
//% }
//% early.read_k = function(n, masked)
//%     local keys, dimensions = early.k_product(n)
//%     return ("fmha_k_%s(keys, tile, %s, %d, %d%s)"):format(unit, masked, keys, dimensions, block_of(n))
//% end
//% early.read_v = function(n)
//%     local columns, keys = early.v_product(n)
//%     return ("fmha_v_%s(keys, %d, %d%s)"):format(unit, columns, keys, block_of(n))
//% end
/* The compiler does not move the product behind the loads and barriers that follow, nor these before it. */
#if defined(FMHA_EMULATED) || !defined(__OPTIMIZE__)
#define FMHA_PRODUCT_DONE(sum) ((void)0)
#else
#define FMHA_PRODUCT_DONE(sum) __asm__ volatile("" : "+$(class)"(sum))
#endif

//% -- sum += a * b, from 0 if it is the first product.
//% early.multiply = function(n, sum, a, b, first)
//%     local h, none = n % blocks, "(accumulator)(0.0f)"
//%     local before = first and none or sum
//%     if blocks == 1 then
        $(sum) = fmha_mma($(a), $(b), $(before));
        FMHA_PRODUCT_DONE($(sum));
//%     else
//%         if first and h == 0 then
        $(sum) = $(none);
//%         end
        fmha_sum sum = fmha_mma_block($(a), $(b), fmha_sum_of($(sum), $(h)));
        FMHA_PRODUCT_DONE(sum);
        $(sum) = fmha_with_sum($(sum), $(h), sum);
//%     end
//% end
//% forward.skips = true -- sixteen columns of O leave registers for both blocks of the branch, and a maximum's exchange would be waited for at once
//% -- There is room for three waves on a SIMD at 128 dimensions with products of 32 rows and at 256 with those of 16, which the compiler misses by a
//% -- few registers unless told. What changes scores, columns of V, single elements and larger shares of a tile take more.
//% local columns = math.max(spec.head_dim, forward.v_columns)
//% local tight = columns <= 256 and columns > 192 and atom.n == 16 and spec.block_k == 16 or columns <= 128 and columns > 96 and atom.n == 32 and spec.block_k == 32
//% forward.waves = tight and spec.waves >= 4 and forward.wave_tiles == 1 and not score.any and spec.v_layout == "row" and spec.align == 16 and not arch.accumulators and 3
//% if forward.waves then
#ifdef FMHA_EMULATED
#define FMHA_WAVES(count)
#else
#define FMHA_WAVES(count) __attribute__((amdgpu_waves_per_eu(count)))
#endif

//% end
struct fmha_ahead {
//% for n = 0, count - 1 do
//%     local one = "k" .. n
    $(early.k_type) $(one);
//% end
};

/* Starts with a tile that has at least one key, when every wave is done with the one before: its K into LDS, the next one's and its V on their way to
 * registers. */
FMHA_INLINE void fmha_start(struct fmha_keys &keys, struct fmha_ahead &ahead, int tile, int tiles)
{
    fmha_send_k(keys, tile, true);
    fmha_put_k(keys);
    fmha_barrier();
    fmha_send_k(keys, fmha_min(tile + 1, tiles - 1), true);
    fmha_send_v(keys, tile, true);
//% for n = 0, count - 1 do
//%     local one, read = "k" .. n, early.read_k(n, "true")
    ahead.$(one) = $(read);
    FMHA_SCHEDULE_FENCE(); /* in this order, which the loop's waits go by */
//% end
}

/* K's next tile and V's tile go into LDS, those after them are sent for: the first `full` of the `tiles` have all their keys. masked: not every row of the
 * workgroup sees every key of the tile. In a product, the weight 0 of a masked key times infinity or NaN would be NaN: so what is not finite in a
 * masked tile's V is left out of the products, and `broken` becomes not 0. */
FMHA_INLINE void fmha_next_tiles(struct fmha_keys &keys, int tile, int tiles, int full, bool masked, u32 &broken)
{
    fmha_barrier(); /* every wave is done with this tile of K and with V's tile before */
    fmha_put_k(keys);
    fmha_put_v(keys, tile, masked);
    fmha_barrier();
    if (!masked) {
        fmha_send_k(keys, fmha_min(tile + 2, full - 1), false); /* never a tile that lacks keys: no branch, no guard */
        fmha_send_v(keys, fmha_min(tile + 1, full - 1), false);
    } else {
        if (tile + 2 < tiles)
            fmha_send_k(keys, tile + 2, true);
        if (tile + 1 < tiles)
            fmha_send_v(keys, tile + 1, true);
    }
    FMHA_SCHEDULE_FENCE(); /* the loads go first */
    if (masked && fmha_v_broken(keys, tile)) {
        fmha_clean_v(keys);
        fmha_barrier();
        broken = 1;
    }
}

