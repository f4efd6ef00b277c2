/* float64. Reciprocals and roots promise 29 bits less than the host gives. */
#include "floats.h"
#include "sources.h"

static inline double double_a(const isa_lanes *x, int lane) {
    return isa_f64(x->a[lane], x->a_high[lane]);
}

static inline double double_b(const isa_lanes *x, int lane) {
    return isa_f64(x->b[lane], x->b_high[lane]);
}

static inline double double_c(const isa_lanes *x, int lane) {
    return isa_f64(x->c[lane], x->c_high[lane]);
}

static inline void put(const isa_lanes *x, int lane, double value) {
    uint64_t bits = isa_bits64(value);
    x->d[lane] = (uint32_t)bits;
    x->d_high[lane] = (uint32_t)(bits >> 32);
}

#define DOUBLES(function, expression)                                                                                  \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            put(x, lane, (expression));                                                                                \
        }                                                                                                              \
    }
/* Results of 32 bits. */
#define SINGLES(function, expression)                                                                                  \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            x->d[lane] = (expression);                                                                                 \
        }                                                                                                              \
    }
#define A double_a(x, lane)
#define B double_b(x, lane)
#define C double_c(x, lane)

/* The result is clamped to the largest number below 1. */
static double fraction(double value) {
    double part = value - floor(value);
    return part >= 1.0 ? 0x1.fffffffffffffp-1 : part;
}

static double mantissa(double value) {
    int exponent;
    return isfinite(value) ? frexp(value, &exponent) : value;
}

static uint32_t exponent_of(double value) {
    int exponent = 0;
    if (isfinite(value)) {
        frexp(value, &exponent);
    }
    return (uint32_t)exponent;
}

/* Truncated, saturated, NaN is 0. */
static uint32_t to_u32(double value) {
    return value >= 4294967295.0 ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;
}

static uint32_t to_i32(double value) {
    return value >= 2147483647.0    ? (uint32_t)INT32_MAX
           : value <= -2147483648.0 ? (uint32_t)INT32_MIN
           : value == value         ? (uint32_t)(int32_t)value
                                    : 0;
}

DOUBLES(v_add_f64, A + B)
DOUBLES(v_mul_f64, A *B)
DOUBLES(v_fma_f64, fma(A, B, C))
DOUBLES(v_max_f64, isa_maximum64(A, B))
DOUBLES(v_min_f64, isa_minimum64(A, B))
DOUBLES(v_ldexp_f64, ldexp(A, (int32_t)x->b[lane]))
DOUBLES(v_rcp_f64, 1.0 / A)
DOUBLES(v_rsq_f64, 1.0 / sqrt(A))
DOUBLES(v_sqrt_f64, sqrt(A))
DOUBLES(v_floor_f64, floor(A))
DOUBLES(v_ceil_f64, ceil(A))
DOUBLES(v_trunc_f64, trunc(A))
DOUBLES(v_rndne_f64, rint(A))
DOUBLES(v_fract_f64, fraction(A))
DOUBLES(v_frexp_mant_f64, mantissa(A))
SINGLES(v_frexp_exp_i32_f64, exponent_of(A))
DOUBLES(v_cvt_f64_f32, (double)isa_f32(x->a[lane]))
DOUBLES(v_cvt_f64_i32, (double)(int32_t)x->a[lane])
DOUBLES(v_cvt_f64_u32, (double)x->a[lane])
SINGLES(v_cvt_f32_f64, isa_bits((float)A))
SINGLES(v_cvt_i32_f64, to_i32(A))
SINGLES(v_cvt_u32_f64, to_u32(A))

#define V                    ISA_CLASS_VALU
#define TRANS                ISA_CLASS_TRANS
#define VOP1(name, operands) ISA_ROW(name, operands, V, ISA_GFX11, ISA_VOP1)
#define VOP1_TRANS(name)     ISA_ROW(name, "Dd Sd", TRANS, ISA_GFX11, ISA_VOP1)
#define VOP3(name, operands) ISA_ROW(name, operands, V, ISA_GFX11, ISA_VOP3)

static const isa_row rows[] = {
    VOP3(v_add_f64, "Dd Sd Sd"),     VOP3(v_mul_f64, "Dd Sd Sd"),
    VOP3(v_fma_f64, "Dd Sd Sd Sd"),  VOP3(v_max_f64, "Dd Sd Sd"),
    VOP3(v_min_f64, "Dd Sd Sd"),     VOP3(v_ldexp_f64, "Dd Sd Sv"),
    VOP1_TRANS(v_rcp_f64),           VOP1_TRANS(v_rsq_f64),
    VOP1_TRANS(v_sqrt_f64),          VOP1(v_floor_f64, "Dd Sd"),
    VOP1(v_ceil_f64, "Dd Sd"),       VOP1(v_trunc_f64, "Dd Sd"),
    VOP1(v_rndne_f64, "Dd Sd"),      VOP1(v_fract_f64, "Dd Sd"),
    VOP1(v_frexp_mant_f64, "Dd Sd"), VOP1(v_frexp_exp_i32_f64, "Dv Sd"),
    VOP1(v_cvt_f64_f32, "Dd Sf"),    VOP1(v_cvt_f64_i32, "Dd Sv"),
    VOP1(v_cvt_f64_u32, "Dd Sv"),    VOP1(v_cvt_f32_f64, "Df Sd"),
    VOP1(v_cvt_i32_f64, "Dv Sd"),    VOP1(v_cvt_u32_f64, "Dv Sd"),
};

const isa_table isa_table_double = {rows, sizeof rows / sizeof rows[0]};
