/* The files below templates/, as gen/embed.c wrote them into the binary. */
#ifndef GEN_EMBED_H
#define GEN_EMBED_H

#include <stddef.h>

struct template_file {
    const char *path;  /* below templates/: "ops/forward.hip" */
    const char *bytes; /* NUL-terminated after `length` bytes */
    size_t length;
};

extern const struct template_file template_files[]; /* sorted by path */
extern const size_t template_file_count;

#endif
