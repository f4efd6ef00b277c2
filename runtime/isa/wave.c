/* The loop that executes, and lane-wise instructions, which are the most. */
#include "wave.h"

#include <string.h>

#include "checks.h"
#include "counts.h"
#include "family.h"
#include "half.h"
#include "hazards.h"
#include "lanes.h"
#include "lanewise.h"
#include "operand.h"
#include "sdwa.h"

/* What a lane-wise instruction computed, before it is written. */
typedef struct isa_values {
    uint32_t d[ISA_LANES_MAX], d_high[ISA_LANES_MAX], mask[ISA_LANES_MAX];
    uint64_t written; /* lanes that are */
    /* Lanes whose results were made of what nobody wrote: of the low and of the high word. */
    uint64_t unwritten, unwritten_high;
} isa_values;

typedef struct sources {
    uint32_t room[6][ISA_LANES_MAX];
    uint32_t mask_room[ISA_LANES_MAX];
} sources;

/* Sign bits of the high words of 64-bit floats. */
static const uint32_t *modify_high(const isa_wave *wave, const isa_operand *operand, const uint32_t *values,
                                   uint32_t *room) {
    if (!operand->neg && !operand->abs) {
        return values;
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        room[lane] = (values[lane] & (operand->abs ? 0x7fffffffu : 0xffffffffu)) ^ (operand->neg ? 0x80000000u : 0);
    }
    return room;
}

static const uint32_t *spread_mask(const isa_wave *wave, uint64_t mask, uint32_t *room) {
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        room[lane] = (uint32_t)(mask >> lane & 1);
    }
    return room;
}

/* A float64's constant has the literal in its high word; an inline float is the whole value. */
static uint64_t double_constant(const isa_operand *operand) {
    bool is_literal = !operand->is_float && (int64_t)operand->constant > 64;
    return is_literal ? operand->constant << 32 : operand->constant;
}

/* What was read since the last call and was never written. */
static uint64_t take_unwritten(const isa_wave *wave) {
    uint64_t lanes = wave->checks != NULL ? wave->checks->unwritten : 0;
    if (wave->checks != NULL) {
        wave->checks->unwritten = 0;
    }
    return lanes;
}

/* The low word of a source, or the high one. */
static const uint32_t *fetch_word(isa_wave *wave, const isa_instruction *i, unsigned at, unsigned source, bool high,
                                  uint64_t mask, uint32_t *room) {
    return i->roles[at].type == 'g' ? isa_read_pair(wave, i, &i->operands[at], source, high, mask, room)
                                    : isa_read_lanes(wave, &i->operands[at], high, mask, room);
}

static void fetch(isa_wave *wave, const isa_instruction *i, unsigned at, unsigned source, uint64_t mask,
                  const uint32_t **low, const uint32_t **high, uint64_t *unwritten_high, sources *rooms) {
    const isa_operand *operand = &i->operands[at];
    uint32_t *room = rooms->room[2 * source], *room_high = rooms->room[2 * source + 1];
    switch (i->form == ISA_FORM_SDWA ? 'v' : i->roles[at].type) { /* which has modifiers of its own */
    case 'f':
        *low = isa_read_float(wave, operand, mask, room);
        break;
    case 'h':
    case 'k':
        *low = isa_read_half(wave, i, operand, source, i->roles[at].type == 'k', mask, room);
        break;
    case 'p':
    case 'q':
    case 'w':
        *low = isa_read_packed(wave, i, operand, source, i->roles[at].type, mask, room);
        break;
    case 'd':
        if (operand->kind == ISA_OPERAND_CONSTANT) {
            isa_operand constant = *operand;
            constant.constant = double_constant(operand);
            constant.is_float = false;
            *low = isa_read_lanes(wave, &constant, 0, mask, room);
            *high = modify_high(wave, operand, isa_read_lanes(wave, &constant, 1, mask, room_high), room_high);
        } else {
            *low = isa_read_lanes(wave, operand, 0, mask, room);
            *high = modify_high(wave, operand, isa_read_lanes(wave, operand, 1, mask, room_high), room_high);
        }
        break;
    default:
        *low = fetch_word(wave, i, at, source, false, mask, room);
        if (i->roles[at].count == 2) {
            uint64_t before = i->words_apart ? take_unwritten(wave) : 0;
            *high = fetch_word(wave, i, at, source, true, mask, room_high);
            if (i->words_apart) {
                *unwritten_high |= take_unwritten(wave);
                if (wave->checks != NULL) {
                    wave->checks->unwritten = before;
                }
            }
        }
    }
    if (source == 0 && i->dpp != ISA_DPP_NONE) {
        *low = isa_dpp_lanes(wave, i, *low, room);
    }
    if (i->form == ISA_FORM_SDWA || (source == 0 && i->source_select[0] != ISA_DWORD)) {
        *low = isa_sdwa_source(wave, i, source, operand, i->roles[at].type, *low, room);
    }
}

static float clamp(float value) {
    return value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f;
}

/* Floats are clamped to 0 to 1; NaN and -0 become 0 (RDNA3 guide, 7.2.3.1; MODE.DX10_CLAMP is set). Factors do not come
 * here: with denormals kept the hardware leaves them out, and decode refuses them. */
static void clamp_output(const isa_wave *wave, char type, isa_values *values) {
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        if (type == 'f') {
            values->d[lane] = isa_bits(clamp(isa_f32(values->d[lane])));
        } else if (type == 'k') {
            values->d[lane] = isa_float_to_half(clamp(isa_half_to_float(values->d[lane])));
        } else { /* 'd' */
            uint64_t bits = (uint64_t)values->d_high[lane] << 32 | values->d[lane];
            bool above = bits > UINT64_C(0x3ff0000000000000) && bits <= UINT64_C(0x7ff0000000000000);
            bool inside = bits <= UINT64_C(0x3ff0000000000000);
            values->d[lane] = inside ? values->d[lane] : 0;
            values->d_high[lane] = inside ? values->d_high[lane] : above ? 0x3ff00000u : 0;
        }
    }
}

static void compute(isa_wave *wave, const isa_instruction *i, isa_values *values) {
    sources rooms;
    uint64_t exec = isa_exec(wave);
    isa_lanes lanes = {.d = values->d, .d_high = values->d_high, .mask_out = values->mask, .count = (int)wave->lanes};
    const uint32_t *low[3] = {NULL, NULL, NULL}, *high[3] = {NULL, NULL, NULL};
    unsigned source = 0;
    uint64_t unwritten[3] = {0}, unwritten_high = 0, chosen = 0;
    if (wave->checks != NULL) {
        wave->checks->collecting = true;
    }
    for (unsigned at = 0; at < i->operand_count; at++) {
        const isa_role *role = &i->roles[at];
        if (!role->read || role->write) {
            continue;
        }
        if (role->type == 'm') {
            chosen = isa_read_mask(wave, &i->operands[at]);
            lanes.mask_in = spread_mask(wave, chosen, rooms.mask_room);
        } else {
            fetch(wave, i, at, source, exec, &low[source], &high[source], &unwritten_high, &rooms);
            unwritten[source] = take_unwritten(wave);
            source++;
        }
    }
    if (i->roles[0].read && i->roles[0].write) {
        fetch(wave, i, 0, source, exec, &low[source], &high[source], &unwritten_high, &rooms);
        unwritten[source] = take_unwritten(wave);
    }
    if (wave->checks != NULL) {
        wave->checks->collecting = false;
    }
    values->unwritten =
        i->selects ? (unwritten[0] & ~chosen) | (unwritten[1] & chosen) : unwritten[0] | unwritten[1] | unwritten[2];
    values->unwritten_high = values->unwritten | unwritten_high;
    lanes.a = low[0];
    lanes.b = low[1];
    lanes.c = low[2];
    lanes.a_high = high[0];
    lanes.b_high = high[1];
    lanes.c_high = high[2];
    i->row->lanes(&lanes);
    if (i->clamp && strchr("fkd", i->roles[0].type) != NULL) {
        clamp_output(wave, i->roles[0].type, values);
    }
    values->written = i->dpp != ISA_DPP_NONE ? exec & isa_dpp_written(wave, i) : exec;
}

static uint64_t gather_mask(const isa_wave *wave, const uint32_t *bits) {
    uint64_t mask = 0;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        mask |= (uint64_t)(bits[lane] & 1) << lane;
    }
    return mask;
}

/* The results take on the marks of what they were made of. */
static void mark_unwritten(isa_wave *wave, const isa_instruction *i, unsigned at, const isa_values *values) {
    const isa_operand *operand = &i->operands[at];
    if (wave->checks == NULL || operand->kind != ISA_OPERAND_VGPR || wave->failed) {
        return;
    }
    isa_check_vgpr_unwritten(wave, operand->reg, values->unwritten & values->written);
    if (i->roles[at].count == 2) {
        isa_check_vgpr_unwritten(wave, operand->reg + 1u, values->unwritten_high & values->written);
    }
}

static void store_mask(isa_wave *wave, const isa_operand *operand, const isa_values *values) {
    uint64_t unwritten = values->unwritten & values->written;
    if (unwritten != 0 && operand->reg != ISA_NULL) {
        isa_report(wave, __builtin_ctzll(unwritten), "register-unwritten",
                   "makes a lane mask of a register that was not written");
    }
    /* Lanes that are off get 0 (RDNA3 guide, VOPC; carry-out alike). */
    isa_write_mask(wave, operand, gather_mask(wave, values->mask) & values->written);
}

static void store(isa_wave *wave, const isa_instruction *i, const isa_values *values) {
    for (unsigned at = 0; at < i->operand_count; at++) {
        const isa_operand *operand = &i->operands[at];
        if (!i->roles[at].write) {
            continue;
        }
        switch (i->roles[at].type) {
        case 'm':
            store_mask(wave, operand, values);
            continue;
        case 'h':
        case 'k':
            if (i->form == ISA_FORM_SDWA) {
                isa_sdwa_write(wave, i, operand, i->roles[at].type, values->written, values->d);
            } else {
                isa_write_half(wave, i, operand, values->written, values->d);
            }
            break;
        default:
            if (i->form == ISA_FORM_SDWA && i->roles[at].count == 1) {
                isa_sdwa_write(wave, i, operand, i->roles[at].type, values->written, values->d);
                break;
            }
            isa_write_lanes(wave, operand, 0, values->written, values->d);
            if (i->roles[at].count == 2) {
                isa_write_lanes(wave, operand, 1, values->written, values->d_high);
            }
        }
        mark_unwritten(wave, i, at, values);
    }
}

static void run_lanes(isa_wave *wave, const isa_instruction *i) {
    isa_values values;
    compute(wave, i, &values);
    store(wave, i, &values);
}

/* Both halves read before either writes (RDNA3 guide, "Dual Issue VALU"). */
static void run_dual(isa_wave *wave, const isa_instruction *i) {
    isa_values first, second;
    compute(wave, i, &first);
    compute(wave, i->second, &second);
    store(wave, i, &first);
    store(wave, i->second, &second);
}

/* A copy of a scalar that nobody wrote is as good as that: functions keep registers of their callers'. */
static void run_copy(isa_wave *wave, const isa_instruction *i) {
    struct isa_checks *checks = wave->checks;
    const isa_operand *to = &i->operands[0];
    checks->collecting = true;
    checks->unwritten_scalar = false;
    i->row->wave(wave, i);
    checks->collecting = false;
    checks->unwritten = 0;
    if (!checks->unwritten_scalar || to->kind != ISA_OPERAND_SGPR || to->reg == ISA_NULL) {
        return;
    }
    if (to->reg >= ISA_EXEC) {
        isa_report(wave, -1, "register-unwritten", "chooses the lanes by a register that was not written");
    }
    for (unsigned n = 0; n < to->count; n++) {
        checks->sgpr_written[to->reg + n] = false;
    }
}

void isa_wave_run(isa_wave *wave, uint64_t steps) {
    const isa_kernel *kernel = wave->group->launch->kernel;
    for (; steps > 0 && wave->state == ISA_WAVE_READY && !wave->failed; steps--) {
        if (wave->pc >= kernel->count) {
            isa_give_up(wave, "outside-code", "goes on behind the last instruction of the kernel");
            return;
        }
        const isa_instruction *i = &kernel->code[wave->pc];
        wave->running = i;
        if (wave->counts != NULL) {
            isa_count_step(wave);
        }
        if (wave->checks != NULL && kernel->family->wait_states != NULL) {
            isa_hazards_step(wave, i);
        }
        wave->pc++;
        wave->executed++;
        if (i->copies && wave->checks != NULL) {
            run_copy(wave, i);
        } else if (i->row->wave != NULL) {
            i->row->wave(wave, i);
        } else if (i->second != NULL) {
            run_dual(wave, i);
        } else {
            run_lanes(wave, i);
        }
    }
}
