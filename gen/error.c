#include "error.h"

#include <stdio.h>

bool error_set(struct error *error, enum error_kind kind, const char *format, ...) {
    error->kind = kind;
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0)
        error->text[0] = '\0';
    va_end(arguments);
    return false;
}
