/* gfx10.3: gfx1030 to gfx1036. */
#include "family.h"
#include "image.h"

/* ---- Mnemonics --------------------------------------------------------------------------------------------- */

static const isa_names names = {NULL, 0};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

static const char *const hints[] = {"glc", "slc", "dlc", NULL};

const isa_family isa_family_gfx103 = {
    .target = "gfx103",
    .generic = "gfx10-3-generic",
    .bit = ISA_GFX10,
    .names = &names,
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
