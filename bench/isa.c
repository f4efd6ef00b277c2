/* Speed of the device that executes machine code: wave instructions a second, of default kernels of head dimension 128,
 * with and without checks. One core: processor time of one thread, launch and copies of tensors together. All cores:
 * the clock on the wall. A quick one (--quick) shows only that it runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"
#include "inputs.h"
#include "template.h"

static void fail(const char *why) {
    fprintf(stderr, "isa: %s\n", why);
    exit(1);
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_processor(void) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *name = strstr(line, ": ");
        found = name && (strncmp(line, "model name", 10) == 0 || strncmp(line, "CPU part", 8) == 0);
        if (found)
            printf("%ld x %s", sysconf(_SC_NPROCESSORS_ONLN), name + 2);
    }
    if (file)
        fclose(file);
}

static double instructions(const struct execute_target *target) {
    const fmha_counter *list;
    size_t count;
    double found = 0;
    if (fmha_device_counters(target->device, &list, &count) != FMHA_OK)
        fail(fmha_last_error());
    for (size_t i = 0; i < count; i++)
        found = strcmp(list[i].name, "instructions") == 0 ? (double)list[i].value : found;
    fmha_device_clear_counters(target->device);
    return found;
}

static void set(const struct execute_target *target, const char *option, int64_t value) {
    if (fmha_device_set(target->device, option, value) != FMHA_OK)
        fail(fmha_last_error());
}

struct tensors {
    struct reference_problem problem;
    struct execute_request request;
};

static void run(const struct execute_target *target, const struct tensors *tensors) {
    struct findings findings = {0};
    struct error error;
    if (!execute_run(target, &tensors->request, &findings, &error))
        fail(error.text);
    if (findings.count > 0)
        fail(findings.lines[0]);
    findings_free(&findings);
}

static void measure(struct template_engine *engine, const char *orientation, const char *wave,
                    const struct tensors *tensors) {
    struct spec spec;
    struct error error;
    struct instance instance;
    struct execute_target target;
    spec_init(&spec);
    if (!spec_set_arch(&spec, engine, "gfx1151", &error) || !spec_set(&spec, SPEC_HEAD_DIM, "128", &error) ||
        !spec_set(&spec, SPEC_ORIENTATION, orientation, &error) || !spec_set(&spec, SPEC_WAVE, wave, &error) ||
        !spec_resolve(&spec, engine, &error) || !instance_emit(engine, &spec, &instance, &error) ||
        !execute_open("isa:gfx1151", &instance, &(struct execute_options){.count = 1}, &target, &error))
        fail(error.text);
    run(&target, tensors);
    double each = instructions(&target);
    set(&target, "count", 0);
    printf("%s, %.0f wave instructions\n", instance.name, each);
    for (int checks = 1; checks >= 0; checks--) {
        set(&target, "checks", checks);
        set(&target, "threads", 1);
        double begin = now(CLOCK_PROCESS_CPUTIME_ID);
        run(&target, tensors);
        double one = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
        set(&target, "threads", 0);
        begin = now(CLOCK_MONOTONIC);
        run(&target, tensors);
        double all = now(CLOCK_MONOTONIC) - begin;
        printf("  %s: %.2f million a second and core, %.2f million on all cores\n",
               checks ? "with checks   " : "without checks", each / one / 1e6, each / all / 1e6);
    }
    execute_close(&target);
    instance_free(&instance);
}

int main(int argc, char **argv) {
    int64_t length = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 64 : 512;
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    struct tensors tensors = {.problem = {.batch = 1,
                                          .heads_q = 2,
                                          .heads_k = 1,
                                          .seqlen_q = length,
                                          .seqlen_k = length,
                                          .head_dim = 128,
                                          .head_dim_v = 128,
                                          .scale = 0.0883883461}};
    size_t rows = (size_t)(2 * length), elements = rows * 128;
    uint16_t *bits = calloc(4 * elements, sizeof *bits);
    float *lse = calloc(rows, sizeof *lse);
    if (!engine || !bits || !lse)
        fail(engine ? "no memory" : error.text);
    tensors.request = (struct execute_request){.problem = &tensors.problem,
                                               .q_bits = bits,
                                               .k_bits = bits + elements,
                                               .v_bits = bits + 2 * elements,
                                               .o_bits = bits + 3 * elements,
                                               .lse = lse};
    inputs_make(INPUT_RANDOM, &tensors.problem, HALF_F16, 1, bits, bits + elements, bits + 2 * elements);
    print_processor();
    measure(engine, "kq", "32", &tensors);
    measure(engine, "qk", "32", &tensors);
    measure(engine, "kq", "64", &tensors);
    template_engine_free(engine);
    free(bits);
    free(lse);
    return 0;
}
