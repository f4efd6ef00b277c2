/* Builtins that concern one lane alone, and the conversions of half precision, against values written by hand from the
 * RDNA3 instruction set guide or computed in a plainer way. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"

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

/* F(bits) is a float by its bits, B(x) the bits of a float. */
#define PRELUDE                                                                                                        \
    "#define F(x) __builtin_bit_cast(float, (unsigned)(x))\n"                                                          \
    "#define B(x) __builtin_bit_cast(unsigned, (float)(x))\n"                                                          \
    "#define H(x) __builtin_bit_cast(unsigned short, x)\n"                                                             \
    "typedef _Float16 half2 __attribute__((ext_vector_type(2)));\n"                                                    \
    "#define DOT(a, b, c, clamp) B(__builtin_amdgcn_fdot2(__builtin_bit_cast(half2, a), "                              \
    "__builtin_bit_cast(half2, b), c, clamp))\n"

static const struct {
    const char *expression;
    uint32_t want;
} table[] = {
    /* v_perm_b32: {high, low} = 88776655 44332211; selectors 0-7, the four signs, 0x00, 0xff. */
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x03020100u)", 0x44332211},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x07060504u)", 0x88776655},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x00040206u)", 0x11553377},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x0b0a0908u)", 0xff000000},
    {"__builtin_amdgcn_perm(0x0000ff00u, 0x80007fffu, 0x0b0a0908u)", 0x00ffff00},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x0c0d0e0fu)", 0x00ffffff},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x0cff10fdu)", 0x00ffffff},
    {"__builtin_amdgcn_perm(0x88776655u, 0x44332211u, 0x05040100u)", 0x66552211},
    {"__builtin_amdgcn_alignbit(0x88776655u, 0x44332211u, 0)", 0x44332211},
    {"__builtin_amdgcn_alignbit(0x88776655u, 0x44332211u, 12)", 0x65544332},
    {"__builtin_amdgcn_alignbit(0x88776655u, 0x44332211u, 32 + 16)", 0x66554433},
    {"__builtin_amdgcn_alignbyte(0x88776655u, 0x44332211u, 1)", 0x55443322},
    {"__builtin_amdgcn_alignbyte(0x88776655u, 0x44332211u, 7)", 0x77665544},
    {"__builtin_amdgcn_ubfe(0x87654321u, 8, 12)", 0x543},
    {"__builtin_amdgcn_ubfe(0x87654321u, 28, 8)", 0x8},
    {"__builtin_amdgcn_ubfe(0x87654321u, 0, 32)", 0},
    {"__builtin_amdgcn_ubfe(0x87654321u, 36, 4)", 0x2},
    {"__builtin_amdgcn_sbfe(0x87654321, 8, 12)", 0x543},
    {"__builtin_amdgcn_sbfe(0x87654321, 28, 4)", 0xfffffff8},
    {"__builtin_amdgcn_sbfe(0x87654321, 16, 3)", 0xfffffffd},
    {"__builtin_amdgcn_sbfe(0x87654321, 16, 32)", 0},
    /* v_med3_f32: with a NaN it is the least of the numbers; -0 is below +0. */
    {"B(__builtin_amdgcn_fmed3f(3, 1, 2))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(1, 3, 2))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(2, 1, 3))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(5, 5, -1))", 0x40a00000},
    {"B(__builtin_amdgcn_fmed3f(F(0x7fc00000), 3, 2))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(3, F(0x7fc00000), 2))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(3, 2, F(0x7fc00000)))", 0x40000000},
    {"B(__builtin_amdgcn_fmed3f(F(0x7fc00000), F(0x7fc00000), -2))", 0xc0000000},
    {"B(__builtin_amdgcn_fmed3f(0.0f, -0.0f, -1))", 0x80000000},
    {"B(__builtin_amdgcn_fmed3f(1.0f / 0, 7, -1.0f / 0))", 0x40e00000},
    /* v_exp_f32 */
    {"B(__builtin_amdgcn_exp2f(-1.0f / 0))", 0x00000000},
    {"B(__builtin_amdgcn_exp2f(-0.0f))", 0x3f800000},
    {"B(__builtin_amdgcn_exp2f(1.0f / 0))", 0x7f800000},
    {"B(__builtin_amdgcn_exp2f(1))", 0x40000000},
    {"B(__builtin_amdgcn_exp2f(127))", 0x7f000000},
    {"B(__builtin_amdgcn_exp2f(128))", 0x7f800000},
    {"B(__builtin_amdgcn_exp2f(-126))", 0x00800000},
    {"B(__builtin_amdgcn_exp2f(-126.5f))", 0x00000000},
    {"B(__builtin_amdgcn_exp2f(-149))", 0x00000000},
    {"B(__builtin_amdgcn_exp2f(1e30f))", 0x7f800000},
    {"B(__builtin_amdgcn_exp2f(-1e30f))", 0x00000000},
    {"B(__builtin_amdgcn_exp2f(F(0x00000001)))", 0x3f800000},
    {"(B(__builtin_amdgcn_exp2f(F(0x7fc00000))) & 0x7fffffffu) > 0x7f800000u", 1},
    /* v_log_f32; a subnormal counts as 0. */
    {"B(__builtin_amdgcn_logf(-1.0f / 0))", 0xffc00000},
    {"B(__builtin_amdgcn_logf(-1))", 0xffc00000},
    {"B(__builtin_amdgcn_logf(-0.0f))", 0xff800000},
    {"B(__builtin_amdgcn_logf(0.0f))", 0xff800000},
    {"B(__builtin_amdgcn_logf(F(0x007fffff)))", 0xff800000},
    {"B(__builtin_amdgcn_logf(F(0x00800000)))", 0xc2fc0000},
    {"B(__builtin_amdgcn_logf(1))", 0x00000000},
    {"B(__builtin_amdgcn_logf(8))", 0x40400000},
    {"B(__builtin_amdgcn_logf(1.0f / 0))", 0x7f800000},
    /* v_rcp_f32, v_rsq_f32, v_sqrt_f32; subnormals are flushed on both sides. */
    {"B(__builtin_amdgcn_rcpf(-1.0f / 0))", 0x80000000},
    {"B(__builtin_amdgcn_rcpf(-2))", 0xbf000000},
    {"B(__builtin_amdgcn_rcpf(-0.0f))", 0xff800000},
    {"B(__builtin_amdgcn_rcpf(0.0f))", 0x7f800000},
    {"B(__builtin_amdgcn_rcpf(1.0f / 0))", 0x00000000},
    {"B(__builtin_amdgcn_rcpf(3))", 0x3eaaaaab},
    {"B(__builtin_amdgcn_rcpf(F(0x80000001)))", 0xff800000},
    {"B(__builtin_amdgcn_rcpf(F(0x7f000000)))", 0x00000000},
    {"B(__builtin_amdgcn_rcpf(F(0x7e800000)))", 0x00800000},
    {"B(__builtin_amdgcn_rsqf(-1.0f / 0))", 0xffc00000},
    {"B(__builtin_amdgcn_rsqf(-0.0f))", 0xff800000},
    {"B(__builtin_amdgcn_rsqf(0.0f))", 0x7f800000},
    {"B(__builtin_amdgcn_rsqf(F(0x00000001)))", 0x7f800000},
    {"B(__builtin_amdgcn_rsqf(4))", 0x3f000000},
    {"B(__builtin_amdgcn_rsqf(1.0f / 0))", 0x00000000},
    {"B(__builtin_amdgcn_sqrtf(-1.0f / 0))", 0xffc00000},
    {"B(__builtin_amdgcn_sqrtf(-0.0f))", 0x80000000},
    {"B(__builtin_amdgcn_sqrtf(0.0f))", 0x00000000},
    {"B(__builtin_amdgcn_sqrtf(4))", 0x40000000},
    {"B(__builtin_amdgcn_sqrtf(2))", 0x3fb504f3},
    {"B(__builtin_amdgcn_sqrtf(1.0f / 0))", 0x7f800000},
    {"B(__builtin_amdgcn_sqrtf(F(0x00000001)))", 0x00000000},
    /* v_fract_f32 is always below 1. */
    {"B(__builtin_amdgcn_fractf(2.75f))", 0x3f400000},
    {"B(__builtin_amdgcn_fractf(-2.75f))", 0x3e800000},
    {"B(__builtin_amdgcn_fractf(-1e-10f))", 0x3f7fffff},
    {"B(__builtin_amdgcn_fractf(5))", 0x00000000},
    {"B(__builtin_amdgcn_ldexpf(1.5f, 4))", 0x41c00000},
    {"B(__builtin_amdgcn_ldexpf(1.5f, -3))", 0x3e400000},
    {"B(__builtin_amdgcn_ldexpf(1, 200))", 0x7f800000},
    {"B(__builtin_amdgcn_ldexpf(1, -149))", 0x00000001},
    /* Toward zero, never to infinity. 2049 lies between 2048 and 2050. */
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(1, -2))", 0xc0003c00},
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(2051, -2051))", 0xe8016801},
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(70000, -1e30f))", 0xfbff7bff},
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(1.0f / 0, -1.0f / 0))", 0xfc007c00},
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(0x1.fffp-15f, -0x1.8p-25f))", 0x800003ff},
    {"__builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(0x1p-24f, 0.99999f))", 0x3bff0001},
    /* v_dot2_f32_f16: 1 3 + 2 4 + 10; the low halves alone, the high ones alone; clamped to 0 ... 1. */
    {"DOT(0x40003c00, 0x44004200, 10, false)", 0x41a80000},
    {"DOT(0x40003c00, 0x00004200, -0.0f, false)", 0x40400000},
    {"DOT(0x40003c00, 0x44000000, 0, false)", 0x41000000},
    {"DOT(0x40003c00, 0x44004200, 10, true)", 0x3f800000},
    {"DOT(0x40003c00, 0x44004200, -12, true)", 0x00000000},
    /* Subnormal halves count, a subnormal float does not; each addition is rounded, the low product's first. */
    {"DOT(0x00000001, 0x00003c00, 0, false)", 0x33800000},
    {"DOT(0x00010000, 0x00010000, 0, false)", 0x27800000},
    {"DOT(0, 0, F(0x807fffff), false)", 0x00000000},
    {"DOT(0x3c003c00, 0x3c003c00, 0x1p24f, false)", 0x4b800000},
    {"DOT(0x40003c00, 0x3c003c00, 0x1p24f, false)", 0x4b800001},
    {"DOT(0x3c007c00, 0x3c003c00, -1e30f, false)", 0x7f800000},
    {"__builtin_amdgcn_wavefrontsize()", 32},
    /* Ties go to even; 65520 is the first that becomes an infinity; 2^-25 is a tie with 0. */
    {"H(fmha_emu_f32_to_f16(2049))", 0x6800},
    {"H(fmha_emu_f32_to_f16(2051))", 0x6802},
    {"H(fmha_emu_f32_to_f16(65519.996f))", 0x7bff},
    {"H(fmha_emu_f32_to_f16(65520))", 0x7c00},
    {"H(fmha_emu_f32_to_f16(-1e30f))", 0xfc00},
    {"H(fmha_emu_f32_to_f16(0x1p-24f))", 0x0001},
    {"H(fmha_emu_f32_to_f16(0x1p-25f))", 0x0000},
    {"H(fmha_emu_f32_to_f16(0x1.000002p-25f))", 0x0001},
    {"H(fmha_emu_f32_to_f16(-0x1.8p-24f))", 0x8002},
    {"H(fmha_emu_f32_to_f16(0x1.ffbffep-15f))", 0x03ff},
    {"H(fmha_emu_f32_to_f16(0x1.ffcp-15f))", 0x0400},
    {"H(fmha_emu_f32_to_f16(0x1.ff4p-15f))", 0x03fe},
    {"H(fmha_emu_f32_to_f16(F(0x7f800001)))", 0x7e00},
    {"H(fmha_emu_f32_to_f16(F(0xffffffff)))", 0xffff},
    {"fmha_emu_f32_to_bf16(1)", 0x3f80},
    {"fmha_emu_f32_to_bf16(F(0x3f808000))", 0x3f80},
    {"fmha_emu_f32_to_bf16(F(0x3f818000))", 0x3f82},
    {"fmha_emu_f32_to_bf16(F(0x3f808001))", 0x3f81},
    {"fmha_emu_f32_to_bf16(F(0x7f7fffff))", 0x7f80},
    {"fmha_emu_f32_to_bf16(F(0xff800000))", 0xff80},
    {"fmha_emu_f32_to_bf16(F(0x7f800001))", 0x7fc0},
    {"fmha_emu_f32_to_bf16(F(0x00008000))", 0x0000},
    {"fmha_emu_f32_to_bf16(F(0x00018000))", 0x0002},
};

enum { ROWS = sizeof table / sizeof table[0] };

/* The kernel writes whatever it writes to its one argument. */
static void run(const char *text, uint32_t grid, uint32_t items, uint32_t *out, size_t count) {
    emu_test test = emu_test_open("gfx1103");
    void *kernel = emu_test_kernel(&test, text, "math.hip", 32);
    void *buffer = emu_test_buffer(&test, count * sizeof *out, "out", NULL);
    cr_assert(eq(int, emu_test_run(&test, kernel, grid, items, &buffer, sizeof buffer), FMHA_OK), "%s",
              fmha_last_error());
    emu_test_read(&test, buffer, out, count * sizeof *out);
    emu_test_close(&test);
}

Test(math, table) {
    static char text[65536];
    size_t used = (size_t)snprintf(text, sizeof text, PRELUDE "extern \"C\" __global__ void kernel(unsigned *out) {\n");
    for (int i = 0; i < ROWS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "out[%d] = %s;\n", i, table[i].expression);
        cr_assert(lt(sz, used, sizeof text - 16));
    }
    snprintf(text + used, sizeof text - used, "}\n");
    static uint32_t out[ROWS];
    run(text, 1, 1, out, ROWS);
    for (int i = 0; i < ROWS; i++) {
        cr_assert(eq(u32, out[i], table[i].want), "%s: expected 0x%08x, got 0x%08x", table[i].expression, table[i].want,
                  out[i]);
    }
}

/* Every half becomes the float of its value, and comes back as itself. */
Test(math, every_half) {
    static uint32_t out[3 * 65536];
    run(PRELUDE "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                "    const unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
                "    const float value = fmha_emu_f16_to_f32(__builtin_bit_cast(_Float16, (unsigned short)i));\n"
                "    out[3 * i] = B(value);\n"
                "    out[3 * i + 1] = H(fmha_emu_f32_to_f16(value));\n"
                "    out[3 * i + 2] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(value, 0));\n"
                "}\n",
        256, 256, out, 3 * 65536);
    for (uint32_t i = 0; i < 65536; i++) {
        int exponent = (int)(i >> 10 & 31);
        float fraction = (float)(i & 1023);
        if (exponent == 31 && fraction != 0) {
            uint32_t quiet = i | 0x200;
            cr_assert(eq(int, isnan(float_of(out[3 * i])) != 0, 1));
            cr_assert(eq(u32, out[3 * i + 1], quiet));
            cr_assert(eq(u32, out[3 * i + 2], quiet));
            continue;
        }
        float value = exponent == 31 ? INFINITY
                                     : (exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024 + fraction, exponent - 25));
        cr_assert(eq(u32, out[3 * i], bits_of((i & 0x8000) != 0 ? -value : value)), "half 0x%04x", i);
        cr_assert(eq(u32, out[3 * i + 1], i));
        cr_assert(eq(u32, out[3 * i + 2], i));
    }
}

static double half_value(uint32_t half) {
    int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -value : value;
}

/* Rounding of floats of any exponent: no other half is nearer, and none between the float and 0 is larger. */
Test(math, rounding_of_many_floats) {
    enum { COUNT = 65536 };
    static uint32_t out[3 * COUNT];
    run(PRELUDE "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                "    const unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
                "    const unsigned bits = (i % 48 + 96) << 23 | (i * 2654435761u & 0x807fffffu);\n"
                "    out[3 * i] = bits;\n"
                "    out[3 * i + 1] = H(fmha_emu_f32_to_f16(F(bits)));\n"
                "    out[3 * i + 2] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(F(bits), F(bits)));\n"
                "}\n",
        COUNT / 256, 256, out, 3 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        double value = float_of(out[3 * i]), size = fabs(value);
        uint32_t nearest = out[3 * i + 1], truncated = out[3 * i + 2] & 0xffff;
        cr_assert(eq(u32, out[3 * i + 2] >> 16, truncated));
        if (size >= 65520) {
            cr_assert(eq(u32, nearest & 0x7fff, 0x7c00));
            cr_assert(eq(u32, truncated & 0x7fff, 0x7bff));
            continue;
        }
        double got = fabs(half_value(nearest)), error = fabs(got - size);
        uint32_t magnitude = nearest & 0x7fff;
        double below = magnitude == 0 ? -1 : half_value(magnitude - 1);
        double above = magnitude == 0x7bff ? 65536 : half_value(magnitude + 1);
        int is_nearest = error <= fabs(below - size) && error <= fabs(above - size);
        int is_even_if_tie = (error != fabs(below - size) && error != fabs(above - size)) || magnitude % 2 == 0;
        cr_assert(eq(int, is_nearest &&is_even_if_tie, 1), "%a became 0x%04x", value, nearest);
        uint32_t low = got <= size ? magnitude : magnitude - 1;
        cr_assert(eq(u32, truncated & 0x7fff, low), "%a became 0x%04x", value, truncated);
        cr_assert(eq(u32, truncated & 0x8000, out[3 * i] >> 16 & 0x8000));
    }
}

/* 2^x and log2 x against the double functions: within half an ULP and the little by which the series falls short. */
Test(math, exponential_and_logarithm) {
    enum { COUNT = 65536 };
    static uint32_t out[3 * COUNT];
    run(PRELUDE "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                "    const unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
                "    const float x = (float)i * (250.0f / 65536) - 124.9f;\n"
                "    out[3 * i] = B(x);\n"
                "    out[3 * i + 1] = B(__builtin_amdgcn_exp2f(x));\n"
                "    out[3 * i + 2] = B(__builtin_amdgcn_logf(__builtin_amdgcn_exp2f(x)));\n"
                "}\n",
        COUNT / 256, 256, out, 3 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        double x = float_of(out[3 * i]), exact = exp2(x), got = float_of(out[3 * i + 1]);
        double ulp = ldexp(1, (int)floor(log2(exact)) - 23);
        cr_assert(le(dbl, fabs(got - exact), 0.501 * ulp), "2^%a: expected %a, got %a", x, exact, got);
        cr_assert(eq(flt, float_of(out[3 * i + 2]), (float)log2(got)));
    }
}
