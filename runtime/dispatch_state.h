/* What the parts of dispatch share. */
#ifndef FMHA_DISPATCH_STATE_H
#define FMHA_DISPATCH_STATE_H

#include <pthread.h>

#include "catalogue.h"
#include "choices.h"
#include "dispatch.h"
#include "routes.h"

enum load_state { LOAD_NONE, LOAD_RUNNING, LOAD_DONE, LOAD_FAILED };

/* An instance of one library on this device. */
struct loaded {
    _Atomic(fmha_kernel *) kernel; /* NULL until it is loaded */
    const struct fmha_descriptor *descriptor;
    const struct fmha_catalogue_library *library;
    size_t order;          /* of its library */
    bool has_object;       /* that the device runs, as far as the index says */
    _Atomic(bool) failed;  /* the state is LOAD_FAILED: failure and why stay as they are */
    enum load_state state; /* guarded by the dispatch's lock, as what follows */
    fmha_status failure;   /* of LOAD_FAILED: what would happen again */
    char *why;
};

/* A choice that holds. */
struct chosen {
    struct fmha_choice_place place;
    struct loaded *item;
    const struct fmha_choice *choice; /* valid until the lock under which the ranking was made is let go */
};

/* The choices of one key, by the names of their instances. */
struct ranking {
    struct ranking *older; /* that readers may still be in */
    size_t count;
    struct chosen list[];
};

/* What serves one key, in the order of preference. What every call reads of it is one line of the processor's cache. */
#define ROUTE_ALIGN 64
struct route {
    struct fmha_route route;
    _Atomic(struct ranking *) ranking; /* NULL: no choice holds */
    size_t count;
    struct loaded *candidates[];
};

/* Why the generator has made no instance for a key: what would happen again. */
struct refusal {
    struct refusal *next;
    struct fmha_key key;
    char why[1024];
};

/* A key that the generator is being asked for, on the stack of the thread that does. */
struct generation {
    struct generation *next;
    const struct fmha_key *key;
};

/* A file of choices that cannot be used. */
struct damaged_choices {
    struct damaged_choices *next;
    char path[512], why[1024];
};

struct fmha_dispatch {
    fmha_device *device;
    struct fmha_key key; /* zeros but for the device's target */
    struct fmha_log log;
    struct fmha_routes routes;
    pthread_mutex_t lock; /* guards what follows; not held while an instance is generated, read, compiled or loaded */
    pthread_cond_t changed;
    bool opened; /* the catalogue was read */
    struct fmha_catalogue catalogue;
    struct loaded **loaded; /* for each library of the catalogue, one for each of its instances */
    size_t listed;          /* libraries that `loaded` has; those behind them serve nothing yet */
    struct generation *generations;
    struct refusal *refusals;
    struct fmha_choices found;      /* in files; as those below, for this chip alone */
    struct fmha_choices own, tuned; /* handed in or tuned, which fmha_device_forget keeps; of those the tuned ones */
    struct damaged_choices *damaged_choices;
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

/* The order of preference for a problem: below 0 where `left` comes first. */
int fmha_dispatch_compare(const struct loaded *left, const struct loaded *right, const struct fmha_key *problem);

/* The route of a key, made when it is the first of its kind; *route is NULL when nothing computes it. */
fmha_status fmha_dispatch_route(struct fmha_dispatch *dispatch, const struct fmha_key *key, struct route **route);

/* Why the generator made nothing for a key, or NULL. The lock is held. */
const struct refusal *fmha_dispatch_refusal(const struct fmha_dispatch *dispatch, const struct fmha_key *key);

/* Why an instance does not compute what the problem asks for: "serves head_dim 64, not 128". Returns in how many fields
 * they differ; 0: in none. */
int fmha_dispatch_difference(const struct fmha_key *instance, const struct fmha_key *problem, char *text, size_t room);

/* ---- Choices; the lock is held --------------------------------------------------------------------------- */

/* Reads what is found by itself: $FMHA_CHOICES and the user's own file; what stands beside the index of a library. */
fmha_status fmha_dispatch_read_choices(struct fmha_dispatch *dispatch);
fmha_status fmha_dispatch_read_library_choices(struct fmha_dispatch *dispatch,
                                               const struct fmha_catalogue_library *library);

/* Drops what was read. */
void fmha_dispatch_forget_choices(struct fmha_dispatch *dispatch);

/* The choices that hold for a key, of each problem the best; *made is NULL when there are none. Calls back with those
 * that do not hold. */
typedef void (*fmha_choice_refused)(void *context, const struct fmha_choice *choice, const char *why);
fmha_status fmha_dispatch_make_ranking(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                                       fmha_choice_refused refused, void *context, struct ranking **made);
void fmha_dispatch_free_ranking(struct ranking *ranking); /* with those that are older; NULL is accepted */

/* Gives a route its ranking, or a new one. */
fmha_status fmha_dispatch_rank(struct fmha_dispatch *dispatch, struct route *route);

/* The nearest choice for a problem's values. Needs no lock. */
static inline const struct chosen *fmha_ranking_nearest(const struct ranking *ranking, const int64_t *value) {
    const struct chosen *nearest = ranking->list;
    if (ranking->count == 1) {
        return nearest;
    }
    struct fmha_choice_place place = fmha_choice_place(value);
    int32_t least = fmha_choice_distance(&nearest->place, &place);
    for (size_t i = 1; i < ranking->count; i++) {
        int32_t distance = fmha_choice_distance(&ranking->list[i].place, &place);
        if (distance < least) {
            least = distance;
            nearest = &ranking->list[i];
        }
    }
    return nearest;
}

/* Records the error that nothing serves a problem: FMHA_ERROR_NO_INSTANCE. */
fmha_status fmha_dispatch_fail(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                               const struct fmha_operands *operands);

#endif
