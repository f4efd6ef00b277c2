/* Runs an instance on tensors of the host: lays them out in device memory as asked, asks libfmha's descriptor whether
 * it serves them, packs the arguments and makes the grid by it, launches, reads back, and looks whether anything but
 * the outputs was touched. */
#ifndef GEN_EXECUTE_H
#define GEN_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "findings.h"
#include "fmha.h"
#include "index.h"
#include "instance.h"
#include "reference.h"
#include "tensor.h"

struct execute_request {
    const struct reference_problem *problem; /* all of it but its q, k and v is what the kernel gets */
    struct tensor_layout q, k, v, o;         /* of pages of K and V: head_padding and block_padding of a page */
    struct tensor_layout planes;             /* of bias and masks: paddings alone */
    int64_t page_size;                       /* where K and V are paged: a power of two */
    uint64_t page_seed;                      /* of the order in which pages are handed out */
    int64_t page_spare;                      /* pages before the first that a sequence may have */
    int64_t splits; /* of decoding, more than 1: the partial results of so many are merged here, in float64 */
    struct user_reference *user; /* of a modifier from outside; NULL: there is none */
    const uint16_t *q_bits;      /* [batch][heads_q][seqlen_q][head_dim], bits of the instance's dtype, as the others */
    const uint16_t *k_bits;      /* [batch][heads_k][seqlen_k][head_dim] */
    const uint16_t *v_bits;      /* [batch][heads_k][seqlen_k][head_dim_v], whatever the instance's v_layout */
    const struct kv_cache *cache; /* what an instance whose K and V are small reads in their place; or NULL */
    uint16_t *o_bits; /* receives [batch][heads_q][seqlen_q][head_dim_v]; EXECUTE_POISON where nothing was written */
    float *lse;       /* receives [batch][heads_q][seqlen_q], the same; NULL: the kernel gets no such buffer */
};

#define EXECUTE_POISON     0x7fd5u     /* a NaN in f16 and bf16 that no kernel computes */
#define EXECUTE_POISON_F32 0x7fd57fd5u /* the same twice, a NaN in f32 */

struct execute_target {
    const struct instance *instance;
    struct fmha_index *index; /* of this one instance: its descriptor as libfmha knows it */
    fmha_device *device;
    fmha_module *module;
    fmha_kernel *kernel;
};

/* Elements that rows and base addresses of the instance's tensors are multiples of: 8, or 1 for --align 2. */
int64_t execute_alignment(const struct instance *instance);

/* Whether the instance promises to serve the request: an ERROR_USAGE names the constraint that it does not meet and
 * what would, an ERROR_RUN an argument that no problem has. */
bool execute_check(const struct instance *instance, const struct execute_request *request, struct error *error);

/* A real device neither checks nor counts. */
struct execute_options {
    bool without_checks; /* of accesses to memory */
    int count;           /* 1: what the kernel does; 2: by instruction too, on the device "isa" */
    const void *object;  /* a code object that is run in place of what the instance compiles to; NULL: none */
    size_t object_bytes;
};

/* Opens the device, compiles the instance for it and loads it. On failure the target needs no close. */
bool execute_open(const char *device_name, const struct instance *instance, const struct execute_options *options,
                  struct execute_target *target, struct error *error);

/* From now on waves run in this order on an emulated device. */
bool execute_seed(struct execute_target *target, uint64_t seed, struct error *error);

void execute_close(struct execute_target *target);

/* What kernels of any operation need: whether the instance promises to serve these operands, as execute_check; `shape`
 * names them in errors. */
bool execute_serves(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, const char *shape,
                    struct error *error);

/* Launches on operands whose tensors are in place, and waits; nothing is launched for an empty grid. */
bool execute_launch(const struct execute_target *target, const struct fmha_operands *operands, const char *shape,
                    struct findings *findings, struct error *error);

/* Runs a request that execute_check accepts. What the kernel did that it must not do is added to `findings`; false is
 * returned when it could not be run: no memory, a driver's error. */
bool execute_run(const struct execute_target *target, const struct execute_request *request, struct findings *findings,
                 struct error *error);

#endif
