/* The HIP driver over simulated HIP runtimes. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "fmha.h"
#include "gpu_support.h"
#include "hip_api.h"
#include "support.h"

#define HIP_6          FAKE_DRIVER_DIR "/libfake_hip6.so"
#define HIP_5          FAKE_DRIVER_DIR "/libfake_hip5.so"
#define HIP_INCOMPLETE FAKE_DRIVER_DIR "/libfake_hip_incomplete.so"
#define HIPRTC         FAKE_DRIVER_DIR "/libfake_hiprtc.so"

static fake_gpu *hip;
static fake_rtc *rtc;

static void set_up(void) {
    unsetenv("ROCM_PATH");
    unsetenv("FMHA_HIPCC");
    setenv("FMHA_HIP_LIBRARY", HIP_6, 1);
    setenv("FMHA_HIPRTC_LIBRARY", HIPRTC, 1);
    hip = gpu_symbol(HIP_6, "fake_gpu_state");
    rtc = gpu_symbol(HIPRTC, "fake_rtc_state");
}

/* The end of each test, in the test itself: what fails after it does not count. */
static void finish(void) {
    cr_assert_eq(hip->memories, 0, "device memory was lost");
    cr_assert_eq(hip->modules, 0, "a module was lost");
    cr_assert_eq(rtc->programs, 0, "a program was lost");
    cr_assert_eq(hip->last_error, 0, "the caller's program would stumble over an error");
    support_assert_clean();
}

TestSuite(hip, .init = set_up);

/* ---- Finding the runtime --------------------------------------------------------------------------------- */

Test(hip, missing_library_lists_the_places) {
    setenv("FMHA_HIP_LIBRARY", "/nowhere/libamdhip64.so", 1);
    gpu_expect_open_error("hip", FMHA_ERROR_NO_DRIVER,
                          "hip: expected the HIP runtime libamdhip64 of ROCm 5 to 7, looked at\n"
                          "  /nowhere/libamdhip64.so: nothing there\n"
                          "install it (Debian: libamdhip64-5, -6, …), or set FMHA_HIP_LIBRARY to its path");
    unsetenv("FMHA_HIP_LIBRARY");
    if (dlopen("libamdhip64.so", RTLD_LAZY) != NULL || access("/opt/rocm/lib", F_OK) == 0) {
        cr_skip_test("a real HIP runtime is installed here");
    }
    setenv("ROCM_PATH", "/no rocm", 1);
    gpu_expect_open_error("hip", FMHA_ERROR_NO_DRIVER,
                          "hip: expected the HIP runtime libamdhip64 of ROCm 5 to 7, looked at\n"
                          "  $FMHA_HIP_LIBRARY: not set\n"
                          "  libamdhip64.so.7: cannot open shared object file: No such file or directory\n"
                          "  libamdhip64.so.6: cannot open shared object file: No such file or directory\n"
                          "  libamdhip64.so.5: cannot open shared object file: No such file or directory\n"
                          "  libamdhip64.so: cannot open shared object file: No such file or directory\n"
                          "  /no rocm/lib: no such library there\n"
                          "  /opt/rocm/lib: no such library there\n"
                          "install it (Debian: libamdhip64-5, -6, …), or set FMHA_HIP_LIBRARY to its path");
    finish();
}

Test(hip, file_that_is_no_library_is_refused) {
    char folder[256], path[300], text[700];
    support_make_folder(folder);
    snprintf(path, sizeof path, "%s/libamdhip64.so", folder);
    support_write(path, "no library", 0644);
    setenv("FMHA_HIP_LIBRARY", path, 1);
    snprintf(text, sizeof text,
             "hip: expected the HIP runtime libamdhip64 of ROCm 5 to 7, looked at\n"
             "  %s: file too short\n"
             "install it (Debian: libamdhip64-5, -6, …), or set FMHA_HIP_LIBRARY to its path",
             path);
    gpu_expect_open_error("hip", FMHA_ERROR_NO_DRIVER, text);
    support_remove_folder(folder);
    finish();
}

Test(hip, library_under_rocm_path_is_found) {
    char folder[256], lib[300], link[340];
    if (dlopen("libamdhip64.so.6", RTLD_LAZY) != NULL) {
        cr_skip_test("a real HIP runtime is installed here and comes first");
    }
    support_make_folder(folder);
    snprintf(lib, sizeof lib, "%s/lib", folder);
    snprintf(link, sizeof link, "%s/libamdhip64.so.6", lib);
    cr_assert_eq(mkdir(lib, 0755), 0);
    cr_assert_eq(symlink(HIP_6, link), 0);
    unsetenv("FMHA_HIP_LIBRARY");
    setenv("ROCM_PATH", folder, 1);
    fmha_device_close(gpu_open("hip"));
    support_remove_folder(folder);
    finish();
}

Test(hip, missing_function_is_named) {
    setenv("FMHA_HIP_LIBRARY", HIP_INCOMPLETE, 1);
    gpu_expect_open_error(
        "hip", FMHA_ERROR_NO_DRIVER,
        "hip: expected the HIP runtime of ROCm 5 to 7, got " HIP_INCOMPLETE
        " without the function hipModuleLaunchKernel; install another, or set FMHA_HIP_LIBRARY to its path");
    finish();
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

Test(hip, the_device_of_the_memory_is_opened_whatever_is_current) {
    fmha_device *second = gpu_open("hip:1"), *found;
    fmha_device_info info;
    void *address;
    int local = 0;
    char text[256];
    cr_assert_eq(fmha_memory_alloc(second, 64, "q", &address), FMHA_OK);
    hip->current = 0;
    cr_assert_eq(fmha_device_open_for("hip", address, &found), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_get_info(found, &info), FMHA_OK);
    cr_assert_eq(info.ordinal, 1);
    cr_assert_eq(hip->current, 0);
    fmha_device_close(found);
    snprintf(text, sizeof text,
             "hip: expected an address in a HIP device's memory, got %p, which no device of this process knows",
             (void *)&local);
    gpu_expect_error(fmha_device_open_for("hip", &local, &found), FMHA_ERROR_ARGUMENT, text);
    cr_assert_null(found);
    gpu_expect_error(fmha_device_open_for("hip", NULL, &found), FMHA_ERROR_ARGUMENT,
                     "fmha_device_open_for: expected a driver, an address and a place for the device, got NULL; pass a "
                     "valid pointer");
    fmha_device_close(second);
    finish();
}

Test(hip, no_device_is_explained) {
    char why[512], text[900];
    fmha_gpu_explain_absence(&fmha_hip_absence, why);
    hip->device_count = 0;
    snprintf(text, sizeof text,
             "hip:0: expected an AMD GPU, got none: the HIP runtime reports no device (hipErrorNoDevice, 100); %s",
             why);
    gpu_expect_open_error("hip", FMHA_ERROR_NO_DEVICE, text);
    hip->device_count = 2; /* a runtime that starts and then finds none */
    hip->fail_in = "hipGetDeviceCount";
    hip->fail_code = 100;
    gpu_expect_open_error("hip:0", FMHA_ERROR_NO_DEVICE, text);
    finish();
}

Test(hip, why_there_may_be_no_device) {
    char folder[256], kfd[300], why[512], text[600];
    support_make_folder(folder);
    cr_assert_eq(chmod(folder, 0755), 0);
    snprintf(kfd, sizeof kfd, "%s/kfd", folder);
    gpu_absence absence = fmha_hip_absence;
    absence.node = kfd;
    fmha_gpu_explain_absence(&absence, why);
    snprintf(text, sizeof text,
             "%s is missing: load the kernel driver amdgpu; in a container, pass --device=/dev/kfd --device=/dev/dri",
             kfd);
    cr_assert_str_eq(why, text);

    support_write(kfd, "", 0666);
    unsetenv("HIP_VISIBLE_DEVICES");
    unsetenv("ROCR_VISIBLE_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("GPU_DEVICE_ORDINAL");
    fmha_gpu_explain_absence(&absence, why);
    snprintf(text, sizeof text, "%s can be opened: check with rocminfo that this ROCm knows the chip", kfd);
    cr_assert_str_eq(why, text);
    setenv("ROCR_VISIBLE_DEVICES", "7", 1);
    fmha_gpu_explain_absence(&absence, why);
    cr_assert_str_eq(why, "ROCR_VISIBLE_DEVICES='7' may hide it: unset it");

    char below[310]; /* what neither the superuser nor anybody else can open */
    snprintf(below, sizeof below, "%s/below", kfd);
    absence.node = below;
    fmha_gpu_explain_absence(&absence, why);
    snprintf(
        text, sizeof text,
        "%s cannot be opened: Not a directory; add this user to the group that owns it (usually render) and log in "
        "again",
        below);
    cr_assert_str_eq(why, text);
    support_remove_folder(folder);
    finish();
}

Test(hip, runtime_that_does_not_start_is_an_error) {
    hip->fail_in = "hipInit";
    hip->fail_code = 999;
    gpu_expect_open_error(
        "hip", FMHA_ERROR_DRIVER,
        "hip:0: the HIP runtime does not start: hipErrorUnknown (999): simulated; check it with rocminfo");
    finish();
}

Test(hip, ordinal_is_checked) {
    gpu_expect_open_error(
        "hip:2", FMHA_ERROR_NO_DEVICE,
        "hip:2: expected a number below 2, the number of HIP devices here, got 2; HIP_VISIBLE_DEVICES and "
        "ROCR_VISIBLE_DEVICES may hide others");
    static const char *const wrong[] = {"-1", "+1", " 1", "1x", "one", "99999999999999999999", "10000", "gfx1151"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char name[40], text[200];
        snprintf(name, sizeof name, "hip:%s", wrong[i]);
        snprintf(text, sizeof text, "device '%s': expected hip or hip:N with a number N from 0, got '%s'", name,
                 wrong[i]);
        gpu_expect_open_error(name, FMHA_ERROR_ARGUMENT, text);
    }
    finish();
}

static void expect_info(const char *name, const char *arch, int ordinal) {
    fmha_device_info info;
    fmha_device *device = gpu_open(name);
    cr_assert_eq(fmha_device_get_info(device, &info), FMHA_OK);
    cr_assert_str_eq(info.driver, "hip");
    cr_assert_str_eq(info.arch, arch);
    cr_assert_str_eq(info.name, "Simulated Radeon");
    cr_assert_eq(info.image_kind, FMHA_IMAGE_CODE_OBJECT);
    cr_assert_eq(info.ordinal, ordinal);
    cr_assert_eq(info.compute_units, 20);
    cr_assert_eq(info.lds_bytes_workgroup, 65536);
    fmha_device_close(device);
}

Test(hip, devices_describe_themselves) {
    expect_info("hip", "gfx1151", 0);
    expect_info("hip:", "gfx1151", 0);
    expect_info("hip:1", "gfx1100", 1);
    hip->archs[1] = "gfx90a:sramecc+:xnack-";
    expect_info("hip:1", "gfx90a:sramecc+:xnack-", 1);
    finish();
}

Test(hip, properties_of_rocm_5_are_read) {
    fake_gpu *old = gpu_symbol(HIP_5, "fake_gpu_state");
    old->version = 50221153;
    setenv("FMHA_HIP_LIBRARY", HIP_5, 1);
    expect_info("hip:1", "gfx1100", 1);
    finish();
}

Test(hip, properties_of_an_unknown_layout_are_refused) {
    hip->archs[0] = "radeon";
    hip->version = 80200000;
    gpu_expect_open_error(
        "hip", FMHA_ERROR_NO_DRIVER,
        "hip:0: expected the device properties of ROCm 5 to 7, got another layout from the HIP runtime of "
        "version 8.2; a newer libfmha may know it");
    finish();
}

Test(hip, failures_while_opening_are_errors) {
    static const char *const functions[] = {"hipGetDeviceProperties", "hipRuntimeGetVersion"};
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        hip->fail_in = functions[i];
        hip->fail_code = 719;
        snprintf(text, sizeof text,
                 "hip:0 (chip not known yet): %s failed: hipErrorLaunchFailure (719): unspecified launch "
                 "failure" GPU_SUPPORT_DMESG,
                 functions[i]);
        gpu_expect_open_error("hip", FMHA_ERROR_DRIVER, text);
    }
    finish();
}

/* ---- Use ------------------------------------------------------------------------------------------------- */

static const gpu_use use = {
    .target = "gfx1100",
    .lds_bytes = 1024,
    .names = {[GPU_FUNCTION(memory_alloc)] = "hipMalloc",
              [GPU_FUNCTION(memory_free)] = "hipFree",
              [GPU_FUNCTION(copy_to_device)] = "hipMemcpyHtoD",
              [GPU_FUNCTION(copy_to_host)] = "hipMemcpyDtoH",
              [GPU_FUNCTION(module_load)] = "hipModuleLoadData",
              [GPU_FUNCTION(module_unload)] = "hipModuleUnload",
              [GPU_FUNCTION(module_kernel)] = "hipModuleGetFunction",
              [GPU_FUNCTION(launch)] = "hipModuleLaunchKernel",
              [GPU_FUNCTION(stream_synchronize)] = "hipStreamSynchronize",
              [GPU_FUNCTION(synchronize)] = "hipDeviceSynchronize"},
};

static void expect_success(const char *call, fmha_status status) {
    cr_assert_eq(status, FMHA_OK, "%s: %s", call, fmha_last_error());
    cr_assert_eq(hip->current, 0, "%s left device %d current", call, hip->current);
}

Test(hip, the_callers_device_stays_current) {
    fmha_device *device = gpu_open("hip:1");
    cr_assert_eq(hip->set_devices, 0, "opening needs no device to be current");
    gpu_use_device(device, &use, expect_success);
    cr_assert_eq(hip->launched.device, 1);
    cr_assert_eq(hip->set_devices, 20, "there and back for each of ten calls");
    fmha_device_close(device);

    hip->current = 1; /* and nothing is switched when it is the right one */
    device = gpu_open("hip:1");
    hip->set_devices = 0;
    void *memory;
    cr_assert_eq(fmha_memory_alloc(device, 1, "q", &memory), FMHA_OK);
    fmha_device_close(device);
    cr_assert_eq(hip->set_devices, 0);
    cr_assert_eq(hip->current, 1);
    finish();
}

Test(hip, closing_releases_on_the_right_device) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t count = support_make_image("gfx1100", image);
    fmha_device *device = gpu_open("hip:1");
    for (int i = 0; i < 3; i++) {
        void *memory;
        fmha_module *module;
        fmha_kernel *kernel;
        cr_assert_eq(fmha_memory_alloc(device, 100, "q", &memory), FMHA_OK);
        cr_assert_eq((size_t)memory % 256, 0);
        cr_assert_eq(fmha_module_load(device, image, count, &module), FMHA_OK);
        cr_assert_eq(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_OK);
    }
    cr_assert_eq(hip->memories, 3);
    cr_assert_eq(hip->modules, 3);
    fmha_device_close(device);
    cr_assert_eq(hip->current, 0);
    finish();
}

Test(hip, launch_is_passed_on) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    fmha_device *device = gpu_open("hip");
    fmha_module *module;
    fmha_kernel *kernel;
    cr_assert_eq(fmha_module_load(device, image, support_make_image("gfx1151", image), &module), FMHA_OK);
    cr_assert_eq(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_OK);
    fmha_launch_config config = {.grid = {5, 4, 3},
                                 .workgroup = {128, 2, 1},
                                 .lds_dynamic_bytes = 1024,
                                 .arguments = "0123456789",
                                 .argument_bytes = 10,
                                 .stream = &config};
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
    cr_assert_arr_eq(hip->launched.grid, config.grid, sizeof config.grid);
    cr_assert_arr_eq(hip->launched.block, config.workgroup, sizeof config.workgroup);
    cr_assert_eq(hip->launched.lds_bytes, 1024);
    cr_assert_eq(hip->launched.stream, &config);
    cr_assert_eq(hip->launched.argument_bytes, 10);
    cr_assert_arr_eq(hip->launched.arguments, "0123456789", 10);
    cr_assert_eq(fmha_device_synchronize(device, &config), FMHA_OK);
    cr_assert_eq(hip->synchronized_stream, &config);
    cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK);
    cr_assert_eq((intptr_t)hip->synchronized_stream, -1);

    config = (fmha_launch_config){.grid = {1, 1, 1}, .workgroup = {1, 1, 1}}; /* a kernel without arguments */
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(hip->launched.argument_bytes, 0);
    fmha_device_close(device);
    finish();
}

/* ---- Measuring ------------------------------------------------------------------------------------------- */

/* A long launch is timed by itself, a short one in a row that lasts about a millisecond, the shortest 200 times. */
Test(hip, launches_are_measured_by_events) {
    static const struct {
        float ms;
        int launches, row;
    } cases[] = {{2.5F, 1, 1}, {0.5F, 1, 1}, {0.25F, 1 + 4, 4}, {0.0078125F, 1 + 128, 128}, {0.001F, 1 + 200, 200}};
    fmha_device *device = gpu_open("hip:1");
    fmha_kernel *kernel = gpu_load_kernel(device, "gfx1100");
    const fmha_launch_config config = {.grid = {5, 1, 1}, .workgroup = {32, 1, 1}, .stream = (void *)&cases};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double us;
        int before = hip->launches;
        hip->launch_ms = cases[i].ms;
        cr_assert_eq(fmha_kernel_measure(kernel, &config, &us), FMHA_OK, "%s", fmha_last_error());
        cr_assert_float_eq(us, (double)cases[i].ms * 1e3, 1e-3);
        cr_assert_eq(hip->launches - before, cases[i].launches);
        cr_assert_eq(hip->row, cases[i].row);
        cr_assert_eq(hip->launched.device, 1);
        cr_assert_eq(hip->launched.stream, (void *)&cases);
        cr_assert_eq(hip->current, 0);
        cr_assert_eq(hip->events, 0);
    }
    char about[64];
    fmha_device_about(device, about, sizeof about);
    cr_assert_str_eq(about, "HIP 6.4.43484");
    fmha_device_close(device);
    finish();
}

Test(hip, events_that_fail_are_told_of_and_freed) {
    static const char *const functions[] = {"hipEventCreateWithFlags", "hipEventRecord", "hipEventSynchronize",
                                            "hipEventElapsedTime", "hipModuleLaunchKernel"};
    fmha_device *device = gpu_open("hip:1");
    fmha_kernel *kernel = gpu_load_kernel(device, "gfx1100");
    const fmha_launch_config config = {.grid = {1, 1, 1}, .workgroup = {32, 1, 1}};
    double us;
    hip->launch_ms = 1;
    hip->fail_code = 719;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        char text[512];
        hip->fail_in = functions[i];
        hip->fail_after = 0;
        snprintf(
            text, sizeof text,
            "hip:1 (gfx1100): %s failed: hipErrorLaunchFailure (719): unspecified launch failure" GPU_SUPPORT_DMESG,
            functions[i]);
        gpu_expect_error(fmha_kernel_measure(kernel, &config, &us), FMHA_ERROR_DRIVER, text);
        cr_assert_eq(hip->events, 0);
        cr_assert_eq(hip->current, 0);
    }
    hip->fail_in = "hipEventDestroy"; /* what was measured stands */
    hip->fail_after = 0;
    cr_assert_eq(fmha_kernel_measure(kernel, &config, &us), FMHA_OK, "%s", fmha_last_error());
    hip->fail_in = NULL;
    fmha_device_close(device);
    finish();
}

Test(hip, copies_go_the_right_way) {
    char bytes[4];
    void *memory;
    fmha_device *device = gpu_open("hip");
    cr_assert_eq(fmha_memory_alloc(device, 4, "q", &memory), FMHA_OK);
    cr_assert_eq(fmha_memory_write(device, memory, "abc", 4), FMHA_OK);
    cr_assert_eq(hip->writes, 1);
    cr_assert_eq(fmha_memory_read(device, bytes, memory, 4), FMHA_OK);
    cr_assert_eq(hip->reads, 1);
    cr_assert_str_eq(bytes, "abc");
    const fmha_finding *findings;
    size_t count = 1;
    cr_assert_eq(fmha_device_findings(device, &findings, &count), FMHA_OK);
    cr_assert_eq(count, 0);
    fmha_device_close(device);
    finish();
}

/* ---- Failures -------------------------------------------------------------------------------------------- */

static int failures;

static void expect_failure_of_one(const char *call, fmha_status status) {
    if (strcmp(call, hip->fail_in) != 0) {
        cr_assert_eq(status, FMHA_OK, "%s: %s", call, fmha_last_error());
    } else {
        char text[300];
        snprintf(
            text, sizeof text,
            "hip:1 (gfx1100): %s failed: hipErrorLaunchFailure (719): unspecified launch failure" GPU_SUPPORT_DMESG,
            call);
        gpu_expect_error(status, FMHA_ERROR_DRIVER, text);
        failures++;
    }
    cr_assert_eq(hip->current, 0, "%s left device %d current", call, hip->current);
    cr_assert_eq(hip->last_error, 0, "%s left an error for the caller to find", call);
}

Test(hip, each_call_may_fail) {
    static const struct {
        const char *function;
        int failures;
    } rows[] = {{"hipMalloc", 1},
                {"hipMemcpyHtoD", 1},
                {"hipMemcpyDtoH", 1},
                {"hipModuleLoadData", 1},
                {"hipModuleGetFunction", 1},
                {"hipModuleLaunchKernel", 1},
                {"hipStreamSynchronize", 1},
                {"hipDeviceSynchronize", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fmha_device *device = gpu_open("hip:1");
        failures = 0;
        hip->fail_in = rows[i].function;
        hip->fail_code = 719;
        gpu_use_device(device, &use, expect_failure_of_one);
        cr_assert_eq(failures, rows[i].failures, "%s", rows[i].function);
        hip->fail_in = NULL;
        fmha_device_close(device);
    }
    finish();
}

Test(hip, release_may_fail) {
    fmha_device *device = gpu_open("hip:1");
    hip->fail_code = 719;
    hip->fail_in = "hipModuleUnload";
    gpu_use_device(device, &use, expect_failure_of_one);
    hip->fail_in = "hipFree";
    gpu_use_device(device, &use, expect_failure_of_one);
    fmha_device_close(device);
    finish();
}

static void expect_no_switch(const char *call, fmha_status status) {
    char text[300];
    snprintf(text, sizeof text,
             "hip:1 (gfx1100): %s failed: hipErrorLaunchFailure (719): unspecified launch failure" GPU_SUPPORT_DMESG,
             hip->fail_in);
    if (strcmp(call, "hipFree") != 0) { /* there is nothing to free */
        gpu_expect_error(status, FMHA_ERROR_DRIVER, text);
    }
    cr_assert_eq(hip->current, 0);
}

Test(hip, switching_devices_may_fail) {
    static const char *const functions[] = {"hipGetDevice", "hipSetDevice"};
    for (size_t i = 0; i < 2; i++) {
        fmha_device *device = gpu_open("hip:1");
        hip->fail_in = functions[i];
        hip->fail_code = 719;
        gpu_use_device(device, &use, expect_no_switch);
        cr_assert_eq(hip->launches, 0);
        hip->fail_in = NULL;
        fmha_device_close(device);
    }
    finish();
}

/* The way back fails: what was made is released, for the caller never learns of it. */
Test(hip, switching_back_may_fail) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t count = support_make_image("gfx1100", image);
    fmha_device *device = gpu_open("hip:1");
    fmha_module *module;
    void *memory;
    hip->fail_in = "hipSetDevice";
    hip->fail_code = 719;
    hip->fail_after = 1;
    gpu_expect_error(fmha_memory_alloc(device, 16, "q", &memory), FMHA_ERROR_DRIVER,
                     "hip:1 (gfx1100): hipSetDevice failed: hipErrorLaunchFailure (719): unspecified launch "
                     "failure" GPU_SUPPORT_DMESG);
    cr_assert_eq(hip->memories, 0);
    hip->current = 0;
    hip->fail_after = 1;
    cr_assert_eq(fmha_module_load(device, image, count, &module), FMHA_ERROR_DRIVER);
    cr_assert_eq(hip->modules, 0);
    hip->fail_in = NULL;
    fmha_device_close(device);
    finish();
}

Test(hip, exhausted_memory_is_told_apart) {
    void *memory;
    fmha_device *device = gpu_open("hip");
    hip->fail_in = "hipMalloc";
    hip->fail_code = 2;
    gpu_expect_error(fmha_memory_alloc(device, 1u << 30, "lse", &memory), FMHA_ERROR_MEMORY,
                     "hip:0 (gfx1151): no device memory for the buffer 'lse' of 1073741824 bytes; free others first");
    fmha_device_close(device);
    finish();
}

Test(hip, code_for_another_chip_is_refused_before_it_is_loaded) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    char text[300];
    fmha_module *module;
    fmha_device *device = gpu_open("hip");
    size_t count = support_make_image("gfx1100", image);
    hip->fail_in = "hipModuleLoadData"; /* would say something else */
    hip->fail_code = 719;
    gpu_expect_error(fmha_module_load(device, image, count, &module), FMHA_ERROR_WRONG_CHIP,
                     "hip:0: expected code for gfx1151, got code for gfx1100; build the instance with --arch gfx1151");
    snprintf(text, sizeof text,
             "module image: expected a whole code object, got %zu bytes of one that is torn or damaged; make it with "
             "`fmhagen build`, or with --offload-device-only --no-gpu-bundle-output",
             count - 1);
    gpu_expect_error(fmha_module_load(device, image, count - 1, &module), FMHA_ERROR_ARGUMENT, text);
    count = support_make_image("gfx10-3-generic", image);
    hip->fail_code = 209;
    gpu_expect_error(
        fmha_module_load(device, image, count, &module), FMHA_ERROR_WRONG_CHIP,
        "hip:0: expected code for gfx1151, got code for gfx10-3-generic; build the instance with --arch gfx1151");
    fmha_device_close(device);
    finish();
}

Test(hip, absent_kernel_is_named) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    fmha_module *module;
    fmha_kernel *kernel;
    fmha_device *device = gpu_open("hip");
    cr_assert_eq(fmha_module_load(device, image, support_make_image("gfx1151", image), &module), FMHA_OK);
    gpu_expect_error(
        fmha_module_kernel(module, "fmha_backward", &kernel), FMHA_ERROR_ARGUMENT,
        "hip:0 (gfx1151): expected a kernel of the module, got 'fmha_backward', which it does not hold; NAME.json "
        "beside the code object names its symbol");
    fmha_device_close(device);
    finish();
}

/* ---- Compilation ----------------------------------------------------------------------------------------- */

static void expect_image(fmha_device *device, const fmha_source *source) {
    void *image;
    size_t count;
    fmha_module *module;
    cr_assert_eq(fmha_source_compile(device, source, &image, &count), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_module_load(device, image, count, &module), FMHA_OK, "%s", fmha_last_error());
    free(image);
}

Test(hip, hiprtc_compiles) {
    fmha_source source = gpu_source;
    fmha_device *device = gpu_open("hip");
    expect_image(device, &source);
    cr_assert_str_eq(rtc->options, "-O3 -std=c++17 -fuse-cuid=none -mcode-object-version=5 --offload-arch=gfx1151");
    cr_assert_str_eq(rtc->name, "k.hip");
    source.wave = 64;
    source.path = "templates/ops/forward.hip";
    expect_image(device, &source);
    cr_assert_str_eq(rtc->options,
                     "-O3 -std=c++17 -fuse-cuid=none -mcode-object-version=5 --offload-arch=gfx1151 -mwavefrontsize64");
    cr_assert_str_eq(rtc->name, "templates/ops/forward.hip");
    fmha_device_close(device);
    finish();
}

Test(hip, words_of_hiprtc_are_in_the_error) {
    fmha_device *device = gpu_open("hip");
    rtc->fail_in = "hiprtcCompileProgram";
    rtc->log = "k.hip:1:1: error: simulated";
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE,
                             "k.hip: hipRTC could not compile it for gfx1151, HIPRTC_ERROR_COMPILATION (6):\n"
                             "k.hip:1:1: error: simulated");
    rtc->log = NULL;
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE,
                             "k.hip: hipRTC could not compile it for gfx1151, HIPRTC_ERROR_COMPILATION (6):\n"
                             "it said nothing");
    static const char *const steps[] = {"hiprtcCreateProgram", "hiprtcGetCodeSize", "hiprtcGetCode"};
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        rtc->fail_in = steps[i];
        snprintf(text, sizeof text, "k.hip: hipRTC failed in %s: HIPRTC_ERROR_COMPILATION (6)", steps[i]);
        gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE, text);
    }
    rtc->fail_in = NULL;
    rtc->target = "gfx1100";
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE,
                             "k.hip: hipRTC ended well but its output is for gfx1100, expected gfx1151");
    fmha_device_close(device);
    finish();
}

Test(hip, chosen_hiprtc_that_cannot_serve_is_an_error_of_its_own) {
    fmha_device *device = gpu_open("hip");
    setenv("FMHA_HIPRTC_LIBRARY", "/nowhere/libhiprtc.so", 1);
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_NO_COMPILER,
                             "$FMHA_HIPRTC_LIBRARY cannot serve: expected hipRTC, looked at\n"
                             "  /nowhere/libhiprtc.so: nothing there\n"
                             "unset FMHA_HIPRTC_LIBRARY or let it name libhiprtc.so");
    setenv("FMHA_HIPRTC_LIBRARY", HIP_6, 1);
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_NO_COMPILER,
                             "$FMHA_HIPRTC_LIBRARY cannot serve: expected hipRTC, got " HIP_6
                             " without the function hiprtcCreateProgram\n"
                             "unset FMHA_HIPRTC_LIBRARY or let it name libhiprtc.so");
    fmha_device_close(device);
    finish();
}

/* The HIP runtime that was simulated as one of ROCm 5 holds hipRTC itself. Older ones hold a clang that is too old, so
 * that even one that is there is passed over. */
Test(hip, hiprtc_may_be_part_of_the_runtime) {
    fake_gpu *other = gpu_symbol(HIP_5, "fake_gpu_state");
    const fake_rtc *inside = gpu_symbol(HIP_5, "fake_rtc_state");
    setenv("FMHA_HIP_LIBRARY", HIP_5, 1);
    unsetenv("FMHA_HIPRTC_LIBRARY");
    fmha_device *device = gpu_open("hip:1");
    expect_image(device, &gpu_source);
    fmha_device_close(device);
    cr_assert_str_eq(inside->name, "k.hip");

    other->version = 50221153;
    setenv("FMHA_HIPCC", "/nowhere/hipcc", 1);
    device = gpu_open("hip:1");
    void *image;
    size_t count;
    cr_assert_eq(fmha_source_compile(device, &gpu_source, &image, &count), FMHA_ERROR_NO_COMPILER);
    fmha_device_close(device);
    finish();
}

Test(hip, without_hiprtc_a_compiler_is_run) {
    unsetenv("FMHA_HIPRTC_LIBRARY");
    hip->version = 50221153;
    fmha_device *device = gpu_open("hip:1");
    expect_image(device, &gpu_source);
    setenv("FMHA_HIPCC", "/nowhere/hipcc", 1);
    gpu_expect_compile_error(
        device, rtc, FMHA_ERROR_NO_COMPILER,
        "hip:1: hipRTC is not here, and $FMHA_HIPCC cannot serve: expected hipcc of ROCm 6 or later, or "
        "clang++ 19 or later with its lld, that knows gfx1100; looked at\n"
        "  $FMHA_HIPCC: /nowhere/hipcc: no executable file is there\n"
        "unset FMHA_HIPCC or let it name such a compiler");
    fmha_device_close(device);
    finish();
}
