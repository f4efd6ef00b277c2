/* A runtime's own compiler as a library, opened at run time: hipRTC and NVRTC offer functions of the same form. They
 * need no device. */
#ifndef FMHA_RTC_H
#define FMHA_RTC_H

#include <stdbool.h>

#include "compiler.h"
#include "fmha.h"
#include "library.h"

/* Functions and nothing else, so that they can be filled from a list of names. */
typedef struct rtc_functions {
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
} rtc_functions;

/* The place of a function in the list of names. */
#define RTC_FUNCTION(member) (offsetof(rtc_functions, member) / sizeof(void (*)(void)))
#define RTC_FUNCTION_COUNT   (sizeof(rtc_functions) / sizeof(void (*)(void)))

typedef struct rtc_kind {
    const char *word;                      /* "hipRTC" */
    const char *driver;                    /* "hip" */
    const char *variable;                  /* "FMHA_HIPRTC_LIBRARY" */
    const char *file;                      /* "libhiprtc.so" */
    int major_min;                         /* of a runtime whose compiler is new enough */
    const char *names[RTC_FUNCTION_COUNT]; /* of rtc_functions, in their order */
    const char *const *beside;             /* files in its folder that compile for it, NULL-terminated */
    /* The open library for a runtime of version `major`, with all functions; NULL when there is none. Uses
     * fmha_rtc_try. */
    void *(*find)(const struct rtc_kind *kind, library_search *search, int major, rtc_functions *call);
    const char *const *driver_only; /* of the flags of every instance what a compiler driver alone understands,
                                       NULL-terminated */
} rtc_kind;

typedef struct rtc_api {
    const rtc_kind *kind;
    void *library; /* NULL: it is part of the runtime's library */
    rtc_functions call;
} rtc_api;

/* Opens the compiler: the file that the kind's variable names alone when it is set; else what `find` finds, and last
 * `runtime_library` itself. *found says whether it is there; a set variable that cannot serve is
 * FMHA_ERROR_NO_COMPILER. `runtime_library` may be NULL. Close with fmha_rtc_close when found. */
fmha_status fmha_rtc_open(rtc_api *rtc, const rtc_kind *kind, void *runtime_library, int runtime_major, bool *found);
void fmha_rtc_close(rtc_api *rtc);

/* `library` when it has all functions, which are filled in; else it is closed, and the result is NULL. */
void *fmha_rtc_try(const rtc_kind *kind, void *library, rtc_functions *call);

/* As fmha_source_compile, for `arch`. */
fmha_status fmha_rtc_compile(const rtc_api *rtc, const char *arch, const fmha_source *source, void **image,
                             size_t *image_bytes);

/* What decides, beside the text, what the compiler makes of it: its version, its file and those beside it, the options.
 * Lines of "name value", malloc'ed; the caller frees it. */
fmha_status fmha_rtc_identity(const rtc_api *rtc, const char *arch, int wave, char **text);

extern const rtc_kind fmha_rtc_hip, fmha_rtc_cuda;

#endif
