#include "metadata.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../msgpack.h"

enum { NOTE_METADATA = 32, KERNARG_BYTES_MAX = 1 << 16 };

typedef struct argument {
    uint64_t offset, bytes;
    const char *kind; /* in the note, not terminated */
    size_t kind_length;
} argument;

typedef struct kernels {
    isa_image_kernel *list;
    size_t count;
} kernels;

static fmha_status damaged(void) {
    return isa_fail(FMHA_ERROR_ARGUMENT,
                    "code object: expected metadata with amdhsa.kernels, as code object version 3 and later have "
                    "them, got something else: the file is damaged: compile it again");
}

static bool same(const struct msgpack_item *item, const char *word) {
    return item->kind == MSGPACK_STRING && item->length == strlen(word) && memcmp(item->text, word, item->length) == 0;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------
 */

/* Kinds of the guide's table of .value_kind; those that need a runtime beside the kernel are not here. */
static const struct {
    const char *word;
    isa_hidden_kind kind;
    uint8_t dimension, bytes; /* 0: any number */
} hidden_kinds[] = {
    {"hidden_none", ISA_HIDDEN_NONE, 0, 0},
    {"hidden_block_count_x", ISA_HIDDEN_BLOCK_COUNT, 0, 4},
    {"hidden_block_count_y", ISA_HIDDEN_BLOCK_COUNT, 1, 4},
    {"hidden_block_count_z", ISA_HIDDEN_BLOCK_COUNT, 2, 4},
    {"hidden_group_size_x", ISA_HIDDEN_GROUP_SIZE, 0, 2},
    {"hidden_group_size_y", ISA_HIDDEN_GROUP_SIZE, 1, 2},
    {"hidden_group_size_z", ISA_HIDDEN_GROUP_SIZE, 2, 2},
    {"hidden_remainder_x", ISA_HIDDEN_REMAINDER, 0, 2},
    {"hidden_remainder_y", ISA_HIDDEN_REMAINDER, 1, 2},
    {"hidden_remainder_z", ISA_HIDDEN_REMAINDER, 2, 2},
    {"hidden_global_offset_x", ISA_HIDDEN_GLOBAL_OFFSET, 0, 8},
    {"hidden_global_offset_y", ISA_HIDDEN_GLOBAL_OFFSET, 1, 8},
    {"hidden_global_offset_z", ISA_HIDDEN_GLOBAL_OFFSET, 2, 8},
    {"hidden_grid_dims", ISA_HIDDEN_GRID_DIMS, 0, 2},
    {"hidden_dynamic_lds_size", ISA_HIDDEN_DYNAMIC_LDS, 0, 4},
};

static bool is_word(const argument *given, const char *word) {
    return given->kind_length == strlen(word) && memcmp(given->kind, word, given->kind_length) == 0;
}

static fmha_status add_hidden(isa_kernel *kernel, const argument *given) {
    enum { KINDS = sizeof hidden_kinds / sizeof hidden_kinds[0] };
    size_t which = 0;
    while (which < KINDS && !is_word(given, hidden_kinds[which].word)) {
        which++;
    }
    if (which == KINDS) {
        return isa_fail(FMHA_ERROR_UNSUPPORTED,
                        "kernel %s: argument of kind '%.*s': this device has no such thing to give: compile it without "
                        "what needs that",
                        kernel->symbol, (int)(given->kind_length < 64 ? given->kind_length : 64),
                        given->kind_length > 0 ? given->kind : "");
    }
    if (hidden_kinds[which].bytes != 0 && given->bytes != hidden_kinds[which].bytes) {
        return isa_fail(FMHA_ERROR_ARGUMENT, "kernel %s: argument %s: expected %d bytes, got %llu: compile it again",
                        kernel->symbol, hidden_kinds[which].word, hidden_kinds[which].bytes,
                        (unsigned long long)given->bytes);
    }
    struct isa_hidden *larger = realloc(kernel->hidden, (kernel->hidden_count + 1) * sizeof *larger);
    if (larger == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for the arguments of a kernel");
    }
    kernel->hidden = larger;
    kernel->hidden[kernel->hidden_count++] = (struct isa_hidden){.kind = hidden_kinds[which].kind,
                                                                 .dimension = hidden_kinds[which].dimension,
                                                                 .offset = (uint32_t)given->offset,
                                                                 .bytes = (uint32_t)given->bytes};
    return FMHA_OK;
}

/* The place of each argument is checked when the size of all is known. */
static fmha_status add_argument(isa_kernel *kernel, const argument *given) {
    if (given->offset > KERNARG_BYTES_MAX || given->bytes > KERNARG_BYTES_MAX) {
        return damaged();
    }
    if (!is_word(given, "by_value") && !is_word(given, "global_buffer")) {
        return add_hidden(kernel, given);
    }
    uint32_t end = (uint32_t)(given->offset + given->bytes);
    kernel->explicit_bytes = end > kernel->explicit_bytes ? end : kernel->explicit_bytes;
    return FMHA_OK;
}

static fmha_status read_argument(struct msgpack_reader *reader, isa_kernel *kernel) {
    struct msgpack_item map, key, value;
    argument given = {0};
    if (!msgpack_next(reader, &map) || map.kind != MSGPACK_MAP) {
        return damaged();
    }
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(reader, &key) || key.kind != MSGPACK_STRING || !msgpack_next(reader, &value)) {
            return damaged();
        }
        if (value.kind == MSGPACK_NUMBER && same(&key, ".offset")) {
            given.offset = value.number;
        } else if (value.kind == MSGPACK_NUMBER && same(&key, ".size")) {
            given.bytes = value.number;
        } else if (value.kind == MSGPACK_STRING && same(&key, ".value_kind")) {
            given.kind = value.text;
            given.kind_length = value.length;
        } else if (!msgpack_skip(reader, &value)) {
            return damaged();
        }
    }
    return add_argument(kernel, &given);
}

/* ---- Kernels --------------------------------------------------------------------------------------------------------
 */

/* The symbol is that of the descriptor without its ".kd". */
static bool take_symbol(isa_kernel *kernel, const struct msgpack_item *value) {
    static const char suffix[] = ".kd";
    enum { SUFFIX = sizeof suffix - 1 };
    if (value->length <= SUFFIX || value->length - SUFFIX >= sizeof kernel->symbol ||
        memcmp(value->text + value->length - SUFFIX, suffix, SUFFIX) != 0 ||
        memchr(value->text, '\0', value->length) != NULL) {
        return false;
    }
    memcpy(kernel->symbol, value->text, value->length - SUFFIX);
    kernel->symbol[value->length - SUFFIX] = '\0';
    return true;
}

/* NULL: of no interest. */
static uint32_t *number_of(isa_image_kernel *kernel, const struct msgpack_item *key) {
    const struct {
        const char *word;
        uint32_t *number;
    } numbers[] = {
        {".kernarg_segment_size", &kernel->kernel.kernarg_bytes},
        {".group_segment_fixed_size", &kernel->kernel.lds_bytes},
        {".private_segment_fixed_size", &kernel->kernel.scratch_bytes},
        {".wavefront_size", &kernel->kernel.wave},
        {".max_flat_workgroup_size", &kernel->workgroup_max},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (same(key, numbers[i].word)) {
            return numbers[i].number;
        }
    }
    return NULL;
}

static fmha_status check_kernel(const isa_image_kernel *added) {
    const isa_kernel *kernel = &added->kernel;
    if (kernel->symbol[0] == '\0' || (kernel->wave != 32 && kernel->wave != 64) || added->workgroup_max == 0 ||
        kernel->kernarg_bytes > KERNARG_BYTES_MAX || kernel->explicit_bytes > kernel->kernarg_bytes) {
        return damaged();
    }
    for (size_t i = 0; i < kernel->hidden_count; i++) {
        if (kernel->hidden[i].offset + kernel->hidden[i].bytes > kernel->kernarg_bytes) {
            return damaged();
        }
    }
    return FMHA_OK;
}

/* Arguments stand before the symbol, which errors about them name. */
static fmha_status read_arguments(struct msgpack_reader reader, uint64_t count, isa_kernel *kernel) {
    fmha_status status = FMHA_OK;
    for (uint64_t i = 0; i < count && status == FMHA_OK; i++) {
        status = read_argument(&reader, kernel);
    }
    return status;
}

static fmha_status read_kernel(struct msgpack_reader *reader, isa_image_kernel *added) {
    struct msgpack_item map, key, value;
    struct msgpack_reader arguments = {0};
    uint64_t argument_count = 0;
    if (!msgpack_next(reader, &map) || map.kind != MSGPACK_MAP) {
        return damaged();
    }
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(reader, &key) || key.kind != MSGPACK_STRING || !msgpack_next(reader, &value)) {
            return damaged();
        }
        uint32_t *number = number_of(added, &key);
        if (number != NULL) {
            if (value.kind != MSGPACK_NUMBER || value.number > UINT32_MAX) {
                return damaged();
            }
            *number = (uint32_t)value.number;
        } else if (value.kind == MSGPACK_STRING && same(&key, ".symbol")) {
            if (!take_symbol(&added->kernel, &value)) {
                return damaged();
            }
        } else {
            if (value.kind == MSGPACK_ARRAY && same(&key, ".args")) {
                arguments = *reader;
                argument_count = value.number;
            }
            if (!msgpack_skip(reader, &value)) {
                return damaged();
            }
        }
    }
    fmha_status status = read_arguments(arguments, argument_count, &added->kernel);
    return status == FMHA_OK ? check_kernel(added) : status;
}

static fmha_status add_kernel(struct msgpack_reader *reader, kernels *found) {
    isa_image_kernel *larger = realloc(found->list, (found->count + 1) * sizeof *larger);
    if (larger == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for %zu kernels", found->count + 1);
    }
    found->list = larger;
    memset(&found->list[found->count], 0, sizeof *found->list);
    return read_kernel(reader, &found->list[found->count++]);
}

static fmha_status read_note(struct msgpack_reader reader, kernels *found) {
    struct msgpack_item map, key, value;
    if (!msgpack_next(&reader, &map) || map.kind != MSGPACK_MAP) {
        return damaged();
    }
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(&reader, &key) || key.kind != MSGPACK_STRING || !msgpack_next(&reader, &value)) {
            return damaged();
        }
        if (value.kind == MSGPACK_ARRAY && same(&key, "amdhsa.kernels")) {
            fmha_status status = FMHA_OK;
            for (uint64_t j = 0; j < value.number && status == FMHA_OK; j++) {
                status = add_kernel(&reader, found);
            }
            if (status != FMHA_OK) {
                return status;
            }
        } else if (!msgpack_skip(&reader, &value)) {
            return damaged();
        }
    }
    return FMHA_OK;
}

/* ---- Notes ----------------------------------------------------------------------------------------------------------
 */

static bool find_note(const unsigned char *notes, size_t bytes, struct msgpack_reader *note) {
    size_t at = 0;
    while (bytes - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        memcpy(&header, notes + at, sizeof header);
        at += sizeof header;
        uint64_t name = ((uint64_t)header.n_namesz + 3) / 4 * 4, content = ((uint64_t)header.n_descsz + 3) / 4 * 4;
        if (name > bytes - at || header.n_descsz > bytes - at - name) {
            return false;
        }
        if (header.n_type == NOTE_METADATA && header.n_namesz == sizeof "AMDGPU" &&
            memcmp(notes + at, "AMDGPU", sizeof "AMDGPU") == 0) {
            note->at = notes + at + name;
            note->end = note->at + header.n_descsz;
            return true;
        }
        at = content > bytes - at - name ? bytes : at + (size_t)(name + content);
    }
    return false;
}

fmha_status isa_metadata_read(const unsigned char *object, isa_image_kernel **list, size_t *count) {
    Elf64_Ehdr header;
    kernels found = {0};
    fmha_status status = FMHA_OK;
    bool seen = false;
    memcpy(&header, object, sizeof header);
    for (size_t i = 0; i < header.e_phnum && !seen; i++) {
        Elf64_Phdr segment;
        struct msgpack_reader note;
        memcpy(&segment, object + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NOTE && find_note(object + segment.p_offset, (size_t)segment.p_filesz, &note)) {
            status = read_note(note, &found);
            seen = true;
        }
    }
    if (!seen) {
        status = damaged();
    }
    if (status != FMHA_OK) {
        isa_metadata_free(found.list, found.count);
        found = (kernels){0};
    }
    *list = found.list;
    *count = found.count;
    return status;
}

void isa_metadata_free(isa_image_kernel *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(list[i].kernel.hidden);
    }
    free(list);
}
