#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "image.h"

#define MACHINE_AMDGPU   224
#define MACHINE_CUDA     190
#define CUDA_ABI_2       8 /* EI_ABIVERSION from CUDA 13 on */
#define NOTE_METADATA    32
#define TARGET_PREFIX    "amdgcn-amd-amdhsa--"
#define BUNDLE_MAGIC     "__CLANG_OFFLOAD_BUNDLE__"
#define COMPRESSED_MAGIC "CCOB"

static bool within(uint64_t offset, uint64_t bytes, size_t total) {
    return offset <= total && bytes <= total - offset;
}

/* Finds the string value of the MessagePack key "amdhsa.target" in a metadata note. A search for the encoded key is
 * enough: its length byte makes it unlike any part of another key, and no kernel's name can hold a 0xAD byte. */
static bool metadata_target(const unsigned char *bytes, size_t count, char target[FMHA_TARGET_BYTES]) {
    static const char key[] = "\xad"
                              "amdhsa.target";
    const unsigned char *found = memmem(bytes, count, key, sizeof key - 1);
    if (found == NULL) {
        return false;
    }
    const unsigned char *value = found + sizeof key - 1;
    size_t left = count - (size_t)(value - bytes);
    size_t length, header;
    if (left >= 1 && (value[0] & 0xE0u) == 0xA0u) { /* fixstr */
        length = value[0] & 0x1Fu;
        header = 1;
    } else if (left >= 2 && value[0] == 0xD9u) { /* str 8 */
        length = value[1];
        header = 2;
    } else {
        return false;
    }
    const size_t prefix = sizeof TARGET_PREFIX - 1;
    if (length > left - header || length <= prefix || length - prefix >= FMHA_TARGET_BYTES ||
        memcmp(value + header, TARGET_PREFIX, prefix) != 0) {
        return false;
    }
    memcpy(target, value + header + prefix, length - prefix);
    target[length - prefix] = '\0';
    return true;
}

static bool notes_target(const unsigned char *notes, size_t count, char target[FMHA_TARGET_BYTES]) {
    size_t at = 0;
    while (count - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr header;
        memcpy(&header, notes + at, sizeof header);
        at += sizeof header;
        uint64_t name_bytes = ((uint64_t)header.n_namesz + 3) & ~UINT64_C(3);
        uint64_t value_bytes = ((uint64_t)header.n_descsz + 3) & ~UINT64_C(3);
        if (!within(at, name_bytes + header.n_descsz, count)) {
            return false;
        }
        if (header.n_type == NOTE_METADATA && header.n_namesz == sizeof "AMDGPU" &&
            memcmp(notes + at, "AMDGPU", sizeof "AMDGPU") == 0 &&
            metadata_target(notes + at + name_bytes, header.n_descsz, target)) {
            return true;
        }
        if (!within(at, name_bytes + value_bytes, count)) {
            return false;
        }
        at += (size_t)(name_bytes + value_bytes);
    }
    return false;
}

/* The loader takes a pointer without a length, so every part that it will follow must lie inside. */
static bool is_whole(const Elf64_Ehdr *header, const unsigned char *image, size_t image_bytes) {
    if ((header->e_phnum > 0 && header->e_phentsize != sizeof(Elf64_Phdr)) ||
        header->e_shentsize != sizeof(Elf64_Shdr) ||
        !within(header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), image_bytes) ||
        !within(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr), image_bytes)) {
        return false;
    }
    for (size_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, image + header->e_phoff + i * sizeof segment, sizeof segment);
        if (!within(segment.p_offset, segment.p_filesz, image_bytes)) {
            return false;
        }
    }
    for (size_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && !within(section.sh_offset, section.sh_size, image_bytes)) {
            return false;
        }
    }
    return true;
}

/* The chip's number is in the flags, elsewhere since CUDA 13. */
static void cuda_target(const Elf64_Ehdr *header, char target[FMHA_TARGET_BYTES]) {
    bool newer = header->e_ident[EI_ABIVERSION] >= CUDA_ABI_2;
    unsigned number = (newer ? header->e_flags >> 8 : header->e_flags) & 0xffu;
    bool own = (header->e_flags & (newer ? 0x8u : 0x800u)) != 0; /* uses what no other chip has */
    snprintf(target, FMHA_TARGET_BYTES, "sm_%u%s", number, own ? "a" : "");
}

static bool starts_with(const void *image, size_t image_bytes, const char *magic) {
    return image_bytes >= strlen(magic) && memcmp(image, magic, strlen(magic)) == 0;
}

fmha_status fmha_image_target(const char *what, const void *image, size_t image_bytes, char target[FMHA_TARGET_BYTES]) {
    const char *cure = "make it with `fmhagen build`, or with --offload-device-only --no-gpu-bundle-output";
    if (starts_with(image, image_bytes, BUNDLE_MAGIC) || starts_with(image, image_bytes, COMPRESSED_MAGIC)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected a bare code object, got an offload bundle; %s", what, cure);
    }
    if (!starts_with(image, image_bytes, ELFMAG) || image_bytes < sizeof(Elf64_Ehdr)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected an ELF code object, got %zu other bytes; %s", what,
                         image_bytes, cure);
    }
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    bool cuda = header.e_machine == MACHINE_CUDA && header.e_type == ET_EXEC;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        (!cuda && (header.e_machine != MACHINE_AMDGPU || header.e_type != ET_DYN))) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a linked code object for an AMD GPU (ELF machine %d, type %d) or a cubin "
                         "(machine %d, type %d), got machine %d, type %d; %s",
                         what, MACHINE_AMDGPU, ET_DYN, MACHINE_CUDA, ET_EXEC, header.e_machine, header.e_type, cure);
    }
    if (!is_whole(&header, image, image_bytes)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a whole code object, got %zu bytes of one that is torn or damaged; %s", what,
                         image_bytes, cure);
    }
    if (cuda) {
        cuda_target(&header, target);
        return FMHA_OK;
    }
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, (const char *)image + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NOTE &&
            notes_target((const unsigned char *)image + segment.p_offset, (size_t)segment.p_filesz, target)) {
            return FMHA_OK;
        }
    }
    return fmha_fail(FMHA_ERROR_ARGUMENT,
                     "%s: expected a code object that names its target (code object version 4 and later), got one "
                     "that does not; %s",
                     what, cure);
}

/* The sign that `target` gives a feature: '+', '-', or 0 when it leaves it open. */
static char feature_sign(const char *target, const char *feature) {
    size_t length = strlen(feature);
    for (const char *at = strchr(target, ':'); at != NULL; at = strchr(at + 1, ':')) {
        if (strncmp(at + 1, feature, length) == 0) {
            return at[1 + length];
        }
    }
    return 0;
}

/* Code for a chip runs on the later ones of its major version, unless it uses what that chip alone has. */
static bool cuda_fits(const char *target, const char *arch) {
    int wanted = 0, given = 0, end = 0;
    if (sscanf(target, "sm_%d%n", &wanted, &end) != 1 || sscanf(arch, "sm_%d", &given) != 1) {
        return false;
    }
    return target[end] == '\0' ? wanted / 10 == given / 10 && wanted <= given : wanted == given;
}

bool fmha_image_fits(const char *target, const char *arch) {
    if (strncmp(target, "sm_", 3) == 0) {
        return cuda_fits(target, arch);
    }
    static const char *const features[] = {"xnack", "sramecc"};
    size_t processor = strcspn(target, ":");
    bool generic = memmem(target, processor, "-generic", strlen("-generic")) != NULL;
    if (!generic && (processor != strcspn(arch, ":") || strncmp(target, arch, processor) != 0)) {
        return false;
    }
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        char wanted = feature_sign(target, features[i]), given = feature_sign(arch, features[i]);
        if (wanted != 0 && given != 0 && wanted != given) {
            return false;
        }
    }
    return true;
}
