/* What comparisons must say: into a mask, or (v_cmpx) into EXEC. From the order of two values, or that there is none.
 */
#include "rows.h"

typedef enum order { LESS, EQUAL, GREATER, UNORDERED } order;

static order of_integers(int64_t a, int64_t b) {
    return a < b ? LESS : a > b ? GREATER : EQUAL;
}

static order of_unsigned(uint64_t a, uint64_t b) {
    return a < b ? LESS : a > b ? GREATER : EQUAL;
}

static order of_floats(double a, double b) {
    return isnan(a) || isnan(b) ? UNORDERED : isless(a, b) ? LESS : isgreater(a, b) ? GREATER : EQUAL;
}

/* Whether the relation holds: the orders for which it does, as letters. */
static bool holds(order found, const char *orders) {
    return strchr(orders, "<=>u"[found]) != NULL;
}

#define ORDER_f32 of_floats((double)rows_float(x->a), (double)rows_float(x->b))
#define ORDER_f16 of_floats((double)rows_half(x->a), (double)rows_half(x->b))
#define ORDER_f64 of_floats(rows_double(x->a), rows_double(x->b))
#define ORDER_i16 of_integers((int16_t)x->a, (int16_t)x->b)
#define ORDER_u16 of_integers((uint16_t)x->a, (uint16_t)x->b)
#define ORDER_i32 of_integers((int32_t)x->a, (int32_t)x->b)
#define ORDER_u32 of_integers((uint32_t)x->a, (uint32_t)x->b)
#define ORDER_i64 of_integers((int64_t)x->a, (int64_t)x->b)
#define ORDER_u64 of_unsigned(x->a, x->b)

#define INTEGERS(X, type)                                                                                              \
    X(lt, type, "<")                                                                                                   \
    X(eq, type, "=") X(le, type, "<=") X(gt, type, ">") X(ne, type, "<>") X(ge, type, ">=")
#define FLOATS(X, type)                                                                                                \
    X(lt, type, "<")                                                                                                   \
    X(eq, type, "=")                                                                                                   \
    X(le, type, "<=")                                                                                                  \
    X(gt, type, ">")                                                                                                   \
    X(lg, type, "<>")                                                                                                  \
    X(ge, type, ">=")                                                                                                  \
    X(o, type, "<=>")                                                                                                  \
    X(u, type, "u")                                                                                                    \
    X(nge, type, "<u") X(nlg, type, "=u") X(ngt, type, "<=u") X(nle, type, ">u") X(neq, type, "<>u") X(nlt, type, ">=u")
#define ALL(X)                                                                                                         \
    FLOATS(X, f32)                                                                                                     \
    FLOATS(X, f16)                                                                                                     \
    FLOATS(X, f64) INTEGERS(X, i16) INTEGERS(X, u16) INTEGERS(X, i32) INTEGERS(X, u32) INTEGERS(X, i64) INTEGERS(X, u64)

#define DEFINE(relation, type, orders)                                                                                 \
    static void ref_##relation##_##type(rows_io *x) {                                                                  \
        x->out = holds(ORDER_##type, orders);                                                                          \
    }
ALL(DEFINE)

/* The bit of the class in the mask: signaling NaN, quiet NaN, then from -infinity to +infinity. */
static bool in_class(double value, bool quiet, int normal_from, uint64_t classes) {
    int at = 0;
    switch (fpclassify(value)) {
    case FP_NAN:
        return (classes >> quiet & 1) != 0;
    case FP_INFINITE:
        at = 4;
        break;
    case FP_ZERO:
        at = 1;
        break;
    default: /* of narrower formats denormals are normal as doubles */
        at = ilogb(value) >= normal_from ? 3 : 2;
    }
    return (classes >> (signbit(value) ? 6 - at : 5 + at) & 1) != 0;
}

static void ref_class_f32(rows_io *x) {
    x->out = in_class((double)rows_float(x->a), (x->a & 0x400000) != 0, -126, x->b);
}

static void ref_class_f16(rows_io *x) {
    x->out = in_class((double)rows_half(x->a), (x->a & 0x200) != 0, -14, x->b);
}

static void ref_class_f64(rows_io *x) {
    x->out = in_class(rows_double(x->a), (x->a >> 51 & 1) != 0, -1022, x->b);
}

#define ROW(relation, type, orders)                                                                                    \
    {"v_cmp_" #relation "_" #type, ref_##relation##_##type, ROWS_BITS},                                                \
        {"v_cmpx_" #relation "_" #type, ref_##relation##_##type, ROWS_BITS},
#define CLASS(type)                                                                                                    \
    {"v_cmp_class_" #type, ref_class_##type, ROWS_BITS}, {                                                             \
        "v_cmpx_class_" #type, ref_class_##type, ROWS_BITS                                                             \
    }

static const rows_case list[] = {ALL(ROW) CLASS(f32), CLASS(f16), CLASS(f64)};
const rows_cases rows_of_comparisons = {list, sizeof list / sizeof list[0]};
