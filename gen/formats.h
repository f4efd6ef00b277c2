/* The small number formats of key and value caches by their bits: fp8, fp4 and the scales of blocks. Written to be
 * obviously right: the yardstick of what kernels make of such a cache. docs/formats.md has the tables. */
#ifndef GEN_FORMATS_H
#define GEN_FORMATS_H

#include <stdint.h>

enum format {
    FORMAT_E4M3,     /* fp8 of the OCP: no infinity, one NaN a sign */
    FORMAT_E5M2,     /* fp8 of the OCP: infinities and NaNs as IEEE has them */
    FORMAT_E4M3FNUZ, /* fp8 of gfx942: no infinity, 0x80 is the only NaN and there is no negative zero */
    FORMAT_E5M2FNUZ,
    FORMAT_E2M1, /* fp4: a nibble, neither infinity nor NaN */
    FORMAT_COUNT
};

/* What becomes of a number that rounds beyond the largest, and of infinity. */
enum format_overflow {
    FORMAT_SATURATES, /* the largest number of its sign */
    FORMAT_OVERFLOWS  /* infinity, where there is none NaN, and where there is neither the largest number */
};

/* "e4m3". */
const char *format_name(enum format format);

/* Codes of the format: 256, or 16 of a nibble. */
int format_codes(enum format format);

/* The largest finite number: 448 of e4m3. */
double format_largest(enum format format);

/* Exact. A NaN keeps its sign where it has one. Of a nibble the upper half of `bits` is 0. */
double format_decode(enum format format, uint8_t bits);

/* To nearest, ties to even, subnormals kept. What rounds to zero keeps its sign where there is a negative zero. A NaN
 * becomes the one whose bits below the sign are all ones, of its sign; 0x80 of the fnuz kind; and of E2M1, which has
 * none, 6. */
uint8_t format_encode(enum format format, double value, enum format_overflow overflow);

/* Value `at` of a row of nibbles, two to a byte, the low one first. */
double format_nibble(const uint8_t *row, int64_t at);

/* An E8M0 scale: 2^(bits - 127), 2^-127 for 0, NaN for 255. */
double format_scale_decode(uint8_t bits);

/* The scale 2^exponent, the nearest that there is: from 2^-127 to 2^127. */
uint8_t format_scale_encode(int exponent);

#endif
