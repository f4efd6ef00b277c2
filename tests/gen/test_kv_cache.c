/* Caches of verification: what is quantized means what the kernel's operands stand for, and scales tell mistakes apart.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "inputs.h"
#include "kv_cache.h"

enum { BATCH = 2, HEADS = 2, KEYS = 5, DIM = 64, ROWS = BATCH * HEADS * KEYS };

static uint16_t k[ROWS * DIM], v[ROWS * DIM];
static double k_values[ROWS * DIM], v_values[ROWS * DIM];
static struct reference_problem problem;

static struct spec spec_of(int32_t kv_dtype, int32_t kv_scale) {
    struct spec spec;
    spec_init(&spec);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        spec.value[id] = spec_fields[id].always ? 0 : spec_fields[id].neutral;
    spec.value[SPEC_KV_DTYPE] = kv_dtype;
    spec.value[SPEC_KV_SCALE] = kv_scale;
    return spec;
}

static int32_t word(const char *name) {
    int32_t at = 0;
    while (strcmp(spec_fields[SPEC_KV_DTYPE].words[at], name) != 0)
        at++;
    return at;
}

/* Bell-shaped; V of row 7 has a NaN. */
static void draw(uint64_t seed) {
    uint64_t state = seed;
    problem = (struct reference_problem){.batch = BATCH,
                                         .heads_q = HEADS,
                                         .heads_k = HEADS,
                                         .seqlen_q = 1,
                                         .seqlen_k = KEYS,
                                         .head_dim = DIM,
                                         .head_dim_v = DIM};
    for (int at = 0; at < ROWS * DIM; at++) {
        k[at] = half_from_double(HALF_F16, inputs_normal(&state));
        v[at] = half_from_double(HALF_F16, inputs_normal(&state));
    }
    v[7 * DIM + 3] = half_from_double(HALF_F16, NAN);
}

static struct kv_cache made(const struct spec *spec, uint64_t seed) {
    struct kv_cache cache;
    struct error error;
    draw(seed);
    cr_assert(kv_cache_make(spec, &problem, HALF_F16, seed, k, v, &cache, &error), "%s", error.text);
    kv_cache_read(spec, &cache, HALF_F16, false, k_values, v_values, &problem);
    return cache;
}

/* Within what three bits of fraction leave, or what is beyond the largest number. */
static void expect_near(const uint16_t *drawn, const double *values, float scale, int from, int count) {
    for (int at = from; at < from + count; at++) {
        double x = half_to_double(HALF_F16, drawn[at]), most = 448 * (double)scale;
        bool finite = isfinite(x);
        x = fmin(fmax(x, -most), most);
        if (finite)
            cr_assert_leq(fabs(values[at] - x), fabs(x) / 16 + (double)scale * 0x1p-10, "element %d: %g of %g", at,
                          values[at], x);
    }
}

Test(kv_cache, a_scale_of_each_head) {
    const struct spec spec = spec_of(word("e4m3"), 0);
    bool powers = false, others = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct kv_cache cache = made(&spec, seed);
        int exponent;
        for (int head = 0; head < BATCH * HEADS; head++) {
            float scale = cache.k.scales[head];
            expect_near(k, k_values, scale, head * KEYS * DIM, KEYS * DIM);
            expect_near(v, v_values, cache.v.scales[head], head * KEYS * DIM, KEYS * DIM);
            powers = powers || frexpf(scale, &exponent) == 0.5f;
            others = others || frexpf(scale, &exponent) != 0.5f;
            for (int other = 0; other < head; other++)
                cr_assert(cache.shared == (scale == cache.k.scales[other]) || frexpf(scale, &exponent) == 0.5f);
            cr_assert(cache.v.scales[head] != scale || frexpf(scale, &exponent) == 0.5f);
        }
        cr_assert_eq(cache.shared, seed % 4 == 3);
        cr_assert(isnan(v_values[7 * DIM + 3]) && isfinite(v_values[7 * DIM + 4]));
        cr_assert(problem.k_scaled && problem.v_scaled && !problem.v_scale);
        kv_cache_free(&cache);
    }
    cr_assert(powers && others);
}

/* The NaN of V is its own or its scale's, by turns: then the whole row is NaN, whichever the scale is. */
Test(kv_cache, a_scale_of_each_token) {
    const struct spec spec = spec_of(word("e4m3"), 1);
    bool of_number = false, of_nan = false, of_infinity = false;
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct kv_cache cache = made(&spec, seed);
        for (int row = 0; row < ROWS; row++) {
            expect_near(k, k_values, cache.k.scales[row], row * DIM, DIM);
            cr_assert(row == 7 || problem.v_scale[row] == (double)cache.v.scales[row], "row %d", row);
        }
        bool broken = !isfinite(cache.v.scales[7]);
        for (int d = 0; d < DIM; d++)
            cr_assert_eq(isnan(v_values[7 * DIM + d]) != 0, broken || d == 3, "seed %d, %d", (int)seed, d);
        of_number = of_number || !broken;
        of_nan = of_nan || isnan(cache.v.scales[7]);
        of_infinity = of_infinity || isinf(cache.v.scales[7]);
        kv_cache_free(&cache);
    }
    cr_assert(of_number && of_nan && of_infinity);
}

/* 134 is 128.0, 255 is NaN; f16 has no 6 * 2^14. */
Test(kv_cache, scales_of_blocks) {
    const struct spec spec = spec_of(word("mxfp4"), 0);
    struct kv_cache cache = made(&spec, 1);
    cr_assert_eq(cache.k.scales_of_row, 2);
    cr_assert_eq(cache.k.row_bytes, 32);
    memset(cache.k.numbers, 0x7a, (size_t)(ROWS * cache.k.row_bytes)); /* -1 and 6 */
    for (int row = 0; row < ROWS; row++) {
        cache.k.blocks[2 * row] = 134;
        cache.k.blocks[2 * row + 1] = row == 1 ? 255 : 141;
    }
    kv_cache_read(&spec, &cache, HALF_F16, false, k_values, v_values, &problem);
    cr_assert(k_values[0] == -128 && k_values[1] == 768 && k_values[31] == 768);
    cr_assert(k_values[32] == -16384 && isinf(k_values[33]));
    cr_assert(k_values[DIM + 31] == 768 && isnan(k_values[DIM + 32]) && isnan(k_values[DIM + 63]));
    kv_cache_read(&spec, &cache, HALF_BF16, false, k_values, v_values, &problem);
    cr_assert(k_values[33] == 98304);
    /* What is multiplied as it is does not become f16; V does. */
    struct spec native = spec;
    native.value[SPEC_KV_MATH] = 1;
    cache.v.numbers[0] = 0x77;
    cache.v.blocks[0] = 141;
    kv_cache_read(&native, &cache, HALF_F16, false, k_values, v_values, &problem);
    cr_assert(k_values[33] == 98304 && isinf(v_values[0]));
    cr_assert(!problem.k_scaled && !problem.v_scaled && !problem.v_scale);
    kv_cache_free(&cache);
}

Test(kv_cache, bytes_of_a_row) {
    const struct spec same = spec_of(0, 0), head = spec_of(word("e5m2"), 0), token = spec_of(word("e5m2fnuz"), 1);
    const struct spec mxfp4 = spec_of(word("mxfp4"), 0);
    cr_assert(!kv_cache_is_used(&same) && kv_cache_is_used(&head));
    cr_assert_eq(kv_cache_row_bytes(&same, 576), 1152);
    cr_assert_eq(kv_cache_scale_bytes(&same, 576), 0);
    cr_assert_eq(kv_cache_row_bytes(&head, 576), 576);
    cr_assert_eq(kv_cache_scale_bytes(&head, 576), 0);
    cr_assert_eq(kv_cache_scale_bytes(&token, 576), 4);
    cr_assert_eq(kv_cache_row_bytes(&mxfp4, 576), 288);
    cr_assert_eq(kv_cache_scale_bytes(&mxfp4, 576), 18);
}
