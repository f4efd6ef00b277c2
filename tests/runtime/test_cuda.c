/* The CUDA driver over a simulated libcuda and NVRTC. What it shares with HIP is tested there in full. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "driver_find.h"
#include "fmha.h"
#include "gpu_support.h"
#include "support.h"

#define CUDA            FAKE_DRIVER_DIR "/libfake_cuda.so"
#define CUDA_INCOMPLETE FAKE_DRIVER_DIR "/libfake_cuda_incomplete.so"
#define NVRTC           FAKE_DRIVER_DIR "/libfake_nvrtc.so"
#define FAILED          " failed: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure" GPU_SUPPORT_DMESG
#define CURE            "\ninstall NVIDIA's driver (it is no part of the CUDA toolkit), or set FMHA_CUDA_LIBRARY to its path"

static fake_gpu *cuda;
static fake_rtc *rtc;

static void set_up(void) {
    unsetenv("FMHA_NVCC");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    setenv("FMHA_CUDA_LIBRARY", CUDA, 1);
    setenv("FMHA_NVRTC_LIBRARY", NVRTC, 1);
    cuda = gpu_symbol(CUDA, "fake_gpu_state");
    rtc = gpu_symbol(NVRTC, "fake_rtc_state");
}

/* The end of each test, in the test itself: what fails after it does not count. */
static void finish(void) {
    cr_assert_eq(cuda->memories, 0, "device memory was lost");
    cr_assert_eq(cuda->modules, 0, "a module was lost");
    cr_assert_eq(cuda->events, 0, "an event was lost");
    cr_assert_eq(cuda->contexts, 0, "a context was kept");
    cr_assert_eq(cuda->current, -1, "the caller had no context");
    cr_assert_eq(rtc->programs, 0, "a program was lost");
    support_assert_clean();
}

TestSuite(cuda, .init = set_up);

/* ---- Opening --------------------------------------------------------------------------------------------- */

Test(cuda, missing_library_lists_the_places) {
    setenv("FMHA_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    gpu_expect_open_error("cuda", FMHA_ERROR_NO_DRIVER,
                          "cuda: expected the CUDA driver libcuda.so.1, looked at\n"
                          "  /nowhere/libcuda.so.1: nothing there" CURE);
    unsetenv("FMHA_CUDA_LIBRARY");
    if (dlopen("libcuda.so.1", RTLD_LAZY) != NULL || access("/usr/local/nvidia/lib64", F_OK) == 0) {
        cr_skip_test("a real CUDA driver is installed here");
    }
    gpu_expect_open_error("cuda", FMHA_ERROR_NO_DRIVER,
                          "cuda: expected the CUDA driver libcuda.so.1, looked at\n"
                          "  $FMHA_CUDA_LIBRARY: not set\n"
                          "  libcuda.so.1: cannot open shared object file: No such file or directory\n"
                          "  /usr/local/nvidia/lib64: no such library there\n"
                          "  /usr/lib/wsl/lib: no such library there" CURE);
    finish();
}

Test(cuda, missing_function_is_named) {
    setenv("FMHA_CUDA_LIBRARY", CUDA_INCOMPLETE, 1);
    gpu_expect_open_error(
        "cuda", FMHA_ERROR_NO_DRIVER,
        "cuda: expected the CUDA driver of version 12.4 or later, got " CUDA_INCOMPLETE
        " without the function cuLaunchKernel; install another, or set FMHA_CUDA_LIBRARY to its path");
    finish();
}

Test(cuda, no_device_is_explained) {
    char text[900];
    cuda->device_count = 0;
    bool there = access("/dev/nvidiactl", F_OK) == 0;
    if (!there) {
        snprintf(text, sizeof text,
                 "cuda:0: expected an NVIDIA GPU, got none: the CUDA driver reports no device (CUDA_ERROR_NO_DEVICE, "
                 "100); /dev/nvidiactl is missing: load the kernel driver nvidia; in a container, pass --gpus all");
        gpu_expect_open_error("cuda", FMHA_ERROR_NO_DEVICE, text);
    }
    cuda->device_count = 2;
    cuda->fail_in = "cuInit";
    cuda->fail_code = 999;
    gpu_expect_open_error("cuda:1", FMHA_ERROR_DRIVER,
                          "cuda:1: the CUDA driver does not start: CUDA_ERROR_UNKNOWN (999): simulated; check it with "
                          "nvidia-smi");
    cuda->fail_code = 803;
    gpu_expect_open_error(
        "cuda:1", FMHA_ERROR_DRIVER,
        "cuda:1: the CUDA driver does not start: CUDA error (803): no text; check it with nvidia-smi");
    finish();
}

Test(cuda, ordinal_is_checked) {
    gpu_expect_open_error("cuda:2", FMHA_ERROR_NO_DEVICE,
                          "cuda:2: expected a number below 2, the number of CUDA devices here, got 2; "
                          "CUDA_VISIBLE_DEVICES may hide others");
    gpu_expect_open_error("cuda:sm_90", FMHA_ERROR_ARGUMENT,
                          "device 'cuda:sm_90': expected cuda or cuda:N with a number N from 0, got 'sm_90'");
    gpu_expect_open_error(
        "CUDA", FMHA_ERROR_ARGUMENT,
        "device 'CUDA': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'CUDA'; did you "
        "mean 'cuda'?");
    finish();
}

static void expect_info(const char *name, const char *arch, const char *model, int ordinal) {
    fmha_device_info info;
    char about[64];
    fmha_device *device = gpu_open(name);
    cr_assert_eq(fmha_device_get_info(device, &info), FMHA_OK);
    cr_assert_str_eq(info.driver, "cuda");
    cr_assert_str_eq(info.arch, arch);
    cr_assert_str_eq(info.name, model);
    cr_assert_eq(info.image_kind, FMHA_IMAGE_CODE_OBJECT);
    cr_assert_eq(info.ordinal, ordinal);
    cr_assert_eq(info.compute_units, 132);
    cr_assert_eq(info.lds_bytes_workgroup, 232448);
    fmha_device_about(device, about, sizeof about);
    cr_assert_str_eq(about, "CUDA 13.0");
    cr_assert_eq(cuda->contexts, 1);
    fmha_device_close(device);
}

Test(cuda, devices_describe_themselves) {
    expect_info("cuda", "sm_90", "Simulated H200 0", 0);
    expect_info("cuda:1", "sm_89", "Simulated H200 1", 1);
    cuda->capability[1] = 120;
    expect_info("cuda:1", "sm_120", "Simulated H200 1", 1);
    finish();
}

Test(cuda, failures_while_opening_are_errors) {
    static const struct {
        const char *function;
        int after;
        const char *chip;
    } rows[] = {{"cuDriverGetVersion", 0, "chip not known yet"},   {"cuDeviceGet", 0, "chip not known yet"},
                {"cuDeviceGetName", 0, "chip not known yet"},      {"cuDeviceGetAttribute", 0, "chip not known yet"},
                {"cuDeviceGetAttribute", 1, "chip not known yet"}, {"cuDeviceGetAttribute", 2, "chip not known yet"},
                {"cuDeviceGetAttribute", 3, "chip not known yet"}, {"cuDevicePrimaryCtxRetain", 0, "sm_90"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[300];
        cuda->fail_in = rows[i].function;
        cuda->fail_after = rows[i].after;
        cuda->fail_code = 719;
        snprintf(text, sizeof text, "cuda:0 (%s): %s" FAILED, rows[i].chip, rows[i].function);
        gpu_expect_open_error("cuda", FMHA_ERROR_DRIVER, text);
        cr_assert_eq(cuda->contexts, 0);
    }
    cuda->fail_in = NULL;
    finish();
}

/* ---- Use ------------------------------------------------------------------------------------------------- */

static const gpu_use use = {
    .target = "sm_89",
    .lds_bytes = 100000,
    .names = {[GPU_FUNCTION(memory_alloc)] = "cuMemAlloc_v2",
              [GPU_FUNCTION(memory_free)] = "cuMemFree_v2",
              [GPU_FUNCTION(copy_to_device)] = "cuMemcpyHtoD_v2",
              [GPU_FUNCTION(copy_to_host)] = "cuMemcpyDtoH_v2",
              [GPU_FUNCTION(module_load)] = "cuModuleLoadData",
              [GPU_FUNCTION(module_unload)] = "cuModuleUnload",
              [GPU_FUNCTION(module_kernel)] = "cuModuleGetFunction",
              [GPU_FUNCTION(launch)] = "cuLaunchKernel",
              [GPU_FUNCTION(stream_synchronize)] = "cuStreamSynchronize",
              [GPU_FUNCTION(synchronize)] = "cuCtxSynchronize"},
};

static void expect_success(const char *call, fmha_status status) {
    cr_assert_eq(status, FMHA_OK, "%s: %s", call, fmha_last_error());
    cr_assert_eq(cuda->current, -1, "%s left a context", call);
}

Test(cuda, the_callers_context_stays_current) {
    fmha_device *device = gpu_open("cuda:1");
    cr_assert_eq(cuda->set_devices, 0, "opening makes no context current");
    gpu_use_device(device, &use, expect_success);
    cr_assert_eq(cuda->launched.device, 1);
    cr_assert_arr_eq(cuda->launched.arguments, "0123456789ab", 12);
    cr_assert_eq(cuda->launched.argument_bytes, 12, "without what pads the struct");
    cr_assert_eq(cuda->launched.lds_bytes, 100000);
    cr_assert_eq(cuda->lds_dynamic, 232448 - 1024, "all that the kernel leaves");
    cr_assert_eq(cuda->set_devices, 22, "there and back for each of eleven calls");
    cuda->current = 1; /* and nothing is switched when it is the right one */
    cuda->set_devices = 0;
    void *memory;
    cr_assert_eq(fmha_memory_alloc(device, 1, "q", &memory), FMHA_OK);
    cr_assert_eq(cuda->set_devices, 0);
    fmha_device_close(device);
    cr_assert_eq(cuda->current, 1);
    cuda->current = -1;
    finish();
}

static const char *expected_call;
static int failures;

static void expect_failure_of_one(const char *call, fmha_status status) {
    if (strcmp(call, expected_call) != 0) {
        cr_assert_eq(status, FMHA_OK, "%s: %s", call, fmha_last_error());
    } else {
        char text[300];
        snprintf(text, sizeof text, "cuda:1 (sm_89): %s" FAILED, cuda->fail_in);
        gpu_expect_error(status, FMHA_ERROR_DRIVER, text);
        failures++;
    }
    cr_assert_eq(cuda->current, -1, "%s left a context", call);
}

/* The call of libfmha that each function's failure is the failure of. */
Test(cuda, each_call_may_fail) {
    static const char *const rows[][2] = {{"cuMemAlloc_v2", "cuMemAlloc_v2"},
                                          {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2"},
                                          {"cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2"},
                                          {"cuModuleLoadData", "cuModuleLoadData"},
                                          {"cuModuleGetFunction", "cuModuleGetFunction"},
                                          {"cuFuncGetAttribute", "cuModuleGetFunction"},
                                          {"cuFuncSetAttribute", "cuModuleGetFunction"},
                                          {"cuFuncGetParamInfo", "cuModuleGetFunction"},
                                          {"cuLaunchKernel", "cuLaunchKernel"},
                                          {"cuStreamSynchronize", "cuStreamSynchronize"},
                                          {"cuCtxSynchronize", "cuCtxSynchronize"},
                                          {"cuModuleUnload", "cuModuleUnload"},
                                          {"cuMemFree_v2", "cuMemFree_v2"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fmha_device *device = gpu_open("cuda:1");
        failures = 0;
        cuda->fail_in = rows[i][0];
        cuda->fail_code = 719;
        cuda->fail_after = 0;
        expected_call = rows[i][1];
        gpu_use_device(device, &use, expect_failure_of_one);
        cr_assert_eq(failures, 1, "%s", rows[i][0]);
        cuda->fail_in = NULL;
        fmha_device_close(device);
    }
    finish();
}

Test(cuda, switching_contexts_may_fail) {
    static const char *const functions[] = {"cuCtxGetCurrent", "cuCtxSetCurrent"};
    fmha_device *device = gpu_open("cuda:1");
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        void *memory;
        cuda->fail_in = functions[i];
        cuda->fail_after = 0;
        cuda->fail_code = 719;
        snprintf(text, sizeof text, "cuda:1 (sm_89): %s" FAILED, functions[i]);
        gpu_expect_error(fmha_memory_alloc(device, 1, "q", &memory), FMHA_ERROR_DRIVER, text);
        cr_assert_null(memory);
    }
    cuda->fail_in = NULL;
    fmha_device_close(device);
    finish();
}

Test(cuda, errors_with_a_cure_of_their_own) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    void *memory;
    fmha_module *module;
    fmha_device *device = gpu_open("cuda");
    cuda->fail_in = "cuMemAlloc_v2";
    cuda->fail_code = 2;
    gpu_expect_error(fmha_memory_alloc(device, 1, "q", &memory), FMHA_ERROR_MEMORY,
                     "cuda:0 (sm_90): no device memory for the buffer 'q' of 1 bytes; free others first");
    gpu_expect_error(fmha_module_load(device, image, support_make_image("sm_80", image), &module),
                     FMHA_ERROR_WRONG_CHIP,
                     "cuda:0: expected code for sm_90, got code for sm_80; build the instance with --arch sm_90");
    gpu_expect_error(fmha_module_load(device, image, support_make_image("gfx1151", image), &module),
                     FMHA_ERROR_WRONG_CHIP,
                     "cuda:0: expected code for sm_90, got code for gfx1151; build the instance with --arch sm_90");
    fmha_launch_config config = {.grid = {70000, 65535, 65535}, .workgroup = {32, 1, 1}};
    fmha_kernel *kernel = gpu_load_kernel(device, "sm_90a");
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
    config.grid[2] = 65536;
    gpu_expect_error(
        fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
        "cuda:0 (sm_90): expected a grid of at most 65535 workgroups in its second and third dimension, got "
        "65535 and 65536; do fewer sequences or heads at once");
    cr_assert_eq(cuda->launches, 1);
    fmha_device_close(device);
    finish();
}

/* A text may say what dynamic LDS its kernel wants, for launches that ask for none. */
Test(cuda, launches_have_the_lds_that_the_kernel_wants) {
    const uint32_t wanted = 100368;
    fmha_launch_config config = {.grid = {1, 1, 1}, .workgroup = {32, 1, 1}};
    fmha_device *device = gpu_open("cuda");
    fmha_module *module;
    fmha_kernel *kernel;
    unsigned char image[SUPPORT_IMAGE_BYTES];
    cr_assert_eq(fmha_memory_alloc(device, 4, "lds", &cuda->lds_wanted), FMHA_OK);
    cr_assert_eq(fmha_memory_write(device, cuda->lds_wanted, &wanted, 4), FMHA_OK);
    cr_assert_eq(fmha_module_load(device, image, support_make_image("sm_90", image), &module), FMHA_OK);
    cuda->fail_in = "cuModuleGetGlobal_v2";
    cuda->fail_code = 719;
    gpu_expect_error(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_ERROR_DRIVER,
                     "cuda:0 (sm_90): cuModuleGetGlobal_v2" FAILED);
    cuda->fail_in = "cuMemcpyDtoH_v2";
    gpu_expect_error(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_ERROR_DRIVER,
                     "cuda:0 (sm_90): cuMemcpyDtoH_v2" FAILED);
    cuda->fail_in = NULL;
    cr_assert_eq(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(cuda->launched.lds_bytes, wanted);
    config.lds_dynamic_bytes = 64;
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(cuda->launched.lds_bytes, 64);
    fmha_device_close(device);
    finish();
}

/* A struct of arguments may be padded; what is longer than that is the caller's mistake, which CUDA tells of. */
Test(cuda, launches_have_no_more_than_the_arguments) {
    static const size_t bytes[][2] = {{12, 12}, {16, 12}, {27, 12}, {28, 28}, {8, 8}};
    fmha_device *device = gpu_open("cuda");
    fmha_kernel *kernel = gpu_load_kernel(device, "sm_90");
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        const fmha_launch_config config = {
            .grid = {1, 1, 1}, .workgroup = {32, 1, 1}, .arguments = bytes, .argument_bytes = bytes[i][0]};
        double us;
        cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(cuda->launched.argument_bytes, bytes[i][1], "%zu", bytes[i][0]);
        cuda->launched.argument_bytes = 0;
        cr_assert_eq(fmha_kernel_measure(kernel, &config, &us), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(cuda->launched.argument_bytes, bytes[i][1], "%zu", bytes[i][0]);
    }
    fmha_device_close(device);
    finish();
}

Test(cuda, launches_are_measured_by_events) {
    static const char *const functions[] = {"cuEventCreate", "cuEventRecord", "cuEventSynchronize",
                                            "cuEventElapsedTime", "cuLaunchKernel"};
    fmha_device *device = gpu_open("cuda:1");
    fmha_kernel *kernel = gpu_load_kernel(device, "sm_89");
    const fmha_launch_config config = {.grid = {1, 1, 1}, .workgroup = {32, 1, 1}};
    double us;
    cuda->launch_ms = 2.5F;
    cr_assert_eq(fmha_kernel_measure(kernel, &config, &us), FMHA_OK, "%s", fmha_last_error());
    cr_assert_float_eq(us, 2500, 1e-3);
    cuda->fail_code = 719;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        char text[300];
        cuda->fail_in = functions[i];
        cuda->fail_after = 0;
        snprintf(text, sizeof text, "cuda:1 (sm_89): %s" FAILED, functions[i]);
        gpu_expect_error(fmha_kernel_measure(kernel, &config, &us), FMHA_ERROR_DRIVER, text);
        cr_assert_eq(cuda->events, 0);
    }
    cuda->fail_in = NULL;
    fmha_device_close(device);
    finish();
}

Test(cuda, the_device_of_the_memory_is_opened) {
    fmha_device *second = gpu_open("cuda:1"), *found;
    fmha_device_info info;
    void *address;
    int local = 0;
    char text[256];
    cr_assert_eq(fmha_memory_alloc(second, 64, "q", &address), FMHA_OK);
    cr_assert_eq(fmha_device_open_for("cuda", address, &found), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_get_info(found, &info), FMHA_OK);
    cr_assert_eq(info.ordinal, 1);
    fmha_device_close(found);
    snprintf(text, sizeof text,
             "cuda: expected an address in a CUDA device's memory, got %p, which no device of this process knows",
             (void *)&local);
    gpu_expect_error(fmha_device_open_for("cuda", &local, &found), FMHA_ERROR_ARGUMENT, text);
    cr_assert_null(found);
    fmha_device_close(second);
    finish();
}

/* ---- Compilation ----------------------------------------------------------------------------------------- */

Test(cuda, nvrtc_compiles) {
    void *image;
    size_t count;
    fmha_module *module;
    fmha_device *device = gpu_open("cuda");
    cr_assert_eq(fmha_source_compile(device, &gpu_source, &image, &count), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_module_load(device, image, count, &module), FMHA_OK, "%s", fmha_last_error());
    free(image);
    cr_assert_str_eq(rtc->options, "-std=c++17 --fmad=false -arch=sm_90a");
    cr_assert_str_eq(rtc->name, "k.hip");
    fmha_device_close(device);
    finish();
}

Test(cuda, words_of_nvrtc_are_in_the_error) {
    static const char *const steps[] = {"nvrtcCreateProgram", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"};
    fmha_device *device = gpu_open("cuda");
    rtc->fail_in = "nvrtcCompileProgram";
    rtc->log = "k.hip(1): error: simulated";
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE,
                             "k.hip: NVRTC could not compile it for sm_90, NVRTC_ERROR_COMPILATION (6):\n"
                             "k.hip(1): error: simulated");
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        rtc->fail_in = steps[i];
        snprintf(text, sizeof text, "k.hip: NVRTC failed in %s: NVRTC_ERROR_COMPILATION (6)", steps[i]);
        gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE, text);
    }
    rtc->fail_in = NULL;
    rtc->target = "sm_100";
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_COMPILE,
                             "k.hip: NVRTC ended well but its output is for sm_100, expected sm_90");
    fmha_device_close(device);
    finish();
}

Test(cuda, chosen_nvrtc_that_cannot_serve_is_an_error_of_its_own) {
    fmha_device *device = gpu_open("cuda");
    setenv("FMHA_NVRTC_LIBRARY", "/nowhere/libnvrtc.so", 1);
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_NO_COMPILER,
                             "$FMHA_NVRTC_LIBRARY cannot serve: expected NVRTC, looked at\n"
                             "  /nowhere/libnvrtc.so: nothing there\n"
                             "unset FMHA_NVRTC_LIBRARY or let it name libnvrtc.so");
    setenv("FMHA_NVRTC_LIBRARY", CUDA, 1);
    gpu_expect_compile_error(device, rtc, FMHA_ERROR_NO_COMPILER,
                             "$FMHA_NVRTC_LIBRARY cannot serve: expected NVRTC, got " CUDA
                             " without the function nvrtcCreateProgram\n"
                             "unset FMHA_NVRTC_LIBRARY or let it name libnvrtc.so");
    fmha_device_close(device);
    finish();
}

/* A driver of CUDA 11 has no NVRTC that is new enough. */
Test(cuda, without_nvrtc_a_compiler_is_run) {
    unsetenv("FMHA_NVRTC_LIBRARY");
    cuda->version = 11080;
    setenv("FMHA_NVCC", "/nowhere/nvcc", 1);
    fmha_device *device = gpu_open("cuda");
    gpu_expect_compile_error(
        device, rtc, FMHA_ERROR_NO_COMPILER,
        "cuda:0: NVRTC is not here, and $FMHA_NVCC cannot serve: expected nvcc of CUDA 12 or later "
        "that knows sm_90; looked at\n"
        "  $FMHA_NVCC: /nowhere/nvcc: no executable file is there\n"
        "unset FMHA_NVCC or let it name such a compiler");
    fmha_device_close(device);
    finish();
}

Test(cuda, nvrtc_identifies_itself) {
    void *state;
    char *text, head[64];
    fmha_device_info info;
    cr_assert_eq(fmha_driver_cuda.open("", &state, &info), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_driver_cuda.compile_identity(state, 32, &text), FMHA_OK, "%s", fmha_last_error());
    snprintf(head, sizeof head, "compiler NVRTC\nversion 13.1\nfile /");
    cr_assert_eq(strncmp(text, head, strlen(head)), 0, "%s", text);
    const char *flags = strstr(text, "flag ");
    cr_assert_str_eq(flags, "flag -std=c++17\nflag --fmad=false\nflag -arch=sm_90a\n");
    free(text);
    rtc->fail_in = "nvrtcVersion";
    gpu_expect_error(fmha_driver_cuda.compile_identity(state, 32, &text), FMHA_ERROR_COMPILE,
                     "sm_90: NVRTC failed in nvrtcVersion: NVRTC_ERROR_COMPILATION (6)");
    fmha_driver_cuda.close(state);
    finish();
}
