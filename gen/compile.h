/* One instance through the compiler, and what must hold of the code object that comes out. */
#ifndef GEN_COMPILE_H
#define GEN_COMPILE_H

#include "codeobject.h"
#include "compiler.h"
#include "instance.h"

struct code_object {
    void *bytes; /* malloc'ed; NULL: none */
    size_t length;
    struct resources resources;
};

/* Compiles the instance and checks the result as below. Free with code_object_free; on error there is nothing to free.
 */
bool compile_instance(const struct instance *instance, const fmha_compiler *compiler, bool allow_spills,
                      struct code_object *object, struct error *error);

/* Fills `resources` from a code object that was compiled from the instance. It must be for the instance's chip, have
 * its kernel and the LDS that its descriptor says, and, unless `allow_spills`, spill nothing and use no scratch memory.
 */
bool compile_check(const struct instance *instance, const void *bytes, size_t length, bool allow_spills,
                   struct resources *resources, struct error *error);

void code_object_free(struct code_object *object); /* leaves it empty */

#endif
