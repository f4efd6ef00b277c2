/* Branches, waits, and what ends or stops a wave. */
#include "checks.h"
#include "operand.h"

#define SECTION "RDNA3 ISA guide, 16.5 SOPP"

#define BRANCH(function, condition)                                                                                    \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        if (condition) {                                                                                               \
            wave->pc = i->target;                                                                                      \
        }                                                                                                              \
    }
BRANCH(s_branch, true)
BRANCH(s_cbranch_scc0, !wave->scc)
BRANCH(s_cbranch_scc1, wave->scc)
BRANCH(s_cbranch_vccz, isa_vcc(wave) == 0)
BRANCH(s_cbranch_vccnz, isa_vcc(wave) != 0)
BRANCH(s_cbranch_execz, isa_exec(wave) == 0)
BRANCH(s_cbranch_execnz, isa_exec(wave) != 0)

/* The address in memory of the instruction behind it, from which code reaches constants of its object. */
static void s_getpc_b64(isa_wave *wave, const isa_instruction *i) {
    isa_write_scalar64(wave, &i->operands[0], i->address + i->bytes + wave->group->launch->kernel->bias);
}

static void s_endpgm(isa_wave *wave, const isa_instruction *i) {
    (void)i;
    wave->state = ISA_WAVE_ENDED;
}

static void s_barrier(isa_wave *wave, const isa_instruction *i) {
    (void)i;
    wave->state = ISA_WAVE_WAITING;
}

static void s_waitcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks == NULL) {
        return;
    }
    if (i->wait[0] != ISA_NO_WAIT) {
        isa_check_wait_vm(wave, i->wait[0]);
    }
    if (i->wait[2] != ISA_NO_WAIT) {
        isa_check_wait_lgkm(wave, i->wait[2]);
    }
}

/* s_waitcnt_vscnt null, N and its like: a register (null: 0) and a number are added. */
static uint32_t wait_limit(isa_wave *wave, const isa_instruction *i) {
    return isa_read_scalar(wave, &i->operands[0]) + (uint32_t)i->operands[1].constant;
}

static void s_waitcnt_vscnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        isa_check_wait_vs(wave, wait_limit(wave, i));
    }
}

static void s_waitcnt_vmcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        isa_check_wait_vm(wave, wait_limit(wave, i));
    }
}

static void s_waitcnt_lgkmcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        isa_check_wait_lgkm(wave, wait_limit(wave, i));
    }
}

/* Hints to the scheduler, priorities, hazards that the hardware of this device does not have; s_sendmsg: of its
 * messages a compute kernel sends MSG_DEALLOC_VGPRS, after which no register is read, and interrupts, which nobody
 * awaits. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

#define ALL (ISA_GFX10 | ISA_GFX11)

static const isa_row rows[] = {
    {"s_branch", "Sx", ISA_CLASS_BRANCH, NULL, s_branch, ALL, SECTION},
    {"s_cbranch_scc0", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_scc0, ALL, SECTION},
    {"s_cbranch_scc1", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_scc1, ALL, SECTION},
    {"s_cbranch_vccz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_vccz, ALL, SECTION},
    {"s_cbranch_vccnz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_vccnz, ALL, SECTION},
    {"s_cbranch_execz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_execz, ALL, SECTION},
    {"s_cbranch_execnz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_execnz, ALL, SECTION},
    {"s_getpc_b64", "Ds2", ISA_CLASS_SALU, NULL, s_getpc_b64, ALL, "RDNA3 ISA guide, 16.3 SOP1"},
    {"s_endpgm", "", ISA_CLASS_BRANCH, NULL, s_endpgm, ALL, SECTION},
    {"s_barrier", "", ISA_CLASS_BARRIER, NULL, s_barrier, ALL, SECTION},
    {"s_waitcnt", "", ISA_CLASS_WAIT, NULL, s_waitcnt, ALL, SECTION},
    {"s_waitcnt_vscnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_vscnt, ALL, "RDNA3 ISA guide, 16.2 SOPK"},
    {"s_waitcnt_vmcnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_vmcnt, ALL, "RDNA3 ISA guide, 16.2 SOPK"},
    {"s_waitcnt_lgkmcnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_lgkmcnt, ALL, "RDNA3 ISA guide, 16.2 SOPK"},
    {"s_waitcnt_depctr", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_delay_alu", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, SECTION},
    {"s_clause", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_nop", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_setprio", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_sleep", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_sendmsg", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
    {"s_set_inst_prefetch_distance", "", ISA_CLASS_WAIT, NULL, nothing, ALL, SECTION},
};

const isa_table isa_table_branch = {rows, sizeof rows / sizeof rows[0]};
