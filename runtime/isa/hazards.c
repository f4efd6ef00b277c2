#include "hazards.h"

#include <string.h>

#include "checks.h"
#include "family.h"

typedef enum unit { UNIT_VALU, UNIT_MATRIX, UNIT_MEMORY, UNIT_OTHER } unit;

static unit unit_of(const isa_instruction *i) {
    switch (i->row->class) {
    case ISA_CLASS_VALU:
    case ISA_CLASS_TRANS:
        return UNIT_VALU;
    case ISA_CLASS_MATRIX:
        return UNIT_MATRIX;
    case ISA_CLASS_LOAD:
    case ISA_CLASS_STORE:
    case ISA_CLASS_LDS:
        return UNIT_MEMORY;
    default:
        return UNIT_OTHER;
    }
}

/* The register is used now; `since`: when it was written. */
static void expect(isa_wave *wave, const char *what, char file, unsigned reg, uint32_t since, unsigned states) {
    uint32_t between = wave->checks->hazards.now - since - 1;
    if (since != 0 && between < states) {
        isa_report(wave, -1, "missing-nop",
                   "uses %c%u %u wait states after %s wrote it: %u must stand between (s_nop %u more)", file,
                   reg % ISA_AGPR, between, what, states, states - between - 1);
    }
}

static bool is_lane_number(const isa_instruction *i, unsigned at) {
    return at == 2 && (strcmp(i->row->name, "v_readlane_b32") == 0 || strcmp(i->row->name, "v_writelane_b32") == 0);
}

static void check_scalar(isa_wave *wave, const isa_instruction *i, unsigned at, unsigned reg) {
    const struct isa_wait_states *states = wave->group->launch->kernel->family->wait_states;
    uint32_t since = wave->checks->hazards.sgpr[reg];
    unit user = unit_of(i);
    if (user == UNIT_MEMORY && i->row->class != ISA_CLASS_LDS) {
        expect(wave, "a vector instruction", 's', reg, since, states->scalar_to_memory);
    } else if (user == UNIT_VALU && is_lane_number(i, at)) {
        expect(wave, "a vector instruction", 's', reg, since, states->scalar_to_lane);
    } else if (user == UNIT_VALU && strncmp(i->row->name, "v_div_fmas", 10) == 0 && i->roles[at].type == 'm') {
        expect(wave, "a vector instruction", 's', reg, since, states->scalar_to_division);
    } else if (user == UNIT_VALU) {
        expect(wave, "a vector instruction", 's', reg, since, states->scalar_to_vector);
    }
}

static void check_vector(isa_wave *wave, const isa_instruction *i, unsigned at, unsigned reg) {
    const struct isa_wait_states *states = wave->group->launch->kernel->family->wait_states;
    const isa_hazards *hazards = &wave->checks->hazards;
    char file = reg >= ISA_AGPR ? 'a' : 'v';
    unit user = unit_of(i);
    bool added_to = user == UNIT_MATRIX && (at == 0 || at == 3);
    if (!added_to && user != UNIT_OTHER) {
        expect(wave, "a matrix instruction", file, reg, hazards->matrix[reg], hazards->matrix_states[reg]);
    }
    if (user == UNIT_VALU && i->roles[at].read && i->row->class != ISA_CLASS_TRANS) {
        expect(wave, "a transcendental instruction", file, reg, hazards->transcendental[reg], states->transcendental);
    }
    if (user == UNIT_VALU && i->roles[at].read) {
        expect(wave, "a conversion with a scale", file, reg, hazards->scaled[reg], states->scaled);
        expect(wave, "an instruction that moves its result", file, reg, hazards->part[reg], states->part_to_vector);
    }
    if (strncmp(i->row->name, "v_read", 6) == 0) {
        expect(wave, "a vector instruction", file, reg, hazards->vector[reg], states->vector_to_lane);
    }
    if (i->dpp != ISA_DPP_NONE && at == 1) {
        expect(wave, "a vector instruction", file, reg, hazards->vector[reg], states->vector_to_dpp);
    }
}

/* What it computes does not end where it begins in the register. */
static bool moves_result(const isa_instruction *i) {
    bool high = i->op_sel_count > 0 && (i->op_sel >> (i->op_sel_count - 1) & 1) != 0;
    return i->form == ISA_FORM_SDWA ? i->dest_select != ISA_DWORD
                                    : high && (i->roles[0].type == 'h' || i->roles[0].type == 'k');
}

static void note_write(isa_wave *wave, const isa_instruction *i, unsigned reg) {
    const struct isa_wait_states *states = wave->group->launch->kernel->family->wait_states;
    isa_hazards *hazards = &wave->checks->hazards;
    unit user = unit_of(i);
    bool matrix = user == UNIT_MATRIX && states->matrix != NULL;
    hazards->matrix[reg] = matrix ? hazards->now : 0;
    hazards->matrix_states[reg] = matrix ? (uint8_t)states->matrix(i) : 0;
    hazards->vector[reg] = user == UNIT_VALU ? hazards->now : 0;
    hazards->scaled[reg] = strncmp(i->row->name, "v_cvt_scalef32_", 15) == 0 ? hazards->now : 0;
    hazards->part[reg] = user == UNIT_VALU && moves_result(i) ? hazards->now : 0;
    hazards->transcendental[reg] = i->row->class == ISA_CLASS_TRANS ? hazards->now : 0;
}

static void visit(isa_wave *wave, const isa_instruction *i, bool writing) {
    for (unsigned at = 0; at < i->operand_count; at++) {
        const isa_operand *operand = &i->operands[at];
        for (unsigned n = 0; n < operand->count; n++) {
            unsigned reg = operand->reg + n;
            if (operand->kind == ISA_OPERAND_VGPR && reg < ISA_VGPRS_MAX) {
                if (!writing) {
                    check_vector(wave, i, at, reg);
                } else if (i->roles[at].write) {
                    note_write(wave, i, reg);
                }
            } else if (operand->kind == ISA_OPERAND_SGPR && reg < ISA_SGPRS) {
                if (!writing && i->roles[at].read) {
                    check_scalar(wave, i, at, reg);
                } else if (writing && i->roles[at].write) {
                    wave->checks->hazards.sgpr[reg] = unit_of(i) == UNIT_VALU ? wave->checks->hazards.now : 0;
                }
            }
        }
    }
}

void isa_hazards_step(isa_wave *wave, const isa_instruction *i) {
    isa_hazards *hazards = &wave->checks->hazards;
    hazards->now += 1;
    visit(wave, i, false);
    visit(wave, i, true);
    if (strcmp(i->row->name, "s_nop") == 0) {
        hazards->now += (uint32_t)i->offset;
    }
}
