/* What a wave's registers are worth: which lanes of them were written, and which are still to be filled by a load. */
#ifndef ISA_CHECKS_H
#define ISA_CHECKS_H

#include "isa.h"

/* Loads and stores that are under way are told apart by what waits for them. Loads from memory and accesses to LDS end
 * in the order in which they began; scalar loads do not, so that nothing but a wait for 0 ends one (RDNA3 guide, 4.4
 * "Manually inserted wait states", and the chapters of the memory instructions). Families have a counter for several of
 * these or for each, and may let stores end among loads (isa_family.queues). */
typedef enum isa_queue { ISA_QUEUE_LOAD, ISA_QUEUE_STORE, ISA_QUEUE_LDS, ISA_QUEUE_SCALAR, ISA_QUEUES } isa_queue;

typedef struct isa_pending {
    uint32_t ticket; /* of the access that fills it, in its queue; 0: none */
    uint8_t queue;
} isa_pending;

/* A load from memory into LDS, bytes [first, end) of it (arrivals.h). */
typedef struct isa_arrival {
    uint32_t ticket, first, end;
} isa_arrival;
enum { ISA_ARRIVALS = 64 }; /* more than the hardware counts are not under way */

/* When registers were written, in wait states (hazards.h); 0: never, or by what nobody must wait for. */
typedef struct isa_hazards {
    uint32_t now;
    uint32_t sgpr[ISA_SGPRS];
    uint32_t vector[ISA_VGPRS_MAX], transcendental[ISA_VGPRS_MAX], scaled[ISA_VGPRS_MAX], matrix[ISA_VGPRS_MAX];
    uint32_t part[ISA_VGPRS_MAX];
    uint8_t matrix_states[ISA_VGPRS_MAX]; /* that the matrix instruction asks for */
} isa_hazards;

/* Compilers copy registers and compute words that nobody wrote and nobody needs. So what is not written is told of
 * where it matters, in addresses, stored data, masks, matrix instructions, scalars; results of lane-wise instructions
 * take the mark on instead. */
struct isa_checks {
    uint64_t vgpr_written[ISA_VGPRS_MAX]; /* lanes that hold something, which was made of something */
    bool collecting;                      /* reads add to `unwritten` instead of being told of */
    uint64_t unwritten;                   /* lanes */
    bool unwritten_scalar;                /* the same of scalar registers */
    isa_pending vgpr_pending[ISA_VGPRS_MAX];
    bool sgpr_written[ISA_SGPRS];
    isa_pending sgpr_pending[ISA_SGPRS];
    uint32_t issued[ISA_QUEUES], ended[ISA_QUEUES]; /* tickets */
    isa_arrival arrivals[ISA_ARRIVALS];
    unsigned arriving;
    isa_hazards hazards;
};

/* Nothing is written, nothing under way. */
void isa_checks_begin(struct isa_checks *checks);

/* Before registers are read or written by an instruction; `mask`: the lanes that count. Report what is wrong. */
void isa_check_vgpr_read(isa_wave *wave, unsigned reg, uint64_t mask);
void isa_check_vgpr_write(isa_wave *wave, unsigned reg, uint64_t mask);
void isa_check_sgpr_read(isa_wave *wave, unsigned reg);
void isa_check_sgpr_write(isa_wave *wave, unsigned reg);

/* Lanes of a register that was written hold what was made of nothing. */
void isa_check_vgpr_unwritten(isa_wave *wave, unsigned reg, uint64_t mask);

/* From here on reads of what was not written are not told of; isa_check_collected ends that, and returns the lanes in
 * which there were any. */
static inline void isa_check_collect(isa_wave *wave) {
    if (wave->checks != NULL) {
        wave->checks->collecting = true;
    }
}

static inline uint64_t isa_check_collected(isa_wave *wave) {
    uint64_t lanes = 0;
    if (wave->checks != NULL) {
        lanes = wave->checks->unwritten;
        wave->checks->collecting = false;
        wave->checks->unwritten = 0;
    }
    return lanes;
}

/* An access begins; returns its ticket. */
uint32_t isa_check_issue(isa_wave *wave, isa_queue queue);

/* Registers that the access fills when it ends; they hold the values already. */
void isa_check_vgpr_load(isa_wave *wave, unsigned reg, uint64_t mask, isa_queue queue, uint32_t ticket);
void isa_check_sgpr_load(isa_wave *wave, unsigned reg, uint32_t ticket);

/* The access of a queue that began last, and whether one is still under way. */
uint32_t isa_check_last(const isa_wave *wave, isa_queue queue);
bool isa_check_under_way(const isa_wave *wave, isa_queue queue, uint32_t ticket);

/* At most so many accesses of a queue are still under way. */
void isa_check_wait(isa_wave *wave, isa_queue queue, uint32_t most);

#endif
