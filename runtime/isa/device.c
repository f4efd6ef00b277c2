/* The driver "isa": a device's state and the table of its functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler.h"
#include "../emu/emu.h"
#include "../emu/state.h"
#include "counters.h"
#include "decode.h"
#include "family.h"
#include "image.h"
#include "launch.h"
#include "lines.h"

fmha_fail_function isa_fail;

typedef struct device device;
typedef struct loaded loaded;

/* A module. */
struct loaded {
    isa_image image;
    isa_lines *lines; /* NULL: it has no debug information */
    loaded *next;
};

struct device {
    emu_state common;                /* first */
    isa_counters counters, measured; /* measured: of one launch */
    loaded *modules;
    bool lines; /* kernels compiled from now on carry the lines of their source */
};

static fmha_status read_lines(device *opened) {
    const char *text = getenv("FMHA_ISA_LINES");
    if (text == NULL || text[0] == '\0') {
        return FMHA_OK;
    }
    if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') {
        return isa_fail(FMHA_ERROR_ARGUMENT, "FMHA_ISA_LINES: expected 0 or 1, got \"%s\": correct or unset it", text);
    }
    opened->lines = text[0] == '1';
    return FMHA_OK;
}

static fmha_status device_open(const char *selector, void **state, fmha_device_info *info) {
    *state = NULL;
    device *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for a device");
    }
    fmha_status status = emu_state_open(&opened->common, "isa", isa_family_chips(), "FMHA_ISA", "ISA-level", selector);
    if (status == FMHA_OK) {
        status = read_lines(opened);
    }
    if (status != FMHA_OK) {
        free(opened);
        return status;
    }
    opened->common.lines = &opened->lines;
    opened->common.count_most = 2;
    isa_counters_init(&opened->counters);
    isa_counters_init(&opened->measured);
    *info = emu_state_info(&opened->common);
    info->image_kind = FMHA_IMAGE_CODE_OBJECT;
    *state = opened;
    return FMHA_OK;
}

static fmha_status counters(void *state, const fmha_counter **list, size_t *count) {
    return isa_counters_list(&((device *)state)->counters, list, count);
}

static fmha_status clear_counters(void *state) {
    isa_counters_clear(&((device *)state)->counters);
    return FMHA_OK;
}

/* ---- Compilation ----------------------------------------------------------------------------------------------------
 */

static fmha_status find_compiler(const device *owner, fmha_compiler *compiler) {
    fmha_status status = fmha_compiler_find(owner->common.arch, compiler);
    compiler->lines = owner->lines;
    return status == FMHA_OK ? status : isa_fail(status, "%s", fmha_last_error());
}

static fmha_status compile(void *state, const fmha_source *source, void **image, size_t *image_bytes) {
    const device *owner = state;
    fmha_compiler compiler;
    *image = NULL;
    *image_bytes = 0;
    fmha_status status = find_compiler(owner, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_compiler_compile_source(&compiler, owner->common.arch, source, image, image_bytes);
    return status == FMHA_OK ? status : isa_fail(status, "%s", fmha_last_error());
}

static fmha_status compile_identity(void *state, int wave, char **text) {
    const device *owner = state;
    fmha_compiler compiler;
    *text = NULL;
    fmha_status status = find_compiler(owner, &compiler);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_compiler_identity(&compiler, owner->common.arch, wave, text);
    return status == FMHA_OK ? status : isa_fail(status, "%s", fmha_last_error());
}

/* ---- Modules --------------------------------------------------------------------------------------------------------
 */

static void module_free(device *owner, loaded *module) {
    for (size_t i = 0; i < module->image.kernel_count; i++) {
        if (module->image.kernels[i].code != NULL) {
            isa_code_free(module->image.kernels[i].code);
            free(module->image.kernels[i].code);
        }
    }
    isa_image_unload(&owner->common.memory, &module->image);
    isa_lines_close(module->lines);
    free(module);
}

static fmha_status module_load(void *state, const void *image, size_t image_bytes, void **module) {
    device *owner = state;
    *module = NULL;
    loaded *added = calloc(1, sizeof *added);
    if (added == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for a module");
    }
    fmha_status status = isa_image_load(&owner->common.memory, owner->common.arch, image, image_bytes, &added->image);
    if (status != FMHA_OK) {
        free(added);
        return status;
    }
    added->lines = isa_lines_open(image, image_bytes);
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
            module_free(owner, gone);
            return FMHA_OK;
        }
    }
    return isa_fail(FMHA_ERROR_ARGUMENT, "isa: the module is not one of this device's: unload it once, on its device");
}

static void device_close(void *state) {
    device *closed = state;
    while (closed->modules != NULL) {
        loaded *module = closed->modules;
        closed->modules = module->next;
        module_free(closed, module);
    }
    isa_counters_clear(&closed->counters);
    isa_counters_clear(&closed->measured);
    emu_state_close(&closed->common);
    free(closed);
}

static fmha_status decode(const device *owner, const isa_image *image, isa_image_kernel *found) {
    isa_kernel *kernel = &found->kernel;
    const unsigned char *bytes = image->memory + (kernel->entry_address - image->low);
    isa_code *code = calloc(1, sizeof *code);
    if (code == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for the code of %s", kernel->symbol);
    }
    const char *arch = owner->common.chip->arch;
    fmha_status status =
        isa_decode(kernel->symbol, arch, kernel->wave, bytes, (size_t)kernel->code_bytes, kernel->entry_address, code);
    if (status == FMHA_OK && kernel->code_before > 0 && isa_code_calls(code)) {
        isa_code_free(code);
        status = isa_decode(kernel->symbol, arch, kernel->wave, bytes - kernel->code_before,
                            (size_t)(kernel->code_bytes + kernel->code_before),
                            kernel->entry_address - kernel->code_before, code);
    }
    if (status != FMHA_OK) {
        free(code);
        return status;
    }
    found->code = code;
    kernel->code = code->list;
    kernel->count = code->count;
    kernel->block_count = code->block_count;
    kernel->entry = (uint32_t)isa_code_index(code, kernel->entry_address);
    return FMHA_OK;
}

static fmha_status module_kernel(void *state, void *module, const char *symbol, void **kernel) {
    loaded *owner = module;
    *kernel = NULL;
    isa_image_kernel *found = isa_image_find(&owner->image, symbol);
    if (found == NULL && owner->image.kernel_count == 0) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "isa: the module has no kernel, hence none is \"%s\": compile its text as device code, with a "
                        "__global__ function",
                        symbol);
    }
    if (found == NULL) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "isa: the module has %zu kernel%s, the first is \"%s\", none is \"%s\": ask for one that it "
                        "has",
                        owner->image.kernel_count, owner->image.kernel_count == 1 ? "" : "s",
                        owner->image.kernels[0].kernel.symbol, symbol);
    }
    if (found->code == NULL) {
        fmha_status status = decode(state, &owner->image, found);
        if (status != FMHA_OK) {
            return status;
        }
    }
    found->module = module;
    *kernel = found;
    return FMHA_OK;
}

/* ---- Launches -------------------------------------------------------------------------------------------------------
 */

static fmha_status check_launch(const emu_state *common, const isa_image_kernel *found,
                                const fmha_launch_config *config) {
    const isa_kernel *kernel = &found->kernel;
    fmha_status status = emu_state_check_launch(common, kernel->symbol, kernel->explicit_bytes, config);
    if (status != FMHA_OK) {
        return status;
    }
    size_t items = (size_t)config->workgroup[0] * config->workgroup[1] * config->workgroup[2];
    if (items > found->workgroup_max) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %u work items in a workgroup, for which it was compiled, got "
                        "%zu: use smaller workgroups",
                        kernel->symbol, found->workgroup_max, items);
    }
    if (kernel->lds_bytes + config->lds_dynamic_bytes > common->chip->lds_bytes_workgroup) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %zu bytes of LDS on %s, got %u that it declares and %zu of the "
                        "launch: use smaller tiles",
                        kernel->symbol, common->chip->lds_bytes_workgroup, common->chip->arch, kernel->lds_bytes,
                        config->lds_dynamic_bytes);
    }
    return FMHA_OK;
}

/* hsa_kernel_dispatch_packet_t of the HSA runtime's hsa.h. */
typedef struct dispatch_packet {
    uint16_t header, setup, workgroup[3], reserved0;
    uint32_t grid[3]; /* work items */
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved1, completion_signal;
} dispatch_packet;
_Static_assert(sizeof(dispatch_packet) == 64, "a dispatch packet has 64 bytes");

static fmha_status make_packet(emu_memory *memory, const isa_kernel *kernel, const fmha_launch_config *config,
                               isa_launch *started) {
    void *address;
    if ((kernel->rsrc_properties & ISA_USER_DISPATCH_PTR) == 0) {
        return FMHA_OK;
    }
    fmha_status status = isa_memory_constant(memory, sizeof(dispatch_packet), "dispatch packet", &address);
    if (status != FMHA_OK) {
        return status;
    }
    dispatch_packet packet = {.setup = 3, /* dimensions */
                              .private_bytes = kernel->scratch_bytes,
                              .group_bytes = (uint32_t)(kernel->lds_bytes + config->lds_dynamic_bytes),
                              .kernarg = (uint64_t)(uintptr_t)started->kernarg};
    for (int i = 0; i < 3; i++) {
        packet.workgroup[i] = (uint16_t)config->workgroup[i];
        packet.grid[i] = config->grid[i] * config->workgroup[i];
    }
    memcpy(address, &packet, sizeof packet);
    started->dispatch_packet = address;
    return FMHA_OK;
}

/* Both are freed when the launch has ended; fresh memory holds 0xff bytes, which is what padding keeps. */
static fmha_status make_arguments(emu_memory *memory, const isa_kernel *kernel, const fmha_launch_config *config,
                                  isa_launch *started) {
    void *address;
    size_t bytes = kernel->kernarg_bytes > 0 ? kernel->kernarg_bytes : 1;
    fmha_status status = isa_memory_constant(memory, bytes, "kernel arguments", &address);
    if (status != FMHA_OK) {
        return status;
    }
    started->kernarg = address;
    if (kernel->explicit_bytes > 0) {
        memcpy(started->kernarg, config->arguments, kernel->explicit_bytes);
    }
    isa_image_hidden(kernel, config, started->kernarg);
    return make_packet(memory, kernel, config, started);
}

static void free_arguments(emu_memory *memory, isa_launch *ended) {
    if (ended->kernarg != NULL) {
        emu_memory_free(memory, ended->kernarg);
    }
    if (ended->dispatch_packet != NULL) {
        emu_memory_free(memory, (void *)ended->dispatch_packet);
    }
}

/* `counters` NULL: it is not counted; `count` 2: by instruction too. */
static fmha_status run(device *owner, void *handle, const fmha_launch_config *config, unsigned count,
                       isa_counters *counters) {
    emu_state *common = &owner->common;
    const isa_image_kernel *found = handle;
    const isa_kernel *kernel = &found->kernel;
    isa_costs costs = {0};
    fmha_status status = check_launch(common, found, config);
    if (status != FMHA_OK) {
        return status;
    }
    snprintf(common->symbol, sizeof common->symbol, "%.255s", kernel->symbol);
    isa_launch started = {
        .kernel = kernel,
        .memory = &common->memory,
        .findings = &common->findings,
        .grid = {config->grid[0], config->grid[1], config->grid[2]},
        .workgroup = {config->workgroup[0], config->workgroup[1], config->workgroup[2]},
        .groups = (unsigned long long)config->grid[0] * config->grid[1] * config->grid[2],
        .lds_dynamic_bytes = config->lds_dynamic_bytes,
        .seed = common->seed,
        .seconds = common->seconds,
        .number = ++common->launches,
        .checks = common->checks,
        .count = counters != NULL ? count : 0,
        .costs = &costs,
        .counters = counters,
        .lines = ((loaded *)found->module)->lines,
    };
    if (counters != NULL) {
        /* The arguments' memory comes later and is not counted. */
        status = isa_costs_init(&costs, kernel, common->chip->arch)
                     ? emu_traffic_begin(&common->memory)
                     : isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory to count %s", kernel->symbol);
    }
    if (status == FMHA_OK) {
        status = make_arguments(&common->memory, kernel, config, &started);
    }
    if (status == FMHA_OK) {
        status = isa_launch_run(&started, common->threads);
    }
    free_arguments(&common->memory, &started);
    isa_costs_free(&costs);
    if (status == FMHA_OK) {
        emu_state_note_launch(common, atomic_load(&started.given_up) > 0, started.checks);
        if (counters != NULL) {
            emu_traffic_end(&counters->traffic, &common->memory);
        }
    }
    return status;
}

static fmha_status launch(void *state, void *kernel, const fmha_launch_config *config) {
    device *owner = state;
    unsigned count = owner->common.count;
    return run(owner, kernel, config, count, count > 0 ? &owner->counters : NULL);
}

/* Counts a launch of its own. */
static fmha_status measure(void *state, void *kernel, const fmha_launch_config *config, double *amount) {
    device *owner = state;
    const emu_state_mark before = emu_state_mark_here(&owner->common);
    isa_counters_clear(&owner->measured);
    fmha_status status = run(owner, kernel, config, 1, &owner->measured);
    status = emu_state_measured(&owner->common, before, config->stream, status);
    return status == FMHA_OK ? isa_counters_cycles(&owner->measured, amount) : status;
}

static void about(void *state, char *text, size_t room) {
    const device *owner = state;
    snprintf(text, room, "machine code of %s, executed by fmhagen " FMHA_VERSION, owner->common.arch);
}

static const fmha_driver driver = {
    .version = FMHA_DRIVER_VERSION,
    .name = "isa",
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
    isa_fail = fail;
    return &driver;
}
