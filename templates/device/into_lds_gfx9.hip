//% local bytes = arch.into_lds.bytes
/* From each lane's place in memory $(bytes) bytes, which land side by side, in the order of the lanes, from `to` on: the same in all lanes. They
 * are there after fmha_arrived. */
FMHA_INLINE void fmha_load_into_lds(const element *from, element *to)
{
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)from, (__attribute__((address_space(3))) void *)to, $(bytes), 0, 0);
}

/* Waits until what this wave has sent for is in LDS. Compilers do so at some fences and not at others. */
FMHA_INLINE void fmha_arrived(void)
{
    __builtin_amdgcn_s_waitcnt(0x0f70); /* vmcnt(0), nothing else */
}
