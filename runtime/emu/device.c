/* The driver "emu": a device's state and the table of its functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "count.h"
#include "emu.h"
#include "launch.h"
#include "module.h"
#include "state.h"

enum { ARGUMENT_ALIGNMENT = 64 };

typedef struct device device;
typedef struct loaded loaded;

/* A module, which is also its one kernel. */
struct loaded {
    emu_module module;
    loaded *next;
};

struct device {
    emu_state common; /* first */
    emu_workers workers;
    emu_counters counters, measured; /* measured: of one launch */
    loaded *modules;
};

static fmha_status device_open(const char *selector, void **state, fmha_device_info *info) {
    *state = NULL;
    device *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for a device");
    }
    fmha_status status =
        emu_state_open(&opened->common, "emu", EMU_GCN5 | EMU_RDNA2 | EMU_RDNA3 | EMU_RDNA4 | EMU_CDNA | EMU_NVIDIA,
                       "FMHA_EMU", "emulated", selector);
    if (status != FMHA_OK) {
        free(opened);
        return status;
    }
    emu_counters_init(&opened->counters);
    emu_counters_init(&opened->measured);
    *info = emu_state_info(&opened->common);
    info->image_kind = FMHA_IMAGE_HOST_OBJECT;
    *state = opened;
    return FMHA_OK;
}

static void device_close(void *state) {
    device *closed = state;
    while (closed->modules != NULL) {
        loaded *module = closed->modules;
        closed->modules = module->next;
        emu_module_unload(&module->module);
        free(module);
    }
    emu_workers_free(&closed->workers);
    emu_counters_clear(&closed->counters);
    emu_counters_clear(&closed->measured);
    emu_state_close(&closed->common);
    free(closed);
}

static fmha_status counters(void *state, const fmha_counter **list, size_t *count) {
    return emu_counters_list(&((device *)state)->counters, list, count);
}

static fmha_status clear_counters(void *state) {
    emu_counters_clear(&((device *)state)->counters);
    return FMHA_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------------------------------
 */

static fmha_status compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    const device *owner = state;
    return emu_compile(owner->common.chip, source, owner->common.checks, image, image_bytes);
}

static fmha_status compile_identity(void *state, int wave, char **text) {
    const device *owner = state;
    return emu_compile_identity(owner->common.chip, wave, owner->common.checks, text);
}

static fmha_status module_load(void *state, const void *image, size_t image_bytes, void **module) {
    device *owner = state;
    *module = NULL;
    loaded *added = malloc(sizeof *added);
    if (added == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for a module");
    }
    fmha_status status = emu_module_load(owner->common.chip, image, image_bytes, &added->module);
    if (status != FMHA_OK) {
        free(added);
        return status;
    }
    added->next = owner->modules;
    owner->modules = added;
    *module = added;
    return FMHA_OK;
}

static fmha_status module_unload(void *state, void *module) {
    device *owner = state;
    for (loaded **link = &owner->modules; *link != NULL; link = &(*link)->next) {
        if (*link == module) {
            loaded *gone = *link;
            *link = gone->next;
            emu_module_unload(&gone->module);
            free(gone);
            return FMHA_OK;
        }
    }
    return emu_fail(FMHA_ERROR_ARGUMENT, "emu: the module is not one of this device's: unload it once, on its device");
}

static fmha_status module_kernel(void *state, void *module, const char *symbol, void **kernel) {
    (void)state;
    const char *known = ((loaded *)module)->module.image->symbol;
    *kernel = NULL;
    if (strcmp(known, symbol) != 0) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "emu: the module holds kernel \"%s\", not \"%s\": ask for the symbol that it was "
                        "compiled with",
                        known, symbol);
    }
    *kernel = module;
    return FMHA_OK;
}

/* `counters` NULL: it is not counted. */
static fmha_status run(device *owner, void *kernel, const fmha_launch_config *config, emu_counters *counters) {
    emu_state *common = &owner->common;
    const emu_module *module = &((loaded *)kernel)->module;
    fmha_status status = emu_state_check_launch(common, module->image->symbol, module->image->argument_bytes, config);
    if (status != FMHA_OK) {
        return status;
    }
    size_t rounded = (config->argument_bytes / ARGUMENT_ALIGNMENT + 1) * ARGUMENT_ALIGNMENT;
    void *arguments = aligned_alloc(ARGUMENT_ALIGNMENT, rounded);
    if (arguments == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "launch of %s: out of memory for its arguments", module->image->symbol);
    }
    memset(arguments, 0xff, rounded);
    if (config->argument_bytes > 0) {
        memcpy(arguments, config->arguments, config->argument_bytes);
    }
    snprintf(common->symbol, sizeof common->symbol, "%s", module->image->symbol);
    emu_launch started = {
        .run = module->image->run,
        .arguments = arguments,
        .chip = common->chip,
        .memory = &common->memory,
        .argument_bytes = rounded,
        .base = module->base,
        .end = module->end,
        .lines = module->lines,
        .number = ++common->launches,
        .counters = counters,
        .text_begin = module->text_begin,
        .text_end = module->text_end,
        .wave = (unsigned)module->image->wave,
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .workgroup = {config->workgroup[0], config->workgroup[1], config->workgroup[2]},
        .groups = (unsigned long long)config->grid[0] * config->grid[1] * config->grid[2],
        .lds_dynamic_bytes = config->lds_dynamic_bytes,
        .seed = common->seed,
        .seconds = common->seconds,
        .findings = &common->findings,
    };
    if (counters != NULL) {
        status = emu_traffic_begin(&common->memory);
    }
    if (status == FMHA_OK) {
        status = emu_launch_run(&owner->workers, &started, common->threads);
    }
    if (status == FMHA_OK) {
        emu_state_note_launch(common, atomic_load(&started.given_up) > 0, module->image->checks != 0);
        if (counters != NULL) {
            emu_count_end(counters, &common->memory);
        }
    }
    free(arguments);
    return status;
}

static fmha_status launch(void *state, void *kernel, const fmha_launch_config *config) {
    device *owner = state;
    return run(owner, kernel, config, owner->common.count ? &owner->counters : NULL);
}

/* Counts a launch of its own. */
static fmha_status measure(void *state, void *kernel, const fmha_launch_config *config, double *amount) {
    device *owner = state;
    const emu_state_mark before = emu_state_mark_here(&owner->common);
    emu_counters_clear(&owner->measured);
    fmha_status status = run(owner, kernel, config, &owner->measured);
    status = emu_state_measured(&owner->common, before, config->stream, status);
    return status == FMHA_OK ? emu_counters_cycles(&owner->measured, amount) : status;
}

static void about(void *state, char *text, size_t room) {
    const device *owner = state;
    snprintf(text, room, "emulated %s of fmhagen " FMHA_VERSION, owner->common.arch);
}

static const fmha_driver driver = {
    .version = FMHA_DRIVER_VERSION,
    .name = "emu",
    .open = device_open,
    .close = device_close,
    .memory_alloc = emu_state_memory_alloc,
    .memory_free = emu_state_memory_free,
    .memory_write = emu_state_memory_write,
    .memory_read = emu_state_memory_read,
    .compile = compile,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_kernel = module_kernel,
    .launch = launch,
    .measure = measure,
    .measure_unit = "counted cycles",
    .about = about,
    .synchronize = emu_state_synchronize,
    .findings = emu_state_findings,
    .clear_findings = emu_state_clear_findings,
    .memory_view = emu_state_memory_view,
    .set = emu_state_set,
    .counters = counters,
    .clear_counters = clear_counters,
    .compile_identity = compile_identity,
};

const fmha_driver *fmha_driver_entry(fmha_fail_function fail) {
    emu_fail = fail;
    return &driver;
}
