/* The functions of functions.h as the host runs them. */
#ifndef FUNCTIONS_HOST_H
#define FUNCTIONS_HOST_H

typedef struct host_function {
    const char *name;
    void (*run)(const unsigned *in, unsigned *out);
} host_function;

#define FUNCTIONS(X)                                                                                                   \
    X(integer_arithmetic)                                                                                              \
    X(integer_division)                                                                                                \
    X(wide_integers)                                                                                                   \
    X(wide_division)                                                                                                   \
    X(bits)                                                                                                            \
    X(narrow_integers)                                                                                                 \
    X(float_arithmetic)                                                                                                \
    X(float_division)                                                                                                  \
    X(float_rounding)                                                                                                  \
    X(conversions)                                                                                                     \
    X(doubles)                                                                                                         \
    X(double_division)                                                                                                 \
    X(halves)                                                                                                          \
    X(bfloats)                                                                                                         \
    X(loops)                                                                                                           \
    X(choices)                                                                                                         \
    X(arrays)                                                                                                          \
    X(calls)                                                                                                           \
    X(many_values)

extern const host_function host_functions[];
extern const unsigned long host_function_count;

#endif
