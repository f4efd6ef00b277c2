#include "compiled.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler.h"
#include "text.h"

const char *sample_path(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", SAMPLE_DIR, name);
    return path;
}

char *read_sample(const char *name, size_t *length) {
    char *bytes;
    struct error error;
    cr_assert(file_read(sample_path(name), &bytes, length, &error), "%s", error.text);
    return bytes;
}

static struct compiled run(const fmha_compiler *compiler, const char *const *flags, const char *const *extra,
                           const char *path) {
    struct compiled compiled = {0};
    char folder[] = "/tmp/fmhagen-test-XXXXXX", object[64];
    const char *argv[FMHA_COMPILER_FLAGS_MAX + 16] = {compiler->path};
    int exit_code = 0, count = 1;
    struct error error;
    cr_assert_not_null(mkdtemp(folder));
    snprintf(object, sizeof object, "%s/object", folder);
    for (int i = 0; flags[i] != NULL; i++) {
        argv[count++] = flags[i];
    }
    for (int i = 0; extra != NULL && extra[i] != NULL; i++) {
        argv[count++] = extra[i];
    }
    argv[count++] = path;
    argv[count++] = "-o";
    argv[count++] = object;
    argv[count] = NULL;
    cr_assert_eq(fmha_process_run(argv, 60, &compiled.words, &exit_code), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(exit_code, 0, "%s", compiled.words);
    cr_assert(file_read(object, &compiled.bytes, &compiled.length, &error), "%s", error.text);
    unlink(object);
    rmdir(folder);
    return compiled;
}

static fmha_compiler find(const char *arch) {
    fmha_compiler compiler;
    if (fmha_compiler_find(arch, &compiler) != FMHA_OK) {
        cr_skip_test("no compiler for %s: %s", arch, fmha_last_error());
    }
    return compiler;
}

struct compiled compile_file(const char *path, const char *arch, int wave, const char *const *extra) {
    fmha_compiler compiler = find(arch);
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    cr_assert_gt(fmha_compiler_flags(&compiler, arch, wave, storage, flags), 0);
    return run(&compiler, flags, extra, path);
}

struct compiled assemble_file(const char *path, const char *arch, const char *const *flags) {
    fmha_compiler compiler = find(arch);
    return run(&compiler, flags, NULL, path);
}

struct compiled compile_text(const char *text, const char *arch, int wave, const char *const *extra) {
    char path[] = "/tmp/fmhagen-test-XXXXXX.hip";
    int descriptor = mkstemps(path, 4);
    cr_assert(descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
    struct compiled compiled = compile_file(path, arch, wave, extra);
    unlink(path);
    return compiled;
}

void compiled_free(struct compiled *compiled) {
    free(compiled->bytes);
    free(compiled->words);
    memset(compiled, 0, sizeof *compiled);
}

struct guarded guarded_copy(const void *bytes, size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (length + page - 1) / page * page;
    struct guarded guarded = {.mapped = used + page};
    guarded.base = mmap(NULL, guarded.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(guarded.base, MAP_FAILED);
    cr_assert_eq(mprotect((char *)guarded.base + used, page, PROT_NONE), 0);
    guarded.bytes = (char *)guarded.base + used - length;
    if (length > 0) {
        memcpy(guarded.bytes, bytes, length);
    }
    return guarded;
}

void guarded_free(struct guarded *guarded) {
    munmap(guarded->base, guarded->mapped);
}

unsigned next_random(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
