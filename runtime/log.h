/* What a person sees of libfmha's decisions when asking for it: $FMHA_LOG, "stderr" or a file to append to, has a line
 * for each step; $FMHA_DUMP, a folder, receives what was compiled and launched. Both are read when a device is opened,
 * and neither can make a call fail. */
#ifndef FMHA_LOG_H
#define FMHA_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct fmha_log {
    char *path; /* NULL: no log; "": stderr */
    char *dump; /* NULL: no dump */
};

/* Reads the environment. False when there is no memory. */
bool fmha_log_open(struct fmha_log *log);
void fmha_log_close(struct fmha_log *log);

static inline bool fmha_log_wanted(const struct fmha_log *log) {
    return log->path != NULL;
}

/* One line, "fmha 12345: …": the process's number, then the text, line breaks made blanks, written in one call. */
void fmha_log_line(const struct fmha_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes DUMP/NAME SUFFIX, whole; a file with the same bytes is left alone. */
void fmha_log_dump(const struct fmha_log *log, const char *name, const char *suffix, const void *bytes, size_t count);

#endif
