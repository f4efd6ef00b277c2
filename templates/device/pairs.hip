typedef short s16x2 __attribute__((ext_vector_type(2)));
typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));

/* Two products of f16, each rounded to nearest even. */
FMHA_INLINE u32 fmha_multiply_f16(u32 a, u32 b)
{
#pragma clang fp contract(off)
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const pair x = __builtin_bit_cast(pair, a), y = __builtin_bit_cast(pair, b);
#ifdef FMHA_EMULATED /* products of f16 are exact in float32 */
    const pair products = {FMHA_F32_TO_F16(FMHA_F16_TO_F32(x[0]) * FMHA_F16_TO_F32(y[0])),
                           FMHA_F32_TO_F16(FMHA_F16_TO_F32(x[1]) * FMHA_F16_TO_F32(y[1]))};
#else
    const pair products = x * y;
#endif
    return __builtin_bit_cast(u32, products);
}
