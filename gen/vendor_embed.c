/* A tool of the build, run on the build machine: vendor_embed OUTPUT.c OUTPUT.d LICENSE TEXTS SOURCE.c …
 *
 * Writes what a vendored folder is made from into a C table (gen/vendor_files.h): the licence, the sources of the
 * runtime with every header of theirs, and the files of the folder TEXTS, which become the folder's build glue. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embed_table.h"

/* Adds FOLDER/NAME as PREFIX/NAME. */
static bool add_file(const char *folder, const char *name, const char *prefix, struct names *paths, struct names *as) {
    struct text path = {0}, inside = {0};
    text_printf(&path, "%s/%s", folder, name);
    text_printf(&inside, "%s%s", prefix, name);
    bool done = !path.failed && !inside.failed &&
                (names_hold(paths, path.bytes) || (names_add(paths, path.bytes) && names_add(as, inside.bytes)));
    text_free(&path);
    text_free(&inside);
    return done;
}

/* Adds the headers that the file paths[index] includes from its own folder. */
static bool add_headers(size_t index, struct names *paths, struct names *as, struct error *error) {
    char *bytes, *folder = strdup(paths->items[index]);
    size_t length;
    if (!folder || !file_read(paths->items[index], &bytes, &length, error)) {
        free(folder);
        return false;
    }
    *strrchr(folder, '/') = '\0';
    bool done = true;
    static const char include[] = "#include \"";
    char *rest = bytes;
    for (char *line; done && (line = strsep(&rest, "\n"));)
        if (strncmp(line, include, sizeof include - 1) == 0) {
            const char *name = strsep(&line, "\"") ? strsep(&line, "\"") : "";
            done = add_file(folder, name, strcmp(name, "fmha.h") == 0 ? "" : "src/", paths, as);
        }
    free(bytes);
    free(folder);
    return done;
}

static bool add_texts(const char *folder, struct names *paths, struct names *as, struct error *error) {
    DIR *handle = opendir(folder);
    if (!handle)
        return error_set(error, ERROR_RUN, "%s: expected a readable folder, got: %s", folder, strerror(errno));
    bool done = true;
    for (const struct dirent *entry; done && (entry = readdir(handle));)
        if (entry->d_name[0] != '.')
            done = add_file(folder, entry->d_name, "text/", paths, as);
    closedir(handle);
    return done;
}

static bool collect(char **argv, struct names *paths, struct names *as, struct error *error) {
    bool done = names_add(paths, argv[3]) && names_add(as, "LICENSE") && add_texts(argv[4], paths, as, error);
    size_t first = paths->count;
    for (char **source = argv + 5; done && *source; source++) {
        char *slash = strrchr(*source, '/');
        if (!slash)
            return error_set(error, ERROR_RUN, "%s: expected a path with its folder", *source);
        *slash = '\0';
        if (strcmp(slash + 1, "embedded_none.c") != 0) /* a vendored folder has a table of its own */
            done = add_file(*source, slash + 1, "src/", paths, as);
    }
    for (size_t i = first; done && i < paths->count; i++) /* headers include headers */
        done = add_headers(i, paths, as, error);
    return done;
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: vendor_embed OUTPUT.c OUTPUT.d LICENSE TEXTS SOURCE.c ...\n");
        return 2;
    }
    struct names paths = {0}, as = {0};
    struct text table = {0}, dependencies = {0};
    struct error error = {ERROR_RUN, "out of memory"};
    bool done = collect(argv, &paths, &as, &error) && embed_table_add(&table, "vendor_file", &paths, &as, &error) &&
                names_add(&paths, argv[4]);
    embed_rule_add(&dependencies, argv[1], &paths);
    done = done && !table.failed && !dependencies.failed && file_write(argv[1], table.bytes, table.length, &error) &&
           file_write(argv[2], dependencies.bytes, dependencies.length, &error);
    if (!done)
        fprintf(stderr, "vendor_embed: %s\n", error.text);
    names_free(&paths);
    names_free(&as);
    text_free(&table);
    text_free(&dependencies);
    return done ? 0 : 1;
}
