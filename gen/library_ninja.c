#include "library_ninja.h"

#include <string.h>

#include "index.h"

/* "name = value", in which ninja must not see variables. */
static void add_variable(struct text *out, const char *indent, const char *name, const char *value) {
    text_printf(out, "%s%s =%s", indent, name, *value ? " " : "");
    for (; *value; value++)
        text_printf(out, *value == '$' ? "$$%.0s" : "%.1s", value);
    text_puts(out, "\n");
}

static void add_word(struct text *out, const char *name, const char *word) {
    struct text quoted = {0};
    text_quote(&quoted, word);
    add_variable(out, "", name, quoted.failed ? "" : quoted.bytes);
    out->failed = out->failed || quoted.failed;
    text_free(&quoted);
}

static const char *compiler_of(const struct library_entry *entry) {
    return entry->compiler ? entry->compiler->path : "clang++";
}

static void add_edge(const struct library_entry *entry, const char *usual, struct text *out) {
    const struct spec *spec = &entry->instance->spec;
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int count = fmha_compiler_flags(entry->compiler, spec->arch, (int)spec->value[SPEC_WAVE], storage, flags);
    text_printf(out, "build %s/%s%s: compile %s/%s%s\n", entry->processor, entry->instance->name, LIBRARY_SUFFIX_OBJECT,
                entry->processor, entry->instance->name, LIBRARY_SUFFIX_SOURCE);
    text_puts(out, "  flags =");
    for (int i = 0; i < count; i++)
        text_printf(out, " %s", flags[i]);
    text_puts(out, "\n");
    if (strcmp(compiler_of(entry), usual) != 0) {
        struct text quoted = {0};
        text_quote(&quoted, compiler_of(entry));
        add_variable(out, "  ", "cxx", quoted.failed ? "" : quoted.bytes);
        out->failed = out->failed || quoted.failed;
        text_free(&quoted);
    }
}

bool library_ninja_text(const struct library *library, const struct library_ninja *ninja, struct text *out,
                        struct error *error) {
    const char *usual = library->count ? compiler_of(&library->entries[0]) : "clang++";
    bool one = true; /* compiler for all of them */
    for (size_t i = 0; i < library->count; i++)
        one = one && strcmp(compiler_of(&library->entries[i]), usual) == 0;
    text_printf(out,
                LIBRARY_NINJA_MARK "%s. DO NOT EDIT: 'fmhagen library' makes it anew, and its --launcher sets the "
                                   "variable of that name.\n\n"
                                   "ninja_required_version = 1.5\n",
                FMHA_VERSION);
    add_variable(out, "", "launcher", ninja->launcher);
    add_word(out, "cxx", usual);
    add_word(out, "fmhagen", ninja->fmhagen);
    add_variable(out, "", "members", ninja->arguments);
    /* -c changes no byte of the result; without it ccache and distcc take the call for one that links. */
    text_printf(out,
                "\nrule compile\n"
                "  command = $launcher $cxx $flags -c $in -o $out\n"
                "  description = compile $out\n"
                "\nrule index\n"
                "  command = %s$fmhagen library . --index-only $members\n"
                "  description = check the code objects and write $out\n"
                "  restat = 1\n\n",
                one ? "FMHA_HIPCC=$cxx " : "");
    for (size_t i = 0; i < library->count; i++)
        add_edge(&library->entries[i], usual, out);
    text_puts(out, "\nbuild");
    for (size_t i = 0; i < library->count; i++)
        if (i == 0 || strcmp(library->entries[i].processor, library->entries[i - 1].processor) != 0)
            text_printf(out, " %s/%s", library->entries[i].processor, FMHA_INDEX_FILE);
    text_puts(out, ": index");
    for (size_t i = 0; i < library->count; i++)
        text_printf(out, " $\n    %s/%s%s", library->entries[i].processor, library->entries[i].instance->name,
                    LIBRARY_SUFFIX_OBJECT);
    text_puts(out, "\n");
    return !out->failed || error_set(error, ERROR_RUN, "%s: out of memory", LIBRARY_NINJA_FILE);
}
