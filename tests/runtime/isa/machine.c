#include "machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "driver.h"
#include "emu/findings.h"
#include "launch.h"
#include "wave.h"

const fmha_driver *fmha_driver_entry(fmha_fail_function fail);

/* Of which family machines are, and how often each of its mnemonics was decoded. */
static const isa_family *family;
static unsigned used[2048];

struct machine {
    isa_worker worker;
    isa_launch launch;
    isa_kernel kernel;
    emu_memory memory;
    emu_findings findings;
    isa_instruction code[1], second;
    isa_operand operands[2 * ISA_OPERANDS_MAX];
    void *allocation;
    char text[256], why[192];
};

void machine_use(const isa_family *other) {
    family = other;
    memset(used, 0, sizeof used);
}

const isa_family *machine_family(void) {
    if (family == NULL) {
        machine_use(isa_family_of("gfx11"));
    }
    return family;
}

unsigned machine_least(void) {
    return (machine_family()->waves & 32) != 0 ? 32 : 64;
}

/* The mnemonic for a row that was used least; NULL: none. */
static const isa_known *known_of(const isa_row *row) {
    size_t count;
    const isa_known *list = isa_family_known(machine_family(), &count), *found = NULL;
    cr_assert_leq(count, sizeof used / sizeof used[0]);
    for (size_t i = 0; row != NULL && i < count; i++) {
        if (list[i].row == row && (found == NULL || used[i] < used[found - list])) {
            found = &list[i];
        }
    }
    return found;
}

static void note_use(const isa_known *known) {
    size_t count;
    used[known - isa_family_known(machine_family(), &count)]++;
}

bool machine_has(const char *row) {
    return known_of(isa_row_find(row, strlen(row))) != NULL;
}

void machine_missing(char *missing, size_t bytes) {
    size_t count, length = 0;
    const isa_known *list = isa_family_known(machine_family(), &count);
    missing[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (used[i] == 0 && length + strlen(list[i].name) + 2 < bytes) {
            length += (size_t)sprintf(missing + length, " %s", list[i].name);
        }
    }
}

static void *must(void *memory) {
    cr_assert_not_null(memory);
    return memory;
}

machine *machine_new(unsigned lanes, bool checks) {
    fmha_driver_entry(fmha_fail);
    machine *m = must(calloc(1, sizeof *m));
    isa_worker *worker = &m->worker;
    isa_wave *wave = &worker->group.waves[0];
    emu_findings_init(&m->findings);
    cr_assert_eq(emu_memory_alloc(&m->memory, MACHINE_MEMORY_BYTES, "memory", &m->allocation), FMHA_OK);
    memset(m->allocation, 0, MACHINE_MEMORY_BYTES);
    snprintf(m->kernel.symbol, sizeof m->kernel.symbol, "test");
    lanes = (machine_family()->waves & lanes) != 0 ? lanes : machine_family()->waves;
    m->kernel.family = machine_family();
    m->kernel.code = m->code;
    m->kernel.count = 1;
    m->kernel.wave = lanes;
    m->kernel.vgprs = MACHINE_VGPRS;
    m->kernel.agprs = machine_family()->takes_agprs ? MACHINE_VGPRS : 0;
    m->kernel.registers = m->kernel.agprs != 0 ? ISA_AGPR + MACHINE_VGPRS : MACHINE_VGPRS;
    m->kernel.mode = machine_family()->mode_known;
    m->launch = (isa_launch){.kernel = &m->kernel, .memory = &m->memory, .findings = &m->findings, .checks = checks};
    worker->vgprs = must(calloc(m->kernel.registers, sizeof *worker->vgprs));
    worker->lds_area = must(calloc(1, EMU_LDS_AREA_BYTES));
    worker->scratch = must(calloc(lanes, MACHINE_SCRATCH_BYTES));
    worker->group.launch = &m->launch;
    worker->group.wave_count = 1;
    worker->group.lds = worker->lds_area + EMU_LDS_GAP_BYTES;
    worker->group.lds_bytes = MACHINE_LDS_BYTES;
    worker->group.scratch = worker->scratch;
    worker->group.scratch_bytes_lane = MACHINE_SCRATCH_BYTES;
    *wave = (isa_wave){.vgpr = worker->vgprs,
                       .mode = machine_family()->mode_known,
                       .lanes = lanes,
                       .present = UINT64_MAX,
                       .group = &worker->group,
                       .checks = checks ? &worker->checks[0] : NULL};
    machine_set_exec(m, UINT64_MAX);
    if (checks) {
        isa_checks_begin(wave->checks);
        wave->checks->sgpr_written[ISA_EXEC] = wave->checks->sgpr_written[ISA_EXEC + 1] = true;
    }
    return m;
}

void machine_free(machine *m) {
    emu_findings_clear(&m->findings);
    emu_memory_free_all(&m->memory);
    free(m->worker.vgprs);
    free(m->worker.lds_area);
    free(m->worker.scratch);
    free(m);
}

isa_wave *machine_wave(machine *m) {
    return &m->worker.group.waves[0];
}

unsigned char *machine_lds(machine *m) {
    return m->worker.group.lds;
}

unsigned char *machine_scratch(machine *m, int lane) {
    return m->worker.scratch + (size_t)lane * MACHINE_SCRATCH_BYTES;
}

unsigned char *machine_memory(machine *m) {
    return m->allocation;
}

void machine_fill(machine *m, unsigned registers, uint32_t (*draw)(void)) {
    isa_wave *wave = machine_wave(m);
    for (unsigned reg = 0; reg < registers; reg++) {
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            wave->vgpr[reg][lane] = draw();
        }
    }
}

void machine_fill_bytes(unsigned char *to, size_t bytes, uint32_t (*draw)(void)) {
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (unsigned char)draw();
    }
}

void machine_set_exec(machine *m, uint64_t mask) {
    isa_wave *wave = machine_wave(m);
    wave->sgpr[ISA_EXEC] = (uint32_t)mask;
    wave->sgpr[ISA_EXEC + 1] = wave->lanes == 64 ? (uint32_t)(mask >> 32) : 0;
}

/* The mnemonic for the row that a text names, and the ending of its encoding; NULL: none. */
static const isa_known *known_in(const char *text, const char **form) {
    static const char *const endings[] = {"", "_e32", "_e64", "_e64_dpp", "_dpp", "_sdwa"};
    bool dual = strncmp(text, "v_dual_", 7) == 0;
    size_t word = strcspn(text, " ");
    char name[96];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (word <= ending || word - ending >= 80 || strncmp(text + word - ending, endings[i], ending) != 0) {
            continue;
        }
        int row = snprintf(name, sizeof name, "%s%.*s", dual ? "v_" : "", (int)(word - ending - (dual ? 7 : 0)),
                           text + (dual ? 7 : 0));
        const isa_known *known = known_of(isa_row_find(name, (size_t)row));
        if (strstr(text, " clamp") != NULL) {
            strcat(name, " clamp");
            const isa_known *clamped = known_of(isa_row_find(name, strlen(name)));
            known = clamped != NULL ? clamped : known;
        }
        if (known != NULL) {
            *form = endings[i];
            return known;
        }
    }
    return NULL;
}

bool machine_takes(const char *text) {
    const char *form;
    return known_in(text, &form) != NULL;
}

/* Appends one instruction, or half of one, with the family's mnemonic for the row that it names. */
static void translate(char *to, size_t bytes, const char *text, size_t length) {
    size_t word = strcspn(text, " "), used_bytes = strlen(to);
    bool dual = strncmp(text, "v_dual_", 7) == 0;
    const char *form;
    const isa_known *known = known_in(text, &form);
    if (known == NULL) {
        snprintf(to + used_bytes, bytes - used_bytes, "%.*s", (int)length, text);
        return;
    }
    note_use(known);
    snprintf(to + used_bytes, bytes - used_bytes, "%s%.*s%s%.*s", dual ? "v_dual_" : "",
             (int)strcspn(known->name, " ") - (dual ? 2 : 0), known->name + (dual ? 2 : 0), form, (int)(length - word),
             text + word);
}

static bool decode(machine *m, const char *text) {
    const char *middle = strstr(text, " :: ");
    m->text[0] = '\0';
    translate(m->text, sizeof m->text, text, middle != NULL ? (size_t)(middle - text) : strlen(text));
    if (middle != NULL) {
        strcat(m->text, " :: ");
        translate(m->text, sizeof m->text, middle + 4, strlen(middle + 4));
    }
    memset(m->code, 0, sizeof m->code);
    memset(&m->second, 0, sizeof m->second);
    bool known = isa_decode_line(m->text, machine_family(), machine_wave(m)->lanes, &m->code[0], &m->second,
                                 m->operands, m->why, sizeof m->why);
    m->code[0].text = m->text;
    m->code[0].address = 0x100;
    m->code[0].bytes = 4;
    return known;
}

void machine_load(machine *m, const char *text) {
    cr_assert(decode(m, text), "'%s': %s", text, m->why);
}

const char *machine_text(const machine *m) {
    return m->text;
}

void machine_step(machine *m) {
    isa_wave *wave = machine_wave(m);
    wave->pc = 0;
    wave->state = ISA_WAVE_READY;
    wave->failed = false;
    isa_wave_run(wave, 1);
}

void machine_run(machine *m, const char *text) {
    machine_load(m, text);
    machine_step(m);
}

const char *machine_refusal(machine *m, const char *text) {
    cr_assert_not(decode(m, text), "'%s' is decoded", text);
    return m->why;
}

void machine_finding(machine *m, char kind[64], char text[1024]) {
    const fmha_finding *list;
    size_t count;
    cr_assert_eq(emu_findings_list(&m->findings, &list, &count), FMHA_OK);
    cr_assert_leq(count, 1, "%zu findings, the first: %s", count, count > 0 ? list[0].text : "");
    snprintf(kind, 64, "%s", count > 0 ? list[0].kind : "");
    snprintf(text, 1024, "%s", count > 0 ? list[0].text : "");
    emu_findings_clear(&m->findings);
    memset(m->worker.seen, 0, sizeof m->worker.seen);
}

void machine_expect(machine *m, const char *kind, const char *part) {
    char got[64], text[1024];
    machine_finding(m, got, text);
    cr_assert_str_eq(got, kind, "%s: '%s': expected \"%s\", got \"%s\": %s", machine_family()->target, machine_text(m),
                     kind, got, text);
    cr_assert_not_null(strstr(text, part), "%s: '%s': expected \"%s\" in: %s", machine_family()->target,
                       machine_text(m), part, text);
}
