/* A program of somebody who has an installed libfmha: causal attention whose scores are all equal, so that O of every
 * row is the mean of the V it sees and LSE of query i is ln(i + 1). */
#include <fmha.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUERIES = 40, HEAD_DIM = 64, ELEMENTS = QUERIES * HEAD_DIM };

static void check(fmha_status status) {
    if (status != FMHA_OK) {
        fprintf(stderr, "%s: %s\n", fmha_status_name(status), fmha_last_error());
        exit(1);
    }
}

static void say(void *context, const fmha_consideration *consideration) {
    (void)context;
    if (consideration->taken)
        printf("%s\n%s\n", consideration->library, consideration->instance);
}

int main(void) {
    static uint16_t zeros[ELEMENTS], ones[ELEMENTS], o[ELEMENTS];
    float lse[QUERIES];
    for (int i = 0; i < ELEMENTS; i++)
        ones[i] = 0x3c00; /* 1 as f16 */

    fmha_device *device;
    check(fmha_device_open("emu:gfx1151", &device));
    const uint16_t *const contents[3] = {zeros, zeros, ones};
    void *tensors[4], *lse_there;
    for (int i = 0; i < 4; i++) {
        check(fmha_memory_alloc(device, sizeof o, NULL, &tensors[i]));
        if (i < 3)
            check(fmha_memory_write(device, tensors[i], contents[i], sizeof o));
    }
    check(fmha_memory_alloc(device, sizeof lse, NULL, &lse_there));

    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.head_dim = HEAD_DIM;
    problem.scale = 0.125f;
    problem.batch = problem.heads_q = problem.heads_k = 1;
    problem.seqlen_q = problem.seqlen_k = QUERIES;
    fmha_tensor *const views[4] = {&problem.q, &problem.k, &problem.v, &problem.o};
    for (int i = 0; i < 4; i++) {
        fmha_tensor view = {tensors[i], ELEMENTS, ELEMENTS, HEAD_DIM};
        *views[i] = view;
    }
    problem.lse = (float *)lse_there;
    check(fmha_forward_explain(device, &problem, say, NULL));
    check(fmha_forward(device, &problem));
    check(fmha_device_synchronize(device, NULL));
    check(fmha_memory_read(device, o, tensors[3], sizeof o));
    check(fmha_memory_read(device, lse, lse_there, sizeof lse));
    fmha_device_close(device);

    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++)
        wrong += o[i] != 0x3c00;
    for (int i = 0; i < QUERIES; i++) /* LSE is float32 of numbers below 4: rounding alone */
        wrong += !(fabs(lse[i] - log(i + 1.0)) < 1e-5);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
