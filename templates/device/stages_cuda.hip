/* Starts copying 16 bytes from memory to LDS; of none that are `there` come zeros, and nothing is read. They have arrived after fmha_arrived. */
FMHA_INLINE void fmha_copy_into_lds(fmha_place to, const void *from, bool there)
{
#ifdef FMHA_EMULATED
    fmha_emu_cp_async_16(to, from, there ? 16 : 0);
#else
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
#endif
}

/* Makes one group of what this thread has sent for since the last one. */
FMHA_INLINE void fmha_commit(void)
{
#ifdef FMHA_EMULATED
    fmha_emu_cp_async_commit_group();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most `left` of the groups that this thread has sent for, the last ones, are not in LDS. */
template <int left> FMHA_INLINE void fmha_wait(void)
{
#ifdef FMHA_EMULATED
    fmha_emu_cp_async_wait_group(left);
#else
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

/* Four matrices of 8 x 8 elements: lanes 8 i to 8 i + 7 say where the rows of matrix i are, and each lane has of every matrix the elements
 * 2 (lane % 4) and the next of row lane / 4. */
FMHA_INLINE u32x4 fmha_load_matrices(fmha_place row)
{
    u32x4 all;
#ifdef FMHA_EMULATED
    fmha_emu_ldmatrix_x4(row, &all[0]);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(all[0]), "=r"(all[1]), "=r"(all[2]), "=r"(all[3])
                 : "r"(row)
                 : "memory");
#endif
    return all;
}

/* The same transposed: each lane has of every matrix the elements of column lane / 4 in rows 2 (lane % 4) and the next. */
FMHA_INLINE u32x4 fmha_load_matrices_transposed(fmha_place row)
{
    u32x4 all;
#ifdef FMHA_EMULATED
    fmha_emu_ldmatrix_x4_trans(row, &all[0]);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(all[0]), "=r"(all[1]), "=r"(all[2]), "=r"(all[3])
                 : "r"(row)
                 : "memory");
#endif
    return all;
}
