#include "disassemble.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"

enum { LIMIT_SECONDS = 60, NEWEST = 99, OLDEST = 14 };

struct job {
    const char *symbol;
    char folder[PATH_MAX / 2], object[PATH_MAX], listing[PATH_MAX];
    struct text *out;
    int tried;
    char refusal[512]; /* of the last one tried */
};

/* The listing can be longer than the output that fmha_process_run keeps, so it goes to a file; names are arguments,
 * never part of the shell's text. */
static bool run_tool(struct job *job, const char *tool) {
    const char *argv[] = {
        "/bin/sh",   "-c", "exec >\"$1\"; shift; exec \"$@\"", "sh", job->listing, tool, "-d", "--symbolize-operands",
        job->object, NULL};
    char heading[300];
    snprintf(heading, sizeof heading, "<%s>:", job->symbol);
    char *words = NULL, *listing = NULL;
    size_t length = 0;
    int exit_code = 0;
    struct error error;
    job->tried++;
    bool good = fmha_process_run(argv, LIMIT_SECONDS, &words, &exit_code) == FMHA_OK;
    if (!good) {
        snprintf(job->refusal, sizeof job->refusal, "%.200s: %.300s", tool, fmha_last_error());
    } else if (exit_code != 0 || !file_read(job->listing, &listing, &length, &error) ||
               strstr(listing, heading) == NULL) {
        int first_line = words != NULL ? (int)strcspn(words, "\n") : 0;
        snprintf(job->refusal, sizeof job->refusal, "%.200s: exit status %d: %.*s", tool, exit_code,
                 first_line < 280 ? first_line : 280, words != NULL ? words : "");
        good = false;
    } else {
        text_add(job->out, listing, length);
    }
    free(words);
    free(listing);
    return good;
}

static bool try_tool(struct job *job, const char *folder, const char *name) {
    char path[PATH_MAX];
    struct stat file;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &file) == 0 &&
           S_ISREG(file.st_mode) && access(path, X_OK) == 0 && run_tool(job, path);
}

/* /usr/bin/clang++-22 is a link to where its llvm-objdump is; hipcc's is a folder further. */
static bool try_beside(struct job *job, const char *compiler_path) {
    char folder[PATH_MAX];
    char *slash = compiler_path != NULL && realpath(compiler_path, folder) != NULL ? strrchr(folder, '/') : NULL;
    if (slash == NULL) {
        return false;
    }
    *slash = 0;
    return try_tool(job, folder, "llvm-objdump") || try_tool(job, folder, "../llvm/bin/llvm-objdump");
}

static bool try_path(struct job *job, const char *name) {
    const char *path = getenv("PATH");
    while (path != NULL && *path != 0) {
        char folder[PATH_MAX];
        size_t length = strcspn(path, ":");
        if (length > 0 && length < sizeof folder) {
            memcpy(folder, path, length);
            folder[length] = 0;
            if (try_tool(job, folder, name)) {
                return true;
            }
        }
        path += length + (path[length] == ':');
    }
    return false;
}

static bool try_all(struct job *job, const char *compiler_path) {
    const char *rocm = getenv("ROCM_PATH");
    if (try_beside(job, compiler_path) || (rocm != NULL && try_tool(job, rocm, "llvm/bin/llvm-objdump")) ||
        try_tool(job, "/opt/rocm/llvm/bin", "llvm-objdump")) {
        return true;
    }
    for (int version = NEWEST; version >= OLDEST; version--) {
        char name[32], folder[48];
        snprintf(name, sizeof name, "llvm-objdump-%d", version);
        snprintf(folder, sizeof folder, "/usr/lib/llvm-%d/bin", version);
        if (try_path(job, name) || try_tool(job, folder, "llvm-objdump")) {
            return true;
        }
    }
    return try_path(job, "llvm-objdump");
}

bool disassemble(const void *object, size_t length, const char *symbol, const char *compiler_path, struct text *out,
                 struct error *error) {
    struct job job = {.symbol = symbol, .out = out};
    const char *parent = getenv("TMPDIR");
    parent = parent != NULL && *parent != 0 ? parent : "/tmp";
    if (snprintf(job.folder, sizeof job.folder, "%s/fmhagen-XXXXXX", parent) >= (int)sizeof job.folder ||
        mkdtemp(job.folder) == NULL) {
        return error_set(error, ERROR_RUN, "%s: no folder can be made in it: %s; set TMPDIR to a writable folder",
                         parent, strerror(errno));
    }
    snprintf(job.object, sizeof job.object, "%s/object", job.folder);
    snprintf(job.listing, sizeof job.listing, "%s/listing", job.folder);
    bool written = file_write(job.object, object, length, error);
    bool good = written && try_all(&job, compiler_path);
    if (written && !good && job.tried == 0) {
        error_set(error, ERROR_RUN,
                  "disassembly: expected llvm-objdump beside the compiler, in $ROCM_PATH/llvm/bin or "
                  "/opt/rocm/llvm/bin, or as llvm-objdump-N on PATH or in /usr/lib/llvm-N/bin, found none; install "
                  "LLVM's tools (Debian: apt install llvm-22)");
    } else if (written && !good) {
        error_set(error, ERROR_RUN,
                  "disassembly: expected an llvm-objdump that knows the chip and lists %s, none of %d does; the last "
                  "said: %s; install that of the compiler's version",
                  symbol, job.tried, job.refusal);
    }
    unlink(job.object);
    unlink(job.listing);
    rmdir(job.folder);
    if (good && out->failed) {
        return error_set(error, ERROR_RUN, "disassembly: out of memory; report on one kernel alone");
    }
    return good;
}
