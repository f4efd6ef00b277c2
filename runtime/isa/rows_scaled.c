/* What gfx950 has for numbers of 8 and 4 bits whose blocks of 32 share a scale: matrix instructions, of which those
 * with scales are two encodings that the disassembler writes as one instruction, and conversions. */
#include <math.h>
#include <string.h>

#include "family.h"
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

enum { LANES = 64, SIDE_MAX = 32, DEPTH_MAX = 128, OWN = 32, WORDS_MAX = 8, RESULTS_MAX = 16 };

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* "OCP Microscaling Formats (MX) Specification", 5.3.3: E2M1. */
static double fp4(uint32_t nibble) {
    static const double magnitudes[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (nibble & 8u) != 0 ? -magnitudes[nibble & 7u] : magnitudes[nibble & 7u];
}

/* "OCP 8-bit Floating Point Specification (OFP8)", 5.1. */
static double fp8(uint32_t byte, unsigned fraction_bits, int bias) {
    int exponent = (int)(byte >> fraction_bits & (0x7fu >> fraction_bits));
    double fraction = byte & ((1u << fraction_bits) - 1);
    double value = exponent == 0 ? ldexp(fraction, 1 - bias - (int)fraction_bits)
                                 : ldexp(fraction + (1 << fraction_bits), exponent - bias - (int)fraction_bits);
    if (fraction_bits == 3 && (byte & 0x7fu) == 0x7fu) {
        value = NAN;
    } else if (fraction_bits == 2 && exponent == 31) {
        value = fraction == 0 ? INFINITY : NAN;
    }
    return (byte & 0x80u) != 0 ? -value : value;
}

/* E8M0 (the same, 5.4.1). */
static double scale_of(uint32_t byte) {
    return byte == 255 ? (double)NAN : ldexp(1, (int)byte - 127);
}

/* To nearest, ties to the even code; beyond the largest it is the largest, and so is a NaN, of which no document
 * speaks.
 */
static uint32_t to_fp4(double value) {
    double size = fabs(value);
    uint32_t code = (uint32_t)(size > 0.25) + (size >= 0.75) + (size > 1.25) + (size >= 1.75) + (size > 2.5) +
                    (size >= 3.5) + (size > 5);
    return (isnan(value) ? 7u : code) | (signbit(value) ? 8u : 0u);
}

/* ---- Matrix instructions ----------------------------------------------------------------------------------- */

/* Formats that cbsz names for A and blgp for B (CDNA4 ISA guide, chapter 7): 2 and 3 are of 6 bits, which are refused.
 */
enum { FORMAT_FP8 = 0, FORMAT_BF8 = 1, FORMAT_FP4 = 4 };

/* The lane's row of A, or column of B, and of its sum the 32 places that begin with 32 (lane div side). */
typedef struct operand {
    double at[DEPTH_MAX][SIDE_MAX];
} operand;

static bool take_operand(isa_wave *wave, const isa_operand *from, unsigned format, unsigned side,
                         const uint32_t scales[LANES], operand *to) {
    unsigned words = format == FORMAT_FP4 ? 4 : 8;
    if ((format != FORMAT_FP8 && format != FORMAT_BF8 && format != FORMAT_FP4) || from->kind != ISA_OPERAND_VGPR ||
        from->count != words) {
        isa_give_up(wave, "unsupported-modifier",
                    "expected cbsz and blgp of 0 or 1 with eight registers, or 4 with four, got %u with %u", format,
                    from->count);
        return false;
    }
    for (unsigned word = 0; word < words; word++) {
        uint32_t room[ISA_LANES_MAX];
        const uint32_t *values = isa_read_lanes(wave, from, word, UINT64_MAX, room);
        unsigned count = OWN / words, bits = 32 / count; /* numbers of a word, and how long they are */
        for (unsigned lane = 0; lane < LANES; lane++) {
            const double scale = scale_of(scales[lane]);
            for (unsigned n = 0; n < count; n++) {
                uint32_t code = values[lane] >> n * bits & ((1u << bits) - 1);
                double value = format == FORMAT_FP4   ? fp4(code)
                               : format == FORMAT_FP8 ? fp8(code, 3, 7)
                                                      : fp8(code, 2, 15);
                to->at[lane / side * OWN + word * count + n][lane % side] = value * scale;
            }
        }
    }
    return true;
}

/* The byte that op_sel (its lower bit) and op_sel_hi (its upper one) choose. An op_sel_hi that the text leaves out is
 * all ones. */
static void take_scales(isa_wave *wave, const isa_instruction *i, unsigned source, uint32_t scales[LANES]) {
    uint32_t room[ISA_LANES_MAX];
    const uint32_t *words = isa_read_lanes(wave, &i->operands[4 + source], 0, UINT64_MAX, room);
    unsigned high = i->has_op_sel_hi ? i->op_sel_hi >> source & 1u : 1u;
    unsigned byte = (i->op_sel >> source & 1u) + 2 * high;
    for (unsigned lane = 0; lane < LANES; lane++) {
        scales[lane] = words[lane] >> (8 * byte) & 255u;
    }
}

static unsigned row_of(unsigned side, unsigned reg, unsigned lane) {
    return reg / 4 * (LANES / side * 4) + lane / side * 4 + reg % 4;
}

/* D = A B + C, each product with both of its scales. The guide gives no order of the additions: here they go up, each
 * rounded once to float32, as in the other matrix instructions; products are exact. */
static void multiply(isa_wave *wave, const isa_instruction *i, unsigned side, bool scaled) {
    operand a, b;
    uint32_t scales[2][LANES], d[RESULTS_MAX][LANES];
    unsigned depth = LANES / side * OWN, registers = side * side / LANES;
    uint64_t exec = isa_exec(wave);
    if (exec != UINT64_MAX) {
        isa_report(wave, __builtin_ctzll(~exec), "matrix-lanes-off",
                   "a matrix instruction needs every lane, EXEC is 0x%llx", (unsigned long long)exec);
    }
    if (i->abid != 0 || i->clamp || i->neg_lo != 0 || i->neg_hi != 0) {
        isa_give_up(wave, "unsupported-modifier", "expected no other modifiers than cbsz, blgp, op_sel and op_sel_hi");
        return;
    }
    for (unsigned source = 0; source < 2; source++) {
        if (scaled) {
            take_scales(wave, i, source, scales[source]);
        } else {
            for (unsigned lane = 0; lane < LANES; lane++) {
                scales[source][lane] = 127;
            }
        }
    }
    if (!take_operand(wave, &i->operands[1], i->cbsz, side, scales[0], &a) ||
        !take_operand(wave, &i->operands[2], i->blgp, side, scales[1], &b)) {
        return;
    }
    for (unsigned reg = 0; reg < registers; reg++) {
        uint32_t room[ISA_LANES_MAX];
        bool constant = i->operands[3].kind != ISA_OPERAND_VGPR;
        const uint32_t *c = isa_read_lanes(wave, &i->operands[3], constant ? 0 : reg, UINT64_MAX, room);
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned row = row_of(side, reg, lane);
            float sum = isa_f32(c[lane]);
            for (unsigned k = 0; k < depth; k++) {
                sum = (float)((double)sum + a.at[k][row] * b.at[k][lane % side]);
            }
            d[reg][lane] = isa_bits(sum);
        }
    }
    for (unsigned reg = 0; reg < registers && !wave->failed; reg++) {
        isa_write_lanes(wave, &i->operands[0], reg, UINT64_MAX, d[reg]);
    }
}

#define MATRIX(name, side, scaled)                                                                                     \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        multiply(wave, i, side, scaled);                                                                               \
    }
MATRIX(v_mfma_f32_16x16x128_f8f6f4, 16, false)
MATRIX(v_mfma_f32_32x32x64_f8f6f4, 32, false)
MATRIX(v_mfma_scale_f32_16x16x128_f8f6f4, 16, true)
MATRIX(v_mfma_scale_f32_32x32x64_f8f6f4, 32, true)

/* ---- Conversions ------------------------------------------------------------------------------------------- */

/* Of the float32 that is the scale only the exponent counts, which is a byte of E8M0 (CDNA4 ISA guide, chapter 12,
 * V_CVT_SCALEF32_…: numbers are multiplied by it, and divided by it on the way to fp4). */
static uint32_t scale_byte(uint32_t word) {
    return word >> 23 & 255u;
}

static uint32_t bfloat_of(double value) {
    return isa_float_to_bfloat((float)value); /* both are exact, or overflow alike */
}

static uint32_t half_of(double value) {
    return isa_half_of_double(value);
}

/* Two numbers of the byte that op_sel names, the lower nibble's in the lower half. */
static void from_fp4(isa_wave *wave, const isa_instruction *i, uint32_t (*encode)(double)) {
    uint32_t rooms[2][ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    unsigned byte = i->op_sel & 3u;
    const uint32_t *words = isa_read_lanes(wave, &i->operands[1], 0, exec, rooms[0]);
    const uint32_t *scales = isa_read_lanes(wave, &i->operands[2], 0, exec, rooms[1]);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        uint32_t pair = words[lane] >> (8 * byte) & 255u;
        double scale = scale_of(scale_byte(scales[lane]));
        values[lane] = encode(fp4(pair & 15u) * scale) | encode(fp4(pair >> 4) * scale) << 16;
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, values);
}

static void v_cvt_scalef32_pk_bf16_fp4(isa_wave *wave, const isa_instruction *i) {
    from_fp4(wave, i, bfloat_of);
}

static void v_cvt_scalef32_pk_f16_fp4(isa_wave *wave, const isa_instruction *i) {
    from_fp4(wave, i, half_of);
}

/* One byte of the result, which the upper two bits of op_sel name; the others stay. */
static void put_fp4(isa_wave *wave, const isa_instruction *i, float low[ISA_LANES_MAX], float high[ISA_LANES_MAX],
                    const uint32_t *scales) {
    uint32_t values[ISA_LANES_MAX];
    unsigned shift = 8 * (i->op_sel >> 2 & 3u);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        double scale = scale_of(scale_byte(scales[lane]));
        uint32_t pair = to_fp4((double)low[lane] / scale) | to_fp4((double)high[lane] / scale) << 4;
        values[lane] = (wave->vgpr[i->operands[0].reg][lane] & ~(255u << shift)) | pair << shift;
    }
    isa_write_lanes(wave, &i->operands[0], 0, isa_exec(wave), values);
}

static void v_cvt_scalef32_pk_fp4_f32(isa_wave *wave, const isa_instruction *i) {
    uint32_t room[ISA_LANES_MAX];
    float values[2][ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    for (unsigned source = 0; source < 2; source++) {
        memcpy(values[source], isa_read_float(wave, &i->operands[1 + source], exec, room), sizeof values[source]);
    }
    put_fp4(wave, i, values[0], values[1], isa_read_lanes(wave, &i->operands[3], 0, exec, room));
}

static void packed_to_fp4(isa_wave *wave, const isa_instruction *i, float (*decode)(uint32_t)) {
    uint32_t room[ISA_LANES_MAX];
    float values[2][ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    const uint32_t *pairs = isa_read_lanes(wave, &i->operands[1], 0, exec, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[0][lane] = decode(pairs[lane] & 0xffffu);
        values[1][lane] = decode(pairs[lane] >> 16);
    }
    put_fp4(wave, i, values[0], values[1], isa_read_lanes(wave, &i->operands[2], 0, exec, room));
}

static void v_cvt_scalef32_pk_fp4_f16(isa_wave *wave, const isa_instruction *i) {
    packed_to_fp4(wave, i, isa_half_to_float);
}

static void v_cvt_scalef32_pk_fp4_bf16(isa_wave *wave, const isa_instruction *i) {
    packed_to_fp4(wave, i, isa_bfloat_to_float);
}

/* ---- The table --------------------------------------------------------------------------------------------- */

#define ONLY_950 (ISA_GFX9 | ISA_GFX950)
#define MATRIX_ROW(name, operands)                                                                                     \
    { #name, operands, ISA_CLASS_MATRIX, NULL, name, ONLY_950, ISA_CDNA4_MFMA }
#define CONVERT(name, operands)                                                                                        \
    { #name, operands, ISA_CLASS_VALU, NULL, name, ONLY_950, ISA_CDNA4_VOP3 }

static const isa_row rows[] = {
    MATRIX_ROW(v_mfma_f32_16x16x128_f8f6f4, "Dv4 Sx Sx Sv4"),
    MATRIX_ROW(v_mfma_f32_32x32x64_f8f6f4, "Dv16 Sx Sx Sv16"),
    MATRIX_ROW(v_mfma_scale_f32_16x16x128_f8f6f4, "Dv4 Sx Sx Sv4 Sv Sv"),
    MATRIX_ROW(v_mfma_scale_f32_32x32x64_f8f6f4, "Dv16 Sx Sx Sv16 Sv Sv"),
    CONVERT(v_cvt_scalef32_pk_bf16_fp4, "Dv Sv Sv"),
    CONVERT(v_cvt_scalef32_pk_f16_fp4, "Dv Sv Sv"),
    CONVERT(v_cvt_scalef32_pk_fp4_f32, "Dv Sf Sf Sv"),
    CONVERT(v_cvt_scalef32_pk_fp4_f16, "Dv Sv Sv"),
    CONVERT(v_cvt_scalef32_pk_fp4_bf16, "Dv Sv Sv"),
};

const isa_table isa_table_scaled = {rows, sizeof rows / sizeof rows[0]};
