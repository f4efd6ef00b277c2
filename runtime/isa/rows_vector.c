/* Lane-wise arithmetic of integers and floats. */
#include "floats.h"
#include "sources.h"

/* ---- float32 --------------------------------------------------------------------------------------------- */

/* The result is clamped to the largest number below 1. */
static inline float fraction(float value) {
    float part = value - floorf(value);
    return part >= 1.0f ? 0x1.fffffep-1f : part;
}

/* Sine and cosine of so many turns. */
static float turns(float value, double (*of)(double)) {
    if (value == 0.0f || !isfinite(value)) {
        return (float)of((double)value * 6.0);
    }
    return (float)of(6.283185307179586476925 * ((double)value - floor((double)value)));
}

ISA_FLOATS_2(v_add_f32, fa + fb)
ISA_FLOATS_2(v_sub_f32, fa - fb)
ISA_FLOATS_2(v_subrev_f32, fb - fa)
ISA_FLOATS_2(v_mul_f32, fa *fb)
ISA_FLOATS_2(v_max_f32, isa_maximum(fa, fb))
ISA_FLOATS_2(v_min_f32, isa_minimum(fa, fb))
ISA_FLOATS_3(v_fma_f32, fmaf(fa, fb, fc))
/* 0 times anything is 0, as DirectX 9 had it. */
ISA_FLOATS_2(v_mul_dx9_zero_f32, fa == 0.0f || fb == 0.0f ? 0.0f : fa * fb)
ISA_FLOATS_3(v_fma_dx9_zero_f32, fa == 0.0f || fb == 0.0f ? fc : fmaf(fa, fb, fc))
ISA_FLOATS_3(v_max3_f32, isa_maximum(isa_maximum(fa, fb), fc))
ISA_FLOATS_3(v_min3_f32, isa_minimum(isa_minimum(fa, fb), fc))
ISA_FLOATS_3(v_med3_f32, isa_median(fa, fb, fc))
ISA_FLOATS_3(v_maxmin_f32, isa_minimum(isa_maximum(fa, fb), fc))
ISA_FLOATS_3(v_minmax_f32, isa_maximum(isa_minimum(fa, fb), fc))
ISA_FLOATS_1(v_floor_f32, floorf(fa))
ISA_FLOATS_1(v_ceil_f32, ceilf(fa))
ISA_FLOATS_1(v_trunc_f32, truncf(fa))
ISA_FLOATS_1(v_rndne_f32, rintf(fa))
ISA_FLOATS_1(v_fract_f32, fraction(fa))

/* 2 ^ x, log2, 1/x and the roots promise 1 ULP; here they are as exact as the host's double precision is, rounded once.
 * Denormal arguments and results are 0 of their sign ("denormals are flushed", as the guide says of each). */
ISA_FLOATS_1(v_exp_f32, isa_flush((float)exp2((double)isa_flush(fa))))
ISA_FLOATS_1(v_log_f32, (float)log2((double)isa_flush(fa)))
ISA_FLOATS_1(v_rcp_f32, isa_flush((float)(1.0 / (double)isa_flush(fa))))
ISA_FLOATS_1(v_rsq_f32, (float)(1.0 / sqrt((double)isa_flush(fa))))
ISA_FLOATS_1(v_sqrt_f32, (float)sqrt((double)isa_flush(fa)))
ISA_FLOATS_1(v_sin_f32, turns(fa, sin))
ISA_FLOATS_1(v_cos_f32, turns(fa, cos))

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

/* How many bits below the sign equal it and it itself; all: -1. */
static inline uint32_t count_signs(uint32_t value) {
    uint32_t changes = value ^ (uint32_t)((int32_t)value >> 31);
    return changes != 0 ? (uint32_t)__builtin_clz(changes) : UINT32_MAX;
}

/* Of clamped instructions. */
static inline uint32_t saturate(int64_t value) {
    return (uint32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value);
}

/* The sum of the differences of parts of so many bits; masked: parts of b that are 0 do not count. */
static inline uint32_t differences(uint32_t a, uint32_t b, unsigned bits, bool masked) {
    uint32_t sum = 0, mask = (1u << bits) - 1;
    for (unsigned at = 0; at < 32; at += bits) {
        uint32_t p = a >> at & mask, q = b >> at & mask;
        sum += masked && q == 0 ? 0 : p > q ? p - q : q - p;
    }
    return sum;
}

/* Of each byte (a + b + the lowest bit of c) / 2. */
static inline uint32_t averages(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += 8) {
        result |= ((a >> at & 0xff) + (b >> at & 0xff) + (c >> at & 1)) >> 1 << at;
    }
    return result;
}

ISA_LANES_1(v_mov_b32, a)
ISA_LANES_1(v_not_b32, ~a)
ISA_LANES_1(v_bfrev_b32, reverse_bits(a))
ISA_LANES_1(v_clz_i32_u32, a != 0 ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
ISA_LANES_1(v_cls_i32, count_signs(a))
ISA_LANES_2(v_add_nc_u32_clamp, a + b < a ? UINT32_MAX : a + b)
ISA_LANES_2(v_sub_nc_u32_clamp, a > b ? a - b : 0)
ISA_LANES_2(v_add_nc_i32_clamp, saturate((int64_t)(int32_t)a + (int32_t)b))
ISA_LANES_2(v_sub_nc_i32_clamp, saturate((int64_t)(int32_t)a - (int32_t)b))
ISA_LANES_2(v_mul_hi_u32_u24, (uint32_t)((uint64_t)(a & 0xffffffu) * (b & 0xffffffu) >> 32))
ISA_LANES_2(v_mul_hi_i32_i24, (uint32_t)((uint64_t)((int64_t)sign24(a) * sign24(b)) >> 32))
ISA_LANES_3(v_sad_u8, differences(a, b, 8, false) + c)
ISA_LANES_3(v_sad_hi_u8, (differences(a, b, 8, false) << 16) + c)
ISA_LANES_3(v_sad_u16, differences(a, b, 16, false) + c)
ISA_LANES_3(v_sad_u32, (a > b ? a - b : b - a) + c)
ISA_LANES_3(v_msad_u8, differences(a, b, 8, true) + c)
ISA_LANES_3(v_lerp_u8, averages(a, b, c))
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
        bool wrapped = __builtin_add_overflow(product, added, &sum);
        x->mask_out[lane] = wrapped != (sum < 0); /* bit 64 of the sum: its sign */
        put64(x, lane, (uint64_t)sum);
    }
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define V           ISA_CLASS_VALU
#define T           ISA_CLASS_TRANS
#define F1(name, c) ISA_ROW(name, "Df Sf", c, ISA_GFX11, ISA_VOP1)
#define F2(name)    ISA_ROW(name, "Df Sf Sf", V, ISA_GFX11, ISA_VOP2)
#define F3(name)    ISA_ROW(name, "Df Sf Sf Sf", V, ISA_GFX11, ISA_VOP3)
#define SAME(name, operands, function, source)                                                                         \
    { name, operands, V, function, NULL, ISA_GFX11, source }
#define I1(name) ISA_ROW(name, "Dv Sv", V, ISA_GFX11, ISA_VOP1)
#define I2(name) ISA_ROW(name, "Dv Sv Sv", V, ISA_GFX11, ISA_VOP2)
#define I3(name) ISA_ROW(name, "Dv Sv Sv Sv", V, ISA_GFX11, ISA_VOP3)

static const isa_row rows[] = {
    F2(v_add_f32),
    F2(v_sub_f32),
    F2(v_subrev_f32),
    F2(v_mul_f32),
    F2(v_max_f32),
    F2(v_min_f32),
    F3(v_fma_f32),
    SAME("v_fmac_f32", "Bf Sf Sf", v_fma_f32, ISA_VOP2),
    SAME("v_fmaak_f32", "Df Sf Sf Sf", v_fma_f32, ISA_VOP2),
    SAME("v_fmamk_f32", "Df Sf Sf Sf", v_fma_f32, ISA_VOP2),
    F2(v_mul_dx9_zero_f32),
    F3(v_fma_dx9_zero_f32),
    SAME("v_fmac_dx9_zero_f32", "Bf Sf Sf", v_fma_dx9_zero_f32, ISA_VOP2),
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
    {"v_rcp_iflag_f32", "Df Sf", T, v_rcp_f32, NULL, ISA_GFX11, ISA_VOP1},
    F1(v_rsq_f32, T),
    F1(v_sqrt_f32, T),
    F1(v_sin_f32, T),
    F1(v_cos_f32, T),
    ISA_ROW(v_ldexp_f32, "Df Sf Sv", V, ISA_GFX11, ISA_VOP3),
    F1(v_frexp_mant_f32, V),
    ISA_ROW(v_frexp_exp_i32_f32, "Dv Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_mov_b32, "Dv Sf", V, ISA_GFX11, ISA_VOP1), /* a sign may be changed on the way */
    I1(v_not_b32),
    I1(v_bfrev_b32),
    I1(v_clz_i32_u32),
    I1(v_ctz_i32_b32),
    I1(v_cls_i32),
    SAME("v_add_nc_i32", "Dv Sv Sv", v_add_nc_u32, ISA_VOP3),
    SAME("v_sub_nc_i32", "Dv Sv Sv", v_sub_nc_u32, ISA_VOP3),
    SAME("v_add_nc_u32 clamp", "Dv Sv Sv", v_add_nc_u32_clamp, ISA_VOP3),
    SAME("v_sub_nc_u32 clamp", "Dv Sv Sv", v_sub_nc_u32_clamp, ISA_VOP3),
    SAME("v_add_nc_i32 clamp", "Dv Sv Sv", v_add_nc_i32_clamp, ISA_VOP3),
    SAME("v_sub_nc_i32 clamp", "Dv Sv Sv", v_sub_nc_i32_clamp, ISA_VOP3),
    I2(v_mul_hi_u32_u24),
    I2(v_mul_hi_i32_i24),
    I3(v_sad_u8),
    I3(v_sad_hi_u8),
    I3(v_sad_u16),
    I3(v_sad_u32),
    I3(v_msad_u8),
    I3(v_lerp_u8),
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
    ISA_ROW(v_cndmask_b32, "Dv Sf Sf Sm", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_add_co_u32, "Dv Dm Sv Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_sub_co_u32, "Dv Dm Sv Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_subrev_co_u32, "Dv Dm Sv Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_add_co_ci_u32, "Dv Dm Sv Sv Sm", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_sub_co_ci_u32, "Dv Dm Sv Sv Sm", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_subrev_co_ci_u32, "Dv Dm Sv Sv Sm", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_lshlrev_b64, "Dv2 Sv Sv2", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_lshrrev_b64, "Dv2 Sv Sv2", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_ashrrev_i64, "Dv2 Sv Sv2", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_mad_u64_u32, "Dv2 Dm Sv Sv Sv2", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_mad_i64_i32, "Dv2 Dm Sv Sv Sv2", V, ISA_GFX11, ISA_VOP3),
};

const isa_table isa_table_vector = {rows, sizeof rows / sizeof rows[0]};
