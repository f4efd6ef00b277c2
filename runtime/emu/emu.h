/* What every file of the emulated device uses. */
#ifndef EMU_H
#define EMU_H

#include "driver.h"

/* Records an error text for the caller's thread; set by fmha_driver_entry. */
extern fmha_fail_function emu_fail;

/* The shared object's one exported symbol (driver.h). */
__attribute__((visibility("default"))) const fmha_driver *fmha_driver_entry(fmha_fail_function fail);

#endif
