/* What the barrier of a workgroup does not order. RDNA4 has it in two steps: a wave signals that it has arrived and
 * waits for the others later (RDNA4 ISA guide, 16 Instructions, S_BARRIER_SIGNAL and S_BARRIER_WAIT). What a wave
 * touches between the two is ordered neither with what others did before the barrier nor with what they do behind it.
 * And no barrier waits for accesses that are under way (RDNA3 ISA guide, 16.5 SOPP Instructions, S_BARRIER): a store to
 * LDS that the wave has not waited for when it arrives is ordered with nothing behind it. */
#ifndef ISA_BARRIER_H
#define ISA_BARRIER_H

#include "isa.h"

/* Notes that a wave which has signaled touched LDS, for isa_barrier_passed. */
void isa_barrier_note(isa_wave *wave, uint32_t at, size_t bytes, bool write);

/* Notes a store to LDS, by the instruction of the wave that began last, for isa_barrier_arrive. */
void isa_barrier_store(isa_wave *wave, uint32_t at, size_t bytes);

/* A wave arrives: its stores to LDS that are under way are as what it touches between the steps. */
void isa_barrier_arrive(isa_wave *wave);

/* All waves have arrived: who touched what is forgotten, but for what the barrier does not order. */
void isa_barrier_passed(isa_group *group);

/* Whether the byte was written by a store of the wave (its mark) that was under way when it arrived at the barrier. */
bool isa_barrier_was_open(const isa_group *group, size_t at, uint8_t mark);

/* A workgroup begins: nothing is noted. */
void isa_barrier_begin(isa_group *group);

/* Frees the group's notes. */
void isa_barrier_free(isa_group *group);

#endif
