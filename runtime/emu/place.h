/* From an address in a compiled kernel to the line of its text. */
#ifndef EMU_PLACE_H
#define EMU_PLACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct emu_lines emu_lines;

typedef struct emu_place {
    char file[256];
    int line;          /* 0: not known */
    char callers[160]; /* where the function that holds the line was inlined: ", called from line 60, from line 90" */
} emu_place;

/* `file` is the open shared object. NULL without debug information or memory, which every function here accepts. */
emu_lines *emu_lines_open(int file);
void emu_lines_close(emu_lines *lines);

/* `offset` is that of the instruction from the object's load address. Thread-safe. */
void emu_lines_find(emu_lines *lines, uintptr_t offset, emu_place *place);

#endif
