/* Many threads at once, on one device. Also run under ThreadSanitizer (races/). */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dispatch_support.h"

enum { THREADS = 16, KEYS = 24 };

TestSuite(dispatch_threads, .init = dispatch_set_up);

static fmha_device *device;
static pthread_barrier_t start;

/* Head dimensions 8, 16, … are the keys. */
static fmha_forward_problem problem_of(int key) {
    fmha_forward_problem problem = dispatch_problem();
    problem.head_dim = 8 * (key + 1);
    return problem;
}

static void make_library(void) {
    struct test_instance instances[KEYS];
    char names[KEYS][16], sources[KEYS][16];
    for (int i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof names[i], "i%02d", i);
        snprintf(sources[i], sizeof sources[i], "text %d", i);
        instances[i] = (struct test_instance){.name = names[i], .head_dim = 8 * (i + 1), .source = sources[i]};
    }
    dispatch_library("library", instances, KEYS);
}

static void *run(void *problem) {
    pthread_barrier_wait(&start);
    return (void *)(intptr_t)fmha_forward(device, problem);
}

/* One call of each thread; how many were not FMHA_OK. */
static int run_all(fmha_forward_problem problems[THREADS]) {
    pthread_t threads[THREADS];
    int failures = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, run, &problems[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *status;
        pthread_join(threads[i], &status);
        failures += (intptr_t)status != FMHA_OK;
    }
    pthread_barrier_destroy(&start);
    return failures;
}

static void fill(fmha_forward_problem problems[THREADS], bool same) {
    for (int i = 0; i < THREADS; i++) {
        problems[i] = problem_of(same ? 0 : i);
    }
}

Test(dispatch_threads, one_key_is_compiled_once) {
    make_library();
    fmha_forward_problem problems[THREADS];
    fill(problems, true);
    for (int round = 0; round < 4; round++) {
        fake->concurrent = round % 2 != 0;
        fake->identity = round < 2 ? NULL : "fake compiler";
        fake->compile_ms = 20;
        fake->compiles = fake->launches = 0;
        device = dispatch_open();
        cr_assert_eq(run_all(problems), 0, "%s", fmha_last_error());
        cr_assert_eq(fake->compiles, round < 3 ? 1 : 0, "the last round reads the cache");
        cr_assert_eq(fake->modules, 1);
        cr_assert_eq(fake->launches, THREADS);
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

/* Keys do not wait for one another where the driver allows it. */
Test(dispatch_threads, different_keys_are_compiled_at_once) {
    make_library();
    fmha_forward_problem problems[THREADS];
    fill(problems, false);
    fake->concurrent = true;
    fake->compile_ms = 200;
    device = dispatch_open();
    cr_assert_eq(run_all(problems), 0, "%s", fmha_last_error());
    cr_assert_eq(fake->compiles, THREADS);
    cr_assert_geq(fake->compiling_most, 4);
    cr_assert_eq(run_all(problems), 0);
    cr_assert_eq(fake->compiles, THREADS);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch_threads, driver_that_is_not_concurrent_is_called_by_one) {
    make_library();
    fmha_forward_problem problems[THREADS];
    fill(problems, false);
    fake->compile_ms = 2;
    device = dispatch_open();
    cr_assert_eq(run_all(problems), 0, "%s", fmha_last_error());
    cr_assert_eq(fake->compiles, THREADS);
    cr_assert_eq(fake->compiling_most, 1);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* The one that failed does not hold up the others, and each gets the error. */
Test(dispatch_threads, failure_that_lasts_is_everybodys) {
    make_library();
    fmha_forward_problem problems[THREADS];
    fill(problems, true);
    fake->concurrent = true;
    fake->compile_ms = 20;
    fake->fail_in = "compile";
    fake->failure = FMHA_ERROR_COMPILE;
    device = dispatch_open();
    cr_assert_eq(run_all(problems), THREADS);
    cr_assert_eq(fake->compiles, 1);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(dispatch_threads, failure_that_passes_is_one_threads) {
    make_library();
    fmha_forward_problem problems[THREADS];
    fill(problems, true);
    fake->concurrent = true;
    fake->compile_ms = 5;
    fake->fail_in = "compile";
    fake->failure = FMHA_ERROR_IO;
    fake->failures = 3;
    device = dispatch_open();
    cr_assert_eq(run_all(problems), 3);
    cr_assert_eq(fake->compiles, 4);
    cr_assert_eq(fake->launches, THREADS - 3);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Threads that begin together, each with its number, and give how many of their calls failed: none. */
static void all_at_once(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        cr_assert_null(failures);
    }
    pthread_barrier_destroy(&start);
}

/* Everything that may be done at once. */
static void *mix(void *argument) {
    size_t state = (size_t)argument * 2654435761u + 1, failures = 0;
    pthread_barrier_wait(&start);
    for (int i = 0; i < 300; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        fmha_forward_problem problem = problem_of((int)((state >> 33) % KEYS));
        fmha_status status;
        size_t bytes;
        switch (state >> 40 & 7) {
        case 0:
            failures += fmha_forward_prepare(device, &problem) != FMHA_OK;
            break;
        case 1:
            failures += fmha_forward_workspace_bytes(device, &problem, &bytes) != FMHA_OK;
            break;
        case 2:
            problem.mask = FMHA_MASK_CAUSAL_TOP_LEFT; /* that no instance serves */
            status = fmha_forward(device, &problem);
            failures += status != FMHA_ERROR_NO_INSTANCE || strstr(fmha_last_error(), "causal-top-left") == NULL;
            break;
        case 3:
            failures += fmha_device_add_library(device, "/nowhere") != FMHA_OK;
            break;
        default:
            failures += fmha_forward(device, &problem) != FMHA_OK;
        }
    }
    return (void *)failures;
}

Test(dispatch_threads, everything_at_once) {
    make_library();
    fake->concurrent = true;
    fake->identity = "fake compiler";
    device = dispatch_open();
    all_at_once(mix);
    cr_assert_eq(fake->compiles, KEYS);
    cr_assert_eq(fake->modules, KEYS);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Each key is loaded by one thread, and what it made is seen by all others, which take no lock and meet it later. */
static void *meet_all(void *argument) {
    size_t first = (size_t)argument, failures = 0;
    pthread_barrier_wait(&start);
    for (size_t i = 0; i < (size_t)2 * KEYS; i++) {
        fmha_forward_problem problem = problem_of((int)((first * 5 + i) % KEYS));
        failures += fmha_forward(device, &problem) != FMHA_OK;
    }
    return (void *)failures;
}

Test(dispatch_threads, what_one_loads_all_see) {
    make_library();
    fake->concurrent = true;
    fake->quiet = true; /* launches without a lock, which would hide a race */
    device = dispatch_open();
    all_at_once(meet_all);
    cr_assert_eq(fake->compiles, KEYS);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- The generator --------------------------------------------------------------------------------------- */

enum { WAITERS = 4 };

/* It notes what it is asked. Head dimensions 16 and 32 take it until there is a file `release`; then it has a library
 * of the first and refuses the second, as it does at once with all others. */
static void make_generator(void) {
    const struct test_instance instance = {.name = "generated", .head_dim = 16, .source = "text"};
    char library[512], program[300], script[2048];
    dispatch_write("premade", &instance, 1, library);
    snprintf(program, sizeof program, "%s/generator", folder);
    snprintf(script, sizeof script,
             "#!/bin/sh\necho \"$*\" >>'%s/asked'\nwaited=0\ncase \"$*\" in *'--hd 16'|*'--hd 32')\n"
             "while [ ! -e '%s/release' ] && [ $waited -lt 1000 ]; do sleep 0.01; waited=$((waited + 1)); done\nesac\n"
             "case \"$*\" in *'--hd 16') cp -r '%s'/. \"$2\";; *) echo 'not that one'; exit 1;; esac\n",
             folder, folder, library);
    support_write(program, script, 0755);
    setenv("FMHA_GENERATOR", program, 1);
}

static int count_asked(const char *option) {
    char path[300];
    int count = 0;
    snprintf(path, sizeof path, "%s/asked", folder);
    char *text = access(path, F_OK) == 0 ? dispatch_read(path) : NULL;
    for (char *at = text; at != NULL && (at = strstr(at, option)) != NULL; at++) {
        count++;
    }
    free(text);
    return count;
}

static atomic_int ended; /* calls of forward */

static void *forward(void *problem) {
    fmha_status status = fmha_forward(device, problem);
    atomic_fetch_add(&ended, 1);
    bool said = status != FMHA_ERROR_NO_INSTANCE || strstr(fmha_last_error(), "not that one") != NULL;
    return (void *)(intptr_t)(said ? status : FMHA_ERROR_IO);
}

/* Threads ask for a key that takes the generator long; meanwhile other keys are served, and refused. */
static void wait_for_generator(int head_dim, const char *option, fmha_status expected) {
    fmha_forward_problem problem = problem_of(head_dim / 8 - 1), other = problem_of(0), refused = problem_of(2);
    pthread_t threads[WAITERS];
    char release[300];
    fmha_status status;
    snprintf(release, sizeof release, "%s/release", folder);
    device = dispatch_open();
    ended = 0;
    for (int i = 0; i < WAITERS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, forward, &problem), 0);
    }
    for (int i = 0; i < 1000 && count_asked(option) == 0; i++) {
        usleep(10000);
    }
    cr_assert_eq(count_asked(option), 1);
    cr_assert_eq(fmha_forward(device, &other), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_forward(device, &refused), FMHA_ERROR_NO_INSTANCE);
    dispatch_explain(device, &other, &status);
    cr_assert_eq(status, FMHA_OK);
    cr_assert_eq(ended, 0, "they wait for the generator still");
    support_write(release, "", 0644);
    for (int i = 0; i < WAITERS; i++) {
        void *got;
        pthread_join(threads[i], &got);
        cr_assert_eq((intptr_t)got, expected);
    }
    cr_assert_eq(fmha_forward(device, &problem), expected);
    cr_assert_eq(count_asked(option), 1, "the others waited for the one that asks");
    fmha_device_close(device);
}

Test(dispatch_threads, generator_holds_up_its_key_alone, .timeout = 60) {
    const struct test_instance instance = {.name = "there", .head_dim = 8, .source = "text"};
    dispatch_library("library", &instance, 1);
    make_generator();
    fake->concurrent = true;
    wait_for_generator(16, "--hd 16\n", FMHA_OK);
    char release[300];
    snprintf(release, sizeof release, "%s/release", folder);
    unlink(release);
    wait_for_generator(32, "--hd 32\n", FMHA_ERROR_NO_INSTANCE);
    dispatch_tear_down();
}

/* Several processes, none of which finds a library: one asks, the others wait for it. */
Test(dispatch_threads, generator_is_asked_by_one_process, .timeout = 60) {
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    char path[300];
    make_generator();
    fmha_forward_problem problem = problem_of(1);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            device = dispatch_open();
            fmha_status status = fmha_forward(device, &problem);
            fmha_device_close(device);
            _exit((int)status);
        }
    }
    for (int i = 0; i < 1000 && count_asked("--hd 16\n") == 0; i++) {
        usleep(10000);
    }
    usleep(200000); /* as long as the others may take to get there */
    snprintf(path, sizeof path, "%s/release", folder);
    support_write(path, "", 0644);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_assert_eq(status, 0);
    }
    cr_assert_eq(count_asked("--hd 16\n"), 1);
    dispatch_tear_down();
}
