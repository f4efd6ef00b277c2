/* Conversions, float16 arithmetic, and the mixed-precision fused multiply-adds. */
#include "half.h"
#include "lanewise.h"
#include "operand.h"

#define VOP1  "RDNA3 ISA guide, 16.8 VOP1"
#define VOP2  "RDNA3 ISA guide, 16.7 VOP2"
#define VOP3  "RDNA3 ISA guide, 16.12 VOP3 & VOP3SD"
#define VOP3P "RDNA3 ISA guide, 16.10 VOP3P"

/* Float to integer: truncated, saturated, NaN is 0. */
static inline uint32_t to_u32(float value) {
    return value >= 4294967296.0f ? UINT32_MAX : value > 0.0f ? (uint32_t)value : 0;
}

static inline uint32_t to_i32(float value) {
    return value >= 2147483648.0f    ? (uint32_t)INT32_MAX
           : value <= -2147483648.0f ? (uint32_t)INT32_MIN
           : value == value          ? (uint32_t)(int32_t)value
                                     : 0;
}

/* Rounded towards zero: what does not fit is the largest finite number, infinity stays. */
static uint32_t to_half_truncated(uint32_t bits) {
    float value = isa_f32(bits);
    uint32_t half = isa_float_to_half(value);
    bool away = fabsf(isa_half_to_float(half)) > fabsf(value);
    return away ? half - 1 : half;
}

ISA_FLOATS_1(v_cvt_f32_i32, (float)(int32_t)isa_bits(fa))
ISA_FLOATS_1(v_cvt_f32_u32, (float)isa_bits(fa))
ISA_LANES_1(v_cvt_i32_f32, to_i32(isa_f32(a)))
ISA_LANES_1(v_cvt_u32_f32, to_u32(isa_f32(a)))
ISA_LANES_1(v_cvt_nearest_i32_f32, to_i32(floorf(isa_f32(a) + 0.5f)))
ISA_LANES_1(v_cvt_floor_i32_f32, to_i32(floorf(isa_f32(a))))
ISA_LANES_1(v_cvt_f32_f16, isa_bits(isa_half_to_float(a)))
ISA_LANES_1(v_cvt_f16_f32, isa_float_to_half(isa_f32(a)))
ISA_FLOATS_1(v_cvt_f32_ubyte0, (float)(isa_bits(fa) & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte1, (float)(isa_bits(fa) >> 8 & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte2, (float)(isa_bits(fa) >> 16 & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte3, (float)(isa_bits(fa) >> 24))
ISA_LANES_2(v_cvt_pk_rtz_f16_f32, to_half_truncated(a) | to_half_truncated(b) << 16)
ISA_LANES_2(v_pack_b32_f16, (a & 0xffff) | b << 16)

/* One rounding: the exact result of two float16 in float32 (a sum or product of them fits 24 bits, but for sums of very
 * different sizes, where float32's own rounding cannot reach the middle between two float16). */
#define HALF_2(function, expression)                                                                                   \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_half_to_float(x->a[lane]), fb = isa_half_to_float(x->b[lane]);                        \
            x->d[lane] = isa_float_to_half(expression);                                                                \
        }                                                                                                              \
    }
static inline float larger(float a, float b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

static inline float smaller(float a, float b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

HALF_2(v_add_f16, fa + fb)
HALF_2(v_sub_f16, fa - fb)
HALF_2(v_subrev_f16, fb - fa)
HALF_2(v_mul_f16, fa *fb)
HALF_2(v_max_f16, larger(fa, fb))
HALF_2(v_min_f16, smaller(fa, fb))

/* The product of two float16 is exact in float64, and so is a sum with a third, but for the smallest: rounding to odd
 * on the way to float32 keeps the second rounding from ending elsewhere than one rounding would. */
static uint32_t half_of_double(double value) {
    float nearest = (float)value;
    uint32_t bits = isa_bits(nearest);
    if ((double)nearest != value && (bits & 1) == 0 && isfinite(nearest)) {
        bits = fabs((double)nearest) > fabs(value) ? bits - 1 : bits | 1;
    }
    return isa_float_to_half(isa_f32(bits));
}

#define HALF_3(function)                                                                                               \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const double a = isa_half_to_float(x->a[lane]), b = isa_half_to_float(x->b[lane]);                         \
            x->d[lane] = half_of_double(a * b + (double)isa_half_to_float(x->c[lane]));                                \
        }                                                                                                              \
    }
HALF_3(v_fma_f16)
HALF_3(v_fmac_f16)

/* ---- v_fma_mix: each source is a float32, or one of two float16 ------------------------------------------ */

/* op_sel_hi: the source is a float16; op_sel: its upper half. neg_hi is used as abs, neg_lo as neg, and the assembler
 * writes them as -|v1|. */
static void read_mixed(isa_wave *wave, const isa_instruction *i, unsigned source, float values[ISA_LANES_MAX]) {
    uint32_t room[ISA_LANES_MAX];
    isa_operand plain = i->operands[source + 1];
    bool half = i->has_op_sel_hi && (i->op_sel_hi >> source & 1) != 0, high = (i->op_sel >> source & 1) != 0;
    bool neg = plain.neg, abs = plain.abs;
    plain.neg = plain.abs = false;
    if (half && plain.kind == ISA_OPERAND_CONSTANT) { /* a half constant */
        plain.half = 0;
        const uint32_t *bits = isa_read_half(wave, i, &plain, source, false, isa_exec(wave), room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = isa_half_to_float(bits[lane]);
        }
    } else {
        const uint32_t *bits = isa_read_lanes(wave, &plain, 0, isa_exec(wave), room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = half ? isa_half_to_float(bits[lane] >> (high ? 16 : 0) & 0xffff) : isa_f32(bits[lane]);
        }
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = abs ? fabsf(values[lane]) : values[lane];
        values[lane] = neg ? -values[lane] : values[lane];
    }
}

static void mix(isa_wave *wave, const isa_instruction *i, float values[ISA_LANES_MAX]) {
    float a[ISA_LANES_MAX], b[ISA_LANES_MAX], c[ISA_LANES_MAX];
    read_mixed(wave, i, 0, a);
    read_mixed(wave, i, 1, b);
    read_mixed(wave, i, 2, c);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = fmaf(a[lane], b[lane], c[lane]);
        if (i->clamp) {
            values[lane] = values[lane] > 1.0f ? 1.0f : values[lane] > 0.0f ? values[lane] : 0.0f;
        }
    }
}

static void v_fma_mix_f32(isa_wave *wave, const isa_instruction *i) {
    float values[ISA_LANES_MAX];
    uint32_t bits[ISA_LANES_MAX];
    mix(wave, i, values);
    memcpy(bits, values, wave->lanes * sizeof bits[0]);
    isa_write_lanes(wave, &i->operands[0], 0, isa_exec(wave), bits);
}

/* The float32 result, rounded once more to float16 (the guide: the fused multiply-add is done in float32). */
static void mix_half(isa_wave *wave, const isa_instruction *i, uint8_t half) {
    float values[ISA_LANES_MAX];
    uint32_t bits[ISA_LANES_MAX];
    isa_operand to = i->operands[0];
    to.half = half;
    mix(wave, i, values);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        bits[lane] = isa_float_to_half(values[lane]);
    }
    isa_write_half(wave, i, &to, isa_exec(wave), bits);
}

static void v_fma_mixlo_f16(isa_wave *wave, const isa_instruction *i) {
    mix_half(wave, i, 1);
}

static void v_fma_mixhi_f16(isa_wave *wave, const isa_instruction *i) {
    mix_half(wave, i, 2);
}

#define ALL (ISA_GFX10 | ISA_GFX11 | ISA_GFX12)
#define V   ISA_CLASS_VALU
#define MIX(name)                                                                                                      \
    { #name, "Dx Sx Sx Sx", V, NULL, name, ALL, VOP3P }
#define HALVES2(name) ISA_ROW(name, "Dk Sk Sk", V, ALL, VOP2)

static const isa_row rows[] = {
    ISA_ROW(v_cvt_f32_i32, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_u32, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_i32_f32, "Dv Sf", V, ALL, VOP1),
    ISA_ROW(v_cvt_u32_f32, "Dv Sf", V, ALL, VOP1),
    ISA_ROW(v_cvt_nearest_i32_f32, "Dv Sf", V, ALL, VOP1),
    ISA_ROW(v_cvt_floor_i32_f32, "Dv Sf", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_f16, "Df Sk", V, ALL, VOP1),
    ISA_ROW(v_cvt_f16_f32, "Dk Sf", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_ubyte0, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_ubyte1, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_ubyte2, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_f32_ubyte3, "Df Sv", V, ALL, VOP1),
    ISA_ROW(v_cvt_pk_rtz_f16_f32, "Dv Sf Sf", V, ISA_GFX11 | ISA_GFX12, VOP2),
    ISA_ROW(v_pack_b32_f16, "Dv Sk Sk", V, ALL, VOP3),
    HALVES2(v_add_f16),
    HALVES2(v_sub_f16),
    HALVES2(v_subrev_f16),
    HALVES2(v_mul_f16),
    HALVES2(v_max_f16),
    HALVES2(v_min_f16),
    ISA_ROW(v_fma_f16, "Dk Sk Sk Sk", V, ALL, VOP3),
    ISA_ROW(v_fmac_f16, "Bk Sk Sk", V, ALL, VOP2),
    MIX(v_fma_mix_f32),
    MIX(v_fma_mixlo_f16),
    MIX(v_fma_mixhi_f16),
};

const isa_table isa_table_convert = {rows, sizeof rows / sizeof rows[0]};
