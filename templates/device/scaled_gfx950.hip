//% -- What gfx950 has for mxfp4: numbers of four bits (e2m1), 32 of which share a scale, a byte (E8M0). Where rows of keys are K and V in one (MLA), the
//% -- scales of four products are bytes of a word, and what else that kernel takes; else products have the shape of the atom.
//% local latent = spec.op == "mla"
//% local side, sum = latent and 16 or atom.n, (latent or atom.blocks > 1) and "fmha_sum" or "accumulator"
//% local depth = 2048 // side
typedef int fmha_words __attribute__((ext_vector_type(8)));
//% if latent then
typedef float fmha_sum __attribute__((ext_vector_type(4)));
typedef __bf16 fmha_bf16x2 __attribute__((ext_vector_type(2)));
typedef __bf16 fmha_bf16x8 __attribute__((ext_vector_type(8)));
//% end
//% if spec.dtype == "f16" then
typedef _Float16 fmha_pair __attribute__((ext_vector_type(2)));
//% elseif latent then
typedef fmha_bf16x2 fmha_pair;
//% else
typedef __bf16 fmha_pair __attribute__((ext_vector_type(2)));
//% end

//% for byte = 0, 3 do
//%     local number = latent and byte or ""
//%     local multiply, builtin = "fmha_mma_scaled" .. number, "__builtin_amdgcn_mfma_scale_f32_" .. side .. "x" .. side .. "x" .. depth .. "_f8f6f4"
//%     if latent or byte == 0 then
/* a[$(side) x $(depth)] * b[$(depth) x $(side)] + c[$(side) x $(side)]; of each lane 32 numbers, whose scale is byte $(byte). */
FMHA_INLINE $(sum) $(multiply)(u32x4 a, u32 a_scales, u32x4 b, u32 b_scales, $(sum) c)
{
    const u32x8 left = __builtin_shufflevector(a, a, 0, 1, 2, 3, -1, -1, -1, -1), right = __builtin_shufflevector(b, b, 0, 1, 2, 3, -1, -1, -1, -1);
    return $(builtin)((fmha_words)left, (fmha_words)right, c, 4, 4, $(byte), a_scales, $(byte), b_scales);
}

//%     end
//%     local type = latent and "bf16" or spec.dtype
//%     local convert, convert_builtin = "fmha_fp4_to_" .. type .. "_" .. byte, "__builtin_amdgcn_cvt_scalef32_pk_" .. type .. "_fp4"
/* The two numbers of byte $(byte), the first in the low half, times a scale, of which the exponent counts. */
FMHA_INLINE u32 $(convert)(u32 word, float scale)
{
    return __builtin_bit_cast(u32, $(convert_builtin)(word, scale, $(byte)));
}

//% end
//% if not latent then
/* 2^(e8m0 - 127), NaN for 255, as the conversions take it. */
struct fmha_fp4_scale {
    float exponent;
};

FMHA_INLINE fmha_fp4_scale fmha_fp4_scale_of(u32 e8m0)
{
    return (fmha_fp4_scale){__builtin_bit_cast(float, e8m0 << 23)};
}

/* Conversions stay behind the test whether there is anything to convert; and a conversion's result must not be used by the next vector instruction,
 * but clang 22 puts no wait state there. */
#if defined(FMHA_EMULATED)
#define FMHA_UNCONVERTED(x) ((void)0)
#define FMHA_CONVERTED(a, b, c, d) ((void)0)
#else
#define FMHA_UNCONVERTED(x) __asm__("" : "+v"(x))
#define FMHA_CONVERTED(a, b, c, d) __asm__("s_nop 0" : "+v"(a), "+v"(b), "+v"(c), "+v"(d))
#endif

/* Eight values, the first in the lowest nibble, in order; rounded to nearest even where they are no $(spec.dtype). */
FMHA_INLINE u32x4 fmha_fp4_to_elements(u32 eight, fmha_fp4_scale scale)
{
    FMHA_UNCONVERTED(eight);
//%     for byte = 0, 3 do
//%         local pair, convert = "pair" .. byte, "fmha_fp4_to_" .. spec.dtype .. "_" .. byte
    u32 $(pair) = $(convert)(eight, scale.exponent);
//%     end
    FMHA_CONVERTED(pair0, pair1, pair2, pair3);
    return (u32x4){pair0, pair1, pair2, pair3};
}

//% end
//% if latent then
/* a[16 x 32] * b[32 x 16] + c[16 x 16] of bf16 */
FMHA_INLINE fmha_sum fmha_mma_bf16(u32x4 a, u32x4 b, fmha_sum c)
{
    return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(fmha_bf16x8, a), __builtin_bit_cast(fmha_bf16x8, b), c, 0, 0, 0);
}

//% end
/* Eight elements divided by a scale as e2m1, rounded to nearest even, the first in the lowest four bits. */
FMHA_INLINE u32 fmha_elements_to_fp4(u32x4 eight, float scale)
{
//% local convert = "__builtin_amdgcn_cvt_scalef32_pk_fp4_" .. spec.dtype
    u32 word = 0;
//% for i = 0, 3 do
    {
        const u32 two = eight[$(i)];
        word = $(convert)(word, __builtin_bit_cast(fmha_pair, two), scale, $(i));
    }
//% end
    return word;
}
//% if latent then

/* Two weights as bf16, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack_weights(float low, float high)
{
//% if spec.dtype == "bf16" then
    return fmha_pack(low, high);
//% else
#ifdef FMHA_EMULATED /* the host has no such instruction */
    u32 bits[2] = {__builtin_bit_cast(u32, low), __builtin_bit_cast(u32, high)};
    for (int i = 0; i < 2; ++i)
        bits[i] = bits[i] + ((bits[i] >> 16 & 1) + 0x7fff);
    return bits[0] >> 16 | (bits[1] & 0xffff0000);
#else
    const fmha_bf16x2 both = {(__bf16)low, (__bf16)high};
    return __builtin_bit_cast(u32, both);
#endif
//% end
}

/* From each lane's place in memory 16, 4 or 1 bytes, which land side by side from `to` on, in the order of the lanes, 16 or 4 bytes apart; `to`
 * is the same in all lanes. What is read and where it goes are both `offset` further on. They are there after fmha_arrived. */
//% for _, bytes in ipairs { 16, 4, 1 } do
//%     local name = "FMHA_LOAD_INTO_LDS_" .. bytes
#define $(name)(from, to, offset) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), (__attribute__((address_space(3))) void *)(to), $(bytes), offset, 0)
//% end

/* Waits until what this wave has sent for is there. */
FMHA_INLINE void fmha_arrived(void)
{
    __builtin_amdgcn_s_waitcnt(0x0f70); /* vmcnt(0), nothing else */
}
//% end
