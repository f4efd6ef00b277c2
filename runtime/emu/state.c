#include "state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

fmha_fail_function emu_fail;

enum { SECONDS_DEFAULT = 120, SECONDS_MAX = 1000000 };

static fmha_status read_number(const char *prefix, const char *name, unsigned long long most,
                               unsigned long long *number) {
    char variable[64];
    snprintf(variable, sizeof variable, "%s_%s", prefix, name);
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

static fmha_status read_environment(emu_state *opened, const char *prefix) {
    unsigned long long seed = 0, threads = 0, seconds = SECONDS_DEFAULT;
    fmha_status status = read_number(prefix, "SEED", UINT64_MAX, &seed);
    if (status == FMHA_OK) {
        status = read_number(prefix, "THREADS", EMU_THREADS_MAX, &threads);
    }
    if (status == FMHA_OK) {
        status = read_number(prefix, "SECONDS", SECONDS_MAX, &seconds);
    }
    opened->seed = seed;
    opened->threads = (unsigned)threads;
    opened->seconds = (unsigned)seconds;
    return status;
}

/* Whether the first `length` characters of `feature` are a word of the list. */
static bool has_word(const char *list, const char *feature, size_t length) {
    for (const char *word = list; *word != '\0'; word += strspn(word, " ")) {
        size_t end = strcspn(word, " ");
        if (end == length && strncmp(word, feature, length) == 0) {
            return true;
        }
        word += end;
    }
    return false;
}

/* Whether `text` is features that the chip has, ":sramecc+:xnack-", each at most once. */
static bool fixes_features(const emu_chip *chip, const char *text) {
    for (const char *at = text; *at == ':';) {
        const char *feature = at + 1;
        size_t length = strcspn(feature, "+-:");
        char sign = feature[length];
        at = feature + length + 1;
        if ((sign != '+' && sign != '-') || !has_word(chip->features, feature, length) || (*at != ':' && *at != '\0')) {
            return false;
        }
        for (const char *other = at; *other == ':'; other += 1 + strcspn(other + 1, ":")) {
            if (strncmp(other + 1, feature, length) == 0) {
                return false;
            }
        }
    }
    return true;
}

/* NULL after an error, which is recorded. */
static const emu_chip *find_chip(const char *driver, unsigned families, const char *selector) {
    char known[512];
    const emu_chip *nearest = emu_chip_list(families, selector, known, sizeof known);
    if (selector[0] == '\0') {
        emu_fail(FMHA_ERROR_NO_DEVICE,
                 "%s: expected a chip after the colon, got none: write for example %s:gfx1151; known are %s", driver,
                 driver, known);
        return NULL;
    }
    size_t length = strcspn(selector, ":");
    const emu_chip *chip = emu_chip_find(selector, length);
    if (chip == NULL) {
        emu_fail(FMHA_ERROR_NO_DEVICE, "%s: unknown chip \"%s\", known are %s: did you mean %s:%s?", driver, selector,
                 known, driver, nearest->arch);
    } else if ((chip->family & families) == 0) {
        emu_fail(
            FMHA_ERROR_NO_DEVICE,
            "%s: expected one of %s, got %s, whose instructions this device does not have: run its kernels as text "
            "on emu:%s",
            driver, known, chip->arch, chip->arch);
        return NULL;
    } else if (!fixes_features(chip, selector + length)) {
        char features[64] = "";
        if (chip->features[0] != '\0') {
            snprintf(features, sizeof features, ", or one of %s with + or - behind, each once", chip->features);
        }
        emu_fail(FMHA_ERROR_NO_DEVICE, "%s: %s has no feature \"%s\": write %s:%s%s", driver, chip->arch,
                 selector + length, driver, chip->arch, features);
        return NULL;
    }
    return chip;
}

fmha_status emu_state_open(emu_state *state, const char *driver, unsigned families, const char *prefix,
                           const char *title, const char *selector) {
    *state = (emu_state){.driver = driver, .checks = true, .count_most = 1};
    state->chip = find_chip(driver, families, selector);
    if (state->chip == NULL) {
        return FMHA_ERROR_NO_DEVICE;
    }
    snprintf(state->arch, sizeof state->arch, "%s", selector);
    snprintf(state->name, sizeof state->name, "%s %s", title, state->arch);
    emu_findings_init(&state->findings);
    return read_environment(state, prefix);
}

void emu_state_close(emu_state *state) {
    emu_findings_clear(&state->findings);
    emu_memory_free_all(&state->memory);
}

fmha_device_info emu_state_info(const emu_state *state) {
    return (fmha_device_info){
        .driver = state->driver,
        .arch = state->arch,
        .name = state->name,
        .ordinal = 0,
        .compute_units = state->chip->compute_units,
        .lds_bytes_workgroup = state->chip->lds_bytes_workgroup,
    };
}

/* ---- Memory ---------------------------------------------------------------------------------------------------------
 */

fmha_status emu_state_memory_alloc(void *state, size_t bytes, const char *label, void **address) {
    return emu_memory_alloc(&((emu_state *)state)->memory, bytes, label, address);
}

fmha_status emu_state_memory_free(void *state, void *address) {
    return emu_memory_free(&((emu_state *)state)->memory, address);
}

static fmha_status check_range(const emu_state *owner, const char *what, const void *address, size_t bytes) {
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

fmha_status emu_state_memory_write(void *state, void *to, const void *from_host, size_t bytes) {
    fmha_status status = bytes > 0 ? check_range(state, "memory write", to, bytes) : FMHA_OK;
    if (status == FMHA_OK && bytes > 0) {
        memcpy(to, from_host, bytes);
    }
    return status;
}

fmha_status emu_state_memory_read(void *state, void *to_host, const void *from, size_t bytes) {
    fmha_status status = bytes > 0 ? check_range(state, "memory read", from, bytes) : FMHA_OK;
    if (status == FMHA_OK && bytes > 0) {
        memcpy(to_host, from, bytes);
    }
    return status;
}

fmha_status emu_state_memory_view(void *state, const fmha_tensor_view *view) {
    const emu_memory *memory = &((emu_state *)state)->memory;
    const emu_allocation *allocation = emu_memory_find(memory, view->address, 0);
    if (allocation == NULL) {
        return check_range(state, "tensor", view->address, 1);
    }
    return emu_views_add(&memory->list[allocation - memory->list].views, allocation->begin, view);
}

/* ---- Options -------------------------------------------------------------------------------------------
 */

fmha_status emu_state_set(void *state, const char *option, int64_t value) {
    emu_state *owner = state;
    const struct {
        const char *name;
        int64_t most;
    } options[] = {{"seed", INT64_MAX}, {"threads", EMU_THREADS_MAX}, {"seconds", SECONDS_MAX},
                   {"checks", 1},       {"count", owner->count_most}, {"lines", 1}};
    int which = 0, option_count = (int)(sizeof options / sizeof *options) - (owner->lines == NULL);
    while (which < option_count && strcmp(options[which].name, option) != 0) {
        which++;
    }
    if (which == option_count) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "%s: expected an option seed, threads, seconds, checks%s, got \"%s\": correct its name",
                        owner->driver, owner->lines != NULL ? ", count or lines" : " or count", option);
    }
    if (value < 0 || value > options[which].most) {
        return emu_fail(FMHA_ERROR_ARGUMENT, "%s: option %s: expected 0 to %lld, got %lld: choose a value between",
                        owner->driver, option, (long long)options[which].most, (long long)value);
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
    case 4:
        owner->count = (unsigned)value;
        break;
    default:
        *owner->lines = value != 0;
    }
    return FMHA_OK;
}

/* ---- Launches -------------------------------------------------------------------------------------------------------
 */

fmha_status emu_state_check_launch(const emu_state *state, const char *symbol, size_t argument_bytes,
                                   const fmha_launch_config *config) {
    unsigned long long items = 1;
    for (int i = 0; i < 3; i++) {
        if (config->grid[i] == 0 || config->workgroup[i] == 0) {
            return emu_fail(FMHA_ERROR_ARGUMENT,
                            "launch of %s: expected a grid and a workgroup of 1 and up, got grid (%u,%u,%u), workgroup "
                            "(%u,%u,%u): do not launch empty work",
                            symbol, config->grid[0], config->grid[1], config->grid[2], config->workgroup[0],
                            config->workgroup[1], config->workgroup[2]);
        }
        items *= config->workgroup[i] <= EMU_LANES_MAX ? config->workgroup[i] : EMU_LANES_MAX + 1;
    }
    if (items > EMU_LANES_MAX) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %d work items in a workgroup, got (%u,%u,%u): use smaller "
                        "workgroups",
                        symbol, (int)EMU_LANES_MAX, config->workgroup[0], config->workgroup[1], config->workgroup[2]);
    }
    if (config->argument_bytes < argument_bytes) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected an argument block of %zu bytes, got %zu: lay it out as the kernel's "
                        "parameters say",
                        symbol, argument_bytes, config->argument_bytes);
    }
    if (config->lds_dynamic_bytes > state->chip->lds_bytes_workgroup) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "launch of %s: expected at most %zu bytes of dynamic LDS on %s, got %zu: use "
                        "smaller tiles",
                        symbol, state->chip->lds_bytes_workgroup, state->chip->arch, config->lds_dynamic_bytes);
    }
    return FMHA_OK;
}

void emu_state_note_launch(emu_state *state, bool gave_up, bool checked) {
    state->given_up = state->given_up || gave_up;
    for (size_t i = 0; i < state->memory.count; i++) {
        for (unsigned j = 0; j < state->memory.list[i].views.count; j++) {
            state->memory.list[i].views.list[j].launched |= checked; /* else nobody knows what was written */
        }
    }
}

emu_state_mark emu_state_mark_here(const emu_state *state) {
    return (emu_state_mark){state->findings.count, emu_findings_times(&state->findings)};
}

fmha_status emu_state_measured(emu_state *state, emu_state_mark before, void *stream, fmha_status launched) {
    const emu_findings *findings = &state->findings;
    emu_state_synchronize(state, stream);
    if (launched != FMHA_OK || emu_findings_times(findings) == before.times) {
        return launched;
    }
    const emu_finding *found = &findings->list[findings->count > before.count ? before.count : 0];
    return emu_fail(FMHA_ERROR_KERNEL, "%s: %s", found->kind, found->text);
}

/* Elements of outputs that no kernel has written by now; a workgroup that was given up excuses them. */
static void find_unwritten(emu_state *owner) {
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

fmha_status emu_state_synchronize(void *state, void *stream) {
    (void)stream;
    const fmha_finding *list;
    size_t count;
    find_unwritten(state);
    fmha_status status = emu_findings_list(&((emu_state *)state)->findings, &list, &count);
    if (status != FMHA_OK || count == 0) {
        return status;
    }
    return emu_fail(FMHA_ERROR_KERNEL, "%s: %s%s", list[0].kind, list[0].text,
                    count > 1 ? " (and further findings)" : "");
}

fmha_status emu_state_findings(void *state, const fmha_finding **list, size_t *count) {
    return emu_findings_list(&((emu_state *)state)->findings, list, count);
}

fmha_status emu_state_clear_findings(void *state) {
    emu_findings_clear(&((emu_state *)state)->findings);
    return FMHA_OK;
}
