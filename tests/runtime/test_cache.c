/* The cache in one process: where it is, what its entries keep, and every way in which they can be wrong. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cache_entry.h"
#include "cache_support.h"
#include "driver.h"
#include "file.h"
#include "hash.h"
#include "support.h"

TestSuite(cache, .init = cache_test_begin, .fini = cache_test_end, .timeout = 60);

/* Calls of libc that a test makes fail: libfmha is linked in, so that these come before libc's. */
static int flock_problem, unlink_problem;

int flock(int file, int operation) {
    errno = flock_problem;
    return flock_problem != 0 ? -1 : (int)syscall(SYS_flock, file, operation);
}

int unlinkat(int folder, const char *name, int flags) {
    errno = unlink_problem;
    return unlink_problem != 0 ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

/* ---- The hash -------------------------------------------------------------------------------------------- */

/* Values of the reference implementation, xxhash 0.8. */
Test(cache, hash_is_xxh64) {
    static const struct {
        size_t count;
        uint64_t seed, hash;
    } known[] = {
        {0, 0x9e3779b1u, 0xac75fda2929b17efu}, {3, 0x1u, 0x9a065ab0264d7748u},
        {4, 0x0u, 0x22eda2cf6af4c124u},        {7, 0x0u, 0x34084d91a233a751u},
        {8, 0x0u, 0xc6f1803a5e0b3222u},        {31, 0x5u, 0x769ab71c82a35c0du},
        {32, 0x0u, 0x5a0756fbe9ecd3d1u},       {33, 0x0u, 0xdc50cdc37bb9c183u},
        {63, 0x9u, 0x366e5b45a57b6ab0u},       {64, 0x0u, 0x90083da9cdb9d795u},
        {101, 0x0u, 0x6bf452176f29bc13u},      {101, 0xfedcba9876543210u, 0xc6e20fa31bb2e38bu},
    };
    unsigned char bytes[101];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7 + 1);
    }
    cr_assert_eq(fmha_hash(0, NULL, 0), 0xef46db3751d8e999u);
    cr_assert_eq(fmha_hash(0, "a", 1), 0xd24ec4f1a98c6e5bu);
    cr_assert_eq(fmha_hash(0, "abc", 3), 0x44bc2cf5ad770999u);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        cr_assert_eq(fmha_hash(known[i].seed, bytes, known[i].count), known[i].hash, "%zu bytes", known[i].count);
    }
}

/* ---- Hits and keys --------------------------------------------------------------------------------------- */

Test(cache, second_call_reads_what_the_first_made) {
    cache_test_expect("text", "compiled, kept as %s");
    cache_test_expect("text", "read from %s");
    cache_test_expect("text", "read from %s");
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
    support_assert_clean();
}

Test(cache, empty_image_is_kept_too) {
    cache_test_image_bytes = 0;
    cache_test_expect("text", "compiled, kept as %s");
    cache_test_expect("text", "read from %s");
}

Test(cache, every_member_of_the_key_counts) {
    const struct fmha_cache_key keys[] = {
        {"gfx1151", "s", "clang 22\n", "text", 32},    {"gfx1150", "s", "clang 22\n", "text", 32},
        {"gfx1151", "t", "clang 22\n", "text", 32},    {"gfx1151", "s", "clang 23\n", "text", 32},
        {"gfx1151", "s", "clang 22\n", "text ", 32},   {"gfx1151", "s", "clang 22\n", "text", 64},
        {"gfx1151", "s", "clang 22\n-O2", "text", 32}, {"gfx1151s", "", "clang 22\n", "text", 32}};
    const size_t count = sizeof keys / sizeof keys[0];
    struct fmha_cache_result result;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(fmha_cache_get(&keys[i], cache_test_make, "image", &result), FMHA_OK);
            cr_assert_eq(result.hit, round == 1, "key %zu: %s", i, result.note);
            free(result.image);
        }
    }
    cr_assert_eq(cache_test_count(CACHE_IMAGE), (int)count);
}

Test(cache, keys_of_one_hash_are_told_apart) {
    const uint64_t hash = 0x1234;
    const struct fmha_cache_key keys[] = {cache_test_key("one"), cache_test_key("two"), cache_test_key("longer")};
    char first[400], other[400];
    snprintf(first, sizeof first, "compiled, kept as %s/0000000000001234.image", cache_test_v1);
    snprintf(other, sizeof other, "%s, which was of another key", first);
    for (int i = 0; i < 6; i++) {
        struct fmha_cache_result result;
        const char *source = keys[i % 3].source;
        cr_assert_eq(fmha_cache_get_as(&hash, &keys[i % 3], cache_test_make, (void *)(size_t)source, &result), FMHA_OK);
        cr_assert_str_eq(result.note, i == 0 ? first : other);
        void *image;
        size_t image_bytes;
        cache_test_make((void *)(size_t)source, &image, &image_bytes);
        cr_assert_eq(memcmp(image, result.image, image_bytes), 0);
        free(image);
        free(result.image);
    }
    cr_assert_eq(cache_test_count(""), 1);
}

static fmha_status fail_to_make(void *context, void **image, size_t *image_bytes) {
    (void)context;
    *image = (void *)image; /* what a maker leaves when it fails means nothing */
    *image_bytes = 7;
    return fmha_fail(FMHA_ERROR_COMPILE, "the compiler's words");
}

Test(cache, error_is_the_makers_own) {
    const struct fmha_cache_key key = cache_test_key("text");
    struct fmha_cache_result result;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fmha_cache_get(&key, fail_to_make, NULL, &result), FMHA_ERROR_COMPILE);
        cr_assert_str_eq(fmha_last_error(), "the compiler's words");
        cr_assert_null(result.image);
        cr_assert_eq(result.image_bytes, 0);
        cr_assert_eq(cache_test_count(""), 0, "a lock or a temporary is left");
    }
    cache_test_expect("text", "compiled, kept as %s");
    support_assert_clean();
}

/* What the driver refused is not read again; what has come in its place since is. */
Test(cache, refused_image_is_replaced) {
    const struct fmha_cache_key key = cache_test_key("text");
    struct fmha_cache_result first, second, third;
    char note[500];
    cr_assert_eq(fmha_cache_get(&key, cache_test_make, "old", &first), FMHA_OK);
    cr_assert_eq(fmha_cache_replace(&key, first.image, first.image_bytes, cache_test_make, "text", &second), FMHA_OK);
    snprintf(note, sizeof note, "compiled, kept as %s, which was refused by the driver", cache_test_entry("text"));
    cr_assert_str_eq(second.note, note);
    cr_assert_not(second.hit);
    cr_assert(cache_test_is_image("text", second.image, second.image_bytes));
    cr_assert_eq(fmha_cache_replace(&key, first.image, first.image_bytes, cache_test_make, "new", &third), FMHA_OK);
    snprintf(note, sizeof note, "read from %s", cache_test_entry("text"));
    cr_assert_str_eq(third.note, note);
    cr_assert(third.hit);
    cr_assert(cache_test_is_image("text", third.image, third.image_bytes));
    cr_assert_eq(cache_test_made(), 2);
    cache_test_expect("text", "read from %s");
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
    free(first.image);
    free(second.image);
    free(third.image);
    support_assert_clean();
}

/* ---- Entries that are not what they should be ------------------------------------------------------------- */

static size_t read_entry(unsigned char bytes[1024]) {
    void *read;
    size_t count;
    cr_assert_eq(fmha_file_read(cache_test_entry("text"), &read, &count), FMHA_OK, "%s", fmha_last_error());
    cr_assert(count < 1024);
    memcpy(bytes, read, count);
    free(read);
    return count;
}

static void write_entry(const void *bytes, size_t count) {
    cr_assert_eq(fmha_file_write(cache_test_entry("text"), bytes, count), FMHA_OK, "%s", fmha_last_error());
}

/* The entry is rebuilt, with these words on what was there, and read again. */
static void expect_healed(const char *was) {
    char note[200];
    snprintf(note, sizeof note, "compiled, kept as %%s, which was %s", was);
    cache_test_expect("text", note);
    cache_test_expect("text", "read from %s");
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

Test(cache, empty_entry_is_rebuilt) {
    cache_test_expect("text", "compiled, kept as %s");
    write_entry("", 0);
    expect_healed("empty");
}

Test(cache, foreign_file_is_rebuilt) {
    cache_test_expect("text", "compiled, kept as %s");
    write_entry("\177ELF, a code object that somebody has copied here", 50);
    expect_healed("no entry of a cache");
    write_entry("short", 5);
    expect_healed("cut short");
}

/* A whole entry of another key under this one's name, as after a careless copy. */
Test(cache, entry_of_another_key_is_rebuilt) {
    static const char *const others[] = {"test", "another key, which is longer than the buffer for this one may be"};
    for (size_t i = 0; i < 2; i++) {
        char other[400];
        free(cache_test_get(others[i]));
        free(cache_test_get("text"));
        snprintf(other, sizeof other, "%s", cache_test_entry(others[i]));
        cr_assert_eq(rename(other, cache_test_entry("text")), 0);
        expect_healed("of another key");
    }
}

Test(cache, entry_cut_short_anywhere_is_rebuilt) {
    unsigned char bytes[1024];
    cache_test_expect("text", "compiled, kept as %s");
    size_t count = read_entry(bytes);
    for (size_t length = 1; length < count; length++) {
        write_entry(bytes, length);
        expect_healed("cut short");
    }
    bytes[count] = 0;
    write_entry(bytes, count + 1);
    expect_healed("longer than it says");
}

/* What a flipped bit at `at` makes of an entry of `count` bytes. */
static const char *flipped_words(const unsigned char *bytes, size_t at, size_t count) {
    uint64_t key_bytes, value_bytes;
    if (at < 8) {
        return "no entry of a cache";
    }
    if (at < 16 || at >= 32) {
        return "damaged";
    }
    memcpy(&key_bytes, bytes + 16, 8);
    memcpy(&value_bytes, bytes + 24, 8);
    if (key_bytes > 1u << 30 || value_bytes > 1u << 30) {
        return "damaged";
    }
    return key_bytes + value_bytes + 32 > count ? "cut short" : "longer than it says";
}

Test(cache, every_flipped_bit_is_found) {
    unsigned char bytes[1024];
    cache_test_image_bytes = 40;
    cache_test_expect("text", "compiled, kept as %s");
    size_t count = read_entry(bytes);
    for (size_t bit = 0; bit < count * 8; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_entry(bytes, count);
        expect_healed(flipped_words(bytes, bit / 8, count));
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    support_assert_clean();
}

/* Sizes that agree with each other and not with this key, in a file that takes no room on the disk. */
Test(cache, huge_sparse_entry_is_rebuilt) {
    unsigned char bytes[1024];
    cache_test_expect("text", "compiled, kept as %s");
    read_entry(bytes);
    const uint64_t sizes[2] = {((uint64_t)1 << 30) + 1, 5};
    memcpy(bytes + 16, sizes, sizeof sizes);
    write_entry(bytes, 32);
    cr_assert_eq(truncate(cache_test_entry("text"), (off_t)(32 + sizes[0] + sizes[1])), 0);
    expect_healed("damaged");
}

Test(cache, things_that_are_no_files_are_replaced) {
    cache_test_expect("text", "compiled, kept as %s");
    const char *entry = cache_test_entry("text");
    unlink(entry);
    cr_assert_eq(mkfifo(entry, 0600), 0);
    expect_healed("not a regular file");

    unlink(entry);
    cr_assert_eq(symlink(entry, entry), 0); /* to itself */
    expect_healed("not a regular file");

    unlink(entry);
    cr_assert_eq(symlink("/nowhere/at all", entry), 0);
    expect_healed("not a regular file");

    unlink(entry);
    cr_assert_eq(symlink("/dev/zero", entry), 0);
    expect_healed("not a regular file");

    unlink(entry);
    cr_assert_eq(mkdir(entry, 0700), 0);
    expect_healed("not a regular file");
}

Test(cache, folder_that_cannot_give_way_is_left) {
    char inside[500];
    cache_test_expect("text", "compiled, kept as %s");
    const char *entry = cache_test_entry("text");
    unlink(entry);
    cr_assert_eq(mkdir(entry, 0700), 0);
    snprintf(inside, sizeof inside, "%s/file", entry);
    support_write(inside, "", 0600);
    cache_test_expect("text", "compiled; %s cannot be written: Is a directory, so it is not kept");
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
}

Test(cache, entry_that_may_not_be_read_is_rebuilt) {
    cache_test_expect("text", "compiled, kept as %s");
    cr_assert_eq(chmod(cache_test_entry("text"), 0), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(cache_test_entry("text"), 65534, (gid_t)-1), 0);
        char cache[300];
        snprintf(cache, sizeof cache, "%s/my cache", cache_test_folder);
        cr_assert_eq(chown(cache, 65534, (gid_t)-1), 0);
    }
    cache_test_become_ordinary(cache_test_v1);
    expect_healed("not readable: Permission denied");
}

Test(cache, entry_of_another_user_is_rebuilt) {
    if (geteuid() != 0) {
        cr_skip_test("only root can give files away");
    }
    cache_test_expect("text", "compiled, kept as %s");
    cr_assert_eq(chown(cache_test_entry("text"), 65534, (gid_t)-1), 0);
    expect_healed("another user's");
}

/* ---- Folders that cannot be used ------------------------------------------------------------------------- */

static void expect_no_cache(const char *why) {
    char note[600];
    snprintf(note, sizeof note, "compiled; there is no cache: %s", why);
    cache_test_expect("text", note);
    cache_test_expect("text", note);
}

Test(cache, no_variable_is_set) {
    unsetenv("FMHA_CACHE_DIR");
    unsetenv("HOME");
    expect_no_cache("none of FMHA_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    setenv("FMHA_CACHE_DIR", "", 1);
    setenv("HOME", "", 1);
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    expect_no_cache("none of FMHA_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
}

Test(cache, variables_in_their_order) {
    char path[600], expected[600], xdg[300];
    snprintf(xdg, sizeof xdg, "%s/x", cache_test_folder);
    setenv("XDG_CACHE_HOME", xdg, 1);
    setenv("HOME", "/home of mine", 1);
    cr_assert(fmha_cache_folder(path, sizeof path));
    cr_assert_str_eq(path, cache_test_v1);
    unsetenv("FMHA_CACHE_DIR");
    cr_assert(fmha_cache_folder(path, sizeof path));
    snprintf(expected, sizeof expected, "%s/fmha/v1", xdg);
    cr_assert_str_eq(path, expected);
    unsetenv("XDG_CACHE_HOME");
    cr_assert(fmha_cache_folder(path, sizeof path));
    cr_assert_str_eq(path, "/home of mine/.cache/fmha/v1");
    cr_assert_not(fmha_cache_folder(path, 20));
    cr_assert_str_eq(path, "the path in HOME is");
}

Test(cache, home_is_read_only) {
    char home[300], why[500];
    snprintf(home, sizeof home, "%s/home", cache_test_folder);
    mkdir(home, 0700);
    unsetenv("FMHA_CACHE_DIR");
    setenv("HOME", home, 1);
    cr_assert_eq(chmod(home, 0500), 0);
    cache_test_become_ordinary(home);
    snprintf(why, sizeof why, "%s/.cache/fmha/v1 cannot be used: Permission denied", home);
    expect_no_cache(why);
}

Test(cache, home_does_not_exist) {
    unsetenv("FMHA_CACHE_DIR");
    setenv("HOME", "/proc/nobody", 1);
    expect_no_cache("/proc/nobody/.cache/fmha/v1 cannot be used: No such file or directory");
}

Test(cache, path_is_a_file) {
    char why[600];
    support_write(getenv("FMHA_CACHE_DIR"), "a file", 0644);
    snprintf(why, sizeof why, "%s cannot be used: Not a directory", cache_test_v1);
    expect_no_cache(why);
}

Test(cache, version_folder_is_a_file) {
    char why[600];
    mkdir(getenv("FMHA_CACHE_DIR"), 0700);
    support_write(cache_test_v1, "a file", 0644);
    snprintf(why, sizeof why, "%s cannot be used: Not a directory", cache_test_v1);
    expect_no_cache(why);
}

Test(cache, folder_that_others_may_write_is_not_trusted) {
    char why[600];
    mkdir(getenv("FMHA_CACHE_DIR"), 0700);
    mkdir(cache_test_v1, 0700);
    snprintf(why, sizeof why, "%s may be written by others, expected its owner alone: chmod go-w", cache_test_v1);
    chmod(cache_test_v1, 0720);
    expect_no_cache(why);
    chmod(cache_test_v1, 0702);
    expect_no_cache(why);
    chmod(cache_test_v1, 0755);
    cache_test_expect("text", "compiled, kept as %s");
}

Test(cache, folder_of_another_user_is_not_trusted) {
    if (geteuid() != 0) {
        cr_skip_test("only root can give folders away");
    }
    char why[600];
    free(cache_test_get("text"));
    cr_assert_eq(chown(cache_test_v1, 65534, (gid_t)-1), 0);
    snprintf(why, sizeof why, "%s belongs to user 65534, expected 0", cache_test_v1);
    expect_no_cache(why);
}

/* An administrator may fill a cache for all. */
Test(cache, folder_of_root_is_read) {
    if (geteuid() != 0) {
        cr_skip_test("only root makes folders of root");
    }
    umask(0);
    free(cache_test_get("text"));
    chmod(cache_test_folder, 0755);
    chmod(getenv("FMHA_CACHE_DIR"), 0755);
    chmod(cache_test_v1, 0755);
    chmod(cache_test_entry("text"), 0644);
    cr_assert_eq(seteuid(65534), 0);
    cache_test_expect("text", "read from %s");
    cache_test_expect("other", "compiled; %s cannot be written: Permission denied, so it is not kept");
}

Test(cache, what_it_makes_is_this_users_alone) {
    struct stat status;
    umask(0);
    free(cache_test_get("text"));
    stat(getenv("FMHA_CACHE_DIR"), &status);
    cr_assert_eq(status.st_mode & 07777, 0700);
    stat(cache_test_v1, &status);
    cr_assert_eq(status.st_mode & 07777, 0700);
    stat(cache_test_entry("text"), &status);
    cr_assert_eq(status.st_mode & 07777, 0600);
}

Test(cache, read_only_folder_serves_what_it_has) {
    free(cache_test_get("text"));
    cr_assert_eq(chmod(cache_test_v1, 0500), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(cache_test_entry("text"), 65534, (gid_t)-1), 0);
        cr_assert_eq(chown(getenv("FMHA_CACHE_DIR"), 65534, (gid_t)-1), 0);
    }
    cache_test_become_ordinary(cache_test_v1);
    cache_test_expect("text", "read from %s");
    cache_test_expect("other", "compiled; %s cannot be written: Permission denied, so it is not kept");
    cache_test_expect("other", "compiled; %s cannot be written: Permission denied, so it is not kept");
}

static void expect_state(bool works, const char *format) {
    char text[1400], expected[1400];
    bool state = fmha_cache_state(text, sizeof text);
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)strcspn(format, "%"), format,
             strchr(format, '%') != NULL ? cache_test_v1 : "",
             strchr(format, '%') != NULL ? strchr(format, '%') + 2 : "");
    cr_assert_str_eq(text, expected);
    cr_assert_eq(state, works);
}

/* What `fmhagen doctor` says. */
Test(cache, state) {
    expect_state(true, "%s");
    cr_assert_neq(access(getenv("FMHA_CACHE_DIR"), F_OK), 0, "asking has made it");
    free(cache_test_get("text"));
    expect_state(true, "%s");
    chmod(cache_test_v1, 0777);
    expect_state(false, "%s may be written by others, expected its owner alone: chmod go-w");
    support_remove_folder(cache_test_v1);
    support_write(cache_test_v1, "", 0600);
    char file[600];
    snprintf(file, sizeof file, "%%s cannot be used: %.80s is a file", cache_test_v1);
    expect_state(false, file);
    setenv("FMHA_CACHE_MAX_MIB", "0", 1);
    expect_state(false, "FMHA_CACHE_MAX_MIB is 0");
    setenv("FMHA_CACHE_MAX_MIB", "many", 1);
    expect_state(false, "FMHA_CACHE_MAX_MIB: expected a whole number from 0 to 1048576, got 'many'");
    unsetenv("FMHA_CACHE_MAX_MIB");
    unsetenv("FMHA_CACHE_DIR");
    unsetenv("HOME");
    expect_state(false, "none of FMHA_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    setenv("HOME", cache_test_folder, 1);
    chmod(cache_test_folder, 0500);
    if (geteuid() == 0) {
        setenv("HOME", "/", 1);
        cr_assert_eq(seteuid(65534), 0);
    }
    char text[1400];
    cr_assert_not(fmha_cache_state(text, sizeof text));
    cr_assert_not_null(strstr(text, "/.cache/fmha/v1 cannot be written: Permission denied"), "%s", text);
    if (geteuid() != 0) {
        chmod(cache_test_folder, 0700);
    }
}

/* ---- Disks that are full ---------------------------------------------------------------------------------- */

Test(cache, full_disk) {
    cr_assert_eq(mkdir(getenv("FMHA_CACHE_DIR"), 0700), 0);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("full", getenv("FMHA_CACHE_DIR"), "tmpfs", 0, "size=64k,mode=700") != 0) {
        cr_skip_test("file systems cannot be mounted here");
    }
    cache_test_image_bytes = 40000;
    cache_test_expect("text", "compiled, kept as %s");
    cache_test_expect("other", "compiled; %s cannot be written: No space left on device, so it is not kept");
    cache_test_expect("text", "read from %s");
    cr_assert_eq(cache_test_count(""), 1, "a lock or a temporary is left");
    umount(getenv("FMHA_CACHE_DIR"));
}

Test(cache, file_larger_than_the_process_may_write) {
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 150;
    setrlimit(RLIMIT_FSIZE, &small);
    const struct fmha_cache_key key = cache_test_key("text");
    struct fmha_cache_result result;
    fmha_status status = fmha_cache_get(&key, cache_test_make, "text", &result);
    setrlimit(RLIMIT_FSIZE, &before);
    char note[600];
    snprintf(note, sizeof note, "compiled; %s cannot be written: File too large, so it is not kept",
             cache_test_entry("text"));
    cr_assert_eq(status, FMHA_OK);
    cr_assert_str_eq(result.note, note);
    free(result.image);
    cr_assert_eq(cache_test_count(""), 0, "a lock or a temporary is left");
    sigset_t mask, pending;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    cr_assert_not(sigismember(&mask, SIGXFSZ) || sigismember(&pending, SIGXFSZ), "the thread's signals have changed");
}

/* ---- Failures that are no errors --------------------------------------------------------------------------- */

Test(cache, files_that_cannot_be_locked) {
    static const int problems[] = {ENOLCK, EOPNOTSUPP, ENOSYS};
    static const char *const sources[] = {"one", "two", "three"};
    for (size_t i = 0; i < 3; i++) {
        flock_problem = problems[i];
        cache_test_expect(sources[i], "compiled, kept as %s");
        cache_test_expect(sources[i], "read from %s");
    }
    cr_assert_eq(cache_test_count(CACHE_LOCK), 0);
}

Test(cache, cleaning_up_fails) {
    unlink_problem = EIO;
    cache_test_expect("text", "compiled, kept as %s");
    unlink_problem = 0;
    cr_assert_eq(cache_test_count(CACHE_LOCK), 1, "nothing was to be cleaned up");
    cache_test_expect("text", "read from %s");
    cache_test_expect("other", "compiled, kept as %s");
}

Test(cache, lock_that_is_no_file) {
    char lock[400];
    mkdir(getenv("FMHA_CACHE_DIR"), 0700);
    mkdir(cache_test_v1, 0700);
    snprintf(lock, sizeof lock, "%.*s" CACHE_LOCK, (int)(strlen(cache_test_entry("text")) - strlen(CACHE_IMAGE)),
             cache_test_entry("text"));
    mkdir(lock, 0700);
    cache_test_expect("text", "compiled, kept as %s");
    rmdir(lock);
    unlink(cache_test_entry("text"));
    cr_assert_eq(symlink(lock, lock), 0);
    cache_test_expect("text", "compiled, kept as %s");
    unlink(lock);
    unlink(cache_test_entry("text"));
    cr_assert_eq(mkfifo(lock, 0600), 0);
    cache_test_expect("text", "compiled, kept as %s");
    cr_assert_eq(cache_test_count(""), 1);
}

/* ---- Bounds ------------------------------------------------------------------------------------------------ */

static void set_age(const char *path, long seconds) {
    const struct timespec then[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    cr_assert_eq(utimensat(AT_FDCWD, path, then, 0), 0, "%s: %s", path, strerror(errno));
}

static long age_of(const char *path) {
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return (long)(time(NULL) - status.st_mtime);
}

Test(cache, longest_unused_goes_first) {
    setenv("FMHA_CACHE_MAX_MIB", "1", 1);
    cache_test_image_bytes = 300000; /* three of them fit */
    free(cache_test_get("a"));
    free(cache_test_get("b"));
    free(cache_test_get("c"));
    set_age(cache_test_entry("a"), 9000);
    set_age(cache_test_entry("b"), 8000);
    set_age(cache_test_entry("c"), 7000);
    cache_test_expect("a", "read from %s"); /* now b is the longest unused */
    cache_test_expect("d", "compiled, kept as %s");
    cr_assert_eq(access(cache_test_entry("a"), F_OK), 0);
    cr_assert_neq(access(cache_test_entry("b"), F_OK), 0);
    cr_assert_eq(access(cache_test_entry("c"), F_OK), 0);
    cr_assert_eq(access(cache_test_entry("d"), F_OK), 0);
    cache_test_expect("b", "compiled, kept as %s");
    cr_assert_neq(access(cache_test_entry("c"), F_OK), 0);
}

/* Another machine's clock may be ahead. */
Test(cache, what_was_just_made_stays) {
    setenv("FMHA_CACHE_MAX_MIB", "1", 1);
    cache_test_image_bytes = 300000;
    static const char *const sources[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        free(cache_test_get(sources[i]));
        set_age(cache_test_entry(sources[i]), -9000 + i);
    }
    cache_test_expect("d", "compiled, kept as %s");
    cache_test_expect("d", "read from %s");
    cr_assert_neq(access(cache_test_entry("a"), F_OK) == 0, access(cache_test_entry("c"), F_OK) == 0);
}

Test(cache, use_is_marked_at_most_once_an_hour) {
    free(cache_test_get("text"));
    set_age(cache_test_entry("text"), 3000);
    free(cache_test_get("text"));
    cr_assert_geq(age_of(cache_test_entry("text")), 3000);
    set_age(cache_test_entry("text"), 4000);
    free(cache_test_get("text"));
    cr_assert_leq(age_of(cache_test_entry("text")), 60);
}

Test(cache, image_larger_than_the_cache) {
    setenv("FMHA_CACHE_MAX_MIB", "1", 1);
    free(cache_test_get("small"));
    cache_test_image_bytes = 1100000;
    cache_test_expect("large", "compiled; its 1100000 bytes are more than the cache may have (FMHA_CACHE_MAX_MIB), so "
                               "it is not kept");
    cr_assert_eq(cache_test_count(CACHE_IMAGE), 1);
}

Test(cache, limit_of_zero_switches_it_off) {
    free(cache_test_get("text"));
    setenv("FMHA_CACHE_MAX_MIB", "0", 1);
    expect_no_cache("FMHA_CACHE_MAX_MIB is 0");
}

Test(cache, limit_that_is_no_number_is_told) {
    static const char *const wrong[] = {"-1", "1 GiB", "x", "1048577", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("FMHA_CACHE_MAX_MIB", wrong[i], 1);
        cache_test_expect(wrong[i], "compiled, kept as %s; FMHA_CACHE_MAX_MIB: expected a whole number from 0 to "
                                    "1048576, so it is 512");
    }
}

/* What is left of processes that died, and what is not. */
Test(cache, remains_are_removed) {
    static const char *const names[] = {"old.tmp", "new.tmp", "held.tmp", "old.lock", "held.lock", "old file"};
    char path[6][400];
    free(cache_test_get("text"));
    for (size_t i = 0; i < 6; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", cache_test_v1, names[i]);
        support_write(path[i], "x", 0600);
        set_age(path[i], i == 1 ? 3000 : 4000);
    }
    int held_temporary = open(path[2], O_RDONLY), held_lock = open(path[4], O_RDONLY);
    cr_assert(flock(held_temporary, 2) == 0 && flock(held_lock, 2) == 0);
    free(cache_test_get("other"));
    for (size_t i = 0; i < 6; i++) {
        cr_assert_eq(access(path[i], F_OK) != 0, i == 0 || i == 3, "%s", names[i]);
    }
    close(held_temporary);
    close(held_lock);
    free(cache_test_get("a third"));
    cr_assert(access(path[2], F_OK) != 0 && access(path[4], F_OK) != 0);
}
