/* gfx9: gfx906, gfx908, gfx90a, gfx942, gfx950, which are variants of one family. */
#include "family.h"
#include "image.h"

/* ---- Mnemonics --------------------------------------------------------------------------------------------- */

static const isa_names names = {NULL, 0};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

static const isa_scalar special[] = {{"flat_scratch", 102, 2},
                                     {"flat_scratch_lo", 102, 1},
                                     {"flat_scratch_hi", 103, 1},
                                     {"xnack_mask", 104, 2},
                                     {"xnack_mask_lo", 104, 1},
                                     {"xnack_mask_hi", 105, 1},
                                     {NULL, 0, 0}};

static const char *const hints[] = {"glc", "slc", NULL};
static const char *const hints_gfx940[] = {"sc0", "sc1", "nt", NULL};

/* One counter for loads and stores. */
#define QUEUES                                                                                                         \
    {                                                                                                                  \
        [ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "vmcnt"}, [ISA_QUEUE_STORE] = {ISA_QUEUE_LOAD, "vmcnt"},                   \
        [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "lgkmcnt"}, [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "lgkmcnt"},              \
    }

/* In steps of 4; with AGPRs in the same file of 8 (compute_pgm_rsrc1, GRANULATED_WORKITEM_VGPR_COUNT). */
static uint32_t vgprs(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave) {
    (void)rsrc3, (void)wave;
    return ((rsrc1 & 0x3fu) + 1) * 4;
}

static uint32_t vgprs_gfx90a(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave) {
    (void)rsrc3, (void)wave;
    return ((rsrc1 & 0x3fu) + 1) * 8;
}

#define VARIANT(target_, bit_, generic_, agprs_, hints_, returning_, line_, vgprs_)                                    \
    {                                                                                                                  \
        .target = target_, .generic = generic_, .bit = ISA_GFX9, .variant = bit_, .names = &names, .waves = 64,        \
        .scalars = 102, .special = special, .agprs = agprs_, .hints = hints_, .returning = returning_,                 \
        .queues = QUEUES, .line_bytes = line_, .user_supported = ISA_USER_GFX11, .mode_fixed = 0x008003ff,             \
        .mode_known = 0x000003f0, .mode = isa_mode_gfx6_to_gfx11, .vgprs = vgprs_, .place = isa_place_in_sgprs,        \
        .items = isa_items_packed,                                                                                     \
    }

const isa_family isa_family_gfx906 = VARIANT("gfx906", ISA_GFX906, "gfx9-generic", false, hints, "glc", 64, vgprs);
const isa_family isa_family_gfx908 = VARIANT("gfx908", ISA_GFX908, NULL, true, hints, "glc", 64, vgprs);
const isa_family isa_family_gfx90a = VARIANT("gfx90a", ISA_GFX90A, NULL, true, hints, "glc", 64, vgprs_gfx90a);
const isa_family isa_family_gfx942 =
    VARIANT("gfx942", ISA_GFX942, "gfx9-4-generic", true, hints_gfx940, "sc0", 128, vgprs_gfx90a);
const isa_family isa_family_gfx950 =
    VARIANT("gfx950", ISA_GFX950, "gfx9-4-generic", true, hints_gfx940, "sc0", 128, vgprs_gfx90a);
