/* attention DEVICE: causal attention of 4 query heads over 2 key heads in f16, compared with a plain loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmha.h"

enum { HEADS_Q = 4, HEADS_K = 2, QUERIES = 50, KEYS = 70, DIM = 64 };

typedef uint16_t f16;

static f16 q[HEADS_Q][QUERIES][DIM], k[HEADS_K][KEYS][DIM], v[HEADS_K][KEYS][DIM], o[HEADS_Q][QUERIES][DIM];

static double value(f16 bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

/* Of a number that f16 holds exactly, from 2^-14 up or 0. */
static f16 bits_of(double number) {
    int exponent;
    double fraction = frexp(fabs(number), &exponent); /* 0.5 to 1 */
    unsigned magnitude = number != 0 ? (unsigned)((exponent + 14) << 10) + (unsigned)(fraction * 2048) - 1024 : 0;
    return (f16)(number < 0 ? 0x8000 | magnitude : magnitude);
}

static void need(fmha_status status) {
    if (status != FMHA_OK) {
        fprintf(stderr, "attention: %s: %s\n", fmha_status_name(status), fmha_last_error());
        exit(1);
    }
}

/* Numbers from -1 to 1 that f16 holds exactly. */
static void fill(f16 *values, size_t count) {
    static unsigned state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        values[i] = bits_of(((int)(state >> 26) - 32) / 32.0);
    }
}

/* A copy on the device, as a tensor [heads][rows][DIM]. */
static fmha_tensor upload(fmha_device *device, const char *label, const void *values, size_t bytes, int64_t rows) {
    fmha_tensor tensor = {.stride_batch = 0, .stride_head = rows * DIM, .stride_row = DIM};
    need(fmha_memory_alloc(device, bytes, label, &tensor.data));
    need(fmha_memory_write(device, tensor.data, values, bytes));
    return tensor;
}

/* Query i sees the keys up to i + KEYS - QUERIES. */
static void reference(int head, int row, double out[DIM]) {
    int head_k = head / (HEADS_Q / HEADS_K), visible = row + KEYS - QUERIES + 1;
    double sum = 0;
    for (int d = 0; d < DIM; d++)
        out[d] = 0;
    for (int j = 0; j < visible; j++) {
        double score = 0;
        for (int d = 0; d < DIM; d++)
            score += value(q[head][row][d]) * value(k[head_k][j][d]);
        double weight = exp(score / sqrt(DIM));
        sum += weight;
        for (int d = 0; d < DIM; d++)
            out[d] += weight * value(v[head_k][j][d]);
    }
    for (int d = 0; d < DIM; d++)
        out[d] /= sum;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: attention DEVICE (hip, hip:1, emu:gfx1151)\n");
        return 2;
    }
    fmha_device *device;
    fmha_device_info info;
    need(fmha_device_open(argv[1], &device));
    need(fmha_device_get_info(device, &info));

    fill(&q[0][0][0], sizeof q / sizeof(f16));
    fill(&k[0][0][0], sizeof k / sizeof(f16));
    fill(&v[0][0][0], sizeof v / sizeof(f16));
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.head_dim = DIM;
    problem.scale = 1 / sqrtf(DIM);
    problem.batch = 1;
    problem.heads_q = HEADS_Q;
    problem.heads_k = HEADS_K;
    problem.seqlen_q = QUERIES;
    problem.seqlen_k = KEYS;
    problem.q = upload(device, "q", q, sizeof q, QUERIES);
    problem.k = upload(device, "k", k, sizeof k, KEYS);
    problem.v = upload(device, "v", v, sizeof v, KEYS);
    problem.o = upload(device, "o", o, sizeof o, QUERIES);
    need(fmha_forward(device, &problem));
    need(fmha_device_synchronize(device, NULL));
    need(fmha_memory_read(device, o, problem.o.data, sizeof o));

    /* Weights and O are rounded to f16, each by at most 2^-11 of numbers up to 1; the rest is float32. */
    double largest = 0, bound = 1.1 * pow(2, -10);
    int wrong = 0;
    for (int head = 0; head < HEADS_Q; head++)
        for (int row = 0; row < QUERIES; row++) {
            double expected[DIM];
            reference(head, row, expected);
            for (int d = 0; d < DIM; d++) {
                double error = fabs(value(o[head][row][d]) - expected[d]);
                largest = fmax(largest, error);
                wrong += !(error <= bound); /* NaN is wrong, too */
            }
        }
    printf("%s: largest error %.2g, %.2g allowed, %d elements wrong\n", info.name, largest, bound, wrong);
    fmha_device_close(device);
    return wrong ? 1 : 0;
}
