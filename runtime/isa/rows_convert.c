/* Conversions, and the mixed-precision fused multiply-adds. */
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* Float to integer: truncated, saturated, NaN is 0. */
static inline uint32_t to_u32(float value) {
    return value >= 4294967296.0f ? UINT32_MAX : value > 0.0f ? (uint32_t)value : 0;
}

static inline uint32_t to_i32(float value) {
    return value >= 2147483648.0f    ? (uint32_t)INT32_MAX
           : value <= -2147483648.0f ? (uint32_t)INT32_MIN
           : value == value          ? (uint32_t)(int32_t)value
                                     : 0;
}

ISA_FLOATS_1(v_cvt_f32_i32, (float)(int32_t)isa_bits(fa))
ISA_FLOATS_1(v_cvt_f32_u32, (float)isa_bits(fa))
ISA_LANES_1(v_cvt_i32_f32, to_i32(isa_f32(a)))
ISA_LANES_1(v_cvt_u32_f32, to_u32(isa_f32(a)))
ISA_LANES_1(v_cvt_nearest_i32_f32, to_i32(floorf(isa_f32(a) + 0.5f)))
ISA_LANES_1(v_cvt_floor_i32_f32, to_i32(floorf(isa_f32(a))))
ISA_LANES_1(v_cvt_f32_f16, isa_bits(isa_half_to_float(a)))
ISA_LANES_1(v_cvt_f16_f32, isa_float_to_half(isa_f32(a)))
ISA_FLOATS_1(v_cvt_f32_ubyte0, (float)(isa_bits(fa) & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte1, (float)(isa_bits(fa) >> 8 & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte2, (float)(isa_bits(fa) >> 16 & 0xff))
ISA_FLOATS_1(v_cvt_f32_ubyte3, (float)(isa_bits(fa) >> 24))
ISA_LANES_2(v_cvt_pk_rtz_f16_f32, isa_float_to_half_truncated(isa_f32(a)) | isa_float_to_half_truncated(isa_f32(b))
                                                                                << 16)
ISA_LANES_2(v_pack_b32_f16, (a & 0xffff) | b << 16)

/* To 16 bits: truncated, saturated, NaN is 0. */
static inline uint32_t to_u16(float value) {
    return value >= 65535.0f ? UINT16_MAX : value > 0.0f ? (uint32_t)value : 0;
}

static inline uint32_t to_i16(float value) {
    return (value >= 32767.0f    ? (uint32_t)INT16_MAX
            : value <= -32768.0f ? (uint32_t)INT16_MIN
            : value == value     ? (uint32_t)(int32_t)value
                                 : 0) &
           0xffff;
}

static inline uint32_t narrow_i16(uint32_t value) {
    int32_t number = (int32_t)value;
    return (uint32_t)(number > INT16_MAX ? INT16_MAX : number < INT16_MIN ? INT16_MIN : number) & 0xffff;
}

static inline uint32_t narrow_u16(uint32_t value) {
    return value > UINT16_MAX ? UINT16_MAX : value;
}

static inline uint32_t narrow_u8(uint32_t value) {
    int16_t number = (int16_t)value;
    return number <= 0 ? 0 : number >= 255 ? 255 : (uint32_t)number;
}

ISA_LANES_1(v_cvt_f16_u16, isa_float_to_half((float)a))
ISA_LANES_1(v_cvt_f16_i16, isa_float_to_half((float)(int16_t)a))
ISA_LANES_1(v_cvt_u16_f16, to_u16(isa_half_to_float(a)))
ISA_LANES_1(v_cvt_i16_f16, to_i16(isa_half_to_float(a)))
ISA_LANES_1(v_cvt_i32_i16, (uint32_t)(int32_t)(int16_t)a)
ISA_LANES_1(v_cvt_u32_u16, a)
ISA_LANES_1(v_cvt_off_f32_i4, isa_bits((float)((int32_t)(a << 28) >> 28) * 0.0625f))
ISA_LANES_1(v_sat_pk_u8_i16, narrow_u8(a) | narrow_u8(a >> 16) << 8)
ISA_LANES_2(v_cvt_pk_i16_f32, to_i16(isa_f32(a)) | to_i16(isa_f32(b)) << 16)
ISA_LANES_2(v_cvt_pk_u16_f32, to_u16(isa_f32(a)) | to_u16(isa_f32(b)) << 16)
ISA_LANES_2(v_cvt_pk_i16_i32, narrow_i16(a) | narrow_i16(b) << 16)
ISA_LANES_2(v_cvt_pk_u16_u32, narrow_u16(a) | narrow_u16(b) << 16)

/* ---- v_fma_mix: each source is a float32, or one of two float16 ------------------------------------------ */

/* op_sel_hi: the source is a float16; op_sel: its upper half. neg_hi is used as abs, neg_lo as neg, and the assembler
 * writes them as -|v1|. */
static void read_mixed(isa_wave *wave, const isa_instruction *i, unsigned source, float values[ISA_LANES_MAX]) {
    uint32_t room[ISA_LANES_MAX];
    isa_operand plain = i->operands[source + 1];
    bool half = i->has_op_sel_hi && (i->op_sel_hi >> source & 1) != 0, high = (i->op_sel >> source & 1) != 0;
    bool neg = plain.neg, abs = plain.abs;
    plain.neg = plain.abs = false;
    if (half && plain.kind == ISA_OPERAND_CONSTANT) { /* a half constant */
        plain.half = 0;
        const uint32_t *bits = isa_read_half(wave, i, &plain, source, false, isa_exec(wave), room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = isa_half_to_float(bits[lane]);
        }
    } else {
        const uint32_t *bits = isa_read_lanes(wave, &plain, 0, isa_exec(wave), room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = half ? isa_half_to_float(bits[lane] >> (high ? 16 : 0) & 0xffff) : isa_f32(bits[lane]);
        }
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = abs ? fabsf(values[lane]) : values[lane];
        values[lane] = neg ? -values[lane] : values[lane];
    }
}

static void mix(isa_wave *wave, const isa_instruction *i, float values[ISA_LANES_MAX]) {
    float a[ISA_LANES_MAX], b[ISA_LANES_MAX], c[ISA_LANES_MAX];
    read_mixed(wave, i, 0, a);
    read_mixed(wave, i, 1, b);
    read_mixed(wave, i, 2, c);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = fmaf(a[lane], b[lane], c[lane]);
        if (i->clamp) {
            values[lane] = values[lane] > 1.0f ? 1.0f : values[lane] > 0.0f ? values[lane] : 0.0f;
        }
    }
}

static void v_fma_mix_f32(isa_wave *wave, const isa_instruction *i) {
    float values[ISA_LANES_MAX];
    uint32_t bits[ISA_LANES_MAX];
    mix(wave, i, values);
    memcpy(bits, values, wave->lanes * sizeof bits[0]);
    isa_write_lanes(wave, &i->operands[0], 0, isa_exec(wave), bits);
}

/* The float32 result, rounded once more to float16 (the guide: the fused multiply-add is done in float32). */
static void mix_half(isa_wave *wave, const isa_instruction *i, uint8_t half) {
    float values[ISA_LANES_MAX];
    uint32_t bits[ISA_LANES_MAX];
    isa_operand to = i->operands[0];
    to.half = half;
    mix(wave, i, values);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        bits[lane] = isa_float_to_half(values[lane]);
    }
    isa_write_half(wave, i, &to, isa_exec(wave), bits);
}

static void v_fma_mixlo_f16(isa_wave *wave, const isa_instruction *i) {
    mix_half(wave, i, 1);
}

static void v_fma_mixhi_f16(isa_wave *wave, const isa_instruction *i) {
    mix_half(wave, i, 2);
}

#define V ISA_CLASS_VALU
#define MIX(name)                                                                                                      \
    { #name, "Dx Sx Sx Sx", V, NULL, name, ISA_GFX11, ISA_VOP3P }

static const isa_row rows[] = {
    ISA_ROW(v_cvt_f32_i32, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_u32, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_i32_f32, "Dv Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_u32_f32, "Dv Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_nearest_i32_f32, "Dv Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_floor_i32_f32, "Dv Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_f16, "Df Sk", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f16_f32, "Dk Sf", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_ubyte0, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_ubyte1, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_ubyte2, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f32_ubyte3, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_pk_rtz_f16_f32, "Dv Sf Sf", V, ISA_GFX11, ISA_VOP2),
    ISA_ROW(v_pack_b32_f16, "Dv Sk Sk", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_cvt_f16_u16, "Dk Sh", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_f16_i16, "Dk Sh", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_u16_f16, "Dh Sk", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_i16_f16, "Dh Sk", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_i32_i16, "Dv Sh", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_u32_u16, "Dv Sh", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_off_f32_i4, "Df Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_sat_pk_u8_i16, "Dh Sv", V, ISA_GFX11, ISA_VOP1),
    ISA_ROW(v_cvt_pk_i16_f32, "Dv Sf Sf", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_cvt_pk_u16_f32, "Dv Sf Sf", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_cvt_pk_i16_i32, "Dv Sv Sv", V, ISA_GFX11, ISA_VOP3),
    ISA_ROW(v_cvt_pk_u16_u32, "Dv Sv Sv", V, ISA_GFX11, ISA_VOP3),
    MIX(v_fma_mix_f32),
    MIX(v_fma_mixlo_f16),
    MIX(v_fma_mixhi_f16),
};

const isa_table isa_table_convert = {rows, sizeof rows / sizeof rows[0]};
