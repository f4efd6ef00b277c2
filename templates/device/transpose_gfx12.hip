/* In each eight lanes a lane reads eight elements, and gets of all eight lanes the one with its own number: lane m gets, as value n, value m
 * of lane n. The guide does not say so ("RDNA4 Instruction Set Architecture", GLOBAL_LOAD_TR_B128_B16); what is public of its use does. */
FMHA_INLINE u32x4 fmha_load_transposed(const element *from)
{
    typedef short element8 __attribute__((ext_vector_type(8)));
    return __builtin_bit_cast(u32x4, __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) element8 *)from));
}
