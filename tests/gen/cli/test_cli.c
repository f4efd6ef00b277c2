/* Golden tests of the command line: each file of tests/gen/golden is one test. It is read as
 *
 *     # what it shows
 *     $ fmhagen --arch gfx1151 --hd 12
 *     status 2
 *     stdout
 *     | a line
 *     stderr
 *     | a line
 *     files
 *     | out/NAME.hip
 *
 * Lines after '$ ' are run together by /bin/sh in an empty folder whose name holds a space; `fmhagen` is the program
 * under test, and the environment holds nothing of FMHA_* and ROCM_*. Status, both outputs and the names of the files
 * that are there in the end are compared whole; a section that is left out must be empty. @VERSION@ stands for the
 * version, @DIR@ for the folder. Nothing may be left behind in $TMPDIR. To accept what the program does now (and read
 * the difference with git):
 *
 *     FMHA_BLESS=1 meson test -C build cli
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

struct golden_case {
    char name[256];
};

static void add_line(struct text *out, const char *prefix, const char *line, size_t length) {
    text_puts(out, prefix);
    text_add(out, line, length);
    text_puts(out, "\n");
}

/* Comments and commands of a case, which blessing keeps; *script receives the commands. */
static void read_case(const char *bytes, struct text *head, struct text *script) {
    for (const char *line = bytes; *line;) {
        size_t length = strcspn(line, "\n");
        if (line[0] == '#' || line[0] == '$')
            add_line(head, "", line, length);
        if (strncmp(line, "$ ", 2) == 0)
            add_line(script, "", line + 2, length - 2);
        line += length + (line[length] == '\n');
    }
}

static void replace_all(struct text *text, const char *what, const char *with) {
    struct text out = {0};
    const char *rest = text->bytes ? text->bytes : "";
    for (const char *found; *what && (found = strstr(rest, what)); rest = found + strlen(what)) {
        text_add(&out, rest, (size_t)(found - rest));
        text_puts(&out, with);
    }
    text_puts(&out, rest);
    text_free(text);
    *text = out;
}

static void add_section(struct text *out, const char *title, const char *bytes) {
    if (!*bytes)
        return;
    text_printf(out, "%s\n", title);
    while (*bytes) {
        size_t length = strcspn(bytes, "\n");
        add_line(out, length ? "| " : "|", bytes, length);
        bytes += length;
        if (*bytes)
            bytes++;
        else
            text_puts(out, "\\ no newline\n");
    }
}

static struct text files_found;
static size_t files_root_length;

static int note_file(const char *path, const struct stat *status, int type, struct FTW *position) {
    (void)status;
    if (position->level && type != FTW_D && type != FTW_DP)
        text_printf(&files_found, "%s\n", path + files_root_length + 1);
    return 0;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all files below `root`, sorted, one a line. */
static struct text list_files(const char *root) {
    text_free(&files_found);
    files_root_length = strlen(root);
    cr_assert_eq(nftw(root, note_file, 16, FTW_PHYS), 0, "%s: %s", root, strerror(errno));
    char *lines[256];
    size_t count = 0;
    char *rest = files_found.bytes;
    for (char *line; rest && (line = strsep(&rest, "\n")) && *line && count < 256;)
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    struct text sorted = {0};
    for (size_t i = 0; i < count; i++)
        text_printf(&sorted, "%s\n", lines[i]);
    text_free(&files_found);
    return sorted;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position) {
    (void)status;
    (void)type;
    (void)position;
    return remove(path);
}

static void clean_environment(const char *root) {
    static const char *const unset[] = {"FMHA_HIPCC", "FMHA_HOST_CXX", "FMHA_CACHE_DIR", "ROCM_PATH", "XDG_CACHE_HOME",
                                        "FMHA_BLESS", "COLUMNS",       "LS_COLORS",      NULL};
    char path[512];
    for (int i = 0; unset[i]; i++)
        unsetenv(unset[i]);
    setenv("FMHAGEN", FMHAGEN_PATH, 1);
    setenv("SOURCE", SOURCE_DIR, 1);
    setenv("LC_ALL", "C", 1);
    snprintf(path, sizeof path, "%s/home", root);
    setenv("HOME", path, 1);
    snprintf(path, sizeof path, "%s/tmp", root);
    setenv("TMPDIR", path, 1);
}

/* Runs the script in `folder`; its outputs go into files of `root`. Returns the exit status, 128 and up by a signal. */
static int run_script(const char *root, const char *folder, const char *script) {
    struct text command = {0};
    text_puts(&command, "fmhagen() { \"$FMHAGEN\" \"$@\"; }\n");
    text_puts(&command, script);
    char out[512], err[512];
    snprintf(out, sizeof out, "%s/stdout", root);
    snprintf(err, sizeof err, "%s/stderr", root);
    pid_t child = fork();
    if (child == 0) {
        clean_environment(root);
        if (chdir(folder) != 0 || !freopen("/dev/null", "r", stdin) || !freopen(out, "w", stdout) ||
            !freopen(err, "w", stderr))
            _exit(126);
        execl("/bin/sh", "sh", "-c", command.bytes, (char *)NULL);
        _exit(127);
    }
    cr_assert_gt(child, 0);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        cr_assert_eq(errno, EINTR);
    text_free(&command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct text read_output(const char *root, const char *name, const char *folder) {
    char path[512];
    char *bytes;
    size_t length;
    struct error error;
    struct text text = {0};
    snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert(file_read(path, &bytes, &length, &error), "%s", error.text);
    text_puts(&text, bytes);
    free(bytes);
    replace_all(&text, folder, "@DIR@");
    replace_all(&text, FMHA_VERSION, "@VERSION@");
    return text;
}

static const char *string_of(const struct text *text) {
    return text->bytes ? text->bytes : "";
}

ParameterizedTestParameters(cli, golden) {
    static struct golden_case cases[512];
    size_t count = 0;
    DIR *folder = opendir(GOLDEN_DIR);
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < 512;)
        if (strlen(entry->d_name) > 4 && strcmp(entry->d_name + strlen(entry->d_name) - 4, ".txt") == 0)
            snprintf(cases[count++].name, sizeof cases[0].name, "%s", entry->d_name);
    if (folder)
        closedir(folder);
    return cr_make_param_array(struct golden_case, cases, count);
}

ParameterizedTest(struct golden_case *parameter, cli, golden, .timeout = 900) {
    char path[512], root[] = "/tmp/fmhagen-cli-XXXXXX", folder[64], made[64];
    char *expected;
    size_t length;
    struct error error;
    struct text head = {0}, script = {0};
    snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, parameter->name);
    cr_assert(file_read(path, &expected, &length, &error), "%s", error.text);
    read_case(expected, &head, &script);
    cr_assert_gt(script.length, 0, "%s: expected a line that begins with '$ '", path);

    cr_assert_eq(access(FMHAGEN_PATH, X_OK), 0, "%s: %s", FMHAGEN_PATH, strerror(errno));
    cr_assert(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/a folder", root);
    cr_assert_eq(mkdir(folder, 0777), 0);
    snprintf(made, sizeof made, "%s/tmp", root);
    cr_assert_eq(mkdir(made, 0777), 0);
    int status = run_script(root, folder, script.bytes);

    struct text out = read_output(root, "stdout", folder), err = read_output(root, "stderr", folder);
    struct text files = list_files(folder), left = list_files(made);
    struct text now = {0};
    text_add(&now, string_of(&head), head.length);
    text_printf(&now, "status %d\n", status);
    add_section(&now, "stdout", string_of(&out));
    add_section(&now, "stderr", string_of(&err));
    add_section(&now, "files", string_of(&files));
    add_section(&now, "left in $TMPDIR", string_of(&left));
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);

    if (getenv("FMHA_BLESS"))
        cr_assert(file_write(path, now.bytes, now.length, &error), "%s", error.text);
    else
        cr_expect(strcmp(now.bytes, expected) == 0, "%s: expected\n%s\ngot\n%s", parameter->name, expected, now.bytes);
    free(expected);
    struct text *const texts[] = {&head, &script, &out, &err, &files, &left, &now, NULL};
    for (size_t i = 0; texts[i]; i++)
        text_free(texts[i]);
}
