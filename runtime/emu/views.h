/* The tensors declared in an allocation: which of its bytes are whose elements, and who wrote them. */
#ifndef EMU_VIEWS_H
#define EMU_VIEWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmha.h"

#define EMU_LABEL_BYTES 32

enum { EMU_VIEWS_MAX = 254 };

typedef struct emu_view {
    char label[EMU_LABEL_BYTES];
    size_t offset; /* of the first element in the allocation, bytes */
    size_t element_bytes;
    int dimensions;
    int64_t shape[FMHA_VIEW_DIMENSIONS_MAX], strides[FMHA_VIEW_DIMENSIONS_MAX];
    unsigned access;                         /* fmha_access; 0: nothing */
    bool launched;                           /* a kernel ran since the declaration */
    bool looked_at;                          /* for elements left unwritten */
    atomic_ullong bytes_read, bytes_written; /* by the launch that is counted */
    atomic_ullong wave_bytes_read;           /* the same of lanes that read together once */
} emu_view;

typedef struct emu_views {
    size_t bytes;              /* of the allocation */
    uint8_t *owner;            /* of each byte: index of its view; 0: no view's */
    _Atomic(uint32_t) *writer; /* of each byte: who wrote it last, 0: nobody; NULL: no view is an output */
    _Atomic(uint8_t) *touched; /* of each byte, fmha_access, by the launch that is counted; NULL: not counted yet */
    emu_view *list;            /* [0] stands for the bytes that are in no view */
    unsigned count;            /* with [0] */
} emu_views;

/* The whole allocation, to be read and written. False without memory. */
bool emu_views_init(emu_views *views, size_t bytes, const char *label);
void emu_views_free(emu_views *views);

/* `view` lies in the allocation, which begins at `begin`. */
fmha_status emu_views_add(emu_views *views, uintptr_t begin, const fmha_tensor_view *view);

/* Says where a byte of the allocation is: "k[0,1,5,127]", "2 bytes after k[0,1,5,127]", "byte 12 of \"k\"". */
void emu_views_describe(const emu_views *views, size_t offset, char *text, size_t text_bytes);

/* The number of a view's elements of which a byte was not written; *first is the index of the first in row-major order.
 */
unsigned long long emu_view_unwritten(const emu_views *views, const emu_view *view,
                                      int64_t first[FMHA_VIEW_DIMENSIONS_MAX]);

/* "[0,1,2]" */
void emu_view_index_text(const emu_view *view, const int64_t *index, char *text, size_t text_bytes);

/* Before a launch that is counted, and after it: bytes of a view that were touched in one way. */
bool emu_views_count_begin(emu_views *views);
unsigned long long emu_views_touched(const emu_views *views, unsigned view, unsigned access);

#endif
