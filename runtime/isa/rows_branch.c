/* Branches, waits, and what ends or stops a wave. */
#include "barrier.h"
#include "checks.h"
#include "family.h"
#include "operand.h"
#include "sources.h"

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

/* The index of the instruction at an address in memory; -1: there is none. */
static int64_t index_of(const isa_kernel *kernel, uint64_t address) {
    uint32_t low = 0, high = kernel->count;
    address -= kernel->bias;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kernel->code[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < kernel->count && kernel->code[low].address == address ? (int64_t)low : -1;
}

static void jump(isa_wave *wave, uint64_t address) {
    int64_t index = index_of(wave->group->launch->kernel, address);
    if (index < 0) {
        isa_give_up(wave, "outside-code", "goes to 0x%llx, where the kernel has no instruction",
                    (unsigned long long)(address - wave->group->launch->kernel->bias));
        return;
    }
    wave->pc = (uint32_t)index;
}

static void s_setpc_b64(isa_wave *wave, const isa_instruction *i) {
    jump(wave, isa_read_scalar64(wave, &i->operands[0]));
}

static void s_swappc_b64(isa_wave *wave, const isa_instruction *i) {
    uint64_t to = isa_read_scalar64(wave, &i->operands[1]);
    s_getpc_b64(wave, i);
    jump(wave, to);
}

static void s_call_b64(isa_wave *wave, const isa_instruction *i) {
    s_getpc_b64(wave, i);
    wave->pc = i->target;
}

/* ---- MODE ------------------------------------------------------------------------------------------------ */

/* The register's number, first bit and size are in the constant. */
static bool is_mode(const isa_operand *field) {
    return (field->constant & 63) == ISA_HW_MODE;
}

static uint32_t field_mask(const isa_operand *field) {
    uint32_t size = (uint32_t)(field->constant >> 11 & 31) + 1;
    return size == 32 ? UINT32_MAX : (1u << size) - 1;
}

static void s_getreg_b32(isa_wave *wave, const isa_instruction *i) {
    const isa_operand *field = &i->operands[1];
    if (!is_mode(field)) {
        isa_give_up(wave, "unsupported-register", "reads a hardware register other than MODE");
        return;
    }
    isa_write_scalar(wave, &i->operands[0], wave->mode >> (field->constant >> 6 & 31) & field_mask(field));
}

/* Rows are written for one rounding and one way with denormals: what changes them has no meaning here. */
static void set_mode(isa_wave *wave, uint32_t mode) {
    const isa_family *family = wave->group->launch->kernel->family;
    if ((mode & family->mode_fixed) != family->mode_known) {
        isa_give_up(wave, "unsupported-mode",
                    "sets MODE to 0x%x; this device has rounding to nearest even, all denormals kept, and where they "
                    "exist DX10_CLAMP and IEEE set",
                    mode);
        return;
    }
    wave->mode = mode;
}

static void s_setreg_b32(isa_wave *wave, const isa_instruction *i) {
    const isa_operand *field = &i->operands[0];
    uint32_t shift = (uint32_t)(field->constant >> 6 & 31), mask = field_mask(field);
    uint32_t value = isa_read_scalar(wave, &i->operands[1]) & mask;
    if (!is_mode(field)) {
        return;
    }
    set_mode(wave, (wave->mode & ~(mask << shift)) | value << shift);
}

static void s_round_mode(isa_wave *wave, const isa_instruction *i) {
    set_mode(wave, (wave->mode & ~15u) | ((uint32_t)i->operands[0].constant & 15));
}

static void s_denorm_mode(isa_wave *wave, const isa_instruction *i) {
    set_mode(wave, (wave->mode & ~0xf0u) | ((uint32_t)i->operands[0].constant & 15) << 4);
}

static void s_trap(isa_wave *wave, const isa_instruction *i) {
    isa_give_up(wave, "trap", "stops the wave with trap %u", (unsigned)i->operands[0].constant);
}

/* ---- Ends and waits -------------------------------------------------------------------------------------- */

static void s_endpgm(isa_wave *wave, const isa_instruction *i) {
    (void)i;
    wave->state = ISA_WAVE_ENDED;
}

static void s_barrier(isa_wave *wave, const isa_instruction *i) {
    (void)i;
    isa_barrier_arrive(wave);
    wave->state = ISA_WAVE_WAITING;
}

/* Of LDS accesses and scalar loads together at most `most` are under way: in the worst case all of them are the last
 * LDS accesses, or any scalar loads. */
static void wait_lgkm(isa_wave *wave, uint32_t most) {
    isa_check_wait(wave, ISA_QUEUE_LDS, most);
    isa_check_wait(wave, ISA_QUEUE_SCALAR, most);
}

static void s_waitcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks == NULL) {
        return;
    }
    if (i->wait[0] != ISA_NO_WAIT) {
        isa_check_wait(wave, ISA_QUEUE_LOAD, i->wait[0]);
    }
    if (i->wait[2] != ISA_NO_WAIT) {
        wait_lgkm(wave, i->wait[2]);
    }
}

/* s_waitcnt_vscnt null, N and its like: a register (null: 0) and a number are added. */
static uint32_t wait_limit(isa_wave *wave, const isa_instruction *i) {
    return isa_read_scalar(wave, &i->operands[0]) + (uint32_t)i->operands[1].constant;
}

static void s_waitcnt_vscnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        isa_check_wait(wave, ISA_QUEUE_STORE, wait_limit(wave, i));
    }
}

static void s_waitcnt_vmcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        isa_check_wait(wave, ISA_QUEUE_LOAD, wait_limit(wave, i));
    }
}

static void s_waitcnt_lgkmcnt(isa_wave *wave, const isa_instruction *i) {
    if (wave->checks != NULL) {
        wait_lgkm(wave, wait_limit(wave, i));
    }
}

/* Hints to the scheduler, priorities, hazards that the hardware of this device does not have; s_sendmsg: of its
 * messages a compute kernel sends MSG_DEALLOC_VGPRS, after which no register is read, and interrupts, which nobody
 * awaits. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

static const isa_row rows[] = {
    {"s_branch", "Sx", ISA_CLASS_BRANCH, NULL, s_branch, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_scc0", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_scc0, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_scc1", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_scc1, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_vccz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_vccz, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_vccnz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_vccnz, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_execz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_execz, ISA_GFX11, ISA_SOPP},
    {"s_cbranch_execnz", "Sx", ISA_CLASS_BRANCH, NULL, s_cbranch_execnz, ISA_GFX11, ISA_SOPP},
    {"s_getpc_b64", "Ds2", ISA_CLASS_SALU, NULL, s_getpc_b64, ISA_GFX11, ISA_SOP1},
    {"s_setpc_b64", "Ss2", ISA_CLASS_BRANCH, NULL, s_setpc_b64, ISA_GFX11, ISA_SOP1},
    {"s_swappc_b64", "Ds2 Ss2", ISA_CLASS_BRANCH, NULL, s_swappc_b64, ISA_GFX11, ISA_SOP1},
    {"s_call_b64", "Ds2 Sx", ISA_CLASS_BRANCH, NULL, s_call_b64, ISA_GFX11, ISA_SOPK},
    {"s_getreg_b32", "Ds Sx", ISA_CLASS_SALU, NULL, s_getreg_b32, ISA_GFX11, ISA_SOPK},
    {"s_setreg_b32", "Sx Ss", ISA_CLASS_SALU, NULL, s_setreg_b32, ISA_GFX11, ISA_SOPK},
    {"s_setreg_imm32_b32", "Sx Ss", ISA_CLASS_SALU, NULL, s_setreg_b32, ISA_GFX11, ISA_SOPK},
    {"s_round_mode", "Sx", ISA_CLASS_SALU, NULL, s_round_mode, ISA_GFX11, ISA_SOPP},
    {"s_denorm_mode", "Sx", ISA_CLASS_SALU, NULL, s_denorm_mode, ISA_GFX11, ISA_SOPP},
    {"s_trap", "Sx", ISA_CLASS_SALU, NULL, s_trap, ISA_GFX11, ISA_SOPP},
    {"s_endpgm", "", ISA_CLASS_BRANCH, NULL, s_endpgm, ISA_GFX11, ISA_SOPP},
    {"s_barrier", "", ISA_CLASS_BARRIER, NULL, s_barrier, ISA_GFX11, ISA_SOPP},
    {"s_waitcnt", "", ISA_CLASS_WAIT, NULL, s_waitcnt, ISA_GFX11, ISA_SOPP},
    {"s_waitcnt_vscnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_vscnt, ISA_GFX11, ISA_SOPK},
    {"s_waitcnt_vmcnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_vmcnt, ISA_GFX11, ISA_SOPK},
    {"s_waitcnt_lgkmcnt", "Ss Sx", ISA_CLASS_WAIT, NULL, s_waitcnt_lgkmcnt, ISA_GFX11, ISA_SOPK},
    {"s_waitcnt_expcnt", "Ss Sx", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPK},
    {"s_waitcnt_depctr", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_delay_alu", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_clause", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_nop", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"v_nop", "", ISA_CLASS_VALU, NULL, nothing, ISA_GFX11, ISA_VOP1},
    {"s_setprio", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_sleep", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_sendmsg", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
    {"s_set_inst_prefetch_distance", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
};

const isa_table isa_table_branch = {rows, sizeof rows / sizeof rows[0]};
