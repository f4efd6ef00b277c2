#if defined(FMHA_EMULATED)
#define FMHA_MATRIX_DONE() ((void)0)
#else
/* Sixteen wait states. Where several ways lead from a matrix instruction of CDNA to what uses its result, clang 22 puts in the wait states that the first
 * of them lacks, which need not be the shortest. */
#define FMHA_MATRIX_DONE() __asm__ volatile("s_nop 15")
#endif
