#include "issue_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bound ---- */

int issue_simds_per_compute_unit(const char *target) {
    const struct issue_family *family = issue_family_of(target);
    return family != NULL ? family->simds : 0;
}

void issue_work_add(const struct assembly *assembly, int block, const struct issue_family *family, int wave,
                    double times, struct issue_work *work) {
    const struct assembly_block *one = &assembly->blocks[block];
    const int *count = one->mix.count;
    struct issue_clocks clocks = {0, 0};
    double flop = 0;
    for (int k = one->first; k < one->first + one->count; k++) {
        const struct instruction *instruction = &assembly->instructions[k];
        work->known = issue_tick(family, wave, instruction, &clocks) && work->known;
        flop += issue_flop(family, wave, instruction);
    }
    work->clocks.matrix += times * clocks.matrix;
    work->clocks.simd += times * clocks.simd;
    work->flop += times * flop;
    work->lds_bytes += times * wave * count[MIX_LDS_BYTES];
    work->lds_exchange_bytes += times * wave * 4.0 * count[MIX_LDS_EXCHANGES];
    work->l0_bytes += times * wave * ((double)count[MIX_GLOBAL_BYTES] + count[MIX_SCRATCH_BYTES]);
}

void issue_bound_of(const struct assembly *assembly, const int *blocks, int block_count, const char *target, int wave,
                    struct issue_bound *bound) {
    const struct issue_family *family = wave == 32 || wave == 64 ? issue_family_of(target) : NULL;
    struct issue_work work = {.known = true};
    for (int i = 0; family != NULL && i < block_count; i++) {
        issue_work_add(assembly, blocks[i], family, wave, 1, &work);
    }
    issue_bound_make(family, &work, 0, bound);
}

/* ---- Ways through a loop
 * -------------------------------------------------------------------------------------------------- */

/* What a way has done when it has left a block; compared from the first member on. `useful`: issue_useful. */
struct score {
    double useful, cycles, bytes; /* cycles below zero where few are wanted */
    int from;                     /* the block before, as an index into the sequence; -1: none */
    bool reached;
};

static bool better(const struct score *left, const struct score *right) {
    if (!right->reached || left->useful != right->useful) {
        return !right->reached || left->useful > right->useful;
    }
    return left->cycles != right->cycles ? left->cycles > right->cycles : left->bytes > right->bytes;
}

/* Both ways do the most useful work (matrix instructions, or multiply-adds) that a pass can do, so that an early out is
 * none of them. "skip" then takes the least cycles and, where that leaves a choice, moves the most bytes: of two ways
 * to load a tile the cheaper one, and a guarded load that costs no cycles is not left out. "take" takes the most
 * cycles. */
static struct score block_score(const struct assembly *assembly, int block, const char *target, int wave, bool skip) {
    struct issue_bound bound;
    const struct mix *mix = &assembly->blocks[block].mix;
    issue_bound_of(assembly, &block, 1, target, wave, &bound);
    double cycles = bound.simd_cycles;
    if (cycles == 0) { /* a chip that is not in the tables */
        cycles = mix->count[MIX_VALU] + 4.0 * mix->count[MIX_TRANSCENDENTAL];
    }
    double bytes = (double)mix->count[MIX_LDS_BYTES] + mix->count[MIX_GLOBAL_BYTES];
    return (struct score){mix->count[issue_useful(issue_family_of(target))], skip ? -cycles : cycles, bytes, -1, false};
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

static double vector_cycles(const struct assembly *assembly, const struct issue_way *way, const char *target,
                            int wave) {
    const struct issue_family *family = issue_family_of(target);
    double cycles = 0;
    for (int i = 0; family != NULL && i < way->block_count; i++) {
        const struct assembly_block *block = &assembly->blocks[way->blocks[i]];
        for (int k = block->first; k < block->first + block->count; k++) {
            struct issue_clocks clocks = {0, 0};
            issue_tick(family, wave, &assembly->instructions[k], &clocks);
            cycles += clocks.matrix > 0 ? 0 : clocks.simd;
        }
    }
    return cycles;
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
                sum.useful += scores[i].useful;
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
    way->vector_cycles = vector_cycles(assembly, way, target, wave);
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

enum { PASSES = 4 }; /* the last is measured: loads may be issued up to three passes ahead */

struct flight {
    struct issue_clocks issued;
    int kind; /* index into issue_loop.covers, -1: a store */
};

struct queue {
    struct flight *flights;
    int first, end;
};

static void land(struct queue *queue, int limit, const struct issue_clocks *now, bool measured,
                 struct issue_cover *covers) {
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
static bool find_covers(const struct assembly *assembly, const struct issue_way *way, const struct issue_family *family,
                        int wave, struct issue_cover covers[3]) {
    struct queue queues[ISSUE_COUNTERS] = {{0}};
    struct issue_clocks now = {0, 0};
    size_t room = 0;
    for (int i = 0; i < way->block_count; i++) {
        room += (size_t)assembly->blocks[way->blocks[i]].count;
    }
    struct flight *flights = calloc(room, ISSUE_COUNTERS * PASSES * sizeof *flights);
    if (flights == NULL) {
        return false;
    }
    for (int i = 0; i < ISSUE_COUNTERS; i++) {
        queues[i].flights = flights + (size_t)i * PASSES * room;
        covers[i].kind = issue_load_names[i];
    }
    for (int step = 0; step < PASSES * way->block_count; step++) {
        const struct assembly_block *block = &assembly->blocks[way->blocks[step % way->block_count]];
        bool measured = step / way->block_count == PASSES - 1;
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct instruction *instruction = &assembly->instructions[k];
            enum issue_counter counter;
            int limits[ISSUE_COUNTERS], load;
            issue_tick(family, wave, instruction, &now);
            if (issue_raises(family, instruction, &counter, &load)) {
                queues[counter].flights[queues[counter].end++] = (struct flight){now, load};
            } else if (instruction->unit == MIX_WAIT) {
                issue_wait_limits(instruction->text, limits);
                for (int i = 0; i < ISSUE_COUNTERS; i++) {
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
    const struct issue_family *family = issue_family_of(target);
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
