/* gfx9: gfx906, gfx908, gfx90a, gfx942, gfx950, which are variants of one family. */
#include <stdlib.h>
#include <string.h>

#include "../emu/chips.h"
#include "checks.h"
#include "family.h"
#include "hazards.h"
#include "image.h"

/* ---- Texts ------------------------------------------------------------------------------------------------- */

static const isa_scalar special[] = {{"flat_scratch", 102, 2},
                                     {"flat_scratch_lo", 102, 1},
                                     {"flat_scratch_hi", 103, 1},
                                     {"xnack_mask", 104, 2},
                                     {"xnack_mask_lo", 104, 1},
                                     {"xnack_mask_hi", 105, 1},
                                     {NULL, 0, 0}};

static const char *const hints[] = {"glc", "slc", NULL};
static const char *const hints_gfx940[] = {"sc0", "sc1", "nt", NULL};

/* Those to which op_sel gives a half of the destination (Vega ISA guide, 12.12, OPSEL; for what two numbers of 8 bits
 * become, CDNA3 ISA guide, V_CVT_PK_FP8_F32); all others are as gfx8 has them, whose 16-bit results have zeros above.
 */
static const char *const halves_kept[] = {"v_mad_u16",
                                          "v_mad_i16",
                                          "v_fma_f16",
                                          "v_div_fixup_f16",
                                          "v_min3_f16",
                                          "v_max3_f16",
                                          "v_med3_f16",
                                          "v_min3_i16",
                                          "v_max3_i16",
                                          "v_med3_i16",
                                          "v_min3_u16",
                                          "v_max3_u16",
                                          "v_med3_u16",
                                          "v_add_i16",
                                          "v_sub_i16",
                                          "v_fma_mixlo_f16",
                                          "v_fma_mixhi_f16",
                                          "v_cvt_pk_fp8_f32",
                                          "v_cvt_pk_bf8_f32",
                                          "v_cvt_scalef32_pk_fp8_f32",
                                          "v_cvt_scalef32_pk_bf8_f32",
                                          "v_cvt_scalef32_pk_fp8_f16",
                                          "v_cvt_scalef32_pk_bf8_f16",
                                          "v_cvt_scalef32_pk_fp8_bf16",
                                          "v_cvt_scalef32_pk_bf8_bf16",
                                          NULL};

/* ---- The descriptor ---------------------------------------------------------------------------------------- */

/* In steps of 4 (compute_pgm_rsrc1, GRANULATED_WORKITEM_VGPR_COUNT), and so many AGPRs in a file of their own. */
static uint32_t vgprs(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave) {
    (void)rsrc3, (void)wave;
    return ((rsrc1 & 0x3fu) + 1) * 4;
}

static uint32_t agprs(uint32_t rsrc1, uint32_t rsrc3) {
    return vgprs(rsrc1, rsrc3, 64);
}

/* One file, in steps of 8, in which AGPRs begin at ACCUM_OFFSET of compute_pgm_rsrc3. */
static uint32_t vgprs_gfx90a(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave) {
    uint32_t all = ((rsrc1 & 0x3fu) + 1) * 8, offset = ((rsrc3 & 0x3fu) + 1) * 4;
    (void)wave;
    return offset < all ? offset : all;
}

static uint32_t agprs_gfx90a(uint32_t rsrc1, uint32_t rsrc3) {
    return ((rsrc1 & 0x3fu) + 1) * 8 - vgprs_gfx90a(rsrc1, rsrc3, 64);
}

/* ---- Wait states ------------------------------------------------------------------------------------------- */

/* The guides' sections 4.5, "Manually Inserted Wait States (NOPs)", and of matrix instructions chapter 7, "Dependency
 * Resolution: Required Independent Instructions", by passes of four cycles. */

/* Of all chips. */
#define STATES .scalar_to_lane = 4, .scalar_to_memory = 5, .scalar_to_division = 4, .vector_to_dpp = 2
/* From gfx942 on; each chip has its own behind matrix instructions. */
#define STATES_GFX942 STATES, .scalar_to_vector = 2, .vector_to_lane = 1, .transcendental = 1, .part_to_vector = 1

static const struct isa_wait_states states_gfx906 = {STATES};

/* What the name of a matrix instruction's row says: v_mfma_f32_16x16x4_4b_f16, v_mfma_scale_f32_16x16x128_f8f6f4. */
static unsigned matrix_rows(const isa_row *row) {
    return (unsigned)atoi(strstr(row->name, "f32_") + strlen("f32_"));
}

static bool matrix_has_blocks(const isa_row *row) {
    return strstr(row->name, "b_") != NULL;
}

static bool matrix_is_float32(const isa_row *row) {
    return strcmp(row->name + strlen(row->name) - 4, "_f32") == 0;
}

static unsigned matrix_gfx90a(const isa_instruction *i) {
    unsigned size = matrix_rows(i->row);
    return size == 4 ? 5 : size == 16 ? 11 : 19;
}

static const struct isa_wait_states states_gfx90a = {STATES, .matrix = matrix_gfx90a};

/* 2 to 16 passes: those of one block of 16-bit floats take half as many as the others. */
static unsigned passes_gfx942(const isa_row *row) {
    unsigned size = matrix_rows(row), all = size == 4 ? 2 : size == 16 ? 8 : 16;
    return size == 4 || matrix_is_float32(row) || matrix_has_blocks(row) ? all : all / 2;
}

static unsigned matrix_gfx942(const isa_instruction *i) {
    return passes_gfx942(i->row) + (matrix_is_float32(i->row) ? 2 : 3);
}

/* Where a number has 8 bits those of several formats take twice as long. */
static unsigned matrix_gfx950(const isa_instruction *i) {
    bool longer = !matrix_is_float32(i->row) && passes_gfx942(i->row) != 2;
    bool twice = strstr(i->row->name, "_f8f6f4") != NULL && (i->cbsz < 2 || i->blgp < 2);
    return matrix_gfx942(i) + longer + (twice ? passes_gfx942(i->row) : 0);
}

static const struct isa_wait_states states_gfx942 = {STATES_GFX942, .matrix = matrix_gfx942};
static const struct isa_wait_states states_gfx950 = {STATES_GFX942, .scaled = 1, .matrix = matrix_gfx950};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

/* One counter for loads and stores. */
#define QUEUES                                                                                                         \
    {                                                                                                                  \
        [ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "vmcnt"}, [ISA_QUEUE_STORE] = {ISA_QUEUE_LOAD, "vmcnt"},                   \
        [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "lgkmcnt"}, [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "lgkmcnt"},              \
    }

/* Of all chips. */
#define COMMON(target_, bit_)                                                                                          \
    .target = target_, .bit = ISA_GFX9, .variant = bit_, .names = &isa_names_gfx9, .same = isa_same_gfx9, .waves = 64, \
    .scalars = 102, .special = special, .takes_sdwa = true, .takes_wave_dpp = true, .halves_kept = halves_kept,        \
    .queues = QUEUES, .mode_fixed = 0x008003ff, .mode_known = 0x000003f0, .mode = isa_mode_gfx6_to_gfx11,              \
    .place = isa_place_with_scratch
/* Up to gfx90a, for whose scratch registers are given, and from gfx942 on, whose scratch is architected. */
#define BEFORE_GFX942                                                                                                  \
    .hints = hints, .returning = "glc", .line_bytes = 64,                                                              \
    .user_supported = ISA_USER_GFX11 | ISA_USER_PRIVATE_BUFFER | ISA_USER_FLAT_SCRATCH
#define FROM_GFX942                                                                                                    \
    .generic = "gfx9-4-generic", .hints = hints_gfx940, .returning = "sc0", .line_bytes = 128,                         \
    .user_supported = ISA_USER_GFX11
/* Chips with AGPRs, and those of them that have one file for all vector registers. */
#define CDNA     .chips = EMU_CDNA, .takes_agprs = true
#define ONE_FILE .vgprs = vgprs_gfx90a, .agprs = agprs_gfx90a, .items = isa_items_packed

const isa_family isa_family_gfx906 = {
    COMMON("gfx906", ISA_GFX906),  BEFORE_GFX942,  .chips = EMU_GCN5,        .generic = "gfx9-generic",
    .wait_states = &states_gfx906, .vgprs = vgprs, .items = isa_items_apart,
};

/* Wait states behind matrix instructions, which gfx908 has besides, are not checked. */
const isa_family isa_family_gfx908 = {
    COMMON("gfx908", ISA_GFX908), BEFORE_GFX942, CDNA, .wait_states = &states_gfx906, .vgprs = vgprs, .agprs = agprs,
    .items = isa_items_apart,
};

const isa_family isa_family_gfx90a = {
    COMMON("gfx90a", ISA_GFX90A), BEFORE_GFX942, CDNA, ONE_FILE, .wait_states = &states_gfx90a, .matrix_flushes = true,
};

const isa_family isa_family_gfx942 = {
    COMMON("gfx942", ISA_GFX942), FROM_GFX942, CDNA, ONE_FILE, .wait_states = &states_gfx942, .is_fnuz = true,
};

const isa_family isa_family_gfx950 = {
    COMMON("gfx950", ISA_GFX950), FROM_GFX942, CDNA, ONE_FILE, .wait_states = &states_gfx950,
};
