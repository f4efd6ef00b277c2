/* Branches, calls, waits, the mode, and what ends or stops a wave. */
#include <criterion/criterion.h>
#include <string.h>

#include "checks.h"
#include "machine.h"
#include "rows.h"

/* The machine has one instruction, number 0; a branch that is taken goes to it, one that is not to number 1. */
static bool is_taken(machine *m, const char *text) {
    machine_run(m, text);
    return machine_wave(m)->pc == 0;
}

ROWS_TEST(conditions) {
    for (unsigned lanes = machine_least(); lanes <= 64; lanes += 32) {
        machine *m = machine_new(lanes, false);
        isa_wave *wave = machine_wave(m);
        cr_assert(is_taken(m, "s_branch 0"));
        wave->scc = true;
        cr_assert(is_taken(m, "s_cbranch_scc1 0"));
        cr_assert_not(is_taken(m, "s_cbranch_scc0 0"));
        wave->scc = false;
        cr_assert_not(is_taken(m, "s_cbranch_scc1 0"));
        cr_assert(is_taken(m, "s_cbranch_scc0 0"));
        wave->sgpr[ISA_VCC] = 0;
        wave->sgpr[ISA_VCC + 1] = 1; /* of a wave of 64 alone */
        cr_assert_eq(is_taken(m, "s_cbranch_vccnz 0"), lanes == 64);
        cr_assert_eq(is_taken(m, "s_cbranch_vccz 0"), lanes == 32);
        machine_set_exec(m, UINT64_C(1) << 40);
        cr_assert_eq(is_taken(m, "s_cbranch_execnz 0"), lanes == 64);
        cr_assert_eq(is_taken(m, "s_cbranch_execz 0"), lanes == 32);
        machine_free(m);
    }
}

ROWS_TEST(calls) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_run(m, "s_getpc_b64 s[4:5]"); /* it stands at 0x100 and has 4 bytes */
    cr_assert_eq(wave->sgpr[4], 0x104);
    cr_assert_eq(wave->sgpr[5], 0);
    wave->sgpr[2] = 0x100;
    wave->sgpr[3] = 0;
    cr_assert(is_taken(m, "s_setpc_b64 s[2:3]"));
    cr_assert(is_taken(m, "s_swappc_b64 s[6:7], s[2:3]"));
    cr_assert_eq(wave->sgpr[6], 0x104);
    cr_assert(is_taken(m, "s_swappc_b64 s[2:3], s[2:3]"), "reads before it writes");
    cr_assert_eq(wave->sgpr[2], 0x104);
    cr_assert(is_taken(m, "s_call_b64 s[8:9], 0"));
    cr_assert_eq(wave->sgpr[8], 0x104);
    machine_run(m, "s_setpc_b64 s[2:3]");
    machine_expect(m, "outside-code", "goes to 0x104, where the kernel has no instruction");
    machine_free(m);
}

ROWS_TEST(mode) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_run(m, "s_getreg_b32 s4, hwreg(HW_REG_MODE)");
    cr_assert_eq(wave->sgpr[4], machine_family()->mode_known);
    machine_run(m, "s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)");
    cr_assert_eq(wave->sgpr[4], 15);
    wave->sgpr[2] = 0xff0;
    machine_run(m, "s_setreg_b32 hwreg(HW_REG_MODE, 12, 3), s2"); /* exceptions, which nobody awaits */
    cr_assert_eq(wave->mode, machine_family()->mode_known);
    machine_run(m, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 3), 5");
    cr_assert_eq(wave->mode, machine_family()->mode_known | 5u << 12);
    bool has_modes = machine_has("s_round_mode");
    if (has_modes) {
        machine_run(m, "s_round_mode 0x0");
        machine_run(m, "s_denorm_mode 15");
    }
    cr_assert_not(wave->failed);
    static const char *const others[] = {"s_round_mode 0x1", "s_denorm_mode 12",
                                         "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
                                         "s_setreg_b32 hwreg(HW_REG_MODE), s5"};
    for (size_t i = has_modes ? 0 : 2; i < 4; i++) {
        machine_run(m, others[i]);
        cr_assert(wave->failed, "%s", others[i]);
        machine_expect(m, "unsupported-mode", "");
    }
    machine_run(m, "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2"); /* where scratch begins */
    machine_run(m, "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s2");
    cr_assert_not(wave->failed);
    machine_run(m, "s_getreg_b32 s4, hwreg(HW_REG_FLAT_SCR_HI)");
    machine_expect(m, "unsupported-register", "");
    cr_assert_str_eq(
        machine_refusal(m, "s_getreg_b32 s4, hwreg(HW_REG_SHADER_CYCLES, 0, 20)"),
        "expected HW_REG_MODE, the one hardware register that is known, got 'HW_REG_SHADER_CYCLES, 0, 20)'");
    machine_free(m);
}

ROWS_TEST(ends) {
    machine *m = machine_new(32, false);
    if (machine_has("s_barrier")) {
        machine_run(m, "s_barrier");
        cr_assert_eq(machine_wave(m)->state, ISA_WAVE_WAITING);
    }
    machine_run(m, "s_endpgm");
    cr_assert_eq(machine_wave(m)->state, ISA_WAVE_ENDED);
    machine_run(m, "s_trap 2");
    machine_expect(m, "trap", "stops the wave with trap 2");
    machine_free(m);
}

ROWS_TEST(hints_change_nothing) {
    static const char *const texts[] = {"s_nop 0",
                                        "v_nop",
                                        "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)",
                                        "s_clause 0x3",
                                        "s_setprio 2",
                                        "s_sleep 1",
                                        "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
                                        "s_waitcnt_depctr 0xfff",
                                        "s_waitcnt_expcnt null, 0x0",
                                        "s_set_inst_prefetch_distance 0x2",
                                        "s_wait_samplecnt 0x0",
                                        "s_wait_bvhcnt 0x0",
                                        "s_wait_expcnt 0x0",
                                        "s_wait_event 0x0",
                                        "s_sleep_var s3",
                                        "s_version 0x2006",
                                        "s_prefetch_inst s[0:1], 0x10, null, 3",
                                        "s_prefetch_inst_pc_rel 0x10, s4, 3",
                                        "s_prefetch_data s[0:1], 0x10, s4, 7",
                                        "s_prefetch_data_pc_rel 0x10, null, 3"};
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m), before = *wave;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!machine_takes(texts[i])) {
            continue;
        }
        machine_run(m, texts[i]);
        cr_assert_eq(memcmp(wave->sgpr, before.sgpr, sizeof wave->sgpr), 0, "%s", texts[i]);
        cr_assert_eq(wave->state, ISA_WAVE_READY);
        cr_assert_eq(wave->mode, before.mode);
    }
    machine_free(m);
}

/* ---- Waits ------------------------------------------------------------------------------------------------- */

/* Whether the register may be read after two accesses and a wait: the first fills v8 (s20), the second v9 (s21). */
static void expect_wait(const char *first, const char *second, const char *wait, const char *reader,
                        const char *finding) {
    char kind[64], text[1024];
    machine *m = machine_new(32, true);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    machine_set_exec(m, 1);
    for (unsigned reg = 0; reg < 8; reg++) {
        wave->checks->vgpr_written[reg] = 1;
        wave->checks->sgpr_written[reg] = true;
    }
    wave->checks->sgpr_written[ISA_NULL] = true;
    wave->vgpr[2][0] = wave->sgpr[2] = (uint32_t)memory;
    wave->vgpr[3][0] = wave->sgpr[3] = (uint32_t)(memory >> 32);
    machine_run(m, first);
    machine_run(m, second);
    machine_run(m, wait);
    machine_expect(m, "", "");
    machine_run(m, reader);
    machine_finding(m, kind, text);
    cr_assert(finding == NULL ? kind[0] == '\0' : strstr(text, finding) != NULL, "%s; %s; %s; %s: '%s'", first, second,
              wait, reader, text);
    machine_free(m);
}

ROWS_TEST(waits) {
    if (!machine_has("s_waitcnt")) {
        return;
    }
    const char *load = "global_load_b32 v8, v[2:3], off", *next = "global_load_b32 v9, v[2:3], off";
    expect_wait(load, next, "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait(load, next, "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v1, v9",
                "reads v9 before the load that fills it has ended: a wait for vmcnt(0) or less must come first");
    expect_wait(load, next, "s_waitcnt vmcnt(2)", "v_mov_b32_e32 v1, v8", "vmcnt(1)");
    expect_wait(load, next, "s_waitcnt lgkmcnt(0)", "v_mov_b32_e32 v1, v8", "vmcnt(1)");
    bool apart = machine_has("s_waitcnt_vscnt");
    if (apart) {
        expect_wait(load, next, "s_waitcnt_vmcnt null, 0x0", "v_mov_b32_e32 v1, v9", NULL);
        expect_wait("ds_load_b32 v8, v0", "ds_load_b32 v9, v0", "s_waitcnt_lgkmcnt null, 0x0", "v_mov_b32_e32 v1, v9",
                    NULL);
    }
    expect_wait(load, next, "s_waitcnt vmcnt(2)", "v_mov_b32_e32 v8, v1", "writes v8 before the load");
    const char *lds = "ds_load_b32 v8, v0", *lds_next = "ds_load_b32 v9, v0";
    expect_wait(lds, lds_next, "s_waitcnt lgkmcnt(1)", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait(lds, lds_next, "s_waitcnt lgkmcnt(1)", "v_mov_b32_e32 v1, v9", "lgkmcnt(0)");
    /* Scalar loads end in any order, and share the counter with LDS. */
    const char *scalar = "s_load_b32 s20, s[2:3], 0x0", *scalar_next = "s_load_b32 s21, s[2:3], 0x4";
    expect_wait(scalar, scalar_next, "s_waitcnt lgkmcnt(1)", "s_mov_b32 s5, s20", "lgkmcnt(0)");
    expect_wait(scalar, scalar_next, "s_waitcnt lgkmcnt(0)", "s_mov_b32 s5, s20", NULL);
    expect_wait(lds, scalar, "s_waitcnt lgkmcnt(1)", "v_mov_b32_e32 v1, v8", "lgkmcnt(0)");
    expect_wait(scalar, lds, "s_waitcnt lgkmcnt(1)", "v_mov_b32_e32 v1, v8", "lgkmcnt(0)");
    expect_wait(scalar, lds, "s_waitcnt lgkmcnt(1)", "s_mov_b32 s5, s20", "lgkmcnt(0)");
    /* Stores have a counter of their own, or end among loads. */
    if (apart) {
        expect_wait("global_store_b32 v[2:3], v4, off", load, "s_waitcnt_vscnt null, 0x0", "v_mov_b32_e32 v1, v8",
                    "vmcnt(0)");
    }
    expect_wait(load, "global_store_b32 v[2:3], v4, off", "s_waitcnt vmcnt(1)", "v_mov_b32_e32 v1, v8",
                apart ? "vmcnt(0)" : NULL);
    expect_wait("global_store_b32 v[2:3], v4, off", load, "s_waitcnt vmcnt(0)", "v_mov_b32_e32 v4, v8", NULL);
}

/* A counter for each kind of access. */
ROWS_TEST(waits_by_counter) {
    if (!machine_has("s_wait_loadcnt")) {
        return;
    }
    const char *load = "global_load_b32 v8, v[2:3], off", *next = "global_load_b32 v9, v[2:3], off";
    expect_wait(load, next, "s_wait_loadcnt 0x1", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait(load, next, "s_wait_loadcnt 0x1", "v_mov_b32_e32 v1, v9",
                "reads v9 before the load that fills it has ended: a wait for loadcnt(0) or less must come first");
    expect_wait(load, next, "s_wait_dscnt 0x0", "v_mov_b32_e32 v1, v8", "loadcnt(1)");
    expect_wait(load, next, "s_wait_storecnt 0x0", "v_mov_b32_e32 v1, v8", "loadcnt(1)");
    expect_wait(load, next, "s_wait_kmcnt 0x0", "v_mov_b32_e32 v1, v8", "loadcnt(1)");
    expect_wait(load, next, "s_wait_idle", "v_mov_b32_e32 v1, v9", NULL);
    const char *lds = "ds_load_b32 v8, v0", *lds_next = "ds_load_b32 v9, v0";
    expect_wait(lds, lds_next, "s_wait_dscnt 0x1", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait(lds, lds_next, "s_wait_dscnt 0x1", "v_mov_b32_e32 v1, v9", "dscnt(0)");
    expect_wait(lds, lds_next, "s_wait_loadcnt 0x0", "v_mov_b32_e32 v1, v8", "dscnt(1)");
    /* Scalar loads end in any order, and share no counter. */
    const char *scalar = "s_load_b32 s20, s[2:3], 0x0", *scalar_next = "s_load_b32 s21, s[2:3], 0x4";
    expect_wait(scalar, scalar_next, "s_wait_kmcnt 0x1", "s_mov_b32 s5, s20", "kmcnt(0)");
    expect_wait(scalar, scalar_next, "s_wait_kmcnt 0x0", "s_mov_b32 s5, s21", NULL);
    expect_wait(scalar, lds, "s_wait_dscnt 0x0", "s_mov_b32 s5, s20", "kmcnt(0)");
    expect_wait(scalar, lds, "s_wait_dscnt 0x0", "v_mov_b32_e32 v1, v8", NULL);
    /* Two at once: LDS below. */
    expect_wait(load, lds_next, "s_wait_loadcnt_dscnt 0x0", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait(load, lds_next, "s_wait_loadcnt_dscnt 0x1", "v_mov_b32_e32 v1, v9", "dscnt(0)");
    expect_wait(load, lds_next, "s_wait_loadcnt_dscnt 0x100", "v_mov_b32_e32 v1, v8", "loadcnt(0)");
    expect_wait(load, lds_next, "s_wait_loadcnt_dscnt 0x100", "v_mov_b32_e32 v1, v9", NULL);
    expect_wait(lds, next, "s_wait_storecnt_dscnt 0x0", "v_mov_b32_e32 v1, v9", "loadcnt(0)");
    expect_wait(lds, "global_store_b32 v[2:3], v4, off", "s_wait_storecnt_dscnt 0x3f00", "v_mov_b32_e32 v1, v8", NULL);
    expect_wait("global_store_b32 v[2:3], v4, off", load, "s_wait_storecnt 0x0", "v_mov_b32_e32 v1, v8", "loadcnt(0)");
}

ROWS_TEST(a_barrier_in_two_steps) {
    if (!machine_has("s_barrier_signal")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_run(m, "s_barrier_signal 0"); /* no barrier; of trap handlers */
    machine_run(m, "s_barrier_signal -2");
    cr_assert_not(wave->signaled);
    machine_run(m, "s_barrier_signal -1");
    cr_assert_eq(wave->state, ISA_WAVE_READY);
    machine_run(m, "s_barrier_wait 0xffff");
    cr_assert_eq(wave->state, ISA_WAVE_WAITING);
    machine_run(m, "s_barrier_signal -1");
    machine_expect(m, "barrier", "signals the barrier again before it has waited for it");
    wave->signaled = false; /* as where all have met */
    machine_run(m, "s_barrier_wait -1");
    machine_expect(m, "barrier", "waits for the barrier without having signaled it: it would wait for ever");
    wave->scc = false;
    machine_run(m, "s_barrier_signal_isfirst -1");
    cr_assert(wave->scc && wave->signaled);
    wave->signaled = false;
    wave->group->waves[1].signaled = true;
    wave->group->wave_count = 2;
    machine_run(m, "s_barrier_signal_isfirst -1");
    cr_assert(!wave->scc && wave->signaled);
    wave->signaled = false;
    wave->scc = true;
    machine_run(m, "s_barrier_signal_isfirst 0");
    cr_assert(!wave->scc && !wave->signaled);
    static const char *const others[] = {"s_barrier_signal m0", "s_barrier_signal 3", "s_barrier_wait 0x1",
                                         "s_barrier_signal_isfirst 3"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        machine_run(m, others[i]);
        machine_expect(m, "unsupported-barrier", "");
    }
    machine_free(m);
}

ROWS_TEST(registers_that_nobody_wrote) {
    machine *m = machine_new(32, true);
    machine_run(m, "s_add_u32 s5, s9, 1");
    machine_expect(m, "register-unwritten", "");
    machine_set_exec(m, 3);
    machine_run(m, "v_mov_b32_e32 v4, 0");
    machine_set_exec(m, 7);
    machine_run(m, "v_mov_b32_e32 v5, v4"); /* the copy takes the mark on; where it goes matters */
    machine_expect(m, "", "");
    machine_run(m, "s_nop 0");
    machine_run(m, "v_readlane_b32 s6, v5, 1");
    machine_expect(m, "", "");
    machine_run(m, "v_readlane_b32 s6, v5, 2");
    machine_expect(m, "register-unwritten", "reads v5, which was not written, or was made of what was not");
    machine_free(m);
}
