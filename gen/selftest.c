#include "selftest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compiler.h"
#include "device.h"
#include "fmha.h"
#include "library_entries.h"
#include "shape_key.h"
#include "tune.h"
#include "verify.h"

/* Products of options: what the standing kernels compute and how; types and waves that a chip lacks are left out. No
 * wave: the chip's default. */
struct row {
    const char *head_dim, *dtype, *mask, *align, *wave, *gqa;
};
static const struct row rows[] = {
    {"128", "f16,bf16", "none,bottom-right", "16", "32,64", "1"},
    {"64", "f16", "bottom-right", "16", NULL, "4"},
    {"128", "bf16", "bottom-right", "2", NULL, "1"},
};
static const struct row quick_rows[] = {{"64", "f16", "none,bottom-right", "16", NULL, "1"}};

static const struct verify_shape shapes[] = {{1, 4, 1, 65, 97}, {2, 4, 1, 1, 128}, {1, 8, 2, 130, 258}};
static const struct verify_shape quick_shapes[] = {{1, 2, 1, 33, 65}};

/* Of timing: a prompt of a small model; for devices that count, what they do in seconds. */
static const struct verify_shape measured_shape = {1, 32, 8, 2048, 2048}, counted_shape = {1, 4, 1, 64, 64};

/* ---- The machine --------------------------------------------------------------------------------------------------
 */

/* The rest of the first line of a file that begins with `key`, without `separators`. */
static void add_line_of(struct text *out, const char *path, const char *key, const char *separators) {
    FILE *file = fopen(path, "r");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, key, strlen(key)) == 0;
    if (file)
        fclose(file);
    char *value = found ? line + strlen(key) : line;
    if (!found)
        snprintf(line, sizeof line, "unknown");
    value += strspn(value, separators);
    value[strcspn(value, "\"\n")] = '\0';
    text_puts(out, value);
}

static void add_place(void *context, const char *place, const char *found, const char *verdict) {
    text_printf(context, "    %s: %s%s%s\n", place, found, *found ? ": " : "", verdict);
}

static void add_machine(struct text *out) {
    struct utsname name;
    text_printf(out, "fmhagen %s (ABI %d)\n", FMHA_VERSION, FMHA_ABI_VERSION);
    text_puts(out, "system: ");
    add_line_of(out, "/etc/os-release", "PRETTY_NAME=", "\"");
    if (uname(&name) == 0)
        text_printf(out, ", %s %s %s", name.sysname, name.release, name.machine);
    text_puts(out, "\nprocessor: ");
    add_line_of(out, "/proc/cpuinfo", "model name", " \t:");
    text_printf(out, ", %ld of them\n", sysconf(_SC_NPROCESSORS_ONLN));
}

static void add_compilers(struct text *out, const char *arch) {
    fmha_compiler compiler;
    text_printf(out, "  compiler for %s: ", arch);
    if (fmha_compiler_find(arch, &compiler) == FMHA_OK)
        text_printf(out, "%s, %s\n", compiler.version, compiler.path);
    else
        text_puts(out, "none\n");
    fmha_compiler_list(arch, add_place, out);
}

int selftest_find(char *devices[SELFTEST_DEVICES_MAX], struct text *why) {
    static const char *const drivers[] = {"hip", "cuda"};
    int count = 0;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        for (int ordinal = 0; count < SELFTEST_DEVICES_MAX; ordinal++) {
            char name[32];
            fmha_device *device;
            snprintf(name, sizeof name, "%s:%d", drivers[i], ordinal);
            if (fmha_device_open(name, &device) != FMHA_OK) {
                if (ordinal == 0)
                    text_printf(why, "%s%s", i ? "\n" : "", fmha_last_error());
                break;
            }
            fmha_device_close(device);
            devices[count] = strdup(name);
            if (!devices[count])
                break;
            count++;
        }
    }
    return count;
}

/* ---- Kernels ------------------------------------------------------------------------------------------------------
 */

struct session {
    const struct selftest_request *request;
    const char *name; /* of the device */
    fmha_device *device;
    fmha_device_info info;
    bool counts; /* work instead of time */
    struct spec *specs;
    struct instance *instances;
    size_t count, emitted;
    struct text *out;
    struct selftest_counts *totals;
};

static void progress(const struct session *session, const char *what) {
    if (session->request->progress)
        session->request->progress(session->request->progress_context, what);
}

/* The resolved specs of all rows. */
static bool make_specs(struct session *session, struct error *error) {
    bool quick = session->request->quick;
    size_t row_count = quick ? sizeof quick_rows / sizeof *quick_rows : sizeof rows / sizeof *rows;
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = quick ? &quick_rows[i] : &rows[i];
        const struct spec_choices choices = {.arch = session->info.arch,
                                             .if_chip_has = UINT64_C(1) << SPEC_DTYPE | UINT64_C(1) << SPEC_WAVE,
                                             .field = {[SPEC_HEAD_DIM] = row->head_dim,
                                                       [SPEC_DTYPE] = row->dtype,
                                                       [SPEC_MASK] = row->mask,
                                                       [SPEC_ALIGN] = row->align,
                                                       [SPEC_WAVE] = row->wave,
                                                       [SPEC_GQA] = row->gqa}};
        struct spec *made;
        size_t count;
        if (!spec_product(&choices, session->request->engine, &made, &count, error))
            return false;
        struct spec *larger = count ? realloc(session->specs, (session->count + count) * sizeof *larger) : NULL;
        if (larger) {
            memcpy(larger + session->count, made, count * sizeof *made);
            session->specs = larger;
            session->count += count;
        }
        free(made);
        if (count && !larger)
            return error_set(error, ERROR_RUN, "selftest: out of memory");
    }
    session->instances = calloc(session->count, sizeof *session->instances);
    return session->instances || error_set(error, ERROR_RUN, "selftest: out of memory");
}

static void add_cases(const struct verify_report *report, struct text *out) {
    double output = 0, lse = 0;
    for (size_t i = 0; i < report->case_count; i++) {
        const struct verify_case *one = &report->cases[i];
        output = fmax(output, one->max_error_over_bound);
        lse = fmax(lse, one->lse_error_over_bound);
    }
    text_printf(out, "    %-9s  %9.3f  %9.3f  %6zu  %s\n", report->passed ? "right" : "WRONG", output, lse,
                report->case_count, report->instance);
    for (size_t i = 0; i < report->case_count; i++) {
        const struct verify_case *one = &report->cases[i];
        for (size_t j = 0; j < one->finding_count; j++)
            text_printf(out, "      %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ", %s: %s\n",
                        one->shape.batch, one->shape.heads_q, one->shape.heads_k, one->shape.seqlen_q,
                        one->shape.seqlen_k, one->inputs, one->findings[j]);
    }
}

static void verify_all(struct session *session) {
    bool quick = session->request->quick;
    struct verify_options options;
    verify_options_init(&options);
    options.device = session->name;
    options.shapes = quick ? quick_shapes : shapes;
    options.shape_count = quick ? sizeof quick_shapes / sizeof *quick_shapes : sizeof shapes / sizeof *shapes;
    text_puts(session->out,
              "  verification: the largest error of O and of LSE over its bound (at most 1 is right), cases\n"
              "    verdict            O        LSE   cases  kernel\n");
    for (size_t i = 0; i < session->count; i++) {
        struct verify_report report;
        struct error error;
        char name[SPEC_NAME_MAX];
        spec_name(&session->specs[i], name);
        progress(session, name);
        session->totals->kernels++;
        if (verify_run(session->request->engine, &session->specs[i], &options, &report, &error)) {
            add_cases(&report, session->out);
            session->totals->right += report.passed;
            verify_report_free(&report);
        } else
            text_printf(session->out, "    %-9s  %9s  %9s  %6s  %s\n      %s\n", "FAILED", "-", "-", "-", name,
                        error.text);
    }
}

/* ---- Times --------------------------------------------------------------------------------------------------------
 */

/* Multiplications and additions of both products, of the keys that a mask leaves. */
static double flop(const struct spec *spec, const struct verify_shape *shape) {
    double dims = (double)(spec->value[SPEC_HEAD_DIM] + spec->value[SPEC_HEAD_DIM_V]);
    double pairs = (double)shape->seqlen_q * (double)shape->seqlen_k;
    if (strcmp(spec_word(spec, SPEC_MASK), "none") != 0) /* as many queries as keys */
        pairs = (double)shape->seqlen_q * (double)(shape->seqlen_q + 1) / 2;
    return 2 * dims * pairs * (double)shape->batch * (double)shape->heads_q;
}

static void add_times(const struct session *session, const struct spec *spec, const struct verify_shape *shape,
                      const struct tune_outcome *outcome) {
    for (size_t i = 0; i < outcome->count; i++) {
        const struct tune_member *member = &outcome->members[i];
        if (!member->runs)
            text_printf(session->out, "    %s: %s\n", member->instance, member->reason);
        else if (session->counts)
            text_printf(session->out, "    %12.0f  %s\n", member->median, member->instance);
        else
            text_printf(session->out, "    %12.1f  %12.1f  %12.1f  %8.2f  %s\n", member->median, member->least,
                        member->most, flop(spec, shape) / member->median * 1e-6, member->instance);
    }
}

/* A library of texts in TMPDIR, from which libfmha compiles. */
static bool make_library(struct session *session, const char *folder, struct error *error) {
    struct library library = {.lock = -1};
    for (; session->emitted < session->count; session->emitted++)
        if (!instance_emit(session->request->engine, &session->specs[session->emitted],
                           &session->instances[session->emitted], error))
            return false;
    bool done = library_begin(folder, true, session->instances, session->count, NULL, session->request->engine,
                              &library, error) &&
                library_lock(&library, error) && library_prepare(&library, error) &&
                library_leave_texts(&library, error) && library_publish(&library, error);
    library_end(&library);
    if (done && fmha_device_add_library(session->device, folder) != FMHA_OK)
        done = error_set(error, ERROR_RUN, "%s", fmha_last_error());
    return done;
}

static void time_all(struct session *session) {
    const struct verify_shape *shape = session->counts ? &counted_shape : &measured_shape;
    const char *temporary = getenv("TMPDIR");
    char folder[4096];
    const char *const libraries[] = {folder, NULL};
    struct error error;
    snprintf(folder, sizeof folder, "%.4000s/selftest-XXXXXX", temporary ? temporary : "/tmp");
    text_printf(session->out, "  %s at %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
                session->counts ? "counted work" : "times", shape->batch, shape->heads_q, shape->heads_k,
                shape->seqlen_q, shape->seqlen_k);
    text_puts(session->out, session->counts
                                ? "    cycles (as the emulated device counts; nothing follows from it for a chip)\n"
                                : "       median us         least          most   TFLOP/s  kernel\n");
    if (!mkdtemp(folder)) {
        text_printf(session->out, "    none: %s cannot be made\n", folder);
        return;
    }
    if (!make_library(session, folder, &error)) {
        text_printf(session->out, "    none: %s\n", error.text);
        return;
    }
    for (size_t i = 0; i < session->count; i++) {
        struct fmha_key key, other;
        bool known = !spec_key(&session->specs[i], &key, &error);
        for (size_t j = 0; j < i && !known; j++) /* instances of one kind were timed together */
            known = spec_key(&session->specs[j], &other, &error) && fmha_key_equal(&key, &other);
        if (known)
            continue;
        struct tune_outcome outcome;
        const struct tune_request request = {
            .device = session->device, .spec = &session->specs[i], .shape = *shape, .libraries = libraries, .seed = 1};
        progress(session, session->instances[i].name);
        if (tune_run(&request, &outcome, &error)) {
            add_times(session, &session->specs[i], shape, &outcome);
            tune_outcome_free(&outcome);
        } else
            text_printf(session->out, "    none: %s\n", error.text);
    }
}

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

static void test_device(struct session *session) {
    struct error error;
    char about[256];
    text_printf(session->out, "\ndevice %s", session->name);
    if (fmha_device_open(session->name, &session->device) != FMHA_OK) {
        text_printf(session->out, " cannot be opened: %s\n", fmha_last_error());
        session->totals->kernels++; /* none of it was right */
        return;
    }
    session->totals->devices++;
    fmha_device_get_info(session->device, &session->info);
    fmha_device_about(session->device, about, sizeof about);
    session->counts =
        strcmp(session->device->driver->measure_unit ? session->device->driver->measure_unit : "", "us") != 0;
    text_printf(session->out, ": %s, %s, %d compute units, %zu bytes of LDS a workgroup\n  driver: %s\n",
                session->info.name, session->info.arch, session->info.compute_units, session->info.lds_bytes_workgroup,
                about);
    add_compilers(session->out, session->info.arch);
    if (!make_specs(session, &error)) {
        text_printf(session->out, "  no kernels: %s\n", error.text);
        session->totals->kernels++;
    } else {
        verify_all(session);
        if (session->device->driver->measure)
            time_all(session);
    }
    for (size_t i = 0; i < session->emitted; i++)
        instance_free(&session->instances[i]);
    free(session->instances);
    free(session->specs);
    fmha_device_close(session->device);
}

bool selftest_run(const struct selftest_request *request, struct text *out, struct selftest_counts *counts,
                  struct error *error) {
    *counts = (struct selftest_counts){0};
    add_machine(out);
    for (int i = 0; i < request->device_count; i++) {
        struct session session = {.request = request, .name = request->devices[i], .out = out, .totals = counts};
        test_device(&session);
    }
    text_printf(out, "\n%d of %d kernels are right, on %d %s\n", counts->right, counts->kernels, counts->devices,
                counts->devices == 1 ? "device" : "devices");
    return !out->failed || error_set(error, ERROR_RUN, "selftest: out of memory");
}
