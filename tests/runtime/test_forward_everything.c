/* Every modifier in a packed batch with pages, from the public struct to O and LSE on the emulated device, against the
 * header's words in float64. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "fmha.h"
#include "support.h"

enum {
    DIM = 64,
    BATCH = 3,
    HEADS_Q = 4,
    HEADS_K = 2,
    TOKENS = 60,
    QUERIES = 40, /* of the longest sequence */
    KEYS = 70,
    PAGE = 8,
    PAGES = 40,
    TABLE_ROW = 12,
    WINDOW_LEFT = 20,
    WINDOW_RIGHT = 6,
    SINK_KEYS = 4,
    BLOCK_K = 32,
    NO_PAGE = 1 << 30
};
static const double cap = 2, scale = 0.125, dropped = 0.3;

static struct {
    uint16_t q[TOKENS][HEADS_Q][DIM];
    uint16_t k[PAGES][PAGE][HEADS_K][DIM], v[PAGES][HEADS_K][PAGE][DIM]; /* each in an order of its own */
    int32_t starts[BATCH + 1], keys[BATCH], prefix[BATCH], table[BATCH][TABLE_ROW];
    float slopes[BATCH][HEADS_Q], sink[HEADS_Q], head_scale[HEADS_Q];
    uint16_t bias[BATCH][HEADS_Q][QUERIES][KEYS];
    uint8_t mask[BATCH][HEADS_Q][QUERIES][KEYS];
    uint32_t block_mask[BATCH][HEADS_Q];
    uint16_t o[HEADS_Q][TOKENS][DIM];
    float lse[HEADS_Q][TOKENS];
} data;

static uint64_t state = 1;

/* -1 to 1, in 64ths, which f16 holds. */
static double number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int)((state >> 33) % 129) / 64 - 1;
}

static uint16_t encode(double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (value == 0 || isinf(value)) {
        return (uint16_t)(bits >> 16 & 0x8000) | (isinf(value) ? 0x7c00 : 0);
    }
    return (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff));
}

/* No subnormals are among the inputs, and of O they are no more than a rounding. */
static double decode(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double size = exponent == 31  ? (bits & 0x3ff ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(bits & 0x3ff, -24)
                                  : ldexp(1024 + (bits & 0x3ff), exponent - 25);
    return bits & 0x8000 ? -size : size;
}

static void fill(uint16_t *to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        to[i] = encode(number());
    }
}

static void make_data(void) {
    static const int32_t starts[] = {0, 40, 40, 60}, keys[] = {70, 13, 33}, prefix[] = {5, 3, 50};
    int page = PAGES;
    memcpy(data.starts, starts, sizeof starts);
    memcpy(data.keys, keys, sizeof keys);
    memcpy(data.prefix, prefix, sizeof prefix);
    fill(&data.q[0][0][0], sizeof data.q / 2);
    fill(&data.k[0][0][0][0], sizeof data.k / 2);
    fill(&data.v[0][0][0][0], sizeof data.v / 2);
    for (int b = 0; b < BATCH; b++) {
        for (int j = 0; j < TABLE_ROW; j++) {
            data.table[b][j] = j * PAGE < keys[b] ? --page : NO_PAGE;
        }
        for (int h = 0; h < HEADS_Q; h++) {
            data.slopes[b][h] = (float)(0.1 * fabs(number()));
            data.sink[h] = (float)number();
            data.head_scale[h] = (float)(1 + 0.5 * number());
            data.block_mask[b][h] = number() > 0 ? 7 : 5;
            for (int i = 0; i < QUERIES * KEYS; i++) {
                (&data.bias[b][h][0][0])[i] = encode(number() < -0.9 ? -INFINITY : number());
                (&data.mask[b][h][0][0])[i] = number() < -0.8 ? 0 : 3;
            }
        }
    }
}

static bool sees(bool causal, int b, int h, int i, int j) {
    int keys = data.keys[b], p = i + keys - (data.starts[b + 1] - data.starts[b]), high = keys;
    int prefix = data.prefix[b] < keys ? data.prefix[b] : keys;
    high = causal && p + 1 < high ? p + 1 : high;
    high = p + 1 + WINDOW_RIGHT < high ? p + 1 + WINDOW_RIGHT : high;
    high = prefix > high ? prefix : high;
    return j < high && (j >= p - WINDOW_LEFT || j < SINK_KEYS) && data.mask[b][h][i][j] != 0 &&
           (data.block_mask[b][h] >> j / BLOCK_K & 1) != 0 && decode(data.bias[b][h][i][j]) > -INFINITY;
}

static double score(int b, int h, int i, int j) {
    int page = data.table[b][j / PAGE], p = i + data.keys[b] - (data.starts[b + 1] - data.starts[b]);
    double s = 0;
    for (int d = 0; d < DIM; d++) {
        s += decode(data.q[data.starts[b] + i][h][d]) * decode(data.k[page][j % PAGE][h / (HEADS_Q / HEADS_K)][d]);
    }
    s = cap * tanh(s * scale * (double)data.head_scale[h] / cap);
    return s - (double)data.slopes[b][h] * abs(p - j) + decode(data.bias[b][h][i][j]);
}

/* Products of at most 12, whose sums in float32 are off by 66 2^-23 of that, go through the cap; it adds 8 2^-23 of
 * itself: a score, and LSE, are off by less than 1e-4. Weights that sum to at most 1 / 0.7 are off by as much twice,
 * and by 2^-11 when they are rounded, as O is: 4 2^-11 hold all of it. */
static void check_row(const fmha_forward_problem *p, int b, int h, int i) {
    double weight[KEYS], sum = exp((double)data.sink[h]); /* scores are of the size of 1 */
    int token = data.starts[b] + i;
    for (int j = 0; j < data.keys[b]; j++) {
        weight[j] = sees(p->mask != FMHA_MASK_NONE, b, h, i, j) ? exp(score(b, h, i, j)) : 0;
        sum += weight[j];
    }
    cr_assert(fabs(log(sum) - (double)data.lse[h][token]) < 1e-4, "LSE of sequence %d, head %d, query %d: %g, got %g",
              b, h, i, log(sum), (double)data.lse[h][token]);
    for (int d = 0; d < DIM; d++) {
        double o = 0;
        for (int j = 0; j < data.keys[b]; j++) {
            if (fmha_dropout_keeps(p->dropout_seed, p->dropout_offset, b, HEADS_Q, h, i, j, p->dropout)) {
                double v = decode(data.v[data.table[b][j / PAGE]][h / (HEADS_Q / HEADS_K)][j % PAGE][d]);
                o += weight[j] / sum / (1 - dropped) * v;
            }
        }
        cr_assert(fabs(o - decode(data.o[h][token][d])) < 4 * 0x1p-11,
                  "O of sequence %d, head %d, query %d, %d: %g, got %g", b, h, i, d, o, decode(data.o[h][token][d]));
    }
}

static void *put(fmha_device *device, const void *bytes, size_t count) {
    void *address;
    cr_assert_eq(fmha_memory_alloc(device, count, NULL, &address), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(device, address, bytes, count), FMHA_OK, "%s", fmha_last_error());
    return address;
}
#define PUT(member) put(device, &data.member, sizeof data.member)

static fmha_forward_problem make_problem(fmha_device *device, int32_t mask) {
    fmha_forward_problem p = FMHA_FORWARD_PROBLEM_INIT;
    p.dtype = FMHA_DTYPE_F16;
    p.mask = mask;
    p.head_dim = DIM;
    p.scale = (float)scale;
    p.batch = BATCH;
    p.heads_q = HEADS_Q;
    p.heads_k = HEADS_K;
    p.seqlen_q = QUERIES;
    p.seqlen_k = KEYS;
    p.q = (fmha_tensor){PUT(q), 0, DIM, HEADS_Q * DIM};
    p.k = (fmha_tensor){PUT(k), PAGE * HEADS_K * DIM, DIM, HEADS_K * DIM};
    p.v = (fmha_tensor){PUT(v), PAGE * HEADS_K * DIM, PAGE * DIM, DIM};
    p.o = (fmha_tensor){PUT(o), 0, TOKENS * DIM, DIM};
    p.lse = PUT(lse);
    p.varlen = FMHA_VARLEN_PACKED;
    p.tokens_q = TOKENS;
    p.cu_seqlens_q = PUT(starts);
    p.seqlens_k = PUT(keys);
    p.block_table = PUT(table);
    p.stride_block_table = TABLE_ROW;
    p.page_size = PAGE;
    p.window = 1;
    p.window_left = WINDOW_LEFT;
    p.window_right = WINDOW_RIGHT;
    p.sink_keys = SINK_KEYS;
    p.prefix_lengths = PUT(prefix);
    p.softcap = (float)cap;
    p.alibi_slopes = PUT(slopes);
    p.stride_alibi_batch = HEADS_Q;
    p.sink = PUT(sink);
    p.head_scale = PUT(head_scale);
    p.bias = (fmha_tensor){PUT(bias), HEADS_Q * QUERIES * KEYS, QUERIES * KEYS, KEYS};
    p.attn_mask = (fmha_tensor){PUT(mask), HEADS_Q * QUERIES * KEYS, QUERIES * KEYS, KEYS};
    p.block_mask = (fmha_tensor){PUT(block_mask), HEADS_Q, 1, 1};
    p.block_mask_q = 64;
    p.block_mask_k = BLOCK_K;
    p.dropout = (float)dropped;
    p.dropout_seed = 0x123456789abcdef;
    p.dropout_offset = UINT32_MAX;
    return p;
}

Test(forward_everything, packed_and_paged) {
    char folder[256], *words;
    int code;
    fmha_device *device;
    support_make_folder(folder);
    const char *const command[] = {FMHAGEN_PATH,
                                   "library",
                                   folder,
                                   "--no-compile",
                                   "--op",
                                   "forward",
                                   "--arch",
                                   "gfx1151",
                                   "--hd",
                                   "64",
                                   "--causal=none,bottom-right",
                                   "--window",
                                   "--sink-keys",
                                   "--prefix",
                                   "--softcap",
                                   "--alibi",
                                   "--bias",
                                   "--mask",
                                   "--block-mask",
                                   "--sink",
                                   "--head-scale",
                                   "--dropout",
                                   "--varlen",
                                   "--paged",
                                   NULL};
    cr_assert_eq(fmha_process_run(command, 60, &words, &code), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(code, 0, "%s", words);
    free(words);
    setenv("FMHA_LIBRARY_PATH", folder, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    setenv("FMHA_DRIVER_DIR", EMU_DRIVER_DIR, 1);
    setenv("FMHA_CACHE_DIR", FORWARD_CACHE_DIR, 1);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    make_data();
    for (int32_t mask = FMHA_MASK_NONE; mask <= FMHA_MASK_CAUSAL_BOTTOM_RIGHT; mask++) {
        fmha_forward_problem p = make_problem(device, mask);
        cr_assert_eq(fmha_forward(device, &p), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(fmha_memory_read(device, data.o, p.o.data, sizeof data.o), FMHA_OK);
        cr_assert_eq(fmha_memory_read(device, data.lse, p.lse, sizeof data.lse), FMHA_OK);
        for (int row = 0; row < BATCH * HEADS_Q * QUERIES; row++) {
            int b = row / QUERIES / HEADS_Q, i = row % QUERIES;
            if (i < data.starts[b + 1] - data.starts[b]) {
                check_row(&p, b, row / QUERIES % HEADS_Q, i);
            }
        }
    }
    fmha_device_close(device);
    support_remove_folder(folder);
}
