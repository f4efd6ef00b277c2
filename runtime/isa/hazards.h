/* Wait states that some chips leave to the program: how many instructions must stand between one that writes a register
 * and one that uses it. Fewer are a finding; the device itself has the value at once. */
#ifndef ISA_HAZARDS_H
#define ISA_HAZARDS_H

#include "isa.h"

/* Of a family. Each is a number of wait states: an instruction is one, s_nop N is N + 1. */
struct isa_wait_states {
    uint8_t scalar_to_lane;     /* VALU writes a scalar; it is the lane's number of v_readlane or v_writelane */
    uint8_t scalar_to_memory;   /* …; an access to memory reads it */
    uint8_t scalar_to_division; /* VALU writes VCC; v_div_fmas reads it */
    uint8_t scalar_to_vector;   /* VALU writes a scalar; VALU reads it */
    uint8_t vector_to_dpp;      /* VALU writes a vector register; the operand that DPP moves is it */
    uint8_t vector_to_lane;     /* VALU writes a vector register; v_readlane or v_readfirstlane reads it */
    uint8_t transcendental;     /* such an instruction writes a vector register; another of VALU reads it */
    uint8_t scaled;             /* v_cvt_scalef32_… writes a vector register; VALU reads it */
    uint8_t part_to_vector;     /* SDWA or op_sel puts a result not where it is computed; VALU reads it */
    /* From a matrix instruction to whatever reads or writes its result but as what is added to. NULL: it has none. */
    unsigned (*matrix)(const isa_instruction *instruction);
};

/* Before the instruction runs. */
void isa_hazards_step(isa_wave *wave, const isa_instruction *instruction);

#endif
