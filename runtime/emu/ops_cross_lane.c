/* Cross-lane instructions of RDNA, as the RDNA3 instruction set guide defines them: chapters "Vector ALU Operations"
 * (DPP) and "Instructions" (V_READLANE, V_PERMLANE*, DS_SWIZZLE, DS_PERMUTE). A lane that the workgroup does not have
 * counts as disabled by EXEC. */
#include "ops.h"

enum { ROW = 16, HALF = 32 };

static unsigned lanes_of(const emu_wave *wave) {
    return wave->worker->launch->wave;
}

static unsigned operand(const emu_wave *wave, unsigned lane, int which) {
    return wave->lanes[lane].seen.word[which];
}

static void give(emu_wave *wave, unsigned lane, unsigned value) {
    wave->lanes[lane].seen.word[FMHA_EMU_RESULT] = value;
}

static bool is_present(const emu_wave *wave, unsigned lane) {
    return (wave->present >> lane & 1u) != 0;
}

static unsigned first_present(const emu_wave *wave) {
    return (unsigned)__builtin_ctzll(wave->present);
}

static void broadcast(emu_wave *wave, unsigned value) {
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        give(wave, i, value);
    }
}

void emu_readfirstlane(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    broadcast(wave, operand(wave, first_present(wave), FMHA_EMU_SOURCE));
}

/* Lane numbers are scalar operands: where a kernel gives each lane another one, the compiler reads the first lane's. */
static unsigned scalar_lane(const emu_wave *wave) {
    return operand(wave, first_present(wave), FMHA_EMU_SELECT_LOW) & (lanes_of(wave) - 1);
}

void emu_readlane(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    unsigned lane = scalar_lane(wave);
    broadcast(wave, is_present(wave, lane) ? operand(wave, lane, FMHA_EMU_SOURCE) : UINT32_MAX);
}

void emu_writelane(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        give(wave, i, operand(wave, i, FMHA_EMU_OLD));
    }
    give(wave, scalar_lane(wave), operand(wave, first_present(wave), FMHA_EMU_SOURCE));
}

void emu_ballot(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    uint64_t mask = 0;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        mask |= (uint64_t)(operand(wave, i, FMHA_EMU_SOURCE) != 0) << i;
    }
    mask &= wave->present;
    broadcast(wave, (unsigned)mask);
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        wave->lanes[i].seen.word[FMHA_EMU_RESULT_HIGH] = (unsigned)(mask >> 32);
    }
}

/* ---- Through the LDS crossbar: within 32 lanes; a disabled source reads as 0
 * ------------------------------------------ */

static unsigned source_or_zero(const emu_wave *wave, unsigned lane) {
    return is_present(wave, lane) ? operand(wave, lane, FMHA_EMU_SOURCE) : 0;
}

static unsigned reverse_5_bits(unsigned value) {
    unsigned reversed = 0;
    for (int i = 0; i < 5; i++) {
        reversed |= (value >> i & 1u) << (4 - i);
    }
    return reversed;
}

static unsigned swizzle_source(unsigned lane, unsigned pattern) {
    unsigned low = pattern & 0x1fu, middle = pattern >> 5 & 0x1fu, high = pattern >> 10 & 0x1fu;
    unsigned within = lane % HALF;
    if (pattern >= 0xe000u) { /* butterflies of a Fourier transform */
        return reverse_5_bits(within) >> __builtin_popcount(low) | (within & low);
    }
    if (pattern >= 0xc000u) { /* rotation, the lanes of the mask staying */
        unsigned by = (high & 1u) != 0 ? 0u - middle : middle;
        return (within & low) | ((within + by) & ~low & 0x1fu);
    }
    if (pattern >= 0x8000u) { /* any within four */
        return (within & ~3u) + (pattern >> 2 * (within & 3u) & 3u);
    }
    return ((within & low) | middle) ^ high;
}

void emu_ds_swizzle(emu_wave *wave, const struct fmha_emu_site *site) {
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        unsigned source = (i & HALF) + swizzle_source(i, site->immediate[0]);
        give(wave, i, source_or_zero(wave, source));
    }
}

/* The RDNA guides: the lane is the byte address divided by 4, modulo 32 whatever the wave size. In wave64 each half
 * permutes within itself, which is how LLVM and Mesa use the instruction on gfx10 and gfx11. On gfx9 it reaches all 64
 * lanes ("Vega" guide, DS_BPERMUTE_B32). */
static unsigned addressed(const emu_wave *wave, unsigned lane) {
    if (wave->worker->launch->chip->major == 9) {
        return operand(wave, lane, FMHA_EMU_SELECT_LOW) / 4 % 64;
    }
    return (lane & HALF) + operand(wave, lane, FMHA_EMU_SELECT_LOW) / 4 % HALF;
}

void emu_ds_bpermute(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        if (is_present(wave, i)) {
            give(wave, i, source_or_zero(wave, addressed(wave, i)));
        }
    }
}

/* Of several lanes that send to one, the highest wins. */
void emu_ds_permute(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    broadcast(wave, 0);
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        if (is_present(wave, i)) {
            give(wave, addressed(wave, i), operand(wave, i, FMHA_EMU_SOURCE));
        }
    }
}

/* ---- Data-parallel primitives
 * ----------------------------------------------------------------------------------------- */

enum { NO_LANE = -1 };

/* The lane of a row of 16 from which lane `at` of the row reads. */
static int dpp16_source(int at, unsigned control) {
    int amount = (int)(control & 0xfu);
    switch (control >> 4) {
    case 0x10: /* row_shl */
        return at + amount < ROW ? at + amount : NO_LANE;
    case 0x11: /* row_shr */
        return at >= amount ? at - amount : NO_LANE;
    case 0x12: /* row_ror */
        return (at - amount + ROW) % ROW;
    case 0x14: /* row_mirror, row_half_mirror */
        return amount == 0 ? ROW - 1 - at : (at & 8) + 7 - (at & 7);
    case 0x15: /* row_share */
        return amount;
    case 0x16: /* row_xmask */
        return at ^ amount;
    default: /* quad_perm */
        return (at & ~3) + (int)(control >> 2 * (at & 3) & 3u);
    }
}

void emu_dpp16(emu_wave *wave, const struct fmha_emu_site *site) {
    unsigned control = site->immediate[0], row_mask = site->immediate[1], bank_mask = site->immediate[2];
    bool bound_control = site->immediate[3] != 0;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        int from = dpp16_source((int)(i % ROW), control);
        unsigned source = i / ROW * ROW + (unsigned)(from == NO_LANE ? 0 : from);
        unsigned old = operand(wave, i, FMHA_EMU_OLD);
        bool enabled = (row_mask >> i / ROW & 1u) != 0 && (bank_mask >> i % ROW / 4 & 1u) != 0;
        bool valid = from != NO_LANE && is_present(wave, source);
        unsigned received = valid ? operand(wave, source, FMHA_EMU_SOURCE) : bound_control ? 0 : old;
        give(wave, i, enabled ? received : old);
    }
}

/* Any within eight; there is no bound control, and a disabled source reads as 0. */
void emu_dpp8(emu_wave *wave, const struct fmha_emu_site *site) {
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        unsigned source = (i & ~7u) + (site->immediate[0] >> 3 * (i & 7u) & 7u);
        give(wave, i, source_or_zero(wave, source));
    }
}

/* The selects are scalar operands, as above; nibble i says which lane of the row lane i reads. */
static void permlane(emu_wave *wave, const struct fmha_emu_site *site, unsigned other_row) {
    unsigned first = first_present(wave);
    uint64_t select =
        (uint64_t)operand(wave, first, FMHA_EMU_SELECT_HIGH) << 32 | operand(wave, first, FMHA_EMU_SELECT_LOW);
    bool fetch_inactive = site->immediate[0] != 0, bound_control = site->immediate[1] != 0;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        unsigned source = (i / ROW ^ other_row) * ROW + (unsigned)(select >> 4 * (i % ROW) & 0xfu);
        bool valid = is_present(wave, source) || fetch_inactive;
        give(wave, i,
             valid           ? operand(wave, source, FMHA_EMU_SOURCE)
             : bound_control ? 0
                             : operand(wave, i, FMHA_EMU_OLD));
    }
}

void emu_permlane16(emu_wave *wave, const struct fmha_emu_site *site) {
    permlane(wave, site, 0);
}

void emu_permlanex16(emu_wave *wave, const struct fmha_emu_site *site) {
    permlane(wave, site, 1);
}

/* Swaps the halves of a wave64, ignoring EXEC for what is read; does nothing in wave32. */
void emu_permlane64(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    for (unsigned i = 0; i < lanes_of(wave); i++) {
        give(wave, i, operand(wave, lanes_of(wave) == 64 ? i ^ HALF : i, FMHA_EMU_SOURCE));
    }
}
