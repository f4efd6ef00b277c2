#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Facts --------------------------------------------------------------------------------------------------------
 */

/* LDS: 32 banks of 4 bytes a compute unit (AMD's ISA documents, "Local Data Share"); on gfx950 twice that
 * (chipsandcheese.com, "AMD's CDNA 4 Architecture Announcement", of what AMD said of it). Vector cache: 64 bytes a
 * cycle on GCN, CDNA 1 and 2 and the RDNAs, 128 on gfx942 and gfx950 (the peaks of "vL1D Cache BW" in AMD's ROCm
 * Compute Profiler). Where sources differ the higher rate stands: a bound may be too high, not too low. The longest
 * matching prefix counts. gfx9-4-generic is reckoned as gfx942. */
static const struct issue_family families[] = {
    {"gfx90", false, 0, 4, 128, 64, true, false},
    {"gfx9-generic", false, 0, 4, 128, 64, true, false},
    {"gfx908", false, ISSUE_CDNA1, 4, 128, 64, true, false},
    {"gfx90a", false, ISSUE_CDNA2, 4, 128, 64, true, false},
    {"gfx942", false, ISSUE_CDNA3, 4, 128, 128, true, false},
    {"gfx9-4-generic", false, ISSUE_CDNA3, 4, 128, 128, true, false},
    {"gfx950", false, ISSUE_CDNA4, 4, 256, 128, true, false},
    {"gfx103", true, 0, 2, 128, 64, false, false},
    {"gfx10-3-generic", true, 0, 2, 128, 64, false, false},
    {"gfx11", true, ISSUE_RDNA3, 2, 128, 64, false, false},
    {"gfx120", true, ISSUE_RDNA4, 2, 128, 64, false, true},
    {"gfx12-generic", true, ISSUE_RDNA4, 2, 128, 64, false, true},
};

enum { CDNA12 = ISSUE_CDNA1 | ISSUE_CDNA2, CDNA34 = ISSUE_CDNA3 | ISSUE_CDNA4 };

/* Cycles that one matrix instruction keeps the matrix pipe busy, and how many products of its shape it makes; the
 * longest matching mnemonic counts. CDNA 1 to 3 and RDNA 3: AMD's matrix instruction calculator ("Execution cycles" and
 * "blocks" of --detail-instruction). CDNA 4: four cycles for each pass that LLVM's scheduling model gives it
 * (SISchedule.td, GFX950), which agrees with the peak rates of AMD's data sheet of the MI355X. */
static const struct matrix_cost {
    unsigned units;
    const char *mnemonic;
    int cycles, blocks;
} matrix_costs[] = {
    {ISSUE_RDNA3, "v_wmma_f32_16x16x16_", 32, 1},
    {ISSUE_RDNA3, "v_wmma_f16_16x16x16_f16", 32, 1},
    {ISSUE_RDNA3, "v_wmma_bf16_16x16x16_bf16", 32, 1},
    {ISSUE_RDNA4, "v_wmma_f32_16x16x16_f16", 16, 1},
    {ISSUE_RDNA4, "v_wmma_f32_16x16x16_bf16", 16, 1},
    {ISSUE_RDNA4, "v_wmma_f16_16x16x16_f16", 16, 1},
    {ISSUE_RDNA4, "v_wmma_bf16_16x16x16_bf16", 16, 1},
    {ISSUE_RDNA4, "v_wmma_f32_16x16x16_fp8_", 8, 1},
    {ISSUE_RDNA4, "v_wmma_f32_16x16x16_bf8_", 8, 1},

    /* every shape of CDNA 1 and 2 takes the cycles of its rows and columns, so bf16's half depth is half the rate */
    {CDNA12, "v_mfma_f32_16x16x", 32, 1},
    {CDNA12, "v_mfma_f32_32x32x", 64, 1},
    {CDNA12, "v_mfma_f32_4x4x", 8, 16},
    {CDNA12, "v_mfma_f32_16x16x1f32", 32, 4},
    {CDNA12, "v_mfma_f32_32x32x1f32", 64, 2},
    {CDNA12, "v_mfma_f32_16x16x4f16", 32, 4},
    {CDNA12, "v_mfma_f32_32x32x4f16", 64, 2},
    {CDNA12, "v_mfma_f32_16x16x2bf16", 32, 4},
    {CDNA12, "v_mfma_f32_32x32x2bf16", 64, 2},
    {ISSUE_CDNA2, "v_mfma_f32_16x16x4bf16_1k", 32, 4},
    {ISSUE_CDNA2, "v_mfma_f32_32x32x4bf16_1k", 64, 2},

    {CDNA34, "v_mfma_f32_16x16x16_f16", 16, 1},
    {CDNA34, "v_mfma_f32_16x16x16_bf16", 16, 1},
    {CDNA34, "v_mfma_f32_32x32x8_f16", 32, 1},
    {CDNA34, "v_mfma_f32_32x32x8_bf16", 32, 1},
    {CDNA34, "v_mfma_f32_4x4x4_16b_", 8, 16},
    {CDNA34, "v_mfma_f32_16x16x4_4b_", 32, 4},
    {CDNA34, "v_mfma_f32_32x32x4_2b_", 64, 2},
    {CDNA34, "v_mfma_f32_16x16x4_f32", 32, 1},
    {CDNA34, "v_mfma_f32_32x32x2_f32", 64, 1},
    {CDNA34, "v_mfma_f32_16x16x32_fp8_", 16, 1},
    {CDNA34, "v_mfma_f32_16x16x32_bf8_", 16, 1},
    {CDNA34, "v_mfma_f32_32x32x16_fp8_", 32, 1},
    {CDNA34, "v_mfma_f32_32x32x16_bf8_", 32, 1},

    {ISSUE_CDNA4, "v_mfma_f32_16x16x32_f16", 16, 1},
    {ISSUE_CDNA4, "v_mfma_f32_16x16x32_bf16", 16, 1},
    {ISSUE_CDNA4, "v_mfma_f32_32x32x16_f16", 32, 1},
    {ISSUE_CDNA4, "v_mfma_f32_32x32x16_bf16", 32, 1},
    {ISSUE_CDNA4, "v_mfma_f32_16x16x128_f8f6f4", 16, 1}, /* twice that when an operand has 8 bits: see cycles_of */
    {ISSUE_CDNA4, "v_mfma_scale_f32_16x16x128_f8f6f4", 16, 1},
    {ISSUE_CDNA4, "v_mfma_f32_32x32x64_f8f6f4", 32, 1},
    {ISSUE_CDNA4, "v_mfma_scale_f32_32x32x64_f8f6f4", 32, 1},
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

/* NULL: not in the table. */
static const struct matrix_cost *cost_of(const struct issue_family *family, const char *text) {
    const struct matrix_cost *found = NULL;
    size_t best = 0;
    for (size_t i = 0; i < sizeof matrix_costs / sizeof *matrix_costs; i++) {
        size_t length = strlen(matrix_costs[i].mnemonic);
        if (length > best && (matrix_costs[i].units & family->matrix_unit) != 0 &&
            strncmp(text, matrix_costs[i].mnemonic, length) == 0) {
            found = &matrix_costs[i];
            best = length;
        }
    }
    return found;
}

static int cycles_of(const struct issue_family *family, const char *text) {
    const struct matrix_cost *cost = cost_of(family, text);
    bool twice = strstr(text, "_f8f6f4") != NULL && has_wide_operand(text);
    return cost == NULL ? 0 : twice ? 2 * cost->cycles : cost->cycles;
}

double issue_flop(const struct issue_family *family, int wave, const struct instruction *instruction) {
    if (instruction->unit == MIX_VALU && family->matrix_unit == 0) {
        return 2.0 * wave * instruction->multiply_adds;
    }
    const struct matrix_cost *cost = instruction->unit == MIX_MATRIX ? cost_of(family, instruction->text) : NULL;
    for (const char *at = cost != NULL ? strchr(instruction->text, '_') : NULL; at != NULL; at = strchr(at + 1, '_')) {
        int m, n, k;
        if (sscanf(at, "_%4dx%4dx%4d", &m, &n, &k) == 3) {
            return 2.0 * m * n * k * cost->blocks;
        }
    }
    return 0;
}

/* ---- Bound --------------------------------------------------------------------------------------------------------
 */

enum mix_id issue_useful(const struct issue_family *family) {
    return family != NULL && family->matrix_unit == 0 ? MIX_MULTIPLY_ADD : MIX_MATRIX;
}

bool issue_tick(const struct issue_family *family, int wave, const struct instruction *instruction,
                struct issue_clocks *clocks) {
    int pass = family->rdna ? wave / 32 : 4;
    if (instruction->unit == MIX_VALU) {
        clocks->simd += pass;
        clocks->matrix += family->matrix_unit == 0 && instruction->multiply_adds > 0 ? pass : 0;
    } else if (instruction->unit == MIX_TRANSCENDENTAL) {
        clocks->simd += 4 * pass;
    } else if (instruction->unit == MIX_MATRIX) {
        int cycles = cycles_of(family, instruction->text);
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
    bound->lds_cycles =
        family->lds_bytes_cycle > 0
            ? ((work->lds_bytes + work->lds_exchange_bytes) / family->lds_bytes_cycle + lds_conflict_cycles) *
                  family->simds
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
                 {"s_wait_kmcnt ", ISSUE_COUNTER_SCALAR},
                 {"s_waitcnt_vmcnt null, ", ISSUE_COUNTER_VECTOR},
                 {"s_waitcnt_lgkmcnt null, ", ISSUE_COUNTER_LDS}};
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
    } else if (strncmp(text, "s_wait_storecnt_dscnt ", 22) == 0) { /* stores hold no load up */
        limits[ISSUE_COUNTER_LDS] = (int)(strtol(text + 22, NULL, 0) & 63);
    } else if (strncmp(text, "s_waitcnt 0", 11) == 0 && strtol(text + 10, NULL, 0) == 0) {
        limits[ISSUE_COUNTER_VECTOR] = limits[ISSUE_COUNTER_LDS] = limits[ISSUE_COUNTER_SCALAR] = 0;
    }
}
