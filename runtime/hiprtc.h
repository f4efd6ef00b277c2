/* hipRTC, the HIP runtime's own compiler, opened at run time. It needs no device. */
#ifndef FMHA_HIPRTC_H
#define FMHA_HIPRTC_H

#include <stdbool.h>

#include "fmha.h"

typedef struct hiprtc_api {
    void *library; /* NULL: hipRTC is part of the HIP runtime's library */
    int (*create_program)(void **program, const char *text, const char *name, int header_count, const char **headers,
                          const char **header_names);
    int (*destroy_program)(void **program);
    int (*compile_program)(void *program, int option_count, const char **options);
    int (*get_log_size)(void *program, size_t *bytes);
    int (*get_log)(void *program, char *log);
    int (*get_code_size)(void *program, size_t *bytes);
    int (*get_code)(void *program, char *code);
    const char *(*get_error_string)(int result);
    int (*version)(int *major, int *minor);
} hiprtc_api;

/* Opens hipRTC: $FMHA_HIPRTC_LIBRARY alone when it is set; else libhiprtc.so of `hip_major` (6 and up: older ones come
 * with a clang that is too old), libhiprtc.so, and last `hip_library` itself. *found says whether it is there; a set
 * variable that cannot serve is FMHA_ERROR_NO_COMPILER. `hip_library` may be NULL. Close with fmha_hiprtc_close when
 * found.
 */
fmha_status fmha_hiprtc_open(hiprtc_api *hiprtc, void *hip_library, int hip_major, bool *found);
void fmha_hiprtc_close(hiprtc_api *hiprtc);

/* As fmha_source_compile, for `arch`. */
fmha_status fmha_hiprtc_compile(const hiprtc_api *hiprtc, const char *arch, const fmha_source *source, void **image,
                                size_t *image_bytes);

/* What decides, beside the text, what hipRTC makes of it: its version, its file and that of the compiler's library
 * beside it, the options. Lines of "name value", malloc'ed; the caller frees it. */
fmha_status fmha_hiprtc_identity(const hiprtc_api *hiprtc, const char *arch, int wave, char **text);

#endif
