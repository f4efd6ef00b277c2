#include "catalogue.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "driver.h"
#include "embedded.h"
#include "file.h"
#include "library.h"

#define FOLDER_NAME "fmha" /* beside libfmha */

/* ---- Files of a library ---------------------------------------------------------------------------------- */

static const struct fmha_embedded_file *embedded_file(const char *name) {
    const struct fmha_embedded_file *file = fmha_embedded_files;
    while (file->name != NULL && strcmp(file->name, name) != 0) {
        file++;
    }
    return file->name != NULL ? file : NULL;
}

static fmha_status read_embedded(const char *name, void **bytes, size_t *count, bool *found) {
    const struct fmha_embedded_file *file = embedded_file(name);
    *found = file != NULL;
    if (file == NULL) {
        return FMHA_OK;
    }
    *count = (size_t)(file->end - file->begin);
    char *copy = malloc(*count + 1);
    if (copy == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its %zu bytes", name, *count);
    }
    memcpy(copy, file->begin, *count);
    copy[*count] = '\0';
    *bytes = copy;
    return FMHA_OK;
}

static fmha_status read_in_folder(const char *folder, const char *name, void **bytes, size_t *count, bool *found) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        return fmha_fail(FMHA_ERROR_IO, "%s/%s: the path is too long", folder, name);
    }
    *found = access(path, F_OK) == 0 || errno != ENOENT;
    return *found ? fmha_file_read(path, bytes, count) : FMHA_OK;
}

static fmha_status read_part(const struct fmha_catalogue_library *library, const char *name, uint64_t bytes_expected,
                             uint64_t hash, bool recorded, void **bytes, size_t *count, bool *found) {
    *bytes = NULL;
    *count = 0;
    fmha_status status = library->folder != NULL ? read_in_folder(library->folder, name, bytes, count, found)
                                                 : read_embedded(name, bytes, count, found);
    if (status != FMHA_OK || !*found || !recorded) {
        return status;
    }
    if (*count != bytes_expected || fmha_index_hash(*bytes, *count) != hash) {
        status = fmha_fail(FMHA_ERROR_IO,
                           "%s/%s: expected the %llu bytes that the index names, got %zu others; make the library anew "
                           "with `fmhagen library`",
                           library->folder != NULL ? library->folder : library->name, name,
                           (unsigned long long)bytes_expected, *count);
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

/* A code object that the project compiled ahead by itself is no part of the index. */
static void own_object_name(const struct fmha_descriptor *instance, char name[512]) {
    snprintf(name, 512, "%s.hsaco", instance->name);
}

bool fmha_catalogue_has_object(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance) {
    char name[512];
    if (instance->object != NULL || library->folder != NULL) {
        return instance->object != NULL;
    }
    own_object_name(instance, name);
    return embedded_file(name) != NULL;
}

fmha_status fmha_catalogue_object(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance,
                                  void **bytes, size_t *count, bool *found) {
    char name[512];
    own_object_name(instance, name);
    *found = false;
    if (instance->object != NULL) {
        return read_part(library, instance->object, instance->object_bytes, instance->object_hash, true, bytes, count,
                         found);
    }
    return library->folder == NULL ? read_part(library, name, 0, 0, false, bytes, count, found) : FMHA_OK;
}

fmha_status fmha_catalogue_source(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance,
                                  void **bytes, size_t *count, bool *found) {
    *found = false;
    return instance->source != NULL ? read_part(library, instance->source, instance->source_bytes,
                                                instance->source_hash, true, bytes, count, found)
                                    : FMHA_OK;
}

fmha_status fmha_catalogue_file(const struct fmha_catalogue_library *library, const char *name, void **bytes,
                                size_t *count, bool *found) {
    return read_part(library, name, 0, 0, false, bytes, count, found);
}

/* ---- Finding libraries ----------------------------------------------------------------------------------- */

static char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *format_text(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length >= 0 ? text : NULL;
}

/* `folder` of the chip is the new library's from now on, NULL for what is linked in. */
static struct fmha_catalogue_library *append(struct fmha_catalogue *catalogue, const char *name, char *folder) {
    struct fmha_catalogue_library **larger =
        realloc(catalogue->libraries, (catalogue->count + 1) * sizeof *catalogue->libraries);
    struct fmha_catalogue_library *library = calloc(1, sizeof *library);
    char *copy = strdup(name);
    if (larger != NULL) {
        catalogue->libraries = larger;
    }
    if (larger == NULL || library == NULL || copy == NULL) {
        free(library);
        free(copy);
        free(folder);
        return NULL;
    }
    *library = (struct fmha_catalogue_library){.name = copy, .folder = folder};
    catalogue->libraries[catalogue->count++] = library;
    return library;
}

static void free_library(struct fmha_catalogue_library *library) {
    fmha_index_free(library->index);
    free(library->name);
    free(library->folder);
    free(library->note);
    free(library);
}

/* Reads the library's index, or notes why there is none. */
static fmha_status read_index(struct fmha_catalogue_library *library, const char *processor) {
    void *text;
    size_t count;
    bool found;
    fmha_status status = library->folder != NULL
                             ? read_in_folder(library->folder, FMHA_INDEX_FILE, &text, &count, &found)
                             : read_embedded(FMHA_INDEX_FILE, &text, &count, &found);
    if (status == FMHA_OK && !found) {
        library->note = format_text("no instances for %s: it has no %s/%s", processor, processor, FMHA_INDEX_FILE);
        return library->note != NULL ? FMHA_OK : FMHA_ERROR_MEMORY;
    }
    if (status == FMHA_OK) {
        char *path = format_text("%s/%s", library->folder != NULL ? library->folder : library->name, FMHA_INDEX_FILE);
        status = path != NULL ? fmha_index_parse(path, text, count, &library->index) : FMHA_ERROR_MEMORY;
        free(path);
        free(text);
    }
    if (status == FMHA_ERROR_MEMORY) {
        return status;
    }
    library->damaged = status != FMHA_OK;
    size_t instances = library->damaged ? 0 : fmha_index_count(library->index);
    const char *plural = instances == 1 ? "" : "s";
    library->note = library->damaged          ? strdup(fmha_last_error())
                    : library->folder == NULL ? format_text("%zu instance%s", instances, plural)
                                              : format_text("%zu instance%s for %s", instances, plural, processor);
    return library->note != NULL ? FMHA_OK : FMHA_ERROR_MEMORY;
}

static fmha_status add_library(struct fmha_catalogue *catalogue, const char *folder, const char *processor,
                               const struct fmha_log *log) {
    char *chip_folder = NULL;
    if (folder != NULL) {
        for (size_t i = 0; i < catalogue->count; i++) { /* one that is named twice is asked once */
            if (catalogue->libraries[i]->folder != NULL && strcmp(catalogue->libraries[i]->name, folder) == 0) {
                return FMHA_OK;
            }
        }
        chip_folder = format_text("%s/%s", folder, processor);
        if (chip_folder == NULL) {
            return FMHA_ERROR_MEMORY;
        }
    }
    struct fmha_catalogue_library *library =
        append(catalogue, folder != NULL ? folder : "linked into the program", chip_folder);
    fmha_status status = library != NULL ? read_index(library, processor) : FMHA_ERROR_MEMORY;
    if (status == FMHA_OK) {
        fmha_log_line(log, "library %s: %s", library->name, library->note);
    } else if (library != NULL) {
        free_library(library);
        catalogue->count--;
    }
    return status;
}

/* The folders of a list that colons separate; an empty one is none. */
static fmha_status add_path(struct fmha_catalogue *catalogue, const char *path, const char *processor,
                            const struct fmha_log *log) {
    fmha_status status = FMHA_OK;
    while (path != NULL && *path != '\0' && status == FMHA_OK) {
        size_t length = strcspn(path, ":");
        char *folder = strndup(path, length);
        status = folder == NULL ? FMHA_ERROR_MEMORY
                 : length > 0   ? add_library(catalogue, folder, processor, log)
                                : FMHA_OK;
        free(folder);
        path += length + (path[length] == ':');
    }
    return status;
}

/* fmha/ in the folder that libfmha is in, or in the library folder of the installation that the program is in. */
static fmha_status add_beside(struct fmha_catalogue *catalogue, const char *processor, const struct fmha_log *log) {
    char own[PATH_MAX], path[PATH_MAX], real[PATH_MAX];
    bool known = fmha_library_own_folder(own);
    const struct {
        const char *base, *below;
    } places[] = {{known ? own : "", ""}, {known ? own : "", "/" FMHA_LIBRARY_BESIDE}, {FMHA_LIBRARY_DIR, ""}};
    fmha_status status = FMHA_OK;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && status == FMHA_OK; i++) {
        int length = snprintf(path, sizeof path, "%s%s/%s", places[i].base, places[i].below, FOLDER_NAME);
        if (places[i].base[0] == '/' && length < (int)sizeof path && realpath(path, real) != NULL) {
            status = add_library(catalogue, real, processor, log);
        }
    }
    return status;
}

static void name_processor(const char *arch, char processor[64]) {
    snprintf(processor, 64, "%.*s", (int)strcspn(arch, ":"), arch);
}

fmha_status fmha_catalogue_add(struct fmha_catalogue *catalogue, const char *arch, const char *folder,
                               const struct fmha_log *log) {
    char processor[64];
    name_processor(arch, processor);
    return add_library(catalogue, folder, processor, log) == FMHA_OK
               ? FMHA_OK
               : fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for the index of an instance library", arch);
}

fmha_status fmha_catalogue_open(const char *arch, char *const *added, size_t added_count, const struct fmha_log *log,
                                struct fmha_catalogue *catalogue) {
    char processor[64];
    *catalogue = (struct fmha_catalogue){0};
    name_processor(arch, processor);
    fmha_status status = FMHA_OK;
    for (size_t i = 0; i < added_count && status == FMHA_OK; i++) {
        status = add_library(catalogue, added[i], processor, log);
    }
    if (status == FMHA_OK && fmha_embedded_files[0].name != NULL) {
        status = add_library(catalogue, NULL, processor, log);
    }
    if (status == FMHA_OK) {
        status = add_path(catalogue, getenv("FMHA_LIBRARY_PATH"), processor, log);
    }
    if (status == FMHA_OK) {
        status = add_beside(catalogue, processor, log);
    }
    if (status != FMHA_OK) {
        fmha_catalogue_close(catalogue);
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for the indices of its instance libraries", arch);
    }
    return FMHA_OK;
}

void fmha_catalogue_close(struct fmha_catalogue *catalogue) {
    for (size_t i = 0; i < catalogue->count; i++) {
        free_library(catalogue->libraries[i]);
    }
    free(catalogue->libraries);
    *catalogue = (struct fmha_catalogue){0};
}
