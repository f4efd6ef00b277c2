/* What dispatch.c and dispatch_explain.c share. */
#ifndef FMHA_DISPATCH_STATE_H
#define FMHA_DISPATCH_STATE_H

#include <pthread.h>

#include "catalogue.h"
#include "dispatch.h"
#include "routes.h"

enum load_state { LOAD_NONE, LOAD_RUNNING, LOAD_DONE, LOAD_FAILED };

/* An instance of one library on this device. */
struct loaded {
    const struct fmha_descriptor *descriptor;
    const struct fmha_catalogue_library *library;
    size_t order;                  /* of its library */
    bool has_object;               /* that the device runs, as far as the index says */
    _Atomic(fmha_kernel *) kernel; /* NULL until it is loaded */
    _Atomic(bool) failed;          /* the state is LOAD_FAILED: failure and why stay as they are */
    enum load_state state;         /* guarded by the dispatch's lock, as what follows */
    fmha_status failure;           /* of LOAD_FAILED: what would happen again */
    char *why;
};

/* What serves one key, in the order of preference. */
struct route {
    struct fmha_route route;
    size_t count;
    struct loaded *candidates[];
};

/* Why the generator has made no instance for a key: what would happen again. */
struct refusal {
    struct refusal *next;
    struct fmha_key key;
    char why[1024];
};

struct fmha_dispatch {
    fmha_device *device;
    struct fmha_key key; /* zeros but for the device's target */
    struct fmha_log log;
    struct fmha_routes routes;
    pthread_mutex_t lock; /* guards what follows; not held while an instance is read, compiled or loaded */
    pthread_cond_t changed;
    bool opened; /* the catalogue was read */
    struct fmha_catalogue catalogue;
    struct loaded **loaded; /* for each library of the catalogue, one for each of its instances */
    size_t listed;          /* libraries that `loaded` has */
    struct refusal *refusals;
    char **added; /* folders */
    size_t added_count;
};

/* Visits every instance of every library. The lock is held. */
#define FOR_EACH_INSTANCE(dispatch, item)                                                                              \
    for (size_t library_ = 0; library_ < (dispatch)->listed; library_++)                                               \
        for (struct loaded *item = (dispatch)->loaded[library_],                                                       \
                           *end_ = item != NULL                                                                        \
                                       ? item + fmha_index_count((dispatch)->catalogue.libraries[library_]->index)     \
                                       : NULL;                                                                         \
             item != end_; item++)

/* Reads the catalogue once. The lock is held. */
fmha_status fmha_dispatch_open(struct fmha_dispatch *dispatch);

/* Whether an instance runs on the device of the problem's key: one processor, and no feature that it fixes is set the
 * other way there. */
bool fmha_dispatch_fits_target(const struct fmha_key *instance, const struct fmha_key *problem);

/* Whether an instance computes what the problem asks for, on the problem's device. */
bool fmha_dispatch_fits(const struct fmha_key *instance, const struct fmha_key *problem);

/* The order of preference, for qsort over pointers to `struct loaded *`. */
int fmha_dispatch_compare(const void *left, const void *right);

/* The route of a key, made when it is the first of its kind; *route is NULL when nothing computes it. */
fmha_status fmha_dispatch_route(struct fmha_dispatch *dispatch, const struct fmha_key *key, struct route **route);

/* Why the generator made nothing for a key, or NULL. The lock is held. */
const struct refusal *fmha_dispatch_refusal(const struct fmha_dispatch *dispatch, const struct fmha_key *key);

/* Records the error that nothing serves a problem: FMHA_ERROR_NO_INSTANCE. */
fmha_status fmha_dispatch_fail(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                               const struct fmha_operands *operands);

#endif
