//% -- Blocks of a row of Q become mxfp4. q_blocks.load: eight elements from the i-th eight of `from` on.
//% local load = q_blocks.load
//% local most = spec.dtype == "bf16" and "0x7f80" or "0x7c00"
//% local carry = spec.scale_rule == "threequarters" and " + 0x200000" or ""
//% local what = carry ~= "" and "2^(e - 2), or 2^(e - 1) from 1.75 on" or "2^(e - 2)"
/* The scale of 32 elements, as E8M0: of the largest magnitude, 2^e times 1 to 2, $(what). It is NaN where an element is not finite. */
FMHA_INLINE u32 fmha_scale_of(const u32x4 block[4])
{
    typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));
    u16x2 largest = {0, 0};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const u32 two = block[i / 4][i % 4] & 0x7fff7fff;
        largest = __builtin_elementwise_max(largest, __builtin_bit_cast(u16x2, two));
    }
    const unsigned short one = largest[0] > largest[1] ? largest[0] : largest[1];
    const u32 bits = __builtin_bit_cast(u32, fmha_from_element(__builtin_bit_cast(element, one)));
//% local carried = "bits" .. carry
    const int exponent = (int)(($(carried)) >> 23) - 2;
    return one >= $(most) ? 255 : (u32)fmha_max(fmha_min(exponent, 252), 0);
}

/* 32 neighbouring elements of a row of Q as four words; returns their scale. */
FMHA_INLINE u32 fmha_quantize(const element *from, u32x4 &numbers)
{
    u32x4 block[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        block[i] = $(load);
    const u32 scale = fmha_scale_of(block);
    const float factor = __builtin_bit_cast(float, scale << 23);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        numbers[i] = scale == 255 ? 0 : fmha_elements_to_fp4(block[i], factor);
    return scale;
}
