/* The promise that a row begins at a multiple of 16 bytes.
 * run: 1 64 32
 * finding: misaligned-access: broken_promise.hip:14: in[0,2] is promised to stand at a multiple of 16 bytes; the address is 8 past one (workgroup (0,0,0), wave 0, lane 0): align rows and offsets, or promise less
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    unsigned words[4];
#ifdef RIGHT
    const float *row = in + i / 16 * 20;
#else
    const float *row = in + i / 16 * 20 + 2;
#endif
    __builtin_memcpy(words, __builtin_assume_aligned(row, 16), 16);
    out[i] = (float)(words[0] ^ words[3]);
}
