/* Loads from memory into LDS that are under way: their bytes are there when the wave that began them has waited. */
#ifndef ISA_ARRIVALS_H
#define ISA_ARRIVALS_H

#include "isa.h"

/* A load that fills `bytes` of LDS from each place of the lanes of `mask` begins. */
void isa_arrivals_add(isa_wave *wave, uint64_t mask, const uint32_t places[ISA_LANES_MAX], size_t bytes);

/* Before a lane touches [at, at + bytes) of LDS: a finding if a load that fills some of it may still be under way. */
void isa_arrivals_check(isa_wave *wave, int lane, uint32_t at, size_t bytes, bool write);

#endif
