#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Facts --------------------------------------------------------------------------------------------------------
 */

/* The longest matching prefix counts. */
static const struct issue_family families[] = {
    {"gfx11", true, 2, 128, 64, false, false},        {"gfx120", true, 2, 128, 64, false, true},
    {"gfx12-generic", true, 2, 128, 64, false, true}, {"gfx908", false, 4, 128, 64, true, false},
    {"gfx90a", false, 4, 128, 64, true, false},       {"gfx942", false, 4, 128, 0, true, false},
    {"gfx950", false, 4, 0, 0, true, false},
};

/* Cycles that one matrix instruction keeps the matrix pipe busy; the longest matching pair counts. */
static const struct matrix_cost {
    const char *family, *mnemonic;
    int cycles;
} matrix_costs[] = {
    {"gfx11", "v_wmma_f32_16x16x16_", 32},
    {"gfx11", "v_wmma_f16_16x16x16_f16", 32},
    {"gfx11", "v_wmma_bf16_16x16x16_bf16", 32},
    {"gfx12", "v_wmma_f32_16x16x16_f16", 16},
    {"gfx12", "v_wmma_f32_16x16x16_bf16", 16},
    {"gfx12", "v_wmma_f16_16x16x16_f16", 16},
    {"gfx12", "v_wmma_bf16_16x16x16_bf16", 16},
    {"gfx12", "v_wmma_f32_16x16x16_fp8_", 8},
    {"gfx12", "v_wmma_f32_16x16x16_bf8_", 8},
    {"gfx908", "v_mfma_f32_16x16x16f16", 32},
    {"gfx908", "v_mfma_f32_16x16x8bf16", 32},
    {"gfx908", "v_mfma_f32_32x32x8f16", 64},
    {"gfx908", "v_mfma_f32_32x32x4bf16", 64},
    {"gfx90a", "v_mfma_f32_16x16x16f16", 32},
    {"gfx90a", "v_mfma_f32_16x16x16bf16_1k", 32},
    {"gfx90a", "v_mfma_f32_32x32x8f16", 64},
    {"gfx90a", "v_mfma_f32_32x32x8bf16_1k", 64},
    {"gfx942", "v_mfma_f32_16x16x16_f16", 16},
    {"gfx942", "v_mfma_f32_16x16x16_bf16", 16},
    {"gfx942", "v_mfma_f32_32x32x8_f16", 32},
    {"gfx942", "v_mfma_f32_32x32x8_bf16", 32},
    {"gfx942", "v_mfma_f32_16x16x32_fp8_", 16},
    {"gfx942", "v_mfma_f32_16x16x32_bf8_", 16},
    {"gfx942", "v_mfma_f32_32x32x16_fp8_", 32},
    {"gfx942", "v_mfma_f32_32x32x16_bf8_", 32},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 16},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16},
    {"gfx950", "v_mfma_f32_32x32x16_f16", 32},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 32},
    {"gfx950", "v_mfma_f32_16x16x128_f8f6f4", 16}, /* 32 when an operand has 8 bits: see matrix_cycles */
    {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", 16},
};

const struct issue_family *issue_family_of(const char *target) {
    const struct issue_family *found = NULL;
    size_t best = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i].prefix);
        if (length > best && strncmp(target, families[i].prefix, length) == 0) {
            found = &families[i];
            best = length;
        }
    }
    return found;
}

/* The formats of A and B in a f8f6f4 instruction: 0 and 1, also when not printed, have 8 bits, the others fewer. */
static bool has_wide_operand(const char *text) {
    static const char *const fields[] = {"cbsz:", "blgp:"};
    for (size_t i = 0; i < 2; i++) {
        const char *field = strstr(text, fields[i]);
        if (field == NULL || atoi(field + 5) < 2) {
            return true;
        }
    }
    return false;
}

/* 0: not in the table. */
static int matrix_cycles(const struct issue_family *family, const char *text) {
    int cycles = 0;
    size_t best = 0;
    for (size_t i = 0; i < sizeof matrix_costs / sizeof *matrix_costs; i++) {
        size_t length = strlen(matrix_costs[i].mnemonic);
        if (length > best && strncmp(family->prefix, matrix_costs[i].family, strlen(matrix_costs[i].family)) == 0 &&
            strncmp(text, matrix_costs[i].mnemonic, length) == 0) {
            cycles = matrix_costs[i].cycles;
            best = length;
        }
    }
    return cycles > 0 && strstr(text, "_f8f6f4") != NULL && has_wide_operand(text) ? 2 * cycles : cycles;
}

double issue_matrix_flop(const char *text) {
    for (const char *at = strchr(text, '_'); at != NULL; at = strchr(at + 1, '_')) {
        int m, n, k;
        if (sscanf(at, "_%4dx%4dx%4d", &m, &n, &k) == 3) {
            return 2.0 * m * n * k;
        }
    }
    return 0;
}

/* ---- Bound --------------------------------------------------------------------------------------------------------
 */

bool issue_tick(const struct issue_family *family, int wave, const struct instruction *instruction,
                struct issue_clocks *clocks) {
    int pass = family->rdna ? wave / 32 : 4;
    if (instruction->unit == MIX_VALU) {
        clocks->simd += pass;
    } else if (instruction->unit == MIX_TRANSCENDENTAL) {
        clocks->simd += 4 * pass;
    } else if (instruction->unit == MIX_MATRIX) {
        int cycles = matrix_cycles(family, instruction->text);
        clocks->matrix += cycles;
        clocks->simd += family->rdna ? cycles : 4;
        return cycles > 0;
    }
    return true;
}

void issue_bound_make(const struct issue_family *family, const struct issue_work *work, double lds_conflict_cycles,
                      struct issue_bound *bound) {
    *bound = (struct issue_bound){.known = family != NULL, .slowest = ""};
    if (!bound->known) {
        return;
    }
    bound->matrix_cycles = work->clocks.matrix;
    bound->simd_cycles = work->clocks.simd;
    bound->lds_cycles = family->lds_bytes_cycle > 0
                            ? (work->lds_bytes / family->lds_bytes_cycle + lds_conflict_cycles) * family->simds
                            : 0;
    bound->l0_cycles = family->l0_bytes_cycle > 0 ? work->l0_bytes * family->simds / family->l0_bytes_cycle : 0;
    const struct {
        const char *name;
        double cycles;
    } pipes[] = {{"matrix", bound->matrix_cycles}, {"lds", bound->lds_cycles}, {"l0", bound->l0_cycles}};
    const char *slowest = "simd";
    double most = bound->simd_cycles;
    for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++) {
        if (pipes[i].cycles > most) {
            slowest = pipes[i].name;
            most = pipes[i].cycles;
        }
    }
    bound->known = work->known && most > 0;
    if (bound->known) {
        bound->slowest = slowest;
        bound->percent = 100 * bound->matrix_cycles / most;
        bound->flop_per_cycle = work->flop / most;
    }
}

double issue_bound_cycles(const struct issue_bound *bound) {
    const double cycles[] = {bound->matrix_cycles, bound->simd_cycles, bound->lds_cycles, bound->l0_cycles};
    double most = 0;
    for (size_t i = 0; bound->known && i < sizeof cycles / sizeof *cycles; i++) {
        most = cycles[i] > most ? cycles[i] : most;
    }
    return most;
}

/* ---- Loads and their waits ----------------------------------------------------------------------------------------
 */

const char *const issue_load_names[ISSUE_LOADS] = {"global", "lds", "scalar"};

bool issue_raises(const struct issue_family *family, const struct instruction *instruction, enum issue_counter *counter,
                  int *load) {
    *load = !instruction->load                       ? -1
            : instruction->unit == MIX_LDS           ? ISSUE_LOAD_LDS
            : instruction->unit == MIX_SCALAR_MEMORY ? ISSUE_LOAD_SCALAR
                                                     : ISSUE_LOAD_GLOBAL;
    switch (instruction->unit) {
    case MIX_GLOBAL:
    case MIX_BUFFER:
    case MIX_SCRATCH:
        *counter = ISSUE_COUNTER_VECTOR;
        return !instruction->store || family->stores_in_vmcnt;
    case MIX_LDS:
        *counter = ISSUE_COUNTER_LDS;
        return true;
    case MIX_SCALAR_MEMORY:
        *counter = family->scalar_counter ? ISSUE_COUNTER_SCALAR : ISSUE_COUNTER_LDS;
        return instruction->load;
    default:
        return false;
    }
}

void issue_wait_limits(const char *text, int limits[ISSUE_COUNTERS]) {
    static const struct {
        const char *word;
        enum issue_counter counter;
    } words[] = {{"vmcnt(", ISSUE_COUNTER_VECTOR},
                 {"lgkmcnt(", ISSUE_COUNTER_LDS},
                 {"s_wait_loadcnt ", ISSUE_COUNTER_VECTOR},
                 {"s_wait_dscnt ", ISSUE_COUNTER_LDS},
                 {"s_wait_kmcnt ", ISSUE_COUNTER_SCALAR}};
    limits[ISSUE_COUNTER_VECTOR] = limits[ISSUE_COUNTER_LDS] = limits[ISSUE_COUNTER_SCALAR] = -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(text, words[i].word);
        if (found != NULL) {
            limits[words[i].counter] = (int)strtol(found + strlen(words[i].word), NULL, 0);
        }
    }
    if (strncmp(text, "s_wait_loadcnt_dscnt ", 21) == 0) { /* loads in bits 8 to 13, LDS in bits 0 to 5 */
        long both = strtol(text + 21, NULL, 0);
        limits[ISSUE_COUNTER_VECTOR] = (int)(both >> 8 & 63);
        limits[ISSUE_COUNTER_LDS] = (int)(both & 63);
    } else if (strncmp(text, "s_waitcnt 0", 11) == 0 && strtol(text + 10, NULL, 0) == 0) {
        limits[ISSUE_COUNTER_VECTOR] = limits[ISSUE_COUNTER_LDS] = limits[ISSUE_COUNTER_SCALAR] = 0;
    }
}
