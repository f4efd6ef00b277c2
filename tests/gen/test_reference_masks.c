/* Which keys a row of the reference sees, drawn by hand; what modifiers make of scores; what dropout keeps. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "philox.h"
#include "reference.h"

static struct reference_problem lengths(enum reference_mask mask, int64_t seqlen_q, int64_t seqlen_k) {
    return (struct reference_problem){
        .batch = 1, .heads_q = 1, .heads_k = 1, .seqlen_q = seqlen_q, .seqlen_k = seqlen_k, .mask = mask};
}

static struct reference_problem windowed(enum reference_mask mask, int64_t seqlen_q, int64_t seqlen_k, int64_t left,
                                         int64_t right) {
    struct reference_problem problem = lengths(mask, seqlen_q, seqlen_k);
    problem.window = true;
    problem.window_left = left;
    problem.window_right = right;
    return problem;
}

/* A line for each query, a letter for each key: x is seen. */
static void expect_seen_by(const struct reference_problem *problem, int64_t batch, int64_t head, const char *picture) {
    const char *at = picture;
    for (int64_t query = 0; query < problem->seqlen_q; query++) {
        char got[64] = "";
        int64_t columns = (int64_t)strcspn(at, "\n");
        cr_assert(columns == problem->seqlen_k && columns < (int64_t)sizeof got);
        for (int64_t key = 0; key < columns; key++)
            got[key] = reference_sees(problem, batch, head, query, key) ? 'x' : '.';
        cr_assert(memcmp(got, at, (size_t)columns) == 0, "batch %ld, head %ld, query %ld: expected %.*s, got %s",
                  (long)batch, (long)head, (long)query, (int)columns, at, got);
        at += columns + (at[columns] == '\n');
    }
    cr_assert(*at == '\0');
}

static void expect_seen(struct reference_problem problem, const char *picture) {
    expect_seen_by(&problem, 0, 0, picture);
}

Test(reference_masks, a_causal_mask_ends_at_the_diagonal) {
    expect_seen(lengths(REFERENCE_MASK_NONE, 2, 3), "xxx\nxxx");
    expect_seen(lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 3, 5), "xxx..\nxxxx.\nxxxxx");
    expect_seen(lengths(REFERENCE_MASK_CAUSAL_TOP_LEFT, 3, 5), "x....\nxx...\nxxx..");
}

Test(reference_masks, with_more_queries_than_keys_the_first_see_nothing) {
    expect_seen(lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 4, 2), "..\n..\nx.\nxx");
    expect_seen(lengths(REFERENCE_MASK_CAUSAL_TOP_LEFT, 4, 2), "x.\nxx\nxx\nxx");
    expect_seen(windowed(REFERENCE_MASK_NONE, 5, 2, 1, 1), "..\n..\nx.\nxx\nxx");
    expect_seen(windowed(REFERENCE_MASK_CAUSAL_TOP_LEFT, 5, 2, 1, 0), "x.\nxx\n.x\n..\n..");
}

Test(reference_masks, windows) {
    /* Of one key: the diagonal alone. */
    expect_seen(windowed(REFERENCE_MASK_NONE, 3, 5, 0, 0), "..x..\n...x.\n....x");
    expect_seen(windowed(REFERENCE_MASK_CAUSAL_TOP_LEFT, 3, 5, 0, 0), "x....\n.x...\n..x..");
    /* Without a causal mask it has a right end and stands at the bottom right. */
    expect_seen(windowed(REFERENCE_MASK_NONE, 4, 6, 1, 2), ".xxxx.\n..xxxx\n...xxx\n....xx");
    expect_seen(windowed(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 4, 6, 1, 2), ".xx...\n..xx..\n...xx.\n....xx");
    /* Unbounded at one end. */
    expect_seen(windowed(REFERENCE_MASK_NONE, 3, 5, -1, 0), "xxx..\nxxxx.\nxxxxx");
    expect_seen(windowed(REFERENCE_MASK_NONE, 3, 5, 0, -1), "..xxx\n...xx\n....x");
    /* Wider than the keys, unbounded at both: none. */
    expect_seen(windowed(REFERENCE_MASK_NONE, 2, 3, 9, 9), "xxx\nxxx");
    expect_seen(windowed(REFERENCE_MASK_NONE, 2, 3, -1, -1), "xxx\nxxx");
    expect_seen(windowed(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 3, 5, -1, -1), "xxx..\nxxxx.\nxxxxx");
    expect_seen(windowed(REFERENCE_MASK_NONE, 2, 3, INT64_C(1) << 31, INT64_C(1) << 31), "xxx\nxxx");
}

Test(reference_masks, a_window_of_2047_to_the_left_is_2048_keys) {
    struct reference_problem problem = windowed(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 4, 5000, 2047, 0);
    for (int64_t query = 0; query < 4; query++) {
        int64_t count = 0;
        for (int64_t key = 0; key < 5000; key++)
            count += reference_sees(&problem, 0, 0, query, key);
        cr_assert(count == 2048, "query %ld: %ld", (long)query, (long)count);
        cr_assert(reference_sees(&problem, 0, 0, query, 4996 + query));
    }
}

Test(reference_masks, first_keys_are_exempt_from_the_left_end_alone) {
    struct reference_problem problem = windowed(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 5, 5, 1, 0);
    problem.sink_keys = 2;
    expect_seen(problem, "x....\nxx...\nxxx..\nxxxx.\nxx.xx");
    problem.sink_keys = 99; /* beyond the length: the right end is all that is left */
    expect_seen(problem, "x....\nxx...\nxxx..\nxxxx.\nxxxxx");
    problem.mask = REFERENCE_MASK_NONE;
    expect_seen(problem, "x....\nxx...\nxxx..\nxxxx.\nxxxxx");
    problem.window_right = -1;
    expect_seen(problem, "xxxxx\nxxxxx\nxxxxx\nxxxxx\nxxxxx");
    problem = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 3, 3);
    problem.sink_keys = 2; /* nothing to be exempt from */
    expect_seen(problem, "x..\nxx.\nxxx");
}

Test(reference_masks, a_prefix_moves_the_right_end_alone) {
    struct reference_problem problem = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 4, 4);
    problem.prefix = (const int64_t[]){2};
    expect_seen(problem, "xx..\nxx..\nxxx.\nxxxx");
    problem.prefix = (const int64_t[]){0};
    expect_seen(problem, "x...\nxx..\nxxx.\nxxxx");
    problem.prefix = (const int64_t[]){9}; /* past the last key */
    expect_seen(problem, "xxxx\nxxxx\nxxxx\nxxxx");
    problem.prefix = (const int64_t[]){3};
    problem.window = true; /* the left end stays */
    problem.window_left = 1;
    problem.window_right = 0;
    expect_seen(problem, "xxx.\nxxx.\n.xx.\n..xx");
    /* Rows above the first key: a prefix is all that they see. */
    problem = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 4, 2);
    problem.prefix = (const int64_t[]){1};
    expect_seen(problem, "x.\nx.\nx.\nxx");
}

Test(reference_masks, each_sequence_has_its_own_lengths_and_diagonal) {
    struct reference_problem problem = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 3, 4);
    const int64_t queries[] = {3, 2, 0, 2, 3}, keys[] = {4, 3, 4, 0, 1}, prefix[] = {0, 0, 4, 4, 4};
    problem.batch = 5;
    problem.lengths_q = queries;
    problem.lengths_k = keys;
    const char *const pictures[] = {"xx..\nxxx.\nxxxx", "xx..\nxxx.\n....", "....\n....\n....", "....\n....\n....",
                                    "....\n....\nx..."};
    for (int64_t batch = 0; batch < 5; batch++)
        expect_seen_by(&problem, batch, 0, pictures[batch]);
    problem.prefix = prefix; /* never past a length */
    expect_seen_by(&problem, 1, 0, pictures[1]);
    expect_seen_by(&problem, 2, 0, pictures[2]);
    expect_seen_by(&problem, 3, 0, pictures[3]);
    expect_seen_by(&problem, 4, 0, "x...\nx...\nx...");
    problem.lengths_q = NULL;
    problem.mask = REFERENCE_MASK_NONE;
    expect_seen_by(&problem, 1, 0, "xxx.\nxxx.\nxxx.");
}

Test(reference_masks, masks_by_their_strides) {
    const uint8_t bytes[] = {1, 0, 1, 0, 7, 1, 0, 0, 0, 1, 1, 255};
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 2, 3);
    problem.batch = problem.heads_q = 2;
    problem.attn_mask = (struct reference_plane){bytes, 6, 0, 3}; /* one for all heads */
    expect_seen_by(&problem, 0, 0, "x.x\n.xx");
    expect_seen_by(&problem, 0, 1, "x.x\n.xx");
    expect_seen_by(&problem, 1, 1, "...\nxxx");                   /* a row that sees no key */
    problem.attn_mask = (struct reference_plane){bytes, 0, 3, 0}; /* one for all sequences and rows */
    expect_seen_by(&problem, 1, 0, "x.x\nx.x");
    expect_seen_by(&problem, 0, 1, ".xx\n.xx");
    problem.mask = REFERENCE_MASK_CAUSAL_TOP_LEFT; /* both hold */
    expect_seen_by(&problem, 0, 0, "x..\nx..");
}

Test(reference_masks, a_block_mask_hides_whole_blocks) {
    const uint8_t blocks[] = {1, 0, 0, 1, 0, 0};
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 5, 5);
    problem.block_mask = (struct reference_plane){blocks, 0, 0, 3};
    problem.block_mask_q = 3;
    problem.block_mask_k = 2;
    expect_seen(problem, "xx...\nxx...\nxx...\nxx...\nxx...");
    problem.block_mask.stride_row = 2;
    expect_seen(problem, "xx...\nxx...\nxx...\n..xx.\n..xx.");
    problem.mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT;
    expect_seen(problem, "x....\nxx...\nxx...\n..xx.\n..xx.");
}

Test(reference_masks, a_bias_hides_at_minus_infinity_and_where_log2_e_times_it_is) {
    const double bias[] = {0, -INFINITY, -FLT_MAX, -2.4e38, -2.3e38, -1e30, NAN, INFINITY, 1e38, -65504, -1, -0.0};
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 1, 12);
    problem.bias = (struct reference_plane){bias, 0, 0, 12};
    expect_seen(problem, "x...xxxxxxxx");
}

static double every_third(void *context, double score, const struct reference_place *place) {
    cr_assert(place->seqlen_q == 2 && place->seqlen_k == 7 && place->batch == 0 && place->head == 0);
    return (place->key + place->query) % 3 == 0 ? -INFINITY : score + *(const double *)context;
}

Test(reference_masks, a_users_modifier_hides_by_minus_infinity) {
    double added = 1;
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 2, 7);
    problem.modify = every_third;
    problem.modify_context = &added;
    expect_seen(problem, ".xx.xx.\nxx.xx.x");
}

Test(reference_masks, what_is_outside_is_not_seen) {
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 2, 3);
    cr_assert_not(reference_sees(&problem, 0, 0, 2, 0));
    cr_assert_not(reference_sees(&problem, 0, 0, -1, 0));
    cr_assert_not(reference_sees(&problem, 0, 0, 0, 3));
    cr_assert_not(reference_sees(&problem, 0, 0, 0, -1));
}

Test(reference_masks, a_tile_is_seen_when_one_pair_of_it_is) {
    struct reference_problem problem = windowed(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 20, 40, 4, 0);
    for (int64_t query = 0; query < 20; query += 8)
        for (int64_t key = 0; key < 40; key += 8) {
            /* From the first row's left end to the last one's diagonal. */
            int64_t low = query + 20 - 4, high = (query + 7 < 19 ? query + 7 : 19) + 20;
            bool some = key + 7 >= low && key <= high;
            cr_assert(reference_sees_some(&problem, 0, 0, query, 8, key, 8) == some, "%ld, %ld", (long)query,
                      (long)key);
        }
    cr_assert_not(reference_sees_some(&problem, 0, 0, 24, 8, 0, 40));
    cr_assert_not(reference_sees_some(&problem, 0, 0, 0, 20, 40, 8));
    cr_assert_not(reference_sees_some(&problem, 0, 0, 0, 0, 0, 40));
}

/* The layout of counters, spelled out with calls of Philox. */
Test(reference_masks, dropout_takes_sixteen_bits_of_a_counter) {
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 3, 20);
    problem.batch = 2;
    problem.heads_q = 3;
    problem.dropout = 0.3;
    problem.dropout_seed = UINT64_C(0x0123456789abcdef);
    problem.dropout_offset = UINT64_C(0x500000007); /* its low word counts */
    for (int64_t key = 0; key < 20; key++) {
        const uint32_t counter[4] = {(uint32_t)key / 8, 2, 1 * 3 + 1, 7}, seed[2] = {0x89abcdef, 0x01234567};
        uint32_t words[4];
        philox(counter, seed, words);
        const uint16_t halves[8] = {(uint16_t)words[0],         (uint16_t)(words[0] >> 16), (uint16_t)words[1],
                                    (uint16_t)(words[1] >> 16), (uint16_t)words[2],         (uint16_t)(words[2] >> 16),
                                    (uint16_t)words[3],         (uint16_t)(words[3] >> 16)};
        bool kept = halves[key % 8] >= 19661; /* 0.3 x 65536 = 19660.8 */
        cr_assert(reference_keeps(&problem, 1, 1, 2, key) == kept, "key %ld", (long)key);
    }
}

/* Sixteen bits that equal the threshold are kept; the threshold is rounded. */
Test(reference_masks, dropout_compares_with_a_rounded_threshold) {
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 1, 8);
    const uint32_t zeros[4] = {0, 0, 0, 0};
    uint32_t words[4];
    philox(zeros, zeros, words);
    double bits = words[1] & 0xffff; /* of key 2 */
    static const struct {
        double added;
        bool kept;
    } near[] = {{-0.6, true}, {0, true}, {0.4, true}, {0.5, false}, {0.6, false}, {1, false}};
    for (size_t index = 0; index < sizeof near / sizeof *near; index++) {
        problem.dropout = (bits + near[index].added) / 65536;
        cr_assert(reference_keeps(&problem, 0, 0, 0, 2) == near[index].kept, "%g", near[index].added);
    }
}

Test(reference_masks, dropout_drops_as_many_as_its_probability_says) {
    struct reference_problem problem = lengths(REFERENCE_MASK_NONE, 100, 1000);
    static const double probabilities[] = {0, 0.1, 0.5, 0.9, 0.99999};
    for (size_t index = 0; index < sizeof probabilities / sizeof *probabilities; index++) {
        double kept = 0, expected = 1 - probabilities[index];
        problem.dropout = probabilities[index];
        problem.dropout_seed = index;
        for (int64_t query = 0; query < 100; query++)
            for (int64_t key = 0; key < 1000; key++)
                kept += reference_keeps(&problem, 0, 0, query, key);
        /* Six standard deviations of a share of 1e5, and the rounding to 1/65536. */
        double allowed = 6 * sqrt(expected * (1 - expected) / 1e5) + 0.5 / 65536;
        cr_assert(fabs(kept / 1e5 - expected) <= allowed, "%g: %g", probabilities[index], kept / 1e5);
    }
}

/* One row of keys with scores log(1), log(2), ... and values 1, 10, 100, ... */
enum { KEYS = 4 };
static double q[1] = {1}, k[KEYS], v[KEYS];
static struct reference_row seen_row;
static double seen_scores[KEYS], seen_added[KEYS];

static void keep_row(void *context, const struct reference_row *row) {
    (void)context;
    seen_row = *row;
    memcpy(seen_scores, row->score, (size_t)row->key_count * sizeof *seen_scores);
    memcpy(seen_added, row->added_mass, (size_t)row->key_count * sizeof *seen_added);
}

static struct reference_problem one_row(void) {
    for (int key = 0; key < KEYS; key++) {
        k[key] = log(key + 1);
        v[key] = pow(10, key);
    }
    return (struct reference_problem){.batch = 1,
                                      .heads_q = 1,
                                      .heads_k = 1,
                                      .seqlen_q = 1,
                                      .seqlen_k = KEYS,
                                      .head_dim = 1,
                                      .head_dim_v = 1,
                                      .scale = 1,
                                      .q = q,
                                      .k = k,
                                      .v = v};
}

static void expect_row(const struct reference_problem *problem, double output, double lse) {
    double got = NAN, got_lse = NAN;
    struct error error;
    cr_assert(reference_run(problem, &got, &got_lse, keep_row, NULL, 1, &error));
    cr_assert(got == output || fabs(got - output) <= 1e-12 * fabs(output), "O: expected %.17g, got %.17g", output, got);
    cr_assert(got_lse == lse || fabs(got_lse - lse) <= 1e-12 * fabs(lse), "LSE: expected %.17g, got %.17g", lse,
              got_lse);
}

Test(reference_scores, head_scale_multiplies) {
    struct reference_problem problem = one_row();
    problem.head_scale = (const double[]){2}; /* weights 1, 4, 9, 16 */
    expect_row(&problem, (1 + 40 + 900 + 16000) / 30.0, log(30));
}

Test(reference_scores, a_cap_is_a_hyperbolic_tangent) {
    struct reference_problem problem = one_row();
    problem.softcap = 1; /* tanh(log n) = (n^2 - 1) / (n^2 + 1) */
    expect_row(&problem,
               (1 + 10 * exp(0.6) + 100 * exp(0.8) + 1000 * exp(15.0 / 17)) /
                   (1 + exp(0.6) + exp(0.8) + exp(15.0 / 17)),
               log(1 + exp(0.6) + exp(0.8) + exp(15.0 / 17)));
    problem.attn_mask.values = (const uint8_t[]){0, 0, 1, 0}; /* whatever the cap, the others weigh nothing */
    v[0] = v[1] = v[3] = NAN;
    problem.softcap = 1e-3;
    expect_row(&problem, 100, 1e-3 * tanh(1e3 * log(3)));
    cr_assert(seen_row.key_count == 1);
}

Test(reference_scores, alibi_falls_with_the_distance_from_the_diagonal) {
    struct reference_problem problem = one_row();
    problem.alibi = (const double[]){log(2)}; /* diagonal at key 3: divided by 8, 4, 2, 1 */
    expect_row(&problem, (1 / 8.0 + 10 * 2 / 4.0 + 100 * 3 / 2.0 + 1000 * 4) / (1 / 8.0 + 2 / 4.0 + 3 / 2.0 + 4),
               log(1 / 8.0 + 2 / 4.0 + 3 / 2.0 + 4));
    cr_assert(fabs(seen_added[0] - 3 * log(2)) < 1e-15 && seen_added[3] == 0);
    problem.mask = REFERENCE_MASK_CAUSAL_TOP_LEFT; /* diagonal at key 0; the prefix is to its right */
    problem.prefix = (const int64_t[]){3};
    expect_row(&problem, (1 + 10 * 2 / 2.0 + 100 * 3 / 4.0) / (1 + 1 + 3 / 4.0), log(1 + 1 + 3 / 4.0));
}

static double multiplied(void *context, double score, const struct reference_place *place) {
    cr_assert(place->key == 0 || place->key == 2);
    return *(const double *)context * score;
}

Test(reference_scores, a_bias_is_added_after_the_cap_and_a_modifier_comes_last) {
    struct reference_problem problem = one_row();
    const double bias[] = {log(5), -INFINITY, log(0.5), -INFINITY};
    problem.bias.values = bias;
    v[1] = v[3] = NAN;
    expect_row(&problem, (5 + 100 * 1.5) / 6.5, log(6.5));
    cr_assert(seen_row.key_count == 2 && fabs(seen_added[1] - log(2)) < 1e-15);
    problem.softcap = 1;
    expect_row(&problem, (5 + 100 * exp(0.8) / 2) / (5 + exp(0.8) / 2), log(5 + exp(0.8) / 2));
    double factor = 3;
    problem.softcap = 0;
    problem.alibi = (const double[]){log(2)};
    problem.modify_context = &factor;
    problem.modify = multiplied; /* (1 x 5 / 8)^3 and (3 / 2 / 2)^3 */
    double first = 125 / 512.0, second = 27 / 64.0;
    expect_row(&problem, (first + 100 * second) / (first + second), log(first + second));
}

Test(reference_scores, a_sink_joins_the_denominator) {
    struct reference_problem problem = one_row();
    problem.sink = (const double[]){log(10)}; /* weights 1, 2, 3, 4 of 20 */
    expect_row(&problem, 4321 / 20.0, log(20));
    problem.sink = (const double[]){-INFINITY};
    expect_row(&problem, 4321 / 10.0, log(10));
    problem.sink = (const double[]){800}; /* far above the keys: exp of it overflows */
    expect_row(&problem, 4321 * exp(-800), 800);
    problem.attn_mask.values = (const uint8_t[]){0, 0, 0, 0};
    expect_row(&problem, 0, 800);
    problem.sink = NULL;
    expect_row(&problem, 0, -INFINITY);
    problem.sink = (const double[]){-INFINITY};
    expect_row(&problem, 0, -INFINITY);
}

Test(reference_scores, dropout_scales_what_it_keeps_and_leaves_lse_alone) {
    struct reference_problem problem = one_row();
    problem.dropout = 0.75;
    double expected = 0;
    for (int key = 0; key < KEYS; key++)
        expected += reference_keeps(&problem, 0, 0, 0, key) ? 4 * v[key] * (key + 1) / 10 : 0;
    cr_assert(expected > 0 && expected < 4 * 432.1);
    expect_row(&problem, expected, log(10));
    problem.dropout = 0.99999; /* 65535 of 65536 */
    expect_row(&problem, 0, log(10));
}

Test(reference_scores, what_is_dropped_counts_where_it_is_not_finite) {
    struct reference_problem problem = one_row();
    problem.dropout = 0.5;
    int dropped = 0;
    while (dropped < KEYS && reference_keeps(&problem, 0, 0, 0, dropped))
        dropped++;
    cr_assert(dropped < KEYS);
    v[dropped] = -INFINITY;
    expect_row(&problem, -INFINITY, log(10));
    v[dropped] = NAN;
    double output, lse;
    struct error error;
    cr_assert(reference_run(&problem, &output, &lse, NULL, NULL, 1, &error));
    cr_assert(isnan(output) && fabs(lse - log(10)) < 1e-15);
}

Test(reference_scores, rows_that_do_not_exist_are_left_alone) {
    double queries[6] = {1, 1, 1, 1, 1, 1}, output[6], lse[6];
    struct reference_problem problem = one_row();
    const int64_t lengths_q[] = {1, 0}, lengths_k[] = {2, 1};
    problem.batch = 2;
    problem.seqlen_q = 3;
    problem.seqlen_k = 2;
    problem.q = queries;
    problem.lengths_q = lengths_q;
    problem.lengths_k = lengths_k;
    for (int index = 0; index < 6; index++)
        output[index] = lse[index] = -7;
    struct error error;
    cr_assert(reference_run(&problem, output, lse, NULL, NULL, 1, &error));
    cr_assert(fabs(output[0] - 7) < 1e-14 && fabs(lse[0] - log(3)) < 1e-15);
    for (int index = 1; index < 6; index++)
        cr_assert(output[index] == -7 && lse[index] == -7);
}
