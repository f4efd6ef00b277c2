/* Bytes of each tensor that launches touched, for devices that count. */
#ifndef EMU_TRAFFIC_H
#define EMU_TRAFFIC_H

#include "memory.h"

enum { EMU_TRAFFIC_NAMES = 5 };

typedef struct emu_traffic_tensor {
    char label[EMU_LABEL_BYTES];
    uint64_t value[EMU_TRAFFIC_NAMES]; /* bytes_read, bytes_written, unique_bytes_read, unique_bytes_written,
                                          wave_bytes_read */
} emu_traffic_tensor;

typedef struct emu_traffic {
    emu_traffic_tensor *tensors;
    size_t count;
    bool lost; /* out of memory */
} emu_traffic;

/* Before a launch that is counted, of all allocations that there are; what is allocated later is not counted. */
fmha_status emu_traffic_begin(emu_memory *memory);
/* An access of one lane, all of it to one tensor. Thread-safe. */
void emu_traffic_touch(const emu_views *views, size_t offset, size_t bytes, bool write);
/* Of what an instruction of a wave reads, bytes that one of its lanes or several ask for: once for all of them.
 * Thread-safe. */
void emu_traffic_fetch(const emu_views *views, size_t offset, size_t bytes);
/* After the launch: adds what it touched. */
void emu_traffic_end(emu_traffic *traffic, const emu_memory *memory);

void emu_traffic_clear(emu_traffic *traffic);
/* EMU_TRAFFIC_NAMES counters for each tensor; the labels are the traffic's. Returns their number. */
size_t emu_traffic_list(const emu_traffic *traffic, fmha_counter *counters);
/* Read and written, of all tensors. */
uint64_t emu_traffic_bytes(const emu_traffic *traffic);

#endif
