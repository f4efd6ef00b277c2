/* The table from keys to routes: right while it grows, whoever reads it meanwhile. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"
#include "support.h"

enum { ROUTES = 10000, READERS = 4 };

static struct fmha_route *routes;
static struct fmha_routes table;
static _Atomic(size_t) added;
static size_t dropped;

/* Keys as they are: few fields, small numbers, many bytes the same. */
static struct fmha_key key_at(size_t i) {
    struct fmha_key key;
    fmha_key_init(&key);
    fmha_key_set_target(&key, "gfx1151");
    key.dtype = (uint8_t)(1 + i % 2);
    key.mask = (uint8_t)(i / 2 % 3);
    key.v_layout = (uint8_t)(i / 6 % 2);
    key.align = i / 12 % 2 ? 16 : 2;
    key.head_dim = (uint16_t)(8 * (1 + i / 24 % 64));
    key.head_dim_v = (uint16_t)(8 * (1 + i / 24 / 64));
    return key;
}

static void drop(struct fmha_route *route) {
    cr_assert_geq(route, routes);
    cr_assert_lt(route, routes + ROUTES);
    dropped++;
}

static void set_up(void) {
    routes = calloc(ROUTES, sizeof *routes);
    cr_assert_not_null(routes);
    for (size_t i = 0; i < ROUTES; i++) {
        routes[i].key = key_at(i);
    }
}

static void tear_down(void) {
    fmha_routes_clear(&table, drop);
    cr_assert_eq(dropped, added);
    cr_assert_null(fmha_routes_find(&table, &routes[0].key));
    free(routes);
    support_assert_clean();
}

TestSuite(routes, .init = set_up);

Test(routes, empty_table_has_none) {
    cr_assert_null(fmha_routes_find(&table, &routes[0].key));
    tear_down();
}

Test(routes, finds_what_was_added_and_nothing_else) {
    for (size_t i = 0; i < ROUTES; i++) {
        cr_assert_null(fmha_routes_find(&table, &routes[i].key));
        cr_assert(fmha_routes_add(&table, &routes[i]));
        added++;
        cr_assert_eq(fmha_routes_find(&table, &routes[i].key), &routes[i]);
        cr_assert_eq(fmha_routes_find(&table, &routes[i / 2].key), &routes[i / 2]);
    }
    for (size_t i = 0; i < ROUTES; i++) {
        cr_assert_eq(fmha_routes_find(&table, &routes[i].key), &routes[i]);
    }
    tear_down();
}

/* Every byte of a key counts. */
Test(routes, keys_that_differ_in_one_byte_are_others) {
    cr_assert(fmha_routes_add(&table, &routes[0]));
    added++;
    for (size_t byte = 0; byte < sizeof(struct fmha_key); byte++) {
        struct fmha_key key = routes[0].key;
        ((unsigned char *)&key)[byte] ^= 1;
        cr_assert_null(fmha_routes_find(&table, &key), "byte %zu", byte);
    }
    tear_down();
}

/* What was added before a reader looks is found; what was not is not taken for another. */
static void *read_while_it_grows(void *argument) {
    size_t seed = (size_t)argument, wrong = 0, at;
    do {
        at = atomic_load_explicit(&added, memory_order_acquire);
        for (size_t i = 0; i < 64 && at > 0; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t wanted = (seed >> 33) % ROUTES;
            struct fmha_route *found = fmha_routes_find(&table, &routes[wanted].key);
            wrong += found != &routes[wanted] && (found != NULL || wanted < at);
        }
    } while (at < ROUTES);
    return (void *)wrong;
}

Test(routes, readers_are_right_while_it_grows) {
    pthread_t threads[READERS];
    for (size_t i = 0; i < READERS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, read_while_it_grows, (void *)(i + 1)), 0);
    }
    for (size_t i = 0; i < ROUTES; i++) {
        cr_assert(fmha_routes_add(&table, &routes[i]));
        atomic_store_explicit(&added, i + 1, memory_order_release);
    }
    for (size_t i = 0; i < READERS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        cr_assert_null(wrong);
    }
    tear_down();
}
