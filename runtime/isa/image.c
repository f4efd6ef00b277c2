#include "image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../image.h"
#include "family.h"
#include "metadata.h"

/* Relocations that a linked code object may hold (guide, Relocation Records). */
enum { RELOCATION_NONE = 0, RELOCATION_ABS64 = 3, RELOCATION_RELATIVE64 = 13 };

enum {
    ADDRESS_ALIGNMENT = 256,    /* that code and descriptors rely on, as the device's memory has it */
    BEYOND_FILE = 64 << 20,     /* bytes that segments may take beyond those of the file */
    SCRATCH_BYTES_MAX = 1 << 18 /* of a work item */
};

/* What is known while an object is loaded. */
typedef struct loading {
    const unsigned char *object;
    size_t object_bytes;
    Elf64_Ehdr header;
    isa_image *image;
    const isa_family *family;
} loading;

static fmha_status damaged(const char *what) {
    return isa_fail(FMHA_ERROR_ARGUMENT, "code object: %s: the file is damaged: compile it again", what);
}

static bool within(uint64_t offset, uint64_t bytes, uint64_t total) {
    return offset <= total && bytes <= total - offset;
}

static Elf64_Phdr segment_at(const loading *load, size_t i) {
    Elf64_Phdr segment;
    memcpy(&segment, load->object + load->header.e_phoff + i * sizeof segment, sizeof segment);
    return segment;
}

/* Section headers, and the bytes of all but SHT_NOBITS, lie in the file: fmha_image_target has looked. */
static Elf64_Shdr section_at(const loading *load, size_t i) {
    Elf64_Shdr section;
    memcpy(&section, load->object + load->header.e_shoff + i * sizeof section, sizeof section);
    return section;
}

fmha_status isa_memory_constant(emu_memory *memory, size_t bytes, const char *label, void **address) {
    fmha_status status = emu_memory_alloc(memory, bytes, label, address);
    if (status == FMHA_OK) {
        const emu_allocation *allocation = emu_memory_find(memory, *address, bytes);
        memory->list[allocation - memory->list].views.list[0].access = FMHA_ACCESS_READ;
    }
    return status;
}

/* ---- Segments ------------------------------------------------------------------------------------------------------
 */

static fmha_status measure(loading *load) {
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < load->header.e_phnum; i++) {
        Elf64_Phdr segment = segment_at(load, i);
        if (segment.p_type != PT_LOAD) {
            continue;
        }
        if (segment.p_filesz > segment.p_memsz || segment.p_memsz > UINT64_MAX - segment.p_vaddr) {
            return damaged("expected segments no smaller than their bytes in the file, got another");
        }
        low = segment.p_vaddr < low ? segment.p_vaddr : low;
        high = segment.p_vaddr + segment.p_memsz > high ? segment.p_vaddr + segment.p_memsz : high;
    }
    if (low >= high) {
        return damaged("expected segments to load, got none");
    }
    low -= low % ADDRESS_ALIGNMENT;
    if (high - low > (uint64_t)load->object_bytes + BEYOND_FILE) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "code object: expected segments that take at most %d MiB more than the file, got %llu bytes: "
                        "compile it again",
                        BEYOND_FILE >> 20, (unsigned long long)(high - low));
    }
    load->image->low = low;
    load->image->bytes = (size_t)(high - low);
    return FMHA_OK;
}

static fmha_status place_segments(loading *load, emu_memory *memory) {
    isa_image *image = load->image;
    fmha_status status = measure(load);
    if (status != FMHA_OK) {
        return status;
    }
    void *address;
    status = isa_memory_constant(memory, image->bytes, "code object", &address);
    if (status != FMHA_OK) {
        return status;
    }
    image->memory = address;
    memset(address, 0, image->bytes);
    for (size_t i = 0; i < load->header.e_phnum; i++) {
        Elf64_Phdr segment = segment_at(load, i);
        if (segment.p_type == PT_LOAD) {
            memcpy(image->memory + (segment.p_vaddr - image->low), load->object + segment.p_offset, segment.p_filesz);
        }
    }
    return FMHA_OK;
}

/* ---- Symbols and relocations ----------------------------------------------------------------------------------------
 */

/* Symbol number `at` of a section of symbols. */
static bool symbol_at(const loading *load, const Elf64_Shdr *section, uint64_t at, Elf64_Sym *symbol) {
    if (!within(at * sizeof *symbol, sizeof *symbol, section->sh_size)) {
        return false;
    }
    memcpy(symbol, load->object + section->sh_offset + at * sizeof *symbol, sizeof *symbol);
    return true;
}

static bool has_name(const loading *load, const Elf64_Shdr *section, const Elf64_Sym *symbol, const char *name) {
    if (section->sh_link >= load->header.e_shnum) {
        return false;
    }
    Elf64_Shdr strings = section_at(load, section->sh_link);
    size_t bytes = strlen(name) + 1;
    return strings.sh_type == SHT_STRTAB && within(symbol->st_name, bytes, strings.sh_size) &&
           memcmp(load->object + strings.sh_offset + symbol->st_name, name, bytes) == 0;
}

/* The address of a defined symbol of the dynamic table, which is the one that the HSA loader asks. */
static bool find_symbol(const loading *load, const char *name, uint64_t *address) {
    for (size_t i = 0; i < load->header.e_shnum; i++) {
        Elf64_Shdr section = section_at(load, i);
        Elf64_Sym symbol;
        if (section.sh_type != SHT_DYNSYM) {
            continue;
        }
        for (uint64_t at = 0; symbol_at(load, &section, at, &symbol); at++) {
            if (symbol.st_shndx != SHN_UNDEF && has_name(load, &section, &symbol, name)) {
                *address = symbol.st_value;
                return true;
            }
        }
    }
    return false;
}

static fmha_status relocate_one(const loading *load, const Elf64_Shdr *section, const Elf64_Rela *relocation) {
    const isa_image *image = load->image;
    uint64_t bias = (uint64_t)(uintptr_t)image->memory - image->low;
    uint64_t value = bias + (uint64_t)relocation->r_addend;
    uint32_t type = ELF64_R_TYPE(relocation->r_info);
    if (type == RELOCATION_NONE) {
        return FMHA_OK;
    }
    if (type == RELOCATION_ABS64) {
        Elf64_Sym symbol;
        if (section->sh_link >= load->header.e_shnum) {
            return damaged("expected relocations with a table of symbols, got none");
        }
        Elf64_Shdr symbols = section_at(load, section->sh_link);
        if (symbols.sh_type != SHT_DYNSYM || !symbol_at(load, &symbols, ELF64_R_SYM(relocation->r_info), &symbol) ||
            symbol.st_shndx == SHN_UNDEF) {
            return isa_fail(FMHA_ERROR_UNSUPPORTED, "code object: expected relocations to symbols that it defines, got "
                                                    "another: link everything that the kernel uses into it");
        }
        value += symbol.st_value;
    } else if (type != RELOCATION_RELATIVE64) {
        return isa_fail(FMHA_ERROR_UNSUPPORTED,
                        "code object: expected relocations R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64, got type %u: link "
                        "it again",
                        type);
    }
    if (relocation->r_offset < image->low || !within(relocation->r_offset - image->low, sizeof value, image->bytes)) {
        return damaged("expected relocations inside its segments, got one outside");
    }
    memcpy(image->memory + (relocation->r_offset - image->low), &value, sizeof value);
    return FMHA_OK;
}

static fmha_status relocate(const loading *load) {
    fmha_status status = FMHA_OK;
    for (size_t i = 0; i < load->header.e_shnum && status == FMHA_OK; i++) {
        Elf64_Shdr section = section_at(load, i);
        if (section.sh_type != SHT_RELA || (section.sh_flags & SHF_ALLOC) == 0) {
            continue;
        }
        Elf64_Rela relocation;
        for (uint64_t at = 0; section.sh_size - at >= sizeof relocation && status == FMHA_OK; at += sizeof relocation) {
            memcpy(&relocation, load->object + section.sh_offset + at, sizeof relocation);
            status = relocate_one(load, &section, &relocation);
        }
    }
    return status;
}

/* ---- Kernel descriptor ----------------------------------------------------------------------------------------------
 */

/* As it stands in memory (guide, Kernel Descriptor). */
typedef struct descriptor {
    uint32_t lds_bytes, scratch_bytes, kernarg_bytes;
    uint8_t reserved0[4];
    int64_t entry_offset; /* from the descriptor */
    uint8_t reserved1[20];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint8_t reserved2[4];
} descriptor;
_Static_assert(sizeof(descriptor) == 64, "a kernel descriptor has 64 bytes");

enum { USER_SGPRS_MAX = 16 };

/* Registers that each property asks for, in their order (guide, SGPR register set up order). */
static const struct {
    uint16_t bit;
    uint8_t registers;
    const char *name;
} user_registers[] = {
    {ISA_USER_PRIVATE_BUFFER, 4, "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER"},
    {ISA_USER_DISPATCH_PTR, 2, "ENABLE_SGPR_DISPATCH_PTR"},
    {ISA_USER_QUEUE_PTR, 2, "ENABLE_SGPR_QUEUE_PTR"},
    {ISA_USER_KERNARG_PTR, 2, "ENABLE_SGPR_KERNARG_SEGMENT_PTR"},
    {ISA_USER_DISPATCH_ID, 2, "ENABLE_SGPR_DISPATCH_ID"},
    {ISA_USER_FLAT_SCRATCH, 2, "ENABLE_SGPR_FLAT_SCRATCH_INIT"},
    {ISA_USER_PRIVATE_BYTES, 1, "ENABLE_SGPR_PRIVATE_SEGMENT_SIZE"},
};
enum { RSRC2_GROUP_INFO = 1 << 10 }; /* a system register that nothing fills on this device */

static fmha_status refuse_descriptor(const char *symbol, const char *words, unsigned long long expected,
                                     unsigned long long got) {
    return isa_fail(FMHA_ERROR_ARGUMENT,
                    "code object: descriptor of kernel %s: %s: expected %llu, got %llu: the file is damaged: compile "
                    "it again",
                    symbol, words, expected, got);
}

/* The segment that holds the code, and how much of it follows. */
static fmha_status find_code(const loading *load, isa_kernel *kernel, uint64_t entry) {
    for (size_t i = 0; i < load->header.e_phnum; i++) {
        Elf64_Phdr segment = segment_at(load, i);
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && entry >= segment.p_vaddr &&
            entry - segment.p_vaddr < segment.p_filesz && entry % sizeof(uint32_t) == 0) {
            kernel->entry_address = entry;
            kernel->code_bytes = segment.p_filesz - (entry - segment.p_vaddr);
            kernel->code_before = entry - segment.p_vaddr;
            kernel->bias = (uint64_t)(uintptr_t)load->image->memory - load->image->low;
            return FMHA_OK;
        }
    }
    return isa_fail(FMHA_ERROR_ARGUMENT,
                    "code object: descriptor of kernel %s: expected an entry in a segment of code, got 0x%llx: the "
                    "file is damaged: compile it again",
                    kernel->symbol, (unsigned long long)entry);
}

static fmha_status check_user_registers(const isa_kernel *kernel) {
    unsigned count = 0;
    for (size_t i = 0; i < sizeof user_registers / sizeof user_registers[0]; i++) {
        if ((kernel->rsrc_properties & user_registers[i].bit) == 0) {
            continue;
        }
        if ((kernel->family->user_supported & user_registers[i].bit) == 0) {
            return isa_fail(FMHA_ERROR_UNSUPPORTED,
                            "kernel %s: its descriptor asks for %s, which this device does not have: compile it "
                            "without what needs that",
                            kernel->symbol, user_registers[i].name);
        }
        count += user_registers[i].registers;
    }
    if ((kernel->rsrc2 & RSRC2_GROUP_INFO) != 0) {
        return refuse_descriptor(kernel->symbol, "ENABLE_SGPR_WORKGROUP_INFO", 0, 1);
    }
    if (count > kernel->user_sgprs) {
        return refuse_descriptor(kernel->symbol, "USER_SGPR_COUNT", count, kernel->user_sgprs);
    }
    if (kernel->user_sgprs > USER_SGPRS_MAX) {
        return refuse_descriptor(kernel->symbol, "USER_SGPR_COUNT", USER_SGPRS_MAX, kernel->user_sgprs);
    }
    return FMHA_OK;
}

static fmha_status read_descriptor(const loading *load, isa_kernel *kernel) {
    char name[sizeof kernel->symbol + sizeof ".kd"];
    uint64_t address;
    const isa_image *image = load->image;
    snprintf(name, sizeof name, "%s.kd", kernel->symbol);
    if (!find_symbol(load, name, &address) || address < image->low ||
        !within(address - image->low, sizeof(descriptor), image->bytes)) {
        return isa_fail(FMHA_ERROR_ARGUMENT,
                        "code object: expected a descriptor %s in its segments, found none: the file is damaged: "
                        "compile it again",
                        name);
    }
    descriptor found;
    memcpy(&found, image->memory + (address - image->low), sizeof found);
    uint32_t wave = (found.properties & ISA_PROPERTY_WAVE32) != 0 ? 32 : 64;
    if (wave != kernel->wave) {
        return refuse_descriptor(kernel->symbol, "lanes of a wave", kernel->wave, wave);
    }
    if (found.lds_bytes != kernel->lds_bytes) {
        return refuse_descriptor(kernel->symbol, "GROUP_SEGMENT_FIXED_SIZE", kernel->lds_bytes, found.lds_bytes);
    }
    if (found.scratch_bytes != kernel->scratch_bytes) {
        return refuse_descriptor(kernel->symbol, "PRIVATE_SEGMENT_FIXED_SIZE", kernel->scratch_bytes,
                                 found.scratch_bytes);
    }
    if (found.kernarg_bytes != kernel->kernarg_bytes) {
        return refuse_descriptor(kernel->symbol, "KERNARG_SIZE", kernel->kernarg_bytes, found.kernarg_bytes);
    }
    if (found.preload != 0) {
        return refuse_descriptor(kernel->symbol, "KERNARG_PRELOAD", 0, found.preload);
    }
    if ((found.properties & ISA_PROPERTY_DYNAMIC_STACK) != 0 || found.scratch_bytes > SCRATCH_BYTES_MAX) {
        return isa_fail(FMHA_ERROR_UNSUPPORTED,
                        "kernel %s: expected a stack of known size, at most %d bytes for a work item, got %s: compile "
                        "it without recursion and calls through pointers",
                        kernel->symbol, SCRATCH_BYTES_MAX,
                        found.scratch_bytes > SCRATCH_BYTES_MAX ? "more" : "one that grows");
    }
    const isa_family *family = kernel->family = load->family;
    kernel->vgprs = family->vgprs(found.rsrc1, found.rsrc3, wave);
    kernel->agprs = family->agprs != NULL ? family->agprs(found.rsrc1, found.rsrc3) : 0;
    if (kernel->vgprs > ISA_AGPR || kernel->agprs > ISA_VGPRS_MAX - ISA_AGPR) {
        return refuse_descriptor(kernel->symbol, "vector registers of a kind", ISA_AGPR,
                                 kernel->vgprs > kernel->agprs ? kernel->vgprs : kernel->agprs);
    }
    kernel->registers = kernel->agprs > 0 ? ISA_AGPR + kernel->agprs : kernel->vgprs;
    kernel->mode = family->mode(found.rsrc1);
    if ((kernel->mode & family->mode_fixed) != family->mode_known) {
        return isa_fail(
            FMHA_ERROR_UNSUPPORTED,
            "kernel %s: expected it to begin with MODE 0x%x (rounding to nearest even, denormals kept), got "
            "0x%x: compile it without options that change rounding or flush denormals",
            kernel->symbol, family->mode_known, kernel->mode);
    }
    kernel->rsrc2 = found.rsrc2;
    kernel->rsrc_properties = found.properties;
    kernel->user_sgprs = found.rsrc2 >> 1 & 0x1fu;
    fmha_status status = check_user_registers(kernel);
    return status == FMHA_OK ? find_code(load, kernel, address + (uint64_t)found.entry_offset) : status;
}

/* ---- Loading --------------------------------------------------------------------------------------------------------
 */

/* A generic target's code runs on the chips of its family. */
static bool covers(const char *target, const isa_family *family) {
    size_t length = strcspn(target, ":");
    return strstr(target, "-generic") == NULL || (family->generic != NULL && strlen(family->generic) == length &&
                                                  strncmp(target, family->generic, length) == 0);
}

static fmha_status check_target(const char *arch, const isa_family *family, const void *object, size_t object_bytes) {
    char target[FMHA_TARGET_BYTES];
    fmha_status status = fmha_image_target("code object", object, object_bytes, target);
    if (status != FMHA_OK) {
        return isa_fail(status, "%s", fmha_last_error());
    }
    if (!fmha_image_fits(target, arch) || !covers(target, family)) {
        return isa_fail(FMHA_ERROR_WRONG_CHIP,
                        "code object: expected one for %s, got one for %s: open isa:%.*s or compile for %s", arch,
                        target, (int)strcspn(target, ":"), target, arch);
    }
    return FMHA_OK;
}

static fmha_status load_kernels(const loading *load) {
    isa_image *image = load->image;
    fmha_status status = isa_metadata_read(load->object, &image->kernels, &image->kernel_count);
    for (size_t i = 0; i < image->kernel_count && status == FMHA_OK; i++) {
        status = read_descriptor(load, &image->kernels[i].kernel);
    }
    return status;
}

fmha_status isa_image_load(emu_memory *memory, const char *arch, const void *object, size_t object_bytes,
                           isa_image *image) {
    *image = (isa_image){0};
    loading load = {.object = object, .object_bytes = object_bytes, .image = image, .family = isa_family_of(arch)};
    if (load.family == NULL) {
        return isa_fail(FMHA_ERROR_NO_DEVICE, "code object: expected a chip that this device runs, got %s", arch);
    }
    fmha_status status = check_target(arch, load.family, object, object_bytes);
    if (status != FMHA_OK) {
        return status;
    }
    memcpy(&load.header, object, sizeof load.header);
    status = place_segments(&load, memory);
    if (status == FMHA_OK) {
        status = relocate(&load);
    }
    if (status == FMHA_OK) {
        status = load_kernels(&load);
    }
    if (status != FMHA_OK) {
        isa_image_unload(memory, image);
    }
    return status;
}

void isa_image_unload(emu_memory *memory, isa_image *image) {
    isa_metadata_free(image->kernels, image->kernel_count);
    if (image->memory != NULL) {
        emu_memory_free(memory, image->memory);
    }
    *image = (isa_image){0};
}

isa_image_kernel *isa_image_find(const isa_image *image, const char *symbol) {
    for (size_t i = 0; i < image->kernel_count; i++) {
        if (strcmp(image->kernels[i].kernel.symbol, symbol) == 0) {
            return &image->kernels[i];
        }
    }
    return NULL;
}

/* ---- Hidden arguments -----------------------------------------------------------------------------------------------
 */

void isa_image_hidden(const isa_kernel *kernel, const fmha_launch_config *config, unsigned char *kernarg) {
    for (size_t i = 0; i < kernel->hidden_count; i++) {
        const struct isa_hidden *hidden = &kernel->hidden[i];
        uint64_t value = 0; /* global offsets and remainders: a grid is of whole workgroups and begins at 0 */
        switch (hidden->kind) {
        case ISA_HIDDEN_NONE:
            continue;
        case ISA_HIDDEN_BLOCK_COUNT:
            value = config->grid[hidden->dimension];
            break;
        case ISA_HIDDEN_GROUP_SIZE:
            value = config->workgroup[hidden->dimension];
            break;
        case ISA_HIDDEN_GRID_DIMS:
            value = 3; /* as HIP launches every kernel */
            break;
        case ISA_HIDDEN_DYNAMIC_LDS:
            value = config->lds_dynamic_bytes;
            break;
        case ISA_HIDDEN_REMAINDER:
        case ISA_HIDDEN_GLOBAL_OFFSET:
            break;
        }
        memcpy(kernarg + hidden->offset, &value, hidden->bytes); /* little endian, as every host of this device */
    }
}
