/* Loads from memory into LDS that are under way: what they bring is there when the wave that began them has waited. */
#ifndef EMU_LDS_LOADS_H
#define EMU_LDS_LOADS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct emu_wave emu_wave;
typedef struct emu_worker emu_worker;

enum { EMU_LDS_LOADS_MAX = 63 }; /* of a wave, which is what vmcnt can count */

/* `bytes` at each of `count` places in LDS, the first at `first`, `stride` apart. */
typedef struct emu_lds_load {
    size_t first, stride, bytes;
    unsigned count;
} emu_lds_load;

/* The oldest first. */
typedef struct emu_lds_loads {
    emu_lds_load list[EMU_LDS_LOADS_MAX];
    unsigned count;
} emu_lds_loads;

/* A load begins; of more than can be counted the oldest has ended. */
void emu_lds_loads_add(emu_wave *wave, const emu_lds_load *load);

/* The wave waits until at most `left` of its loads are under way. */
void emu_lds_loads_wait(emu_wave *wave, unsigned left);

/* The wave whose load fills some of [place, place + bytes) and may not have ended; NULL: there is none. */
const emu_wave *emu_lds_loads_find(const emu_worker *worker, size_t place, size_t bytes);

#endif
