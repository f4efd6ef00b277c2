#include "vendor_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "index_text.h"
#include "vendor_files.h"

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

static bool add_kernels(struct vendor_tree *tree, struct vendor_kernel *kernels, size_t count, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct text *text = &kernels[i].instance->text;
        char name[VENDOR_NAME_MAX];
        snprintf(name, sizeof name, "kernels/%s.hip", kernels[i].instance->name);
        manifest_hash(text->bytes, text->length, kernels[i].sha256);
        done = add_bytes(tree, name, text->bytes, text->length, error);
    }
    return done;
}

/* Code objects are not in the index: whoever builds the folder may compile them ahead. */
static bool add_index(struct vendor_tree *tree, const struct vendor_kernel *kernels, size_t count,
                      struct error *error) {
    struct vendor_file *file = add_file(tree, "kernels/" FMHA_INDEX_FILE, error);
    struct index_entry *entries = calloc(count, sizeof *entries);
    char(*names)[SPEC_NAME_MAX + 4] = calloc(count, sizeof *names);
    bool done = file && entries && names;
    if (file && !done)
        no_memory(error);
    for (size_t i = 0; done && i < count; i++) {
        const struct text *text = &kernels[i].instance->text;
        snprintf(names[i], sizeof names[i], "%s.hip", kernels[i].instance->name);
        entries[i] = (struct index_entry){.instance = kernels[i].instance,
                                          .rank = kernels[i].rank,
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

static int compare_kernels(const void *a, const void *b) {
    const struct vendor_kernel *left = a, *right = b;
    return strcmp(left->instance->name, right->instance->name);
}

bool vendor_make(struct vendor_kernel *kernels, size_t count, char *const *words, size_t word_count,
                 struct vendor_tree *tree, struct error *error) {
    *tree = (struct vendor_tree){0};
    struct text command = {0};
    text_puts(&command, "fmhagen vendor .");
    for (size_t i = 0; i < word_count; i++) {
        text_puts(&command, " ");
        text_quote(&command, words[i]);
    }
    qsort(kernels, count, sizeof *kernels, compare_kernels);
    bool done = (!command.failed || no_memory(error)) && add_kernels(tree, kernels, count, error) &&
                add_index(tree, kernels, count, error);
    char index_sha256[VENDOR_SHA_SIZE] = ""; /* a copy: the tree moves as it grows */
    if (done)
        memcpy(index_sha256, tree->files[tree->count - 1].sha256, sizeof index_sha256);
    const struct glue glue = {
        .kernels = kernels, .count = count, .index_sha256 = index_sha256, .command = command.bytes};
    done = done && add_runtime(tree, error) && add_glue(tree, &glue, error) &&
           add_manifest(tree, words, word_count, error);
    text_free(&command);
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
