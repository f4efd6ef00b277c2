/* gfx11, whose mnemonics are the names of rows. */
#include "../emu/chips.h"
#include "family.h"
#include "image.h"

static const char *const hints[] = {"glc", "slc", "dlc", NULL};

const isa_family isa_family_gfx11 = {
    .target = "gfx11",
    .generic = "gfx11-generic",
    .bit = ISA_GFX11,
    .chips = EMU_RDNA3,
    .waves = 32 + 64,
    .scalars = 106,
    .special = isa_scalar_null,
    .hints = hints,
    .returning = "glc",
    .queues = {[ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "vmcnt"},
               [ISA_QUEUE_STORE] = {ISA_QUEUE_STORE, "vscnt"},
               [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "lgkmcnt"},
               [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "lgkmcnt"}},
    .line_bytes = 128,
    .user_supported = ISA_USER_GFX11,
    .mode_fixed = 0x008003ff,
    .mode_known = 0x000003f0,
    .mode = isa_mode_gfx6_to_gfx11,
    .vgprs = isa_vgprs_gfx10_to_gfx12,
    .place = isa_place_in_sgprs,
    .items = isa_items_packed,
};
