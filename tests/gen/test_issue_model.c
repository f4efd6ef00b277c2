/* The bound against sums made by hand, and the tables against what the compiler really writes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/compiled.h"
#include "disassemble.h"
#include "issue_model.h"

struct analysed {
    struct assembly assembly;
    struct issue_loop loop;
};

/* The first of the text's innermost matrix loops. */
static struct analysed analyse(const char *text, size_t length, const char *target, int wave) {
    struct analysed result;
    struct error error;
    cr_assert(assembly_parse(text, length, NULL, &result.assembly, &error), "%s", error.text);
    int first = 0;
    while (first < result.assembly.loop_count &&
           !assembly_innermost(&result.assembly, first, issue_useful(issue_family_of(target)))) {
        first++;
    }
    cr_assert_lt(first, result.assembly.loop_count, "no matrix loop");
    cr_assert(issue_loop_analyse(&result.assembly, &result.assembly.loops[first], target, wave, &result.loop, &error),
              "%s", error.text);
    return result;
}

static struct analysed analyse_text(const char *text, const char *target, int wave) {
    return analyse(text, strlen(text), target, wave);
}

static void release(struct analysed *analysed) {
    issue_loop_free(&analysed->loop);
    assembly_free(&analysed->assembly);
}

static void close_to(double got, double expected) {
    cr_assert(fabs(got - expected) < 1e-9, "got %.12g, expected %.12g", got, expected);
}

/* ---- hand.s
 * ---------------------------------------------------------------------------------------------------------- */

Test(issue_model, hand_counted_loop_on_gfx11) {
    static const int skip[] = {2, 4}, take[] = {2, 3, 4};
    size_t length;
    char *text = read_sample("hand.s", &length);
    struct analysed hand = analyse(text, length, "gfx1151", 32);
    const struct issue_loop *loop = &hand.loop;
    cr_assert(loop->always[0] && !loop->always[1] && loop->always[2]);
    cr_assert_eq(loop->way_count, 2);
    cr_assert_str_eq(loop->ways[0].name, "skip");
    cr_assert(loop->ways[0].block_count == 2 && memcmp(loop->ways[0].blocks, skip, sizeof skip) == 0);
    cr_assert_str_eq(loop->ways[1].name, "take");
    cr_assert(loop->ways[1].block_count == 3 && memcmp(loop->ways[1].blocks, take, sizeof take) == 0);
    cr_assert(loop->ways[0].mix.count[MIX_VALU] == 7 && loop->ways[1].mix.count[MIX_VALU] == 10);
    cr_assert(loop->total.count[MIX_VALU] == 10 && !loop->inner);

    const struct issue_bound *bound = &loop->ways[0].bound;
    cr_assert(bound->known);
    close_to(bound->matrix_cycles, 32);
    close_to(bound->simd_cycles, 32 + 7 + 4);         /* one WMMA, seven VALU, one exponential */
    close_to(bound->lds_cycles, 40 * 32 * 2 / 128.0); /* 40 bytes a lane, 4 of them exchanged; two SIMDs */
    close_to(bound->l0_cycles, 18 * 32 * 2 / 64.0);
    cr_assert_str_eq(bound->slowest, "simd");
    close_to(bound->percent, 100 * 32 / 43.0);
    close_to(bound->flop_per_cycle, 2 * 16 * 16 * 16 / 43.0);
    close_to(loop->ways[1].bound.simd_cycles, 32 + 10 + 2 * 4);
    close_to(loop->ways[1].bound.percent, 64);

    /* vmcnt(1) leaves the second load in flight until the next pass: 43 cycles later. The other is waited for at once.
     * The LDS loads are waited for at once but for the bpermute, after one v_cmp. */
    cr_assert_eq(loop->cover_count, 3);
    cr_assert_str_eq(loop->covers[0].kind, "global");
    cr_assert_eq(loop->covers[0].loads, 2);
    close_to(loop->covers[0].least_cycles, 0);
    close_to(loop->covers[0].mean_cycles, 21.5);
    cr_assert_str_eq(loop->covers[1].kind, "lds");
    cr_assert_eq(loop->covers[1].loads, 3);
    close_to(loop->covers[1].least_cycles, 0);
    close_to(loop->covers[1].mean_cycles, 1 / 3.0);
    cr_assert_eq(loop->covers[2].loads, 0);
    release(&hand);
    free(text);
}

Test(issue_model, wave64_takes_two_cycles_an_instruction_and_twice_the_bytes) {
    size_t length;
    char *text = read_sample("hand.s", &length);
    struct analysed hand = analyse(text, length, "gfx1100", 64);
    const struct issue_bound *bound = &hand.loop.ways[0].bound;
    close_to(bound->matrix_cycles, 32);
    close_to(bound->simd_cycles, 32 + 2 * 7 + 8);
    close_to(bound->lds_cycles, 40);
    close_to(bound->l0_cycles, 36);
    release(&hand);
    free(text);
}

Test(issue_model, published_counts_give_the_published_shares) {
    static const struct {
        int matrix, valu, transcendental;
        double percent;
    } rows[] = {{32, 184, 17, 80}, {32, 299, 17, 74}, {32, 192, 17, 80}, {32, 137, 16, 84}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        text_puts(&text, "k:\n.LBB0_1:\n");
        for (int k = 0; k < rows[i].matrix; k++) {
            text_puts(&text, "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\n");
        }
        for (int k = 0; k < rows[i].valu; k++) {
            text_puts(&text, "\tv_add_f32_e32 v0, v1, v2\n");
        }
        for (int k = 0; k < rows[i].transcendental; k++) {
            text_puts(&text, "\tv_exp_f32_e32 v0, v1\n");
        }
        text_puts(&text, "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n");
        struct analysed analysed = analyse_text(text.bytes, "gfx1151", 32);
        cr_assert(fabs(analysed.loop.ways[0].bound.percent - rows[i].percent) <= 0.5, "%g",
                  analysed.loop.ways[0].bound.percent);
        release(&analysed);
        text_free(&text);
    }
}

/* ---- Pipes
 * -------------------------------------------------------------------------------------------------------------- */

#define WMMA       "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\n"
#define READ       "\tds_load_b128 v[8:11], v40\n"
#define LOOP(body) "k:\n.LBB0_1:\n" body "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n"

Test(issue_model, the_slowest_pipe_rules) {
    /* one 16-byte read a lane costs 4 cycles of a pipe that two SIMDs share: 5 of them cost 40 */
    struct analysed lds = analyse_text(LOOP(WMMA READ READ READ READ READ), "gfx1151", 32);
    cr_assert_str_eq(lds.loop.ways[0].bound.slowest, "lds");
    close_to(lds.loop.ways[0].bound.lds_cycles, 40);
    close_to(lds.loop.ways[0].bound.percent, 80);
    release(&lds);
    struct analysed l0 = analyse_text(LOOP(WMMA "\tscratch_load_b128 v[0:3], off, off\n"
                                                "\tbuffer_load_b128 v[0:3], v4, s[0:3], 0 offen\n"
                                                "\tglobal_load_b64 v[0:1], v4, s[0:1]\n"),
                                      "gfx1151", 32);
    cr_assert_str_eq(l0.loop.ways[0].bound.slowest, "l0");
    close_to(l0.loop.ways[0].bound.l0_cycles, 40);
    release(&l0);
    struct analysed alone = analyse_text(LOOP(WMMA), "gfx1151", 32);
    cr_assert_eq(alone.loop.way_count, 1);
    cr_assert(alone.loop.always[0]);
    close_to(alone.loop.ways[0].bound.percent, 100);
    release(&alone);
}

Test(issue_model, gfx12_is_twice_as_fast) {
    struct analysed rdna4 = analyse_text(LOOP(WMMA "\tv_add_f32_e32 v0, v1, v2\n"), "gfx1201", 32);
    close_to(rdna4.loop.ways[0].bound.simd_cycles, 17);
    release(&rdna4);
}

/* On CDNA a matrix instruction holds the VALU for its 4 cycles of issue alone. */
Test(issue_model, cdna_overlaps_matrix_and_valu) {
    static const char text[] = LOOP("\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n"
                                    "\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n"
                                    "\tv_pk_mul_f32 v[0:1], v[2:3], v[4:5]\n"
                                    "\tv_exp_f32_e32 v0, v1\n");
    struct analysed cdna = analyse_text(text, "gfx942:sramecc+:xnack-", 64);
    const struct issue_bound *bound = &cdna.loop.ways[0].bound;
    close_to(bound->matrix_cycles, 32);
    close_to(bound->simd_cycles, 2 * 4 + 4 + 16);
    cr_assert_str_eq(bound->slowest, "matrix");
    close_to(bound->percent, 100);
    release(&cdna);
    cr_assert_eq(issue_simds_per_compute_unit("gfx942"), 4);
    cr_assert_eq(issue_simds_per_compute_unit("gfx1151"), 2);
    cr_assert_eq(issue_simds_per_compute_unit("gfx1300"), 0);
}

/* Without matrix instructions the work is the multiply-adds, and the bound their share of the SIMD's cycles. */
Test(issue_model, chips_without_a_matrix_unit_count_multiply_adds) {
    static const char text[] = LOOP("\tv_dot2_f32_f16 v0, v1, v2, v0\n"
                                    "\tv_fma_f32 v0, v1, v2, v0\n"
                                    "\tv_add_f32_e32 v0, v1, v2\n"
                                    "\tv_exp_f32_e32 v0, v1\n");
    static const struct {
        const char *target;
        int wave;
        double useful, simd;
    } rows[] = {
        {"gfx1030", 32, 2, 3 + 4}, {"gfx1036", 64, 4, 6 + 8}, {"gfx906", 64, 8, 12 + 16}, {"gfx900", 64, 8, 12 + 16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct analysed analysed = analyse_text(text, rows[i].target, rows[i].wave);
        const struct issue_bound *bound = &analysed.loop.ways[0].bound;
        close_to(bound->matrix_cycles, rows[i].useful);
        close_to(bound->simd_cycles, rows[i].simd);
        cr_assert_str_eq(bound->slowest, "simd");
        close_to(bound->percent, 100 * rows[i].useful / rows[i].simd);
        close_to(bound->flop_per_cycle, 2 * 3 * rows[i].wave / rows[i].simd); /* a dot2 is two multiply-adds */
        release(&analysed);
    }
    cr_assert_eq(issue_useful(issue_family_of("gfx10-3-generic")), MIX_MULTIPLY_ADD);
    cr_assert_eq(issue_useful(issue_family_of("gfx9-generic")), MIX_MULTIPLY_ADD);
    cr_assert_eq(issue_useful(issue_family_of("gfx9-4-generic")), MIX_MATRIX);
    cr_assert_eq(issue_useful(NULL), MIX_MATRIX);
}

/* 128 bytes a cycle are one 16-byte read of a wave of 64 in eight; gfx950's LDS takes half. The vector cache of gfx942
 * on gives 128 bytes a cycle, of the chips before 64. */
Test(issue_model, memory_rates_are_the_chips) {
    static const struct {
        const char *target;
        double lds, l0;
    } rows[] = {
        {"gfx908", 32, 64}, {"gfx90a", 32, 64}, {"gfx942", 32, 32}, {"gfx9-4-generic", 32, 32}, {"gfx950", 16, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct analysed analysed = analyse_text(LOOP("\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n"
                                                     "\tds_read_b128 v[0:3], v4\n"
                                                     "\tglobal_load_dwordx4 v[0:3], v[4:5], off\n"),
                                                rows[i].target, 64);
        close_to(analysed.loop.ways[0].bound.lds_cycles, rows[i].lds);
        close_to(analysed.loop.ways[0].bound.l0_cycles, rows[i].l0);
        release(&analysed);
    }
}

Test(issue_model, exchanges_take_the_lds_pipe) {
    struct analysed analysed = analyse_text(LOOP(WMMA "\tds_bpermute_b32 v0, v1, v2\n"), "gfx1201", 32);
    cr_assert_eq(analysed.loop.total.count[MIX_LDS_BYTES], 0);
    close_to(analysed.loop.ways[0].bound.lds_cycles, 4 * 32 * 2 / 128.0);
    release(&analysed);
}

Test(issue_model, what_is_not_in_the_tables_has_no_bound) {
    struct analysed chip = analyse_text(LOOP(WMMA), "gfx1300", 32);
    cr_assert_not(chip.loop.ways[0].bound.known);
    cr_assert_eq(chip.loop.cover_count, 0);
    release(&chip);
    struct analysed matrix =
        analyse_text(LOOP(WMMA "\tv_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[8:9], v[0:7]\n"), "gfx1151", 32);
    cr_assert_not(matrix.loop.ways[0].bound.known);
    close_to(matrix.loop.ways[0].bound.percent, 0);
    release(&matrix);
}

/* ---- Ways
 * ----------------------------------------------------------------------------------------------------------------- */

Test(issue_model, free_loads_are_kept_and_early_outs_are_not) {
    static const char text[] = "k:\n.LBB0_1:\n\ts_nop 0\n\ts_cbranch_scc1 .LBB0_6\n" /* 0: nothing visible: next tile */
                               "\ts_cbranch_scc0 .LBB0_3\n"                          /* 1 */
                               "\tglobal_load_b128 v[0:3], v4, s[0:1]\n"             /* 2: not for the last tile */
                               ".LBB0_3:\n" WMMA "\ts_cbranch_vccz .LBB0_5\n"        /* 3 */
                               "\tv_add_f32_e32 v0, v1, v2\n"                        /* 4: rescale */
                               ".LBB0_5:\n" WMMA                                     /* 5 */
                               ".LBB0_6:\n\ts_cbranch_vccnz .LBB0_1\n\ts_endpgm\n";  /* 6 */
    static const int skip[] = {0, 1, 2, 3, 5, 6}, take[] = {0, 1, 2, 3, 4, 5, 6};
    static const bool always[] = {true, false, false, false, false, false, true};
    struct analysed analysed = analyse_text(text, "gfx1151", 32);
    const struct issue_loop *loop = &analysed.loop;
    cr_assert(loop->ways[0].block_count == 6 && memcmp(loop->ways[0].blocks, skip, sizeof skip) == 0);
    cr_assert(loop->ways[1].block_count == 7 && memcmp(loop->ways[1].blocks, take, sizeof take) == 0);
    cr_assert(memcmp(loop->always, always, sizeof always) == 0);
    release(&analysed);
}

/* Two ways to load the next tile, as a compiler lays them out: the first leaves the scalar flag clear for the second.
 */
Test(issue_model, of_two_ways_to_load_the_cheaper_one_is_the_bound) {
    static const char text[] = "k:\n.LBB0_1:\n" WMMA "\ts_cbranch_scc1 .LBB0_3\n"                    /* 0 */
                               "\tv_add_f32_e32 v0, v1, v2\n\tglobal_load_b128 v[0:3], v4, s[0:1]\n" /* 1 */
                               ".LBB0_3:\n\ts_cbranch_vccz .LBB0_5\n"                                /* 2 */
                               "\ts_add_u32 s0, s0, s1\n\tglobal_load_b128 v[0:3], v4, s[0:1]\n"     /* 3 */
                               ".LBB0_5:\n\ts_cbranch_vccnz .LBB0_1\n\ts_endpgm\n";                  /* 4 */
    static const int skip[] = {0, 2, 3, 4};
    struct analysed analysed = analyse_text(text, "gfx1151", 32);
    const struct issue_loop *loop = &analysed.loop;
    cr_assert(loop->ways[0].block_count == 4 && memcmp(loop->ways[0].blocks, skip, sizeof skip) == 0);
    close_to(loop->ways[0].bound.l0_cycles, 16);
    cr_assert_eq(loop->ways[1].block_count, 5);
    release(&analysed);
}

Test(issue_model, a_loop_inside_is_counted_once_and_said) {
    struct analysed analysed = analyse_text(
        LOOP(WMMA ".LBB0_2:\n\tv_add_f32_e32 v0, v1, v2\n\ts_cbranch_scc0 .LBB0_2\n\ts_nop 0\n"), "gfx1151", 32);
    cr_assert(analysed.loop.inner);
    close_to(analysed.loop.ways[0].bound.simd_cycles, 33);
    release(&analysed);
}

/* ---- Waits
 * ---------------------------------------------------------------------------------------------------------------- */

Test(issue_model, gfx12_waits_by_counter) {
    static const char text[] = LOOP("\tglobal_load_b128 v[0:3], v4, s[0:1]\n"
                                    "\tds_load_b128 v[8:11], v40\n"
                                    "\ts_load_b64 s[0:1], s[2:3], 0x0\n"
                                    "\tv_add_f32_e32 v0, v1, v2\n"
                                    "\tds_load_b128 v[8:11], v40\n"
                                    "\ts_wait_loadcnt_dscnt 0x1\n" /* loads 0, LDS 1 */
                                    "\tv_add_f32_e32 v0, v1, v2\n"
                                    "\ts_wait_dscnt 0x0\n"
                                    "\tv_add_f32_e32 v0, v1, v2\n"
                                    "\tglobal_store_b32 v4, v0, s[0:1]\n"
                                    "\ts_wait_kmcnt 0x0\n" WMMA);
    struct analysed analysed = analyse_text(text, "gfx1201", 32);
    const struct issue_cover *covers = analysed.loop.covers;
    cr_assert(covers[0].loads == 1 && covers[1].loads == 2 && covers[2].loads == 1);
    close_to(covers[0].least_cycles, 1);
    close_to(covers[1].mean_cycles, 1); /* both: one instruction between */
    close_to(covers[2].least_cycles, 3);
    release(&analysed);
}

Test(issue_model, gfx12_combined_wait_holds_two_counts) {
    static const char text[] = LOOP("\tglobal_load_b128 v[0:3], v4, s[0:1]\n"
                                    "\tds_load_b128 v[8:11], v40\n"
                                    "\ts_wait_loadcnt_dscnt 0x100\n" WMMA);
    struct analysed analysed = analyse_text(text, "gfx1201", 32);
    close_to(analysed.loop.covers[0].least_cycles, 16); /* one load may stay: it is waited for a pass later */
    close_to(analysed.loop.covers[1].least_cycles, 0);
    release(&analysed);
}

Test(issue_model, a_load_three_passes_ahead_is_covered_by_three_passes) {
    static const char text[] = LOOP("\tglobal_load_b128 v[0:3], v4, s[0:1]\n"
                                    "\ts_waitcnt vmcnt(3)\n" WMMA);
    struct analysed analysed = analyse_text(text, "gfx1151", 32);
    cr_assert_eq(analysed.loop.covers[0].loads, 1);
    close_to(analysed.loop.covers[0].least_cycles, 96);
    release(&analysed);
}

Test(issue_model, stores_share_the_counter_on_cdna_alone) {
    static const char text[] = LOOP("\tglobal_load_dwordx4 v[0:3], v[4:5], off\n"
                                    "\tglobal_store_dword v[4:5], v0, off\n"
                                    "\ts_waitcnt vmcnt(1)\n"
                                    "\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]\n");
    struct analysed cdna = analyse_text(text, "gfx942", 64);
    close_to(cdna.loop.covers[0].least_cycles, 0); /* the store is the one left */
    release(&cdna);
    static const char rdna_text[] = LOOP("\tglobal_load_b128 v[0:3], v4, s[0:1]\n"
                                         "\tglobal_store_b32 v4, v0, s[0:1]\n"
                                         "\ts_waitcnt vmcnt(1)\n" WMMA);
    struct analysed rdna = analyse_text(rdna_text, "gfx1151", 32);
    close_to(rdna.loop.covers[0].least_cycles, 32); /* the load is */
    release(&rdna);
}

/* ---- The tables' spellings, from the compiler
 * ------------------------------------------------------------------------------- */

static const struct {
    const char *arch;
    int wave;
    const char *a, *c, *call; /* types of the operands and of the sum; the builtin's call */
    double cycles, flop;
} builtins[] = {
    {"gfx1151", 32, "_Float16, 16", "float, 8", "wmma_f32_16x16x16_f16_w32(a, a, c)", 32, 8192},
    {"gfx1151", 64, "_Float16, 16", "float, 4", "wmma_f32_16x16x16_f16_w64(a, a, c)", 32, 8192},
    {"gfx1151", 32, "short, 16", "float, 8", "wmma_f32_16x16x16_bf16_w32(a, a, c)", 32, 8192},
    {"gfx1151", 32, "_Float16, 16", "_Float16, 16", "wmma_f16_16x16x16_f16_w32(a, a, c, false)", 32, 8192},
    {"gfx1201", 32, "_Float16, 8", "float, 8", "wmma_f32_16x16x16_f16_w32_gfx12(a, a, c)", 16, 8192},
    {"gfx1201", 32, "short, 8", "float, 8", "wmma_f32_16x16x16_bf16_w32_gfx12(a, a, c)", 16, 8192},
    {"gfx1201", 32, "int, 2", "float, 8", "wmma_f32_16x16x16_fp8_fp8_w32_gfx12(a, a, c)", 8, 8192},
    {"gfx1201", 32, "int, 2", "float, 8", "wmma_f32_16x16x16_bf8_fp8_w32_gfx12(a, a, c)", 8, 8192},
    {"gfx908", 64, "_Float16, 4", "float, 4", "mfma_f32_16x16x16f16(a, a, c, 0, 0, 0)", 32, 8192},
    {"gfx908", 64, "_Float16, 4", "float, 16", "mfma_f32_32x32x8f16(a, a, c, 0, 0, 0)", 64, 16384},
    {"gfx908", 64, "short, 2", "float, 4", "mfma_f32_16x16x8bf16(a, a, c, 0, 0, 0)", 32, 4096},
    {"gfx908", 64, "short, 2", "float, 16", "mfma_f32_32x32x4bf16(a, a, c, 0, 0, 0)", 64, 8192},
    {"gfx90a", 64, "_Float16, 4", "float, 4", "mfma_f32_16x16x16f16(a, a, c, 0, 0, 0)", 32, 8192},
    {"gfx90a", 64, "short, 4", "float, 4", "mfma_f32_16x16x16bf16_1k(a, a, c, 0, 0, 0)", 32, 8192},
    {"gfx90a", 64, "_Float16, 4", "float, 16", "mfma_f32_32x32x8f16(a, a, c, 0, 0, 0)", 64, 16384},
    {"gfx90a", 64, "short, 4", "float, 16", "mfma_f32_32x32x8bf16_1k(a, a, c, 0, 0, 0)", 64, 16384},
    {"gfx942", 64, "_Float16, 4", "float, 4", "mfma_f32_16x16x16f16(a, a, c, 0, 0, 0)", 16, 8192},
    {"gfx942", 64, "short, 4", "float, 4", "mfma_f32_16x16x16bf16_1k(a, a, c, 0, 0, 0)", 16, 8192},
    {"gfx942", 64, "_Float16, 4", "float, 16", "mfma_f32_32x32x8f16(a, a, c, 0, 0, 0)", 32, 16384},
    {"gfx942", 64, "short, 4", "float, 16", "mfma_f32_32x32x8bf16_1k(a, a, c, 0, 0, 0)", 32, 16384},
    {"gfx950", 64, "_Float16, 8", "float, 4", "mfma_f32_16x16x32_f16(a, a, c, 0, 0, 0)", 16, 16384},
    {"gfx950", 64, "__bf16, 8", "float, 4", "mfma_f32_16x16x32_bf16(a, a, c, 0, 0, 0)", 16, 16384},
    {"gfx950", 64, "_Float16, 8", "float, 16", "mfma_f32_32x32x16_f16(a, a, c, 0, 0, 0)", 32, 32768},
    {"gfx950", 64, "__bf16, 8", "float, 16", "mfma_f32_32x32x16_bf16(a, a, c, 0, 0, 0)", 32, 32768},
    {"gfx950", 64, "int, 8", "float, 4", "mfma_scale_f32_16x16x128_f8f6f4(a, a, c, 0, 0, 0, 1, 0, 1)", 32, 65536},
    {"gfx950", 64, "int, 8", "float, 4", "mfma_scale_f32_16x16x128_f8f6f4(a, a, c, 4, 4, 0, 1, 0, 1)", 16, 65536},
    {"gfx950", 64, "int, 8", "float, 4", "mfma_scale_f32_16x16x128_f8f6f4(a, a, c, 0, 4, 0, 1, 0, 1)", 32, 65536},
    {"gfx950", 64, "int, 8", "float, 4", "mfma_scale_f32_16x16x128_f8f6f4(a, a, c, 0, 0, 0, 0, 0, 0)", 32, 65536},
    {"gfx942", 64, "long, 1", "float, 4", "mfma_f32_16x16x32_fp8_fp8(a[0], a[0], c, 0, 0, 0)", 16, 16384},
    {"gfx942", 64, "long, 1", "float, 4", "mfma_f32_16x16x32_bf8_fp8(a[0], a[0], c, 0, 0, 0)", 16, 16384},
    {"gfx942", 64, "long, 1", "float, 16", "mfma_f32_32x32x16_fp8_bf8(a[0], a[0], c, 0, 0, 0)", 32, 32768},
    {"gfx942", 64, "long, 1", "float, 16", "mfma_f32_32x32x16_bf8_bf8(a[0], a[0], c, 0, 0, 0)", 32, 32768},
};

static const char *type_of(const char *pair, char type[128]) {
    const char *comma = strchr(pair, ',');
    snprintf(type, 128, "__attribute__((ext_vector_type(%s))) %.*s", comma + 2, (int)(comma - pair), pair);
    return type;
}

Test(issue_model, each_matrix_instruction_of_the_tables_is_spelled_as_the_compiler_does, .timeout = 120) {
    static const char *const to_text[] = {"-S", NULL};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        char source[1024], a[128], c[128];
        snprintf(source, sizeof source,
                 "typedef %s A; typedef %s C;\nextern \"C\" __attribute__((global)) void k(A *p, C *q, int n) {\n"
                 "  A a = *p; C c = *q;\n  for (int i = 0; i < n; i++) c = __builtin_amdgcn_%s;\n  *q = c;\n}\n",
                 type_of(builtins[i].a, a), type_of(builtins[i].c, c), builtins[i].call);
        struct compiled text = compile_text(source, builtins[i].arch, builtins[i].wave, to_text);
        struct analysed analysed = analyse(text.bytes, text.length, builtins[i].arch, builtins[i].wave);
        const struct issue_way *way = &analysed.loop.ways[0];
        cr_assert(way->bound.known, "%s: %s", builtins[i].arch, builtins[i].call);
        int count = way->mix.count[MIX_MATRIX]; /* more than one where the compiler unrolls */
        cr_assert(fabs(way->bound.matrix_cycles - count * builtins[i].cycles) < 1e-9, "%s: %s: %g cycles for %d",
                  builtins[i].arch, builtins[i].call, way->bound.matrix_cycles, count);
        double slowest = way->bound.matrix_cycles * 100 / way->bound.percent;
        cr_assert(fabs(way->bound.flop_per_cycle * slowest - count * builtins[i].flop) < 1e-6, "%s: %s",
                  builtins[i].arch, builtins[i].call);
        release(&analysed);
        compiled_free(&text);
    }
}
