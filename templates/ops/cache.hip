//% -- K and V as they stand in memory: of the type of Q, or of a smaller one, which becomes the type of Q in registers, on its way to LDS or to an
//% -- operand (device/fp8….hip, device/fp4_….hip). What the ways of K and V need to know of that:
//% --   small, fp8, mx     whether they are of a smaller type; of fp8; of mxfp4
//% --   token, rows        fp8 with a scale for each key; each row of K and V has scales in memory: of its keys or of its blocks
//% --   unit               what k and v point to: an element, or a byte of a smaller type
//% --   units(n), bytes(n) that n elements take; row_bytes(stride) of a stride as text
//% --   run                neighbouring elements of a row that a share of a tile has: those of a scale of mxfp4
//% --   scale              type of a scale
//% --   evens              fp8 with a scale for each key, weights as f16: see units_of_rows()
//% --   rounds             keys of a tile whose scales a thread brings
//% --   native             fp8 is multiplied as it is, by Q and P quantized to fp8 (device/fp8_native.hip)
//% --   scaled             K of mxfp4 is multiplied as it is, by Q quantized to it (ops/forward_scaled.hip)
//% --   cell, cell_bytes   what stands in LDS and is an operand's element; run8: eight of them, zeros of them; pad: between rows in LDS
//% --   arguments()        of the scales; emit(), k_operand(), places(), through_lds(), broken(): functions
//% local kind = spec.kv_dtype
//% local small, mx, token = kind ~= "same", kind == "mxfp4", spec.kv_scale == "token"
//% local unit_bytes = small and 1 or 2
//% cache = {
//%     small = small, mx = mx, fp8 = small and not mx, token = token, rows = mx or token,
//%     unit = small and "unsigned char" or "element", unit_bytes = unit_bytes,
//%     type = small and "u8" or spec.dtype,
//%     units = function(n) return mx and n // 2 or n end,
//%     bytes = function(n) return mx and n // 2 or n * unit_bytes end,
//%     row_bytes = function(stride) return small and "(u32)" .. stride or "(u32)(" .. stride .. " * 2)" end,
//%     run = mx and 32 or 8,
//%     eight = mx and "u32" or "u32x2", -- registers of eight elements of a smaller type
//%     scale = mx and "unsigned char" or "float", scale_bytes = mx and 1 or 4,
//%     evens = token and spec.dtype == "f16",
//%     rounds = (spec.block_k + spec.wave * spec.waves - 1) // (spec.wave * spec.waves),
//% }
//% -- The matrix unit's own fp8: its kind of e4m3, and the largest number of it, which a row of Q is quantized to.
//% local native, scaled = spec.kv_math == "native" and not mx, spec.kv_math == "native" and mx
//% cache.scaled = scaled
//% local fnuz = kind:match("fnuz$") ~= nil
//% cache.native, cache.fnuz, cache.largest = native, fnuz, fnuz and "240.0f" or "448.0f"
//% cache.cell, cache.cell_bytes = native and "unsigned char" or "element", native and 1 or 2
//% cache.run8, cache.words8, cache.zeros8 = native and "u32x2" or "u32x4", native and 2 or 4, native and "(u32x2){0, 0}" or "(u32x4){0, 0, 0, 0}"
//% -- Sixteen lanes that read 16 bytes of sixteen rows meet in no bank where a row is padded by 16 bytes. Of 8 bytes they go through at once, and rows
//% -- begin two banks apart; where LDS has 64 banks for them, 32 lanes do, of which two read neighbours of one row. There the sixteen lanes that read 16
//% -- bytes at once are of two lane groups, eight rows of each: the rows begin eight banks apart, those of one group between those of the other.
//% cache.pad = function()
//%     if native then return math.max(8, atom.share) end
//%     if atom.share == 8 and atom.n == 16 and arch.lds_read_banks == 64 then return 16 end
//%     return atom.share == 4 and arch.lds_read_banks ~= 64 and 4 or 8
//% end
//% if native then
//%     local own = arch.fp8 or "e4m3"
//%     local other = own:gsub("^e4m3", "e5m2")
//%     if not arch.native_fp8 then fail("--kv-math native on " .. arch.name .. ": its matrix instructions do not multiply fp8: use --kv-math convert") end
//%     if kind ~= own and kind ~= other then
//%         fail("--kv-math native with --kv-dtype " .. kind .. ": expected " .. own .. " or " .. other .. ", which the matrix instructions of " .. arch.name
//%              .. " multiply: use --kv-dtype fp8, or --kv-math convert")
//%     end
//%     if spec.op == "mla" then fail("--kv-math native with --kv-dtype " .. kind .. " is built for forward and decode: with --op mla use --kv-math convert") end
//%     if spec.orientation ~= "kq" then fail("--kv-math native is built for --orientation kq: leave out --orientation " .. spec.orientation) end
//%     if spec.v_path ~= "lds" then fail("--kv-math native with --v-path " .. spec.v_path .. ": V's bytes are transposed on their way to LDS: use --v-path lds") end
//%     if spec.v_waves > 1 then fail("--kv-math native with --v-waves " .. spec.v_waves .. ": the scale of a row of Q is found by one wave: use --v-waves 1") end
//%     if spec.dropout == "on" then fail("--kv-math native with --dropout: weights above 1 would leave the range of fp8: use --kv-math convert") end
//%     cache.evens = token -- weights times scales
//% end
//% if scaled then
//%     local with = "--kv-math native with --kv-dtype mxfp4"
//%     if not arch.native_fp4 then fail(with .. ": " .. arch.name .. " has no matrix instructions of such numbers; use --kv-math convert") end
//%     if spec.orientation ~= "kq" then fail("--kv-math native is built for --orientation kq: leave out --orientation " .. spec.orientation) end
//%     if spec.q_path ~= "register" then fail(with .. ": expected --q-path register, got " .. spec.q_path .. ": Q takes few; leave --q-path out") end
//%     if spec.k_path == "async" then fail(with .. " and --k-path async: K's rows get another pitch on their way to LDS: use --k-path lds or direct") end
//% end
//% if spec.scale_rule ~= "floor" and not scaled then
//%     fail("--scale-rule " .. spec.scale_rule .. ": expected something that becomes mxfp4: add --kv-dtype mxfp4 --kv-math native, or leave it out")
//% end
//% local option = "--kv-dtype " .. kind
//% if small and spec.v_layout == "transposed" then fail(option .. " with --v-layout transposed: expected V in rows of keys; leave out --v-layout transposed") end
//% if small and spec.k_path == "async" then fail(option .. " with --k-path async: K is converted in registers: use --k-path lds or direct") end
//% if small and spec.v_path == "gather" then fail(option .. " with --v-path gather: V is converted by eights: use --v-path lds") end
//% if mx then
//%     for _, dimension in ipairs { spec.head_dim, spec.head_dim_v } do
//%         if dimension % 32 ~= 0 then fail(option .. ": expected head dimensions of whole scales, multiples of 32, got " .. dimension .. ": use --kv-dtype e4m3") end
//%     end
//% end
//%
//% -- Arguments of the scales of K and V. outer, rows: words of the shapes' first dimension, "" where there is none, and of the rows.
//% cache.arguments = function(outer, rows)
//%     if not small then return end
//%     local latent = forward.k == forward.v
//%     local tensors = latent and { forward.k } or { "k", "v" }
//%     local axes = { outer ~= "" and "batch" or false, not latent and "head" or false, cache.rows and "row" or false }
//%     local words = { outer, "heads_k", rows }
//%     for _, tensor in ipairs(tensors) do
//%         local shape, strides = {}, {}
//%         for axis = 1, 3 do
//%             if axes[axis] then shape[#shape + 1], strides[#strides + 1] = words[axis], "stride_" .. tensor .. "_scale_" .. axes[axis] end
//%         end
//%         if mx then shape[#shape + 1], strides[#strides + 1] = "ceil_div(" .. (tensor == "v" and "head_dim_v" or "head_dim") .. ",32)", "1" end
//%         if not shape[1] then shape[1], strides[1] = "1", "1" end
//%         argument {
//%             name = tensor .. "_scale", kind = "buffer", type = mx and "u8" or "f32", access = "read", shape = table.concat(shape, " "),
//%             strides = table.concat(strides, " "),
//%         }
//%     end
//%     for _, tensor in ipairs(tensors) do
//%         local stride = "stride_" .. tensor .. "_scale_"
//%         for axis = 1, 3 do
//%             if axes[axis] then argument { name = stride .. axes[axis], kind = "value", type = "i64" } end
//%         end
//%         if mx and spec.paged == "off" then
//%             constraint(stride .. "row", "min", 0)
//%             constraint(stride .. "row", "max", ((1 << 32) - 32) // spec.block_k)
//%         end
//%     end
//% end
//%
//% cache.emit = function()
//%     if not small then return end
//%     local eight = cache.eight
//%     if not scaled then
//%         include("device/pairs.hip")

//%     end
//%     if scaled then
//%         include("device/scaled_gfx950.hip")
//%     elseif mx then
//%         include("device/fp4_" .. spec.dtype .. ".hip")
//%     else
//%         if kind:match("fnuz$") then include("device/fp8_fnuz.hip") end

//%         include("device/fp8_" .. kind .. ".hip")

//%         include("device/fp8.hip")
//%         if native then

//%             include("device/fp8_native.hip")
//%         end
//%     end

FMHA_INLINE bool fmha_is_finite(float x)
{
    return (__builtin_bit_cast(u32, x) & 0x7f800000) != 0x7f800000;
}

//%     local load = spec.align == 16 and "*(const " .. eight .. " *)from"
/* Eight neighbouring numbers of K or V, as they are in memory. */
FMHA_INLINE $(eight) fmha_load_eight(const unsigned char *from)
{
//%     if load then
    return $(load);
//%     elseif mx then
    return from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24;
//%     else
    return (u32x2){from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24, from[4] | (u32)from[5] << 8 | (u32)from[6] << 16 | (u32)from[7] << 24};
//%     end
}

//%     if mx then
/* The numbers of a scale. */
FMHA_INLINE u32x4 fmha_load_block(const unsigned char *from)
{
//%         if load then
    typedef u32x4 words __attribute__((aligned(4)));
    return *(const words *)from;
//%         else
    return (u32x4){fmha_load_eight(from), fmha_load_eight(from + 4), fmha_load_eight(from + 8), fmha_load_eight(from + 12)};
//%         end
}

//%     else
//%         local convert = "fmha_fp8_to_" .. spec.dtype
/* Eight of them as elements. */
FMHA_INLINE u32x4 fmha_elements(u32x2 eight)
{
    const u32x2 low = $(convert)(eight[0]), high = $(convert)(eight[1]);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3);
}

/* A scale that is infinite is taken for NaN, for what would be its zeros? */
FMHA_INLINE float fmha_scale(float scale)
{
    return fmha_is_finite(scale) ? scale : __builtin_nanf("");
}
//%     end
//% end
//% -- Weights times scales of V are of any size, and f16 and fp8 have few exponents. So O is in units of a power of two by which the largest of them
//% -- lies between 2^14 and 2^15 (fp8: 2^7 and 2^8, of the fnuz kind 2^6 and 2^7), and which never falls.
//% cache.units_of_rows = function()
//%     local head = native and (fnuz and 6 or 7) or 14
//%     local step, least = ("0x%08x"):format(head << 23), ("0x%08x"):format(head + 1 << 23)
/* Raises the unit of a row's O, bits of a power of two, to what a tile's largest weight wants; returns its inverse. shrink: of the units before in it. */
FMHA_INLINE float fmha_unit(u32 &unit, float largest, float &shrink)
{
    const u32 exponent = __builtin_bit_cast(u32, largest) & 0x7f800000, wanted = exponent > $(least) ? exponent - $(step) : 0x00800000;
    const u32 before = unit;
    unit = wanted > before ? wanted : before;
    shrink = __builtin_bit_cast(float, unit - before < 0x3f800000 ? 0x3f800000 - (unit - before) : 0);
    return __builtin_bit_cast(float, 0x7f000000 - unit);
}

//% end
//% -- K as an operand, straight from memory.
//% cache.k_operand = function()
//%     local M, L, operand, replicated = atom.tile, atom.share, atom.operand, atom.replicated
//%     local parameters = (replicated and "" or "u32 first, ") .. "u32 present" .. (mx and ", u32 e8m0" or "")
//%     local function eight(at) return mx and "fmha_fp4_to_elements(fmha_load_eight(" .. at .. "), scale)" or "fmha_elements(fmha_load_eight(" .. at .. "))" end
//%     local base = replicated and "from" or mx and "from + first / 2" or "from + first"
//%     local low, high = eight(base), eight(base .. " + " .. cache.units(8))
/* As fmha_load_operand, of K. */
FMHA_INLINE $(operand) fmha_load_k_operand(const unsigned char *from, $(parameters))
{
//%     if native then
//%         local low8, high8 = "fmha_load_eight(from + first)", "fmha_load_eight(from + first + 8)"
//%         if L == 16 then
    const bool all = present >= $(M); /* known when this is compiled, unlike first */
    const u32x2 zero = {}, low = all || first < present ? $(low8) : zero, high = all || first + 8 < present ? $(high8) : zero;
    return __builtin_shufflevector(low, high, 0, 1, 2, 3);
}

//%             return
//%         end
    const $(operand) zero = {};
    if (present < $(M) && first >= present)
        return zero;
//%         if L == 8 then
    return $(low8);
//%         elseif spec.align == 16 then
    return *(const u32 *)(from + first);
//%         else
    from += first;
    return from[0] | (u32)from[1] << 8 | (u32)from[2] << 16 | (u32)from[3] << 24;
//%         end
}

//%         return
//%     end
//%     if mx then
    const fmha_fp4_scale scale = fmha_fp4_scale_of(e8m0);
//%     end
//%     if replicated then
    const u32x4 zero = {0, 0, 0, 0};
    return fmha_join($(low), present > 8 ? $(high) : zero);
//%     elseif L == 16 then
    const bool all = present >= $(M); /* known when this is compiled, unlike first */
    const u32x4 zero = {};
    return fmha_join(all || first < present ? $(low) : zero, all || first + 8 < present ? $(high) : zero);
//%     else
    const $(operand) zero = {};
    if (present < $(M) && first >= present)
        return zero;
//%         if L == 8 then
    return $(low);
//%         else
//%             local four, words = cache.bytes(4), mx and "unsigned short" or "u32"
//%             if spec.align == 16 then
    const u32 few = *(const $(words) *)($(base));
//%             else
    u32 few = 0;
#pragma unroll
    for (u32 i = 0; i < $(four); ++i)
        few |= (u32)($(base))[i] << i * 8;
//%             end
//%             local elements = mx and "fmha_fp4_to_elements(few, scale)" or "fmha_fp8_to_" .. spec.dtype .. "(few)"
    const auto elements = $(elements);
    return (u32x2){elements[0], elements[1]};
//%         end
//%     end
}

//% end
//% -- Where scales of keys are, without pages.
//% cache.places = function()
//%     for _, kind in ipairs { "k", "v" } do
//%         local scale_at, scales, stride = "fmha_" .. kind .. "_scale_at", "keys." .. kind .. "_scales", "keys." .. kind .. "_scale_stride"

//%         if mx then
/* The scale of a key of a tile, of its block of 32. */
FMHA_INLINE const unsigned char *$(scale_at)(const struct fmha_keys &keys, int tile, u32 key, u32 block)
{
    return $(scales) + (i64)tile * ($(spec.block_k) * $(stride)) + (key * (u32)$(stride) + block);
}
//%         else
/* The scale of a key of a tile. */
FMHA_INLINE const float *$(scale_at)(const struct fmha_keys &keys, int tile, u32 key)
{
    return $(scales) + ((i64)tile * $(spec.block_k) + key) * $(stride);
}
//%         end
//%     end
//% end
//% -- Scales of keys, on their way to LDS.
//% cache.through_lds = function()
//%     local paged, BK, threads = spec.paged == "on", spec.block_k, spec.wave * spec.waves
//%     local some = BK % threads ~= 0
//%     local place = paged and "n" or "tile, part && n >= rows ? rows - 1 : n"
/* Starts loading the scales of the thread's keys of a tile. part: it may lack some. */
FMHA_INLINE void fmha_prefetch_scales(struct fmha_keys &keys, int tile, bool part)
{
//%     if paged then
    (void)tile, (void)part;
//%     else
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK));
//%     end
#pragma unroll
    for (u32 r = 0; r < $(cache.rounds); ++r) {
        const u32 n = keys.thread + r * $(threads);
//%     if some then
        keys.k_scale_next[r] = keys.v_scale_next[r] = 0.0f;
        if (n >= $(BK))
            break;
//%     end
        keys.k_scale_next[r] = *fmha_k_scale_at(keys, $(place));
//%     if forward.k == forward.v then
        keys.v_scale_next[r] = keys.k_scale_next[r]; /* a key has one scale for both */
//%     else
        keys.v_scale_next[r] = *fmha_v_scale_at(keys, $(place));
//%     end
    }
}

/* Puts them into LDS. Between barriers. */
FMHA_INLINE void fmha_store_scales(struct fmha_keys &keys)
{
#pragma unroll
    for (u32 r = 0; r < $(cache.rounds); ++r) {
        const u32 n = keys.thread + r * $(threads);
//%     if some then
        if (n >= $(BK))
            break;
//%     end
        keys.k_scale_lds[n] = fmha_scale(keys.k_scale_next[r]);
        keys.v_scale_lds[n] = fmha_scale(keys.v_scale_next[r]);
    }
}

//% end
//% -- What of V is not finite, straight from memory.
//% cache.broken = function()
//%     local column, block = mx and "dimension / 2" or "dimension", mx and " + dimension / 32" or ""
//%     local paged_scale = "fmha_row_in_page(keys, (u32)key, page, keys.v_scale_page, keys.v_scale_stride)" .. block
//%     local scale_of_key = "(i64)key * keys.v_scale_stride" .. block
/* A value of V that is not finite, 0 in place of one that is. */
FMHA_INLINE float fmha_broken_number(const struct fmha_keys &keys, int key, u32 dimension)
{
#pragma clang fp contract(off)
//%     if spec.paged == "on" then
    const u32 page = fmha_page(keys, (u32)key);
    const unsigned char number = keys.v[fmha_row_in_page(keys, (u32)key, page, keys.v_page, keys.v_stride) + $(column)];
//%         if cache.rows then
    const $(cache.scale) scale = keys.v_scales[$(paged_scale)];
//%         end
//%     else
    const unsigned char number = keys.v[(i64)key * keys.v_stride + $(column)];
//%         if cache.rows then
    const $(cache.scale) scale = keys.v_scales[$(scale_of_key)];
//%         end
//%     end
//%     if mx then
    const u32 two = fmha_fp4_to_elements(number >> dimension % 2 * 4, fmha_fp4_scale_of(scale))[0];
    const float v = fmha_from_element(__builtin_bit_cast(element, (unsigned short)two));
//%     elseif token then
    const float v = fmha_fp8_to_f32(number)[0] * fmha_scale(scale);
//%     else
    const float v = fmha_fp8_to_f32(number)[0];
//%     end
    return fmha_is_finite(v) ? 0.0f : v == v ? v : __builtin_nanf(""); /* all ones, the NaN of a number could carry when O is rounded to bf16 */
}

//% end
