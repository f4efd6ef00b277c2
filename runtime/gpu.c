#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "gpu.h"
#include "image.h"

/* Words in the `extra` list of a launch. */
#define LAUNCH_BUFFER_POINTER ((void *)1)
#define LAUNCH_BUFFER_SIZE    ((void *)2)

/* The runtime's last error is taken, so that the caller's program does not stumble over one that it was already told.
 */
static void take_error(const gpu *g) {
    if (g->runtime->take_error != NULL) {
        g->runtime->take_error(g);
    }
}

fmha_status fmha_gpu_check(const gpu *g, int result, const char *name) {
    if (result == GPU_SUCCESS) {
        return FMHA_OK;
    }
    char text[256];
    g->runtime->describe(g, result, text);
    take_error(g);
    return fmha_fail(
        FMHA_ERROR_DRIVER,
        "%s:%d (%s): %s failed: %s; the kernel log (dmesg) may say more, and a kernel that is at fault shows "
        "it on the emulated device",
        g->runtime->library->driver, g->ordinal, g->arch, name, text);
}

static fmha_status check(const gpu *g, int result, size_t function) {
    return fmha_gpu_check(g, result, g->runtime->names[function]);
}

/* Makes the device current; *previous is what to return to. */
static fmha_status enter(const gpu *g, void **previous) {
    fmha_status status = fmha_gpu_check(g, g->runtime->get_current(g, previous), g->runtime->get_current_name);
    if (status == FMHA_OK && *previous != g->current) {
        status = fmha_gpu_check(g, g->runtime->set_current(g, g->current), g->runtime->set_current_name);
    }
    return status;
}

/* Returns to the previous device and hands `status` on, or the error of returning. */
static fmha_status leave(const gpu *g, void *previous, fmha_status status) {
    if (previous == g->current) {
        return status;
    }
    int result = g->runtime->set_current(g, previous);
    return status != FMHA_OK ? status : fmha_gpu_check(g, result, g->runtime->set_current_name);
}

/* The same after `made` was made: *result has it, or `undo` releases what its caller never learns of. */
static fmha_status leave_with(const gpu *g, void *previous, fmha_status status, void *made, int (*undo)(void *made),
                              void **result) {
    bool made_it = status == FMHA_OK;
    status = leave(g, previous, status);
    if (status != FMHA_OK && made_it) {
        undo(made);
    }
    *result = status == FMHA_OK ? made : NULL;
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static void *find_library(const gpu_library *kind, library_search *search) {
    const char *chosen = getenv(kind->variable);
    if (chosen != NULL && chosen[0] != '\0') {
        return fmha_library_open(search, chosen);
    }
    char place[32];
    snprintf(place, sizeof place, "$%s", kind->variable);
    fmha_library_note(search, place, "not set");
    void *library = fmha_library_loaded(kind->names); /* memory of one runtime means nothing to a second one */
    for (size_t i = 0; library == NULL && kind->names[i] != NULL; i++) {
        library = fmha_library_open(search, kind->names[i]);
    }
    return library != NULL ? library : kind->find(search, kind->names);
}

fmha_status fmha_gpu_library_lacks(const gpu_library *kind, void *library, const char *function) {
    return fmha_fail(FMHA_ERROR_NO_DRIVER,
                     "%s: expected the %s %s, got %s without the function %s; install another, or set %s to its path",
                     kind->driver, kind->word, kind->version, fmha_library_path(library), function, kind->variable);
}

fmha_status fmha_gpu_library_open(const gpu_library *kind, const char *const *names, void *own, gpu_functions *shared,
                                  void **library) {
    *library = NULL;
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory to look for the %s", kind->driver, kind->word);
    }
    fmha_status status = FMHA_OK;
    void *opened = find_library(kind, search);
    if (opened == NULL) {
        status =
            fmha_fail(FMHA_ERROR_NO_DRIVER, "%s: expected the %s %s, looked at%s\ninstall %s, or set %s to its path",
                      kind->driver, kind->word, kind->file, search->places, kind->install, kind->variable);
    }
    free(search);
    if (status != FMHA_OK) {
        return status;
    }
    const char *missing = fmha_library_bind(opened, kind->functions, kind->function_count, own);
    if (missing == NULL) {
        missing = fmha_library_bind(opened, names, GPU_FUNCTION_COUNT, shared);
    }
    if (missing != NULL) {
        status = fmha_gpu_library_lacks(kind, opened, missing);
        fmha_library_close(opened);
        return status;
    }
    *library = opened;
    return FMHA_OK;
}

/* Reads what follows the colon of a device's name. */
static fmha_status read_ordinal(const char *driver, const char *selector, int *ordinal) {
    char *end;
    errno = 0;
    long value = strtol(selector, &end, 10);
    bool digits = selector[0] >= '0' && selector[0] <= '9' && *end == '\0' && errno == 0 && value <= 9999;
    if (selector[0] != '\0' && !digits) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "device '%s:%s': expected %s or %s:N with a number N from 0, got '%s'",
                         driver, selector, driver, driver, selector);
    }
    *ordinal = selector[0] == '\0' ? 0 : (int)value;
    return FMHA_OK;
}

void fmha_gpu_explain_absence(const gpu_absence *absence, char text[512]) {
    if (access(absence->node, R_OK | W_OK) != 0) {
        if (errno == ENOENT) {
            snprintf(text, 512, "%s is missing: %s", absence->node, absence->missing);
        } else {
            snprintf(text, 512,
                     "%s cannot be opened: %s; add this user to the group that owns it (usually render) and "
                     "log in again",
                     absence->node, strerror(errno));
        }
        return;
    }
    for (const char *const *variable = absence->hiding; *variable != NULL; variable++) {
        const char *value = getenv(*variable);
        if (value != NULL) {
            snprintf(text, 512, "%s='%.200s' may hide it: unset it", *variable, value);
            return;
        }
    }
    snprintf(text, 512, "%s can be opened: %s", absence->node, absence->check);
}

fmha_status fmha_gpu_find_device(const gpu *g) {
    const gpu_absence *absence = g->runtime->absence;
    const char *driver = g->runtime->library->driver;
    int count = 0, result = g->call.init(0);
    if (result == GPU_SUCCESS) {
        result = g->call.device_count(&count);
    }
    if (result == GPU_NO_DEVICE || (result == GPU_SUCCESS && count == 0)) {
        char why[512];
        fmha_gpu_explain_absence(absence, why);
        take_error(g);
        return fmha_fail(FMHA_ERROR_NO_DEVICE, "%s:%d: expected %s, got none: the %s reports no device (%s, %d); %s",
                         driver, g->ordinal, absence->gpu, g->runtime->library->word, absence->error, GPU_NO_DEVICE,
                         why);
    }
    if (result != GPU_SUCCESS) {
        char text[256];
        g->runtime->describe(g, result, text);
        take_error(g);
        return fmha_fail(FMHA_ERROR_DRIVER, "%s:%d: the %s does not start: %s; check it with %s", driver, g->ordinal,
                         g->runtime->library->word, text, absence->tool);
    }
    if (g->ordinal >= count) {
        return fmha_fail(FMHA_ERROR_NO_DEVICE,
                         "%s:%d: expected a number below %d, the number of %s here, got %d; %s may hide others", driver,
                         g->ordinal, count, absence->devices, g->ordinal, absence->hides);
    }
    return FMHA_OK;
}

fmha_status fmha_gpu_open(const gpu_runtime *runtime, const char *selector, void **state, fmha_device_info *info) {
    int ordinal = 0;
    fmha_status status = read_ordinal(runtime->library->driver, selector, &ordinal);
    if (status != FMHA_OK) {
        return status;
    }
    gpu *g = calloc(1, runtime->state_bytes);
    if (g == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s:%d: no host memory for its state", runtime->library->driver, ordinal);
    }
    g->runtime = runtime;
    g->ordinal = ordinal;
    snprintf(g->arch, sizeof g->arch, "chip not known yet");
    pthread_mutex_init(&g->rtc_lock, NULL); /* of the default kind, which cannot fail */
    status = runtime->open(g, info);
    if (status != FMHA_OK) {
        runtime->close(g);
        return status;
    }
    info->arch = g->arch;
    info->ordinal = ordinal;
    info->image_kind = FMHA_IMAGE_CODE_OBJECT;
    *state = g;
    return FMHA_OK;
}

void fmha_gpu_release(gpu *g) {
    if (g->rtc_found) {
        fmha_rtc_close(&g->rtc);
    }
    pthread_mutex_destroy(&g->rtc_lock);
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

fmha_status fmha_gpu_memory_alloc(void *state, size_t bytes, const char *label, void **address) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    void *made = NULL;
    int result = g->call.memory_alloc(&made, bytes);
    if (result == GPU_OUT_OF_MEMORY) {
        take_error(g);
        status = fmha_fail(FMHA_ERROR_MEMORY,
                           "%s:%d (%s): no device memory for the buffer '%s' of %zu bytes; free others "
                           "first",
                           g->runtime->library->driver, g->ordinal, g->arch, label != NULL ? label : "", bytes);
    } else {
        status = check(g, result, GPU_FUNCTION(memory_alloc));
    }
    return leave_with(g, previous, status, made, g->call.memory_free, address);
}

fmha_status fmha_gpu_memory_free(void *state, void *address) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK ? status
                             : leave(g, previous, check(g, g->call.memory_free(address), GPU_FUNCTION(memory_free)));
}

fmha_status fmha_gpu_memory_write(void *state, void *to, const void *from_host, size_t bytes) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK
               ? status
               : leave(g, previous,
                       check(g, g->call.copy_to_device(to, from_host, bytes), GPU_FUNCTION(copy_to_device)));
}

fmha_status fmha_gpu_memory_read(void *state, void *to_host, const void *from, size_t bytes) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK
               ? status
               : leave(g, previous, check(g, g->call.copy_to_host(to_host, from, bytes), GPU_FUNCTION(copy_to_host)));
}

/* ---- Code ------------------------------------------------------------------------------------------------ */

/* The runtime's compiler, or one that is run where it is not here. */
static fmha_status find_compiler(gpu *g, bool *use_rtc, fmha_compiler *compiler) {
    fmha_status status = FMHA_OK;
    pthread_mutex_lock(&g->rtc_lock);
    if (!g->rtc_looked_for) {
        status = fmha_rtc_open(&g->rtc, g->runtime->rtc, g->rtc_library, g->rtc_major, &g->rtc_found);
        g->rtc_looked_for = status == FMHA_OK;
    }
    *use_rtc = g->rtc_found;
    pthread_mutex_unlock(&g->rtc_lock);
    if (status != FMHA_OK || *use_rtc) {
        return status;
    }
    status = fmha_compiler_find(g->arch, compiler);
    return status == FMHA_OK ? status
                             : fmha_fail(status, "%s:%d: %s is not here, and %s", g->runtime->library->driver,
                                         g->ordinal, g->runtime->rtc->word, fmha_last_error());
}

fmha_status fmha_gpu_compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    gpu *g = state;
    bool use_rtc;
    fmha_compiler compiler;
    fmha_status status = find_compiler(g, &use_rtc, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    return use_rtc ? fmha_rtc_compile(&g->rtc, g->arch, source, image, image_bytes)
                   : fmha_compiler_compile_source(&compiler, g->arch, source, image, image_bytes);
}

fmha_status fmha_gpu_compile_identity(void *state, int wave, char **text) {
    gpu *g = state;
    bool use_rtc;
    fmha_compiler compiler;
    *text = NULL;
    fmha_status status = find_compiler(g, &use_rtc, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    return use_rtc ? fmha_rtc_identity(&g->rtc, g->arch, wave, text)
                   : fmha_compiler_identity(&compiler, g->arch, wave, text);
}

static fmha_status fail_wrong_chip(const gpu *g, const char *target) {
    return fmha_fail(FMHA_ERROR_WRONG_CHIP,
                     "%s:%d: expected code for %s, got code for %s; build the instance with --arch %s",
                     g->runtime->library->driver, g->ordinal, g->arch, target, g->arch);
}

fmha_status fmha_gpu_module_load(void *state, const void *image, size_t image_bytes, void **module) {
    const gpu *g = state;
    char target[FMHA_TARGET_BYTES];
    void *previous;
    fmha_status status = fmha_image_target("module image", image, image_bytes, target);
    if (status == FMHA_OK && !fmha_image_fits(target, g->arch)) {
        status = fail_wrong_chip(g, target);
    }
    if (status == FMHA_OK) {
        status = enter(g, &previous);
    }
    if (status != FMHA_OK) {
        return status;
    }
    void *made = NULL;
    int result = g->call.module_load(&made, image);
    if (result == GPU_NO_BINARY_FOR_GPU) {
        take_error(g);
        status = fail_wrong_chip(g, target);
    } else {
        status = check(g, result, GPU_FUNCTION(module_load));
    }
    return leave_with(g, previous, status, made, g->call.module_unload, module);
}

fmha_status fmha_gpu_module_unload(void *state, void *module) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK ? status
                             : leave(g, previous, check(g, g->call.module_unload(module), GPU_FUNCTION(module_unload)));
}

fmha_status fmha_gpu_module_kernel(void *state, void *module, const char *symbol, void **kernel) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    int result = g->call.module_kernel(kernel, module, symbol);
    if (result == GPU_NOT_FOUND) {
        take_error(g);
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "%s:%d (%s): expected a kernel of the module, got '%s', which it does not "
                           "hold; NAME.json beside the code object names its symbol",
                           g->runtime->library->driver, g->ordinal, g->arch, symbol);
    } else {
        status = check(g, result, GPU_FUNCTION(module_kernel));
    }
    return leave(g, previous, status);
}

fmha_status fmha_gpu_needs(void *state, void *module, void *kernel, fmha_kernel_needs *needs) {
    const gpu *g = state;
    void *previous;
    if (g->runtime->needs == NULL) {
        return FMHA_OK;
    }
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK ? status : leave(g, previous, g->runtime->needs(g, module, kernel, needs));
}

/* ---- Launches -------------------------------------------------------------------------------------------- */

/* The device is current. */
static fmha_status start(const gpu *g, void *kernel, const fmha_launch_config *config) {
    size_t argument_bytes = config->argument_bytes;
    /* The runtime copies the block before it returns; it only lacks the const. */
    void *extra[] = {LAUNCH_BUFFER_POINTER, (void *)(uintptr_t)config->arguments, LAUNCH_BUFFER_SIZE, &argument_bytes,
                     g->runtime->launch_end};
    const uint32_t *grid = config->grid, *workgroup = config->workgroup;
    if (grid[1] > g->runtime->grid_yz_max || grid[2] > g->runtime->grid_yz_max) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s:%d (%s): expected a grid of at most %u workgroups in its second and third dimension, got "
                         "%u and %u; do fewer sequences or heads at once",
                         g->runtime->library->driver, g->ordinal, g->arch, g->runtime->grid_yz_max, grid[1], grid[2]);
    }
    int result =
        g->call.launch(kernel, grid[0], grid[1], grid[2], workgroup[0], workgroup[1], workgroup[2],
                       (unsigned)config->lds_dynamic_bytes, config->stream, NULL, argument_bytes > 0 ? extra : NULL);
    return check(g, result, GPU_FUNCTION(launch));
}

fmha_status fmha_gpu_launch(void *state, void *kernel, const fmha_launch_config *config) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    return status != FMHA_OK ? status : leave(g, previous, start(g, kernel, config));
}

fmha_status fmha_gpu_synchronize(void *state, void *stream) {
    const gpu *g = state;
    void *previous;
    fmha_status status = enter(g, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    status = stream != NULL ? check(g, g->call.stream_synchronize(stream), GPU_FUNCTION(stream_synchronize))
                            : check(g, g->call.synchronize(), GPU_FUNCTION(synchronize));
    return leave(g, previous, status);
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

#define SHORT_US 500.0 /* what takes less is run several times in a row, about LONG_US in all */
#define LONG_US  1000.0
#define ROW_MAX  200

/* Microseconds of `count` launches in a row, between two events on their stream. */
static fmha_status time_row(const gpu *g, void *kernel, const fmha_launch_config *config, int count,
                            void *const events[2], double *us) {
    float milliseconds = 0;
    fmha_status status = check(g, g->call.event_record(events[0], config->stream), GPU_FUNCTION(event_record));
    for (int i = 0; i < count && status == FMHA_OK; i++) {
        status = start(g, kernel, config);
    }
    if (status == FMHA_OK) {
        status = check(g, g->call.event_record(events[1], config->stream), GPU_FUNCTION(event_record));
    }
    if (status == FMHA_OK) {
        status = check(g, g->call.event_synchronize(events[1]), GPU_FUNCTION(event_synchronize));
    }
    if (status == FMHA_OK) {
        status = check(g, g->call.event_elapsed(&milliseconds, events[0], events[1]), GPU_FUNCTION(event_elapsed));
    }
    *us = (double)milliseconds * 1e3;
    return status;
}

/* The device is current. Events resolve about a microsecond, and a launch by itself takes a few: one that is short is
 * run again in a row, of which the mean is taken. */
static fmha_status time_launch(const gpu *g, void *kernel, const fmha_launch_config *config, void *const events[2],
                               double *us) {
    fmha_status status = time_row(g, kernel, config, 1, events, us);
    if (status != FMHA_OK || *us >= SHORT_US) {
        return status;
    }
    int count = *us * ROW_MAX > LONG_US ? (int)(LONG_US / *us) : ROW_MAX;
    status = time_row(g, kernel, config, count, events, us);
    *us /= count;
    return status;
}

fmha_status fmha_gpu_measure(void *state, void *kernel, const fmha_launch_config *config, double *us) {
    const gpu *g = state;
    void *events[2] = {NULL, NULL}, *previous;
    fmha_status status = enter(g, &previous);
    if (status != FMHA_OK) {
        return status;
    }
    for (int i = 0; i < 2 && status == FMHA_OK; i++) {
        status = check(g, g->call.event_create(&events[i], 0), GPU_FUNCTION(event_create));
    }
    if (status == FMHA_OK) {
        status = time_launch(g, kernel, config, events, us);
    }
    for (int i = 0; i < 2; i++) {
        if (events[i] != NULL && g->call.event_destroy(events[i]) != GPU_SUCCESS) {
            take_error(g); /* what was measured stands */
        }
    }
    return leave(g, previous, status);
}
