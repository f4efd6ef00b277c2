//% -- What gfx950 has for mxfp4: numbers of four bits (e2m1), 32 of which share a scale, a byte (E8M0).
typedef int fmha_words __attribute__((ext_vector_type(8)));
typedef float fmha_sum __attribute__((ext_vector_type(4)));
typedef __bf16 fmha_bf16x2 __attribute__((ext_vector_type(2)));
typedef __bf16 fmha_bf16x8 __attribute__((ext_vector_type(8)));
//% if spec.dtype == "f16" then
typedef _Float16 fmha_pair __attribute__((ext_vector_type(2)));
//% else
typedef fmha_bf16x2 fmha_pair;
//% end

//% for byte = 0, 3 do
//%     local multiply = "fmha_mma_scaled" .. byte
/* a[16 x 128] * b[128 x 16] + c[16 x 16]; of each lane 32 numbers, whose scale is byte $(byte). */
FMHA_INLINE fmha_sum $(multiply)(u32x4 a, u32 a_scales, u32x4 b, u32 b_scales, fmha_sum c)
{
    const u32x8 left = __builtin_shufflevector(a, a, 0, 1, 2, 3, -1, -1, -1, -1), right = __builtin_shufflevector(b, b, 0, 1, 2, 3, -1, -1, -1, -1);
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4((fmha_words)left, (fmha_words)right, c, 4, 4, $(byte), a_scales, $(byte), b_scales);
}

//%     local convert = "fmha_fp4_to_bf16_" .. byte
/* The two numbers of byte $(byte), the first in the low half, times a scale, of which the exponent counts. */
FMHA_INLINE u32 $(convert)(u32 word, float scale)
{
    return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(word, scale, $(byte)));
}

//% end
/* a[16 x 32] * b[32 x 16] + c[16 x 16] of bf16 */
FMHA_INLINE fmha_sum fmha_mma_bf16(u32x4 a, u32x4 b, fmha_sum c)
{
    return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(fmha_bf16x8, a), __builtin_bit_cast(fmha_bf16x8, b), c, 0, 0, 0);
}

/* Eight elements divided by a scale as e2m1, rounded to nearest even, the first in the lowest four bits. */
FMHA_INLINE u32 fmha_elements_to_fp4(u32x4 eight, float scale)
{
//% local convert = "__builtin_amdgcn_cvt_scalef32_pk_fp4_" .. spec.dtype
    u32 word = 0;
//% for i = 0, 3 do
    {
        const u32 two = eight[$(i)];
        word = $(convert)(word, __builtin_bit_cast(fmha_pair, two), scale, $(i));
    }
//% end
    return word;
}

/* Two weights as bf16, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack_weights(float low, float high)
{
//% if spec.dtype == "bf16" then
    return fmha_pack(low, high);
//% else
#ifdef FMHA_EMULATED /* the host has no such instruction */
    u32 bits[2] = {__builtin_bit_cast(u32, low), __builtin_bit_cast(u32, high)};
    for (int i = 0; i < 2; ++i)
        bits[i] = bits[i] + ((bits[i] >> 16 & 1) + 0x7fff);
    return bits[0] >> 16 | (bits[1] & 0xffff0000);
#else
    const fmha_bf16x2 both = {(__bf16)low, (__bf16)high};
    return __builtin_bit_cast(u32, both);
#endif
//% end
}

/* From each lane's place in memory 16, 4 or 1 bytes, which land side by side from `to` on, in the order of the lanes, 16 or 4 bytes apart; `to`
 * is the same in all lanes. What is read and where it goes are both `offset` further on. They are there after fmha_arrived. */
//% for _, bytes in ipairs { 16, 4, 1 } do
//%     local name = "FMHA_LOAD_INTO_LDS_" .. bytes
#define $(name)(from, to, offset) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), (__attribute__((address_space(3))) void *)(to), $(bytes), offset, 0)
//% end

/* Waits until what this wave has sent for is there. */
FMHA_INLINE void fmha_arrived(void)
{
    __builtin_amdgcn_s_waitcnt(0x0f70); /* vmcnt(0), nothing else */
}
