#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* Makes room for `count` bytes and a NUL. */
static bool reserve(fmha_lines *lines, size_t count) {
    if (lines->failed || lines->capacity - lines->length > count) {
        return !lines->failed;
    }
    size_t capacity = lines->capacity * 2 + count + 256;
    char *larger = realloc(lines->text, capacity);
    if (larger == NULL) {
        lines->failed = true;
        return false;
    }
    lines->text = larger;
    lines->capacity = capacity;
    return true;
}

void fmha_lines_add_bytes(fmha_lines *lines, const void *bytes, size_t count) {
    if (reserve(lines, count)) {
        memcpy(lines->text + lines->length, bytes, count);
        lines->length += count;
        lines->text[lines->length] = '\0';
    }
}

void fmha_lines_add(fmha_lines *lines, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        lines->failed = true;
    } else if (reserve(lines, (size_t)length)) {
        va_start(arguments, format);
        vsnprintf(lines->text + lines->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
        lines->length += (size_t)length;
    }
}

char *fmha_lines_take(fmha_lines *lines) {
    char *text = reserve(lines, 0) ? lines->text : NULL;
    if (text == NULL) {
        free(lines->text);
    } else {
        text[lines->length] = '\0';
    }
    *lines = (fmha_lines){0};
    return text;
}
