/* Global memory as instructions see it: every access is checked against the allocations and the tensors in them. */
#ifndef ISA_MEMORY_H
#define ISA_MEMORY_H

#include "isa.h"

/* The bytes at a device address, or NULL after a finding; then the workgroup is given up. lane -1: a scalar access. */
unsigned char *isa_global(isa_wave *wave, int lane, uint64_t address, size_t bytes, bool write);

/* The same for an atomic operation: other workgroups may do theirs at the same place. */
unsigned char *isa_global_shared(isa_wave *wave, int lane, uint64_t address, size_t bytes);

/* Counts an access of several lanes: bytes, and the cache lines that it touches. */
void isa_count_global(isa_wave *wave, uint64_t mask, const uint64_t addresses[ISA_LANES_MAX], size_t bytes, bool write);

/* LDS: whether [at, at + bytes) may be touched by the lane; findings as the emulated device has them. False: outside,
 * nothing is to be done for this lane. */
bool isa_lds_check(isa_wave *wave, int lane, uint32_t at, size_t bytes, bool write);

/* Counts an access to LDS with its bank conflicts. */
void isa_count_lds(isa_wave *wave, uint64_t mask, const uint32_t addresses[ISA_LANES_MAX], size_t bytes, bool write);

/* Counts an access to generic addresses as one to LDS and one to global memory, each of the lanes whose address is
 * there; scratch is not counted. */
void isa_count_generic(isa_wave *wave, uint64_t mask, const uint64_t addresses[ISA_LANES_MAX], size_t bytes,
                       bool write);

#endif
