#include "issue_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Facts
 * -------------------------------------------------------------------------------------------------------------- */

struct family {
    const char *prefix;
    bool rdna;            /* a matrix instruction keeps the VALU of its SIMD busy */
    int simds;            /* of one compute unit, which share its LDS and L0 pipes */
    int lds_bytes_cycle;  /* of one compute unit; 0: not known, and not counted */
    int l0_bytes_cycle;   /* likewise, vector cache */
    bool stores_in_vmcnt; /* one counter for loads and stores; else stores have their own */
    bool scalar_counter;  /* scalar loads have their own; else they share that of LDS */
};

/* The longest matching prefix counts. */
static const struct family families[] = {
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

static const struct family *family_of(const char *target) {
    const struct family *found = NULL;
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

int issue_simds_per_compute_unit(const char *target) {
    const struct family *family = family_of(target);
    return family != NULL ? family->simds : 0;
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
static int matrix_cycles(const struct family *family, const char *text) {
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

/* 2MNK of "v_wmma_f32_16x16x16_f16"; 0 if the mnemonic has no such shape. */
static double matrix_flop(const char *text) {
    for (const char *at = strchr(text, '_'); at != NULL; at = strchr(at + 1, '_')) {
        int m, n, k;
        if (sscanf(at, "_%4dx%4dx%4d", &m, &n, &k) == 3) {
            return 2.0 * m * n * k;
        }
    }
    return 0;
}

/* ---- Bound
 * ---------------------------------------------------------------------------------------------------------------- */

/* Cycles of the SIMD's own two pipes. On RDNA a matrix instruction occupies the VALU; on CDNA only while it issues. */
struct clocks {
    double matrix, simd;
};

static bool tick(const struct family *family, int wave, const struct instruction *instruction, struct clocks *clocks) {
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

void issue_bound_of(const struct assembly *assembly, const int *blocks, int block_count, const char *target, int wave,
                    struct issue_bound *bound) {
    const struct family *family = family_of(target);
    struct clocks clocks = {0, 0};
    struct mix mix = {{0}};
    double flop = 0;
    *bound = (struct issue_bound){.known = family != NULL && (wave == 32 || wave == 64), .slowest = ""};
    if (!bound->known) {
        return;
    }
    for (int i = 0; i < block_count; i++) {
        const struct assembly_block *block = &assembly->blocks[blocks[i]];
        mix_add(&mix, &block->mix);
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct instruction *instruction = &assembly->instructions[k];
            bound->known = tick(family, wave, instruction, &clocks) && bound->known;
            flop += instruction->unit == MIX_MATRIX ? matrix_flop(instruction->text) : 0;
        }
    }
    double lanes = (double)wave * family->simds;
    double global_bytes = (double)mix.count[MIX_GLOBAL_BYTES] + mix.count[MIX_SCRATCH_BYTES];
    bound->matrix_cycles = clocks.matrix;
    bound->simd_cycles = clocks.simd;
    bound->lds_cycles = family->lds_bytes_cycle > 0 ? mix.count[MIX_LDS_BYTES] * lanes / family->lds_bytes_cycle : 0;
    bound->l0_cycles = family->l0_bytes_cycle > 0 ? global_bytes * lanes / family->l0_bytes_cycle : 0;
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
    bound->known = bound->known && most > 0;
    if (bound->known) {
        bound->slowest = slowest;
        bound->percent = 100 * bound->matrix_cycles / most;
        bound->flop_per_cycle = flop / most;
    }
}

/* ---- Ways through a loop
 * -------------------------------------------------------------------------------------------------- */

/* What a way has done when it has left a block; compared from the first member on. */
struct score {
    double matrix, cycles, bytes; /* cycles below zero where few are wanted */
    int from;                     /* the block before, as an index into the sequence; -1: none */
    bool reached;
};

static bool better(const struct score *left, const struct score *right) {
    if (!right->reached || left->matrix != right->matrix) {
        return !right->reached || left->matrix > right->matrix;
    }
    return left->cycles != right->cycles ? left->cycles > right->cycles : left->bytes > right->bytes;
}

/* Both ways do the most matrix work that a pass can do, so that an early out is none of them. "skip" then takes the
 * least cycles and, where that leaves a choice, moves the most bytes: of two ways to load a tile the cheaper one, and a
 * guarded load that costs no cycles is not left out. "take" takes the most cycles. */
static struct score block_score(const struct assembly *assembly, int block, const char *target, int wave, bool skip) {
    struct issue_bound bound;
    const struct mix *mix = &assembly->blocks[block].mix;
    issue_bound_of(assembly, &block, 1, target, wave, &bound);
    double cycles = bound.simd_cycles;
    if (cycles == 0) { /* a chip that is not in the tables */
        cycles = mix->count[MIX_VALU] + 4.0 * mix->count[MIX_TRANSCENDENTAL];
    }
    double bytes = (double)mix->count[MIX_LDS_BYTES] + mix->count[MIX_GLOBAL_BYTES];
    return (struct score){mix->count[MIX_MATRIX], skip ? -cycles : cycles, bytes, -1, false};
}

/* The loop's blocks in an order in which every edge but those back goes forward. */
static void order_blocks(const struct assembly *assembly, const struct assembly_loop *loop, int *sequence) {
    for (int i = 0; i < loop->block_count; i++) {
        int at = i;
        for (; at > 0 && assembly->order[sequence[at - 1]] > assembly->order[loop->blocks[i]]; at--) {
            sequence[at] = sequence[at - 1];
        }
        sequence[at] = loop->blocks[i];
    }
}

/* Position of a block in the sequence; -1: not of the loop. */
static int position(const struct assembly *assembly, const int *sequence, int count, int block) {
    int low = 0, high = count - 1;
    while (block >= 0 && low <= high) {
        int middle = low + (high - low) / 2, here = assembly->order[sequence[middle]];
        if (here == assembly->order[block]) {
            return middle;
        }
        low = here < assembly->order[block] ? middle + 1 : low;
        high = here > assembly->order[block] ? middle - 1 : high;
    }
    return -1;
}

static bool find_way(const struct assembly *assembly, const struct assembly_loop *loop, const int *sequence,
                     const char *target, int wave, bool skip, struct issue_way *way) {
    int count = loop->block_count, last = -1;
    struct score *scores = calloc((size_t)count, sizeof *scores);
    way->blocks = malloc((size_t)count * sizeof *way->blocks);
    if (scores == NULL || way->blocks == NULL) {
        free(scores);
        return false;
    }
    scores[0] = block_score(assembly, loop->header, target, wave, skip);
    scores[0].reached = true;
    for (int i = 0; i < count; i++) {
        const int *successors = assembly->blocks[sequence[i]].successors;
        for (int k = 0; k < 2 && scores[i].reached; k++) {
            int next = position(assembly, sequence, count, successors[k]);
            if (next == 0 && (last < 0 || better(&scores[i], &scores[last]))) {
                last = i;
            } else if (next > i) {
                struct score sum = block_score(assembly, sequence[next], target, wave, skip);
                sum.matrix += scores[i].matrix;
                sum.cycles += scores[i].cycles;
                sum.bytes += scores[i].bytes;
                sum.from = i;
                sum.reached = true;
                if (better(&sum, &scores[next])) {
                    scores[next] = sum;
                }
            }
        }
    }
    for (int i = last; i >= 0; i = scores[i].from) {
        way->block_count++;
    }
    for (int i = last, at = way->block_count; i >= 0; i = scores[i].from) {
        way->blocks[--at] = sequence[i];
        mix_add(&way->mix, &assembly->blocks[sequence[i]].mix);
    }
    free(scores);
    way->name = skip ? "skip" : "take";
    issue_bound_of(assembly, way->blocks, way->block_count, target, wave, &way->bound);
    return true;
}

/* A block runs in each pass when it dominates all blocks that lead back to the header. */
static void mark_always(const struct assembly *assembly, const struct assembly_loop *loop, bool *always) {
    for (int i = 0; i < loop->block_count; i++) {
        always[i] = true;
        for (int k = 0; k < loop->block_count; k++) {
            const int *successors = assembly->blocks[loop->blocks[k]].successors;
            if (successors[0] == loop->header || successors[1] == loop->header) {
                always[i] = always[i] && assembly_dominates(assembly, loop->blocks[i], loop->blocks[k]);
            }
        }
    }
}

/* ---- Loads and their waits
 * ------------------------------------------------------------------------------------------------ */

enum counter { COUNTER_VECTOR, COUNTER_LDS, COUNTER_SCALAR, COUNTERS };
enum { PASSES = 4 }; /* the last is measured: loads may be issued up to three passes ahead */

struct flight {
    struct clocks issued;
    int kind; /* index into issue_loop.covers, -1: a store */
};

struct queue {
    struct flight *flights;
    int first, end;
};

static const char *const cover_kinds[3] = {"global", "lds", "scalar"};

/* Which counter an instruction raises; false: none. */
static bool raises(const struct family *family, const struct instruction *instruction, enum counter *counter) {
    switch (instruction->unit) {
    case MIX_GLOBAL:
    case MIX_BUFFER:
    case MIX_SCRATCH:
        *counter = COUNTER_VECTOR;
        return !instruction->store || family->stores_in_vmcnt;
    case MIX_LDS:
        *counter = COUNTER_LDS;
        return true;
    case MIX_SCALAR_MEMORY:
        *counter = family->scalar_counter ? COUNTER_SCALAR : COUNTER_LDS;
        return instruction->load;
    default:
        return false;
    }
}

/* How many a wait leaves in flight for each counter, -1: any number. */
static void wait_limits(const char *text, int limits[COUNTERS]) {
    static const struct {
        const char *word;
        enum counter counter;
    } words[] = {{"vmcnt(", COUNTER_VECTOR},
                 {"lgkmcnt(", COUNTER_LDS},
                 {"s_wait_loadcnt ", COUNTER_VECTOR},
                 {"s_wait_dscnt ", COUNTER_LDS},
                 {"s_wait_kmcnt ", COUNTER_SCALAR}};
    limits[COUNTER_VECTOR] = limits[COUNTER_LDS] = limits[COUNTER_SCALAR] = -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(text, words[i].word);
        if (found != NULL) {
            limits[words[i].counter] = (int)strtol(found + strlen(words[i].word), NULL, 0);
        }
    }
    if (strncmp(text, "s_wait_loadcnt_dscnt ", 21) == 0) { /* loads in bits 8 to 13, LDS in bits 0 to 5 */
        long both = strtol(text + 21, NULL, 0);
        limits[COUNTER_VECTOR] = (int)(both >> 8 & 63);
        limits[COUNTER_LDS] = (int)(both & 63);
    } else if (strncmp(text, "s_waitcnt 0", 11) == 0 && strtol(text + 10, NULL, 0) == 0) {
        limits[COUNTER_VECTOR] = limits[COUNTER_LDS] = limits[COUNTER_SCALAR] = 0;
    }
}

static void land(struct queue *queue, int limit, const struct clocks *now, bool measured, struct issue_cover *covers) {
    while (queue->end - queue->first > limit) {
        const struct flight *flight = &queue->flights[queue->first++];
        if (flight->kind < 0 || !measured) {
            continue;
        }
        struct issue_cover *cover = &covers[flight->kind];
        double matrix = now->matrix - flight->issued.matrix, simd = now->simd - flight->issued.simd;
        double cycles = matrix > simd ? matrix : simd;
        cover->least_cycles = cover->loads == 0 || cycles < cover->least_cycles ? cycles : cover->least_cycles;
        cover->mean_cycles += (cycles - cover->mean_cycles) / ++cover->loads;
    }
}

/* Runs the way a few times over in program order, counters as the hardware keeps them. */
static bool find_covers(const struct assembly *assembly, const struct issue_way *way, const struct family *family,
                        int wave, struct issue_cover covers[3]) {
    struct queue queues[COUNTERS] = {{0}};
    struct clocks now = {0, 0};
    size_t room = 0;
    for (int i = 0; i < way->block_count; i++) {
        room += (size_t)assembly->blocks[way->blocks[i]].count;
    }
    struct flight *flights = calloc(room, COUNTERS * PASSES * sizeof *flights);
    if (flights == NULL) {
        return false;
    }
    for (int i = 0; i < COUNTERS; i++) {
        queues[i].flights = flights + (size_t)i * PASSES * room;
        covers[i].kind = cover_kinds[i];
    }
    for (int step = 0; step < PASSES * way->block_count; step++) {
        const struct assembly_block *block = &assembly->blocks[way->blocks[step % way->block_count]];
        bool measured = step / way->block_count == PASSES - 1;
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct instruction *instruction = &assembly->instructions[k];
            enum counter counter;
            int limits[COUNTERS];
            tick(family, wave, instruction, &now);
            if (raises(family, instruction, &counter)) {
                int kind = instruction->unit == MIX_LDS ? 1 : instruction->unit == MIX_SCALAR_MEMORY ? 2 : 0;
                queues[counter].flights[queues[counter].end++] = (struct flight){now, instruction->load ? kind : -1};
            } else if (instruction->unit == MIX_WAIT) {
                wait_limits(instruction->text, limits);
                for (int i = 0; i < COUNTERS; i++) {
                    if (limits[i] >= 0) {
                        land(&queues[i], limits[i], &now, measured, covers);
                    }
                }
            }
        }
    }
    free(flights);
    return true;
}

bool issue_loop_analyse(const struct assembly *assembly, const struct assembly_loop *loop, const char *target, int wave,
                        struct issue_loop *result, struct error *error) {
    const struct family *family = family_of(target);
    size_t count = (size_t)loop->block_count;
    memset(result, 0, sizeof *result);
    int *sequence = malloc(count * sizeof *sequence);
    result->always = calloc(count, sizeof *result->always);
    bool good = sequence != NULL && result->always != NULL;
    if (good) {
        order_blocks(assembly, loop, sequence);
        mark_always(assembly, loop, result->always);
        for (int i = 0; i < loop->block_count; i++) {
            mix_add(&result->total, &assembly->blocks[loop->blocks[i]].mix);
        }
        for (int i = 0; i < assembly->loop_count; i++) {
            result->inner = result->inner || assembly->loops[i].parent == (int)(loop - assembly->loops);
        }
        good = find_way(assembly, loop, sequence, target, wave, true, &result->ways[0]) &&
               find_way(assembly, loop, sequence, target, wave, false, &result->ways[1]);
    }
    if (good) {
        size_t bytes = (size_t)result->ways[0].block_count * sizeof(int);
        result->way_count = result->ways[0].block_count == result->ways[1].block_count &&
                                    memcmp(result->ways[0].blocks, result->ways[1].blocks, bytes) == 0
                                ? 1
                                : 2;
        good = family == NULL || find_covers(assembly, &result->ways[0], family, wave, result->covers);
        result->cover_count = family != NULL ? 3 : 0;
    }
    free(sequence);
    if (!good) {
        issue_loop_free(result);
        return error_set(error, ERROR_RUN, "issue bound: out of memory; report on one kernel alone");
    }
    return true;
}

void issue_loop_free(struct issue_loop *result) {
    free(result->always);
    free(result->ways[0].blocks);
    free(result->ways[1].blocks);
    memset(result, 0, sizeof *result);
}
