/* Child processes with a time limit and a bounded output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"
#include "driver.h"

#define OUTPUT_LIMIT_BYTES ((size_t)1 << 20)
#define NOTE_BYTES         96 /* room for the line that says what was left out */
#define CHECK_MS           50 /* how often a child that keeps its output open is asked whether it ended */

typedef struct output_text {
    char *bytes;
    size_t length, capacity, left_out;
} output_text;

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ms(long ms) {
    struct timespec duration = {.tv_sec = 0, .tv_nsec = ms * 1000000};
    nanosleep(&duration, NULL); /* an interruption only means that the caller looks again sooner */
}

/* Keeps the beginning of what is said, where the first error is, and counts the rest. */
static bool output_add(output_text *output, const char *bytes, size_t count) {
    size_t room = OUTPUT_LIMIT_BYTES - output->length;
    size_t kept = count < room ? count : room;
    if (output->capacity - output->length < kept + NOTE_BYTES) {
        size_t capacity = output->capacity * 2 + kept + NOTE_BYTES;
        char *larger = realloc(output->bytes, capacity);
        if (larger == NULL) {
            return false;
        }
        output->bytes = larger;
        output->capacity = capacity;
    }
    for (size_t i = 0; i < kept; i++) { /* the text is handed on as a C string */
        output->bytes[output->length + i] = bytes[i] != '\0' ? bytes[i] : ' ';
    }
    output->length += kept;
    output->left_out += count - kept;
    output->bytes[output->length] = '\0';
    return true;
}

/* 1: the pipe is at its end; 0: nothing more for now; -1: out of memory. */
static int drain(int pipe_end, output_text *output) {
    char buffer[16384];
    for (;;) {
        ssize_t got = read(pipe_end, buffer, sizeof buffer);
        if (got > 0) {
            if (!output_add(output, buffer, (size_t)got)) {
                return -1;
            }
        } else if (got == 0) {
            return 1;
        } else if (errno != EINTR) {
            return errno == EAGAIN ? 0 : 1;
        }
    }
}

static int spawn(const char *const *argv, int write_end, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem != 0) {
        return problem;
    }
    problem = posix_spawnattr_init(&attributes);
    if (problem != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return problem;
    }
    sigset_t none, pipe_signal;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if ((problem = posix_spawnattr_setflags(&attributes, flags)) == 0 &&
        (problem = posix_spawnattr_setpgroup(&attributes, 0)) == 0 &&
        (problem = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
        (problem = posix_spawnattr_setsigdefault(&attributes, &pipe_signal)) == 0 &&
        (problem = posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO)) == 0 &&
        (problem = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)) == 0 &&
        (problem = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0) {
        problem = posix_spawn(child, argv[0], &actions, &attributes, (char *const *)argv, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

/* True when the child has ended. It stays a zombie, so that its process group's number cannot pass to another. */
static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    int result = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == child : errno != EINTR;
}

/* Reads until the child has ended. FMHA_OK, or FMHA_ERROR_COMPILE when time is up, or FMHA_ERROR_MEMORY. */
static fmha_status watch(pid_t child, int read_end, long long deadline_ms, output_text *output) {
    bool open = true;
    long pause = 1;
    for (;;) {
        long long left_ms = deadline_ms - now_ms();
        if (left_ms <= 0) {
            return FMHA_ERROR_COMPILE;
        }
        if (open) {
            struct pollfd waited = {.fd = read_end, .events = POLLIN};
            poll(&waited, 1, (int)(left_ms < CHECK_MS ? left_ms : CHECK_MS));
            int state = drain(read_end, output);
            if (state < 0) {
                return FMHA_ERROR_MEMORY;
            }
            open = state == 0;
        } else {
            pause_ms(pause);
            pause = pause < CHECK_MS / 2 ? pause * 2 : CHECK_MS;
        }
        if (has_ended(child)) {
            return drain(read_end, output) < 0 ? FMHA_ERROR_MEMORY : FMHA_OK;
        }
    }
}

/* Reaps the child. Its exit status, or 128 + N when signal N ended it (*signal_number, else 0); -1 when the status is
 * lost because this process ignores its children's end. */
static int reap(pid_t child, int *signal_number) {
    int status;
    pid_t reaped;
    do {
        reaped = waitpid(child, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    *signal_number = reaped == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (reaped != child) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + *signal_number;
}

static void output_finish(output_text *output, int signal_number) {
    char note[NOTE_BYTES];
    if (output->left_out > 0) {
        snprintf(note, sizeof note, "\n[%zu more bytes are left out]\n", output->left_out);
        memcpy(output->bytes + output->length, note, strlen(note) + 1); /* output_add keeps NOTE_BYTES free */
    } else if (signal_number != 0) {
        snprintf(note, sizeof note, "[ended by signal %d]\n", signal_number);
        output_add(output, note, strlen(note)); /* if there is no memory for the note, the exit status still says it */
    }
}

/* What the system lacks now, it may have later. */
static fmha_status fail_to_start(const char *path, const char *what, int problem) {
    if (problem == EAGAIN || problem == ENOMEM || problem == EMFILE || problem == ENFILE) {
        return fmha_fail(FMHA_ERROR_MEMORY,
                         "%s: %s: %s; end other programs or close files, or raise the limits (ulimit -a)", path, what,
                         strerror(problem));
    }
    return fmha_fail(FMHA_ERROR_IO, "%s: %s: %s", path, what, strerror(problem));
}

fmha_status fmha_process_run(const char *const *argv, int limit_seconds, char **output, int *exit_code) {
    if (argv == NULL || argv[0] == NULL || output == NULL || exit_code == NULL || limit_seconds < 1) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_process_run: expected a program, a limit of 1 second or more and "
                                              "places for the results");
    }
    *output = NULL;
    *exit_code = -1;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_to_start(argv[0], "cannot make a pipe for its output", errno);
    }
    long long deadline_ms = now_ms() + (long long)limit_seconds * 1000;
    pid_t child = 0;
    int problem = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? errno : spawn(argv, ends[1], &child);
    close(ends[1]);
    if (problem != 0) {
        close(ends[0]);
        return fail_to_start(argv[0], "cannot be started", problem);
    }
    output_text text = {0};
    fmha_status status = watch(child, ends[0], deadline_ms, &text);
    if (status != FMHA_OK) {
        kill(-child, SIGKILL);
    }
    int signal_number;
    int code = reap(child, &signal_number);
    close(ends[0]);
    if (status == FMHA_ERROR_COMPILE) {
        status = fmha_fail(status, "%s: did not end within %d seconds and was killed; it had said: %.4000s", argv[0],
                           limit_seconds, text.length > 0 ? text.bytes : "nothing");
    } else if (status == FMHA_ERROR_MEMORY) {
        fmha_fail(status, "%s: no memory for its output of %zu bytes", argv[0], text.length);
    } else if (signal_number == SIGKILL) {
        status = fmha_fail(FMHA_ERROR_MEMORY,
                           "%s: was killed, as systems do where memory runs out; free some, or let fewer compilers run "
                           "at once",
                           argv[0]);
    } else if (code < 0) {
        status = fmha_fail(FMHA_ERROR_UNSUPPORTED,
                           "%s: its exit status is lost, because this program ignores SIGCHLD; restore "
                           "the signal's default while fmha compiles",
                           argv[0]);
    }
    if (status != FMHA_OK) {
        free(text.bytes);
        return status;
    }
    output_finish(&text, signal_number);
    *output = text.bytes;
    *exit_code = code;
    return FMHA_OK;
}
