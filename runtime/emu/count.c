#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "emu.h"

static const char *const total_names[EMU_COUNT_TOTALS] = {
    [EMU_COUNT_LAUNCHES] = "launches",
    [EMU_COUNT_WORKGROUPS] = "workgroups",
    [EMU_COUNT_MATRIX] = "matrix_instructions",
    [EMU_COUNT_LDS_READS] = "lds_reads",
    [EMU_COUNT_LDS_WRITES] = "lds_writes",
    [EMU_COUNT_LDS_BYTES_READ] = "lds_bytes_read",
    [EMU_COUNT_LDS_BYTES_WRITTEN] = "lds_bytes_written",
    [EMU_COUNT_LDS_CYCLES] = "lds_cycles",
    [EMU_COUNT_LDS_CONFLICTS] = "lds_conflict_cycles",
};

/* ---- A device's totals ----------------------------------------------------------------------------------------------
 */

void emu_counters_init(emu_counters *counters) {
    *counters = (emu_counters){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void emu_counters_clear(emu_counters *counters) {
    emu_traffic_clear(&counters->traffic);
    free(counters->seen);
    counters->seen = NULL;
    counters->seen_count = 0;
    memset(counters->total, 0, sizeof counters->total);
    counters->lost = false;
}

fmha_status emu_counters_list(emu_counters *counters, const fmha_counter **list, size_t *count) {
    size_t at = 0;
    free(counters->seen);
    counters->seen_count = 0;
    counters->seen = calloc(EMU_COUNT_TOTALS + EMU_TRAFFIC_NAMES * counters->traffic.count, sizeof *counters->seen);
    if (counters->seen == NULL || counters->lost || counters->traffic.lost) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for counters: free memory and run again");
    }
    for (int i = 0; counters->total[EMU_COUNT_LAUNCHES] > 0 && i < EMU_COUNT_TOTALS; i++) {
        counters->seen[at++] = (fmha_counter){.name = total_names[i], .value = counters->total[i]};
    }
    at += emu_traffic_list(&counters->traffic, counters->seen + at);
    *list = counters->seen;
    *count = counters->seen_count = at;
    return FMHA_OK;
}

/* Two SIMDs share a compute unit; a matrix instruction of RDNA3 takes one of them 32 cycles, in wave32 and wave64. The
 * L0 cache gives 64 bytes a cycle. */
enum { MATRIX_CYCLES = 32, SIMDS = 2, L0_CYCLE_BYTES = 64 };

fmha_status emu_counters_cycles(const emu_counters *counters, double *cycles) {
    if (counters->lost || counters->traffic.lost) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for counters: free memory and run again");
    }
    *cycles = (double)counters->total[EMU_COUNT_MATRIX] * MATRIX_CYCLES / SIMDS +
              (double)counters->total[EMU_COUNT_LDS_CYCLES] +
              (double)emu_traffic_bytes(&counters->traffic) / L0_CYCLE_BYTES;
    return FMHA_OK;
}

void emu_count_end(emu_counters *counters, const emu_memory *memory) {
    counters->total[EMU_COUNT_LAUNCHES]++;
    emu_traffic_end(&counters->traffic, memory);
}

/* ---- A worker's account ---------------------------------------------------------------------------------------------
 */

bool emu_count_worker_begin(emu_worker *worker) {
    worker->count = calloc(1, sizeof *worker->count);
    if (worker->count != NULL) {
        worker->count->banks = emu_banks_of(worker->launch->chip->arch);
    }
    return worker->count != NULL;
}

void emu_count_worker_end(emu_worker *worker, emu_counters *counters) {
    struct emu_count *count = worker->count;
    pthread_mutex_lock(&counters->lock);
    if (count == NULL) {
        counters->lost = true;
    } else {
        for (int i = 0; i < EMU_COUNT_TOTALS; i++) {
            counters->total[i] += count->total[i];
        }
        counters->lost = counters->lost || count->lost;
        for (size_t i = 0; i < EMU_COUNT_SITES; i++) {
            free(count->sites[i].list);
        }
    }
    pthread_mutex_unlock(&counters->lock);
    free(count);
    worker->count = NULL;
}

/* ---- Instructions ---------------------------------------------------------------------------------------------------
 */

static emu_count_site *find_site(struct emu_count *count, const void *at) {
    size_t begin = (uintptr_t)at % EMU_COUNT_SITES;
    for (size_t i = 0; i < EMU_COUNT_SITES; i++) {
        emu_count_site *site = &count->sites[(begin + i) % EMU_COUNT_SITES];
        if (site->at == at || site->at == NULL) {
            return site;
        }
    }
    return NULL;
}

static bool grow(emu_count_site *site) {
    if (site->count < site->capacity) {
        return true;
    }
    unsigned capacity = site->capacity * 2 + 4;
    emu_count_instruction *larger = realloc(site->list, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    site->list = larger;
    site->capacity = capacity;
    return true;
}

static void add_lane(emu_lane *lane, const emu_views *views, size_t place, size_t bytes, bool write, const void *at) {
    struct emu_count *count = lane->wave->worker->count;
    if (count == NULL || count->lost) {
        return;
    }
    emu_count_site *site = find_site(count, at);
    if (site == NULL) {
        count->lost = true;
        return;
    }
    site->at = at;
    site->bytes = bytes;
    site->write = write;
    if (site->count == 0) {
        count->used[count->used_count++] = (unsigned)(site - count->sites);
    }
    if (site->lane != lane->lane_mark) {
        site->lane = lane->lane_mark;
        site->time = 0;
    }
    if (site->time == site->count) {
        if (!grow(site)) {
            count->lost = true;
            return;
        }
        site->list[site->count].views = views;
        site->list[site->count].bytes = bytes;
        site->list[site->count++].lanes = 0;
    }
    emu_count_instruction *instruction = &site->list[site->time++];
    if (views != NULL && (instruction->views != views || instruction->bytes != bytes)) {
        emu_traffic_fetch(views, place, bytes); /* lanes that read from several tensors, or more than others do */
        return;
    }
    instruction->lanes |= (uint64_t)1 << lane->seen.index;
    instruction->place[lane->seen.index] = place;
}

void emu_count_lds(emu_lane *lane, size_t place, size_t bytes, bool write, const void *at) {
    add_lane(lane, NULL, place, bytes, write, at);
}

void emu_count_read(emu_lane *lane, const emu_views *views, size_t offset, size_t bytes, const void *at) {
    add_lane(lane, views, offset, bytes, false, at);
}

/* Lanes that read the same count once. */
static void add_read(const emu_count_instruction *instruction) {
    for (uint64_t left = instruction->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        bool known = false;
        for (uint64_t before = instruction->lanes & (((uint64_t)1 << lane) - 1); before != 0 && !known;
             before &= before - 1) {
            known = instruction->place[__builtin_ctzll(before)] == instruction->place[lane];
        }
        if (!known) {
            emu_traffic_fetch(instruction->views, instruction->place[lane], instruction->bytes);
        }
    }
}

static void add_instruction(struct emu_count *count, const emu_count_site *site,
                            const emu_count_instruction *instruction) {
    for (size_t skip = 0; skip < site->bytes; skip += EMU_BANKS_WIDEST) { /* what is wider takes several instructions */
        size_t bytes = site->bytes - skip < EMU_BANKS_WIDEST ? site->bytes - skip : EMU_BANKS_WIDEST;
        uint32_t places[FMHA_EMU_WAVE_MAX];
        for (unsigned lane = 0; lane < FMHA_EMU_WAVE_MAX; lane++) {
            places[lane] = (uint32_t)(instruction->place[lane] + skip);
        }
        emu_bank_cycles taken = emu_banks_serve(count->banks, instruction->lanes, places, bytes, site->write);
        count->total[site->write ? EMU_COUNT_LDS_WRITES : EMU_COUNT_LDS_READS]++;
        count->total[site->write ? EMU_COUNT_LDS_BYTES_WRITTEN : EMU_COUNT_LDS_BYTES_READ] +=
            bytes * (unsigned)__builtin_popcountll(instruction->lanes);
        count->total[EMU_COUNT_LDS_CYCLES] += taken.cycles;
        count->total[EMU_COUNT_LDS_CONFLICTS] += taken.conflicts;
    }
}

void emu_count_met(emu_worker *worker) {
    struct emu_count *count = worker->count;
    for (unsigned i = 0; count != NULL && i < count->used_count; i++) {
        emu_count_site *site = &count->sites[count->used[i]];
        for (unsigned j = 0; j < site->count; j++) {
            if (site->list[j].views != NULL) {
                add_read(&site->list[j]);
            } else {
                add_instruction(count, site, &site->list[j]);
            }
        }
        site->count = 0;
        site->lane = 0;
    }
    if (count != NULL) {
        count->used_count = 0;
    }
}
