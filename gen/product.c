#include "product.h"

#include <stddef.h>
#include <string.h>

/* AMD's product pages; of several products with one chip the largest. Peak clocks ("boost", "peak engine clock"), which
 * a chip need not hold. Chips of processors whose memory the builder of a machine chooses are left out. */
static const struct product products[] = {
    {"gfx906", "Instinct MI50", 60, 1.725, 1024},
    {"gfx908", "Instinct MI100", 120, 1.502, 1228.8},
    {"gfx90a", "Instinct MI250X, one of its two dies", 110, 1.7, 1638.4},
    {"gfx942", "Instinct MI300X", 304, 2.1, 5300},
    {"gfx950", "Instinct MI355X", 256, 2.4, 8000},
    {"gfx1030", "Radeon RX 6900 XT", 80, 2.25, 512},
    {"gfx1031", "Radeon RX 6700 XT", 40, 2.581, 384},
    {"gfx1032", "Radeon RX 6600 XT", 32, 2.589, 256},
    {"gfx1100", "Radeon RX 7900 XTX", 96, 2.5, 960},
    {"gfx1101", "Radeon RX 7800 XT", 60, 2.43, 624},
    {"gfx1102", "Radeon RX 7600", 32, 2.655, 288},
    {"gfx1151", "Radeon 8060S", 40, 2.9, 256},
    {"gfx1200", "Radeon RX 9060 XT", 32, 3.13, 320},
    {"gfx1201", "Radeon RX 9070 XT", 64, 2.97, 640},
};

const struct product *product_of(const char *target) {
    size_t length = strcspn(target, ":");
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strlen(products[i].arch) == length && memcmp(products[i].arch, target, length) == 0)
            return &products[i];
    return NULL;
}
