#include "place.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_lines {
    pthread_mutex_t lock; /* libdw's tables are made as they are asked for */
    Dwarf *debug;
};

emu_lines *emu_lines_open(int file) {
    emu_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        return NULL;
    }
    pthread_mutex_init(&lines->lock, NULL);
    lines->debug = dwarf_begin(file, DWARF_C_READ);
    if (lines->debug == NULL) {
        free(lines);
        return NULL;
    }
    return lines;
}

void emu_lines_close(emu_lines *lines) {
    if (lines != NULL) {
        dwarf_end(lines->debug);
        free(lines);
    }
}

/* The last row at or below the address that has a line: code that stands for several lines has line 0. */
static void find_row(Dwarf_Die *unit, Dwarf_Addr address, emu_place *place) {
    Dwarf_Lines *rows;
    size_t count;
    if (dwarf_getsrclines(unit, &rows, &count) != 0) {
        return;
    }
    Dwarf_Addr best = 0;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        Dwarf_Addr at;
        int line = 0;
        bool end = false;
        if (dwarf_lineaddr(row, &at) != 0 || dwarf_lineno(row, &line) != 0 || dwarf_lineendsequence(row, &end) != 0 ||
            end || line == 0 || at > address || at < best) {
            continue;
        }
        const char *name = dwarf_linesrc(row, NULL, NULL);
        if (name != NULL) {
            best = at;
            place->line = line;
            snprintf(place->file, sizeof place->file, "%s", strncmp(name, "./", 2) == 0 ? name + 2 : name);
        }
    }
}

/* Whether an inlined call stands in the text, not in what the text is compiled with. */
static bool is_call_of_text(Dwarf_Die *scope, Dwarf_Files *files, Dwarf_Word *line) {
    Dwarf_Attribute attribute;
    Dwarf_Word file;
    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), line) != 0) {
        return false;
    }
    const char *name = dwarf_filesrc(files, file, NULL, NULL);
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    return name != NULL && strncmp(slash != NULL ? slash + 1 : name, "emu_", 4) != 0;
}

static void find_callers(Dwarf_Die *unit, Dwarf_Addr address, emu_place *place) {
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files;
    size_t file_count, used = 0;
    if (dwarf_getsrcfiles(unit, &files, &file_count) != 0) {
        return;
    }
    int count = dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count; i++) {
        Dwarf_Word line;
        if (!is_call_of_text(&scopes[i], files, &line)) {
            continue;
        }
        int added = snprintf(place->callers + used, sizeof place->callers - used, "%s line %llu",
                             used == 0 ? ", called from" : ", from", (unsigned long long)line);
        if (added < 0 || used + (size_t)added >= sizeof place->callers) {
            place->callers[used] = '\0';
            break;
        }
        used += (size_t)added;
    }
    free(scopes);
}

static bool find_unit(Dwarf *debug, Dwarf_Addr address, Dwarf_Die *unit) {
    Dwarf_Off at = 0, next;
    size_t header_bytes;
    while (dwarf_nextcu(debug, at, &next, &header_bytes, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(debug, at + header_bytes, unit) != NULL && dwarf_haspc(unit, address) == 1) {
            return true;
        }
        at = next;
    }
    return false;
}

void emu_lines_find(emu_lines *lines, uintptr_t offset, emu_place *place) {
    *place = (emu_place){.file = "kernel"};
    if (lines == NULL) {
        return;
    }
    Dwarf_Die unit;
    pthread_mutex_lock(&lines->lock);
    if (find_unit(lines->debug, offset, &unit)) {
        find_row(&unit, offset, place);
        find_callers(&unit, offset, place);
    }
    pthread_mutex_unlock(&lines->lock);
}
