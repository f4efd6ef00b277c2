/* What CUDA has of its own. */
#include "gpu.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* No context is current at first, as in a program that has not used CUDA yet: -1. */
EXPORT fake_gpu fake_gpu_state = {.device_count = 2, .capability = {90, 89}, .version = 13000, .current = -1};

#define S fake_gpu_state

static char contexts[2];

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGetName(char *name, int room, int device);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
EXPORT int cuCtxGetCurrent(void **context);
EXPORT int cuCtxSetCurrent(void *context);
EXPORT int cuModuleGetGlobal_v2(void **address, size_t *bytes, void *module, const char *name);
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function);
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value);
EXPORT int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
EXPORT int cuPointerGetAttribute(void *value, int attribute, const void *address);
EXPORT int cuGetErrorName(int error, const char **name);
EXPORT int cuGetErrorString(int error, const char **text);

int cuInit(unsigned flags) {
    (void)flags;
    fake_initialized = 1;
    int result = fake_begin("cuInit");
    fake_initialized = result == 0 && S.device_count > 0;
    return result != 0 ? result : S.device_count > 0 ? 0 : 100;
}

int cuDriverGetVersion(int *version) {
    *version = S.version;
    return fake_begin("cuDriverGetVersion");
}

int cuDeviceGetCount(int *count) {
    int result = fake_begin("cuDeviceGetCount");
    *count = result == 0 ? S.device_count : 0;
    return result;
}

/* Handles of devices are not their ordinals. */
int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal + 70;
    return fake_begin("cuDeviceGet");
}

int cuDeviceGetName(char *name, int room, int device) {
    snprintf(name, (size_t)room, "Simulated H200 %d", device - 70);
    return fake_begin("cuDeviceGetName");
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    int capability = S.capability[device - 70];
    *value = attribute == 16   ? 132
             : attribute == 75 ? capability / 10
             : attribute == 76 ? capability % 10
             : attribute == 97 ? 232448
                               : -1;
    return fake_begin("cuDeviceGetAttribute");
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    int result = fake_begin("cuDevicePrimaryCtxRetain");
    if (result == 0) {
        *context = &contexts[device - 70];
        S.contexts++;
    }
    return result;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    S.contexts -= device >= 70;
    return fake_begin("cuDevicePrimaryCtxRelease_v2");
}

int cuCtxGetCurrent(void **context) {
    *context = S.current >= 0 ? &contexts[S.current] : NULL;
    return fake_begin("cuCtxGetCurrent");
}

int cuCtxSetCurrent(void *context) {
    int result = fake_begin("cuCtxSetCurrent");
    if (result == 0) {
        S.current = context != NULL ? (int)((char *)context - contexts) : -1;
        S.set_devices++;
    }
    return result;
}

int cuModuleGetGlobal_v2(void **address, size_t *bytes, void *module, const char *name) {
    int result = fake_begin("cuModuleGetGlobal_v2");
    (void)module;
    *address = S.lds_wanted;
    *bytes = 4;
    return result != 0 ? result : S.lds_wanted != NULL && strcmp(name, "fmha_lds_bytes") == 0 ? 0 : 500;
}

int cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)function;
    *value = attribute == 1 ? 1024 : -1;
    return fake_begin("cuFuncGetAttribute");
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    int result = fake_begin("cuFuncSetAttribute");
    if (result == 0 && attribute == 8) {
        S.lds_dynamic = value;
    }
    return result;
}

/* Every kernel takes an address and a number of 4 bytes. */
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
    (void)function;
    int result = fake_begin("cuFuncGetParamInfo");
    *offset = index * 8;
    *bytes = index == 0 ? 8 : 4;
    return result != 0 ? result : index < 2 ? 0 : 1;
}

int cuPointerGetAttribute(void *value, int attribute, const void *address) {
    int result = fake_begin("cuPointerGetAttribute"), device = fake_device_of(address);
    if (result == 0 && attribute == 9 && device >= 0) {
        memcpy(value, &device, sizeof device);
        return 0;
    }
    return result != 0 ? result : 1;
}

int cuGetErrorName(int error, const char **name) {
    *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : error == 999 ? "CUDA_ERROR_UNKNOWN" : NULL;
    return *name != NULL ? 0 : 1;
}

int cuGetErrorString(int error, const char **text) {
    *text = error == 719 ? "unspecified launch failure" : error == 999 ? "simulated" : NULL;
    return *text != NULL ? 0 : 1;
}
