/* float16 and 16-bit integers, one of each lane. */
#include "floats.h"
#include "half.h"
#include "sources.h"

/* ---- float16 --------------------------------------------------------------------------------------------- */

/* One rounding: a sum, difference or product of two float16 rounded to float32 and then to float16 is the same as
 * rounded once, because float32 has more than twice the bits and two. */
#define HALF_1(function, expression)                                                                                   \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_half_to_float(x->a[lane]);                                                            \
            x->d[lane] = isa_float_to_half(expression);                                                                \
        }                                                                                                              \
    }
#define HALF_2(function, expression)                                                                                   \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_half_to_float(x->a[lane]), fb = isa_half_to_float(x->b[lane]);                        \
            x->d[lane] = isa_float_to_half(expression);                                                                \
        }                                                                                                              \
    }
#define HALF_3(function, expression)                                                                                   \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_half_to_float(x->a[lane]), fb = isa_half_to_float(x->b[lane]),                        \
                        fc = isa_half_to_float(x->c[lane]);                                                            \
            x->d[lane] = isa_float_to_half(expression);                                                                \
        }                                                                                                              \
    }
#define HALF_FMA(function)                                                                                             \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            x->d[lane] = isa_half_fma(x->a[lane], x->b[lane], x->c[lane]);                                             \
        }                                                                                                              \
    }

/* The result is clamped to the largest number below 1. */
static inline float fraction(float value) {
    float part = value - floorf(value);
    return part >= 0x1.ffep-1f ? 0x1.ffcp-1f : part; /* from halfway between the largest float16 below 1 and 1 on */
}

static float mantissa(float value) {
    int exponent;
    return isfinite(value) ? frexpf(value, &exponent) : value;
}

/* The estimate, but for the operands that decide the quotient alone (V_DIV_FIXUP_F16). */
static float fix_up(float s0, float s1, float s2) {
    float sign = signbit(s1) != signbit(s2) ? -1.0f : 1.0f;
    if (s2 != s2 || s1 != s1) {
        return s2 != s2 ? s2 : s1;
    }
    if ((s1 == 0.0f && s2 == 0.0f) || (isinf(s1) && isinf(s2))) {
        return -NAN;
    }
    if (s1 == 0.0f || isinf(s2)) {
        return copysignf(INFINITY, sign);
    }
    return isinf(s1) || s2 == 0.0f ? copysignf(0.0f, sign) : copysignf(fabsf(s0), sign);
}

HALF_2(v_add_f16, fa + fb)
HALF_2(v_sub_f16, fa - fb)
HALF_2(v_subrev_f16, fb - fa)
HALF_2(v_mul_f16, fa *fb)
HALF_2(v_max_f16, isa_maximum(fa, fb))
HALF_2(v_min_f16, isa_minimum(fa, fb))
HALF_3(v_max3_f16, isa_maximum(isa_maximum(fa, fb), fc))
HALF_3(v_min3_f16, isa_minimum(isa_minimum(fa, fb), fc))
HALF_3(v_med3_f16, isa_median(fa, fb, fc))
HALF_3(v_maxmin_f16, isa_minimum(isa_maximum(fa, fb), fc))
HALF_3(v_minmax_f16, isa_maximum(isa_minimum(fa, fb), fc))
HALF_3(v_div_fixup_f16, fix_up(fa, fb, fc))
HALF_FMA(v_fma_f16)
HALF_1(v_rcp_f16, 1.0f / fa)
HALF_1(v_sqrt_f16, sqrtf(fa))
HALF_1(v_rsq_f16, (float)(1.0 / sqrt((double)fa)))
HALF_1(v_exp_f16, (float)exp2((double)fa))
HALF_1(v_log_f16, (float)log2((double)fa))
HALF_1(v_floor_f16, floorf(fa))
HALF_1(v_ceil_f16, ceilf(fa))
HALF_1(v_trunc_f16, truncf(fa))
HALF_1(v_rndne_f16, rintf(fa))
HALF_1(v_fract_f16, fraction(fa))
HALF_1(v_frexp_mant_f16, mantissa(fa))

static void v_frexp_exp_i16_f16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        int exponent = 0;
        float value = isa_half_to_float(x->a[lane]);
        if (isfinite(value)) {
            frexpf(value, &exponent);
        }
        x->d[lane] = (uint32_t)exponent & 0xffff;
    }
}

static void v_ldexp_f16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        int by = (int16_t)x->b[lane]; /* beyond 64 nothing changes any more, and float32 is exact up to there */
        by = by > 64 ? 64 : by < -64 ? -64 : by;
        x->d[lane] = isa_float_to_half(ldexpf(isa_half_to_float(x->a[lane]), by));
    }
}

/* ---- 16-bit integers ------------------------------------------------------------------------------------- */

static inline uint32_t max_signed(uint32_t a, uint32_t b) {
    return (int16_t)a >= (int16_t)b ? a : b;
}

static inline uint32_t min_signed(uint32_t a, uint32_t b) {
    return (int16_t)a < (int16_t)b ? a : b;
}

static inline uint32_t max_unsigned(uint32_t a, uint32_t b) {
    return a >= b ? a : b;
}

static inline uint32_t min_unsigned(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Of clamped instructions. */
static inline uint32_t saturate_i16(int32_t value) {
    return (uint32_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value) & 0xffff;
}

ISA_LANES_1(v_mov_b16, a)
ISA_LANES_1(v_not_b16, ~a & 0xffff)
ISA_LANES_2(v_add_nc_u16, (a + b) & 0xffff)
ISA_LANES_2(v_sub_nc_u16, (a - b) & 0xffff)
ISA_LANES_2(v_add_nc_u16_clamp, a + b > 0xffff ? 0xffff : a + b)
ISA_LANES_2(v_sub_nc_u16_clamp, a > b ? a - b : 0)
ISA_LANES_2(v_add_nc_i16_clamp, saturate_i16((int16_t)a + (int16_t)b))
ISA_LANES_2(v_sub_nc_i16_clamp, saturate_i16((int16_t)a - (int16_t)b))
ISA_LANES_2(v_mul_lo_u16, (a * b) & 0xffff)
ISA_LANES_2(v_and_b16, a &b)
ISA_LANES_2(v_or_b16, a | b)
ISA_LANES_2(v_xor_b16, a ^ b)
ISA_LANES_2(v_lshlrev_b16, b << (a & 15) & 0xffff)
ISA_LANES_2(v_lshrrev_b16, b >> (a & 15))
ISA_LANES_2(v_ashrrev_i16, (uint32_t)((int32_t)(int16_t)b >> (a & 15)) & 0xffff)
ISA_LANES_2(v_max_u16, max_unsigned(a, b))
ISA_LANES_2(v_min_u16, min_unsigned(a, b))
ISA_LANES_2(v_max_i16, max_signed(a, b))
ISA_LANES_2(v_min_i16, min_signed(a, b))
ISA_LANES_3(v_max3_u16, max_unsigned(max_unsigned(a, b), c))
ISA_LANES_3(v_min3_u16, min_unsigned(min_unsigned(a, b), c))
ISA_LANES_3(v_med3_u16, max_unsigned(min_unsigned(a, b), min_unsigned(max_unsigned(a, b), c)))
ISA_LANES_3(v_max3_i16, max_signed(max_signed(a, b), c))
ISA_LANES_3(v_min3_i16, min_signed(min_signed(a, b), c))
ISA_LANES_3(v_med3_i16, max_signed(min_signed(a, b), min_signed(max_signed(a, b), c)))
ISA_LANES_3(v_mad_u16, (a * b + c) & 0xffff)
ISA_LANES_3(v_mad_u32_u16, a *b + c)
ISA_LANES_3(v_mad_i32_i16, (uint32_t)((int32_t)(int16_t)a *(int16_t)b) + c)

static void v_cndmask_b16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = x->mask_in[lane] ? x->b[lane] : x->a[lane];
    }
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define V            ISA_CLASS_VALU
#define TRANS        ISA_CLASS_TRANS
#define F1(name)     ISA_ROW(name, "Dk Sk", V, ISA_GFX11, ISA_VOP1)
#define TRANS1(name) ISA_ROW(name, "Dk Sk", TRANS, ISA_GFX11, ISA_VOP1)
#define F2(name)     ISA_ROW(name, "Dk Sk Sk", V, ISA_GFX11, ISA_VOP2)
#define F3(name)     ISA_ROW(name, "Dk Sk Sk Sk", V, ISA_GFX11, ISA_VOP3)
#define I2(name)     ISA_ROW(name, "Dh Sh Sh", V, ISA_GFX11, ISA_VOP3)
#define I3(name)     ISA_ROW(name, "Dh Sh Sh Sh", V, ISA_GFX11, ISA_VOP3)
#define SAME(name, operands, function, source)                                                                         \
    { name, operands, V, function, NULL, ISA_GFX11, source }

static const isa_row rows[] = {
    F2(v_add_f16),
    F2(v_sub_f16),
    F2(v_subrev_f16),
    F2(v_mul_f16),
    F2(v_max_f16),
    F2(v_min_f16),
    F3(v_max3_f16),
    F3(v_min3_f16),
    F3(v_med3_f16),
    F3(v_maxmin_f16),
    F3(v_minmax_f16),
    F3(v_div_fixup_f16),
    F3(v_fma_f16),
    SAME("v_fmac_f16", "Bk Sk Sk", v_fma_f16, ISA_VOP2),
    SAME("v_fmaak_f16", "Dk Sk Sk Sk", v_fma_f16, ISA_VOP2),
    SAME("v_fmamk_f16", "Dk Sk Sk Sk", v_fma_f16, ISA_VOP2),
    TRANS1(v_rcp_f16),
    TRANS1(v_sqrt_f16),
    TRANS1(v_rsq_f16),
    TRANS1(v_exp_f16),
    TRANS1(v_log_f16),
    F1(v_floor_f16),
    F1(v_ceil_f16),
    F1(v_trunc_f16),
    F1(v_rndne_f16),
    F1(v_fract_f16),
    F1(v_frexp_mant_f16),
    ISA_ROW(v_frexp_exp_i16_f16, "Dh Sk", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_ldexp_f16, "Dk Sk Sh", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_mov_b16, "Dh Sk", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_not_b16, "Dh Sh", V, ISA_GFX11, ISA_VOP1),
    I2(v_add_nc_u16),
    I2(v_sub_nc_u16),
    SAME("v_add_nc_i16", "Dh Sh Sh", v_add_nc_u16, ISA_VOP3),
    SAME("v_sub_nc_i16", "Dh Sh Sh", v_sub_nc_u16, ISA_VOP3),
    SAME("v_add_nc_u16 clamp", "Dh Sh Sh", v_add_nc_u16_clamp, ISA_VOP3),
    SAME("v_sub_nc_u16 clamp", "Dh Sh Sh", v_sub_nc_u16_clamp, ISA_VOP3),
    SAME("v_add_nc_i16 clamp", "Dh Sh Sh", v_add_nc_i16_clamp, ISA_VOP3),
    SAME("v_sub_nc_i16 clamp", "Dh Sh Sh", v_sub_nc_i16_clamp, ISA_VOP3),
    I2(v_mul_lo_u16),
    I2(v_and_b16),
    I2(v_or_b16),
    I2(v_xor_b16),
    I2(v_lshlrev_b16),
    I2(v_lshrrev_b16),
    I2(v_ashrrev_i16),
    I2(v_max_u16),
    I2(v_min_u16),
    I2(v_max_i16),
    I2(v_min_i16),
    I3(v_max3_u16),
    I3(v_min3_u16),
    I3(v_med3_u16),
    I3(v_max3_i16),
    I3(v_min3_i16),
    I3(v_med3_i16),
    I3(v_mad_u16),
    SAME("v_mad_i16", "Dh Sh Sh Sh", v_mad_u16, ISA_VOP3),
    ISA_ROW(v_mad_u32_u16, "Dv Sh Sh Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_mad_i32_i16, "Dv Sh Sh Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_cndmask_b16, "Dh Sk Sk Sm", V, ISA_GFX11, ISA_VOP3),
};

const isa_table isa_table_half = {rows, sizeof rows / sizeof rows[0]};
