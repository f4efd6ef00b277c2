/* What is read of cubins: one made here by hand, the same damaged, and one that a real nvcc makes. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobject.h"
#include "compiler.h"

enum { SHSTRTAB = 1, STRTAB, SYMTAB, INFO, INFO_K, SHARED_K, CONSTANT, SECTIONS };

static const char names[] = "\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.nv.info.k\0.nv.shared.k\0.nv.constant3";
static const char symbols[] = "\0fmha_lds_bytes\0other\0k";

struct file {
    unsigned char bytes[2048];
    size_t length;
    Elf64_Shdr section[SECTIONS];
};

static uint32_t name_of(const char *strings, size_t size, const char *name) {
    for (size_t i = 0; i < size; i += strlen(strings + i) + 1) {
        if (strcmp(strings + i, name) == 0) {
            return (uint32_t)i;
        }
    }
    cr_assert_fail("%s", name);
    return 0;
}

static void put(struct file *file, int section, const char *name, uint32_t type, const void *bytes, size_t size) {
    Elf64_Shdr *header = &file->section[section];
    header->sh_name = name_of(names, sizeof names, name);
    header->sh_type = type;
    header->sh_offset = file->length;
    header->sh_size = size;
    if (type != SHT_NOBITS) {
        memcpy(file->bytes + file->length, bytes, size);
        file->length += (size + 7) / 8 * 8;
    }
}

/* A cubin for sm_90 of one kernel `k`: 168 registers, a frame of `frame` bytes, 256 bytes of fixed LDS, 40000 of
 * dynamic. */
static struct file make(uint32_t frame, uint32_t registers) {
    const uint32_t info[] = {0x00082f04, 3, registers, 0x00082f04, 1, 12, 0x00081104, 3, frame, 0x00081104, 1, 8};
    const uint32_t own[] = {0x000c0504, 128, 2, 1, 0x00b41903, 0x00003701};
    const uint32_t wanted = 40000;
    const Elf64_Sym table[] = {
        {0},
        {.st_name = name_of(symbols, sizeof symbols, "other")},
        {.st_name = name_of(symbols, sizeof symbols, "fmha_lds_bytes"), .st_shndx = CONSTANT, .st_size = 4},
        {.st_name = name_of(symbols, sizeof symbols, "k")}};
    struct file file = {.length = sizeof(Elf64_Ehdr)};
    put(&file, SHSTRTAB, ".shstrtab", SHT_STRTAB, names, sizeof names);
    put(&file, STRTAB, ".strtab", SHT_STRTAB, symbols, sizeof symbols);
    put(&file, SYMTAB, ".symtab", SHT_SYMTAB, table, sizeof table);
    file.section[SYMTAB].sh_link = STRTAB;
    put(&file, INFO, ".nv.info", SHT_PROGBITS, info, sizeof info);
    put(&file, INFO_K, ".nv.info.k", SHT_PROGBITS, own, sizeof own);
    put(&file, SHARED_K, ".nv.shared.k", SHT_NOBITS, NULL, 1024 + 256);
    put(&file, CONSTANT, ".nv.constant3", SHT_PROGBITS, &wanted, sizeof wanted);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 41, 8},
        .e_type = ET_EXEC,
        .e_machine = EM_CUDA,
        .e_flags = 90 << 8 | 4,
        .e_shoff = file.length,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = SHSTRTAB,
    };
    memcpy(file.bytes, &header, sizeof header);
    memcpy(file.bytes + file.length, file.section, sizeof file.section);
    file.length += sizeof file.section;
    return file;
}

static void expect_error(const struct file *file, const char *symbol, const char *text) {
    struct resources got = {.vgpr = 1};
    struct error error;
    cr_assert_not(codeobject_resources(file->bytes, file->length, symbol, &got, &error));
    cr_assert_str_eq(error.text, text);
    cr_assert(got.vgpr == 0 && got.symbol[0] == 0 && got.target[0] == 0);
}

Test(cubin, says_what_its_records_say) {
    const struct file file = make(0, 168);
    struct resources got;
    struct error error;
    cr_assert(codeobject_resources(file.bytes, file.length, NULL, &got, &error), "%s", error.text);
    cr_assert_str_eq(got.symbol, "k");
    cr_assert_str_eq(got.target, "sm_90");
    cr_assert(got.wave == 32 && got.vgpr == 168 && got.scratch_bytes == 0 && got.workgroup_max == 256);
    cr_assert(got.lds_bytes == 256 + 40000 && got.kernarg_bytes == 180);
    cr_assert(got.waves_by_vgpr == 3 && got.waves_per_simd == 2, "%d, %d", got.waves_by_vgpr, got.waves_per_simd);
    cr_assert(resources_clean(&got, &error));
    cr_assert(codeobject_resources(file.bytes, file.length, "k", &got, &error), "%s", error.text);
}

Test(cubin, a_stack_frame_is_what_spills) {
    const struct file file = make(48, 255);
    struct resources got;
    struct error error;
    cr_assert(codeobject_resources(file.bytes, file.length, NULL, &got, &error), "%s", error.text);
    cr_assert_eq(got.scratch_bytes, 48);
    cr_assert_not(resources_clean(&got, &error));
}

Test(cubin, what_is_missing_is_named) {
    struct file file = make(0, 168);
    expect_error(&file, "other", "code object: expected kernel 'other', got k; name one of those");
    file = make(0, 0);
    expect_error(&file, NULL,
                 "code object: expected the number of registers of 'k' in .nv.info, got none; compile it again");
    file = make(0, 168);
    memcpy(memmem(file.bytes, file.length, ".nv.info.k", 10), ".nv.else.k", 10);
    expect_error(&file, NULL, "code object: expected a kernel, the cubin has none; compile a kernel for the device");
    file = make(0, 168);
    *(char *)memmem(file.bytes, file.length, ".nv.info.k", 11) = '\0'; /* a section without a name */
    expect_error(&file, NULL, "code object: expected a kernel, the cubin has none; compile a kernel for the device");
    file = make(0, 168);
    ((char *)memmem(file.bytes, file.length, ".nv.info.k", 11))[9] = '\0'; /* a kernel without one */
    expect_error(&file, NULL, "code object: expected a kernel, the cubin has none; compile a kernel for the device");
}

Test(cubin, numbers_that_are_too_large_are_the_largest) {
    struct file file = make(UINT32_MAX, 168);
    struct resources got;
    struct error error;
    Elf64_Shdr shared = file.section[SHARED_K];
    shared.sh_size = UINT64_MAX;
    memcpy(file.bytes + file.length - (SECTIONS - SHARED_K) * sizeof shared, &shared, sizeof shared);
    cr_assert(codeobject_resources(file.bytes, file.length, NULL, &got, &error), "%s", error.text);
    cr_assert(got.lds_bytes == INT32_MAX && got.scratch_bytes == INT32_MAX, "%d", got.lds_bytes);
}

/* Cut anywhere, and each byte changed: read or refused, never a byte outside (copies on the heap let the address
 * sanitizer see that), nothing left over from what was refused. */
Test(cubin, damage_is_read_safely) {
    static const unsigned char damages[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    const struct file file = make(0, 168);
    struct resources got;
    struct error error;
    for (size_t kept = 0; kept < file.length; kept++) {
        unsigned char *copy = malloc(kept + 1);
        cr_assert_not_null(copy);
        memcpy(copy, file.bytes, kept);
        cr_assert_not(codeobject_resources(copy, kept, NULL, &got, &error), "%zu of %zu bytes", kept, file.length);
        free(copy);
    }
    for (size_t at = 0; at < file.length; at++) {
        for (size_t i = 0; i < sizeof damages; i++) {
            unsigned char *copy = malloc(file.length);
            cr_assert_not_null(copy);
            memcpy(copy, file.bytes, file.length);
            copy[at] = damages[i];
            bool read = codeobject_resources(copy, file.length, NULL, &got, &error);
            cr_assert(read || got.symbol[0] == 0);
            free(copy);
        }
    }
}

/* A kernel with fixed LDS, whose array of 4 KiB a thread cannot be in registers. */
Test(cubin, of_a_real_compiler) {
    static const fmha_source source = {
        .text = "extern \"C\" __constant__ const unsigned fmha_lds_bytes = 4096;\n"
                "extern \"C\" __global__ __launch_bounds__(96) void k(float *p, int n) {\n"
                "    __shared__ float lds[100]; float mine[1024];\n"
                "    for (int i = 0; i < 1024; i++) mine[i] = p[i * n];\n"
                "    lds[threadIdx.x] = mine[n]; __syncthreads(); p[threadIdx.x] = lds[n] + mine[p != 0]; }\n",
        .symbol = "k",
        .wave = 32};
    static const char *const chips[] = {"sm_80", "sm_90"};
    for (size_t i = 0; i < 2; i++) {
        fmha_compiler compiler;
        void *image;
        size_t length;
        struct resources got;
        struct error error;
        if (fmha_compiler_find(chips[i], &compiler) != FMHA_OK) {
            cr_skip_test("no nvcc is installed here");
        }
        cr_assert_eq(fmha_compiler_compile_source(&compiler, chips[i], &source, &image, &length), FMHA_OK, "%s",
                     fmha_last_error());
        cr_assert(codeobject_resources(image, length, "k", &got, &error), "%s", error.text);
        cr_assert_str_eq(got.target, chips[i]);
        cr_assert(got.vgpr >= 8 && got.vgpr <= 255 && got.scratch_bytes == 4096, "%d, %d", got.vgpr, got.scratch_bytes);
        cr_assert(got.workgroup_max == 96 && got.kernarg_bytes == 12, "%d, %d", got.workgroup_max, got.kernarg_bytes);
        cr_assert(got.lds_bytes == 4496, "%d", got.lds_bytes);
        free(image);
    }
}
