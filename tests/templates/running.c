#include "running.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void any_chip(lua_State *L, void *context) {
    (void)context;
    lua_newtable(L);
    lua_setfield(L, -2, "arch");
}

struct target open_target(const char *name, int wave, const char *text, const char *symbol) {
    struct target target = {.name = name};
    const fmha_source source = {.text = text, .symbol = symbol, .path = "conversions.hip", .wave = wave};
    void *image;
    size_t bytes;
    cr_assert_eq(fmha_device_open(name, &target.device), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_source_compile(target.device, &source, &image, &bytes), FMHA_OK, "%s: %s", name,
                 fmha_last_error());
    cr_assert_eq(fmha_module_load(target.device, image, bytes, &target.module), FMHA_OK, "%s", fmha_last_error());
    free(image);
    return target;
}

void run_kernel(struct target *target, const char *symbol, uint32_t which, uint32_t groups, uint32_t items,
                const uint32_t *in, size_t in_bytes, uint32_t *out, size_t out_bytes) {
    fmha_kernel *kernel;
    struct {
        void *in, *out;
        uint32_t which;
    } arguments = {.which = which};
    cr_assert_eq(fmha_module_kernel(target->module, symbol, &kernel), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_alloc(target->device, in_bytes, "in", &arguments.in), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_alloc(target->device, out_bytes, "out", &arguments.out), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(target->device, arguments.in, in, in_bytes), FMHA_OK, "%s", fmha_last_error());
    const fmha_launch_config config = {.grid = {groups, 1, 1},
                                       .workgroup = {items, 1, 1},
                                       .arguments = &arguments,
                                       .argument_bytes = 2 * sizeof(void *) + sizeof which};
    cr_assert_eq(fmha_kernel_launch(kernel, &config), FMHA_OK, "%s: %s", symbol, fmha_last_error());
    cr_assert_eq(fmha_device_synchronize(target->device, NULL), FMHA_OK, "%s: %s", symbol, fmha_last_error());
    cr_assert_eq(fmha_memory_read(target->device, out, arguments.out, out_bytes), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_free(target->device, arguments.in), FMHA_OK);
    cr_assert_eq(fmha_memory_free(target->device, arguments.out), FMHA_OK);
}

void on_other_chips(void (*check)(const char *name, int wave)) {
    static const struct {
        const char *name;
        int wave;
    } others[] = {{"isa:gfx906", 64},  {"isa:gfx908", 64},  {"isa:gfx90a", 64},  {"isa:gfx950", 64},
                  {"isa:gfx1030", 32}, {"isa:gfx1151", 64}, {"isa:gfx1201", 32}, {"isa:gfx1201", 64}};
    const char *all = getenv("FMHA_TEST_LONG");
    for (size_t i = 0; all != NULL && strcmp(all, "1") == 0 && i < sizeof others / sizeof others[0]; i++)
        check(others[i].name, others[i].wave);
}
