/* Runs a wave. */
#ifndef ISA_WAVE_H
#define ISA_WAVE_H

#include "isa.h"

/* Executes until the wave waits at a barrier, has ended, or has failed; at most `steps` instructions. */
void isa_wave_run(isa_wave *wave, uint64_t steps);

#endif
