#include "kernels.h"

#include <stdlib.h>
#include <string.h>

bool kernels_open(const struct kernel_options *options, struct kernels *kernels, struct error *error) {
    struct spec_choices choices = {.arch = options->arch,
                                   .set = options->set.item,
                                   .set_count = options->set.count,
                                   .modifier = options->modifier};
    memcpy(choices.field, options->field, sizeof choices.field);
    memset(kernels, 0, sizeof *kernels);
    kernels->engine = template_engine_new(options->template_dir, error);
    return kernels->engine && spec_product(&choices, kernels->engine, &kernels->specs, &kernels->count, error);
}

/* On failure the error names the spec where there are several. */
static bool emit(struct kernels *kernels, size_t index, struct instance *instance, struct error *error) {
    const struct spec *spec = &kernels->specs[index];
    if (instance_emit(kernels->engine, spec, instance, error))
        return true;
    char name[SPEC_NAME_MAX];
    spec_name(spec, name);
    struct error copy = *error;
    if (kernels->count > 1)
        error_set(error, copy.kind, "%s (for %s)", copy.text, name);
    return false;
}

bool kernels_emit(struct kernels *kernels, struct error *error) {
    kernels->instances = calloc(kernels->count, sizeof *kernels->instances);
    if (!kernels->instances)
        return error_set(error, ERROR_RUN, "generate: out of memory");
    for (; kernels->emitted < kernels->count; kernels->emitted++)
        if (!emit(kernels, kernels->emitted, &kernels->instances[kernels->emitted], error))
            return false;
    return true;
}

bool kernels_check(struct kernels *kernels, struct error *error) {
    struct instance instance;
    for (size_t i = 0; i < kernels->count; i++) {
        if (!emit(kernels, i, &instance, error))
            return false;
        instance_free(&instance);
    }
    return true;
}

void kernels_free(struct kernels *kernels) {
    for (size_t i = 0; i < kernels->emitted; i++)
        instance_free(&kernels->instances[i]);
    free(kernels->instances);
    free(kernels->specs);
    template_engine_free(kernels->engine);
    memset(kernels, 0, sizeof *kernels);
}
