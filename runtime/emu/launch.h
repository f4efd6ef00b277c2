/* Runs a launch's workgroups on several threads. */
#ifndef EMU_LAUNCH_H
#define EMU_LAUNCH_H

#include "engine.h"

/* Workers are made as they are needed and kept for the next launch. */
typedef struct emu_workers {
    emu_worker *list[EMU_THREADS_MAX];
    unsigned count;
} emu_workers;

/* Returns when every workgroup has ended or was given up. `threads` 0: as many as there are processors for us. */
fmha_status emu_launch_run(emu_workers *workers, emu_launch *launch, unsigned threads);
void emu_workers_free(emu_workers *workers);

#endif
