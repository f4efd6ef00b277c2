/* What compilers said, remembered from process to process: each question in a process of its own. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache_entry.h"
#include "cache_support.h"
#include "compiler.h"
#include "compiler_memo.h"
#include "file.h"
#include "support.h"

static char bin[300];

static void set_up(void) {
    cache_test_begin();
    for (const char *const *variable = fmha_memo_variables; *variable != NULL; variable++) {
        unsetenv(*variable);
    }
    setenv("FMHA_HIPCC", "clang++-40", 1); /* whatever else this machine has */
    snprintf(bin, sizeof bin, "%s/b in", cache_test_folder);
    mkdir(bin, 0700);
    setenv("PATH", bin, 1);
}

TestSuite(compiler_memo, .init = set_up, .fini = cache_test_end, .timeout = 60);

/* A program of the folder `below` the test's that counts its runs in the file "asked" and says what `cases` says. */
static const char *program(const char *below, const char *name, const char *cases) {
    static char path[700];
    char script[2000];
    snprintf(path, sizeof path, "%s/%s", cache_test_folder, below);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", cache_test_folder, below, name);
    snprintf(script, sizeof script, "#!/bin/sh\necho x >> '%s/asked'\ncase \"$*\" in\n%s\nesac\n", cache_test_folder,
             cases);
    unlink(path); /* an upgrade puts another file in its place */
    support_write(path, script, 0755);
    return path;
}

static int asked(void) {
    char path[400];
    struct stat status;
    snprintf(path, sizeof path, "%s/asked", cache_test_folder);
    int count = stat(path, &status) == 0 ? (int)status.st_size / 2 : 0;
    unlink(path);
    return count;
}

/* A clang++-40 in "b in", which says that it is in "llvm", with that folder's clang and the lld that it names. */
static void make_clang(const char *version, const char *lld) {
    char cases[1200];
    snprintf(cases, sizeof cases,
             "--version) echo 'clang version %s'; echo 'InstalledDir: %s/llvm' ;;\n"
             "-print-prog-name=lld) echo '%s' ;;\n"
             "*gfx1151*) exit 0 ;;\n"
             "*) exit 1 ;;",
             version, cache_test_folder, lld);
    program("b in", "clang++-40", cases);
}

static void make_lld(const char *below, const char *version) {
    char cases[300];
    snprintf(cases, sizeof cases, "*--version) echo 'LLD %s' ;;", version);
    program(below, "lld", cases);
}

/* What a new process finds: the identity of the compiler for the chip, or the error. */
static const char *found(const char *arch) {
    static char text[8192];
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        fmha_compiler compiler;
        char *identity = NULL;
        if (fmha_compiler_find(arch, &compiler) == FMHA_OK &&
            fmha_compiler_identity(&compiler, arch, 32, &identity) == FMHA_OK) {
            dprintf(ends[1], "%s", identity);
        } else {
            dprintf(ends[1], "%s", fmha_last_error());
        }
        free(identity);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(ends[0]);
    int status;
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    return text;
}

static void expect_version(const char *version) {
    char line[200];
    snprintf(line, sizeof line, "\nversion clang version %s\n", version);
    const char *text = found("gfx1151");
    cr_assert_not_null(strstr(text, line), "%s", text);
}

static void make_standing(void) {
    char lld[400];
    snprintf(lld, sizeof lld, "%s/llvm/lld", cache_test_folder);
    program("llvm", "clang", "*) exit 1 ;;");
    make_lld("llvm", "40.1.0");
    make_clang("40.1.0", lld);
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4, "version, lld, its version, chip");
}

Test(compiler_memo, second_process_asks_nothing) {
    make_standing();
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);
    cr_assert_eq(cache_test_count(CACHE_COMPILER), 4);
    cr_assert_eq(cache_test_count(""), 4, "a lock or a temporary is left");
}

Test(compiler_memo, identity_names_all_that_decides) {
    char expected[3000];
    make_standing();
    setenv("CPATH", "/in clude", 1);
    const char *text = found("gfx1151");
    struct stat clang, real, lld;
    char path[3][500];
    snprintf(path[0], sizeof path[0], "%s/clang++-40", bin);
    snprintf(path[1], sizeof path[1], "%s/llvm/clang", cache_test_folder);
    snprintf(path[2], sizeof path[2], "%s/llvm/lld", cache_test_folder);
    cr_assert(stat(path[0], &clang) == 0 && stat(path[1], &real) == 0 && stat(path[2], &lld) == 0);
    snprintf(expected, sizeof expected,
             "compiler %s\nversion clang version 40.1.0\n"
             "file %s %ld %ld.%09ld\nfile %s %ld %ld.%09ld\nfile %s %ld %ld.%09ld\nfile %s %ld %ld.%09ld\n"
             "flag -x\nflag hip\nflag -nogpuinc\nflag -nogpulib\nflag --offload-device-only\n"
             "flag --no-gpu-bundle-output\nflag -O3\nflag -std=c++17\nflag -fuse-cuid=none\n"
             "flag -mcode-object-version=5\nflag --offload-arch=gfx1151\nvariable CPATH=/in clude\n",
             path[0], path[0], (long)clang.st_size, (long)clang.st_mtim.tv_sec, clang.st_mtim.tv_nsec, path[1],
             (long)real.st_size, (long)real.st_mtim.tv_sec, real.st_mtim.tv_nsec, path[0], (long)clang.st_size,
             (long)clang.st_mtim.tv_sec, clang.st_mtim.tv_nsec, path[2], (long)lld.st_size, (long)lld.st_mtim.tv_sec,
             lld.st_mtim.tv_nsec);
    cr_assert_str_eq(text, expected);
}

Test(compiler_memo, upgraded_compiler_is_asked_again) {
    char lld[400];
    make_standing();
    snprintf(lld, sizeof lld, "%s/llvm/lld", cache_test_folder);
    make_clang("40.2.0", lld); /* of the same length */
    expect_version("40.2.0");
    cr_assert_geq(asked(), 1);
    expect_version("40.2.0");
    cr_assert_eq(asked(), 0);
}

/* hipcc is a script that stays what it is while the clang behind it is upgraded. */
Test(compiler_memo, compiler_behind_a_script_counts) {
    char cases[600], identity[8192];
    program("llvm", "clang", "--version) echo 'clang version 21.1.8' ;;");
    snprintf(cases, sizeof cases,
             "--version) echo 'HIP version: 7.0.1'; '%s/llvm/clang' --version; echo 'InstalledDir: %s/llvm' ;;\n"
             "*gfx1151*) exit 0 ;;",
             cache_test_folder, cache_test_folder);
    program("b in", "hipcc", cases);
    setenv("FMHA_HIPCC", "hipcc", 1);
    snprintf(identity, sizeof identity, "%s", found("gfx1151"));
    cr_assert_not_null(strstr(identity, "\nversion HIP version: 7.0.1, clang version 21.1.8\n"), "%s", identity);
    cr_assert_eq(asked(), 3);
    cr_assert_str_eq(found("gfx1151"), identity);
    cr_assert_eq(asked(), 0);
    program("llvm", "clang", "--version) echo 'clang version 21.1.9' ;;");
    cr_assert_not_null(strstr(found("gfx1151"), "\nversion HIP version: 7.0.1, clang version 21.1.9\n"));
    cr_assert_eq(asked(), 3);
}

Test(compiler_memo, same_words_of_another_file_are_another_identity) {
    char identity[8192];
    make_standing();
    snprintf(identity, sizeof identity, "%s", found("gfx1151"));
    program("llvm", "clang", "*) exit 1 ;; # a rebuild");
    cr_assert_str_neq(found("gfx1151"), identity);
}

Test(compiler_memo, linker_that_comes_and_goes) {
    char path[700], text[2000];
    make_clang("40.1.0", "lld"); /* what clang says when it finds none */
    program("llvm", "clang", "*) exit 1 ;;");
    snprintf(text, sizeof text,
             "  $FMHA_HIPCC: %s/clang++-40: clang version 40.1.0: its linker lld is missing; install "
             "lld-40\n",
             bin);
    cr_assert_not_null(strstr(found("gfx1151"), text), "%s", found("gfx1151"));

    make_lld("b in", "40.1.0");
    snprintf(path, sizeof path, "%s/lld", bin);
    make_clang("40.1.0", path);
    expect_version("40.1.0");
    asked();
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);

    make_lld("b in", "39.0.0");
    cr_assert_not_null(strstr(found("gfx1151"), "is of another version, LLD 39.0.0; install lld-40"));

    unlink(path);
    cr_assert_not_null(strstr(found("gfx1151"), text), "%s", found("gfx1151"));
}

/* A linker that was found on PATH may be overtaken by one in a folder before it. */
Test(compiler_memo, linker_earlier_on_path_is_seen) {
    char path[1200], lld[700];
    snprintf(path, sizeof path, "%s/first:%s", cache_test_folder, bin);
    program("first", "other", "*) exit 1 ;;");
    setenv("PATH", path, 1);
    snprintf(lld, sizeof lld, "%s/lld", bin);
    make_lld("b in", "40.1.0");
    make_clang("40.1.0", lld);
    expect_version("40.1.0");
    asked();
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);
    make_lld("first", "40.1.1");
    expect_version("40.1.0");
    cr_assert_geq(asked(), 1, "where the linker is was not asked again");
}

Test(compiler_memo, environment_counts) {
    make_standing();
    setenv("HIP_CLANG_PATH", "/elsewhere", 1);
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
    setenv("HIP_CLANG_PATH", "/elsewhere again", 1);
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
    unsetenv("HIP_CLANG_PATH");
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);
    char path[800];
    snprintf(path, sizeof path, "%s:/nowhere", bin);
    setenv("PATH", path, 1); /* compilers look for others there */
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
    setenv("PATH", bin, 1);
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);
}

/* What one process keeps for itself holds no longer than what processes hand on. */
Test(compiler_memo, changes_are_seen_within_a_process) {
    fmha_compiler compiler;
    char lld[400];
    setenv("FMHA_CACHE_MAX_MIB", "0", 1);
    make_standing();
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(asked(), 4);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK);
    cr_assert_eq(asked(), 0);
    setenv("HIP_CLANG_PATH", "/elsewhere", 1);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK);
    cr_assert_eq(asked(), 4);
    snprintf(lld, sizeof lld, "%s/llvm/lld", cache_test_folder);
    make_clang("40.2.0", lld);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK);
    cr_assert_str_eq(compiler.version, "clang version 40.2.0");
    cr_assert_eq(asked(), 4);
    support_assert_clean();
}

Test(compiler_memo, path_order_is_honoured) {
    char path[1200];
    make_standing();
    program("other", "hipcc", "--version) echo 'HIP version: 7.0.1'; echo 'clang version 21.1.8' ;;\n*) exit 0 ;;");
    snprintf(path, sizeof path, "%s/other:%s", cache_test_folder, bin);
    setenv("PATH", path, 1);
    unsetenv("FMHA_HIPCC");
    cr_assert_not_null(strstr(found("gfx1151"), "HIP version: 7.0.1"));
    setenv("PATH", bin, 1);
    expect_version("40.1.0");
}

/* ROCm may be completed after it was tried in vain. */
Test(compiler_memo, refusals_are_not_kept) {
    make_standing();
    for (int i = 0; i < 2; i++) {
        cr_assert_not_null(strstr(found("gfx1100"), "does not know gfx1100"));
        cr_assert_eq(asked(), 1, "the chip alone");
    }
}

Test(compiler_memo, failures_are_not_kept) {
    program("b in", "clang++-40", "*) echo 'no library'; exit 127 ;;");
    for (int i = 0; i < 2; i++) {
        cr_assert_not_null(strstr(found("gfx1151"), "--version ended with exit status 127 and said: no library"));
        cr_assert_eq(asked(), 1);
    }
    cr_assert_eq(cache_test_count(""), 0);
}

Test(compiler_memo, damaged_memo_is_not_trusted) {
    make_standing();
    char path[4][700];
    size_t count = 0;
    DIR *folder = opendir(cache_test_v1);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL && count < 4;) {
        if (entry->d_name[0] != '.') {
            snprintf(path[count++], sizeof path[0], "%s/%s", cache_test_v1, entry->d_name);
        }
    }
    closedir(folder);
    cr_assert_eq(count, 4);
    for (size_t i = 0; i < count; i++) {
        void *bytes;
        size_t byte_count;
        cr_assert_eq(fmha_file_read(path[i], &bytes, &byte_count), FMHA_OK);
        for (size_t at = 0; at < byte_count; at += byte_count / 5) {
            ((unsigned char *)bytes)[at] ^= 1;
            fmha_file_write(path[i], bytes, byte_count);
            ((unsigned char *)bytes)[at] ^= 1;
            expect_version("40.1.0");
            cr_assert_eq(asked(), 1, "file %zu, byte %zu", i, at);
        }
        fmha_file_write(path[i], bytes, byte_count / 2);
        expect_version("40.1.0");
        cr_assert_eq(asked(), 1);
        free(bytes);
    }
    expect_version("40.1.0");
    cr_assert_eq(asked(), 0);
}

Test(compiler_memo, works_without_a_folder) {
    setenv("FMHA_CACHE_DIR", "/proc/nothing", 1);
    make_standing();
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
    unsetenv("FMHA_CACHE_DIR");
    unsetenv("HOME");
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
    setenv("FMHA_CACHE_DIR", cache_test_folder, 1);
    setenv("FMHA_CACHE_MAX_MIB", "0", 1);
    expect_version("40.1.0");
    cr_assert_eq(asked(), 4);
}

static void ignore(void *context, const char *place, const char *at, const char *verdict) {
    (void)place;
    (void)at;
    *(bool *)context = *(bool *)context || strcmp(verdict, "taken") == 0;
}

/* `fmhagen doctor` tells what is, not what was. */
Test(compiler_memo, list_asks_everything_anew) {
    make_standing();
    for (int i = 0; i < 2; i++) {
        bool taken = false;
        fmha_compiler_list("gfx1151", ignore, &taken);
        cr_assert(taken);
        int count = asked();
        cr_assert_eq(count, 4, "%d", count);
    }
    fmha_compiler compiler;
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK);
    cr_assert_eq(asked(), 0);
    support_assert_clean();
}

Test(compiler_memo, state_of_files) {
    char *files = NULL, path[700], inside[800];
    snprintf(path, sizeof path, "%s/a  file", cache_test_folder);
    support_write(path, "12", 0600);
    cr_assert(fmha_memo_add_file(&files, path) && fmha_memo_add_file(&files, "/nowhere at all") &&
              fmha_memo_add_file(&files, bin));
    cr_assert(fmha_memo_holds(files));
    const struct timespec then[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    utimensat(AT_FDCWD, path, then, 0);
    cr_assert_not(fmha_memo_holds(files), "time");
    free(files);
    files = NULL;
    fmha_memo_add_file(&files, path);
    support_write(path, "123", 0600);
    utimensat(AT_FDCWD, path, then, 0);
    cr_assert_not(fmha_memo_holds(files), "size");
    free(files);
    files = NULL;
    fmha_memo_add_file(&files, path);
    snprintf(inside, sizeof inside, "%s/moved", bin);
    support_write(inside, "123", 0600);
    utimensat(AT_FDCWD, inside, then, 0);
    rename(inside, path);
    cr_assert_not(fmha_memo_holds(files), "inode");
    free(files);
    files = NULL;
    fmha_memo_add_file(&files, path);
    unlink(path);
    cr_assert_not(fmha_memo_holds(files), "gone");
    free(files);
    cr_assert(fmha_memo_holds(""));
    cr_assert_not(fmha_memo_holds("file 1 2"));
    cr_assert_not(fmha_memo_holds("file 1 2 3 4 /etc/passwd\n"));
    support_assert_clean();
}
