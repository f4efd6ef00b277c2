/* Runs the tests that were compiled in, each in a process of its own. Exit status 1 if one fails. */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "criterion/criterion.h"

static struct race_test *tests;
static struct race_suite used;

void race_add(struct race_test *test) {
    test->next = tests;
    tests = test;
}

void race_use(struct race_suite suite) {
    used = suite;
}

int main(void) {
    int failures = 0;
    for (const struct race_test *test = tests; test != NULL; test = test->next) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            if (used.init != NULL) {
                used.init();
            }
            test->run();
            exit(0); /* not 0 after all where ThreadSanitizer has reported something */
        }
        bool passed = child > 0 && waitpid(child, &status, 0) == child && status == 0;
        printf("%s: %s\n", passed ? "passed" : "FAILED", test->name);
        fflush(stdout);
        failures += !passed;
    }
    return failures != 0;
}
