#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)

void fmha_library_note(library_search *search, const char *place, const char *outcome) {
    size_t room = sizeof search->places - search->length;
    int added = snprintf(search->places + search->length, room, "\n  %s: %s", place, outcome);
    search->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room - 1;
}

void *fmha_library_open(library_search *search, const char *path) {
    if (strchr(path, '/') != NULL && access(path, F_OK) != 0) {
        fmha_library_note(search, path, "nothing there");
        return NULL;
    }
    void *library = dlopen(path, OPEN_FLAGS);
    if (library == NULL) {
        const char *why = dlerror();
        size_t name = why != NULL && strncmp(why, path, strlen(path)) == 0 ? strlen(path) : 0;
        name += name > 0 ? strspn(why + name, ": ") : 0; /* the loader repeats the name that the note begins with */
        fmha_library_note(search, path, why != NULL ? why + name : "the loader gave no reason");
    }
    return library;
}

void *fmha_library_open_in(library_search *search, const char *folder, const char *const *names) {
    char path[PATH_MAX];
    void *library = NULL;
    size_t present = 0;
    for (size_t i = 0; names[i] != NULL && library == NULL; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path && access(path, F_OK) == 0) {
            present++;
            library = fmha_library_open(search, path);
        }
    }
    if (present == 0) {
        fmha_library_note(search, folder, "no such library there");
    }
    return library;
}

void *fmha_library_loaded(const char *const *names) {
    void *library = NULL;
    for (size_t i = 0; names[i] != NULL && library == NULL; i++) {
        library = dlopen(names[i], OPEN_FLAGS | RTLD_NOLOAD);
    }
    return library;
}

const char *fmha_library_bind(void *library, const char *const *names, size_t count, void *functions) {
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, names[i]);
        if (found == NULL) {
            return names[i];
        }
        memcpy((char *)functions + i * sizeof found, &found, sizeof found);
    }
    return NULL;
}

void fmha_library_close(void *library) {
    if (library != NULL) {
        dlclose(library);
    }
}

const char *fmha_library_path(void *library) {
    struct link_map *map = NULL;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_name : "(unknown file)";
}

bool fmha_library_own_folder(char *folder) {
    static const char here;
    Dl_info info;
    struct link_map *map = NULL;
    const char *file = "/proc/self/exe"; /* the program itself has an empty name in the link map */
    if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map != NULL && map->l_name[0] != '\0') {
        file = map->l_name;
    }
    if (realpath(file, folder) == NULL) {
        return false;
    }
    *strrchr(folder, '/') = '\0';
    return true;
}
