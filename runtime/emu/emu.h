/* What every file of the emulated device uses. */
#ifndef EMU_H
#define EMU_H

#include <stdint.h>

#include "driver.h"

/* Records an error text for the caller's thread; set by fmha_driver_entry. */
extern fmha_fail_function emu_fail;

/* The shared object's one exported symbol (driver.h). */
__attribute__((visibility("default"))) const fmha_driver *fmha_driver_entry(fmha_fail_function fail);

/* Seed of the order in which waves run between barriers; 0 is the order of their numbers. Begins as $FMHA_EMU_SEED. */
void emu_device_set_seed(void *state, uint64_t seed);

/* Workgroups run on at most so many threads; 0: as many as there are processors. Begins as $FMHA_EMU_THREADS. */
void emu_device_set_threads(void *state, unsigned threads);

/* A workgroup that computes for longer than this is given up; 0: never. Begins as $FMHA_EMU_SECONDS, else 120. */
void emu_device_set_seconds(void *state, unsigned seconds);

#endif
