#include "module.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../file.h"
#include "emu.h"
#include "engine.h"

/* The loader takes a name that it has met for the object that it has loaded, so the file stays open, and its number
 * taken, as long as the module lives. */
static fmha_status open_image(const void *image, size_t image_bytes, emu_module *module) {
    module->file = memfd_create("fmha_emu", MFD_CLOEXEC);
    if (module->file < 0) {
        return emu_fail(FMHA_ERROR_IO, "emulated device: no memory file for a kernel (%s): raise ulimit -n",
                        strerror(errno));
    }
    if (!fmha_file_put(module->file, image, image_bytes)) {
        return emu_fail(FMHA_ERROR_IO,
                        "emulated device: cannot write a kernel of %zu bytes into memory (%s): free memory, or raise "
                        "ulimit -f",
                        image_bytes, strerror(errno));
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", module->file);
    module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module->handle == NULL) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "emulated device: the host's loader refuses the image (%s): compile it again on this host",
                        dlerror());
    }
    module->image = dlsym(module->handle, "fmha_emu_image");
    return FMHA_OK;
}

typedef struct text_range {
    uintptr_t inside, begin, end, base, object_end;
} text_range;

static int find_text(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    text_range *range = context;
    uintptr_t base = (uintptr_t)object->dlpi_addr, object_end = base;
    bool found = false;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = base + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        object_end = end > object_end ? end : object_end;
        if (range->inside >= begin && range->inside < end) {
            range->begin = begin;
            range->end = end;
            found = true;
        }
    }
    if (found) {
        range->base = base;
        range->object_end = object_end;
    }
    return found;
}

static fmha_status check(const emu_chip *chip, const struct fmha_emu_image *image) {
    if (image == NULL || image->version != FMHA_EMU_ABI_VERSION) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "emulated device: expected an image of its own compile step, version %d, got %s: compile the "
                        "source again",
                        FMHA_EMU_ABI_VERSION, image == NULL ? "another shared object" : "one of another version");
    }
    if (strcmp(image->arch, chip->arch) != 0) {
        return emu_fail(FMHA_ERROR_WRONG_CHIP,
                        "emulated device: \"%s\" was compiled for %s, this device is %s: open emu:%s or compile for %s",
                        image->symbol, image->arch, chip->arch, image->arch, chip->arch);
    }
    return FMHA_OK;
}

/* The loader trusts what it maps, so a torn file is told apart before: all that is to be mapped must be there. */
static bool is_whole(const void *image, size_t image_bytes) {
    ElfW(Ehdr) header;
    if (image_bytes < sizeof header) {
        return false;
    }
    memcpy(&header, image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
        header.e_phoff > image_bytes || header.e_phnum > (image_bytes - header.e_phoff) / sizeof(ElfW(Phdr))) {
        return false;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, (const char *)image + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_offset > image_bytes || segment.p_filesz > image_bytes - segment.p_offset) {
            return false;
        }
    }
    return true;
}

fmha_status emu_module_load(const emu_chip *chip, const void *image, size_t image_bytes, emu_module *module) {
    *module = (emu_module){.file = -1};
    if (!is_whole(image, image_bytes)) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "emulated device: expected an image of its own compile step, got %zu bytes that are no whole "
                        "ELF object: compile the source again",
                        image_bytes);
    }
    fmha_status status = open_image(image, image_bytes, module);
    if (status == FMHA_OK) {
        status = check(chip, module->image);
    }
    if (status != FMHA_OK) {
        emu_module_unload(module);
        return status;
    }
    text_range range = {.inside = (uintptr_t)module->image->run};
    dl_iterate_phdr(find_text, &range);
    module->text_begin = range.begin;
    module->text_end = range.end;
    module->base = range.base;
    module->end = range.object_end;
    module->lines = emu_lines_open(module->file);
    emu_engine_fill(module->image->engine);
    return FMHA_OK;
}

void emu_module_unload(emu_module *module) {
    emu_lines_close(module->lines);
    if (module->handle != NULL) {
        dlclose(module->handle);
    }
    if (module->file >= 0) {
        close(module->file);
    }
    *module = (emu_module){.file = -1};
}
