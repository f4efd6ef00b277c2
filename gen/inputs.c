#include "inputs.h"

#include <math.h>
#include <stdbool.h>

const char *inputs_name(enum input_kind kind) {
    static const char *const names[] = {
        [INPUT_RANDOM] = "random",
        [INPUT_UNBALANCED] = "unbalanced",
        [INPUT_IMPULSE] = "impulse",
        [INPUT_LARGE] = "large",
        [INPUT_FAR_BELOW_ZERO] = "far-below-zero",
        [INPUT_HUGE] = "huge",
        [INPUT_NAN_VISIBLE] = "nan-visible",
        [INPUT_NAN_HIDDEN] = "nan-hidden",
        [INPUT_INFINITE_V] = "infinite-v",
        [INPUT_LONE_V] = "lone-v",
        [INPUT_STREWN_V] = "strewn-v",
        [INPUT_BELOW_SENTINELS] = "below-sentinels",
        [INPUT_STEPS] = "steps",
    };
    return names[kind];
}

uint64_t inputs_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double inputs_normal(uint64_t *state) {
    uint64_t bits = inputs_next(state);
    double sum = 0;
    for (int part = 0; part < 4; part++)
        sum += (double)(bits >> (16 * part) & 0xffff);
    /* Four uniform numbers in [0, 65535]: mean 2 x 65535, variance 4 / 12 x 65536^2. */
    return (sum - 131070.0) / 65536.0 * sqrt(3.0);
}

/* One tensor under construction: rows of one head after another. */
struct tensor {
    uint16_t *bits;
    int64_t heads, rows, columns; /* heads: batch x heads */
    enum half_type type;
};

static uint16_t *element(const struct tensor *tensor, int64_t head, int64_t row, int64_t column) {
    return tensor->bits + (head * tensor->rows + row) * tensor->columns + column;
}

static void put(const struct tensor *tensor, int64_t head, int64_t row, int64_t column, double value) {
    *element(tensor, head, row, column) = half_from_double(tensor->type, value);
}

static void fill_normal(const struct tensor *tensor, uint64_t *state) {
    for (int64_t index = 0; index < tensor->heads * tensor->rows * tensor->columns; index++)
        tensor->bits[index] = half_from_double(tensor->type, inputs_normal(state));
}

static void fill_constant(const struct tensor *tensor, double value) {
    uint16_t bits = half_from_double(tensor->type, value);
    for (int64_t index = 0; index < tensor->heads * tensor->rows * tensor->columns; index++)
        tensor->bits[index] = bits;
}

/* A fixed pattern of signs along the head dimension. */
static double sign_of(int64_t column) {
    uint64_t state = (uint64_t)column;
    return inputs_next(&state) & 1 ? 1.0 : -1.0;
}

/* q = noise + 2 signs and k = noise + ramp signs, so that scores rise by about 12 from the first key to the last; every
 * eighth key or so is three times as long, and V's rows differ in magnitude. */
static void make_unbalanced(const struct tensor *q, const struct tensor *k, const struct tensor *v, uint64_t *state) {
    double ramp = 6.0 / sqrt((double)q->columns);
    for (int64_t head = 0; head < q->heads; head++)
        for (int64_t row = 0; row < q->rows; row++)
            for (int64_t d = 0; d < q->columns; d++)
                put(q, head, row, d, inputs_normal(state) + 2 * sign_of(d));
    for (int64_t head = 0; head < k->heads; head++)
        for (int64_t row = 0; row < k->rows; row++) {
            double rise = ramp * (double)row / (double)k->rows;
            double length = inputs_next(state) % 8 ? 1 : 3;
            double magnitude = ldexp(1, (int)(inputs_next(state) % 5) - 2);
            for (int64_t d = 0; d < k->columns; d++)
                put(k, head, row, d, length * inputs_normal(state) + rise * sign_of(d));
            for (int64_t d = 0; d < v->columns; d++)
                put(v, head, row, d, magnitude * inputs_normal(state));
        }
}

/* One of the keys that a row sees, -1 if there is none. */
static int64_t visible_key(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query,
                           uint64_t *state) {
    int64_t seen = 0, key = -1;
    for (int64_t j = 0; j < problem->seqlen_k; j++)
        seen += reference_sees(problem, batch, head, query, j);
    if (!seen)
        return -1;
    for (int64_t nth = (int64_t)(inputs_next(state) % (uint64_t)seen); nth >= 0; nth--)
        do
            key++;
        while (!reference_sees(problem, batch, head, query, key));
    return key;
}

/* Keys lie on a sphere and each query is a long multiple of one of them, which therefore wins. V is a different integer
 * for (nearly) every key and column, exact in the type. */
static void make_impulse(const struct reference_problem *problem, const struct tensor *q, const struct tensor *k,
                         const struct tensor *v, uint64_t *state) {
    for (int64_t head = 0; head < k->heads; head++)
        for (int64_t row = 0; row < k->rows; row++) {
            uint64_t start = *state;
            double squares = 0;
            for (int64_t d = 0; d < k->columns; d++) {
                double value = inputs_normal(state);
                squares += value * value;
            }
            double factor = squares > 0 ? sqrt((double)k->columns / squares) : 0;
            for (int64_t d = 0; d < k->columns; d++)
                put(k, head, row, d, factor * inputs_normal(&start));
            int64_t modulus = v->type == HALF_F16 ? 2039 : 251;
            for (int64_t d = 0; d < v->columns; d++) {
                int64_t name = (row * 37 + d * 101 + head * 11) % modulus - modulus / 2;
                put(v, head, row, d, (double)name);
            }
        }
    double length = 120.0 / sqrt((double)q->columns);
    for (int64_t head = 0; head < q->heads; head++) {
        int64_t batch = head / problem->heads_q;
        int64_t head_k = batch * problem->heads_k + head % problem->heads_q / (problem->heads_q / problem->heads_k);
        for (int64_t row = 0; row < q->rows; row++) {
            int64_t key = visible_key(problem, batch, head % problem->heads_q, row, state);
            for (int64_t d = 0; d < q->columns; d++)
                put(q, head, row, d,
                    key < 0 ? inputs_normal(state) : length * half_to_double(k->type, *element(k, head_k, key, d)));
        }
    }
}

/* k = 16 (noise + 2 signs). Of three rows one has scores of both signs, one negative ones only, one the largest that
 * the type's range gives, up to 1e9; all relative to a scale of 1 / sqrt(head_dim). */
static void make_large(const struct tensor *q, const struct tensor *k, const struct tensor *v, uint64_t *state) {
    double largest = q->type == HALF_F16 ? 60000 : 2e7;
    for (int64_t head = 0; head < q->heads; head++)
        for (int64_t row = 0; row < q->rows; row++)
            for (int64_t d = 0; d < q->columns; d++) {
                double value = 2000 * inputs_normal(state);
                if (row % 3 == 1)
                    value = -3000 / sqrt((double)q->columns) * sign_of(d) * (1 + 0.01 * inputs_normal(state));
                if (row % 3 == 2)
                    value = fmax(-largest, fmin(largest, largest / 2 * inputs_normal(state)));
                put(q, head, row, d, value);
            }
    for (int64_t index = 0; index < k->heads * k->rows * k->columns; index++)
        k->bits[index] = half_from_double(k->type, 16 * (inputs_normal(state) + 2 * sign_of(index % k->columns)));
    fill_normal(v, state);
}

/* Columns 0 to 5 of V; a column that has no such value, and a row that does not see it, stay finite. With a causal mask
 * the first key is seen by nearly all rows, in tiles that are masked for some rows and in tiles that are not. */
static void put_infinite_v(const struct reference_problem *problem, const struct tensor *v) {
    for (int64_t head = 0; head < v->heads; head++) {
        int64_t rows = reference_seqlen_k(problem, head / problem->heads_k), last = rows - 1, middle = rows / 2;
        if (rows < 2)
            continue;
        put(v, head, 0, 0, INFINITY);
        put(v, head, middle, 1, -INFINITY);
        put(v, head, last, 2, INFINITY);
        put(v, head, last - 1, 2, -INFINITY);
        put(v, head, 0, 3, -INFINITY);
        put(v, head, last, 3, INFINITY);
        put(v, head, 1, 4, NAN);
        put(v, head, last, 5, NAN);
    }
}

/* 37 and the number of keys have no common divisor as a rule, so that the keys differ. Columns are 0, 1, 6 and 7 of
 * eight, each with keys of every remainder by eight. */
static void put_lone_v(const struct reference_problem *problem, const struct tensor *v) {
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (int64_t head = 0; head < v->heads; head++) {
        int64_t rows = reference_seqlen_k(problem, head / problem->heads_k);
        if (rows)
            put(v, head, (head * 37 + rows - 1) % rows, (head / 16 * 4 + head / 8 + head * 8) % v->columns,
                values[head % 3]);
    }
}

/* Eight heads have one in each column of eight groups of eight keys. */
static void put_strewn_v(const struct reference_problem *problem, const struct tensor *v) {
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (int64_t head = 0; head < v->heads; head++) {
        int64_t rows = reference_seqlen_k(problem, head / problem->heads_k);
        for (int64_t d = 0; d < v->columns && rows; d++)
            put(v, head, (head * 8 + d % 8) % rows, d, values[(head + d) % 3]);
    }
}

/* Raw scores -60000 x 20000 x (1 + j/64): no two keys of 64 in a row have the same, the largest is not the first, and
 * it wins by far more than the errors of float32. */
static void make_below_sentinels(const struct tensor *q, const struct tensor *k, const struct tensor *v,
                                 uint64_t *state) {
    fill_constant(q, 0);
    fill_constant(k, 0);
    for (int64_t index = 0; index < q->heads * q->rows; index++)
        put(q, 0, index, 0, 60000);
    for (int64_t head = 0; head < k->heads; head++)
        for (int64_t row = 0; row < k->rows; row++)
            put(k, head, row, 0, -20000 * (1 + (double)((row * 23 + 40) % 64) / 64));
    fill_normal(v, state);
}

static void make_steps(const struct tensor *q, const struct tensor *k, const struct tensor *v, uint64_t *state) {
    fill_constant(q, 0);
    fill_constant(k, 0);
    for (int64_t index = 0; index < q->heads * q->rows; index++) {
        put(q, 0, index, 0, 0x1p15);
        put(q, 0, index, 1, 16);
    }
    for (int64_t head = 0; head < k->heads; head++)
        for (int64_t row = 0; row < k->rows; row++) {
            put(k, head, row, 0, 0x1p12);
            put(k, head, row, 1, row == k->rows - 1 ? 2 : row == 0 ? 1 : 0);
        }
    fill_normal(v, state);
}

/* Whether some row of the query heads that share a key head sees a key. */
static bool is_seen(const struct reference_problem *problem, int64_t batch, int64_t head_k, int64_t key) {
    int64_t ratio = problem->heads_q / problem->heads_k;
    for (int64_t head = head_k * ratio; head < (head_k + 1) * ratio; head++)
        if (reference_sees_some(problem, batch, head, 0, problem->seqlen_q, key, 1))
            return true;
    return false;
}

static void put_nan_hidden(const struct reference_problem *problem, const struct tensor *k, const struct tensor *v) {
    for (int64_t head = 0; head < k->heads; head++)
        for (int64_t row = 0; row < k->rows; row++) {
            if (is_seen(problem, head / problem->heads_k, head % problem->heads_k, row))
                continue;
            for (int64_t d = 0; d < k->columns; d++)
                put(k, head, row, d, d % 2 ? INFINITY : NAN);
            for (int64_t d = 0; d < v->columns; d++)
                put(v, head, row, d, d % 2 ? NAN : -INFINITY);
        }
}

/* One element each: of the first row of q, of the last key that some row of the last sequence sees, and of V, be it a
 * view of K, at the one before it. With a causal mask only the last rows see those keys. */
static void put_nan_visible(const struct reference_problem *problem, const struct tensor *q, const struct tensor *k,
                            const struct tensor *v) {
    if (q->rows && q->heads)
        put(q, 0, 0, q->columns - 1, NAN);
    for (int64_t head = k->heads - 1; head >= 0; head--) {
        int64_t found = 0;
        for (int64_t row = k->rows - 1; row >= 0 && found < 2; row--) {
            if (!is_seen(problem, head / problem->heads_k, head % problem->heads_k, row))
                continue;
            if (found++ == 0)
                put(k, head, row, k->columns / 2, NAN);
            else
                put(v->columns ? v : k, head, row, 1, NAN);
        }
        if (found)
            return;
    }
}

void inputs_make(enum input_kind kind, const struct reference_problem *problem, enum half_type type, uint64_t seed,
                 uint16_t *q_bits, uint16_t *k_bits, uint16_t *v_bits) {
    int64_t heads_q = problem->batch * problem->heads_q, heads_k = problem->batch * problem->heads_k;
    struct tensor q = {q_bits, heads_q, problem->seqlen_q, problem->head_dim, type};
    struct tensor k = {k_bits, heads_k, problem->seqlen_k, problem->head_dim, type};
    struct tensor v = {v_bits, heads_k, problem->seqlen_k, problem->v_in_k ? 0 : problem->head_dim_v, type};
    uint64_t state = seed;
    switch (kind) {
    case INPUT_UNBALANCED:
        make_unbalanced(&q, &k, &v, &state);
        return;
    case INPUT_IMPULSE:
        make_impulse(problem, &q, &k, &v, &state);
        return;
    case INPUT_LARGE:
        make_large(&q, &k, &v, &state);
        return;
    case INPUT_FAR_BELOW_ZERO:
        fill_constant(&q, 0);
        fill_constant(&k, 0);
        for (int64_t head = 0; head < q.heads; head++)
            for (int64_t row = 0; row < q.rows; row++)
                put(&q, head, row, 0, 1024);
        for (int64_t head = 0; head < k.heads; head++)
            for (int64_t row = 0; row < k.rows; row++)
                put(&k, head, row, 0, -512);
        fill_normal(&v, &state);
        return;
    case INPUT_HUGE:
        fill_constant(&q, type == HALF_F16 ? 60000 : 133120);
        fill_constant(&k, type == HALF_F16 ? 60000 : 133120);
        fill_normal(&v, &state);
        return;
    case INPUT_BELOW_SENTINELS:
        make_below_sentinels(&q, &k, &v, &state);
        return;
    case INPUT_STEPS:
        make_steps(&q, &k, &v, &state);
        return;
    case INPUT_RANDOM:
    case INPUT_NAN_VISIBLE:
    case INPUT_NAN_HIDDEN:
    case INPUT_INFINITE_V:
    case INPUT_LONE_V:
    case INPUT_STREWN_V:
        break;
    }
    fill_normal(&q, &state);
    fill_normal(&k, &state);
    fill_normal(&v, &state);
    if (kind == INPUT_NAN_VISIBLE)
        put_nan_visible(problem, &q, &k, &v);
    if (kind == INPUT_NAN_HIDDEN)
        put_nan_hidden(problem, &k, &v);
    if (problem->v_in_k) /* what is not finite in V is not in K either: no score would be */
        return;
    if (kind == INPUT_LONE_V)
        put_lone_v(problem, &v);
    if (kind == INPUT_STREWN_V)
        put_strewn_v(problem, &v);
    if (kind == INPUT_INFINITE_V)
        put_infinite_v(problem, &v);
}
