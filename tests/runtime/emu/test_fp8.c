/* Matrix instructions of 8-bit numbers against the table of layouts, and the conversions against gen/formats.c. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_test.h"

/* ---- Matrix instructions ------------------------------------------------------------------------------------------
 */

#define MFMA(gfx, shape, size, k, types, of_a, of_b)                                                                   \
    {                                                                                                                  \
        .chip = gfx, .builtin = "__builtin_amdgcn_mfma_f32_" shape types, .element = "unsigned char",                  \
        .further = ", 0, 0, 0", .family = "cdna3", .ab = "v_mfma_f32_" shape "fp8_fp8",                                \
        .d = "v_mfma_f32_" shape "fp8_fp8", .wave = 64, .side = size, .depth = k, .copies = 1, .packed = "long",       \
        .formats = {                                                                                                   \
            of_a,                                                                                                      \
            of_b                                                                                                       \
        }                                                                                                              \
    }
#define CHIP(gfx, shape, size, k, fp8, bf8)                                                                            \
    MFMA(gfx, shape, size, k, "fp8_fp8", fp8, fp8), MFMA(gfx, shape, size, k, "fp8_bf8", fp8, bf8),                    \
        MFMA(gfx, shape, size, k, "bf8_fp8", bf8, fp8), MFMA(gfx, shape, size, k, "bf8_bf8", bf8, bf8)
#define WMMA(lanes, take, types, of_a, of_b)                                                                           \
    {                                                                                                                  \
        .chip = "gfx1201", .builtin = "__builtin_amdgcn_wmma_f32_16x16x16_" types "_w" #lanes "_gfx12",                \
        .element = "unsigned char", .further = "", .family = "rdna4", .ab = "v_wmma_f32_16x16x16_fp8_fp8",             \
        .d = "v_wmma_f32_16x16x16_fp8_fp8", .wave = lanes, .side = 16, .depth = 16, .copies = 1, .packed = take,       \
        .formats = {                                                                                                   \
            of_a,                                                                                                      \
            of_b                                                                                                       \
        }                                                                                                              \
    }
#define WMMAS(lanes, take)                                                                                             \
    WMMA(lanes, take, "fp8_fp8", FORMAT_E4M3, FORMAT_E4M3), WMMA(lanes, take, "fp8_bf8", FORMAT_E4M3, FORMAT_E5M2),    \
        WMMA(lanes, take, "bf8_fp8", FORMAT_E5M2, FORMAT_E4M3), WMMA(lanes, take, "bf8_bf8", FORMAT_E5M2, FORMAT_E5M2)

static const matrix_form forms[] = {
    CHIP("gfx942", "16x16x32_", 16, 32, FORMAT_E4M3FNUZ, FORMAT_E5M2FNUZ),
    CHIP("gfx942", "32x32x16_", 32, 16, FORMAT_E4M3FNUZ, FORMAT_E5M2FNUZ),
    CHIP("gfx950", "16x16x32_", 16, 32, FORMAT_E4M3, FORMAT_E5M2),
    CHIP("gfx950", "32x32x16_", 32, 16, FORMAT_E4M3, FORMAT_E5M2),
    WMMAS(32, "int __attribute__((ext_vector_type(2)))"),
    WMMAS(64, "int"),
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Every code occurs. */
Test(fp8, all_bit_patterns) {
    for (int i = 0; i < FORMS; i++) {
        matrix_check_random(&forms[i], 0xff);
    }
}

/* Of each shape the first form and one whose A and B are of different formats. */
static void check(void (*check_form)(const matrix_form *form), int from) {
    for (int i = from; i < FORMS; i += 4) {
        check_form(&forms[i]);
    }
}

Test(fp8, impulses) {
    check(matrix_check_impulses, 0);
}

/* Neither infinities nor NaN: below the exponent's highest bit all numbers are finite. */
static void check_rounding(const matrix_form *form) {
    matrix_check_random(form, 0x3f);
}

Test(fp8, rounding) {
    check(check_rounding, 2);
}

Test(fp8, c_passes_through) {
    check(matrix_check_c, 0);
}

Test(fp8, nan_and_infinity_reach_what_they_must) {
    check(matrix_check_nan_and_infinity, 1);
}

/* ---- Conversions --------------------------------------------------------------------------------------------------
 */

typedef struct chip {
    const char *name;
    int wave;
    enum format formats[2]; /* of what its mnemonics call fp8 and bf8 */
} chip;

static const chip chips[] = {{"gfx942", 64, {FORMAT_E4M3FNUZ, FORMAT_E5M2FNUZ}},
                             {"gfx950", 64, {FORMAT_E4M3, FORMAT_E5M2}},
                             {"gfx1201", 32, {FORMAT_E4M3, FORMAT_E5M2}}};
enum { CHIPS = sizeof chips / sizeof chips[0] };

static const char *const words[2] = {"fp8", "bf8"};

/* One kernel, whose work items each have words of `in` and of `out`. TYPE is fp8 or bf8. */
static void run(const chip *on, int type, const char *body, uint32_t *in, size_t per_in, uint32_t *out, size_t per_out,
                size_t items) {
    char text[4096];
    emu_test test = emu_test_open(on->name);
    struct {
        const void *in;
        void *out;
    } arguments;
    snprintf(text, sizeof text,
             "#define JOIN_(a, b, c) a##b##c\n#define JOIN(a, b, c) JOIN_(a, b, c)\n#define TYPE %s\n"
             "#define TO(kind, ...) JOIN(__builtin_amdgcn_cvt_##kind, TYPE, )(__VA_ARGS__)\n"
             "#define FROM(before, ...) JOIN(__builtin_amdgcn_cvt_##before, TYPE, _f32)(__VA_ARGS__)\n"
             "template <class T> static unsigned bits_of(T x) { return __builtin_bit_cast(unsigned, x); }\n"
             "#define BITS(x) bits_of(x) /* clang takes the first element for any other of a vector */\n#define "
             "FLOAT(x) __builtin_bit_cast(float, x)\n"
             "typedef float float2_ __attribute__((ext_vector_type(2)));\n"
             "typedef short short2_ __attribute__((ext_vector_type(2)));\n"
             "typedef _Float16 half2_ __attribute__((ext_vector_type(2)));\n"
             "typedef __bf16 bf2_ __attribute__((ext_vector_type(2)));\n"
             "struct arguments { const unsigned *in; unsigned *out; };\n"
             "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
             "    const unsigned at = blockIdx.x * %d + threadIdx.x;\n"
             "    const unsigned *in = p.in + at * %zu;\n    unsigned *out = p.out + at * %zu;\n%s}\n",
             words[type], on->wave, per_in, per_out, body);
    void *kernel = emu_test_kernel(&test, text, "fp8.hip", on->wave);
    arguments.in = emu_test_buffer(&test, items * per_in * 4, "in", in);
    arguments.out = emu_test_buffer(&test, items * per_out * 4, "out", NULL);
    cr_assert(eq(int,
                 emu_test_run(&test, kernel, (uint32_t)(items / (size_t)on->wave), (uint32_t)on->wave, &arguments,
                              sizeof arguments),
                 FMHA_OK),
              "%s", fmha_last_error());
    emu_test_read(&test, arguments.out, out, items * per_out * 4);
    emu_test_close(&test);
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void expect(uint32_t got, double value, const char *what, unsigned code) {
    int same = isnan(value) ? isnan(float_of(got)) : got == bits_of((float)value);
    cr_assert(eq(int, same, 1), "%s, code %02x: expected %a, got %a", what, code, value, (double)float_of(got));
}

/* Every byte in every place. */
Test(fp8, conversions_to_float) {
    enum { ITEMS = 256, OUT = 8 };
    static uint32_t in[ITEMS], out[ITEMS * OUT];
    for (unsigned i = 0; i < ITEMS; i++) {
        in[i] = i | (i * 7 & 255) << 8 | (i * 13 & 255) << 16 | (i * 251 & 255) << 24;
    }
    for (int c = 0; c < CHIPS; c++) {
        for (int type = 0; type < 2; type++) {
            run(&chips[c], type,
                "out[0] = BITS(TO(f32_, in[0], 0)); out[1] = BITS(TO(f32_, in[0], 1));\n"
                "out[2] = BITS(TO(f32_, in[0], 2)); out[3] = BITS(TO(f32_, in[0], 3));\n"
                "const float2_ low = TO(pk_f32_, in[0], 0), high = TO(pk_f32_, in[0], 1);\n"
                "out[4] = BITS(low[0]); out[5] = BITS(low[1]); out[6] = BITS(high[0]); out[7] = BITS(high[1]);\n",
                in, 1, out, OUT, ITEMS);
            for (unsigned i = 0; i < ITEMS * OUT; i++) {
                unsigned code = in[i / OUT] >> i % 4 * 8 & 255;
                expect(out[i], format_decode(chips[c].formats[type], (uint8_t)code), words[type], code);
            }
        }
    }
}

/* Around the middle of each two neighbours, of both signs, and what is beyond. */
static size_t edges(enum format format, float *values) {
    size_t count = 0;
    static const float far[] = {0, 0x1p-149f, 0x1p-30f, 1e9f, 0x1p127f, INFINITY, NAN};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        values[count++] = far[i];
    }
    double before = 0;
    for (int code = 1; code < 128; code++) {
        double value = format_decode(format, (uint8_t)code);
        value = isfinite(value) ? value : before + (before - format_decode(format, (uint8_t)(code - 2)));
        float middle = (float)((before + value) / 2);
        values[count++] = (float)value;
        values[count++] = middle;
        values[count++] = nextafterf(middle, 0);
        values[count++] = nextafterf(middle, INFINITY);
        if (!isfinite(format_decode(format, (uint8_t)code))) {
            break;
        }
        before = value;
    }
    float step = format_largest(format) > 1000 ? 4096 : format == FORMAT_E4M3 ? 16 : 8;
    values[count++] = (float)format_largest(format) + step;
    for (size_t i = count; i-- > 0;) {
        values[count + i] = -values[i];
    }
    return 2 * count;
}

enum { EDGES_MAX = 2048 };

Test(fp8, conversions_from_float) {
    for (int c = 0; c < CHIPS; c++) {
        for (int type = 0; type < 2; type++) {
            enum { IN = 3, OUT = 2 };
            static float values[EDGES_MAX];
            static uint32_t in[EDGES_MAX * IN], out[EDGES_MAX * OUT];
            enum format format = chips[c].formats[type];
            size_t count = edges(format, values) / 64 * 64 + 64;
            for (size_t i = 0; i < count; i++) {
                in[i * IN] = bits_of(values[i]);
                in[i * IN + 1] = bits_of(values[(i + 17) % count]);
                in[i * IN + 2] = (uint32_t)(i * 0x01234567u);
            }
            run(&chips[c], type,
                "out[0] = FROM(pk_, FLOAT(in[0]), FLOAT(in[1]), in[2], 0);\n"
                "out[1] = FROM(pk_, FLOAT(in[0]), FLOAT(in[1]), in[2], 1);\n",
                in, IN, out, OUT, count);
            for (size_t i = 0; i < count; i++) {
                uint32_t pair = format_encode(format, (double)values[i], FORMAT_OVERFLOWS) |
                                (uint32_t)format_encode(format, (double)values[(i + 17) % count], FORMAT_OVERFLOWS)
                                    << 8;
                uint32_t old = in[i * IN + 2];
                cr_assert(eq(u32, out[i * OUT], (old & 0xffff0000u) | pair), "%s, %s of %a", chips[c].name, words[type],
                          (double)values[i]);
                cr_assert(eq(u32, out[i * OUT + 1], (old & 0xffffu) | pair << 16), "%s, %s of %a", chips[c].name,
                          words[type], (double)values[i]);
            }
        }
    }
}

__extension__ typedef _Float16 float16;

static uint32_t half_of(double value) {
    float16 half = (float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static uint32_t bf16_of(double value) {
    uint32_t bits = bits_of((float)value);
    return isnan(value) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static const uint32_t scales[] = {0x3f800000, 0x40000000, 0xbf9abcde, 0x34000000, 0x4c000000,
                                  0x7f800000, 0x00000001, 0x42800000, 0x00800000, 0x7f000000};
enum { SCALES = sizeof scales / sizeof scales[0] };

static int same_half(uint32_t got, uint32_t expected, uint32_t infinity) {
    uint32_t rest = 0x7fff;
    return got == expected || ((got & rest) > infinity && (expected & rest) > infinity);
}

/* Of the scale its exponent counts alone. */
Test(fp8, conversions_with_a_scale) {
    enum { ITEMS = 1024, IN = 2, OUT = 4 };
    static const chip *const gfx950 = &chips[1];
    static uint32_t in[ITEMS * IN], out[ITEMS * OUT];
    for (int type = 0; type < 2; type++) {
        for (unsigned i = 0; i < ITEMS; i++) {
            in[i * IN] = (i & 255) | (i * 7 & 255) << 8 | (i * 13 & 255) << 16 | (i * 251 & 255) << 24;
            in[i * IN + 1] = scales[(i / 256 * 3 + i % 3) % SCALES];
        }
        run(gfx950, type,
            "const float2_ high = TO(scalef32_pk_f32_, in[0], FLOAT(in[1]), 1);\n"
            "out[0] = BITS(high[0]); out[1] = BITS(high[1]);\n"
            "out[2] = BITS(TO(scalef32_pk_f16_, in[0], FLOAT(in[1]), 0));\n"
            "out[3] = BITS(TO(scalef32_pk_bf16_, in[0], FLOAT(in[1]), 1));\n",
            in, IN, out, OUT, ITEMS);
        for (unsigned i = 0; i < ITEMS; i++) {
            double by = format_scale_decode((uint8_t)(in[i * IN + 1] >> 23 & 255)), value[4];
            for (int b = 0; b < 4; b++) {
                value[b] = by * format_decode(gfx950->formats[type], (uint8_t)(in[i * IN] >> 8 * b & 255));
            }
            expect(out[i * OUT], value[2], "scaled", in[i * IN] >> 16 & 255);
            expect(out[i * OUT + 1], value[3], "scaled", in[i * IN] >> 24);
            for (int half = 0; half < 2; half++) {
                uint32_t f16 = out[i * OUT + 2] >> 16 * half & 0xffff, bf16 = out[i * OUT + 3] >> 16 * half & 0xffff;
                cr_assert(eq(int, same_half(f16, half_of(value[half]), 0x7c00), 1), "f16 of %a", value[half]);
                cr_assert(eq(int, same_half(bf16, bf16_of(value[2 + half]), 0x7f80), 1), "bf16 of %a", value[2 + half]);
            }
        }
    }
}

/* Divided by the scale, then rounded once. */
Test(fp8, conversions_with_a_scale_back) {
    enum { ITEMS = 1024, IN = 4, OUT = 4 };
    static const chip *const gfx950 = &chips[1];
    static uint32_t in[ITEMS * IN], out[ITEMS * OUT];
    uint64_t state = 3;
    for (int type = 0; type < 2; type++) {
        enum format format = gfx950->formats[type];
        for (unsigned i = 0; i < ITEMS; i++) {
            uint32_t scale = scales[i % SCALES], random = emu_test_random(&state);
            in[i * IN] = bits_of((float)(random % 4096) * 0x1p-6f * float_of(scale & 0x7f800000));
            in[i * IN + 1] = random ^ random << 13; /* two halves, whatever they are */
            in[i * IN + 2] = scale;
            in[i * IN + 3] = i * 0x01010101u;
        }
        run(gfx950, type,
            "const short2_ old = __builtin_bit_cast(short2_, in[3]);\nconst float scale = FLOAT(in[2]);\n"
            "out[0] = BITS(FROM(scalef32_pk_, old, FLOAT(in[0]), 3.0f, scale, 1));\n"
            "out[1] = BITS(FROM(scalef32_pk_, old, FLOAT(in[0]), FLOAT(in[2]), scale, 0));\n"
            "out[2] = BITS(JOIN(__builtin_amdgcn_cvt_scalef32_pk_, TYPE, _f16)(old, __builtin_bit_cast(half2_, in[1]), "
            "scale, 0));\n"
            "out[3] = BITS(JOIN(__builtin_amdgcn_cvt_scalef32_pk_, TYPE, _bf16)(old, __builtin_bit_cast(bf2_, in[1]), "
            "scale, 1));\n",
            in, IN, out, OUT, ITEMS);
        for (unsigned i = 0; i < ITEMS; i++) {
            double by = format_scale_decode((uint8_t)(in[i * IN + 2] >> 23 & 255));
            double value = (double)float_of(in[i * IN]), other = (double)float_of(in[i * IN + 2]);
            uint32_t old = in[i * IN + 3], pair[4] = {0};
            double values[4][2] = {{value, 3}, {value, other}, {0, 0}, {0, 0}};
            for (int half = 0; half < 2; half++) {
                uint16_t bits = (uint16_t)(in[i * IN + 1] >> 16 * half);
                float16 f16;
                memcpy(&f16, &bits, sizeof f16);
                values[2][half] = (double)f16;
                values[3][half] = (double)float_of((uint32_t)bits << 16);
            }
            for (int n = 0; n < 4; n++) {
                for (int half = 0; half < 2; half++) {
                    double quotient = isnan(values[n][half]) ? values[n][half] : isnan(by) ? by : values[n][half] / by;
                    pair[n] |= (uint32_t)format_encode(format, quotient, FORMAT_OVERFLOWS) << 8 * half;
                }
                bool high = n == 0 || n == 3;
                cr_assert(eq(u32, out[i * OUT + (unsigned)n],
                             high ? (old & 0xffff) | pair[n] << 16 : (old & 0xffff0000) | pair[n]),
                          "%s, form %d: %a and %a by %a", words[type], n, values[n][0], values[n][1], by);
            }
        }
    }
}
