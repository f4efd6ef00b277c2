/* The driver "emu": a device's state and the table of its functions. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "emu.h"
#include "launch.h"
#include "module.h"

fmha_fail_function emu_fail;

enum { SECONDS_DEFAULT = 120, SECONDS_MAX = 1000000, ARGUMENT_ALIGNMENT = 64 };

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
    emu_counters counters;
    loaded *modules;
    uint64_t seed;
    unsigned threads, seconds;
    uint32_t launches;
    char symbol[256]; /* of the kernel that was launched last */
    bool checks, count;
    bool given_up; /* a workgroup since the last synchronization, so that outputs lack what it would have written */
};

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
        status = read_number("FMHA_EMU_SECONDS", SECONDS_MAX, &seconds);
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
    opened->checks = true;
    emu_counters_init(&opened->counters);
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
    emu_counters_clear(&closed->counters);
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

static fmha_status memory_view(void *state, const fmha_tensor_view *view) {
    const emu_memory *memory = &((device *)state)->memory;
    const emu_allocation *allocation = emu_memory_find(memory, view->address, 0);
    if (allocation == NULL) {
        return check_range(state, "tensor", view->address, 1);
    }
    return emu_views_add(&memory->list[allocation - memory->list].views, allocation->begin, view);
}

/* ---- Options and counters -------------------------------------------------------------------------------------------
 */

static fmha_status set(void *state, const char *option, int64_t value) {
    device *owner = state;
    static const struct {
        const char *name;
        int64_t most;
    } options[] = {
        {"seed", INT64_MAX}, {"threads", EMU_THREADS_MAX}, {"seconds", SECONDS_MAX}, {"checks", 1}, {"count", 1}};
    enum { OPTION_COUNT = sizeof options / sizeof *options };
    int which = 0;
    while (which < OPTION_COUNT && strcmp(options[which].name, option) != 0) {
        which++;
    }
    if (which == OPTION_COUNT) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "emu: expected an option seed, threads, seconds, checks or count, got \"%s\": correct its name",
                        option);
    }
    if (value < 0 || value > options[which].most) {
        return emu_fail(FMHA_ERROR_ARGUMENT, "emu: option %s: expected 0 to %lld, got %lld: choose a value between",
                        option, (long long)options[which].most, (long long)value);
    }
    switch (which) {
    case 0:
        owner->seed = (uint64_t)value;
        break;
    case 1:
        owner->threads = (unsigned)value;
        break;
    case 2:
        owner->seconds = (unsigned)value;
        break;
    case 3:
        owner->checks = value != 0;
        break;
    default:
        owner->count = value != 0;
    }
    return FMHA_OK;
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
    return emu_compile(owner->chip, source, owner->checks, image, image_bytes);
}

static fmha_status compile_identity(void *state, int wave, char **text) {
    const device *owner = state;
    return emu_compile_identity(owner->chip, wave, owner->checks, text);
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

static void note_launch(device *owner, emu_launch *ended, bool checks) {
    owner->given_up = owner->given_up || atomic_load(&ended->given_up) > 0;
    if (owner->count) {
        emu_count_end(&owner->counters, &owner->memory);
    }
    for (size_t i = 0; i < owner->memory.count; i++) {
        for (unsigned j = 0; j < owner->memory.list[i].views.count; j++) {
            owner->memory.list[i].views.list[j].launched |= checks; /* without them nobody knows what was written */
        }
    }
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
    snprintf(owner->symbol, sizeof owner->symbol, "%s", module->image->symbol);
    emu_launch started = {
        .run = module->image->run,
        .arguments = arguments,
        .chip = owner->chip,
        .memory = &owner->memory,
        .argument_bytes = rounded,
        .base = module->base,
        .end = module->end,
        .lines = module->lines,
        .number = ++owner->launches,
        .counters = owner->count ? &owner->counters : NULL,
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
    if (owner->count) {
        status = emu_count_begin(&owner->memory);
    }
    if (status == FMHA_OK) {
        status = emu_launch_run(&owner->workers, &started, owner->threads);
    }
    if (status == FMHA_OK) {
        note_launch(owner, &started, module->image->checks != 0);
    }
    free(arguments);
    return status;
}

/* Elements of outputs that no kernel has written by now; a workgroup that was given up excuses them. */
static void find_unwritten(device *owner) {
    for (size_t i = 0; i < owner->memory.count; i++) {
        emu_views *views = &owner->memory.list[i].views;
        for (unsigned j = 1; j < views->count; j++) {
            emu_view *view = &views->list[j];
            int64_t first[FMHA_VIEW_DIMENSIONS_MAX];
            char index[160], text[EMU_FINDING_TEXT_BYTES];
            if (view->access != FMHA_ACCESS_WRITE || !view->launched || view->looked_at || owner->given_up) {
                continue;
            }
            view->looked_at = true;
            unsigned long long missing = emu_view_unwritten(views, view, first);
            if (missing > 0) {
                emu_view_index_text(view, first, index, sizeof index);
                snprintf(
                    text, sizeof text,
                    "%s: %llu element%s not written, the first is %s%s: check the grid, and the guards around stores",
                    owner->symbol, missing, missing == 1 ? " was" : "s were", view->label, index);
                emu_findings_add(&owner->findings, "output-unwritten", ULLONG_MAX, view->label, 0, text);
            }
        }
    }
    owner->given_up = false;
}

/* Launches run to their end before they return; what is left to report is what they found. */
static fmha_status synchronize(void *state, void *stream) {
    (void)stream;
    const fmha_finding *list;
    size_t count;
    find_unwritten(state);
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
    .memory_view = memory_view,
    .set = set,
    .counters = counters,
    .clear_counters = clear_counters,
    .compile_identity = compile_identity,
};

const fmha_driver *fmha_driver_entry(fmha_fail_function fail) {
    emu_fail = fail;
    return &driver;
}
