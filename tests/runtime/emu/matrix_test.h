/* Matrix instructions against the table of their layouts, element by element. The table is AMD's (matrix instruction
 * calculator); nothing here knows where an element is but by looking it up. Everything asserts. */
#ifndef MATRIX_TEST_H
#define MATRIX_TEST_H

#include "emu_test.h"
#include "formats.h"

enum { MATRIX_SIDE_MAX = 32, MATRIX_LANES_MAX = 64, MATRIX_HALVES_MAX = 16, MATRIX_FLOATS_MAX = 16 };

/* One instruction of one chip: D = A B + C, with `side` rows of A and columns of B. */
typedef struct matrix_form {
    const char *chip, *builtin;
    const char *element;         /* of the builtin's vectors A and B */
    const char *further;         /* operands after A, B and C: "" or ", 0, 0, 0" */
    const char *family, *ab, *d; /* of the table: the rows of A and B, and those of D; ab NULL: by `place` */
    void (*place)(int *lane, int *index, int at, int k); /* where row or column `at` has its element k */
    int wave, side, depth, copies;                       /* copies: lanes that hold an element of A or B */
    int is_bf16, flushes;   /* flushes: 16-bit subnormals, and those of C and D, count as zeros */
    const char *packed;     /* of 8 bits: the type that the builtin takes a lane's bytes as; NULL: of 16 bits */
    enum format formats[2]; /* of 8 bits: of A and B */
} matrix_form;

/* A single one in A at (row, k) and in B at (k, column) gives a single one in D at (row, column), and nothing else. */
void matrix_check_impulses(const matrix_form *form);

/* Random elements whose bits outside `mask` are zero: the documented sum, from C a fused multiply-add for each k,
 * ascending. NaN equals NaN. */
void matrix_check_random(const matrix_form *form, uint16_t mask);

/* With A and B zero, D is C bit for bit. */
void matrix_check_c(const matrix_form *form);

/* One NaN in A reaches its row alone; one infinity in B its column alone, and makes NaN with the zeros of A. In place
 * of an infinity that the format does not have stands its NaN. */
void matrix_check_nan_and_infinity(const matrix_form *form);

/* Of 16 bits: each subnormal of the format, in A and in B, times what makes it a normal number; and C and D that are
 * subnormal. */
void matrix_check_subnormals(const matrix_form *form);

#endif
