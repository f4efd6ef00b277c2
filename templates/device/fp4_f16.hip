/* fp4 (e2m1) with a scale in f16. Of 0, 0.5, 1, 1.5 and 2, 3, 4, 6 times the scale, or what of it lets them all be normal f16, the upper bytes (the
 * lower ones are 0); and the rest of the scale, as two f16. */
struct fmha_fp4_scale {
    u32 small, large, rest;
};

/* 2^(e8m0 - 127), NaN for 255. Worth keeping for all values of a block. */
FMHA_INLINE fmha_fp4_scale fmha_fp4_scale_of(u32 e8m0)
{
    const int near = fmha_min(fmha_max((int)e8m0, 127 - 13), 127 + 13);
    const u32 rest = (u32)fmha_min(fmha_max((int)e8m0 - near + 15, 0), 30) << 10; /* 2^-15 is 0 as well: then all are below half of the smallest f16 */
    const u32 steps = __builtin_amdgcn_perm(0, (u32)(near - (127 - 13)) << 2, 0); /* an exponent of f16 is 4 in the upper byte */
    fmha_fp4_scale scale;
    scale.small = 0x0a080400 + (steps & 0xffffff00);
    scale.large = 0x12100e0c + steps;
    scale.rest = e8m0 == 255 ? 0x7e007e00 : __builtin_amdgcn_perm(0, rest, 0x01000100);
    return scale;
}

/* Eight values, the first in the lowest nibble, in order; rounded to nearest even where they are no f16. */
FMHA_INLINE u32x4 fmha_fp4_to_elements(u32 eight, fmha_fp4_scale scale)
{
    const u32 even = __builtin_amdgcn_perm(scale.large, scale.small, eight & 0x07070707) | (eight << 4 & 0x80808080);
    const u32 odd = __builtin_amdgcn_perm(scale.large, scale.small, eight >> 4 & 0x07070707) | (eight & 0x80808080);
    const u32x4 values = {
        fmha_multiply_f16(__builtin_amdgcn_perm(odd, even, 0x040c000c), scale.rest),
        fmha_multiply_f16(__builtin_amdgcn_perm(odd, even, 0x050c010c), scale.rest),
        fmha_multiply_f16(__builtin_amdgcn_perm(odd, even, 0x060c020c), scale.rest),
        fmha_multiply_f16(__builtin_amdgcn_perm(odd, even, 0x070c030c), scale.rest),
    };
    return values;
}
