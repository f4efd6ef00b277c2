/* Compiled kernels: from HIP text to a shared object of the host, and from its bytes into the process. */
#ifndef EMU_MODULE_H
#define EMU_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "chips.h"
#include "emu_abi.h"
#include "fmha.h"
#include "place.h"

/* `checks`: every access to memory is checked. On success *image is malloc'ed. */
fmha_status emu_compile(const emu_chip *chip, const fmha_source *source, bool checks, void **image,
                        size_t *image_bytes);

/* What decides, beside the text, what the object is: compiler, its flags, the headers, the processor. Lines of
 * "name value", malloc'ed. */
fmha_status emu_compile_identity(const emu_chip *chip, int wave, bool checks, char **text);

typedef struct emu_module {
    int file;     /* the image, in memory */
    void *handle; /* dlopen's */
    const struct fmha_emu_image *image;
    uintptr_t text_begin, text_end;
    uintptr_t base, end; /* the whole object in memory */
    emu_lines *lines;    /* NULL: no debug information */
} emu_module;

fmha_status emu_module_load(const emu_chip *chip, const void *image, size_t image_bytes, emu_module *module);
void emu_module_unload(emu_module *module);

#endif
