/* Kernels that each do one thing that no GPU would tell (tests/broken), and what is found. A file's head says
 *
 *     run: GROUPS ITEMS WAVE [CHIP]        gfx1151, unless another is named
 *     finding: KIND: TEXT
 *
 * With RIGHT defined the same file is a kernel that is in order, in which nothing must be found. Every kernel gets
 *   in   [4][16] floats to be read, rows 20 apart, with 4 before the first and 4 after the last
 *   out  [64] floats to be written, with 8 after the last
 * To accept the findings of now, and read the difference with git: FMHA_BLESS=1 meson test -C build emu_broken */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"

enum { NAME_BYTES = 256, TEXT_BYTES = 8192, FINDING_BYTES = 1024 };

struct broken {
    char name[NAME_BYTES];
};

static int is_kernel(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".hip") == 0;
}

ParameterizedTestParameters(broken, is_found) {
    static struct broken list[128];
    struct dirent **entries;
    int count = scandir(EMU_TEST_BROKEN, &entries, is_kernel, alphasort);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (used < sizeof list / sizeof *list) {
            snprintf(list[used++].name, NAME_BYTES, "%s", entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return cr_make_param_array(struct broken, list, used);
}

static void path_of(const struct broken *broken, char path[4096]) {
    snprintf(path, 4096, "%s/%s", EMU_TEST_BROKEN, broken->name);
}

static void read_kernel(const struct broken *broken, char text[TEXT_BYTES]) {
    char path[4096];
    path_of(broken, path);
    FILE *file = fopen(path, "r");
    cr_assert(ne(ptr, file, NULL), "%s", path);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = '\0';
    fclose(file);
}

/* The line of the head after `key`. */
static void read_key(const char *text, const char *key, char line[FINDING_BYTES]) {
    const char *at = strstr(text, key);
    cr_assert(ne(ptr, (void *)at, NULL), "no '%s'", key);
    at += strlen(key);
    snprintf(line, FINDING_BYTES, "%.*s", (int)strcspn(at, "\n"), at);
}

static void run(const char *text, const char *name, emu_test *test) {
    static const float zeros[128];
    uint32_t groups, items;
    int wave;
    char line[FINDING_BYTES], chip[32] = "gfx1151";
    read_key(text, " * run: ", line);
    cr_assert(ge(int, sscanf(line, "%u %u %d %31s", &groups, &items, &wave, chip), 3));
    *test = emu_test_open(chip);
    float *in = emu_test_buffer(test, (4 + 3 * 20 + 16 + 4) * sizeof(float), "in", zeros);
    float *out = emu_test_buffer(test, (64 + 8) * sizeof(float), "out", zeros);
    fmha_tensor_view views[] = {
        {.label = "in",
         .address = in + 4,
         .element_bytes = sizeof(float),
         .dimensions = 2,
         .shape = {4, 16},
         .strides = {20, 1},
         .access = FMHA_ACCESS_READ},
        {.label = "out",
         .address = out,
         .element_bytes = sizeof(float),
         .dimensions = 1,
         .shape = {64},
         .strides = {1},
         .access = FMHA_ACCESS_WRITE},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        cr_assert(eq(int, test->driver->memory_view(test->device, &views[i]), FMHA_OK), "%s", fmha_last_error());
    }
    struct {
        const float *in;
        float *out;
    } given = {in + 4, out};
    emu_test_set(test, "threads", 1);
    emu_test_run(test, emu_test_kernel(test, text, name, wave), groups, items, &given, sizeof given);
}

/* Writes the finding into the file's head. */
static void bless(const struct broken *broken, const char *text, const char *found) {
    char path[4096];
    path_of(broken, path);
    const char *line = strstr(text, " * finding: "), *rest = strchr(line, '\n');
    FILE *file = fopen(path, "w");
    cr_assert(ne(ptr, file, NULL), "%s", path);
    fprintf(file, "%.*s * finding: %s%s", (int)(line - text), text, found, rest);
    cr_assert(eq(int, fclose(file), 0));
}

ParameterizedTest(struct broken *broken, broken, is_found) {
    char text[TEXT_BYTES], right[TEXT_BYTES + 32], expected[FINDING_BYTES], found[2 * FINDING_BYTES];
    const fmha_finding *list;
    size_t count;
    emu_test test;
    read_kernel(broken, text);
    read_key(text, " * finding: ", expected);
    run(text, broken->name, &test);
    cr_assert(eq(int, test.driver->findings(test.device, &list, &count), FMHA_OK));
    cr_assert(ge(sz, count, 1), "%s: nothing was found", broken->name);
    snprintf(found, sizeof found, "%s: %s", list[0].kind, list[0].text);
    if (getenv("FMHA_BLESS") != NULL) {
        bless(broken, text, found);
    } else {
        cr_expect(eq(str, found, expected));
        cr_expect(eq(sz, count, 1), "%s: %zu findings, the second: %s", broken->name, count,
                  count > 1 ? list[1].text : "");
    }
    emu_test_close(&test);

    snprintf(right, sizeof right, "#define RIGHT\n%s", text);
    run(right, broken->name, &test);
    cr_assert(eq(int, test.driver->findings(test.device, &list, &count), FMHA_OK));
    cr_expect(eq(sz, count, 0), "%s: with RIGHT defined: %s: %s", broken->name, count > 0 ? list[0].kind : "",
              count > 0 ? list[0].text : "");
    emu_test_close(&test);
}
