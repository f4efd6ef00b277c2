/* Signals that a kernel's faults raise, turned into findings while kernels run. */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "engine.h"

/* Calls nest and may come from several threads: handlers stand from the first begin to the last end. Faults of other
 * code go to the handlers that stood before. */
void emu_fault_begin(void);
void emu_fault_end(void);

/* Asks a worker's thread to give up the workgroup that it runs, if it is in the kernel's own code at this moment. */
void emu_fault_interrupt(pthread_t thread, emu_worker *worker);

#endif
