/* What the device executes, as a table that fmhagen prints (`fmhagen list --isa`); list.c writes it when this is built.
 */
#ifndef ISA_LIST_H
#define ISA_LIST_H

/* One mnemonic. A family is in `tested` when it has it; the tests execute it there on edge values and compare it with
 * plain C, and hold that no mnemonic of a family is without. Bits: ISA_GFX9, ISA_GFX10, ISA_GFX11, ISA_GFX12 of
 * isa.h. */
typedef struct isa_listed {
    const char *name, *unit; /* "v_add_f32", "valu" */
    unsigned tested;
    const char *source; /* document, section, pages; and where not all chips of gfx9 have it, those that do */
} isa_listed;

extern const isa_listed isa_listed_rows[]; /* by name */
extern const unsigned long isa_listed_count;

#endif
