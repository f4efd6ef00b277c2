/* What kernels convert numbers of small formats with (templates/device/fp8….hip, fp4….hip): every byte, and every
 * nibble with every scale, on the emulated device and as machine code, against gen/formats.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "formats.h"
#include "halves.h"
#include "running.h"
#include "template.h"

enum { ITEMS = 256, FP8_CASES = 65536, FP4_CASES = 16 * 256, FP8_WORDS = 8, FP4_WORDS = 4, BLOCK = 32 };

/* The word in[at]; of fp8 the results are two words of f16, two of bf16 and four of f32. */
static const char fp8_kernels[] =
    "FMHA_INLINE void convert(const u32 *in, u32 *out, u32 at)\n"
    "{\n"
    "    *(u32x2 *)(out + at * 8) = fmha_fp8_to_f16(in[at]);\n"
    "    *(u32x2 *)(out + at * 8 + 2) = fmha_fp8_to_bf16(in[at]);\n"
    "    *(f32x4 *)(out + at * 8 + 4) = fmha_fp8_to_f32(in[at]);\n"
    "}\n"
    "template <int blocks, class To, To (*convert)(u32)> FMHA_INLINE void count(const u32 *in, To *out)\n"
    "{\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 8 * blocks; ++i)\n"
    "        out[__builtin_amdgcn_workitem_id_x() * 16 + i] = convert(in[__builtin_amdgcn_workitem_id_x() * 16 + i]);\n"
    "}\n"
    "#define COUNT(name, blocks, To, convert) \\\n"
    "    FMHA_KERNEL(32) void name(const u32 *in, To *out, u32) { count<blocks, To, convert>(in, out); }\n"
    "COUNT(count_%s_f16_1, 1, u32x2, fmha_fp8_to_f16)\n"
    "COUNT(count_%s_f16_2, 2, u32x2, fmha_fp8_to_f16)\n"
    "COUNT(count_%s_bf16_1, 1, u32x2, fmha_fp8_to_bf16)\n"
    "COUNT(count_%s_bf16_2, 2, u32x2, fmha_fp8_to_bf16)\n"
    "COUNT(count_%s_f32_1, 1, f32x4, fmha_fp8_to_f32)\n"
    "COUNT(count_%s_f32_2, 2, f32x4, fmha_fp8_to_f32)\n"
    "#undef COUNT\n";

/* The word in[at] with the scale in[4096 + at]. */
static const char fp4_kernels[] =
    "FMHA_INLINE void convert(const u32 *in, u32 *out, u32 at)\n"
    "{\n"
    "    *(u32x4 *)(out + at * 4) = fmha_fp4_to_elements(in[at], fmha_fp4_scale_of(in[4096 + at]));\n"
    "}\n"
    "template <int blocks> FMHA_INLINE void count(const u32 *in, u32x4 *out)\n"
    "{\n"
    "    in += __builtin_amdgcn_workitem_id_x() * 16;\n"
    "    out += __builtin_amdgcn_workitem_id_x() * 16;\n"
    "#pragma unroll\n"
    "    for (int block = 0; block < blocks; ++block) {\n"
    "        const fmha_fp4_scale scale = fmha_fp4_scale_of(in[4 * blocks + block]);\n"
    "#pragma unroll\n"
    "        for (int i = 4 * block; i < 4 * block + 4; ++i)\n"
    "            out[i] = fmha_fp4_to_elements(in[i], scale);\n"
    "    }\n"
    "}\n"
    "FMHA_KERNEL(32) void count_%s_1(const u32 *in, u32x4 *out, u32) { count<1>(in, out); }\n"
    "FMHA_KERNEL(32) void count_%s_2(const u32 *in, u32x4 *out, u32) { count<2>(in, out); }\n";

/* Each format is in a namespace of its own; `which` counts them in the order of the text. */
static const char convert_kernel[] =
    "FMHA_KERNEL(256) void convert(const u32 *in, u32 *out, u32 which)\n"
    "{\n"
    "    const u32 at = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    switch (which) {\n"
    "    case 0: e4m3::convert(in, out, at); break;\n"
    "    case 1: e5m2::convert(in, out, at); break;\n"
    "    case 2: e4m3fnuz::convert(in, out, at); break;\n"
    "    case 3: e5m2fnuz::convert(in, out, at); break;\n"
    "    case 4: fp4_f16::convert(in, out, at); break;\n"
    "    case 5: fp4_bf16::convert(in, out, at); break;\n"
    "    }\n"
    "}\n";
enum { FP4_F16 = FORMAT_E5M2FNUZ + 1, FP4_BF16 };

/* Everything in one text. */
static struct text make_text(void) {
    struct text text = {0};
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    static const char *const shared[] = {"device/prelude.hip", "device/pairs.hip", "device/fp8_fnuz.hip"};
    for (int i = 0; i < 3; i++)
        cr_assert(template_render(engine, shared[i], any_chip, NULL, &text, &error), "%s", error.text);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++) {
        const char *name = format_name(format);
        char path[64];
        text_printf(&text, "namespace %s {\n", name);
        snprintf(path, sizeof path, "device/fp8_%s.hip", name);
        cr_assert(template_render(engine, path, NULL, NULL, &text, &error), "%s", error.text);
        cr_assert(template_render(engine, "device/fp8.hip", NULL, NULL, &text, &error), "%s", error.text);
        text_printf(&text, fp8_kernels, name, name, name, name, name, name);
        text_printf(&text, "}\n");
    }
    static const char *const fp4[] = {"fp4_f16", "fp4_bf16"};
    for (int i = 0; i < 2; i++) {
        char path[64];
        text_printf(&text, "namespace %s {\n", fp4[i]);
        snprintf(path, sizeof path, "device/%s.hip", fp4[i]);
        cr_assert(template_render(engine, path, NULL, NULL, &text, &error), "%s", error.text);
        text_printf(&text, fp4_kernels, fp4[i], fp4[i]);
        text_printf(&text, "}\n");
    }
    text_puts(&text, convert_kernel);
    cr_assert(!text.failed);
    template_engine_free(engine);
    return text;
}

/* ---- Running ---- */

static struct target open_conversions(const char *name, int wave) {
    struct text text = make_text();
    struct target target = open_target(name, wave, text.bytes, "convert");
    text_free(&text);
    return target;
}

/* Bits of the type; of a NaN any will do. */
static void expect_half(const char *what, enum half_type type, double value, uint16_t got) {
    uint16_t bits = half_from_double(type, value);
    cr_assert(bits == got || (isnan(value) && isnan(half_to_double(type, got))),
              "%s to %s: expected %a, 0x%04x, got 0x%04x", what, type == HALF_F16 ? "f16" : "bf16", value, bits, got);
}

static uint16_t half_at(const uint32_t *words, int at) {
    return (uint16_t)(words[at / 2] >> 16 * (at % 2));
}

/* Every pair of bytes as the first two, and backwards as the last two: each byte in each place, beside each other. */
static void check_fp8(struct target *target, enum format format) {
    static uint32_t in[FP8_CASES], out[FP8_CASES * FP8_WORDS];
    char what[128];
    for (uint32_t i = 0; i < FP8_CASES; i++)
        in[i] = i | (i & 255) << 24 | i >> 8 << 16;
    run_kernel(target, "convert", (uint32_t)format, FP8_CASES / ITEMS, ITEMS, in, sizeof in, out, sizeof out);
    for (int i = 0; i < FP8_CASES; i++)
        for (int at = 0; at < 4; at++) {
            uint8_t byte = (uint8_t)(in[i] >> 8 * at);
            const uint32_t *words = out + i * FP8_WORDS;
            double value = format_decode(format, byte);
            float single, expected = (float)value;
            snprintf(what, sizeof what, "%s: %s 0x%02x, place %d", target->name, format_name(format), byte, at);
            expect_half(what, HALF_F16, value, half_at(words, at));
            expect_half(what, HALF_BF16, value, half_at(words + 2, at));
            memcpy(&single, &words[4 + at], sizeof single);
            cr_assert(memcmp(&single, &expected, sizeof single) == 0 || (isnan(value) && isnan(single)),
                      "%s to f32: expected %a, got %a", what, value, (double)single);
        }
}

/* Every nibble in every place with every scale. */
static void check_fp4(struct target *target, enum half_type type) {
    static uint32_t in[2 * FP4_CASES], out[FP4_CASES * FP4_WORDS];
    char what[128];
    for (uint32_t i = 0; i < FP4_CASES; i++) {
        for (uint32_t at = 0; at < 8; at++)
            in[i] |= ((i + 5 * at) & 15) << 4 * at;
        in[FP4_CASES + i] = i / 16;
    }
    run_kernel(target, "convert", type == HALF_F16 ? FP4_F16 : FP4_BF16, FP4_CASES / ITEMS, ITEMS, in, sizeof in, out,
               sizeof out);
    for (int i = 0; i < FP4_CASES; i++)
        for (int at = 0; at < 8; at++) {
            uint8_t nibble = in[i] >> 4 * at & 15, scale = (uint8_t)(i / 16);
            double value = format_decode(FORMAT_E2M1, nibble) * format_scale_decode(scale);
            uint16_t got = half_at(out + i * FP4_WORDS, at);
            snprintf(what, sizeof what, "%s: nibble %x, scale %d, place %d", target->name, nibble, scale, at);
            expect_half(what, type, value, got);
            if (type == HALF_BF16 && fabs(value) < 0x1p128) /* no rounding there */
                cr_assert_eq(half_to_double(type, got), value, "%s: %a", what, value);
        }
}

static void check_all(const char *name, int wave) {
    struct target target = open_conversions(name, wave);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++)
        check_fp8(&target, format);
    check_fp4(&target, HALF_F16);
    check_fp4(&target, HALF_BF16);
    fmha_device_close(target.device);
}

Test(conversions, on_the_emulated_device, .timeout = 300) {
    check_all("emu:gfx1151", 32);
}

Test(conversions, in_machine_code_of_gfx1151, .timeout = 300) {
    check_all("isa:gfx1151", 32);
}

Test(conversions, in_machine_code_of_gfx942, .timeout = 300) {
    check_all("isa:gfx942", 64);
}

Test(conversions, in_machine_code_of_other_chips, .timeout = 600) {
    on_other_chips(check_all);
}

/* ---- What they cost ---- */

/* Vector instructions of one wave. */
static double vector_instructions(struct target *target, const char *symbol) {
    static uint32_t in[32 * 16], out[32 * 16 * 4]; /* 16 words of each lane are room for two blocks */
    const fmha_counter *counters;
    size_t count;
    cr_assert_eq(fmha_device_clear_counters(target->device), FMHA_OK);
    run_kernel(target, symbol, 0, 1, 32, in, sizeof in, out, sizeof out);
    cr_assert_eq(fmha_device_counters(target->device, &counters, &count), FMHA_OK, "%s", fmha_last_error());
    for (size_t i = 0; i < count; i++)
        if (counters[i].tensor == NULL && strcmp(counters[i].name, "valu_instructions") == 0)
            return (double)counters[i].value;
    cr_assert_fail("valu_instructions are not counted");
    return 0;
}

/* A block of 32 values more costs so many more instructions, that of its scale among them. Compilers may do better than
 * the manual says. */
static void check_cost(struct target *target, const char *manual, const char *row, int column, const char *kernel) {
    char symbol[96], begin[64];
    double documented = -1, counted = 0;
    for (int blocks = 1; blocks <= 2; blocks++) {
        snprintf(symbol, sizeof symbol, "%s_%d", kernel, blocks);
        counted = vector_instructions(target, symbol) - counted;
    }
    counted /= BLOCK;
    snprintf(begin, sizeof begin, "\n| `%s` | instructions |", row);
    const char *at = strstr(manual, begin);
    cr_assert_not_null(at, "expected in %s:%s", FORMATS_MANUAL, begin);
    at += strlen(begin);
    for (int i = 0; i < column; i++)
        at = strchr(at, '|') + 1;
    cr_assert_eq(sscanf(at, "%lf", &documented), 1, "%s: no number in column %d", row, column);
    cr_assert(counted <= documented && counted > 0, "%s: expected at most %.2f instructions a value, got %.2f", kernel,
              documented, counted);
}

Test(conversions, cost_what_the_manual_says, .timeout = 300) {
    struct target target = open_conversions("isa:gfx1151", 32);
    char *manual, kernel[64];
    size_t length;
    struct error error;
    cr_assert(file_read(FORMATS_MANUAL, &manual, &length, &error), "%s", error.text);
    cr_assert_eq(fmha_device_set(target.device, "count", 1), FMHA_OK, "%s", fmha_last_error());
    static const char *const to[] = {"f16", "bf16", "f32"};
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++)
        for (int i = 0; i < 3; i++) {
            snprintf(kernel, sizeof kernel, "count_%s_%s", format_name(format), to[i]);
            check_cost(&target, manual, format_name(format), i, kernel);
        }
    check_cost(&target, manual, "mxfp4", 0, "count_fp4_f16");
    check_cost(&target, manual, "mxfp4", 1, "count_fp4_bf16");
    free(manual);
    fmha_device_close(target.device);
}
