#include "gpu_support.h"

#include <criterion/criterion.h>
#include <dlfcn.h>

#include "support.h"

void *gpu_symbol(const char *library, const char *name) {
    void *opened = dlopen(library, RTLD_NOW);
    cr_assert_not_null(opened, "%s", dlerror());
    void *found = dlsym(opened, name);
    cr_assert_not_null(found, "%s", name);
    return found;
}

void gpu_expect_error(fmha_status got, fmha_status expected, const char *text) {
    cr_assert_eq(got, expected, "expected %s, got %s: %s", fmha_status_name(expected), fmha_status_name(got),
                 fmha_last_error());
    cr_assert_str_eq(fmha_last_error(), text);
}

void gpu_expect_open_error(const char *name, fmha_status expected, const char *text) {
    fmha_device *device = (fmha_device *)&device;
    gpu_expect_error(fmha_device_open(name, &device), expected, text);
    cr_assert_null(device);
}

fmha_device *gpu_open(const char *name) {
    fmha_device *device;
    cr_assert_eq(fmha_device_open(name, &device), FMHA_OK, "%s", fmha_last_error());
    return device;
}

fmha_kernel *gpu_load_kernel(fmha_device *device, const char *target) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    fmha_module *module;
    fmha_kernel *kernel;
    cr_assert_eq(fmha_module_load(device, image, support_make_image(target, image), &module), FMHA_OK, "%s",
                 fmha_last_error());
    cr_assert_eq(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_OK, "%s", fmha_last_error());
    return kernel;
}

void gpu_use_device(fmha_device *device, const gpu_use *use, void (*report)(const char *call, fmha_status status)) {
    const char *const *names = use->names;
    unsigned char image[SUPPORT_IMAGE_BYTES];
    void *memory = NULL;
    char bytes[16] = "0123456789abcde";
    fmha_module *module = NULL;
    fmha_kernel *kernel = NULL;
    report(names[GPU_FUNCTION(memory_alloc)], fmha_memory_alloc(device, sizeof bytes, "q", &memory));
    if (memory != NULL) {
        report(names[GPU_FUNCTION(copy_to_device)], fmha_memory_write(device, memory, bytes, sizeof bytes));
        report(names[GPU_FUNCTION(copy_to_host)], fmha_memory_read(device, bytes, memory, sizeof bytes));
    }
    report(names[GPU_FUNCTION(module_load)],
           fmha_module_load(device, image, support_make_image(use->target, image), &module));
    if (module != NULL) {
        report(names[GPU_FUNCTION(module_kernel)], fmha_module_kernel(module, "fmha_forward", &kernel));
    }
    if (kernel != NULL) {
        const fmha_launch_config config = {.grid = {5, 4, 3},
                                           .workgroup = {128, 1, 1},
                                           .lds_dynamic_bytes = use->lds_bytes,
                                           .arguments = bytes,
                                           .argument_bytes = sizeof bytes,
                                           .stream = bytes};
        report(names[GPU_FUNCTION(launch)], fmha_kernel_launch(kernel, &config));
    }
    report(names[GPU_FUNCTION(stream_synchronize)], fmha_device_synchronize(device, bytes));
    report(names[GPU_FUNCTION(synchronize)], fmha_device_synchronize(device, NULL));
    if (module != NULL) {
        report(names[GPU_FUNCTION(module_unload)], fmha_module_unload(module));
    }
    report(names[GPU_FUNCTION(memory_free)], fmha_memory_free(device, memory));
}

const fmha_source gpu_source = {
    .text = "extern \"C\" __attribute__((global)) void k(float *p) { *p = 1.0f; }\n", .symbol = "k", .wave = 32};

void gpu_expect_compile_error(fmha_device *device, const fake_rtc *rtc, fmha_status status, const char *text) {
    void *image = device;
    size_t count = 1;
    gpu_expect_error(fmha_source_compile(device, &gpu_source, &image, &count), status, text);
    cr_assert_null(image);
    cr_assert_eq(count, 0);
    cr_assert_eq(rtc->programs, 0);
}
