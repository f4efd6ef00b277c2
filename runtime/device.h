/* A device from the inside, for the parts of libfmha that dispatch on it. */
#ifndef FMHA_DEVICE_H
#define FMHA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "driver.h"

struct fmha_dispatch;

/* One allocation made through the device. */
typedef struct memory_range {
    char *start;
    size_t bytes;
} memory_range;

struct fmha_device {
    const fmha_driver *driver;
    void *library; /* of the driver, NULL for one that is built in */
    void *state;
    fmha_device_info info;
    pthread_mutex_t calls; /* held in each call of a driver that is not concurrent */
    pthread_mutex_t lists; /* guards what follows; never held while the driver is called */
    memory_range *ranges;  /* sorted by start */
    size_t range_count, range_capacity;
    fmha_module *modules;
    struct fmha_dispatch *dispatch; /* made with the device, closed with it */
};

/* Around each call of the driver's table. */
void fmha_device_enter(fmha_device *device);
void fmha_device_leave(fmha_device *device);

/* The symbol of a kernel, as long as its module lives. */
const char *fmha_kernel_symbol(const fmha_kernel *kernel);

/* Runs a launch once, waits and says what it cost, in the driver's measure_unit. FMHA_ERROR_UNSUPPORTED: the driver
 * cannot tell. */
fmha_status fmha_kernel_measure(fmha_kernel *kernel, const fmha_launch_config *config, double *amount);

/* What runs kernels, with its version: "HIP 6.4.43484"; the driver's name where it does not say more. */
void fmha_device_about(fmha_device *device, char *text, size_t room);

#endif
