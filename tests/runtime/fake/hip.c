/* What HIP has of its own. Built three times: with the properties of ROCm 6 (FAKE_REVISION 6), those of 5 (0), and one
 * function short (-1). */
#include "gpu.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_gpu fake_gpu_state = {.device_count = 2, .archs = {"gfx1151", "gfx1100"}, .version = 60443484};

#define S fake_gpu_state

EXPORT int hipInit(unsigned flags);
EXPORT int hipGetDeviceCount(int *count);
EXPORT int hipGetDevice(int *ordinal);
EXPORT int hipSetDevice(int ordinal);
EXPORT int hipPointerGetAttributes(void *attributes, const void *address);
EXPORT const char *hipGetErrorString(int error);
EXPORT const char *hipGetErrorName(int error);
EXPORT int hipGetLastError(void);
EXPORT int hipRuntimeGetVersion(int *version);
EXPORT int hipGetDeviceProperties(void *properties, int ordinal);
EXPORT int hipGetDevicePropertiesR0600(void *properties, int ordinal);

int hipInit(unsigned flags) {
    (void)flags;
    fake_initialized = 1;
    int result = fake_begin("hipInit");
    fake_initialized = result == 0 && S.device_count > 0;
    return result != 0 ? result : fake_give(S.device_count > 0 ? 0 : 100);
}

int hipGetDeviceCount(int *count) {
    int result = fake_begin("hipGetDeviceCount");
    *count = result == 0 ? S.device_count : 0;
    return result;
}

int hipGetDevice(int *ordinal) {
    int result = fake_begin("hipGetDevice");
    *ordinal = result == 0 ? S.current : -1;
    return result;
}

int hipSetDevice(int ordinal) {
    int result = fake_begin("hipSetDevice");
    if (result == 0 && ordinal >= 0 && ordinal < S.device_count) {
        S.current = ordinal;
        S.set_devices++;
        return 0;
    }
    return result != 0 ? result : fake_give(101);
}

int hipPointerGetAttributes(void *attributes, const void *address) {
    int result = fake_begin("hipPointerGetAttributes"), device = fake_device_of(address);
    if (result == 0 && device >= 0) {
        memcpy((char *)attributes + 4, &device, sizeof device);
        return 0;
    }
    return result != 0 ? result : fake_give(1);
}

const char *hipGetErrorString(int error) {
    return error == 719 ? "unspecified launch failure" : "simulated";
}

const char *hipGetErrorName(int error) {
    return error == 719 ? "hipErrorLaunchFailure" : error == 999 ? "hipErrorUnknown" : "hipErrorSimulated";
}

int hipGetLastError(void) {
    int error = S.last_error;
    S.last_error = 0;
    return error;
}

int hipRuntimeGetVersion(int *version) {
    *version = S.version;
    return fake_begin("hipRuntimeGetVersion");
}

/* Fills the struct of one revision: its size, and where the number of compute units, the LDS bytes and the chip lie. */
static int fill(void *properties, int ordinal, size_t bytes, size_t units_at, size_t lds_at, size_t arch_at) {
    int result = fake_begin("hipGetDeviceProperties");
    if (result != 0 || ordinal < 0 || ordinal >= S.device_count) {
        return result != 0 ? result : fake_give(101);
    }
    const int units = 20;
    const size_t lds_bytes = 65536;
    unsigned char *filled = properties;
    memset(filled, 0xa5, bytes);
    memcpy(filled, "Simulated Radeon", sizeof "Simulated Radeon");
    memcpy(filled + units_at, &units, sizeof units);
    memcpy(filled + lds_at, &lds_bytes, sizeof lds_bytes);
    memcpy(filled + arch_at, S.archs[ordinal], strlen(S.archs[ordinal]) + 1);
    return 0;
}

#if FAKE_REVISION == 6
int hipGetDevicePropertiesR0600(void *properties, int ordinal) {
    return fill(properties, ordinal, 1472, 388, 296, 1160);
}
#endif

/* ROCm 6 and later still export the struct of ROCm 5 under the plain name. */
int hipGetDeviceProperties(void *properties, int ordinal) {
    return fill(properties, ordinal, 792, 336, 264, 396);
}
