/* What a worker counts of one launch. */
#ifndef ISA_COUNTS_H
#define ISA_COUNTS_H

#include "isa.h"

struct isa_counts {
    uint64_t *executed;                 /* of each instruction of the kernel */
    uint64_t lds_cycles, lds_conflicts; /* bank cycles, and those beyond the fewest possible */
    uint64_t lds_bytes_read, lds_bytes_written;
    uint64_t global_bytes_read, global_bytes_written; /* of all lanes */
    uint64_t global_lines_read, global_lines_written; /* cache lines touched, summed over instructions */
};

#endif
