#include "routes.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64

/* Open addressing, at most half full, so that every search ends at an empty slot. */
struct fmha_routes_table {
    struct fmha_routes_table *older; /* readers may still be in it */
    size_t mask, count;
    _Atomic(struct fmha_route *) slots[];
};

struct words {
    uint64_t a, b, c, d;
};

static struct words words_of(const struct fmha_key *key) {
    _Static_assert(sizeof *key == sizeof(struct words), "the key is four words");
    return (struct words){fmha_key_word(key, 0), fmha_key_word(key, 1), fmha_key_word(key, 2), fmha_key_word(key, 3)};
}

/* Four multiplications, none of which waits for another: it is computed in every call and never leaves the process. */
static uint64_t hash_of(struct words key) {
    uint64_t hash = key.a * UINT64_C(0x9e3779b97f4a7c15) ^ key.b * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                    key.c * UINT64_C(0x165667b19e3779f9) ^ key.d * UINT64_C(0x27d4eb2f165667c5);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

static bool has_key(const struct fmha_route *route, struct words key) {
    struct words own = words_of(&route->key);
    return ((own.a ^ key.a) | (own.b ^ key.b) | (own.c ^ key.c) | (own.d ^ key.d)) == 0;
}

struct fmha_route *fmha_routes_find(const struct fmha_routes *routes, const struct fmha_key *key) {
    struct fmha_routes_table *table = atomic_load_explicit(&routes->table, memory_order_acquire);
    struct words words = words_of(key);
    if (table == NULL) {
        return NULL;
    }
    for (size_t at = hash_of(words) & table->mask;; at = (at + 1) & table->mask) {
        struct fmha_route *route = atomic_load_explicit(&table->slots[at], memory_order_acquire);
        if (route == NULL || has_key(route, words)) {
            return route;
        }
    }
}

static void insert(struct fmha_routes_table *table, struct fmha_route *route) {
    size_t at = hash_of(words_of(&route->key)) & table->mask;
    while (atomic_load_explicit(&table->slots[at], memory_order_relaxed) != NULL) {
        at = (at + 1) & table->mask;
    }
    atomic_store_explicit(&table->slots[at], route, memory_order_release);
    table->count++;
}

static struct fmha_routes_table *larger_table(struct fmha_routes_table *older) {
    size_t slots = older != NULL ? (older->mask + 1) * 2 : SLOTS_FIRST;
    struct fmha_routes_table *table = calloc(1, sizeof *table + slots * sizeof table->slots[0]);
    if (table == NULL) {
        return NULL;
    }
    table->older = older;
    table->mask = slots - 1;
    for (size_t i = 0; older != NULL && i <= older->mask; i++) {
        struct fmha_route *route = atomic_load_explicit(&older->slots[i], memory_order_relaxed);
        if (route != NULL) {
            insert(table, route);
        }
    }
    return table;
}

bool fmha_routes_add(struct fmha_routes *routes, struct fmha_route *route) {
    struct fmha_routes_table *table = atomic_load_explicit(&routes->table, memory_order_relaxed);
    if (table == NULL || (table->count + 1) * 2 > table->mask + 1) {
        struct fmha_routes_table *larger = larger_table(table);
        if (larger == NULL) {
            return false;
        }
        insert(larger, route);
        atomic_store_explicit(&routes->table, larger, memory_order_release);
        return true;
    }
    insert(table, route);
    return true;
}

void fmha_routes_visit(const struct fmha_routes *routes, void (*visit)(void *context, struct fmha_route *route),
                       void *context) {
    struct fmha_routes_table *table = atomic_load_explicit(&routes->table, memory_order_acquire);
    for (size_t i = 0; table != NULL && i <= table->mask; i++) {
        struct fmha_route *route = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
        if (route != NULL) {
            visit(context, route);
        }
    }
}

void fmha_routes_clear(struct fmha_routes *routes, void (*drop)(struct fmha_route *route)) {
    struct fmha_routes_table *table = atomic_exchange(&routes->table, NULL);
    for (size_t i = 0; table != NULL && i <= table->mask; i++) {
        struct fmha_route *route = atomic_load_explicit(&table->slots[i], memory_order_relaxed);
        if (route != NULL) {
            drop(route);
        }
    }
    while (table != NULL) {
        struct fmha_routes_table *older = table->older;
        free(table);
        table = older;
    }
}
