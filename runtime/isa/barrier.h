/* The barrier of a workgroup in two steps, as RDNA4 has it: a wave signals that it has arrived and waits for the others
 * later (RDNA4 ISA guide, 16 Instructions, S_BARRIER_SIGNAL and S_BARRIER_WAIT). What a wave touches between the two is
 * ordered neither with what others did before the barrier nor with what they do behind it. */
#ifndef ISA_BARRIER_H
#define ISA_BARRIER_H

#include "isa.h"

/* Notes that a wave which has signaled touched LDS, for isa_barrier_passed. */
void isa_barrier_note(isa_wave *wave, uint32_t at, size_t bytes, bool write);

/* All waves have arrived: who touched what is forgotten, but for what was touched between signals and waits. */
void isa_barrier_passed(isa_group *group);

/* Frees the group's notes. */
void isa_barrier_free(isa_group *group);

#endif
