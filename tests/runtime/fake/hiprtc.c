/* A hipRTC that compiles nothing: it makes an empty code object for the chip of its options. */
#include "hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_hiprtc fake_hiprtc_state;

#define S fake_hiprtc_state

typedef struct program {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t image_bytes;
} program;

EXPORT int hiprtcCreateProgram(void **made, const char *text, const char *name, int header_count, const char **headers,
                               const char **header_names);
EXPORT int hiprtcDestroyProgram(void **destroyed);
EXPORT int hiprtcCompileProgram(void *compiled, int option_count, const char **options);
EXPORT int hiprtcGetProgramLogSize(void *of, size_t *bytes);
EXPORT int hiprtcGetProgramLog(void *of, char *log);
EXPORT int hiprtcGetCodeSize(void *of, size_t *bytes);
EXPORT int hiprtcGetCode(void *of, char *code);
EXPORT const char *hiprtcGetErrorString(int result);
EXPORT int hiprtcVersion(int *major, int *minor);

static int result_of(const char *function) {
    return S.fail_in != NULL && strcmp(S.fail_in, function) == 0 ? 6 : 0;
}

int hiprtcCreateProgram(void **made, const char *text, const char *name, int header_count, const char **headers,
                        const char **header_names) {
    (void)text;
    (void)headers;
    (void)header_names;
    snprintf(S.name, sizeof S.name, "%s", name);
    program *created = result_of("hiprtcCreateProgram") == 0 && header_count == 0 ? calloc(1, sizeof *created) : NULL;
    S.programs += created != NULL;
    *made = created;
    return created != NULL ? 0 : 6;
}

int hiprtcDestroyProgram(void **destroyed) {
    free(*destroyed);
    S.programs--;
    return 0;
}

int hiprtcCompileProgram(void *compiled, int option_count, const char **options) {
    const char *arch = "gfx000";
    S.options[0] = '\0';
    for (int i = 0; i < option_count; i++) {
        size_t length = strlen(S.options);
        snprintf(S.options + length, sizeof S.options - length, "%s%s", i > 0 ? " " : "", options[i]);
        if (strncmp(options[i], "--offload-arch=", 15) == 0) {
            arch = options[i] + 15;
        }
    }
    program *p = compiled;
    p->image_bytes = support_make_image(S.target != NULL ? S.target : arch, p->image);
    return result_of("hiprtcCompileProgram");
}

int hiprtcGetProgramLogSize(void *of, size_t *bytes) {
    (void)of;
    *bytes = S.log != NULL ? strlen(S.log) : 0; /* the real one gives no NUL either */
    return 0;
}

int hiprtcGetProgramLog(void *of, char *log) {
    (void)of;
    memcpy(log, S.log, strlen(S.log));
    return 0;
}

int hiprtcGetCodeSize(void *of, size_t *bytes) {
    *bytes = ((program *)of)->image_bytes;
    return result_of("hiprtcGetCodeSize");
}

int hiprtcGetCode(void *of, char *code) {
    memcpy(code, ((program *)of)->image, ((program *)of)->image_bytes);
    return result_of("hiprtcGetCode");
}

const char *hiprtcGetErrorString(int result) {
    return result == 6 ? "HIPRTC_ERROR_COMPILATION" : NULL;
}

int hiprtcVersion(int *major, int *minor) {
    *major = 7;
    *minor = 1 + S.newer;
    return result_of("hiprtcVersion");
}
