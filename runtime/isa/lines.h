/* From an address in a code object to the line of its source. */
#ifndef ISA_LINES_H
#define ISA_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "../emu/place.h"

typedef struct isa_lines isa_lines;

/* The object's bytes are copied. NULL without debug information or memory, which every function here accepts. */
isa_lines *isa_lines_open(const void *object, size_t bytes);
void isa_lines_close(isa_lines *lines);

/* `address` in the code object. The file's name comes without its folder, which was a temporary one; place->line is 0
 * where no line is known. Thread-safe. */
void isa_lines_find(isa_lines *lines, uint64_t address, emu_place *place);

#endif
