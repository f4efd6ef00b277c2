#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../file.h"

struct isa_lines {
    int file; /* in memory; libdw reads it as it goes */
    emu_lines *lines;
};

static int memory_file(const void *object, size_t bytes) {
    int file = memfd_create("code object", MFD_CLOEXEC);
    if (file >= 0 && !fmha_file_put(file, object, bytes)) {
        close(file);
        return -1;
    }
    return file;
}

isa_lines *isa_lines_open(const void *object, size_t bytes) {
    isa_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        return NULL;
    }
    lines->file = memory_file(object, bytes);
    lines->lines = lines->file >= 0 ? emu_lines_open(lines->file) : NULL;
    if (lines->lines == NULL) {
        if (lines->file >= 0) {
            close(lines->file);
        }
        free(lines);
        return NULL;
    }
    return lines;
}

void isa_lines_close(isa_lines *lines) {
    if (lines != NULL) {
        emu_lines_close(lines->lines);
        close(lines->file);
        free(lines);
    }
}

void isa_lines_find(isa_lines *lines, uint64_t address, emu_place *place) {
    emu_lines_find(lines != NULL ? lines->lines : NULL, (uintptr_t)address, place);
    char *slash = strrchr(place->file, '/');
    if (slash != NULL) {
        memmove(place->file, slash + 1, strlen(slash + 1) + 1);
    }
}
