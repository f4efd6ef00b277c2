/* A tool of the build, run on the build machine: embed FOLDER OUTPUT.c OUTPUT.d [SYMBOL]
 *
 * Writes every .hip, .lua and .choices file below FOLDER into a C table (gen/embed.h), and a dependency file that names
 * each of them and each folder, so that a file that was changed, added or removed makes the table anew. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "embed_table.h"

static bool is_wanted(const char *name) {
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot && (!strcmp(dot, ".hip") || !strcmp(dot, ".lua") || !strcmp(dot, ".choices"));
}

/* Adds the paths (below `root`) of the folder `below` and of all folders in it, and of their templates. */
static bool walk(const char *root, const char *below, struct names *folders, struct names *files) {
    struct text folder = {0}, path = {0};
    text_printf(&folder, "%s%s%s", root, *below ? "/" : "", below);
    DIR *handle = folder.failed || !names_add(folders, folder.bytes) ? NULL : opendir(folder.bytes);
    bool done = handle != NULL;
    const struct dirent *entry;
    while (done && (entry = readdir(handle))) {
        if (entry->d_name[0] == '.')
            continue;
        struct stat status;
        path.length = 0;
        text_printf(&path, "%s/%s", folder.bytes, entry->d_name);
        done = !path.failed && stat(path.bytes, &status) == 0;
        if (!done)
            break;
        const char *inside = path.bytes + strlen(root) + 1;
        if (S_ISDIR(status.st_mode))
            done = walk(root, inside, folders, files);
        else if (is_wanted(entry->d_name))
            done = names_add(files, inside);
    }
    if (handle)
        closedir(handle);
    text_free(&folder);
    text_free(&path);
    return done;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: embed FOLDER OUTPUT.c OUTPUT.d [SYMBOL]\n");
        return 2;
    }
    struct names folders = {0}, files = {0}, paths = {0}; /* files: below FOLDER */
    struct text table = {0}, dependencies = {0}, path = {0};
    struct error error = {ERROR_RUN, "out of memory"};
    bool done = walk(argv[1], "", &folders, &files);
    if (!done)
        error_set(&error, ERROR_RUN, "%s: expected a readable folder, got: %s", argv[1], strerror(errno));
    names_sort(&files);
    for (size_t i = 0; done && i < files.count; i++) {
        path.length = 0;
        text_printf(&path, "%s/%s", argv[1], files.items[i]);
        done = !path.failed && names_add(&paths, path.bytes) && names_add(&folders, path.bytes);
    }
    done = done && embed_table_add(&table, argc == 5 ? argv[4] : "template_file", &paths, &files, &error);
    embed_rule_add(&dependencies, argv[2], &folders);
    done = done && !table.failed && !dependencies.failed && file_write(argv[2], table.bytes, table.length, &error) &&
           file_write(argv[3], dependencies.bytes, dependencies.length, &error);
    if (!done)
        fprintf(stderr, "embed: %s\n", error.text);
    names_free(&folders);
    names_free(&files);
    names_free(&paths);
    text_free(&path);
    text_free(&table);
    text_free(&dependencies);
    return done ? 0 : 1;
}
