#include "vendor_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "index_text.h"
#include "vendor_files.h"
#include "vendor_glue.h"

/* ---- Making ---------------------------------------------------------------------------------------------------------
 */

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_RUN, "vendor: out of memory");
}

/* A new file of the tree, or NULL with an error. */
static struct vendor_file *add_file(struct vendor_tree *tree, const char *name, struct error *error) {
    struct vendor_file *files = realloc(tree->files, (tree->count + 1) * sizeof *files);
    if (!files) {
        no_memory(error);
        return NULL;
    }
    tree->files = files;
    struct vendor_file *file = &files[tree->count++];
    *file = (struct vendor_file){0};
    snprintf(file->name, sizeof file->name, "%s", name);
    return file;
}

static bool finish(struct vendor_file *file, struct error *error) {
    text_add(&file->text, "", 0);
    if (file->text.failed)
        return no_memory(error);
    manifest_hash(file->text.bytes, file->text.length, file->sha256);
    return true;
}

static bool add_bytes(struct vendor_tree *tree, const char *name, const char *bytes, size_t length,
                      struct error *error) {
    struct vendor_file *file = add_file(tree, name, error);
    if (!file)
        return false;
    text_add(&file->text, bytes, length);
    return finish(file, error);
}

static bool add_runtime(struct vendor_tree *tree, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < vendor_file_count; i++)
        if (strncmp(vendor_files[i].path, "text/", 5) != 0)
            done = add_bytes(tree, vendor_files[i].path, vendor_files[i].bytes, vendor_files[i].length, error);
    return done;
}

static bool add_kernels(struct vendor_tree *tree, const struct instance *const *instances, size_t count,
                        struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        char name[VENDOR_NAME_MAX];
        snprintf(name, sizeof name, "kernels/%s.hip", instances[i]->name);
        done = add_bytes(tree, name, instances[i]->text.bytes, instances[i]->text.length, error);
    }
    return done;
}

/* Code objects are not in the index: whoever builds the folder may compile them ahead. */
static bool add_index(struct vendor_tree *tree, const struct instance *const *instances, size_t count,
                      struct error *error) {
    struct vendor_file *file = add_file(tree, "kernels/" FMHA_INDEX_FILE, error);
    struct index_entry *entries = calloc(count, sizeof *entries);
    char(*names)[SPEC_NAME_MAX + 4] = calloc(count, sizeof *names);
    bool done = file && entries && names;
    if (file && !done)
        no_memory(error);
    for (size_t i = 0; done && i < count; i++) {
        const struct text *text = &instances[i]->text;
        snprintf(names[i], sizeof names[i], "%s.hip", instances[i]->name);
        entries[i] = (struct index_entry){.instance = instances[i],
                                          .source_file = names[i],
                                          .source_bytes = text->length,
                                          .source_hash = fmha_index_hash(text->bytes, text->length)};
    }
    done = done && index_text(entries, count, &file->text, error) && finish(file, error);
    free(entries);
    free(names);
    return done;
}

static bool add_glue(struct vendor_tree *tree, const struct glue *glue, struct error *error) {
    static const char *const names[] = {"CMakeLists.txt", "README.md",      "fmha.mk",
                                        "fmha_kernels.S", "fmha_kernels.c", "meson.build"};
    bool done = true;
    for (size_t i = 0; done && i < sizeof names / sizeof *names; i++) {
        struct vendor_file *file = add_file(tree, names[i], error);
        done = file && glue_add(glue, names[i], &file->text, error) && finish(file, error);
    }
    return done;
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const struct vendor_file *)a)->name, ((const struct vendor_file *)b)->name);
}

static bool add_manifest(struct vendor_tree *tree, char *const *words, size_t word_count, struct error *error) {
    struct manifest manifest = {.version = FMHA_VERSION, .word_count = word_count, .file_count = tree->count};
    manifest.files = calloc(tree->count, sizeof *manifest.files);
    manifest.words = calloc(word_count + 1, sizeof *manifest.words);
    struct text text = {0};
    bool done = manifest.files && manifest.words;
    if (done) {
        qsort(tree->files, tree->count, sizeof *tree->files, compare_files);
        for (size_t i = 0; i < tree->count; i++) {
            memcpy(manifest.files[i].name, tree->files[i].name, sizeof manifest.files[i].name);
            memcpy(manifest.files[i].sha256, tree->files[i].sha256, sizeof manifest.files[i].sha256);
        }
        memcpy(manifest.words, words, word_count * sizeof *words);
        manifest_add(&text, &manifest);
        done = !text.failed;
    }
    done = done ? add_bytes(tree, VENDOR_MANIFEST, text.bytes, text.length, error) : no_memory(error);
    text_free(&text);
    free(manifest.files);
    free(manifest.words);
    return done;
}

static int compare_instances(const void *a, const void *b) {
    const struct instance *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* `sorted`: the instances in the order of their names; `sha256`: room for as many. */
static bool make(const struct instance *const *sorted, const char **sha256, size_t count, char *const *words,
                 size_t word_count, struct vendor_tree *tree, struct error *error) {
    struct text command = {0};
    text_puts(&command, "fmhagen vendor .");
    for (size_t i = 0; i < word_count; i++) {
        text_puts(&command, " ");
        manifest_add_word(&command, words[i]);
    }
    struct glue glue = {.instances = sorted, .sha256 = sha256, .count = count, .command = command.bytes};
    bool done = !command.failed || no_memory(error);
    done = done && add_kernels(tree, sorted, count, error) && add_index(tree, sorted, count, error);
    char(*hashes)[VENDOR_SHA_SIZE] = done ? calloc(count + 1, sizeof *hashes) : NULL; /* the tree moves as it grows */
    if (done && !hashes)
        done = no_memory(error);
    for (size_t i = 0; done && i <= count; i++)
        memcpy(hashes[i], tree->files[i].sha256, sizeof hashes[i]);
    for (size_t i = 0; done && i < count; i++)
        sha256[i] = hashes[i];
    glue.index_sha256 = done ? hashes[count] : NULL;
    done = done && add_runtime(tree, error) && add_glue(tree, &glue, error) &&
           add_manifest(tree, words, word_count, error);
    text_free(&command);
    free(hashes);
    return done;
}

bool vendor_make(const struct instance *const *instances, size_t count, char *const *words, size_t word_count,
                 struct vendor_tree *tree, struct error *error) {
    *tree = (struct vendor_tree){0};
    const struct instance **sorted = calloc(count, sizeof *sorted);
    const char **sha256 = calloc(count, sizeof *sha256);
    bool done = sorted && sha256;
    if (!done)
        no_memory(error);
    if (done) {
        memcpy(sorted, instances, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_instances);
        done = make(sorted, sha256, count, words, word_count, tree, error);
    }
    free(sorted);
    free(sha256);
    return done;
}

void vendor_tree_free(struct vendor_tree *tree) {
    for (size_t i = 0; i < tree->count; i++)
        text_free(&tree->files[i].text);
    free(tree->files);
    *tree = (struct vendor_tree){0};
}

const struct vendor_file *vendor_tree_find(const struct vendor_tree *tree, const char *name) {
    if (!tree->count)
        return NULL;
    struct vendor_file key, *manifest = &tree->files[tree->count - 1];
    if (strcmp(name, manifest->name) == 0)
        return manifest;
    snprintf(key.name, sizeof key.name, "%s", name);
    return bsearch(&key, tree->files, tree->count - 1, sizeof key, compare_files);
}
