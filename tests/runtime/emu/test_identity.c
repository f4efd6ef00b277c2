/* What decides an object of the emulated device, and host compilers that hang. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu_test.h"

static char *identity_of(emu_test *test, int wave) {
    char *text;
    fmha_status status = test->driver->compile_identity(test->device, wave, &text);
    cr_assert_eq(status, FMHA_OK, "%s", fmha_last_error());
    return text;
}

Test(emu_identity, has_compiler_flags_headers_and_processor) {
    static const char *const parts[] = {"compiler /",
                                        "\nversion ",
                                        "\nfile /",
                                        "\nflag -O2\n",
                                        "\nflag -DFMHA_EMU_WAVE=32\n",
                                        "\nflag -DFMHA_EMU_ARCH=gfx1151\n",
                                        "\nflag -DFMHA_EMU_CHECKS\n",
                                        "\nheaders ",
                                        "\nprocessor "};
    emu_test test = emu_test_open("gfx1151");
    cr_assert_not(test.driver->concurrent);
    char *text = identity_of(&test, 32), *again = identity_of(&test, 32);
    cr_assert_str_eq(text, again);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        cr_assert_not_null(strstr(text, parts[i]), "%s in\n%s", parts[i], text);
    }
    cr_assert_null(strstr(text, " 0000000000000000\n"), "a hash of nothing:\n%s", text);
    free(text);
    free(again);
    emu_test_close(&test);
}

/* Each of these makes another object of the same text. */
Test(emu_identity, tells_settings_apart) {
    char *texts[6];
    emu_test test = emu_test_open("gfx1151"), other = emu_test_open("gfx1100");
    texts[0] = identity_of(&test, 32);
    texts[1] = identity_of(&test, 64);
    texts[2] = identity_of(&other, 32);
    emu_test_set(&test, "checks", 0);
    texts[3] = identity_of(&test, 32);
    emu_test_set(&test, "checks", 1);
    setenv("FMHA_EMU_CXXFLAGS", "-O1  -DMINE", 1);
    texts[4] = identity_of(&test, 32);
    cr_assert_not_null(strstr(texts[4], "\nflag -O1\nflag -DMINE\n"), "%s", texts[4]);
    setenv("FMHA_EMU_CXXFLAGS", "-O0", 1);
    texts[5] = identity_of(&test, 32);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            cr_assert_str_neq(texts[i], texts[j], "%d and %d", i, j);
        }
    }
    for (int i = 0; i < 6; i++) {
        free(texts[i]);
    }
    setenv("FMHA_EMU_CXXFLAGS", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", 1);
    char *text;
    cr_assert_eq(test.driver->compile_identity(test.device, 32, &text), FMHA_ERROR_ARGUMENT);
    cr_assert_null(text);
    cr_assert_str_eq(fmha_last_error(), "FMHA_EMU_CXXFLAGS: expected at most 16 words in 1023 characters, got more: "
                                        "use fewer");
    emu_test_close(&test);
    emu_test_close(&other);
}

Test(emu_identity, hanging_compiler_ends) {
    char folder[] = "/tmp/fmha emu-XXXXXX", path[300], temporary[300], text[700];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/host c++", folder);
    snprintf(temporary, sizeof temporary, "%s/t", folder);
    FILE *script = fopen(path, "w");
    fputs("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'clang version 40.1.0'; else echo working; sleep 30; fi\n",
          script);
    fclose(script);
    cr_assert(chmod(path, 0755) == 0 && mkdir(temporary, 0700) == 0);
    setenv("FMHA_HOST_CXX", path, 1);
    setenv("FMHA_COMPILE_SECONDS", "1", 1);
    setenv("TMPDIR", temporary, 1);
    setenv("FMHA_CACHE_MAX_MIB", "0", 1);
    emu_test test = emu_test_open("gfx1151");
    const fmha_source source = {
        .text = "extern \"C\" __global__ void kernel(int *out) {}\n", .symbol = "kernel", .wave = 32};
    void *image;
    size_t bytes;
    cr_assert_eq(test.driver->compile(test.device, &source, &image, &bytes), FMHA_ERROR_COMPILE);
    snprintf(text, sizeof text, "%s: did not end within 1 seconds and was killed; it had said: working\n", path);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child process is left");
    setenv("FMHA_COMPILE_SECONDS", "0", 1);
    cr_assert_eq(test.driver->compile(test.device, &source, &image, &bytes), FMHA_ERROR_ARGUMENT);
    cr_assert_str_eq(fmha_last_error(),
                     "FMHA_COMPILE_SECONDS: expected a whole number from 1 to 86400, got '0': correct or unset it");
    emu_test_close(&test);
    cr_assert_eq(rmdir(temporary), 0, "something is left in TMPDIR");
    unlink(path);
    rmdir(folder);
}
