#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

void support_make_folder(char path[256]) {
    snprintf(path, 256, "/tmp/fmha test-XXXXXX");
    cr_assert_not_null(mkdtemp(path), "%s: %s", path, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *information, int type, struct FTW *walk) {
    (void)information;
    (void)type;
    (void)walk;
    return remove(path);
}

void support_remove_folder(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void support_write(const char *path, const char *text, int mode) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod(path, (mode_t)mode), 0);
}

int support_open_files(void) {
    DIR *files = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(files) != NULL) {
        count++;
    }
    closedir(files);
    return count;
}

void support_assert_clean(void) {
    errno = 0;
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child process is left");
    if (__lsan_do_recoverable_leak_check != NULL) {
        cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "memory was lost");
    }
}
