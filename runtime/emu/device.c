/* The driver "emu": a device's state and the table of its functions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "launch.h"
#include "module.h"

fmha_fail_function emu_fail;

enum { SECONDS_DEFAULT = 120, ARGUMENT_ALIGNMENT = 64 };

typedef struct device device;
typedef struct loaded loaded;

/* A module, which is also its one kernel. */
struct loaded {
    emu_module module;
    loaded *next;
};

struct device {
    const emu_chip *chip;
    char arch[64], name[96];
    emu_memory memory;
    emu_findings findings;
    emu_workers workers;
    loaded *modules;
    uint64_t seed;
    unsigned threads, seconds;
};

void emu_device_set_seed(void *state, uint64_t seed) {
    ((device *)state)->seed = seed;
}

void emu_device_set_threads(void *state, unsigned threads) {
    ((device *)state)->threads = threads;
}

void emu_device_set_seconds(void *state, unsigned seconds) {
    ((device *)state)->seconds = seconds;
}

static fmha_status read_number(const char *variable, unsigned long long most, unsigned long long *number) {
    const char *text = getenv(variable);
    if (text == NULL || text[0] == '\0') {
        return FMHA_OK;
    }
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0' || text[0] < '0' || text[0] > '9' || errno != 0 || value > most) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "%s: expected a whole number from 0 to %llu, got \"%s\": correct or unset it", variable, most,
                        text);
    }
    *number = value;
    return FMHA_OK;
}

static fmha_status read_environment(device *opened) {
    unsigned long long seed = 0, threads = 0, seconds = SECONDS_DEFAULT;
    fmha_status status = read_number("FMHA_EMU_SEED", UINT64_MAX, &seed);
    if (status == FMHA_OK) {
        status = read_number("FMHA_EMU_THREADS", EMU_THREADS_MAX, &threads);
    }
    if (status == FMHA_OK) {
        status = read_number("FMHA_EMU_SECONDS", 1000000, &seconds);
    }
    opened->seed = seed;
    opened->threads = (unsigned)threads;
    opened->seconds = (unsigned)seconds;
    return status;
}

/* NULL after an error, which is recorded. */
static const emu_chip *find_chip(const char *selector) {
    char known[512];
    const emu_chip *nearest = emu_chip_list(selector, known, sizeof known);
    if (selector[0] == '\0') {
        emu_fail(FMHA_ERROR_NO_DEVICE,
                 "emu: expected a chip after the colon, got none: write for example emu:gfx1151; known are %s", known);
        return NULL;
    }
    size_t length = strcspn(selector, ":");
    const emu_chip *chip = emu_chip_find(selector, length);
    if (chip == NULL) {
        emu_fail(FMHA_ERROR_NO_DEVICE, "emu: unknown chip \"%s\", known are %s: did you mean emu:%s?", selector, known,
                 nearest->arch);
    } else if (selector[length] != '\0') {
        emu_fail(FMHA_ERROR_NO_DEVICE, "emu: %s has no feature \"%s\": write emu:%s", chip->arch, selector + length,
                 chip->arch);
        return NULL;
    }
    return chip;
}

static fmha_status device_open(const char *selector, void **state, fmha_device_info *info) {
    *state = NULL;
    const emu_chip *chip = find_chip(selector);
    if (chip == NULL) {
        return FMHA_ERROR_NO_DEVICE;
    }
    device *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for a device");
    }
    fmha_status status = read_environment(opened);
    if (status != FMHA_OK) {
        free(opened);
        return status;
    }
    opened->chip = chip;
    emu_findings_init(&opened->findings);
    snprintf(opened->name, sizeof opened->name, "emulated %s", chip->arch);
    *info = (fmha_device_info){
        .driver = "emu",
        .arch = chip->arch,
        .name = opened->name,
        .image_kind = FMHA_IMAGE_HOST_OBJECT,
        .ordinal = 0,
        .compute_units = chip->compute_units,
        .lds_bytes_workgroup = chip->lds_bytes_workgroup,
    };
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
    emu_findings_clear(&closed->findings);
    emu_memory_free_all(&closed->memory);
    free(closed);
}

/* ---- Memory ---------------------------------------------------------------------------------------------------------
 */

static fmha_status memory_alloc(void *state, size_t bytes, const char *label, void **address) {
    return emu_memory_alloc(&((device *)state)->memory, bytes, label, address);
}

static fmha_status memory_free(void *state, void *address) {
    return emu_memory_free(&((device *)state)->memory, address);
}

static fmha_status check_range(const device *owner, const char *what, const void *address, size_t bytes) {
    if (emu_memory_find(&owner->memory, address, bytes) != NULL) {
        return FMHA_OK;
    }
    char where[256];
    emu_memory_describe(&owner->memory, address, where, sizeof where);
    return emu_fail(
        FMHA_ERROR_ARGUMENT,
        "%s: expected %zu bytes inside one buffer of the device, got address %p, %s: check address and size", what,
        bytes, address, where);
}

static fmha_status memory_write(void *state, void *to, const void *from_host, size_t bytes) {
    fmha_status status = bytes > 0 ? check_range(state, "memory write", to, bytes) : FMHA_OK;
    if (status == FMHA_OK && bytes > 0) {
        memcpy(to, from_host, bytes);
    }
    return status;
}

static fmha_status memory_read(void *state, void *to_host, const void *from, size_t bytes) {
    fmha_status status = bytes > 0 ? check_range(state, "memory read", from, bytes) : FMHA_OK;
    if (status == FMHA_OK && bytes > 0) {
        memcpy(to_host, from, bytes);
    }
    return status;
}

/* ---- Kernels --------------------------------------------------------------------------------------------------------
 */

static fmha_status compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    return emu_compile(((device *)state)->chip, source, image, image_bytes);
}

static fmha_status module_load(void *state, const void *image, size_t image_bytes, void **module) {
    device *owner = state;
    *module = NULL;
    loaded *added = malloc(sizeof *added);
    if (added == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for a module");
    }
    fmha_status status = emu_module_load(owner->chip, image, image_bytes, &added->module);
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

static fmha_status check_launch(const device *owner, const struct fmha_emu_image *image,
                                const fmha_launch_config *config) {
    unsigned long long items = 1;
    for (int i = 0; i < 3; i++) {
        if (config->grid[i] == 0 || config->workgroup[i] == 0) {
            return emu_fail(FMHA_ERROR_ARGUMENT,
                            "launch of %s: expected a grid and a workgroup of 1 and up, got grid (%u,%u,%u), workgroup "
                            "(%u,%u,%u): do not launch empty work",
                            image->symbol, config->grid[0], config->grid[1], config->grid[2], config->workgroup[0],
                            config->workgroup[1], config->workgroup[2]);
        }
        items *= config->workgroup[i] <= EMU_LANES_MAX ? config->workgroup[i] : EMU_LANES_MAX + 1;
    }
    if (items > EMU_LANES_MAX) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %d work items in a workgroup, got (%u,%u,%u): use smaller "
                        "workgroups",
                        image->symbol, (int)EMU_LANES_MAX, config->workgroup[0], config->workgroup[1],
                        config->workgroup[2]);
    }
    if (config->argument_bytes < image->argument_bytes) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected an argument block of %lu bytes, got %zu: lay it out as the kernel's "
                        "parameters say",
                        image->symbol, image->argument_bytes, config->argument_bytes);
    }
    if (config->lds_dynamic_bytes > owner->chip->lds_bytes_workgroup) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %zu bytes of dynamic LDS on %s, got %zu: use "
                        "smaller tiles",
                        image->symbol, owner->chip->lds_bytes_workgroup, owner->chip->arch, config->lds_dynamic_bytes);
    }
    return FMHA_OK;
}

static fmha_status launch(void *state, void *kernel, const fmha_launch_config *config) {
    device *owner = state;
    const emu_module *module = &((loaded *)kernel)->module;
    fmha_status status = check_launch(owner, module->image, config);
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
    emu_launch started = {
        .run = module->image->run,
        .arguments = arguments,
        .chip = owner->chip,
        .memory = &owner->memory,
        .text_begin = module->text_begin,
        .text_end = module->text_end,
        .wave = (unsigned)module->image->wave,
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .workgroup = {config->workgroup[0], config->workgroup[1], config->workgroup[2]},
        .groups = (unsigned long long)config->grid[0] * config->grid[1] * config->grid[2],
        .lds_dynamic_bytes = config->lds_dynamic_bytes,
        .seed = owner->seed,
        .seconds = owner->seconds,
        .findings = &owner->findings,
    };
    status = emu_launch_run(&owner->workers, &started, owner->threads);
    free(arguments);
    return status;
}

/* Launches run to their end before they return; what is left to report is what they found. */
static fmha_status synchronize(void *state, void *stream) {
    (void)stream;
    const fmha_finding *list;
    size_t count;
    fmha_status status = emu_findings_list(&((device *)state)->findings, &list, &count);
    if (status != FMHA_OK || count == 0) {
        return status;
    }
    return emu_fail(FMHA_ERROR_KERNEL, "%s: %s%s", list[0].kind, list[0].text,
                    count > 1 ? " (and further findings)" : "");
}

static fmha_status findings(void *state, const fmha_finding **list, size_t *count) {
    return emu_findings_list(&((device *)state)->findings, list, count);
}

static fmha_status clear_findings(void *state) {
    emu_findings_clear(&((device *)state)->findings);
    return FMHA_OK;
}

static const fmha_driver driver = {
    .version = FMHA_DRIVER_VERSION,
    .name = "emu",
    .open = device_open,
    .close = device_close,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .memory_write = memory_write,
    .memory_read = memory_read,
    .compile = compile,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_kernel = module_kernel,
    .launch = launch,
    .synchronize = synchronize,
    .findings = findings,
    .clear_findings = clear_findings,
};

const fmha_driver *fmha_driver_entry(fmha_fail_function fail) {
    emu_fail = fail;
    return &driver;
}
