#include "library_choices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choices.h"
#include "library_folder.h"
#include "text.h"

#define MARK "fmha-choices 1\n# Modelled, not measured: " /* how those of choices/ begin */

static const struct template_file *find_file(const char *processor) {
    char path[SPEC_ARCH_MAX + 16];
    snprintf(path, sizeof path, "%s.choices", processor);
    for (size_t i = 0; i < choices_file_count; i++)
        if (strcmp(choices_files[i].path, path) == 0)
            return &choices_files[i];
    return NULL;
}

/* Whether the library has what a line chooses. */
static bool is_wanted(const char *line, size_t length, library_has has, const void *context) {
    static const char word[] = " instance=";
    char name[SPEC_NAME_MAX];
    const char *at = memmem(line, length, word, sizeof word - 1);
    if (!at)
        return false;
    at += sizeof word - 1;
    size_t bytes = strcspn(at, " \n");
    if (bytes >= sizeof name)
        return false;
    memcpy(name, at, bytes);
    name[bytes] = '\0';
    return has(context, name);
}

bool library_choices_mine(const char *folder, const char *processor) {
    struct error ignored;
    char *path = library_join(folder, processor, FMHA_CHOICES_FILE, "", &ignored), *bytes = NULL;
    size_t length;
    bool mine = path && library_file_read(path, &bytes, &length) && strncmp(bytes, MARK, sizeof MARK - 1) == 0;
    free(bytes);
    free(path);
    return mine;
}

bool library_choices_write(const char *folder, const char *processor, library_has has, const void *context,
                           struct error *error) {
    const struct template_file *file = find_file(processor);
    struct text text = {0};
    size_t count = 0;
    for (const char *line = file ? file->bytes : ""; *line;) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        bool choice = strncmp(line, "choice ", 7) == 0, wanted = choice && is_wanted(line, length, has, context);
        if (!choice || wanted)
            text_add(&text, line, length);
        count += wanted;
        line += length;
    }
    char *path = library_join(folder, processor, FMHA_CHOICES_FILE, "", error);
    bool done = path != NULL;
    if (done && access(path, F_OK) == 0 && !library_choices_mine(folder, processor)) {
        /* another's */
    } else if (done && count) {
        done = text.failed ? error_set(error, ERROR_RUN, "%s: out of memory", path)
                           : file_write(path, text.bytes, text.length, error);
    } else if (done && unlink(path) != 0 && errno != ENOENT) {
        done = error_set(error, ERROR_RUN, "%s: expected to remove it, got: %s", path, strerror(errno));
    }
    text_free(&text);
    free(path);
    return done;
}
