#include "driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

FMHA_API fake_driver_record fake_driver_state;
FMHA_API const fmha_driver *fmha_driver_entry(fmha_fail_function fail_function);

#define RECORD fake_driver_state

static fmha_fail_function fail;

/* Guards the record: a concurrent driver is called by several threads at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct module {
    char image[sizeof RECORD.launched_image];
    char symbol[sizeof RECORD.launched_symbol]; /* of its last kernel, whose handle is this module */
    int measurements;
};

static void add(int *number, int change) {
    pthread_mutex_lock(&lock);
    *number += change;
    pthread_mutex_unlock(&lock);
}

static fmha_status result_of(const char *function) {
    pthread_mutex_lock(&lock);
    bool fails = RECORD.fail_in != NULL && strcmp(RECORD.fail_in, function) == 0;
    fmha_status status = RECORD.failure != FMHA_OK ? RECORD.failure : FMHA_ERROR_DRIVER;
    if (fails && RECORD.failures > 0 && --RECORD.failures == 0) {
        RECORD.fail_in = NULL;
    }
    pthread_mutex_unlock(&lock);
    return fails ? fail(status, "fake: %s failed", function) : FMHA_OK;
}

static fmha_status fake_open(const char *selector, void **state, fmha_device_info *info) {
    snprintf(RECORD.selector, sizeof RECORD.selector, "%s", selector);
    fmha_status status = result_of("open");
    if (status == FMHA_OK) {
        RECORD.devices++;
        *state = &RECORD;
        *info = (fmha_device_info){
            .arch = RECORD.arch != NULL ? RECORD.arch : "gfx1151",
            .name = "fake gfx1151",
            .image_kind = RECORD.code_objects ? FMHA_IMAGE_CODE_OBJECT : FMHA_IMAGE_HOST_OBJECT,
            .compute_units = 3,
            .lds_bytes_workgroup = 65536,
        };
    }
    return status;
}

static void fake_close(void *state) {
    (void)state;
    RECORD.devices--;
}

static fmha_status fake_memory_alloc(void *state, size_t bytes, const char *label, void **address) {
    (void)state;
    snprintf(RECORD.label, sizeof RECORD.label, "%s", label != NULL ? label : "(null)");
    fmha_status status = result_of("memory_alloc");
    if (status == FMHA_OK) {
        *address = malloc(bytes);
        RECORD.memories++;
    }
    return status;
}

static fmha_status fake_memory_free(void *state, void *address) {
    (void)state;
    free(address);
    RECORD.memories--;
    return result_of("memory_free");
}

static fmha_status fake_memory_write(void *state, void *to, const void *from_host, size_t bytes) {
    (void)state;
    RECORD.copies++;
    memcpy(to, from_host, bytes);
    return result_of("memory_write");
}

static fmha_status fake_memory_read(void *state, void *to_host, const void *from, size_t bytes) {
    (void)state;
    RECORD.copies++;
    memcpy(to_host, from, bytes);
    return result_of("memory_read");
}

/* The image is the text. */
static fmha_status fake_compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    (void)state;
    pthread_mutex_lock(&lock);
    RECORD.compiles++;
    RECORD.compiling++;
    RECORD.compiling_most = RECORD.compiling > RECORD.compiling_most ? RECORD.compiling : RECORD.compiling_most;
    unsigned ms = RECORD.compile_ms;
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
    fmha_status status = result_of("compile");
    if (status == FMHA_OK) {
        *image = strdup(source->text);
        *image_bytes = strlen(source->text) + 1;
    }
    add(&RECORD.compiling, -1);
    return status;
}

static fmha_status fake_compile_identity(void *state, int wave, char **text) {
    (void)state;
    (void)wave;
    fmha_status status = result_of("compile_identity");
    if (status == FMHA_OK) {
        *text = strdup(RECORD.identity);
    }
    return status;
}

static fmha_status fake_module_load(void *state, const void *image, size_t image_bytes, void **module) {
    (void)state;
    fmha_status status = result_of("module_load");
    const char *refused = RECORD.refused_image;
    if (status == FMHA_OK && refused != NULL && image_bytes >= strlen(refused) &&
        memcmp(image, refused, strlen(refused)) == 0) {
        status = fail(FMHA_ERROR_WRONG_CHIP, "fake: the image is for another chip");
    }
    if (status == FMHA_OK) {
        struct module *made = calloc(1, sizeof *made);
        snprintf(made->image, sizeof made->image, "%.*s", (int)image_bytes, (const char *)image);
        add(&RECORD.modules, 1);
        add(&RECORD.loads, 1);
        *module = made;
    }
    return status;
}

static fmha_status fake_module_unload(void *state, void *module) {
    (void)state;
    free(module);
    add(&RECORD.modules, -1);
    return result_of("module_unload");
}

static fmha_status fake_module_kernel(void *state, void *module, const char *symbol, void **kernel) {
    struct module *of = module;
    (void)state;
    pthread_mutex_lock(&lock);
    RECORD.lookups++;
    snprintf(RECORD.symbol, sizeof RECORD.symbol, "%s", symbol);
    snprintf(of->symbol, sizeof of->symbol, "%s", symbol);
    pthread_mutex_unlock(&lock);
    *kernel = module;
    return result_of("module_kernel");
}

static fmha_status fake_launch(void *state, void *kernel, const fmha_launch_config *config) {
    const struct module *module = kernel;
    (void)state;
    if (RECORD.quiet) {
        return FMHA_OK;
    }
    pthread_mutex_lock(&lock);
    RECORD.launches++;
    RECORD.launched = *config;
    memcpy(RECORD.launched_symbol, module->symbol, sizeof module->symbol);
    memcpy(RECORD.launched_image, module->image, sizeof module->image);
    if (config->argument_bytes <= sizeof RECORD.launched_arguments && config->argument_bytes > 0) {
        memcpy(RECORD.launched_arguments, config->arguments, config->argument_bytes);
    }
    pthread_mutex_unlock(&lock);
    return result_of("launch");
}

static fmha_status fake_measure(void *state, void *kernel, const fmha_launch_config *config, double *amount) {
    struct module *module = kernel;
    char *end;
    fmha_status status = fake_launch(state, kernel, config);
    pthread_mutex_lock(&lock);
    *amount = strtod(module->image, &end) + 0.25 * module->measurements++;
    size_t length = strlen(RECORD.measured);
    snprintf(RECORD.measured + length, sizeof RECORD.measured - length, " %s", module->symbol);
    pthread_mutex_unlock(&lock);
    return end != module->image ? status : fail(FMHA_ERROR_DRIVER, "fake: %s hangs", module->symbol);
}

static fmha_status fake_synchronize(void *state, void *stream) {
    (void)state;
    RECORD.synchronized_stream = stream;
    return result_of("synchronize");
}

static fmha_status fake_findings(void *state, const fmha_finding **findings, size_t *count) {
    static const fmha_finding finding = {"out-of-bounds", "kernel.hip:7: read past q"};
    (void)state;
    *findings = &finding;
    *count = 1;
    return result_of("findings");
}

static fmha_status fake_clear_findings(void *state) {
    (void)state;
    RECORD.clears++;
    return result_of("clear_findings");
}

const fmha_driver *fmha_driver_entry(fmha_fail_function fail_function) {
    static fmha_driver driver = {
        .name = "emu",
        .open = fake_open,
        .close = fake_close,
        .memory_alloc = fake_memory_alloc,
        .memory_free = fake_memory_free,
        .memory_write = fake_memory_write,
        .memory_read = fake_memory_read,
        .compile = fake_compile,
        .module_load = fake_module_load,
        .module_unload = fake_module_unload,
        .module_kernel = fake_module_kernel,
        .launch = fake_launch,
        .synchronize = fake_synchronize,
    };
    fail = fail_function;
    driver.concurrent = RECORD.concurrent;
    driver.compile_identity = RECORD.identity != NULL ? fake_compile_identity : NULL;
    driver.version = RECORD.version != 0 ? RECORD.version : FMHA_DRIVER_VERSION;
    driver.measure = RECORD.measure_unit != NULL ? fake_measure : NULL;
    driver.measure_unit = RECORD.measure_unit;
    driver.findings = RECORD.without_findings ? NULL : fake_findings;
    driver.clear_findings = RECORD.without_findings ? NULL : fake_clear_findings;
    return &driver;
}
