/* Half-precision numbers by their bits: IEEE binary16 (f16) and bfloat16 (bf16). Plain integer arithmetic, so that no
 * compiler or processor has a say in the rounding. */
#ifndef GEN_HALVES_H
#define GEN_HALVES_H

#include <stdint.h>

enum half_type { HALF_F16, HALF_BF16 };

/* Exact. A NaN stays a NaN. */
double half_to_double(enum half_type type, uint16_t bits);
float half_to_float(enum half_type type, uint16_t bits);

/* Zero of the same sign for a subnormal, else the value itself. */
uint16_t half_flush(enum half_type type, uint16_t bits);

/* To nearest, ties to even; past the largest number infinity, subnormals kept. A NaN becomes the quiet NaN of its sign.
 */
uint16_t half_from_double(enum half_type type, double value);
uint16_t half_from_float(enum half_type type, float value);

/* Toward zero, for tests that simulate a kernel which truncates. */
uint16_t half_truncate_double(enum half_type type, double value);

#endif
