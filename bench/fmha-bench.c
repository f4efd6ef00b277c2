/* Times attention on a device, fused and through memory, or decoding beside a copy:
 *
 *   fmha-bench --device cuda --hd 64,128 --dtype f16,bf16 --causal 0,1 --length 1024,4096,16384 --json FILE --svg FILE
 *   fmha-bench --device cuda --op decode --batch 1,4,16,64 --json FILE
 *   fmha-bench --help
 *
 * Both ways run in turn in each round; figures are medians. The unfused way writes scores and weights to memory: it
 * stops at the length at which they do not fit. Its kernels are simple ones without matrix instructions. Where both
 * ran, their results are compared. Decoding is fmha_decode with its merge; its figure is the bytes of K and V in a
 * second, beside those that a copy reads and writes, and its result is compared with that of one split. On emulated
 * devices work is counted in place of time. It stops at the first thing that goes wrong. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "decode.h"
#include "dispatch.h"
#include "fmha-bench.h"
#include "tools.h"
#include "unfused.h"

enum { LIST_MAX = 32, ROUNDS_MAX = 1000, COMPARED = 1 << 20 };

struct list {
    long long at[LIST_MAX];
    size_t count;
};

struct options {
    const char *device, *json, *svg;
    struct list head_dims, dtypes, causal, lengths, batches;
    long long heads, group, rounds, warmup, memory_mib, tokens, splits, copy_mib;
    bool fused_alone, decode;
};

static void usage(const char *format, const char *name, const char *got) {
    fprintf(stderr, "fmha-bench: ");
    fprintf(stderr, format, name, got);
    fprintf(stderr, "; fmha-bench --help lists the options\n");
    exit(2);
}

/* ---- Options --------------------------------------------------------------------------------------------- */

static long long number(const char *name, const char *text, long long least, long long most) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        fprintf(stderr, "fmha-bench: --%s: expected a whole number from %lld to %lld, got '%s'\n", name, least, most,
                text);
        exit(2);
    }
    return value;
}

/* Words of a comma list: numbers, or those of `words` as their places. */
static struct list list_of(const char *name, char *text, const char *const *words, long long least, long long most) {
    struct list list = {{0}, 0};
    for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        if (list.count == LIST_MAX) {
            usage("--%s: expected at most 32 values, got more with '%s'", name, word);
        }
        long long value = 0;
        if (words != NULL) {
            while (words[value] != NULL && strcmp(words[value], word) != 0) {
                value++;
            }
            if (words[value] == NULL) {
                usage("--%s: expected f16 or bf16, got '%s'", name, word);
            }
        } else {
            value = number(name, word, least, most);
        }
        list.at[list.count++] = value;
    }
    if (list.count == 0) {
        usage("--%s: expected a value, got '%s'", name, text);
    }
    return list;
}

static const char help[] =
    "Usage: fmha-bench --device NAME [OPTIONS]\n"
    "Times forward attention, fused and as three kernels that go through memory, or decoding\n"
    "beside a copy.\n"
    "\n"
    "  --device NAME      cuda, hip, hip:1; emu:gfx1151 counts in place of timing\n"
    "  --op OP            forward, decode; default: forward\n"
    "  --hd N,...         head dimensions; default: 64,128\n"
    "  --dtype T,...      f16, bf16; default: f16\n"
    "  --causal 0,1       without and with the causal mask; default: 0,1\n"
    "  --length N,...     of Q, K and V; default: 1024,2048,4096,8192,16384; of K and V: 32768\n"
    "  --batch N,...      sequences; default: as many as make --tokens rows; decoding: 1,4,16,64\n"
    "  --tokens N         rows of all sequences together; default: 16384\n"
    "  --heads N          of Q; default: 2048 / head dimension; decoding: 32\n"
    "  --gqa N            heads of Q to a head of K and V; default: 1; decoding: 4\n"
    "  --splits N         of decoding; default: 0, as many as suit the chip\n"
    "  --copy-mib N       that are copied beside decoding; default: 1024\n"
    "  --rounds N         that count; default: 15\n"
    "  --warmup N         before them; default: 3\n"
    "  --fused            the fused way alone\n"
    "  --memory-mib N     leave the unfused way out where its scores need more\n"
    "  --json FILE        all figures\n"
    "  --svg FILE         a plot of rates over lengths\n"
    "                     (--causal, --tokens, --fused, --memory-mib, --svg: forward alone)\n"
    "  --help             print this\n";

static const char *const dtype_words[] = {"f16", "bf16", NULL};

static struct options read_options(int count, char **arguments) {
    static const struct option known[] = {
        {"device", required_argument, NULL, 'd'}, {"op", required_argument, NULL, 'o'},
        {"hd", required_argument, NULL, 'n'},     {"dtype", required_argument, NULL, 't'},
        {"causal", required_argument, NULL, 'c'}, {"length", required_argument, NULL, 'l'},
        {"batch", required_argument, NULL, 'b'},  {"tokens", required_argument, NULL, 'k'},
        {"heads", required_argument, NULL, 'h'},  {"gqa", required_argument, NULL, 'g'},
        {"splits", required_argument, NULL, 'p'}, {"copy-mib", required_argument, NULL, 'y'},
        {"rounds", required_argument, NULL, 'r'}, {"warmup", required_argument, NULL, 'w'},
        {"fused", no_argument, NULL, 'f'},        {"memory-mib", required_argument, NULL, 'm'},
        {"json", required_argument, NULL, 'j'},   {"svg", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'H'},         {NULL, 0, NULL, 0}};
    struct options o = {.head_dims = {{64, 128}, 2},
                        .dtypes = {{0}, 1},
                        .causal = {{0, 1}, 2},
                        .lengths = {{1024, 2048, 4096, 8192, 16384}, 5},
                        .rounds = 15,
                        .warmup = 3,
                        .tokens = 16384,
                        .memory_mib = INT32_MAX,
                        .copy_mib = 1024};
    bool lengths = false;
    const char *of_forward = NULL, *of_decode = NULL; /* an option that the other has not */
    for (int letter; (letter = getopt_long(count, arguments, "", known, NULL)) != -1;) {
        switch (letter) {
        case 'd':
            o.device = optarg;
            break;
        case 'o':
            if (strcmp(optarg, "forward") != 0 && strcmp(optarg, "decode") != 0) {
                usage("--%s: expected forward or decode, got '%s'", "op", optarg);
            }
            o.decode = strcmp(optarg, "decode") == 0;
            break;
        case 'n':
            o.head_dims = list_of("hd", optarg, NULL, 8, 576);
            break;
        case 't':
            o.dtypes = list_of("dtype", optarg, dtype_words, 0, 0);
            break;
        case 'c':
            o.causal = list_of("causal", optarg, NULL, 0, 1);
            of_forward = "causal";
            break;
        case 'l':
            o.lengths = list_of("length", optarg, NULL, 1, 1 << 24);
            lengths = true;
            break;
        case 'b':
            o.batches = list_of("batch", optarg, NULL, 1, 65535);
            break;
        case 'k':
            o.tokens = number("tokens", optarg, 1, 1 << 28);
            of_forward = "tokens";
            break;
        case 'h':
            o.heads = number("heads", optarg, 1, 65535);
            break;
        case 'g':
            o.group = number("gqa", optarg, 1, 1024);
            break;
        case 'p':
            o.splits = number("splits", optarg, 0, 65536);
            of_decode = "splits";
            break;
        case 'y':
            o.copy_mib = number("copy-mib", optarg, 1, 16384);
            of_decode = "copy-mib";
            break;
        case 'r':
            o.rounds = number("rounds", optarg, 1, ROUNDS_MAX);
            break;
        case 'w':
            o.warmup = number("warmup", optarg, 0, ROUNDS_MAX);
            break;
        case 'f':
            o.fused_alone = true;
            of_forward = "fused";
            break;
        case 'm':
            o.memory_mib = number("memory-mib", optarg, 0, INT32_MAX);
            of_forward = "memory-mib";
            break;
        case 'j':
            o.json = optarg;
            break;
        case 's':
            o.svg = optarg;
            of_forward = "svg";
            break;
        case 'H':
            fputs(help, stdout);
            exit(0);
        default:
            exit(2);
        }
    }
    if (optind < count) {
        usage("%sexpected options, got '%s'", "", arguments[optind]);
    }
    if (o.device == NULL) {
        usage("--%s: expected a device such as cuda, got %s", "device", "none");
    }
    if ((o.decode ? of_forward : of_decode) != NULL) {
        usage("--%s: expected --op %s", o.decode ? of_forward : of_decode, o.decode ? "forward" : "decode");
    }
    if (o.decode) {
        o.causal = (struct list){{0}, 1};
        o.lengths = lengths ? o.lengths : (struct list){{32768}, 1};
        o.batches = o.batches.count > 0 ? o.batches : (struct list){{1, 4, 16, 64}, 4};
        o.heads = o.heads > 0 ? o.heads : 32;
    }
    o.group = o.group > 0 ? o.group : o.decode ? 4 : 1;
    o.batches.count = o.batches.count > 0 ? o.batches.count : 1; /* 0: what follows from --tokens */
    return o;
}

static fmha_tensor tensor(fmha_device *device, const char *label, long long heads, const fmha_forward_problem *p,
                          uint64_t *random) {
    return bench_tensor(device, label, (int64_t[]){p->batch, heads, p->seqlen_q, p->head_dim}, p->dtype, random);
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

static void plan_fused(fmha_device *device, const fmha_forward_problem *problem, struct fmha_plan *fused) {
    struct fmha_request request;
    bench_must(fmha_attention_read("fmha-bench", device, FMHA_KEY_FORWARD, problem, true, &request));
    bench_must(fmha_dispatch_plan(device, &request.key, &request.operands, fused));
}

struct contest {
    const fmha_forward_problem *problem;
    const struct fmha_plan *fused;
    const struct unfused *unfused; /* its device NULL: it is left out */
};

static void run_round(const void *context, double amount[SERIES_COUNT]) {
    const struct contest *contest = context;
    amount[SERIES_FUSED] = bench_measure(contest->fused);
    if (contest->unfused->device != NULL) {
        bench_must(unfused_measure(contest->unfused, contest->problem, &amount[SERIES_UNFUSED]));
    }
}

/* Runs each once more and compares the first elements of O. */
static double difference(fmha_device *device, const fmha_forward_problem *p, const struct fmha_plan *fused,
                         const struct unfused *unfused, const struct bench_row *row) {
    size_t count = (size_t)(p->batch * p->heads_q * p->seqlen_q * p->head_dim);
    double amount;
    count = count < COMPARED ? count : COMPARED;
    bench_clear(device, p->o.data, count);
    bench_must(unfused_measure(unfused, p, &amount));
    float *expected = bench_read(device, p->o.data, count, p->dtype);
    bench_clear(device, p->o.data, count);
    bench_measure(fused);
    float *got = bench_read(device, p->o.data, count, p->dtype);
    return bench_compare(row->instance, "the unfused way", expected, got, count);
}

static void count_bytes(const fmha_forward_problem *p, struct bench_row *row) {
    double rows = (double)(p->batch * p->seqlen_q) * p->head_dim * 2;
    double tensors = rows * (2.0 * (double)p->heads_q + 2.0 * (double)p->heads_k);
    double scores = (double)unfused_score_bytes(p), weights = (double)unfused_weight_bytes(p);
    row->figure[SERIES_FUSED].bytes = row->figure[SERIES_FUSED].memory = tensors;
    row->figure[SERIES_UNFUSED].bytes = tensors + 2 * scores + 2 * weights;
    row->figure[SERIES_UNFUSED].memory = tensors + scores + weights;
    row->flop = 4.0 * (double)(p->batch * p->heads_q * p->seqlen_q * p->seqlen_k) * p->head_dim;
    if (row->causal) {
        row->flop /= 2;
    }
}

static void begin_unfused(const struct options *o, fmha_device *device, const fmha_forward_problem *problem,
                          struct unfused *unfused, struct figure *figure) {
    double mib = figure->memory / (1 << 20);
    if (o->fused_alone) {
        return;
    }
    if (mib > (double)o->memory_mib) {
        snprintf(figure->note, sizeof figure->note, "left out: it needs %.0f MiB", mib);
        return;
    }
    fmha_status status = unfused_begin(device, problem, unfused);
    if (status == FMHA_ERROR_MEMORY) {
        snprintf(figure->note, sizeof figure->note, "does not fit: it needs %.0f MiB", mib);
    } else {
        bench_must(status);
    }
}

static void take_name(void *context, const fmha_consideration *consideration) {
    if (consideration->taken) {
        snprintf(context, sizeof((struct bench_row *)0)->instance, "%s", consideration->instance);
    }
}

static void measure(const struct options *o, fmha_device *device, struct bench_row *row) {
    uint64_t random = 1;
    fmha_forward_problem p = FMHA_FORWARD_PROBLEM_INIT;
    p.dtype = strcmp(row->dtype, "f16") == 0 ? FMHA_DTYPE_F16 : FMHA_DTYPE_BF16;
    p.mask = row->causal ? FMHA_MASK_CAUSAL_BOTTOM_RIGHT : FMHA_MASK_NONE;
    p.head_dim = row->head_dim;
    p.scale = (float)(1 / sqrt(row->head_dim));
    p.batch = row->batch;
    p.heads_q = row->heads_q;
    p.heads_k = row->heads_k;
    p.seqlen_q = p.seqlen_k = row->length;
    p.q = tensor(device, "q", row->heads_q, &p, &random);
    p.k = tensor(device, "k", row->heads_k, &p, &random);
    p.v = tensor(device, "v", row->heads_k, &p, &random);
    p.o = tensor(device, "o", row->heads_q, &p, NULL);
    count_bytes(&p, row);
    struct fmha_plan fused;
    struct unfused unfused = {0};
    plan_fused(device, &p, &fused);
    bench_must(fmha_forward_explain(device, &p, take_name, row->instance));
    begin_unfused(o, device, &p, &unfused, &row->figure[SERIES_UNFUSED]);
    bench_run((int)o->rounds, (int)o->warmup, run_round, &(struct contest){&p, &fused, &unfused}, row->figure);
    row->difference = unfused.device != NULL ? difference(device, &p, &fused, &unfused, row) : -1;
    unfused_end(&unfused);
    void *const tensors[] = {p.q.data, p.k.data, p.v.data, p.o.data};
    for (size_t i = 0; i < 4; i++) {
        bench_must(fmha_memory_free(device, tensors[i]));
    }
}

/* ---- The program ----------------------------------------------------------------------------------------- */

static long long pick(const struct list *list, size_t *at) {
    long long value = list->at[*at % list->count];
    *at /= list->count;
    return value;
}

static size_t count_rows(const struct options *o) {
    return o->head_dims.count * o->dtypes.count * o->causal.count * o->lengths.count * o->batches.count;
}

/* Row n of all: batches change first, head dimensions last. */
static struct bench_row row_of(const struct options *o, size_t n) {
    struct bench_row row = {.decode = o->decode, .difference = -1};
    row.batch = pick(&o->batches, &n);
    row.length = pick(&o->lengths, &n);
    row.causal = pick(&o->causal, &n) != 0;
    row.dtype = dtype_words[pick(&o->dtypes, &n)];
    row.head_dim = (int)pick(&o->head_dims, &n);
    if (row.batch == 0) {
        row.batch = o->tokens > row.length ? o->tokens / row.length : 1;
    }
    row.heads_q = o->heads > 0 ? o->heads : row.head_dim < 2048 ? 2048 / row.head_dim : 1;
    row.heads_k = row.heads_q / o->group;
    if (row.heads_q % o->group != 0) {
        bench_stop("--gqa: expected a divisor of %lld heads, got %lld", row.heads_q, o->group);
    }
    return row;
}

static void print(struct text *text) {
    fputs(text->bytes != NULL ? text->bytes : "", stdout);
    fflush(stdout);
    text_free(text);
}

static void write_file(const char *path, struct text *text) {
    struct error error;
    if (text->failed || !file_write(path, text->bytes, text->length, &error)) {
        bench_stop("%s", text->failed ? "out of memory" : error.text);
    }
    text_free(text);
}

int main(int count, char **arguments) {
    struct text command = {0}, text = {0};
    for (int i = 0; i < count; i++) {
        text_printf(&command, "%s%s", i > 0 ? " " : "", i > 0 ? arguments[i] : "fmha-bench");
    }
    const struct options o = read_options(count, arguments);
    fmha_device *device;
    bench_must(fmha_device_open(o.device, &device));
    struct bench bench = {
        .device = o.device, .command = command.bytes, .rounds = (int)o.rounds, .warmup = (int)o.warmup};
    bench_must(fmha_device_get_info(device, &bench.info));
    if (device->driver->measure == NULL) {
        bench_stop("%s: expected a device that can measure, got one that cannot", o.device);
    }
    bench.unit = device->driver->measure_unit;
    fmha_device_about(device, bench.about, sizeof bench.about);
    bench.count = count_rows(&o);
    bench.rows = bench_room(bench.count * sizeof *bench.rows);
    for (size_t i = 0; i < bench.count; i++) {
        bench.rows[i] = row_of(&o, i);
    }
    struct copy copy = {0};
    if (o.decode) {
        bench_must(copy_begin(device, (size_t)o.copy_mib << 20, &copy));
    }
    bench_print_head(&bench, &text);
    print(&text);
    for (size_t i = 0; i < bench.count; i++) {
        if (o.decode) {
            decode_measure(&bench, device, &copy, o.splits, &bench.rows[i]);
        } else {
            measure(&o, device, &bench.rows[i]);
        }
        bench_print_row(&bench, &bench.rows[i], &text);
        print(&text);
    }
    if (o.json != NULL) {
        if (!bench_json(&bench, &text)) {
            bench_stop("--json: out of memory");
        }
        write_file(o.json, &text);
    }
    if (o.svg != NULL) {
        bench_svg(&bench, &text);
        write_file(o.svg, &text);
    }
    copy_end(&copy);
    fmha_device_close(device);
    free(bench.rows);
    text_free(&command);
    return 0;
}
