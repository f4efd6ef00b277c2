/* How rows define lane-wise operations: one expression, applied to every lane. The arrays alias nothing that is
 * written, so the loops become vector instructions of the host. */
#ifndef ISA_LANEWISE_H
#define ISA_LANEWISE_H

#include <math.h>
#include <string.h>

#include "isa.h"

static inline float isa_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t isa_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double isa_f64(uint32_t low, uint32_t high) {
    uint64_t bits = (uint64_t)high << 32 | low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t isa_bits64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 32-bit words: a, b, c are the sources of a lane. */
#define ISA_LANES_1(function, expression)                                                                              \
    static void function(const isa_lanes *x) {                                                                         \
        const uint32_t *xa = x->a;                                                                                     \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint32_t a = xa[lane];                                                                               \
            x->d[lane] = (expression);                                                                                 \
        }                                                                                                              \
    }
#define ISA_LANES_2(function, expression)                                                                              \
    static void function(const isa_lanes *x) {                                                                         \
        const uint32_t *xa = x->a, *xb = x->b;                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint32_t a = xa[lane], b = xb[lane];                                                                 \
            x->d[lane] = (expression);                                                                                 \
        }                                                                                                              \
    }
#define ISA_LANES_3(function, expression)                                                                              \
    static void function(const isa_lanes *x) {                                                                         \
        const uint32_t *xa = x->a, *xb = x->b, *xc = x->c;                                                             \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint32_t a = xa[lane], b = xb[lane], c = xc[lane];                                                   \
            x->d[lane] = (expression);                                                                                 \
        }                                                                                                              \
    }

/* float32: fa, fb, fc; the expression is a float. */
#define ISA_FLOATS_1(function, expression)                                                                             \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_f32(x->a[lane]);                                                                      \
            x->d[lane] = isa_bits(expression);                                                                         \
        }                                                                                                              \
    }
#define ISA_FLOATS_2(function, expression)                                                                             \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_f32(x->a[lane]), fb = isa_f32(x->b[lane]);                                            \
            x->d[lane] = isa_bits(expression);                                                                         \
        }                                                                                                              \
    }
#define ISA_FLOATS_3(function, expression)                                                                             \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const float fa = isa_f32(x->a[lane]), fb = isa_f32(x->b[lane]), fc = isa_f32(x->c[lane]);                  \
            x->d[lane] = isa_bits(expression);                                                                         \
        }                                                                                                              \
    }

/* Masks: the expression is a condition. */
#define ISA_COMPARE(function, declarations, condition)                                                                 \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            declarations;                                                                                              \
            x->mask_out[lane] = (condition);                                                                           \
        }                                                                                                              \
    }

/* Rows. */
#define ISA_ROW(name, operands, class, families, source)                                                               \
    { #name, operands, class, name, NULL, families, source }

#endif
