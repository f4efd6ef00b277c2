/* Maxima and minima as RDNA4 has them (floats.h), of two and of three. */
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* The middle one; with a NaN among them the smallest. Equal zeros of both signs count as one. */
static inline float med3_num(float a, float b, float c) {
    if (a != a || b != b || c != c) {
        return isa_min_num(isa_min_num(a, b), c);
    }
    float largest = isa_max_num(isa_max_num(a, b), c);
    return largest == a ? isa_max_num(b, c) : largest == b ? isa_max_num(a, c) : isa_max_num(a, b);
}

#define TWO(X)                                                                                                         \
    X(max_num, isa_max_num(fa, fb), ISA_RDNA4_VOP2)                                                                    \
    X(min_num, isa_min_num(fa, fb), ISA_RDNA4_VOP2)                                                                    \
    X(maximum, isa_maximum_ieee(fa, fb), ISA_RDNA4_VOP3)                                                               \
    X(minimum, isa_minimum_ieee(fa, fb), ISA_RDNA4_VOP3)
#define THREE(X)                                                                                                       \
    X(max3_num, isa_max_num(isa_max_num(fa, fb), fc))                                                                  \
    X(min3_num, isa_min_num(isa_min_num(fa, fb), fc))                                                                  \
    X(med3_num, med3_num(fa, fb, fc))                                                                                  \
    X(maxmin_num, isa_min_num(isa_max_num(fa, fb), fc))                                                                \
    X(minmax_num, isa_max_num(isa_min_num(fa, fb), fc))                                                                \
    X(maximum3, isa_maximum_ieee(isa_maximum_ieee(fa, fb), fc))                                                        \
    X(minimum3, isa_minimum_ieee(isa_minimum_ieee(fa, fb), fc))                                                        \
    X(maximumminimum, isa_minimum_ieee(isa_maximum_ieee(fa, fb), fc))                                                  \
    X(minimummaximum, isa_maximum_ieee(isa_minimum_ieee(fa, fb), fc))

/* ---- float32 and float16 ----------------------------------------------------------------------------------- */

static inline float half(uint32_t bits) {
    return isa_half_to_float(bits & 0xffff);
}

#define VECTOR_TWO(name, expression, source)                                                                           \
    ISA_FLOATS_2(v_##name##_f32, expression)                                                                           \
    static inline uint32_t name##_half(uint32_t a, uint32_t b) {                                                       \
        const float fa = half(a), fb = half(b);                                                                        \
        return isa_float_to_half(expression);                                                                          \
    }                                                                                                                  \
    ISA_LANES_2(v_##name##_f16, name##_half(a, b))                                                                     \
    ISA_LANES_2(v_pk_##name##_f16, name##_half(a, b) | name##_half(a >> 16, b >> 16) << 16)                            \
    static void s_##name##_f32(isa_wave *wave, const isa_instruction *i) {                                             \
        const float fa = isa_f32(isa_read_scalar(wave, &i->operands[1]));                                              \
        const float fb = isa_f32(isa_read_scalar(wave, &i->operands[2]));                                              \
        isa_write_scalar(wave, &i->operands[0], isa_bits(expression));                                                 \
    }                                                                                                                  \
    static void s_##name##_f16(isa_wave *wave, const isa_instruction *i) {                                             \
        const uint32_t a = isa_read_scalar_half(wave, &i->operands[1]),                                                \
                       b = isa_read_scalar_half(wave, &i->operands[2]);                                                \
        isa_write_scalar(wave, &i->operands[0], name##_half(a, b));                                                    \
    }
#define VECTOR_THREE(name, expression)                                                                                 \
    ISA_FLOATS_3(v_##name##_f32, expression)                                                                           \
    static inline uint32_t name##_half(uint32_t a, uint32_t b, uint32_t c) {                                           \
        const float fa = half(a), fb = half(b), fc = half(c);                                                          \
        return isa_float_to_half(expression);                                                                          \
    }                                                                                                                  \
    ISA_LANES_3(v_##name##_f16, name##_half(a, b, c))
TWO(VECTOR_TWO)
THREE(VECTOR_THREE)

/* ---- float64 ----------------------------------------------------------------------------------------------- */

#define DOUBLES(name, of)                                                                                              \
    static void v_##name##_f64(const isa_lanes *x) {                                                                   \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            uint64_t bits =                                                                                            \
                isa_bits64(of(isa_f64(x->a[lane], x->a_high[lane]), isa_f64(x->b[lane], x->b_high[lane])));            \
            x->d[lane] = (uint32_t)bits;                                                                               \
            x->d_high[lane] = (uint32_t)(bits >> 32);                                                                  \
        }                                                                                                              \
    }
DOUBLES(max_num, isa_max_num64)
DOUBLES(min_num, isa_min_num64)
DOUBLES(maximum, isa_maximum_ieee64)
DOUBLES(minimum, isa_minimum_ieee64)

/* ---- The table ------------------------------------------------------------------------------------------- */

#define V ISA_CLASS_VALU
#define SCALAR(name)                                                                                                   \
    { #name, "Ds Ss Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX12, ISA_RDNA4_SOP2 }
#define ROW_TWO(name, expression, source)                                                                              \
    ISA_ROW(v_##name##_f16, "Dk Sk Sk", V, ISA_GFX12, source),                                                         \
        ISA_ROW(v_pk_##name##_f16, "Dq Sq Sq", V, ISA_GFX12, ISA_RDNA4_VOP3P),                                         \
        ISA_ROW(v_##name##_f32, "Df Sf Sf", V, ISA_GFX12, source),                                                     \
        ISA_ROW(v_##name##_f64, "Dd Sd Sd", V, ISA_GFX12, source), SCALAR(s_##name##_f16), SCALAR(s_##name##_f32),
#define ROW_THREE(name, expression)                                                                                    \
    ISA_ROW(v_##name##_f16, "Dk Sk Sk Sk", V, ISA_GFX12, ISA_RDNA4_VOP3),                                              \
        ISA_ROW(v_##name##_f32, "Df Sf Sf Sf", V, ISA_GFX12, ISA_RDNA4_VOP3),

static const isa_row rows[] = {TWO(ROW_TWO) THREE(ROW_THREE)};

const isa_table isa_table_extremes = {rows, sizeof rows / sizeof rows[0]};
