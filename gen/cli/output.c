#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_is_folder(const char *path) {
    struct stat status;
    size_t length = strlen(path);
    if (length && path[length - 1] == '/')
        return true;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool output_folder_make(const char *path, struct error *error) {
    char *copy = strdup(path);
    if (!copy)
        return error_set(error, ERROR_RUN, "%s: out of memory", path);
    bool done = true;
    for (char *end = copy; done && *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char kept = *end;
        *end = 0;
        struct stat status;
        int reason = mkdir(copy, 0777) == 0 ? 0 : errno;
        if (reason && stat(copy, &status) != 0)
            done = error_set(error, ERROR_RUN, "%s: expected to make the folder, got: %s", copy, strerror(reason));
        else if (stat(copy, &status) != 0 || !S_ISDIR(status.st_mode))
            done = error_set(error, ERROR_RUN, "%s: expected a folder, got a file of that name; choose another folder",
                             copy);
        *end = kept;
    }
    free(copy);
    return done;
}

char *output_join(const char *folder, const char *name, const char *suffix, struct error *error) {
    size_t folder_length = strlen(folder);
    const char *slash = folder_length == 0 || folder[folder_length - 1] == '/' ? "" : "/";
    size_t size = folder_length + strlen(name) + strlen(suffix) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s%s", folder, slash, name, suffix);
    else
        error_set(error, ERROR_RUN, "%s: out of memory", name);
    return path;
}

bool output_write_all(const struct output_file *files, int count, struct error *error) {
    for (int i = 0; i < count; i++)
        if (output_is_folder(files[i].path))
            return error_set(error, ERROR_RUN, "%s: expected a file to write, got a folder; choose another with -o",
                             files[i].path);
    for (int i = 0; i < count; i++) {
        if (file_write(files[i].path, files[i].bytes, files[i].length, error))
            continue;
        while (i-- > 0)
            unlink(files[i].path);
        return false;
    }
    return true;
}
