/* Two products of f16 added to c in float32; a comes from lane `row` of the lane's sixteen. The compiler does not give v_dot2c, which adds to its
 * destination, an operand from another lane by itself. */
template <int row> FMHA_INLINE float fmha_dot(u32 a, u32 b, float c)
{
#ifdef FMHA_EMULATED
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const int from_row = __builtin_amdgcn_update_dpp(0, (int)a, 0x150 + row, 15, 15, true);
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(pair, from_row), __builtin_bit_cast(pair, b), c, false);
#else
    __asm__("v_dot2c_f32_f16_dpp %0, %1, %2 row_share:%3 row_mask:0xf bank_mask:0xf" : "+v"(c) : "v"(a), "v"(b), "n"(row));
    return c;
#endif
}
