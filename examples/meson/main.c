/* attention DEVICE: attention without a mask over a batch of 2 in bf16, as [batch][row][head][dim], with its LSE,
 * compared with a plain loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"

enum { BATCH = 2, HEADS = 2, QUERIES = 33, KEYS = 48, DIM = 64 };

typedef uint16_t bf16; /* the upper half of a float */

static bf16 q[BATCH][QUERIES][HEADS][DIM], k[BATCH][KEYS][HEADS][DIM], v[BATCH][KEYS][HEADS][DIM];
static bf16 o[BATCH][QUERIES][HEADS][DIM];
static float lse[BATCH][HEADS][QUERIES];

static double value(bf16 bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float number;
    memcpy(&number, &wide, sizeof number);
    return number;
}

static void need(fmha_status status) {
    if (status != FMHA_OK) {
        fprintf(stderr, "attention: %s: %s\n", fmha_status_name(status), fmha_last_error());
        exit(1);
    }
}

/* Numbers from -1 to 1 that bf16 holds exactly. */
static void fill(bf16 *values, size_t count) {
    static unsigned state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        float number = (float)((int)(state >> 26) - 32) / 32;
        uint32_t wide;
        memcpy(&wide, &number, sizeof wide);
        values[i] = (bf16)(wide >> 16);
    }
}

static void *upload(fmha_device *device, const char *label, const void *values, size_t bytes) {
    void *address;
    need(fmha_memory_alloc(device, bytes, label, &address));
    need(fmha_memory_write(device, address, values, bytes));
    return address;
}

/* A tensor [BATCH][rows][HEADS][DIM]. */
static fmha_tensor tensor(void *address, int64_t rows) {
    return (fmha_tensor){
        .data = address, .stride_batch = rows * HEADS * DIM, .stride_head = DIM, .stride_row = HEADS * DIM};
}

static void reference(int batch, int head, int row, double out[DIM], double *log_sum) {
    double sum = 0;
    for (int d = 0; d < DIM; d++)
        out[d] = 0;
    for (int j = 0; j < KEYS; j++) {
        double score = 0;
        for (int d = 0; d < DIM; d++)
            score += value(q[batch][row][head][d]) * value(k[batch][j][head][d]);
        double weight = exp(score / sqrt(DIM));
        sum += weight;
        for (int d = 0; d < DIM; d++)
            out[d] += weight * value(v[batch][j][head][d]);
    }
    for (int d = 0; d < DIM; d++)
        out[d] /= sum;
    *log_sum = log(sum);
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

    fill(&q[0][0][0][0], sizeof q / sizeof(bf16));
    fill(&k[0][0][0][0], sizeof k / sizeof(bf16));
    fill(&v[0][0][0][0], sizeof v / sizeof(bf16));
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_BF16;
    problem.head_dim = DIM;
    problem.scale = 1 / sqrtf(DIM);
    problem.batch = BATCH;
    problem.heads_q = HEADS;
    problem.heads_k = HEADS;
    problem.seqlen_q = QUERIES;
    problem.seqlen_k = KEYS;
    problem.q = tensor(upload(device, "q", q, sizeof q), QUERIES);
    problem.k = tensor(upload(device, "k", k, sizeof k), KEYS);
    problem.v = tensor(upload(device, "v", v, sizeof v), KEYS);
    problem.o = tensor(upload(device, "o", o, sizeof o), QUERIES);
    problem.lse = upload(device, "lse", lse, sizeof lse);
    need(fmha_forward(device, &problem));
    need(fmha_device_synchronize(device, NULL));
    need(fmha_memory_read(device, o, problem.o.data, sizeof o));
    need(fmha_memory_read(device, lse, problem.lse, sizeof lse));

    /* Weights and O are rounded to bf16, each by at most 2^-9 of numbers up to 1; the rest, LSE too, is float32. */
    double largest = 0, bound = 1.1 * pow(2, -8), bound_lse = 1e-5;
    int wrong = 0;
    for (int batch = 0; batch < BATCH; batch++)
        for (int head = 0; head < HEADS; head++)
            for (int row = 0; row < QUERIES; row++) {
                double expected[DIM], expected_lse;
                reference(batch, head, row, expected, &expected_lse);
                for (int d = 0; d < DIM; d++) {
                    double error = fabs(value(o[batch][row][head][d]) - expected[d]);
                    largest = fmax(largest, error);
                    wrong += !(error <= bound); /* NaN is wrong, too */
                }
                wrong += !(fabs(lse[batch][head][row] - expected_lse) <= bound_lse);
            }
    printf("%s: largest error of O %.2g, %.2g allowed, %d elements of O and LSE wrong\n", info.name, largest, bound,
           wrong);
    fmha_device_close(device);
    return wrong ? 1 : 0;
}
