/* `fmhagen vendor`: a folder that another project checks in and builds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "folder_lock.h"
#include "kernels.h"
#include "library_members.h"
#include "output.h"
#include "vendor.h"

#define LOCKED "vendored folder" /* as an error calls it when another process is at work on it */

struct vendor_options {
    const char *preset;
    bool check, force;
};

/* ---- Options that make a folder anew -------------------------------------------------------------------------------
 */

struct words {
    char *item[VENDOR_WORDS_MAX];
    size_t count;
};

static void free_words(struct words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->item[i]);
}

static bool add_word(struct words *words, const char *word, struct error *error) {
    if (words->count == VENDOR_WORDS_MAX)
        return error_set(error, ERROR_USAGE, "vendor: expected at most %d words of options, got more",
                         VENDOR_WORDS_MAX);
    char *copy = strdup(word);
    if (!copy)
        return error_set(error, ERROR_RUN, "vendor: out of memory");
    words->item[words->count++] = copy;
    return true;
}

/* Adds "--name value", or what reads the same where that would not. */
static bool add_option(struct words *words, const char *name, const char *value, bool may_stand_bare,
                       struct error *error) {
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            return error_set(error, ERROR_USAGE, "--%s: expected a value that can be printed, got a control character",
                             name);
    struct text option = {0};
    bool joined = may_stand_bare || *value == '-';
    text_printf(&option, "--%s%s%s", name, joined && *value ? "=" : "", joined ? value : "");
    bool done = option.failed ? error_set(error, ERROR_RUN, "vendor: out of memory")
                              : add_word(words, option.bytes, error) && (joined || add_word(words, value, error));
    text_free(&option);
    return done;
}

/* The options that choose kernels as they were given, in the order of the spec. */
static bool collect_words(const struct arguments *arguments, struct words *words, struct error *error) {
    const struct vendor_options *own = arguments->own;
    const struct kernel_options *kernel = &arguments->kernel;
    bool done = !kernel->arch || add_option(words, "arch", kernel->arch, false, error);
    done = done && (!own->preset || add_option(words, "preset", own->preset, false, error));
    for (int id = 0; done && id < SPEC_FIELD_COUNT; id++)
        if (kernel->field[id])
            done = add_option(words, spec_fields[id].option, kernel->field[id], spec_fields[id].bare != NULL, error);
    for (int i = 0; done && i < kernel->set.count; i++)
        done = add_option(words, "set", kernel->set.item[i], false, error);
    return done;
}

static bool open_kernels(const struct arguments *arguments, struct kernels *kernels, struct error *error) {
    const struct vendor_options *own = arguments->own;
    const struct kernel_options *typed = &arguments->kernel;
    struct spec_choices choices = {.arch = typed->arch, .set = typed->set.item, .set_count = typed->set.count};
    memcpy(choices.field, typed->field, sizeof choices.field);
    kernels->engine = template_engine_new(NULL, error);
    return kernels->engine && library_members(own->preset ? library_preset_find(own->preset) : NULL, &choices,
                                              kernels->engine, &kernels->specs, &kernels->count, error);
}

/* Makes the files that the options ask for. */
static bool make_tree(const struct arguments *arguments, struct vendor_tree *tree, struct error *error) {
    struct words words = {0};
    struct kernels kernels = {0};
    *tree = (struct vendor_tree){0};
    bool done = collect_words(arguments, &words, error) && open_kernels(arguments, &kernels, error) &&
                kernels_emit(&kernels, error);
    struct vendor_kernel *members = done ? calloc(kernels.count, sizeof *members) : NULL;
    if (done && !members)
        done = error_set(error, ERROR_RUN, "vendor: out of memory");
    for (size_t i = 0; done && i < kernels.count; i++) {
        members[i].instance = &kernels.instances[i];
        done = library_rank(&kernels.specs[i], kernels.engine, &members[i].rank, error);
    }
    done = done && vendor_make(members, kernels.count, words.item, words.count, tree, error);
    free(members);
    kernels_free(&kernels);
    free_words(&words);
    return done;
}

/* The same for the command in a manifest, of which nothing but options of a kernel is obeyed. */
static bool remake_tree(const char *folder, const struct manifest *manifest, struct vendor_tree *tree,
                        struct error *error) {
    struct arguments arguments;
    *tree = (struct vendor_tree){0};
    bool done = arguments_parse(&command_vendor, (int)manifest->word_count, manifest->words, &arguments, error);
    const struct vendor_options *own = done ? arguments.own : NULL;
    if (done && (arguments.operand_count || arguments.help || arguments.version || own->check || own->force ||
                 arguments.kernel.template_dir || arguments.kernel.modifier))
        done = error_set(error, ERROR_RUN, "expected nothing but options of a kernel and a preset");
    done = done && make_tree(&arguments, tree, error);
    arguments_free(&arguments);
    if (!done) {
        struct error copy = *error;
        error_set(error, ERROR_RUN, "%s/%s: its command cannot be run by fmhagen %s: %s", folder, VENDOR_MANIFEST,
                  FMHA_VERSION, copy.text);
    }
    return done;
}

static bool chooses_kernels(const struct arguments *arguments) {
    const struct kernel_options *kernel = &arguments->kernel;
    bool any = ((const struct vendor_options *)arguments->own)->preset || kernel->arch || kernel->set.count;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        any = any || kernel->field[id];
    return any;
}

/* ---- --check -------------------------------------------------------------------------------------------------------
 */

struct account {
    struct text out;
    size_t files[VENDOR_STATE_COUNT], outdated;
};

static void tell_state(void *context, const char *name, enum vendor_state state) {
    struct account *account = context;
    account->files[state]++;
    text_printf(&account->out, "%-14s%s\n", vendor_state_names[state], name);
}

static void tell_outdated(void *context, const char *name, const char *verb) {
    struct account *account = context;
    account->outdated++;
    text_printf(&account->out, "would %-8s%s\n", verb, name);
}

static int check(const char *folder) {
    struct account account = {0};
    struct manifest manifest;
    struct vendor_tree tree = {0};
    struct error error;
    bool found = false;
    if (!vendor_manifest_read(folder, &manifest, &found, &error)) {
        manifest_free(&manifest);
        return cli_fail(&error);
    }
    if (!found) {
        error_set(&error, ERROR_USAGE,
                  "%s: expected a folder that 'fmhagen vendor' made, got one without %s; make it with 'fmhagen vendor "
                  "%s --arch ...'",
                  folder, VENDOR_MANIFEST, folder);
        return cli_fail(&error);
    }
    bool done = vendor_compare(folder, &manifest, tell_state, &account, &error);
    bool remade = done && remake_tree(folder, &manifest, &tree, &error);
    done = done && (!remade || vendor_outdated(folder, &tree, &manifest, tell_outdated, &account, &error));
    bool unmodified =
        !account.files[VENDOR_MODIFIED] && !account.files[VENDOR_MISSING] && !account.files[VENDOR_FOREIGN];
    if (done) {
        for (int state = 0; state < VENDOR_STATE_COUNT; state++)
            if (account.files[state] || state == VENDOR_UNMODIFIED)
                text_printf(&account.out, "%s%zu %s", state ? ", " : "", account.files[state],
                            vendor_state_names[state]);
        text_puts(&account.out, remade && !account.outdated ? "; current\n" : "; not current\n");
    }
    struct error print_error;
    int status = !done || !remade ? cli_fail(&error) : unmodified && !account.outdated ? 0 : ERROR_RUN;
    if (done && !cli_print(&account.out, &print_error))
        status = cli_fail(&print_error);
    text_free(&account.out);
    vendor_tree_free(&tree);
    manifest_free(&manifest);
    return status;
}

/* ---- Writing -------------------------------------------------------------------------------------------------------
 */

/* Makes the folders above. */
static bool make_parents(const char *folder, struct error *error) {
    char *parent = strdup(folder);
    if (!parent)
        return error_set(error, ERROR_RUN, "%s: out of memory", folder);
    size_t length = strlen(parent);
    while (length > 1 && parent[length - 1] == '/')
        parent[--length] = '\0';
    char *slash = strrchr(parent, '/');
    bool done = true;
    if (slash && slash != parent) {
        *slash = '\0';
        done = output_folder_make(parent, error);
    }
    free(parent);
    return done;
}

/* Makes the folder, which was not there, and locks it. *made: nobody else made it meanwhile. */
static bool make_locked(const char *folder, bool *made, int *lock, struct error *error) {
    if (!make_parents(folder, error))
        return false;
    *made = mkdir(folder, 0777) == 0;
    if (!*made && errno != EEXIST)
        return error_set(error, ERROR_RUN, "%s: expected to make the folder, got: %s", folder, strerror(errno));
    return folder_lock(folder, LOCKED, lock, error);
}

/* Writes into a folder that is there, and locked, or that is still to be made. */
static bool update(const char *folder, bool there, const struct arguments *arguments, struct text *out,
                   struct error *error) {
    const struct vendor_options *own = arguments->own;
    struct manifest manifest;
    struct vendor_tree tree = {0};
    struct vendor_changes changes;
    bool found = false, made = false;
    int lock = -1;
    bool done = vendor_manifest_read(folder, &manifest, &found, error);
    if (!done && own->force) { /* whatever it is, it goes */
        manifest_free(&manifest);
        found = false;
        done = true;
    }
    if (done)
        done = found && !chooses_kernels(arguments) ? remake_tree(folder, &manifest, &tree, error)
                                                    : make_tree(arguments, &tree, error);
    /* What another made since is in the way, as the manifest that was read does not have it. */
    done = done && (there || make_locked(folder, &made, &lock, error)) &&
           vendor_write(folder, &tree, &manifest, own->force, &changes, error);
    if (done)
        text_printf(out, "%s: %zu files, %zu written, %zu removed\n", folder, tree.count, changes.written,
                    changes.removed);
    else if (made && lock >= 0) /* without the lock another is at work in it by now */
        rmdir(folder);
    if (lock >= 0)
        close(lock);
    vendor_tree_free(&tree);
    manifest_free(&manifest);
    return done;
}

static bool update_alone(const char *folder, const struct arguments *arguments, struct text *out, struct error *error) {
    struct stat status;
    bool there = stat(folder, &status) == 0;
    int lock = -1;
    if (there && !S_ISDIR(status.st_mode))
        return error_set(error, ERROR_RUN, "%s: expected a folder, got a file; choose another", folder);
    bool done = (!there || folder_lock(folder, LOCKED, &lock, error)) && update(folder, there, arguments, out, error);
    if (lock >= 0)
        close(lock);
    return done;
}

static int run(const struct arguments *arguments) {
    const struct vendor_options *own = arguments->own;
    const char *folder = arguments->operand_count == 1 ? arguments->operands[0] : NULL;
    struct error error;
    struct text text = {0};
    bool done = true;
    if (!folder || !*folder)
        done = error_set(&error, ERROR_USAGE,
                         "vendor: expected one folder, got %d; 'fmhagen vendor third_party/fmha --arch ...' makes one",
                         folder ? 0 : arguments->operand_count);
    else if (arguments->kernel.template_dir || arguments->kernel.modifier)
        done = error_set(&error, ERROR_USAGE,
                         "--%s: expected built-in templates, got a %s; what is vendored must be made anew by the "
                         "command in its %s alone",
                         arguments->kernel.template_dir ? "template-dir" : "modifier",
                         arguments->kernel.template_dir ? "folder" : "file", VENDOR_MANIFEST);
    else if (own->check && (own->force || chooses_kernels(arguments)))
        done = error_set(&error, ERROR_USAGE,
                         "--check: expected a folder alone, got other options beside it; it takes those in the "
                         "folder's %s",
                         VENDOR_MANIFEST);
    if (done && own->check)
        return check(folder);
    done = done && update_alone(folder, arguments, &text, &error) && cli_print(&text, &error);
    text_free(&text);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "preset",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct vendor_options, preset),
     .words = library_preset_words,
     .value = "NAME",
     .help = "which kernels, beside --arch: minimal, llm-inference or all, as 'fmhagen library --help' tells; other "
             "options narrow it"},
    {.name = "check",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct vendor_options, check),
     .help = "write nothing; say of each file whether it is unmodified, modified, missing or foreign, and what the "
             "folder's own command would change today. Exit status 0: unmodified and current; 1: not; 2: no such "
             "folder"},
    {.name = "force",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct vendor_options, force),
     .help = "overwrite files that were modified, and others that are in the way"},
    {0},
};

const struct command command_vendor = {
    .name = "vendor",
    .operands = "DIR",
    .summary = "write a folder that another project checks in and builds",
    .details =
        "Writes kernels as text, the runtime's sources and build glue for CMake, Meson and make into DIR: another "
        "project builds it with a C compiler alone. Kernels are compiled with that project or on first use. In a "
        "folder that it made before it replaces and removes what it made, and without options of a kernel it takes "
        "those of the last time.",
    .kernel = true,
    .options = options,
    .options_bytes = sizeof(struct vendor_options),
    .run = run,
};
