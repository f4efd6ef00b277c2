/* What RDNA4 has besides: a wait for each counter, the barrier in two steps, 64-bit scalars, transcendental functions
 * of scalars. */
#include <math.h>

#include "barrier.h"
#include "checks.h"
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* ---- Waits ----------------------------------------------------------------------------------------------- */

static uint32_t limit_of(const isa_instruction *i) {
    return (uint32_t)i->operands[0].constant;
}

static void wait_for(isa_wave *wave, isa_queue queue, uint32_t most) {
    if (wave->checks != NULL) {
        isa_check_wait(wave, queue, most);
    }
}

static void s_wait_loadcnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_LOAD, limit_of(i));
}

static void s_wait_storecnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_STORE, limit_of(i));
}

static void s_wait_dscnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_LDS, limit_of(i));
}

static void s_wait_kmcnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_SCALAR, limit_of(i));
}

/* LDS in bits 0 to 5, loads or stores in bits 8 to 13. */
static void s_wait_loadcnt_dscnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_LOAD, limit_of(i) >> 8 & 63);
    wait_for(wave, ISA_QUEUE_LDS, limit_of(i) & 63);
}

static void s_wait_storecnt_dscnt(isa_wave *wave, const isa_instruction *i) {
    wait_for(wave, ISA_QUEUE_STORE, limit_of(i) >> 8 & 63);
    wait_for(wave, ISA_QUEUE_LDS, limit_of(i) & 63);
}

static void s_wait_idle(isa_wave *wave, const isa_instruction *i) {
    (void)i;
    for (int queue = 0; queue < ISA_QUEUES; queue++) {
        wait_for(wave, (isa_queue)queue, 0);
    }
}

/* Counters of what this device does not run; caches; hints. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

/* ---- The barrier ----------------------------------------------------------------------------------------- */

/* Of barriers the workgroup's is known, -1; 0 is none, and -2, of trap handlers, is none to a kernel. False: none, or
 * after a finding. */
static bool signals(isa_wave *wave, const isa_instruction *i) {
    const isa_operand *number = &i->operands[0];
    bool constant = number->kind == ISA_OPERAND_CONSTANT;
    if (constant && ((int64_t)number->constant == 0 || (int64_t)number->constant == -2)) {
        return false;
    }
    if (!constant || (int64_t)number->constant != -1) {
        isa_give_up(wave, "unsupported-barrier", "barriers but that of the workgroup, -1, are not known");
        return false;
    }
    if (wave->signaled) {
        isa_give_up(wave, "barrier", "signals the barrier again before it has waited for it");
        return false;
    }
    return true;
}

static void arrive(isa_wave *wave) {
    isa_barrier_arrive(wave);
    wave->signaled = true;
}

static void s_barrier_signal(isa_wave *wave, const isa_instruction *i) {
    if (signals(wave, i)) {
        arrive(wave);
    }
}

/* SCC: no other wave has signaled since the barrier was passed last. */
static void s_barrier_signal_isfirst(isa_wave *wave, const isa_instruction *i) {
    bool first = signals(wave, i);
    if (!first) {
        wave->scc = false;
        return;
    }
    for (unsigned n = 0; n < wave->group->wave_count; n++) {
        first = first && !wave->group->waves[n].signaled;
    }
    wave->scc = first;
    arrive(wave);
}

static void s_barrier_wait(isa_wave *wave, const isa_instruction *i) {
    if ((int16_t)i->operands[0].constant != -1) {
        isa_give_up(wave, "unsupported-barrier", "barriers but that of the workgroup, -1, are not known");
    } else if (!wave->signaled) {
        isa_give_up(wave, "barrier", "waits for the barrier without having signaled it: it would wait for ever");
    } else {
        wave->state = ISA_WAVE_WAITING;
    }
}

/* ---- Scalars --------------------------------------------------------------------------------------------- */

/* SCC stays. */
#define SCALAR_64(function, expression)                                                                                \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        const uint64_t a = isa_read_scalar64(wave, &i->operands[1]), b = isa_read_scalar64(wave, &i->operands[2]);     \
        isa_write_scalar64(wave, &i->operands[0], (expression));                                                       \
    }
SCALAR_64(s_add_nc_u64, a + b)
SCALAR_64(s_sub_nc_u64, a - b)
SCALAR_64(s_mul_u64, a *b)

/* With the signs and the clamp of the encoding; float32 as of v_exp_f32 and its like. */
static float modified(const isa_operand *operand, float value) {
    value = operand->abs ? fabsf(value) : value;
    return operand->neg ? -value : value;
}

static float clamped(const isa_instruction *i, float value) {
    return !i->clamp ? value : value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f;
}

#define SCALAR_FUNCTION(name, expression, half_expression)                                                             \
    static void v_s_##name##_f32(isa_wave *wave, const isa_instruction *i) {                                           \
        const float operand = modified(&i->operands[1], isa_f32(isa_read_scalar(wave, &i->operands[1])));              \
        const double a = (double)isa_flush(operand);                                                                   \
        isa_write_scalar(wave, &i->operands[0], isa_bits(clamped(i, (float)(expression))));                            \
    }                                                                                                                  \
    static void v_s_##name##_f16(isa_wave *wave, const isa_instruction *i) {                                           \
        const uint32_t bits = isa_read_scalar_half(wave, &i->operands[1]);                                             \
        const double a = (double)modified(&i->operands[1], isa_half_to_float(bits));                                   \
        isa_write_scalar(wave, &i->operands[0], isa_float_to_half(clamped(i, (float)(half_expression))));              \
    }
SCALAR_FUNCTION(exp, isa_flush((float)exp2(a)), exp2(a))
SCALAR_FUNCTION(log, log2(a), log2(a))
SCALAR_FUNCTION(rcp, isa_flush((float)(1.0 / a)), 1.0 / a)
SCALAR_FUNCTION(rsq, 1.0 / sqrt(a), 1.0 / sqrt(a))
SCALAR_FUNCTION(sqrt, sqrt(a), sqrt(a))

/* ---- The table ------------------------------------------------------------------------------------------- */

#define WAIT(name)                                                                                                     \
    { #name, "Sx", ISA_CLASS_WAIT, NULL, name, ISA_GFX12, ISA_RDNA4_SOPP }
#define NOTHING(name, operands, source)                                                                                \
    { name, operands, ISA_CLASS_WAIT, NULL, nothing, ISA_GFX12, source }
#define SCALAR(name)                                                                                                   \
    { #name, "Ds2 Ss2 Ss2", ISA_CLASS_SALU, NULL, name, ISA_GFX12, ISA_RDNA4_SOP2 }
#define FUNCTION(name)                                                                                                 \
    {"v_s_" #name "_f32", "Ds Ss", ISA_CLASS_TRANS, NULL, v_s_##name##_f32, ISA_GFX12, ISA_RDNA4_VOP3}, {              \
        "v_s_" #name "_f16", "Ds Ss", ISA_CLASS_TRANS, NULL, v_s_##name##_f16, ISA_GFX12, ISA_RDNA4_VOP3               \
    }

static const isa_row rows[] = {
    WAIT(s_wait_loadcnt),
    WAIT(s_wait_storecnt),
    WAIT(s_wait_dscnt),
    WAIT(s_wait_kmcnt),
    WAIT(s_wait_loadcnt_dscnt),
    WAIT(s_wait_storecnt_dscnt),
    {"s_wait_idle", "", ISA_CLASS_WAIT, NULL, s_wait_idle, ISA_GFX12, ISA_RDNA4_SOPP},
    NOTHING("s_wait_samplecnt", "Sx", ISA_RDNA4_SOPP),
    NOTHING("s_wait_bvhcnt", "Sx", ISA_RDNA4_SOPP),
    NOTHING("s_wait_expcnt", "Sx", ISA_RDNA4_SOPP),
    NOTHING("s_wait_event", "Sx", ISA_RDNA4_SOPP),
    NOTHING("s_sleep_var", "Ss", ISA_RDNA4_SOP1),
    NOTHING("s_version", "Sx", ISA_RDNA4_SOPK),
    NOTHING("s_prefetch_inst", "Ss2 Sx Ss Sx", ISA_RDNA4_SMEM),
    NOTHING("s_prefetch_data", "Ss2 Sx Ss Sx", ISA_RDNA4_SMEM),
    NOTHING("s_prefetch_inst_pc_rel", "Sx Ss Sx", ISA_RDNA4_SMEM),
    NOTHING("s_prefetch_data_pc_rel", "Sx Ss Sx", ISA_RDNA4_SMEM),
    NOTHING("global_inv", "", ISA_RDNA4_GLOBAL),
    NOTHING("global_wb", "", ISA_RDNA4_GLOBAL),
    NOTHING("global_wbinv", "", ISA_RDNA4_GLOBAL),
    {"s_barrier_signal", "Sx", ISA_CLASS_BARRIER, NULL, s_barrier_signal, ISA_GFX12, ISA_RDNA4_SOP1},
    {"s_barrier_signal_isfirst", "Sx", ISA_CLASS_BARRIER, NULL, s_barrier_signal_isfirst, ISA_GFX12, ISA_RDNA4_SOP1},
    {"s_barrier_wait", "Sx", ISA_CLASS_WAIT, NULL, s_barrier_wait, ISA_GFX12, ISA_RDNA4_SOPP},
    SCALAR(s_add_nc_u64),
    SCALAR(s_sub_nc_u64),
    SCALAR(s_mul_u64),
    FUNCTION(exp),
    FUNCTION(log),
    FUNCTION(rcp),
    FUNCTION(rsq),
    FUNCTION(sqrt),
};

const isa_table isa_table_gfx12 = {rows, sizeof rows / sizeof rows[0]};
