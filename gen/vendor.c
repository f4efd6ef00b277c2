#include "vendor.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const vendor_state_names[VENDOR_STATE_COUNT] = {"unmodified", "modified", "missing", "foreign"};

static const char *const folders[] = {"src", "kernels"};
#define FOLDER_COUNT (sizeof folders / sizeof *folders)

/* ---- Looking --------------------------------------------------------------------------------------------------------
 */

static bool set_path(struct text *path, const char *folder, const char *name, struct error *error) {
    path->length = 0;
    text_printf(path, "%s/%s", folder, name);
    return !path->failed || error_set(error, ERROR_RUN, "%s/%s: out of memory", folder, name);
}

/* What stands at a path. */
enum kind { NOTHING, REGULAR, FOLDER, OTHER };

static bool look(const char *path, enum kind *kind, struct error *error) {
    struct stat status;
    *kind = NOTHING;
    if (lstat(path, &status) == 0)
        *kind = S_ISREG(status.st_mode) ? REGULAR : S_ISDIR(status.st_mode) ? FOLDER : OTHER;
    else if (errno != ENOENT && errno != ENOTDIR)
        return error_set(error, ERROR_RUN, "%s: expected to look at it, got: %s", path, strerror(errno));
    return true;
}

/* As above with the file's SHA-256; "" where there is no regular file. */
static bool hash_file(const char *path, enum kind *kind, char sha256[VENDOR_SHA_SIZE], struct error *error) {
    *sha256 = '\0';
    if (!look(path, kind, error))
        return false;
    if (*kind != REGULAR)
        return true;
    char *bytes;
    size_t length;
    if (!file_read(path, &bytes, &length, error))
        return false;
    manifest_hash(bytes, length, sha256);
    free(bytes);
    return true;
}

bool vendor_manifest_read(const char *folder, struct manifest *manifest, bool *found, struct error *error) {
    *manifest = (struct manifest){0};
    *found = false;
    struct text path = {0};
    enum kind kind = NOTHING;
    char *bytes = NULL;
    size_t length = 0;
    bool done = set_path(&path, folder, VENDOR_MANIFEST, error) && look(path.bytes, &kind, error);
    if (done && kind != NOTHING && kind != REGULAR)
        done = error_set(error, ERROR_RUN, "%s: expected a file, got a folder or a link; move it away", path.bytes);
    if (done && kind == REGULAR) {
        *found = true;
        done =
            file_read(path.bytes, &bytes, &length, error) && manifest_parse(path.bytes, bytes, length, manifest, error);
    }
    free(bytes);
    text_free(&path);
    return done;
}

/* ---- What is there --------------------------------------------------------------------------------------------------
 */

struct entries {
    struct entry {
        char *name;
        enum vendor_state state;
    } * items;
    size_t count, capacity;
};

static bool add_entry(struct entries *entries, const char *name, enum vendor_state state) {
    if (entries->count == entries->capacity) {
        size_t capacity = entries->capacity ? entries->capacity * 2 : 64;
        struct entry *items = realloc(entries->items, capacity * sizeof *items);
        if (!items)
            return false;
        entries->items = items;
        entries->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy)
        entries->items[entries->count++] = (struct entry){copy, state};
    return copy != NULL;
}

static void free_entries(struct entries *entries) {
    for (size_t i = 0; i < entries->count; i++)
        free(entries->items[i].name);
    free(entries->items);
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool is_own_folder(const char *name) {
    for (size_t i = 0; i < FOLDER_COUNT; i++)
        if (strcmp(name, folders[i]) == 0)
            return true;
    return false;
}

/* Adds what stands in FOLDER/BELOW ("": the folder itself) and in no manifest. */
static bool add_foreign(const char *folder, const char *below, const struct manifest *manifest, struct entries *entries,
                        struct error *error) {
    struct text path = {0}, name = {0};
    bool done = set_path(&path, folder, below, error);
    DIR *handle = done ? opendir(path.bytes) : NULL;
    if (done && !handle && (!*below || (errno != ENOENT && errno != ENOTDIR)))
        done = error_set(error, ERROR_RUN, "%s: expected a readable folder, got: %s", path.bytes, strerror(errno));
    const struct dirent *entry;
    while (done && handle && (entry = readdir(handle))) {
        if (entry->d_name[0] == '.')
            continue;
        name.length = 0;
        text_printf(&name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        struct stat status;
        done = !name.failed && set_path(&path, folder, name.bytes, error);
        bool is_folder = done && lstat(path.bytes, &status) == 0 && S_ISDIR(status.st_mode);
        if (!done || (!*below && ((is_folder && is_own_folder(entry->d_name)) || !strcmp(name.bytes, VENDOR_MANIFEST))))
            continue;
        if (is_folder)
            text_puts(&name, "/");
        if (name.failed || (!manifest_find(manifest, name.bytes) && !add_entry(entries, name.bytes, VENDOR_FOREIGN)))
            done = error_set(error, ERROR_RUN, "%s: out of memory", path.bytes);
    }
    if (handle)
        closedir(handle);
    text_free(&path);
    text_free(&name);
    return done;
}

static bool add_recorded(const char *folder, const struct manifest *manifest, struct entries *entries,
                         struct error *error) {
    struct text path = {0};
    bool done = true;
    for (size_t i = 0; done && i < manifest->file_count; i++) {
        const struct manifest_file *file = &manifest->files[i];
        char sha256[VENDOR_SHA_SIZE];
        enum kind kind;
        done = set_path(&path, folder, file->name, error) && hash_file(path.bytes, &kind, sha256, error);
        if (done && !add_entry(entries, file->name,
                               kind == NOTHING                     ? VENDOR_MISSING
                               : strcmp(sha256, file->sha256) == 0 ? VENDOR_UNMODIFIED
                                                                   : VENDOR_MODIFIED))
            done = error_set(error, ERROR_RUN, "%s: out of memory", path.bytes);
    }
    text_free(&path);
    return done;
}

bool vendor_compare(const char *folder, const struct manifest *manifest, vendor_visit visit, void *context,
                    struct error *error) {
    struct entries entries = {0};
    bool done = add_recorded(folder, manifest, &entries, error) && add_foreign(folder, "", manifest, &entries, error);
    for (size_t i = 0; done && i < FOLDER_COUNT; i++)
        done = add_foreign(folder, folders[i], manifest, &entries, error);
    if (done && entries.count)
        qsort(entries.items, entries.count, sizeof *entries.items, compare_entries);
    for (size_t i = 0; done && i < entries.count; i++)
        visit(context, entries.items[i].name, entries.items[i].state);
    free_entries(&entries);
    return done;
}

/* ---- What writing would do -----------------------------------------------------------------------------------------
 */

/* One file that has to change. */
struct step {
    const char *name;
    const struct vendor_file *file; /* NULL: it is removed */
    bool was_there, moved, placed;  /* moved: its old self is put aside; placed: its new self is there */
};

struct plan {
    struct step *steps;
    size_t count;
    const char *in_the_way; /* the first file that is neither as the manifest says nor as it will be */
    size_t in_the_way_count;
};

static bool add_step(struct plan *plan, const char *folder, const char *name, const struct vendor_file *file,
                     const struct manifest *manifest, struct text *path, struct error *error) {
    char sha256[VENDOR_SHA_SIZE];
    enum kind kind;
    if (!set_path(path, folder, name, error) || !hash_file(path->bytes, &kind, sha256, error))
        return false;
    if (kind == NOTHING ? !file : file && strcmp(sha256, file->sha256) == 0)
        return true; /* as it will be */
    if (kind == FOLDER)
        return error_set(error, ERROR_RUN, "%s: expected a file, got a folder; move it away", path->bytes);
    const struct manifest_file *recorded = manifest_find(manifest, name);
    bool own = kind == NOTHING || (recorded && strcmp(sha256, recorded->sha256) == 0) ||
               (kind == REGULAR && manifest->file_count && strcmp(name, VENDOR_MANIFEST) == 0);
    if (!own && !plan->in_the_way_count++)
        plan->in_the_way = name;
    plan->steps[plan->count++] = (struct step){.name = name, .file = file, .was_there = kind != NOTHING};
    return true;
}

static bool make_plan(const char *folder, const struct vendor_tree *tree, const struct manifest *manifest,
                      struct plan *plan, struct error *error) {
    struct text path = {0};
    plan->steps = calloc(tree->count + manifest->file_count + 1, sizeof *plan->steps);
    bool done = plan->steps || error_set(error, ERROR_RUN, "%s: out of memory", folder);
    for (size_t i = 0; done && i < manifest->file_count; i++)
        if (!vendor_tree_find(tree, manifest->files[i].name))
            done = add_step(plan, folder, manifest->files[i].name, NULL, manifest, &path, error);
    for (size_t i = 0; done && i < tree->count; i++)
        done = add_step(plan, folder, tree->files[i].name, &tree->files[i], manifest, &path, error);
    text_free(&path);
    return done;
}

bool vendor_outdated(const char *folder, const struct vendor_tree *tree, const struct manifest *manifest,
                     vendor_outdated_visit visit, void *context, struct error *error) {
    struct plan plan = {0};
    bool done = make_plan(folder, tree, manifest, &plan, error);
    for (size_t i = 0; done && i < plan.count; i++)
        visit(context, plan.steps[i].name, !plan.steps[i].file ? "remove" : plan.steps[i].was_there ? "change" : "add");
    free(plan.steps);
    return done;
}

/* ---- Writing --------------------------------------------------------------------------------------------------------
 */

/* A folder that takes the new files before, and the old ones while, they change places. */
struct stage {
    const char *folder;
    struct text path, from, to; /* of the folder itself; of two files at a time */
};

static bool stage_open(struct stage *stage, struct error *error) {
    text_printf(&stage->path, "%s/.fmhagen-XXXXXX", stage->folder);
    if (stage->path.failed || !mkdtemp(stage->path.bytes)) {
        int reason = stage->path.failed ? ENOMEM : errno;
        stage->path.length = 0;
        return error_set(error, ERROR_RUN, "%s: expected a folder that can be written, got: %s", stage->folder,
                         strerror(reason));
    }
    return true;
}

/* The staged new ('n') or old ('o') self of a step; NULL without memory. */
static const char *staged(struct stage *stage, char side, size_t index) {
    stage->from.length = 0;
    text_printf(&stage->from, "%s/%c%zu", stage->path.bytes, side, index);
    return stage->from.failed ? NULL : stage->from.bytes;
}

static const char *target(struct stage *stage, const char *name) {
    stage->to.length = 0;
    text_printf(&stage->to, "%s/%s", stage->folder, name);
    return stage->to.failed ? NULL : stage->to.bytes;
}

static bool rename_file(const char *from, const char *to) {
    if (!from || !to) {
        errno = ENOMEM;
        return false;
    }
    return rename(from, to) == 0;
}

static void stage_close(struct stage *stage, const struct plan *plan) {
    for (size_t i = 0; stage->path.length && i < plan->count; i++) {
        const char *path = staged(stage, 'n', i);
        if (path)
            unlink(path);
        path = staged(stage, 'o', i);
        if (path)
            unlink(path);
    }
    if (stage->path.length)
        rmdir(stage->path.bytes);
    text_free(&stage->path);
    text_free(&stage->from);
    text_free(&stage->to);
}

static bool stage_fill(struct stage *stage, const struct plan *plan, struct error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        const struct vendor_file *file = plan->steps[i].file;
        if (!file)
            continue;
        const char *path = staged(stage, 'n', i);
        if (!path)
            return error_set(error, ERROR_RUN, "%s: out of memory", file->name);
        if (!file_write(path, file->text.bytes, file->text.length, error))
            return false;
    }
    return true;
}

/* Puts everything back, last first. */
static void undo(struct stage *stage, struct plan *plan) {
    for (size_t i = plan->count; i-- > 0;) {
        struct step *step = &plan->steps[i];
        if (step->placed)
            rename_file(target(stage, step->name), staged(stage, 'n', i));
        if (step->moved)
            rename_file(staged(stage, 'o', i), target(stage, step->name));
        step->placed = step->moved = false;
    }
}

static bool carry_out(struct stage *stage, struct plan *plan, struct error *error) {
    for (size_t i = 0; i < plan->count; i++) {
        struct step *step = &plan->steps[i];
        bool done = true;
        if (step->was_there)
            done = step->moved = rename_file(target(stage, step->name), staged(stage, 'o', i));
        if (done && step->file)
            done = step->placed = rename_file(staged(stage, 'n', i), target(stage, step->name));
        if (!done) {
            error_set(error, ERROR_RUN, "%s/%s: expected to put the new file there, got: %s; the folder is as it was",
                      stage->folder, step->name, strerror(errno));
            undo(stage, plan);
            return false;
        }
    }
    return true;
}

/* Makes one folder; one that exists is as good. *made: it was not there. */
static bool make_folder(const char *path, bool *made, struct error *error) {
    struct stat status;
    *made = mkdir(path, 0777) == 0;
    if (*made)
        return true;
    int reason = errno;
    if (reason != EEXIST || lstat(path, &status) != 0)
        return error_set(error, ERROR_RUN, "%s: expected to make the folder, got: %s", path, strerror(reason));
    return S_ISDIR(status.st_mode) ||
           error_set(error, ERROR_RUN, "%s: expected a folder, got a file or a link of that name; move it away", path);
}

static bool write_plan(const char *folder, struct plan *plan, struct error *error) {
    bool made[FOLDER_COUNT] = {false};
    struct text path = {0};
    struct stage stage = {.folder = folder};
    bool done = true;
    for (size_t i = 0; done && i < FOLDER_COUNT; i++)
        done = set_path(&path, folder, folders[i], error) && make_folder(path.bytes, &made[i], error);
    done = done && stage_open(&stage, error) && stage_fill(&stage, plan, error);
    done = done && carry_out(&stage, plan, error);
    stage_close(&stage, plan);
    for (size_t i = 0; !done && i < FOLDER_COUNT; i++)
        if (made[i] && set_path(&path, folder, folders[i], &(struct error){0}))
            rmdir(path.bytes);
    text_free(&path);
    return done;
}

bool vendor_write(const char *folder, const struct vendor_tree *tree, const struct manifest *manifest, bool force,
                  struct vendor_changes *changes, struct error *error) {
    struct plan plan = {0};
    *changes = (struct vendor_changes){0};
    bool done = make_plan(folder, tree, manifest, &plan, error);
    if (done && plan.in_the_way_count && !force) {
        char others[64] = "";
        if (plan.in_the_way_count > 1)
            snprintf(others, sizeof others, " and %zu other%s", plan.in_the_way_count - 1,
                     plan.in_the_way_count > 2 ? "s" : "");
        done = error_set(error, ERROR_RUN,
                         "%s/%s%s: expected what 'fmhagen vendor' left there, got a file that is modified or foreign; "
                         "move it away, or give --force to overwrite it",
                         folder, plan.in_the_way, others);
    }
    if (done && plan.count) {
        sigset_t stopping, before; /* an interrupt waits for the moment in which files change places */
        sigemptyset(&stopping);
        sigaddset(&stopping, SIGINT);
        sigaddset(&stopping, SIGTERM);
        sigaddset(&stopping, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &stopping, &before);
        bool made = mkdir(folder, 0777) == 0;
        if (!made && errno != EEXIST)
            done = error_set(error, ERROR_RUN, "%s: expected to make the folder, got: %s", folder, strerror(errno));
        done = done && write_plan(folder, &plan, error);
        if (!done && made)
            rmdir(folder);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    for (size_t i = 0; done && i < plan.count; i++)
        if (plan.steps[i].file)
            changes->written++;
        else
            changes->removed++;
    free(plan.steps);
    return done;
}
