/* Which lane holds which element of a matrix instruction, as the atom's own table (templates/atoms) says. */
#ifndef GEN_LAYOUT_H
#define GEN_LAYOUT_H

#include <stdint.h>

#include "spec.h"
#include "text.h"

#define LAYOUT_SIDE_MAX 128 /* rows and columns of a matrix */

struct layout_cell {
    uint64_t lanes; /* a bit for each lane that holds the element; never 0 */
    int element;    /* its number in those lanes */
};

struct layout_matrix {
    int rows, columns, elements;                                /* elements: of one lane */
    struct layout_cell cell[LAYOUT_SIDE_MAX * LAYOUT_SIDE_MAX]; /* row by row, columns to a row */
};

struct layout {
    char arch[SPEC_ARCH_MAX], atom[64]; /* "gfx1151", "wmma_gfx11" */
    const char *matrix;                 /* "32x32"; constant, NULL for a chip that has one shape */
    const char *dtype;                  /* "f16"; constant */
    int wave;
    struct layout_matrix a, b, d; /* of D = A B + C; C is laid out as D */
};

/* Asks the atom of a resolved spec. ERROR_RUN: the atom's table is not one of a matrix product. The caller frees
 * *layout with free(). */
bool layout_read(struct template_engine *engine, const struct spec *spec, struct layout **layout, struct error *error);

/* Draws it as an SVG document. */
void layout_svg(const struct layout *layout, struct text *out);

#endif
