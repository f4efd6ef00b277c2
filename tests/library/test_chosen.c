/* Each instance of the preset llm-inference is the one that libfmha takes for some problem: none is there in vain. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

#define INSTANCES 310

struct taken {
    char name[256];
    int count;
};

static void take(void *context, const fmha_consideration *consideration) {
    struct taken *taken = context;
    if (consideration->taken) {
        taken->count++;
        snprintf(taken->name, sizeof taken->name, "%s", consideration->instance);
    }
}

struct kind {
    int head_dim, head_dim_v, dtype, mask, v_layout, align, fused;
    bool packed, paged, window; /* paged: packed too */
};

static fmha_forward_problem problem_of(const struct kind *kind) {
    const int64_t length = 64, heads = 8, odd = kind->align == 16 ? 0 : 1;
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = kind->dtype;
    problem.mask = kind->mask;
    problem.v_layout = kind->v_layout;
    problem.head_dim = kind->head_dim;
    problem.head_dim_v = kind->head_dim_v;
    problem.scale = 1;
    problem.batch = 2;
    problem.heads_q = heads;
    problem.heads_k = kind->fused == 1 ? heads : heads / 4;
    problem.seqlen_q = problem.seqlen_k = length;
    fmha_tensor *const tensors[4] = {&problem.q, &problem.k, &problem.v, &problem.o};
    for (int i = 0; i < 4; i++) {
        int64_t row = (i < 2 ? kind->head_dim : kind->head_dim_v) + odd, rows = length;
        if (i == 2 && kind->v_layout == FMHA_V_TRANSPOSED) {
            row = length + odd;
            rows = kind->head_dim_v;
        }
        *tensors[i] = (fmha_tensor){NULL, heads * rows * row, rows * row, row};
    }
    problem.window = kind->window;
    problem.varlen = kind->packed ? FMHA_VARLEN_PACKED : FMHA_VARLEN_NONE;
    problem.tokens_q = kind->packed ? 2 * length : 0;
    problem.block_table = kind->paged ? (const int32_t *)0x1000 : NULL; /* its presence says so; nothing is read */
    problem.page_size = kind->paged ? 16 : 0;
    return problem;
}

/* The name up to its knobs. */
static void facts_of(const struct kind *kind, char facts[128]) {
    char v[16] = "";
    if (kind->head_dim_v != kind->head_dim)
        snprintf(v, sizeof v, "v%d", kind->head_dim_v);
    snprintf(facts, 128, "fmha_forward_gfx1151_%s_d%d%s%s%s%s%s%s%s_m", kind->dtype == FMHA_DTYPE_F16 ? "f16" : "bf16",
             kind->head_dim, v, kind->mask == FMHA_MASK_NONE ? "" : "_causal", kind->window ? "_window" : "",
             kind->packed ? "_packed" : "", kind->paged ? "_paged" : "", kind->v_layout == FMHA_V_ROW ? "" : "_vt",
             kind->align == 16 ? "" : "_a2");
}

static void keep_name(const struct taken *taken, const char *facts, char (*names)[256], int *count) {
    cr_assert_eq(taken->count, 1, "%s", facts);
    cr_assert(strncmp(taken->name, facts, strlen(facts)) == 0, "expected %s…, got %s", facts, taken->name);
    for (int i = 0; i < *count; i++)
        cr_assert_str_neq(names[i], taken->name);
    cr_assert_lt(*count, INSTANCES);
    memcpy(names[(*count)++], taken->name, sizeof taken->name);
}

static void check_kind(fmha_device *device, const struct kind *kind, char (*names)[256], int *count) {
    struct taken taken = {.count = 0};
    char facts[128];
    const fmha_forward_problem problem = problem_of(kind);
    facts_of(kind, facts);
    cr_assert_eq(fmha_forward_explain(device, &problem, take, &taken), FMHA_OK, "%s: %s", facts, fmha_last_error());
    keep_name(&taken, facts, names, count);
    cr_assert_eq(strstr(taken.name, "_gqa4") != NULL, kind->fused == 4, "%s", taken.name);
}

/* Of packing one head of 64 by 64. */
static void check_pack(fmha_device *device, int v_layout, uint8_t align, char (*names)[256], int *count) {
    struct taken taken = {.count = 0};
    struct fmha_key key;
    struct fmha_operands operands = {
        .buffer = {[FMHA_BUFFER_FROM] = (void *)0x1000, [FMHA_BUFFER_TO] = (void *)0x2000}};
    operands.value[FMHA_VALUE_BATCH] = operands.value[FMHA_VALUE_HEADS_K] = 1;
    operands.value[FMHA_VALUE_SEQLEN_K] = operands.value[FMHA_VALUE_HEAD_DIM] = 64;
    operands.value[FMHA_VALUE_STRIDE_FROM_ROW] = operands.value[FMHA_VALUE_STRIDE_TO_ROW] = 64 + align % 16;
    fmha_dispatch_key(device, &key);
    key.operation = FMHA_KEY_PACK;
    key.v_layout = (uint8_t)v_layout;
    key.align = align;
    cr_assert_eq(fmha_dispatch_explain(device, &key, &operands, take, &taken), FMHA_OK, "%s", fmha_last_error());
    char facts[128];
    snprintf(facts, sizeof facts, "fmha_pack_gfx1151%s%s_w", v_layout == FMHA_V_ROW ? "" : "_vt",
             align == 16 ? "" : "_a2");
    keep_name(&taken, facts, names, count);
}

/* Of appending one row of a packed batch. */
static void check_append(fmha_device *device, int dtype, int head_dim, bool paged, bool rotated, char (*names)[256],
                         int *count) {
    struct taken taken = {.count = 0};
    struct fmha_key key;
    struct fmha_operands operands = {{0}, {0}, {0}};
    for (int buffer = 0; buffer < FMHA_BUFFER_COUNT; buffer++)
        operands.buffer[buffer] = (void *)0x1000;
    operands.value[FMHA_VALUE_BATCH] = operands.value[FMHA_VALUE_HEADS_K] = operands.value[FMHA_VALUE_TOKENS_NEW] = 1;
    operands.value[FMHA_VALUE_SEQLEN_K] = operands.value[FMHA_VALUE_PAGE_SIZE] = 16;
    operands.value[FMHA_VALUE_ROTARY_DIM] = 64;
    fmha_dispatch_key(device, &key);
    key.operation = FMHA_KEY_APPEND;
    key.dtype = (uint8_t)dtype;
    key.head_dim = key.head_dim_v = (uint16_t)head_dim;
    key.align = 16;
    key.modifiers = FMHA_KEY_VARLEN * FMHA_KEY_VARLEN_PACKED + (paged ? FMHA_KEY_PAGED : 0) +
                    (rotated ? FMHA_KEY_ROTARY * FMHA_KEY_ROTARY_NEOX : 0);
    cr_assert_eq(fmha_dispatch_explain(device, &key, &operands, take, &taken), FMHA_OK, "%s", fmha_last_error());
    char facts[128];
    snprintf(facts, sizeof facts, "fmha_append_gfx1151_%s_d%d_packed%s%s_w", dtype == FMHA_KEY_F16 ? "f16" : "bf16",
             head_dim, paged ? "_paged" : "", rotated ? "_rotneox" : "");
    keep_name(&taken, facts, names, count);
}

Test(chosen, each_instance_of_llm_inference, .timeout = 120) {
    static const int dims[][2] = {{64, 64},   {80, 80},   {96, 96},   {112, 112}, {128, 128},
                                  {160, 160}, {192, 192}, {256, 256}, {192, 128}};
    static const int layouts[][2] = {{FMHA_V_ROW, 16}, {FMHA_V_ROW, 2}, {FMHA_V_TRANSPOSED, 16}};
    static char names[INSTANCES][256];
    char folder[] = "/tmp/fmhagen-chosen-XXXXXX", command[1024];
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof command,
             "'%s' library '%s' --arch gfx1151 --preset llm-inference --no-compile >'%s/out' && grep -q '^end %d ' "
             "'%s/gfx1151/fmha.index'",
             FMHAGEN_PATH, folder, folder, INSTANCES, folder);
    cr_assert_eq(system(command), 0);
    unsetenv("FMHA_LIBRARY_PATH");
    fmha_device *device;
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_add_library(device, folder), FMHA_OK, "%s", fmha_last_error());
    int count = 0;
    for (size_t dim = 0; dim < sizeof dims / sizeof *dims; dim++)
        for (int dtype = FMHA_DTYPE_F16; dtype <= FMHA_DTYPE_BF16; dtype++)
            for (int mask = FMHA_MASK_NONE; mask <= FMHA_MASK_CAUSAL_BOTTOM_RIGHT; mask++)
                for (int layout = 0; layout < 3; layout++)
                    for (int fused = 1; fused <= 4; fused += 3) {
                        const struct kind kind = {.head_dim = dims[dim][0],
                                                  .head_dim_v = dims[dim][1],
                                                  .dtype = dtype,
                                                  .mask = mask,
                                                  .v_layout = layouts[layout][0],
                                                  .align = layouts[layout][1],
                                                  .fused = fused};
                        check_kind(device, &kind, names, &count);
                    }
    for (unsigned i = 0; i < 40; i++) { /* the last 8 without a window */
        const int head_dim = (int[]){64, 128, 256}[i / 16];
        const struct kind kind = {.head_dim = head_dim,
                                  .head_dim_v = head_dim,
                                  .dtype = i & 1 ? FMHA_DTYPE_BF16 : FMHA_DTYPE_F16,
                                  .mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT,
                                  .align = 16,
                                  .fused = i & 2 ? 4 : 1,
                                  .packed = true,
                                  .paged = (i & 4) != 0,
                                  .window = (i & 8) != 0};
        check_kind(device, &kind, names, &count);
    }
    for (int v_layout = FMHA_V_ROW; v_layout <= FMHA_V_TRANSPOSED; v_layout++) {
        check_pack(device, v_layout, 16, names, &count);
        check_pack(device, v_layout, 2, names, &count);
    }
    for (unsigned i = 0; i < 16; i++)
        check_append(device, i & 1 ? FMHA_KEY_BF16 : FMHA_KEY_F16, i & 2 ? 128 : 64, i & 4, i & 8, names, &count);
    cr_assert_eq(count, INSTANCES - 34); /* those of decoding, 28, and of merging, 6, test_decode runs */
    fmha_device_close(device);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}
