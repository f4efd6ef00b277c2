/* HIP devices. The thread's current device is whatever the caller made it, before and after every call. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "driver_find.h"
#include "hip_api.h"
#include "hiprtc.h"
#include "image.h"

typedef struct hip_state {
    hip_api hip;
    int ordinal;
    int version; /* of the runtime: major·10^7 + minor·10^5 + patch */
    hip_properties properties;
    pthread_mutex_t hiprtc_lock; /* of the search, which the first compilation makes; never changed afterwards */
    bool hiprtc_looked_for, hiprtc_found;
    hiprtc_api hiprtc;
} hip_state;

/* Turns a result of the HIP function `function` into a status with a text. HIP keeps a thread's last error until
 * somebody asks for it; it is taken here, so that the caller's program does not stumble over an error that it was
 * already told. */
static fmha_status check(const hip_state *s, int result, const char *function) {
    if (result == HIP_SUCCESS) {
        return FMHA_OK;
    }
    char text[256];
    fmha_hip_api_describe(&s->hip, result, text);
    s->hip.get_last_error();
    return fmha_fail(
        FMHA_ERROR_DRIVER,
        "hip:%d (%s): %s failed: %s; the kernel log (dmesg) may say more, and a kernel that is at fault shows "
        "it on the emulated device",
        s->ordinal, s->properties.arch, function, text);
}

/* Makes the device current; *previous is what to return to. */
static fmha_status enter(const hip_state *s, int *previous) {
    fmha_status status = check(s, s->hip.get_device(previous), "hipGetDevice");
    if (status == FMHA_OK && *previous != s->ordinal) {
        status = check(s, s->hip.set_device(s->ordinal), "hipSetDevice");
    }
    return status;
}

/* Returns to the previous device and hands `status` on, or the error of returning. */
static fmha_status leave(const hip_state *s, int previous, fmha_status status) {
    if (previous == s->ordinal) {
        return status;
    }
    int result = s->hip.set_device(previous);
    return status != FMHA_OK ? status : check(s, result, "hipSetDevice");
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static fmha_status parse_ordinal(const char *selector, int *ordinal) {
    char *end;
    errno = 0;
    long value = strtol(selector, &end, 10);
    bool digits = selector[0] >= '0' && selector[0] <= '9' && *end == '\0' && errno == 0 && value <= 9999;
    if (selector[0] != '\0' && !digits) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "device 'hip:%s': expected hip or hip:N with a number N from 0, got '%s'",
                         selector, selector);
    }
    *ordinal = selector[0] == '\0' ? 0 : (int)value;
    return FMHA_OK;
}

static fmha_status find_device(hip_state *s) {
    int count = 0;
    int result = s->hip.init(0);
    if (result == HIP_SUCCESS) {
        result = s->hip.get_device_count(&count);
    }
    if (result == HIP_NO_DEVICE || (result == HIP_SUCCESS && count == 0)) {
        char why[512];
        fmha_hip_api_explain_no_device("/dev/kfd", why);
        s->hip.get_last_error();
        return fmha_fail(FMHA_ERROR_NO_DEVICE,
                         "hip:%d: expected an AMD GPU, got none: the HIP runtime reports no device "
                         "(hipErrorNoDevice, %d); %s",
                         s->ordinal, HIP_NO_DEVICE, why);
    }
    if (result != HIP_SUCCESS) {
        char text[256];
        fmha_hip_api_describe(&s->hip, result, text);
        s->hip.get_last_error();
        return fmha_fail(FMHA_ERROR_DRIVER, "hip:%d: the HIP runtime does not start: %s; check it with rocminfo",
                         s->ordinal, text);
    }
    if (s->ordinal >= count) {
        return fmha_fail(FMHA_ERROR_NO_DEVICE,
                         "hip:%d: expected a number below %d, the number of HIP devices here, got %d; "
                         "HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES may hide others",
                         s->ordinal, count, s->ordinal);
    }
    return FMHA_OK;
}

static fmha_status read_properties(hip_state *s) {
    unsigned char *filled = calloc(1, HIP_PROPERTIES_BYTES);
    if (filled == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "hip:%d: no host memory for the device's properties", s->ordinal);
    }
    snprintf(s->properties.arch, sizeof s->properties.arch, "chip not known yet");
    fmha_status status = check(s, s->hip.get_properties(filled, s->ordinal), "hipGetDeviceProperties");
    if (status == FMHA_OK) {
        status = check(s, s->hip.runtime_get_version(&s->version), "hipRuntimeGetVersion");
    }
    if (status == FMHA_OK && !fmha_hip_api_read_properties(&s->hip, filled, &s->properties)) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "hip:%d: expected the device properties of ROCm 5 to 7, got another layout "
                           "from the HIP runtime of version %d.%d; a newer libfmha may know it",
                           s->ordinal, s->version / 10000000, s->version / 100000 % 100);
    }
    free(filled);
    return status;
}

static fmha_status hip_open(const char *selector, void **state, fmha_device_info *info) {
    int ordinal = 0;
    fmha_status status = parse_ordinal(selector, &ordinal);
    if (status != FMHA_OK) {
        return status;
    }
    hip_state *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "hip:%d: no host memory for its state", ordinal);
    }
    s->ordinal = ordinal;
    pthread_mutex_init(&s->hiprtc_lock, NULL); /* of the default kind, which cannot fail */
    status = fmha_hip_api_open(&s->hip);
    if (status == FMHA_OK) {
        status = find_device(s);
        if (status == FMHA_OK) {
            status = read_properties(s);
        }
        if (status != FMHA_OK) {
            fmha_hip_api_close(&s->hip);
        }
    }
    if (status != FMHA_OK) {
        pthread_mutex_destroy(&s->hiprtc_lock);
        free(s);
        return status;
    }
    *state = s;
    *info = (fmha_device_info){
        .arch = s->properties.arch,
        .name = s->properties.name,
        .image_kind = FMHA_IMAGE_CODE_OBJECT,
        .ordinal = ordinal,
        .compute_units = s->properties.compute_units,
        .lds_bytes_workgroup = s->properties.lds_bytes,
    };
    return FMHA_OK;
}

static void hip_close(void *state) {
    hip_state *s = state;
    if (s->hiprtc_found) {
        fmha_hiprtc_close(&s->hiprtc);
    }
    fmha_hip_api_close(&s->hip);
    pthread_mutex_destroy(&s->hiprtc_lock);
    free(s);
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

static fmha_status hip_memory_alloc(void *state, size_t bytes, const char *label, void **address) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    void *made = NULL;
    int result = s->hip.malloc(&made, bytes);
    if (result == HIP_OUT_OF_MEMORY) {
        s->hip.get_last_error();
        status = fmha_fail(FMHA_ERROR_MEMORY,
                           "hip:%d (%s): no device memory for the buffer '%s' of %zu bytes; free others "
                           "first",
                           s->ordinal, s->properties.arch, label != NULL ? label : "", bytes);
    } else {
        status = check(s, result, "hipMalloc");
    }
    bool made_it = status == FMHA_OK;
    status = leave(s, previous, status);
    if (status != FMHA_OK && made_it) {
        s->hip.free(made);
    } else {
        *address = made;
    }
    return status;
}

static fmha_status hip_memory_free(void *state, void *address) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    return status != FMHA_OK ? status : leave(s, previous, check(s, s->hip.free(address), "hipFree"));
}

static fmha_status copy(const hip_state *s, void *to, const void *from, size_t bytes, int kind) {
    int previous;
    fmha_status status = enter(s, &previous);
    return status != FMHA_OK ? status : leave(s, previous, check(s, s->hip.memcpy(to, from, bytes, kind), "hipMemcpy"));
}

static fmha_status hip_memory_write(void *state, void *to, const void *from_host, size_t bytes) {
    return copy(state, to, from_host, bytes, HIP_HOST_TO_DEVICE);
}

static fmha_status hip_memory_read(void *state, void *to_host, const void *from, size_t bytes) {
    return copy(state, to_host, from, bytes, HIP_DEVICE_TO_HOST);
}

/* ---- Code ------------------------------------------------------------------------------------------------ */

/* hipRTC, or a compiler where it is not here. */
static fmha_status find_compiler(hip_state *s, bool *use_hiprtc, fmha_compiler *compiler) {
    fmha_status status = FMHA_OK;
    pthread_mutex_lock(&s->hiprtc_lock);
    if (!s->hiprtc_looked_for) {
        status = fmha_hiprtc_open(&s->hiprtc, s->hip.library, s->version / 10000000, &s->hiprtc_found);
        s->hiprtc_looked_for = status == FMHA_OK;
    }
    *use_hiprtc = s->hiprtc_found;
    pthread_mutex_unlock(&s->hiprtc_lock);
    if (status != FMHA_OK || *use_hiprtc) {
        return status;
    }
    status = fmha_compiler_find(s->properties.arch, compiler);
    return status == FMHA_OK ? status
                             : fmha_fail(status, "hip:%d: hipRTC is not here, and %s", s->ordinal, fmha_last_error());
}

static fmha_status hip_compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    hip_state *s = state;
    bool use_hiprtc;
    fmha_compiler compiler;
    fmha_status status = find_compiler(s, &use_hiprtc, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    return use_hiprtc ? fmha_hiprtc_compile(&s->hiprtc, s->properties.arch, source, image, image_bytes)
                      : fmha_compiler_compile_source(&compiler, s->properties.arch, source, image, image_bytes);
}

static fmha_status hip_compile_identity(void *state, int wave, char **text) {
    hip_state *s = state;
    bool use_hiprtc;
    fmha_compiler compiler;
    *text = NULL;
    fmha_status status = find_compiler(s, &use_hiprtc, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    return use_hiprtc ? fmha_hiprtc_identity(&s->hiprtc, s->properties.arch, wave, text)
                      : fmha_compiler_identity(&compiler, s->properties.arch, wave, text);
}

static fmha_status fail_wrong_chip(const hip_state *s, const char *target) {
    return fmha_fail(FMHA_ERROR_WRONG_CHIP,
                     "hip:%d: expected code for %s, got code for %s; build the instance with --arch %s", s->ordinal,
                     s->properties.arch, target, s->properties.arch);
}

static fmha_status hip_module_load(void *state, const void *image, size_t image_bytes, void **module) {
    const hip_state *s = state;
    char target[FMHA_TARGET_BYTES];
    int previous;
    fmha_status status = fmha_image_target("module image", image, image_bytes, target);
    if (status == FMHA_OK && !fmha_image_fits(target, s->properties.arch)) {
        status = fail_wrong_chip(s, target);
    }
    if (status == FMHA_OK) {
        status = enter(s, &previous);
    }
    if (status != FMHA_OK) {
        return status;
    }
    void *made = NULL;
    int result = s->hip.module_load_data(&made, image);
    if (result == HIP_NO_BINARY_FOR_GPU) {
        s->hip.get_last_error();
        status = fail_wrong_chip(s, target);
    } else {
        status = check(s, result, "hipModuleLoadData");
    }
    bool made_it = status == FMHA_OK;
    status = leave(s, previous, status);
    if (status != FMHA_OK && made_it) {
        s->hip.module_unload(made);
    } else {
        *module = made;
    }
    return status;
}

static fmha_status hip_module_unload(void *state, void *module) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    return status != FMHA_OK ? status : leave(s, previous, check(s, s->hip.module_unload(module), "hipModuleUnload"));
}

static fmha_status hip_module_kernel(void *state, void *module, const char *symbol, void **kernel) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    int result = s->hip.module_get_function(kernel, module, symbol);
    if (result == HIP_NOT_FOUND) {
        s->hip.get_last_error();
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "hip:%d (%s): expected a kernel of the module, got '%s', which it does not "
                           "hold; NAME.json beside the code object names its symbol",
                           s->ordinal, s->properties.arch, symbol);
    } else {
        status = check(s, result, "hipModuleGetFunction");
    }
    return leave(s, previous, status);
}

/* ---- Launches -------------------------------------------------------------------------------------------- */

/* The device is current. */
static fmha_status start(const hip_state *s, void *kernel, const fmha_launch_config *config) {
    size_t argument_bytes = config->argument_bytes;
    /* The runtime copies the block before it returns; it only lacks the const. */
    void *extra[] = {HIP_LAUNCH_BUFFER_POINTER, (void *)(uintptr_t)config->arguments, HIP_LAUNCH_BUFFER_SIZE,
                     &argument_bytes, HIP_LAUNCH_END};
    const uint32_t *grid = config->grid, *workgroup = config->workgroup;
    int result = s->hip.module_launch_kernel(kernel, grid[0], grid[1], grid[2], workgroup[0], workgroup[1],
                                             workgroup[2], (unsigned)config->lds_dynamic_bytes, config->stream, NULL,
                                             argument_bytes > 0 ? extra : NULL);
    return check(s, result, "hipModuleLaunchKernel");
}

static fmha_status hip_launch(void *state, void *kernel, const fmha_launch_config *config) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    return status != FMHA_OK ? status : leave(s, previous, start(s, kernel, config));
}

static fmha_status hip_synchronize(void *state, void *stream) {
    const hip_state *s = state;
    int previous;
    fmha_status status = enter(s, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    status = stream != NULL ? check(s, s->hip.stream_synchronize(stream), "hipStreamSynchronize")
                            : check(s, s->hip.device_synchronize(), "hipDeviceSynchronize");
    return leave(s, previous, status);
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

#define SHORT_US 500.0 /* what takes less is run several times in a row, about LONG_US in all */
#define LONG_US  1000.0
#define ROW_MAX  200

/* Microseconds of `count` launches in a row, between two events on their stream. */
static fmha_status time_row(const hip_state *s, void *kernel, const fmha_launch_config *config, int count,
                            void *const events[2], double *us) {
    float milliseconds = 0;
    fmha_status status = check(s, s->hip.event_record(events[0], config->stream), "hipEventRecord");
    for (int i = 0; i < count && status == FMHA_OK; i++) {
        status = start(s, kernel, config);
    }
    if (status == FMHA_OK) {
        status = check(s, s->hip.event_record(events[1], config->stream), "hipEventRecord");
    }
    if (status == FMHA_OK) {
        status = check(s, s->hip.event_synchronize(events[1]), "hipEventSynchronize");
    }
    if (status == FMHA_OK) {
        status = check(s, s->hip.event_elapsed_time(&milliseconds, events[0], events[1]), "hipEventElapsedTime");
    }
    *us = (double)milliseconds * 1e3;
    return status;
}

/* The device is current. Events resolve about a microsecond, and a launch by itself takes a few: one that is short is
 * run again in a row, of which the mean is taken. */
static fmha_status time_launch(const hip_state *s, void *kernel, const fmha_launch_config *config,
                               void *const events[2], double *us) {
    fmha_status status = time_row(s, kernel, config, 1, events, us);
    if (status != FMHA_OK || *us >= SHORT_US) {
        return status;
    }
    int count = *us * ROW_MAX > LONG_US ? (int)(LONG_US / *us) : ROW_MAX;
    status = time_row(s, kernel, config, count, events, us);
    *us /= count;
    return status;
}

static fmha_status hip_measure(void *state, void *kernel, const fmha_launch_config *config, double *us) {
    const hip_state *s = state;
    void *events[2] = {NULL, NULL};
    int previous;
    fmha_status status = enter(s, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    for (int i = 0; i < 2 && status == FMHA_OK; i++) {
        status = check(s, s->hip.event_create(&events[i]), "hipEventCreate");
    }
    if (status == FMHA_OK) {
        status = time_launch(s, kernel, config, events, us);
    }
    for (int i = 0; i < 2; i++) {
        if (events[i] != NULL && s->hip.event_destroy(events[i]) != HIP_SUCCESS) {
            s->hip.get_last_error(); /* what was measured stands */
        }
    }
    return leave(s, previous, status);
}

static void hip_about(void *state, char *text, size_t room) {
    const hip_state *s = state;
    snprintf(text, room, "HIP %d.%d.%d", s->version / 10000000, s->version / 100000 % 100, s->version % 100000);
}

static fmha_status hip_locate(const void *address, int *ordinal) {
    hip_api hip;
    unsigned char attributes[HIP_POINTER_ATTRIBUTES_BYTES] = {0};
    int device = -1;
    fmha_status status = fmha_hip_api_open(&hip);
    if (status != FMHA_OK) {
        return status;
    }
    int result = hip.pointer_get_attributes(attributes, address);
    memcpy(&device, attributes + HIP_POINTER_ATTRIBUTES_DEVICE, sizeof device);
    if (result != HIP_SUCCESS || device < 0) {
        hip.get_last_error();
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "hip: expected an address in a HIP device's memory, got %p, which no "
                           "device of this process knows",
                           address);
    }
    fmha_hip_api_close(&hip);
    *ordinal = device;
    return status;
}

const fmha_driver fmha_driver_hip = {
    .version = FMHA_DRIVER_VERSION,
    .name = "hip",
    .open = hip_open,
    .close = hip_close,
    .memory_alloc = hip_memory_alloc,
    .memory_free = hip_memory_free,
    .memory_write = hip_memory_write,
    .memory_read = hip_memory_read,
    .compile = hip_compile,
    .module_load = hip_module_load,
    .module_unload = hip_module_unload,
    .module_kernel = hip_module_kernel,
    .launch = hip_launch,
    .synchronize = hip_synchronize,
    .measure = hip_measure,
    .measure_unit = "us",
    .about = hip_about,
    .compile_identity = hip_compile_identity,
    .locate = hip_locate,
    .concurrent = true,
};
