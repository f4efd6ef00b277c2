#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

/* A fresh folder whose name holds a blank; each test works in it. */
static char folder[64];

static void enter(void) {
    snprintf(folder, sizeof folder, "/tmp/fmhagen text XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void) {
    char command[128];
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static void expect_file(const char *path, const char *expected) {
    char *bytes;
    size_t length;
    struct error error;
    cr_assert(file_read(path, &bytes, &length, &error), "%s", error.text);
    cr_assert_eq(length, strlen(expected));
    cr_assert_str_eq(bytes, expected);
    free(bytes);
}

static int entries(void) {
    FILE *list = popen("ls -A | wc -l", "r");
    int count = -1;
    cr_assert_eq(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

Test(text, grows) {
    struct text text = {0};
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%d,", i);
    text_puts(&text, "end");
    text_add(&text, "", 0);
    cr_assert_eq(text.length, strlen(text.bytes));
    cr_assert_eq(text.length, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    cr_assert(strstr(text.bytes, ",998,999,end"));
    text_free(&text);
    cr_assert_null(text.bytes);
    text_puts(&text, "again");
    cr_assert_str_eq(text.bytes, "again");
    text_free(&text);
}

Test(text, a_failed_allocation_sticks) {
    struct text text = {0};
    text_puts(&text, "x");
    text_add(&text, "y", SIZE_MAX / 2);
    cr_assert(text.failed);
    text_puts(&text, "z");
    cr_assert_str_eq(text.bytes, "x");
    text_free(&text);
}

Test(text, nearest_word) {
    static const char *const words[] = {"forward", "decode", "merge", "backward", "gfx1151", "gfx1152", "hd", "doctor"};
    const size_t count = sizeof words / sizeof *words;
    cr_assert_str_eq(text_nearest("foward", words, count), "forward");
    cr_assert_str_eq(text_nearest("fowrard", words, count), "forward");
    cr_assert_str_eq(text_nearest("backwards", words, count), "backward");
    cr_assert_str_eq(text_nearest("gfx1152x", words, count), "gfx1152");
    cr_assert_str_eq(text_nearest("doc", words, count), "doctor", "a beginning");
    cr_assert_str_eq(text_nearest("dh", words, count), "hd");
    cr_assert_null(text_nearest("nothing", words, count));
    cr_assert_null(text_nearest("h", words, count));
    cr_assert_null(text_nearest("", words, count));
    cr_assert_null(text_nearest("merge", &words[2], 1), "the word itself is no suggestion");
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    cr_assert_null(text_nearest(longest, words, count));
    const char *const long_word[] = {longest};
    cr_assert_null(text_nearest("xxxx", long_word, 1));
}

Test(file, reads_whole_or_says_why, .init = enter, .fini = leave) {
    struct error error;
    char *bytes;
    size_t length;
    cr_assert(file_write("zero.bin", "a\0b", 3, &error));
    cr_assert(file_read("zero.bin", &bytes, &length, &error));
    cr_assert_eq(length, 3);
    cr_assert(!memcmp(bytes, "a\0b", 4));
    free(bytes);
    cr_assert_not(file_read("absent", &bytes, &length, &error));
    cr_assert_str_eq(error.text, "absent: expected a readable file, got: No such file or directory");
    cr_assert_not(file_read(".", &bytes, &length, &error));
    cr_assert_str_eq(error.text, ".: expected a readable file, got: Is a directory");
    cr_assert_null(bytes);
    cr_assert(file_write("empty", "", 0, &error));
    expect_file("empty", "");
}

Test(file, writes_whole_and_leaves_equal_files_alone, .init = enter, .fini = leave) {
    struct error error;
    struct stat first, second, third;
    cr_assert(file_write("a b.txt", "one", 3, &error));
    cr_assert_eq(stat("a b.txt", &first), 0);
    cr_assert(file_write("a b.txt", "one", 3, &error));
    cr_assert_eq(stat("a b.txt", &second), 0);
    cr_assert(first.st_ino == second.st_ino && first.st_mtim.tv_nsec == second.st_mtim.tv_nsec, "it was rewritten");
    cr_assert(file_write("a b.txt", "two", 3, &error));
    cr_assert_eq(stat("a b.txt", &third), 0);
    cr_assert_neq(first.st_ino, third.st_ino);
    expect_file("a b.txt", "two");
    cr_assert(file_write("a b.txt", "two and more", 12, &error));
    expect_file("a b.txt", "two and more");
    cr_assert(file_write("a b.txt", "tw", 2, &error));
    expect_file("a b.txt", "tw");
    cr_assert_eq(entries(), 1);
}

Test(file, keeps_modes_and_links, .init = enter, .fini = leave) {
    struct error error;
    struct stat status;
    mode_t mask = umask(027);
    cr_assert(file_write("new", "x", 1, &error));
    cr_assert_eq(stat("new", &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0640, "a new file obeys the umask");
    umask(mask);
    cr_assert_eq(chmod("new", 0604), 0);
    cr_assert_eq(symlink("new", "link"), 0);
    cr_assert(file_write("link", "through", 7, &error));
    cr_assert_eq(lstat("link", &status), 0);
    cr_assert(S_ISLNK(status.st_mode));
    expect_file("new", "through");
    cr_assert_eq(stat("new", &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0604);
}

Test(file, writes_into_what_is_no_file, .init = enter, .fini = leave) {
    struct error error;
    struct stat status;
    cr_assert(file_write("/dev/null", "x", 1, &error));
    cr_assert_eq(stat("/dev/null", &status), 0);
    cr_assert(S_ISCHR(status.st_mode));
    cr_assert_not(file_write("/dev/full", "x", 1, &error));
    cr_assert_str_eq(error.text, "/dev/full: expected a writable file, got: No space left on device");
}

Test(file, an_error_leaves_nothing, .init = enter, .fini = leave) {
    struct error error;
    cr_assert_not(file_write(".", "x", 1, &error));
    cr_assert_str_eq(error.text, ".: expected a file to write, got a folder");
    cr_assert_not(file_write("no/such/folder", "x", 1, &error));
    cr_assert_str_eq(error.text, "no/such/folder: expected a writable file, got: No such file or directory");
    cr_assert_eq(error.kind, ERROR_RUN);
    cr_assert(file_write("kept", "old", 3, &error));

    /* A full disk, played by a limit on the size of files. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {2, 2}, whole;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &whole), 0);
    limit.rlim_max = whole.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool written = file_write("kept", "newer", 5, &error);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &whole), 0);
    cr_assert_not(written);
    cr_assert_str_eq(error.text, "kept: expected a writable file, got: File too large");
    expect_file("kept", "old");
    cr_assert_eq(entries(), 1);
}

Test(error, is_cut_where_it_does_not_fit) {
    struct error error;
    cr_assert_not(error_set(&error, ERROR_USAGE, "%5000d", 1));
    cr_assert_eq(strlen(error.text), sizeof error.text - 1);
    cr_assert_eq(error.kind, ERROR_USAGE);
}
