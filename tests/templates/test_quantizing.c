/* What kernels make numbers of small formats with (templates/device/to_fp8….hip, to_fp4.hip): every tie and its
 * neighbours, and scales, on the emulated device and as machine code, against gen/quantize.c. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "quantize.h"
#include "running.h"
#include "template.h"

enum { ITEMS = 256, CASES_MAX = 1 << 16 };

/* Each format is in a namespace of its own. in[2 at], in[2 at + 1]: of fp8 x and its scale give a number, the bits of a
 * magnitude a scale; of fp4 x and its scale a number, a magnitude and the rule a scale. */
static const char kernel[] =
    "template <u32 (*number)(float, float), float (*scale)(u32)> FMHA_INLINE u32 fp8(const u32 *in, bool scales)\n"
    "{\n"
    "    const float x = __builtin_bit_cast(float, in[0]), by = __builtin_bit_cast(float, in[1]);\n"
    "    return scales ? __builtin_bit_cast(u32, scale(fmha_fp8_share(x))) : number(x, x / by);\n"
    "}\n"
    "FMHA_KERNEL(256) void convert(const u32 *in, u32 *out, u32 which)\n"
    "{\n"
    "    const u32 at = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    const u32 *const own = in + 2 * at;\n"
    "    const bool scales = which & 1;\n"
    "    switch (which / 2) {\n"
    "    case 0: out[at] = fp8<e4m3::fmha_to_fp8, e4m3::fmha_fp8_scale_of>(own, scales); break;\n"
    "    case 1: out[at] = fp8<e5m2::fmha_to_fp8, e5m2::fmha_fp8_scale_of>(own, scales); break;\n"
    "    case 2: out[at] = fp8<e4m3fnuz::fmha_to_fp8, e4m3fnuz::fmha_fp8_scale_of>(own, scales); break;\n"
    "    case 3: out[at] = fp8<e5m2fnuz::fmha_to_fp8, e5m2fnuz::fmha_fp8_scale_of>(own, scales); break;\n"
    "    case 4: out[at] = scales ? fmha_fp4_scale_for(own[0], own[1] != 0) : fmha_to_fp4(__builtin_bit_cast(float, "
    "own[0]), own[1]); break;\n"
    "    }\n"
    "}\n";

static struct text make_text(void) {
    struct text text = {0};
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    static const char *const shared[] = {"device/prelude.hip", "device/to_fp8.hip", "device/to_fp4.hip"};
    for (int i = 0; i < 3; i++)
        cr_assert(template_render(engine, shared[i], any_chip, NULL, &text, &error), "%s", error.text);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++) {
        char path[64];
        snprintf(path, sizeof path, "device/to_fp8_%s.hip", format_name(format));
        text_printf(&text, "namespace %s {\n", format_name(format));
        cr_assert(template_render(engine, path, NULL, NULL, &text, &error), "%s", error.text);
        text_printf(&text, "}\n");
    }
    text_puts(&text, kernel);
    cr_assert(!text.failed);
    template_engine_free(engine);
    return text;
}

/* ---- Cases ---- */

static uint32_t in[2 * CASES_MAX], out[CASES_MAX];
static uint32_t count;

static void add(uint32_t first, uint32_t second) {
    cr_assert_lt(count, CASES_MAX);
    in[2 * count] = first;
    in[2 * count + 1] = second;
    count++;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void run(struct target *target, uint32_t which) {
    uint32_t groups = (count + ITEMS - 1) / ITEMS;
    run_kernel(target, "convert", which, groups, ITEMS, in, (size_t)groups * ITEMS * 2 * sizeof *in, out,
               (size_t)groups * ITEMS * sizeof *out);
}

/* A number, what follows above and below, of both signs, by that scale. */
static void add_around(float value, float scale) {
    if (!isfinite(value))
        return;
    const float around[] = {value, nextafterf(value, INFINITY), nextafterf(value, -INFINITY)};
    for (int i = 0; i < 3; i++)
        for (int sign = 0; sign < 2; sign++)
            add(bits_of(around[i]) ^ (uint32_t)sign << 31, bits_of(scale));
}

static const uint32_t specials[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                                    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
                                    0x7f800001, 0xff810000, 0x3f800000, 0x00400000};
enum { SPECIALS = sizeof specials / sizeof *specials };

static uint64_t state = 1;

static uint32_t draw(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* ---- fp8 ---- */

/* Every number of the format, and every middle between two, by scales of which the multiples are exact. */
static void fp8_numbers(struct target *target, enum format format) {
    static const float scales[] = {1, 3, 0x1p-126f, 5.0f / 1024};
    count = 0;
    for (int code = 0; code < 128; code++) {
        double value = format_decode(format, (uint8_t)code), next = format_decode(format, (uint8_t)(code + 1) & 127);
        if (!isfinite(value))
            continue;
        if (!isfinite(next) || code == 127) /* beyond the largest: the middle of it and what would follow */
            next = 2 * value - format_decode(format, (uint8_t)(code - 1));
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
            add_around((float)value * scales[i], scales[i]);
            add_around((float)((value + next) / 2) * scales[i], scales[i]);
        }
    }
    for (int i = 0; i < SPECIALS; i++) {
        add(specials[i], bits_of(1));
        add(specials[i], bits_of(0x1p-126f));
        add(specials[i], bits_of(0x1.8p100f));
    }
    for (int i = 0; i < 20000; i++) { /* any quotient, and some in the range of numbers */
        uint32_t scale = draw() & 0x7fffffff;
        scale = scale < 0x00800000 || scale >= 0x7f800000 ? 0x3f912345 : scale;
        add(i % 2 ? draw() : (draw() & 0x807fffff) | ((scale >> 23) + draw() % 24 - 12) << 23, scale);
    }
    run(target, 2 * (uint32_t)format);
    for (uint32_t i = 0; i < count; i++) {
        float x = float_of(in[2 * i]), scale = float_of(in[2 * i + 1]);
        uint8_t expected;
        quantize_fp8(format, QUANTIZE_PER_TENSOR, (struct quantize_shape){1, 1, 1, 1}, &x, &scale, &expected);
        cr_assert_eq(out[i], expected, "%s: %s of %a by %a: expected 0x%02x, got 0x%02x", target->name,
                     format_name(format), (double)x, (double)scale, expected, out[i]);
    }
}

static void fp8_scales(struct target *target, enum format format) {
    float largest = (float)format_largest(format);
    count = 0;
    for (int i = 0; i < SPECIALS; i++)
        add(specials[i], 0);
    add_around(largest * 0x1p-126f, 0); /* from here on it is more than the least */
    add_around(largest, 0);
    for (int i = 0; i < 20000; i++)
        add(draw(), 0);
    run(target, 2 * (uint32_t)format + 1);
    for (uint32_t i = 0; i < count; i++) {
        float x = float_of(in[2 * i]), expected;
        quantize_fp8_choose(format, QUANTIZE_PER_TENSOR, (struct quantize_shape){1, 1, 1, 1}, &x, &expected);
        cr_assert_eq(out[i], bits_of(expected), "%s: %s: scale of %a: expected %a, got %a", target->name,
                     format_name(format), (double)x, (double)expected, (double)float_of(out[i]));
    }
}

/* ---- fp4 ---- */

static void fp4_numbers(struct target *target) {
    count = 0;
    for (uint32_t scale = 0; scale <= 252; scale++)
        for (int half = 0; half <= 28; half++) /* quarters of the scale: numbers, middles, and beyond the largest */
            add_around((float)ldexp(half / 4.0, (int)scale - 127), float_of(scale));
    for (uint32_t scale = 0; scale < 256; scale++)
        add(bits_of(-1.5f), scale == 253 || scale == 254 ? 252 : scale);
    run(target, 8);
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)float_of(in[2 * i]), scale = format_scale_decode((uint8_t)in[2 * i + 1]);
        uint8_t expected = isnan(scale) ? 0 : format_encode(FORMAT_E2M1, x / scale, FORMAT_SATURATES);
        cr_assert_eq(out[i], expected, "%s: fp4 of %a by %a: expected %x, got %x", target->name, x, scale, expected,
                     out[i]);
    }
}

static void fp4_scales(struct target *target) {
    static const uint32_t fractions[] = {0, 1, 0x3fffff, 0x400000, 0x5fffff, 0x600000, 0x600001, 0x7fffff, 0x200000};
    count = 0;
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++)
            for (uint32_t rule = 0; rule < 2; rule++)
                add(exponent << 23 | fractions[i], rule);
    run(target, 9);
    for (uint32_t i = 0; i < count; i++) {
        float x = float_of(in[2 * i]);
        uint8_t expected = quantize_mxfp4_scale(in[2 * i + 1] ? QUANTIZE_THREE_QUARTERS : QUANTIZE_FLOOR, &x, 1);
        cr_assert_eq(out[i], expected, "%s: scale of %a, rule %u: expected %u, got %u", target->name, (double)x,
                     in[2 * i + 1], expected, out[i]);
    }
}

static void check_all(const char *name, int wave) {
    struct text text = make_text();
    struct target target = open_target(name, wave, text.bytes, "convert");
    text_free(&text);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++) {
        fp8_numbers(&target, format);
        fp8_scales(&target, format);
    }
    fp4_numbers(&target);
    fp4_scales(&target);
    fmha_device_close(target.device);
}

Test(quantizing, on_the_emulated_device, .timeout = 300) {
    check_all("emu:gfx1151", 32);
}

Test(quantizing, in_machine_code_of_gfx1151, .timeout = 300) {
    check_all("isa:gfx1151", 32);
}

Test(quantizing, in_machine_code_of_gfx942, .timeout = 300) {
    check_all("isa:gfx942", 64);
}

Test(quantizing, in_machine_code_of_other_chips, .timeout = 600) {
    on_other_chips(check_all);
}
