#include "report_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_estimate.h"
#include "svg.h"

enum {
    WIDTH = 800,
    MARGIN = 30,
    BARS_LEFT = 170,
    BARS_WIDTH = 330,
    BARS_TOP = 104,
    ROW = 24,
    BAR = 15,
    PLOT_LEFT = 84,
    PLOT_WIDTH = 560,
    PLOT_HEIGHT = 280,
    TITLE_MAX = 60 /* letters that fit at full size */
};

/* ---- Pipes ---- */

struct pipe {
    const char *name;
    double cycles[2]; /* of the ways */
    bool slowest;
};
enum { PIPE_USEFUL, PIPE_VALU, PIPE_TRANSCENDENTAL, PIPE_SIMD, PIPE_LDS, PIPE_L0, PIPES };

static const struct report_loop *body_of(const struct report *report) {
    for (int i = 0; i < report->loop_count; i++)
        if (strcmp(report->loops[i].role, "body") == 0 && report->loops[i].issue.ways[0].bound.known)
            return &report->loops[i];
    return NULL;
}

static void take_cycles(const struct report *report, const struct issue_way *way, int index, struct pipe pipes[PIPES]) {
    const struct issue_family *family = issue_family_of(report->arch);
    for (int i = 0; i < way->block_count; i++) {
        const struct assembly_block *block = &report->assembly.blocks[way->blocks[i]];
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct instruction *instruction = &report->assembly.instructions[k];
            struct issue_clocks clocks = {0, 0};
            issue_tick(family, report->wave, instruction, &clocks);
            bool useful = clocks.matrix > 0; /* no multiply-add that is the work is told of twice */
            if (instruction->unit == MIX_VALU && !useful)
                pipes[PIPE_VALU].cycles[index] += clocks.simd;
            else if (instruction->unit == MIX_TRANSCENDENTAL)
                pipes[PIPE_TRANSCENDENTAL].cycles[index] += clocks.simd;
        }
    }
    pipes[PIPE_USEFUL].cycles[index] = way->bound.matrix_cycles;
    pipes[PIPE_SIMD].cycles[index] = way->bound.simd_cycles;
    pipes[PIPE_LDS].cycles[index] = way->bound.lds_cycles;
    pipes[PIPE_L0].cycles[index] = way->bound.l0_cycles;
}

static void make_pipes(const struct report *report, const struct report_loop *body, struct pipe pipes[PIPES]) {
    const char *slowest = body->issue.ways[0].bound.slowest;
    memset(pipes, 0, PIPES * sizeof *pipes);
    pipes[PIPE_USEFUL].name = report->useful == MIX_MATRIX ? "matrix" : "multiply-adds";
    pipes[PIPE_VALU].name = report->useful == MIX_MATRIX ? "VALU" : "other VALU";
    pipes[PIPE_TRANSCENDENTAL].name = "transcendental";
    pipes[PIPE_SIMD].name = "SIMD, issue of all these";
    pipes[PIPE_LDS].name = "LDS";
    pipes[PIPE_L0].name = "L0, vector cache";
    pipes[PIPE_USEFUL].slowest = strcmp(slowest, "matrix") == 0;
    pipes[PIPE_SIMD].slowest = strcmp(slowest, "simd") == 0;
    pipes[PIPE_LDS].slowest = strcmp(slowest, "lds") == 0;
    pipes[PIPE_L0].slowest = strcmp(slowest, "l0") == 0;
    for (int i = 0; i < body->issue.way_count; i++)
        take_cycles(report, &body->issue.ways[i], i, pipes);
}

static void add_bars(const struct report *report, const struct report_loop *body, struct text *out) {
    const struct issue_bound *bound = &body->issue.ways[0].bound;
    bool choice = body->issue.way_count > 1;
    struct pipe pipes[PIPES];
    make_pipes(report, body, pipes);
    double most = issue_bound_cycles(&body->issue.ways[choice].bound);
    double slowest = issue_bound_cycles(bound);
    most = most > slowest ? most : slowest;
    text_printf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">One pass of a wave through the body", MARGIN,
                BARS_TOP - 30);
    text_printf(out, "<tspan class=\"note\" dx=\"8\">cycles of one SIMD; bound: %.1f%% of the %s rate", bound->percent,
                report->useful == MIX_MATRIX ? "matrix" : "multiply-add");
    if (choice)
        text_printf(out, ", %.1f%% on the way 'take' (pale)", body->issue.ways[1].bound.percent);
    text_puts(out, "</tspan></text>\n");
    for (int i = 0; i < PIPES; i++) {
        const struct pipe *pipe = &pipes[i];
        int y = BARS_TOP + i * ROW - BAR;
        text_printf(out, "<text class=\"end\" x=\"%d\" y=\"%d\">%s</text>\n", BARS_LEFT - 8, y + 12, pipe->name);
        if (choice)
            text_printf(out, "<rect class=\"take\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", BARS_LEFT, y,
                        BARS_WIDTH * pipe->cycles[1] / most, BAR);
        text_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                    pipe->slowest ? "slowest" : "bar", BARS_LEFT, y, BARS_WIDTH * pipe->cycles[0] / most, BAR);
        double end = pipe->cycles[choice] > pipe->cycles[0] ? pipe->cycles[choice] : pipe->cycles[0];
        text_printf(out, "<text x=\"%.1f\" y=\"%d\">%.0f, %.0f%% of the slowest",
                    BARS_LEFT + 6 + BARS_WIDTH * end / most, y + 12, pipe->cycles[0], 100 * pipe->cycles[0] / slowest);
        if (choice && pipe->cycles[1] > pipe->cycles[0])
            text_printf(out, "; take %.0f", pipe->cycles[1]);
        text_puts(out, "</text>\n");
    }
}

/* ---- Roofline ---- */

/* Decades of both axes, and where they stand on the page. */
struct plot {
    int x_first, x_last, y_first, y_last, top;
};

static double plot_x(const struct plot *plot, double value) {
    return PLOT_LEFT + PLOT_WIDTH * (log10(value) - plot->x_first) / (plot->x_last - plot->x_first);
}

static double plot_y(const struct plot *plot, double value) {
    return plot->top + PLOT_HEIGHT * (plot->y_last - log10(value)) / (plot->y_last - plot->y_first);
}

static double tflops_of(const struct report_estimate *estimate) {
    const char *limit;
    return estimate->flop / report_estimate_us(estimate, &limit) / 1e6;
}

static bool has_point(const struct report_estimate *estimate) {
    return estimate->flop > 0 && estimate->bytes > 0 && estimate->issue_us > 0;
}

/* With room of a factor of two on every side, the ridge and all problems in between. */
static struct plot make_plot(const struct report *report, double peak, double ridge, int top) {
    double x[2] = {ridge, ridge}, least = peak;
    for (size_t i = 0; i < report->estimate_count; i++) {
        const struct report_estimate *estimate = &report->estimates[i];
        if (!has_point(estimate))
            continue;
        double intensity = estimate->flop / estimate->bytes;
        x[0] = intensity < x[0] ? intensity : x[0];
        x[1] = intensity > x[1] ? intensity : x[1];
        least = tflops_of(estimate) < least ? tflops_of(estimate) : least;
    }
    return (struct plot){(int)floor(log10(x[0] / 2)), (int)ceil(log10(x[1] * 2)), (int)floor(log10(least / 2)),
                         (int)ceil(log10(peak * 1.2)), top};
}

static void add_axes(const struct plot *plot, struct text *out) {
    int bottom = plot->top + PLOT_HEIGHT;
    text_puts(out, "<path class=\"grid\" d=\"");
    for (int x = plot->x_first; x <= plot->x_last; x++)
        text_printf(out, "M%.1f %dv%d", plot_x(plot, pow(10, x)), plot->top, PLOT_HEIGHT);
    for (int y = plot->y_first; y <= plot->y_last; y++)
        text_printf(out, "M%d %.1fh%d", PLOT_LEFT, plot_y(plot, pow(10, y)), PLOT_WIDTH);
    text_puts(out, "\"/>\n");
    for (int x = plot->x_first; x <= plot->x_last; x++)
        text_printf(out, "<text class=\"axis middle\" x=\"%.1f\" y=\"%d\">%g</text>\n", plot_x(plot, pow(10, x)),
                    bottom + 15, pow(10, x));
    for (int y = plot->y_first; y <= plot->y_last; y++)
        text_printf(out, "<text class=\"axis end\" x=\"%d\" y=\"%.1f\">%g</text>\n", PLOT_LEFT - 6,
                    plot_y(plot, pow(10, y)) + 4, pow(10, y));
    text_printf(out, "<text class=\"middle\" x=\"%d\" y=\"%d\">FLOP a byte</text>\n", PLOT_LEFT + PLOT_WIDTH / 2,
                bottom + 32);
    text_printf(out, "<text class=\"middle\" x=\"%d\" y=\"%d\" transform=\"rotate(-90 %d %d)\">TFLOP/s</text>\n",
                MARGIN + 6, plot->top + PLOT_HEIGHT / 2, MARGIN + 6, plot->top + PLOT_HEIGHT / 2);
}

/* Memory's roof begins where it enters the plot, from the left or from below. */
static void add_roofs(const struct plot *plot, double peak, double ridge, double percent, struct text *out) {
    double x = pow(10, plot->x_first), floor_x = ridge * pow(10, plot->y_first) / peak;
    x = floor_x > x ? floor_x : x;
    double right = PLOT_LEFT + PLOT_WIDTH, kernel = peak * percent / 100;
    text_printf(out, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", plot_x(plot, x),
                plot_y(plot, peak * x / ridge), plot_x(plot, ridge), plot_y(plot, peak), right);
    text_printf(out, "<path class=\"kernel\" d=\"M%.1f %.1fH%.1f\"/>\n", plot_x(plot, ridge * percent / 100),
                plot_y(plot, kernel), right);
    text_printf(out, "<text x=\"%.1f\" y=\"%.1f\">%.1f, peak</text>\n", right + 6, plot_y(plot, peak) - 2, peak);
    text_printf(out, "<text x=\"%.1f\" y=\"%.1f\">%.1f, body</text>\n", right + 6, plot_y(plot, kernel) + 11, kernel);
}

static void add_points(const struct report *report, const struct plot *plot, struct text *out) {
    int shown = 0;
    for (size_t i = 0; i < report->estimate_count; i++) {
        const struct report_estimate *estimate = &report->estimates[i];
        const struct verify_shape *shape = &estimate->shape;
        const char *limit;
        if (!has_point(estimate))
            continue;
        double x = plot_x(plot, estimate->flop / estimate->bytes), y = plot_y(plot, tflops_of(estimate));
        double us = report_estimate_us(estimate, &limit);
        shown++;
        text_printf(out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
        text_printf(out, "<text class=\"middle\" x=\"%.1f\" y=\"%.1f\">%d</text>\n", x, y + 17, shown);
        text_printf(out,
                    "<text x=\"%d\" y=\"%d\">%d: %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                    ", %.4g FLOP a byte, bound by %s: at least %.4g us, at most %.4g TFLOP/s</text>\n",
                    MARGIN, plot->top + PLOT_HEIGHT + 44 + shown * 16, shown, shape->batch, shape->heads_q,
                    shape->heads_k, shape->seqlen_q, shape->seqlen_k, estimate->flop / estimate->bytes, limit, us,
                    tflops_of(estimate));
    }
}

/* In TFLOP/s; 0: a rate is not known. */
static double peak_of(const struct report *report, const struct report_loop *body) {
    struct report_chip chip = report_chip_of(report);
    const struct issue_bound *bound = &body->issue.ways[0].bound;
    return bound->percent > 0
               ? bound->flop_per_cycle * 100 / bound->percent * issue_simds_per_compute_unit(report->arch) *
                     chip.compute_units * chip.clock_ghz / 1000
               : 0;
}

static bool draws_roofline(const struct report *report, const struct report_loop *body) {
    return report->estimate_count > 0 && peak_of(report, body) > 0 && report_chip_of(report).bandwidth_gbs > 0;
}

static void add_roofline(const struct report *report, const struct report_loop *body, int top, struct text *out) {
    struct report_chip chip = report_chip_of(report);
    double peak = peak_of(report, body);
    text_printf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">Roofline<tspan class=\"note\" dx=\"8\">", MARGIN,
                top - 16);
    if (!draws_roofline(report, body)) {
        text_printf(out, "not drawn: %s</tspan></text>\n",
                    report->estimate_count == 0
                        ? "no problem was given (--shape)"
                        : "the chip's rates are not known (--clock, --compute-units, --bandwidth)");
        return;
    }
    if (chip.product) {
        svg_escape(out, chip.product);
        text_puts(out, ": ");
    }
    text_printf(out, "%d compute unit%s at %g GHz, %g GB/s; each tensor moved once</tspan></text>\n",
                chip.compute_units, chip.compute_units == 1 ? "" : "s", chip.clock_ghz, chip.bandwidth_gbs);
    double ridge = peak * 1000 / chip.bandwidth_gbs;
    struct plot plot = make_plot(report, peak, ridge, top);
    add_axes(&plot, out);
    add_roofs(&plot, peak, ridge, body->issue.ways[0].bound.percent, out);
    add_points(report, &plot, out);
}

/* ---- All of it ---- */

bool report_svg(const struct report *report, struct text *out, struct error *error) {
    const struct report_loop *body = body_of(report);
    if (!body)
        return error_set(
            error, ERROR_USAGE,
            "--svg: expected a loop with matrix instructions whose cycles are known, got none in %s; leave "
            "--svg out",
            report->instance);
    int top = BARS_TOP + PIPES * ROW + 40;
    int height = draws_roofline(report, body) ? top + PLOT_HEIGHT + 60 + 16 * (int)report->estimate_count : top;
    svg_begin(out, WIDTH, height);
    text_puts(out, "<desc>Made by fmhagen report --svg. Modelled; nothing was measured.</desc>\n");
    svg_style(
        out, ".bar { fill: #4c78a8 } .slowest, .point { fill: #e4572e } .take { fill: #c9d6e6 }\n"
             ".grid { stroke: #ddd; stroke-width: 1; fill: none } .roof { stroke: #222; stroke-width: 2; fill: none }\n"
             ".kernel { stroke: #4c78a8; stroke-width: 2; stroke-dasharray: 6 4; fill: none }\n"
             "@media (prefers-color-scheme: dark) {\n"
             "text { fill: #ddd } .axis { fill: #999 } [fill=\"#fff\"] { fill: #16181c }\n"
             ".take { fill: #33475e } .grid { stroke: #33363c } .roof { stroke: #ddd } .kernel { stroke: #7fa8d6 }\n"
             "}\n");
    text_printf(out, "<text class=\"%s\" x=\"%d\" y=\"30\">", strlen(report->instance) > TITLE_MAX ? "name" : "title",
                MARGIN);
    svg_escape(out, report->instance);
    text_printf(out,
                "</text>\n<text x=\"%d\" y=\"48\">%s, wave%d; modelled by what instructions cost to issue, not "
                "measured</text>\n",
                MARGIN, report->arch, report->wave);
    add_bars(report, body, out);
    add_roofline(report, body, top, out);
    svg_end(out);
    return !out->failed || error_set(error, ERROR_RUN, "--svg: out of memory; report on one kernel alone");
}
