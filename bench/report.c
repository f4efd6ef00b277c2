/* How fmha-bench tells what it measured: a table, JSON, a picture. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha-bench.h"
#include "gen/svg.h"

const char *const bench_series[SERIES_COUNT] = {"fused", "unfused", "decode", "merge", "copy"};

bool bench_is_time(const struct bench *bench) {
    return strcmp(bench->unit, "us") == 0;
}

double bench_tflops(const struct bench *bench, const struct bench_row *row, int series) {
    const struct figure *figure = &row->figure[series];
    return bench_is_time(bench) && figure->measured ? row->flop / figure->median / 1e6 : 0;
}

double bench_gbs(const struct bench *bench, const struct bench_row *row, int series) {
    const struct figure *figure = &row->figure[series];
    return bench_is_time(bench) && figure->measured ? figure->bytes / figure->median / 1e3 : 0;
}

double bench_of_copy(const struct bench *bench, const struct bench_row *row) {
    double copy = bench_gbs(bench, row, SERIES_COPY);
    return copy > 0 ? 100 * bench_gbs(bench, row, SERIES_DECODE) / copy : 0;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

void bench_print_head(const struct bench *bench, struct text *out) {
    text_printf(out, "%s: %s, %s, %d compute units; %s, libfmha %s\n", bench->device, bench->info.name,
                bench->info.arch, bench->info.compute_units, bench->about, fmha_version());
    text_printf(out, "medians of %d rounds, %s in turn, after %d that do not count\n", bench->rounds,
                bench->rows[0].decode ? "decoding with its merge, the merge alone and a copy" : "fused and unfused",
                bench->warmup);
    text_printf(out, "%-46s %8s %12s", "", "", bench_is_time(bench) ? "us" : "cycles");
    if (bench_is_time(bench)) {
        text_printf(out, " %9s %9s", "TFLOP/s", "GB/s");
    }
    text_printf(out, " %12s %10s\n", "bytes moved", "memory");
}

static void print_bytes(struct text *out, double bytes, int width) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    text_printf(out, " %*.1f %-3s", width - 4, bytes, units[unit]);
}

void bench_print_row(const struct bench *bench, const struct bench_row *row, struct text *out) {
    for (int s = 0; s < SERIES_COUNT; s++) {
        const struct figure *figure = &row->figure[s];
        if (!figure->measured && figure->note[0] == '\0') {
            continue; /* not asked for */
        }
        char name[64] = "";
        if (s == SERIES_FUSED || s == SERIES_DECODE) {
            snprintf(name, sizeof name, "%s B%lld H%lld/%lld S%lld D%d%s", row->dtype, row->batch, row->heads_q,
                     row->heads_k, row->length, row->head_dim, row->causal ? " causal" : "");
        }
        text_printf(out, "%-46s %-8s", name, bench_series[s]);
        if (!figure->measured) {
            text_printf(out, " %s\n", figure->note);
            continue;
        }
        text_printf(out, " %12.1f", figure->median);
        if (bench_is_time(bench)) {
            if (s == SERIES_MERGE || s == SERIES_COPY) {
                text_printf(out, " %9s", "");
            } else {
                text_printf(out, " %9.2f", bench_tflops(bench, row, s));
            }
            text_printf(out, " %9.1f", bench_gbs(bench, row, s));
        }
        print_bytes(out, figure->bytes, 12);
        print_bytes(out, figure->memory, 10);
        text_puts(out, "\n");
    }
    if (row->decode) {
        text_printf(out, "%-46s splits: %lld", "", row->splits);
        if (bench_is_time(bench)) {
            text_printf(out, "; %.1f %% of the copy's bytes per second", bench_of_copy(bench, row));
        }
        text_puts(out, "\n");
    }
    if (row->difference >= 0) {
        text_printf(out, "%-46s results differ by %.2g of their norm\n", "", row->difference);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static bool add_figure(const struct bench *bench, const struct bench_row *row, int series, cJSON *to) {
    const struct figure *figure = &row->figure[series];
    cJSON *item = cJSON_AddObjectToObject(to, bench_series[series]);
    if (item == NULL || (!figure->measured && cJSON_AddStringToObject(item, "note", figure->note) == NULL)) {
        return false;
    }
    if (!figure->measured) {
        return true;
    }
    bool done = cJSON_AddNumberToObject(item, "median", figure->median) &&
                cJSON_AddNumberToObject(item, "least", figure->least) &&
                cJSON_AddNumberToObject(item, "most", figure->most) &&
                cJSON_AddNumberToObject(item, "bytes", figure->bytes) &&
                cJSON_AddNumberToObject(item, "memory", figure->memory);
    if (done && bench_is_time(bench)) {
        done = (series == SERIES_MERGE || series == SERIES_COPY ||
                cJSON_AddNumberToObject(item, "tflops", bench_tflops(bench, row, series))) &&
               cJSON_AddNumberToObject(item, "gbs", bench_gbs(bench, row, series));
    }
    return done;
}

static bool add_row(const struct bench *bench, const struct bench_row *row, cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    bool done = item && cJSON_AddItemToArray(list, item) && cJSON_AddStringToObject(item, "dtype", row->dtype) &&
                cJSON_AddStringToObject(item, "op", row->decode ? "decode" : "forward") &&
                cJSON_AddBoolToObject(item, "causal", row->causal) &&
                cJSON_AddNumberToObject(item, "head_dim", row->head_dim) &&
                cJSON_AddNumberToObject(item, "batch", (double)row->batch) &&
                cJSON_AddNumberToObject(item, "heads_q", (double)row->heads_q) &&
                cJSON_AddNumberToObject(item, "heads_k", (double)row->heads_k) &&
                cJSON_AddNumberToObject(item, "length", (double)row->length) &&
                cJSON_AddNumberToObject(item, "flop", row->flop) &&
                cJSON_AddStringToObject(item, "instance", row->instance);
    if (done && row->difference >= 0) {
        done = cJSON_AddNumberToObject(item, "difference", row->difference) != NULL;
    }
    if (done && row->decode) {
        done = cJSON_AddNumberToObject(item, "splits", (double)row->splits) &&
               (!bench_is_time(bench) || cJSON_AddNumberToObject(item, "percent_of_copy", bench_of_copy(bench, row)));
    }
    for (int s = row->decode ? SERIES_DECODE : SERIES_FUSED; done && s < (row->decode ? SERIES_COUNT : SERIES_DECODE);
         s++) {
        done = add_figure(bench, row, s, item);
    }
    return done;
}

bool bench_json(const struct bench *bench, struct text *out) {
    cJSON *root = cJSON_CreateObject(), *list = NULL;
    bool done = root && cJSON_AddStringToObject(root, "command", bench->command) &&
                cJSON_AddStringToObject(root, "device", bench->info.name) &&
                cJSON_AddStringToObject(root, "arch", bench->info.arch) &&
                cJSON_AddNumberToObject(root, "compute_units", bench->info.compute_units) &&
                cJSON_AddStringToObject(root, "driver", bench->about) &&
                cJSON_AddStringToObject(root, "libfmha", fmha_version()) &&
                cJSON_AddStringToObject(root, "unit", bench->unit) &&
                cJSON_AddNumberToObject(root, "rounds", bench->rounds) &&
                cJSON_AddNumberToObject(root, "warmup", bench->warmup) && (list = cJSON_AddArrayToObject(root, "rows"));
    for (size_t i = 0; done && i < bench->count; i++) {
        done = add_row(bench, &bench->rows[i], list);
    }
    char *printed = done ? cJSON_Print(root) : NULL;
    if (printed != NULL) {
        text_printf(out, "%s\n", printed);
    }
    free(printed);
    cJSON_Delete(root);
    return printed != NULL;
}

/* ---- The picture ----------------------------------------------------------------------------------------- */

enum { LEFT = 70, TOP = 60, WIDTH = 560, HEIGHT = 320, LEGEND = LEFT + WIDTH + 20, LINE = 18, COLORS = 8 };

static const char *const colors[COLORS] = {"#1f6fb4", "#d1661a", "#2a8f4c", "#b23a48",
                                           "#6b52a8", "#8a6d3b", "#c04f9b", "#5c6b73"};

struct scale {
    double x_first, x_last, most; /* logarithms of lengths; the highest value */
};

static double value_of(const struct bench *bench, const struct bench_row *row, int series) {
    const struct figure *figure = &row->figure[series];
    return !figure->measured ? 0 : bench_is_time(bench) ? bench_tflops(bench, row, series) : figure->median;
}

/* Rows of one line: they differ in length, and in the batch that goes with it. */
static bool same_line(const struct bench_row *a, const struct bench_row *b) {
    return strcmp(a->dtype, b->dtype) == 0 && a->causal == b->causal && a->head_dim == b->head_dim;
}

static struct scale scale_of(const struct bench *bench) {
    struct scale scale = {INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < bench->count; i++) {
        double x = log2((double)bench->rows[i].length);
        scale.x_first = fmin(scale.x_first, x);
        scale.x_last = fmax(scale.x_last, x);
        for (int s = 0; s < SERIES_COUNT; s++) {
            scale.most = fmax(scale.most, value_of(bench, &bench->rows[i], s));
        }
    }
    if (scale.x_last <= scale.x_first) {
        scale.x_last = scale.x_first + 1;
    }
    double step = pow(10, floor(log10(scale.most > 0 ? scale.most : 1)));
    scale.most = ceil(scale.most / step + 1e-9) * step;
    return scale;
}

static double x_of(const struct scale *scale, long long length) {
    return LEFT + WIDTH * (log2((double)length) - scale->x_first) / (scale->x_last - scale->x_first);
}

static double y_of(const struct scale *scale, double value) {
    return TOP + HEIGHT * (1 - value / scale->most);
}

static void add_axes(const struct scale *scale, struct text *out) {
    for (int i = 0; i <= 5; i++) {
        double value = scale->most * i / 5, y = y_of(scale, value);
        text_printf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH);
        text_printf(out, "<text class=\"axis end\" x=\"%d\" y=\"%.1f\">%g</text>\n", LEFT - 6, y + 4, value);
    }
    for (double x = ceil(scale->x_first); x <= scale->x_last; x++) {
        long long length = (long long)exp2(x);
        text_printf(out, "<text class=\"axis middle\" x=\"%.1f\" y=\"%d\">%lld</text>\n", x_of(scale, length),
                    TOP + HEIGHT + 16, length);
    }
    text_printf(out, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">length of Q, K and V</text>\n", LEFT + WIDTH / 2,
                TOP + HEIGHT + 34);
}

/* The line through the rows from `first` on that belong to it; false when nothing was measured. */
static bool add_line(const struct bench *bench, const struct scale *scale, size_t first, int series, const char *color,
                     struct text *out) {
    bool any = false;
    for (size_t i = first; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        double value = value_of(bench, row, series);
        if (same_line(row, &bench->rows[first]) && value > 0) {
            text_printf(out, "%s%.1f %.1f", any ? "L" : "<path fill=\"none\" d=\"M", x_of(scale, row->length),
                        y_of(scale, value));
            any = true;
        }
    }
    if (any) {
        text_printf(out, "\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", color,
                    series == SERIES_UNFUSED ? " stroke-dasharray=\"5 4\"" : "");
    }
    for (size_t i = first; any && i < bench->count; i++) {
        double value = value_of(bench, &bench->rows[i], series);
        if (same_line(&bench->rows[i], &bench->rows[first]) && value > 0) {
            text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                        x_of(scale, bench->rows[i].length), y_of(scale, value), color);
        }
    }
    return any;
}

static bool is_first(const struct bench *bench, size_t row) {
    for (size_t i = 0; i < row; i++) {
        if (same_line(&bench->rows[i], &bench->rows[row])) {
            return false;
        }
    }
    return true;
}

void bench_svg(const struct bench *bench, struct text *out) {
    const struct scale scale = scale_of(bench);
    svg_begin(out, LEGEND + 210, TOP + HEIGHT + 60);
    text_puts(out, "<desc>");
    svg_escape(out, bench->command);
    text_puts(out, "</desc>\n");
    svg_style(out, "");
    text_printf(out, "<text class=\"title\" x=\"%d\" y=\"26\">Attention on ", LEFT);
    svg_escape(out, bench->info.name);
    text_printf(out, "</text>\n<text class=\"note\" x=\"%d\" y=\"46\">%s, medians of %d rounds</text>\n", LEFT,
                bench_is_time(bench) ? "TFLOP/s" : bench->unit, bench->rounds);
    add_axes(&scale, out);
    int line = 0, color = 0;
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_row *row = &bench->rows[i];
        for (int s = 0; s < SERIES_COUNT && is_first(bench, i); s++) {
            if (add_line(bench, &scale, i, s, colors[color % COLORS], out)) {
                text_printf(out, "<text x=\"%d\" y=\"%d\" style=\"fill:%s\">%s D%d %s%s, %s</text>\n", LEGEND,
                            TOP + 10 + LINE * line++, colors[color % COLORS], s == SERIES_FUSED ? "—" : "- -",
                            row->head_dim, row->dtype, row->causal ? " causal" : "", bench_series[s]);
            }
        }
        color += is_first(bench, i);
    }
    svg_end(out);
}
