/* Whether an instance serves a request, by the descriptor that libfmha reads; whole error texts. Running is tested with
 * `verify`. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "template.h"

#define NAME "fmha_forward_gfx1151_f16_d64_m64k32w4"

static struct template_engine *engine;
static struct instance *instance;
static struct reference_problem problem;
static struct execute_request request;
static float lse;

static void start(void) {
    struct error error;
    struct spec_choices choices = {.arch = "gfx1151"};
    struct spec *specs;
    size_t count;
    engine = template_engine_new(NULL, &error);
    instance = malloc(sizeof *instance);
    cr_assert(engine && instance);
    choices.field[SPEC_HEAD_DIM] = "64";
    cr_assert(spec_product(&choices, engine, &specs, &count, &error), "%s", error.text);
    cr_assert(instance_emit(engine, specs, instance, &error), "%s", error.text);
    cr_assert_str_eq(instance->name, NAME);
    free(specs);
    problem = (struct reference_problem){.batch = 1,
                                         .heads_q = 4,
                                         .heads_k = 2,
                                         .seqlen_q = 33,
                                         .seqlen_k = 65,
                                         .head_dim = 64,
                                         .head_dim_v = 64,
                                         .mask = REFERENCE_MASK_NONE,
                                         .scale = 0.125};
    request = (struct execute_request){.problem = &problem, .lse = &lse};
}

static void stop(void) {
    instance_free(instance);
    free(instance);
    template_engine_free(engine);
}

TestSuite(execute, .init = start, .fini = stop);

static void assert_served(void) {
    struct error error;
    cr_assert(execute_check(instance, &request, &error), "%s", error.text);
}

static void assert_refused(enum error_kind kind, const char *expected) {
    struct error error;
    cr_assert_not(execute_check(instance, &request, &error), "%s", expected);
    cr_assert_eq(error.kind, kind);
    cr_assert_str_eq(error.text, expected);
}

Test(execute, serves) {
    assert_served();
    request.lse = NULL;
    assert_served();
    request.v.offset = 8;
    request.o = (struct tensor_layout){TENSOR_BHSD, 16, 3, 5, 7}; /* paddings are rounded up to what is aligned */
    assert_served();
}

Test(execute, a_constraint_that_fails) {
    problem.heads_q = 3;
    assert_refused(ERROR_USAGE,
                   NAME ": shape 1,3,2,33,65: expected heads_q % heads_k equal to 0, got 1; choose heads_q "
                        "as a multiple of heads_k");
}

/* Where tensors begin counts as it does in a program that hands libfmha their addresses. */
Test(execute, tensors_that_are_not_aligned) {
    request.k.offset = 1;
    assert_refused(ERROR_USAGE,
                   NAME ": shape 1,4,2,33,65: expected an address that is a multiple of 16 bytes as k, got "
                        "0x1002; align k to 16 bytes");
}

Test(execute, no_lse_where_the_kernel_needs_one) {
    for (int i = 0; i < instance->argument_count; i++) {
        instance->arguments[i].optional = false;
    }
    assert_served();
    request.lse = NULL;
    assert_refused(ERROR_USAGE,
                   NAME ": shape 1,4,2,33,65: expected an address as lse, got NULL; give the problem its lse");
}

Test(execute, lengths_beyond_32_bits) {
    instance->constraint_count = 0;
    problem.seqlen_k = INT64_C(1) << 31;
    assert_refused(ERROR_USAGE,
                   NAME ": shape 1,4,2,33,2147483648: expected seqlen_k at most 2147483647, got 2147483648; "
                        "choose seqlen_k at most 2147483647");
}

Test(execute, what_libfmha_does_not_know) {
    strcpy(instance->arguments[0].name, "query");
    assert_refused(ERROR_RUN,
                   NAME ": argument 'query' (buffer of f16): expected a buffer (q, k, v, o, lse, bias, ...), "
                        "an f32 (scale, softcap, ...) or an integer (batch, heads_q, seqlen_k, "
                        "stride_q_row, ...) that a problem has: no problem offers this one; rename it in "
                        "the template");
}
