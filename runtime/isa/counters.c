#include "counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ISA_COUNT_TOTALS] = {
    [ISA_COUNT_LAUNCHES] = "launches",
    [ISA_COUNT_WORKGROUPS] = "workgroups",
    [ISA_COUNT_WAVES] = "waves",
    [ISA_COUNT_INSTRUCTIONS] = "instructions",
    [ISA_COUNT_LDS_READS] = "lds_reads",
    [ISA_COUNT_LDS_WRITES] = "lds_writes",
    [ISA_COUNT_LDS_BYTES_READ] = "lds_bytes_read",
    [ISA_COUNT_LDS_BYTES_WRITTEN] = "lds_bytes_written",
    [ISA_COUNT_LDS_CYCLES] = "lds_cycles",
    [ISA_COUNT_LDS_CONFLICTS] = "lds_conflict_cycles",
    [ISA_COUNT_GLOBAL_READS] = "global_reads",
    [ISA_COUNT_GLOBAL_WRITES] = "global_writes",
    [ISA_COUNT_GLOBAL_BYTES_READ] = "global_bytes_read",
    [ISA_COUNT_GLOBAL_BYTES_WRITTEN] = "global_bytes_written",
    [ISA_COUNT_GLOBAL_LINES_READ] = "global_lines_read",
    [ISA_COUNT_GLOBAL_LINES_WRITTEN] = "global_lines_written",
    [ISA_COUNT_CLASSES + ISA_CLASS_SALU] = "salu_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_SMEM] = "smem_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_BRANCH] = "branch_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_WAIT] = "wait_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_BARRIER] = "barrier_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_VALU] = "valu_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_TRANS] = "transcendental_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_MATRIX] = "matrix_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_LDS] = "lds_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_LOAD] = "load_instructions",
    [ISA_COUNT_CLASSES + ISA_CLASS_STORE] = "store_instructions",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_GLOBAL] = "global_waits",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_GLOBAL + 1] = "global_wait_work",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_GLOBAL + 2] = "global_wait_work_least",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_LDS] = "lds_waits",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_LDS + 1] = "lds_wait_work",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_LDS + 2] = "lds_wait_work_least",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_SCALAR] = "scalar_waits",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_SCALAR + 1] = "scalar_wait_work",
    [ISA_COUNT_LOADS + 3 * ISSUE_LOAD_SCALAR + 2] = "scalar_wait_work_least",
};

/* Of one instruction. */
static const struct {
    const char *name;
    size_t offset;
} tally_names[] = {
    {"executed", offsetof(isa_tally, executed)},
    {"entered", offsetof(isa_tally, entered)},
    {"accesses", offsetof(isa_tally, accesses)},
    {"bytes", offsetof(isa_tally, bytes)},
    {"lines", offsetof(isa_tally, lines)},
    {"bank_cycles", offsetof(isa_tally, lds_cycles)},
    {"bank_conflict_cycles", offsetof(isa_tally, lds_conflicts)},
    {"waits", offsetof(isa_tally, waited)},
    {"wait_work", offsetof(isa_tally, work)},
    {"wait_work_least", offsetof(isa_tally, work_least)},
};
enum { TALLY_NAMES = sizeof tally_names / sizeof tally_names[0] };

void isa_counters_init(isa_counters *counters) {
    *counters = (isa_counters){.lock = PTHREAD_MUTEX_INITIALIZER, .work = {.known = true}};
}

void isa_counters_clear(isa_counters *counters) {
    for (size_t i = 0; i < counters->account_count; i++) {
        free(counters->accounts[i].addresses);
        free(counters->accounts[i].labels);
        free(counters->accounts[i].tallies);
    }
    free(counters->accounts);
    free(counters->seen);
    emu_traffic_clear(&counters->traffic);
    isa_counters_init(counters);
}

/* ---- What a worker has counted ---- */

static void add_waits(const isa_tally *from, uint64_t *waited, uint64_t *work, uint64_t *least) {
    if (from->waited > 0 && (*waited == 0 || from->work_least < *least)) {
        *least = from->work_least;
    }
    *waited += from->waited;
    *work += from->work;
}

static void tally_add(isa_tally *to, const isa_tally *from) {
    to->executed += from->executed;
    to->entered += from->entered;
    to->accesses += from->accesses;
    to->bytes += from->bytes;
    to->lines += from->lines;
    to->lds_cycles += from->lds_cycles;
    to->lds_conflicts += from->lds_conflicts;
    add_waits(from, &to->waited, &to->work, &to->work_least);
}

static bool account_init(isa_account *account, const isa_kernel *kernel) {
    *account = (isa_account){.count = kernel->count};
    snprintf(account->symbol, sizeof account->symbol, "%s", kernel->symbol);
    account->label_bytes = strlen(account->symbol) + 24;
    account->addresses = calloc(kernel->count + 1, sizeof *account->addresses);
    account->labels = calloc(kernel->count + 1, account->label_bytes);
    account->tallies = calloc(kernel->count + 1, sizeof *account->tallies);
    if (account->addresses == NULL || account->labels == NULL || account->tallies == NULL) {
        free(account->addresses);
        free(account->labels);
        free(account->tallies);
        return false;
    }
    for (uint32_t i = 0; i < kernel->count; i++) {
        account->addresses[i] = kernel->code[i].address;
        snprintf(account->labels + i * account->label_bytes, account->label_bytes, "%s:0x%llx", account->symbol,
                 (unsigned long long)kernel->code[i].address);
    }
    return true;
}

/* Another kernel of the same name, of another code object, has an account of its own. */
static bool is_of(const isa_account *account, const isa_kernel *kernel) {
    bool same = account->count == kernel->count && strcmp(account->symbol, kernel->symbol) == 0;
    for (uint32_t i = 0; same && i < kernel->count; i++) {
        same = account->addresses[i] == kernel->code[i].address;
    }
    return same;
}

/* NULL without memory. */
static isa_account *account_of(isa_counters *counters, const isa_kernel *kernel) {
    for (size_t i = 0; i < counters->account_count; i++) {
        if (is_of(&counters->accounts[i], kernel)) {
            return &counters->accounts[i];
        }
    }
    isa_account *larger = realloc(counters->accounts, (counters->account_count + 1) * sizeof *larger);
    if (larger == NULL) {
        return NULL;
    }
    counters->accounts = larger;
    return account_init(&larger[counters->account_count], kernel) ? &larger[counters->account_count++] : NULL;
}

static void add_totals(isa_counters *counters, const isa_kernel *kernel, const struct isa_counts *counts) {
    uint64_t *total = counters->total;
    for (uint32_t i = 0; i < kernel->count; i++) {
        const isa_tally *tally = &counts->tallies[i];
        const isa_cost *cost = &counts->costs->list[i];
        total[ISA_COUNT_INSTRUCTIONS] += tally->executed;
        total[ISA_COUNT_CLASSES + kernel->code[i].row->class] += tally->executed;
        total[ISA_COUNT_LDS_CYCLES] += tally->lds_cycles;
        total[ISA_COUNT_LDS_CONFLICTS] += tally->lds_conflicts;
        counters->work.clocks.matrix += (double)tally->executed * cost->matrix;
        counters->work.clocks.simd += (double)tally->executed * cost->simd;
        counters->work.lds_exchange_bytes += (double)tally->executed * cost->exchange_bytes;
        if (cost->load >= 0) {
            uint64_t *waits = &total[ISA_COUNT_LOADS + 3 * cost->load];
            add_waits(tally, &waits[0], &waits[1], &waits[2]);
        }
    }
    total[ISA_COUNT_LDS_READS] += counts->lds_reads;
    total[ISA_COUNT_LDS_WRITES] += counts->lds_writes;
    total[ISA_COUNT_LDS_BYTES_READ] += counts->lds_bytes_read;
    total[ISA_COUNT_LDS_BYTES_WRITTEN] += counts->lds_bytes_written;
    total[ISA_COUNT_GLOBAL_READS] += counts->global_reads;
    total[ISA_COUNT_GLOBAL_WRITES] += counts->global_writes;
    total[ISA_COUNT_GLOBAL_BYTES_READ] += counts->global_bytes_read;
    total[ISA_COUNT_GLOBAL_BYTES_WRITTEN] += counts->global_bytes_written;
    total[ISA_COUNT_GLOBAL_LINES_READ] += counts->global_lines_read;
    total[ISA_COUNT_GLOBAL_LINES_WRITTEN] += counts->global_lines_written;
}

void isa_counters_add(isa_counters *counters, const isa_launch *launch, const struct isa_counts *counts,
                      uint64_t waves) {
    const isa_kernel *kernel = launch->kernel;
    pthread_mutex_lock(&counters->lock);
    add_totals(counters, kernel, counts);
    counters->total[ISA_COUNT_WAVES] += waves;
    counters->work.known = counters->work.known && counts->costs->known;
    counters->family = counts->costs->family;
    isa_account *account = launch->count > 1 ? account_of(counters, kernel) : NULL;
    for (uint32_t i = 0; account != NULL && i < kernel->count; i++) {
        tally_add(&account->tallies[i], &counts->tallies[i]);
    }
    counters->lost = counters->lost || (launch->count > 1 && account == NULL);
    pthread_mutex_unlock(&counters->lock);
}

void isa_counters_launched(isa_counters *counters, unsigned long long groups) {
    pthread_mutex_lock(&counters->lock);
    counters->total[ISA_COUNT_LAUNCHES]++;
    counters->total[ISA_COUNT_WORKGROUPS] += groups;
    pthread_mutex_unlock(&counters->lock);
}

/* ---- What is handed out ---- */

static fmha_status no_memory(void) {
    return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for counters: free memory and run again");
}

static uint64_t tally_value(const isa_tally *tally, size_t offset) {
    uint64_t value;
    memcpy(&value, (const unsigned char *)tally + offset, sizeof value);
    return value;
}

/* Every instruction has "executed"; of the rest what is not zero. */
static size_t list_account(const isa_account *account, fmha_counter *to) {
    size_t at = 0;
    for (uint32_t i = 0; i < account->count; i++) {
        for (size_t n = 0; n < TALLY_NAMES; n++) {
            uint64_t value = tally_value(&account->tallies[i], tally_names[n].offset);
            if (n == 0 || value != 0) {
                to[at++] = (fmha_counter){
                    .name = tally_names[n].name, .tensor = account->labels + i * account->label_bytes, .value = value};
            }
        }
    }
    return at;
}

fmha_status isa_counters_list(isa_counters *counters, const fmha_counter **list, size_t *count) {
    size_t room = ISA_COUNT_TOTALS + EMU_TRAFFIC_NAMES * counters->traffic.count, at = 0;
    for (size_t i = 0; i < counters->account_count; i++) {
        room += (size_t)TALLY_NAMES * counters->accounts[i].count;
    }
    *list = NULL;
    *count = 0;
    if (counters->total[ISA_COUNT_LAUNCHES] == 0) {
        return FMHA_OK;
    }
    free(counters->seen);
    counters->seen = calloc(room, sizeof *counters->seen);
    if (counters->seen == NULL || counters->lost || counters->traffic.lost) {
        return no_memory();
    }
    for (; at < ISA_COUNT_TOTALS; at++) {
        counters->seen[at] = (fmha_counter){.name = names[at], .value = counters->total[at]};
    }
    at += emu_traffic_list(&counters->traffic, counters->seen + at);
    for (size_t i = 0; i < counters->account_count; i++) {
        at += list_account(&counters->accounts[i], counters->seen + at);
    }
    *list = counters->seen;
    *count = at;
    return FMHA_OK;
}

fmha_status isa_counters_cycles(const isa_counters *counters, double *cycles) {
    const uint64_t *total = counters->total;
    struct issue_work work = counters->work;
    struct issue_bound bound;
    if (counters->lost || counters->traffic.lost) {
        return no_memory();
    }
    work.lds_bytes = (double)(total[ISA_COUNT_LDS_BYTES_READ] + total[ISA_COUNT_LDS_BYTES_WRITTEN]);
    work.l0_bytes = (double)(total[ISA_COUNT_GLOBAL_BYTES_READ] + total[ISA_COUNT_GLOBAL_BYTES_WRITTEN]);
    double plain = counters->family != NULL && counters->family->lds_bytes_cycle > 0
                       ? work.lds_bytes / counters->family->lds_bytes_cycle
                       : 0;
    issue_bound_make(counters->family, &work, (double)total[ISA_COUNT_LDS_CYCLES] - plain, &bound);
    if (!bound.known) {
        return isa_fail(FMHA_ERROR_UNSUPPORTED,
                        "isa: no cycle counts for this chip, or for one of the kernel's matrix instructions: compare "
                        "instances on a chip that has them");
    }
    *cycles = issue_bound_cycles(&bound) / counters->family->simds;
    return FMHA_OK;
}
