#include "index_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shape_key.h"

static bool is_one_of(const char *name, const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static bool check_argument(const struct instance *instance, const struct argument *argument, struct error *error) {
    bool buffer = argument->kind == ARGUMENT_BUFFER;
    bool known = buffer                               ? is_one_of(argument->name, fmha_buffer_names, FMHA_BUFFER_COUNT)
                 : strcmp(argument->type, "f32") == 0 ? is_one_of(argument->name, fmha_real_names, FMHA_REAL_COUNT)
                                                      : is_one_of(argument->name, fmha_value_names, FMHA_VALUE_COUNT);
    return known ||
           error_set(
               error, ERROR_RUN,
               "%s: argument '%s' (%s %s): expected a buffer (q, k, v, o, lse, bias, ...), an f32 (scale, softcap, "
               "...) "
               "or an integer (batch, heads_q, seqlen_k, stride_q_row, ...) that a problem has: no problem offers this "
               "one; rename it in the template",
               instance->name, argument->name, buffer ? "buffer of" : "value of", argument->type);
}

static bool check_expression(const struct instance *instance, const char *expression, struct error *error) {
    struct fmha_expression compiled;
    return fmha_expression_compile(expression, strlen(expression), &compiled) == FMHA_OK ||
           error_set(error, ERROR_RUN, "%s: %s", instance->name, fmha_last_error());
}

static bool add_interface_lines(const struct instance *instance, struct text *out, struct error *error) {
    for (int i = 0; i < instance->argument_count; i++) {
        const struct argument *argument = &instance->arguments[i];
        if (!check_argument(instance, argument, error))
            return false;
        bool buffer = argument->kind == ARGUMENT_BUFFER;
        text_printf(out, "argument %s %s %u", buffer ? "buffer" : argument->type, argument->name,
                    (unsigned)argument->offset_bytes);
        if (buffer)
            text_printf(out, " align %u%s", (unsigned)argument->align_bytes, argument->optional ? " optional" : "");
        text_puts(out, "\n");
    }
    for (int i = 0; i < instance->constraint_count; i++) {
        const struct constraint *constraint = &instance->constraints[i];
        if (!check_expression(instance, constraint->field, error))
            return false;
        text_printf(out, "constraint %s %" PRId64 " %s\n", constraint->relation, constraint->value, constraint->field);
    }
    return true;
}

/* ---- Equal interfaces are written once ---- */

struct block {
    uint64_t hash;
    size_t begin, length; /* of its lines in the index's text */
    uint32_t argument_bytes;
};

struct writer {
    struct text *out;
    struct text scratch;
    struct block *blocks;
    size_t block_count;
    struct error *error;
};

static bool add_interface(struct writer *writer, const struct instance *instance, size_t *number) {
    struct text *lines = &writer->scratch, *out = writer->out;
    lines->length = 0;
    text_puts(lines, "");
    if (!add_interface_lines(instance, lines, writer->error))
        return false;
    if (lines->failed || out->failed)
        return true; /* index_text looks at the end */
    struct block wanted = {.hash = fmha_index_hash(lines->bytes, lines->length),
                           .length = lines->length,
                           .argument_bytes = instance->argument_bytes};
    for (size_t i = 0; i < writer->block_count; i++) {
        const struct block *block = &writer->blocks[i];
        if (block->hash == wanted.hash && block->length == wanted.length &&
            block->argument_bytes == wanted.argument_bytes &&
            !memcmp(out->bytes + block->begin, lines->bytes, lines->length)) {
            *number = i;
            return true;
        }
    }
    *number = writer->block_count++;
    text_printf(out, "interface %zu %u\n", *number, (unsigned)wanted.argument_bytes);
    wanted.begin = out->length;
    text_add(out, lines->bytes, lines->length);
    writer->blocks[*number] = wanted;
    return true;
}

/* ---- Instances ---- */

/* Of the key's fields those that the operation has. */
static void add_key(const struct spec *spec, const struct fmha_key *key, struct text *out) {
    bool has[FMHA_KEY_FIELDS] = {false};
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        int field = spec_key_field((enum spec_field_id)id);
        if (field >= 0 && spec_has(spec, (enum spec_field_id)id))
            has[field] = true;
    }
    has[FMHA_KEY_FIELD_MODIFIER] = true;
    text_puts(out, "key");
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES];
        fmha_key_value(key, field, value);
        if (has[field] && fmha_key_has(key, field))
            text_printf(out, " %s=%s", fmha_key_field_names[field], value);
    }
    text_puts(out, "\n");
}

static void add_file(struct text *out, const char *word, const char *file, uint64_t bytes, uint64_t hash) {
    if (file)
        text_printf(out, "%s %" PRIu64 " %016" PRIx64 " %s\n", word, bytes, hash, file);
}

static bool add_instance(struct writer *writer, const struct index_entry *entry) {
    const struct instance *instance = entry->instance;
    const struct spec *spec = &instance->spec;
    struct text *out = writer->out;
    struct fmha_key key;
    size_t number = 0;
    struct error wordless;
    if (!spec_key(spec, &key, &wordless))
        return error_set(writer->error, ERROR_RUN, "%s: %s", instance->name, wordless.text);
    if (!add_interface(writer, instance, &number))
        return false;
    text_printf(out, "instance %s\ntarget %s\n", instance->name, spec->arch);
    add_key(spec, &key, out);
    text_printf(out, "launch wave=%d workgroup=%u lds=%u\n", (int)spec->value[SPEC_WAVE], (unsigned)instance->workgroup,
                (unsigned)instance->lds_bytes);
    text_printf(out, "rank %" PRId32 "\nuses %zu\n", entry->rank, number);
    for (int axis = 0; axis < 3; axis++) {
        if (!check_expression(instance, instance->grid[axis], writer->error))
            return false;
        text_printf(out, "grid %s\n", instance->grid[axis]);
    }
    add_file(out, "object", entry->object_file, entry->object_bytes, entry->object_hash);
    add_file(out, "source", entry->source_file, entry->source_bytes, entry->source_hash);
    return true;
}

static int compare_names(const void *left, const void *right) {
    const struct index_entry *const *a = left, *const *b = right;
    return strcmp((*a)->instance->name, (*b)->instance->name);
}

static bool check_name(const struct index_entry *const *sorted, size_t i, struct error *error) {
    const char *name = sorted[i]->instance->name;
    return i == 0 || strcmp(sorted[i - 1]->instance->name, name) != 0 ||
           error_set(error, ERROR_RUN, "%s: expected each instance once, got it twice", name);
}

static bool parse(const char *text, size_t length, struct fmha_index **index, struct error *error) {
    return fmha_index_parse(FMHA_INDEX_FILE, text, length, index) == FMHA_OK ||
           error_set(error, ERROR_RUN, "%s", fmha_last_error());
}

/* What the runtime does not read must not be installed. */
static bool check_text(const char *text, size_t length, struct error *error) {
    struct fmha_index *index;
    bool done = parse(text, length, &index, error);
    fmha_index_free(index);
    return done;
}

bool index_text(const struct index_entry *entries, size_t count, struct text *out, struct error *error) {
    struct writer writer = {.out = out, .error = error};
    size_t begin = out->length;
    const struct index_entry **sorted = calloc(count + 1, sizeof *sorted);
    writer.blocks = calloc(count + 1, sizeof *writer.blocks);
    bool done = true;
    if (sorted && writer.blocks) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = &entries[i];
        qsort(sorted, count, sizeof *sorted, compare_names);
        text_printf(out, "fmha-index %d\nabi %d\nmade-by fmhagen %s\n", FMHA_INDEX_VERSION, FMHA_ABI_VERSION,
                    FMHA_VERSION);
        for (size_t i = 0; done && i < count; i++)
            done = check_name(sorted, i, error) && add_instance(&writer, sorted[i]);
        if (!out->failed)
            text_printf(out, "end %zu %016" PRIx64 "\n", count,
                        fmha_index_hash(out->bytes + begin, out->length - begin));
    }
    if (done && (!sorted || !writer.blocks || writer.scratch.failed || out->failed))
        done = error_set(error, ERROR_RUN, "no memory for the index of %zu instances", count);
    done = done && check_text(out->bytes + begin, out->length - begin, error);
    if (!done && out->bytes) {
        out->length = begin;
        out->bytes[begin] = '\0';
    }
    free(sorted);
    free(writer.blocks);
    text_free(&writer.scratch);
    return done;
}

bool index_of_instance(const struct instance *instance, struct fmha_index **index, struct error *error) {
    const struct index_entry entry = {.instance = instance};
    struct text text = {0};
    *index = NULL;
    bool done = index_text(&entry, 1, &text, error) && parse(text.bytes, text.length, index, error);
    text_free(&text);
    return done;
}
