//% -- MLA decoding of an mxfp4 cache where the matrix unit multiplies such numbers itself (gfx950, --kv-math native):
//% --   S^T = K Q^T     Q becomes mxfp4, a scale for each 32 values of a row; both operands go to the scaled instruction as they are
//% --   O^T = V^T P^T   P as bf16, V from mxfp4 to bf16 in registers, with its scales
//% -- A workgroup has block_m rows of the list of queries (ops/decode.hip). Each of its waves has all of them, and keys of its own: a piece of the
//% -- split's, tile by tile, from memory to LDS without passing registers, the next tile while this one is computed. No wave waits for another
//% -- before the end, where their results are merged through LDS.
//% --
//% -- Places. A key's row is 18 blocks of 32 numbers, sixteen bytes each, with a scale each; V is the first sixteen. Lane l has column c = l mod 16
//% -- and group g = l div 16.
//% --   S^T    row c of K's operand, of tile j of sixteen keys: key 16 j + c. Step t < 4 of the sum: the lane has block 4 g + t; step 4: block 16 + g, of the
//% --          groups 0 and 1; the others have zeros of Q and scales of 1. The lane gets keys 16 j + 4 g + i of row c of Q.
//% --   O^T    the lane has of V's operand keys 4 g + i and 16 + 4 g + i, as it has of P, and of tile n dimension 32 c + n. So a lane needs a whole
//% --          block of each of its keys, with one scale. It gets dimensions 32 (4 g + i) + n of row c.
//% --   LDS    block b of key k is at 32 b + (k xor b mod 8), sixteen bytes each, so that neighbouring lanes read from all banks, be it
//% --          one block of their keys or all blocks of a key. Four scales of a key, 4 w to that + 3, are at 32 w + k, four bytes each; its last two at
//% --          128 + k and 160 + k.
//%
//% local D, DV, BK, W, N = 576, 512, 32, spec.waves, 16
//% local option = "--kv-math native with --kv-dtype mxfp4"
//% local function refuse(what, expected, got) fail(option .. ": expected " .. what .. " " .. expected .. ", got " .. got .. "; leave " .. what .. " out") end
//% if not arch.native_fp4 then
//%     fail(option .. ": " .. arch.name .. " has no matrix instructions of such numbers; use --kv-math convert")
//% end
//% if spec.head_dim ~= D or spec.head_dim_v ~= DV then
//%     fail(option .. ": expected --hd 576 and --hd-v 512, got " .. spec.head_dim .. " and " .. spec.head_dim_v .. "; use --kv-math convert")
//% end
//% if spec.align ~= 16 then
//%     fail(option .. ": loads from memory into LDS need --align 16, got " .. spec.align .. "; use --kv-math convert")
//% end
//% if spec.block_k ~= BK then refuse("--block-k", "32", spec.block_k) end
//% if W ~= 1 and W ~= 2 and W ~= 4 then refuse("--waves", "1, 2 or 4", W) end
//% if spec.block_m ~= 16 and spec.block_m ~= 32 then refuse("--block-m", "16 or 32", spec.block_m) end
//% if spec.block_m == 32 and W == 1 then refuse("--waves", "2 or 4 with --block-m 32", W) end
//% if spec.k_path ~= "async" then refuse("--k-path", "async", spec.k_path) end
//% if spec.v_path ~= "lds" then refuse("--v-path", "lds", spec.v_path) end
//% if spec.q_path ~= "register" then refuse("--q-path", "register", spec.q_path) end
//% if spec.matrix ~= "16x16" then refuse("--matrix", "16x16", spec.matrix) end
//% if spec.v_slices ~= 1 then refuse("--v-slices", "1", spec.v_slices) end
//% if spec.v_waves ~= 1 then refuse("--v-waves", "1", spec.v_waves) end
//%
//% local R = spec.block_m // N
//% local threads = 64 * W
//% local causal = spec.mask ~= "none"
//% local packed, padded, paged = spec.varlen == "packed", spec.varlen == "padded", spec.paged == "on"
//% local packed_keys, padded_keys = packed and not paged, padded or paged
//% local blocks, v_tiles = D // 32, DV // N
//% local value_bytes = blocks * BK * 16           -- of a tile in LDS
//% local tile_bytes = value_bytes + 6 * BK * 4    -- with the scales
//% local wave_bytes = 2 * tile_bytes
//% local own_tiles = v_tiles // W                 -- of O that a wave stores: DV / W columns
//% local round = own_tiles                        -- tiles that waves exchange at once, in the LDS of the keys' tiles
//% while W > 1 and W * W * R * round * 1024 > W * wave_bytes do round = round // 2 end
//% local parts_at = W * wave_bytes                -- m and l of all waves
//% local lds_bytes = parts_at + (W > 1 and W * R * N * 8 or 0)
//%
//% include("device/prelude.hip")
//% include("device/element_" .. spec.dtype .. ".hip")

//% include("device/scaled_gfx950.hip")

//% atom = { n = N }
//% include("atoms/lanes_gcn.hip")

//% local outer = { q = not packed and "batch " or "", kv = paged and "pages " or not packed and "batch " or "" }
//% outer.o, outer.kv_scale = outer.q, outer.kv
//% local function tensor(name, type, dims, align)
//%     local of_queries, stride = name == "q" or name == "o", "stride_" .. name .. "_"
//%     local rows = of_queries and (packed and "tokens_q" or "seqlen_q") or paged and "page_size" or packed and "tokens_k" or "seqlen_k"
//%     argument {
//%         name = name, kind = "buffer", type = type, access = name == "o" and "write" or "read", align = align,
//%         shape = outer[name] .. (of_queries and "heads_q " or "") .. rows .. " " .. dims,
//%         strides = (outer[name] ~= "" and stride .. "batch " or "") .. (of_queries and stride .. "head " or "") .. stride .. "row 1",
//%     }
//% end
//% local function strides(name, multiple)
//%     local of_queries = name == "q" or name == "o"
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         if (axis ~= "head" or of_queries) and (axis ~= "batch" or outer[name] ~= "") then
//%             argument { name = "stride_" .. name .. "_" .. axis, kind = "value", type = "i64" }
//%             constraint("stride_" .. name .. "_" .. axis .. " % " .. multiple, "equals", 0)
//%         end
//%     end
//% end
//% tensor("q", spec.dtype, "head_dim", 16)
//% tensor("kv", "u8", "head_dim/2", 4)
//% tensor("o", spec.dtype, "head_dim_v", 16)
//% strides("q", 8)
//% strides("kv", 4)
//% strides("o", 8)
//% include("ops/sizes.hip")
//% tensor("kv_scale", "u8", "ceil_div(head_dim,32)", 4)
//% strides("kv_scale", 4)
//% include("ops/splits.hip")
//% constraint("heads_q", "min", 1)
//% constraint("heads_q * seqlen_q", "max", 1 << 20)
//% constraint("seqlen_q", "min", 0)
//% constraint("seqlen_k", "min", 0)
//% constraint("seqlen_k", "max", 1 << 30)
//% if not paged then
//%     for _, name in ipairs { "kv", "kv_scale" } do
//%         constraint("stride_" .. name .. "_row", "min", 0)
//%         constraint("stride_" .. name .. "_row", "max", ((1 << 32) - 512) // BK)
//%     end
//% end
//% kernel {
//%     workgroup = threads,
//%     grid = { "splits", "ceil_div(heads_q * seqlen_q, " .. spec.block_m .. ")", "batch" },
//%     lds_bytes = lds_bytes,
//%     flop_per_tile = 2 * spec.block_m * BK * (D + DV),
//%     bytes_per_tile = BK * (D // 2 + blocks),
//%     matrix_per_tile = R * (2 * 5 + v_tiles),
//% }
/* Strides in elements, those of kv and kv_scale in bytes; the last dimension of each tensor has stride 1. lse may be null. scale is the softmax scale.
 * kv is mxfp4: two numbers in a byte, the low nibble first, and an E8M0 scale for each 32 of a row. */
//% if packed then
/* Q and O have the rows of all sequences one behind the other; sequence b has rows cu_seqlens_q[b] to cu_seqlens_q[b + 1] - 1. */
//% end
//% if packed_keys then
/* Keys likewise, by cu_seqlens_k. */
//% end
//% if paged then
/* Key j of sequence b is row j % page_size of page block_table[b][j / page_size]. */
//% end
struct fmha_mla_arguments {
//% argument_members()
};

/* The wave's rows: Q and its scales, O before its division by l, the maximum m (in units of log 2, after scaling), the lane's share of the sum
 * l; of the lane's row the query, the head and how many keys it sees. */
struct fmha_rows {
    u32x4 q[$(R)][5];
    u32 q_scales[$(R)], q_last_scale[$(R)];
    fmha_sum o[$(R)][$(v_tiles)];
    float m[$(R)], l[$(R)];
    int query[$(R)], head[$(R)], visible[$(R)];
    float scale_log2;
    u32 lane;
};

/* Where the keys are. */
struct fmha_keys {
    const unsigned char *kv, *scales;
    i64 kv_row, scale_row; /* bytes from key to key */
//% if paged then
    const int *block_table;
    i64 kv_page, scale_page; /* bytes from page to page */
    u32 page_shift;          /* log2 of the keys of a page */
    u32 page_next[5];        /* pages of the lane's keys of the tile that is sent for next: of its four places of values, and of the scales */
//% end
    int seqlen_k;
    u32 lane;
};

/* ---- Q as mxfp4 ---- */

//% q_blocks = { load = "((const u32x4 *)from)[i]" }
//% include("ops/q_blocks.hip")

/* The lane's share of Q: blocks 4 g ... 4 g + 3, and 16 + g of the groups 0 and 1. */
FMHA_INLINE void fmha_load_q(struct fmha_rows &rows, const element *q[$(R)])
{
    const u32 group = rows.lane / 16;
    const u32x4 zero = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        rows.q_scales[r] = 0;
#pragma unroll
        for (u32 t = 0; t < 4; ++t) {
            rows.q_scales[r] |= fmha_quantize(q[r] + (4 * group + t) * 32, rows.q[r][t]) << 8 * t;
            FMHA_SCHEDULE_FENCE();
        }
        const u32 last = fmha_quantize(q[r] + (16 + group % 2) * 32, rows.q[r][4]);
        rows.q[r][4] = group < 2 ? rows.q[r][4] : zero;
        rows.q_last_scale[r] = group < 2 ? last : 127;
    }
}

/* ---- Keys to LDS ---- */

/* Of its places i the lane loads the key with this number. */
FMHA_INLINE u32 fmha_key_of_place(u32 lane, u32 i)
{
    return lane % 32 ^ (2 * i + lane / 32) % 8;
}

//% if paged then
/* Key n of a tile; the last one stands in for those past the end, so that neither the table nor a page is read there. */
FMHA_INLINE u32 fmha_key(const struct fmha_keys &keys, int tile, u32 n)
{
    const u32 key = (u32)tile * $(BK) + n, last = (u32)keys.seqlen_k - 1;
    return key < last ? key : last;
}

/* Asks for the pages of a tile's keys. */
FMHA_INLINE void fmha_find_pages(struct fmha_keys &keys, int tile)
{
#pragma unroll
    for (u32 i = 0; i < 5; ++i) {
        const u32 n = i < 4 ? fmha_key_of_place(keys.lane, i) : keys.lane % 32;
        keys.page_next[i] = (u32)keys.block_table[fmha_key(keys, tile, n) >> keys.page_shift];
    }
}

/* From the beginning of page 0 to a key's row. */
FMHA_INLINE i64 fmha_row_in_page(const struct fmha_keys &keys, u32 key, u32 page, i64 page_stride, i64 row_stride)
{
    const u32 row = key & ((1u << keys.page_shift) - 1);
    return (i64)page * page_stride + (i64)row * row_stride;
}

//% end
/* Sends for a tile, which has at least one key. Rows past the end are never read: the last one stands in for them. */
FMHA_INLINE void fmha_prefetch(struct fmha_keys &keys, int tile, unsigned char *to)
{
    const u32 lane = keys.lane, half = lane / 32;
    const unsigned char *from[4], *scales;
//% if paged then
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        const u32 key = fmha_key(keys, tile, fmha_key_of_place(lane, i));
        from[i] = keys.kv + fmha_row_in_page(keys, key, keys.page_next[i], keys.kv_page, keys.kv_row) + half * 16;
    }
    scales = keys.scales + fmha_row_in_page(keys, fmha_key(keys, tile, lane % 32), keys.page_next[4], keys.scale_page, keys.scale_row);
//% else
    const u32 last = (u32)(keys.seqlen_k - tile * $(BK)) - 1;
    const unsigned char *values = keys.kv + (i64)tile * $(BK) * keys.kv_row, *tile_scales = keys.scales + (i64)tile * $(BK) * keys.scale_row;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        const u32 n = fmha_key_of_place(lane, i);
        from[i] = values + ((n < last ? n : last) * (u32)keys.kv_row + half * 16);
    }
    scales = tile_scales + (lane % 32 < last ? lane % 32 : last) * (u32)keys.scale_row;
//% end
//% for i = 0, blocks // 2 - 1 do
    FMHA_LOAD_INTO_LDS_16(from[$(i % 4)], to + $(i * (1024 - 32)), $(i * 32));
//% end
    FMHA_LOAD_INTO_LDS_4(scales + half * 4, to + $(value_bytes), 0);
    FMHA_LOAD_INTO_LDS_4(scales + half * 4, to + $(value_bytes + 256 - 8), 8);
    FMHA_LOAD_INTO_LDS_1(scales + half, to + $(value_bytes + 512 - 16), 16);
}

/* ---- One tile ---- */

/* Folds a tile, which stands in LDS, into the rows. masked: not every row sees every key of it. */
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, int tile, const unsigned char *lds, bool masked)
{
#pragma clang fp contract(off)
    const u32 lane = rows.lane, column = lane % 16, group = lane / 16;
    fmha_sum s[$(R)][2];
    u32x4 p[$(R)];

    /* S^T = K Q^T */
    const u32 k_at = (4 * group * 32 + (column ^ 4 * group % 8)) * 16, k_last = ((16 + group % 2) * 32 + (column ^ group % 2)) * 16;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        const u32 *k_scales = (const u32 *)(lds + $(value_bytes)) + 16 * j + column;
        const u32 scales = k_scales[group * 32], last = k_scales[128 + group % 2 * 32], last_scale = group < 2 ? last : 127;
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            s[r][j] = (fmha_sum)(0.0f);
//% for t = 0, 3 do
        {
            const u32x4 k = *(const u32x4 *)(lds + (k_at ^ $(t * 16)) + $(t * 512) + j * 256);
#pragma unroll
            for (int r = 0; r < $(R); ++r)
//%     local multiply = "fmha_mma_scaled" .. t
                s[r][j] = $(multiply)(k, scales, rows.q[r][$(t)], rows.q_scales[r], s[r][j]);
        }
//% end
        const u32x4 k = *(const u32x4 *)(lds + k_last + j * 256);
#pragma unroll
        for (int r = 0; r < $(R); ++r)
            s[r][j] = fmha_mma_scaled0(k, last_scale, rows.q[r][4], rows.q_last_scale[r], s[r][j]);
    }

    /* The scales of V, as floats of which the exponent counts: of keys 4 g + i and 16 + 4 g + i byte c of their scales. */
    float v_scale[8];
    u32 largest = 0;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        const u32x4 words = *(const u32x4 *)(lds + $(value_bytes) + ((column / 4) * 32 + 4 * group + 16 * j) * 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const u32 bits = __builtin_amdgcn_alignbit(words[i], words[i], 9 + 8 * (column % 4)) & 0x7f800000;
            v_scale[4 * j + i] = __builtin_bit_cast(float, bits);
            largest = bits > largest ? bits : largest;
        }
    }
    /* From 253 on numbers may be beyond bf16, or NaN, and weights of 0 make NaN of infinity and NaN. So in a tile with such scales V is made
     * smaller by 2^8, and the weights larger. A row that sees a NaN has one in its scores. */
    const bool large = __builtin_amdgcn_ballot_w64(largest > 252u << 23) != 0;
    if (large) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const u32 bits = __builtin_bit_cast(u32, v_scale[i]), finite = bits > 254u << 23 ? 254u << 23 : bits;
            const u32 smaller = finite > 8u << 23 ? finite - (8u << 23) : 0;
            v_scale[i] = __builtin_bit_cast(float, smaller);
        }
    }

#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        /* m' = max(m, rowmax S). The exponent below is a difference of two products rounded alike, so it is never positive. */
        float maximum = rows.m[r];
        const int visible = rows.visible[r] - tile * $(BK) - (int)group * 4;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            s[r][j] *= rows.scale_log2;
            if (masked) {
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    s[r][j][i] = 16 * j + i < visible ? s[r][j][i] : -fmha_infinity();
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
                maximum = __builtin_fmaxf(maximum, s[r][j][i]);
        }
        maximum = fmha_group_max(maximum);
        /* A row that has seen no key has no maximum: any finite reference gives it the weights 2^-inf = 0. */
        const float reference = maximum == -fmha_infinity() ? 0.0f : maximum;

        /* P = 2^(S - m'), l = alpha l + rowsum P, O = alpha O: where no maximum rose alpha is 1. */
        float weight[8], sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            weight[i] = __builtin_amdgcn_exp2f(s[r][i / 4][i % 4] - reference);
            sum += weight[i];
        }
        if (__builtin_amdgcn_ballot_w64(maximum > rows.m[r]) != 0) {
            const float alpha = __builtin_amdgcn_exp2f(rows.m[r] - reference);
            rows.l[r] *= alpha;
#pragma unroll
            for (int t = 0; t < $(v_tiles); ++t)
                rows.o[r][t] *= alpha;
        }
        rows.l[r] += sum;
        rows.m[r] = maximum;
        if (large) {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                weight[i] *= 256.0f;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            p[r][i] = fmha_pack_weights(weight[2 * i], weight[2 * i + 1]);
    }

    /* O^T += V^T P^T */
    u32x4 v[8];
    const u32 v_at = (column * 32 + (4 * group ^ column % 8)) * 16;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = *(const u32x4 *)(lds + (v_at ^ (u32)(i % 4 * 16)) + i / 4 * 256);
//% for n = 0, v_tiles - 1, 2 do
    {
//%     local convert = "fmha_fp4_to_bf16_" .. n // 2 % 4
        u32 two[8];
        u32x4 low, high;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            two[i] = $(convert)(v[i][$(n // 8)], v_scale[i]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            low[i] = __builtin_amdgcn_perm(two[2 * i + 1], two[2 * i], 0x05040100);
            high[i] = __builtin_amdgcn_perm(two[2 * i + 1], two[2 * i], 0x07060302);
        }
#pragma unroll
        for (int r = 0; r < $(R); ++r) {
            rows.o[r][$(n)] = fmha_mma_bf16(low, p[r], rows.o[r][$(n)]);
            rows.o[r][$(n + 1)] = fmha_mma_bf16(high, p[r], rows.o[r][$(n + 1)]);
        }
        FMHA_SCHEDULE_FENCE();
    }
//% end
}

/* A step of the loop: the tile has arrived, the next one is sent for, this one is folded into the rows. The two places in LDS are not the same. */
FMHA_INLINE void fmha_step(struct fmha_rows &rows, struct fmha_keys &keys, int tile, int tiles, const unsigned char *__restrict here, unsigned char *__restrict there, bool masked)
{
    fmha_arrived();
    fmha_wave_barrier(); /* every lane is done with the tile before */
    if (tile + 1 < tiles) {
        fmha_prefetch(keys, tile + 1, there);
//% if paged then
        fmha_find_pages(keys, tile + 2);
//% end
    }
    FMHA_SCHEDULE_FENCE();
    fmha_attend(rows, tile, here, masked);
}

FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_mla_arguments arguments)
{
#pragma clang fp contract(off)
    FMHA_LDS(lds, $(lds_bytes));
    const u32 thread = __builtin_amdgcn_workitem_id_x(), lane = thread % 64;
    const int wave = (int)__builtin_amdgcn_readfirstlane(thread / 64);
    const int split = (int)__builtin_amdgcn_workgroup_id_x(), first_row = (int)__builtin_amdgcn_workgroup_id_y() * $(spec.block_m);
    const i64 batch = (int)__builtin_amdgcn_workgroup_id_z();
//% if packed then
    const i64 first_token = arguments.cu_seqlens_q[batch];
    const int seqlen_q = arguments.cu_seqlens_q[batch + 1] - (int)first_token;
//% elseif padded then
    const int seqlen_q = arguments.seqlens_q[batch];
//% else
    const int seqlen_q = arguments.seqlen_q;
//% end
    const int count = arguments.heads_q * seqlen_q;
    if (first_row >= count) /* the grid is made for the longest sequence */
        return;
//% if packed_keys then
    const i64 first_key = arguments.cu_seqlens_k[batch];
    const int seqlen_k = arguments.cu_seqlens_k[batch + 1] - (int)first_key;
//% elseif padded_keys then
    const int seqlen_k = arguments.seqlens_k[batch];
//% else
    const int seqlen_k = arguments.seqlen_k;
//% end
//% local diagonal = not causal and "0" or spec.mask == "causal-bottom-right" and "seqlen_k - seqlen_q" or "0"
//% if causal then
    const int diagonal = $(diagonal);
//% end

    struct fmha_keys keys;
//% if paged then
    keys.kv = arguments.kv;
    keys.scales = arguments.kv_scale;
    keys.block_table = arguments.block_table + batch * arguments.stride_block_table;
    keys.kv_page = arguments.stride_kv_batch;
    keys.scale_page = arguments.stride_kv_scale_batch;
    keys.page_shift = (u32)__builtin_ctz((u32)arguments.page_size);
//% else
//%     local kv = packed and "first_key * arguments.stride_kv_row" or "batch * arguments.stride_kv_batch"
//%     local scales = packed and "first_key * arguments.stride_kv_scale_row" or "batch * arguments.stride_kv_scale_batch"
    keys.kv = arguments.kv + $(kv);
    keys.scales = arguments.kv_scale + $(scales);
//% end
    keys.kv_row = arguments.stride_kv_row;
    keys.scale_row = arguments.stride_kv_scale_row;
    keys.seqlen_k = seqlen_k;
    keys.lane = lane;

    struct fmha_rows rows;
    const element *q[$(R)];
    rows.lane = lane;
    rows.scale_log2 = arguments.scale * 1.4426950408889634f; /* log2 e: every exponential is a power of two */
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        const int row = fmha_min(first_row + r * $(N) + (int)(lane % $(N)), count - 1); /* the last one stands in for rows past the end */
        rows.head[r] = row / seqlen_q;
        rows.query[r] = row % seqlen_q;
//% if causal then
        rows.visible[r] = fmha_min(seqlen_k, rows.query[r] + 1 + diagonal);
//% else
        rows.visible[r] = seqlen_k;
//% end
//% local q_begin = packed and "first_token * arguments.stride_q_row" or "batch * arguments.stride_q_batch"
        q[r] = arguments.q + $(q_begin) + rows.head[r] * arguments.stride_q_head + rows.query[r] * arguments.stride_q_row;
        rows.m[r] = -fmha_infinity();
        rows.l[r] = 0.0f;
#pragma unroll
        for (int t = 0; t < $(v_tiles); ++t)
            rows.o[r][t] = (fmha_sum)(0.0f);
    }

    /* Tiles with a key that some query sees are shared out to the splits, and those of a split to its waves; up to `unmasked` all queries see
     * every key. */
//% if causal then
    const int seen = fmha_max(fmha_min(seqlen_k, seqlen_q + diagonal), 0), seen_by_all = fmha_max(fmha_min(seqlen_k, 1 + diagonal), 0);
//% else
    const int seen = seqlen_k, seen_by_all = seqlen_k;
//% end
    const int end = (seen + $(BK - 1)) / $(BK), unmasked = seen_by_all / $(BK);
    const int of_split = (end + arguments.splits - 1) / arguments.splits;
    const int split_first = fmha_min(split * of_split, end), split_end = fmha_min(split_first + of_split, end);
    const int of_wave = (split_end - split_first + $(W - 1)) / $(W);
    int tile = fmha_min(split_first + wave * of_wave, split_end);
    const int tiles = fmha_min(tile + of_wave, split_end);

    unsigned char *here = lds + wave * $(wave_bytes), *there = here + $(tile_bytes);
    if (tile < tiles) {
//% if paged then
        fmha_find_pages(keys, tile);
//% end
        fmha_prefetch(keys, tile, here);
//% if paged then
        fmha_find_pages(keys, tile + 1);
//% end
    }
    fmha_load_q(rows, q);
    for (; tile < tiles; ++tile) {
        fmha_step(rows, keys, tile, tiles, here, there, tile >= unmasked);
        unsigned char *const other = here;
        here = there;
        there = other;
    }

    /* O = sum of the waves' O 2^(m - M), by the same sum of l; M is the largest m. */
    const struct fmha_mla_arguments &again = FMHA_ARGUMENTS_AGAIN(arguments);
    fmha_sum sum[$(R)][$(own_tiles)];
    float maximum[$(R)], l[$(R)];
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        maximum[r] = rows.m[r];
        l[r] = fmha_group_sum(rows.l[r]);
    }
//% if W > 1 then
    float *parts = (float *)(lds + $(parts_at));
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        if (lane < $(N)) {
            parts[((r * $(W) + wave) * 2) * $(N) + lane] = maximum[r];
            parts[((r * $(W) + wave) * 2 + 1) * $(N) + lane] = l[r];
        }
    }
    fmha_barrier(); /* and nobody reads a tile any more */
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        float part_m[$(W)];
        maximum[r] = -fmha_infinity();
#pragma unroll
        for (int w = 0; w < $(W); ++w) {
            part_m[w] = parts[((r * $(W) + w) * 2) * $(N) + lane % $(N)];
            maximum[r] = __builtin_fmaxf(maximum[r], part_m[w]);
        }
        const float reference = maximum[r] == -fmha_infinity() ? 0.0f : maximum[r];
        const float factor = __builtin_amdgcn_exp2f(rows.m[r] - reference);
        l[r] = 0.0f;
#pragma unroll
        for (int w = 0; w < $(W); ++w)
            l[r] += parts[((r * $(W) + w) * 2 + 1) * $(N) + lane % $(N)] * __builtin_amdgcn_exp2f(part_m[w] - reference);
#pragma unroll
        for (int t = 0; t < $(v_tiles); ++t)
            rows.o[r][t] *= factor;
    }
    /* Wave w adds up and stores columns 32 b + $(own_tiles) w to that + $(own_tiles - 1) of each block b: tiles $(own_tiles) w and the next ones. */
    fmha_sum *exchange = (fmha_sum *)lds; /* [to][from][row tile][tile][lane] */
//%     for round_first = 0, own_tiles - 1, round do
//%         if round_first > 0 then
    fmha_barrier(); /* what was exchanged before is read */
//%         end
#pragma unroll
    for (int to = 0; to < $(W); ++to) {
#pragma unroll
        for (int r = 0; r < $(R); ++r) {
#pragma unroll
            for (int t = 0; t < $(round); ++t)
                exchange[(((to * $(W) + wave) * $(R) + r) * $(round) + t) * 64 + lane] = rows.o[r][to * $(own_tiles) + $(round_first) + t];
        }
    }
    fmha_barrier();
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int t = 0; t < $(round); ++t) {
            fmha_sum all = exchange[((wave * $(W) * $(R) + r) * $(round) + t) * 64 + lane];
#pragma unroll
            for (int from = 1; from < $(W); ++from)
                all += exchange[(((wave * $(W) + from) * $(R) + r) * $(round) + t) * 64 + lane];
            sum[r][$(round_first) + t] = all;
        }
    }
//%     end
//% else
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
#pragma unroll
        for (int t = 0; t < $(own_tiles); ++t)
            sum[r][t] = rows.o[r][t];
    }
//% end

    /* O = o / l and LSE = log 2 (m + log2 l); a row without a visible key has l = 0, O = 0 and LSE = -inf. */
#pragma unroll
    for (int r = 0; r < $(R); ++r) {
        if (first_row + r * $(N) + (int)(lane % $(N)) >= count)
            continue;
        const int query = rows.query[r], head = rows.head[r];
        const float inverse = l[r] == 0.0f ? 0.0f : 1.0f / l[r], lse = 0.69314718055994531f * (maximum[r] + __builtin_amdgcn_logf(l[r]));
        const bool tells = wave == 0 && lane < $(N);
//% local lse_row = packed and "head * again.tokens_q + first_token + query" or "(batch * again.heads_q + head) * again.seqlen_q + query"
//% local rows_of_split = packed and "again.heads_q * again.tokens_q" or "(i64)again.batch * again.heads_q * again.seqlen_q"
        const i64 lse_row = $(lse_row);
        if (again.splits > 1) {
            const i64 row = split * ($(rows_of_split)) + lse_row;
            if (tells)
                again.lse_partial[row] = lse;
            float *to = again.o_partial + row * $(DV) + lane / 16 * 128 + wave * $(own_tiles);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int t = 0; t < $(own_tiles); t += 4)
                    *(fmha_sum *)(to + 32 * i + t) = (fmha_sum){sum[r][t][i] * inverse, sum[r][t + 1][i] * inverse, sum[r][t + 2][i] * inverse, sum[r][t + 3][i] * inverse};
            }
            continue;
        }
        if (again.lse && tells)
            again.lse[lse_row] = lse;
//% local o_begin = packed and "first_token * again.stride_o_row" or "batch * again.stride_o_batch"
        element *to = again.o + $(o_begin) + head * again.stride_o_head + query * again.stride_o_row + lane / 16 * 128 + wave * $(own_tiles);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int t = 0; t < $(own_tiles); t += 8) {
                u32x4 packed;
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    packed[e] = fmha_pack(sum[r][t + 2 * e][i] * inverse, sum[r][t + 2 * e + 1][i] * inverse);
                *(u32x4 *)(to + 32 * i + t) = packed;
            }
        }
    }
}
