/* Device memory: which ranges exist, their exact sizes and their names. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "fmha.h"
#include "views.h"

#define EMU_MEMORY_ALIGNMENT 256

typedef struct emu_allocation {
    uintptr_t begin; /* multiple of EMU_MEMORY_ALIGNMENT */
    size_t bytes;    /* as asked for */
    char label[EMU_LABEL_BYTES];
    emu_views views;
} emu_allocation;

typedef struct emu_memory {
    emu_allocation *list; /* by address */
    size_t count, capacity;
} emu_memory;

/* Fresh memory holds 0xff bytes, which read as NaN in every float format. */
fmha_status emu_memory_alloc(emu_memory *memory, size_t bytes, const char *label, void **address);
fmha_status emu_memory_free(emu_memory *memory, void *address);
void emu_memory_free_all(emu_memory *memory);

/* The allocation that holds [address, address + bytes), NULL if none does. */
const emu_allocation *emu_memory_find(const emu_memory *memory, const void *address, size_t bytes);

/* Says where an address is: "16 bytes past the end of \"q\" (4096 bytes)". */
void emu_memory_describe(const emu_memory *memory, const void *address, char *text, size_t text_bytes);

#endif
