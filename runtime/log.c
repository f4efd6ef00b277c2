#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define LINE_BYTES 4096

bool fmha_log_open(struct fmha_log *log) {
    const char *path = getenv("FMHA_LOG"), *dump = getenv("FMHA_DUMP");
    bool wants_log = path != NULL && path[0] != '\0' && strcmp(path, "0") != 0;
    bool wants_dump = dump != NULL && dump[0] != '\0';
    bool to_stderr = wants_log && (strcmp(path, "stderr") == 0 || strcmp(path, "1") == 0);
    log->path = wants_log ? strdup(to_stderr ? "" : path) : NULL;
    log->dump = wants_dump ? strdup(dump) : NULL;
    if ((wants_log && log->path == NULL) || (wants_dump && log->dump == NULL)) {
        fmha_log_close(log);
        return false;
    }
    return true;
}

void fmha_log_close(struct fmha_log *log) {
    free(log->path);
    free(log->dump);
    *log = (struct fmha_log){0};
}

void fmha_log_line(const struct fmha_log *log, const char *format, ...) {
    char line[LINE_BYTES];
    if (log->path == NULL) {
        return;
    }
    int begin = snprintf(line, sizeof line, "fmha %ld: ", (long)getpid());
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line + begin, sizeof line - (size_t)begin - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    if (more < 0) {
        return;
    }
    for (size_t i = 0; i < length; i++) { /* a compiler's words have line breaks */
        if (line[i] == '\n') {
            line[i] = ' ';
        }
    }
    line[length] = '\n';
    /* Appending in one call keeps lines of several processes apart. A pipe that nobody reads holds nobody up. */
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int file = log->path[0] != '\0' ? open(log->path, flags, 0644) : STDERR_FILENO;
    if (file >= 0) {
        fmha_file_put(file, line, length + 1); /* a log that cannot be written is no reason for anything to fail */
    }
    if (log->path[0] != '\0' && file >= 0) {
        close(file);
    }
}

void fmha_log_dump(const struct fmha_log *log, const char *name, const char *suffix, const void *bytes, size_t count) {
    char path[4096], temporary[4160];
    if (log->dump == NULL) {
        return;
    }
    if (mkdir(log->dump, 0777) != 0 && errno != EEXIST) {
        fmha_log_line(log, "%s: cannot be made: %s", log->dump, strerror(errno));
        return;
    }
    if (snprintf(path, sizeof path, "%s/%s%s", log->dump, name, suffix) >= (int)sizeof path) {
        fmha_log_line(log, "%s: the name is too long", log->dump);
        return;
    }
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file >= 0) {
        fchmod(file, 0644);
        close(file);
    }
    if (file < 0 || fmha_file_write(temporary, bytes, count) != FMHA_OK ||
        fmha_file_publish(temporary, path) != FMHA_OK) {
        fmha_log_line(log, "%s: cannot be written: %s", path, file < 0 ? strerror(errno) : fmha_last_error());
        if (file >= 0) {
            unlink(temporary);
        }
        return;
    }
    fmha_log_line(log, "wrote %s", path);
}
