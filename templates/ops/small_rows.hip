//% -- Rows of numbers of a small format, which eight lanes make of values in registers: what appending and quantizing share.
//% --   small.fp4, fp8, per_token   of mxfp4; of fp8; with a scale for each row
//% --   small.makes_scales          the kernel makes the scales; else they are given
//% --   small.eight_bytes           that eight numbers take
//% --   small.scale_type            type of a scale
//% --   small.emit()                functions
//% --   small.row(values, dim, to, scale, present, by)    numbers of a row. `values`: a float [rounds][8], those of the lane's piece at `column` + 64 i,
//% --       0 where there is none; `to`, `scale`: where they go, with `by` the name of a float that gets the row's scale; `present`: the row is there.
//% --       Every lane of the wave comes here.
//% local fp4 = spec.kv_dtype == "mxfp4"
//% local fp8 = spec.kv_dtype ~= "same" and not fp4
//% local fast, per_token = spec.align == 16, spec.kv_scale == "token"
//% small = {
//%     fp4 = fp4, fp8 = fp8, per_token = per_token, makes_scales = fp4 or per_token,
//%     eight_bytes = fp4 and 4 or 8, scale_type = fp4 and "unsigned char" or "float",
//% }
//% if spec.scale_rule ~= "floor" and not fp4 then
//%     fail("--scale-rule " .. spec.scale_rule .. " with --kv-dtype " .. spec.kv_dtype .. ": expected blocks with scales of their own; use --kv-dtype mxfp4, or leave --scale-rule out")
//% end
//% small.emit = function()
//%     include("device/groups.hip")

//%     include("device/to_" .. (fp4 and "fp4" or "fp8") .. ".hip")
//%     if fp8 then

//%         include("device/to_fp8_" .. spec.kv_dtype .. ".hip")
//%     end
//%     if fp4 then

/* Eight numbers. */
FMHA_INLINE void fmha_store(unsigned char *to, u32 numbers)
{
//%         if fast then
    *(u32 *)to = numbers;
//%         else
#pragma unroll
    for (int i = 0; i < 4; ++i)
        to[i] = (unsigned char)(numbers >> 8 * i);
//%         end
}
//%     else

/* Eight numbers. */
FMHA_INLINE void fmha_store(unsigned char *to, u32x2 numbers)
{
//%         if fast then
    *(u32x2 *)to = numbers;
//%         else
#pragma unroll
    for (int i = 0; i < 8; ++i)
        to[i] = (unsigned char)(numbers[i / 4] >> 8 * (i % 4));
//%         end
}
//%     end
//% end
//% small.row = function(values, dim, to, scale, present, by)
//%     local rounds = (dim + 63) // 64
//%     if fp4 then
//%         local three_quarters = tostring(spec.scale_rule == "threequarters")
#pragma unroll
    for (int i = 0; i < $(rounds); ++i) {
        const int at = column + 64 * i;
        u32 largest = 0, numbers = 0; /* four lanes have the 32 values of a scale */
#pragma unroll
        for (int j = 0; j < 8; ++j)
            largest = fmha_largest(largest, __builtin_bit_cast(u32, $(values)[i][j]) & 0x7fffffff);
        const u32 e8m0 = fmha_fp4_scale_for(fmha_largest_of_4(largest), $(three_quarters));
#pragma unroll
        for (int j = 0; j < 8; ++j)
            numbers |= fmha_to_fp4($(values)[i][j], e8m0) << 4 * j;
        if (!$(present) || at >= $(dim))
            continue;
        fmha_store($(to) + at / 2, numbers);
        if (at % 32 == 0)
            $(scale)[at / 32] = (unsigned char)e8m0;
    }
//%     else
//%         if per_token then
//%             local largest = "largest_" .. by
    u32 $(largest) = 0;
#pragma unroll
    for (int i = 0; i < $(rounds); ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
            $(largest) = fmha_largest($(largest), fmha_fp8_share($(values)[i][j]));
    const float $(by) = fmha_fp8_scale_of(fmha_largest_of_8($(largest)));
    if ($(present) && column == 0)
        *$(scale) = $(by);
//%         else
    const float $(by) = $(present) ? *$(scale) : 1.0f;
//%         end
#pragma unroll
    for (int i = 0; i < $(rounds); ++i) {
        const int at = column + 64 * i;
        if (!$(present) || at >= $(dim))
            continue;
        u32x2 numbers = {0, 0};
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            FMHA_OPAQUE($(values)[i][j]); /* what is known of it since the scale was chosen is not kept */
            numbers[j / 4] |= fmha_to_fp8($(values)[i][j], $(values)[i][j] / $(by)) << 8 * (j % 4);
        }
        fmha_store($(to) + at, numbers);
    }
//%     end
//% end
