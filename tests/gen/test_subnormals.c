/* 16-bit numbers below the smallest normal one, which gfx90a's matrix instructions take for zeros and other chips keep:
 * as operands of a kernel, and as its weights. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inputs.h"
#include "instance.h"
#include "template.h"
#include "trial.h"

struct fixture {
    struct instance instance;
    struct execute_target target;
    struct trial trial;
};

enum { HEAD_DIM = 64, KEYS = 1000, QUERIES = 20 };

static const struct reference_problem problem = {.batch = 1,
                                                 .heads_q = 1,
                                                 .heads_k = 1,
                                                 .seqlen_q = QUERIES,
                                                 .seqlen_k = KEYS,
                                                 .head_dim = HEAD_DIM,
                                                 .head_dim_v = HEAD_DIM,
                                                 .mask = REFERENCE_MASK_NONE,
                                                 .scale = 0x1p-3};

static void begin(struct fixture *with, const char *arch, enum half_type type) {
    struct error error;
    struct spec_choices choices = {
        .arch = arch, .field[SPEC_HEAD_DIM] = "64", .field[SPEC_DTYPE] = type == HALF_F16 ? "f16" : "bf16"};
    struct spec *specs;
    size_t count;
    char device[32];
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert(engine, "%s", error.text);
    cr_assert(spec_product(&choices, engine, &specs, &count, &error), "%s", error.text);
    cr_assert(instance_emit(engine, &specs[0], &with->instance, &error), "%s", error.text);
    snprintf(device, sizeof device, "emu:%s", arch);
    cr_assert(execute_open(device, &with->instance, &(struct execute_options){0}, &with->target, &error), "%s",
              error.text);
    cr_assert(trial_new(&with->trial, &problem, type, &error), "%s", error.text);
    free(specs);
    template_engine_free(engine);
}

static void end(struct fixture *with) {
    trial_free(&with->trial);
    execute_close(&with->target);
    instance_free(&with->instance);
}

/* Whether the kernel gives what the reference says. */
static bool passes(struct fixture *with) {
    struct error error;
    struct execute_request layouts = {0};
    struct findings findings = {0};
    struct trial_errors errors;
    cr_assert(trial_run(&with->trial, &with->target, &layouts, true, &findings, &error), "%s", error.text);
    trial_compare(&with->trial, true, &errors, &findings);
    bool right = findings.count == 0;
    findings_free(&findings);
    return right;
}

/* Elements of either sign, the subnormals among them never so small that nobody would miss them. */
static void fill(uint16_t *bits, size_t count, enum half_type type, double magnitude) {
    uint64_t state = 3;
    for (size_t i = 0; i < count; i++) {
        double share = 0.5 + (double)(inputs_next(&state) >> 12) * 0x1p-53;
        bits[i] = half_from_double(type, inputs_next(&state) & 1 ? magnitude * share : -magnitude * share);
    }
}

enum of_tensor { TENSOR_Q, TENSOR_K, TENSOR_V };

/* One tensor is subnormal throughout; q and k, whose products are scores, make up for one another. */
static void fill_all(struct fixture *with, enum of_tensor subnormal) {
    enum half_type type = with->trial.type;
    double smallest = type == HALF_F16 ? 0x1p-14 : 0x1p-126, large = type == HALF_F16 ? 0x1p15 : 0x1p126, normal = 1;
    fill(with->trial.q, QUERIES * HEAD_DIM, type,
         subnormal == TENSOR_Q   ? smallest
         : subnormal == TENSOR_K ? large
                                 : normal);
    fill(with->trial.k, KEYS * HEAD_DIM, type,
         subnormal == TENSOR_K   ? smallest
         : subnormal == TENSOR_Q ? large
                                 : normal);
    fill(with->trial.v, KEYS * HEAD_DIM, type, subnormal == TENSOR_V ? smallest : normal);
}

/* A float32 sum of V's subnormals in bf16 is no normal number either: all of them are within the bound of O. */
static void check_operands(const char *arch, enum half_type type, bool flushes) {
    struct fixture with;
    begin(&with, arch, type);
    cr_assert_eq(with.instance.flushes_subnormals, flushes, "%s", arch);
    for (int tensor = TENSOR_Q; tensor <= (type == HALF_F16 ? TENSOR_V : TENSOR_K); tensor++) {
        fill_all(&with, (enum of_tensor)tensor);
        with.instance.flushes_subnormals = flushes;
        cr_expect(passes(&with), "%s, type %d, tensor %d: refused", arch, type, tensor);
        with.instance.flushes_subnormals = !flushes;
        cr_expect_not(passes(&with), "%s, type %d, tensor %d: accepted with the flag turned", arch, type, tensor);
    }
    end(&with);
}

Test(subnormals, operands_count_where_the_kernel_says_so) {
    check_operands("gfx90a", HALF_F16, true);
    check_operands("gfx90a", HALF_BF16, true);
    check_operands("gfx942", HALF_F16, false);
    check_operands("gfx908", HALF_BF16, false);
}

/* A first key outweighs each of the others by a power of two, but its values are zeros: O is what the light keys bring,
 * 999 of them, and nothing where their weights are lost. */
static void check_weights(const char *arch, enum half_type type, int light) {
    struct fixture with;
    begin(&with, arch, type);
    for (int i = 0; i < QUERIES * HEAD_DIM; i++)
        with.trial.q[i] = half_from_double(type, i % HEAD_DIM == 0 ? 8 : 0);
    for (int i = 0; i < KEYS * HEAD_DIM; i++) {
        bool first = i < HEAD_DIM;
        with.trial.k[i] = half_from_double(type, i % HEAD_DIM == 0 && !first ? light * log(2) : 0);
        with.trial.v[i] = half_from_double(type, first ? 0 : 512 + i % 7);
    }
    cr_expect(passes(&with), "%s, type %d: weights of 2^%d are lost", arch, type, light);
    for (int i = 0; i < QUERIES * HEAD_DIM; i++)
        cr_assert_gt(half_to_double(type, with.trial.o[i]), 0, "%s, type %d: O is zero", arch, type);
    end(&with);
}

/* The smallest normal number of f16 is 2^-14; weights on gfx90a are made larger by 2^15 and kept down to 2^-29. */
Test(subnormals, small_weights_are_kept) {
    static const int light[] = {-13, -15, -16, -20, -24, -28};
    for (size_t i = 0; i < sizeof light / sizeof *light; i++) {
        check_weights("gfx90a", HALF_F16, light[i]);
        check_weights("gfx90a", HALF_BF16, light[i]);
    }
    check_weights("gfx942", HALF_F16, -20);
}
