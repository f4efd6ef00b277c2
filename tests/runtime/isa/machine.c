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
    m->kernel.code = m->code;
    m->kernel.count = 1;
    m->kernel.wave = lanes;
    m->kernel.vgprs = MACHINE_VGPRS;
    m->kernel.mode = ISA_MODE_KNOWN;
    m->launch = (isa_launch){.kernel = &m->kernel, .memory = &m->memory, .findings = &m->findings, .checks = checks};
    worker->vgprs = must(calloc(MACHINE_VGPRS, sizeof *worker->vgprs));
    worker->lds_area = must(calloc(1, EMU_LDS_AREA_BYTES));
    worker->scratch = must(calloc(lanes, MACHINE_SCRATCH_BYTES));
    worker->group.launch = &m->launch;
    worker->group.wave_count = 1;
    worker->group.lds = worker->lds_area + EMU_LDS_GAP_BYTES;
    worker->group.lds_bytes = MACHINE_LDS_BYTES;
    worker->group.scratch = worker->scratch;
    worker->group.scratch_bytes_lane = MACHINE_SCRATCH_BYTES;
    *wave = (isa_wave){.vgpr = worker->vgprs,
                       .mode = ISA_MODE_KNOWN,
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

void machine_set_exec(machine *m, uint64_t mask) {
    isa_wave *wave = machine_wave(m);
    wave->sgpr[ISA_EXEC] = (uint32_t)mask;
    wave->sgpr[ISA_EXEC + 1] = wave->lanes == 64 ? (uint32_t)(mask >> 32) : 0;
}

static bool decode(machine *m, const char *text) {
    snprintf(m->text, sizeof m->text, "%s", text);
    memset(m->code, 0, sizeof m->code);
    memset(&m->second, 0, sizeof m->second);
    bool known = isa_decode_line(text, ISA_GFX11, machine_wave(m)->lanes, &m->code[0], &m->second, m->operands, m->why,
                                 sizeof m->why);
    m->code[0].text = m->text;
    m->code[0].address = 0x100;
    m->code[0].bytes = 4;
    return known;
}

void machine_load(machine *m, const char *text) {
    cr_assert(decode(m, text), "'%s': %s", text, m->why);
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
