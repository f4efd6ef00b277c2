/* The cache between processes and threads, and compilers that hang, fail and count. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache_entry.h"
#include "cache_support.h"
#include "compiler.h"
#include "driver.h"
#include "support.h"

#define PROCESSES 16

TestSuite(cache_processes, .init = cache_test_begin, .fini = cache_test_end, .timeout = 60);

static void pause_ms(long ms) {
    const struct timespec duration = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&duration, NULL);
}

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Makers ----------------------------------------------------------------------------------------------- */

static fmha_status make_slowly(void *context, void **image, size_t *image_bytes) {
    pause_ms(200);
    return cache_test_make(context, image, image_bytes);
}

static int told; /* a pipe to the test: a byte says that the maker runs */

static fmha_status make_never(void *context, void **image, size_t *image_bytes) {
    (void)context;
    (void)image;
    (void)image_bytes;
    const char *const sleeper[] = {"/bin/sleep", "12", NULL}; /* outlives the maker, as a compiler would */
    char *words;
    int exit_code;
    if (write(told, "x", 1) == 1) {
        fmha_process_run(sleeper, 30, &words, &exit_code);
    }
    _exit(3);
}

/* A child process, which does not outlive the test and in which nothing may be asserted. */
static pid_t new_process(void) {
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    cr_assert_geq(child, 0);
    return child;
}

/* Whether the image that the cache gives is right. */
static bool is_right(const char *source, fmha_cache_make make) {
    const struct fmha_cache_key key = cache_test_key(source);
    struct fmha_cache_result result;
    fmha_status status = fmha_cache_get(&key, make, (void *)(size_t)source, &result);
    bool right = status == FMHA_OK && result.hit == (strncmp(result.note, "read from ", 10) == 0) &&
                 cache_test_is_image(source, result.image, result.image_bytes);
    if (!right) {
        fprintf(stderr, "status %d, note '%s', error '%s'\n", status, result.note, fmha_last_error());
    }
    free(result.image);
    return right;
}

/* Gets the image in a process of its own, which ends with 0 when it is right. */
static pid_t start(const char *source, fmha_cache_make make) {
    pid_t child = new_process();
    if (child == 0) {
        _exit(is_right(source, make) ? 0 : 1);
    }
    return child;
}

static int end_of(pid_t child) {
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- Processes -------------------------------------------------------------------------------------------- */

Test(cache_processes, sixteen_cold_on_one_key_compile_once) {
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = start("text", make_slowly);
    }
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(end_of(children[i]), 0, "process %d", i);
    }
    cr_assert_eq(cache_test_made(), 1);
    cr_assert_eq(cache_test_count(CACHE_IMAGE), 1);
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

/* Whatever comes and goes, what is read is whole. */
Test(cache_processes, many_publish_read_and_delete_at_once) {
    pid_t children[8];
    for (int i = 0; i < 8; i++) {
        children[i] = new_process();
        if (children[i] == 0) {
            bool right = true;
            for (int j = 0; j < 40 && right; j++) {
                const char source[] = {(char)('a' + j % 4), '\0'};
                right = is_right(source, cache_test_make);
                if (j % 5 == i % 5) {
                    unlink(cache_test_entry(source));
                }
            }
            _exit(right ? 0 : 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(end_of(children[i]), 0, "process %d", i);
    }
    cr_assert_eq(cache_test_count(CACHE_LOCK) + cache_test_count(CACHE_TEMPORARY), 0);
}

/* A process holds the key's lock in its maker. */
static pid_t start_holder(void) {
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    told = ends[1];
    pid_t holder = start("text", make_never);
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return holder;
}

Test(cache_processes, killed_holder_holds_nobody_up) {
    pid_t holder = start_holder(), waiting[4];
    for (int i = 0; i < 4; i++) {
        waiting[i] = start("text", cache_test_make);
    }
    pause_ms(200);
    cr_assert_eq(cache_test_made(), 0, "somebody did not wait");
    double killed = now_seconds();
    kill(holder, SIGKILL);
    cr_assert_eq(end_of(holder), 128 + SIGKILL);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(end_of(waiting[i]), 0);
    }
    cr_assert_lt(now_seconds() - killed, 10, "they waited for a child of the dead one");
    cr_assert_eq(cache_test_made(), 1);
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

Test(cache_processes, lock_of_a_dead_holder_is_taken_over_later) {
    pid_t holder = start_holder();
    kill(holder, SIGKILL);
    end_of(holder);
    cr_assert_eq(cache_test_count(CACHE_LOCK), 1, "nothing was left");
    double begun = now_seconds();
    cache_test_expect("text", "compiled, kept as %s");
    cr_assert_lt(now_seconds() - begun, 10);
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

Test(cache_processes, nobody_waits_longer_than_a_compiler_may_take) {
    pid_t holder = start_holder();
    kill(holder, SIGSTOP);
    setenv("FMHA_COMPILE_SECONDS", "1", 1);
    char note[600];
    const char *entry = cache_test_entry("text");
    const char *name = entry + strlen(cache_test_v1) + 1;
    snprintf(note, sizeof note, "compiled, kept as %%s; another process held %.16s.lock for 1 s", name);
    double begun = now_seconds();
    cache_test_expect("text", note);
    double waited = now_seconds() - begun;
    cr_assert(waited > 0.99 && waited < 10, "%f seconds", waited);
    cache_test_expect("text", "read from %s");
    kill(holder, SIGKILL);
    end_of(holder);
}

/* A holder that fails lets the next one try. */
static fmha_status fail_slowly(void *context, void **image, size_t *image_bytes) {
    (void)image;
    (void)image_bytes;
    (void)context;
    ssize_t written = write(told, "x", 1);
    pause_ms(written == 1 ? 300 : 0);
    return fmha_fail(FMHA_ERROR_COMPILE, "it failed");
}

Test(cache_processes, failed_holder_hands_on) {
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    told = ends[1];
    pid_t failing = new_process();
    if (failing == 0) {
        const struct fmha_cache_key key = cache_test_key("text");
        struct fmha_cache_result result;
        _exit(fmha_cache_get(&key, fail_slowly, NULL, &result) == FMHA_ERROR_COMPILE ? 0 : 1);
    }
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    pid_t next = start("text", make_slowly);
    cr_assert_eq(end_of(failing), 0);
    pause_ms(70); /* the next one compiles now; whoever comes meanwhile waits for it */
    pid_t late = start("text", make_slowly);
    cr_assert_eq(end_of(next), 0);
    cr_assert_eq(end_of(late), 0);
    cr_assert_eq(cache_test_made(), 1);
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

/* A child that the program forks while it compiles, and that lives on, does not keep the lock from those who wait. */
static pid_t forked, waiting_for_it;

static fmha_status make_and_fork(void *context, void **image, size_t *image_bytes) {
    forked = new_process();
    if (forked == 0) {
        for (;;) {
            pause();
        }
    }
    waiting_for_it = start("text", make_slowly);
    pause_ms(200);
    return cache_test_make(context, image, image_bytes);
}

Test(cache_processes, forked_child_does_not_keep_the_lock) {
    const struct fmha_cache_key key = cache_test_key("text");
    struct fmha_cache_result result;
    cr_assert_eq(fmha_cache_get(&key, make_and_fork, "text", &result), FMHA_OK);
    free(result.image);
    double begun = now_seconds();
    cr_assert_eq(end_of(waiting_for_it), 0);
    cr_assert_lt(now_seconds() - begun, 10);
    cr_assert_eq(cache_test_made(), 1);
    kill(forked, SIGKILL);
    end_of(forked);
}

/* ---- Threads ---------------------------------------------------------------------------------------------- */

static void *get_in_thread(void *source) {
    return is_right(source, make_slowly) ? source : NULL;
}

Test(cache_processes, threads_compile_each_key_once) {
    static char *const sources[] = {"one", "two"};
    pthread_t threads[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, get_in_thread, sources[i % 2]), 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        void *right;
        pthread_join(threads[i], &right);
        cr_assert_not_null(right, "thread %d", i);
    }
    cr_assert_eq(cache_test_made(), 2);
    cr_assert_eq(cache_test_count(""), 2, "a lock or a temporary is left");
    support_assert_clean();
}

/* ---- Compilers -------------------------------------------------------------------------------------------- */

static char compiler_path[400], temporary[300];

/* A hipcc of ROCm 7 that does `what` when it is to compile; $output is where to. It counts in the file "compiled". */
static void make_compiler(const char *what) {
    char script[2000];
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t image_bytes = support_make_image("gfx1151", image);
    snprintf(script, sizeof script, "%s/image", cache_test_folder);
    FILE *file = fopen(script, "wb");
    cr_assert(file != NULL && fwrite(image, 1, image_bytes, file) == image_bytes);
    fclose(file);
    snprintf(compiler_path, sizeof compiler_path, "%s/hip cc", cache_test_folder);
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "here='%s'\n"
             "case \"$*\" in\n"
             "--version) echo 'HIP version: 7.0.1'; echo 'clang version 21.1.8'; echo x >> \"$here/versions\" ;;\n"
             "*-fsyntax-only*) exit 0 ;;\n"
             "*) for output; do :; done\n"
             "   echo x >> \"$here/compiled\"\n"
             "   %s ;;\n"
             "esac\n",
             cache_test_folder, what);
    support_write(compiler_path, script, 0755);
    setenv("FMHA_HIPCC", compiler_path, 1);
    snprintf(temporary, sizeof temporary, "%s/tmp of mine", cache_test_folder);
    mkdir(temporary, 0700);
    setenv("TMPDIR", temporary, 1);
}

static int lines_in(const char *name) {
    char path[400];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", cache_test_folder, name);
    return stat(path, &status) == 0 ? (int)status.st_size / 2 : 0;
}

/* As the HIP driver does it without hipRTC. */
static fmha_status compile(void *context, void **image, size_t *image_bytes) {
    const fmha_source source = {.text = context, .symbol = "twice", .wave = 32};
    fmha_compiler compiler;
    fmha_status status = fmha_compiler_find("gfx1151", &compiler);
    return status != FMHA_OK ? status : fmha_compiler_compile_source(&compiler, "gfx1151", &source, image, image_bytes);
}

static fmha_status get_compiled(struct fmha_cache_result *result) {
    struct fmha_cache_key key = cache_test_key("text");
    fmha_compiler compiler;
    char *identity = NULL;
    fmha_status status = fmha_compiler_find("gfx1151", &compiler);
    if (status == FMHA_OK) {
        status = fmha_compiler_identity(&compiler, "gfx1151", 32, &identity);
    }
    if (status == FMHA_OK) {
        key.identity = identity;
        status = fmha_cache_get(&key, compile, "text", result);
    }
    free(identity);
    return status;
}

static void expect_nothing_left(void) {
    DIR *folder = opendir(temporary);
    int count = 0;
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    cr_assert_eq(count, 2, "something is left in TMPDIR");
    cr_assert_eq(cache_test_count(CACHE_LOCK), 0, "a lock is left");
    cr_assert_eq(cache_test_count(CACHE_TEMPORARY), 0, "a temporary is left");
    support_assert_clean();
}

Test(cache_processes, sixteen_cold_processes_run_the_compiler_once) {
    pid_t children[PROCESSES];
    make_compiler("sleep 0.3; cat \"$here/image\" > \"$output\"");
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = new_process();
        if (children[i] == 0) {
            struct fmha_cache_result result;
            _exit(get_compiled(&result) == FMHA_OK && result.image_bytes > 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(end_of(children[i]), 0, "process %d", i);
    }
    cr_assert_eq(lines_in("compiled"), 1);
    int versions = lines_in("versions");
    pid_t warm = new_process();
    if (warm == 0) {
        struct fmha_cache_result result;
        _exit(get_compiled(&result) == FMHA_OK && result.hit ? 0 : 1);
    }
    cr_assert_eq(end_of(warm), 0);
    cr_assert_eq(lines_in("compiled"), 1);
    cr_assert_eq(lines_in("versions"), versions, "the compiler was asked again");
    expect_nothing_left();
}

Test(cache_processes, another_version_of_the_compiler_compiles_again) {
    struct fmha_cache_result result;
    make_compiler("cat \"$here/image\" > \"$output\"");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(get_compiled(&result), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(result.hit, i == 1);
        free(result.image);
    }
    make_compiler("cat \"$here/image\" > \"$output\" # upgraded");
    cr_assert_eq(get_compiled(&result), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not(result.hit);
    free(result.image);
    setenv("HIPCC_COMPILE_FLAGS_APPEND", "-O1", 1);
    cr_assert_eq(get_compiled(&result), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not(result.hit);
    free(result.image);
    unsetenv("HIPCC_COMPILE_FLAGS_APPEND");
    cr_assert_eq(lines_in("compiled"), 3);
    expect_nothing_left();
}

Test(cache_processes, hanging_compiler) {
    char text[1000];
    struct fmha_cache_result result;
    make_compiler("echo 'still thinking'; sleep 30; true");
    setenv("FMHA_COMPILE_SECONDS", "1", 1);
    snprintf(text, sizeof text, "%s: did not end within 1 seconds and was killed; it had said: still thinking\n",
             compiler_path);
    double begun = now_seconds();
    cr_assert_eq(get_compiled(&result), FMHA_ERROR_COMPILE);
    cr_assert_lt(now_seconds() - begun, 10);
    cr_assert_str_eq(fmha_last_error(), text);
    expect_nothing_left();
    setenv("FMHA_COMPILE_SECONDS", "soon", 1);
    cr_assert_eq(get_compiled(&result), FMHA_ERROR_ARGUMENT);
    cr_assert_str_eq(fmha_last_error(), "FMHA_COMPILE_SECONDS: expected a whole number from 1 to 86400, got 'soon': "
                                        "correct or unset it");
    expect_nothing_left();
}

Test(cache_processes, failing_compiler) {
    char text[1000];
    struct fmha_cache_result result;
    make_compiler("echo 'twice.hip:1: error: no such thing' >&2; exit 4");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(get_compiled(&result), FMHA_ERROR_COMPILE);
        const char *error = strstr(fmha_last_error(), "/twice.hip: ");
        cr_assert_not_null(error, "%s", fmha_last_error());
        snprintf(text, sizeof text,
                 "/twice.hip: %s (HIP version: 7.0.1, clang version 21.1.8) could not compile it for gfx1151, exit "
                 "status 4:\ntwice.hip:1: error: no such thing\n",
                 compiler_path);
        cr_assert_str_eq(error, text);
        cr_assert_null(result.image);
        expect_nothing_left();
    }
    cr_assert_eq(lines_in("compiled"), 2, "a failure was kept");
}

Test(cache_processes, missing_compiler) {
    struct fmha_cache_result result;
    setenv("FMHA_HIPCC", "/nowhere/hip cc", 1);
    const struct fmha_cache_key key = cache_test_key("text");
    cr_assert_eq(fmha_cache_get(&key, compile, "text", &result), FMHA_ERROR_NO_COMPILER);
    cr_assert_str_eq(
        fmha_last_error(),
        "$FMHA_HIPCC cannot serve: expected hipcc of ROCm 6 or later, or clang++ 19 or later with its lld, that knows "
        "gfx1151; looked at\n"
        "  $FMHA_HIPCC: /nowhere/hip cc: no executable file is there\n"
        "unset FMHA_HIPCC or let it name such a compiler");
    cr_assert_eq(cache_test_count(""), 0);
}
