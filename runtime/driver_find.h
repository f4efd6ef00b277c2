/* Drivers by the name of a device. */
#ifndef FMHA_DRIVER_FIND_H
#define FMHA_DRIVER_FIND_H

#include "driver.h"

/* The driver that `device_name` ("emu:gfx1151", "hip") begins with. *library is what fmha_driver_release must be called
 * with when the device is closed. On failure both are NULL. */
fmha_status fmha_driver_find(const char *device_name, const fmha_driver **driver, void **library);
void fmha_driver_release(void *library); /* NULL is accepted and does nothing */

/* Those built in. */
extern const fmha_driver fmha_driver_hip, fmha_driver_cuda;

#endif
