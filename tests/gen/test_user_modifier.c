/* Modifiers from outside: where their text goes, what names them, what is refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chips.h"
#include "instance.h"
#include "interface.h"
#include "shape_key.h"
#include "user_modifier.h"

#define KERNEL                                                                                                         \
    "//% argument { name = \"q\", kind = \"buffer\", type = \"f16\", access = \"read\", shape = \"batch\",\n"          \
    "//%     strides = \"1\" }\n"                                                                                      \
    "//% kernel { workgroup = 256, grid = { \"seqlen_q\", \"heads_q\", \"batch\" },\n"                                 \
    "//%     lds_bytes = 0, flop_per_tile = 0, bytes_per_tile = 0 }\n"
#define INCLUDES "//% if spec.modifier then include(\"modifiers/user.hip\") end\n"

static char folder[] = "/tmp/fmha modifier XXXXXX";
static char path[64];

static void set_up(void) {
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.hip", folder);
}

static void tear_down(void) {
    unlink(path);
    cr_assert_eq(rmdir(folder), 0);
}

TestSuite(user_modifier, .init = set_up, .fini = tear_down);

static void write_modifier(const char *bytes, size_t length) {
    struct error error;
    cr_assert(file_write(path, bytes, length, &error), "%s", error.text);
}

static bool emit(const char *operation, const char *modifier, struct instance *instance, struct error *error) {
    const char *pairs[][2] = {
        {"arch/gfx900.lua", CHIP_LARGE}, {"ops/forward.hip", operation}, {"ops/pack.hip", KERNEL}};
    struct template_engine *engine = chips_engine(pairs, 3);
    const struct spec_choices choices = {.arch = "gfx900", .field[SPEC_HEAD_DIM] = "64", .modifier = modifier};
    struct spec *specs;
    size_t count;
    bool done = spec_product(&choices, engine, &specs, &count, error) && instance_emit(engine, specs, instance, error);
    free(specs);
    template_engine_free(engine);
    return done;
}

static void expect_refused(const char *modifier, enum error_kind kind, const char *format, const char *about) {
    struct instance instance;
    struct error error = {0};
    char expected[4096];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(expected, sizeof expected, format, about);
#pragma GCC diagnostic pop
    cr_assert_not(emit(KERNEL INCLUDES, modifier, &instance, &error));
    cr_assert_str_eq(error.text, expected, "got      %s\nexpected %s", error.text, expected);
    cr_assert_eq(error.kind, kind);
}

/* FNV-1a of "//% local x = 1\nmine $(x)\n" by hand of another program: 62dffebd. */
#define MINE      "//% local x = 1\nmine $(x)\n"
#define MINE_HASH "62dffebd"

Test(user_modifier, its_text_is_included_and_its_hash_names_the_instance) {
    struct instance instance;
    struct error error;
    struct text json = {0};
    struct fmha_key key;
    char line[256];
    write_modifier(MINE, strlen(MINE));
    cr_assert(emit(KERNEL INCLUDES, path, &instance, &error), "%s", error.text);
    cr_assert_str_eq(instance.name, "fmha_forward_gfx900_f16_d64_wave64_m128k64w4_qlds_u" MINE_HASH);
    cr_assert(strstr(instance.text.bytes, "#endif\n\nmine 1\n"), "%s", instance.text.bytes);
    snprintf(line, sizeof line, " --gqa 1 --modifier mine.hip\n");
    cr_assert(strstr(instance.text.bytes, line), "%s", instance.text.bytes);
    cr_assert_not(strstr(instance.text.bytes, folder), "the text tells of no machine");
    cr_assert(spec_key(&instance.spec, &key, &error), "%s", error.text);
    cr_assert_eq(key.modifier, 0x62dffebd);
    cr_assert(interface_json(&instance, NULL, &json, &error), "%s", error.text);
    cr_assert(strstr(json.bytes, "\"modifier\":\t\"" MINE_HASH "\""), "%s", json.bytes);
    text_free(&json);
    instance_free(&instance);
}

/* Another text makes another hash, the same text by another path does not. */
Test(user_modifier, its_text_counts_and_not_its_path) {
    struct instance instance, other;
    struct error error;
    write_modifier("1\n", 2);
    cr_assert(emit(KERNEL INCLUDES, path, &instance, &error), "%s", error.text);
    write_modifier("2\n", 2);
    cr_assert(emit(KERNEL INCLUDES, path, &other, &error), "%s", error.text);
    cr_assert_str_neq(instance.name, other.name);
    instance_free(&other);
    write_modifier("1\n", 2);
    cr_assert_eq(chdir(folder), 0);
    cr_assert(emit(KERNEL INCLUDES, "./mine.hip", &other, &error), "%s", error.text);
    cr_assert_str_eq(instance.name, other.name);
    cr_assert(strstr(other.text.bytes, " --modifier ./mine.hip\n"), "%s", other.text.bytes);
    instance_free(&instance);
    instance_free(&other);
}

Test(user_modifier, without_one_nothing_speaks_of_it) {
    struct instance instance;
    struct error error;
    struct text json = {0};
    cr_assert(emit(KERNEL INCLUDES, NULL, &instance, &error), "%s", error.text);
    cr_assert_str_eq(instance.name, "fmha_forward_gfx900_f16_d64_wave64_m128k64w4_qlds");
    cr_assert_not(strstr(instance.text.bytes, "modifier"));
    cr_assert(interface_json(&instance, NULL, &json, &error), "%s", error.text);
    cr_assert_not(strstr(json.bytes, "modifier"));
    text_free(&json);
    instance_free(&instance);
}

Test(user_modifier, its_errors_name_its_line) {
    struct instance instance;
    struct error error;
    write_modifier("one\n$(two)\n", 11);
    cr_assert_not(emit(KERNEL INCLUDES, path, &instance, &error));
    static const char expected[] = "templates/modifiers/user.hip:2: undefined name 'two'\n$(two)\n";
    cr_assert_eq(strncmp(error.text, expected, strlen(expected)), 0, "%s", error.text);
}

Test(user_modifier, what_is_refused) {
    static char large[(1 << 20) + 1];
    char long_path[300];
    expect_refused("", ERROR_USAGE, "--modifier: expected the path of a file, of 1 to 255 characters, got ''%s", "");
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    expect_refused(long_path, ERROR_USAGE,
                   "--modifier: expected the path of a file, of 1 to 255 characters, got "
                   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'%s",
                   "");
    expect_refused(path, ERROR_USAGE, "--modifier: %s: expected a readable file, got: No such file or directory", path);
    write_modifier("", 0);
    expect_refused(path, ERROR_USAGE,
                   "--modifier: expected a template of 1 to 1048576 bytes of text, got '%s', which has 0", path);
    write_modifier("a\0b", 3);
    expect_refused(path, ERROR_USAGE,
                   "--modifier: expected a template of 1 to 1048576 bytes of text, got '%s', which has 3 and a NUL "
                   "among them",
                   path);
    memset(large, 'x', sizeof large);
    write_modifier(large, sizeof large);
    expect_refused(path, ERROR_USAGE,
                   "--modifier: expected a template of 1 to 1048576 bytes of text, got '%s', which has 1048577", path);
}

Test(user_modifier, of_an_operation_without_modifiers) {
    const char *pairs[][2] = {{"arch/gfx900.lua", CHIP_LARGE}, {"ops/pack.hip", KERNEL}};
    struct template_engine *engine = chips_engine(pairs, 2);
    const struct spec_choices choices = {.arch = "gfx900", .field[SPEC_OP] = "pack", .modifier = path};
    struct spec *specs;
    size_t count;
    struct error error;
    write_modifier("1\n", 2);
    cr_assert_not(spec_product(&choices, engine, &specs, &count, &error));
    cr_assert_str_eq(error.text, "--modifier: expected an operation that has modifiers, got --op pack; leave it out");
    cr_assert_eq(error.kind, ERROR_USAGE);
    template_engine_free(engine);
}

/* A template that does not look at it would make a kernel without it. */
Test(user_modifier, of_a_template_that_includes_none) {
    struct instance instance;
    struct error error;
    write_modifier("1\n", 2);
    cr_assert_not(emit(KERNEL, path, &instance, &error));
    cr_assert_str_eq(error.text, "templates/ops/forward.hip: expected it to include modifiers/user.hip when "
                                 "spec.modifier is true, which --modifier asks for; it did not");
}
