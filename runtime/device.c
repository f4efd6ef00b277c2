/* What is the same for every kind of device: names, checks, and who owns what. Below it a driver's table is called. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dispatch.h"
#include "driver_find.h"

#define WORK_ITEMS_MAX 1024
#define PADDING_MAX    16    /* to which a struct of arguments may be rounded up */
#define ARGUMENTS_MAX  65536 /* bytes, more than any driver passes to a kernel */
#define SYMBOL_MAX     400

struct fmha_kernel {
    fmha_device *device;
    fmha_kernel *next;
    void *handle;
    fmha_kernel_needs needs;
    char symbol[]; /* NUL-terminated */
};

struct fmha_module {
    fmha_module *next, **link; /* *link points at this one */
    fmha_device *device;
    void *handle;
    fmha_kernel *kernels;
};

static fmha_status refuse_null(const char *function, const char *parameters) {
    return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected %s, got NULL; pass a valid pointer", function, parameters);
}

void fmha_device_enter(fmha_device *device) {
    if (!device->driver->concurrent) {
        pthread_mutex_lock(&device->calls);
    }
}

void fmha_device_leave(fmha_device *device) {
    if (!device->driver->concurrent) {
        pthread_mutex_unlock(&device->calls);
    }
}

/* ---- Opening and closing --------------------------------------------------------------------------------- */

fmha_status fmha_device_open(const char *name, fmha_device **device) {
    if (device != NULL) {
        *device = NULL;
    }
    if (name == NULL || device == NULL) {
        return refuse_null("fmha_device_open", "a name and a place for the device");
    }
    fmha_device *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "device '%s': no memory for its description", name);
    }
    const char *colon = strchr(name, ':');
    fmha_status status = fmha_driver_find(name, &opened->driver, &opened->library);
    if (status == FMHA_OK) {
        status = opened->driver->open(colon != NULL ? colon + 1 : "", &opened->state, &opened->info);
        if (status != FMHA_OK) {
            fmha_driver_release(opened->library);
        }
    }
    if (status != FMHA_OK) {
        free(opened);
        return status;
    }
    opened->info.driver = opened->driver->name;
    pthread_mutex_init(&opened->calls, NULL);
    pthread_mutex_init(&opened->lists, NULL);
    status = fmha_dispatch_create(opened, &opened->dispatch);
    if (status != FMHA_OK) {
        fmha_device_close(opened);
        return status;
    }
    *device = opened;
    return FMHA_OK;
}

fmha_status fmha_device_open_for(const char *driver_name, const void *address, fmha_device **device) {
    if (device != NULL) {
        *device = NULL;
    }
    if (driver_name == NULL || address == NULL || device == NULL) {
        return refuse_null("fmha_device_open_for", "a driver, an address and a place for the device");
    }
    const fmha_driver *driver;
    void *library;
    int ordinal = 0;
    char name[64];
    fmha_status status = fmha_driver_find(driver_name, &driver, &library);
    if (status != FMHA_OK) {
        return status;
    }
    status = driver->locate != NULL ? driver->locate(address, &ordinal)
                                    : fmha_fail(FMHA_ERROR_UNSUPPORTED,
                                                "fmha_device_open_for: the driver '%s' cannot tell where memory lies; "
                                                "open the device by its name",
                                                driver->name);
    snprintf(name, sizeof name, "%s:%d", driver->name, ordinal);
    fmha_driver_release(library);
    return status != FMHA_OK ? status : fmha_device_open(name, device);
}

static void free_module(fmha_module *module) {
    while (module->kernels != NULL) {
        fmha_kernel *kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel);
    }
    *module->link = module->next;
    if (module->next != NULL) {
        module->next->link = module->link;
    }
    free(module);
}

void fmha_device_close(fmha_device *device) {
    if (device == NULL) {
        return;
    }
    const fmha_driver *driver = device->driver;
    fmha_dispatch_free(device->dispatch);
    while (device->modules != NULL) {
        driver->module_unload(device->state, device->modules->handle);
        free_module(device->modules);
    }
    for (size_t i = 0; i < device->range_count; i++) {
        driver->memory_free(device->state, device->ranges[i].start);
    }
    free(device->ranges);
    driver->close(device->state);
    fmha_driver_release(device->library);
    pthread_mutex_destroy(&device->calls);
    pthread_mutex_destroy(&device->lists);
    free(device);
}

fmha_status fmha_device_get_info(const fmha_device *device, fmha_device_info *info) {
    if (device == NULL || info == NULL) {
        return refuse_null("fmha_device_get_info", "a device and a place for the description");
    }
    *info = device->info;
    return FMHA_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

/* The number of ranges that start at `address` or below it. */
static size_t ranges_up_to(const fmha_device *device, const void *address) {
    size_t low = 0, high = device->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)device->ranges[middle].start <= (uintptr_t)address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool reserve_range(fmha_device *device) {
    if (device->range_count < device->range_capacity) {
        return true;
    }
    size_t capacity = device->range_capacity * 2 + 16;
    memory_range *larger = realloc(device->ranges, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    device->ranges = larger;
    device->range_capacity = capacity;
    return true;
}

fmha_status fmha_memory_alloc(fmha_device *device, size_t bytes, const char *label, void **address) {
    if (address != NULL) {
        *address = NULL;
    }
    if (device == NULL || address == NULL) {
        return refuse_null("fmha_memory_alloc", "a device and a place for the address");
    }
    if (bytes == 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_memory_alloc: expected 1 byte or more, got 0 (buffer '%s'); leave it out",
                         label != NULL ? label : "");
    }
    void *made = NULL;
    fmha_device_enter(device);
    fmha_status status = device->driver->memory_alloc(device->state, bytes, label, &made);
    fmha_device_leave(device);
    if (status != FMHA_OK) {
        return status;
    }
    pthread_mutex_lock(&device->lists);
    bool kept = reserve_range(device);
    if (kept) {
        size_t at = ranges_up_to(device, made);
        memmove(device->ranges + at + 1, device->ranges + at, (device->range_count - at) * sizeof *device->ranges);
        device->ranges[at] = (memory_range){.start = made, .bytes = bytes};
        device->range_count++;
    }
    pthread_mutex_unlock(&device->lists);
    if (!kept) {
        fmha_device_enter(device);
        device->driver->memory_free(device->state, made);
        fmha_device_leave(device);
        return fmha_fail(FMHA_ERROR_MEMORY, "fmha_memory_alloc: no host memory to keep account of the buffer '%s'",
                         label != NULL ? label : "");
    }
    *address = made;
    return FMHA_OK;
}

/* Forgets an allocation; false if it is none. */
static bool drop_range(fmha_device *device, const void *address) {
    pthread_mutex_lock(&device->lists);
    size_t count = ranges_up_to(device, address);
    bool known = count > 0 && device->ranges[count - 1].start == address;
    if (known) {
        memmove(device->ranges + count - 1, device->ranges + count,
                (device->range_count - count) * sizeof *device->ranges);
        device->range_count--;
    }
    pthread_mutex_unlock(&device->lists);
    return known;
}

fmha_status fmha_memory_free(fmha_device *device, void *address) {
    if (device == NULL) {
        return refuse_null("fmha_memory_free", "a device");
    }
    if (address == NULL) {
        return FMHA_OK;
    }
    if (!drop_range(device, address)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_memory_free: expected an address that fmha_memory_alloc returned for this device and "
                         "that was not freed since, got %p; free each once",
                         address);
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->memory_free(device->state, address);
    fmha_device_leave(device);
    return status;
}

/* Memory may also come from elsewhere (another library's allocator); what this device allocated has a known end. */
static fmha_status check_range(fmha_device *device, const char *function, const void *address, size_t bytes) {
    memory_range found = {0}, *range = &found;
    pthread_mutex_lock(&device->lists);
    size_t count = ranges_up_to(device, address);
    if (count > 0) {
        found = device->ranges[count - 1];
    }
    pthread_mutex_unlock(&device->lists);
    if (count > 0) {
        size_t offset = (size_t)((uintptr_t)address - (uintptr_t)range->start);
        if (offset < range->bytes && bytes > range->bytes - offset) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: expected at most %zu bytes from offset %zu of a buffer of %zu bytes, got %zu; check "
                             "address and size",
                             function, range->bytes - offset, offset, range->bytes, bytes);
        }
    }
    if (bytes > UINTPTR_MAX - (uintptr_t)address) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a range inside the address space, got %zu bytes at %p; check address and size",
                         function, bytes, address);
    }
    return FMHA_OK;
}

fmha_status fmha_memory_write(fmha_device *device, void *to, const void *from_host, size_t bytes) {
    if (device == NULL || to == NULL || from_host == NULL) {
        return refuse_null("fmha_memory_write", "a device and two addresses");
    }
    fmha_status status = check_range(device, "fmha_memory_write", to, bytes);
    if (status == FMHA_OK && bytes > 0) {
        fmha_device_enter(device);
        status = device->driver->memory_write(device->state, to, from_host, bytes);
        fmha_device_leave(device);
    }
    return status;
}

fmha_status fmha_memory_read(fmha_device *device, void *to_host, const void *from, size_t bytes) {
    if (device == NULL || to_host == NULL || from == NULL) {
        return refuse_null("fmha_memory_read", "a device and two addresses");
    }
    fmha_status status = check_range(device, "fmha_memory_read", from, bytes);
    if (status == FMHA_OK && bytes > 0) {
        fmha_device_enter(device);
        status = device->driver->memory_read(device->state, to_host, from, bytes);
        fmha_device_leave(device);
    }
    return status;
}

static fmha_status check_view(fmha_device *device, const fmha_tensor_view *view) {
    const char *label = view->label != NULL ? view->label : "";
    if (view->address == NULL || view->element_bytes == 0 || view->dimensions < 1 ||
        view->dimensions > FMHA_VIEW_DIMENSIONS_MAX || view->access < FMHA_ACCESS_READ ||
        view->access > FMHA_ACCESS_READ_WRITE) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_memory_view: expected an address, elements of 1 byte and up, 1 to %d dimensions and an "
                         "access, got %p, %zu bytes, %d dimensions, access %d (tensor '%s'); fill in all fields",
                         FMHA_VIEW_DIMENSIONS_MAX, view->address, view->element_bytes, view->dimensions,
                         (int)view->access, label);
    }
    int64_t last = 0; /* elements from the first to the last */
    bool empty = false, fits = true;
    for (int i = 0; i < view->dimensions; i++) {
        int64_t size = view->shape[i], stride = view->strides[i], reach = 0;
        if (size < 0 || stride < 0) {
            return fmha_fail(
                FMHA_ERROR_ARGUMENT,
                "fmha_memory_view: expected sizes and strides of 0 and up, got size %lld and stride %lld in "
                "dimension %d (tensor '%s'); pass a tensor that does not run backwards",
                (long long)size, (long long)stride, i, label);
        }
        empty = empty || size == 0;
        fits = fits && (size == 0 || (!__builtin_mul_overflow(size - 1, stride, &reach) &&
                                      !__builtin_add_overflow(last, reach, &last)));
    }
    if (empty) {
        return FMHA_OK;
    }
    if (!fits || last > INT64_MAX / 2 || view->element_bytes > SIZE_MAX / ((uint64_t)last + 1)) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_memory_view: expected a tensor that ends within the address space; check shape and strides "
            "(tensor '%s')",
            label);
    }
    return check_range(device, "fmha_memory_view", view->address, ((size_t)last + 1) * view->element_bytes);
}

fmha_status fmha_memory_view(fmha_device *device, const fmha_tensor_view *view) {
    if (device == NULL || view == NULL) {
        return refuse_null("fmha_memory_view", "a device and a view");
    }
    fmha_status status = check_view(device, view);
    if (status == FMHA_OK && device->driver->memory_view != NULL) {
        fmha_device_enter(device);
        status = device->driver->memory_view(device->state, view);
        fmha_device_leave(device);
    }
    return status;
}

/* ---- Code ------------------------------------------------------------------------------------------------ */

/* Compilers' files are named after symbols, and texts are written around them. */
static bool is_identifier(const char *word) {
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return length > 0 && length <= SYMBOL_MAX && word[length] == '\0' && (word[0] < '0' || word[0] > '9');
}

fmha_status fmha_source_compile(fmha_device *device, const fmha_source *source, void **image, size_t *image_bytes) {
    if (image != NULL) {
        *image = NULL;
    }
    if (image_bytes != NULL) {
        *image_bytes = 0;
    }
    if (device == NULL || source == NULL || image == NULL || image_bytes == NULL || source->text == NULL ||
        source->symbol == NULL) {
        return refuse_null("fmha_source_compile", "a device, a source with text and symbol, and places for the image");
    }
    if (source->wave != 32 && source->wave != 64) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_source_compile: expected a wave of 32 or 64 lanes, got %d (%s); give what the kernel was "
            "generated for",
            source->wave, source->symbol);
    }
    if (!is_identifier(source->symbol)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_source_compile: expected a kernel's name of up to %d letters as symbol, got '%s'; give "
                         "the name of the __global__ function",
                         SYMBOL_MAX, source->symbol);
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->compile(device->state, source, image, image_bytes);
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_module_load(fmha_device *device, const void *image, size_t image_bytes, fmha_module **module) {
    if (module != NULL) {
        *module = NULL;
    }
    if (device == NULL || image == NULL || module == NULL) {
        return refuse_null("fmha_module_load", "a device, an image and a place for the module");
    }
    if (image_bytes == 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_module_load: expected an image of 1 byte or more, got 0; pass its size");
    }
    fmha_module *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "fmha_module_load: no host memory for the module");
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->module_load(device->state, image, image_bytes, &made->handle);
    fmha_device_leave(device);
    if (status != FMHA_OK) {
        free(made);
        return status;
    }
    made->device = device;
    pthread_mutex_lock(&device->lists);
    made->next = device->modules;
    made->link = &device->modules;
    if (made->next != NULL) {
        made->next->link = &made->next;
    }
    device->modules = made;
    pthread_mutex_unlock(&device->lists);
    *module = made;
    return FMHA_OK;
}

fmha_status fmha_module_unload(fmha_module *module) {
    if (module == NULL) {
        return FMHA_OK;
    }
    fmha_device *device = module->device;
    fmha_device_enter(device);
    fmha_status status = device->driver->module_unload(device->state, module->handle);
    fmha_device_leave(device);
    pthread_mutex_lock(&device->lists);
    free_module(module);
    pthread_mutex_unlock(&device->lists);
    return status;
}

const char *fmha_kernel_symbol(const fmha_kernel *kernel) {
    return kernel->symbol;
}

static fmha_kernel *known_kernel(const fmha_module *module, const char *symbol) {
    fmha_kernel *known = module->kernels;
    while (known != NULL && strcmp(known->symbol, symbol) != 0) {
        known = known->next;
    }
    return known;
}

fmha_status fmha_module_kernel(fmha_module *module, const char *symbol, fmha_kernel **kernel) {
    if (kernel != NULL) {
        *kernel = NULL;
    }
    if (module == NULL || symbol == NULL || kernel == NULL) {
        return refuse_null("fmha_module_kernel", "a module, a symbol and a place for the kernel");
    }
    fmha_device *device = module->device;
    pthread_mutex_lock(&device->lists);
    *kernel = known_kernel(module, symbol);
    pthread_mutex_unlock(&device->lists);
    if (*kernel != NULL) {
        return FMHA_OK;
    }
    size_t length = strlen(symbol);
    fmha_kernel *made = calloc(1, sizeof *made + length + 1);
    if (made == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "fmha_module_kernel: no host memory for the kernel '%s'", symbol);
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->module_kernel(device->state, module->handle, symbol, &made->handle);
    if (status == FMHA_OK && device->driver->needs != NULL) {
        status = device->driver->needs(device->state, module->handle, made->handle, &made->needs);
    }
    fmha_device_leave(device);
    if (status != FMHA_OK) {
        free(made);
        return status;
    }
    memcpy(made->symbol, symbol, length + 1);
    made->device = device;
    pthread_mutex_lock(&device->lists);
    *kernel = known_kernel(module, symbol); /* another thread may have been quicker */
    if (*kernel == NULL) {
        made->next = module->kernels;
        module->kernels = made;
        *kernel = made;
    }
    pthread_mutex_unlock(&device->lists);
    if (*kernel != made) {
        free(made);
    }
    return FMHA_OK;
}

/* ---- Launches -------------------------------------------------------------------------------------------- */

static bool fits(const uint32_t grid[3], const uint32_t workgroup[3]) {
    bool counts = true;
    for (int i = 0; i < 3; i++) {
        counts &= grid[i] != 0 && workgroup[i] - 1 < WORK_ITEMS_MAX && (uint64_t)grid[i] * workgroup[i] <= UINT32_MAX;
    }
    return counts && workgroup[0] * workgroup[1] * workgroup[2] <= WORK_ITEMS_MAX; /* at most 2^30 */
}

/* What is wrong with a launch that does not fit. */
static fmha_status refuse_launch(const char *symbol, const uint32_t grid[3], const uint32_t workgroup[3]) {
    bool counts = true;
    uint32_t work_items = 1;
    for (int i = 0; i < 3; i++) {
        counts = counts && workgroup[i] >= 1 && workgroup[i] <= WORK_ITEMS_MAX;
        work_items = counts ? work_items * workgroup[i] : 0;
        if (grid[i] == 0) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: expected a grid of 1 and up in each dimension, got %u x %u x %u; "
                             "an empty problem needs no launch",
                             symbol, grid[0], grid[1], grid[2]);
        }
    }
    if (!counts || work_items > WORK_ITEMS_MAX) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "%s: expected a workgroup of 1 to %d work items, got %u x %u x %u; pass the workgroup that the "
            "kernel was generated for",
            symbol, WORK_ITEMS_MAX, workgroup[0], workgroup[1], workgroup[2]);
    }
    int i = 0;
    while (i < 2 && (uint64_t)grid[i] * workgroup[i] <= UINT32_MAX) {
        i++;
    }
    return fmha_fail(FMHA_ERROR_ARGUMENT,
                     "%s: expected fewer than 2^32 work items in each dimension, got %u workgroups of %u in "
                     "dimension %d; split the launch",
                     symbol, grid[i], workgroup[i], i);
}

static fmha_status check_launch(const fmha_kernel *kernel, const fmha_launch_config *config) {
    const char *symbol = kernel->symbol;
    if (!fits(config->grid, config->workgroup)) {
        return refuse_launch(symbol, config->grid, config->workgroup);
    }
    if (config->lds_dynamic_bytes > 0 && config->lds_dynamic_bytes > kernel->device->info.lds_bytes_workgroup) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected at most %zu bytes of LDS, got %zu; use smaller tiles",
                         symbol, kernel->device->info.lds_bytes_workgroup, config->lds_dynamic_bytes);
    }
    if (config->arguments == NULL && config->argument_bytes != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected an argument block of %zu bytes, got NULL; pass its address",
                         symbol, config->argument_bytes);
    }
    if (config->argument_bytes > ARGUMENTS_MAX) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "%s: expected an argument block of at most %d bytes, got %zu; pass the size that its NAME.json "
            "says",
            symbol, ARGUMENTS_MAX, config->argument_bytes);
    }
    return FMHA_OK;
}

/* The configuration itself, or in `changed` without the bytes that pad its arguments and with the LDS that the kernel
 * wants. */
static const fmha_launch_config *complete(const fmha_kernel *kernel, const fmha_launch_config *config,
                                          fmha_launch_config *changed) {
    const fmha_kernel_needs *needs = &kernel->needs;
    if (needs->argument_bytes == 0 && needs->lds_bytes == 0) {
        return config;
    }
    *changed = *config;
    if (config->argument_bytes > needs->argument_bytes &&
        config->argument_bytes - needs->argument_bytes < PADDING_MAX) {
        changed->argument_bytes = needs->argument_bytes;
    }
    if (config->lds_dynamic_bytes == 0) {
        changed->lds_dynamic_bytes = needs->lds_bytes;
    }
    return changed;
}

fmha_status fmha_kernel_launch(fmha_kernel *kernel, const fmha_launch_config *config) {
    if (kernel == NULL || config == NULL) {
        return refuse_null("fmha_kernel_launch", "a kernel and a configuration");
    }
    fmha_status status = check_launch(kernel, config);
    if (status != FMHA_OK) {
        return status;
    }
    fmha_device *device = kernel->device;
    fmha_launch_config changed;
    fmha_device_enter(device);
    status = device->driver->launch(device->state, kernel->handle, complete(kernel, config, &changed));
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_kernel_measure(fmha_kernel *kernel, const fmha_launch_config *config, double *amount) {
    fmha_device *device = kernel->device;
    fmha_status status = check_launch(kernel, config);
    if (status == FMHA_OK && device->driver->measure == NULL) {
        status = fmha_fail(FMHA_ERROR_UNSUPPORTED, "%s: the driver '%s' cannot measure; tune on another device",
                           device->info.name, device->driver->name);
    }
    if (status == FMHA_OK) {
        fmha_launch_config changed;
        fmha_device_enter(device);
        status = device->driver->measure(device->state, kernel->handle, complete(kernel, config, &changed), amount);
        fmha_device_leave(device);
    }
    return status;
}

void fmha_device_about(fmha_device *device, char *text, size_t room) {
    if (device->driver->about == NULL) {
        snprintf(text, room, "%s", device->driver->name);
        return;
    }
    fmha_device_enter(device);
    device->driver->about(device->state, text, room);
    fmha_device_leave(device);
}

fmha_status fmha_device_synchronize(fmha_device *device, void *stream) {
    if (device == NULL) {
        return refuse_null("fmha_device_synchronize", "a device");
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->synchronize(device->state, stream);
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_device_findings(fmha_device *device, const fmha_finding **findings, size_t *count) {
    if (findings != NULL) {
        *findings = NULL;
    }
    if (count != NULL) {
        *count = 0;
    }
    if (device == NULL || findings == NULL || count == NULL) {
        return refuse_null("fmha_device_findings", "a device and places for the findings and their number");
    }
    if (device->driver->findings == NULL) {
        return FMHA_OK;
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->findings(device->state, findings, count);
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_device_clear_findings(fmha_device *device) {
    if (device == NULL) {
        return refuse_null("fmha_device_clear_findings", "a device");
    }
    if (device->driver->clear_findings == NULL) {
        return FMHA_OK;
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->clear_findings(device->state);
    fmha_device_leave(device);
    return status;
}

/* ---- Emulated devices ------------------------------------------------------------------------------------ */

fmha_status fmha_device_set(fmha_device *device, const char *option, int64_t value) {
    if (device == NULL || option == NULL) {
        return refuse_null("fmha_device_set", "a device and an option");
    }
    if (device->driver->set == NULL) {
        return fmha_fail(FMHA_ERROR_UNSUPPORTED,
                         "fmha_device_set: %s has no option '%s': options are for emulated devices", device->info.name,
                         option);
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->set(device->state, option, value);
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_device_counters(fmha_device *device, const fmha_counter **counters, size_t *count) {
    if (counters != NULL) {
        *counters = NULL;
    }
    if (count != NULL) {
        *count = 0;
    }
    if (device == NULL || counters == NULL || count == NULL) {
        return refuse_null("fmha_device_counters", "a device and places for the counters and their number");
    }
    if (device->driver->counters == NULL) {
        return FMHA_OK;
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->counters(device->state, counters, count);
    fmha_device_leave(device);
    return status;
}

fmha_status fmha_device_clear_counters(fmha_device *device) {
    if (device == NULL) {
        return refuse_null("fmha_device_clear_counters", "a device");
    }
    if (device->driver->clear_counters == NULL) {
        return FMHA_OK;
    }
    fmha_device_enter(device);
    fmha_status status = device->driver->clear_counters(device->state);
    fmha_device_leave(device);
    return status;
}
