/* In each sixteen lanes lane s reads four elements, those of row s / 4 of a matrix from column s % 4 * 4 on, and lane n gets the four
 * elements of column n ("CDNA4 Instruction Set Architecture", 11.4). */
FMHA_INLINE u32x2 fmha_lds_transposed(element *from)
{
    typedef short element4 __attribute__((ext_vector_type(4)));
    return __builtin_bit_cast(u32x2, __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) element4 *)from));
}
