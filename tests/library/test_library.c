#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "library_folder.h"
#include "library_members.h"
#include "library_ninja.h"
#include "template.h"
#include "text.h"

static struct template_engine *new_engine(void) {
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert(engine, "%s", error.text);
    return engine;
}

/* ---- Members ---- */

static int compare(const void *a, const void *b) {
    return strcmp(a, b);
}

/* How many members the choices give; all of them must have names of their own. */
static size_t count_members(const char *preset, const struct spec_choices *choices) {
    struct template_engine *engine = new_engine();
    struct error error;
    struct spec *specs;
    size_t count;
    cr_assert(library_members(preset ? library_preset_find(preset) : NULL, choices, engine, &specs, &count, &error),
              "%s", error.text);
    char(*names)[SPEC_NAME_MAX] = calloc(count, sizeof *names);
    cr_assert(names);
    for (size_t i = 0; i < count; i++)
        spec_name(&specs[i], names[i]);
    qsort(names, count, sizeof *names, compare);
    for (size_t i = 1; i < count; i++)
        cr_assert_str_neq(names[i - 1], names[i]);
    free(names);
    free(specs);
    template_engine_free(engine);
    return count;
}

Test(library, presets_have_as_many_members_as_is_documented) {
    static const struct {
        const char *preset;
        size_t count;
    } rows[LIBRARY_PRESET_COUNT] = {{"minimal", 8}, {"llm-inference", 310}, {"all", 772}};
    for (int i = 0; i < LIBRARY_PRESET_COUNT; i++) {
        cr_assert_eq(count_members(rows[i].preset, &(struct spec_choices){.arch = "gfx1151"}), rows[i].count, "%s",
                     rows[i].preset);
        cr_assert_eq(count_members(rows[i].preset, &(struct spec_choices){.arch = "gfx1100,gfx1151"}),
                     2 * rows[i].count, "%s", rows[i].preset);
    }
    cr_assert_null(library_preset_find("llm"));
}

Test(library, options_beside_a_preset_keep_some_of_its_members) {
    struct spec_choices choices = {.arch = "gfx1151"};
    choices.field[SPEC_HEAD_DIM] = "192";
    cr_assert_eq(count_members("llm-inference", &choices),
                 48 + 54); /* with V of 192 and of 128; and the other operations */
    choices.field[SPEC_HEAD_DIM_V] = "128";
    cr_assert_eq(count_members("llm-inference", &choices), 24 + 54);
    choices.field[SPEC_DTYPE] = "bf16";
    cr_assert_eq(count_members("llm-inference", &choices), 12 + 54);
    choices.field[SPEC_WAVE] = "64,32"; /* the preset leaves it open */
    cr_assert_eq(count_members("llm-inference", &choices), 24 + 54);
    choices.field[SPEC_ALIGN] = "2";
    choices.field[SPEC_BLOCK_M] = "64"; /* which those others do not have */
    cr_assert_eq(count_members("llm-inference", &choices), 8 + 54);
    struct spec_choices serving = {.arch = "gfx1151"};
    serving.field[SPEC_VARLEN] = "packed";
    cr_assert_eq(count_members("llm-inference", &serving), 40 + 54);
    serving.field[SPEC_PAGED] = "on";
    serving.field[SPEC_WINDOW] = "none";
    serving.field[SPEC_SOFTCAP] = "on,off"; /* the preset leaves it open */
    cr_assert_eq(count_members("llm-inference", &serving), 24 + 54);
    struct spec_choices both = {.arch = "gfx1151"};
    both.field[SPEC_HEAD_DIM] = "128,64";
    cr_assert_eq(count_members("minimal", &both), 4 + 4);
}

/* Which are meant, --op says; without it forward alone. */
Test(library, operations_beside_a_preset) {
    struct spec_choices choices = {.arch = "gfx1151"};
    choices.field[SPEC_OP] = "forward";
    choices.field[SPEC_BLOCK_M] = "64,128";
    cr_assert_eq(count_members("minimal", &choices), 8);
    choices.field[SPEC_BLOCK_M] = NULL;
    choices.field[SPEC_OP] = "pack";
    cr_assert_eq(count_members("minimal", &choices), 4);
    choices.field[SPEC_WAVE] = "32,64";
    cr_assert_eq(count_members("minimal", &choices), 8);
    choices.field[SPEC_ALIGN] = "2";
    cr_assert_eq(count_members("minimal", &choices), 4);
    choices.field[SPEC_OP] = "pack,forward";
    choices.field[SPEC_ALIGN] = "16";
    cr_assert_eq(count_members("minimal", &choices), 12);
}

/* ---- Ranks ---- */

static int32_t rank_of(const char *const field[SPEC_FIELD_COUNT], const char *set) {
    struct template_engine *engine = new_engine();
    struct error error;
    struct spec spec;
    int32_t rank = 0;
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, "gfx1151", &error));
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        cr_assert(!field[id] || spec_set(&spec, (enum spec_field_id)id, field[id], &error));
    cr_assert(!set || spec_add_set(&spec, set, &error));
    cr_assert(spec_resolve(&spec, engine, &error), "%s", error.text);
    cr_assert(library_rank(&spec, engine, &rank, &error), "%s", error.text);
    template_engine_free(engine);
    return rank;
}

Test(library, fused_heads_come_first_then_the_defaults_then_candidates) {
    const char *field[SPEC_FIELD_COUNT] = {[SPEC_HEAD_DIM] = "128"};
    cr_assert_eq(rank_of(field, NULL), -1);
    field[SPEC_GQA] = "4";
    cr_assert_eq(rank_of(field, NULL), -4);
    field[SPEC_BLOCK_K] = "32"; /* the default, spelled out */
    cr_assert_eq(rank_of(field, NULL), -4);
    cr_assert_eq(rank_of(field, "PAD=16"), LIBRARY_RANK_CANDIDATE);
    field[SPEC_BLOCK_K] = "16";
    cr_assert_eq(rank_of(field, NULL), LIBRARY_RANK_CANDIDATE);
    field[SPEC_BLOCK_K] = NULL;
    field[SPEC_WAVE] = "64";
    cr_assert_eq(rank_of(field, NULL), LIBRARY_RANK_CANDIDATE);
}

/* ---- Whose files ---- */

static void put(const char *folder, const char *name, const char *text) {
    char path[300];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(file_write(path, text, strlen(text), &error), "%s", error.text);
}

static bool want_one(const void *context, const char *processor, const char *name) {
    (void)context;
    return strcmp(processor, "gfx1151") == 0 && (!*name || strcmp(name, "fmha_wanted") == 0);
}

static bool collect(void *sink, const char *path, struct error *error) {
    (void)error;
    text_printf(sink, "%s\n", strstr(path, "gfx"));
    return true;
}

#define INTERFACE(name) "{\"fmha\": 1, \"symbol\": \"" name "\", \"source_hash\": \"0\"}"
#define SOURCE(name)    "/* " name "\n *\n * Made by fmhagen 0.1.0. DO NOT EDIT"

Test(library, leftovers_are_what_fmhagen_made_and_nobody_wants) {
    char folder[] = "/tmp/fmhagen-library-XXXXXX", chip[64], other[64];
    cr_assert(mkdtemp(folder));
    snprintf(chip, sizeof chip, "%s/gfx1151", folder);
    snprintf(other, sizeof other, "%s/gfx1100", folder);
    cr_assert_eq(mkdir(chip, 0777) + mkdir(other, 0777), 0);
    put(chip, "fmha.index", "fmha-index 1\n");
    put(chip, "fmha_wanted.json", INTERFACE("fmha_wanted"));
    put(chip, "fmha_wanted.hip", SOURCE("fmha_wanted"));
    put(chip, "fmha_old.json", INTERFACE("fmha_old"));
    put(chip, "fmha_old.hip", SOURCE("fmha_old"));
    put(chip, "fmha_old.hsaco", "");
    put(chip, "fmha_torn.hsaco.12.3.tmp", "");
    put(chip, "fmha.index.4711.0.tmp", "");
    /* Not fmhagen's: of another name than they stand for, of another maker, of no known kind. */
    put(chip, "fmha_copy.json", INTERFACE("fmha_old"));
    put(chip, "fmha_copy.hip", SOURCE("fmha_old"));
    put(chip, "fmha_copy.hsaco", "");
    put(chip, "fmha_mine.hip", "/* fmha_mine */");
    put(chip, "fmha_old.txt", "");
    put(chip, "fmha_old.hip.tmp", "");
    put(chip, "fmha_old.hip.1.tmp", "");
    put(chip, "fmha_old.hip..1.tmp", "");
    put(chip, "old.json", INTERFACE("old"));
    put(other, "fmha.index", "fmha-index 1\n");
    put(other, "fmha_wanted.hip", SOURCE("fmha_wanted"));
    struct text found = {0};
    struct error error;
    cr_assert(library_leftovers(folder, want_one, NULL, collect, &found, &error), "%s", error.text);
    cr_assert_str_eq(found.bytes, "gfx1100/fmha.index\n"
                                  "gfx1100/fmha_wanted.hip\n"
                                  "gfx1151/fmha.index.4711.0.tmp\n"
                                  "gfx1151/fmha_old.hip\n"
                                  "gfx1151/fmha_old.hsaco\n"
                                  "gfx1151/fmha_old.json\n"
                                  "gfx1151/fmha_torn.hsaco.12.3.tmp\n");
    text_free(&found);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(library, a_folder_that_is_missing_has_no_leftovers) {
    struct text found = {0};
    struct error error;
    cr_assert(library_leftovers("/nowhere/at/all", want_one, NULL, collect, &found, &error));
    cr_assert_eq(found.length, 0);
}

/* ---- build.ninja ---- */

Test(library, words_are_quoted_for_a_shell_where_they_must_be) {
    static const char *const pairs[][2] = {
        {"/usr/bin/clang++-22", "/usr/bin/clang++-22"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$x", "'$x'"},
        {"a;b", "'a;b'"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct text out = {0};
        text_quote(&out, pairs[i][0]);
        cr_assert_str_eq(out.bytes, pairs[i][1]);
        text_free(&out);
    }
}

Test(library, ninja_takes_a_dollar_in_a_path_for_itself) {
    struct library library = {.folder = "lib"};
    const struct library_ninja ninja = {
        .launcher = "env A=$B ccache", .fmhagen = "/a $b/fmhagen", .arguments = "--hd=64"};
    struct text out = {0};
    struct error error;
    cr_assert(library_ninja_text(&library, &ninja, &out, &error));
    cr_assert(strstr(out.bytes, "\nlauncher = env A=$$B ccache\n"));
    cr_assert(strstr(out.bytes, "\nfmhagen = '/a $$b/fmhagen'\n"));
    cr_assert(strncmp(out.bytes, LIBRARY_NINJA_MARK, strlen(LIBRARY_NINJA_MARK)) == 0);
    text_free(&out);
}
