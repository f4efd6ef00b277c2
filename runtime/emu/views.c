#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

enum { SEARCH_BYTES = 1 << 20 }; /* how far from a byte the nearest element is looked for */

/* Zeros that take no memory until they are written. */
static void *zeros(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

bool emu_views_init(emu_views *views, size_t bytes, const char *label) {
    *views = (emu_views){.bytes = bytes, .owner = zeros(bytes), .list = calloc(1, sizeof *views->list), .count = 1};
    if (views->owner == NULL || views->list == NULL) {
        emu_views_free(views);
        return false;
    }
    snprintf(views->list[0].label, sizeof views->list[0].label, "%s", label);
    views->list[0].access = FMHA_ACCESS_READ_WRITE;
    return true;
}

void emu_views_free(emu_views *views) {
    if (views->owner != NULL) {
        munmap(views->owner, views->bytes);
    }
    if (views->writer != NULL) {
        munmap((void *)views->writer, views->bytes * sizeof *views->writer);
    }
    if (views->touched != NULL) {
        munmap((void *)views->touched, views->bytes);
    }
    free(views->list);
    *views = (emu_views){0};
}

/* ---- Elements -------------------------------------------------------------------------------------------------------
 */

static bool is_empty(const emu_view *view) {
    for (int i = 0; i < view->dimensions; i++) {
        if (view->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

/* The next index in row-major order; false after the last. */
static bool next_index(const emu_view *view, int64_t *index) {
    for (int i = view->dimensions - 1; i >= 0; i--) {
        if (++index[i] < view->shape[i]) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

static size_t offset_of(const emu_view *view, const int64_t *index) {
    int64_t elements = 0;
    for (int i = 0; i < view->dimensions; i++) {
        elements += index[i] * view->strides[i];
    }
    return view->offset + (size_t)elements * view->element_bytes;
}

/* The index of the element that holds a byte, found from the largest stride to the smallest. */
static void index_of(const emu_view *view, size_t offset, int64_t *index) {
    int64_t rest = (int64_t)((offset - view->offset) / view->element_bytes);
    bool done[FMHA_VIEW_DIMENSIONS_MAX] = {false};
    for (int step = 0; step < view->dimensions; step++) {
        int widest = -1;
        for (int i = 0; i < view->dimensions; i++) {
            if (!done[i] && (widest < 0 || view->strides[i] > view->strides[widest])) {
                widest = i;
            }
        }
        done[widest] = true;
        int64_t stride = view->strides[widest], most = view->shape[widest] - 1;
        int64_t at = stride > 0 ? rest / stride : 0;
        index[widest] = at < most ? at : most;
        rest -= index[widest] * stride;
    }
}

static void mark(uint8_t *owner, const emu_view *view, unsigned number) {
    int64_t index[FMHA_VIEW_DIMENSIONS_MAX] = {0};
    int inner = view->dimensions - 1;
    bool run = view->strides[inner] == 1 || view->shape[inner] == 1;
    emu_view rows = *view;
    if (run) { /* a row at once */
        rows.shape[inner] = 1;
    }
    size_t bytes = view->element_bytes * (size_t)(run ? view->shape[inner] : 1);
    do {
        memset(owner + offset_of(view, index), (int)number, bytes);
    } while (next_index(&rows, index));
}

fmha_status emu_views_add(emu_views *views, uintptr_t begin, const fmha_tensor_view *view) {
    if (views->count > EMU_VIEWS_MAX) {
        return emu_fail(
            FMHA_ERROR_ARGUMENT,
            "memory: expected at most %d tensors in a buffer, got one more (\"%s\"): give it a buffer of its own",
            (int)EMU_VIEWS_MAX, view->label != NULL ? view->label : "");
    }
    emu_view *larger = realloc(views->list, (views->count + 1) * sizeof *larger);
    if (larger == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "memory: out of memory for a tensor's description");
    }
    views->list = larger;
    if ((view->access & FMHA_ACCESS_WRITE) != 0 && views->writer == NULL) {
        views->writer = zeros(views->bytes * sizeof *views->writer);
        if (views->writer == NULL) {
            return emu_fail(FMHA_ERROR_MEMORY,
                            "memory: no address space to keep account of who writes \"%s\": raise ulimit -v",
                            view->label != NULL ? view->label : "");
        }
    }
    emu_view *added = &views->list[views->count];
    memset(added, 0, sizeof *added);
    snprintf(added->label, sizeof added->label, "%s", view->label != NULL ? view->label : "unnamed");
    added->offset = (uintptr_t)view->address - begin;
    added->element_bytes = view->element_bytes;
    added->dimensions = view->dimensions;
    for (int i = 0; i < view->dimensions; i++) { /* where the stride is 0 all elements are one */
        added->shape[i] = view->strides[i] == 0 && view->shape[i] > 1 ? 1 : view->shape[i];
        added->strides[i] = view->strides[i];
    }
    added->access = view->access;
    views->list[0].access = 0;
    if (!is_empty(added)) {
        mark(views->owner, added, views->count);
    }
    views->count++;
    return FMHA_OK;
}

/* ---- Words ----------------------------------------------------------------------------------------------------------
 */

void emu_view_index_text(const emu_view *view, const int64_t *index, char *text, size_t text_bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < view->dimensions && used < text_bytes; i++) {
        int added = snprintf(text + used, text_bytes - used, "%c%lld", i == 0 ? '[' : ',', (long long)index[i]);
        used += added > 0 ? (size_t)added : text_bytes;
    }
    if (used < text_bytes) {
        snprintf(text + used, text_bytes - used, "]");
    }
}

static void describe_element(const emu_views *views, size_t offset, const char *before, char *text, size_t text_bytes) {
    const emu_view *view = &views->list[views->owner[offset]];
    int64_t index[FMHA_VIEW_DIMENSIONS_MAX];
    char where[160];
    index_of(view, offset, index);
    emu_view_index_text(view, index, where, sizeof where);
    snprintf(text, text_bytes, "%s%s%s", before, view->label, where);
}

void emu_views_describe(const emu_views *views, size_t offset, char *text, size_t text_bytes) {
    if (views->owner[offset] != 0) {
        describe_element(views, offset, "", text, text_bytes);
        return;
    }
    char before[48];
    for (size_t distance = 1; views->count > 1 && distance < SEARCH_BYTES; distance++) {
        bool below = distance <= offset && views->owner[offset - distance] != 0;
        if (below || (distance < views->bytes - offset && views->owner[offset + distance] != 0)) {
            /* the first byte after an element is 0 bytes after it */
            size_t apart = below ? distance - 1 : distance;
            if (apart == 0) {
                snprintf(before, sizeof before, "directly after ");
            } else {
                snprintf(before, sizeof before, "%zu byte%s %s ", apart, apart == 1 ? "" : "s",
                         below ? "after" : "before");
            }
            describe_element(views, below ? offset - distance : offset + distance, before, text, text_bytes);
            return;
        }
    }
    snprintf(text, text_bytes, "byte %zu of \"%s\" (%zu bytes)", offset, views->list[0].label, views->bytes);
}

/* ---- Who wrote, what was touched ------------------------------------------------------------------------------------
 */

unsigned long long emu_view_unwritten(const emu_views *views, const emu_view *view,
                                      int64_t first[FMHA_VIEW_DIMENSIONS_MAX]) {
    int64_t index[FMHA_VIEW_DIMENSIONS_MAX] = {0};
    unsigned long long count = 0;
    if (is_empty(view)) {
        return 0;
    }
    do {
        size_t offset = offset_of(view, index);
        bool written = true;
        for (size_t i = 0; i < view->element_bytes; i++) {
            written = written && atomic_load_explicit(&views->writer[offset + i], memory_order_relaxed) != 0;
        }
        if (!written && count++ == 0) {
            memcpy(first, index, sizeof index);
        }
    } while (next_index(view, index));
    return count;
}

bool emu_views_count_begin(emu_views *views) {
    for (unsigned i = 0; i < views->count; i++) {
        atomic_store(&views->list[i].bytes_read, 0);
        atomic_store(&views->list[i].bytes_written, 0);
        atomic_store(&views->list[i].wave_bytes_read, 0);
    }
    if (views->touched != NULL) {
        munmap((void *)views->touched, views->bytes);
    }
    views->touched = zeros(views->bytes);
    return views->touched != NULL;
}

unsigned long long emu_views_touched(const emu_views *views, unsigned view, unsigned access) {
    unsigned long long count = 0;
    for (size_t i = 0; i < views->bytes; i++) {
        count +=
            views->owner[i] == view && (atomic_load_explicit(&views->touched[i], memory_order_relaxed) & access) != 0;
    }
    return count;
}
