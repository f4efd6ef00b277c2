/* What lanes get from other lanes in lane-wise instructions (DPP). */
#ifndef ISA_LANES_H
#define ISA_LANES_H

#include "isa.h"

/* The first source as DPP moves it; may be `room` itself. Lanes whose source does not exist or is off get 0 with
 * bound_ctrl, else anything: isa_dpp_written leaves them out. */
const uint32_t *isa_dpp_lanes(isa_wave *wave, const isa_instruction *instruction, const uint32_t *values,
                              uint32_t room[ISA_LANES_MAX]);

/* Lanes that row_mask, bank_mask and missing sources leave to be written. */
uint64_t isa_dpp_written(const isa_wave *wave, const isa_instruction *instruction);

#endif
