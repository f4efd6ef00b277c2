/* What one launch takes: tensors with what stands in them, and the values of a problem. Made from the reference's
 * problem, as the instance's spec says that a batch lies in memory: padded, packed, in pages. */
#ifndef GEN_OPERANDS_H
#define GEN_OPERANDS_H

#include "descriptor.h"
#include "error.h"
#include "execute.h"
#include "tensor.h"

enum { OPERANDS_OWNED_MAX = FMHA_BUFFER_COUNT + 8 };

struct operands {
    struct fmha_operands launch; /* its buffers are NULL */
    bool has[FMHA_BUFFER_COUNT];
    struct tensor tensors[FMHA_BUFFER_COUNT]; /* of those that it has */
    const void *contents[FMHA_BUFFER_COUNT];  /* of inputs, as tensor.h says; NULL: they were not given */
    void *owned[OPERANDS_OWNED_MAX];
    int owned_count;
};

/* An ERROR_USAGE names a shape that is too large, an ERROR_RUN says that there is no memory. Free on failure too. The
 * request must outlive the operands. */
bool operands_make(const struct instance *instance, const struct execute_request *request, struct operands *operands,
                   struct error *error);
void operands_free(struct operands *operands);

#endif
