//% -- mma.sync.m16n8k16 of sm_80 and later, two of them side by side: a product of 16 x 16 x 16 of a wave.
//% include("atoms/quads.hip")
//% local type = spec.dtype

/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma(u32x4 a, u32x4 b, accumulator c)
{
#pragma unroll
    for (int h = 0; h < 2; ++h) { /* eight columns each */
#ifdef FMHA_EMULATED
//% local emulated = "fmha_emu_mma_m16n8k16_" .. type
        $(emulated)(&c[4 * h], &a[0], &b[2 * h]);
#else
//% local instruction = '"mma.sync.aligned.m16n8k16.row.col.f32.' .. type .. "." .. type .. '.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"'
        asm($(instruction)
            : "+f"(c[4 * h]), "+f"(c[4 * h + 1]), "+f"(c[4 * h + 2]), "+f"(c[4 * h + 3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * h]), "r"(b[2 * h + 1]));
#endif
    }
    return c;
}
