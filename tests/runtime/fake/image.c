/* A code object with nothing in it but its target. Also part of the simulated compilers. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "../support.h"

/* The header of a cubin, "sm_90". */
static size_t make_cubin(const char *target, unsigned char image[SUPPORT_IMAGE_BYTES]) {
    unsigned number = 0;
    char suffix = '\0';
    sscanf(target, "sm_%u%c", &number, &suffix);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 41, 8},
        .e_type = ET_EXEC,
        .e_machine = 190,
        .e_version = EV_CURRENT,
        .e_flags = number << 8 | 4u | (suffix == 'a' ? 8u : 0),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    memset(image, 0, SUPPORT_IMAGE_BYTES);
    memcpy(image, &header, sizeof header);
    return sizeof header;
}

size_t support_make_image(const char *target, unsigned char image[SUPPORT_IMAGE_BYTES]) {
    if (strncmp(target, "sm_", 3) == 0) {
        return make_cubin(target, image);
    }
    char full_target[128];
    int length = snprintf(full_target, sizeof full_target, "amdgcn-amd-amdhsa--%s", target);
    unsigned char metadata[256];
    size_t bytes = 0;
    metadata[bytes++] = 0x81; /* a map of one pair: the key "amdhsa.target", and its value as str 8 */
    metadata[bytes++] = 0xad;
    memcpy(metadata + bytes, "amdhsa.target", sizeof "amdhsa.target");
    bytes += 13;
    metadata[bytes++] = 0xd9;
    metadata[bytes++] = (unsigned char)length;
    memcpy(metadata + bytes, full_target, (size_t)length);
    bytes += (size_t)length;

    const Elf64_Nhdr note = {.n_namesz = 7, .n_descsz = (Elf64_Word)bytes, .n_type = 32};
    const size_t note_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
    const size_t note_bytes = sizeof note + 8 + (bytes + 3) / 4 * 4;
    const Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = note_at, .p_filesz = note_bytes, .p_align = 4};
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 3},
        .e_type = ET_DYN,
        .e_machine = 224,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_shoff = note_at + note_bytes,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    memset(image, 0, SUPPORT_IMAGE_BYTES);
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, &segment, sizeof segment);
    memcpy(image + note_at, &note, sizeof note);
    memcpy(image + note_at + sizeof note, "AMDGPU", 7);
    memcpy(image + note_at + sizeof note + 8, metadata, bytes);
    return note_at + note_bytes;
}
