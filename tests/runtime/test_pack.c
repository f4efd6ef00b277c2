/* fmha_pack on the emulated device, with instances that fmhagen makes: what it accepts, what it moves, and that
 * attention on what was packed is attention on the original. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "made_support.h"

#define POISON 0x7fd5u

TestSuite(pack, .init = made_set_up, .fini = made_tear_down, .timeout = 120);

static void add_pack_library(void) {
    made_add_library("pack", "--op pack --v-layout row,transposed --align 16,2");
}

/* ---- Tensors ---- */

/* On the device and on the host: [batch][heads][rows][columns], elements of 16 bits, in memory that is poisoned. */
struct tensor {
    int64_t batch, heads, rows, columns, elements, offset;
    fmha_tensor view;
    uint16_t *bits; /* of the whole memory */
    uint16_t *memory;
};

static uint64_t state = 1;

/* Finite, 2^-3 to 1, of either sign. */
static uint16_t random_half(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint16_t)(state >> 63 << 15 | (12 + (state >> 40) % 3) << 10 | (state >> 48 & 0x3ff));
}

static uint16_t *at(const struct tensor *t, int64_t b, int64_t h, int64_t r, int64_t c) {
    return t->bits + t->offset + b * t->view.stride_batch + h * t->view.stride_head + r * t->view.stride_row + c;
}

/* In the order [batch][rows][heads][columns], with gaps between rows, heads and batches and before the first; strides
 * are multiples of `step`. */
static struct tensor tensor_new(const char *label, int64_t batch, int64_t heads, int64_t rows, int64_t columns,
                                int64_t step, fmha_access access) {
    struct tensor t = {.batch = batch, .heads = heads, .rows = rows, .columns = columns, .offset = 7 * step};
    t.view.stride_head = (columns + 3 + step - 1) / step * step;
    t.view.stride_row = heads * t.view.stride_head + 3 * step;
    t.view.stride_batch = rows * t.view.stride_row + 5 * step;
    t.elements = t.offset + batch * t.view.stride_batch;
    t.bits = malloc((size_t)t.elements * 2);
    cr_assert_not_null(t.bits);
    for (int64_t i = 0; i < t.elements; i++) {
        t.bits[i] = POISON;
    }
    for (int64_t i = 0; access == FMHA_ACCESS_READ && i < batch * heads * rows * columns; i++) {
        *at(&t, i / columns / rows / heads, i / columns / rows % heads, i / columns % rows, i % columns) =
            random_half();
    }
    cr_assert_eq(fmha_memory_alloc(device, (size_t)t.elements * 2, label, (void **)&t.memory), FMHA_OK);
    cr_assert_eq(fmha_memory_write(device, t.memory, t.bits, (size_t)t.elements * 2), FMHA_OK);
    t.view.data = t.memory + t.offset;
    const fmha_tensor_view view = {
        .label = label,
        .address = t.view.data,
        .element_bytes = 2,
        .dimensions = 4,
        .shape = {batch, heads, rows, columns},
        .strides = {t.view.stride_batch, t.view.stride_head, t.view.stride_row, 1},
        .access = access,
    };
    cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK, "%s", fmha_last_error());
    return t;
}

/* Declares what was written as an input of what follows. */
static void becomes_input(const struct tensor *t, const char *label) {
    const fmha_tensor_view view = {
        .label = label,
        .address = t->view.data,
        .element_bytes = 2,
        .dimensions = 4,
        .shape = {t->batch, t->heads, t->rows, t->columns},
        .strides = {t->view.stride_batch, t->view.stride_head, t->view.stride_row, 1},
        .access = FMHA_ACCESS_READ,
    };
    cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK, "%s", fmha_last_error());
}

static void read_back(struct tensor *t) {
    cr_assert_eq(fmha_memory_read(device, t->bits, t->memory, (size_t)t->elements * 2), FMHA_OK);
}

static void tensor_free(struct tensor *t) {
    fmha_memory_free(device, t->memory);
    free(t->bits);
}

static fmha_pack_problem problem_of(const struct tensor *from, const struct tensor *to, int transposed) {
    fmha_pack_problem problem = FMHA_PACK_PROBLEM_INIT;
    problem.transposed = transposed;
    problem.batch = from->batch;
    problem.heads = from->heads;
    problem.seqlen = from->rows;
    problem.head_dim = from->columns;
    problem.from = from->view;
    problem.to = to->view;
    return problem;
}

/* Packs a tensor whose strides are multiples of `from_step` into one of `to_step`, and looks at every element and at
 * all between them. */
static void check_pack(int64_t from_step, int64_t to_step, int transposed) {
    const int64_t batch = 2, heads = 3, seqlen = 70, head_dim = 72;
    struct tensor from = tensor_new("from", batch, heads, seqlen, head_dim, from_step, FMHA_ACCESS_READ);
    struct tensor to = tensor_new("to", batch, heads, transposed ? head_dim : seqlen, transposed ? seqlen : head_dim,
                                  to_step, FMHA_ACCESS_WRITE);
    const fmha_pack_problem problem = problem_of(&from, &to, transposed);
    cr_assert_eq(fmha_pack_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    made_finish(fmha_pack(device, &problem));
    read_back(&to);
    for (int64_t i = 0; i < batch * heads * seqlen * head_dim; i++) {
        int64_t b = i / head_dim / seqlen / heads, h = i / head_dim / seqlen % heads, s = i / head_dim % seqlen;
        int64_t d = i % head_dim;
        uint16_t *got = transposed ? at(&to, b, h, d, s) : at(&to, b, h, s, d);
        cr_assert_eq(*got, *at(&from, b, h, s, d), "%d %d %d %d", (int)b, (int)h, (int)s, (int)d);
        *got = POISON;
    }
    for (int64_t i = 0; i < to.elements; i++) {
        cr_assert_eq(to.bits[i], POISON, "element %d", (int)i);
    }
    tensor_free(&from);
    tensor_free(&to);
}

Test(pack, moves_from_any_strides_into_any) {
    add_pack_library();
    for (int transposed = 0; transposed < 2; transposed++) {
        check_pack(8, 8, transposed);
        check_pack(1, 8, transposed);
        check_pack(8, 1, transposed);
    }
}

/* ---- Attention on what was packed ---- */

static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double magnitude = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

static void note_taken(void *context, const fmha_consideration *consideration) {
    if (consideration->taken) {
        snprintf(context, 256, "%s", consideration->instance);
    }
}

static void attend(const fmha_forward_problem *problem, const char *instance) {
    char taken[256] = "";
    cr_assert_eq(fmha_forward_explain(device, problem, note_taken, taken), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(taken, instance);
    made_finish(fmha_forward(device, problem));
}

Test(pack, attention_on_packed_tensors_is_that_on_the_original) {
    enum { BATCH = 2, HEADS_Q = 4, HEADS_K = 2, QUERIES = 37, KEYS = 91, DIM = 64 };
    add_pack_library();
    made_add_library("forward", "--hd 64 --causal --v-layout row,transposed --align 16,2");
    struct tensor q = tensor_new("q", BATCH, HEADS_Q, QUERIES, DIM, 8, FMHA_ACCESS_READ);
    struct tensor k = tensor_new("k", BATCH, HEADS_K, KEYS, DIM, 1, FMHA_ACCESS_READ);
    struct tensor v = tensor_new("v", BATCH, HEADS_K, KEYS, DIM, 1, FMHA_ACCESS_READ);

    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.head_dim = DIM;
    problem.scale = 0.125f;
    problem.batch = BATCH;
    problem.heads_q = HEADS_Q;
    problem.heads_k = HEADS_K;
    problem.seqlen_q = QUERIES;
    problem.seqlen_k = KEYS;
    problem.q = q.view;
    problem.k = k.view;
    problem.v = v.view;
    struct tensor o = tensor_new("o", BATCH, HEADS_Q, QUERIES, DIM, 8, FMHA_ACCESS_WRITE);
    problem.o = o.view;
    attend(&problem, "fmha_forward_gfx1151_f16_d64_causal_a2_m64k32w4");

    struct tensor k_packed = tensor_new("k_packed", BATCH, HEADS_K, KEYS, DIM, 8, FMHA_ACCESS_WRITE);
    fmha_pack_problem pack = problem_of(&k, &k_packed, 0);
    made_finish(fmha_pack(device, &pack));
    becomes_input(&k_packed, "k_packed");
    struct tensor v_packed = tensor_new("v_packed", BATCH, HEADS_K, DIM, KEYS, 8, FMHA_ACCESS_WRITE);
    pack = problem_of(&v, &v_packed, 1);
    made_finish(fmha_pack(device, &pack));
    becomes_input(&v_packed, "v_packed");
    struct tensor o_packed = tensor_new("o_packed", BATCH, HEADS_Q, QUERIES, DIM, 8, FMHA_ACCESS_WRITE);
    problem.k = k_packed.view;
    problem.v = v_packed.view;
    problem.v_layout = FMHA_V_TRANSPOSED;
    problem.o = o_packed.view;
    attend(&problem, "fmha_forward_gfx1151_f16_d64_causal_vt_m64k32w4");

    read_back(&o);
    read_back(&o_packed);
    /* Weights sum to 1 and |v| is below 1: in each run the rounding of P and that of O to f16 move an element by 2^-11
     * at most, each; float32's errors are far below. */
    const double bound = ldexp(1, -9);
    for (int64_t i = 0; i < BATCH * HEADS_Q * QUERIES * DIM; i++) {
        int64_t b = i / DIM / QUERIES / HEADS_Q, h = i / DIM / QUERIES % HEADS_Q, r = i / DIM % QUERIES, c = i % DIM;
        double expected = half(*at(&o, b, h, r, c)), got = half(*at(&o_packed, b, h, r, c));
        cr_assert(fabs(expected - got) <= bound, "%d %d %d %d: expected %g, got %g", (int)b, (int)h, (int)r, (int)c,
                  expected, got);
    }
    struct tensor *const all[] = {&q, &k, &v, &k_packed, &v_packed, &o, &o_packed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tensor_free(all[i]);
    }
}

Test(pack, is_made_by_the_generator_where_no_library_has_it) {
    setenv("FMHA_GENERATOR", FMHAGEN_PATH, 1);
    check_pack(1, 8, 1);
}

/* ---- What is refused ---- */

Test(pack, refuses) {
    static uint16_t memory[64];
    fmha_pack_problem whole = FMHA_PACK_PROBLEM_INIT, problem;
    whole.batch = whole.heads = 1;
    whole.seqlen = whole.head_dim = 8;
    whole.from.data = whole.to.data = memory;
    whole.from.stride_row = whole.to.stride_row = 8;
    made_expect(fmha_pack(NULL, &whole), FMHA_ERROR_ARGUMENT,
                "fmha_pack: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_pack(device, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_pack: expected a device and a problem, got NULL; pass a valid pointer");
    problem = whole;
    problem.struct_bytes = 8;
    made_expect_short(fmha_pack(device, &problem), "fmha_pack", sizeof problem, 8);
    problem = whole;
    problem.transposed = 2;
    made_expect(fmha_pack(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_pack: expected transposed to be 0 or 1 and reserved to be 0, got 2 and 0; begin with "
                "FMHA_PACK_PROBLEM_INIT");
    problem = whole;
    problem.reserved = 1;
    made_expect(fmha_pack(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_pack: expected transposed to be 0 or 1 and reserved to be 0, got 0 and 1; begin with "
                "FMHA_PACK_PROBLEM_INIT");
    problem = whole;
    problem.seqlen = -1;
    made_expect(
        fmha_pack(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_pack: expected batch, heads, seqlen and head_dim of 0 and up, got 1, 1, -1 and 8; set them to the "
        "tensors' sizes");
    problem = whole;
    problem.from.data = NULL;
    made_expect(fmha_pack(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_pack: from: expected the address of a tensor, got NULL; give the problem its from");
    problem = whole;
    problem.to.stride_row = -8;
    made_expect(
        fmha_pack(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_pack: to: expected strides of 0 and up, below 2^62 elements, got -8; pass a tensor that does not run "
        "backwards, with strides in elements");
}

Test(pack, nothing_to_move_needs_no_instance) {
    fmha_pack_problem problem = FMHA_PACK_PROBLEM_INIT;
    cr_assert_eq(fmha_pack(device, &problem), FMHA_OK, "%s", fmha_last_error());
    problem.batch = problem.heads = problem.seqlen = 1;
    cr_assert_eq(fmha_pack(device, &problem), FMHA_OK, "%s", fmha_last_error());
    problem.head_dim = 1;
    problem.transposed = 1;
    made_expect(
        fmha_pack_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE,
        "operation=pack mask=none v_layout=transposed align=16 on gfx1151: expected an instance, got none among 0 in "
        "0 libraries; make one with `fmhagen library DIR --arch gfx1151 --op pack --v-layout transposed` and name DIR "
        "in FMHA_LIBRARY_PATH; fmhagen, which could make one, is not here (FMHA_GENERATOR names it)");
}

Test(pack, a_length_beyond_the_kernels_is_no_instance) {
    add_pack_library();
    fmha_pack_problem problem = FMHA_PACK_PROBLEM_INIT;
    problem.batch = problem.heads = problem.head_dim = 1;
    problem.seqlen = (INT64_C(1) << 30) + 1;
    cr_assert_eq(fmha_pack_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_assert(strstr(fmha_last_error(), "expected seqlen_k at most 1073741824, got 1073741825"), "%s",
              fmha_last_error());
}
