/* The compilers on this machine: found in one documented order, run as child processes with a time limit.
 * Used by libfmha when it compiles on first use and by fmhagen. Paths with spaces work: no shell is involved. */
#ifndef FMHA_COMPILER_H
#define FMHA_COMPILER_H

#include <stdbool.h>

#include "fmha.h"

typedef struct fmha_compiler {
    char path[1024];   /* the executable */
    char version[128]; /* "Debian clang version 22.1.8 (1~deb12u1)"; of a hipcc "HIP version: 7.0.51831, clang
                          version 21.1.8"; of an nvcc "nvcc release 13.0, V13.0.88" */
    int clang_major;   /* 22; 0 of an nvcc */
    bool is_hipcc;     /* a ROCm driver, which is asked for --offload-device-only and no device library */
    bool is_nvcc;
    bool lines; /* code objects shall carry the lines of their source; false unless the caller sets it */
} fmha_compiler;

/* The first of $FMHA_HIPCC, hipcc on PATH, $ROCM_PATH/bin/hipcc, /opt/rocm/bin/hipcc, clang++ of the highest version
 * (clang++-N on PATH, /usr/lib/llvm-N/bin, clang++) that is at least ROCm 6 or clang 19 and knows `arch`. On failure
 * the message lists each place, what was there and why it was not taken. A set $FMHA_HIPCC that cannot serve is an
 * error of its own. For a chip of NVIDIA's: $FMHA_NVCC, nvcc on PATH, $CUDA_HOME/bin/nvcc, /usr/local/cuda/bin/nvcc,
 * from CUDA 12 on. */
fmha_status fmha_compiler_find(const char *arch, fmha_compiler *compiler);

/* As above for the host: clang++ 19 and later of the highest version; $FMHA_HOST_CXX comes first. */
fmha_status fmha_compiler_find_host(fmha_compiler *compiler);

/* What decides, beside the text, what the compiler makes of it: itself with its version and files, the flags for `arch`
 * and `wave` (arch NULL: none), variables of the environment. Lines of "name value", malloc'ed; the caller frees it. */
fmha_status fmha_compiler_identity(const fmha_compiler *compiler, const char *arch, int wave, char **text);

/* One line per place that was looked at, for `fmhagen doctor`: calls back with place, what was found ("" for nothing)
 * and the verdict ("taken", "would serve", or why not). Every compiler is asked anew. arch NULL: the places of host
 * compilers. */
typedef void (*fmha_compiler_visit)(void *context, const char *place, const char *found, const char *verdict);
void fmha_compiler_list(const char *arch, fmha_compiler_visit visit, void *context);

/* What every instance is compiled with, NULL-terminated; `wave` 64 adds -mwavefrontsize64 on chips of wave 32.
 * arch with its feature suffixes. The array points into static and `storage` memory. Returns the number of flags, -1
 * for an arch that is no target; FMHA_COMPILER_NO_TARGET is the text for that, of who needed one and the arch. */
#define FMHA_COMPILER_NO_TARGET "%s: expected a target such as gfx1151 or sm_90, got '%s'"
#define FMHA_COMPILER_FLAGS_MAX 32
int fmha_compiler_flags(const fmha_compiler *compiler, const char *arch, int wave, char storage[256],
                        const char *flags[FMHA_COMPILER_FLAGS_MAX]);

/* How long a compiler may take: $FMHA_COMPILE_SECONDS, 1 to 86400, else the default. FMHA_ERROR_ARGUMENT for anything
 * else. */
#define FMHA_COMPILE_SECONDS_DEFAULT 600
fmha_status fmha_compile_limit(int *seconds);

/* Runs a program to its end: argv NULL-terminated, argv[0] its path. *output (malloc'ed, may be NULL when nothing was
 * said) receives stdout and stderr together. Killed, with all its children, after `limit_seconds`, which is an
 * FMHA_ERROR_COMPILE that says so. FMHA_ERROR_MEMORY: this process has no room for another, for now, or the
 * program was killed; FMHA_ERROR_UNSUPPORTED: it ignores how its children end. *exit_code receives the exit status, 128
 * + N when signal N ended the program. Of the output the first MiB is kept. Safe with threads. */
fmha_status fmha_process_run(const char *const *argv, int limit_seconds, char **output, int *exit_code);

/* Compiles the text in `source_path` into the bare code object `object_path`, which is written whole or not at all
 * and left untouched when its bytes are the same. The error holds the compiler's words. */
fmha_status fmha_compiler_compile(const fmha_compiler *compiler, const char *arch, int wave, const char *source_path,
                                  const char *object_path);

/* Compiles text in memory, by way of a folder in $TMPDIR (else /tmp) that is gone afterwards. *image is malloc'ed; the
 * caller frees it. */
fmha_status fmha_compiler_compile_source(const fmha_compiler *compiler, const char *arch, const fmha_source *source,
                                         void **image, size_t *image_bytes);

#endif
