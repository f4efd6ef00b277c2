/* A tensor of any number of dimensions in device memory, with gaps between its elements and around them that nobody may
 * touch. The last dimension is contiguous. On the host it is packed: without gaps, the first dimension outermost. */
#ifndef GEN_ARRAY_H
#define GEN_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "findings.h"
#include "fmha.h"

enum { ARRAY_DIMENSIONS_MAX = 5 };

struct array_range {
    int64_t begin, end;
};

struct array {
    const char *label;    /* constant */
    size_t element_bytes; /* 1, 2 or 4 */
    bool output;
    bool kept; /* of an output: what a kernel does not write stays as it is, and it need not write all */
    int dimensions;
    int64_t shape[ARRAY_DIMENSIONS_MAX];
    int64_t strides[ARRAY_DIMENSIONS_MAX]; /* elements */
    int64_t offset, elements;              /* elements: of the whole allocation */
    const struct array_range *owned; /* of each block of the first axis the part of the third axis that may be touched,
                                        and has to be written; NULL: all of it. The caller's */
    unsigned char *memory;           /* of the device; NULL before array_send and after array_release */
    unsigned char *image;            /* what stands there; NULL where elements are few and far apart */
};

/* How the axes but the last lie in memory. */
struct array_layout {
    int order[ARRAY_DIMENSIONS_MAX];       /* from the outermost to the innermost; the last axis is not among them */
    int64_t padding[ARRAY_DIMENSIONS_MAX]; /* elements after each block of the axis; of the last axis after each line */
    int64_t offset;                        /* elements before the first */
};

/* Where verification places the axes [batch][head][row][column], before which there may be one of parts. */
enum array_placing {
    ARRAY_PLAIN,        /* without gaps */
    ARRAY_PADDED,       /* with gaps, of no two axes alike */
    ARRAY_ROWS_OUTSIDE, /* [batch][row][head][column] with gaps, parts innermost */
    ARRAY_FAR           /* one axis so far apart that 32 bits do not hold an offset */
};

/* "bhsd", "bhsd, padded", …: constant words. */
const char *array_placing_name(enum array_placing placing);

/* Gaps are the least that the alignment allows, odd where any is allowed: `alignment` times `first`, of each axis
 * `step` more, so that a stride of one axis or tensor that is used for another leads elsewhere. `far_axis`: which axis
 * but the last is far apart of ARRAY_FAR; any other number: none. */
struct array_layout array_place(enum array_placing placing, int dimensions, int64_t alignment, int first, int step,
                                int far_axis);

/* Sets strides, offset and elements. Paddings that do not keep lines `alignment` elements apart are rounded up. False
 * when the array has more elements than 63 bits can count bytes of. */
bool array_lay(struct array *array, const struct array_layout *layout, int64_t alignment);

/* The number of its elements. */
int64_t array_count(const struct array *array);

/* Elements so few and far apart that only they are written and read: what lies between them is not looked at. */
bool array_is_sparse(const struct array *array);

/* The address of the first element. */
void *array_address(const struct array *array);

/* Allocates and fills its memory, NaN patterns in the gaps, and tells an emulated device what may be touched. `packed`
 * NULL: NaN patterns everywhere. Release it on failure too. */
bool array_send(struct array *array, fmha_device *device, const void *packed, struct error *error);

/* Reads it back. Of an output `packed` receives the elements; a gap that changed is a finding, and so is an input. */
bool array_check(const struct array *array, fmha_device *device, void *packed, struct findings *findings,
                 struct error *error);

void array_release(struct array *array, fmha_device *device);

#endif
