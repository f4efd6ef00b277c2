/* What 32- and 64-bit integer instructions of lanes must make. */
#include <stdlib.h>

#include "rows.h"

static int64_t s32(uint32_t value) {
    return (int64_t)value - (value >= 0x80000000u ? INT64_C(0x100000000) : 0);
}

static int64_t s24(uint32_t value) {
    return (int64_t)(value & 0xffffff) - ((value & 0x800000) != 0 ? 0x1000000 : 0);
}

static uint64_t shifted_left(uint64_t value, unsigned by) {
    while (by-- > 0) {
        value += value;
    }
    return value;
}

static uint64_t shifted_right(uint64_t value, unsigned by, unsigned bits, bool is_signed) {
    uint64_t top = is_signed ? value & UINT64_C(1) << (bits - 1) : 0;
    while (by-- > 0) {
        value = value / 2 | top;
    }
    return value;
}

static uint32_t turned(uint32_t value) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i++, value /= 2) {
        result = result * 2 + value % 2;
    }
    return result;
}

static uint32_t leading(uint32_t value, uint32_t bit) {
    for (uint32_t n = 0; n < 32; n++) {
        if ((value >> (31 - n) & 1) == bit) {
            return n;
        }
    }
    return UINT32_MAX;
}

static uint32_t trailing(uint32_t value) {
    for (uint32_t n = 0; n < 32; n++) {
        if ((value >> n & 1) != 0) {
            return n;
        }
    }
    return UINT32_MAX;
}

static uint32_t ones(uint32_t value) {
    uint32_t count = 0;
    for (; value != 0; value /= 2) {
        count += value % 2;
    }
    return count;
}

/* Of "(S0 >> S1[4:0]) & ((1 << S2[4:0]) - 1)", with the sign of its top bit. */
static uint32_t field(uint32_t value, uint32_t offset, uint32_t width, bool is_signed) {
    uint64_t result = 0;
    offset %= 32;
    width %= 32;
    for (uint32_t n = 0; n < width; n++) {
        uint32_t at = offset + n;
        uint64_t bit = at < 32 ? value >> at & 1 : is_signed ? value >> 31 : 0;
        result |= bit << n;
    }
    if (is_signed && width > 0 && (result >> (width - 1) & 1) != 0) {
        result |= UINT64_MAX << width;
    }
    return (uint32_t)result;
}

static uint32_t bytes(uint32_t a, uint32_t b, uint32_t selector) {
    uint8_t in[8];
    uint32_t result = 0;
    memcpy(in, &b, 4);
    memcpy(in + 4, &a, 4);
    for (int i = 3; i >= 0; i--) {
        unsigned choice = selector >> 8 * i & 255, byte = 255;
        if (choice < 8) {
            byte = in[choice];
        } else if (choice < 12) {
            byte = in[2 * (choice - 8) + 1] >= 128 ? 255 : 0;
        } else if (choice == 12) {
            byte = 0;
        }
        result = result << 8 | byte;
    }
    return result;
}

static uint32_t clamp_signed(int64_t value) {
    return (uint32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static uint64_t middle(int64_t a, int64_t b, int64_t c) {
    int64_t low = a, high = a;
    low = b < low ? b : low;
    low = c < low ? c : low;
    high = b > high ? b : high;
    high = c > high ? c : high;
    return (uint32_t)(a + b + c - low - high);
}

static uint64_t sad(uint32_t a, uint32_t b, uint32_t c, unsigned size, bool masked) {
    uint64_t sum = c;
    for (unsigned i = 0; i < 4; i += size) {
        uint32_t p = 0, q = 0;
        memcpy(&p, (const char *)&a + i, size);
        memcpy(&q, (const char *)&b + i, size);
        sum += masked && q == 0 ? 0 : (uint64_t)llabs((long long)p - (long long)q);
    }
    return (uint32_t)sum;
}

static uint64_t lerp(uint32_t a, uint32_t b, uint32_t c) {
    uint8_t p[4], q[4], r[4];
    memcpy(p, &a, 4);
    memcpy(q, &b, 4);
    memcpy(r, &c, 4);
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)((p[i] + q[i] + (r[i] & 1)) / 2);
    }
    memcpy(&a, p, 4);
    return a;
}

#define CASES(X)                                                                                                       \
    X(v_mov_b32, a)                                                                                                    \
    X(v_not_b32, UINT32_MAX - a)                                                                                       \
    X(v_bfrev_b32, turned(a))                                                                                          \
    X(v_clz_i32_u32, leading(a, 1))                                                                                    \
    X(v_ctz_i32_b32, trailing(a))                                                                                      \
    X(v_cls_i32, leading(a, a >> 31 == 0))                                                                             \
    X(v_add_nc_u32, (uint32_t)(la + lb))                                                                               \
    X(v_sub_nc_u32, (uint32_t)(la - lb))                                                                               \
    X(v_subrev_nc_u32, (uint32_t)(lb - la))                                                                            \
    X(v_add_nc_i32, (uint32_t)(s32(a) + s32(b)))                                                                       \
    X(v_sub_nc_i32, (uint32_t)(s32(a) - s32(b)))                                                                       \
    X(v_and_b32, a - (a & ~b))                                                                                         \
    X(v_or_b32, a + (b & ~a))                                                                                          \
    X(v_xor_b32, (a | b) - (a & b))                                                                                    \
    X(v_xnor_b32, (a & b) | (~a & ~b))                                                                                 \
    X(v_lshlrev_b32, (uint32_t)shifted_left(b, a % 32))                                                                \
    X(v_lshrrev_b32, shifted_right(b, a % 32, 32, false))                                                              \
    X(v_ashrrev_i32, shifted_right(b, a % 32, 32, true))                                                               \
    X(v_min_i32, (uint32_t)(s32(a) < s32(b) ? s32(a) : s32(b)))                                                        \
    X(v_max_i32, (uint32_t)(s32(a) > s32(b) ? s32(a) : s32(b)))                                                        \
    X(v_min_u32, la < lb ? la : lb)                                                                                    \
    X(v_max_u32, la > lb ? la : lb)                                                                                    \
    X(v_mul_lo_u32, (uint32_t)(la * lb))                                                                               \
    X(v_mul_hi_u32, la *lb >> 32)                                                                                      \
    X(v_mul_hi_i32, (uint32_t)((uint64_t)(s32(a) * s32(b)) >> 32))                                                     \
    X(v_mul_u32_u24, (uint32_t)(la % 0x1000000 * (lb % 0x1000000)))                                                    \
    X(v_mul_i32_i24, (uint32_t)(s24(a) * s24(b)))                                                                      \
    X(v_mul_hi_u32_u24, la % 0x1000000 * (lb % 0x1000000) >> 32)                                                       \
    X(v_mul_hi_i32_i24, (uint32_t)((uint64_t)(s24(a) * s24(b)) >> 32))                                                 \
    X(v_bfm_b32, (uint32_t)shifted_left(shifted_left(1, a % 32) - 1, b % 32))                                          \
    X(v_bcnt_u32_b32, (uint32_t)(ones(a) + lb))                                                                        \
    X(v_add3_u32, (uint32_t)(la + lb + lc))                                                                            \
    X(v_xad_u32, (uint32_t)((la ^ lb) + lc))                                                                           \
    X(v_lshl_add_u32, (uint32_t)(shifted_left(a, b % 32) + lc))                                                        \
    X(v_add_lshl_u32, (uint32_t)shifted_left(la + lb, c % 32))                                                         \
    X(v_lshl_or_b32, (uint32_t)(shifted_left(a, b % 32) | c))                                                          \
    X(v_and_or_b32, (a & b) | c)                                                                                       \
    X(v_or3_b32, a | b | c)                                                                                            \
    X(v_xor3_b32, a ^ b ^ c)                                                                                           \
    X(v_bfe_u32, field(a, b, c, false))                                                                                \
    X(v_bfe_i32, field(a, b, c, true))                                                                                 \
    X(v_bfi_b32, c ^ (a & (b ^ c)))                                                                                    \
    X(v_alignbit_b32, (uint32_t)shifted_right(la << 32 | lb, c % 32, 64, false))                                       \
    X(v_alignbyte_b32, (uint32_t)shifted_right(la << 32 | lb, c % 4 * 8, 64, false))                                   \
    X(v_perm_b32, bytes(a, b, c))                                                                                      \
    X(v_mad_u32_u24, (uint32_t)(la % 0x1000000 * (lb % 0x1000000) + lc))                                               \
    X(v_mad_i32_i24, (uint32_t)(s24(a) * s24(b) + s32(c)))                                                             \
    X(v_max3_i32,                                                                                                      \
      (uint32_t)(s32(a) > s32(b) ? (s32(a) > s32(c) ? s32(a) : s32(c)) : (s32(b) > s32(c) ? s32(b) : s32(c))))         \
    X(v_min3_i32,                                                                                                      \
      (uint32_t)(s32(a) < s32(b) ? (s32(a) < s32(c) ? s32(a) : s32(c)) : (s32(b) < s32(c) ? s32(b) : s32(c))))         \
    X(v_max3_u32, la > lb ? (la > lc ? la : lc) : (lb > lc ? lb : lc))                                                 \
    X(v_min3_u32, la < lb ? (la < lc ? la : lc) : (lb < lc ? lb : lc))                                                 \
    X(v_med3_i32, middle(s32(a), s32(b), s32(c)))                                                                      \
    X(v_med3_u32, middle((int64_t)la, (int64_t)lb, (int64_t)lc))                                                       \
    X(v_maxmin_i32,                                                                                                    \
      (uint32_t)((s32(a) > s32(b) ? s32(a) : s32(b)) < s32(c) ? (s32(a) > s32(b) ? s32(a) : s32(b)) : s32(c)))         \
    X(v_minmax_i32,                                                                                                    \
      (uint32_t)((s32(a) < s32(b) ? s32(a) : s32(b)) > s32(c) ? (s32(a) < s32(b) ? s32(a) : s32(b)) : s32(c)))         \
    X(v_maxmin_u32, (la > lb ? la : lb) < lc ? (la > lb ? la : lb) : lc)                                               \
    X(v_minmax_u32, (la < lb ? la : lb) > lc ? (la < lb ? la : lb) : lc)                                               \
    X(v_sad_u8, sad(a, b, c, 1, false))                                                                                \
    X(v_sad_hi_u8, (uint32_t)((sad(a, b, 0, 1, false) << 16) + lc))                                                    \
    X(v_sad_u16, sad(a, b, c, 2, false))                                                                               \
    X(v_sad_u32, sad(a, b, c, 4, false))                                                                               \
    X(v_msad_u8, sad(a, b, c, 1, true))                                                                                \
    X(v_lerp_u8, lerp(a, b, c))                                                                                        \
    X(v_cndmask_b32, in ? b : a)                                                                                       \
    X(v_lshlrev_b64, shifted_left(lb, a % 64))                                                                         \
    X(v_lshrrev_b64, shifted_right(lb, a % 64, 64, false))                                                             \
    X(v_ashrrev_i64, shifted_right(lb, a % 64, 64, true))

#define DEFINE(name, expression) ROWS_REFERENCE(ref_##name, expression)
CASES(DEFINE)

ROWS_REFERENCE(ref_add_u32_clamp, la + lb > UINT32_MAX ? UINT32_MAX : la + lb)
ROWS_REFERENCE(ref_sub_u32_clamp, lb > la ? 0 : la - lb)
ROWS_REFERENCE(ref_add_i32_clamp, clamp_signed(s32(a) + s32(b)))
ROWS_REFERENCE(ref_sub_i32_clamp, clamp_signed(s32(a) - s32(b)))

/* Sums and differences of 33 bits, of which the top one is the carry or borrow. */
static void carry(rows_io *x, int64_t exact) {
    x->d = (uint32_t)exact;
    x->out = exact < 0 || exact > UINT32_MAX;
}

static void ref_v_add_co_u32(rows_io *x) {
    carry(x, (int64_t)x->a + (int64_t)x->b);
}

static void ref_v_sub_co_u32(rows_io *x) {
    carry(x, (int64_t)x->a - (int64_t)x->b);
}

static void ref_v_subrev_co_u32(rows_io *x) {
    carry(x, (int64_t)x->b - (int64_t)x->a);
}

static void ref_v_add_co_ci_u32(rows_io *x) {
    carry(x, (int64_t)x->a + (int64_t)x->b + x->in);
}

static void ref_v_sub_co_ci_u32(rows_io *x) {
    carry(x, (int64_t)x->a - (int64_t)x->b - x->in);
}

static void ref_v_subrev_co_ci_u32(rows_io *x) {
    carry(x, (int64_t)x->b - (int64_t)x->a - x->in);
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static void ref_v_mad_u64_u32(rows_io *x) {
    unsigned_wide sum = (unsigned_wide)x->a * x->b + x->c;
    x->d = (uint64_t)sum;
    x->out = (sum >> 64 & 1) != 0;
}

static void ref_v_mad_i64_i32(rows_io *x) {
    wide sum = (wide)s32((uint32_t)x->a) * s32((uint32_t)x->b) + (int64_t)x->c;
    x->d = (uint64_t)sum;
    x->out = ((unsigned_wide)sum >> 64 & 1) != 0;
}

#define CASE(name, expression) {#name, ref_##name, ROWS_BITS},
#define ROW(name)              CASE(name, )

static const rows_case list[] = {
    CASES(CASE) ROW(v_add_co_u32) ROW(v_sub_co_u32) ROW(v_subrev_co_u32) ROW(v_add_co_ci_u32) ROW(v_sub_co_ci_u32)
        ROW(v_subrev_co_ci_u32) ROW(v_mad_u64_u32)
            ROW(v_mad_i64_i32){"v_add_nc_u32 clamp", ref_add_u32_clamp, ROWS_BITS},
    {"v_sub_nc_u32 clamp", ref_sub_u32_clamp, ROWS_BITS},
    {"v_add_nc_i32 clamp", ref_add_i32_clamp, ROWS_BITS},
    {"v_sub_nc_i32 clamp", ref_sub_i32_clamp, ROWS_BITS},
};

const rows_cases rows_of_integers = {list, sizeof list / sizeof list[0]};
