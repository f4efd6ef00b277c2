#include "unfused.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools.h"

#define WORK_ITEMS 256
#define TILE       64

#pragma GCC diagnostic ignored "-Woverlength-strings"
static const char text[] =
#include "unfused_text.h"
    ;

/* As unfused.hip has them. */
struct product {
    const void *a, *b;
    void *c;
    int32_t rows, columns, depth, group, heads_b, causal;
    float scale;
};
struct softmax {
    const void *scores;
    void *weights;
    int32_t columns;
};

static size_t score_count(const fmha_forward_problem *p) {
    return (size_t)(p->batch * p->heads_q * p->seqlen_q * p->seqlen_k);
}

size_t unfused_score_bytes(const fmha_forward_problem *p) {
    return score_count(p) * 4;
}

size_t unfused_weight_bytes(const fmha_forward_problem *p) {
    return score_count(p) * 2;
}

static fmha_status load_all(struct unfused *u, const fmha_forward_problem *p) {
    static const char *const names[] = {"unfused_scores", "unfused_softmax", "unfused_product"};
    fmha_kernel **const kernels[] = {&u->scores, &u->softmax, &u->product};
    char *whole = malloc(sizeof text + 32);
    if (whole == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "fmha-bench: no memory for the kernels of the baseline");
    }
    sprintf(whole, "#define ELEMENT %d\n%s", p->dtype == FMHA_DTYPE_F16 ? 1 : 2, text);
    fmha_status status = FMHA_OK;
    for (size_t i = 0; i < 3 && status == FMHA_OK; i++) {
        status = bench_load(u->device, whole, names[i], "unfused.hip", &u->modules[i], kernels[i]);
    }
    free(whole);
    return status;
}

fmha_status unfused_begin(fmha_device *device, const fmha_forward_problem *problem, struct unfused *u) {
    *u = (struct unfused){.device = device};
    fmha_status status = fmha_memory_alloc(device, unfused_score_bytes(problem), "scores", &u->score_memory);
    if (status == FMHA_OK) {
        status = fmha_memory_alloc(device, unfused_weight_bytes(problem), "weights", &u->weight_memory);
    }
    if (status == FMHA_OK) {
        status = load_all(u, problem);
    }
    if (status != FMHA_OK) {
        unfused_end(u);
    }
    return status;
}

void unfused_end(struct unfused *u) {
    if (u->device == NULL) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        fmha_module_unload(u->modules[i]);
    }
    fmha_memory_free(u->device, u->score_memory);
    fmha_memory_free(u->device, u->weight_memory);
    *u = (struct unfused){0};
}

static fmha_status add(fmha_kernel *kernel, const uint32_t grid[3], const void *arguments, size_t bytes,
                       double *amount) {
    double one = 0;
    const fmha_launch_config config = {.grid = {grid[0], grid[1], grid[2]},
                                       .workgroup = {WORK_ITEMS, 1, 1},
                                       .arguments = arguments,
                                       .argument_bytes = bytes};
    fmha_status status = fmha_kernel_measure(kernel, &config, &one);
    *amount += one;
    return status;
}

static uint32_t tiles(int64_t size) {
    return (uint32_t)((size + TILE - 1) / TILE);
}

fmha_status unfused_measure(const struct unfused *u, const fmha_forward_problem *p, double *amount) {
    const int32_t rows = (int32_t)p->seqlen_q, keys = (int32_t)p->seqlen_k, heads_k = (int32_t)p->heads_k;
    const int64_t heads = p->batch * p->heads_q;
    const struct product scores = {.a = p->q.data,
                                   .b = p->k.data,
                                   .c = u->score_memory,
                                   .rows = rows,
                                   .columns = keys,
                                   .depth = p->head_dim,
                                   .group = (int32_t)p->heads_q / heads_k,
                                   .heads_b = heads_k,
                                   .causal = p->mask != FMHA_MASK_NONE,
                                   .scale = p->scale};
    const struct softmax softmax = {u->score_memory, u->weight_memory, keys};
    struct product product = scores;
    product.a = u->weight_memory;
    product.b = p->v.data;
    product.c = p->o.data;
    product.columns = p->head_dim;
    product.depth = keys;
    *amount = 0;
    fmha_status status =
        add(u->scores, (uint32_t[]){tiles(keys), tiles(rows), (uint32_t)heads}, &scores, sizeof scores, amount);
    if (status == FMHA_OK) {
        status = add(u->softmax, (uint32_t[]){(uint32_t)(heads * rows), 1, 1}, &softmax, sizeof softmax, amount);
    }
    if (status == FMHA_OK) {
        status = add(u->product, (uint32_t[]){tiles(p->head_dim), tiles(rows), (uint32_t)heads}, &product,
                     sizeof product, amount);
    }
    return status;
}
