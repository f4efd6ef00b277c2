/* WMMA of RDNA3 and RDNA4: each form in both wave sizes against the table of layouts. */
#include <criterion/criterion.h>

#include "matrix_test.h"

/* RDNA3 wants a copy of A and of B in each 16 lanes. */
#define GFX11(type, elements, bf16, lanes)                                                                             \
    {                                                                                                                  \
        .chip = "gfx1100", .builtin = "__builtin_amdgcn_wmma_f32_16x16x16_" #type "_w" #lanes, .element = elements,    \
        .further = "", .family = "rdna3", .ab = "v_wmma_f32_16x16x16_" #type, .d = "v_wmma_f32_16x16x16_" #type,       \
        .wave = lanes, .side = 16, .depth = 16, .copies = lanes / 16, .is_bf16 = bf16                                  \
    }
/* RDNA4 has each element once. */
#define GFX12(type, elements, bf16, lanes)                                                                             \
    {                                                                                                                  \
        .chip = "gfx1201", .builtin = "__builtin_amdgcn_wmma_f32_16x16x16_" #type "_w" #lanes "_gfx12",                \
        .element = elements, .further = "", .family = "rdna4", .ab = "v_wmma_f32_16x16x16_" #type,                     \
        .d = "v_wmma_f32_16x16x16_" #type, .wave = lanes, .side = 16, .depth = 16, .copies = 1, .is_bf16 = bf16        \
    }

static const matrix_form forms[] = {
    GFX11(f16, "_Float16", 0, 32), GFX11(f16, "_Float16", 0, 64), GFX11(bf16, "short", 1, 32),
    GFX11(bf16, "short", 1, 64),   GFX12(f16, "_Float16", 0, 32), GFX12(f16, "_Float16", 0, 64),
    GFX12(bf16, "short", 1, 32),   GFX12(bf16, "short", 1, 64),
};
enum { COUNT = sizeof forms / sizeof forms[0] };

Test(wmma, impulses) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_impulses(&forms[i]);
    }
}

/* Every bit pattern occurs: subnormals, infinities and NaN too. */
Test(wmma, all_bit_patterns) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_random(&forms[i], 0xffff);
    }
}

/* Finite values alone (the exponent's highest bit off), so that every element shows its rounding. */
Test(wmma, rounding) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_random(&forms[i], 0xbfff);
    }
}

Test(wmma, c_passes_through) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_c(&forms[i]);
    }
}

Test(wmma, nan_and_infinity_reach_what_they_must) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_nan_and_infinity(&forms[i]);
    }
}

Test(wmma, subnormals_count) {
    for (int i = 0; i < COUNT; i++) {
        matrix_check_subnormals(&forms[i]);
    }
}
