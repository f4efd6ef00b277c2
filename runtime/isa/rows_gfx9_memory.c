/* Memory as gfx9 reaches it: exchanges of lanes over the whole wave, the transposing read of LDS, loads from memory
 * into LDS, and scratch through buffer instructions. */
#include "access.h"
#include "arrivals.h"
#include "image.h"
#include "memory.h"
#include "sources.h"

/* ---- Exchanges of rows ------------------------------------------------------------------------------------- */

/* Rows of the first register whose number has the bit change places with the rows of the second that are `distance`
 * lanes lower: odd rows with even ones, or rows 2 and 3 with rows 0 and 1 (CDNA4 ISA guide, 12.8,
 * V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32). Which lanes that are off are read no document says for certain, so
 * that modifiers and lanes off are refused. */
static void swap_rows(isa_wave *wave, const isa_instruction *i, unsigned distance) {
    uint32_t rooms[2][ISA_LANES_MAX], first[ISA_LANES_MAX], second[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    if (exec != UINT64_MAX) {
        isa_report(wave, __builtin_ctzll(~exec), "exchange-lanes-off",
                   "an exchange of rows needs every lane, EXEC is 0x%llx", (unsigned long long)exec);
    }
    memcpy(first, isa_read_lanes(wave, &i->operands[0], 0, exec, rooms[0]), sizeof first);
    memcpy(second, isa_read_lanes(wave, &i->operands[1], 0, exec, rooms[1]), sizeof second);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        if ((lane & distance) != 0) {
            uint32_t kept = first[lane];
            first[lane] = second[lane - distance];
            second[lane - distance] = kept;
        }
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, first);
    isa_write_lanes(wave, &i->operands[1], 0, exec, second);
}

static void v_permlane16_swap_b32(isa_wave *wave, const isa_instruction *i) {
    swap_rows(wave, i, 16);
}

static void v_permlane32_swap_b32(isa_wave *wave, const isa_instruction *i) {
    swap_rows(wave, i, 32);
}

/* ---- The transposing read ---------------------------------------------------------------------------------- */

/* In each 16 lanes lane s reads four elements, which are those of row s / 4 of a matrix from column 4 (s mod 4) on, and
 * lane n gets the four elements of column n (CDNA4 ISA guide, 11.4 MFMA Transpose Load from LDS, says what it is for;
 * this order of the lanes is what public kernels rely on). */
static void ds_read_b64_tr_b16(isa_wave *wave, const isa_instruction *i) {
    uint32_t addresses[ISA_LANES_MAX];
    uint16_t read[ISA_LANES_MAX][4] = {{0}};
    uint64_t exec = isa_exec(wave);
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, 2)) {
        return;
    }
    if (exec != UINT64_MAX) {
        isa_report(wave, __builtin_ctzll(~exec), "exchange-lanes-off",
                   "a transposing read needs every lane, EXEC is "
                   "0x%llx",
                   (unsigned long long)exec);
    }
    isa_lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    isa_mark_loaded(wave, data, 2, exec, ISA_QUEUE_LDS);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        if (addresses[lane] % 8 != 0) {
            isa_report(wave, lane, "misaligned", "touches byte %u of LDS, expected a multiple of 8", addresses[lane]);
        }
        if (isa_lds_check(wave, lane, addresses[lane], sizeof read[lane], false)) {
            memcpy(read[lane], wave->group->lds + addresses[lane], sizeof read[lane]);
        }
    }
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left), row = lane & ~15u, column = lane & 15;
        uint32_t element[4];
        for (unsigned k = 0; k < 4; k++) {
            element[k] = read[row + 4 * k + column / 4][column % 4];
        }
        wave->vgpr[data->reg][lane] = element[0] | element[1] << 16;
        wave->vgpr[data->reg + 1][lane] = element[2] | element[3] << 16;
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, exec, addresses, 8, false);
    }
}

/* ---- From memory into LDS ---------------------------------------------------------------------------------- */

/* LDS address = bits 17 to 2 of M0, times 4, plus the constant offset, plus the lane's number times 4 (times 16 for 12
 * and 16 bytes); the address in memory has the constant offset as well (CDNA4 ISA guide, 10.3). Bytes and shorts fill
 * their 4 bytes. */
static void load_into_lds(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    static const isa_operand m0 = {.kind = ISA_OPERAND_SGPR, .count = 1, .reg = ISA_M0};
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    uint32_t places[ISA_LANES_MAX], stride = registers > 1 ? 16 : 4;
    size_t bytes = isa_shape_bytes(shape, registers), stored = registers * sizeof(uint32_t);
    uint32_t base = (isa_read_scalar(wave, &m0) & 0x3fffcu) + (uint32_t)i->offset;
    isa_global_addresses(wave, i, &i->operands[0], &i->operands[1], addresses);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        places[lane] = base + lane * stride;
    }
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from = isa_global(wave, lane, addresses[lane], bytes, false);
        uint32_t widened;
        if (from == NULL) {
            return;
        }
        if (shape != ISA_WHOLE) {
            widened = isa_widen(shape, from, 0);
            from = (const unsigned char *)&widened;
        }
        if (isa_lds_check(wave, lane, places[lane], stored, true)) {
            memcpy(wave->group->lds + places[lane], from, stored);
        }
    }
    isa_arrivals_add(wave, exec, places, stored);
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, bytes, false);
        isa_count_lds(wave, exec, places, stored, true);
    }
}

/* Name, how the value lies, registers, families, source. */
#define INTO_LDS(X)                                                                                                    \
    X(global_load_lds_ubyte, ISA_BYTE, 1, FROM_942, ISA_CDNA3_FLAT)                                                    \
    X(global_load_lds_sbyte, ISA_SIGNED_BYTE, 1, FROM_942, ISA_CDNA3_FLAT)                                             \
    X(global_load_lds_ushort, ISA_SHORT, 1, FROM_942, ISA_CDNA3_FLAT)                                                  \
    X(global_load_lds_sshort, ISA_SIGNED_SHORT, 1, FROM_942, ISA_CDNA3_FLAT)                                           \
    X(global_load_lds_dword, ISA_WHOLE, 1, FROM_942, ISA_CDNA3_FLAT)                                                   \
    X(global_load_lds_dwordx3, ISA_WHOLE, 3, ONLY_950, ISA_CDNA4_FLAT)                                                 \
    X(global_load_lds_dwordx4, ISA_WHOLE, 4, ONLY_950, ISA_CDNA4_FLAT)

/* ---- Scratch through buffers ------------------------------------------------------------------------------- */

/* vaddr or "off", four registers of the buffer, soffset. The one buffer that is known is the wave's scratch, which the
 * descriptor asked for (ISA_USER_PRIVATE_BUFFER): lanes' words are interleaved in it, so that the place of the wave and
 * soffset count for all 64 lanes, and vaddr and the constant offset for one (Vega ISA guide, 8.1.5 Buffer Addressing;
 * LLVM's guide, Kernel Prolog, Private Segment Buffer). NULL after a finding. */
static unsigned char *scratch_at(isa_wave *wave, const isa_instruction *i, int lane, size_t bytes) {
    uint32_t room[ISA_LANES_MAX];
    const isa_operand *vaddr = &i->operands[1], *resource = &i->operands[2], *soffset = &i->operands[3];
    isa_operand first = *resource, second = *resource;
    second.reg = (uint16_t)(second.reg + 2u);
    uint64_t base = isa_read_scalar64(wave, &first), rest = isa_read_scalar64(wave, &second);
    if (rest != ISA_PRIVATE_BUFFER_REST) {
        isa_give_up(wave, "unsupported-buffer", "uses a buffer other than the wave's scratch");
        return NULL;
    }
    uint64_t began = ISA_PRIVATE_BUFFER + (uint64_t)wave->number * wave->group->scratch_bytes_lane * wave->lanes;
    uint64_t place = base + isa_read_scalar(wave, soffset) - began;
    if (place % (sizeof(uint32_t) * wave->lanes) != 0) {
        isa_give_up(wave, "scratch-misplaced", "expected a multiple of %u bytes behind the wave's scratch, got 0x%llx",
                    (unsigned)sizeof(uint32_t) * wave->lanes, (unsigned long long)place);
        return NULL;
    }
    uint64_t at = place / wave->lanes + (uint64_t)(int64_t)i->offset;
    if (vaddr->kind != ISA_OPERAND_OFF) {
        at += isa_read_lanes(wave, vaddr, 0, UINT64_C(1) << lane, room)[lane];
    }
    return isa_scratch(wave, lane, at, bytes);
}

static void load_buffer(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from = scratch_at(wave, i, lane, isa_shape_bytes(shape, registers));
        if (from == NULL) {
            return;
        }
        isa_fill(wave, data->reg, registers, shape, lane, from);
    }
    isa_mark_loaded(wave, data, registers, isa_exec(wave), ISA_QUEUE_LOAD); /* behind its address, which may be there */
}

static void store_buffer(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    isa_mark_kept(wave, data, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = scratch_at(wave, i, lane, isa_shape_bytes(shape, registers));
        if (to == NULL) {
            return;
        }
        isa_drain(wave, data->reg, registers, shape, lane, to);
    }
}

#define BUFFER_LOADS(X)                                                                                                \
    X(buffer_load_ubyte, ISA_BYTE, 1)                                                                                  \
    X(buffer_load_sbyte, ISA_SIGNED_BYTE, 1)                                                                           \
    X(buffer_load_ushort, ISA_SHORT, 1)                                                                                \
    X(buffer_load_sshort, ISA_SIGNED_SHORT, 1)                                                                         \
    X(buffer_load_dword, ISA_WHOLE, 1)                                                                                 \
    X(buffer_load_dwordx2, ISA_WHOLE, 2)                                                                               \
    X(buffer_load_dwordx3, ISA_WHOLE, 3)                                                                               \
    X(buffer_load_dwordx4, ISA_WHOLE, 4)
#define BUFFER_STORES(X)                                                                                               \
    X(buffer_store_byte, ISA_BYTE, 1)                                                                                  \
    X(buffer_store_short, ISA_SHORT, 1)                                                                                \
    X(buffer_store_dword, ISA_WHOLE, 1)                                                                                \
    X(buffer_store_dwordx2, ISA_WHOLE, 2)                                                                              \
    X(buffer_store_dwordx3, ISA_WHOLE, 3)                                                                              \
    X(buffer_store_dwordx4, ISA_WHOLE, 4)                                                                              \
    X(buffer_store_short_d16_hi, ISA_HIGH_HALF, 1)                                                                     \
    X(buffer_store_byte_d16_hi, ISA_HIGH_BYTE, 1)

/* ---- The table --------------------------------------------------------------------------------------------- */

#define DEFINE_INTO_LDS(name, shape, registers, families, source)                                                      \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        load_into_lds(wave, i, shape, registers);                                                                      \
    }
#define DEFINE_LOAD(name, shape, registers)                                                                            \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        load_buffer(wave, i, shape, registers);                                                                        \
    }
#define DEFINE_STORE(name, shape, registers)                                                                           \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        store_buffer(wave, i, shape, registers);                                                                       \
    }
INTO_LDS(DEFINE_INTO_LDS)
BUFFER_LOADS(DEFINE_LOAD)
BUFFER_STORES(DEFINE_STORE)

#define BEFORE_942 (ISA_GFX9 | ISA_GFX906 | ISA_GFX908 | ISA_GFX90A) /* whose scratch is a buffer */
#define FROM_942   (ISA_GFX9 | ISA_GFX942 | ISA_GFX950)
#define ONLY_950   (ISA_GFX9 | ISA_GFX950)
#define ROW(name, operands, class, function, families, source)                                                         \
    { name, operands, class, NULL, function, families, source }
#define ROW_INTO_LDS(name, shape, registers, families, source)                                                         \
    ROW(#name, "Sx Sx", ISA_CLASS_LOAD, name, families, source),
#define ROW_LOAD(name, shape, registers)  ROW(#name, "Dx Sx Ss4 Ss", ISA_CLASS_LOAD, name, BEFORE_942, ISA_VEGA_MUBUF),
#define ROW_STORE(name, shape, registers) ROW(#name, "Sx Sx Ss4 Ss", ISA_CLASS_STORE, name, BEFORE_942, ISA_VEGA_MUBUF),

static const isa_row rows[] = {
    ROW("ds_read_b64_tr_b16", "Dx Sx", ISA_CLASS_LDS, ds_read_b64_tr_b16, ONLY_950, ISA_CDNA4_LDS),
    ROW("v_permlane16_swap_b32", "Bx Bx", ISA_CLASS_VALU, v_permlane16_swap_b32, ONLY_950, ISA_CDNA4_VOP1),
    ROW("v_permlane32_swap_b32", "Bx Bx", ISA_CLASS_VALU, v_permlane32_swap_b32, ONLY_950, ISA_CDNA4_VOP1),
    INTO_LDS(ROW_INTO_LDS) BUFFER_LOADS(ROW_LOAD) BUFFER_STORES(ROW_STORE)};

const isa_table isa_table_gfx9_memory = {rows, sizeof rows / sizeof rows[0]};
