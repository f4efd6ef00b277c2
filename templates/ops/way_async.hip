//% -- The way of K's tile to LDS that does not pass registers. The lanes of a wave fill neighbouring places of LDS, arch.into_lds.bytes each, so that
//% -- rows cannot be padded. Instead the eights of a row stand in another order, so that the lanes of eight rows of an operand read from all
//% -- banks. Two tiles of K are in LDS: one is read while the next one comes.
//% local D, BK, L, M = spec.head_dim, spec.block_k, atom.share, atom.tile
//% local operand = atom.operand
//% local instead = ": use --k-path lds or direct"
//% local lane_bytes = arch.into_lds and arch.into_lds.bytes
//% if not lane_bytes then fail("--k-path async: no loads from memory into LDS on " .. arch.name .. instead) end
//% if spec.align ~= 16 then fail("--k-path async: loads from memory into LDS need --align 16" .. instead) end
//% if D ~= 64 and D ~= 128 and D ~= 256 then fail("--k-path async: expected a head dimension of 64, 128 or 256, got " .. D .. instead) end
//% local block_bytes = spec.wave * lane_bytes
//% if BK * D * 2 % (block_bytes * spec.waves) ~= 0 then
//%     fail("--k-path async: expected a tile of K of a multiple of " .. block_bytes .. " bytes for each wave, got " .. BK * D * 2 .. " for " ..
//%          spec.waves .. ": use another --block-k or --waves")
//% end
//% local count = BK * D * 2 // (block_bytes * spec.waves) -- blocks of a wave
//% k_way = { lds_elements = 2 * BK * D, registers = 0 }
//% k_way.helpers = function()
//%     local order = spec.orientation == "kq" and "fmha_row(key % " .. M .. ") % 8" or "key % 8"
/* By which number the eights of a key's row are out of order in LDS: another one for each of eight lanes that read together. */
FMHA_INLINE u32 fmha_k_order(u32 key)
{
    return $(order);
}

/* Of the wave's share i of K's tile: the number of the lane's key, and the dimension that its bytes begin with. In LDS the eights of a key's
 * row stand in an order that differs between eight keys which lanes read together. */
FMHA_INLINE u32 fmha_k_key(u32 thread, u32 i)
{
    return (thread / $(spec.wave) * $(count) + i) * $(block_bytes // 16) / $(D // 8) + thread % $(spec.wave) * $(lane_bytes) / $(2 * D);
}

//%     local place = D * 2 <= block_bytes and ("thread % " .. spec.wave .. " * " .. lane_bytes) or
//%         ("((thread / " .. spec.wave .. " * " .. count .. " + i) * " .. block_bytes .. " + thread % " .. spec.wave .. " * " .. lane_bytes .. ")")
FMHA_INLINE u32 fmha_k_dimension(u32 thread, u32 i)
{
    const u32 at = $(place) % $(2 * D); /* byte of the row */
    return (at / 16 ^ fmha_k_order(fmha_k_key(thread, i))) * 8 + at % 16 / 2;
}

//% end
//% local paged = spec.paged == "on"
//% k_way.members = function()
//%     if paged then return end
    u32 k_offset[$(count)]; /* of the thread's shares, bytes */
//% end
//% k_way.begin = function()
//%     if paged then return end
#pragma unroll
    for (u32 i = 0; i < $(count); ++i)
        keys.k_offset[i] = fmha_k_key(keys.thread, i) * (u32)(keys.k_stride * 2) + fmha_k_dimension(keys.thread, i) * 2;
//% end
//% k_way.functions = function()
//%     include("device/" .. arch.into_lds.file .. ".hip")

/* Starts loading the wave's share of K's tile, which has at least one key, into its place in LDS. part: it may lack some. */
FMHA_INLINE void fmha_prefetch_k(struct fmha_keys &keys, int tile, bool part)
{
//%     if paged then
    const u32 wave = __builtin_amdgcn_readfirstlane(keys.thread / $(spec.wave));
    (void)part;
//%     else
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK)), wave = __builtin_amdgcn_readfirstlane(keys.thread / $(spec.wave));
    const element *k_tile = fmha_k_tile(keys, tile);
//%     end
    element *to = keys.k_lds + (tile & 1) * $(BK * D) + wave * $(count * block_bytes // 2);
    u32 thread = keys.thread;
    FMHA_OPAQUE(thread);
#pragma unroll
    for (u32 i = 0; i < $(count); ++i) {
//%     if paged then
        const element *from = fmha_k_in_page(keys, fmha_k_key(thread, i), fmha_k_dimension(thread, i));
        fmha_load_into_lds(from, to + i * $(block_bytes // 2));
//%     else
        u32 offset = keys.k_offset[i];
        if (part) {
            const u32 key = fmha_k_key(thread, i), present = key >= rows ? rows - 1 : key;
            offset = present * (u32)(keys.k_stride * 2) + fmha_k_dimension(thread, i) * 2;
        }
        FMHA_OPAQUE(offset);
        fmha_load_into_lds(fmha_at(k_tile, offset), to + i * $(block_bytes // 2));
//%     end
    }
}

/* The lane's operand out of the row of key n, of which eights stand in the order of the key: elements from `first` on. */
FMHA_INLINE $(operand) fmha_k_from_lds(const struct fmha_keys &keys, int tile, u32 n, u32 first)
{
    element *row = keys.k_lds + (tile & 1) * $(BK * D) + n * $(D);
    const u32 order = fmha_k_order(n);
//%     if L == 16 then
    return fmha_join(*fmha_lds8(row, (first / 8 ^ order) * 8), *fmha_lds8(row, (first / 8 + 1 ^ order) * 8));
//%     else
    return *($(operand) *)(row + (first / 8 ^ order) * 8 + first % 8);
//%     end
}

//% end
