#include "index.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define NAME_MAX_BYTES  255
#define ALIGN_MAX_BYTES 4096
#define FILE_MAX_BYTES  UINT32_MAX /* of a code object or a text */

#define CURE "; make the library anew with `fmhagen library`"

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

/* One allocation: this, then the descriptors, interfaces, constraints, arguments, and the text, in which every line end
 * becomes a NUL. */
struct fmha_index {
    struct fmha_descriptor *descriptors;
    size_t count;
};

/* How many there can be at most: lines that begin with the word. */
struct counts {
    size_t instances, interfaces, arguments, constraints;
};

struct reader {
    const char *path, *text; /* the text as it was handed over */
    char *begin;             /* its copy */
    char *at, *end;          /* what is not read yet */
    char *line, *line_end;   /* what is being read; *line_end is NUL */
    char *cursor;            /* in the line */
    size_t number;           /* of the line, from 1 */
    struct fmha_descriptor *descriptors;
    struct fmha_interface *interfaces;
    struct fmha_constraint *constraints; /* the next free one, as below */
    struct fmha_argument *arguments;
    size_t descriptor_count, interface_count;
};

uint64_t fmha_index_hash(const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    uint64_t hash = FNV_START;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * FNV_PRIME;
    }
    return hash;
}

/* ---- Errors: always false, so that a caller can return it ---- */

static bool refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(const struct reader *reader, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) { /* the file's bytes may be anything */
        if (*c < ' ' || *c > '~') {
            *c = '?';
        }
    }
    fmha_fail(FMHA_ERROR_IO, "%s:%zu: %s" CURE, reader->path, reader->number, text);
    return false;
}

static bool refuse_line(const struct reader *reader, const char *expected) {
    return refuse(reader, "expected %s, got '%.200s'", expected, reader->line);
}

/* ---- Lines and words ---- */

static bool next_line(struct reader *reader) {
    char *line = reader->at;
    char *newline = line < reader->end ? memchr(line, '\n', (size_t)(reader->end - line)) : NULL;
    reader->number++;
    if (!newline) {
        return refuse(reader, "expected another line, got the end of a file that was cut off");
    }
    *newline = '\0';
    reader->line = reader->cursor = line;
    reader->line_end = newline;
    reader->at = newline + 1;
    return true;
}

static bool begins(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* Whether the line after this one begins so. */
static bool next_begins(const struct reader *reader, const char *word) {
    return begins(reader->at, reader->end, word);
}

/* The functions that take something return false, without an error text, where it does not stand. */
static bool take(struct reader *reader, const char *word) {
    if (!begins(reader->cursor, reader->line_end, word)) {
        return false;
    }
    reader->cursor += strlen(word);
    return true;
}

static bool at_end(const struct reader *reader) {
    return reader->cursor == reader->line_end;
}

/* Digits without a zero before them. */
static bool take_number(struct reader *reader, uint64_t minimum, uint64_t maximum, uint64_t *number) {
    const char *begin = reader->cursor;
    uint64_t value = 0;
    for (; *reader->cursor >= '0' && *reader->cursor <= '9'; reader->cursor++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*reader->cursor - '0'), &value)) {
            return false;
        }
    }
    ptrdiff_t digits = reader->cursor - begin;
    *number = value;
    return digits > 0 && (*begin != '0' || digits == 1) && value >= minimum && value <= maximum;
}

static bool take_signed(struct reader *reader, int64_t minimum, int64_t maximum, int64_t *number) {
    uint64_t magnitude;
    bool negative = take(reader, "-");
    if (!take_number(reader, negative, negative ? UINT64_C(1) << 63 : INT64_MAX, &magnitude)) {
        return false;
    }
    *number = negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return *number >= minimum && *number <= maximum;
}

/* 16 hexadecimal digits, small letters. */
static bool take_hash(struct reader *reader, uint64_t *hash) {
    *hash = 0;
    for (int i = 0; i < 16; i++, reader->cursor++) {
        char c = *reader->cursor;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) {
            return false;
        }
        *hash = *hash << 4 | (unsigned)digit;
    }
    return true;
}

/* Up to a blank or the line's end. */
static size_t word_length(const struct reader *reader) {
    size_t length = 0, left = (size_t)(reader->line_end - reader->cursor);
    while (length < left && reader->cursor[length] != ' ') {
        length++;
    }
    return length;
}

/* A word of a list as its place in the list. */
static bool take_choice(struct reader *reader, const char *const *words, int count, uint8_t *choice) {
    size_t length = word_length(reader);
    for (int i = 0; i < count; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], reader->cursor, length) == 0) {
            reader->cursor += length;
            *choice = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The rest of the line as a C identifier, or as the name of a file that is nowhere but in the index's folder. */
static bool take_name(struct reader *reader, bool file, const char **name) {
    *name = reader->cursor;
    const char *also = file ? "-+." : "";
    if (!is_letter(**name) && !(file && is_digit(**name))) {
        return false;
    }
    while (is_letter(*reader->cursor) || is_digit(*reader->cursor) ||
           (*reader->cursor != '\0' && strchr(also, *reader->cursor))) {
        reader->cursor++;
    }
    return at_end(reader) && reader->cursor - *name <= NAME_MAX_BYTES;
}

static bool take_expression(struct reader *reader, struct fmha_expression *expression) {
    size_t length = (size_t)(reader->line_end - reader->cursor);
    return fmha_expression_compile(reader->cursor, length, expression) == FMHA_OK ||
           refuse(reader, "%s", fmha_last_error());
}

/* ---- The lines before the first block ---- */

static bool read_head(struct reader *reader) {
    uint64_t version;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "fmha-index ") || !take_number(reader, 0, UINT64_MAX, &version) || !at_end(reader)) {
        return refuse_line(reader, "'fmha-index VERSION'");
    }
    if (version != FMHA_INDEX_VERSION) {
        return refuse(reader,
                      "expected an index of format version %d, which this libfmha reads, got version %" PRIu64
                      ", which the libfmha of the fmhagen that made it reads",
                      FMHA_INDEX_VERSION, version);
    }
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "abi ") || !take_number(reader, 0, UINT64_MAX, &version) || !at_end(reader)) {
        return refuse_line(reader, "'abi VERSION'");
    }
    if (version != FMHA_ABI_VERSION) {
        return refuse(reader,
                      "expected kernels of ABI version %d, which this libfmha launches, got version %" PRIu64
                      ", which the libfmha of the fmhagen that made them launches",
                      FMHA_ABI_VERSION, version);
    }
    return next_line(reader) && (take(reader, "made-by ") || refuse_line(reader, "'made-by PROGRAM'"));
}

/* ---- Interfaces ---- */

static bool read_argument(struct reader *reader, struct fmha_interface *interface) {
    static const char *const kinds[] = {
        [FMHA_ARGUMENT_BUFFER] = "buffer",
        [FMHA_ARGUMENT_I32] = "i32",
        [FMHA_ARGUMENT_I64] = "i64",
        [FMHA_ARGUMENT_F32] = "f32",
    };
    struct fmha_argument argument = {0};
    uint64_t offset, align = 0;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "argument ") || !take_choice(reader, kinds, 4, &argument.kind) || !take(reader, " ")) {
        return refuse_line(reader, "'argument', and 'buffer', 'i32', 'i64' or 'f32'");
    }
    bool buffer = argument.kind == FMHA_ARGUMENT_BUFFER, real = argument.kind == FMHA_ARGUMENT_F32;
    const char *const *names = buffer ? fmha_buffer_names : real ? fmha_real_names : fmha_value_names;
    int name_count = buffer ? FMHA_BUFFER_COUNT : real ? FMHA_REAL_COUNT : FMHA_VALUE_COUNT;
    if (!take_choice(reader, names, name_count, &argument.source)) {
        return refuse_line(reader, buffer ? "a buffer that problems have (q, k, v, o, lse, from, to)"
                                   : real ? "a real number that problems have (scale)"
                                          : "a value that problems have (batch, heads_q, seqlen_k, stride_q_row, ...)");
    }
    if (!take(reader, " ") || !take_number(reader, 0, FMHA_ARGUMENT_BYTES_MAX, &offset)) {
        return refuse_line(reader, "the offset of an argument");
    }
    if (buffer) {
        if (!take(reader, " align ") || !take_number(reader, 1, ALIGN_MAX_BYTES, &align) || (align & (align - 1))) {
            return refuse_line(reader, "'align' and a power of two up to 4096");
        }
        argument.optional = take(reader, " optional");
    }
    if (!at_end(reader)) {
        return refuse_line(reader, "no more words of an argument");
    }
    uint64_t size = buffer || argument.kind == FMHA_ARGUMENT_I64 ? 8 : 4, free_from = 0;
    if (interface->argument_count > 0) {
        const struct fmha_argument *last = &interface->arguments[interface->argument_count - 1];
        bool wide = last->kind == FMHA_ARGUMENT_BUFFER || last->kind == FMHA_ARGUMENT_I64;
        free_from = last->offset_bytes + (wide ? 8u : 4u);
    }
    if (offset % size != 0 || offset < free_from || offset + size > interface->argument_bytes) {
        return refuse(reader, "expected an offset that is a multiple of %d, at least %d and at most %d, got '%.200s'",
                      (int)size, (int)free_from, (int)interface->argument_bytes - (int)size, reader->line);
    }
    argument.offset_bytes = (uint32_t)offset;
    argument.align_bytes = (uint16_t)align;
    *reader->arguments++ = argument;
    interface->argument_count++;
    return true;
}

static bool read_constraint(struct reader *reader, struct fmha_interface *interface) {
    static const char *const relations[] = {
        [FMHA_RELATION_EQUALS] = "equals", [FMHA_RELATION_MIN] = "min", [FMHA_RELATION_MAX] = "max"};
    struct fmha_constraint *constraint = reader->constraints;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "constraint ") || !take_choice(reader, relations, 3, &constraint->relation) ||
        !take(reader, " ") || !take_signed(reader, INT64_MIN, INT64_MAX, &constraint->bound) || !take(reader, " ")) {
        return refuse_line(reader, "'constraint', 'equals', 'min' or 'max', a whole number and an expression");
    }
    constraint->text = reader->cursor;
    constraint->text_bytes = (uint32_t)(reader->line_end - reader->cursor);
    reader->constraints++;
    interface->constraint_count++;
    if (!take_expression(reader, &constraint->field)) {
        return false;
    }
    fmha_constraint_simplify(constraint);
    return true;
}

/* The first name in arguments and constraints that only problems with modifiers have, or NULL. */
static const char *find_modifiers(const struct fmha_interface *interface) {
    for (uint32_t i = 0; i < interface->argument_count; i++) {
        const struct fmha_argument *argument = &interface->arguments[i];
        int source = argument->source;
        bool buffer = argument->kind == FMHA_ARGUMENT_BUFFER, real = argument->kind == FMHA_ARGUMENT_F32;
        if (source >= (int)(buffer ? FMHA_BUFFER_OF_MODIFIERS
                            : real ? FMHA_REAL_OF_MODIFIERS
                                   : FMHA_VALUE_OF_MODIFIERS)) {
            return buffer ? fmha_buffer_names[source] : real ? fmha_real_names[source] : fmha_value_names[source];
        }
    }
    for (uint32_t i = 0; i < interface->constraint_count; i++) {
        enum fmha_value value = fmha_expression_names(&interface->constraints[i].field, FMHA_VALUE_OF_MODIFIERS);
        if (value < FMHA_VALUE_COUNT) {
            return fmha_value_names[value];
        }
    }
    return NULL;
}

/* `interface N BYTES` is the line; its arguments and constraints follow. */
static bool read_interface(struct reader *reader) {
    uint64_t number, bytes;
    struct fmha_interface *interface = &reader->interfaces[reader->interface_count];
    if (!take(reader, "interface ") ||
        !take_number(reader, reader->interface_count, reader->interface_count, &number) || !take(reader, " ") ||
        !take_number(reader, 0, FMHA_ARGUMENT_BYTES_MAX, &bytes) || !at_end(reader)) {
        return refuse(reader, "expected 'interface %zu' and up to %d bytes, got '%.200s'", reader->interface_count,
                      FMHA_ARGUMENT_BYTES_MAX, reader->line);
    }
    *interface = (struct fmha_interface){
        .arguments = reader->arguments, .constraints = reader->constraints, .argument_bytes = (uint32_t)bytes};
    reader->interface_count++;
    while (next_begins(reader, "argument ")) {
        if (!read_argument(reader, interface)) {
            return false;
        }
    }
    while (next_begins(reader, "constraint ")) {
        if (!read_constraint(reader, interface)) {
            return false;
        }
    }
    fmha_interface_shorten(interface);
    interface->of_modifiers = find_modifiers(interface);
    return true;
}

/* ---- Instances ---- */

static bool read_name(struct reader *reader, struct fmha_descriptor *descriptor) {
    if (!take(reader, "instance ") || !take_name(reader, false, &descriptor->name)) {
        return refuse_line(reader, "'instance' and a C identifier of at most 255 characters");
    }
    if (reader->descriptor_count == 0) {
        return true;
    }
    const char *last = reader->descriptors[reader->descriptor_count - 1].name;
    int order = strcmp(last, descriptor->name);
    if (order == 0) {
        return refuse(reader, "expected each instance once, got '%s' twice", last);
    }
    return order < 0 || refuse(reader, "expected instances in the order of their names, got '%s' after '%s'",
                               descriptor->name, last);
}

static bool read_target(struct reader *reader, struct fmha_key *key) {
    fmha_key_init(key);
    if (!next_line(reader)) {
        return false;
    }
    bool read = take(reader, "target ") && strlen(reader->cursor) == (size_t)(reader->line_end - reader->cursor) &&
                fmha_key_set_target(key, reader->cursor);
    return read || refuse_line(reader, "'target' and a target");
}

/* " NAME=VALUE" of a field that the operation has. */
static bool take_field(struct reader *reader, struct fmha_key *key, int field) {
    const char *name = fmha_key_field_names[field];
    if (!take(reader, " ") || !take(reader, name) || !take(reader, "=")) {
        return false;
    }
    size_t length = word_length(reader);
    bool known = fmha_key_set_value(key, field, reader->cursor, length) && fmha_key_has(key, field);
    reader->cursor += known ? length : 0;
    return known;
}

/* Operations other than attention with K and V apart lack fields; those stay 0. */
static bool lacks_fields(const struct fmha_key *key) {
    return key->operation == FMHA_KEY_MERGE || key->operation == FMHA_KEY_PACK || key->operation == FMHA_KEY_APPEND ||
           key->operation == FMHA_KEY_MLA || key->operation == FMHA_KEY_QUANTIZE;
}

static bool read_key(struct reader *reader, struct fmha_key *key) {
    if (!next_line(reader)) {
        return false;
    }
    bool read = take(reader, "key");
    for (int field = 0; read && field < FMHA_KEY_FIELDS; field++) {
        char *before = reader->cursor;
        if (!take_field(reader, key, field)) {
            read = field >= FMHA_KEY_FIELDS_FIRST || lacks_fields(key);
            reader->cursor = before;
        }
    }
    return (read && at_end(reader)) ||
           refuse(reader,
                  "expected 'key' and operation, dtype, head_dim, head_dim_v, mask, v_layout and align, each as "
                  "NAME=VALUE that this libfmha knows, got '%.100s' at the end of '%.200s'",
                  reader->cursor, reader->line);
}

static bool read_launch(struct reader *reader, struct fmha_descriptor *descriptor) {
    uint64_t wave, workgroup, lds;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "launch wave=") || !take_number(reader, 32, 64, &wave) || wave % 32 != 0 ||
        !take(reader, " workgroup=") || !take_number(reader, wave, 1024, &workgroup) || workgroup % wave != 0 ||
        !take(reader, " lds=") || !take_number(reader, 0, UINT32_MAX, &lds) || !at_end(reader)) {
        return refuse_line(reader, "'launch wave=', 32 or 64, 'workgroup=', a multiple of it up to 1024, 'lds=' and "
                                   "bytes");
    }
    descriptor->wave = (uint16_t)wave;
    descriptor->workgroup = (uint16_t)workgroup;
    descriptor->lds_bytes = (uint32_t)lds;
    return true;
}

static bool read_rank(struct reader *reader, struct fmha_descriptor *descriptor) {
    int64_t rank;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "rank ") || !take_signed(reader, INT32_MIN, INT32_MAX, &rank) || !at_end(reader)) {
        return refuse_line(reader, "'rank' and a number of 32 bits");
    }
    descriptor->rank = (int32_t)rank;
    return true;
}

static bool read_uses(struct reader *reader, struct fmha_descriptor *descriptor) {
    uint64_t number;
    if (!next_line(reader)) {
        return false;
    }
    if (!take(reader, "uses ") || !take_number(reader, 0, UINT32_MAX, &number) || !at_end(reader) ||
        number >= reader->interface_count) {
        return refuse(reader, "expected 'uses' and one of the %zu interfaces above, got '%.200s'",
                      reader->interface_count, reader->line);
    }
    descriptor->interface = &reader->interfaces[number];
    return true;
}

static bool read_grid(struct reader *reader, struct fmha_expression *grid) {
    return next_line(reader) &&
           (take(reader, "grid ") || refuse_line(reader, "'grid' and an expression, three times")) &&
           take_expression(reader, grid);
}

/* `object SIZE HASH FILE` or `source ...`, where it stands. */
static bool read_file(struct reader *reader, const char *word, const char **name, uint64_t *bytes, uint64_t *hash) {
    *name = NULL;
    *bytes = *hash = 0;
    if (!next_begins(reader, word)) {
        return true;
    }
    if (!next_line(reader)) {
        return false;
    }
    bool read = take(reader, word) && take_number(reader, 1, FILE_MAX_BYTES, bytes) && take(reader, " ") &&
                take_hash(reader, hash) && take(reader, " ") && take_name(reader, true, name);
    return read || refuse_line(reader, "a size in bytes, a hash of 16 digits and the name of a file in this folder");
}

/* An instance of attention without modifiers names nothing that only problems with modifiers have: in others it is not
 * set. */
static bool check_modifiers(const struct reader *reader, const struct fmha_descriptor *descriptor) {
    const char *name = descriptor->interface->of_modifiers;
    const struct fmha_key *key = &descriptor->key;
    if ((key->modifiers & ~FMHA_KEY_ROWS_MASK) != 0 || key->modifier != 0 || key->kv_dtype != 0 || lacks_fields(key)) {
        return true;
    }
    for (int axis = 0; axis < 3 && name == NULL; axis++) {
        enum fmha_value value = fmha_expression_names(&descriptor->grid[axis], FMHA_VALUE_OF_MODIFIERS);
        name = value < FMHA_VALUE_COUNT ? fmha_value_names[value] : NULL;
    }
    return name == NULL || refuse(reader,
                                  "expected of the instance '%.200s', whose key has no modifier, nothing that only "
                                  "problems with modifiers have, got '%s'",
                                  descriptor->name, name);
}

/* `instance NAME` is the line. */
static bool read_instance(struct reader *reader) {
    struct fmha_descriptor *descriptor = &reader->descriptors[reader->descriptor_count];
    bool read = read_name(reader, descriptor) && read_target(reader, &descriptor->key) &&
                read_key(reader, &descriptor->key) && read_launch(reader, descriptor) &&
                read_rank(reader, descriptor) && read_uses(reader, descriptor);
    for (int axis = 0; read && axis < 3; axis++) {
        read = read_grid(reader, &descriptor->grid[axis]);
        if (!read || !fmha_expression_is_tiles(&descriptor->grid[axis], &descriptor->tiles[axis].value,
                                               &descriptor->tiles[axis].divisor)) {
            descriptor->tiles[axis].divisor = descriptor->tiles[axis].value = 0;
        }
    }
    read = read && check_modifiers(reader, descriptor) &&
           read_file(reader, "object ", &descriptor->object, &descriptor->object_bytes, &descriptor->object_hash) &&
           read_file(reader, "source ", &descriptor->source, &descriptor->source_bytes, &descriptor->source_hash);
    reader->descriptor_count += read;
    return read;
}

/* ---- The whole ---- */

static bool read_end(struct reader *reader) {
    uint64_t count, hash;
    if (!take(reader, "end ") || !take_number(reader, 0, UINT64_MAX, &count)) {
        return refuse_line(reader, "'interface', 'instance' or 'end', and what belongs to it");
    }
    if (count != reader->descriptor_count) {
        return refuse(reader, "expected 'end %zu', as many as there are instances, got '%.200s'",
                      reader->descriptor_count, reader->line);
    }
    if (!take(reader, " ") || !take_hash(reader, &hash) || !at_end(reader)) {
        return refuse(reader, "expected 'end %zu' and a hash of 16 digits, got '%.200s'", reader->descriptor_count,
                      reader->line);
    }
    if (reader->at != reader->end) {
        return refuse(reader, "expected nothing after '%s', got more", reader->line);
    }
    if (hash != fmha_index_hash(reader->text, (size_t)(reader->line - reader->begin))) {
        fmha_fail(FMHA_ERROR_IO, "%s: expected the bytes that its last line names, got others" CURE, reader->path);
        return false;
    }
    return true;
}

static bool read_all(struct reader *reader) {
    if (!read_head(reader)) {
        return false;
    }
    while (next_line(reader)) {
        bool interface = begins(reader->line, reader->line_end, "interface ");
        if (!interface && !begins(reader->line, reader->line_end, "instance ")) {
            return read_end(reader);
        }
        if (interface ? !read_interface(reader) : !read_instance(reader)) {
            return false;
        }
    }
    return false;
}

static struct counts count_lines(const char *text, size_t bytes) {
    struct counts counts = {0};
    const char *end = text + bytes;
    for (const char *line = text; line && line < end;) {
        counts.instances += begins(line, end, "instance ");
        counts.interfaces += begins(line, end, "interface ");
        counts.arguments += begins(line, end, "argument ");
        counts.constraints += begins(line, end, "constraint ");
        line = memchr(line, '\n', (size_t)(end - line));
        line = line ? line + 1 : NULL;
    }
    return counts;
}

fmha_status fmha_index_parse(const char *path, const char *text, size_t bytes, struct fmha_index **index) {
    *index = NULL;
    /* A byte of text never makes more than this many of memory: an interface for each "interface \n". */
    const size_t most = sizeof(struct fmha_interface) / sizeof "interface " + 1;
    _Static_assert(sizeof(struct fmha_interface) >= sizeof(struct fmha_descriptor), "and a descriptor has less");
    if (bytes > SIZE_MAX / most - sizeof **index) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: expected an index that fits into memory, got %zu bytes", path, bytes);
    }
    struct counts counts = count_lines(text, bytes);
    size_t size = sizeof **index + counts.instances * sizeof(struct fmha_descriptor) +
                  counts.interfaces * sizeof(struct fmha_interface) +
                  counts.constraints * sizeof(struct fmha_constraint) + counts.arguments * sizeof(struct fmha_argument);
    struct fmha_index *made = malloc(size + bytes);
    if (!made) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for %zu bytes", path, size + bytes);
    }
    struct reader reader = {.path = path, .text = text, .begin = (char *)made + size};
    reader.at = reader.begin;
    reader.end = reader.begin + bytes;
    reader.descriptors = (struct fmha_descriptor *)(made + 1);
    reader.interfaces = (struct fmha_interface *)(reader.descriptors + counts.instances);
    reader.constraints = (struct fmha_constraint *)(reader.interfaces + counts.interfaces);
    reader.arguments = (struct fmha_argument *)(reader.constraints + counts.constraints);
    memcpy(reader.at, text, bytes);
    if (!read_all(&reader)) {
        free(made);
        return FMHA_ERROR_IO;
    }
    *made = (struct fmha_index){.descriptors = reader.descriptors, .count = reader.descriptor_count};
    *index = made;
    return FMHA_OK;
}

void fmha_index_free(struct fmha_index *index) {
    free(index);
}

size_t fmha_index_count(const struct fmha_index *index) {
    return index->count;
}

const struct fmha_descriptor *fmha_index_at(const struct fmha_index *index, size_t i) {
    return &index->descriptors[i];
}
