/* What a wave's registers hold when its first instruction runs (LLVM's "User Guide for AMDGPU Backend", Initial Kernel
 * Execution State). */
#ifndef ISA_INITIAL_H
#define ISA_INITIAL_H

#include "isa.h"

/* User SGPRs, EXEC, the workgroup's and the work items' ids, as the kernel's descriptor and family say. */
void isa_initial_registers(isa_wave *wave);

#endif
