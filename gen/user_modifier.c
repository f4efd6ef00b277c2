#include "user_modifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template.h"

#define BYTES_MAX ((size_t)1 << 20)

/* FNV-1a; 0 stands for no modifier. */
static uint32_t hash_of(const char *bytes, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash ? hash : 1;
}

bool user_modifier_open(const char *path, struct template_engine *engine, struct spec *spec, struct error *error) {
    char *bytes = NULL;
    size_t length = 0;
    struct error why;
    if (!*path || strlen(path) >= sizeof spec->modifier)
        return error_set(error, ERROR_USAGE,
                         "--modifier: expected the path of a file, of 1 to %zu characters, got '%.60s%s'",
                         sizeof spec->modifier - 1, path, *path ? "…" : "");
    if (!file_read(path, &bytes, &length, &why))
        return error_set(error, ERROR_USAGE, "--modifier: %s", why.text);
    bool done = (length > 0 && length <= BYTES_MAX && !memchr(bytes, '\0', length)) ||
                error_set(error, ERROR_USAGE,
                          "--modifier: expected a template of 1 to %zu bytes of text, got '%s', which has %zu%s",
                          BYTES_MAX, path, length, length > 0 && length <= BYTES_MAX ? " and a NUL among them" : "");
    done = done && template_engine_add(engine, USER_MODIFIER_TEMPLATE, bytes, length, error);
    if (done) {
        snprintf(spec->modifier, sizeof spec->modifier, "%s", path);
        spec->modifier_hash = hash_of(bytes, length);
    }
    free(bytes);
    return done;
}
