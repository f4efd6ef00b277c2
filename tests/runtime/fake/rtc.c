/* A hipRTC or an NVRTC that compiles nothing: it makes an empty code object for the chip of its options. */
#include "gpu.h"
#include "gpu_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_rtc fake_rtc_state;

#define S fake_rtc_state

typedef struct program {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t image_bytes;
} program;

EXPORT int rtcCreateProgram(void **made, const char *text, const char *name, int header_count, const char **headers,
                            const char **header_names);
EXPORT int rtcDestroyProgram(void **destroyed);
EXPORT int rtcCompileProgram(void *compiled, int option_count, const char **options);
EXPORT int rtcGetProgramLogSize(void *of, size_t *bytes);
EXPORT int rtcGetProgramLog(void *of, char *log);
EXPORT int rtcGetCodeSize(void *of, size_t *bytes);
EXPORT int rtcGetCode(void *of, char *code);
EXPORT const char *rtcGetErrorString(int result);
EXPORT int rtcVersion(int *major, int *minor);

static int result_of(const char *function) {
    return S.fail_in != NULL && strcmp(S.fail_in, function) == 0 ? 6 : 0;
}

int rtcCreateProgram(void **made, const char *text, const char *name, int header_count, const char **headers,
                     const char **header_names) {
    (void)text;
    (void)headers;
    (void)header_names;
    snprintf(S.name, sizeof S.name, "%s", name);
    program *created =
        result_of(NAME_OF(rtcCreateProgram)) == 0 && header_count == 0 ? calloc(1, sizeof *created) : NULL;
    S.programs += created != NULL;
    *made = created;
    return created != NULL ? 0 : 6;
}

int rtcDestroyProgram(void **destroyed) {
    free(*destroyed);
    S.programs--;
    return 0;
}

int rtcCompileProgram(void *compiled, int option_count, const char **options) {
    const char *arch = "gfx000";
    S.options[0] = '\0';
    for (int i = 0; i < option_count; i++) {
        size_t length = strlen(S.options);
        snprintf(S.options + length, sizeof S.options - length, "%s%s", i > 0 ? " " : "", options[i]);
        if (strncmp(options[i], RTC_CHIP_OPTION, strlen(RTC_CHIP_OPTION)) == 0) {
            arch = options[i] + strlen(RTC_CHIP_OPTION);
        }
    }
    program *p = compiled;
    p->image_bytes = support_make_image(S.target != NULL ? S.target : arch, p->image);
    return result_of(NAME_OF(rtcCompileProgram));
}

int rtcGetProgramLogSize(void *of, size_t *bytes) {
    (void)of;
    *bytes = S.log != NULL ? strlen(S.log) : 0; /* the real one gives no NUL either */
    return 0;
}

int rtcGetProgramLog(void *of, char *log) {
    (void)of;
    memcpy(log, S.log, strlen(S.log));
    return 0;
}

int rtcGetCodeSize(void *of, size_t *bytes) {
    *bytes = ((program *)of)->image_bytes;
    return result_of(NAME_OF(rtcGetCodeSize));
}

int rtcGetCode(void *of, char *code) {
    memcpy(code, ((program *)of)->image, ((program *)of)->image_bytes);
    return result_of(NAME_OF(rtcGetCode));
}

const char *rtcGetErrorString(int result) {
    return result == 6 ? RTC_ERROR : NULL;
}

int rtcVersion(int *major, int *minor) {
    *major = RTC_MAJOR;
    *minor = 1 + S.newer;
    return result_of(NAME_OF(rtcVersion));
}
