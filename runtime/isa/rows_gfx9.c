/* What gfx9 computes lane by lane and the later families do not: multiply-adds that round twice, pairs of float32,
 * integer dot products, and what gfx942 and gfx950 add. */
#include "checks.h"
#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* ---- Multiply-adds that round twice ------------------------------------------------------------------------ */

/* Product and sum are rounded each; denormals are zeros of their sign whatever MODE says (Vega ISA guide, 12.12,
 * V_MAD_F32; LLVM takes them for float32 where denormals are flushed, and in divisions of integers, which have none).
 */
static inline float multiply_add(float a, float b, float c) {
    volatile float product = isa_flush(isa_flush(a) * isa_flush(b)); /* not fused */
    return isa_flush(product + isa_flush(c));
}

ISA_FLOATS_3(v_mad_f32, multiply_add(fa, fb, fc))
ISA_FLOATS_3(v_mad_legacy_f32, fa == 0.0f || fb == 0.0f ? isa_flush(fc) : multiply_add(fa, fb, fc))

/* ---- Pairs of float32 -------------------------------------------------------------------------------------- */

/* The engine has put in place what op_sel, op_sel_hi and the sign modifiers ask for (role g). */
#define PAIR(function, expression)                                                                                     \
    static inline uint32_t function##_one(uint32_t a, uint32_t b, uint32_t c) {                                        \
        const float fa = isa_f32(a), fb = isa_f32(b), fc = isa_f32(c);                                                 \
        (void)fc;                                                                                                      \
        return isa_bits(expression);                                                                                   \
    }                                                                                                                  \
    static void function(const isa_lanes *x) {                                                                         \
        for (int lane = 0; lane < x->count; lane++) {                                                                  \
            const bool third = x->c != NULL;                                                                           \
            x->d[lane] = function##_one(x->a[lane], x->b[lane], third ? x->c[lane] : 0);                               \
            x->d_high[lane] = function##_one(x->a_high[lane], x->b_high[lane], third ? x->c_high[lane] : 0);           \
        }                                                                                                              \
    }
PAIR(v_pk_fma_f32, fmaf(fa, fb, fc))
PAIR(v_pk_mul_f32, fa *fb)
PAIR(v_pk_add_f32, fa + fb)

/* The low register comes from the first source and the high one from the second; op_sel says which of two each time
 * (CDNA3 ISA guide, 12.10, V_PK_MOV_B32; LLVM copies a pair with op_sel:[0,1]). */
static void v_pk_mov_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t rooms[2][ISA_LANES_MAX], low[ISA_LANES_MAX], high[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    isa_check_collect(wave);
    const uint32_t *first = isa_read_lanes(wave, &i->operands[1], i->op_sel & 1, exec, rooms[0]);
    uint64_t unwritten = isa_check_collected(wave);
    isa_check_collect(wave);
    const uint32_t *second = isa_read_lanes(wave, &i->operands[2], i->op_sel >> 1 & 1, exec, rooms[1]);
    uint64_t unwritten_high = isa_check_collected(wave);
    memcpy(low, first, sizeof low);
    memcpy(high, second, sizeof high);
    isa_write_lanes(wave, &i->operands[0], 0, exec, low);
    isa_write_lanes(wave, &i->operands[0], 1, exec, high);
    if (wave->checks != NULL && !wave->failed) {
        isa_check_vgpr_unwritten(wave, i->operands[0].reg, unwritten);
        isa_check_vgpr_unwritten(wave, i->operands[0].reg + 1u, unwritten_high);
    }
}

/* ---- 64 bits ----------------------------------------------------------------------------------------------- */

static void v_mov_b64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = x->a[lane];
        x->d_high[lane] = x->a_high[lane];
    }
}

static void v_lshl_add_u64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        uint64_t a = (uint64_t)x->a_high[lane] << 32 | x->a[lane], c = (uint64_t)x->c_high[lane] << 32 | x->c[lane];
        uint64_t sum = (a << (x->b[lane] & 7)) + c;
        x->d[lane] = (uint32_t)sum;
        x->d_high[lane] = (uint32_t)(sum >> 32);
    }
}

static void v_fmac_f64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        uint64_t bits = isa_bits64(fma(isa_f64(x->a[lane], x->a_high[lane]), isa_f64(x->b[lane], x->b_high[lane]),
                                       isa_f64(x->c[lane], x->c_high[lane])));
        x->d[lane] = (uint32_t)bits;
        x->d_high[lane] = (uint32_t)(bits >> 32);
    }
}

/* ---- Dot products of integers ------------------------------------------------------------------------------ */

static inline uint32_t signed_dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits) {
    for (unsigned at = 0; at < 32; at += bits) {
        int32_t p = (int32_t)(a << (32 - at - bits)) >> (32 - bits),
                q = (int32_t)(b << (32 - at - bits)) >> (32 - bits);
        c += (uint32_t)(p * q);
    }
    return c;
}

static inline uint32_t unsigned_dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits) {
    uint32_t mask = (1u << bits) - 1;
    for (unsigned at = 0; at < 32; at += bits) {
        c += (a >> at & mask) * (b >> at & mask);
    }
    return c;
}

ISA_LANES_3(v_dot2_i32_i16, signed_dot(a, b, c, 16))
ISA_LANES_3(v_dot4_i32_i8, signed_dot(a, b, c, 8))
ISA_LANES_3(v_dot8_i32_i4, signed_dot(a, b, c, 4))
ISA_LANES_3(v_dot2_u32_u16, unsigned_dot(a, b, c, 16))

/* ---- gfx950 ------------------------------------------------------------------------------------------------ */

ISA_LANES_2(v_cvt_pk_bf16_f32, isa_float_to_bfloat(isa_f32(a)) | isa_float_to_bfloat(isa_f32(b)) << 16)
ISA_LANES_2(v_cvt_pk_f16_f32, isa_float_to_half(isa_f32(a)) | isa_float_to_half(isa_f32(b)) << 16)
ISA_LANES_1(v_cvt_f32_bf16, (a & 0xffffu) << 16)

/* The later families subtract 16 bits in VOP3 alone, where no other order of the sources is needed. */
ISA_LANES_2(v_subrev_u16, (b - a) & 0xffff)

/* Bit n of the result is the bit of the table that the sources' bits n name, the first source's weighing 4. */
static void v_bitop3_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t rooms[3][ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    const uint32_t *a = isa_read_lanes(wave, &i->operands[1], 0, exec, rooms[0]);
    const uint32_t *b = isa_read_lanes(wave, &i->operands[2], 0, exec, rooms[1]);
    const uint32_t *c = isa_read_lanes(wave, &i->operands[3], 0, exec, rooms[2]);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = 0;
        for (unsigned row = 0; row < 8; row++) {
            uint32_t chosen =
                (row & 4 ? a[lane] : ~a[lane]) & (row & 2 ? b[lane] : ~b[lane]) & (row & 1 ? c[lane] : ~c[lane]);
            values[lane] |= (i->bitop3 >> row & 1) != 0 ? chosen : 0;
        }
    }
    isa_write_lanes(wave, &i->operands[0], 0, exec, values);
}

/* ---- The table --------------------------------------------------------------------------------------------- */

#define V        ISA_CLASS_VALU
#define TO_90A   (ISA_GFX9 | ISA_GFX906 | ISA_GFX908 | ISA_GFX90A)
#define FROM_908 (ISA_GFX9 | ISA_GFX908 | ISA_GFX90A | ISA_GFX942 | ISA_GFX950)
#define FROM_90A (ISA_GFX9 | ISA_GFX90A | ISA_GFX942 | ISA_GFX950)
#define FROM_942 (ISA_GFX9 | ISA_GFX942 | ISA_GFX950)
#define ONLY_950 (ISA_GFX9 | ISA_GFX950)
#define SAME(name, operands, function, families, source)                                                               \
    { name, operands, V, function, NULL, families, source }

static const isa_row rows[] = {
    ISA_ROW(v_mad_f32, "Df Sf Sf Sf", V, TO_90A, ISA_VEGA_VOP3),
    ISA_ROW(v_mad_legacy_f32, "Df Sf Sf Sf", V, TO_90A, ISA_VEGA_VOP3),
    SAME("v_mac_f32", "Bf Sf Sf", v_mad_f32, TO_90A, ISA_VEGA_VOP2),
    SAME("v_madak_f32", "Df Sf Sf Sf", v_mad_f32, TO_90A, ISA_VEGA_VOP2),
    SAME("v_madmk_f32", "Df Sf Sf Sf", v_mad_f32, TO_90A, ISA_VEGA_VOP2),
    ISA_ROW(v_pk_fma_f32, "Dg Sg Sg Sg", V, FROM_90A, ISA_CDNA3_VOP3P),
    ISA_ROW(v_pk_mul_f32, "Dg Sg Sg", V, FROM_90A, ISA_CDNA3_VOP3P),
    ISA_ROW(v_pk_add_f32, "Dg Sg Sg", V, FROM_90A, ISA_CDNA3_VOP3P),
    {"v_pk_mov_b32", "Dv2 Sx Sx", V, NULL, v_pk_mov_b32, FROM_90A, ISA_CDNA3_VOP3P},
    ISA_ROW(v_mov_b64, "Dv2 Sv2", V, FROM_942, ISA_CDNA3_VOP1),
    ISA_ROW(v_subrev_u16, "Dh Sh Sh", V, ISA_GFX9, ISA_VEGA_VOP2),
    ISA_ROW(v_lshl_add_u64, "Dv2 Sv2 Sv Sv2", V, FROM_942, ISA_CDNA3_VOP3),
    ISA_ROW(v_fmac_f64, "Bd Sd Sd", V, FROM_90A, ISA_CDNA3_VOP2),
    ISA_ROW(v_dot2_i32_i16, "Dv Sp Sp Sv", V, ISA_GFX9, ISA_VEGA_VOP3P),
    ISA_ROW(v_dot2_u32_u16, "Dv Sp Sp Sv", V, ISA_GFX9, ISA_VEGA_VOP3P),
    ISA_ROW(v_dot4_i32_i8, "Dv Sv Sv Sv", V, ISA_GFX9, ISA_VEGA_VOP3P),
    ISA_ROW(v_dot8_i32_i4, "Dv Sv Sv Sv", V, ISA_GFX9, ISA_VEGA_VOP3P),
    SAME("v_dot2c_i32_i16", "Bv Sp Sp", v_dot2_i32_i16, FROM_908, ISA_CDNA3_VOP2),
    SAME("v_dot4c_i32_i8", "Bv Sv Sv", v_dot4_i32_i8, FROM_908, ISA_CDNA3_VOP2),
    ISA_ROW(v_cvt_pk_bf16_f32, "Dv Sf Sf", V, ONLY_950, ISA_CDNA4_VOP3),
    ISA_ROW(v_cvt_pk_f16_f32, "Dv Sf Sf", V, ONLY_950, ISA_CDNA4_VOP3),
    ISA_ROW(v_cvt_f32_bf16, "Df Sh", V, ONLY_950, ISA_CDNA4_VOP1),
    {"v_bitop3_b32", "Dx Sx Sx Sx", V, NULL, v_bitop3_b32, ONLY_950, ISA_CDNA4_VOP3},
};

const isa_table isa_table_gfx9 = {rows, sizeof rows / sizeof rows[0]};
