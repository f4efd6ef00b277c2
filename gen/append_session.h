/* One verification of the operation append: what an instance takes and gives, and the sizes of it. */
#ifndef GEN_APPEND_SESSION_H
#define GEN_APPEND_SESSION_H

#include "append.h"
#include "append_cases.h"
#include "verify_session.h"

/* What a kernel of this operation takes and gives. */
enum append_side {
    SIDE_K_NEW,
    SIDE_V_NEW,
    SIDE_K,
    SIDE_V,
    SIDE_K_SCALE,
    SIDE_V_SCALE,
    SIDE_SEQLENS_K,
    SIDE_SEQLENS_NEW,
    SIDE_CU_SEQLENS_NEW,
    SIDE_BLOCK_TABLE,
    SIDE_ROTARY_COS,
    SIDE_ROTARY_SIN,
    APPEND_SIDES
};

struct append_session {
    struct verify_session base;
    enum half_type half;     /* of what is new */
    struct append_type type; /* of the cache */
    enum append_rotary rotary;
    bool packed, padded, paged, values;
    bool makes_scales; /* else they are given, one for each batch and head */
    struct append_case *cases;
};

/* One call: what it is given on the host, and what it must make of it. */
struct append_work {
    struct append_session *session;
    const struct append_case *one;
    struct findings findings;
    struct verify_call call;
    int64_t tokens, pages, blocks, slots; /* blocks of a cache, batches or pages, and rows of one */
    int32_t *before, *added;              /* [batch] */
    void *contents[APPEND_SIDES];         /* of each that the kernel has; owned, as all here */
    void *got[APPEND_SIDES];              /* of what it writes */
    int64_t *source; /* [blocks][slots], the new row that belongs there: batch * seqlen_new + row; -1: none */
};

extern const struct verify_side append_sides[APPEND_SIDES];

bool append_is_new(enum append_side side);
bool append_is_cache(enum append_side side);
bool append_is_scale(enum append_side side);

/* Whether instances of the session have it. */
bool append_has(const struct append_session *session, enum append_side side);

/* Whether a kernel writes there. */
bool append_is_output(const struct append_session *session, enum append_side side);

/* Elements of a row of K or V. */
int64_t append_columns(const struct append_session *session, enum append_side side);

/* Elements of memory of a row of a cache, and bytes of one. */
int64_t append_units(const struct append_session *session, enum append_side side);
size_t append_element_bytes(const struct append_session *session, enum append_side side);

/* Of what address and strides of rows are multiples, in elements. */
int64_t append_alignment(const struct append_session *session, enum append_side side);

/* Scales of a row where the kernel makes them. */
int64_t append_scales(const struct append_session *session, enum append_side side);

/* Columns of K that a case rotates: whole pieces where the instance wants them. */
void append_rotated_columns(const struct append_session *session, const struct append_case *one, int64_t *first,
                            int64_t *dim);

/* Sets the session's error; false. */
bool append_no_memory(const struct append_work *work, int64_t elements);

#endif
