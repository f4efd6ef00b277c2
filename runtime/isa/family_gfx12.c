/* gfx12: gfx1200 and gfx1201. */
#include "../emu/chips.h"
#include "family.h"
#include "image.h"

/* ---- Mnemonics --------------------------------------------------------------------------------------------- */

static const isa_names names = {NULL, 0};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

/* Temporal hint and scope. */
static const char *const hints[] = {"th:", "scope:", "nv", NULL};

/* MODE has neither DX10_CLAMP nor IEEE; instructions are as if both were set (LLVM's guide, compute_pgm_rsrc1). */
static uint32_t mode(uint32_t rsrc1) {
    return (rsrc1 >> 12 & 0xffu) | (rsrc1 >> 26 & 1u) << 23;
}

const isa_family isa_family_gfx12 = {
    .target = "gfx12",
    .generic = "gfx12-generic",
    .bit = ISA_GFX12,
    .chips = EMU_RDNA4,
    .names = &names,
    .waves = 32 + 64,
    .scalars = 106,
    .special = isa_scalar_null,
    .hints = hints,
    .returning = "th:TH_ATOMIC_RETURN",
    .dual_moves_share = true,
    .queues = {[ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "loadcnt"},
               [ISA_QUEUE_STORE] = {ISA_QUEUE_STORE, "storecnt"},
               [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "dscnt"},
               [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "kmcnt"}},
    .line_bytes = 128,
    .user_supported = ISA_USER_GFX11,
    .mode_fixed = 0x008000ff,
    .mode_known = 0x000000f0,
    .mode = mode,
    .vgprs = isa_vgprs_gfx10_to_gfx12,
    .place = isa_place_in_ttmps,
    .items = isa_items_packed,
};
