#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

#define FAR_BYTES ((size_t)1 << 40) /* an address so far from every buffer has nothing to do with any */

/* Index of the first allocation that begins above `address`. */
static size_t above(const emu_memory *memory, uintptr_t address) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->list[middle].begin > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* A buffer's bytes begin as 0xff, NaN in every format. From HUGE_BYTES on they begin as zeros that take no memory until
 * they are written, so that tensors whose rows lie very far apart cost only their rows. */
#define HUGE_BYTES ((size_t)1 << 30)

static void *block_new(size_t bytes) {
    if (bytes >= HUGE_BYTES) {
        void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return block == MAP_FAILED ? NULL : block;
    }
    void *block = aligned_alloc(EMU_MEMORY_ALIGNMENT, bytes);
    if (block != NULL) {
        memset(block, 0xff, bytes);
    }
    return block;
}

static size_t rounded(size_t bytes) {
    return (bytes + EMU_MEMORY_ALIGNMENT - 1) / EMU_MEMORY_ALIGNMENT * EMU_MEMORY_ALIGNMENT;
}

static void block_free(void *block, size_t bytes) {
    if (rounded(bytes) >= HUGE_BYTES) {
        munmap(block, rounded(bytes));
    } else {
        free(block);
    }
}

fmha_status emu_memory_alloc(emu_memory *memory, size_t bytes, const char *label, void **address) {
    *address = NULL;
    if (bytes == 0) {
        return emu_fail(FMHA_ERROR_ARGUMENT, "memory: expected 1 byte and up, got 0: do not allocate empty buffers");
    }
    if (bytes > SIZE_MAX - EMU_MEMORY_ALIGNMENT) {
        return emu_fail(FMHA_ERROR_MEMORY, "memory: no machine has %zu bytes: check the size for overflow", bytes);
    }
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity * 2 + 16;
        emu_allocation *larger = realloc(memory->list, capacity * sizeof *larger);
        if (larger == NULL) {
            return emu_fail(FMHA_ERROR_MEMORY, "memory: out of memory for the list of %zu buffers", capacity);
        }
        memory->list = larger;
        memory->capacity = capacity;
    }
    void *block = block_new(rounded(bytes));
    if (block == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "memory: the host has no %zu bytes for \"%s\": use a smaller problem", bytes,
                        label != NULL ? label : "");
    }
    emu_allocation added = {.begin = (uintptr_t)block, .bytes = bytes};
    snprintf(added.label, sizeof added.label, "%s", label != NULL ? label : "unnamed");
    if (!emu_views_init(&added.views, bytes, added.label)) {
        block_free(block, bytes);
        return emu_fail(FMHA_ERROR_MEMORY,
                        "memory: the host has no %zu bytes to keep account of \"%s\": use a smaller problem", bytes,
                        added.label);
    }
    size_t at = above(memory, added.begin);
    memmove(memory->list + at + 1, memory->list + at, (memory->count - at) * sizeof *memory->list);
    memory->list[at] = added;
    memory->count++;
    *address = block;
    return FMHA_OK;
}

fmha_status emu_memory_free(emu_memory *memory, void *address) {
    if (address == NULL) {
        return FMHA_OK;
    }
    size_t at = above(memory, (uintptr_t)address);
    if (at == 0 || memory->list[at - 1].begin != (uintptr_t)address) {
        char where[256];
        emu_memory_describe(memory, address, where, sizeof where);
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "memory: cannot free %p, which is %s: pass an address that this device handed out, once",
                        address, where);
    }
    block_free(address, memory->list[at - 1].bytes);
    emu_views_free(&memory->list[at - 1].views);
    memmove(memory->list + at - 1, memory->list + at, (memory->count - at) * sizeof *memory->list);
    memory->count--;
    return FMHA_OK;
}

void emu_memory_free_all(emu_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) {
        block_free((void *)memory->list[i].begin, memory->list[i].bytes);
        emu_views_free(&memory->list[i].views);
    }
    free(memory->list);
    *memory = (emu_memory){0};
}

const emu_allocation *emu_memory_find(const emu_memory *memory, const void *address, size_t bytes) {
    size_t at = above(memory, (uintptr_t)address);
    if (at == 0) {
        return NULL;
    }
    const emu_allocation *allocation = &memory->list[at - 1];
    size_t offset = (uintptr_t)address - allocation->begin;
    return offset <= allocation->bytes && bytes <= allocation->bytes - offset ? allocation : NULL;
}

void emu_memory_describe(const emu_memory *memory, const void *address, char *text, size_t text_bytes) {
    uintptr_t value = (uintptr_t)address;
    size_t at = above(memory, value);
    const emu_allocation *before = at > 0 ? &memory->list[at - 1] : NULL;
    const emu_allocation *after = at < memory->count ? &memory->list[at] : NULL;
    size_t past = before != NULL ? value - before->begin - before->bytes : SIZE_MAX;
    size_t ahead = after != NULL ? after->begin - value : SIZE_MAX;
    if (before != NULL && value - before->begin < before->bytes) {
        emu_views_describe(&before->views, value - before->begin, text, text_bytes);
    } else if (value < 4096) {
        snprintf(text, text_bytes, "a null pointer plus %zu", (size_t)value);
    } else if (past < ahead && past < FAR_BYTES) {
        snprintf(text, text_bytes, "%zu bytes past the end of \"%s\" (%zu bytes)", past, before->label, before->bytes);
    } else if (ahead < FAR_BYTES) {
        snprintf(text, text_bytes, "%zu bytes before \"%s\" (%zu bytes)", ahead, after->label, after->bytes);
    } else {
        snprintf(text, text_bytes, "not device memory");
    }
}
