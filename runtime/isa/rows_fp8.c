/* Conversions of numbers of 8 bits, of gfx942, gfx950 and gfx12. A byte is named by SDWA on gfx9 and by byte_sel on
 * gfx12, two by SDWA or op_sel; of a result that is two bytes op_sel names the half of the register, whose other half
 * stays. */
#include "fp8.h"
#include "half.h"
#include "lanewise.h"
#include "sources.h"

/* ---- Without a scale --------------------------------------------------------------------------------------- */

#define TO_FLOAT(function, format) ISA_LANES_1(function, isa_bits(isa_small_to_float(a & 0xffu, format)))
#define TO_FLOATS(function, format)                                                                                    \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            x->d[lane] = isa_bits(isa_small_to_float(x->a[lane] & 0xffu, format));                                     \
            x->d_high[lane] = isa_bits(isa_small_to_float(x->a[lane] >> 8 & 0xffu, format));                           \
        }                                                                                                              \
    }
#define FROM_FLOATS(function, format)                                                                                  \
    ISA_LANES_2(function,                                                                                              \
                isa_float_to_small((double)isa_f32(a), format) | isa_float_to_small((double)isa_f32(b), format) << 8)
/* Of one format: its name in mnemonics, and what tells rows of the same name apart. */
#define CONVERSIONS(name, ending, format)                                                                              \
    TO_FLOAT(f32_##name##ending, format)                                                                               \
    TO_FLOATS(pk_f32_##name##ending, format)                                                                           \
    FROM_FLOATS(pk_##name##_f32##ending, format)
CONVERSIONS(fp8, , ISA_E4M3)
CONVERSIONS(bf8, , ISA_E5M2)
CONVERSIONS(fp8, _fnuz, ISA_E4M3FNUZ)
CONVERSIONS(bf8, _fnuz, ISA_E5M2FNUZ)

/* ---- With one (gfx950) ------------------------------------------------------------------------------------- */

/* Of the scale, a float32, the exponent alone counts, as E8M0 has it: no guide's pseudocode was seen that uses the
 * rest, and public kernels for gfx950 keep other scales than powers of two out of these instructions. */
static inline double scale_of(uint32_t bits) {
    const int exponent = (int)(bits >> 23 & 255);
    return exponent == 255 ? (double)NAN : ldexp(1, exponent - 127);
}

/* Rounded once: a number of 8 bits times a power of two is exact in float64. */
static inline float scaled(uint32_t code, uint32_t scale, isa_small format) {
    return (float)((double)isa_small_to_float(code & 0xffu, format) * scale_of(scale));
}

static inline uint32_t unscaled(float value, uint32_t scale, isa_small format) {
    const double by = scale_of(scale); /* of a NaN divided by a NaN hosts give either's sign */
    return isa_float_to_small(isnan(value) || isnan(by) ? copysign((double)NAN, isnan(value) ? (double)value : 1)
                                                        : (double)value / by,
                              format);
}

#define SCALED(name, format)                                                                                           \
    static void scaled_pk_f32_##name(const isa_lanes *x) {                                                             \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            x->d[lane] = isa_bits(scaled(x->a[lane], x->b[lane], format));                                             \
            x->d_high[lane] = isa_bits(scaled(x->a[lane] >> 8, x->b[lane], format));                                   \
        }                                                                                                              \
    }                                                                                                                  \
    ISA_LANES_2(scaled_pk_f16_##name,                                                                                  \
                isa_float_to_half(scaled(a, b, format)) | isa_float_to_half(scaled(a >> 8, b, format)) << 16)          \
    ISA_LANES_2(scaled_pk_bf16_##name,                                                                                 \
                isa_float_to_bfloat(scaled(a, b, format)) | isa_float_to_bfloat(scaled(a >> 8, b, format)) << 16)      \
    ISA_LANES_3(scaled_pk_##name##_f32, unscaled(isa_f32(a), c, format) | unscaled(isa_f32(b), c, format) << 8)        \
    ISA_LANES_2(scaled_pk_##name##_f16, unscaled(isa_half_to_float(a & 0xffffu), b, format) |                          \
                                            unscaled(isa_half_to_float(a >> 16), b, format) << 8)                      \
    ISA_LANES_2(scaled_pk_##name##_bf16, unscaled(isa_bfloat_to_float(a & 0xffffu), b, format) |                       \
                                             unscaled(isa_bfloat_to_float(a >> 16), b, format) << 8)
SCALED(fp8, ISA_E4M3)
SCALED(bf8, ISA_E5M2)

/* ---- The table --------------------------------------------------------------------------------------------- */

#define V    ISA_CLASS_VALU
#define FNUZ (ISA_GFX9 | ISA_GFX942)
#define OCP  (ISA_GFX9 | ISA_GFX950)
#define ROWS(name)                                                                                                     \
    {"v_cvt_f32_" #name, "Df Sv", V, f32_##name, NULL, OCP, ISA_CDNA4_VOP1},                                           \
        {"v_cvt_pk_f32_" #name, "Dv2 Sh", V, pk_f32_##name, NULL, OCP, ISA_CDNA4_VOP1},                                \
        {"v_cvt_pk_" #name "_f32", "Dh Sf Sf", V, pk_##name##_f32, NULL, OCP, ISA_CDNA4_VOP3},                         \
        {"v_cvt_f32_" #name "@fnuz", "Df Sv", V, f32_##name##_fnuz, NULL, FNUZ, ISA_CDNA3_VOP1},                       \
        {"v_cvt_pk_f32_" #name "@fnuz", "Dv2 Sh", V, pk_f32_##name##_fnuz, NULL, FNUZ, ISA_CDNA3_VOP1},                \
        {"v_cvt_pk_" #name "_f32@fnuz", "Dh Sf Sf", V, pk_##name##_f32_fnuz, NULL, FNUZ, ISA_CDNA3_VOP3},              \
        {"v_cvt_scalef32_pk_f32_" #name, "Dv2 Sh Sv", V, scaled_pk_f32_##name, NULL, OCP, ISA_CDNA4_VOP3},             \
        {"v_cvt_scalef32_pk_f16_" #name, "Dv Sh Sv", V, scaled_pk_f16_##name, NULL, OCP, ISA_CDNA4_VOP3},              \
        {"v_cvt_scalef32_pk_bf16_" #name, "Dv Sh Sv", V, scaled_pk_bf16_##name, NULL, OCP, ISA_CDNA4_VOP3},            \
        {"v_cvt_scalef32_pk_" #name "_f32", "Dh Sf Sf Sv", V, scaled_pk_##name##_f32, NULL, OCP, ISA_CDNA4_VOP3},      \
        {"v_cvt_scalef32_pk_" #name "_f16", "Dh Sv Sv", V, scaled_pk_##name##_f16, NULL, OCP, ISA_CDNA4_VOP3}, {       \
        "v_cvt_scalef32_pk_" #name "_bf16", "Dh Sv Sv", V, scaled_pk_##name##_bf16, NULL, OCP, ISA_CDNA4_VOP3          \
    }

static const isa_row rows[] = {ROWS(fp8), ROWS(bf8)};

const isa_table isa_table_fp8 = {rows, sizeof rows / sizeof rows[0]};
