/* Two products of f16 added to c in float32, each by a fused multiply-add; a comes from lane `row` of the lane's four. */
template <int row> FMHA_INLINE float fmha_dot(u32 a, u32 b, float c)
{
#pragma clang fp contract(off)
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const int from_row = __builtin_amdgcn_update_dpp(0, (int)a, 0x55 * row, 15, 15, true);
    const pair x = __builtin_bit_cast(pair, from_row), y = __builtin_bit_cast(pair, b);
    c = __builtin_fmaf(FMHA_F16_TO_F32(x[0]), FMHA_F16_TO_F32(y[0]), c);
    return __builtin_fmaf(FMHA_F16_TO_F32(x[1]), FMHA_F16_TO_F32(y[1]), c);
}
