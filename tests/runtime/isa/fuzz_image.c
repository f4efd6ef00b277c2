/* Hostile code objects: whatever the bytes, loading them ends, and no byte outside is touched. */
#include <stdint.h>

#include "emu/emu.h"
#include "isa/image.h"

fmha_fail_function isa_fail;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static emu_memory memory;
    isa_image image;
    isa_fail = emu_fail = fmha_fail;
    if (isa_image_load(&memory, "gfx1151", bytes, count, &image) == FMHA_OK) {
        isa_image_unload(&memory, &image);
    }
    return 0;
}
