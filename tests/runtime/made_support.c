#include "made_support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

fmha_device *device;

static char folder[256];

void made_set_up(void) {
    char cache[300];
    support_make_folder(folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("FMHA_CACHE_DIR", cache, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    unsetenv("FMHA_LIBRARY_PATH");
    unsetenv("FMHA_LOG");
    unsetenv("FMHA_DUMP");
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
}

void made_tear_down(void) {
    fmha_device_close(device);
    support_remove_folder(folder);
}

void made_add_library(const char *name, const char *options) {
    char command[1024], path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(command, sizeof command, "'%s' library '%s' %s%s --no-compile >/dev/null", FMHAGEN_PATH, path,
             strstr(options, "--arch") != NULL ? "" : "--arch gfx1151 ", options);
    cr_assert_eq(system(command), 0, "%s", command);
    cr_assert_eq(fmha_device_add_library(device, path), FMHA_OK, "%s", fmha_last_error());
}

void *made_copy(const char *label, const void *contents, size_t bytes) {
    void *memory;
    cr_assert_eq(fmha_memory_alloc(device, bytes, label, &memory), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(device, memory, contents, bytes), FMHA_OK, "%s", fmha_last_error());
    return memory;
}

void made_finish(fmha_status launched) {
    cr_assert_eq(launched, FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK, "%s", fmha_last_error());
}

void made_expect(fmha_status got, fmha_status expected, const char *text) {
    cr_expect_eq(got, expected, "%s: %s", fmha_status_name(got), fmha_last_error());
    cr_expect_str_eq(fmha_last_error(), text);
}

void made_expect_short(fmha_status got, const char *function, size_t least, size_t bytes) {
    char text[256];
    snprintf(text, sizeof text,
             "%s: struct_bytes: expected sizeof(%s_problem), at least %zu, got %zu; begin with the type's _INIT",
             function, function, least, bytes);
    made_expect(got, FMHA_ERROR_ARGUMENT, text);
}
