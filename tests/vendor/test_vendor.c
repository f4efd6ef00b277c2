#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vendor.h"

/* Each test works in a fresh folder whose name holds a blank; "d" is the vendored one. */
static char folder[64];

static void enter(void) {
    snprintf(folder, sizeof folder, "/tmp/fmhagen vendor XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void) {
    char command[128];
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

/* A tree of pairs NAME, TEXT up to a NULL, in the order of their names, with its MANIFEST. */
static struct vendor_tree tree_of(const char *name, ...) {
    struct vendor_tree tree = {.files = calloc(16, sizeof *tree.files)};
    struct manifest manifest = {.version = "0.1.0", .files = calloc(16, sizeof *manifest.files)};
    cr_assert(tree.files && manifest.files);
    va_list arguments;
    va_start(arguments, name);
    for (; name; name = va_arg(arguments, const char *)) {
        struct vendor_file *file = &tree.files[tree.count];
        struct manifest_file *row = &manifest.files[tree.count++];
        snprintf(file->name, sizeof file->name, "%s", name);
        text_puts(&file->text, va_arg(arguments, const char *));
        manifest_hash(file->text.bytes, file->text.length, file->sha256);
        memcpy(row->name, file->name, sizeof row->name);
        memcpy(row->sha256, file->sha256, sizeof row->sha256);
    }
    va_end(arguments);
    manifest.file_count = tree.count;
    struct vendor_file *last = &tree.files[tree.count++];
    snprintf(last->name, sizeof last->name, "MANIFEST");
    manifest_add(&last->text, &manifest);
    manifest_hash(last->text.bytes, last->text.length, last->sha256);
    free(manifest.files);
    return tree;
}

/* Writes the tree over what is there, as the command does, and frees it. */
static bool update(struct vendor_tree tree, bool force, struct vendor_changes *changes, struct error *error) {
    struct manifest manifest;
    bool found = false;
    bool done = vendor_manifest_read("d", &manifest, &found, error) &&
                vendor_write("d", &tree, &manifest, force, changes, error);
    manifest_free(&manifest);
    vendor_tree_free(&tree);
    return done;
}

static void must_update(struct vendor_tree tree, size_t written, size_t removed) {
    struct vendor_changes changes;
    struct error error;
    cr_assert(update(tree, false, &changes, &error), "%s", error.text);
    cr_expect_eq(changes.written, written, "%zu written", changes.written);
    cr_expect_eq(changes.removed, removed, "%zu removed", changes.removed);
}

static void must_refuse(struct vendor_tree tree, bool force, const char *message) {
    struct vendor_changes changes;
    struct error error = {.text = ""};
    cr_expect_not(update(tree, force, &changes, &error));
    cr_expect_str_eq(error.text, message);
    cr_expect_eq(error.kind, ERROR_RUN);
}

static void put(const char *path, const char *text) {
    struct error error;
    cr_assert(file_write(path, text, strlen(text), &error), "%s", error.text);
}

static void tell(void *context, const char *name, enum vendor_state state) {
    text_printf(context, "%s %s\n", vendor_state_names[state], name);
}

static void tell_outdated(void *context, const char *name, const char *verb) {
    text_printf(context, "%s %s\n", verb, name);
}

/* What vendor_compare says of "d". */
static void expect_states(const char *expected) {
    struct manifest manifest;
    struct error error;
    struct text out = {0};
    bool found = false;
    cr_assert(vendor_manifest_read("d", &manifest, &found, &error), "%s", error.text);
    cr_assert(found);
    cr_assert(vendor_compare("d", &manifest, tell, &out, &error), "%s", error.text);
    cr_expect_str_eq(out.bytes ? out.bytes : "", expected);
    text_free(&out);
    manifest_free(&manifest);
}

/* Everything below "d" with its bytes, by other means. */
static char *snapshot(void) {
    static char bytes[65536];
    FILE *pipe = popen(
        "find d | sort; find d -type f | sort | xargs -d '\\n' -r md5sum; find d -type l | sort | xargs -r readlink",
        "r");
    cr_assert_not_null(pipe);
    bytes[fread(bytes, 1, sizeof bytes - 1, pipe)] = '\0';
    cr_assert_eq(pclose(pipe), 0);
    return bytes;
}

TestSuite(vendor, .init = enter, .fini = leave);

Test(vendor, writes_a_fresh_folder_once) {
    must_update(tree_of("LICENSE", "l", "kernels/a.hip", "a", "src/b.c", "b", NULL), 4, 0);
    expect_states("unmodified LICENSE\nunmodified kernels/a.hip\nunmodified src/b.c\n");
    struct stat before, after;
    cr_assert_eq(stat("d/src/b.c", &before), 0);
    must_update(tree_of("LICENSE", "l", "kernels/a.hip", "a", "src/b.c", "b", NULL), 0, 0);
    cr_assert_eq(stat("d/src/b.c", &after), 0);
    cr_expect_eq(before.st_ino, after.st_ino);
    cr_expect_null(strstr(snapshot(), ".fmhagen"));
}

Test(vendor, replaces_what_changed_and_removes_what_is_gone) {
    must_update(tree_of("LICENSE", "l", "kernels/a.hip", "a", "src/b.c", "b", NULL), 4, 0);
    struct vendor_tree tree = tree_of("LICENSE", "l", "kernels/c.hip", "c", "src/b.c", "B", NULL);
    struct manifest manifest;
    struct error error;
    struct text out = {0};
    bool found = false;
    cr_assert(vendor_manifest_read("d", &manifest, &found, &error));
    cr_assert(vendor_outdated("d", &tree, &manifest, tell_outdated, &out, &error));
    cr_expect_str_eq(out.bytes, "remove kernels/a.hip\nadd kernels/c.hip\nchange src/b.c\nchange MANIFEST\n");
    text_free(&out);
    manifest_free(&manifest);
    must_update(tree, 3, 1);
    expect_states("unmodified LICENSE\nunmodified kernels/c.hip\nunmodified src/b.c\n");
    cr_expect_neq(access("d/kernels/a.hip", F_OK), 0);
}

Test(vendor, tells_modified_missing_and_foreign) {
    must_update(tree_of("LICENSE", "l", "kernels/a.hip", "a", "kernels/e.hip", "e", "src/b.c", "b", NULL), 5, 0);
    put("d/src/b.c", "B");
    put("d/src/extra.h", "");
    put("d/.gitattributes", "");
    cr_assert_eq(unlink("d/LICENSE"), 0);
    cr_assert_eq(unlink("d/kernels/a.hip"), 0);
    cr_assert_eq(symlink("e", "d/kernels/a.hip"), 0);
    cr_assert_eq(mkdir("d/other", 0777), 0);
    put("d/other/file", "");
    expect_states("missing LICENSE\nmodified kernels/a.hip\nunmodified kernels/e.hip\nforeign other/\n"
                  "modified src/b.c\nforeign src/extra.h\n");
}

Test(vendor, refuses_to_overwrite_what_is_modified) {
    must_update(tree_of("LICENSE", "l", "src/b.c", "b", NULL), 3, 0);
    put("d/src/b.c", "mine");
    char before[65536];
    strcpy(before, snapshot());
    must_refuse(tree_of("LICENSE", "L", "src/b.c", "c", NULL), false,
                "d/src/b.c: expected what 'fmhagen vendor' left there, got a file that is modified or foreign; move it "
                "away, or give --force to overwrite it");
    cr_expect_str_eq(snapshot(), before);
    struct vendor_changes changes;
    struct error error;
    cr_expect(update(tree_of("LICENSE", "L", "src/b.c", "c", NULL), true, &changes, &error), "%s", error.text);
    expect_states("unmodified LICENSE\nunmodified src/b.c\n");
}

Test(vendor, refuses_to_remove_what_is_modified) {
    must_update(tree_of("LICENSE", "l", "src/a.c", "a", "src/b.c", "b", NULL), 4, 0);
    put("d/src/a.c", "mine");
    put("d/src/b.c", "mine too");
    must_refuse(tree_of("LICENSE", "l", NULL), false,
                "d/src/a.c and 1 other: expected what 'fmhagen vendor' left there, got a file that is modified or "
                "foreign; move it away, or give --force to overwrite it");
    expect_states("unmodified LICENSE\nmodified src/a.c\nmodified src/b.c\n");
}

Test(vendor, refuses_a_foreign_file_in_the_way_and_leaves_others) {
    cr_assert_eq(mkdir("d", 0777), 0);
    put("d/LICENSE", "another");
    put("d/notes", "n");
    must_refuse(tree_of("LICENSE", "l", NULL), false,
                "d/LICENSE: expected what 'fmhagen vendor' left there, got a file that is modified or foreign; move it "
                "away, or give --force to overwrite it");
    cr_expect_neq(access("d/MANIFEST", F_OK), 0);
    put("d/LICENSE", "l"); /* the same bytes are in nobody's way */
    must_update(tree_of("LICENSE", "l", NULL), 1, 0);
    expect_states("unmodified LICENSE\nforeign notes\n");
}

Test(vendor, refuses_a_folder_in_the_way_whatever_is_forced) {
    cr_assert_eq(system("mkdir -p d/LICENSE && echo x >d/LICENSE/x"), 0);
    must_refuse(tree_of("LICENSE", "l", NULL), true, "d/LICENSE: expected a file, got a folder; move it away");
    cr_expect_eq(access("d/LICENSE/x", F_OK), 0);
}

Test(vendor, writes_through_no_link) {
    cr_assert_eq(system("mkdir d out && echo x >target && ln -s ../target d/LICENSE"), 0);
    struct vendor_changes changes;
    struct error error;
    cr_assert(update(tree_of("LICENSE", "l", NULL), true, &changes, &error), "%s", error.text);
    cr_expect_eq(system("grep -q x target && [ ! -L d/LICENSE ]"), 0, "the link's target was written");
    cr_assert_eq(system("rm -r d/src && ln -s ../out d/src"), 0);
    must_refuse(tree_of("LICENSE", "l", "src/b.c", "b", NULL), true,
                "d/src: expected a folder, got a file or a link of that name; move it away");
    cr_expect_neq(access("out/b.c", F_OK), 0);
}

Test(vendor, leaves_everything_as_it_was_when_a_file_cannot_be_placed) {
    must_update(tree_of("LICENSE", "l", "kernels/gone.hip", "g", "src/b.c", "b", NULL), 4, 0);
    char before[65536];
    strcpy(before, snapshot());
    /* nobody makes the folder "zoo": the last file but MANIFEST has no place */
    must_refuse(tree_of("LICENSE", "new", "src/b.c", "new", "src/c.c", "c", "zoo/x", "x", NULL), false,
                "d/zoo/x: expected to put the new file there, got: No such file or directory; the folder is as it was");
    cr_expect_str_eq(snapshot(), before);
}

Test(vendor, leaves_nothing_when_the_disk_is_full) {
    static char large[8192];
    memset(large, 'x', sizeof large - 1);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, RLIM_INFINITY}), 0);
    struct vendor_changes changes;
    struct error error = {.text = ""};
    cr_expect_not(update(tree_of("LICENSE", "l", "src/b.c", large, NULL), false, &changes, &error));
    cr_expect_not_null(strstr(error.text, "expected a writable file, got: File too large"), "%s", error.text);
    cr_expect_neq(access("d", F_OK), 0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
}

Test(vendor, needs_the_folder_above) {
    struct vendor_tree tree = tree_of("LICENSE", "l", NULL);
    struct manifest manifest = {0};
    struct vendor_changes changes;
    struct error error = {.text = ""};
    cr_expect_not(vendor_write("up/d", &tree, &manifest, false, &changes, &error));
    cr_expect_str_eq(error.text, "up/d: expected to make the folder, got: No such file or directory");
    vendor_tree_free(&tree);
}

Test(vendor, reads_no_manifest_that_is_no_file) {
    cr_assert_eq(system("mkdir d && ln -s x d/MANIFEST"), 0);
    struct manifest manifest;
    struct error error = {.text = ""};
    bool found = true;
    cr_expect_not(vendor_manifest_read("d", &manifest, &found, &error));
    cr_expect_str_eq(error.text, "d/MANIFEST: expected a file, got a folder or a link; move it away");
}
