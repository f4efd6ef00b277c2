/* The cases that an instance is verified on when no shape is asked for: lengths around every edge of its tiles, head
 * ratios, layouts, kinds of inputs, identities. Small, so that all of them run in a second or two on an emulated
 * device.
 */
#ifndef GEN_STANDING_H
#define GEN_STANDING_H

#include "execute.h"
#include "inputs.h"
#include "instance.h"
#include "modifiers.h"
#include "verify.h"

/* An identity is checked between two runs of the kernel, or three. */
enum standing_identity {
    STANDING_ALONE,
    STANDING_PERMUTED, /* the keys that all rows see in another order: the same O and LSE */
    STANDING_SPLIT,    /* the keys in two runs, merged by LSE: the same O and LSE */
    STANDING_SHIFTED   /* a constant added to all scores: the same O, LSE plus the constant */
};

enum { STANDING_SEQUENCES_MAX = 8 };

struct standing_case {
    char what[64];
    struct verify_shape shape;
    enum input_kind inputs;
    double scale; /* NAN: 1/sqrt(head_dim) */
    struct tensor_layout q, k, v, o, planes;
    struct modifiers_choice modifiers;
    int64_t page_size, page_spare; /* of instances whose K and V are paged; page_spare: pages before theirs */
    bool has_lengths;              /* where the instance has lengths; else modifiers.h chooses them */
    int64_t lengths_q[STANDING_SEQUENCES_MAX], lengths_k[STANDING_SEQUENCES_MAX];
    int64_t splits; /* of decoding: workgroups that share a row's keys */
    bool without_lse;
    bool
        far_apart; /* gigabytes of addresses, kilobytes of memory: for an emulated device, which maps only the latter */
    enum standing_identity identity;
};

#define STANDING_MAX 128

/* Fills `cases` and returns their number, at most STANDING_MAX. */
int standing_cases(const struct instance *instance, enum reference_mask mask, struct standing_case cases[STANDING_MAX]);

#endif
