/* Lane-wise arithmetic of integers and floats. */
#include "lanewise.h"

#define VOP1 "RDNA3 ISA guide, 16.8 VOP1"
#define VOP2 "RDNA3 ISA guide, 16.7 VOP2"
#define VOP3 "RDNA3 ISA guide, 16.12 VOP3 & VOP3SD"

/* ---- float32 --------------------------------------------------------------------------------------------- */

/* IEEE 754-2008 maxNum and minNum: of a number and a NaN the number, and -0 below +0. */
static inline float maximum(float a, float b) {
    float larger = a > b ? a : b;
    larger = a == b ? (isa_bits(a) >> 31 ? b : a) : larger;
    return a != a ? b : b != b ? a : larger;
}

static inline float minimum(float a, float b) {
    float smaller = a < b ? a : b;
    smaller = a == b ? (isa_bits(a) >> 31 ? a : b) : smaller;
    return a != a ? b : b != b ? a : smaller;
}

/* The middle one; with a NaN among them the smallest of the others (the guide's pseudocode of V_MED3_F32). */
static inline float median(float a, float b, float c) {
    if (a != a || b != b || c != c) {
        return minimum(minimum(a, b), c);
    }
    float largest = maximum(maximum(a, b), c);
    return largest == a ? maximum(b, c) : largest == b ? maximum(a, c) : maximum(a, b);
}

ISA_FLOATS_2(v_add_f32, fa + fb)
ISA_FLOATS_2(v_sub_f32, fa - fb)
ISA_FLOATS_2(v_subrev_f32, fb - fa)
ISA_FLOATS_2(v_mul_f32, fa *fb)
ISA_FLOATS_2(v_max_f32, maximum(fa, fb))
ISA_FLOATS_2(v_min_f32, minimum(fa, fb))
ISA_FLOATS_3(v_fma_f32, fmaf(fa, fb, fc))
ISA_FLOATS_3(v_fmac_f32, fmaf(fa, fb, fc))
ISA_FLOATS_3(v_fmaak_f32, fmaf(fa, fb, fc))
ISA_FLOATS_3(v_fmamk_f32, fmaf(fa, fb, fc))
ISA_FLOATS_3(v_max3_f32, maximum(maximum(fa, fb), fc))
ISA_FLOATS_3(v_min3_f32, minimum(minimum(fa, fb), fc))
ISA_FLOATS_3(v_med3_f32, median(fa, fb, fc))
ISA_FLOATS_3(v_maxmin_f32, minimum(maximum(fa, fb), fc))
ISA_FLOATS_3(v_minmax_f32, maximum(minimum(fa, fb), fc))
ISA_FLOATS_1(v_floor_f32, floorf(fa))
ISA_FLOATS_1(v_ceil_f32, ceilf(fa))
ISA_FLOATS_1(v_trunc_f32, truncf(fa))
ISA_FLOATS_1(v_rndne_f32, rintf(fa))
/* A fraction below 1 whatever the rounding: the largest float32 below it is the limit. */
ISA_FLOATS_1(v_fract_f32, fa - floorf(fa) < 1.0f ? fa - floorf(fa) : fa == fa ? 0x1.fffffep-1f : fa)

/* LegacyMul and the like are not here: compilers for compute do not make them. */

/* 2 ^ x, log2, 1/x and the roots promise 1 ULP (sqrt too); here they are as exact as the host's double precision is,
 * rounded once. Denormal arguments and results are 0 of their sign for exp, log, rsq, rcp and sqrt as the guide says
 * of each ("denormals are flushed"). */
static inline float flush(float value) {
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

ISA_FLOATS_1(v_exp_f32, flush((float)exp2((double)flush(fa))))
ISA_FLOATS_1(v_log_f32, (float)log2((double)flush(fa)))
ISA_FLOATS_1(v_rcp_f32, flush((float)(1.0 / (double)flush(fa))))
ISA_FLOATS_1(v_rsq_f32, (float)(1.0 / sqrt((double)flush(fa))))
ISA_FLOATS_1(v_sqrt_f32, (float)sqrt((double)flush(fa)))

/* ldexp: the second operand is an integer. */
static void v_ldexp_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = isa_bits(ldexpf(isa_f32(x->a[lane]), (int32_t)x->b[lane]));
    }
}

ISA_FLOATS_1(v_frexp_mant_f32, isfinite(fa) ? frexpf(fa, &(int){0}) : fa)

static void v_frexp_exp_i32_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        float value = isa_f32(x->a[lane]);
        int exponent = 0;
        if (isfinite(value)) {
            frexpf(value, &exponent);
        }
        x->d[lane] = (uint32_t)exponent;
    }
}

/* The division sequence (V_DIV_SCALE_F32, V_DIV_FMAS_F32, V_DIV_FIXUP_F32), as the guide's pseudocode has it. The
 * sources of v_div_scale are S0 (what is scaled: equal to S1 or S2), S1 the denominator and S2 the numerator. */
static int exponent_bits(float value) {
    return (int)(isa_bits(value) >> 23 & 0xff);
}

static bool is_denormal(float value) {
    return value != 0.0f && fabsf(value) < 0x1p-126f;
}

static float scale_one(float s0, float s1, float s2, bool *vcc) {
    *vcc = false;
    if (s1 == 0.0f || s2 == 0.0f) {
        return NAN;
    }
    if (exponent_bits(s2) - exponent_bits(s1) >= 96) { /* numerator / denominator is infinite */
        *vcc = true;
        return s0 == s1 ? ldexpf(s0, 64) : s0;
    }
    if (is_denormal(s1)) {
        return ldexpf(s0, 64);
    }
    if (is_denormal(1.0f / s1) && is_denormal(s2 / s1)) {
        *vcc = true;
        return s0 == s1 ? ldexpf(s0, 64) : s0;
    }
    if (is_denormal(1.0f / s1)) {
        return ldexpf(s0, -64);
    }
    if (is_denormal(s2 / s1)) {
        *vcc = true;
        return s0 == s2 ? ldexpf(s0, 64) : s0;
    }
    if (exponent_bits(s2) <= 23) { /* the numerator is tiny */
        return ldexpf(s0, 64);
    }
    return s0;
}

static void v_div_scale_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        bool vcc;
        float value = scale_one(isa_f32(x->a[lane]), isa_f32(x->b[lane]), isa_f32(x->c[lane]), &vcc);
        x->d[lane] = isa_bits(value);
        x->mask_out[lane] = vcc;
    }
}

static void v_div_fmas_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        float value = fmaf(isa_f32(x->a[lane]), isa_f32(x->b[lane]), isa_f32(x->c[lane]));
        if (x->mask_in[lane]) {
            value = ldexpf(value, exponent_bits(isa_f32(x->c[lane])) > 127 ? 64 : -64);
        }
        x->d[lane] = isa_bits(value);
    }
}

static float fix_up(float s0, float s1, float s2) {
    float sign = copysignf(1.0f, s1) * copysignf(1.0f, s2);
    if (s2 != s2) {
        return s2;
    }
    if (s1 != s1) {
        return s1;
    }
    if ((s1 == 0.0f && s2 == 0.0f) || (isinf(s1) && isinf(s2))) {
        return -NAN;
    }
    if (s1 == 0.0f || isinf(s2)) {
        return copysignf(INFINITY, sign);
    }
    if (isinf(s1) || s2 == 0.0f) {
        return copysignf(0.0f, sign);
    }
    if (exponent_bits(s2) - exponent_bits(s1) < -150) {
        return copysignf(0.0f, sign); /* the guide: underflow */
    }
    if (exponent_bits(s1) == 255) {
        return copysignf(INFINITY, sign);
    }
    return copysignf(fabsf(s0), sign);
}

static void v_div_fixup_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = isa_bits(fix_up(isa_f32(x->a[lane]), isa_f32(x->b[lane]), isa_f32(x->c[lane])));
    }
}

/* ---- 32-bit integers ------------------------------------------------------------------------------------- */

static inline uint32_t reverse_bits(uint32_t value) {
    value = (value & 0x55555555u) << 1 | (value >> 1 & 0x55555555u);
    value = (value & 0x33333333u) << 2 | (value >> 2 & 0x33333333u);
    value = (value & 0x0f0f0f0fu) << 4 | (value >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(value);
}

static inline uint32_t extract_unsigned(uint32_t value, uint32_t offset, uint32_t width) {
    return (width & 31) == 0 ? 0 : value >> (offset & 31) & ((1u << (width & 31)) - 1);
}

static inline uint32_t extract_signed(uint32_t value, uint32_t offset, uint32_t width) {
    offset &= 31;
    width &= 31;
    if (width == 0) {
        return 0;
    }
    if (offset + width >= 32) {
        return (uint32_t)((int32_t)value >> offset);
    }
    return (uint32_t)((int32_t)(value << (32 - offset - width)) >> (32 - width));
}

/* Byte i is chosen by byte i of the selector from {a, b}: 0-3 of b, 4-7 of a, 8-11 the signs of b's and a's halves, 12
 * zero, 13 and up ones. */
static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t data = (uint64_t)a << 32 | b;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t choice = selector >> 8 * i & 0xff;
        uint32_t byte = choice >= 13   ? 0xffu
                        : choice == 12 ? 0
                        : choice >= 8  ? ((data >> (16 * (choice - 8) + 15) & 1) != 0 ? 0xffu : 0)
                                       : (uint32_t)(data >> 8 * choice) & 0xffu;
        result |= byte << 8 * i;
    }
    return result;
}

static inline uint32_t high_signed(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

static inline int32_t sign24(uint32_t value) {
    return (int32_t)(value << 8) >> 8;
}

static inline uint32_t max_signed(uint32_t a, uint32_t b) {
    return (int32_t)a >= (int32_t)b ? a : b;
}

static inline uint32_t min_signed(uint32_t a, uint32_t b) {
    return (int32_t)a < (int32_t)b ? a : b;
}

static inline uint32_t max_unsigned(uint32_t a, uint32_t b) {
    return a >= b ? a : b;
}

static inline uint32_t min_unsigned(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

ISA_LANES_1(v_mov_b32, a)
ISA_LANES_1(v_not_b32, ~a)
ISA_LANES_1(v_bfrev_b32, reverse_bits(a))
ISA_LANES_1(v_clz_i32_u32, a != 0 ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
ISA_LANES_1(v_ctz_i32_b32, a != 0 ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
ISA_LANES_2(v_add_nc_u32, a + b)
ISA_LANES_2(v_sub_nc_u32, a - b)
ISA_LANES_2(v_subrev_nc_u32, b - a)
ISA_LANES_2(v_and_b32, a &b)
ISA_LANES_2(v_or_b32, a | b)
ISA_LANES_2(v_xor_b32, a ^ b)
ISA_LANES_2(v_xnor_b32, ~(a ^ b))
ISA_LANES_2(v_lshlrev_b32, b << (a & 31))
ISA_LANES_2(v_lshrrev_b32, b >> (a & 31))
ISA_LANES_2(v_ashrrev_i32, (uint32_t)((int32_t)b >> (a & 31)))
ISA_LANES_2(v_min_i32, min_signed(a, b))
ISA_LANES_2(v_max_i32, max_signed(a, b))
ISA_LANES_2(v_min_u32, min_unsigned(a, b))
ISA_LANES_2(v_max_u32, max_unsigned(a, b))
ISA_LANES_2(v_mul_lo_u32, a *b)
ISA_LANES_2(v_mul_hi_u32, (uint32_t)((uint64_t)a *b >> 32))
ISA_LANES_2(v_mul_hi_i32, high_signed(a, b))
ISA_LANES_2(v_mul_u32_u24, (a & 0xffffffu) * (b & 0xffffffu))
ISA_LANES_2(v_mul_i32_i24, (uint32_t)sign24(a) * (uint32_t)sign24(b))
ISA_LANES_2(v_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))
ISA_LANES_2(v_bcnt_u32_b32, (uint32_t)__builtin_popcount(a) + b)
ISA_LANES_3(v_add3_u32, a + b + c)
ISA_LANES_3(v_xad_u32, (a ^ b) + c)
ISA_LANES_3(v_lshl_add_u32, (a << (b & 31)) + c)
ISA_LANES_3(v_add_lshl_u32, (a + b) << (c & 31))
ISA_LANES_3(v_lshl_or_b32, a << (b & 31) | c)
ISA_LANES_3(v_and_or_b32, (a & b) | c)
ISA_LANES_3(v_or3_b32, a | b | c)
ISA_LANES_3(v_xor3_b32, a ^ b ^ c)
ISA_LANES_3(v_bfe_u32, extract_unsigned(a, b, c))
ISA_LANES_3(v_bfe_i32, extract_signed(a, b, c))
ISA_LANES_3(v_bfi_b32, (a & b) | (~a & c))
ISA_LANES_3(v_alignbit_b32, (uint32_t)(((uint64_t)a << 32 | b) >> (c & 31)))
ISA_LANES_3(v_alignbyte_b32, (uint32_t)(((uint64_t)a << 32 | b) >> 8 * (c & 3)))
ISA_LANES_3(v_perm_b32, permute_bytes(a, b, c))
ISA_LANES_3(v_mad_u32_u24, (a & 0xffffffu) * (b & 0xffffffu) + c)
ISA_LANES_3(v_mad_i32_i24, (uint32_t)sign24(a) * (uint32_t)sign24(b) + c)
ISA_LANES_3(v_max3_i32, max_signed(max_signed(a, b), c))
ISA_LANES_3(v_min3_i32, min_signed(min_signed(a, b), c))
ISA_LANES_3(v_max3_u32, max_unsigned(max_unsigned(a, b), c))
ISA_LANES_3(v_min3_u32, min_unsigned(min_unsigned(a, b), c))
ISA_LANES_3(v_med3_i32, max_signed(min_signed(a, b), min_signed(max_signed(a, b), c)))
ISA_LANES_3(v_med3_u32, max_unsigned(min_unsigned(a, b), min_unsigned(max_unsigned(a, b), c)))
ISA_LANES_3(v_maxmin_i32, min_signed(max_signed(a, b), c))
ISA_LANES_3(v_minmax_i32, max_signed(min_signed(a, b), c))
ISA_LANES_3(v_maxmin_u32, min_unsigned(max_unsigned(a, b), c))
ISA_LANES_3(v_minmax_u32, max_unsigned(min_unsigned(a, b), c))

static void v_cndmask_b32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = x->mask_in[lane] ? x->b[lane] : x->a[lane];
    }
}

/* Carries. */
#define CARRY(function, sum, carry)                                                                                    \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint64_t a = x->a[lane], b = x->b[lane], in = x->mask_in != NULL ? x->mask_in[lane] : 0;             \
            (void)in;                                                                                                  \
            x->d[lane] = (uint32_t)(sum);                                                                              \
            x->mask_out[lane] = (carry);                                                                               \
        }                                                                                                              \
    }
CARRY(v_add_co_u32, a + b, a + b > UINT32_MAX)
CARRY(v_sub_co_u32, a - b, b > a)
CARRY(v_subrev_co_u32, b - a, a > b)
CARRY(v_add_co_ci_u32, a + b + in, a + b + in > UINT32_MAX)
CARRY(v_sub_co_ci_u32, a - b - in, b + in > a)
CARRY(v_subrev_co_ci_u32, b - a - in, a + in > b)

/* ---- 64-bit integers ------------------------------------------------------------------------------------- */

static inline void put64(const isa_lanes *x, int lane, uint64_t value) {
    x->d[lane] = (uint32_t)value;
    x->d_high[lane] = (uint32_t)(value >> 32);
}

static inline uint64_t b64(const isa_lanes *x, int lane) {
    return (uint64_t)x->b_high[lane] << 32 | x->b[lane];
}

#define SHIFT_64(function, expression)                                                                                 \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint32_t by = x->a[lane] & 63;                                                                       \
            const uint64_t value = b64(x, lane);                                                                       \
            put64(x, lane, (expression));                                                                              \
        }                                                                                                              \
    }
SHIFT_64(v_lshlrev_b64, value << by)
SHIFT_64(v_lshrrev_b64, value >> by)
SHIFT_64(v_ashrrev_i64, (uint64_t)((int64_t)value >> by))

static void v_mad_u64_u32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        uint64_t sum, added = (uint64_t)x->c_high[lane] << 32 | x->c[lane];
        x->mask_out[lane] = __builtin_add_overflow((uint64_t)x->a[lane] * x->b[lane], added, &sum);
        put64(x, lane, sum);
    }
}

static void v_mad_i64_i32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        int64_t sum, added = (int64_t)((uint64_t)x->c_high[lane] << 32 | x->c[lane]);
        int64_t product = (int64_t)(int32_t)x->a[lane] * (int32_t)x->b[lane];
        x->mask_out[lane] = __builtin_add_overflow(product, added, &sum);
        put64(x, lane, (uint64_t)sum);
    }
}

/* ---- 16-bit integers ------------------------------------------------------------------------------------- */

ISA_LANES_1(v_mov_b16, a)
ISA_LANES_1(v_not_b16, ~a & 0xffff)
ISA_LANES_2(v_add_nc_u16, (a + b) & 0xffff)
ISA_LANES_2(v_sub_nc_u16, (a - b) & 0xffff)
ISA_LANES_2(v_mul_lo_u16, (a * b) & 0xffff)
ISA_LANES_2(v_and_b16, a &b)
ISA_LANES_2(v_or_b16, a | b)
ISA_LANES_2(v_xor_b16, a ^ b)
ISA_LANES_2(v_lshlrev_b16, b << (a & 15) & 0xffff)
ISA_LANES_2(v_lshrrev_b16, b >> (a & 15))
ISA_LANES_2(v_ashrrev_i16, (uint32_t)((int32_t)(int16_t)b >> (a & 15)) & 0xffff)
ISA_LANES_2(v_max_u16, a >= b ? a : b)
ISA_LANES_2(v_min_u16, a < b ? a : b)
ISA_LANES_2(v_max_i16, (int16_t)a >= (int16_t)b ? a : b)
ISA_LANES_2(v_min_i16, (int16_t)a < (int16_t)b ? a : b)

static void v_cndmask_b16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = x->mask_in[lane] ? x->b[lane] : x->a[lane];
    }
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define ALL         (ISA_GFX10 | ISA_GFX11 | ISA_GFX12)
#define V           ISA_CLASS_VALU
#define T           ISA_CLASS_TRANS
#define F1(name, c) ISA_ROW(name, "Df Sf", c, ALL, VOP1)
#define F2(name)    ISA_ROW(name, "Df Sf Sf", V, ALL, VOP2)
#define F3(name)    ISA_ROW(name, "Df Sf Sf Sf", V, ALL, VOP3)
#define I1(name)    ISA_ROW(name, "Dv Sv", V, ALL, VOP1)
#define I2(name)    ISA_ROW(name, "Dv Sv Sv", V, ALL, VOP2)
#define I3(name)    ISA_ROW(name, "Dv Sv Sv Sv", V, ALL, VOP3)
#define H2(name)    ISA_ROW(name, "Dh Sh Sh", V, ISA_GFX11 | ISA_GFX12, VOP3)

static const isa_row rows[] = {
    F2(v_add_f32),
    F2(v_sub_f32),
    F2(v_subrev_f32),
    F2(v_mul_f32),
    F2(v_max_f32),
    F2(v_min_f32),
    F3(v_fma_f32),
    ISA_ROW(v_fmac_f32, "Bf Sf Sf", V, ALL, VOP2),
    ISA_ROW(v_fmaak_f32, "Df Sf Sf Sf", V, ALL, VOP2),
    {"v_fmamk_f32", "Df Sf Sf Sf", V, v_fmamk_f32, NULL, ALL, VOP2},
    F3(v_max3_f32),
    F3(v_min3_f32),
    F3(v_med3_f32),
    F3(v_maxmin_f32),
    F3(v_minmax_f32),
    F1(v_floor_f32, V),
    F1(v_ceil_f32, V),
    F1(v_trunc_f32, V),
    F1(v_rndne_f32, V),
    F1(v_fract_f32, V),
    F1(v_exp_f32, T),
    F1(v_log_f32, T),
    F1(v_rcp_f32, T),
    {"v_rcp_iflag_f32", "Df Sf", T, v_rcp_f32, NULL, ALL, VOP1},
    F1(v_rsq_f32, T),
    F1(v_sqrt_f32, T),
    ISA_ROW(v_ldexp_f32, "Df Sf Sv", V, ALL, VOP3),
    F1(v_frexp_mant_f32, V),
    ISA_ROW(v_frexp_exp_i32_f32, "Dv Sf", V, ALL, VOP1),
    ISA_ROW(v_div_scale_f32, "Df Dm Sf Sf Sf", V, ALL, VOP3),
    ISA_ROW(v_div_fmas_f32, "Df Sf Sf Sf Sm", V, ALL, VOP3),
    F3(v_div_fixup_f32),
    I1(v_mov_b32),
    I1(v_not_b32),
    I1(v_bfrev_b32),
    I1(v_clz_i32_u32),
    I1(v_ctz_i32_b32),
    I2(v_add_nc_u32),
    I2(v_sub_nc_u32),
    I2(v_subrev_nc_u32),
    I2(v_and_b32),
    I2(v_or_b32),
    I2(v_xor_b32),
    I2(v_xnor_b32),
    I2(v_lshlrev_b32),
    I2(v_lshrrev_b32),
    I2(v_ashrrev_i32),
    I2(v_min_i32),
    I2(v_max_i32),
    I2(v_min_u32),
    I2(v_max_u32),
    I2(v_mul_lo_u32),
    I2(v_mul_hi_u32),
    I2(v_mul_hi_i32),
    I2(v_mul_u32_u24),
    I2(v_mul_i32_i24),
    I2(v_bfm_b32),
    I2(v_bcnt_u32_b32),
    I3(v_add3_u32),
    I3(v_xad_u32),
    I3(v_lshl_add_u32),
    I3(v_add_lshl_u32),
    I3(v_lshl_or_b32),
    I3(v_and_or_b32),
    I3(v_or3_b32),
    I3(v_xor3_b32),
    I3(v_bfe_u32),
    I3(v_bfe_i32),
    I3(v_bfi_b32),
    I3(v_alignbit_b32),
    I3(v_alignbyte_b32),
    I3(v_perm_b32),
    I3(v_mad_u32_u24),
    I3(v_mad_i32_i24),
    I3(v_max3_i32),
    I3(v_min3_i32),
    I3(v_max3_u32),
    I3(v_min3_u32),
    I3(v_med3_i32),
    I3(v_med3_u32),
    I3(v_maxmin_i32),
    I3(v_minmax_i32),
    I3(v_maxmin_u32),
    I3(v_minmax_u32),
    ISA_ROW(v_cndmask_b32, "Dv Sf Sf Sm", V, ALL, VOP2),
    ISA_ROW(v_add_co_u32, "Dv Dm Sv Sv", V, ALL, VOP3),
    ISA_ROW(v_sub_co_u32, "Dv Dm Sv Sv", V, ALL, VOP3),
    ISA_ROW(v_subrev_co_u32, "Dv Dm Sv Sv", V, ALL, VOP3),
    ISA_ROW(v_add_co_ci_u32, "Dv Dm Sv Sv Sm", V, ALL, VOP2),
    ISA_ROW(v_sub_co_ci_u32, "Dv Dm Sv Sv Sm", V, ALL, VOP2),
    ISA_ROW(v_subrev_co_ci_u32, "Dv Dm Sv Sv Sm", V, ALL, VOP2),
    ISA_ROW(v_lshlrev_b64, "Dv2 Sv Sv2", V, ALL, VOP3),
    ISA_ROW(v_lshrrev_b64, "Dv2 Sv Sv2", V, ALL, VOP3),
    ISA_ROW(v_ashrrev_i64, "Dv2 Sv Sv2", V, ALL, VOP3),
    ISA_ROW(v_mad_u64_u32, "Dv2 Dm Sv Sv Sv2", V, ALL, VOP3),
    ISA_ROW(v_mad_i64_i32, "Dv2 Dm Sv Sv Sv2", V, ALL, VOP3),
    ISA_ROW(v_mov_b16, "Dh Sh", V, ISA_GFX11 | ISA_GFX12, VOP1),
    ISA_ROW(v_not_b16, "Dh Sh", V, ISA_GFX11 | ISA_GFX12, VOP1),
    H2(v_add_nc_u16),
    H2(v_sub_nc_u16),
    H2(v_mul_lo_u16),
    H2(v_and_b16),
    H2(v_or_b16),
    H2(v_xor_b16),
    H2(v_lshlrev_b16),
    H2(v_lshrrev_b16),
    H2(v_ashrrev_i16),
    H2(v_max_u16),
    H2(v_min_u16),
    H2(v_max_i16),
    H2(v_min_i16),
    ISA_ROW(v_cndmask_b16, "Dh Sh Sh Sm", V, ISA_GFX11 | ISA_GFX12, VOP3),
};

const isa_table isa_table_vector = {rows, sizeof rows / sizeof rows[0]};
