/* How standing cases are added to their list: for gen/standing*.c alone. */
#ifndef GEN_STANDING_LIST_H
#define GEN_STANDING_LIST_H

#include "standing.h"

struct standing_list {
    struct standing_case *cases;
    int count;
    const struct instance *instance;
    int64_t m, n, g; /* m queries and n keys make one tile; heads come in groups of g, which the instance may fuse */
    enum reference_mask mask;
};

enum standing_layouts {
    STANDING_BSHD,
    STANDING_BHSD,
    STANDING_MIXED, /* padded, q and k as BHSD, v a view of BSHD */
    STANDING_PADDED_BSHD,
    STANDING_PADDED_BHSD
};

struct standing_case *standing_add(struct standing_list *list, const char *what, struct verify_shape shape,
                                   enum input_kind inputs, enum standing_layouts layouts);

/* Impulses in tensors that are laid out alike: for an emulated device alone. */
struct standing_case *standing_add_far_apart(struct standing_list *list, const char *what, struct verify_shape shape,
                                             struct tensor_layout layout);

/* Whether a field is anything but off. */
bool standing_is_on(const struct standing_list *list, enum spec_field_id field);

/* The edges of each modifier and layout that the instance has. */
void standing_add_modifiers(struct standing_list *list);

#endif
