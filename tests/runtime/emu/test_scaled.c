/* What CDNA4 has for fp8 and fp4 with scales of blocks: matrix instructions and conversions against gen/formats.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"
#include "gen/formats.h"

/* ---- Matrix instructions ----------------------------------------------------------------------------------- */

enum { LANES = 64, OWN = 32, FLOATS_MAX = 16, ROUNDS = 12 };

typedef struct form {
    unsigned side, a, b; /* a, b: formats as cbsz and blgp have them */
    unsigned byte_a, byte_b;
} form;

#define FORMS(X)                                                                                                       \
    X(16, 4, 4, 0, 0)                                                                                                  \
    X(16, 4, 4, 1, 2)                                                                                                  \
    X(16, 4, 4, 3, 1)                                                                                                  \
    X(16, 0, 0, 0, 3)                                                                                                  \
    X(16, 0, 1, 2, 0)                                                                                                  \
    X(16, 1, 4, 0, 1)                                                                                                  \
    X(16, 4, 0, 1, 0)                                                                                                  \
    X(32, 4, 4, 2, 0)                                                                                                  \
    X(32, 1, 0, 0, 2)                                                                                                  \
    X(32, 4, 1, 3, 3)

#define FORM(side, a, b, byte_a, byte_b) {side, a, b, byte_a, byte_b},
static const form forms[] = {FORMS(FORM)};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

typedef struct operands {
    uint8_t a[LANES][OWN], b[LANES][OWN]; /* of fp4 half of it */
    float c[LANES][FLOATS_MAX];
    uint32_t scale_a[LANES], scale_b[LANES];
} operands;

static const char text[] =
    "typedef int int8 __attribute__((ext_vector_type(8)));\n"
    "typedef float floats4 __attribute__((ext_vector_type(4)));\n"
    "typedef float floats16 __attribute__((ext_vector_type(16)));\n"
    "struct operands { int8 a[64], b[64]; floats16 c[64]; unsigned scale_a[64], scale_b[64]; };\n"
    "struct arguments { const struct operands *from; floats16 *d; int form; };\n"
    "#define INSTRUCTION(number, shape, floats, cbsz, blgp, byte_a, byte_b)                                       \\\n"
    "    if (p.form == number) {                                                                                 \\\n"
    "        floats c = *(const floats *)&from->c[lane];                                                         \\\n"
    "        *(floats *)&p.d[at] = __builtin_amdgcn_mfma_scale_f32_##shape##_f8f6f4(                             \\\n"
    "            from->a[lane], from->b[lane], c, cbsz, blgp, byte_a, from->scale_a[lane], byte_b,               \\\n"
    "            from->scale_b[lane]);                                                                           \\\n"
    "    }\n"
    "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
    "    const unsigned lane = threadIdx.x, at = blockIdx.x * 64 + lane;\n"
    "    const struct operands *from = p.from + blockIdx.x;\n"
    "%s}\n";

static enum format format_of(unsigned number) {
    return number == 0 ? FORMAT_E4M3 : number == 1 ? FORMAT_E5M2 : FORMAT_E2M1;
}

/* Element k of row or column `at`, times its scale. */
static double element(const uint8_t lanes[LANES][OWN], const uint32_t scales[LANES], unsigned number, unsigned byte,
                      unsigned side, unsigned at, unsigned k) {
    unsigned lane = k / OWN * side + at, i = k % OWN;
    double value = number == 4 ? format_nibble(lanes[lane], i) : format_decode(format_of(number), lanes[lane][i]);
    return value * format_scale_decode((uint8_t)(scales[lane] >> 8 * byte));
}

/* Most scales are near 1, so that no sum is one element alone; some are as small and as large as they can be, and of
 * few blocks they are NaN. */
static uint32_t draw_scales(uint64_t *state, unsigned round) {
    uint32_t scales = 0;
    for (unsigned byte = 0; byte < 4; byte++) {
        uint32_t one = 119 + emu_test_random(state) % 17;
        if (round % 4 == 3 && emu_test_random(state) % 64 == 0) {
            one = emu_test_random(state) % 256;
        }
        scales |= one << 8 * byte;
    }
    return scales;
}

static void draw(operands *to, uint64_t *state, unsigned round) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < OWN; i++) {
            uint8_t mask = round % 2 == 0 ? 0xb7 : 0xff; /* without infinities and NaN */
            to->a[lane][i] = (uint8_t)emu_test_random(state) & mask;
            to->b[lane][i] = (uint8_t)emu_test_random(state) & mask;
        }
        for (unsigned i = 0; i < FLOATS_MAX; i++) {
            to->c[lane][i] = (float)(int32_t)emu_test_random(state) * 0x1p-28f;
        }
        to->scale_a[lane] = draw_scales(state, round);
        to->scale_b[lane] = draw_scales(state, round);
    }
}

static void check(const form *of, const operands *from, const float d[LANES][FLOATS_MAX]) {
    for (unsigned row = 0; row < of->side; row++) {
        for (unsigned column = 0; column < of->side; column++) {
            unsigned lane = of->side == 16 ? row / 4 * 16 + column : row / 4 % 2 * 32 + column;
            unsigned index = of->side == 16 ? row % 4 : row / 8 * 4 + row % 4;
            float sum = from->c[lane][index];
            for (unsigned k = 0; k < LANES / of->side * OWN; k++) {
                sum =
                    (float)((double)sum + element(from->a, from->scale_a, of->a, of->byte_a, of->side, row, k) *
                                              element(from->b, from->scale_b, of->b, of->byte_b, of->side, column, k));
            }
            float got = d[lane][index];
            cr_assert(got == sum || (isnan(got) && isnan(sum)),
                      "%ux%u formats %u and %u, D[%u][%u]: expected %a, got %a", of->side, of->side, of->a, of->b, row,
                      column, (double)sum, (double)got);
        }
    }
}

Test(scaled, matrices) {
    char lines[4096] = "", whole[8192];
    for (size_t i = 0; i < FORM_COUNT; i++) {
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines),
                 "    INSTRUCTION(%zu, %s, floats%u, %u, %u, %u, %u)\n", i,
                 forms[i].side == 16 ? "16x16x128" : "32x32x64", forms[i].side * forms[i].side / 64, forms[i].a,
                 forms[i].b, forms[i].byte_a, forms[i].byte_b);
    }
    snprintf(whole, sizeof whole, text, lines);
    emu_test test = emu_test_open("gfx950");
    void *kernel = emu_test_kernel(&test, whole, "k.hip", 64);
    operands *from = calloc(ROUNDS, sizeof *from);
    float(*d)[LANES][FLOATS_MAX] = calloc(ROUNDS, sizeof *d);
    cr_assert(from != NULL && d != NULL);
    uint64_t state = 3;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            draw(&from[round], &state, round);
        }
        struct {
            const void *from;
            void *d;
            int form;
        } given = {emu_test_buffer(&test, ROUNDS * sizeof *from, "from", from),
                   emu_test_buffer(&test, ROUNDS * sizeof *d, "d", NULL), (int)i};
        cr_assert_eq(emu_test_run(&test, kernel, ROUNDS, LANES, &given, sizeof given), FMHA_OK, "%s",
                     fmha_last_error());
        emu_test_read(&test, given.d, d, ROUNDS * sizeof *d);
        for (unsigned round = 0; round < ROUNDS; round++) {
            check(&forms[i], &from[round], (const float(*)[FLOATS_MAX])d[round]);
        }
    }
    free(from);
    free(d);
    emu_test_close(&test);
}

/* ---- Conversions ------------------------------------------------------------------------------------------- */

static const char from_text[] =
    "struct arguments { unsigned *bf16, *f16; };\n"
    "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
    "    const unsigned pair = threadIdx.x, scale = blockIdx.x, at = (scale * 256 + pair) * 4;\n"
    "    const unsigned words = pair | (pair + 1 & 255) << 8 | (pair + 2 & 255) << 16 | (pair + 3 & 255) << 24;\n"
    "    const float factor = __builtin_bit_cast(float, scale << 23 | 0x80000000u | scale * 777);\n"
    "#define TO(type, byte) __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_scalef32_pk_##type##_fp4(words, factor, "
    "byte))\n"
    "    p.bf16[at] = TO(bf16, 0), p.bf16[at + 1] = TO(bf16, 1), p.bf16[at + 2] = TO(bf16, 2), p.bf16[at + 3] = "
    "TO(bf16, 3);\n"
    "    p.f16[at] = TO(f16, 0), p.f16[at + 1] = TO(f16, 1), p.f16[at + 2] = TO(f16, 2), p.f16[at + 3] = TO(f16, 3);\n"
    "}\n";

static double bfloat(uint32_t bits) {
    uint32_t word = bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

__extension__ typedef _Float16 half_type;

static double half(uint32_t bits) {
    uint16_t word = (uint16_t)bits;
    half_type value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* Every pair of nibbles in every byte of a register, with every scale. */
Test(scaled, from_fp4) {
    enum { COUNT = 256 * 256 * 4 };
    emu_test test = emu_test_open("gfx950");
    void *kernel = emu_test_kernel(&test, from_text, "k.hip", 64);
    uint32_t *bf16 = calloc(COUNT, sizeof *bf16), *f16 = calloc(COUNT, sizeof *f16);
    cr_assert(bf16 != NULL && f16 != NULL);
    struct {
        void *bf16, *f16;
    } given = {emu_test_buffer(&test, COUNT * sizeof *bf16, "bf16", NULL),
               emu_test_buffer(&test, COUNT * sizeof *f16, "f16", NULL)};
    cr_assert_eq(emu_test_run(&test, kernel, 256, 256, &given, sizeof given), FMHA_OK, "%s", fmha_last_error());
    emu_test_read(&test, given.bf16, bf16, COUNT * sizeof *bf16);
    emu_test_read(&test, given.f16, f16, COUNT * sizeof *f16);
    for (uint32_t at = 0; at < COUNT; at++) {
        uint8_t scale = (uint8_t)(at / 1024), pair = (uint8_t)(at / 4 % 256 + at % 4);
        for (uint32_t which = 0; which < 2; which++) {
            double value = format_nibble(&pair, which) * format_scale_decode(scale);
            double got = bfloat(bf16[at] >> 16 * which & 0xffff), got_half = half(f16[at] >> 16 * which & 0xffff);
            double large = fabs(value) > 0x1.ffp127 ? copysign((double)INFINITY, value) : value;
            cr_assert(same(got, large), "nibbles %02x, scale %u: %a", pair, scale, got);
            cr_assert(same(got_half, (double)(half_type)value), "nibbles %02x, scale %u: %a as f16", pair, scale,
                      got_half);
        }
    }
    free(bf16);
    free(f16);
    emu_test_close(&test);
}

static const char to_text[] =
    "typedef _Float16 half2 __attribute__((ext_vector_type(2)));\n"
    "typedef __bf16 bfloat2 __attribute__((ext_vector_type(2)));\n"
    "struct arguments { const float *values; unsigned *f32, *bf16, *f16; };\n"
    "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
    "    const unsigned scale = blockIdx.x, lane = threadIdx.x, at = scale * 64 + lane;\n"
    "    const float factor = __builtin_bit_cast(float, scale << 23), low = p.values[at * 2], high = p.values[at * 2 + "
    "1];\n"
    "#define TO(byte) r = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(r, low, high, factor, byte)\n"
    "    unsigned r = 0xa5a5a5a5;\n"
    "    if (lane % 4 == 0) TO(0); else if (lane % 4 == 1) TO(1); else if (lane % 4 == 2) TO(2); else TO(3);\n"
    "    p.f32[at] = r;\n"
    "    const unsigned pair = blockIdx.x * 64 + lane | (blockIdx.x * 64 + lane + 31013) << 16;\n"
    "    p.bf16[at] = __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(0x11111111, __builtin_bit_cast(bfloat2, pair), 0x1p3f, "
    "1);\n"
    "    p.f16[at] = __builtin_amdgcn_cvt_scalef32_pk_fp4_f16(0x11111111, __builtin_bit_cast(half2, pair), 0x1p-2f, "
    "2);\n"
    "}\n";

/* The lower nibble is `low`'s; what the byte stands in is kept. */
static void check_pair(uint32_t got, uint32_t kept, unsigned byte, double low, double high, const char *of) {
    uint32_t pair = format_encode(FORMAT_E2M1, low, FORMAT_SATURATES) |
                    (uint32_t)format_encode(FORMAT_E2M1, high, FORMAT_SATURATES) << 4;
    uint32_t want = (kept & ~(255u << 8 * byte)) | pair << 8 * byte;
    uint32_t sign = isnan(low) || isnan(high) ? 0x88u << 8 * byte : 0; /* a NaN's is not said */
    cr_assert_eq(got & ~sign, want & ~sign, "%s: %a and %a in byte %u: expected %08x, got %08x", of, low, high, byte,
                 want, got);
}

/* With every scale what is around each number and in the middle of two; every bf16 and every f16. */
Test(scaled, to_fp4) {
    enum { GRID = 1024, COUNT = GRID * 64 };
    static const float around[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f, 2, 2.5f, 3, 3.5f, 4, 5, 6, 7};
    emu_test test = emu_test_open("gfx950");
    void *kernel = emu_test_kernel(&test, to_text, "k.hip", 64);
    float *values = calloc(COUNT * 2, sizeof *values);
    uint32_t *got = calloc(3 * COUNT, sizeof *got);
    cr_assert(values != NULL && got != NULL);
    for (int at = 0; at < COUNT * 2; at++) {
        int scale = at / 128 % 256;
        float unit = at % 3 == 0 ? 1 : at % 3 == 1 ? 0x1.000002p0f : 0x1.fffffep-1f;
        values[at] = ldexpf(around[at / 3 % 16] * unit, scale - 127) * (at % 5 == 0 ? -1.0f : 1.0f);
    }
    struct {
        const void *values;
        void *got[3];
    } given = {emu_test_buffer(&test, COUNT * 2 * sizeof *values, "values", values), {NULL}};
    for (int i = 0; i < 3; i++) {
        given.got[i] = emu_test_buffer(&test, COUNT * sizeof *got, "got", NULL);
    }
    cr_assert_eq(emu_test_run(&test, kernel, GRID, 64, &given, sizeof given), FMHA_OK, "%s", fmha_last_error());
    for (int i = 0; i < 3; i++) {
        emu_test_read(&test, given.got[i], got + i * COUNT, COUNT * sizeof *got);
    }
    for (uint32_t at = 0; at < COUNT; at++) {
        double scale = format_scale_decode((uint8_t)(at / 64));
        if (at < 256 * 64) {
            check_pair(got[at], 0xa5a5a5a5, at % 4, (double)values[2 * at] / scale, (double)values[2 * at + 1] / scale,
                       "f32");
        }
        uint32_t other = (at + 31013) & 0xffff;
        check_pair(got[COUNT + at], 0x11111111, 1, bfloat(at) / 8, bfloat(other) / 8, "bf16");
        check_pair(got[2 * COUNT + at], 0x11111111, 2, half(at) * 4, half(other) * 4, "f16");
    }
    free(values);
    free(got);
    emu_test_close(&test);
}

/* ---- What is refused --------------------------------------------------------------------------------------- */

static void refuse(const char *chip, const char *call, const char *words) {
    char whole[1024];
    snprintf(
        whole, sizeof whole,
        "typedef int ab __attribute__((ext_vector_type(8)));\ntypedef float c __attribute__((ext_vector_type(4)));\n"
        "extern \"C\" __global__ void kernel(ab *a, c *d, unsigned *s) {\n    *d = __builtin_amdgcn_%s;\n}\n",
        call);
    emu_test_compile_error(chip, whole, 64, words);
}

Test(scaled, refuses) {
    refuse("gfx950", "mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *d, 2, 4, 0, *s, 0, *s)",
           "mfma_scale_f32_16x16x128_f8f6f4: cbsz and blgp: expected 0 (fp8), 1 (bf8) or 4 (fp4)");
    refuse("gfx950", "mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *d, 4, 4, 4, *s, 0, *s)",
           "mfma_scale_f32_16x16x128_f8f6f4: expected bytes 0 to 3 of the scales");
    refuse("gfx950", "mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *d, 4, 4, 0, 0, 0, 0)",
           "scales of 0: expected 127, which is 1; compilers take 0 for no scales at all");
    refuse("gfx950", "mfma_scale_f32_16x16x128_f8f6f4(*d, *a, *d, 4, 4, 0, *s, 0, *s)",
           "error: no matching function for call to 'fmha_emu_mfma_scaled'");
    refuse("gfx950", "mfma_scale_f32_32x32x64_f8f6f4(*a, *a, *d, 4, 4, 0, *s, 0, *s)",
           "C: expected a vector of 4 floats (16x16) or of 16 (32x32)");
    refuse("gfx942", "mfma_scale_f32_16x16x128_f8f6f4(*a, *a, *d, 4, 4, 0, *s, 0, *s)",
           "error: use of undeclared identifier '__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4'");
}
