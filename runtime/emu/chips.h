/* The chips that the emulated device can be. */
#ifndef EMU_CHIPS_H
#define EMU_CHIPS_H

#include <stdbool.h>
#include <stddef.h>

/* Bits, so that a device may say which it runs. */
typedef enum emu_family {
    EMU_RDNA3 = 1,
    EMU_RDNA4 = 2,
    EMU_CDNA = 4,
    EMU_RDNA2 = 8,
    EMU_GCN5 = 16,
    EMU_NVIDIA = 32
} emu_family;

typedef struct emu_chip {
    const char *arch;
    emu_family family;
    unsigned major; /* for __GFX11__; 0: of no AMD family */
    int compute_units;
    size_t lds_bytes_workgroup;
    bool matrix_flushes;  /* matrix instructions take subnormals for zeros */
    const char *features; /* that a target may fix, as "xnack" in gfx942:xnack-, with spaces between them */
} emu_chip;

/* The chip whose name is the first `length` characters of `name`; NULL if there is none. */
const emu_chip *emu_chip_find(const char *name, size_t length);

/* Writes "gfx1100, gfx1101, …", the chips of the families, into `text` and returns the chip whose name is nearest to
 * `name`. */
const emu_chip *emu_chip_list(unsigned families, const char *name, char *text, size_t text_bytes);

#endif
