/* How instances are compiled. The compilers are found in compiler_find.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "driver.h"
#include "file.h"
#include "image.h"

#define COMPILE_SECONDS_MAX 86400
#define WORDS_BYTES         12000 /* of a compiler's complaint, in an error */

/* One table for plain clang and for hipcc: no header, no device library, a bare code object that depends on the text
 * alone (the unit's identifier would be a hash of its path). Contraction of floating-point expressions is switched off
 * in the text itself. */
static const char *const common_flags[] = {
    "-x",  "hip",        "-nogpuinc",      "-nogpulib", "--offload-device-only", "--no-gpu-bundle-output",
    "-O3", "-std=c++17", "-fuse-cuid=none"};

/* The same for nvcc. A text says itself where it multiplies and adds in one step, and nvcc knows no other way to be
 * told. */
static const char *const cuda_flags[] = {"-x", "cu", "-cubin", "-O3", "-std=c++17", "--fmad=false"};

/* The chip's generation, 11 for gfx1151 and for gfx11-generic; 0 for what is no gfx target. */
static int generation(const char *arch) {
    if (strncmp(arch, "gfx", 3) != 0) {
        return 0;
    }
    const char *digits = arch + 3;
    size_t length = strspn(digits, "0123456789abcdef");
    size_t count = digits[length] == '-' ? length : length > 2 ? length - 2 : 0; /* without the stepping */
    int number = 0;
    for (size_t i = 0; i < count && i < 4; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return 0;
        }
        number = number * 10 + (digits[i] - '0');
    }
    return number;
}

/* Of sm_90 with the instructions that no other chip has, which a target of its own stands for. */
static int nvcc_flags(const fmha_compiler *compiler, const char *arch, char storage[256],
                      const char *flags[FMHA_COMPILER_FLAGS_MAX]) {
    size_t digits = strspn(arch + 3, "0123456789"), suffix = strspn(arch + 3 + digits, "af");
    if (digits < 2 || suffix > 1 || arch[3 + digits + suffix] != '\0' ||
        snprintf(storage, 256, "-arch=%s%s", arch, strcmp(arch, "sm_90") == 0 ? "a" : "") >= 256) {
        return -1;
    }
    int count = 0;
    for (size_t i = 0; i < sizeof cuda_flags / sizeof cuda_flags[0]; i++) {
        flags[count++] = cuda_flags[i];
    }
    flags[count++] = storage;
    if (compiler != NULL && compiler->lines) {
        flags[count++] = "-lineinfo";
    }
    flags[count] = NULL;
    return count;
}

int fmha_compiler_flags(const fmha_compiler *compiler, const char *arch, int wave, char storage[256],
                        const char *flags[FMHA_COMPILER_FLAGS_MAX]) {
    if (arch != NULL && strncmp(arch, "sm_", 3) == 0) {
        return nvcc_flags(compiler, arch, storage, flags);
    }
    int chip = arch != NULL ? generation(arch) : 0;
    if (chip == 0 || snprintf(storage, 256, "--offload-arch=%s", arch) >= 256) {
        return -1;
    }
    int count = 0;
    for (size_t i = 0; i < sizeof common_flags / sizeof common_flags[0]; i++) {
        flags[count++] = common_flags[i];
    }
    /* Version 5 loads under every ROCm that these kernels serve; generic targets exist from version 6 on. */
    flags[count++] = strstr(arch, "-generic") == NULL ? "-mcode-object-version=5" : "-mcode-object-version=6";
    flags[count++] = storage;
    if (wave == 64 && chip >= 10) {
        flags[count++] = "-mwavefrontsize64";
    }
    if (compiler != NULL && compiler->lines) {
        flags[count++] = "-gline-tables-only"; /* leaves the code as it is */
    }
    flags[count] = NULL;
    return count;
}

fmha_status fmha_compile_limit(int *seconds) {
    *seconds = FMHA_COMPILE_SECONDS_DEFAULT;
    const char *text = getenv("FMHA_COMPILE_SECONDS");
    if (text == NULL || text[0] == '\0') {
        return FMHA_OK;
    }
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 || value > COMPILE_SECONDS_MAX) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "FMHA_COMPILE_SECONDS: expected a whole number from 1 to %d, got '%s': correct or unset it",
                         COMPILE_SECONDS_MAX, text);
    }
    *seconds = (int)value;
    return FMHA_OK;
}

/* Runs the compiler; `object_path` may be left behind, empty or partial, on failure. */
static fmha_status run_compiler(const fmha_compiler *compiler, const char *arch, int wave, const char *source_path,
                                const char *object_path) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    const char *argv[FMHA_COMPILER_FLAGS_MAX + 6];
    int limit_seconds, flag_count = fmha_compiler_flags(compiler, arch, wave, storage, flags);
    if (flag_count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, FMHA_COMPILER_NO_TARGET, source_path, arch);
    }
    size_t count = 0;
    argv[count++] = compiler->path;
    for (int i = 0; i < flag_count; i++) {
        argv[count++] = flags[i];
    }
    argv[count++] = source_path;
    argv[count++] = "-o";
    argv[count++] = object_path;
    argv[count] = NULL;
    char *words;
    int exit_code;
    fmha_status status = fmha_compile_limit(&limit_seconds);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_process_run(argv, limit_seconds, &words, &exit_code);
    if (status == FMHA_OK && exit_code != 0) {
        status = fmha_fail(FMHA_ERROR_COMPILE, "%s: %s (%s) could not compile it for %s, exit status %d:\n%.*s",
                           source_path, compiler->path, compiler->version, arch, exit_code, WORDS_BYTES,
                           words != NULL ? words : "it said nothing");
    }
    free(words);
    return status;
}

/* A compiler that exits with 0 may still have written a bundle or nothing. */
static fmha_status check_object(const fmha_compiler *compiler, const char *arch, const char *object_path) {
    void *image;
    size_t image_bytes;
    char target[FMHA_TARGET_BYTES];
    fmha_status status = fmha_file_read(object_path, &image, &image_bytes);
    if (status == FMHA_OK) {
        status = fmha_image_target("its output", image, image_bytes, target);
        free(image);
    }
    if (status != FMHA_OK) {
        return fmha_fail(FMHA_ERROR_COMPILE, "%s (%s) ended well but %s", compiler->path, compiler->version,
                         fmha_last_error());
    }
    if (!fmha_image_fits(target, arch)) {
        return fmha_fail(FMHA_ERROR_COMPILE, "%s (%s) ended well but its output is for %s, expected %s", compiler->path,
                         compiler->version, target, arch);
    }
    return FMHA_OK;
}

fmha_status fmha_compiler_compile(const fmha_compiler *compiler, const char *arch, int wave, const char *source_path,
                                  const char *object_path) {
    if (compiler == NULL || arch == NULL || source_path == NULL || object_path == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_compiler_compile: expected a compiler, an arch and two paths, got "
                                              "NULL");
    }
    if (wave != 32 && wave != 64) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected a wave of 32 or 64 lanes, got %d", source_path, wave);
    }
    size_t room = strlen(object_path) + sizeof ".XXXXXX";
    char *temporary = malloc(room);
    if (temporary == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its name", object_path);
    }
    snprintf(temporary, room, "%s.XXXXXX", object_path);
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        fmha_status status = fmha_fail(FMHA_ERROR_IO,
                                       "%s: cannot be written: %s; choose a folder that exists and is "
                                       "writable",
                                       object_path, strerror(errno));
        free(temporary);
        return status;
    }
    close(file);
    fmha_status status = run_compiler(compiler, arch, wave, source_path, temporary);
    if (status == FMHA_OK) {
        status = check_object(compiler, arch, temporary);
    }
    if (status == FMHA_OK) {
        status = fmha_file_publish(temporary, object_path);
    } else {
        unlink(temporary);
    }
    free(temporary);
    return status;
}

/* The file name that diagnostics show: the last part of the source's path, or NULL where that names no file. */
static const char *base_name(const char *path) {
    const char *slash = path != NULL ? strrchr(path, '/') : NULL, *name = slash != NULL ? slash + 1 : path;
    bool folder = name != NULL && name[strspn(name, ".")] == '\0';
    return folder ? NULL : name;
}

fmha_status fmha_compiler_compile_source(const fmha_compiler *compiler, const char *arch, const fmha_source *source,
                                         void **image, size_t *image_bytes) {
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0') {
        parent = "/tmp";
    }
    char folder[1024], source_path[1400], object_path[1100];
    if (snprintf(folder, sizeof folder, "%s/fmha-XXXXXX", parent) >= (int)sizeof folder) {
        return fmha_fail(FMHA_ERROR_IO, "%s: its name is too long for a temporary folder; set TMPDIR", parent);
    }
    if (mkdtemp(folder) == NULL) {
        return fmha_fail(FMHA_ERROR_IO, "%s: no folder can be made in it: %s; set TMPDIR to a writable folder", parent,
                         strerror(errno));
    }
    const char *name = base_name(source->path);
    if (name != NULL) {
        snprintf(source_path, sizeof source_path, "%s/%.255s", folder, name);
    } else {
        snprintf(source_path, sizeof source_path, "%s/%.250s.hip", folder, source->symbol);
    }
    snprintf(object_path, sizeof object_path, "%s/object", folder);
    fmha_status status = fmha_file_write(source_path, source->text, strlen(source->text));
    if (status == FMHA_OK) {
        status = fmha_compiler_compile(compiler, arch, source->wave, source_path, object_path);
    }
    if (status == FMHA_OK) {
        status = fmha_file_read(object_path, image, image_bytes);
    }
    unlink(source_path);
    unlink(object_path);
    rmdir(folder);
    return status;
}
