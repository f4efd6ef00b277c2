/* The one way in which functions of the generator report failure: they return false (or NULL) and fill an error. */
#ifndef GEN_ERROR_H
#define GEN_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* Whose fault it is decides the exit status. */
enum error_kind {
    ERROR_USAGE = 2, /* the command line or a spec is wrong */
    ERROR_RUN = 1    /* it ran and failed: compiler, device, file */
};

struct error {
    enum error_kind kind;
    char text[4096]; /* complete message without a trailing newline; may hold several lines */
};

/* Fills the error, cutting what does not fit; always returns false. */
bool error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
