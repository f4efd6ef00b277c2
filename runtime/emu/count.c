#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "emu.h"

/* The LDS of a compute unit of RDNA3 has 32 banks of 4 bytes and serves one access to each of them in a cycle ("RDNA3
 * Instruction Set Architecture", Local Data Share: 64 banks in a work group processor, half of them to each compute
 * unit). Lanes that want the same 4 bytes are served together. An instruction of 4 bytes a lane goes through in groups
 * of 32 lanes, one of 8 in groups of 16 and one of 16 in groups of 8, in the order of their numbers: no document says
 * so, but no grouping is faster, as a group fills all banks. */
enum { BANKS = 32, BANK_BYTES = 4, CYCLE_BYTES = BANKS * BANK_BYTES, WIDEST = 16 };

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
enum { TENSOR_NAMES = 4 };
static const char *const tensor_names[TENSOR_NAMES] = {"bytes_read", "bytes_written", "unique_bytes_read",
                                                       "unique_bytes_written"};

/* ---- A device's totals ----------------------------------------------------------------------------------------------
 */

void emu_counters_init(emu_counters *counters) {
    *counters = (emu_counters){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void emu_counters_clear(emu_counters *counters) {
    free(counters->tensors);
    free(counters->seen);
    counters->tensors = NULL;
    counters->seen = NULL;
    counters->tensor_count = counters->seen_count = 0;
    memset(counters->total, 0, sizeof counters->total);
    counters->lost = false;
}

fmha_status emu_counters_list(emu_counters *counters, const fmha_counter **list, size_t *count) {
    size_t at = 0;
    free(counters->seen);
    counters->seen_count = 0;
    counters->seen = calloc(EMU_COUNT_TOTALS + TENSOR_NAMES * counters->tensor_count, sizeof *counters->seen);
    if (counters->seen == NULL || counters->lost) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for counters: free memory and run again");
    }
    for (int i = 0; counters->total[EMU_COUNT_LAUNCHES] > 0 && i < EMU_COUNT_TOTALS; i++) {
        counters->seen[at++] = (fmha_counter){.name = total_names[i], .value = counters->total[i]};
    }
    for (size_t i = 0; i < counters->tensor_count; i++) {
        for (int j = 0; j < TENSOR_NAMES; j++) {
            counters->seen[at++] = (fmha_counter){
                .name = tensor_names[j], .tensor = counters->tensors[i].label, .value = counters->tensors[i].value[j]};
        }
    }
    *list = counters->seen;
    *count = counters->seen_count = at;
    return FMHA_OK;
}

/* Two SIMDs share a compute unit; a matrix instruction of RDNA3 takes one of them 32 cycles, in wave32 and wave64. The
 * L0 cache gives 64 bytes a cycle. */
enum { MATRIX_CYCLES = 32, SIMDS = 2, L0_CYCLE_BYTES = 64 };

fmha_status emu_counters_cycles(const emu_counters *counters, double *cycles) {
    uint64_t bytes = 0;
    if (counters->lost) {
        return emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for counters: free memory and run again");
    }
    for (size_t i = 0; i < counters->tensor_count; i++) {
        bytes += counters->tensors[i].value[0] + counters->tensors[i].value[1]; /* read and written */
    }
    *cycles = (double)counters->total[EMU_COUNT_MATRIX] * MATRIX_CYCLES / SIMDS +
              (double)counters->total[EMU_COUNT_LDS_CYCLES] + (double)bytes / L0_CYCLE_BYTES;
    return FMHA_OK;
}

fmha_status emu_count_begin(emu_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) {
        if (!emu_views_count_begin(&memory->list[i].views)) {
            return emu_fail(FMHA_ERROR_MEMORY, "emu: no address space to count the bytes of \"%s\": raise ulimit -v",
                            memory->list[i].label);
        }
    }
    return FMHA_OK;
}

static struct emu_tensor_count *tensor_named(emu_counters *counters, const char *label) {
    for (size_t i = 0; i < counters->tensor_count; i++) {
        if (strcmp(counters->tensors[i].label, label) == 0) {
            return &counters->tensors[i];
        }
    }
    struct emu_tensor_count *larger =
        realloc(counters->tensors, (counters->tensor_count + 1) * sizeof *counters->tensors);
    if (larger == NULL) {
        counters->lost = true;
        return NULL;
    }
    counters->tensors = larger;
    struct emu_tensor_count *added = &larger[counters->tensor_count++];
    memset(added, 0, sizeof *added);
    memcpy(added->label, label, sizeof added->label);
    return added;
}

static void add_view(emu_counters *counters, const emu_views *views, unsigned number) {
    const emu_view *view = &views->list[number];
    uint64_t read = atomic_load(&view->bytes_read), written = atomic_load(&view->bytes_written);
    if (number == 0 && views->count > 1) {
        return; /* nothing may be touched there */
    }
    struct emu_tensor_count *tensor = tensor_named(counters, view->label);
    if (tensor != NULL) {
        tensor->value[0] += read;
        tensor->value[1] += written;
        tensor->value[2] += read > 0 ? emu_views_touched(views, number, FMHA_ACCESS_READ) : 0;
        tensor->value[3] += written > 0 ? emu_views_touched(views, number, FMHA_ACCESS_WRITE) : 0;
    }
}

void emu_count_end(emu_counters *counters, const emu_memory *memory) {
    counters->total[EMU_COUNT_LAUNCHES]++;
    for (size_t i = 0; i < memory->count; i++) {
        for (unsigned j = 0; j < memory->list[i].views.count; j++) {
            add_view(counters, &memory->list[i].views, j);
        }
    }
}

/* ---- A worker's account ---------------------------------------------------------------------------------------------
 */

bool emu_count_worker_begin(emu_worker *worker) {
    worker->count = calloc(1, sizeof *worker->count);
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

void emu_count_memory(const emu_views *views, size_t offset, size_t bytes, bool write) {
    uint8_t access = write ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ;
    emu_view *view = &views->list[views->owner[offset]];
    atomic_fetch_add_explicit(write ? &view->bytes_written : &view->bytes_read, bytes, memory_order_relaxed);
    for (size_t i = offset; i < offset + bytes; i++) {
        if ((atomic_load_explicit(&views->touched[i], memory_order_relaxed) & access) == 0) {
            atomic_fetch_or_explicit(&views->touched[i], access, memory_order_relaxed);
        }
    }
}

/* ---- LDS ------------------------------------------------------------------------------------------------------------
 */

static emu_lds_site *find_site(struct emu_count *count, const void *at) {
    size_t begin = (uintptr_t)at % EMU_COUNT_SITES;
    for (size_t i = 0; i < EMU_COUNT_SITES; i++) {
        emu_lds_site *site = &count->sites[(begin + i) % EMU_COUNT_SITES];
        if (site->at == at || site->at == NULL) {
            return site;
        }
    }
    return NULL;
}

static bool grow(emu_lds_site *site) {
    if (site->count < site->capacity) {
        return true;
    }
    unsigned capacity = site->capacity * 2 + 4;
    emu_lds_instruction *larger = realloc(site->list, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    site->list = larger;
    site->capacity = capacity;
    return true;
}

void emu_count_lds(emu_lane *lane, size_t place, size_t bytes, bool write, const void *at) {
    struct emu_count *count = lane->wave->worker->count;
    if (count == NULL || count->lost) {
        return;
    }
    emu_lds_site *site = find_site(count, at);
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
        site->list[site->count++].lanes = 0;
    }
    emu_lds_instruction *instruction = &site->list[site->time++];
    instruction->lanes |= (uint64_t)1 << lane->seen.index;
    instruction->place[lane->seen.index] = (uint32_t)place;
}

/* Cycles in which the banks serve lanes first to first + lanes - 1, `bytes` each; 0 if none of them takes part. */
static unsigned group_cycles(const emu_lds_instruction *instruction, unsigned first, unsigned lanes, size_t skip,
                             size_t bytes) {
    uint32_t words[BANKS * 2]; /* of all banks, without repetition; a lane off by some bytes touches one word more */
    unsigned word_count = 0, load[BANKS] = {0}, most = 0;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        if ((instruction->lanes >> lane & 1u) == 0) {
            continue;
        }
        size_t begin = instruction->place[lane] + skip, end = begin + bytes;
        for (uint32_t word = (uint32_t)(begin / BANK_BYTES); word * BANK_BYTES < end; word++) {
            unsigned known = 0;
            while (known < word_count && words[known] != word) {
                known++;
            }
            if (known == word_count) {
                words[word_count++] = word;
                unsigned of_bank = ++load[word % BANKS];
                most = of_bank > most ? of_bank : most;
            }
        }
    }
    return most;
}

static void add_instruction(struct emu_count *count, const emu_lds_site *site, const emu_lds_instruction *instruction) {
    for (size_t skip = 0; skip < site->bytes; skip += WIDEST) { /* what is wider takes several instructions */
        size_t bytes = site->bytes - skip < WIDEST ? site->bytes - skip : WIDEST;
        unsigned width = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16, lanes = CYCLE_BYTES / width;
        count->total[site->write ? EMU_COUNT_LDS_WRITES : EMU_COUNT_LDS_READS]++;
        count->total[site->write ? EMU_COUNT_LDS_BYTES_WRITTEN : EMU_COUNT_LDS_BYTES_READ] +=
            bytes * (unsigned)__builtin_popcountll(instruction->lanes);
        for (unsigned first = 0; first < FMHA_EMU_WAVE_MAX; first += lanes) {
            unsigned cycles = group_cycles(instruction, first, lanes, skip, bytes);
            count->total[EMU_COUNT_LDS_CYCLES] += cycles;
            count->total[EMU_COUNT_LDS_CONFLICTS] += cycles > 0 ? cycles - 1 : 0;
        }
    }
}

void emu_count_met(emu_worker *worker) {
    struct emu_count *count = worker->count;
    for (unsigned i = 0; count != NULL && i < count->used_count; i++) {
        emu_lds_site *site = &count->sites[count->used[i]];
        for (unsigned j = 0; j < site->count; j++) {
            add_instruction(count, site, &site->list[j]);
        }
        site->count = 0;
        site->lane = 0;
    }
    if (count != NULL) {
        count->used_count = 0;
    }
}
