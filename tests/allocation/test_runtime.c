/* Every allocation of libfmha fails once: opening a device, finding, compiling and launching an instance, explaining,
 * tuning, choices, the cache, packing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/dispatch_support.h"
#include "cache.h"
#include "sweep.h"

TestSuite(allocation, .init = dispatch_set_up);

static sweep_outcome outcome_of(fmha_status status) {
    return status == FMHA_OK ? SWEEP_DONE : fmha_last_error()[0] != '\0' ? SWEEP_ERROR : SWEEP_SILENT_ERROR;
}

/* Once for what stays in the process, then the sweep. `most_recovered`: allocations whose failure the work survives,
 * because what they are for may be missing (a cache, a log). */
static void expect_clean(sweep_work work, void *context, unsigned least_visited, unsigned most_recovered) {
    cr_assert_eq(work(context), SWEEP_DONE, "%s", fmha_last_error());
    sweep_result result = sweep(work, context, SWEEP_ONE);
    cr_assert_eq(result.first_bad, 0, "allocation %u: %s", result.first_bad, result.what);
    cr_assert_geq(result.visited, least_visited, "%u", result.visited);
    cr_assert_leq(result.recovered, most_recovered, "%u of %u failures went unnoticed", result.recovered,
                  result.visited);
    result = sweep(work, context, SWEEP_ALL_ON);
    cr_assert_eq(result.first_bad, 0, "from allocation %u on: %s", result.first_bad, result.what);
}

/* A device with the library in a folder. */
static fmha_status open_with(const char *added, fmha_device **device) {
    fmha_status status = fmha_device_open("emu:gfx1151", device);
    return status == FMHA_OK ? fmha_device_add_library(*device, added) : status;
}

static sweep_outcome close_after(fmha_device *device, fmha_status status) {
    sweep_outcome outcome = outcome_of(status);
    fmha_device_close(device);
    return outcome;
}

static sweep_outcome open_and_close(void *context) {
    (void)context;
    fmha_device *device;
    fmha_status status = fmha_device_open("emu:gfx1151", &device);
    return close_after(device, status);
}

Test(allocation, opening_a_device) {
    setenv("FMHA_LOG", "/dev/null", 1);
    setenv("FMHA_DUMP", "/nonexistent", 1);
    expect_clean(open_and_close, NULL, 3, 0);
    dispatch_tear_down();
}

static const struct test_instance instances[] = {{.name = "first", .rank = 1, .source = "text of the first"},
                                                 {.name = "second", .rank = 2, .source = "text of the second"}};

static sweep_outcome launch(void *context) {
    const char *added = context;
    fmha_device *device;
    fmha_forward_problem problem = dispatch_problem();
    fmha_status status = open_with(added, &device);
    if (status == FMHA_OK) {
        status = fmha_forward_prepare(device, &problem);
    }
    if (status == FMHA_OK) {
        status = fmha_forward(device, &problem);
    }
    return close_after(device, status);
}

Test(allocation, first_launch_without_a_cache) {
    char added[512];
    dispatch_write("added", instances, 2, added);
    expect_clean(launch, added, 15, 0);
    dispatch_tear_down();
}

Test(allocation, first_launch_with_a_cache) {
    char added[512];
    dispatch_write("added", instances, 2, added);
    fake->identity = "a compiler";
    setenv("FMHA_CACHE_DIR", added, 1);
    expect_clean(launch, added, 15, 12);
    dispatch_tear_down();
}

static const struct test_instance split[] = {
    {.name = "parts",
     .operation = "decode",
     .source = "text",
     .arguments = "argument i32 splits 160\nargument buffer o_partial 168 align 16\n"},
    {.name = "whole",
     .operation = "merge",
     .source = "text",
     .arguments = "argument i32 splits 160\nargument buffer o_partial 168 align 16\n"}};

static sweep_outcome decode(void *context) {
    const fmha_forward_problem forward = dispatch_problem();
    fmha_decode_problem problem = FMHA_DECODE_PROBLEM_INIT;
    fmha_device *device;
    problem.dtype = forward.dtype;
    problem.head_dim = forward.head_dim;
    problem.scale = forward.scale;
    problem.batch = forward.batch;
    problem.heads_q = forward.heads_q;
    problem.heads_k = forward.heads_k;
    problem.seqlen_q = forward.seqlen_q;
    problem.seqlen_k = forward.seqlen_k;
    problem.splits = 2;
    problem.q = forward.q;
    problem.k = forward.k;
    problem.v = forward.v;
    problem.o = forward.o;
    problem.workspace = (void *)0x50000;
    fmha_status status = open_with(context, &device);
    if (status == FMHA_OK) {
        status = fmha_decode_workspace_bytes(device, &problem, &problem.workspace_bytes);
    }
    if (status == FMHA_OK) {
        status = fmha_decode_prepare(device, &problem);
    }
    if (status == FMHA_OK) {
        status = fmha_decode(device, &problem);
    }
    return close_after(device, status);
}

Test(allocation, decoding_with_a_merge) {
    char added[512];
    dispatch_write("added", split, 2, added);
    expect_clean(decode, added, 20, 0);
    dispatch_tear_down();
}

static void look(void *context, const fmha_consideration *consideration) {
    *(int *)context += consideration->taken;
}

static sweep_outcome explain(void *context) {
    fmha_device *device;
    fmha_forward_problem problem = dispatch_problem();
    int taken = 0;
    fmha_status status = open_with(context, &device);
    if (status == FMHA_OK) {
        status = fmha_forward_explain(device, &problem, look, &taken);
    }
    if (status == FMHA_OK && taken == 1) {
        problem.head_dim = 8; /* and one that nothing serves */
        status = fmha_forward(device, &problem);
        status = status == FMHA_ERROR_NO_INSTANCE ? FMHA_OK : status;
    }
    return close_after(device, status);
}

Test(allocation, explaining) {
    char added[512];
    dispatch_write("added", instances, 2, added);
    expect_clean(explain, added, 15, 0);
    dispatch_tear_down();
}

/* The driver that records takes the number at the beginning for what a launch costs. */
static const struct test_instance measured[] = {{.name = "first", .rank = 1, .source = "7 text"},
                                                {.name = "second", .rank = 2, .source = "5 text"}};

static sweep_outcome tune(void *context) {
    const char *added = context;
    char file[600];
    fmha_device *device;
    fmha_forward_problem problem = dispatch_problem();
    fmha_tune_options options = {.struct_bytes = sizeof options, .rounds = 2};
    snprintf(file, sizeof file, "%s/tuned", added);
    fmha_status status = open_with(added, &device);
    if (status == FMHA_OK) {
        status = fmha_forward_tune(device, &problem, &options, NULL, NULL);
    }
    if (status == FMHA_OK) {
        status = fmha_device_save_choices(device, file);
    }
    if (status == FMHA_OK) {
        status = fmha_device_load_choices(device, file);
    }
    if (status == FMHA_OK) {
        status = fmha_forward(device, &problem);
    }
    return close_after(device, status);
}

Test(allocation, tuning_and_choices) {
    char added[512];
    fake->measure_unit = "us";
    dispatch_write("added", measured, 2, added);
    expect_clean(tune, added, 25, 2);
    dispatch_tear_down();
}

static sweep_outcome use_memory(void *context) {
    (void)context;
    fmha_device *device;
    void *address[40] = {NULL}, *image = NULL;
    size_t image_bytes;
    fmha_module *module;
    fmha_kernel *kernel;
    const fmha_source source = {.text = "text", .symbol = "symbol", .wave = 32};
    fmha_status status = fmha_device_open("emu:gfx1151", &device);
    for (int i = 0; i < 40 && status == FMHA_OK; i++) {
        status = fmha_memory_alloc(device, 16, "buffer", &address[i]);
    }
    if (status == FMHA_OK) {
        status = fmha_source_compile(device, &source, &image, &image_bytes);
    }
    if (status == FMHA_OK) {
        status = fmha_module_load(device, image, image_bytes, &module);
    }
    if (status == FMHA_OK) {
        status = fmha_module_kernel(module, "symbol", &kernel);
    }
    sweep_outcome outcome = outcome_of(status);
    fmha_device_close(device);
    __real_free(image); /* the driver's own allocation */
    return outcome;
}

Test(allocation, memory_and_modules) {
    expect_clean(use_memory, NULL, 7, 0);
    dispatch_tear_down();
}
