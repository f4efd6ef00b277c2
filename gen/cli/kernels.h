/* From the options that describe a kernel to specs and emitted instances. */
#ifndef GEN_CLI_KERNELS_H
#define GEN_CLI_KERNELS_H

#include "cli.h"
#include "instance.h"
#include "template.h"

struct kernels {
    struct template_engine *engine;
    struct spec *specs;         /* resolved */
    struct instance *instances; /* as many; NULL before kernels_emit */
    size_t count, emitted;
};

/* Opens the engine and makes the product of all comma lists. Free with kernels_free on failure too. */
bool kernels_open(const struct kernel_options *options, struct kernels *kernels, struct error *error);

/* Emits every instance; on the first that cannot be emitted it stops. */
bool kernels_emit(struct kernels *kernels, struct error *error);

/* As above, without keeping the instances: whether each can be emitted. */
bool kernels_check(struct kernels *kernels, struct error *error);
void kernels_free(struct kernels *kernels);

#endif
