/* Stands in for Criterion where ThreadSanitizer watches, under which Criterion itself does not run: what the tests of
 * threads use of it, each test in a process of its own (races.c). */
#ifndef TESTS_RUNTIME_RACES_CRITERION_H
#define TESTS_RUNTIME_RACES_CRITERION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct race_suite {
    void (*init)(void);
};

struct race_test {
    const char *name;
    void (*run)(void);
    struct race_test *next;
};

void race_add(struct race_test *test);
void race_use(struct race_suite suite);

#define TestSuite(suite, ...)                                                                                          \
    __attribute__((constructor)) static void suite##_suite(void) {                                                     \
        race_use((struct race_suite){__VA_ARGS__});                                                                    \
    }                                                                                                                  \
    static void suite##_suite(void)

#define Test(suite, test, ...)                                                                                         \
    static void suite##_##test(void);                                                                                  \
    __attribute__((constructor)) static void suite##_##test##_add(void) {                                              \
        static struct race_test race_ = {.name = #suite "::" #test, .run = suite##_##test};                            \
        race_add(&race_);                                                                                              \
    }                                                                                                                  \
    static void suite##_##test(void)

#define cr_assert(condition, ...)                                                                                      \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))
#define cr_assert_eq(left, right, ...)     cr_assert((left) == (right))
#define cr_assert_geq(left, right, ...)    cr_assert((left) >= (right))
#define cr_assert_lt(left, right, ...)     cr_assert((left) < (right))
#define cr_assert_null(pointer, ...)       cr_assert((pointer) == NULL)
#define cr_assert_not_null(pointer, ...)   cr_assert((pointer) != NULL)
#define cr_assert_str_eq(left, right, ...) cr_assert(strcmp((left), (right)) == 0)

#endif
