#include "counters.h"

#include <string.h>

static const char *const names[ISA_COUNT_TOTALS] = {
    [ISA_COUNT_LAUNCHES] = "launches",
    [ISA_COUNT_WORKGROUPS] = "workgroups",
    [ISA_COUNT_WAVES] = "waves",
    [ISA_COUNT_INSTRUCTIONS] = "instructions",
    [ISA_COUNT_LDS_CYCLES] = "lds_cycles",
    [ISA_COUNT_LDS_CONFLICTS] = "lds_conflict_cycles",
    [ISA_COUNT_LDS_BYTES_READ] = "lds_bytes_read",
    [ISA_COUNT_LDS_BYTES_WRITTEN] = "lds_bytes_written",
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
};

void isa_counters_init(isa_counters *counters) {
    *counters = (isa_counters){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void isa_counters_clear(isa_counters *counters) {
    memset(counters->total, 0, sizeof counters->total);
}

void isa_counters_add(isa_counters *counters, const isa_kernel *kernel, const struct isa_counts *counts,
                      uint64_t waves) {
    pthread_mutex_lock(&counters->lock);
    uint64_t *total = counters->total;
    for (uint32_t i = 0; i < kernel->count; i++) {
        total[ISA_COUNT_INSTRUCTIONS] += counts->executed[i];
        total[ISA_COUNT_CLASSES + kernel->code[i].row->class] += counts->executed[i];
    }
    total[ISA_COUNT_WAVES] += waves;
    total[ISA_COUNT_LDS_CYCLES] += counts->lds_cycles;
    total[ISA_COUNT_LDS_CONFLICTS] += counts->lds_conflicts;
    total[ISA_COUNT_LDS_BYTES_READ] += counts->lds_bytes_read;
    total[ISA_COUNT_LDS_BYTES_WRITTEN] += counts->lds_bytes_written;
    total[ISA_COUNT_GLOBAL_BYTES_READ] += counts->global_bytes_read;
    total[ISA_COUNT_GLOBAL_BYTES_WRITTEN] += counts->global_bytes_written;
    total[ISA_COUNT_GLOBAL_LINES_READ] += counts->global_lines_read;
    total[ISA_COUNT_GLOBAL_LINES_WRITTEN] += counts->global_lines_written;
    pthread_mutex_unlock(&counters->lock);
}

void isa_counters_launched(isa_counters *counters, unsigned long long groups) {
    pthread_mutex_lock(&counters->lock);
    counters->total[ISA_COUNT_LAUNCHES]++;
    counters->total[ISA_COUNT_WORKGROUPS] += groups;
    pthread_mutex_unlock(&counters->lock);
}

void isa_counters_list(isa_counters *counters, const fmha_counter **list, size_t *count) {
    pthread_mutex_lock(&counters->lock);
    for (size_t i = 0; i < ISA_COUNT_TOTALS; i++) {
        counters->seen[i] = (fmha_counter){.name = names[i], .value = counters->total[i]};
    }
    *list = counters->seen;
    *count = counters->total[ISA_COUNT_LAUNCHES] > 0 ? ISA_COUNT_TOTALS : 0;
    pthread_mutex_unlock(&counters->lock);
}
