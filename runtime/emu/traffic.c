#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#include "emu.h"

static const char *const names[EMU_TRAFFIC_NAMES] = {"bytes_read", "bytes_written", "unique_bytes_read",
                                                     "unique_bytes_written", "wave_bytes_read"};

fmha_status emu_traffic_begin(emu_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) {
        if (!emu_views_count_begin(&memory->list[i].views)) {
            return emu_fail(FMHA_ERROR_MEMORY, "no address space to count the bytes of \"%s\": raise ulimit -v",
                            memory->list[i].label);
        }
    }
    return FMHA_OK;
}

void emu_traffic_touch(const emu_views *views, size_t offset, size_t bytes, bool write) {
    uint8_t access = write ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ;
    emu_view *view = &views->list[views->owner[offset]];
    if (views->touched == NULL) {
        return;
    }
    atomic_fetch_add_explicit(write ? &view->bytes_written : &view->bytes_read, bytes, memory_order_relaxed);
    for (size_t i = offset; i < offset + bytes; i++) {
        if ((atomic_load_explicit(&views->touched[i], memory_order_relaxed) & access) == 0) {
            atomic_fetch_or_explicit(&views->touched[i], access, memory_order_relaxed);
        }
    }
}

void emu_traffic_fetch(const emu_views *views, size_t offset, size_t bytes) {
    if (views->touched != NULL) {
        emu_view *view = &views->list[views->owner[offset]];
        atomic_fetch_add_explicit(&view->wave_bytes_read, bytes, memory_order_relaxed);
    }
}

static emu_traffic_tensor *tensor_named(emu_traffic *traffic, const char *label) {
    for (size_t i = 0; i < traffic->count; i++) {
        if (strcmp(traffic->tensors[i].label, label) == 0) {
            return &traffic->tensors[i];
        }
    }
    emu_traffic_tensor *larger = realloc(traffic->tensors, (traffic->count + 1) * sizeof *larger);
    if (larger == NULL) {
        traffic->lost = true;
        return NULL;
    }
    traffic->tensors = larger;
    emu_traffic_tensor *added = &larger[traffic->count++];
    memset(added, 0, sizeof *added);
    memcpy(added->label, label, sizeof added->label);
    return added;
}

static void add_view(emu_traffic *traffic, const emu_views *views, unsigned number) {
    const emu_view *view = &views->list[number];
    uint64_t read = atomic_load(&view->bytes_read), written = atomic_load(&view->bytes_written);
    if (number == 0 && views->count > 1) {
        return; /* nothing may be touched there */
    }
    emu_traffic_tensor *tensor = tensor_named(traffic, view->label);
    if (tensor != NULL) {
        tensor->value[0] += read;
        tensor->value[1] += written;
        tensor->value[4] += atomic_load(&view->wave_bytes_read);
        tensor->value[2] += read > 0 ? emu_views_touched(views, number, FMHA_ACCESS_READ) : 0;
        tensor->value[3] += written > 0 ? emu_views_touched(views, number, FMHA_ACCESS_WRITE) : 0;
    }
}

void emu_traffic_end(emu_traffic *traffic, const emu_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) {
        const emu_views *views = &memory->list[i].views;
        for (unsigned j = 0; views->touched != NULL && j < views->count; j++) {
            add_view(traffic, views, j);
        }
    }
}

void emu_traffic_clear(emu_traffic *traffic) {
    free(traffic->tensors);
    *traffic = (emu_traffic){0};
}

size_t emu_traffic_list(const emu_traffic *traffic, fmha_counter *counters) {
    size_t at = 0;
    for (size_t i = 0; i < traffic->count; i++) {
        for (int j = 0; j < EMU_TRAFFIC_NAMES; j++) {
            counters[at++] = (fmha_counter){
                .name = names[j], .tensor = traffic->tensors[i].label, .value = traffic->tensors[i].value[j]};
        }
    }
    return at;
}

uint64_t emu_traffic_bytes(const emu_traffic *traffic) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < traffic->count; i++) {
        bytes += traffic->tensors[i].value[0] + traffic->tensors[i].value[1];
    }
    return bytes;
}
