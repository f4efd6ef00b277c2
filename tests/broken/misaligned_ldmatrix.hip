/* A row of a matrix stands at a multiple of sixteen bytes.
 * run: 1 64 32 sm_90
 * finding: misaligned-access: misaligned_ldmatrix.hip:16: byte 500 of the LDS block of line 8 (1040 bytes) is accessed as type 'const fmha_emu_row' (vector of 4 'unsigned int' values), which needs a multiple of 16 bytes; the address is 4 past one (workgroup (0,0,0), wave 0, lane 31): align rows and offsets, or access it by a type of smaller alignment
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(260 * sizeof(float));
    unsigned all[4];
    for (unsigned n = i; n < 260; n += 64)
        lds[n] = in[n % 16];
    __syncthreads();
#ifdef RIGHT
    fmha_emu_ldmatrix_x4_trans(lds + i % 32 * 4, all);
#else
    fmha_emu_ldmatrix_x4_trans(lds + i % 32 * 4 + 1, all);
#endif
    out[i] = __builtin_bit_cast(float, all[0]);
}
