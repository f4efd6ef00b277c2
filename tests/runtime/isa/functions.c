/* The functions of functions.h on the host. */
#include "functions_host.h"

__extension__ typedef _Float16 float16;
#define CALLED         static inline
#define FUNCTION(name) static void name(const unsigned *in, unsigned *out)
#define FLOORF         __builtin_floorf
#define FLOOR          __builtin_floor
#define CEILF          __builtin_ceilf
#define TRUNCF         __builtin_truncf
#define TRUNC          __builtin_trunc
#define RINTF          __builtin_rintf
#define RINT           __builtin_rint
#define FMAF           __builtin_fmaf
#define FMA            __builtin_fma
#define FABSF          __builtin_fabsf
#define FABS           __builtin_fabs
#define SQRTF          __builtin_sqrtf
#define SQRT           __builtin_sqrt
#define LDEXPF         __builtin_ldexpf
#include "functions.h"

#define ENTRY(name) {#name, name},
const host_function host_functions[] = {FUNCTIONS(ENTRY)};
const unsigned long host_function_count = sizeof host_functions / sizeof host_functions[0];
