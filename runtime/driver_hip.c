/* HIP devices. */
#include "driver_find.h"

static fmha_status hip_open(const char *selector, void **state, fmha_device_info *info) {
    (void)selector;
    (void)state;
    (void)info;
    return fmha_fail(FMHA_ERROR_NO_DRIVER, "hip: this build cannot open HIP devices");
}

const fmha_driver fmha_driver_hip = {.version = FMHA_DRIVER_VERSION, .name = "hip", .open = hip_open};
