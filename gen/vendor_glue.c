#include "vendor_glue.h"

#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "shape_key.h"
#include "vendor_files.h"

static const struct template_file *find_file(const char *name) {
    for (size_t i = 0; i < vendor_file_count; i++)
        if (strncmp(vendor_files[i].path, "text/", 5) == 0 && strcmp(vendor_files[i].path + 5, name) == 0)
            return &vendor_files[i];
    return NULL;
}

/* ---- Sources of the runtime ----------------------------------------------------------------------------------------
 */

/* Adds the name of each source of the runtime. */
static void add_sources(struct text *out, const char *before, const char *after, const char *last) {
    size_t left = 0;
    for (int pass = 0; pass < 2; pass++) /* the first counts */
        for (size_t i = 0; i < vendor_file_count; i++) {
            const char *path = vendor_files[i].path;
            size_t length = strlen(path);
            if (strncmp(path, "src/", 4) != 0 || strcmp(path + length - 2, ".c") != 0)
                continue;
            if (pass == 0)
                left++;
            else
                text_printf(out, "%s%s%s", before, path + 4, --left ? after : last);
        }
}

static void sources_cmake(const struct glue *glue, struct text *out) {
    (void)glue;
    add_sources(out, "  src/", "\n", "");
}

static void sources_meson(const struct glue *glue, struct text *out) {
    (void)glue;
    add_sources(out, "  'src/", "',\n", "',\n");
}

static void sources_make(const struct glue *glue, struct text *out) {
    (void)glue;
    add_sources(out, "    ", " \\\n", "");
}

/* ---- Kernels that the same flags compile ---------------------------------------------------------------------------
 */

/* The first kernel that is compiled as kernels[index] is. */
static size_t group_of(const struct glue *glue, size_t index) {
    const struct spec *spec = &glue->kernels[index].instance->spec;
    size_t first = 0;
    while (strcmp(glue->kernels[first].instance->spec.arch, spec->arch) != 0 ||
           glue->kernels[first].instance->spec.value[SPEC_WAVE] != spec->value[SPEC_WAVE])
        first++;
    return first;
}

static void add_flags(const struct instance *instance, const char *before, const char *after, struct text *out) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int count = fmha_compiler_flags(NULL, instance->spec.arch, (int)instance->spec.value[SPEC_WAVE], storage, flags);
    if (count < 0)
        out->failed = true; /* no spec has a target that is none */
    for (int i = 0; i < count; i++)
        text_printf(out, "%s%s%s", before, flags[i], i + 1 < count ? after : "");
}

/* How one build system writes a group: `begin` with its number, flags, `middle` with its number, kernels, `end`. */
struct group_form {
    const char *begin, *flag_before, *flag_after, *middle, *kernel_before, *kernel_after, *end;
};

static void add_numbered(struct text *out, const char *words, int number) {
    for (; *words; words++)
        if (*words == '#')
            text_printf(out, "%d", number);
        else
            text_add(out, words, 1);
}

static int add_groups(const struct glue *glue, const struct group_form *form, struct text *out) {
    int number = 0;
    for (size_t i = 0; i < glue->count; i++) {
        if (group_of(glue, i) != i)
            continue;
        number++;
        add_numbered(out, form->begin, number);
        add_flags(glue->kernels[i].instance, form->flag_before, form->flag_after, out);
        add_numbered(out, form->middle, number);
        for (size_t j = i; j < glue->count; j++)
            if (group_of(glue, j) == i)
                text_printf(out, "%s%s%s", form->kernel_before, glue->kernels[j].instance->name, form->kernel_after);
        add_numbered(out, form->end, number);
    }
    return number;
}

static void groups_cmake(const struct glue *glue, struct text *out) {
    static const struct group_form form = {.begin = "set(fmha_flags_# ",
                                           .flag_before = "",
                                           .flag_after = " ",
                                           .middle = ")\nset(fmha_kernels_#",
                                           .kernel_before = "\n  ",
                                           .kernel_after = "",
                                           .end = ")\n"};
    text_printf(out, "set(fmha_groups %d)\n", add_groups(glue, &form, out));
}

static void groups_meson(const struct glue *glue, struct text *out) {
    static const struct group_form form = {.begin = "  {\n    'flags': [",
                                           .flag_before = "'",
                                           .flag_after = "', ",
                                           .middle = "'],\n    'kernels': [\n",
                                           .kernel_before = "      '",
                                           .kernel_after = "',\n",
                                           .end = "    ],\n  },\n"};
    add_groups(glue, &form, out);
}

static void groups_make(const struct glue *glue, struct text *out) {
    static const struct group_form form = {
        .begin = "fmha_flags_# := ",
        .flag_before = "",
        .flag_after = " ",
        .middle = "\nfmha_kernels_# :=",
        .kernel_before = " \\\n    ",
        .kernel_after = "",
        .end =
            "\n"
            "$(fmha_kernels_#:%=$(FMHA_BUILD)/%.ahead.hsaco): $(FMHA_BUILD)/%.ahead.hsaco: $(FMHA_DIR)/kernels/%.hip "
            "$(FMHA_BUILD)/compiler\n"
            "\t\"$(FMHA_HIPCC)\" $(fmha_flags_#) $< -o $@ || { rm -f $@; exit 1; }\n"};
    int count = add_groups(glue, &form, out);
    text_puts(out, "fmha_kernels :=");
    for (int i = 1; i <= count; i++)
        text_printf(out, " $(fmha_kernels_%d)", i);
    text_puts(out, "\n");
}

/* ---- Embedded files ------------------------------------------------------------------------------------------------
 */

static void kernels_c(const struct glue *glue, struct text *out) {
    for (size_t i = 0; i < glue->count; i++)
        text_printf(out, "    DO(%s)%s\n", glue->kernels[i].instance->name, i + 1 < glue->count ? " \\" : "");
}

static void kernels_text(const struct glue *glue, struct text *out) {
    for (size_t i = 0; i < glue->count; i++)
        text_printf(out, "    TEXT(%s) /* %s */\n", glue->kernels[i].instance->name, glue->kernels[i].sha256);
}

static void kernels_object(const struct glue *glue, struct text *out) {
    for (size_t i = 0; i < glue->count; i++)
        text_printf(out, "    OBJECT(%s)\n", glue->kernels[i].instance->name);
}

/* ---- README --------------------------------------------------------------------------------------------------------
 */

/* Whether a fact has a column of its own. The others, of which most problems have none, share one. */
static bool has_column(int id) {
    return !spec_fields[id].knob && spec_key_field((enum spec_field_id)id) < FMHA_KEY_FIELDS_FIRST;
}

/* Appends the modifiers and layouts of a problem as they stand in its name: "window softcap packed". */
static void add_modifiers(const struct spec *spec, struct text *out) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (!field->knob && !has_column(id) && spec->value[id] != SPEC_UNSET && spec->value[id] != field->neutral)
            text_printf(out, " %s", field->shorts[spec->value[id]]);
    }
    if (spec->modifier_hash)
        text_printf(out, " u%08x", (unsigned)spec->modifier_hash);
}

static void add_problem(const struct spec *spec, bool modified, struct text *out) {
    text_printf(out, "| %s |", spec->arch);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (!has_column(id))
            continue;
        if (spec->value[id] == SPEC_UNSET)
            text_puts(out, " |");
        else if (field->words)
            text_printf(out, " %s |", field->words[spec->value[id]]);
        else
            text_printf(out, " %d |", (int)spec->value[id]);
    }
    if (modified) {
        add_modifiers(spec, out);
        text_puts(out, " |");
    }
    text_puts(out, "\n");
}

static bool same_problem(const struct spec *a, const struct spec *b) {
    bool same = strcmp(a->arch, b->arch) == 0 && a->modifier_hash == b->modifier_hash;
    for (int id = 0; same && id < SPEC_FIELD_COUNT; id++)
        same = spec_fields[id].knob || a->value[id] == b->value[id];
    return same;
}

static void problems(const struct glue *glue, struct text *out) {
    struct text rule = {0}, modifiers = {0};
    for (size_t i = 0; i < glue->count; i++)
        add_modifiers(&glue->kernels[i].instance->spec, &modifiers);
    bool modified = modifiers.length > 0;
    text_puts(out, "| chip |");
    text_puts(&rule, "|---|");
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (has_column(id)) {
            text_printf(out, " %s |", spec_fields[id].name);
            text_puts(&rule, "---|");
        }
    text_printf(out, "%s\n%s%s\n", modified ? " modifiers |" : "", rule.bytes ? rule.bytes : "",
                modified ? "---|" : "");
    out->failed = out->failed || rule.failed || modifiers.failed;
    text_free(&rule);
    text_free(&modifiers);
    for (size_t i = 0; i < glue->count; i++) {
        const struct spec *spec = &glue->kernels[i].instance->spec;
        bool told = false;
        for (size_t j = 0; j < i && !told; j++)
            told = same_problem(spec, &glue->kernels[j].instance->spec);
        if (!told)
            add_problem(spec, modified, out);
    }
}

/* ---- Filling in ----------------------------------------------------------------------------------------------------
 */

static void version(const struct glue *glue, struct text *out) {
    (void)glue;
    text_puts(out, FMHA_VERSION);
}

static void command(const struct glue *glue, struct text *out) {
    text_puts(out, glue->command);
}

static void index_sha256(const struct glue *glue, struct text *out) {
    text_puts(out, glue->index_sha256);
}

static const struct {
    const char *name;
    void (*add)(const struct glue *glue, struct text *out);
} places[] = {
    {"version", version},
    {"command", command},
    {"sources_cmake", sources_cmake},
    {"sources_meson", sources_meson},
    {"sources_make", sources_make},
    {"groups_cmake", groups_cmake},
    {"groups_meson", groups_meson},
    {"groups_make", groups_make},
    {"kernels_c", kernels_c},
    {"kernels_text", kernels_text},
    {"kernels_object", kernels_object},
    {"index_sha256", index_sha256},
    {"problems", problems},
};

bool glue_add(const struct glue *glue, const char *name, struct text *out, struct error *error) {
    const struct template_file *file = find_file(name);
    if (!file)
        return error_set(error, ERROR_RUN, "gen/vendor/%s: expected it among the embedded files, got none", name);
    const char *rest = file->bytes;
    for (const char *found; (found = strstr(rest, "%{"));) {
        text_add(out, rest, (size_t)(found - rest));
        size_t length = strcspn(found + 2, "}"), i = 0;
        while (i < sizeof places / sizeof *places &&
               (strlen(places[i].name) != length || strncmp(places[i].name, found + 2, length) != 0))
            i++;
        if (i == sizeof places / sizeof *places)
            return error_set(error, ERROR_RUN, "gen/vendor/%s: expected a place that is known, got '%.*s}'", name,
                             (int)length + 2, found);
        places[i].add(glue, out);
        rest = found + length + 3;
    }
    text_puts(out, rest);
    return !out->failed || error_set(error, ERROR_RUN, "%s: out of memory", name);
}
