/* MFMA of CDNA: each form of each chip against the table of layouts, and what is refused.
 *
 * The table ends with CDNA3. CDNA4's 16x16x32 and 32x32x16 of f16 and bf16 have eight elements a lane in the same order
 * as CDNA3's fp8 forms of that size, whose rows they are looked up in ("CDNA4 Instruction Set Architecture", Dense
 * Matrix Arithmetic). The bf16 forms of CDNA1, which CDNA2 keeps, have two ("AMD Instinct MI100 Instruction Set
 * Architecture", Matrix Arithmetic Instructions): row or column l mod M of lane l, from k = 2 (l div M). Their D is the
 * f16 form's. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "matrix_test.h"

static void place_pair_16(int *lane, int *index, int at, int k) {
    *lane = at + 16 * (k / 2);
    *index = k % 2;
}

static void place_pair_32(int *lane, int *index, int at, int k) {
    *lane = at + 32 * (k / 2);
    *index = k % 2;
}

/* name: of the builtin, behind __builtin_amdgcn_mfma_f32_; ab_rows, d_rows: of the table. */
#define MFMA(gfx, name, size, k, type, bf16, of, ab_rows, d_rows)                                                      \
    {                                                                                                                  \
        .chip = gfx, .builtin = "__builtin_amdgcn_mfma_f32_" name, .element = type, .further = ", 0, 0, 0",            \
        .family = of, .ab = ab_rows, .d = d_rows, .wave = 64, .side = size, .depth = k, .copies = 1, .is_bf16 = bf16   \
    }
#define F16(gfx, of, rows_16, rows_32)                                                                                 \
    MFMA(gfx, "16x16x16f16", 16, 16, "_Float16", 0, of, rows_16, rows_16),                                             \
        MFMA(gfx, "32x32x8f16", 32, 8, "_Float16", 0, of, rows_32, rows_32)
#define BF16(gfx, of, rows_16, rows_32)                                                                                \
    MFMA(gfx, "16x16x16bf16_1k", 16, 16, "short", 1, of, rows_16, rows_16),                                            \
        MFMA(gfx, "32x32x8bf16_1k", 32, 8, "short", 1, of, rows_32, rows_32)
#define PAIRS(gfx, name, size, k, where, d_rows)                                                                       \
    {                                                                                                                  \
        .chip = gfx, .builtin = "__builtin_amdgcn_mfma_f32_" name, .element = "short", .further = ", 0, 0, 0",         \
        .family = "cdna2", .place = where, .d = d_rows, .wave = 64, .side = size, .depth = k, .copies = 1,             \
        .is_bf16 = 1                                                                                                   \
    }
/* CDNA1 has no rows of its own. */
#define CDNA1_AND_2(gfx)                                                                                               \
    F16(gfx, "cdna2", "v_mfma_f32_16x16x16f16", "v_mfma_f32_32x32x8f16"),                                              \
        PAIRS(gfx, "16x16x8bf16", 16, 8, place_pair_16, "v_mfma_f32_16x16x16f16"),                                     \
        PAIRS(gfx, "32x32x4bf16", 32, 4, place_pair_32, "v_mfma_f32_32x32x8f16")
#define CDNA3_AND_4(gfx)                                                                                               \
    F16(gfx, "cdna3", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x8_f16"),                                            \
        BF16(gfx, "cdna3", "v_mfma_f32_16x16x16_bf16", "v_mfma_f32_32x32x8_bf16")
#define FP8_16 "v_mfma_f32_16x16x32_fp8_fp8"
#define FP8_32 "v_mfma_f32_32x32x16_fp8_fp8"

static const matrix_form forms[] = {
    CDNA1_AND_2("gfx908"),
    CDNA1_AND_2("gfx90a"),
    BF16("gfx90a", "cdna2", "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_32x32x8bf16_1k"),
    CDNA3_AND_4("gfx942"),
    CDNA3_AND_4("gfx950"),
    MFMA("gfx950", "16x16x32_f16", 16, 32, "_Float16", 0, "cdna3", FP8_16, FP8_16),
    MFMA("gfx950", "16x16x32_bf16", 16, 32, "__bf16", 1, "cdna3", FP8_16, FP8_16),
    MFMA("gfx950", "32x32x16_f16", 32, 16, "_Float16", 0, "cdna3", FP8_32, FP8_32),
    MFMA("gfx950", "32x32x16_bf16", 32, 16, "__bf16", 1, "cdna3", FP8_32, FP8_32),
};

/* CDNA2 takes 16-bit subnormals, and those of C and D, for zeros (ROCm documentation, "MI200 matrix fused multiply-add
 * (MFMA) behavior specifics"). */
static void check(void (*one)(const matrix_form *form)) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        matrix_form form = forms[i];
        form.flushes = strcmp(form.chip, "gfx90a") == 0;
        one(&form);
    }
}

/* The generic target's are those of its chips. */
Test(mfma, generic) {
    static const matrix_form generic[] = {CDNA3_AND_4("gfx9-4-generic")};
    for (size_t i = 0; i < sizeof generic / sizeof generic[0]; i++) {
        matrix_check_nan_and_infinity(&generic[i]);
        matrix_check_subnormals(&generic[i]);
    }
}

Test(mfma, impulses) {
    check(matrix_check_impulses);
}

/* Every bit pattern occurs: subnormals, infinities and NaN too. */
static void check_all_bit_patterns(const matrix_form *form) {
    matrix_check_random(form, 0xffff);
}

Test(mfma, all_bit_patterns) {
    check(check_all_bit_patterns);
}

/* Finite values alone (the exponent's highest bit off), so that every element shows its rounding. */
static void check_rounding(const matrix_form *form) {
    matrix_check_random(form, 0xbfff);
}

Test(mfma, rounding) {
    check(check_rounding);
}

Test(mfma, c_passes_through) {
    check(matrix_check_c);
}

Test(mfma, nan_and_infinity_reach_what_they_must) {
    check(matrix_check_nan_and_infinity);
}

Test(mfma, subnormals_are_zeros_on_gfx90a_alone) {
    check(matrix_check_subnormals);
}

/* ---- What is refused ----------------------------------------------------------------------------------------------
 */

static void refuse(const char *chip, int wave, const char *ab, const char *c, const char *call, const char *words) {
    char text[1024];
    snprintf(text, sizeof text,
             "typedef %s ab __attribute__((ext_vector_type(%d)));\ntypedef %s c __attribute__((ext_vector_type(%d)));\n"
             "extern \"C\" __global__ void kernel(ab *a, c *d) {\n    *d = __builtin_amdgcn_%s;\n}\n",
             ab + 2, ab[0] - '0', c + 2, c[0] - '0', call);
    emu_test_compile_error(chip, text, wave, words);
}

#define ZEROS "mfma_f32_16x16x16f16: cbsz, abid and blgp: expected 0"
#define AB                                                                                                             \
    "A and B: expected vectors of _Float16 (f16), short (bf16) or __bf16 (bf16 of CDNA4), as many as the instruction " \
    "takes of a lane"
#define C "C: expected a vector of 4 floats (16x16) or of 16 (32x32)"

Test(mfma, refuses_permuted_operands) {
    refuse("gfx942", 64, "4 _Float16", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 1, 0, 0)", ZEROS);
    refuse("gfx942", 64, "4 _Float16", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 1, 0)", ZEROS);
    refuse("gfx942", 64, "4 _Float16", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 1)", ZEROS);
}

Test(mfma, refuses_waves_of_32) {
    refuse("gfx942", 32, "4 _Float16", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 0)",
           "matrix instructions of CDNA need waves of 64");
}

Test(mfma, refuses_other_vectors) {
    refuse("gfx942", 64, "4 short", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 0)", AB);
    refuse("gfx942", 64, "8 _Float16", "4 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 0)", AB);
    refuse("gfx942", 64, "4 __bf16", "4 float", "mfma_f32_16x16x16bf16_1k(*a, *a, *d, 0, 0, 0)", AB);
    refuse("gfx950", 64, "8 short", "4 float", "mfma_f32_16x16x32_bf16(*a, *a, *d, 0, 0, 0)", AB);
    refuse("gfx942", 64, "4 _Float16", "8 float", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 0)", C);
    refuse("gfx942", 64, "4 _Float16", "4 float", "mfma_f32_32x32x8f16(*a, *a, *d, 0, 0, 0)", C);
    refuse("gfx942", 64, "4 _Float16", "4 int", "mfma_f32_16x16x16f16(*a, *a, *d, 0, 0, 0)", C);
}

Test(mfma, refuses_what_a_chip_lacks) {
    static const struct {
        const char *chip, *ab, *c, *name;
    } lacking[] = {
        {"gfx908", "4 short", "4 float", "mfma_f32_16x16x16bf16_1k"},
        {"gfx908", "4 short", "4 float", "mfma_f32_32x32x8bf16_1k"},
        {"gfx942", "2 short", "4 float", "mfma_f32_16x16x8bf16"},
        {"gfx942", "2 short", "4 float", "mfma_f32_32x32x4bf16"},
        {"gfx942", "8 _Float16", "4 float", "mfma_f32_16x16x32_f16"},
        {"gfx942", "8 _Float16", "4 float", "mfma_f32_32x32x16_f16"},
        {"gfx9-4-generic", "8 __bf16", "4 float", "mfma_f32_16x16x32_bf16"},
        {"gfx9-4-generic", "8 __bf16", "4 float", "mfma_f32_32x32x16_bf16"},
        {"gfx950", "2 short", "4 float", "mfma_f32_16x16x8bf16"},
        {"gfx1201", "4 _Float16", "4 float", "mfma_f32_16x16x16f16"},
    };
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        char call[128], words[128];
        snprintf(call, sizeof call, "%s(*a, *a, *d, 0, 0, 0)", lacking[i].name);
        snprintf(words, sizeof words, "k.hip:4:10: error: use of undeclared identifier '__builtin_amdgcn_%s'",
                 lacking[i].name);
        refuse(lacking[i].chip, 64, lacking[i].ab, lacking[i].c, call, words);
    }
}

Test(mfma, refuses_swaps_before_cdna4) {
    refuse("gfx942", 64, "2 unsigned", "4 float", "permlane16_swap(1, 2, false, false)",
           "k.hip:4:10: error: use of undeclared identifier '__builtin_amdgcn_permlane16_swap'");
    refuse("gfx942", 64, "2 unsigned", "4 float", "permlane32_swap(1, 2, false, false)",
           "k.hip:4:10: error: use of undeclared identifier '__builtin_amdgcn_permlane32_swap'");
}
