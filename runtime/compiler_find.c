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
#include "compiler_memo.h"
#include "driver.h"

#define PROBE_LIMIT_SECONDS 10
#define CLANGS_MAX          64
#define HIP_MAJOR_MIN       6
#define CLANG_MAJOR_MIN     19
#define CUDA_MAJOR_MIN      12
#define REASON_BYTES        512

/* What asking one executable gave. Answers are kept for the life of the process, and what compilers said beyond it
 * (compiler_memo.h); when a file that an answer stands on has changed, it is asked again. */
typedef struct probe {
    struct probe *next;
    char path[1024];
    char arch[64];        /* "" for the version, "lld", else whether it knows this chip */
    char *files;          /* what it stands on */
    uint64_t environment; /* fmha_memo_environment */
    unsigned survey;      /* the one that asked it anew; 0: what was kept was good enough */
    bool serves;
    fmha_status trouble;       /* of this process, which says nothing of the compiler: the answer is not kept */
    char reason[REASON_BYTES]; /* why not */
    fmha_compiler compiler;    /* of a version probe that serves */
    int clang_version[3];
    char installed[1024]; /* of a version probe: the folder that clang says it is in; "" when it does not */
} probe;

static pthread_mutex_t probes_lock = PTHREAD_MUTEX_INITIALIZER;
static probe *probes;
static unsigned surveys; /* how many asked everything anew */

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

static fmha_status fail_memory(void) {
    return fmha_fail(FMHA_ERROR_MEMORY, "no memory to look for compilers");
}

/* Whether a program did not run for a reason that is this process's. */
static bool is_own(fmha_status status) {
    return status == FMHA_ERROR_MEMORY || status == FMHA_ERROR_UNSUPPORTED;
}

/* Runs the command, or recalls what it said. *words is malloc'ed or NULL. False: it did not run, and the reason. */
static bool run(probe *asked, const char *const *argv, char **words, int *exit_code, bool *recalled) {
    char *files = NULL;
    *recalled = asked->survey == 0 && fmha_memo_recall(argv, words, &files);
    if (*recalled) {
        free(asked->files);
        asked->files = files;
        *exit_code = 0;
        return true;
    }
    fmha_status status = fmha_process_run(argv, PROBE_LIMIT_SECONDS, words, exit_code);
    if (is_own(status)) {
        asked->trouble = status;
    } else if (status != FMHA_OK) {
        snprintf(asked->reason, sizeof asked->reason, "does not run: %.400s", fmha_last_error());
    }
    return status == FMHA_OK;
}

static void stands_on(probe *asked, const char *path) {
    if (!fmha_memo_add_file(&asked->files, path)) {
        asked->trouble = fail_memory();
    }
}

/* Whoever asks a compiler asks what it names as its own place. */
static void stands_on_clang(probe *asked, const char *installed) {
    char path[1100];
    if (installed[0] != '\0') {
        snprintf(path, sizeof path, "%s/clang", installed);
        stands_on(asked, path);
    }
}

/* Whether compilers for the chip are NVIDIA's. */
static bool is_cuda(const char *arch) {
    return arch != NULL && strncmp(arch, "sm_", 3) == 0;
}

/* nvcc runs these, from its own folder and from one beside it. */
static void stands_on_parts(probe *asked) {
    static const char *const parts[] = {"nvcc.profile", "ptxas", "../nvvm/bin/cicc"};
    char real[PATH_MAX], path[PATH_MAX + 32];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && realpath(asked->path, real) != NULL; i++) {
        *strrchr(real, '/') = '\0';
        snprintf(path, sizeof path, "%s/%s", real, parts[i]);
        stands_on(asked, path);
    }
}

/* Reads "Cuda compilation tools, release 13.0, V13.0.88". */
static void read_nvcc_version(probe *asked, const char *release) {
    fmha_compiler *compiler = &asked->compiler;
    char line[64];
    copy_line(line, sizeof line, release);
    snprintf(compiler->path, sizeof compiler->path, "%s", asked->path);
    snprintf(compiler->version, sizeof compiler->version, "nvcc release %s", line);
    compiler->is_nvcc = true;
    asked->serves = atoi(release) >= CUDA_MAJOR_MIN;
    if (!asked->serves) {
        snprintf(asked->reason, sizeof asked->reason, "older than CUDA %d", CUDA_MAJOR_MIN);
    }
}

/* Reads `--version`: of hipcc "HIP version: 7.0.51831-0" and its clang's lines, of clang "… clang version 22.1.8 (…)".
 */
static void read_version(probe *asked, const char *words) {
    const char *hip_number = NULL, *clang_number = NULL;
    const char *hip_line = line_with(words, "HIP version: ", &hip_number);
    const char *clang_line = line_with(words, "clang version ", &clang_number);
    int *version = asked->clang_version;
    const char *release = NULL;
    if (line_with(words, "Cuda compilation tools, release ", &release) != NULL) {
        read_nvcc_version(asked, release);
        return;
    }
    if (clang_line == NULL || sscanf(clang_number, "%d.%d.%d", &version[0], &version[1], &version[2]) < 1) {
        char line[128];
        copy_line(line, sizeof line, words);
        snprintf(asked->reason, sizeof asked->reason, "no clang: its --version says '%s'", line);
        return;
    }
    fmha_compiler *compiler = &asked->compiler;
    char clang_text[96];
    copy_line(clang_text, hip_line != NULL ? sizeof clang_text / 2 : sizeof clang_text, clang_line);
    const char *installed = NULL;
    if (line_with(words, "InstalledDir: ", &installed) != NULL) {
        copy_line(asked->installed, sizeof asked->installed, installed);
    }
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

/* clang names the files of options that it has read. */
static void stands_on_configuration(probe *asked, const char *words) {
    static const char label[] = "Configuration file: ";
    for (const char *line = strstr(words, label); line != NULL; line = strstr(line + 1, label)) {
        char path[1024];
        copy_line(path, sizeof path, line + strlen(label));
        stands_on(asked, path);
    }
}

static void keep(const probe *asked, const char *const *argv, const char *words) {
    if (asked->trouble == FMHA_OK) {
        fmha_memo_keep(argv, words != NULL ? words : "", asked->files);
    }
}

static void ask_version(probe *asked) {
    const char *argv[] = {asked->path, "--version", NULL};
    char *words;
    int exit_code;
    bool recalled;
    if (!run(asked, argv, &words, &exit_code, &recalled)) {
        return;
    }
    if (exit_code != 0) {
        char line[256];
        copy_line(line, sizeof line, words != NULL ? words : "nothing");
        snprintf(asked->reason, sizeof asked->reason, "--version ended with exit status %d and said: %s", exit_code,
                 line);
    } else {
        read_version(asked, words != NULL ? words : "");
        if (!recalled) {
            stands_on_clang(asked, asked->installed);
            stands_on_configuration(asked, words != NULL ? words : "");
            if (asked->compiler.is_nvcc) {
                stands_on_parts(asked);
            }
            keep(asked, argv, words);
        }
    }
    free(words);
}

/* Has the compiler accept an empty file for the chip, with the flags of every instance. */
static void ask_chip(probe *asked, const probe *version) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    const char *argv[FMHA_COMPILER_FLAGS_MAX + 4];
    int flag_count = fmha_compiler_flags(&version->compiler, asked->arch, 32, storage, flags);
    if (flag_count < 0) {
        snprintf(asked->reason, sizeof asked->reason, "'%s' is no target", asked->arch);
        return;
    }
    size_t count = 0;
    argv[count++] = asked->path;
    for (int i = 0; i < flag_count; i++) {
        argv[count++] = flags[i];
    }
    argv[count++] = version->compiler.is_nvcc ? "--dryrun" : "-fsyntax-only";
    argv[count++] = "/dev/null";
    argv[count] = NULL;
    char *words;
    int exit_code;
    bool recalled;
    if (!run(asked, argv, &words, &exit_code, &recalled)) {
        return;
    }
    asked->serves = exit_code == 0;
    if (!recalled) {
        stands_on_clang(asked, version->installed);
    }
    if (!recalled && asked->serves) {
        keep(asked, argv, words);
    }
    if (!asked->serves) {
        char line[256];
        copy_line(line, sizeof line, words != NULL ? words : "nothing");
        snprintf(asked->reason, sizeof asked->reason, "does not know %s; it said: %s", asked->arch, line);
    }
    free(words);
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

/* What the linker says of its version, or said. False: nothing. */
static bool linker_words(probe *asked, const char *const *argv, char **words) {
    char *files = NULL;
    int exit_code;
    *words = NULL;
    if (asked->survey == 0 && fmha_memo_recall(argv, words, &files)) {
        free(files);
        return true;
    }
    fmha_status status = fmha_process_run(argv, PROBE_LIMIT_SECONDS, words, &exit_code);
    if (is_own(status)) {
        asked->trouble = status;
    }
    if (status != FMHA_OK || *words == NULL) {
        return false;
    }
    if (exit_code == 0 && fmha_memo_add_file(&files, argv[0])) {
        fmha_memo_keep(argv, *words, files);
    }
    free(files);
    return true;
}

/* The linker was looked for beside clang, then on PATH. */
static void stands_on_search(probe *asked, const char *installed, const char *linker) {
    size_t length = strlen(installed);
    if (length > 0) {
        stands_on(asked, installed);
    }
    if (length > 0 && strncmp(linker, installed, length) == 0 && linker[length] == '/') {
        return;
    }
    char folder[1024];
    const char *rest = getenv("PATH");
    while ((rest = next_folder(rest, folder)) != NULL) {
        stands_on(asked, folder);
    }
}

/* clang hands the link to "lld". Another version's lld, found on PATH, may reject what this clang writes. */
static void ask_linker(probe *asked, const probe *version) {
    const int clang_major = version->compiler.clang_major;
    const char *where_argv[] = {asked->path, "-print-prog-name=lld", NULL};
    char *words, linker[PATH_MAX] = "lld", line[128] = "";
    int exit_code, linker_major = 0;
    bool recalled;
    if (!run(asked, where_argv, &words, &exit_code, &recalled)) {
        return;
    }
    copy_line(linker, sizeof linker, words != NULL ? words : "");
    if (!recalled) {
        stands_on_search(asked, version->installed, linker);
        if (linker[0] == '/') {
            stands_on(asked, linker);
            keep(asked, where_argv, words);
        }
    }
    free(words);
    const char *version_argv[] = {linker, "-flavor", "gnu", "--version", NULL};
    if (linker[0] == '/' && (linker_words(asked, version_argv, &words))) {
        const char *number = NULL;
        const char *found = line_with(words, "LLD ", &number);
        if (found != NULL) {
            copy_line(line, sizeof line, found);
            linker_major = atoi(number);
        }
        free(words);
    }
    asked->serves = linker_major == clang_major;
    if (!asked->serves && linker_major == 0) {
        snprintf(asked->reason, sizeof asked->reason, "its linker lld is missing; install lld-%d", clang_major);
    } else if (!asked->serves) {
        snprintf(asked->reason, sizeof asked->reason, "its linker %.200s is of another version, %s; install lld-%d",
                 linker, line, clang_major);
    }
}

/* The kept answer of this process that still holds; NULL if there is none. */
static const probe *known(const char *path, const char *question, unsigned survey) {
    uint64_t environment = fmha_memo_environment();
    for (const probe *at = probes; at != NULL; at = at->next) {
        if (strcmp(at->path, path) == 0 && strcmp(at->arch, question) == 0 && at->environment == environment &&
            at->survey >= survey) {
            return fmha_memo_holds(at->files) ? at : NULL; /* the newest comes first */
        }
    }
    return NULL;
}

static probe *new_probe(const char *path, const char *question, const probe *version, unsigned survey,
                        fmha_status *trouble) {
    probe *asked = calloc(1, sizeof *asked);
    if (asked == NULL) {
        *trouble = fail_memory();
        return NULL;
    }
    snprintf(asked->path, sizeof asked->path, "%s", path);
    snprintf(asked->arch, sizeof asked->arch, "%s", question);
    asked->survey = survey;
    asked->environment = fmha_memo_environment();
    stands_on(asked, path); /* a file that is gone fails when it is run, with a better message */
    if (question[0] == '\0') {
        ask_version(asked);
    } else if (strcmp(question, "lld") == 0) {
        ask_linker(asked, version);
    } else {
        ask_chip(asked, version);
    }
    if (asked->trouble != FMHA_OK) {
        *trouble = asked->trouble;
        free(asked->files);
        free(asked);
        return NULL;
    }
    return asked;
}

/* The kept answer, or a new one. `question` is "" (version), "lld" or a chip; the latter two need the version's probe.
 * `survey` 0: what others kept is good enough; else what was learned before that survey is not. The result lives as
 * long as the process; NULL: *trouble, whose text is the last error. */
static const probe *ask(const char *path, const char *question, const probe *version, unsigned survey,
                        fmha_status *trouble) {
    pthread_mutex_lock(&probes_lock);
    const probe *answer = known(path, question, survey);
    if (answer == NULL) {
        probe *asked = new_probe(path, question, version, survey, trouble);
        if (asked != NULL) {
            asked->next = probes;
            probes = asked;
        }
        answer = asked;
    }
    pthread_mutex_unlock(&probes_lock);
    return answer;
}

/* ---- The survey ------------------------------------------------------------------------------------------ */

typedef struct survey {
    const char *arch; /* NULL: a host compiler is looked for */
    fmha_compiler_visit visit;
    void *context;
    fmha_compiler *taken; /* the first that serves */
    bool found;
    bool every_place;    /* do not stop at the first that serves */
    unsigned number;     /* of a survey that asks everything anew; 0: of one that takes what is known */
    bool refused;        /* a set variable names one that cannot serve, so that none is taken */
    fmha_status trouble; /* of this process; its text is the last error */
} survey;

static bool is_done(const survey *s) {
    return (s->found && !s->every_place) || s->trouble != FMHA_OK;
}

/* hipcc and nvcc bring their own. */
static bool needs_linker(const fmha_compiler *compiler) {
    return !compiler->is_hipcc && !compiler->is_nvcc;
}

static void judge(survey *s, const char *place, const char *path) {
    const probe *version = ask(path, "", NULL, s->number, &s->trouble);
    const probe *refusal = version;
    if (version != NULL && version->serves && s->arch != NULL) {
        const probe *linker =
            !needs_linker(&version->compiler) ? version : ask(path, "lld", version, s->number, &s->trouble);
        const probe *chip =
            linker != NULL && linker->serves ? ask(path, s->arch, version, s->number, &s->trouble) : linker;
        refusal = chip;
    }
    if (refusal == NULL) {
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

static void judge_nvccs(survey *s) {
    char path[1024];
    judge_path(s, "nvcc on PATH", find_on_path("nvcc", path) ? path : "");
    const char *home = getenv("CUDA_HOME");
    if (is_done(s)) {
        return;
    }
    if (home == NULL || home[0] == '\0') {
        s->visit(s->context, "$CUDA_HOME/bin/nvcc", "", "CUDA_HOME is not set");
    } else if (snprintf(path, sizeof path, "%s/bin/nvcc", home) < (int)sizeof path) {
        judge_path(s, path, path);
    }
    if (!is_done(s)) {
        judge_path(s, "/usr/local/cuda/bin/nvcc", "/usr/local/cuda/bin/nvcc");
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
        s->trouble = fail_memory();
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
    for (size_t i = 0; i < clangs->count && s->trouble == FMHA_OK; i++) {
        versions[count] = ask(clangs->at[i].path, "", NULL, s->number, &s->trouble);
        count += versions[count] != NULL;
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

/* The variable that decides alone. */
static const char *variable_of(const char *arch) {
    return arch == NULL ? "FMHA_HOST_CXX" : is_cuda(arch) ? "FMHA_NVCC" : "FMHA_HIPCC";
}

/* True when a set variable decides alone. */
static bool run_survey(survey *s) {
    const char *variable = variable_of(s->arch);
    char place[32];
    snprintf(place, sizeof place, "$%s", variable);
    bool decided = judge_variable(s, variable, place);
    s->refused = decided && !s->found;
    if (is_done(s) || (decided && !s->every_place)) {
        return decided;
    }
    if (is_cuda(s->arch)) {
        judge_nvccs(s);
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

static fmha_status find(survey *s, const char *wanted, const char *cure) {
    const char *variable = variable_of(s->arch);
    account *places = calloc(1, sizeof *places);
    if (places == NULL) {
        return fail_memory();
    }
    s->visit = account_add;
    s->context = places;
    bool decided = run_survey(s);
    fmha_status status = s->trouble;
    if (status != FMHA_OK) {
        free(places);
        return status;
    }
    if (!s->found && decided) {
        status = fmha_fail(FMHA_ERROR_NO_COMPILER, "$%s cannot serve: expected %s; looked at%s\nunset %s or let it %s",
                           variable, wanted, places->text, variable, "name such a compiler");
    } else if (!s->found) {
        status = fmha_fail(FMHA_ERROR_NO_COMPILER, "no compiler: expected %s; looked at%s\n%s, or set %s to its path",
                           wanted, places->text, cure, variable);
    }
    free(places);
    return status;
}

fmha_status fmha_compiler_find(const char *arch, fmha_compiler *compiler) {
    if (arch == NULL || compiler == NULL || strlen(arch) >= sizeof probes->arch) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_compiler_find: expected a target of up to %zu letters and a "
                         "place for the result",
                         sizeof probes->arch - 1);
    }
    char wanted[160];
    snprintf(wanted, sizeof wanted, "hipcc of ROCm %d or later, or clang++ %d or later with its lld, that knows %s",
             HIP_MAJOR_MIN, CLANG_MAJOR_MIN, arch);
    if (is_cuda(arch)) {
        snprintf(wanted, sizeof wanted, "nvcc of CUDA %d or later that knows %s", CUDA_MAJOR_MIN, arch);
    }
    survey s = {.arch = arch, .taken = compiler};
    return find(&s, wanted, is_cuda(arch) ? "install the CUDA toolkit" : "install one of them");
}

fmha_status fmha_compiler_find_host(fmha_compiler *compiler) {
    if (compiler == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_compiler_find_host: expected a place for the result, got NULL");
    }
    char wanted[80];
    snprintf(wanted, sizeof wanted, "clang++ %d or later for this machine", CLANG_MAJOR_MIN);
    survey s = {.taken = compiler};
    return find(&s, wanted, "install one");
}

void fmha_compiler_list(const char *arch, fmha_compiler_visit visit, void *context) {
    fmha_compiler taken;
    pthread_mutex_lock(&probes_lock);
    unsigned number = ++surveys;
    pthread_mutex_unlock(&probes_lock);
    survey s = {
        .arch = arch, .visit = visit, .context = context, .taken = &taken, .every_place = true, .number = number};
    run_survey(&s);
    if (s.trouble != FMHA_OK) {
        visit(context, "the search", "", fmha_last_error());
    }
}

/* The flags and the variables that steer the compiler, one a line. */
static fmha_status print_settings(fmha_lines *lines, const fmha_compiler *compiler, const char *arch, int wave) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int count = arch != NULL ? fmha_compiler_flags(compiler, arch, wave, storage, flags) : 0;
    if (count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, FMHA_COMPILER_NO_TARGET, compiler->path, arch);
    }
    for (int i = 0; i < count; i++) {
        fmha_lines_add(lines, "flag %s\n", flags[i]);
    }
    for (const char *const *variable = fmha_memo_variables; *variable != NULL; variable++) {
        const char *value = getenv(*variable);
        if (value != NULL && value[0] != '\0') {
            fmha_lines_add(lines, "variable %s=%s\n", *variable, value);
        }
    }
    return FMHA_OK;
}

fmha_status fmha_compiler_identity(const fmha_compiler *compiler, const char *arch, int wave, char **text) {
    *text = NULL;
    fmha_status trouble = FMHA_OK;
    const probe *version = ask(compiler->path, "", NULL, 0, &trouble);
    const probe *linker = version;
    if (version != NULL && arch != NULL && needs_linker(compiler)) {
        linker = ask(compiler->path, "lld", version, 0, &trouble);
    }
    if (linker == NULL) {
        return trouble;
    }
    fmha_lines lines = {0};
    fmha_lines_add(&lines, "compiler %s\nversion %s\n", compiler->path, compiler->version);
    fmha_memo_print(&lines, version->files);
    if (linker != version) {
        fmha_memo_print(&lines, linker->files);
    }
    fmha_status status = print_settings(&lines, compiler, arch, wave);
    char *taken = fmha_lines_take(&lines);
    if (status == FMHA_OK && taken == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for what identifies it", compiler->path);
    }
    if (status != FMHA_OK) {
        free(taken);
        return status;
    }
    *text = taken;
    return FMHA_OK;
}
