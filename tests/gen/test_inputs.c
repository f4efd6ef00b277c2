/* Inputs that depend on which keys are seen: what they put where, with masks and lengths. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "inputs.h"

enum { BATCH = 3, HEADS_Q = 4, HEADS_K = 2, QUERIES = 6, KEYS = 40, HEAD_DIM = 8 };

static uint16_t q[BATCH * HEADS_Q * QUERIES * HEAD_DIM], k[BATCH * HEADS_K * KEYS * HEAD_DIM],
    v[BATCH * HEADS_K * KEYS * HEAD_DIM];
static const int64_t lengths_q[BATCH] = {6, 3, 0}, lengths_k[BATCH] = {40, 20, 11};

/* The last sequence has no queries; the others see a window and two first keys, each head without one key more. */
static struct reference_problem problem_with_window(void) {
    static uint8_t seen[HEADS_Q * KEYS];
    for (int index = 0; index < HEADS_Q * KEYS; index++)
        seen[index] = index % KEYS != 33 + index / KEYS / 2;
    return (struct reference_problem){.batch = BATCH,
                                      .heads_q = HEADS_Q,
                                      .heads_k = HEADS_K,
                                      .seqlen_q = QUERIES,
                                      .seqlen_k = KEYS,
                                      .head_dim = HEAD_DIM,
                                      .head_dim_v = HEAD_DIM,
                                      .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
                                      .scale = 1,
                                      .lengths_q = lengths_q,
                                      .lengths_k = lengths_k,
                                      .window = true,
                                      .window_left = 3,
                                      .window_right = -1,
                                      .sink_keys = 2,
                                      .attn_mask = {seen, 0, KEYS, 0}};
}

static struct reference_problem plain_problem(enum reference_mask mask) {
    return (struct reference_problem){.batch = BATCH,
                                      .heads_q = HEADS_Q,
                                      .heads_k = HEADS_K,
                                      .seqlen_q = QUERIES,
                                      .seqlen_k = KEYS,
                                      .head_dim = HEAD_DIM,
                                      .head_dim_v = HEAD_DIM,
                                      .mask = mask,
                                      .scale = 1};
}

/* Keys of the first sequence's rows: 34 - 3 ... 34 for the first, to 39 for the last. */
static bool is_seen(int64_t batch, int64_t head_k, int64_t key) {
    if (batch == 0)
        return key < 2 || (key >= 31 && key != 33 + head_k);
    return batch == 1 && (key < 2 || (key >= 14 && key < 20));
}

static int not_finite(const uint16_t *row) {
    int count = 0;
    for (int d = 0; d < HEAD_DIM; d++)
        count += !isfinite(half_to_double(HALF_F16, row[d]));
    return count;
}

Test(inputs, nan_is_hidden_at_each_key_that_no_row_sees) {
    struct reference_problem problem = problem_with_window();
    inputs_make(INPUT_NAN_HIDDEN, &problem, HALF_F16, 1, q, k, v);
    for (int64_t head = 0; head < BATCH * HEADS_K; head++)
        for (int64_t key = 0; key < KEYS; key++) {
            int expected = is_seen(head / HEADS_K, head % HEADS_K, key) ? 0 : HEAD_DIM;
            cr_assert(not_finite(k + (head * KEYS + key) * HEAD_DIM) == expected, "K: head %ld, key %ld", (long)head,
                      (long)key);
            cr_assert(not_finite(v + (head * KEYS + key) * HEAD_DIM) == expected, "V: head %ld, key %ld", (long)head,
                      (long)key);
        }
    for (int row = 0; row < BATCH * HEADS_Q * QUERIES; row++)
        cr_assert(not_finite(q + row * HEAD_DIM) == 0);
}

/* One element of q, and of K and V at the last two keys that some row sees. */
static void expect_nan_at(const struct reference_problem *problem, int64_t head, int64_t of_k, int64_t of_v) {
    inputs_make(INPUT_NAN_VISIBLE, problem, HALF_F16, 1, q, k, v);
    for (int64_t row = 0; row < BATCH * HEADS_K * KEYS; row++) {
        cr_assert(not_finite(k + row * HEAD_DIM) == (row == head * KEYS + of_k), "K: row %ld", (long)row);
        cr_assert(not_finite(v + row * HEAD_DIM) == (row == head * KEYS + of_v), "V: row %ld", (long)row);
    }
    for (int row = 0; row < BATCH * HEADS_Q * QUERIES; row++)
        cr_assert(not_finite(q + row * HEAD_DIM) == (row == 0));
}

Test(inputs, nan_is_visible_at_the_last_keys_that_are_seen) {
    struct reference_problem problem = problem_with_window();
    expect_nan_at(&problem, 1 * HEADS_K + 1, 19, 18);
    problem = plain_problem(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT);
    expect_nan_at(&problem, BATCH * HEADS_K - 1, KEYS - 1, KEYS - 2);
    problem = plain_problem(REFERENCE_MASK_CAUSAL_TOP_LEFT);
    expect_nan_at(&problem, BATCH * HEADS_K - 1, QUERIES - 1, QUERIES - 2);
}

/* The query is a multiple of its key: the one that it is nearest to. */
Test(inputs, an_impulse_picks_a_key_that_its_row_sees) {
    struct reference_problem problem = problem_with_window();
    int64_t rows = 0, last = -1, different = 0;
    inputs_make(INPUT_IMPULSE, &problem, HALF_F16, 1, q, k, v);
    for (int64_t batch = 0; batch < BATCH; batch++)
        for (int64_t head = 0; head < HEADS_Q; head++)
            for (int64_t query = 0; query < lengths_q[batch]; query++) {
                const uint16_t *of_q = q + ((batch * HEADS_Q + head) * QUERIES + query) * HEAD_DIM;
                double best = -INFINITY;
                int64_t nearest = -1;
                for (int64_t key = 0; key < KEYS; key++) {
                    const uint16_t *of_k = k + ((batch * HEADS_K + head / 2) * KEYS + key) * HEAD_DIM;
                    double score = 0;
                    for (int d = 0; d < HEAD_DIM; d++)
                        score += half_to_double(HALF_F16, of_q[d]) * half_to_double(HALF_F16, of_k[d]);
                    if (score > best)
                        best = score, nearest = key;
                }
                cr_assert(reference_sees(&problem, batch, head, query, nearest), "batch %ld, head %ld, query %ld: %ld",
                          (long)batch, (long)head, (long)query, (long)nearest);
                different += nearest != last;
                last = nearest;
                rows++;
            }
    cr_assert(rows == 36 && different > 18, "%ld of %ld", (long)different, (long)rows);
}

/* Past a sequence's length nothing is put that a kernel could miss. */
Test(inputs, infinities_of_v_lie_within_each_sequence) {
    static const enum input_kind kinds[] = {INPUT_INFINITE_V, INPUT_LONE_V, INPUT_STREWN_V};
    static const int counts[] = {8, 1, HEAD_DIM};
    struct reference_problem problem = problem_with_window();
    for (size_t kind = 0; kind < 3; kind++) {
        inputs_make(kinds[kind], &problem, HALF_F16, 1, q, k, v);
        for (int64_t head = 0; head < BATCH * HEADS_K; head++) {
            int within = 0, past = 0;
            for (int64_t key = 0; key < KEYS; key++)
                *(key < lengths_k[head / HEADS_K] ? &within : &past) += not_finite(v + (head * KEYS + key) * HEAD_DIM);
            cr_assert(within == counts[kind] && past == 0, "%s, head %ld: %d, %d", inputs_name(kinds[kind]), (long)head,
                      within, past);
        }
    }
}

/* V a part of K's rows has no memory of its own, nor anything in K that is not finite. */
Test(inputs, nothing_is_put_where_v_is_part_of_k) {
    static const enum input_kind kinds[] = {INPUT_INFINITE_V, INPUT_LONE_V, INPUT_STREWN_V};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct reference_problem problem = plain_problem(REFERENCE_MASK_NONE);
        problem.v_in_k = true;
        uint16_t none[8] = {0};
        inputs_make(kinds[i], &problem, HALF_F16, 1, q, k, none);
        for (size_t n = 0; n < sizeof none / sizeof *none; n++)
            cr_assert(none[n] == 0);
        for (size_t n = 0; n < sizeof k / sizeof *k; n++)
            cr_assert(isfinite(half_to_double(HALF_F16, k[n])));
    }
}
