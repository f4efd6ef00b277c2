/* A tool of the build, run on the build machine: embed FOLDER OUTPUT.c OUTPUT.d
 *
 * Writes every .hip and .lua file below FOLDER into a C table (gen/embed.h), and a dependency file that names each of
 * them and each folder, so that a file that was changed, added or removed makes the table anew. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"

struct names {
    char **items;
    size_t count;
};

static bool names_add(struct names *names, const char *name) {
    char **items = realloc(names->items, (names->count + 1) * sizeof *items);
    if (!items)
        return false;
    names->items = items;
    items[names->count] = strdup(name);
    return items[names->count] && ++names->count;
}

static void names_free(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_template(const char *name) {
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot && (!strcmp(dot, ".hip") || !strcmp(dot, ".lua"));
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
        else if (is_template(entry->d_name))
            done = names_add(files, inside);
    }
    if (handle)
        closedir(handle);
    text_free(&folder);
    text_free(&path);
    return done;
}

static bool add_table(struct text *out, const char *root, const struct names *files, struct error *error) {
    struct text path = {0};
    text_puts(out, "#include \"embed.h\"\n\n");
    for (size_t i = 0; i < files->count; i++) {
        path.length = 0;
        text_printf(&path, "%s/%s", root, files->items[i]);
        char *bytes;
        size_t length;
        if (path.failed || !file_read(path.bytes, &bytes, &length, error)) {
            text_free(&path);
            return false;
        }
        text_printf(out, "static const char file_%zu[] = {", i);
        for (size_t j = 0; j <= length; j++)
            text_printf(out, j % 32 ? "%d," : "\n    %d,", j < length ? (signed char)bytes[j] : 0);
        text_printf(out, "\n};\n\n");
        free(bytes);
    }
    text_free(&path);
    text_puts(out, "const struct template_file template_files[] = {\n");
    for (size_t i = 0; i < files->count; i++)
        text_printf(out, "    {\"%s\", file_%zu, sizeof file_%zu - 1},\n", files->items[i], i, i);
    text_printf(out, "    {0, 0, 0},\n};\nconst size_t template_file_count = %zu;\n", files->count);
    return true;
}

static void add_escaped(struct text *out, const char *path) {
    for (; *path; path++) {
        if (*path == ' ' || *path == '#')
            text_puts(out, "\\");
        else if (*path == '$')
            text_puts(out, "$");
        text_add(out, path, 1);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: embed FOLDER OUTPUT.c OUTPUT.d\n");
        return 2;
    }
    struct names folders = {0}, files = {0};
    struct text table = {0}, dependencies = {0};
    struct error error = {ERROR_RUN, "out of memory"};
    bool done = walk(argv[1], "", &folders, &files);
    if (!done)
        error_set(&error, ERROR_RUN, "%s: expected a readable folder, got: %s", argv[1], strerror(errno));
    if (done) {
        if (files.count)
            qsort(files.items, files.count, sizeof *files.items, compare_names);
        done = add_table(&table, argv[1], &files, &error);
    }
    if (done) {
        add_escaped(&dependencies, argv[2]);
        text_puts(&dependencies, ":");
        for (size_t i = 0; i < folders.count; i++) {
            text_puts(&dependencies, " \\\n ");
            add_escaped(&dependencies, folders.items[i]);
        }
        for (size_t i = 0; i < files.count; i++) {
            text_puts(&dependencies, " \\\n ");
            add_escaped(&dependencies, argv[1]);
            text_puts(&dependencies, "/");
            add_escaped(&dependencies, files.items[i]);
        }
        text_puts(&dependencies, "\n");
        done = !table.failed && !dependencies.failed && file_write(argv[2], table.bytes, table.length, &error) &&
               file_write(argv[3], dependencies.bytes, dependencies.length, &error);
    }
    if (!done)
        fprintf(stderr, "embed: %s\n", error.text);
    names_free(&folders);
    names_free(&files);
    text_free(&table);
    text_free(&dependencies);
    return done ? 0 : 1;
}
