/* What decides an image on a HIP device, over simulated HIP runtimes, and threads that compile at once. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_find.h"
#include "file.h"
#include "gpu_support.h"
#include "support.h"

#define HIP_6  FAKE_DRIVER_DIR "/libfake_hip6.so"
#define HIPRTC FAKE_DRIVER_DIR "/libfake_hiprtc.so"

static fake_gpu *hip;
static fake_rtc *rtc;
static char folder[256], library[300], comgr[300], hipcc[300];

/* hipRTC and the compiler's library stand in a folder of the test's own. */
static void set_up(void) {
    void *bytes;
    size_t count;
    support_make_folder(folder);
    snprintf(library, sizeof library, "%s/libhiprtc.so", folder);
    snprintf(comgr, sizeof comgr, "%s/libamd_comgr.so.3", folder);
    snprintf(hipcc, sizeof hipcc, "%s/hip cc", folder);
    cr_assert_eq(fmha_file_read(HIPRTC, &bytes, &count), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_file_write(library, bytes, count), FMHA_OK, "%s", fmha_last_error());
    free(bytes);
    support_write(comgr, "the compiler", 0644);
    support_write(hipcc,
                  "#!/bin/sh\ncase \"$*\" in\n"
                  "--version) echo 'HIP version: 7.0.1'; echo 'clang version 21.1.8' ;;\nesac\n",
                  0755);
    setenv("FMHA_CACHE_DIR", folder, 1);
    setenv("FMHA_HIP_LIBRARY", HIP_6, 1);
    setenv("FMHA_HIPRTC_LIBRARY", library, 1);
    setenv("FMHA_HIPCC", hipcc, 1);
    hip = gpu_symbol(HIP_6, "fake_gpu_state");
    rtc = gpu_symbol(library, "fake_rtc_state");
}

static void tear_down(void) {
    support_remove_folder(folder);
}

TestSuite(hip_identity, .init = set_up, .fini = tear_down);

static void *open_device(void) {
    void *state;
    fmha_device_info info;
    cr_assert_eq(fmha_driver_hip.open("", &state, &info), FMHA_OK, "%s", fmha_last_error());
    return state;
}

static char *identity_of(void *state, int wave) {
    char *text;
    cr_assert_eq(fmha_driver_hip.compile_identity(state, wave, &text), FMHA_OK, "%s", fmha_last_error());
    return text;
}

/* "file PATH SIZE TIME", as an identity has it. */
static void file_line(const char *path, char line[500]) {
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    snprintf(line, 500, "file %s %lld %lld.%09ld\n", path, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
             status.st_mtim.tv_nsec);
}

static void expect_identity(void *state, int wave, const char *expected) {
    char *text = identity_of(state, wave);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(hip_identity, of_hiprtc) {
    char expected[2000], library_line[500], comgr_line[500];
    void *state = open_device();
    file_line(library, library_line);
    file_line(comgr, comgr_line);
    const char *format = "compiler hipRTC\nversion 7.%d\n%s%sflag -O3\nflag -std=c++17\nflag -fuse-cuid=none\n"
                         "flag -mcode-object-version=5\nflag --offload-arch=gfx1151\n%s";
    snprintf(expected, sizeof expected, format, 1, library_line, comgr_line, "");
    expect_identity(state, 32, expected);
    expect_identity(state, 32, expected);

    snprintf(expected, sizeof expected, format, 1, library_line, comgr_line, "flag -mwavefrontsize64\n");
    expect_identity(state, 64, expected);

    rtc->newer = 1;
    snprintf(expected, sizeof expected, format, 2, library_line, comgr_line, "");
    expect_identity(state, 32, expected);

    support_write(comgr, "another compiler", 0644);
    file_line(comgr, comgr_line);
    snprintf(expected, sizeof expected, format, 2, library_line, comgr_line, "");
    expect_identity(state, 32, expected);

    unlink(comgr);
    snprintf(expected, sizeof expected, format, 2, library_line, "", "");
    expect_identity(state, 32, expected);

    char *text;
    rtc->fail_in = "hiprtcVersion";
    cr_assert_eq(fmha_driver_hip.compile_identity(state, 32, &text), FMHA_ERROR_COMPILE);
    cr_assert_null(text);
    cr_assert_str_eq(fmha_last_error(), "gfx1151: hipRTC failed in hiprtcVersion: HIPRTC_ERROR_COMPILATION (6)");
    fmha_driver_hip.close(state);
    support_assert_clean();
}

Test(hip_identity, without_hiprtc_is_the_compilers) {
    char expected[2000], line[500];
    unsetenv("FMHA_HIPRTC_LIBRARY");
    unsetenv("LIBRARY_PATH");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("ROCM_PATH");
    hip->version = 50221153;
    void *state = open_device();
    file_line(hipcc, line);
    snprintf(expected, sizeof expected,
             "compiler %s\nversion HIP version: 7.0.1, clang version 21.1.8\n%s"
             "flag -x\nflag hip\nflag -nogpuinc\nflag -nogpulib\nflag --offload-device-only\n"
             "flag --no-gpu-bundle-output\nflag -O3\nflag -std=c++17\nflag -fuse-cuid=none\n"
             "flag -mcode-object-version=5\nflag --offload-arch=gfx1151\nflag -mwavefrontsize64\n",
             hipcc, line);
    expect_identity(state, 64, expected);
    setenv("FMHA_HIPCC", "/nowhere/hipcc", 1);
    char *text;
    cr_assert_eq(fmha_driver_hip.compile_identity(state, 64, &text), FMHA_ERROR_NO_COMPILER);
    cr_assert_null(text);
    fmha_driver_hip.close(state);
    support_assert_clean();
}

static void *ask(void *state) {
    char *text = NULL;
    fmha_status status = fmha_driver_hip.compile_identity(state, 32, &text);
    free(text);
    return status == FMHA_OK ? state : NULL;
}

/* The first compilation looks for hipRTC, on whichever thread it is. */
Test(hip_identity, threads_open_hiprtc_once) {
    pthread_t threads[16];
    cr_assert(fmha_driver_hip.concurrent);
    for (int round = 0; round < 10; round++) {
        void *state = open_device();
        for (int i = 0; i < 16; i++) {
            cr_assert_eq(pthread_create(&threads[i], NULL, ask, state), 0);
        }
        for (int i = 0; i < 16; i++) {
            void *right;
            pthread_join(threads[i], &right);
            cr_assert_eq(right, state);
        }
        fmha_driver_hip.close(state);
    }
    support_assert_clean();
}
