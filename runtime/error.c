/* The calling thread's error text and the names of the statuses. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "driver.h"

#define TEXT_BYTES 16384

static _Thread_local char last_error[TEXT_BYTES];

static const char *const status_names[] = {
    [FMHA_OK] = "FMHA_OK",
    [FMHA_ERROR_ARGUMENT] = "FMHA_ERROR_ARGUMENT",
    [FMHA_ERROR_NO_DRIVER] = "FMHA_ERROR_NO_DRIVER",
    [FMHA_ERROR_NO_DEVICE] = "FMHA_ERROR_NO_DEVICE",
    [FMHA_ERROR_WRONG_CHIP] = "FMHA_ERROR_WRONG_CHIP",
    [FMHA_ERROR_NO_COMPILER] = "FMHA_ERROR_NO_COMPILER",
    [FMHA_ERROR_COMPILE] = "FMHA_ERROR_COMPILE",
    [FMHA_ERROR_MEMORY] = "FMHA_ERROR_MEMORY",
    [FMHA_ERROR_IO] = "FMHA_ERROR_IO",
    [FMHA_ERROR_DRIVER] = "FMHA_ERROR_DRIVER",
    [FMHA_ERROR_UNSUPPORTED] = "FMHA_ERROR_UNSUPPORTED",
    [FMHA_ERROR_KERNEL] = "FMHA_ERROR_KERNEL",
    [FMHA_ERROR_NO_INSTANCE] = "FMHA_ERROR_NO_INSTANCE",
};

const char *fmha_version(void) {
    return FMHA_VERSION;
}

int fmha_abi_version(void) {
    return FMHA_ABI_VERSION;
}

const char *fmha_last_error(void) {
    return last_error;
}

const char *fmha_status_name(fmha_status status) {
    size_t count = sizeof status_names / sizeof status_names[0];
    return (size_t)status < count ? status_names[status] : "unknown fmha_status";
}

fmha_status fmha_fail(fmha_status status, const char *format, ...) {
    static const char cut[] = "\n[the rest is left out]";
    /* The arguments may point into last_error: a caller may wrap an error in one of its own. */
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        snprintf(text, sizeof text, "%s (its text could not be formatted)", fmha_status_name(status));
    } else if ((size_t)length >= sizeof text) {
        size_t end = sizeof text - sizeof cut;
        while (end > 0 && ((unsigned char)text[end] & 0xC0u) == 0x80u) { /* never cut inside a UTF-8 sequence */
            end--;
        }
        memcpy(text + end, cut, sizeof cut);
    }
    memcpy(last_error, text, strlen(text) + 1);
    return status;
}
