/* Comparisons: into a lane mask, or (v_cmpx) into EXEC. */
#include "lanewise.h"

#include "half.h"
#include "sources.h"

static inline int64_t pair(const uint32_t *low, const uint32_t *high, int lane) {
    return (int64_t)((uint64_t)high[lane] << 32 | low[lane]);
}

/* How a lane's sources are read as each type. */
#define READ_f32 const float a = isa_f32(x->a[lane]), b = isa_f32(x->b[lane])
#define READ_f16 const float a = isa_half_to_float(x->a[lane]), b = isa_half_to_float(x->b[lane])
#define READ_f64 const double a = isa_f64(x->a[lane], x->a_high[lane]), b = isa_f64(x->b[lane], x->b_high[lane])
#define READ_i32 const int32_t a = (int32_t)x->a[lane], b = (int32_t)x->b[lane]
#define READ_u32 const uint32_t a = x->a[lane], b = x->b[lane]
#define READ_i16 const int16_t a = (int16_t)x->a[lane], b = (int16_t)x->b[lane]
#define READ_u16 const uint16_t a = (uint16_t)x->a[lane], b = (uint16_t)x->b[lane]
#define READ_i64 const int64_t a = pair(x->a, x->a_high, lane), b = pair(x->b, x->b_high, lane)
#define READ_u64 const uint64_t a = (uint64_t)pair(x->a, x->a_high, lane), b = (uint64_t)pair(x->b, x->b_high, lane)

/* The comparisons of integers, and those of floats: "n" means not, so that a NaN makes it true; "lg" is less or
 * greater, "o" ordered, "u" unordered. */
#define INTEGER_COMPARISONS(X, type)                                                                                   \
    X(lt, type, a < b)                                                                                                 \
    X(eq, type, a == b) X(le, type, a <= b) X(gt, type, a > b) X(ne, type, a != b) X(ge, type, a >= b)
#define FLOAT_COMPARISONS(X, type)                                                                                     \
    X(lt, type, a < b)                                                                                                 \
    X(eq, type, a == b)                                                                                                \
    X(le, type, a <= b)                                                                                                \
    X(gt, type, a > b)                                                                                                 \
    X(lg, type, a<b || a> b)                                                                                           \
    X(ge, type, a >= b)                                                                                                \
    X(o, type, a == a && b == b)                                                                                       \
    X(u, type, a != a || b != b)                                                                                       \
    X(nge, type, !(a >= b))                                                                                            \
    X(nlg, type, !(a < b || a > b))                                                                                    \
    X(ngt, type, !(a > b)) X(nle, type, !(a <= b)) X(neq, type, !(a == b)) X(nlt, type, !(a < b))

#define DEFINE(relation, type, condition) ISA_COMPARE(compare_##relation##_##type, READ_##type, condition)
FLOAT_COMPARISONS(DEFINE, f32)
FLOAT_COMPARISONS(DEFINE, f16)
FLOAT_COMPARISONS(DEFINE, f64)
INTEGER_COMPARISONS(DEFINE, i32)
INTEGER_COMPARISONS(DEFINE, u32)
INTEGER_COMPARISONS(DEFINE, i16)
INTEGER_COMPARISONS(DEFINE, u16)
INTEGER_COMPARISONS(DEFINE, i64)
INTEGER_COMPARISONS(DEFINE, u64)

/* Which of ten classes a float is in; the second operand has a bit for each: signaling NaN, quiet NaN, -infinity,
 * -normal, -denormal, -0, +0, +denormal, +normal, +infinity. The fraction's top bit makes a NaN quiet. */
static uint32_t class_of(bool negative, uint32_t exponent, uint32_t most, uint64_t fraction, uint64_t quiet) {
    if (exponent == most && fraction != 0) {
        return (fraction & quiet) != 0 ? 1 : 0;
    }
    unsigned magnitude = exponent == most ? 3 : exponent != 0 ? 2 : fraction != 0 ? 1 : 0;
    return negative ? 5 - magnitude : 6 + magnitude;
}

static uint32_t class_of_f32(uint32_t bits) {
    return class_of(bits >> 31 != 0, bits >> 23 & 0xff, 0xff, bits & 0x7fffff, 0x400000);
}

static uint32_t class_of_f16(uint32_t bits) {
    return class_of((bits & 0x8000) != 0, bits >> 10 & 0x1f, 0x1f, bits & 0x3ff, 0x200);
}

static uint32_t class_of_f64(uint32_t low, uint32_t high) {
    uint64_t fraction = (uint64_t)(high & 0xfffff) << 32 | low;
    return class_of(high >> 31 != 0, high >> 20 & 0x7ff, 0x7ff, fraction, UINT64_C(1) << 51);
}

ISA_COMPARE(compare_class_f32, const uint32_t classes = x->b[lane], classes >> class_of_f32(x->a[lane]) & 1)
ISA_COMPARE(compare_class_f16, const uint32_t classes = x->b[lane], classes >> class_of_f16(x->a[lane]) & 1)
ISA_COMPARE(compare_class_f64, const uint32_t classes = x->b[lane],
            classes >> class_of_f64(x->a[lane], x->a_high[lane]) & 1)

#define OPERANDS_f32 "Sf Sf"
#define OPERANDS_f16 "Sk Sk"
#define OPERANDS_f64 "Sd Sd"
#define OPERANDS_i32 "Sv Sv"
#define OPERANDS_u32 "Sv Sv"
#define OPERANDS_i16 "Sh Sh"
#define OPERANDS_u16 "Sh Sh"
#define OPERANDS_i64 "Sv2 Sv2"
#define OPERANDS_u64 "Sv2 Sv2"
#define ROWS(relation, type, condition)                                                                                \
    {"v_cmp_" #relation "_" #type,                                                                                     \
     "Dm " OPERANDS_##type,                                                                                            \
     ISA_CLASS_VALU,                                                                                                   \
     compare_##relation##_##type,                                                                                      \
     NULL,                                                                                                             \
     ISA_GFX11,                                                                                                        \
     ISA_VOPC},                                                                                                        \
        {"v_cmpx_" #relation "_" #type,                                                                                \
         "Dm " OPERANDS_##type,                                                                                        \
         ISA_CLASS_VALU,                                                                                               \
         compare_##relation##_##type,                                                                                  \
         NULL,                                                                                                         \
         ISA_GFX11,                                                                                                    \
         ISA_VOPC},

static const isa_row rows[] = {
    FLOAT_COMPARISONS(ROWS, f32) FLOAT_COMPARISONS(ROWS, f16) FLOAT_COMPARISONS(ROWS, f64)
        INTEGER_COMPARISONS(ROWS, i32) INTEGER_COMPARISONS(ROWS, u32) INTEGER_COMPARISONS(ROWS, i16)
            INTEGER_COMPARISONS(ROWS, u16) INTEGER_COMPARISONS(ROWS, i64) INTEGER_COMPARISONS(ROWS, u64){
                "v_cmp_class_f32", "Dm Sf Sv", ISA_CLASS_VALU, compare_class_f32, NULL, ISA_GFX11, ISA_VOPC},
    {"v_cmpx_class_f32", "Dm Sf Sv", ISA_CLASS_VALU, compare_class_f32, NULL, ISA_GFX11, ISA_VOPC},
    {"v_cmp_class_f16", "Dm Sk Sh", ISA_CLASS_VALU, compare_class_f16, NULL, ISA_GFX11, ISA_VOPC},
    {"v_cmpx_class_f16", "Dm Sk Sh", ISA_CLASS_VALU, compare_class_f16, NULL, ISA_GFX11, ISA_VOPC},
    {"v_cmp_class_f64", "Dm Sd Sv", ISA_CLASS_VALU, compare_class_f64, NULL, ISA_GFX11, ISA_VOPC},
    {"v_cmpx_class_f64", "Dm Sd Sv", ISA_CLASS_VALU, compare_class_f64, NULL, ISA_GFX11, ISA_VOPC},
};

const isa_table isa_table_compare = {rows, sizeof rows / sizeof rows[0]};
