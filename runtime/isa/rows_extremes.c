/* Maxima and minima as RDNA4 has them, after IEEE 754-2019. Those called "num" give the number if one operand is a NaN
 * of either kind; in the others the NaN wins. A NaN comes out quiet, and -0 is below +0. */
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

#define DEFINE(type, suffix, quiet)                                                                                    \
    static inline bool is_above##suffix(type a, type b) {                                                              \
        return a > b || (a == b && signbit(a) == 0);                                                                   \
    }                                                                                                                  \
    static inline type max_num##suffix(type a, type b) {                                                               \
        type number = a != a ? b : b != b ? a : is_above##suffix(a, b) ? a : b;                                        \
        return number != number ? quiet(number) : number;                                                              \
    }                                                                                                                  \
    static inline type min_num##suffix(type a, type b) {                                                               \
        type number = a != a ? b : b != b ? a : is_above##suffix(a, b) ? b : a;                                        \
        return number != number ? quiet(number) : number;                                                              \
    }                                                                                                                  \
    static inline type maximum##suffix(type a, type b) {                                                               \
        return a != a ? quiet(a) : b != b ? quiet(b) : is_above##suffix(a, b) ? a : b;                                 \
    }                                                                                                                  \
    static inline type minimum##suffix(type a, type b) {                                                               \
        return a != a ? quiet(a) : b != b ? quiet(b) : is_above##suffix(a, b) ? b : a;                                 \
    }
DEFINE(float, , isa_quiet)
DEFINE(double, 64, isa_quiet64)

/* The middle one; with a NaN among them the smallest. Equal zeros of both signs count as one. */
static inline float med3_num(float a, float b, float c) {
    if (a != a || b != b || c != c) {
        return min_num(min_num(a, b), c);
    }
    float largest = max_num(max_num(a, b), c);
    return largest == a ? max_num(b, c) : largest == b ? max_num(a, c) : max_num(a, b);
}

#define TWO(X)                                                                                                         \
    X(max_num, max_num(fa, fb), ISA_RDNA4_VOP2)                                                                        \
    X(min_num, min_num(fa, fb), ISA_RDNA4_VOP2)                                                                        \
    X(maximum, maximum(fa, fb), ISA_RDNA4_VOP3)                                                                        \
    X(minimum, minimum(fa, fb), ISA_RDNA4_VOP3)
#define THREE(X)                                                                                                       \
    X(max3_num, max_num(max_num(fa, fb), fc))                                                                          \
    X(min3_num, min_num(min_num(fa, fb), fc))                                                                          \
    X(med3_num, med3_num(fa, fb, fc))                                                                                  \
    X(maxmin_num, min_num(max_num(fa, fb), fc))                                                                        \
    X(minmax_num, max_num(min_num(fa, fb), fc))                                                                        \
    X(maximum3, maximum(maximum(fa, fb), fc))                                                                          \
    X(minimum3, minimum(minimum(fa, fb), fc))                                                                          \
    X(maximumminimum, minimum(maximum(fa, fb), fc))                                                                    \
    X(minimummaximum, maximum(minimum(fa, fb), fc))

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

#define DOUBLES(name)                                                                                                  \
    static void v_##name##_f64(const isa_lanes *x) {                                                                   \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            uint64_t bits =                                                                                            \
                isa_bits64(name##64(isa_f64(x->a[lane], x->a_high[lane]), isa_f64(x->b[lane], x->b_high[lane])));      \
            x->d[lane] = (uint32_t)bits;                                                                               \
            x->d_high[lane] = (uint32_t)(bits >> 32);                                                                  \
        }                                                                                                              \
    }
DOUBLES(max_num)
DOUBLES(min_num)
DOUBLES(maximum)
DOUBLES(minimum)

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
