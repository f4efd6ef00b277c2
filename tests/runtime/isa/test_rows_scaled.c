/* What gfx950 has for fp8 and fp4 with scales of blocks, against plain sums and gen/formats.c. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "gen/formats.h"
#include "isa_test.h"
#include "machine.h"
#include "rows.h"

static uint64_t state = 21;

static uint32_t draw(void) {
    return isa_test_random(&state) << 16 ^ isa_test_random(&state);
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || a == b;
}

/* ---- Matrix instructions ----------------------------------------------------------------------------------- */

enum { A = 0, B = 8, C = 16, D = 32, SCALE_A = 48, SCALE_B = 49, REGISTERS = 50 };

/* Formats are numbered as in cbsz and blgp; side: rows and columns. */
typedef struct form {
    unsigned side, a, b, byte_a, byte_b;
} form;

static unsigned words_of(unsigned format) {
    return format == 4 ? 4 : 8;
}

static double element(const isa_wave *wave, unsigned first, unsigned format, unsigned scale, unsigned byte,
                      const form *of, unsigned at, unsigned k) {
    unsigned lane = k / 32 * of->side + at, bits = 32 / (32 / words_of(format)), i = k % 32;
    uint32_t code = wave->vgpr[first + i * bits / 32][lane] >> i * bits % 32 & ((1u << bits) - 1);
    double value = format_decode(format == 0 ? FORMAT_E4M3 : format == 1 ? FORMAT_E5M2 : FORMAT_E2M1, (uint8_t)code);
    return scale == 0 ? value : value * format_scale_decode((uint8_t)(wave->vgpr[scale][lane] >> 8 * byte));
}

static void try_form(const form *of, bool scaled) {
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    char text[256];
    unsigned results = of->side * of->side / 64;
    int length = snprintf(text, sizeof text, "v_mfma_%sf32_%s_f8f6f4 v[%d:%u], v[%d:%u], v[%d:%u], v[%d:%u]",
                          scaled ? "scale_" : "", of->side == 16 ? "16x16x128" : "32x32x64", D, D + results - 1, A,
                          A + words_of(of->a) - 1, B, B + words_of(of->b) - 1, C, C + results - 1);
    if (scaled) {
        length += snprintf(text + length, sizeof text - (size_t)length, ", v%d, v%d op_sel:[%u,%u,0]", SCALE_A, SCALE_B,
                           of->byte_a & 1, of->byte_b & 1);
        if (of->byte_a < 2 || of->byte_b < 2) { /* ones are not printed */
            length += snprintf(text + length, sizeof text - (size_t)length, " op_sel_hi:[%u,%u,0]", of->byte_a >> 1,
                               of->byte_b >> 1);
        }
    }
    snprintf(text + length, sizeof text - (size_t)length, " cbsz:%u blgp:%u", of->a, of->b);
    machine_load(m, text);
    for (unsigned round = 0; round < 8; round++) {
        machine_fill(m, REGISTERS, draw);
        for (unsigned lane = 0; lane < 64; lane++) {
            for (unsigned reg = 0; reg < C && round % 2 == 0; reg++) {
                wave->vgpr[reg][lane] &= 0xb7b7b7b7; /* without infinities and NaN */
            }
            for (unsigned reg = C; reg < D; reg++) {
                wave->vgpr[reg][lane] = (wave->vgpr[reg][lane] & 0x83ffffff) | 0x40000000;
            }
            for (unsigned reg = SCALE_A; reg <= SCALE_B && (round % 4 != 3 || draw() % 32 != 0); reg++) {
                wave->vgpr[reg][lane] = (wave->vgpr[reg][lane] & 0x07070707) + 0x7b7b7b7b;
            }
        }
        machine_step(m);
        cr_assert_not(wave->failed, "%s", text);
        for (unsigned row = 0; row < of->side; row++) {
            for (unsigned column = 0; column < of->side; column++) {
                unsigned lane = of->side == 16 ? row / 4 * 16 + column : row / 4 % 2 * 32 + column;
                unsigned reg = of->side == 16 ? row % 4 : row / 8 * 4 + row % 4;
                float sum = rows_float(wave->vgpr[C + reg][lane]);
                for (unsigned k = 0; k < 2048 / of->side; k++) {
                    sum = (float)((double)sum +
                                  element(wave, A, of->a, scaled ? SCALE_A : 0, of->byte_a, of, row, k) *
                                      element(wave, B, of->b, scaled ? SCALE_B : 0, of->byte_b, of, column, k));
                }
                double got = (double)rows_float(wave->vgpr[D + reg][lane]);
                cr_assert(same(got, (double)sum), "%s: D[%u][%u]: expected %a, got %a", text, row, column, (double)sum,
                          got);
            }
        }
    }
    machine_free(m);
}

ROWS_TEST(scaled_matrices) {
    static const form forms[] = {{16, 4, 4, 0, 0}, {16, 4, 4, 1, 2}, {16, 4, 4, 3, 3}, {16, 0, 1, 2, 0},
                                 {16, 1, 4, 0, 3}, {16, 4, 0, 1, 1}, {32, 4, 4, 2, 1}, {32, 0, 4, 0, 2}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && machine_has("v_mfma_f32_16x16x128_f8f6f4"); i++) {
        try_form(&forms[i], true);
        try_form(&forms[i], false);
    }
}

ROWS_TEST(scaled_matrices_report) {
    if (!machine_has("v_mfma_f32_16x16x128_f8f6f4")) {
        return;
    }
    machine *m = machine_new(64, false);
    machine_run(m, "v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[0:7], v[8:11], 0 cbsz:4 blgp:4");
    machine_expect(m, "unsupported-modifier",
                   "expected cbsz and blgp of 0 or 1 with eight registers, or 4 with four, got 4 with 8");
    machine_run(m, "v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[0:5], v[8:11], 0 cbsz:2 blgp:4");
    machine_expect(m, "unsupported-modifier", "got 2 with 6");
    machine_run(m, "v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[0:3], v[8:11], 1.0 cbsz:4 blgp:4 abid:1");
    machine_expect(m, "unsupported-modifier", "expected no other modifiers than cbsz, blgp, op_sel and op_sel_hi");
    machine_set_exec(m, UINT64_MAX - 16);
    machine_run(m, "v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[0:3], v[8:11], 1.0, v48, v49 cbsz:4 blgp:4");
    machine_expect(m, "matrix-lanes-off", "");
    cr_assert_eq(rows_float(machine_wave(m)->vgpr[35][63]), 1.0f);
    machine_free(m);
}

/* ---- Conversions ------------------------------------------------------------------------------------------- */

static double bfloat(uint32_t bits) {
    return (double)rows_float((uint64_t)(bits & 0xffff) << 16);
}

/* Every pair of nibbles in every byte, with every scale. */
ROWS_TEST(scaled_from_fp4) {
    if (!machine_has("v_cvt_scalef32_pk_bf16_fp4")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned byte = 0; byte < 4; byte++) {
        for (unsigned which = 0; which < 2; which++) {
            char text[96];
            snprintf(text, sizeof text, "v_cvt_scalef32_pk_%s_fp4 v9, v1, v2 op_sel:[%u,%u,0]",
                     which == 0 ? "bf16" : "f16", byte & 1, byte >> 1);
            machine_load(m, text);
            for (unsigned at = 0; at < 65536; at += 64) {
                for (unsigned lane = 0; lane < 64; lane++) {
                    wave->vgpr[1][lane] = (draw() & ~(255u << 8 * byte)) | (at + lane) % 256 << 8 * byte;
                    wave->vgpr[2][lane] = (draw() & 0x807fffff) | (at + lane) / 256 << 23;
                }
                machine_step(m);
                for (unsigned lane = 0; lane < 64; lane++) {
                    uint8_t pair = (uint8_t)(at + lane), scale = (uint8_t)((at + lane) / 256);
                    for (unsigned n = 0; n < 2; n++) {
                        double value = format_nibble(&pair, n) * format_scale_decode(scale);
                        uint32_t bits = wave->vgpr[9][lane] >> 16 * n;
                        double got = which == 0 ? bfloat(bits) : (double)rows_half(bits);
                        double want = which == 0 ? (fabs(value) >= 0x1p128 ? copysign((double)INFINITY, value) : value)
                                                 : (double)rows_half(rows_half_bits_once(value));
                        cr_assert(same(got, want), "%s of %02x with %u: expected %a, got %a", text, pair, scale, want,
                                  got);
                    }
                }
            }
        }
    }
    machine_free(m);
}

static double half_value(uint32_t bits) {
    return (double)rows_half(bits & 0xffff);
}

/* One byte is written, the others stay. The sign of a NaN is not said. */
static void check_pair(uint32_t got, uint32_t old, unsigned byte, double low, double high, const char *text) {
    uint32_t pair = format_encode(FORMAT_E2M1, low, FORMAT_SATURATES) |
                    (uint32_t)format_encode(FORMAT_E2M1, high, FORMAT_SATURATES) << 4;
    uint32_t want = (old & ~(255u << 8 * byte)) | pair << 8 * byte;
    uint32_t sign = isnan(low) || isnan(high) ? 0x88u << 8 * byte : 0;
    cr_assert_eq(got & ~sign, want & ~sign, "%s of %a and %a: expected %08x, got %08x", text, low, high, want, got);
}

ROWS_TEST(scaled_to_fp4) {
    if (!machine_has("v_cvt_scalef32_pk_fp4_f32")) {
        return;
    }
    static const float around[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f, 2, 2.5f, 3, 3.5f, 4, 5, 6, 7};
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned scale = 0; scale < 256; scale++) {
        char text[96];
        snprintf(text, sizeof text, "v_cvt_scalef32_pk_fp4_f32 v9, v1, -|v2|, v3 op_sel:[0,0,%u,%u]", scale & 1,
                 scale >> 1 & 1);
        for (unsigned lane = 0; lane < 64; lane++) {
            float unit = lane / 16 == 0 ? 1 : lane / 16 == 1 ? 0x1.000002p0f : lane / 16 == 2 ? 0x1.fffffep-1f : -1;
            wave->vgpr[1][lane] = (uint32_t)rows_float_bits(ldexpf(around[lane % 16] * unit, (int)scale - 127));
            wave->vgpr[2][lane] = draw();
            wave->vgpr[3][lane] = scale << 23 | 12345;
        }
        uint32_t old[64];
        memcpy(old, wave->vgpr[9], sizeof old);
        machine_run(m, text);
        for (unsigned lane = 0; lane < 64; lane++) {
            double factor = format_scale_decode((uint8_t)scale);
            check_pair(wave->vgpr[9][lane], old[lane], scale & 3, (double)rows_float(wave->vgpr[1][lane]) / factor,
                       -fabs((double)rows_float(wave->vgpr[2][lane])) / factor, text);
        }
    }
    for (unsigned at = 0; at < 65536; at += 64) {
        for (unsigned lane = 0; lane < 64; lane++) {
            wave->vgpr[1][lane] = (at + lane) | (at + lane + 31013) << 16;
            wave->vgpr[2][lane] = wave->vgpr[3][lane] = 0x11111111;
        }
        machine_run(m, "v_cvt_scalef32_pk_fp4_bf16 v2, v1, 4.0 op_sel:[0,0,1,0]");
        machine_run(m, "v_cvt_scalef32_pk_fp4_f16 v3, v1, 0.5 op_sel:[0,0,1,1]");
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t low = at + lane, high = at + lane + 31013;
            check_pair(wave->vgpr[2][lane], 0x11111111, 1, bfloat(low) / 4, bfloat(high) / 4, "bf16");
            check_pair(wave->vgpr[3][lane], 0x11111111, 3, half_value(low) * 2, half_value(high) * 2, "f16");
        }
    }
    machine_free(m);
}
