/* Values that go from lane to lane. */
#include <string.h>

#include "operand.h"
#include "sources.h"

enum { ROW = 16 };

/* The lowest lane that is on; lane 0 when none is. */
static void v_readfirstlane_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    int lane = exec != 0 ? __builtin_ctzll(exec) : 0;
    isa_write_scalar(wave, &i->operands[0], isa_read_lanes(wave, &i->operands[1], 0, UINT64_C(1) << lane, room)[lane]);
}

/* A lane by number, whether it is on or not. */
static void v_readlane_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t room[ISA_LANES_MAX], lane = isa_read_scalar(wave, &i->operands[2]) & (wave->lanes - 1);
    isa_write_scalar(wave, &i->operands[0], isa_read_lanes(wave, &i->operands[1], 0, UINT64_C(1) << lane, room)[lane]);
}

static void v_writelane_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t values[ISA_LANES_MAX] = {0}, lane = isa_read_scalar(wave, &i->operands[2]) & (wave->lanes - 1);
    values[lane] = isa_read_scalar(wave, &i->operands[1]);
    isa_write_lanes(wave, &i->operands[0], 0, UINT64_C(1) << lane, values);
}

/* Lane n of a row reads lane SELECT[n] of its own row (v_permlane16) or of its neighbour in the pair of rows
 * (v_permlanex16). The first bit of op_sel is FI: lanes that are off are read too; the second is BOUND_CTRL: without FI
 * what is off reads as 0, else the lane keeps its value. */
static void permute(isa_wave *wave, const isa_instruction *i, const uint8_t select[ISA_LANES_MAX], unsigned other_row) {
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), written = 0, needed = 0;
    bool fetch_inactive = (i->op_sel & 1) != 0, bound = (i->op_sel & 2) != 0;
    unsigned sources[ISA_LANES_MAX];
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        sources[lane] = ((lane & ~(ROW - 1u)) ^ other_row) + select[lane];
        bool readable = fetch_inactive || (exec >> sources[lane] & 1) != 0;
        if ((exec >> lane & 1) != 0 && readable) {
            needed |= UINT64_C(1) << sources[lane];
        }
        written |= (uint64_t)(readable || bound) << lane;
    }
    const uint32_t *from = isa_read_lanes(wave, &i->operands[1], 0, needed, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        bool readable = fetch_inactive || (exec >> sources[lane] & 1) != 0;
        values[lane] = readable ? from[sources[lane]] : 0;
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec & written, values);
}

/* 4 bits for each lane of any row, lanes 0 to 7 in S1 and 8 to 15 in S2. */
static void permute_rows(isa_wave *wave, const isa_instruction *i, unsigned other_row) {
    uint8_t lanes[ISA_LANES_MAX];
    uint64_t select = (uint64_t)isa_read_scalar(wave, &i->operands[3]) << 32 | isa_read_scalar(wave, &i->operands[2]);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        lanes[lane] = (uint8_t)(select >> 4 * (lane & (ROW - 1u)) & (ROW - 1u));
    }
    permute(wave, i, lanes, other_row);
}

/* The low 4 bits of each lane's S1. */
static void permute_by_lane(isa_wave *wave, const isa_instruction *i, unsigned other_row) {
    uint32_t room[ISA_LANES_MAX];
    uint8_t lanes[ISA_LANES_MAX];
    const uint32_t *select = isa_read_lanes(wave, &i->operands[2], 0, isa_exec(wave), room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        lanes[lane] = (uint8_t)(select[lane] & (ROW - 1u));
    }
    permute(wave, i, lanes, other_row);
}

static void v_permlane16_b32(isa_wave *wave, const isa_instruction *i) {
    permute_rows(wave, i, 0);
}

static void v_permlanex16_b32(isa_wave *wave, const isa_instruction *i) {
    permute_rows(wave, i, ROW);
}

static void v_permlane16_var_b32(isa_wave *wave, const isa_instruction *i) {
    permute_by_lane(wave, i, 0);
}

static void v_permlanex16_var_b32(isa_wave *wave, const isa_instruction *i) {
    permute_by_lane(wave, i, ROW);
}

/* The halves of a wave of 64 change places; in a wave of 32 nothing happens. */
static void v_permlane64_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    if (wave->lanes != 64) {
        return;
    }
    const uint32_t *from = isa_read_lanes(wave, &i->operands[1], 0, exec << 32 | exec >> 32, room);
    for (unsigned lane = 0; lane < 64; lane++) {
        values[lane] = from[lane ^ 32];
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, values);
}

/* How many bits of the mask stand below the lane, added to S1: of its first 32 bits (lo) or of the others (hi). */
static void count_below(isa_wave *wave, const isa_instruction *i, unsigned first) {
    uint32_t mask_room[ISA_LANES_MAX], base_room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    const uint32_t *mask = isa_read_lanes(wave, &i->operands[1], 0, exec, mask_room);
    const uint32_t *base = isa_read_lanes(wave, &i->operands[2], 0, exec, base_room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        unsigned below = lane > first ? lane - first : 0;
        uint32_t counted = below >= 32 ? mask[lane] : mask[lane] & ((1u << below) - 1);
        values[lane] = base[lane] + (uint32_t)__builtin_popcount(counted);
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, values);
}

static void v_mbcnt_lo_u32_b32(isa_wave *wave, const isa_instruction *i) {
    count_below(wave, i, 0);
}

static void v_mbcnt_hi_u32_b32(isa_wave *wave, const isa_instruction *i) {
    count_below(wave, i, 32);
}

/* ---- Registers that change places, and registers by number ----------------------------------------------- */

static void v_swap_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t rooms[2][ISA_LANES_MAX], first[ISA_LANES_MAX], second[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    memcpy(first, isa_read_lanes(wave, &i->operands[0], 0, exec, rooms[0]), wave->lanes * sizeof first[0]);
    memcpy(second, isa_read_lanes(wave, &i->operands[1], 0, exec, rooms[1]), wave->lanes * sizeof second[0]);
    isa_write_lanes(wave, &i->operands[0], 0, exec, second);
    isa_write_lanes(wave, &i->operands[1], 0, exec, first);
}

static void v_swap_b16(isa_wave *wave, const isa_instruction *i) {
    uint32_t first[ISA_LANES_MAX], second[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    isa_read_half(wave, i, &i->operands[0], 0, false, exec, first);
    isa_read_half(wave, i, &i->operands[1], 1, false, exec, second);
    isa_write_half(wave, i, &i->operands[0], exec, second);
    isa_write_half(wave, i, &i->operands[1], exec, first);
}

/* The register so far behind; one that does not exist is refused where it is used. */
static isa_operand behind(const isa_operand *operand, uint32_t distance) {
    isa_operand moved = *operand;
    uint64_t reg = (uint64_t)operand->reg + distance;
    moved.reg = (uint16_t)(reg < UINT16_MAX ? reg : UINT16_MAX);
    return moved;
}

static void move(isa_wave *wave, const isa_instruction *i, uint32_t to_distance, uint32_t from_distance) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    isa_operand to = behind(&i->operands[0], to_distance), from = behind(&i->operands[1], from_distance);
    const uint32_t *values = isa_read_lanes(wave, from_distance != 0 ? &from : &i->operands[1], 0, exec, room);
    if (!wave->failed) {
        isa_write_lanes(wave, &to, 0, exec, values);
    }
}

static uint32_t m0(isa_wave *wave) {
    static const isa_operand operand = {.kind = ISA_OPERAND_SGPR, .count = 1, .reg = ISA_M0};
    return isa_read_scalar(wave, &operand);
}

static void v_movreld_b32(isa_wave *wave, const isa_instruction *i) {
    move(wave, i, m0(wave), 0);
}

static void v_movrels_b32(isa_wave *wave, const isa_instruction *i) {
    move(wave, i, 0, m0(wave));
}

static void v_movrelsd_b32(isa_wave *wave, const isa_instruction *i) {
    move(wave, i, m0(wave), m0(wave));
}

static void v_movrelsd_2_b32(isa_wave *wave, const isa_instruction *i) {
    move(wave, i, m0(wave) >> 16 & 0x3ff, m0(wave) & 0x3ff);
}

#define V ISA_CLASS_VALU

static const isa_row rows[] = {
    {"v_readfirstlane_b32", "Ds Sx", V, NULL, v_readfirstlane_b32, ISA_GFX11, ISA_VOP1},
    {"v_readlane_b32", "Ds Sx Ss", V, NULL, v_readlane_b32, ISA_GFX11, ISA_VOP3},
    {"v_writelane_b32", "Bx Ss Ss", V, NULL, v_writelane_b32, ISA_GFX11, ISA_VOP3},
    {"v_permlane16_b32", "Dx Sx Ss Ss", V, NULL, v_permlane16_b32, ISA_GFX11, ISA_VOP3},
    {"v_permlanex16_b32", "Dx Sx Ss Ss", V, NULL, v_permlanex16_b32, ISA_GFX11, ISA_VOP3},
    {"v_permlane16_var_b32", "Dx Sx Sv", V, NULL, v_permlane16_var_b32, ISA_GFX12, ISA_RDNA4_VOP3},
    {"v_permlanex16_var_b32", "Dx Sx Sv", V, NULL, v_permlanex16_var_b32, ISA_GFX12, ISA_RDNA4_VOP3},
    {"v_permlane64_b32", "Dx Sx", V, NULL, v_permlane64_b32, ISA_GFX11, ISA_VOP1},
    {"v_swap_b32", "Bx Bx", V, NULL, v_swap_b32, ISA_GFX11, ISA_VOP1},
    {"v_swap_b16", "Bx Bx", V, NULL, v_swap_b16, ISA_GFX11, ISA_VOP1},
    {"v_movreld_b32", "Dx Sx", V, NULL, v_movreld_b32, ISA_GFX11, ISA_VOP1},
    {"v_movrels_b32", "Dx Sx", V, NULL, v_movrels_b32, ISA_GFX11, ISA_VOP1},
    {"v_movrelsd_b32", "Dx Sx", V, NULL, v_movrelsd_b32, ISA_GFX11, ISA_VOP1},
    {"v_movrelsd_2_b32", "Dx Sx", V, NULL, v_movrelsd_2_b32, ISA_GFX11, ISA_VOP1},
    {"v_mbcnt_lo_u32_b32", "Dv Sv Sv", V, NULL, v_mbcnt_lo_u32_b32, ISA_GFX11, ISA_VOP3},
    {"v_mbcnt_hi_u32_b32", "Dv Sv Sv", V, NULL, v_mbcnt_hi_u32_b32, ISA_GFX11, ISA_VOP3},
};

const isa_table isa_table_lanes = {rows, sizeof rows / sizeof rows[0]};
