/* Two products of f16 added to c in float32; a comes from lane `row` of the lane's four. */
template <int row> FMHA_INLINE float fmha_dot(u32 a, u32 b, float c)
{
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const int from_row = __builtin_amdgcn_update_dpp(0, (int)a, 0x55 * row, 15, 15, true);
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(pair, from_row), __builtin_bit_cast(pair, b), c, false);
}
