/* Two products of f16 added to c in float32, each by a fused multiply-add; a comes from lane `row` of the lane's four. Its halves are moved apart, so
 * that the conversion moves them (DPP). */
template <int row> FMHA_INLINE float fmha_dot(u32 a, u32 b, float c)
{
#pragma clang fp contract(off)
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const int low = __builtin_amdgcn_update_dpp(0, (int)a, 0x55 * row, 15, 15, true);
    const int high = __builtin_amdgcn_update_dpp(0, (int)(a >> 16), 0x55 * row, 15, 15, true);
    const pair y = __builtin_bit_cast(pair, b);
    c = __builtin_fmaf(FMHA_F16_TO_F32(__builtin_bit_cast(pair, low)[0]), FMHA_F16_TO_F32(y[0]), c);
    return __builtin_fmaf(FMHA_F16_TO_F32(__builtin_bit_cast(pair, high)[0]), FMHA_F16_TO_F32(y[1]), c);
}
