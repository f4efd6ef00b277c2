#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "support.h"

static char folder[256], path[300], other[300];

static void set_up(void) {
    support_make_folder(folder);
    snprintf(path, sizeof path, "%s/one", folder);
    snprintf(other, sizeof other, "%s/two", folder);
}

static void tear_down(void) {
    support_remove_folder(folder);
}

TestSuite(file, .init = set_up, .fini = tear_down);

Test(file, gives_back_what_was_written) {
    void *bytes;
    size_t count;
    int files = support_open_files();
    cr_assert_eq(fmha_file_write(path, "a\0b", 3), FMHA_OK);
    cr_assert_eq(fmha_file_read(path, &bytes, &count), FMHA_OK);
    cr_assert_eq(count, 3);
    cr_assert_eq(memcmp(bytes, "a\0b", 4), 0, "a NUL follows");
    free(bytes);
    cr_assert_eq(fmha_file_write(path, "", 0), FMHA_OK);
    cr_assert_eq(fmha_file_read(path, &bytes, &count), FMHA_OK);
    cr_assert_eq(count, 0);
    free(bytes);
    cr_assert_eq(support_open_files(), files);
}

Test(file, that_is_absent_or_a_folder_is_an_error) {
    void *bytes = (void *)1;
    size_t count;
    char text[600];
    int files = support_open_files();
    cr_assert_eq(fmha_file_read(path, &bytes, &count), FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: cannot be opened: No such file or directory", path);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_null(bytes);
    cr_assert_eq(fmha_file_read(folder, &bytes, &count), FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: expected a regular file", folder);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(fmha_file_write(folder, "a", 1), FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: cannot be written: Is a directory", folder);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(support_open_files(), files);
}

/* A pipe that nobody writes to would keep the reader waiting. */
Test(file, that_is_a_pipe_is_an_error, .timeout = 10) {
    void *bytes;
    size_t count;
    char text[600];
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(fmha_file_read(path, &bytes, &count), FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: expected a regular file", path);
    cr_assert_str_eq(fmha_last_error(), text);
}

/* Neither the limit on the size of files nor a pipe without a reader ends the program. */
Test(file, that_cannot_grow_is_an_error_and_no_signal) {
    struct rlimit before, small;
    char text[600];
    int ends[2];
    sigset_t mask, pending;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    fmha_status status = fmha_file_write(path, "12345", 5);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(status, FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: cannot be written: File too large", path);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(pipe(ends), 0);
    close(ends[0]);
    cr_assert_not(fmha_file_put(ends[1], "x", 1));
    cr_assert_eq(errno, EPIPE);
    close(ends[1]);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    const int signals[] = {SIGXFSZ, SIGPIPE};
    for (int i = 0; i < 2; i++) {
        cr_assert_not(sigismember(&mask, signals[i]) || sigismember(&pending, signals[i]));
    }
}

Test(file, on_a_full_disk_is_an_error) {
    cr_assert_eq(fmha_file_write("/dev/full", "a", 1), FMHA_ERROR_IO);
    cr_assert_str_eq(fmha_last_error(), "/dev/full: cannot be written: No space left on device");
}

Test(file, is_replaced_only_when_its_bytes_change) {
    struct stat before, after;
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    cr_assert_eq(fmha_file_write(path, "same", 4), FMHA_OK);
    utimensat(AT_FDCWD, path, long_ago, 0);
    cr_assert_eq(stat(path, &before), 0);

    cr_assert_eq(fmha_file_write(other, "same", 4), FMHA_OK);
    cr_assert_eq(fmha_file_publish(other, path), FMHA_OK);
    cr_assert_eq(stat(path, &after), 0);
    cr_assert_eq(after.st_mtim.tv_sec, 1000);
    cr_assert_eq(after.st_ino, before.st_ino);
    cr_assert_neq(access(other, F_OK), 0);

    cr_assert_eq(fmha_file_write(other, "new!", 4), FMHA_OK);
    cr_assert_eq(fmha_file_publish(other, path), FMHA_OK);
    cr_assert_eq(stat(path, &after), 0);
    cr_assert_neq(after.st_ino, before.st_ino);
    cr_assert_neq(access(other, F_OK), 0);
}

Test(file, that_cannot_be_published_leaves_nothing) {
    char absent[400], text[900];
    snprintf(absent, sizeof absent, "%s/absent/file", folder);
    cr_assert_eq(fmha_file_write(other, "x", 1), FMHA_OK);
    cr_assert_eq(fmha_file_publish(other, absent), FMHA_ERROR_IO);
    snprintf(text, sizeof text, "%s: cannot be written: No such file or directory", absent);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_neq(access(other, F_OK), 0);
}
