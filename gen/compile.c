#include "compile.h"

#include <stdlib.h>

#include "image.h"

bool compile_check(const struct instance *instance, const void *bytes, size_t length, bool allow_spills,
                   struct resources *resources, struct error *error) {
    char target[FMHA_TARGET_BYTES];
    if (fmha_image_target(instance->name, bytes, length, target) != FMHA_OK)
        return error_set(error, ERROR_RUN, "%s", fmha_last_error());
    if (!fmha_image_fits(target, instance->spec.arch))
        return error_set(error, ERROR_RUN, "%s: expected a code object for %s, got one for %s; compile it anew",
                         instance->name, instance->spec.arch, target);
    if (!codeobject_resources(bytes, length, instance->name, resources, error))
        return false;
    if (!allow_spills && !resources_clean(resources, error))
        return false;
    if (resources->lds_bytes != (int)instance->lds_bytes)
        return error_set(error, ERROR_RUN,
                         "%s: expected %u bytes of LDS in the code object, as its descriptor says, got %d; this is a "
                         "fault of the template",
                         instance->name, (unsigned)instance->lds_bytes, resources->lds_bytes);
    return true;
}

bool compile_instance(const struct instance *instance, const fmha_compiler *compiler, bool allow_spills,
                      struct code_object *object, struct error *error) {
    const fmha_source source = {
        .text = instance->text.bytes, .symbol = instance->name, .wave = instance->spec.value[SPEC_WAVE]};
    *object = (struct code_object){0};
    if (fmha_compiler_compile_source(compiler, instance->spec.arch, &source, &object->bytes, &object->length) !=
        FMHA_OK)
        return error_set(error, ERROR_RUN, "%s: %s", instance->name, fmha_last_error());
    if (compile_check(instance, object->bytes, object->length, allow_spills, &object->resources, error))
        return true;
    code_object_free(object);
    return false;
}

void code_object_free(struct code_object *object) {
    free(object->bytes);
    *object = (struct code_object){0};
}
