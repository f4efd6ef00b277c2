#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler_memo.h"
#include "driver.h"
#include "image.h"
#include "rtc.h"

#define LOG_BYTES 12000 /* of the compiler's words, in an error */

void *fmha_rtc_try(const rtc_kind *kind, void *library, rtc_functions *call) {
    if (library != NULL && fmha_library_bind(library, kind->names, RTC_FUNCTION_COUNT, call) == NULL) {
        return library;
    }
    fmha_library_close(library);
    return NULL;
}

static fmha_status open_chosen(rtc_api *rtc, const char *path, library_search *search, bool *found) {
    const rtc_kind *kind = rtc->kind;
    rtc->library = fmha_library_open(search, path);
    if (rtc->library == NULL) {
        return fmha_fail(FMHA_ERROR_NO_COMPILER,
                         "$%s cannot serve: expected %s, looked at%s\n"
                         "unset %s or let it name %s",
                         kind->variable, kind->word, search->places, kind->variable, kind->file);
    }
    const char *missing = fmha_library_bind(rtc->library, kind->names, RTC_FUNCTION_COUNT, &rtc->call);
    if (missing != NULL) {
        fmha_status status =
            fmha_fail(FMHA_ERROR_NO_COMPILER,
                      "$%s cannot serve: expected %s, got %s "
                      "without the function %s\n"
                      "unset %s or let it name %s",
                      kind->variable, kind->word, fmha_library_path(rtc->library), missing, kind->variable, kind->file);
        fmha_rtc_close(rtc);
        return status;
    }
    *found = true;
    return FMHA_OK;
}

fmha_status fmha_rtc_open(rtc_api *rtc, const rtc_kind *kind, void *runtime_library, int runtime_major, bool *found) {
    *rtc = (rtc_api){.kind = kind};
    *found = false;
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory to look for %s", kind->driver, kind->word);
    }
    fmha_status status = FMHA_OK;
    const char *chosen = getenv(kind->variable);
    if (chosen != NULL && chosen[0] != '\0') {
        status = open_chosen(rtc, chosen, search, found);
    } else if (runtime_major >= kind->major_min) {
        rtc->library = kind->find(kind, search, runtime_major, &rtc->call);
        *found = rtc->library != NULL ||
                 (runtime_library != NULL &&
                  fmha_library_bind(runtime_library, kind->names, RTC_FUNCTION_COUNT, &rtc->call) == NULL);
    }
    free(search);
    return status;
}

void fmha_rtc_close(rtc_api *rtc) {
    fmha_library_close(rtc->library);
    rtc->library = NULL;
}

static fmha_status fail(const rtc_api *rtc, const char *name, size_t function, int result) {
    const char *meaning = rtc->call.get_error_string(result);
    return fmha_fail(FMHA_ERROR_COMPILE, "%s: %s failed in %s: %s (%d)", name, rtc->kind->word,
                     rtc->kind->names[function], meaning != NULL ? meaning : "unknown result", result);
}

static fmha_status fail_with_log(const rtc_api *rtc, void *program, const char *name, const char *arch, int result) {
    size_t bytes = 0;
    char *log = NULL;
    if (rtc->call.get_log_size(program, &bytes) == 0 && bytes > 0 && (log = calloc(1, bytes + 1)) != NULL &&
        rtc->call.get_log(program, log) != 0) {
        log[0] = '\0';
    }
    const char *meaning = rtc->call.get_error_string(result);
    fmha_status status = fmha_fail(FMHA_ERROR_COMPILE, "%s: %s could not compile it for %s, %s (%d):\n%.*s", name,
                                   rtc->kind->word, arch, meaning != NULL ? meaning : "unknown result", result,
                                   LOG_BYTES, log != NULL && log[0] != '\0' ? log : "it said nothing");
    free(log);
    return status;
}

static fmha_status take_code(const rtc_api *rtc, void *program, const char *name, const char *arch, void **image,
                             size_t *image_bytes) {
    size_t bytes = 0;
    int result = rtc->call.get_code_size(program, &bytes);
    if (result != 0 || bytes == 0) {
        return fail(rtc, name, RTC_FUNCTION(get_code_size), result);
    }
    char *code = malloc(bytes);
    if (code == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no host memory for its code object of %zu bytes", name, bytes);
    }
    result = rtc->call.get_code(program, code);
    char target[FMHA_TARGET_BYTES];
    fmha_status status = FMHA_OK;
    if (result != 0) {
        status = fail(rtc, name, RTC_FUNCTION(get_code), result);
    } else if (fmha_image_target("its output", code, bytes, target) != FMHA_OK) {
        status = fmha_fail(FMHA_ERROR_COMPILE, "%s: %s ended well but %s", name, rtc->kind->word, fmha_last_error());
    } else if (!fmha_image_fits(target, arch)) {
        status = fmha_fail(FMHA_ERROR_COMPILE, "%s: %s ended well but its output is for %s, expected %s", name,
                           rtc->kind->word, target, arch);
    }
    if (status != FMHA_OK) {
        free(code);
        return status;
    }
    *image = code;
    *image_bytes = bytes;
    return FMHA_OK;
}

/* The flags of every instance, less those that only a compiler driver understands. */
static int options_for(const rtc_kind *kind, const char *arch, int wave, char storage[256],
                       const char *options[FMHA_COMPILER_FLAGS_MAX]) {
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int flag_count = fmha_compiler_flags(NULL, arch, wave, storage, flags), count = 0;
    for (int i = 0; i < flag_count; i++) {
        bool keep = true;
        for (const char *const *word = kind->driver_only; *word != NULL; word++) {
            keep = keep && strcmp(flags[i], *word) != 0;
        }
        if (keep) {
            options[count++] = flags[i];
        }
    }
    return flag_count < 0 ? -1 : count;
}

fmha_status fmha_rtc_compile(const rtc_api *rtc, const char *arch, const fmha_source *source, void **image,
                             size_t *image_bytes) {
    char storage[256], name[300];
    const char *options[FMHA_COMPILER_FLAGS_MAX];
    if (source->path != NULL) {
        snprintf(name, sizeof name, "%s", source->path);
    } else {
        snprintf(name, sizeof name, "%.250s.hip", source->symbol);
    }
    int option_count = options_for(rtc->kind, arch, source->wave, storage, options);
    if (option_count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, FMHA_COMPILER_NO_TARGET, name, arch);
    }
    void *program = NULL;
    int result = rtc->call.create_program(&program, source->text, name, 0, NULL, NULL);
    if (result != 0) {
        return fail(rtc, name, RTC_FUNCTION(create_program), result);
    }
    result = rtc->call.compile_program(program, option_count, options);
    fmha_status status = result != 0 ? fail_with_log(rtc, program, name, arch, result)
                                     : take_code(rtc, program, name, arch, image, image_bytes);
    rtc->call.destroy_program(&program);
    return status;
}

/* The state of the library's file, and of those in the same folder that it compiles with. */
static bool add_files(const rtc_api *rtc, char **files) {
    void *function;
    memcpy(&function, &rtc->call.compile_program, sizeof function);
    Dl_info information;
    char real[PATH_MAX], path[PATH_MAX + 64];
    if (dladdr(function, &information) == 0 || realpath(information.dli_fname, real) == NULL) {
        return true; /* its version must do */
    }
    bool done = fmha_memo_add_file(files, real);
    *strrchr(real, '/') = '\0';
    for (const char *const *beside = rtc->kind->beside; done && *beside != NULL; beside++) {
        snprintf(path, sizeof path, "%s/%s", real, *beside);
        done = fmha_memo_add_file(files, path);
    }
    return done;
}

static fmha_status print_identity(const rtc_api *rtc, const char *arch, int wave, const char *files,
                                  fmha_lines *lines) {
    char storage[256];
    const char *options[FMHA_COMPILER_FLAGS_MAX];
    int major = 0, minor = 0, result = rtc->call.version(&major, &minor);
    int count = options_for(rtc->kind, arch, wave, storage, options);
    if (result != 0) {
        return fail(rtc, arch, RTC_FUNCTION(version), result);
    }
    if (count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, FMHA_COMPILER_NO_TARGET, rtc->kind->word, arch);
    }
    fmha_lines_add(lines, "compiler %s\nversion %d.%d\n", rtc->kind->word, major, minor);
    fmha_memo_print(lines, files);
    for (int i = 0; i < count; i++) {
        fmha_lines_add(lines, "flag %s\n", options[i]);
    }
    return FMHA_OK;
}

fmha_status fmha_rtc_identity(const rtc_api *rtc, const char *arch, int wave, char **text) {
    char *files = NULL;
    fmha_lines lines = {0};
    *text = NULL;
    bool enough = add_files(rtc, &files);
    fmha_status status = print_identity(rtc, arch, wave, files != NULL ? files : "", &lines);
    free(files);
    char *taken = fmha_lines_take(&lines);
    if (status == FMHA_OK && (!enough || taken == NULL)) {
        status = fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for what identifies it", rtc->kind->word);
    }
    if (status != FMHA_OK) {
        free(taken);
        return status;
    }
    *text = taken;
    return FMHA_OK;
}
