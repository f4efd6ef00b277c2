/* What a person sees of dispatch's decisions: explanations, the log, the dump. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch_support.h"
#include "log.h"

TestSuite(explain, .init = dispatch_set_up);

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect_told(fmha_device *device, const fmha_forward_problem *problem, fmha_status expected,
                        const char *text) {
    fmha_status status;
    const char *told = dispatch_explain(device, problem, &status);
    cr_assert_str_eq(told, text);
    cr_assert_eq(status, expected, "%s: %s", fmha_status_name(status), fmha_last_error());
}

/* ---- Explanations ---------------------------------------------------------------------------------------- */

Test(explain, every_instance_and_every_library) {
    static const struct test_instance good[] = {
        {.name = "a_any", .align = 2, .source = "1"},
        {.name = "b_best", .source = "2"},
        {.name = "c_second", .rank = 1, .object = "object"},
        {.name = "d_third", .rank = 2, .object = "object", .source = "3"},
        {.name = "e_causal", .mask = "causal-bottom-right", .source = "4"},
        {.name = "f_short", .constraint = "max 64 seqlen_q", .source = "5"},
        {.name = "g_xnack", .target = "gfx1150", .source = "6"},
    };
    static const struct test_instance second[] = {{.name = "b_best", .source = "2"}};
    static const struct test_instance none[] = {{.name = "x"}};
    char path[512], file[700];
    dispatch_library("one", good, COUNT(good));
    dispatch_library("torn", good, COUNT(good));
    dispatch_library("two", second, COUNT(second));
    dispatch_library("empty", none, 0);
    dispatch_library("other chip", none, 0);
    snprintf(file, sizeof file, "%s/other chip/gfx1151/fmha.index", folder);
    cr_assert_eq(remove(file), 0);
    snprintf(file, sizeof file, "%s/torn/gfx1151/fmha.index", folder);
    cr_assert_eq(truncate(file, 100), 0);
    snprintf(path, sizeof path, "%s:%s/nowhere", getenv("FMHA_LIBRARY_PATH"), folder);
    setenv("FMHA_LIBRARY_PATH", path, 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    static const char before[] =
        "$/one/a_any would serve; b_best comes before it\n"
        "$/one/b_best * taken: by its text, from the cache or compiled on first use\n"
        "$/one/c_second has neither a code object that the device runs nor a text\n"
        "$/one/d_third would serve; b_best comes before it\n"
        "$/one/e_causal serves mask causal-bottom-right, not none\n"
        "$/one/f_short expected seqlen_q at most 64, got 100; choose seqlen_q at most 64\n"
        "$/one/g_xnack is for another chip\n"
        "$/torn/ $/torn/gfx1151/fmha.index:6: expected another line, got the end of a file that was cut off; "
        "make the library anew with `fmhagen library`\n"
        "$/two/b_best would serve; that of $/one comes before it\n"
        "$/empty/ 0 instances for gfx1151\n"
        "$/other chip/ no instances for gfx1151: it has no gfx1151/fmha.index\n"
        "$/nowhere/ no instances for gfx1151: it has no gfx1151/fmha.index\n";
    expect_told(device, &problem, FMHA_OK, before);
    cr_assert_eq(fake->compiles + fake->loads + fake->launches, 0);
    cr_assert_eq(fmha_forward(device, &problem), FMHA_OK);
    char after[sizeof before + 64];
    static const char was[] = "taken: by its text, from the cache or compiled on first use";
    const char *at = strstr(before, was);
    snprintf(after, sizeof after, "%.*staken: loaded already%s", (int)(at - before), before, at + sizeof was - 1);
    expect_told(device, &problem, FMHA_OK, after);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(explain, code_objects_and_failures) {
    static const struct test_instance instances[] = {{.name = "a", .object = "object"},
                                                     {.name = "b", .rank = 1, .source = "text"}};
    dispatch_library("library", instances, COUNT(instances));
    fake->code_objects = true;
    fake->refused_image = "object";
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_told(device, &problem, FMHA_OK,
                "$/library/a * taken: by its code object\n"
                "$/library/b would serve; a comes before it\n");
    cr_assert_eq(fmha_forward(device, &problem), FMHA_OK);
    expect_told(device, &problem, FMHA_OK,
                "$/library/a does not load: fake: the image is for another chip; and it has no text that could be "
                "compiled\n"
                "$/library/b * taken: loaded already\n");
    fake->refused_image = "";
    fmha_device_forget(device);
    cr_assert_eq(fmha_forward(device, &problem), FMHA_ERROR_WRONG_CHIP);
    expect_told(device, &problem, FMHA_ERROR_NO_INSTANCE,
                "$/library/a does not load: fake: the image is for another chip; and it has no text that could be "
                "compiled\n"
                "$/library/b does not load: fake: the image is for another chip\n");
    cr_assert_str_eq(dispatch_error(),
                     "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 on "
                     "gfx1151: none of 2 instances serves these values; a: does not load: fake: the image is for "
                     "another chip; and it has no text that could be compiled");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* It does not ask the generator: a program that would leave a mark. */
Test(explain, generates_nothing) {
    char program[300], mark[300], script[700];
    snprintf(program, sizeof program, "%s/generator", folder);
    snprintf(mark, sizeof mark, "%s/mark", folder);
    snprintf(script, sizeof script, "#!/bin/sh\ntouch '%s'\nexit 1\n", mark);
    support_write(program, script, 0755);
    setenv("FMHA_GENERATOR", program, 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_told(device, &problem, FMHA_ERROR_NO_INSTANCE, "");
    cr_assert_neq(access(mark, F_OK), 0);
    cr_assert_eq(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_assert_eq(access(mark, F_OK), 0);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* No command is offered that fmhagen would refuse, and it is not run either. */
Test(explain, head_dimension_of_no_kernel) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    static const struct {
        int head_dim, head_dim_v;
        const char *nearest;
    } rows[] = {{33, 33, "head_dim 128, not 33"},      {62, 62, "head_dim 128, not 62"},
                {584, 512, "head_dim 128, not 584"},   {600, 600, "head_dim 128, not 600"},
                {128, 520, "head_dim_v 128, not 520"}, {128, 100, "head_dim_v 128, not 100"}};
    char program[300], mark[300], script[700], text[700];
    dispatch_library("library", instances, 1);
    snprintf(program, sizeof program, "%s/generator", folder);
    snprintf(mark, sizeof mark, "%s/mark", folder);
    snprintf(script, sizeof script, "#!/bin/sh\ntouch '%s'\nexit 1\n", mark);
    support_write(program, script, 0755);
    setenv("FMHA_GENERATOR", program, 1);
    fmha_device *device = dispatch_open();
    for (size_t i = 0; i < COUNT(rows); i++) {
        fmha_forward_problem problem = dispatch_problem();
        problem.head_dim = rows[i].head_dim;
        problem.head_dim_v = rows[i].head_dim_v;
        snprintf(text, sizeof text,
                 "operation=forward dtype=f16 head_dim=%d head_dim_v=%d mask=none v_layout=row align=16 on gfx1151: "
                 "expected an instance, got none among 1 in 1 library; the nearest, one, serves %s; no kernel serves "
                 "such a head dimension; pad it to a multiple of 8 up to 576, that of V up to 512",
                 rows[i].head_dim, rows[i].head_dim_v, rows[i].nearest);
        dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE, text);
        cr_assert_neq(access(mark, F_OK), 0);
    }
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(explain, damaged_library_is_named_when_nothing_serves) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    char file[700];
    dispatch_library("library", instances, 1);
    snprintf(file, sizeof file, "%s/library/gfx1151/fmha.index", folder);
    support_write(file, "fmha-index 2\n", 0644);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    dispatch_expect(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE,
                    "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 on "
                    "gfx1151: expected an instance, got none among 0 in 1 library; passed over: "
                    "$/library/gfx1151/fmha.index:1: expected an index of format version 1, which this libfmha reads, "
                    "got version 2, which the libfmha of the fmhagen that made it reads; make the library anew with "
                    "`fmhagen library`; make one with `fmhagen library DIR --arch gfx1151 --dtype f16 --hd 128` and "
                    "name DIR in FMHA_LIBRARY_PATH; fmhagen, which could make one, is not here (FMHA_GENERATOR names "
                    "it)");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* An instance of another chip does not pass for the nearest because it has more in common else. */
Test(explain, other_chip_counts_when_the_nearest_is_named) {
    static const struct test_instance instances[] = {
        {.name = "a", .target = "gfx1100", .dtype = "bf16", .source = "1"},
        {.name = "b", .target = "gfx1100", .dtype = "bf16", .head_dim = 64, .source = "2"},
        {.name = "c", .dtype = "bf16", .source = "3"}};
    dispatch_library("library", instances, COUNT(instances));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    cr_assert_eq(fmha_forward(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_assert_not_null(strstr(fmha_last_error(), "; the nearest, c, serves dtype bf16, not f16; "), "%s",
                       fmha_last_error());
    expect_told(device, &problem, FMHA_ERROR_NO_INSTANCE,
                "$/library/a is for another chip\n"
                "$/library/b is for another chip\n"
                "$/library/c serves dtype bf16, not f16\n");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- The log --------------------------------------------------------------------------------------------- */

/* The log with "$" for the folder, "N" for the process and "T" for times. */
static char *read_log(const char *path) {
    char *text = dispatch_read(path), *to = text, process[32];
    size_t length = strlen(folder);
    int digits = snprintf(process, sizeof process, "fmha %ld: ", (long)getpid());
    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, folder, length) == 0) {
            *to++ = '$';
            from += length;
        } else if (strncmp(from, process, (size_t)digits) == 0) {
            memcpy(to, "fmha N: ", 8);
            to += 8;
            from += digits;
        } else if (strncmp(from, "ready after ", 12) == 0) {
            memcpy(to, "ready after T", 13);
            to += 13;
            from += 12 + strspn(from + 12, "0123456789.");
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return text;
}

static void expect_log(const char *path, const char *expected) {
    char *text = read_log(path);
    cr_assert_str_eq(text, expected);
    free(text);
    remove(path);
}

Test(explain, log_has_a_line_for_each_step) {
    static const struct test_instance instances[] = {{.name = "one", .object = "object", .source = "text"}};
    char path[300], object[700];
    snprintf(path, sizeof path, "%s/a log", folder);
    setenv("FMHA_LOG", path, 1);
    dispatch_library("library", instances, 1);
    fake->code_objects = true;
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(fmha_forward(device, &problem), FMHA_OK);
    }
    expect_log(path, "fmha N: library $/library: 1 instance for gfx1151\n"
                     "fmha N: one: code object of $/library\n"
                     "fmha N: one: ready after T ms\n");
    snprintf(object, sizeof object, "%s/library/gfx1151/one.hsaco", folder);
    support_write(object, "obJect", 0644);
    cr_assert_eq(fmha_device_forget(device), FMHA_OK);
    cr_assert_eq(fmha_forward(device, &problem), FMHA_OK);
    expect_log(path, "fmha N: library $/library: 1 instance for gfx1151\n"
                     "fmha N: one: its code object in $/library does not serve: $/library/gfx1151/one.hsaco: expected "
                     "the 6 bytes that the index names, got 6 others; make the library anew with `fmhagen library`\n"
                     "fmha N: one: text of $/library, compiled; the driver 'emu' keeps nothing\n"
                     "fmha N: one: ready after T ms\n");
    fake->fail_in = "compile";
    fake->failure = FMHA_ERROR_COMPILE;
    cr_assert_eq(fmha_device_add_library(device, "/nowhere"), FMHA_OK);
    cr_assert_eq(fmha_device_forget(device), FMHA_OK);
    cr_assert_eq(fmha_forward(device, &problem), FMHA_ERROR_COMPILE);
    expect_log(path, "fmha N: library /nowhere: is asked after fmha_device_forget\n"
                     "fmha N: library /nowhere: no instances for gfx1151: it has no gfx1151/fmha.index\n"
                     "fmha N: library $/library: 1 instance for gfx1151\n"
                     "fmha N: one: its code object in $/library does not serve: $/library/gfx1151/one.hsaco: expected "
                     "the 6 bytes that the index names, got 6 others; make the library anew with `fmhagen library`\n"
                     "fmha N: one: fake: compile failed\n");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(explain, log_that_cannot_be_written_stops_nothing, .timeout = 30) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    char pipe_path[300];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    cr_assert_eq(mkfifo(pipe_path, 0600), 0);
    const char *const logs[] = {"/nowhere/log", "/", pipe_path, "0", ""};
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    for (size_t i = 0; i < COUNT(logs); i++) {
        setenv("FMHA_LOG", logs[i], 1);
        setenv("FMHA_DUMP", logs[i][0] == '/' ? "/proc/nowhere" : "", 1);
        int files = support_open_files();
        fmha_device *device = dispatch_open();
        cr_assert_eq(fmha_forward(device, &problem), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(support_open_files(), files);
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

Test(explain, log_lines_are_whole) {
    char path[300], long_text[5000];
    struct fmha_log log = {.path = path};
    snprintf(path, sizeof path, "%s/log", folder);
    fmha_log_line(&log, "one\ntwo\n  three %d", 3);
    expect_log(path, "fmha N: one two   three 3\n");
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    fmha_log_line(&log, "%s", long_text);
    char *text = read_log(path);
    size_t length = strlen(text);
    cr_assert(length > 4000 && length < 4096 && text[length - 1] == '\n' && text[length - 2] == 'x');
    free(text);
    struct fmha_log silent = {0};
    fmha_log_line(&silent, "%s", "nothing");
    fmha_log_dump(&silent, "name", ".txt", "x", 1);
    dispatch_tear_down();
}

Test(explain, log_goes_to_standard_error) {
    static const struct test_instance instances[] = {{.name = "one", .source = "text"}};
    static const char *const words[] = {"stderr", "1"};
    char path[300];
    dispatch_library("library", instances, 1);
    snprintf(path, sizeof path, "%s/stderr", folder);
    for (size_t i = 0; i < COUNT(words); i++) {
        setenv("FMHA_LOG", words[i], 1);
        fflush(stderr);
        int kept = dup(STDERR_FILENO);
        cr_assert_not_null(freopen(path, "w", stderr));
        fmha_device *device = dispatch_open();
        fmha_forward_problem problem = dispatch_problem();
        fmha_status status = fmha_forward_prepare(device, &problem);
        fmha_device_close(device);
        fflush(stderr);
        dup2(kept, STDERR_FILENO);
        close(kept);
        cr_assert_eq(status, FMHA_OK);
        expect_log(path, "fmha N: library $/library: 1 instance for gfx1151\n"
                         "fmha N: one: text of $/library, compiled; the driver 'emu' keeps nothing\n"
                         "fmha N: one: ready after T ms\n");
    }
    dispatch_tear_down();
}

/* ---- The dump -------------------------------------------------------------------------------------------- */

static void expect_file(const char *name, const char *expected) {
    char path[700];
    snprintf(path, sizeof path, "%s/a dump/%s", folder, name);
    char *text = dispatch_read(path);
    cr_assert_str_eq(text, expected);
    free(text);
}

static int files_in_dump(void) {
    char path[300];
    int count = 0;
    snprintf(path, sizeof path, "%s/a dump", folder);
    DIR *files = opendir(path);
    cr_assert_not_null(files);
    for (struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        count += entry->d_name[0] != '.';
    }
    closedir(files);
    return count;
}

Test(explain, dump_has_text_image_and_launch) {
    static const struct test_instance instances[] = {{.name = "one", .object = "object", .source = "text"}};
    char path[300];
    snprintf(path, sizeof path, "%s/a dump", folder);
    setenv("FMHA_DUMP", path, 1);
    dispatch_library("library", instances, 1);
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    cr_assert_eq(fmha_forward(device, &problem), FMHA_OK);
    expect_file("one.hip", "text");
    char *image;
    snprintf(path, sizeof path, "%s/a dump/one.so", folder);
    image = dispatch_read(path);
    cr_assert_str_eq(image, "text");
    free(image);
    expect_file("one.launch",
                "symbol one\ngrid 2 2 1\nworkgroup 128 1 1\nargument_bytes 160\narguments"
                " 00 00 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 04 00 00 00 00 00"
                " 00 00 00 00 00 00 00 00 00 32 00 00 00 00 00 00 80 00 00 00 00 00 00 00"
                " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80 00 00 00 00 00 00 00"
                " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80 00 00 00 00 00 00 00"
                " 00 00 00 00 00 00 00 00 00 32 00 00 00 00 00 00 80 00 00 00 00 00 00 00"
                " 00 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 01 00 00 00 64 00 00 00 46 00 00 00 f3 04 b5 3d\n");
    cr_assert_eq(files_in_dump(), 3);
    fmha_device_close(device);
    fake->code_objects = true;
    device = dispatch_open();
    cr_assert_eq(fmha_forward_prepare(device, &problem), FMHA_OK);
    expect_file("one.hsaco", "object");
    cr_assert_eq(files_in_dump(), 4);
    fmha_device_close(device);
    dispatch_tear_down();
}
