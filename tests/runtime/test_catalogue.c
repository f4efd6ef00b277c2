/* Where instance libraries are looked for, and what is passed over. */
#include "catalogue.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch_support.h"

static const struct test_instance instances[] = {{.name = "one", .object = "object", .source = "text"}};
static const struct fmha_log silent;

TestSuite(catalogue, .init = dispatch_set_up);

/* "NAME: NOTE" of each library in the test's folder, with "$" for it. */
static void expect_libraries(const char *arch, const char *path, char *const *added, size_t added_count,
                             const char *expected) {
    struct fmha_catalogue catalogue;
    char text[8192] = "";
    size_t length = 0, begin = strlen(folder);
    setenv("FMHA_LIBRARY_PATH", path, 1);
    cr_assert_eq(fmha_catalogue_open(arch, added, added_count, &silent, &catalogue), FMHA_OK, "%s", fmha_last_error());
    for (size_t i = 0; i < catalogue.count; i++) {
        const struct fmha_catalogue_library *library = catalogue.libraries[i];
        const char *note = library->note, *mention = strstr(note, folder);
        if (strncmp(library->name, folder, begin) == 0) {
            length += (size_t)snprintf(text + length, sizeof text - length, "$%s: %.*s%s%s\n", library->name + begin,
                                       mention != NULL ? (int)(mention - note) : (int)strlen(note), note,
                                       mention != NULL ? "$" : "", mention != NULL ? mention + begin : "");
        }
    }
    cr_assert_str_eq(text, expected);
    fmha_catalogue_close(&catalogue);
    cr_assert_eq(catalogue.count, 0);
}

Test(catalogue, folders_of_the_path_in_their_order) {
    char a[512], b[512], c[512], path[2048];
    dispatch_write("a", instances, 1, a);
    dispatch_write("b b", instances, 1, b);
    dispatch_write("c", instances, 0, c);
    snprintf(path, sizeof path, "%s:%s:%s", b, c, a);
    static const char whole[] = "$/b b: 1 instance for gfx1151\n"
                                "$/c: 0 instances for gfx1151\n"
                                "$/a: 1 instance for gfx1151\n";
    expect_libraries("gfx1151", path, NULL, 0, whole);
    snprintf(path, sizeof path, ":%s::%s:%s:%s:", b, c, a, b); /* an empty one is none, one named twice is asked once */
    expect_libraries("gfx1151", path, NULL, 0, whole);
    char *added[] = {a, a};
    expect_libraries("gfx1151", path, added, 2,
                     "$/a: 1 instance for gfx1151\n"
                     "$/b b: 1 instance for gfx1151\n"
                     "$/c: 0 instances for gfx1151\n");
    expect_libraries("gfx1151", "", NULL, 0, "");
    expect_libraries("gfx1151", ":", NULL, 0, "");
    dispatch_tear_down();
}

Test(catalogue, chip_chooses_the_folder) {
    char a[512];
    dispatch_write("a", instances, 1, a);
    expect_libraries("gfx1151:xnack-", a, NULL, 0, "$/a: 1 instance for gfx1151\n");
    expect_libraries("gfx1100", a, NULL, 0, "$/a: no instances for gfx1100: it has no gfx1100/fmha.index\n");
    expect_libraries("gfx115", a, NULL, 0, "$/a: no instances for gfx115: it has no gfx115/fmha.index\n");
    dispatch_tear_down();
}

Test(catalogue, what_cannot_be_read_is_passed_over) {
    char a[512], b[512], path[2048], index[700];
    dispatch_write("a", instances, 1, a);
    dispatch_write("b", instances, 1, b);
    snprintf(path, sizeof path, "%s:%s", a, b);
    snprintf(index, sizeof index, "%s/gfx1151/fmha.index", a);
    support_write(index, "", 0644);
    expect_libraries("gfx1151", path, NULL, 0,
                     "$/a: $/a/gfx1151/fmha.index:1: expected another line, got the end of a file that was cut off; "
                     "make the library anew with `fmhagen library`\n"
                     "$/b: 1 instance for gfx1151\n");
    cr_assert_eq(remove(index), 0);
    cr_assert_eq(mkdir(index, 0777), 0);
    expect_libraries("gfx1151", path, NULL, 0,
                     "$/a: $/a/gfx1151/fmha.index: expected a regular file\n"
                     "$/b: 1 instance for gfx1151\n");
    snprintf(path, sizeof path, "%s/gfx1151/one.hip", b); /* a file where a folder should be */
    expect_libraries("gfx1151", path, NULL, 0,
                     "$/b/gfx1151/one.hip: $/b/gfx1151/one.hip/gfx1151/fmha.index: cannot be opened: Not a "
                     "directory\n");
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    memcpy(path, folder, strlen(folder));
    path[strlen(folder)] = '/';
    struct fmha_catalogue catalogue;
    setenv("FMHA_LIBRARY_PATH", path, 1);
    cr_assert_eq(fmha_catalogue_open("gfx1151", NULL, 0, &silent, &catalogue), FMHA_OK);
    cr_assert(catalogue.count >= 1 && catalogue.libraries[0]->index == NULL);
    fmha_catalogue_close(&catalogue);
    dispatch_tear_down();
}

Test(catalogue, parts_are_checked_against_the_index) {
    char a[512], file[700];
    struct fmha_catalogue catalogue;
    void *bytes;
    size_t count;
    bool found;
    dispatch_write("a", instances, 1, a);
    setenv("FMHA_LIBRARY_PATH", a, 1);
    cr_assert_eq(fmha_catalogue_open("gfx1151", NULL, 0, &silent, &catalogue), FMHA_OK);
    const struct fmha_catalogue_library *library = catalogue.libraries[0];
    const struct fmha_descriptor *one = fmha_index_at(library->index, 0);
    cr_assert(fmha_catalogue_has_object(library, one));
    cr_assert_eq(fmha_catalogue_object(library, one, &bytes, &count, &found), FMHA_OK);
    cr_assert(found && count == 6 && strcmp(bytes, "object") == 0);
    free(bytes);
    cr_assert_eq(fmha_catalogue_source(library, one, &bytes, &count, &found), FMHA_OK);
    cr_assert(found && count == 4 && strcmp(bytes, "text") == 0);
    free(bytes);
    snprintf(file, sizeof file, "%s/gfx1151/one.hip", a);
    support_write(file, "texT", 0644);
    dispatch_expect(fmha_catalogue_source(library, one, &bytes, &count, &found), FMHA_ERROR_IO,
                    "$/a/gfx1151/one.hip: expected the 4 bytes that the index names, got 4 others; make the library "
                    "anew with `fmhagen library`");
    cr_assert_null(bytes);
    cr_assert_eq(remove(file), 0);
    cr_assert_eq(fmha_catalogue_source(library, one, &bytes, &count, &found), FMHA_OK);
    cr_assert(!found);
    cr_assert_null(bytes);
    fmha_catalogue_close(&catalogue);
    dispatch_tear_down();
}

Test(catalogue, one_more_folder_may_follow) {
    char a[512], b[512];
    struct fmha_catalogue catalogue;
    dispatch_write("a", instances, 1, a);
    dispatch_write("b", instances, 1, b);
    setenv("FMHA_LIBRARY_PATH", a, 1);
    cr_assert_eq(fmha_catalogue_open("gfx1151:xnack+", NULL, 0, &silent, &catalogue), FMHA_OK);
    const struct fmha_catalogue_library *first = catalogue.libraries[0];
    size_t count = catalogue.count;
    cr_assert_eq(fmha_catalogue_add(&catalogue, "gfx1151:xnack+", b, &silent), FMHA_OK);
    cr_assert_eq(catalogue.count, count + 1);
    cr_assert_eq(catalogue.libraries[0], first);
    cr_assert_str_eq(catalogue.libraries[count]->name, b);
    cr_assert_eq(fmha_index_count(catalogue.libraries[count]->index), 1);
    cr_assert_eq(fmha_catalogue_add(&catalogue, "gfx1151:xnack+", a, &silent), FMHA_OK);
    cr_assert_eq(catalogue.count, count + 1, "it is there already");
    fmha_catalogue_close(&catalogue);
    dispatch_tear_down();
}
