/* The instructions that the ISA-level device executes: opcode by family, with what is tested. */
#ifndef ISA_LIST_GEN_H
#define ISA_LIST_GEN_H

#include <stdbool.h>

#include "error.h"
#include "text.h"

/* Appends a table, or with `json` an array. */
bool isa_list_print(bool json, struct text *out, struct error *error);

#endif
