/* What conversions of 8-bit numbers must make, by gen/formats.c; and every byte in every place that an instruction can
 * name. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "formats.h"
#include "machine.h"
#include "rows.h"

static uint32_t code_of(double value, enum format format) {
    return format_encode(format, value, FORMAT_OVERFLOWS);
}

/* A NaN keeps its sign, and that of a scale has none. */
static uint32_t quotient_of(double value, uint32_t scale, enum format format) {
    double by = format_scale_decode(scale >> 23 & 0xff);
    return code_of(isnan(value) ? value : isnan(by) ? fabs(by) : value / by, format);
}

static uint64_t floats_of(uint32_t pair, enum format format, double scale) {
    return rows_float_bits((float)(format_decode(format, pair & 0xff) * scale)) |
           rows_float_bits((float)(format_decode(format, pair >> 8 & 0xff) * scale)) << 32;
}

static double scale_of(uint32_t bits) {
    return format_scale_decode(bits >> 23 & 0xff);
}

static uint32_t halves_of(uint32_t pair, enum format format, double scale) {
    uint32_t low = (uint32_t)rows_half_bits_once(format_decode(format, pair & 0xff) * scale);
    return low | (uint32_t)rows_half_bits_once(format_decode(format, pair >> 8 & 0xff) * scale) << 16;
}

/* A float32 times a power of two that has at most four bits is a bfloat16, or it rounds to one in its last bits. */
static uint32_t bfloat(double value) {
    float single = (float)value;
    double step = fabs(value) < 0x1p-126 ? 0x1p-133 : ldexp(1, isnan(value) || isinf(value) ? 0 : ilogb(value) - 7);
    return isnan(value) || isinf(value) ? (uint32_t)rows_float_bits(single) >> 16
                                        : (uint32_t)rows_float_bits((float)(rint(value / step) * step)) >> 16;
}

static uint32_t bfloats_of(uint32_t pair, enum format format, double scale) {
    return bfloat(format_decode(format, pair & 0xff) * scale) | bfloat(format_decode(format, pair >> 8 & 0xff) * scale)
                                                                    << 16;
}

#define CONVERSIONS(name, format)                                                                                      \
    ROWS_REFERENCE(ref_v_cvt_f32_##name, rows_float_bits((float)format_decode(format, a & 0xff)))                      \
    ROWS_REFERENCE(ref_v_cvt_pk_f32_##name, floats_of(a, format, 1))                                                   \
    ROWS_REFERENCE(ref_v_cvt_pk_##name##_f32, code_of((double)fa, format) | code_of((double)fb, format) << 8)
CONVERSIONS(fp8, FORMAT_E4M3)
CONVERSIONS(bf8, FORMAT_E5M2)
CONVERSIONS(fp8_fnuz, FORMAT_E4M3FNUZ)
CONVERSIONS(bf8_fnuz, FORMAT_E5M2FNUZ)
#define SCALED(name, format)                                                                                           \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_f32_##name, floats_of(a, format, scale_of(b)))                                \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_f16_##name, halves_of(a, format, scale_of(b)))                                \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_bf16_##name, bfloats_of(a, format, scale_of(b)))                              \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_##name##_f32,                                                                 \
                   quotient_of((double)fa, c, format) | quotient_of((double)fb, c, format) << 8)                       \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_##name##_f16,                                                                 \
                   quotient_of((double)ha, b, format) | quotient_of((double)rows_half(a >> 16), b, format) << 8)       \
    ROWS_REFERENCE(ref_v_cvt_scalef32_pk_##name##_bf16, quotient_of((double)rows_float(a << 16), b, format) |          \
                                                            quotient_of((double)rows_float(a & 0xffff0000), b, format) \
                                                                << 8)
SCALED(fp8, FORMAT_E4M3)
SCALED(bf8, FORMAT_E5M2)

#define ROWS(name)                                                                                                     \
    {"v_cvt_f32_" #name, ref_v_cvt_f32_##name, ROWS_F32},                                                              \
        {"v_cvt_pk_f32_" #name, ref_v_cvt_pk_f32_##name, ROWS_FLOATS},                                                 \
        {"v_cvt_pk_" #name "_f32", ref_v_cvt_pk_##name##_f32, ROWS_BITS},                                              \
        {"v_cvt_f32_" #name "@fnuz", ref_v_cvt_f32_##name##_fnuz, ROWS_F32},                                           \
        {"v_cvt_pk_f32_" #name "@fnuz", ref_v_cvt_pk_f32_##name##_fnuz, ROWS_FLOATS},                                  \
        {"v_cvt_pk_" #name "_f32@fnuz", ref_v_cvt_pk_##name##_fnuz_f32, ROWS_BITS},                                    \
        {"v_cvt_scalef32_pk_f32_" #name, ref_v_cvt_scalef32_pk_f32_##name, ROWS_FLOATS},                               \
        {"v_cvt_scalef32_pk_f16_" #name, ref_v_cvt_scalef32_pk_f16_##name, ROWS_PAIR},                                 \
        {"v_cvt_scalef32_pk_bf16_" #name, ref_v_cvt_scalef32_pk_bf16_##name, ROWS_BFLOATS},                            \
        {"v_cvt_scalef32_pk_" #name "_f32", ref_v_cvt_scalef32_pk_##name##_f32, ROWS_BITS},                            \
        {"v_cvt_scalef32_pk_" #name "_f16", ref_v_cvt_scalef32_pk_##name##_f16, ROWS_BITS}, {                          \
        "v_cvt_scalef32_pk_" #name "_bf16", ref_v_cvt_scalef32_pk_##name##_bf16, ROWS_BITS                             \
    }

static const rows_case list[] = {ROWS(fp8), ROWS(bf8)};
const rows_cases rows_of_fp8 = {list, sizeof list / sizeof list[0]};

/* Registers are checked in the disassembler's forms: of gfx9 SDWA, of gfx12 byte_sel and op_sel. */
static void try_bytes(const char *name, enum format format) {
    bool gfx9 = (machine_family()->bit & ISA_GFX9) != 0;
    const char *at_sign = strchr(name, '@');
    int length = (int)(at_sign != NULL ? (size_t)(at_sign - name) : strlen(name));
    for (unsigned byte = 0; byte < 4; byte++) {
        machine *m = machine_new(machine_least(), false);
        isa_wave *wave = machine_wave(m);
        char text[128];
        (void)length;
        snprintf(text, sizeof text, gfx9 ? "%s_sdwa v8, v4 src0_sel:BYTE_%u" : "%s_e64 v8, v4 byte_sel:%u", name, byte);
        machine_load(m, text);
        for (unsigned code = 0; code < 256; code += wave->lanes) {
            for (unsigned lane = 0; lane < wave->lanes; lane++) {
                wave->vgpr[4][lane] = (code + lane) << 8 * byte | (0xa5a5a5a5u & ~(0xffu << 8 * byte));
            }
            machine_step(m);
            for (unsigned lane = 0; lane < wave->lanes; lane++) {
                double value = format_decode(format, (uint8_t)(code + lane));
                uint32_t got = wave->vgpr[8][lane];
                cr_assert(isnan(value) ? isnan(rows_float(got)) : got == rows_float_bits((float)value), "%s: code %02x",
                          machine_text(m), code + lane);
            }
        }
        machine_free(m);
    }
}

ROWS_TEST(every_byte_in_every_place) {
    static const struct {
        const char *name;
        enum format format;
    } rows[] = {{"v_cvt_f32_fp8", FORMAT_E4M3},
                {"v_cvt_f32_bf8", FORMAT_E5M2},
                {"v_cvt_f32_fp8@fnuz", FORMAT_E4M3FNUZ},
                {"v_cvt_f32_bf8@fnuz", FORMAT_E5M2FNUZ}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (machine_has(rows[i].name)) {
            try_bytes(rows[i].name, rows[i].format);
        }
    }
}

/* Two neighbours: by SDWA on gfx9, where the result is two registers, by op_sel on gfx12. */
ROWS_TEST(every_pair_of_bytes) {
    static const char *const names[] = {"v_cvt_pk_f32_fp8", "v_cvt_pk_f32_fp8@fnuz"};
    for (size_t i = 0; i < 2; i++) {
        if (!machine_has(names[i])) {
            continue;
        }
        bool gfx9 = (machine_family()->bit & ISA_GFX9) != 0;
        char text[128];
        machine *m = machine_new(machine_least(), false);
        isa_wave *wave = machine_wave(m);
        wave->vgpr[4][3] = 0x3a450102;
        wave->vgpr[8][3] = wave->vgpr[9][3] = 7;
        snprintf(text, sizeof text, gfx9 ? "%s_sdwa v[8:9], v4 src0_sel:WORD_1" : "%s_e64 v[8:9], v4 op_sel:[1,0]",
                 names[i]);
        machine_run(m, text);
        enum format format = i == 0 ? FORMAT_E4M3 : FORMAT_E4M3FNUZ;
        cr_assert_eq(rows_float(wave->vgpr[8][3]), (float)format_decode(format, 0x45));
        cr_assert_eq(rows_float(wave->vgpr[9][3]), (float)format_decode(format, 0x3a));
        machine_free(m);
    }
}
