/* Checks of a kernel's accesses to memory, called by the kernel before each of them (emu_access.h). */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "engine.h"

extern void (*const emu_access_read[5])(unsigned long address);
extern void (*const emu_access_write[5])(unsigned long address);
void emu_access_read_bytes(unsigned long address, unsigned long bytes);
void emu_access_write_bytes(unsigned long address, unsigned long bytes);
void *emu_access_copy(void *to, const void *from, unsigned long bytes);
void *emu_access_fill(void *to, int byte, unsigned long bytes);
/* What an operation does in a lane's place: it reads from memory, or accesses LDS. */
void emu_access_memory_at(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address, size_t bytes);
void emu_access_lds_at(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address, size_t bytes, bool write);
void emu_access_misaligned(const struct fmha_emu_misaligned *access);

#endif
