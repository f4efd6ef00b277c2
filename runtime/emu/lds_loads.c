#include "lds_loads.h"

#include <string.h>

#include "engine.h"

void emu_lds_loads_add(emu_wave *wave, const emu_lds_load *load) {
    if (wave->lds_loads.count == EMU_LDS_LOADS_MAX) {
        emu_lds_loads_wait(wave, EMU_LDS_LOADS_MAX - 1);
    }
    wave->lds_loads.list[wave->lds_loads.count++] = *load;
    wave->worker->lds_loads++;
}

void emu_lds_loads_wait(emu_wave *wave, unsigned left) {
    emu_lds_loads *loads = &wave->lds_loads;
    if (loads->count <= left) {
        return;
    }
    unsigned ended = loads->count - left;
    memmove(loads->list, loads->list + ended, left * sizeof *loads->list);
    loads->count = left;
    wave->worker->lds_loads -= ended;
}

static bool fills(const emu_lds_load *load, size_t place, size_t bytes) {
    size_t end = place + bytes;
    if (end <= load->first || place >= load->first + load->count * load->stride) {
        return false;
    }
    size_t slot = place > load->first ? (place - load->first) / load->stride : 0;
    size_t begin = load->first + slot * load->stride; /* the slots before it end before `place` */
    if (place >= begin + load->bytes) {               /* behind what this slot holds */
        slot++;
        begin += load->stride;
    }
    return slot < load->count && begin < end;
}

const emu_wave *emu_lds_loads_find(const emu_worker *worker, size_t place, size_t bytes) {
    for (unsigned i = 0; i < worker->wave_count; i++) {
        const emu_lds_loads *loads = &worker->waves[i].lds_loads;
        for (unsigned n = 0; n < loads->count; n++) {
            if (fills(&loads->list[n], place, bytes)) {
                return &worker->waves[i];
            }
        }
    }
    return NULL;
}
