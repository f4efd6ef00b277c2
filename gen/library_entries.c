#include "library_entries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder_lock.h"
#include "index.h"
#include "index_text.h"
#include "library_choices.h"
#include "library_members.h"

/* ---- Opening ------------------------------------------------------------------------------------------------------
 */

static int compare_entries(const void *a, const void *b) {
    const struct library_entry *left = a, *right = b;
    int order = strcmp(left->processor, right->processor);
    return order ? order : strcmp(left->instance->name, right->instance->name);
}

static bool claim(const struct library *library, struct error *error) {
    bool done = library_claim_folder(library->folder, error);
    for (size_t i = 0; done && i < library->count; i++) {
        const struct library_entry *entry = &library->entries[i];
        if (i == 0 || strcmp(entry->processor, entry[-1].processor) != 0)
            done = library_claim_index(library->folder, entry->processor, error);
        done = done && library_claim_instance(library->folder, entry->processor, entry->instance->name, error);
    }
    return done;
}

bool library_begin(const char *folder, bool sources, const struct instance *instances, size_t count,
                   const fmha_compiler *const *compilers, struct template_engine *engine, struct library *library,
                   struct error *error) {
    *library = (struct library){.folder = folder, .sources = sources, .lock = -1};
    library->entries = calloc(count + 1, sizeof *library->entries);
    if (!library->entries)
        return error_set(error, ERROR_RUN, "%s: out of memory", folder);
    library->count = count;
    for (size_t i = 0; i < count; i++) {
        struct library_entry *entry = &library->entries[i];
        const char *arch = instances[i].spec.arch;
        entry->instance = &instances[i];
        entry->compiler = compilers ? compilers[i] : NULL;
        memcpy(entry->processor, arch, strcspn(arch, ":"));
        if (!library_rank(&instances[i].spec, engine, &entry->rank, error))
            return false;
    }
    qsort(library->entries, count, sizeof *library->entries, compare_entries);
    return claim(library, error);
}

static bool make_folder(const char *path, struct error *error) {
    return mkdir(path, 0777) == 0 || errno == EEXIST ||
           error_set(error, ERROR_RUN, "%s: expected to make the folder, got: %s", path, strerror(errno));
}

bool library_lock(struct library *library, struct error *error) {
    bool done = folder_lock(library->folder, "library", &library->lock, error);
    for (size_t i = 0; done && i < library->count; i++) {
        char *path = library_join(library->folder, library->entries[i].processor, "", "", error);
        done = path && make_folder(path, error);
        free(path);
    }
    return done;
}

void library_end(struct library *library) {
    if (library->lock >= 0)
        close(library->lock);
    free(library->entries);
    *library = (struct library){.lock = -1};
}

/* ---- One entry ----------------------------------------------------------------------------------------------------
 */

static char *entry_path(const struct library *library, const struct library_entry *entry, const char *suffix,
                        struct error *error) {
    return library_join(library->folder, entry->processor, entry->instance->name, suffix, error);
}

static bool write_entry(const struct library *library, const struct library_entry *entry, const char *suffix,
                        const char *bytes, size_t length, struct error *error) {
    char *path = entry_path(library, entry, suffix, error);
    bool done = path && file_write(path, bytes, length, error);
    free(path);
    return done;
}

static bool read_object(const struct library *library, const struct library_entry *entry, char **bytes,
                        size_t *length) {
    struct error ignored;
    char *path = entry_path(library, entry, LIBRARY_SUFFIX_OBJECT, &ignored);
    bool done = path && library_file_read(path, bytes, length);
    free(path);
    return done;
}

static bool read_record(const struct library *library, const struct library_entry *entry,
                        struct library_record *record) {
    struct error ignored;
    char *path = entry_path(library, entry, LIBRARY_SUFFIX_INTERFACE, &ignored);
    bool done = path && library_record_read(path, record);
    free(path);
    return done;
}

/* The flags of every instance, as a record has them. */
static bool has_flags(const struct library_record *record, const struct spec *spec) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    struct text line = {0};
    int count = fmha_compiler_flags(NULL, spec->arch, (int)spec->value[SPEC_WAVE], storage, flags);
    for (int i = 0; i < count; i++)
        text_printf(&line, "%s%s", i ? " " : "", flags[i]);
    bool same = line.bytes && !line.failed && strcmp(line.bytes, record->flags) == 0;
    text_free(&line);
    return same;
}

/* Writes the interface of an instance, with what the code object adds to it; without one: of the text alone. */
static bool write_interface(const struct library *library, struct library_entry *entry, const char *compiler_version,
                            const struct resources *resources, const char *bytes, size_t length, struct error *error) {
    fmha_compiler compiler = {0};
    struct text text = {0};
    snprintf(compiler.version, sizeof compiler.version, "%s", compiler_version);
    const struct interface_object object = {resources, &compiler, bytes, length};
    bool done = interface_json(entry->instance, bytes ? &object : NULL, &text, error) &&
                write_entry(library, entry, LIBRARY_SUFFIX_INTERFACE, text.bytes, text.length, error);
    text_free(&text);
    if (done && bytes) {
        entry->object_bytes = length;
        entry->object_hash = fmha_index_hash(bytes, length);
    }
    return done;
}

/* Whether the entry's code object is what compiling it now would give; its interface is then brought up to date. */
static bool is_current(const struct library *library, struct library_entry *entry) {
    struct library_record record;
    char hash[INTERFACE_HASH_SIZE], *bytes;
    size_t length;
    const struct instance *instance = entry->instance;
    interface_hash(instance->text.bytes, instance->text.length, hash);
    if (!read_record(library, entry, &record) || strcmp(record.source_hash, hash) != 0 ||
        !has_flags(&record, &instance->spec) ||
        (entry->compiler && strcmp(record.compiler, entry->compiler->version) != 0) ||
        !read_object(library, entry, &bytes, &length))
        return false;
    interface_hash(bytes, length, hash);
    struct resources resources;
    bool current = strcmp(record.object_hash, hash) == 0 &&
                   compile_check(instance, bytes, length, false, &resources, &entry->error) &&
                   write_interface(library, entry, record.compiler, &resources, bytes, length, &entry->error);
    free(bytes);
    return current;
}

static bool settle(struct library_entry *entry, bool done, enum library_state state) {
    entry->state = done ? state : LIBRARY_FAILED;
    return done;
}

bool library_compile(struct library *library, struct library_entry *entry) {
    struct code_object object;
    if (!compile_instance(entry->instance, entry->compiler, false, &object, &entry->error))
        return settle(entry, false, LIBRARY_FAILED);
    /* The interface goes first: it says that the code object beside it is ours, and whether it is the one meant. */
    bool done = write_interface(library, entry, entry->compiler->version, &object.resources, object.bytes,
                                object.length, &entry->error) &&
                write_entry(library, entry, LIBRARY_SUFFIX_OBJECT, object.bytes, object.length, &entry->error);
    code_object_free(&object);
    return settle(entry, done, LIBRARY_COMPILED);
}

/* ---- Code objects of others ---------------------------------------------------------------------------------------
 */

/* A text that another fmhagen made has nothing to do with what is to be indexed. */
static bool check_source(const struct library *library, const struct library_entry *entry, struct error *error) {
    const struct text *text = &entry->instance->text;
    char *path = entry_path(library, entry, LIBRARY_SUFFIX_SOURCE, error), *bytes = NULL;
    size_t length = 0;
    bool done = path != NULL;
    if (done && library_file_read(path, &bytes, &length) &&
        (length != text->length || memcmp(bytes, text->bytes, length) != 0))
        done = error_set(error, ERROR_RUN,
                         "%s: expected the text that this fmhagen makes, got another; make it anew with 'fmhagen "
                         "library --no-compile' and the same options, then compile it",
                         path);
    free(bytes);
    free(path);
    return done;
}

static bool adopt(struct library *library, struct library_entry *entry, const char *path) {
    struct library_record record;
    struct resources resources;
    char source_hash[INTERFACE_HASH_SIZE], object_hash[INTERFACE_HASH_SIZE], *bytes;
    size_t length;
    const struct instance *instance = entry->instance;
    if (!library_file_read(path, &bytes, &length))
        return error_set(&entry->error, ERROR_RUN,
                         "%s: expected a code object, got none; compile it with ninja, or make the library without "
                         "--index-only",
                         path);
    interface_hash(instance->text.bytes, instance->text.length, source_hash);
    interface_hash(bytes, length, object_hash);
    bool done = true;
    if (read_record(library, entry, &record) && strcmp(record.object_hash, object_hash) == 0 &&
        strcmp(record.source_hash, source_hash) != 0)
        done = error_set(&entry->error, ERROR_RUN,
                         "%s: expected the code object of the present text, got that of an earlier one; compile it "
                         "with ninja, or make the library without --index-only",
                         path);
    done = done && compile_check(instance, bytes, length, false, &resources, &entry->error) &&
           write_interface(library, entry, entry->compiler->version, &resources, bytes, length, &entry->error);
    free(bytes);
    return done;
}

bool library_adopt(struct library *library, struct library_entry *entry) {
    char *path = entry_path(library, entry, LIBRARY_SUFFIX_OBJECT, &entry->error);
    bool done = path && check_source(library, entry, &entry->error) && adopt(library, entry, path);
    free(path);
    return settle(entry, done, LIBRARY_CURRENT);
}

/* ---- The folder ---------------------------------------------------------------------------------------------------
 */

static bool remove_file(const char *path, struct error *error) {
    return unlink(path) == 0 || errno == ENOENT ||
           error_set(error, ERROR_RUN, "%s: expected to remove the file, got: %s", path, strerror(errno));
}

static bool remove_entry(const struct library *library, const struct library_entry *entry, const char *suffix,
                         struct error *error) {
    char *path = entry_path(library, entry, suffix, error);
    bool done = path && remove_file(path, error);
    free(path);
    return done;
}

/* name "": an index, which is wanted where the processor has an instance. */
static bool is_wanted(const void *context, const char *processor, const char *name) {
    const struct library *library = context;
    size_t low = 0, high = library->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct library_entry *entry = &library->entries[middle];
        int order = strcmp(entry->processor, processor);
        order = order || !*name ? order : strcmp(entry->instance->name, name);
        if (order == 0)
            return true;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

static bool note_leftover(void *sink, const char *path, struct error *error) {
    (void)path, (void)error;
    *(bool *)sink = true;
    return true;
}

/* Removes the file, and the folder if it was the last in it and no instance is to be there. */
static bool remove_leftover(void *sink, const char *path, struct error *error) {
    struct library *library = sink;
    if (!remove_file(path, error))
        return false;
    library->removed++;
    char *folder = strdup(path);
    if (folder) {
        *strrchr(folder, '/') = '\0';
        if (!is_wanted(library, strrchr(folder, '/') + 1, ""))
            rmdir(folder); /* one that still holds something stays */
    }
    free(folder);
    return true;
}

/* Whether bringing the texts up to date, or compiling, changes or removes a file that an index may name. */
static bool disturbs(const struct library *library, const struct library_entry *entry, bool *disturbed,
                     struct error *error) {
    const struct text *text = &entry->instance->text;
    char *source = entry_path(library, entry, LIBRARY_SUFFIX_SOURCE, error), *bytes = NULL;
    char *object = source ? entry_path(library, entry, LIBRARY_SUFFIX_OBJECT, error) : NULL;
    size_t length = 0;
    bool done = object != NULL;
    if (done && access(source, F_OK) == 0)
        *disturbed = *disturbed || !library->sources || !library_file_read(source, &bytes, &length) ||
                     length != text->length || memcmp(bytes, text->bytes, length) != 0;
    if (done && entry->state == LIBRARY_STALE && access(object, F_OK) == 0)
        *disturbed = true;
    free(bytes);
    free(source);
    free(object);
    return done;
}

static bool remove_indexes(const struct library *library, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < library->count; i++) {
        char *path = library_join(library->folder, library->entries[i].processor, FMHA_INDEX_FILE, "", error);
        done = path && remove_file(path, error);
        free(path);
    }
    return done;
}

bool library_prepare(struct library *library, struct error *error) {
    bool disturbed = false;
    bool done = library_leftovers(library->folder, is_wanted, library, note_leftover, &disturbed, error);
    for (size_t i = 0; done && i < library->count; i++) {
        struct library_entry *entry = &library->entries[i];
        entry->state = is_current(library, entry) ? LIBRARY_CURRENT : LIBRARY_STALE;
        done = disturbs(library, entry, &disturbed, error);
    }
    done = done && (!disturbed || remove_indexes(library, error)) &&
           library_leftovers(library->folder, is_wanted, library, remove_leftover, library, error);
    for (size_t i = 0; done && i < library->count; i++) {
        const struct library_entry *entry = &library->entries[i];
        const struct text *text = &entry->instance->text;
        done = library->sources ? write_entry(library, entry, LIBRARY_SUFFIX_SOURCE, text->bytes, text->length, error)
                                : remove_entry(library, entry, LIBRARY_SUFFIX_SOURCE, error);
    }
    return done;
}

bool library_leave_texts(struct library *library, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < library->count; i++) {
        struct library_entry *entry = &library->entries[i];
        if (entry->state != LIBRARY_STALE)
            continue;
        entry->state = LIBRARY_TEXT;
        done = remove_entry(library, entry, LIBRARY_SUFFIX_OBJECT, error) &&
               write_interface(library, entry, "", NULL, NULL, 0, error);
    }
    return done;
}

/* ---- Indexes ------------------------------------------------------------------------------------------------------
 */

static bool write_index(const struct library *library, const struct library_entry *first, size_t count,
                        struct error *error) {
    struct index_entry *entries = calloc(count, sizeof *entries);
    char(*files)[2][SPEC_NAME_MAX + 8] = calloc(count, sizeof *files);
    char *path = library_join(library->folder, first->processor, FMHA_INDEX_FILE, "", error);
    struct text text = {0};
    size_t indexed = 0;
    bool done = path && ((entries && files) || error_set(error, ERROR_RUN, "%s: out of memory", path));
    for (size_t i = 0; done && i < count; i++) {
        const struct library_entry *entry = &first[i];
        const struct instance *instance = entry->instance;
        bool compiled = entry->state == LIBRARY_CURRENT || entry->state == LIBRARY_COMPILED;
        if (!compiled && entry->state != LIBRARY_TEXT)
            continue;
        snprintf(files[i][0], sizeof files[i][0], "%.*s%s", SPEC_NAME_MAX, instance->name, LIBRARY_SUFFIX_OBJECT);
        snprintf(files[i][1], sizeof files[i][1], "%.*s%s", SPEC_NAME_MAX, instance->name, LIBRARY_SUFFIX_SOURCE);
        entries[indexed++] = (struct index_entry){
            .instance = instance,
            .rank = entry->rank,
            .object_file = compiled ? files[i][0] : NULL,
            .object_bytes = compiled ? entry->object_bytes : 0,
            .object_hash = compiled ? entry->object_hash : 0,
            .source_file = library->sources ? files[i][1] : NULL,
            .source_bytes = library->sources ? instance->text.length : 0,
            .source_hash = library->sources ? fmha_index_hash(instance->text.bytes, instance->text.length) : 0,
        };
    }
    done = done && index_text(entries, indexed, &text, error) && file_write(path, text.bytes, text.length, error);
    text_free(&text);
    free(path);
    free(files);
    free(entries);
    return done;
}

/* Of the entries of one processor. */
struct published {
    const struct library_entry *first;
    size_t count;
};

static bool is_published(const void *context, const char *instance) {
    const struct published *published = context;
    for (size_t i = 0; i < published->count; i++)
        if (published->first[i].state != LIBRARY_FAILED && strcmp(published->first[i].instance->name, instance) == 0)
            return true;
    return false;
}

bool library_publish(const struct library *library, struct error *error) {
    bool done = true;
    for (size_t i = 0, next; done && i < library->count; i = next) {
        for (next = i + 1; next < library->count; next++)
            if (strcmp(library->entries[next].processor, library->entries[i].processor) != 0)
                break;
        const struct published published = {&library->entries[i], next - i};
        done = library_choices_write(library->folder, library->entries[i].processor, is_published, &published, error) &&
               write_index(library, &library->entries[i], next - i, error);
    }
    return done;
}
