#include "chips.h"

#include <stdio.h>
#include <string.h>

/* Compute units: of the largest product with the chip (Instinct MI60, MI100, one die of MI250X, MI300X, MI355X; Radeon
 * RX 6900 XT, 6700 XT, 6600 XT, Steam Deck, RX 6500 XT, 680M, Ryzen 7000; Radeon RX 7900 XTX, 7800 XT, 7600, 780M;
 * 890M, 8060S, 860M, 840M; Radeon RX 9060 XT, 9070 XT); of a generic target those of its smallest chip. Features:
 * LLVM's AMDGPU usage page, "Processors". NVIDIA's: multiprocessors of A100, L40S and H100, and the shared memory that
 * a block may ask for ("CUDA C++ Programming Guide", compute capabilities). */
static const emu_chip chips[] = {
    {"gfx906", EMU_GCN5, 9, 64, 65536, false, "sramecc xnack"},
    {"gfx9-generic", EMU_GCN5, 9, 3, 65536, false, "xnack"},
    {"gfx908", EMU_CDNA, 9, 120, 65536, false, "sramecc xnack"},
    {"gfx90a", EMU_CDNA, 9, 110, 65536, true, "sramecc xnack"},
    {"gfx942", EMU_CDNA, 9, 304, 65536, false, "sramecc xnack"},
    {"gfx9-4-generic", EMU_CDNA, 9, 256, 65536, false, "sramecc xnack"},
    {"gfx950", EMU_CDNA, 9, 256, 163840, false, "sramecc xnack"},
    {"gfx1030", EMU_RDNA2, 10, 80, 65536, false, ""},
    {"gfx1031", EMU_RDNA2, 10, 40, 65536, false, ""},
    {"gfx1032", EMU_RDNA2, 10, 32, 65536, false, ""},
    {"gfx1033", EMU_RDNA2, 10, 8, 65536, false, ""},
    {"gfx1034", EMU_RDNA2, 10, 16, 65536, false, ""},
    {"gfx1035", EMU_RDNA2, 10, 12, 65536, false, ""},
    {"gfx1036", EMU_RDNA2, 10, 2, 65536, false, ""},
    {"gfx10-3-generic", EMU_RDNA2, 10, 2, 65536, false, ""},
    {"gfx1100", EMU_RDNA3, 11, 96, 65536, false, ""},
    {"gfx1101", EMU_RDNA3, 11, 60, 65536, false, ""},
    {"gfx1102", EMU_RDNA3, 11, 32, 65536, false, ""},
    {"gfx1103", EMU_RDNA3, 11, 12, 65536, false, ""},
    {"gfx1150", EMU_RDNA3, 11, 16, 65536, false, ""},
    {"gfx1151", EMU_RDNA3, 11, 40, 65536, false, ""},
    {"gfx1152", EMU_RDNA3, 11, 8, 65536, false, ""},
    {"gfx1153", EMU_RDNA3, 11, 4, 65536, false, ""},
    {"gfx11-generic", EMU_RDNA3, 11, 4, 65536, false, ""},
    {"gfx1200", EMU_RDNA4, 12, 32, 65536, false, ""},
    {"gfx1201", EMU_RDNA4, 12, 64, 65536, false, ""},
    {"gfx12-generic", EMU_RDNA4, 12, 32, 65536, false, ""},
    {"sm_80", EMU_NVIDIA, 0, 108, 166912, false, ""},
    {"sm_89", EMU_NVIDIA, 0, 142, 101376, false, ""},
    {"sm_90", EMU_NVIDIA, 0, 132, 232448, false, ""},
};
enum { CHIP_COUNT = sizeof chips / sizeof chips[0], NAME_MAX_LENGTH = 31 };

const emu_chip *emu_chip_find(const char *name, size_t length) {
    for (size_t i = 0; i < CHIP_COUNT; i++) {
        if (strlen(chips[i].arch) == length && strncmp(chips[i].arch, name, length) == 0) {
            return &chips[i];
        }
    }
    return NULL;
}

/* Letters to change, add or drop to make one word the other. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[NAME_MAX_LENGTH + 1];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < length; j++) {
            unsigned change = corner + (a[i] != b[j]);
            corner = row[j + 1];
            unsigned gap = (corner < row[j] ? corner : row[j]) + 1;
            row[j + 1] = change < gap ? change : gap;
        }
    }
    return row[length];
}

const emu_chip *emu_chip_list(unsigned families, const char *name, char *text, size_t text_bytes) {
    const emu_chip *nearest = NULL;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < CHIP_COUNT; i++) {
        if ((families & chips[i].family) == 0) {
            continue;
        }
        if (nearest == NULL || distance(name, chips[i].arch) < distance(name, nearest->arch)) {
            nearest = &chips[i];
        }
        int added = snprintf(text + used, text_bytes - used, "%s%s", used > 0 ? ", " : "", chips[i].arch);
        if (added > 0 && (size_t)added < text_bytes - used) {
            used += (size_t)added;
        }
    }
    return nearest;
}
