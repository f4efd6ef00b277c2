/* Wait states that gfx9 leaves to the program: a finding where there are fewer than the chip needs, none where there
 * are enough. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "checks.h"
#include "machine.h"
#include "rows.h"

enum { CHIPS = 5 };
static const char *const chips[CHIPS] = {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"};

/* What writes, what uses it, and the wait states that each chip needs between them. */
static const struct {
    const char *writer, *user;
    unsigned states[CHIPS];
} cases[] = {
    {"v_cmp_eq_u32_e64 s[6:7], v1, v2", "v_readlane_b32 s8, v4, s6", {4, 4, 4, 4, 4}},
    {"v_cmp_eq_u32_e64 s[6:7], v1, v2", "v_writelane_b32 v8, s9, s6", {4, 4, 4, 4, 4}},
    {"v_readfirstlane_b32 s2, v1", "global_load_b32 v8, v4, s[2:3]", {5, 5, 5, 5, 5}},
    {"v_cmp_eq_u32_e32 vcc, v1, v2", "v_div_fmas_f32 v8, v4, v5, v6", {4, 4, 4, 4, 4}},
    {"v_mov_b32_e32 v1, v2", "v_mov_b32_dpp v8, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", {2, 2, 2, 2, 2}},
    {"v_mov_b32_e32 v1, v2", "v_add_f32_dpp v8, v4, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", {0}},
    {"v_cmp_eq_u32_e32 vcc, v1, v2", "v_cndmask_b32_e32 v8, v4, v5, vcc", {0, 0, 0, 2, 2}},
    {"v_exp_f32_e32 v1, v2", "v_add_f32_e32 v8, v1, v4", {0, 0, 0, 1, 1}},
    {"v_exp_f32_e32 v1, v2", "v_exp_f32_e32 v8, v1", {0}},
    {"v_mov_b32_e32 v1, v2", "v_readfirstlane_b32 s8, v1", {0, 0, 0, 1, 1}},
    {"v_mov_b32_e32 v1, v2", "v_add_f32_e32 v8, v1, v4", {0}},
    {"s_mov_b32 s6, 0", "v_readlane_b32 s8, v4, s6", {0}},
    {"v_mfma_f32_4x4x4_16b_f16 a[0:3], v[0:1], v[2:3], a[4:7]", "v_mov_b32 v8, a1", {0, 0, 5, 5, 5}},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[4:7]", "v_mov_b32 v8, a1", {0, 0, 11, 7, 8}},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[4:7]", "v_mov_b32 v8, a4", {0}},
    {"v_mfma_f32_16x16x4_4b_f16 a[0:15], v[0:1], v[2:3], a[16:31]", "v_mov_b32 v8, a1", {0, 0, 11, 11, 12}},
    {"v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[16:31]", "v_mov_b32 v8, a15", {0, 0, 19, 11, 12}},
    {"v_mfma_f32_16x16x4_f32 a[0:3], v0, v2, a[4:7]", "v_mov_b32 v8, a1", {0, 0, 11, 10, 10}},
    {"v_mfma_f32_16x16x32_fp8_bf8 a[0:3], v[0:1], v[2:3], a[4:7]", "v_mov_b32 v8, a1", {0, 0, 0, 7, 8}},
    {"v_mfma_f32_32x32x16_bf8_fp8 a[0:15], v[0:1], v[2:3], a[16:31]", "v_mov_b32 v8, a15", {0, 0, 0, 11, 12}},
    {"v_cvt_pk_fp8_f32@fnuz v1, v2, v3 op_sel:[0,0,1]", "v_add_f32_e32 v8, v4, v1", {0, 0, 0, 1, 0}},
    {"v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]", "v_add_f32_e32 v8, v4, v1", {0, 0, 0, 0, 1}},
    {"v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,0]", "v_add_f32_e32 v8, v4, v1", {0}},
    {"v_add_u16_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
     "v_add_f32_e32 v8, v4, v1",
     {0, 0, 0, 1, 1}},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[4:7]",
     "v_mfma_f32_16x16x16_f16 a[8:11], a[0:1], v[2:3], a[4:7]",
     {0, 0, 11, 7, 8}},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[4:7]",
     "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
     {0}},
    {"v_mfma_f32_16x16x128_f8f6f4 v[12:15], v[0:3], v[4:7], 0 cbsz:4 blgp:4", "v_mov_b32 v8, v13", {0, 0, 0, 0, 8}},
    {"v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[0:3], v[4:11], 0 cbsz:4", "v_mov_b32 v8, v21", {0, 0, 0, 0, 12}},
    {"v_mfma_scale_f32_32x32x64_f8f6f4 v[16:31], v[0:3], v[4:7], 0, v8, v9 cbsz:4 blgp:4",
     "v_mov_b32 v8, v30",
     {0, 0, 0, 0, 12}},
    {"v_mfma_scale_f32_32x32x64_f8f6f4 v[16:31], v[0:7], v[8:15], 0, v1, v2", "v_mov_b32 v8, v30", {0, 0, 0, 0, 20}},
    {"v_cvt_scalef32_pk_bf16_fp4 v1, v2, v3", "v_add_f32_e32 v8, v1, v4", {0, 0, 0, 0, 1}},
};

static void try_distance(size_t which, unsigned states, bool expected) {
    char kind[64], words[1024], nop[16];
    machine *m = machine_new(64, true);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    for (unsigned reg = 0; reg < ISA_VGPRS_MAX; reg++) {
        wave->checks->vgpr_written[reg] = UINT64_MAX;
    }
    memset(wave->checks->sgpr_written, 1, sizeof wave->checks->sgpr_written);
    for (unsigned lane = 0; lane < 64; lane++) {
        wave->vgpr[1][lane] = (uint32_t)memory;
    }
    wave->sgpr[3] = (uint32_t)(memory >> 32);
    machine_run(m, cases[which].writer);
    if (states > 0) {
        snprintf(nop, sizeof nop, "s_nop %u", states - 1);
        machine_run(m, nop);
    }
    machine_run(m, cases[which].user);
    machine_finding(m, kind, words);
    cr_assert_str_eq(kind, expected ? "missing-nop" : "", "%s: '%s' %u wait states behind '%s': %s",
                     machine_family()->target, cases[which].user, states, cases[which].writer, words);
    machine_free(m);
}

ROWS_TEST(wait_states) {
    size_t chip = 0;
    while (chip < CHIPS && strcmp(chips[chip], machine_family()->target) != 0) {
        chip++;
    }
    for (size_t i = 0; chip < CHIPS && i < sizeof cases / sizeof cases[0]; i++) {
        unsigned needed = cases[i].states[chip];
        if (!machine_takes(cases[i].writer) || !machine_takes(cases[i].user)) {
            continue;
        }
        try_distance(i, needed, false);
        if (needed > 0) {
            try_distance(i, needed - 1, true);
            try_distance(i, 0, true);
        }
    }
}

ROWS_TEST(wait_states_are_told) {
    if (!machine_has("v_mfma_f32_16x16x16_f16") || strcmp(machine_family()->target, "gfx90a") != 0) {
        return;
    }
    machine *m = machine_new(64, true);
    for (unsigned reg = 0; reg < ISA_VGPRS_MAX; reg++) {
        machine_wave(m)->checks->vgpr_written[reg] = UINT64_MAX;
    }
    machine_run(m, "v_mfma_f32_16x16x16_f16 v[16:19], v[0:1], v[4:5], v[16:19]");
    machine_run(m, "s_nop 3");
    machine_run(m, "v_add_f32_e32 v8, 1.0, v18");
    machine_expect(m, "missing-nop",
                   "uses v18 4 wait states after a matrix instruction wrote it: 11 must stand between (s_nop 6 more)");
    machine_free(m);
}
