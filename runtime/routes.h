/* A table from shape keys to what serves them. Any number of threads read it without a lock while one writes. */
#ifndef FMHA_ROUTES_H
#define FMHA_ROUTES_H

#include <stdatomic.h>

#include "key.h"

struct fmha_route { /* the first member of what the table holds */
    struct fmha_key key;
};

struct fmha_routes_table;

struct fmha_routes {
    _Atomic(struct fmha_routes_table *) table; /* NULL: empty */
};

/* The route of a key, or NULL. */
struct fmha_route *fmha_routes_find(const struct fmha_routes *routes, const struct fmha_key *key);

/* Adds a route whose key is not there yet; one writer at a time. What readers may still look at is kept until
 * fmha_routes_clear. False when there is no memory. */
bool fmha_routes_add(struct fmha_routes *routes, struct fmha_route *route);

/* Calls back with every route; no other thread may add one meanwhile. */
void fmha_routes_visit(const struct fmha_routes *routes, void (*visit)(void *context, struct fmha_route *route),
                       void *context);

/* Calls back with every route and empties the table; no reader may be at work. */
void fmha_routes_clear(struct fmha_routes *routes, void (*drop)(struct fmha_route *route));

#endif
