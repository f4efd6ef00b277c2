#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "compiler_memo.h"
#include "driver.h"
#include "hiprtc.h"
#include "image.h"
#include "library.h"

#define HIP_MAJOR_MIN 6
#define LOG_BYTES     12000 /* of hipRTC's words, in an error */

#define MEMBER(member, symbol)                                                                                         \
    { symbol, offsetof(hiprtc_api, member) }

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    MEMBER(create_program, "hiprtcCreateProgram"),
    MEMBER(destroy_program, "hiprtcDestroyProgram"),
    MEMBER(compile_program, "hiprtcCompileProgram"),
    MEMBER(get_log_size, "hiprtcGetProgramLogSize"),
    MEMBER(get_log, "hiprtcGetProgramLog"),
    MEMBER(get_code_size, "hiprtcGetCodeSize"),
    MEMBER(get_code, "hiprtcGetCode"),
    MEMBER(get_error_string, "hiprtcGetErrorString"),
    MEMBER(version, "hiprtcVersion"),
};

/* NULL when all functions were found, else the name of the first that is missing. */
static const char *bind_all(hiprtc_api *hiprtc, void *library) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL) {
            return functions[i].name;
        }
        memcpy((char *)hiprtc + functions[i].offset, &found, sizeof found);
    }
    return NULL;
}

static fmha_status open_chosen(hiprtc_api *hiprtc, const char *path, library_search *search, bool *found) {
    hiprtc->library = fmha_library_open(search, path);
    if (hiprtc->library == NULL) {
        return fmha_fail(FMHA_ERROR_NO_COMPILER,
                         "$FMHA_HIPRTC_LIBRARY cannot serve: expected hipRTC, looked at%s\n"
                         "unset FMHA_HIPRTC_LIBRARY or let it name libhiprtc.so",
                         search->places);
    }
    const char *missing = bind_all(hiprtc, hiprtc->library);
    if (missing != NULL) {
        fmha_status status = fmha_fail(FMHA_ERROR_NO_COMPILER,
                                       "$FMHA_HIPRTC_LIBRARY cannot serve: expected hipRTC, got %s "
                                       "without the function %s\n"
                                       "unset FMHA_HIPRTC_LIBRARY or let it name libhiprtc.so",
                                       fmha_library_path(hiprtc->library), missing);
        fmha_hiprtc_close(hiprtc);
        return status;
    }
    *found = true;
    return FMHA_OK;
}

fmha_status fmha_hiprtc_open(hiprtc_api *hiprtc, void *hip_library, int hip_major, bool *found) {
    *hiprtc = (hiprtc_api){0};
    *found = false;
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "hip: no memory to look for hipRTC");
    }
    fmha_status status = FMHA_OK;
    const char *chosen = getenv("FMHA_HIPRTC_LIBRARY");
    if (chosen != NULL && chosen[0] != '\0') {
        status = open_chosen(hiprtc, chosen, search, found);
    } else if (hip_major >= HIP_MAJOR_MIN) {
        char versioned[40];
        snprintf(versioned, sizeof versioned, "libhiprtc.so.%d", hip_major);
        const char *names[] = {versioned, "libhiprtc.so"};
        for (size_t i = 0; i < 2 && !*found; i++) {
            hiprtc->library = fmha_library_open(search, names[i]);
            *found = hiprtc->library != NULL && bind_all(hiprtc, hiprtc->library) == NULL;
            if (!*found) {
                fmha_hiprtc_close(hiprtc);
            }
        }
        *found = *found || (hip_library != NULL && bind_all(hiprtc, hip_library) == NULL);
    }
    free(search);
    return status;
}

void fmha_hiprtc_close(hiprtc_api *hiprtc) {
    fmha_library_close(hiprtc->library);
    hiprtc->library = NULL;
}

static fmha_status fail(const hiprtc_api *hiprtc, const char *name, const char *step, int result) {
    const char *meaning = hiprtc->get_error_string(result);
    return fmha_fail(FMHA_ERROR_COMPILE, "%s: hipRTC failed in %s: %s (%d)", name, step,
                     meaning != NULL ? meaning : "unknown result", result);
}

static fmha_status fail_with_log(const hiprtc_api *hiprtc, void *program, const char *name, const char *arch,
                                 int result) {
    size_t bytes = 0;
    char *log = NULL;
    if (hiprtc->get_log_size(program, &bytes) == 0 && bytes > 0 && (log = calloc(1, bytes + 1)) != NULL &&
        hiprtc->get_log(program, log) != 0) {
        log[0] = '\0';
    }
    const char *meaning = hiprtc->get_error_string(result);
    fmha_status status = fmha_fail(FMHA_ERROR_COMPILE, "%s: hipRTC could not compile it for %s, %s (%d):\n%.*s", name,
                                   arch, meaning != NULL ? meaning : "unknown result", result, LOG_BYTES,
                                   log != NULL && log[0] != '\0' ? log : "it said nothing");
    free(log);
    return status;
}

/* The flags of every instance, less those that only a compiler driver understands. */
static int options_for(const char *arch, int wave, char storage[256], const char *options[FMHA_COMPILER_FLAGS_MAX]) {
    static const char *const driver_only[] = {
        "-x", "hip", "-nogpuinc", "-nogpulib", "--offload-device-only", "--no-gpu-bundle-output"};
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int flag_count = fmha_compiler_flags(NULL, arch, wave, storage, flags), count = 0;
    for (int i = 0; i < flag_count; i++) {
        bool keep = true;
        for (size_t j = 0; j < sizeof driver_only / sizeof driver_only[0]; j++) {
            keep = keep && strcmp(flags[i], driver_only[j]) != 0;
        }
        if (keep) {
            options[count++] = flags[i];
        }
    }
    return flag_count < 0 ? -1 : count;
}

static fmha_status take_code(const hiprtc_api *hiprtc, void *program, const char *name, const char *arch, void **image,
                             size_t *image_bytes) {
    size_t bytes = 0;
    int result = hiprtc->get_code_size(program, &bytes);
    if (result != 0 || bytes == 0) {
        return fail(hiprtc, name, "hiprtcGetCodeSize", result);
    }
    char *code = malloc(bytes);
    if (code == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no host memory for its code object of %zu bytes", name, bytes);
    }
    result = hiprtc->get_code(program, code);
    char target[FMHA_TARGET_BYTES];
    fmha_status status = FMHA_OK;
    if (result != 0) {
        status = fail(hiprtc, name, "hiprtcGetCode", result);
    } else if (fmha_image_target("its output", code, bytes, target) != FMHA_OK) {
        status = fmha_fail(FMHA_ERROR_COMPILE, "%s: hipRTC ended well but %s", name, fmha_last_error());
    } else if (!fmha_image_fits(target, arch)) {
        status = fmha_fail(FMHA_ERROR_COMPILE, "%s: hipRTC ended well but its output is for %s, expected %s", name,
                           target, arch);
    }
    if (status != FMHA_OK) {
        free(code);
        return status;
    }
    *image = code;
    *image_bytes = bytes;
    return FMHA_OK;
}

fmha_status fmha_hiprtc_compile(const hiprtc_api *hiprtc, const char *arch, const fmha_source *source, void **image,
                                size_t *image_bytes) {
    char storage[256], name[300];
    const char *options[FMHA_COMPILER_FLAGS_MAX];
    if (source->path != NULL) {
        snprintf(name, sizeof name, "%s", source->path);
    } else {
        snprintf(name, sizeof name, "%.250s.hip", source->symbol);
    }
    int option_count = options_for(arch, source->wave, storage, options);
    if (option_count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected a gfx target such as gfx1151, got '%s'", name, arch);
    }
    void *program = NULL;
    int result = hiprtc->create_program(&program, source->text, name, 0, NULL, NULL);
    if (result != 0) {
        return fail(hiprtc, name, "hiprtcCreateProgram", result);
    }
    result = hiprtc->compile_program(program, option_count, options);
    fmha_status status = result != 0 ? fail_with_log(hiprtc, program, name, arch, result)
                                     : take_code(hiprtc, program, name, arch, image, image_bytes);
    hiprtc->destroy_program(&program);
    return status;
}

/* The state of hipRTC's file, and of comgr's in the same folder, which holds the compiler. */
static bool add_files(const hiprtc_api *hiprtc, char **files) {
    static const char *const beside[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};
    void *function;
    memcpy(&function, &hiprtc->compile_program, sizeof function);
    Dl_info information;
    char real[PATH_MAX], path[PATH_MAX + 32];
    if (dladdr(function, &information) == 0 || realpath(information.dli_fname, real) == NULL) {
        return true; /* its version must do */
    }
    bool done = fmha_memo_add_file(files, real);
    *strrchr(real, '/') = '\0';
    for (size_t i = 0; done && i < sizeof beside / sizeof beside[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", real, beside[i]);
        done = fmha_memo_add_file(files, path);
    }
    return done;
}

static fmha_status print_identity(const hiprtc_api *hiprtc, const char *arch, int wave, const char *files,
                                  fmha_lines *lines) {
    char storage[256];
    const char *options[FMHA_COMPILER_FLAGS_MAX];
    int major = 0, minor = 0, result = hiprtc->version(&major, &minor);
    int count = options_for(arch, wave, storage, options);
    if (result != 0) {
        return fail(hiprtc, arch, "hiprtcVersion", result);
    }
    if (count < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "hipRTC: expected a gfx target such as gfx1151, got '%s'", arch);
    }
    fmha_lines_add(lines, "compiler hipRTC\nversion %d.%d\n", major, minor);
    fmha_memo_print(lines, files);
    for (int i = 0; i < count; i++) {
        fmha_lines_add(lines, "flag %s\n", options[i]);
    }
    return FMHA_OK;
}

fmha_status fmha_hiprtc_identity(const hiprtc_api *hiprtc, const char *arch, int wave, char **text) {
    char *files = NULL;
    fmha_lines lines = {0};
    *text = NULL;
    bool enough = add_files(hiprtc, &files);
    fmha_status status = print_identity(hiprtc, arch, wave, files != NULL ? files : "", &lines);
    free(files);
    char *taken = fmha_lines_take(&lines);
    if (status == FMHA_OK && (!enough || taken == NULL)) {
        status = fmha_fail(FMHA_ERROR_MEMORY, "hipRTC: no memory for what identifies it");
    }
    if (status != FMHA_OK) {
        free(taken);
        return status;
    }
    *text = taken;
    return FMHA_OK;
}
