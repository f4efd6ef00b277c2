/* The tail of a row is forgotten.
 * run: 1 64 32
 * finding: output-unwritten: kernel: 4 elements were not written, the first is out[60]: check the grid, and the guards around stores
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    out[i] = 1.0f;
#else
    if (i < 60)
        out[i] = 1.0f;
#endif
}
