/* Finds drivers: those built in, and those in shared objects of their own. */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "driver_find.h"
#include "library.h"

#define NAME_MAX_LENGTH 16

static const struct {
    const char *name;
    const char *syntax;
    const fmha_driver *built_in; /* NULL: in libfmha_NAME.so */
} known_drivers[] = {
    {"emu", "emu:ARCH", NULL},
    {"isa", "isa:ARCH", NULL},
    {"hip", "hip[:N]", &fmha_driver_hip},
    {"cuda", "cuda[:N]", &fmha_driver_cuda},
};

#define KNOWN_COUNT (sizeof known_drivers / sizeof known_drivers[0])

/* Levenshtein's distance between two words of up to NAME_MAX_LENGTH letters, whose case does not count. */
static size_t distance(const char *left, const char *right) {
    size_t row[NAME_MAX_LENGTH + 1];
    size_t columns = strlen(right);
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 1; left[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t substitute =
                diagonal + (tolower((unsigned char)left[i - 1]) != tolower((unsigned char)right[j - 1]));
            diagonal = row[j];
            size_t indel = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = substitute < indel ? substitute : indel;
        }
    }
    return row[columns];
}

static fmha_status fail_unknown(const char *device_name, const char *word) {
    char hint[64] = "";
    size_t best = 3; /* further than that is no misspelling */
    for (size_t i = 0; i < KNOWN_COUNT && strlen(word) <= NAME_MAX_LENGTH && word[0] != '\0'; i++) {
        size_t d = distance(word, known_drivers[i].name);
        if (d < best) {
            best = d;
            snprintf(hint, sizeof hint, "; did you mean '%s'?", known_drivers[i].name);
        }
    }
    return fmha_fail(FMHA_ERROR_ARGUMENT, "device '%s': expected %s, %s, %s or %s, got the driver '%s'%s", device_name,
                     known_drivers[0].syntax, known_drivers[1].syntax, known_drivers[2].syntax, known_drivers[3].syntax,
                     word, hint);
}

/* ---- Shared objects -------------------------------------------------------------------------------------- */

/* An installation that was moved as a whole: a program in its bin folder finds its library folder. */
static void *open_beside(library_search *search, const char *folder, const char *const *names) {
    char beside[PATH_MAX];
    int length = snprintf(beside, sizeof beside, "%s/%s", folder, FMHA_LIBRARY_BESIDE);
    return length < (int)sizeof beside ? fmha_library_open_in(search, beside, names) : NULL;
}

/* A program that still stands in its build folder finds the driver that was built with it. */
static bool is_in_build(const char *folder) {
    size_t length = strlen(FMHA_BUILD_DIR);
    return length > 0 && strncmp(folder, FMHA_BUILD_DIR, length) == 0 &&
           (folder[length] == '/' || folder[length] == '\0');
}

static void *open_in_build(library_search *search, const char *driver_name, const char *const *names) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/%s", FMHA_DRIVERS_BUILD_DIR, driver_name);
    return length < (int)sizeof folder ? fmha_library_open_in(search, folder, names) : NULL;
}

/* `chosen`, $FMHA_DRIVER_DIR, decides alone; NULL: it is not set. */
static void *open_library(library_search *search, const char *driver_name, const char *file, const char *chosen) {
    const char *names[] = {file, NULL};
    char folder[PATH_MAX];
    void *library = NULL;
    if (chosen != NULL) {
        return fmha_library_open_in(search, chosen, names);
    }
    fmha_library_note(search, "$FMHA_DRIVER_DIR", "not set");
    if (fmha_library_own_folder(folder)) {
        library = fmha_library_open_in(search, folder, names);
        if (library == NULL && is_in_build(folder)) {
            library = open_in_build(search, driver_name, names);
        }
        if (library == NULL) {
            library = open_beside(search, folder, names);
        }
    }
    if (library == NULL) {
        library = fmha_library_open_in(search, FMHA_LIBRARY_DIR, names);
    }
    return library != NULL ? library : fmha_library_open(search, file);
}

static fmha_status find_shared(const char *device_name, const char *driver_name, const fmha_driver **driver,
                               void **library) {
    char file[64];
    snprintf(file, sizeof file, "libfmha_%s.so", driver_name);
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "device '%s': no memory to look for its driver", device_name);
    }
    const char *chosen = getenv("FMHA_DRIVER_DIR");
    bool decided = chosen != NULL && chosen[0] != '\0';
    void *opened = open_library(search, driver_name, file, decided ? chosen : NULL);
    fmha_status status = FMHA_OK;
    if (opened == NULL) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER, "device '%s': expected its driver %s, looked at%s\n%s", device_name,
                           file, search->places,
                           decided ? "unset FMHA_DRIVER_DIR or let it name the folder of the driver"
                                   : "install it beside libfmha, or set FMHA_DRIVER_DIR to its folder");
    }
    free(search);
    if (status != FMHA_OK) {
        return status;
    }
    fmha_driver_entry_function entry;
    *(void **)&entry = dlsym(opened, "fmha_driver_entry");
    const fmha_driver *found = entry != NULL ? entry(fmha_fail) : NULL;
    if (found == NULL) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "device '%s': expected %s to export fmha_driver_entry, got a file without "
                           "it; install the one that belongs to this libfmha",
                           device_name, file);
    } else if (found->version != FMHA_DRIVER_VERSION) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "device '%s': expected %s of interface version %d, got version %d; "
                           "install the one that belongs to this libfmha",
                           device_name, file, FMHA_DRIVER_VERSION, found->version);
    }
    if (status != FMHA_OK) {
        fmha_library_close(opened);
        return status;
    }
    *driver = found;
    *library = opened;
    return FMHA_OK;
}

fmha_status fmha_driver_find(const char *device_name, const fmha_driver **driver, void **library) {
    *driver = NULL;
    *library = NULL;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(device_name, ":"), device_name);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (strcmp(word, known_drivers[i].name) == 0) {
            *driver = known_drivers[i].built_in;
            return *driver != NULL ? FMHA_OK : find_shared(device_name, word, driver, library);
        }
    }
    return fail_unknown(device_name, word);
}

void fmha_driver_release(void *library) {
    fmha_library_close(library);
}
