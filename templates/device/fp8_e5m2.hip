/* fp8 e5m2 as the OCP has it is the upper byte of f16. Of two numbers, in the upper bytes of the halves of `bytes` (the lower ones are 0), the f16. */
FMHA_INLINE u32 fmha_fp8_pair(u32 bytes)
{
    return bytes;
}
