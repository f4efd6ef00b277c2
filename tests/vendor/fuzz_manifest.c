/* libFuzzer target: any bytes as a MANIFEST are refused with an error, or are what would be written.
 * Build with clang: ninja tests/vendor/fuzz_manifest */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vendor_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct manifest manifest;
    struct error error = {.text = ""};
    if (manifest_parse("MANIFEST", (const char *)bytes, length, &manifest, &error)) {
        struct text again = {0};
        manifest_add(&again, &manifest);
        if (again.length != length || memcmp(again.bytes, bytes, length) != 0)
            abort();
        text_free(&again);
    } else if (!*error.text) {
        abort();
    }
    manifest_free(&manifest);
    return 0;
}
