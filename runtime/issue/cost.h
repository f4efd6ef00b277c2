/* What instructions cost to issue: every rate of every chip in one place, for the report on compiled code and for the
 * device that executes it. */
#ifndef ISSUE_COST_H
#define ISSUE_COST_H

#include "instruction.h"

/* Matrix units; 0 in their place: none, and the useful work is the multiply-adds of the VALU. */
enum issue_unit {
    ISSUE_RDNA3 = 1 << 0,
    ISSUE_RDNA4 = 1 << 1,
    ISSUE_CDNA1 = 1 << 2,
    ISSUE_CDNA2 = 1 << 3,
    ISSUE_CDNA3 = 1 << 4,
    ISSUE_CDNA4 = 1 << 5
};

struct issue_family {
    const char *prefix;
    bool rdna;            /* 32 lanes a cycle, and a matrix instruction keeps the VALU of its SIMD busy; else 16 */
    unsigned matrix_unit; /* enum issue_unit or 0 */
    int simds;            /* of one compute unit, which share its LDS and L0 pipes */
    int lds_bytes_cycle;  /* of one compute unit; 0: not known, and not counted */
    int l0_bytes_cycle;   /* likewise, vector cache */
    bool stores_in_vmcnt; /* one counter for loads and stores; else stores have their own */
    bool scalar_counter;  /* scalar loads have their own; else they share that of LDS */
};

/* The family of "gfx1151", also with feature suffixes; NULL: not in the table. */
const struct issue_family *issue_family_of(const char *target);

/* What a kernel of the family is there to do: MIX_MATRIX, or MIX_MULTIPLY_ADD where there is no matrix unit (and
 * likewise for NULL, an unknown chip: MIX_MATRIX). */
enum mix_id issue_useful(const struct issue_family *family);

/* Cycles of the SIMD's own two pipes. On RDNA a matrix instruction occupies the VALU; on CDNA only while it issues.
 * Without a matrix unit `matrix` is the part of `simd` that multiply-adds take. */
struct issue_clocks {
    double matrix, simd;
};

/* Adds what one instruction of a wave of 32 or 64 lanes costs. False: a matrix instruction that is in no table. */
bool issue_tick(const struct issue_family *family, int wave, const struct instruction *instruction,
                struct issue_clocks *clocks);

/* Floating-point operations that one instruction of a wave does as useful work: 2MNK for each block of
 * "v_wmma_f32_16x16x16_f16"; without a matrix unit, two for each multiply-add of each lane. 0: others. */
double issue_flop(const struct issue_family *family, int wave, const struct instruction *instruction);

/* Cycles that some instructions keep each pipe of one SIMD busy; LDS and L0 are shared, so theirs are the cycles in
 * which every SIMD that shares them does the same. */
struct issue_bound {
    bool known; /* false: the chip or one of the matrix instructions is not in the tables */
    double matrix_cycles, simd_cycles, lds_cycles, l0_cycles;
    const char *slowest;   /* "simd", "matrix", "lds" or "l0"; "" unless known */
    double percent;        /* matrix_cycles (useful ones: struct issue_clocks) of the slowest pipe's; 0 unless known */
    double flop_per_cycle; /* of one SIMD, at that bound; 0 unless known */
};

/* What some instructions of some waves did, all together. */
struct issue_work {
    bool known; /* of every matrix instruction it is known what it costs */
    struct issue_clocks clocks;
    double flop;
    double lds_bytes, l0_bytes; /* of all lanes */
    double lds_exchange_bytes;  /* that permutes send through the LDS pipe, besides */
};

/* The bound of that work. `lds_conflict_cycles`: of the LDS beyond those that `lds_bytes` take. `family` NULL: unknown.
 */
void issue_bound_make(const struct issue_family *family, const struct issue_work *work, double lds_conflict_cycles,
                      struct issue_bound *bound);

/* Cycles of the slowest pipe; 0 unless known. */
double issue_bound_cycles(const struct issue_bound *bound);

/* ---- Loads and their waits ---- */

enum issue_counter { ISSUE_COUNTER_VECTOR, ISSUE_COUNTER_LDS, ISSUE_COUNTER_SCALAR, ISSUE_COUNTERS };

/* What a load is of; the words are in issue_load_names. */
enum issue_load { ISSUE_LOAD_GLOBAL, ISSUE_LOAD_LDS, ISSUE_LOAD_SCALAR, ISSUE_LOADS };
extern const char *const issue_load_names[ISSUE_LOADS];

/* Which counter an instruction raises, and as what: `load` is -1 for a store. False: none. */
bool issue_raises(const struct issue_family *family, const struct instruction *instruction, enum issue_counter *counter,
                  int *load);

/* How many a wait leaves in flight for each counter, -1: any number. */
void issue_wait_limits(const char *text, int limits[ISSUE_COUNTERS]);

#endif
