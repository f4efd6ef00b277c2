#include "cubin.h"

#include <stdio.h>
#include <string.h>

#include "image.h"

/* Records of .nv.info: a byte of form, a byte that names the attribute, and 16 bits of value or of the size of what
 * follows. */
enum { FORM_VALUE = 3, FORM_BYTES = 4 };
enum {
    FRAME_SIZE = 0x11,     /* symbol, bytes; in .nv.info */
    REGISTER_COUNT = 0x2f, /* symbol, count; in .nv.info */
    MAX_THREADS = 0x05,    /* x, y, z; in .nv.info.NAME */
    PARAMETER_BYTES = 0x19 /* a value; in .nv.info.NAME */
};

#define INFO_PREFIX    ".nv.info."
#define SHARED_PREFIX  ".nv.shared."
#define LDS_SYMBOL     "fmha_lds_bytes" /* the constant in which a text says what dynamic LDS its kernel wants */
#define RESERVED_BYTES 1024 /* of LDS that the system has of each workgroup, counted in the section from sm_90 on */

struct cubin {
    const uint8_t *bytes;
    size_t length;
    const Elf64_Ehdr *header;
    size_t names; /* the section of section names */
};

static bool within(size_t length, uint64_t offset, uint64_t size) {
    return offset <= length && size <= length - offset;
}

static bool read_section(const struct cubin *cubin, size_t index, Elf64_Shdr *section) {
    uint64_t at = cubin->header->e_shoff + index * sizeof *section;
    if (index >= cubin->header->e_shnum || !within(cubin->length, at, sizeof *section)) {
        return false;
    }
    memcpy(section, cubin->bytes + at, sizeof *section);
    return section->sh_type == SHT_NOBITS || within(cubin->length, section->sh_offset, section->sh_size);
}

/* The string at `offset` of a section of strings; NULL where it does not end. */
static const char *string_at(const struct cubin *cubin, size_t section_index, uint64_t offset) {
    Elf64_Shdr section;
    if (!read_section(cubin, section_index, &section) || section.sh_type == SHT_NOBITS || offset >= section.sh_size) {
        return NULL;
    }
    const char *string = (const char *)cubin->bytes + section.sh_offset + offset;
    return memchr(string, 0, section.sh_size - offset) != NULL ? string : NULL;
}

/* The section PREFIX + NAME; false if there is none. */
static bool find_section(const struct cubin *cubin, const char *prefix, const char *name, Elf64_Shdr *section) {
    size_t length = strlen(prefix);
    for (size_t i = 0; i < cubin->header->e_shnum; i++) {
        const char *title;
        if (read_section(cubin, i, section) && (title = string_at(cubin, cubin->names, section->sh_name)) != NULL &&
            strncmp(title, prefix, length) == 0 && strcmp(title + length, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The number and the entry of a symbol; false if there is none. */
static bool find_symbol(const struct cubin *cubin, const char *name, uint32_t *index, Elf64_Sym *symbol) {
    Elf64_Shdr table;
    if (!find_section(cubin, ".symtab", "", &table) || table.sh_type == SHT_NOBITS) {
        return false;
    }
    for (uint32_t i = 0; i < table.sh_size / sizeof *symbol; i++) {
        memcpy(symbol, cubin->bytes + table.sh_offset + i * sizeof *symbol, sizeof *symbol);
        const char *title = string_at(cubin, table.sh_link, symbol->st_name);
        if (title != NULL && strcmp(title, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

typedef void (*record_visit)(void *context, uint8_t attribute, uint32_t value, const uint32_t *words, size_t count);

static void read_info(const struct cubin *cubin, const Elf64_Shdr *section, record_visit visit, void *context) {
    const uint8_t *at = cubin->bytes + section->sh_offset;
    size_t left = section->sh_type == SHT_NOBITS ? 0 : section->sh_size;
    while (left >= 4) {
        uint32_t words[4] = {0}, value = at[2] | (uint32_t)at[3] << 8;
        size_t size = at[0] == FORM_BYTES ? value : 0, kept = size < sizeof words ? size : sizeof words;
        if (size > left - 4) {
            return;
        }
        memcpy(words, at + 4, kept);
        visit(context, at[1], at[0] == FORM_VALUE ? value : 0, words, kept / 4);
        at += 4 + size;
        left -= 4 + size;
    }
}

struct target_symbol {
    uint32_t index;
    struct resources *out;
};

/* At most the largest int: what a damaged file says may be anything. */
static int number(uint64_t value) {
    return value <= INT32_MAX ? (int)value : INT32_MAX;
}

static void visit_all(void *context, uint8_t attribute, uint32_t value, const uint32_t *words, size_t count) {
    const struct target_symbol *of = context;
    (void)value;
    if (count < 2 || words[0] != of->index) {
        return;
    }
    if (attribute == REGISTER_COUNT) {
        of->out->vgpr = number(words[1]);
    } else if (attribute == FRAME_SIZE) {
        of->out->scratch_bytes = number(words[1]);
    }
}

static void visit_own(void *context, uint8_t attribute, uint32_t value, const uint32_t *words, size_t count) {
    struct resources *out = context;
    if (attribute == PARAMETER_BYTES) {
        out->kernarg_bytes = number(value);
    } else if (attribute == MAX_THREADS && count >= 3 && words[0] <= 1024 && words[1] <= 1024 && words[2] <= 1024) {
        out->workgroup_max = number(words[0] * words[1] * words[2]);
    }
}

/* The kernel that is asked for, or the only one. */
static bool choose(const struct cubin *cubin, const char *symbol, char name[256], struct error *error) {
    char names[1024] = "";
    int kernels = 0;
    for (size_t i = 0; i < cubin->header->e_shnum; i++) {
        Elf64_Shdr section;
        const char *title = read_section(cubin, i, &section) ? string_at(cubin, cubin->names, section.sh_name) : NULL;
        if (title == NULL || strncmp(title, INFO_PREFIX, strlen(INFO_PREFIX)) != 0 ||
            title[strlen(INFO_PREFIX)] == '\0') {
            continue;
        }
        title += strlen(INFO_PREFIX);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", kernels > 0 ? ", " : "", title);
        kernels++;
        if (symbol == NULL || strcmp(symbol, title) == 0) {
            snprintf(name, 256, "%s", title);
        }
    }
    if (kernels == 0) {
        return error_set(error, ERROR_USAGE,
                         "code object: expected a kernel, the cubin has none; compile a kernel for the device");
    }
    if (name[0] == '\0') {
        return error_set(error, ERROR_USAGE, "code object: expected kernel '%s', got %s; name one of those", symbol,
                         names);
    }
    return symbol != NULL || kernels == 1 ||
           error_set(error, ERROR_USAGE, "code object: expected one kernel, got %d: %s; name one of them", kernels,
                     names);
}

/* LDS that is fixed, and what the text's constant asks for. */
static int lds_bytes(const struct cubin *cubin, const char *name, const char *target) {
    Elf64_Shdr section;
    Elf64_Sym symbol;
    uint32_t index, wanted = 0;
    uint64_t fixed = find_section(cubin, SHARED_PREFIX, name, &section) ? section.sh_size : 0;
    int chip = 0;
    if (sscanf(target, "sm_%d", &chip) == 1 && chip >= 90) {
        fixed = fixed > RESERVED_BYTES ? fixed - RESERVED_BYTES : 0;
    }
    if (find_symbol(cubin, LDS_SYMBOL, &index, &symbol) && symbol.st_size == sizeof wanted &&
        read_section(cubin, symbol.st_shndx, &section) && section.sh_type != SHT_NOBITS &&
        within(section.sh_size, symbol.st_value, sizeof wanted)) {
        memcpy(&wanted, cubin->bytes + section.sh_offset + symbol.st_value, sizeof wanted);
    }
    return number((uint64_t)number(fixed) + wanted);
}

bool cubin_resources(const uint8_t *bytes, size_t length, const Elf64_Ehdr *header, const char *symbol,
                     struct resources *out, struct error *error) {
    const struct cubin cubin = {bytes, length, header, header->e_shstrndx};
    struct target_symbol of = {0, out};
    Elf64_Shdr section;
    Elf64_Sym entry;
    char name[256] = "";
    memset(out, 0, sizeof *out);
    if (fmha_image_target("code object", bytes, length, out->target) != FMHA_OK) {
        memset(out, 0, sizeof *out);
        return error_set(error, ERROR_USAGE, "%s", fmha_last_error());
    }
    if (!choose(&cubin, symbol, name, error)) {
        memset(out, 0, sizeof *out);
        return false;
    }
    snprintf(out->symbol, sizeof out->symbol, "%s", name);
    out->wave = 32;
    if (find_symbol(&cubin, name, &of.index, &entry) && find_section(&cubin, ".nv.info", "", &section)) {
        read_info(&cubin, &section, visit_all, &of);
    }
    if (find_section(&cubin, INFO_PREFIX, name, &section)) {
        read_info(&cubin, &section, visit_own, out);
    }
    if (out->vgpr == 0) {
        memset(out, 0, sizeof *out);
        return error_set(
            error, ERROR_USAGE,
            "code object: expected the number of registers of '%s' in .nv.info, got none; compile it again", name);
    }
    out->lds_bytes = lds_bytes(&cubin, name, out->target);
    return true;
}
