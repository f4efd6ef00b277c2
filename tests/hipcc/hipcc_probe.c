/* What the test of the real hipcc runs inside its throwaway root, where libc is all there is:
 *   hipcc_probe compiler ARCH WAVE FILE OUTPUT   finds a compiler, which must be hipcc, and compiles FILE with it
 *   hipcc_probe hiprtc ARCH WAVE FILE OUTPUT     compiles FILE with hipRTC
 *   hipcc_probe device                           opens "hip", which must say that there is no device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "file.h"
#include "fmha.h"
#include "rtc.h"

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, fmha_last_error());
    return 1;
}

static int compile_with_compiler(const char *arch, int wave, const char *source, const char *object) {
    fmha_compiler compiler;
    if (fmha_compiler_find(arch, &compiler) != FMHA_OK) {
        return fail("no compiler");
    }
    if (!compiler.is_hipcc) {
        fprintf(stderr, "expected hipcc, got %s (%s)\n", compiler.path, compiler.version);
        return 1;
    }
    if (fmha_compiler_compile(&compiler, arch, wave, source, object) != FMHA_OK) {
        return fail("hipcc");
    }
    printf("%s: %s\n", compiler.path, compiler.version);
    return 0;
}

static int compile_with_hiprtc(const char *arch, int wave, const char *source, const char *object) {
    rtc_api hiprtc;
    bool found = false;
    for (int hip_major = 9; hip_major >= 6 && !found; hip_major--) {
        if (fmha_rtc_open(&hiprtc, &fmha_rtc_hip, NULL, hip_major, &found) != FMHA_OK) {
            return fail("hipRTC");
        }
    }
    if (!found) {
        fputs("expected libhiprtc.so, got none\n", stderr);
        return 1;
    }
    fmha_source given = {.symbol = "kernel", .path = source, .wave = wave};
    void *text, *image = NULL;
    size_t text_bytes, image_bytes;
    fmha_status status = fmha_file_read(source, &text, &text_bytes);
    if (status == FMHA_OK) {
        given.text = text;
        status = fmha_rtc_compile(&hiprtc, arch, &given, &image, &image_bytes);
    }
    if (status == FMHA_OK) {
        status = fmha_file_write(object, image, image_bytes);
    }
    free(text);
    free(image);
    fmha_rtc_close(&hiprtc);
    return status == FMHA_OK ? 0 : fail("hipRTC");
}

static int open_device(void) {
    static const char expected[] = "hip:0: expected an AMD GPU, got none: the HIP runtime reports no device "
                                   "(hipErrorNoDevice, 100); ";
    fmha_device *device;
    fmha_status status = fmha_device_open("hip", &device);
    if (status != FMHA_ERROR_NO_DEVICE || strncmp(fmha_last_error(), expected, sizeof expected - 1) != 0) {
        fprintf(stderr, "expected %s with '%s', got %s: %s\n", fmha_status_name(FMHA_ERROR_NO_DEVICE), expected,
                fmha_status_name(status), fmha_last_error());
        fmha_device_close(device);
        return 1;
    }
    puts(fmha_last_error());
    return 0;
}

int main(int count, char **arguments) {
    if (count == 6 && strcmp(arguments[1], "compiler") == 0) {
        return compile_with_compiler(arguments[2], atoi(arguments[3]), arguments[4], arguments[5]);
    }
    if (count == 6 && strcmp(arguments[1], "hiprtc") == 0) {
        return compile_with_hiprtc(arguments[2], atoi(arguments[3]), arguments[4], arguments[5]);
    }
    if (count == 2 && strcmp(arguments[1], "device") == 0) {
        return open_device();
    }
    fputs("hipcc_probe: expected compiler or hiprtc with ARCH WAVE FILE OUTPUT, or device\n", stderr);
    return 2;
}
