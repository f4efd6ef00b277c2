#include "interface.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

void interface_hash(const char *bytes, size_t length, char hash[INTERFACE_HASH_SIZE]) {
    _Static_assert(SHA256_DIGEST_STRING_LENGTH == INTERFACE_HASH_SIZE, "libmd writes the digits and a NUL");
    SHA256Data((const uint8_t *)bytes, length, hash);
}

static bool add_number(cJSON *object, const char *name, double number) {
    return cJSON_AddNumberToObject(object, name, number) != NULL;
}

static bool add_string(cJSON *object, const char *name, const char *string) {
    return cJSON_AddStringToObject(object, name, string) != NULL;
}

/* An array of the words of `words`, which blanks separate. */
static bool add_words(cJSON *object, const char *name, const char *words) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    while (array && *words) {
        char word[160];
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (length && !cJSON_AddItemToArray(array, cJSON_CreateString(word)))
            return false;
        words += length + (words[length] == ' ');
    }
    return array != NULL;
}

static bool add_spec(cJSON *root, const struct spec *spec) {
    static const enum spec_field_id always[] = {SPEC_DTYPE, SPEC_HEAD_DIM, SPEC_HEAD_DIM_V, SPEC_MASK, SPEC_ALIGN};
    cJSON *object = cJSON_AddObjectToObject(root, "spec");
    bool done = object != NULL;
    for (int id = 0; done && id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        bool shown = (field->knob && !field->choice) || spec->value[id] != field->neutral;
        for (size_t i = 0; i < sizeof always / sizeof *always; i++)
            shown = shown || (int)always[i] == id;
        if (id == SPEC_OP || !shown || !spec_has(spec, (enum spec_field_id)id)) /* the operation stands above */
            continue;
        done = field->words ? add_string(object, field->name, field->words[spec->value[id]])
                            : add_number(object, field->name, spec->value[id]);
    }
    if (done && spec->modifier_hash) {
        char hash[16];
        snprintf(hash, sizeof hash, "%08x", (unsigned)spec->modifier_hash);
        done = add_string(object, "modifier", hash);
    }
    cJSON *set = done && spec->set_count ? cJSON_AddObjectToObject(object, "set") : NULL;
    done = done && (set || !spec->set_count);
    for (int i = 0; done && i < spec->set_count; i++)
        done = add_string(set, spec->set[i].name, spec->set[i].value);
    return done;
}

static bool add_constraints(cJSON *root, const struct instance *instance) {
    cJSON *array = cJSON_AddArrayToObject(root, "constraints");
    bool done = array != NULL;
    for (int i = 0; done && i < instance->constraint_count; i++) {
        const struct constraint *constraint = &instance->constraints[i];
        char value[24]; /* 64 bits would not survive as a double */
        snprintf(value, sizeof value, "%" PRId64, constraint->value);
        cJSON *object = cJSON_CreateObject();
        done = cJSON_AddItemToArray(array, object) && add_string(object, "field", constraint->field) &&
               cJSON_AddRawToObject(object, constraint->relation, value);
    }
    return done;
}

static bool add_arguments(cJSON *root, const struct instance *instance) {
    cJSON *array = cJSON_AddArrayToObject(root, "arguments");
    bool done = array != NULL;
    for (int i = 0; done && i < instance->argument_count; i++) {
        const struct argument *argument = &instance->arguments[i];
        bool buffer = argument->kind == ARGUMENT_BUFFER;
        cJSON *object = cJSON_CreateObject();
        done = cJSON_AddItemToArray(array, object) && add_string(object, "name", argument->name) &&
               add_string(object, "kind", buffer ? "buffer" : "value") &&
               add_string(object, buffer ? "dtype" : "type", argument->type);
        if (done && buffer)
            done = add_string(object, "access", argument->access) &&
                   (!argument->optional || cJSON_AddTrueToObject(object, "optional")) &&
                   add_words(object, "shape", argument->shape) && add_words(object, "strides", argument->strides);
        done = done && add_number(object, "offset", argument->offset_bytes) &&
               add_number(object, "size", argument->size_bytes) &&
               (!buffer || add_number(object, "align", argument->align_bytes));
    }
    return done && add_number(root, "argument_bytes", instance->argument_bytes);
}

static bool add_launch(cJSON *root, const struct instance *instance) {
    const double workgroup[3] = {instance->workgroup, 1, 1};
    const char *grid[3] = {instance->grid[0], instance->grid[1], instance->grid[2]};
    return json_add(root, "workgroup", cJSON_CreateDoubleArray(workgroup, 3)) &&
           json_add(root, "grid", cJSON_CreateStringArray(grid, 3)) &&
           add_number(root, "lds_bytes", instance->lds_bytes) && add_number(root, "lds_dynamic_bytes", 0);
}

static bool add_build(cJSON *root, const struct resources *resources, const char *compiler, const char *const *flags,
                      int flag_count) {
    cJSON *object = resources ? cJSON_AddObjectToObject(root, "resources") : NULL;
    if (resources &&
        !(object && add_number(object, "vgpr", resources->vgpr) && add_number(object, "sgpr", resources->sgpr) &&
          add_number(object, "spills", resources->vgpr_spills + resources->sgpr_spills) &&
          add_number(object, "scratch_bytes", resources->scratch_bytes) &&
          add_number(object, "waves_per_simd", resources->waves_per_simd)))
        return false;
    return !compiler || (add_string(root, "compiler", compiler) &&
                         json_add(root, "flags", cJSON_CreateStringArray((const char **)flags, flag_count)));
}

bool interface_text(const struct instance *instance, const struct resources *resources, const char *compiler,
                    const char *const *flags, int flag_count, const char *source_hash, const char *object_hash,
                    struct text *out, struct error *error) {
    const struct spec *spec = &instance->spec;
    cJSON *root = cJSON_CreateObject();
    bool done = root && add_number(root, "fmha", FMHA_ABI_VERSION) && add_string(root, "symbol", instance->name) &&
                add_string(root, "arch", spec->arch) && add_string(root, "operation", spec_word(spec, SPEC_OP)) &&
                add_spec(root, spec) && add_constraints(root, instance) && add_launch(root, instance) &&
                add_arguments(root, instance) && add_build(root, resources, compiler, flags, flag_count) &&
                add_string(root, "source_hash", source_hash) &&
                (!object_hash || add_string(root, "object_hash", object_hash));
    return json_print(root, done, out) || error_set(error, ERROR_RUN, "%s: out of memory", instance->name);
}

bool interface_json(const struct instance *instance, const struct interface_object *object, struct text *out,
                    struct error *error) {
    char storage[256], source_hash[INTERFACE_HASH_SIZE], object_hash[INTERFACE_HASH_SIZE];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    interface_hash(instance->text.bytes, instance->text.length, source_hash);
    if (!object)
        return interface_text(instance, NULL, NULL, NULL, 0, source_hash, NULL, out, error);
    int count = fmha_compiler_flags(object->compiler, instance->spec.arch, (int)instance->spec.value[SPEC_WAVE],
                                    storage, flags);
    if (count < 0)
        return error_set(error, ERROR_RUN, "%s: %s", instance->name, fmha_last_error());
    interface_hash(object->bytes, object->length, object_hash);
    return interface_text(instance, object->resources, object->compiler->version, flags, count, source_hash,
                          object_hash, out, error);
}
