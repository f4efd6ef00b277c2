/* Cases of instructions: for each row of the device's tables plain C that says what one lane, or one scalar unit, must
 * make of its operands. The references are written from the guide's pseudocode without a look at the rows, with other
 * means: wider types, the compiler's own _Float16, loops over bits. */
#ifndef ROWS_H
#define ROWS_H

#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What one lane reads and must write. 32-bit operands are in the low words. */
typedef struct rows_io {
    uint64_t a, b, c;
    uint64_t old;  /* of the destination, before */
    uint64_t exec; /* of the wave, before and (scalar instructions) after */
    bool in;       /* bit of the lane mask that is read; SCC of scalar instructions */
    uint64_t d;
    bool out; /* bit of the lane mask that is written; SCC */
} rows_io;

/* How results are compared: as bits; or as floats, of which every NaN is the same. */
typedef enum rows_compare {
    ROWS_BITS,
    ROWS_F32,
    ROWS_F16,
    ROWS_F64,
    ROWS_PAIR,    /* two float16 */
    ROWS_FLOATS,  /* two float32 */
    ROWS_BFLOATS, /* two bfloat16 */
    ROWS_TURN,    /* float32, of sines: 2^-21 more or less */
    ROWS_F32_1,   /* one unit in the last place more or less */
    ROWS_F16_1,
    ROWS_F64_1,
    ROWS_F64_29 /* 2^29 of them */
} rows_compare;

typedef struct rows_case {
    const char *name; /* of the row */
    void (*reference)(rows_io *io);
    rows_compare compare;
} rows_case;

typedef struct rows_cases {
    const rows_case *list;
    size_t count;
} rows_cases;

/* Those of the files beside this. */
extern const rows_cases rows_of_integers, rows_of_floats, rows_of_halves, rows_of_pairs, rows_of_doubles,
    rows_of_comparisons, rows_of_scalars, rows_of_extremes, rows_of_scalar_extremes, rows_of_gfx9, rows_of_fp8;

/* A test that every family runs; it begins with `if (!machine_has(…))` where not all of them have what it needs. All of
 * a family's run in one process, which sees that none of its mnemonics is left out. */
#define ROWS_TEST(name)                                                                                                \
    static void name##_test(void);                                                                                     \
    __attribute__((constructor)) static void name##_register(void) {                                                   \
        rows_register(#name, name##_test);                                                                             \
    }                                                                                                                  \
    static void name##_test(void)

void rows_register(const char *name, void (*test)(void));

static inline float rows_float(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static inline uint64_t rows_float_bits(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static inline double rows_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t rows_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

__extension__ typedef _Float16 rows_float16;

static inline float rows_half(uint64_t bits) {
    uint16_t word = (uint16_t)bits;
    rows_float16 value;
    memcpy(&value, &word, sizeof value);
    return (float)value;
}

static inline uint64_t rows_half_bits(float value) {
    rows_float16 half = (rows_float16)value;
    uint16_t word;
    memcpy(&word, &half, sizeof word);
    return word;
}

/* Of a double, rounded once. */
static inline uint64_t rows_half_bits_once(double value) {
    rows_float16 half = (rows_float16)value;
    uint16_t word;
    memcpy(&word, &half, sizeof word);
    return word;
}

/* From the bits: the compiler's own conversion makes signaling NaNs quiet. */
static inline float rows_exact_half(uint64_t bits) {
    uint64_t rest = bits & 0x7fff;
    float magnitude = rest >= 0x7c00 ? rows_float(0x7f800000u | rest << 13) : rows_half(rest);
    return (bits & 0x8000) != 0 ? rows_float(rows_float_bits(magnitude) ^ 0x80000000u) : magnitude;
}

static inline bool rows_is_signaling(float value) {
    return isnan(value) && (rows_float_bits(value) & 0x400000) == 0;
}

/* The larger or smaller of two, of which a number wins over a quiet NaN, and +0 is the larger zero. */
static inline float rows_extreme(float a, float b, bool largest) {
    if (rows_is_signaling(a) || rows_is_signaling(b) || (isnan(a) && isnan(b))) {
        return NAN;
    }
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == b) {
        return (signbit(a) != 0) == largest ? b : a;
    }
    return (a > b) == largest ? a : b;
}

/* `mode` is one of <fenv.h>. */
static inline float rows_rounded(float value, int mode) {
    int kept = fegetround();
    fesetround(mode);
    float result = nearbyintf(value);
    fesetround(kept);
    return result;
}

/* A reference whose result is an expression of: a, b, c, old (32 bits), la, lb, lc (64), fa, fb, fc (float32), ha, hb,
 * hc (float16 of the low halves), da, db, dc (float64), in. */
#define ROWS_REFERENCE(function, expression)                                                                           \
    static void function(rows_io *x) {                                                                                 \
        const uint32_t a = (uint32_t)x->a, b = (uint32_t)x->b, c = (uint32_t)x->c, old = (uint32_t)x->old;             \
        const uint64_t la = x->a, lb = x->b, lc = x->c, lold = x->old;                                                 \
        const float fa = rows_float(a), fb = rows_float(b), fc = rows_float(c), fold = rows_float(old);                \
        const float ha = rows_half(a), hb = rows_half(b), hc = rows_half(c), hold = rows_half(old);                    \
        const double da = rows_double(la), db = rows_double(lb), dc = rows_double(lc);                                 \
        const bool in = x->in;                                                                                         \
        (void)a, (void)b, (void)c, (void)old, (void)la, (void)lb, (void)lc, (void)lold, (void)fa, (void)fb, (void)fc;  \
        (void)fold, (void)ha, (void)hb, (void)hc, (void)hold, (void)da, (void)db, (void)dc, (void)in;                  \
        x->d = (uint64_t)(expression);                                                                                 \
    }

#endif
