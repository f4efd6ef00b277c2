/* What lane-wise instructions that gfx9 alone has must make. */
#include "rows.h"

/* Subnormals are zeros to v_mad_f32 and its like, which round twice. */
static double without_subnormals(float value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : (double)value;
}

static float product_and_sum(float a, float b, float c) {
    float product = (float)(without_subnormals(a) * without_subnormals(b));
    float sum = (float)(without_subnormals(product) + without_subnormals(c));
    return (float)without_subnormals(sum);
}

static float legacy(float a, float b, float c) {
    return a == 0 || b == 0 ? (float)without_subnormals(c) : product_and_sum(a, b, c);
}

ROWS_REFERENCE(ref_v_mad_f32, rows_float_bits(product_and_sum(fa, fb, fc)))
ROWS_REFERENCE(ref_v_mac_f32, rows_float_bits(product_and_sum(fa, fb, fold)))
ROWS_REFERENCE(ref_v_mad_legacy_f32, rows_float_bits(legacy(fa, fb, fc)))
ROWS_REFERENCE(ref_v_subrev_u16, (0x10000 + b % 0x10000 - a % 0x10000) % 0x10000)
ROWS_REFERENCE(ref_v_mov_b64, la)
ROWS_REFERENCE(ref_v_lshl_add_u64, la *(UINT64_C(1) << b % 8) + lc)
ROWS_REFERENCE(ref_v_fmac_f64, rows_double_bits(__builtin_fma(da, db, rows_double(lold))))

static int64_t part(uint32_t word, unsigned at, unsigned bits, bool is_signed) {
    int64_t value = word / (UINT64_C(1) << at) % (UINT64_C(1) << bits);
    return is_signed && value >= INT64_C(1) << (bits - 1) ? value - (INT64_C(1) << bits) : value;
}

static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed) {
    int64_t sum = c;
    for (unsigned at = 0; at < 32; at += bits) {
        sum += part(a, at, bits, is_signed) * part(b, at, bits, is_signed);
    }
    return (uint32_t)sum;
}

ROWS_REFERENCE(ref_v_dot2_i32_i16, dot(a, b, c, 16, true))
ROWS_REFERENCE(ref_v_dot2_u32_u16, dot(a, b, c, 16, false))
ROWS_REFERENCE(ref_v_dot4_i32_i8, dot(a, b, c, 8, true))
ROWS_REFERENCE(ref_v_dot8_i32_i4, dot(a, b, c, 4, true))
ROWS_REFERENCE(ref_v_dot2c_i32_i16, dot(a, b, old, 16, true))
ROWS_REFERENCE(ref_v_dot4c_i32_i8, dot(a, b, old, 8, true))

/* The nearer of the two bfloat16 around a value, of equally near ones the even one. */
static uint32_t bfloat(float value) {
    uint32_t low = (uint32_t)rows_float_bits(value) >> 16;
    if (isnan(value)) {
        return low | 0x40;
    }
    if (isinf(value)) {
        return low;
    }
    double magnitude = fabs((double)value), below = fabs((double)rows_float((uint64_t)low << 16));
    double step = (double)rows_float((uint64_t)(low & 0x7f80) << 16) / 128; /* between neighbours */
    step = step == 0 ? 0x1p-133 : step;
    double over = (magnitude - below) / step;
    return over > 0.5 || (over == 0.5 && low % 2 == 1) ? low + 1 : low;
}

ROWS_REFERENCE(ref_v_cvt_pk_bf16_f32, bfloat(fa) | bfloat(fb) << 16)
ROWS_REFERENCE(ref_v_cvt_pk_f16_f32, rows_half_bits(fa) | rows_half_bits(fb) << 16)
ROWS_REFERENCE(ref_v_cvt_f32_bf16, (a % 0x10000) * 0x10000)

#define CASES(X)                                                                                                       \
    X(v_mad_f32, ROWS_F32)                                                                                             \
    X(v_mac_f32, ROWS_F32)                                                                                             \
    X(v_mad_legacy_f32, ROWS_F32)                                                                                      \
    X(v_subrev_u16, ROWS_BITS)                                                                                         \
    X(v_mov_b64, ROWS_BITS)                                                                                            \
    X(v_lshl_add_u64, ROWS_BITS)                                                                                       \
    X(v_fmac_f64, ROWS_F64)                                                                                            \
    X(v_dot2_i32_i16, ROWS_BITS)                                                                                       \
    X(v_dot2_u32_u16, ROWS_BITS)                                                                                       \
    X(v_dot4_i32_i8, ROWS_BITS)                                                                                        \
    X(v_dot8_i32_i4, ROWS_BITS)                                                                                        \
    X(v_dot2c_i32_i16, ROWS_BITS)                                                                                      \
    X(v_dot4c_i32_i8, ROWS_BITS)                                                                                       \
    X(v_cvt_pk_bf16_f32, ROWS_BITS)                                                                                    \
    X(v_cvt_pk_f16_f32, ROWS_PAIR)                                                                                     \
    X(v_cvt_f32_bf16, ROWS_BITS)

#define ROW(name, how) {#name, ref_##name, how},

static const rows_case list[] = {CASES(ROW)};

const rows_cases rows_of_gfx9 = {list, sizeof list / sizeof list[0]};
