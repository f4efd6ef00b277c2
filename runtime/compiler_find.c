/* The search for compilers: the places in their order, what stands there, and whether it serves. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "driver.h"

#define PROBE_LIMIT_SECONDS 10
#define CLANGS_MAX          64
#define HIP_MAJOR_MIN       6
#define CLANG_MAJOR_MIN     19
#define REASON_BYTES        512

/* What asking one executable gave. Answers are kept for the life of the process; a changed file is asked again. */
typedef struct probe {
    struct probe *next;
    char path[1024];
    char arch[64]; /* "" for the version, else whether it knows this chip */
    struct timespec changed;
    off_t file_bytes;
    ino_t inode;
    bool serves;
    char reason[REASON_BYTES]; /* why not */
    fmha_compiler compiler;    /* of a version probe that serves */
    int clang_version[3];
} probe;

static pthread_mutex_t probes_lock = PTHREAD_MUTEX_INITIALIZER;
static probe *probes;

/* ---- Asking one executable ------------------------------------------------------------------------------- */

static void copy_line(char *to, size_t room, const char *line) {
    size_t length = strcspn(line, "\r\n");
    snprintf(to, room, "%.*s", (int)(length < room ? length : room - 1), line);
}

static const char *line_with(const char *text, const char *word, const char **at) {
    const char *found = strstr(text, word);
    if (found == NULL) {
        return NULL;
    }
    *at = found + strlen(word);
    while (found > text && found[-1] != '\n') {
        found--;
    }
    return found;
}

/* Reads `--version`: of hipcc "HIP version: 7.0.51831-0" and its clang's lines, of clang "… clang version 22.1.8 (…)".
 */
static void read_version(probe *asked, const char *words) {
    const char *hip_number = NULL, *clang_number = NULL;
    const char *hip_line = line_with(words, "HIP version: ", &hip_number);
    const char *clang_line = line_with(words, "clang version ", &clang_number);
    int *version = asked->clang_version;
    if (clang_line == NULL || sscanf(clang_number, "%d.%d.%d", &version[0], &version[1], &version[2]) < 1) {
        char line[128];
        copy_line(line, sizeof line, words);
        snprintf(asked->reason, sizeof asked->reason, "no clang: its --version says '%s'", line);
        return;
    }
    fmha_compiler *compiler = &asked->compiler;
    char clang_text[96];
    copy_line(clang_text, hip_line != NULL ? sizeof clang_text / 2 : sizeof clang_text, clang_line);
    snprintf(compiler->path, sizeof compiler->path, "%s", asked->path);
    compiler->clang_major = version[0];
    compiler->is_hipcc = hip_line != NULL;
    if (hip_line == NULL) {
        snprintf(compiler->version, sizeof compiler->version, "%s", clang_text);
        asked->serves = version[0] >= CLANG_MAJOR_MIN;
        if (!asked->serves) {
            snprintf(asked->reason, sizeof asked->reason, "older than clang %d", CLANG_MAJOR_MIN);
        }
        return;
    }
    char hip_text[64];
    copy_line(hip_text, sizeof hip_text, hip_line);
    snprintf(compiler->version, sizeof compiler->version, "%s, %s", hip_text, clang_text);
    asked->serves = atoi(hip_number) >= HIP_MAJOR_MIN;
    if (!asked->serves) {
        snprintf(asked->reason, sizeof asked->reason, "older than ROCm %d", HIP_MAJOR_MIN);
    }
}

static void ask_version(probe *asked) {
    const char *argv[] = {asked->path, "--version", NULL};
    char *words;
    int exit_code;
    if (fmha_process_run(argv, PROBE_LIMIT_SECONDS, &words, &exit_code) != FMHA_OK) {
        snprintf(asked->reason, sizeof asked->reason, "does not run: %.400s", fmha_last_error());
        return;
    }
    if (exit_code != 0) {
        char line[256];
        copy_line(line, sizeof line, words != NULL ? words : "nothing");
        snprintf(asked->reason, sizeof asked->reason, "--version ended with exit status %d and said: %s", exit_code,
                 line);
    } else {
        read_version(asked, words != NULL ? words : "");
    }
    free(words);
}

/* Has the compiler accept an empty file for the chip, with the flags of every instance. */
static void ask_chip(probe *asked, const fmha_compiler *compiler) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    const char *argv[FMHA_COMPILER_FLAGS_MAX + 4];
    int flag_count = fmha_compiler_flags(compiler, asked->arch, 32, storage, flags);
    if (flag_count < 0) {
        snprintf(asked->reason, sizeof asked->reason, "'%s' is no gfx target", asked->arch);
        return;
    }
    size_t count = 0;
    argv[count++] = asked->path;
    for (int i = 0; i < flag_count; i++) {
        argv[count++] = flags[i];
    }
    argv[count++] = "-fsyntax-only";
    argv[count++] = "/dev/null";
    argv[count] = NULL;
    char *words;
    int exit_code;
    if (fmha_process_run(argv, PROBE_LIMIT_SECONDS, &words, &exit_code) != FMHA_OK) {
        snprintf(asked->reason, sizeof asked->reason, "does not run: %.400s", fmha_last_error());
        return;
    }
    asked->serves = exit_code == 0;
    if (!asked->serves) {
        char line[256];
        copy_line(line, sizeof line, words != NULL ? words : "nothing");
        snprintf(asked->reason, sizeof asked->reason, "does not know %s; it said: %s", asked->arch, line);
    }
    free(words);
}

/* clang hands the link to "lld". Another version's lld, found on PATH, may reject what this clang writes. */
static void ask_linker(probe *asked, int clang_major) {
    const char *where_argv[] = {asked->path, "-print-prog-name=lld", NULL};
    char *words, linker[PATH_MAX] = "lld", version[128] = "";
    int exit_code, linker_major = 0;
    if (fmha_process_run(where_argv, PROBE_LIMIT_SECONDS, &words, &exit_code) != FMHA_OK) {
        snprintf(asked->reason, sizeof asked->reason, "does not run: %.400s", fmha_last_error());
        return;
    }
    copy_line(linker, sizeof linker, words != NULL ? words : "");
    free(words);
    const char *version_argv[] = {linker, "-flavor", "gnu", "--version", NULL};
    if (linker[0] == '/' && fmha_process_run(version_argv, PROBE_LIMIT_SECONDS, &words, &exit_code) == FMHA_OK) {
        const char *number = NULL;
        const char *line = line_with(words != NULL ? words : "", "LLD ", &number);
        if (line != NULL) {
            copy_line(version, sizeof version, line);
            linker_major = atoi(number);
        }
        free(words);
    }
    asked->serves = linker_major == clang_major;
    if (!asked->serves && linker_major == 0) {
        snprintf(asked->reason, sizeof asked->reason, "its linker lld is missing; install lld-%d", clang_major);
    } else if (!asked->serves) {
        snprintf(asked->reason, sizeof asked->reason, "its linker %.200s is of another version, %s; install lld-%d",
                 linker, version, clang_major);
    }
}

/* The kept answer, or a new one. `question` is "" (version), "lld" or a chip. The result lives as long as the process;
 * NULL: no memory. */
static const probe *ask(const char *path, const char *question, const fmha_compiler *compiler) {
    struct stat file = {0};
    stat(path, &file); /* a file that is gone fails when it is run, with a better message */
    pthread_mutex_lock(&probes_lock);
    for (const probe *known = probes; known != NULL; known = known->next) {
        if (strcmp(known->path, path) == 0 && strcmp(known->arch, question) == 0 && known->inode == file.st_ino &&
            known->file_bytes == file.st_size && known->changed.tv_sec == file.st_mtim.tv_sec &&
            known->changed.tv_nsec == file.st_mtim.tv_nsec) {
            pthread_mutex_unlock(&probes_lock);
            return known;
        }
    }
    probe *asked = calloc(1, sizeof *asked);
    if (asked != NULL) {
        snprintf(asked->path, sizeof asked->path, "%s", path);
        snprintf(asked->arch, sizeof asked->arch, "%s", question);
        asked->changed = file.st_mtim;
        asked->file_bytes = file.st_size;
        asked->inode = file.st_ino;
        if (question[0] == '\0') {
            ask_version(asked);
        } else if (strcmp(question, "lld") == 0) {
            ask_linker(asked, compiler->clang_major);
        } else {
            ask_chip(asked, compiler);
        }
        asked->next = probes;
        probes = asked;
    }
    pthread_mutex_unlock(&probes_lock);
    return asked;
}

/* ---- The survey ------------------------------------------------------------------------------------------ */

typedef struct survey {
    const char *arch; /* NULL: a host compiler is looked for */
    fmha_compiler_visit visit;
    void *context;
    fmha_compiler *taken; /* the first that serves */
    bool found;
    bool every_place; /* do not stop at the first that serves */
    bool refused;     /* a set variable names one that cannot serve, so that none is taken */
    bool no_memory;
} survey;

static bool is_done(const survey *s) {
    return (s->found && !s->every_place) || s->no_memory;
}

static void judge(survey *s, const char *place, const char *path) {
    const probe *version = ask(path, "", NULL);
    const probe *refusal = version;
    if (version != NULL && version->serves && s->arch != NULL) {
        const probe *linker = version->compiler.is_hipcc ? version : ask(path, "lld", &version->compiler);
        const probe *chip = linker != NULL && linker->serves ? ask(path, s->arch, &version->compiler) : linker;
        refusal = chip;
    }
    if (refusal == NULL) {
        s->no_memory = true;
        return;
    }
    char found[1200];
    snprintf(found, sizeof found, "%s%s%s", path, version->compiler.version[0] != '\0' ? ": " : "",
             version->compiler.version);
    if (!refusal->serves) {
        s->visit(s->context, place, found, refusal->reason);
        return;
    }
    bool take = !s->found && !s->refused;
    s->visit(s->context, place, found, take ? "taken" : "would serve");
    if (take) {
        *s->taken = version->compiler;
        s->found = true;
    }
}

static bool is_executable(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* The next folder of a PATH-like list, into `folder`; NULL at its end. Empty parts, which mean the working directory,
 * and parts too long for a path are passed over. */
static const char *next_folder(const char *list, char folder[1024]) {
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        const char *after = list + length + (list[length] == ':');
        if (length > 0 && length < 1000) {
            memcpy(folder, list, length);
            folder[length] = '\0';
            return after;
        }
        list = after;
    }
    return NULL;
}

static bool find_on_path(const char *name, char path[1024]) {
    char folder[1024];
    const char *rest = getenv("PATH");
    while ((rest = next_folder(rest, folder)) != NULL) {
        if (snprintf(path, 1024, "%s/%s", folder, name) < 1024 && is_executable(path)) {
            return true;
        }
    }
    return false;
}

/* The compiler that a variable names, by path or as a word on PATH. False when the variable is not set. */
static bool judge_variable(survey *s, const char *variable, const char *place) {
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        s->visit(s->context, place, "", "not set");
        return false;
    }
    char path[1024];
    if (strchr(value, '/') == NULL
            ? find_on_path(value, path)
            : snprintf(path, sizeof path, "%s", value) < (int)sizeof path && is_executable(path)) {
        judge(s, place, path);
    } else {
        s->visit(s->context, place, value, "no executable file is there");
    }
    return true;
}

static void judge_path(survey *s, const char *place, const char *path) {
    if (is_executable(path)) {
        judge(s, place, path);
    } else {
        s->visit(s->context, place, "", "nothing there");
    }
}

static void judge_hipccs(survey *s) {
    char path[1024];
    judge_path(s, "hipcc on PATH", find_on_path("hipcc", path) ? path : "");
    if (is_done(s)) {
        return;
    }
    const char *rocm = getenv("ROCM_PATH");
    if (rocm == NULL || rocm[0] == '\0') {
        s->visit(s->context, "$ROCM_PATH/bin/hipcc", "", "ROCM_PATH is not set");
    } else if (snprintf(path, sizeof path, "%s/bin/hipcc", rocm) < (int)sizeof path) {
        judge_path(s, path, path);
    }
    if (!is_done(s)) {
        judge_path(s, "/opt/rocm/bin/hipcc", "/opt/rocm/bin/hipcc");
    }
}

typedef struct clang_list {
    struct {
        char path[1024];
        char real[PATH_MAX];
    } at[CLANGS_MAX];
    size_t count;
} clang_list;

static void clang_add(clang_list *clangs, const char *path) {
    char real[PATH_MAX];
    if (clangs->count == CLANGS_MAX || !is_executable(path) || realpath(path, real) == NULL) {
        return;
    }
    for (size_t i = 0; i < clangs->count; i++) {
        if (strcmp(clangs->at[i].real, real) == 0) {
            return;
        }
    }
    snprintf(clangs->at[clangs->count].path, sizeof clangs->at[0].path, "%s", path);
    snprintf(clangs->at[clangs->count].real, sizeof clangs->at[0].real, "%s", real);
    clangs->count++;
}

/* Adds FOLDER/NAME + digits + `tail` for each entry of that form. */
static void clang_add_numbered(clang_list *clangs, const char *folder, const char *name, const char *tail) {
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(name);
        if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] == '\0' ||
            entry->d_name[length + strspn(entry->d_name + length, "0123456789")] != '\0') {
            continue;
        }
        char path[1400];
        snprintf(path, sizeof path, "%s/%s%s", folder, entry->d_name, tail);
        if (strlen(path) < 1024) {
            clang_add(clangs, path);
        }
    }
    closedir(entries);
}

static int newer_first(const void *left, const void *right) {
    const probe *a = *(const probe *const *)left, *b = *(const probe *const *)right;
    for (int i = 0; i < 3; i++) {
        if (a->clang_version[i] != b->clang_version[i]) {
            return a->clang_version[i] > b->clang_version[i] ? -1 : 1;
        }
    }
    return strcmp(a->path, b->path);
}

static void judge_clangs(survey *s) {
    clang_list *clangs = calloc(1, sizeof *clangs);
    if (clangs == NULL) {
        s->no_memory = true;
        return;
    }
    char folder[1024], path[1024];
    const char *rest = getenv("PATH");
    while ((rest = next_folder(rest, folder)) != NULL) {
        clang_add_numbered(clangs, folder, "clang++-", "");
    }
    clang_add_numbered(clangs, "/usr/lib", "llvm-", "/bin/clang++");
    if (find_on_path("clang++", path)) {
        clang_add(clangs, path);
    }
    const probe *versions[CLANGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < clangs->count; i++) {
        versions[count] = ask(clangs->at[i].path, "", NULL);
        if (versions[count] == NULL) {
            s->no_memory = true;
        } else {
            count++;
        }
    }
    if (clangs->count == 0) {
        s->visit(s->context, "clang++-N on PATH, /usr/lib/llvm-N/bin/clang++, clang++ on PATH", "", "nothing there");
    }
    free(clangs);
    qsort(versions, count, sizeof versions[0], newer_first); /* NOLINT(bugprone-sizeof-expression): of pointers */
    for (size_t i = 0; i < count && !is_done(s); i++) {
        judge(s, "clang++", versions[i]->path);
    }
}

/* True when a set variable decides alone. */
static bool run_survey(survey *s) {
    const char *variable = s->arch != NULL ? "FMHA_HIPCC" : "FMHA_HOST_CXX";
    bool decided = judge_variable(s, variable, s->arch != NULL ? "$FMHA_HIPCC" : "$FMHA_HOST_CXX");
    s->refused = decided && !s->found;
    if (is_done(s) || (decided && !s->every_place)) {
        return decided;
    }
    if (s->arch != NULL) {
        judge_hipccs(s);
    }
    if (!is_done(s)) {
        judge_clangs(s);
    }
    return decided;
}

/* ---- What others call ------------------------------------------------------------------------------------ */

typedef struct account {
    char text[8192];
    size_t length;
} account;

static void account_add(void *context, const char *place, const char *found, const char *verdict) {
    account *a = context;
    int added = snprintf(a->text + a->length, sizeof a->text - a->length, "\n  %s: %s%s%s", place, found,
                         found[0] != '\0' ? ": " : "", verdict);
    size_t room = sizeof a->text - a->length - 1;
    a->length += added < 0 ? 0 : (size_t)added < room ? (size_t)added : room;
}

static fmha_status find(survey *s, const char *wanted, const char *variable, const char *cure) {
    account *places = calloc(1, sizeof *places);
    if (places == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "no memory to look for compilers");
    }
    s->visit = account_add;
    s->context = places;
    bool decided = run_survey(s);
    fmha_status status = FMHA_OK;
    if (s->no_memory) {
        status = fmha_fail(FMHA_ERROR_MEMORY, "no memory to look for compilers");
    } else if (!s->found && decided) {
        status = fmha_fail(FMHA_ERROR_NO_COMPILER, "$%s cannot serve: expected %s; looked at%s\nunset %s or let it %s",
                           variable, wanted, places->text, variable, "name such a compiler");
    } else if (!s->found) {
        status =
            fmha_fail(FMHA_ERROR_NO_COMPILER, "no compiler: expected %s; looked at%s\n%s", wanted, places->text, cure);
    }
    free(places);
    return status;
}

fmha_status fmha_compiler_find(const char *arch, fmha_compiler *compiler) {
    if (arch == NULL || compiler == NULL || strlen(arch) >= sizeof probes->arch) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_compiler_find: expected a gfx target of up to %zu letters and a "
                         "place for the result",
                         sizeof probes->arch - 1);
    }
    char wanted[160];
    snprintf(wanted, sizeof wanted, "hipcc of ROCm %d or later, or clang++ %d or later with its lld, that knows %s",
             HIP_MAJOR_MIN, CLANG_MAJOR_MIN, arch);
    survey s = {.arch = arch, .taken = compiler};
    return find(&s, wanted, "FMHA_HIPCC", "install one of them, or set FMHA_HIPCC to its path");
}

fmha_status fmha_compiler_find_host(fmha_compiler *compiler) {
    if (compiler == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_compiler_find_host: expected a place for the result, got NULL");
    }
    char wanted[80];
    snprintf(wanted, sizeof wanted, "clang++ %d or later for this machine", CLANG_MAJOR_MIN);
    survey s = {.taken = compiler};
    return find(&s, wanted, "FMHA_HOST_CXX", "install one, or set FMHA_HOST_CXX to its path");
}

void fmha_compiler_list(const char *arch, fmha_compiler_visit visit, void *context) {
    fmha_compiler taken;
    survey s = {.arch = arch, .visit = visit, .context = context, .taken = &taken, .every_place = true};
    run_survey(&s);
}
