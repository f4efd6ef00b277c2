/* Which instance is taken for a problem, from which image, and what is said when none is. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "dispatch_support.h"

TestSuite(dispatch, .init = dispatch_set_up);

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect_launched(fmha_device *device, const fmha_forward_problem *problem, const char *symbol) {
    cr_assert_eq(fmha_forward(device, problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(fake->launched_symbol, symbol);
}

/* ---- Order ----------------------------------------------------------------------------------------------- */

/* Whatever the order in which libraries are named, and however instances are spread over them. */
Test(dispatch, order_of_libraries_does_not_matter) {
    static const struct test_instance instances[] = {
        {.name = "a_any_alignment", .align = 2, .rank = -5, .source = "1"},
        {.name = "b_rank_two", .rank = 2, .source = "2"},
        {.name = "c_of_rank_one", .rank = 1, .source = "3"},
        {.name = "d_of_rank_one", .rank = 1, .source = "4"},
        {.name = "e_other_mask", .mask = "causal-top-left", .rank = -9, .source = "5"},
        {.name = "f_other_dtype", .dtype = "bf16", .rank = -9, .source = "6"},
        {.name = "g_other_head_dim", .head_dim = 64, .rank = -9, .source = "7"},
        {.name = "h_other_layout", .v_layout = "transposed", .rank = -9, .source = "8"},
        {.name = "i_other_chip", .target = "gfx1100", .rank = -9, .source = "9"},
        {.name = "j_refuses", .constraint = "max 99 seqlen_q", .rank = -9, .source = "10"},
    };
    fmha_forward_problem problem = dispatch_problem();
    unsigned state = 1;
    for (int round = 0; round < 24; round++) {
        struct test_instance shuffled[COUNT(instances)];
        memcpy(shuffled, instances, sizeof instances);
        for (size_t i = COUNT(instances) - 1; i > 0; i--) {
            state = state * 1103515245u + 12345u;
            size_t j = (state >> 16) % (i + 1);
            struct test_instance kept = shuffled[i];
            shuffled[i] = shuffled[j];
            shuffled[j] = kept;
        }
        char name[16];
        size_t cut = 1 + (size_t)round % (COUNT(instances) - 1);
        unsetenv("FMHA_LIBRARY_PATH");
        snprintf(name, sizeof name, "x%d", round);
        dispatch_library(name, shuffled, cut);
        snprintf(name, sizeof name, "y%d", round);
        dispatch_library(name, shuffled + cut, COUNT(instances) - cut);
        fmha_device *device = dispatch_open();
        expect_launched(device, &problem, "c_of_rank_one");
        problem.seqlen_q = 99;
        expect_launched(device, &problem, "j_refuses");
        problem.seqlen_q = 100;
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

Test(dispatch, alignment_comes_before_rank_and_falls_back) {
    static const struct test_instance instances[] = {{.name = "aligned", .rank = 7, .source = "1"},
                                                     {.name = "any", .align = 2, .source = "2"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "aligned");
    fmha_tensor *const tensors[] = {&problem.q, &problem.k, &problem.v, &problem.o};
    for (int i = 0; i < 4; i++) {
        fmha_tensor kept = *tensors[i];
        tensors[i]->data = (char *)kept.data + 8;
        expect_launched(device, &problem, "any");
        *tensors[i] = kept;
        tensors[i]->stride_row += 4;
        expect_launched(device, &problem, "any");
        tensors[i]->stride_row += 4;
        expect_launched(device, &problem, "aligned");
        *tensors[i] = kept;
        /* K and V have one head and all have one batch: those strides mean nothing. */
        tensors[i]->stride_batch = -7;
        expect_launched(device, &problem, "aligned");
        *tensors[i] = kept;
        tensors[i]->stride_head += 4;
        expect_launched(device, &problem, i == 1 || i == 2 ? "aligned" : "any");
        *tensors[i] = kept;
    }
    problem.lse = (float *)0x50004; /* four bytes are enough for it */
    expect_launched(device, &problem, "aligned");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch, what_serves_any_alignment_serves_aligned_rows) {
    static const struct test_instance instances[] = {{.name = "any", .align = 2, .source = "2"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "any");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Equal in rank: the one that is compiled already, but only where the device runs code objects. */
Test(dispatch, compiled_ones_come_first_where_they_run) {
    static const struct test_instance instances[] = {{.name = "a_text", .source = "text"},
                                                     {.name = "b_object", .object = "object", .source = "text"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    expect_launched(device, &problem, "a_text");
    fmha_device_close(device);
    fake->code_objects = true;
    device = dispatch_open();
    expect_launched(device, &problem, "b_object");
    cr_assert_str_eq(fake->launched_image, "object");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch, same_name_in_two_libraries_is_the_first_librarys) {
    static const struct test_instance one[] = {{.name = "same", .source = "of the first"}};
    static const struct test_instance two[] = {{.name = "same", .source = "of the second"}};
    char added[512];
    dispatch_library("one", one, 1);
    dispatch_library("two", two, 1);
    dispatch_write("added", (const struct test_instance[]){{.name = "same", .source = "of the added"}}, 1, added);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "same");
    cr_assert_str_eq(fake->launched_image, "of the first");
    cr_assert_eq(fmha_device_add_library(device, added), FMHA_OK);
    expect_launched(device, &problem, "same");
    cr_assert_str_eq(fake->launched_image, "of the first", "what was prepared stays");
    cr_assert_eq(fmha_device_forget(device), FMHA_OK);
    expect_launched(device, &problem, "same");
    cr_assert_str_eq(fake->launched_image, "of the added");
    cr_assert_eq(fmha_device_forget(device), FMHA_OK);
    expect_launched(device, &problem, "same");
    cr_assert_str_eq(fake->launched_image, "of the added");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- Chips ----------------------------------------------------------------------------------------------- */

Test(dispatch, features_of_the_chip_decide) {
    static const struct test_instance instances[] = {
        {.name = "a_xnack_on", .target = "gfx942:xnack+", .rank = -2, .source = "1"},
        {.name = "b_sramecc_on", .target = "gfx942:sramecc+", .rank = -1, .source = "2"},
        {.name = "c_any", .target = "gfx942", .source = "3"}};
    char path[512], from[600], to[600];
    dispatch_write("library", instances, COUNT(instances), path);
    snprintf(from, sizeof from, "%s/gfx1151", path);
    snprintf(to, sizeof to, "%s/gfx942", path);
    cr_assert_eq(rename(from, to), 0);
    setenv("FMHA_LIBRARY_PATH", path, 1);
    fmha_forward_problem problem = dispatch_problem();
    static const char *const archs[][2] = {{"gfx942:sramecc+:xnack-", "b_sramecc_on"},
                                           {"gfx942:sramecc-:xnack-", "c_any"},
                                           {"gfx942:sramecc-:xnack+", "a_xnack_on"},
                                           {"gfx942", "a_xnack_on"}};
    for (size_t i = 0; i < COUNT(archs); i++) {
        fake->arch = archs[i][0];
        fmha_device *device = dispatch_open();
        expect_launched(device, &problem, archs[i][1]);
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

/* ---- Images ---------------------------------------------------------------------------------------------- */

static void damage(const char *library, const char *file, const char *text) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s/gfx1151/%s", folder, library, file);
    support_write(path, text, 0644);
}

static void delete_file(const char *library, const char *file) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s/gfx1151/%s", folder, library, file);
    cr_assert_eq(remove(path), 0);
}

Test(dispatch, object_comes_before_text_and_text_where_it_does_not_serve) {
    static const struct test_instance instances[] = {{.name = "one", .object = "object", .source = "text"}};
    dispatch_library("library", instances, 1);
    fake->code_objects = true;
    fmha_forward_problem problem = dispatch_problem();
    for (int way = 0; way < 5; way++) {
        static const char *const images[] = {"object", "text", "text", "text", "text"};
        fake->refused_image = way == 4 ? "object" : NULL;
        if (way == 1) {
            damage("library", "one.hsaco", "obJect"); /* as long as before */
        } else if (way == 2) {
            damage("library", "one.hsaco", "");
        } else if (way == 3) {
            delete_file("library", "one.hsaco");
        } else if (way == 4) {
            damage("library", "one.hsaco", "object");
        }
        fmha_device *device = dispatch_open();
        expect_launched(device, &problem, "one");
        cr_assert_str_eq(fake->launched_image, images[way], "way %d", way);
        cr_assert_eq(fake->compiles, way);
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

Test(dispatch, damage_without_a_text_is_told_of) {
    static const struct test_instance instances[] = {{.name = "one", .object = "object"}};
    dispatch_library("library", instances, 1);
    fake->code_objects = true;
    damage("library", "one.hsaco", "obJect");
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_IO,
                    "one: $/library/gfx1151/one.hsaco: expected the 6 bytes that the index names, got 6 others; make "
                    "the library anew with `fmhagen library`; and it has no text that could be compiled");
    damage("library", "one.hsaco", "object"); /* a file may come back */
    expect_launched(device, &problem, "one");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch, text_that_is_not_the_indexs_is_not_compiled) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    damage("library", "one.hip", "another text");
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_IO,
                    "one: $/library/gfx1151/one.hip: expected the 4 bytes that the index names, got 12 others; make "
                    "the library anew with `fmhagen library`");
    cr_assert_eq(fake->compiles, 0);
    delete_file("library", "one.hip");
    fmha_device_close(device);
    device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "one: $/library has neither a code object that the device runs nor a text: make it anew with "
                    "`fmhagen library`");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* The better one's failure is the one to tell of, and a worse one that loads is taken. */
Test(dispatch, next_candidate_serves_when_the_first_does_not_load) {
    static const struct test_instance instances[] = {{.name = "best", .rank = 0, .source = "broken best"},
                                                     {.name = "good", .rank = 1, .source = "good"}};
    dispatch_library("library", instances, COUNT(instances));
    fake->refused_image = "broken";
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    expect_launched(device, &problem, "good");
    cr_assert_eq(fake->compiles, 2);
    expect_launched(device, &problem, "good");
    cr_assert_eq(fake->compiles, 2, "what cannot be loaded is not tried again");
    fmha_device_close(device);

    damage("library", "good.hip", "other");
    device = dispatch_open();
    for (int i = 0; i < 3; i++) {
        dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_WRONG_CHIP,
                        "best: fake: the image is for another chip");
    }
    cr_assert_eq(fake->compiles, 3);
    fmha_device_close(device);
    dispatch_tear_down();
}

static fmha_status make_refused(void *context, void **image, size_t *image_bytes) {
    *image = strdup(context);
    *image_bytes = strlen(context) + 1;
    return FMHA_OK;
}

/* An image that the cache holds whole and the driver refuses is compiled again once, not once for each process. */
Test(dispatch, refused_image_of_the_cache_is_replaced) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    char log[300];
    dispatch_library("library", instances, 1);
    snprintf(log, sizeof log, "%s/log", folder);
    fake->identity = "a compiler";
    fake->refused_image = "refused";
    const struct fmha_cache_key key = {"gfx1151", "one", fake->identity, "text", 32};
    struct fmha_cache_result result;
    cr_assert_eq(fmha_cache_get(&key, make_refused, "refused image", &result), FMHA_OK);
    cr_assert_not(result.hit);
    free(result.image);
    fmha_forward_problem problem = dispatch_problem();
    for (int process = 0; process < 3; process++) {
        setenv("FMHA_LOG", log, 1);
        fmha_device *device = dispatch_open();
        expect_launched(device, &problem, "one");
        cr_assert_str_eq(fake->launched_image, "text");
        cr_assert_eq(fake->compiles, 1, "device %d: %d compiles", process, fake->compiles);
        fmha_device_close(device);
        if (process == 0) {
            char *text = dispatch_read(log);
            cr_assert_not_null(strstr(text, ".image, does not load: fake: the image is for another chip\n"), "%s",
                               text);
            cr_assert_not_null(strstr(text, ".image, which was refused by the driver\n"), "%s", text);
            free(text);
        }
    }
    dispatch_tear_down();
}

/* ---- Failures that last and failures that do not ---------------------------------------------------------- */

Test(dispatch, compile_error_lasts_until_it_is_forgotten) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    static const fmha_status lasting[] = {FMHA_ERROR_COMPILE, FMHA_ERROR_NO_COMPILER, FMHA_ERROR_WRONG_CHIP};
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    for (size_t i = 0; i < COUNT(lasting); i++) {
        fake->failure = lasting[i];
        fake->fail_in = "compile";
        fake->compiles = 0;
        fmha_device *device = dispatch_open();
        dispatch_expect(fmha_forward(device, &problem), lasting[i], "one: fake: compile failed");
        dispatch_expect(fmha_forward_prepare(device, &problem), lasting[i], "one: fake: compile failed");
        cr_assert_eq(fake->compiles, 1);
        fake->fail_in = NULL;
        dispatch_expect(fmha_forward(device, &problem), lasting[i], "one: fake: compile failed");
        fmha_device_forget(device);
        expect_launched(device, &problem, "one");
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

Test(dispatch, other_failures_are_tried_again) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    static const fmha_status passing[] = {FMHA_ERROR_IO, FMHA_ERROR_MEMORY, FMHA_ERROR_DRIVER};
    static const char *const functions[] = {"compile", "module_load", "module_kernel"};
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    for (size_t i = 0; i < COUNT(passing); i++) {
        for (size_t j = 0; j < COUNT(functions); j++) {
            char text[64];
            snprintf(text, sizeof text, "one: fake: %s failed", functions[j]);
            fmha_device *device = dispatch_open();
            fake->failure = passing[i];
            fake->fail_in = functions[j];
            fake->failures = 2;
            dispatch_expect(fmha_forward(device, &problem), passing[i], text);
            dispatch_expect(fmha_forward(device, &problem), passing[i], text);
            expect_launched(device, &problem, "one");
            cr_assert_eq(fake->modules, 1, "a module whose kernel is not found is unloaded");
            fmha_device_close(device);
        }
    }
    dispatch_tear_down();
}

Test(dispatch, launch_error_is_the_drivers) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    fake->fail_in = "launch";
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_DRIVER, "fake: launch failed");
    fake->fail_in = NULL;
    expect_launched(device, &problem, "one");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- The cache ------------------------------------------------------------------------------------------- */

Test(dispatch, compiled_text_is_kept_for_the_next_device) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    dispatch_library("library", instances, 1);
    fake->identity = "compiler fake 1\n";
    fmha_forward_problem problem = dispatch_problem();
    for (int i = 0; i < 3; i++) {
        fmha_device *device = dispatch_open();
        expect_launched(device, &problem, "one");
        cr_assert_str_eq(fake->launched_image, "text");
        fmha_device_close(device);
        cr_assert_eq(fake->compiles, 1);
    }
    fake->identity = "compiler fake 2\n";
    fmha_device *device = dispatch_open();
    expect_launched(device, &problem, "one");
    fmha_device_close(device);
    cr_assert_eq(fake->compiles, 2, "another compiler is another image");
    dispatch_tear_down();
}

/* A whole entry that the driver does not take is compiled once more, and no oftener. */
Test(dispatch, kept_image_that_does_not_load_is_compiled_again) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    dispatch_library("library", instances, 1);
    fake->identity = "compiler fake 1\n";
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    expect_launched(device, &problem, "one");
    fmha_device_close(device);
    device = dispatch_open();
    fake->fail_in = "module_load";
    fake->failures = 1;
    expect_launched(device, &problem, "one");
    cr_assert_eq(fake->compiles, 2);
    fake->fail_in = "module_load";
    fake->failures = 0;
    fmha_device_forget(device);
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_DRIVER, "one: fake: module_load failed");
    cr_assert_eq(fake->compiles, 3);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch, compiler_that_is_missing_is_the_error) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    dispatch_library("library", instances, 1);
    fake->identity = "compiler fake 1\n";
    fake->fail_in = "compile_identity";
    fake->failure = FMHA_ERROR_NO_COMPILER;
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_COMPILER, "one: fake: compile_identity failed");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- No instance ----------------------------------------------------------------------------------------- */

Test(dispatch, nothing_serves_and_the_nearest_is_named) {
    static const struct test_instance instances[] = {
        {.name = "a_far", .mask = "causal-top-left", .dtype = "bf16", .source = "1"},
        {.name = "b_near", .head_dim = 64, .source = "2"},
        {.name = "c_chip", .target = "gfx1100", .dtype = "bf16", .source = "2"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 on "
                    "gfx1151: expected an instance, got none among 3 in 1 library; the nearest, a_far, serves dtype "
                    "bf16, not f16; make one with `fmhagen library DIR --arch gfx1151 --dtype f16 --hd 128` and name "
                    "DIR in FMHA_LIBRARY_PATH; fmhagen, which could make one, is not here (FMHA_GENERATOR names it)");
    problem.head_dim = 64;
    problem.q.data = (char *)problem.q.data + 2;
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=64 head_dim_v=64 mask=none v_layout=row align=2 on gfx1151: "
                    "expected an instance, got none among 3 in 1 library; the nearest, b_near, serves rows aligned to "
                    "16 bytes, the problem's are aligned to 2; make one with `fmhagen library DIR --arch gfx1151 "
                    "--dtype f16 --hd 64 --align 2` and name DIR in FMHA_LIBRARY_PATH; fmhagen, which could make one, "
                    "is not here (FMHA_GENERATOR names it)");
    cr_assert_eq(fake->launches, 0);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Plays fmhagen: it leaves alone what is not as it made it, and works in a folder that nobody else has locked. */
static void make_generator(const char *asked) {
    static const struct test_instance instance = {.name = "fmha_generated", .source = "text"};
    char library[512], program[300], script[2048];
    dispatch_write("premade", &instance, 1, library);
    snprintf(program, sizeof program, "%s/generator", folder);
    snprintf(script, sizeof script,
             "#!/bin/sh\necho asked >>'%s'\nflock -n \"$2\" true || { echo 'another is at work'; exit 1; }\n"
             "mkdir -p \"$2/gfx1151\"\n[ -z \"$(ls -A \"$2/gfx1151\")\" ] || { echo 'in the way'; exit 1; }\n"
             "cp -r '%s'/. \"$2\"\n",
             asked, library);
    support_write(program, script, 0755);
    setenv("FMHA_GENERATOR", program, 1);
}

static void launch_generated(void) {
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "fmha_generated");
    fmha_device_close(device);
}

/* What fmhagen made and something damaged since, in any of its files, is made anew, once. */
Test(dispatch, damaged_generated_library_is_made_anew, .timeout = 60) {
    static const char *const damages[] = {"true",
                                          ": >fmha.index",
                                          "echo other >fmha.index",
                                          "rm fmha.index",
                                          "rm fmha_generated.hip",
                                          "echo more >>fmha_generated.hip",
                                          ": >fmha_generated.hip",
                                          "rm fmha.index; mkfifo fmha.index",
                                          "sed -i 's/^end 1/end 7/' fmha.index",
                                          "sed -i 's/^rank 0$/rank 1/' fmha.index"};
    char asked[300];
    snprintf(asked, sizeof asked, "%s/asked", folder);
    make_generator(asked);
    for (size_t i = 0; i < COUNT(damages); i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "for d in '%s'/cache/v1/generated/*/gfx1151; do cd \"$d\" 2>/dev/null || exit 0; %s; done", folder,
                 damages[i]);
        cr_assert_eq(system(command), 0);
        launch_generated();
        char *text = dispatch_read(asked);
        cr_assert_eq(strlen(text), (i + 1) * strlen("asked\n"), "%s", damages[i]);
        free(text);
    }
    dispatch_tear_down();
}

static void *unlock_later(void *file) {
    usleep(300000);
    close(*(int *)file);
    return NULL;
}

/* One whose caller was killed goes on, and is waited for. */
Test(dispatch, orphaned_generator_is_waited_for, .timeout = 60) {
    char asked[300], pattern[600];
    glob_t found;
    pthread_t thread;
    snprintf(asked, sizeof asked, "%s/asked", folder);
    make_generator(asked);
    launch_generated();
    snprintf(pattern, sizeof pattern, "%s/cache/v1/generated/*/gfx1151", folder);
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
    snprintf(pattern, sizeof pattern, "%s/fmha.index", found.gl_pathv[0]);
    cr_assert_eq(unlink(pattern), 0);
    *strrchr(found.gl_pathv[0], '/') = '\0';
    int file = open(found.gl_pathv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_eq(flock(file, LOCK_EX | LOCK_NB), 0);
    cr_assert_eq(pthread_create(&thread, NULL, unlock_later, &file), 0);
    launch_generated();
    pthread_join(thread, NULL);
    globfree(&found);
    dispatch_tear_down();
}

Test(dispatch, no_library_at_all) {
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.head_dim_v = 64;
    problem.v_layout = FMHA_V_TRANSPOSED;
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=128 head_dim_v=64 mask=causal-bottom-right "
                    "v_layout=transposed align=16 on gfx1151: expected an instance, got none among 0 in 0 libraries; "
                    "make one with `fmhagen library DIR --arch gfx1151 --dtype f16 --hd 128 --hd-v 64 --causal "
                    "--v-layout transposed` and name DIR in FMHA_LIBRARY_PATH; fmhagen, which could make one, is not "
                    "here (FMHA_GENERATOR names it)");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch, values_that_no_instance_serves) {
    static const struct test_instance instances[] = {
        {.name = "a", .constraint = "max 64 seqlen_k", .source = "1"},
        {.name = "b", .constraint = "equals 0 seqlen_q % 64", .rank = -1, .source = "2"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 on "
                    "gfx1151: none of 2 instances serves these values; b: expected seqlen_q % 64 equal to 0, got 36; "
                    "choose seqlen_q as a multiple of 64");
    problem.seqlen_k = 64;
    expect_launched(device, &problem, "a");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- Grids ----------------------------------------------------------------------------------------------- */

Test(dispatch, grids_up_to_the_last_work_item_are_launched) {
    static const struct test_instance instances[] = {
        {.name = "one", .grid = "seqlen_q * 65536", .constraint = "min 0 seqlen_q", .source = "1"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    for (int64_t batch = 65535; batch <= 65536; batch++) {
        problem.batch = batch;
        expect_launched(device, &problem, "one");
        cr_assert_eq(fake->launched.grid[2], batch);
    }
    problem.batch = 1;
    problem.seqlen_q = 511; /* times 65536 times 128 is 2^32 - 2^23 */
    expect_launched(device, &problem, "one");
    cr_assert_eq(fake->launched.grid[0], 511 * 65536);
    problem.seqlen_q = 512;
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_ARGUMENT,
                    "one: expected fewer than 2^32 work items in each dimension, got 33554432 workgroups of 128 in "
                    "dimension 0; split the launch");
    problem.seqlen_q = 65536;
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_ARGUMENT,
                    "one: expected a grid of less than 2^32 workgroups in each dimension, got more in dimension 0; "
                    "split the problem");
    problem.seqlen_q = 1;
    problem.batch = INT64_C(1) << 31;
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 on "
                    "gfx1151: none of 1 instance serves these values; one: expected batch at most 2147483647, got "
                    "2147483648; choose batch at most 2147483647");
    cr_assert_eq(fake->launches, 3);
    fmha_device_close(device);
    dispatch_tear_down();
}
