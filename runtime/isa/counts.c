#include "counts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Costs ---- */

static void cost_of(const struct issue_family *family, unsigned wave, const char *text, isa_cost *cost, bool *known) {
    struct instruction instruction;
    struct issue_clocks clocks = {0, 0};
    enum issue_counter counter;
    int load, limits[ISSUE_COUNTERS];
    instruction_classify(text, &instruction);
    *known = issue_tick(family, (int)wave, &instruction, &clocks) && *known;
    *cost = (isa_cost){.matrix = (uint16_t)clocks.matrix,
                       .simd = (uint16_t)clocks.simd,
                       .exchange_bytes = (uint16_t)(instruction.exchange ? 4 * wave : 0),
                       .counter = -1,
                       .load = -1};
    if (issue_raises(family, &instruction, &counter, &load)) {
        cost->counter = (int8_t)counter;
        cost->load = (int8_t)load;
    }
    issue_wait_limits(instruction.unit == MIX_WAIT ? text : "", limits);
    for (int i = 0; i < ISSUE_COUNTERS; i++) {
        cost->limits[i] = (int8_t)(limits[i] < ISA_FLIGHTS ? limits[i] : -1);
    }
}

bool isa_costs_init(isa_costs *costs, const isa_kernel *kernel, const char *arch) {
    *costs = (isa_costs){.family = issue_family_of(arch), .banks = emu_banks_of(arch), .known = true};
    costs->list = calloc(kernel->count + 1, sizeof *costs->list);
    costs->known = costs->family != NULL;
    for (uint32_t i = 0; costs->list != NULL && costs->family != NULL && i < kernel->count; i++) {
        cost_of(costs->family, kernel->wave, kernel->code[i].text, &costs->list[i], &costs->known);
    }
    return costs->list != NULL;
}

void isa_costs_free(isa_costs *costs) {
    free(costs->list);
    costs->list = NULL;
}

/* ---- Loads and their waits ---- */

/* Ends what is under way beyond the `limit` last. */
static void land(struct isa_counts *counts, const isa_progress *now, isa_flights *flights, uint32_t limit) {
    while (flights->end - flights->first > limit) {
        const isa_flight *flight = &flights->list[flights->first++ % ISA_FLIGHTS];
        if (counts->costs->list[flight->instruction].load < 0) {
            continue; /* a store */
        }
        isa_tally *tally = &counts->tallies[flight->instruction];
        uint64_t matrix = now->matrix - flight->matrix, simd = now->simd - flight->simd;
        uint64_t work = matrix > simd ? matrix : simd;
        tally->work_least = tally->waited == 0 || work < tally->work_least ? work : tally->work_least;
        tally->work += work;
        tally->waited++;
    }
}

void isa_count_begin(isa_wave *wave) {
    isa_progress *progress = &wave->counts->progress[wave->number];
    progress->matrix = progress->simd = 0;
    progress->next = progress->block = UINT32_MAX;
    for (int i = 0; i < ISSUE_COUNTERS; i++) {
        progress->flights[i].first = progress->flights[i].end = 0;
    }
}

void isa_count_step(isa_wave *wave) {
    struct isa_counts *counts = wave->counts;
    isa_progress *progress = &counts->progress[wave->number];
    uint32_t at = wave->pc, block = wave->group->launch->kernel->code[at].block;
    const isa_cost *cost = &counts->costs->list[at];
    isa_tally *tally = &counts->tallies[at];
    tally->executed++;
    if (at != progress->next || block != progress->block) {
        tally->entered++;
    }
    progress->next = at + 1;
    progress->block = block;
    progress->matrix += cost->matrix;
    progress->simd += cost->simd;
    if (cost->counter >= 0) {
        isa_flights *flights = &progress->flights[cost->counter];
        land(counts, progress, flights, ISA_FLIGHTS - 1);
        flights->list[flights->end++ % ISA_FLIGHTS] = (isa_flight){at, progress->matrix, progress->simd};
    }
    for (int i = 0; i < ISSUE_COUNTERS; i++) {
        if (cost->limits[i] >= 0) {
            land(counts, progress, &progress->flights[i], (uint32_t)cost->limits[i]);
        }
    }
}
