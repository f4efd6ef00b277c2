#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"
#include "support.h"

static fmha_status run_shell(const char *script, int limit_seconds, char **output, int *exit_code) {
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    return fmha_process_run(argv, limit_seconds, output, exit_code);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Test(process, gives_both_streams_and_the_exit_status) {
    char *output;
    int exit_code, files = support_open_files();
    cr_assert_eq(run_shell("echo out; echo err >&2; exit 3", 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "out\nerr\n");
    cr_assert_eq(exit_code, 3);
    free(output);
    cr_assert_eq(support_open_files(), files);
    support_assert_clean();
}

Test(process, silence_is_null) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("exit 0", 10, &output, &exit_code), FMHA_OK);
    cr_assert_null(output);
    cr_assert_eq(exit_code, 0);
}

Test(process, arguments_are_taken_as_they_are) {
    char *output;
    int exit_code;
    const char *argv[] = {"/bin/echo", "a b", "$HOME;`x`", "", "\"", NULL};
    cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "a b $HOME;`x`  \"\n");
    free(output);
}

Test(process, reads_nothing_from_this_process) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("cat; echo end", 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "end\n");
    free(output);
}

/* What is open here without FD_CLOEXEC is the test runner's and passes to any child; the pipe must not. */
Test(process, gets_no_file_of_the_module) {
    FILE *plain = popen("exec ls /proc/self/fd | wc -l", "r");
    int expected = 0, exit_code;
    cr_assert_eq(fscanf(plain, "%d", &expected), 1);
    pclose(plain);
    char *output;
    cr_assert_eq(run_shell("exec ls /proc/self/fd | wc -l", 10, &output, &exit_code), FMHA_OK);
    cr_assert_eq(atoi(output), expected, "expected %d open files, got %s", expected, output);
    free(output);
}

/* A child of the child holds the pipe open too, and must be killed with it. */
Test(process, is_killed_with_its_children_when_time_is_up) {
    char folder[256], script[400], alive[300];
    support_make_folder(folder);
    snprintf(alive, sizeof alive, "%s/alive", folder);
    snprintf(script, sizeof script, "echo started; (sleep 3; touch '%s') & sleep 60", alive);
    char *output = (char *)1;
    int exit_code, files = support_open_files();
    double before = seconds();
    cr_assert_eq(run_shell(script, 1, &output, &exit_code), FMHA_ERROR_COMPILE);
    double took = seconds() - before;
    cr_assert(took > 0.9 && took < 2.5, "took %g s", took);
    cr_assert_str_eq(fmha_last_error(), "/bin/sh: did not end within 1 seconds and was killed; it had said: started\n");
    cr_assert_null(output);
    cr_assert_eq(support_open_files(), files);
    support_assert_clean();
    sleep(3);
    cr_assert_neq(access(alive, F_OK), 0, "the child of the child went on");
    support_remove_folder(folder);
}

Test(process, does_not_wait_for_a_child_of_the_child) {
    char *output;
    int exit_code;
    double before = seconds();
    cr_assert_eq(run_shell("echo said; sleep 5 & exit 7", 30, &output, &exit_code), FMHA_OK);
    cr_assert(seconds() - before < 3);
    cr_assert_str_eq(output, "said\n");
    cr_assert_eq(exit_code, 7);
    free(output);
}

Test(process, may_close_its_output_and_go_on) {
    char *output;
    int exit_code;
    clock_t before = clock();
    cr_assert_eq(run_shell("echo said; exec >&- 2>&-; sleep 1; exit 5", 30, &output, &exit_code), FMHA_OK);
    cr_assert((double)(clock() - before) / CLOCKS_PER_SEC < 0.5, "waiting takes no processor time");
    cr_assert_str_eq(output, "said\n");
    cr_assert_eq(exit_code, 5);
    free(output);
}

Test(process, a_signal_shows_in_the_exit_status_and_the_output) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("echo said; kill -SEGV $$", 10, &output, &exit_code), FMHA_OK);
    cr_assert_eq(exit_code, 128 + SIGSEGV);
    cr_assert_str_eq(output, "said\n[ended by signal 11]\n");
    free(output);
    cr_assert_eq(run_shell("exit 139", 10, &output, &exit_code), FMHA_OK);
    cr_assert_eq(exit_code, 139);
    cr_assert_null(output, "no signal, no note");
}

Test(process, output_is_kept_up_to_a_bound) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("head -c 1500000 /dev/zero | tr '\\0' x", 30, &output, &exit_code), FMHA_OK);
    const char *note = strstr(output, "\n[451424 more bytes are left out]\n");
    cr_assert_not_null(note);
    cr_assert_eq(note - output, 1 << 20);
    cr_assert_eq(output[0], 'x');
    free(output);
    support_assert_clean();
}

Test(process, zero_bytes_do_not_end_the_text) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("printf 'a\\0b'", 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "a b");
    free(output);
}

Test(process, that_cannot_start_says_why) {
    char *output;
    int exit_code, files = support_open_files();
    const char *argv[] = {"/nowhere/no program", NULL};
    cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_ERROR_IO);
    cr_assert_str_eq(fmha_last_error(), "/nowhere/no program: cannot be started: No such file or directory");
    cr_assert_eq(support_open_files(), files);
    support_assert_clean();
}

Test(process, no_room_for_another_is_a_lack_of_memory) {
    char *output;
    int exit_code;
    struct rlimit before, none;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    fmha_status status = run_shell("echo said", 10, &output, &exit_code);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_eq(status, FMHA_ERROR_MEMORY);
    cr_assert_str_eq(fmha_last_error(),
                     "/bin/sh: cannot make a pipe for its output: Too many open files; end other programs or close "
                     "files, or raise the limits (ulimit -a)");
}

/* What the kernel does where memory runs out; another time it may do. */
Test(process, what_is_killed_lacked_memory) {
    char *output;
    int exit_code;
    cr_assert_eq(run_shell("echo said; kill -9 $$", 10, &output, &exit_code), FMHA_ERROR_MEMORY);
    cr_assert_str_eq(fmha_last_error(), "/bin/sh: was killed, as systems do where memory runs out; free some, or let "
                                        "fewer compilers run at once");
    cr_assert_null(output);
    support_assert_clean();
}

Test(process, a_lost_exit_status_is_an_error) {
    char *output;
    int exit_code;
    signal(SIGCHLD, SIG_IGN);
    cr_assert_eq(run_shell("echo said", 10, &output, &exit_code), FMHA_ERROR_UNSUPPORTED);
    cr_assert_str_eq(fmha_last_error(),
                     "/bin/sh: its exit status is lost, because this program ignores SIGCHLD; restore "
                     "the signal's default while fmha compiles");
}

static void interrupt(int signal_number) {
    (void)signal_number;
}

Test(process, goes_on_after_an_interruption) {
    struct sigaction action = {.sa_handler = interrupt}; /* no SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {.it_value.tv_nsec = 2000000, .it_interval.tv_nsec = 2000000};
    cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    char *output;
    int exit_code;
    fmha_status status = run_shell("sleep 0.3; echo said; exec >&- 2>&-; sleep 0.3; exit 4", 10, &output, &exit_code);
    timer_delete(timer);
    cr_assert_eq(status, FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(output, "said\n");
    cr_assert_eq(exit_code, 4);
    free(output);
}

Test(process, refuses_what_it_cannot_run) {
    char *output;
    int exit_code;
    const char *argv[] = {"/bin/true", NULL}, *none[] = {NULL};
    cr_assert_eq(fmha_process_run(NULL, 1, &output, &exit_code), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_process_run(none, 1, &output, &exit_code), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_process_run(argv, 0, &output, &exit_code), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_process_run(argv, 1, NULL, &exit_code), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_process_run(argv, 1, &output, NULL), FMHA_ERROR_ARGUMENT);
}
