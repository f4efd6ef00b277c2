/* Two 16-bit values of each lane at once, and dot products (VOP3P). */
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* ---- Packed ---------------------------------------------------------------------------------------------- */

/* The engine has put in place what op_sel, op_sel_hi and the sign modifiers ask for: `a`, `b` and `c` of the expression
 * are the low halves, then the high ones. The result is a 16-bit value. */
#define PACKED(function, expression)                                                                                   \
    static inline uint32_t function##_one(uint32_t a, uint32_t b, uint32_t c) {                                        \
        (void)b, (void)c;                                                                                              \
        return (expression)&0xffffu;                                                                                   \
    }                                                                                                                  \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const uint32_t a = x->a[lane], b = x->b[lane], c = x->c != NULL ? x->c[lane] : 0;                          \
            x->d[lane] =                                                                                               \
                function##_one(a & 0xffff, b & 0xffff, c & 0xffff) | function##_one(a >> 16, b >> 16, c >> 16) << 16;  \
        }                                                                                                              \
    }

static inline uint32_t saturate_i16(int32_t value) {
    return (uint32_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

static inline float clamp(float value) {
    return value > 1.0f ? 1.0f : value > 0.0f ? value : 0.0f;
}

static inline float number(uint32_t half) {
    return isa_half_to_float(half);
}

PACKED(v_pk_add_u16, a + b)
PACKED(v_pk_sub_u16, a - b)
PACKED(v_pk_mul_lo_u16, a *b)
PACKED(v_pk_mad_u16, a *b + c)
PACKED(v_pk_add_u16_clamp, a + b > 0xffff ? 0xffff : a + b)
PACKED(v_pk_sub_u16_clamp, a > b ? a - b : 0)
PACKED(v_pk_add_i16_clamp, saturate_i16((int16_t)a + (int16_t)b))
PACKED(v_pk_sub_i16_clamp, saturate_i16((int16_t)a - (int16_t)b))
PACKED(v_pk_lshlrev_b16, b << (a & 15))
PACKED(v_pk_lshrrev_b16, b >> (a & 15))
PACKED(v_pk_ashrrev_i16, (uint32_t)((int32_t)(int16_t)b >> (a & 15)))
PACKED(v_pk_max_i16, (int16_t)a >= (int16_t)b ? a : b)
PACKED(v_pk_min_i16, (int16_t)a < (int16_t)b ? a : b)
PACKED(v_pk_max_u16, a >= b ? a : b)
PACKED(v_pk_min_u16, a < b ? a : b)
PACKED(v_pk_add_f16, isa_float_to_half(number(a) + number(b)))
PACKED(v_pk_mul_f16, isa_float_to_half(number(a) * number(b)))
PACKED(v_pk_max_f16, isa_float_to_half(isa_maximum(number(a), number(b))))
PACKED(v_pk_min_f16, isa_float_to_half(isa_minimum(number(a), number(b))))
PACKED(v_pk_fma_f16, isa_half_fma(a, b, c))
PACKED(v_pk_add_f16_clamp, isa_float_to_half(clamp(number(a) + number(b))))
PACKED(v_pk_mul_f16_clamp, isa_float_to_half(clamp(number(a) * number(b))))
PACKED(v_pk_fma_f16_clamp, isa_float_to_half(clamp(isa_half_to_float(isa_half_fma(a, b, c)))))

/* ---- Dot products ---------------------------------------------------------------------------------------- */

/* The guide's order: the third operand, plus the low product, plus the high one; products of 16-bit floats are exact in
 * float32, each addition is rounded. */
static void v_dot2_f32_f16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        const uint32_t a = x->a[lane], b = x->b[lane];
        float sum = isa_f32(x->c[lane]);
        sum += number(a & 0xffff) * number(b & 0xffff);
        sum += number(a >> 16) * number(b >> 16);
        x->d[lane] = isa_bits(sum);
    }
}

static void v_dot2_f32_bf16(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        const uint32_t a = x->a[lane], b = x->b[lane];
        float sum = isa_f32(x->c[lane]);
        sum += isa_bfloat_to_float(a & 0xffff) * isa_bfloat_to_float(b & 0xffff);
        sum += isa_bfloat_to_float(a >> 16) * isa_bfloat_to_float(b >> 16);
        x->d[lane] = isa_bits(sum);
    }
}

/* Parts of so many bits, signed as neg_lo says of either source. */
static int32_t part(uint32_t word, unsigned at, unsigned bits, bool is_signed) {
    uint32_t top = word << (32 - at - bits);
    return is_signed ? (int32_t)top >> (32 - bits) : (int32_t)(top >> (32 - bits));
}

static void integer_dot(isa_wave *wave, const isa_instruction *i, unsigned bits, bool signed_a, bool signed_b) {
    uint32_t rooms[3][ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    if (i->clamp || i->op_sel != 0 || (i->has_op_sel_hi && i->op_sel_hi != 7)) {
        isa_give_up(wave, "unsupported-modifier", "modifiers of integer dot products are not known");
        return;
    }
    const uint32_t *a = isa_read_lanes(wave, &i->operands[1], 0, exec, rooms[0]);
    const uint32_t *b = isa_read_lanes(wave, &i->operands[2], 0, exec, rooms[1]);
    const uint32_t *c = isa_read_lanes(wave, &i->operands[3], 0, exec, rooms[2]);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        uint32_t sum = c[lane];
        for (unsigned at = 0; at < 32; at += bits) {
            sum += (uint32_t)(part(a[lane], at, bits, signed_a) * part(b[lane], at, bits, signed_b));
        }
        values[lane] = sum;
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, values);
}

static void v_dot4_i32_iu8(isa_wave *wave, const isa_instruction *i) {
    integer_dot(wave, i, 8, (i->neg_lo & 1) != 0, (i->neg_lo & 2) != 0);
}

static void v_dot8_i32_iu4(isa_wave *wave, const isa_instruction *i) {
    integer_dot(wave, i, 4, (i->neg_lo & 1) != 0, (i->neg_lo & 2) != 0);
}

static void v_dot4_u32_u8(isa_wave *wave, const isa_instruction *i) {
    integer_dot(wave, i, 8, false, false);
}

static void v_dot8_u32_u4(isa_wave *wave, const isa_instruction *i) {
    integer_dot(wave, i, 4, false, false);
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define V        ISA_CLASS_VALU
#define I2(name) ISA_ROW(name, "Dp Sp Sp", V, ISA_GFX11, ISA_VOP3P)
#define F2(name) ISA_ROW(name, "Dq Sq Sq", V, ISA_GFX11, ISA_VOP3P)
#define SAME(name, operands, function, source)                                                                         \
    { name, operands, V, function, NULL, ISA_GFX11, source }
#define DOT(name)                                                                                                      \
    { #name, "Dx Sv Sv Sv", V, NULL, name, ISA_GFX11, ISA_VOP3P }

static const isa_row rows[] = {
    I2(v_pk_add_u16),
    I2(v_pk_sub_u16),
    SAME("v_pk_add_i16", "Dp Sp Sp", v_pk_add_u16, ISA_VOP3P),
    SAME("v_pk_sub_i16", "Dp Sp Sp", v_pk_sub_u16, ISA_VOP3P),
    SAME("v_pk_add_u16 clamp", "Dp Sp Sp", v_pk_add_u16_clamp, ISA_VOP3P),
    SAME("v_pk_sub_u16 clamp", "Dp Sp Sp", v_pk_sub_u16_clamp, ISA_VOP3P),
    SAME("v_pk_add_i16 clamp", "Dp Sp Sp", v_pk_add_i16_clamp, ISA_VOP3P),
    SAME("v_pk_sub_i16 clamp", "Dp Sp Sp", v_pk_sub_i16_clamp, ISA_VOP3P),
    I2(v_pk_mul_lo_u16),
    ISA_ROW(v_pk_mad_u16, "Dp Sp Sp Sp", V, ISA_GFX11, ISA_VOP3P),
    SAME("v_pk_mad_i16", "Dp Sp Sp Sp", v_pk_mad_u16, ISA_VOP3P),
    I2(v_pk_lshlrev_b16),
    I2(v_pk_lshrrev_b16),
    I2(v_pk_ashrrev_i16),
    I2(v_pk_max_i16),
    I2(v_pk_min_i16),
    I2(v_pk_max_u16),
    I2(v_pk_min_u16),
    F2(v_pk_add_f16),
    F2(v_pk_mul_f16),
    F2(v_pk_max_f16),
    F2(v_pk_min_f16),
    ISA_ROW(v_pk_fma_f16, "Dq Sq Sq Sq", V, ISA_GFX11, ISA_VOP3P),
    SAME("v_pk_fmac_f16", "Bq Sq Sq", v_pk_fma_f16, ISA_VOP2),
    SAME("v_pk_add_f16 clamp", "Dq Sq Sq", v_pk_add_f16_clamp, ISA_VOP3P),
    SAME("v_pk_mul_f16 clamp", "Dq Sq Sq", v_pk_mul_f16_clamp, ISA_VOP3P),
    SAME("v_pk_fma_f16 clamp", "Dq Sq Sq Sq", v_pk_fma_f16_clamp, ISA_VOP3P),
    ISA_ROW(v_dot2_f32_f16, "Df Sq Sq Sf", V, ISA_GFX11, ISA_VOP3P),
    SAME("v_dot2c_f32_f16", "Bf Sq Sq", v_dot2_f32_f16, ISA_VOP2),
    SAME("v_dot2acc_f32_f16", "Bf Sq Sq", v_dot2_f32_f16, ISA_VOP2),
    ISA_ROW(v_dot2_f32_bf16, "Df Sw Sw Sf", V, ISA_GFX11, ISA_VOP3P),
    SAME("v_dot2acc_f32_bf16", "Bf Sw Sw", v_dot2_f32_bf16, ISA_VOP3P),
    DOT(v_dot4_i32_iu8),
    DOT(v_dot4_u32_u8),
    DOT(v_dot8_i32_iu4),
    DOT(v_dot8_u32_u4),
};

const isa_table isa_table_packed = {rows, sizeof rows / sizeof rows[0]};
