/* Code objects are loaded as their bytes say, and bytes that say nonsense are refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/image.h"
#include "isa_test.h"

static isa_test test;
static emu_memory memory;
static unsigned char *object;
static size_t object_bytes;

static void open_chip(void) {
    test = isa_test_open("gfx1151");
    memory = (emu_memory){0};
    object = NULL;
}

static void close_chip(void) {
    free(object);
    emu_memory_free_all(&memory);
    isa_test_close(&test);
}

TestSuite(image, .init = open_chip, .fini = close_chip);

/* Uses the places of a workgroup in the grid, the sizes of both, and LDS. */
static const char sample[] =
    ISA_TEST_KERNEL "(unsigned *out, unsigned short tail) {\n"
                    "    __attribute__((shared)) static unsigned words[24];\n"
                    "    unsigned item = __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y();\n"
                    "    unsigned group = __builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workgroup_id_z();\n"
                    "    words[item % 24] = item;\n"
                    "    __builtin_amdgcn_s_barrier();\n"
                    "    out[group] = words[(item + 1) % 24] + __builtin_amdgcn_workgroup_size_x() + tail;\n"
                    "}\n";

static void compile(const char *text, int wave) {
    object = isa_test_compile(&test, text, wave, &object_bytes);
}

static fmha_status load(isa_image *image) {
    return isa_image_load(&memory, "gfx1151", object, object_bytes, image);
}

static const struct isa_hidden *hidden_of(const isa_kernel *kernel, isa_hidden_kind kind, unsigned dimension) {
    for (size_t i = 0; i < kernel->hidden_count; i++) {
        if (kernel->hidden[i].kind == kind && kernel->hidden[i].dimension == dimension) {
            return &kernel->hidden[i];
        }
    }
    return NULL;
}

static void check_sample(unsigned wave) {
    isa_image image;
    compile(sample, (int)wave);
    cr_assert_eq(load(&image), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(image.kernel_count, 1);
    cr_assert_null(isa_image_find(&image, "kernels"));
    const isa_kernel *kernel = &isa_image_find(&image, "kernel")->kernel;
    cr_assert_eq(kernel->wave, wave);
    cr_assert_eq(kernel->lds_bytes, 96);
    cr_assert_eq(kernel->scratch_bytes, 0);
    cr_assert_eq(kernel->explicit_bytes, 10);
    cr_assert_eq(kernel->kernarg_bytes, 16 + 256); /* hidden arguments of version 5 take 256 bytes */
    cr_assert_eq(kernel->vgprs % (wave == 32 ? 8 : 4), 0);
    cr_assert_gt(kernel->vgprs, 0);
    cr_assert_eq(kernel->rsrc_properties & ISA_PROPERTY_WAVE32, wave == 32 ? ISA_PROPERTY_WAVE32 : 0);
    cr_assert_neq(kernel->rsrc_properties & ISA_USER_KERNARG_PTR, 0);
    cr_assert_neq(kernel->rsrc2 & ISA_RSRC2_GROUP_X, 0);
    cr_assert_neq(kernel->rsrc2 & ISA_RSRC2_GROUP_Z, 0);
    cr_assert_geq(kernel->rsrc2 >> ISA_RSRC2_ITEM_SHIFT & 3, 1);
    /* Round to nearest even everywhere; denormals of 16 and 64 bits kept, and of 32 bits as HIP has it. */
    cr_assert_eq(kernel->mode & 0xff, 0xf0);
    const struct isa_hidden *size = hidden_of(kernel, ISA_HIDDEN_GROUP_SIZE, 0);
    cr_assert_not_null(size);
    cr_assert_eq(size->offset, 16 + 12);
    cr_assert_eq(size->bytes, 2);
    /* The code is in memory as in the file, at the place that the bias tells. */
    const unsigned char *code = (const unsigned char *)(uintptr_t)(kernel->entry_address + kernel->bias);
    cr_assert_not_null(memmem(object, object_bytes, code, (size_t)kernel->code_bytes));
    cr_assert_geq(code, image.memory);
    cr_assert_leq(code + kernel->code_bytes, image.memory + image.bytes);
    isa_image_unload(&memory, &image);
    cr_assert_eq(memory.count, 0);
}

Test(image, wave32) {
    check_sample(32);
}

Test(image, wave64) {
    check_sample(64);
}

Test(image, hidden_arguments) {
    isa_image image;
    unsigned char kernarg[16 + 256];
    memset(kernarg, 0xaa, sizeof kernarg);
    compile(sample, 32);
    cr_assert_eq(load(&image), FMHA_OK, "%s", fmha_last_error());
    fmha_launch_config config = {.grid = {70000, 2, 3}, .workgroup = {64, 4, 1}};
    isa_image_hidden(&image.kernels[0].kernel, &config, kernarg);
    /* The offsets are those of the implicit arguments of code object version 5. */
    uint32_t counts[3];
    uint16_t sizes[7];
    uint64_t offsets[3];
    memcpy(counts, kernarg + 16, sizeof counts);
    memcpy(sizes, kernarg + 16 + 12, 12);
    memcpy(offsets, kernarg + 16 + 40, sizeof offsets);
    memcpy(&sizes[6], kernarg + 16 + 64, 2);
    cr_assert_arr_eq(counts, ((uint32_t[]){70000, 2, 3}), sizeof counts);
    cr_assert_arr_eq(sizes, ((uint16_t[]){64, 4, 1, 0, 0, 0, 3}), sizeof sizes);
    cr_assert_arr_eq(offsets, ((uint64_t[]){0, 0, 0}), sizeof offsets);
    cr_assert_eq(kernarg[15], 0xaa); /* what is no hidden argument stays */
    isa_image_unload(&memory, &image);
}

/* Constants stand in memory, and pointers among them point there: by relocations without a symbol, and of what other
 * objects could see with one. */
static void check_pointers(const char *text) {
    isa_image image;
    compile(text, 32);
    cr_assert_eq(load(&image), FMHA_OK, "%s", fmha_last_error());
    static const uint32_t numbers[2] = {0x12345678, 0x9abcdef0};
    const unsigned char *at = memmem(image.memory, image.bytes, numbers, sizeof numbers);
    cr_assert_not_null(at);
    uint64_t pointers[2] = {(uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)at + 4};
    cr_assert_not_null(memmem(image.memory, image.bytes, pointers, sizeof pointers));
    isa_image_unload(&memory, &image);
}

#define POINTERS                                                                                                       \
    "extern const unsigned numbers[2] = {0x12345678, 0x9abcdef0};\n"                                                   \
    "__attribute__((constant)) extern const unsigned *const pointers[2] = {numbers, numbers + 1};\n" ISA_TEST_KERNEL   \
    "(unsigned *out, unsigned i) { out[0] = *pointers[i]; }\n"
static const char pointers_inside[] = "__attribute__((constant)) " POINTERS;

/* Where the object has a relocation of a type without a symbol; the place that it changes is 8 bytes before. */
static unsigned char *find_relocation(uint64_t type) {
    unsigned char *at = memmem(object, object_bytes, &type, sizeof type);
    cr_assert_not_null(at);
    return at;
}

Test(image, constants_and_relocations) {
    check_pointers(pointers_inside);
    find_relocation(13); /* R_AMDGPU_RELATIVE64 */
}

Test(image, relocations_to_symbols) {
    check_pointers("__attribute__((constant)) __attribute__((visibility(\"default\"))) " POINTERS);
    static const uint32_t absolute[] = {3}; /* R_AMDGPU_ABS64, behind which the symbol's number stands */
    cr_assert_not_null(memmem(object, object_bytes, absolute, sizeof absolute));
    cr_assert_null(memmem(object, object_bytes, (uint64_t[]){13}, 8));
}

/* ---- Refusals -------------------------------------------------------------------------------------------- */

static void refuse(fmha_status status, const char *text) {
    isa_image image;
    cr_assert_eq(load(&image), status, "%s", fmha_last_error());
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(memory.count, 0);
}

/* Where a word stands in the object's metadata. */
static unsigned char *find_word(const char *word) {
    unsigned char *at = memmem(object, object_bytes, word, strlen(word));
    cr_assert_not_null(at);
    return at;
}

/* The descriptor: the only place with the kernel's sizes of LDS, scratch and arguments side by side. */
static unsigned char *find_descriptor(void) {
    static const uint32_t sizes[] = {96, 0, 272};
    unsigned char *at = memmem(object, object_bytes, sizes, sizeof sizes);
    cr_assert_not_null(at);
    return at;
}

Test(image, other_chip) {
    isa_image image;
    compile(sample, 32);
    cr_assert_eq(isa_image_load(&memory, "gfx1100", object, object_bytes, &image), FMHA_ERROR_WRONG_CHIP);
    cr_assert_str_eq(fmha_last_error(), "code object: expected one for gfx1100, got one for gfx1151: open isa:gfx1151 "
                                        "or compile for gfx1100");
}

Test(image, unknown_hidden_argument) {
    compile(sample, 32);
    memcpy(find_word("hidden_block_count_y"), "hidden_oracle_answer", 20);
    refuse(FMHA_ERROR_UNSUPPORTED, "kernel kernel: argument of kind 'hidden_oracle_answer': this device has no such "
                                   "thing to give: compile it without what needs that");
}

Test(image, unsupported_register) {
    compile(sample, 32);
    find_descriptor()[56] |= ISA_USER_QUEUE_PTR;
    refuse(FMHA_ERROR_UNSUPPORTED, "kernel kernel: its descriptor asks for ENABLE_SGPR_QUEUE_PTR, which this device "
                                   "does not have: compile it without what needs that");
}

Test(image, too_few_user_registers) {
    compile(sample, 32);
    find_descriptor()[52] &= 0xc1; /* USER_SGPR_COUNT 0 */
    refuse(FMHA_ERROR_ARGUMENT, "code object: descriptor of kernel kernel: USER_SGPR_COUNT: expected 2, got 0: the "
                                "file is damaged: compile it again");
}

Test(image, other_size_of_lds) {
    compile(sample, 32);
    find_descriptor()[1] = 1;
    refuse(FMHA_ERROR_ARGUMENT, "code object: descriptor of kernel kernel: GROUP_SEGMENT_FIXED_SIZE: expected 96, got "
                                "352: the file is damaged: compile it again");
}

Test(image, other_wave) {
    compile(sample, 32);
    find_descriptor()[57] &= 0xfb;
    refuse(FMHA_ERROR_ARGUMENT, "code object: descriptor of kernel kernel: lanes of a wave: expected 32, got 64: the "
                                "file is damaged: compile it again");
}

Test(image, other_rounding) {
    compile(sample, 32);
    find_descriptor()[49] ^= 0x10; /* FLOAT_ROUND_MODE_32 */
    refuse(FMHA_ERROR_UNSUPPORTED, "kernel kernel: expected it to begin with MODE 0x3f0 (rounding to nearest even, "
                                   "denormals kept), got 0x3f1: compile it without options that change rounding or "
                                   "flush denormals");
}

Test(image, entry_outside_code) {
    compile(sample, 32);
    unsigned char *entry = find_descriptor() + 16;
    memset(entry, 0, 8);
    isa_image image;
    cr_assert_eq(load(&image), FMHA_ERROR_ARGUMENT);
    cr_assert_not_null(strstr(fmha_last_error(), "descriptor of kernel kernel: expected an entry in a segment of code, "
                                                 "got 0x"));
}

Test(image, no_descriptor) {
    compile(sample, 32);
    /* The name in the table of symbols, behind a 0, is not the one in the metadata. */
    unsigned char *name = memmem(object, object_bytes, "\0kernel.kd", 11);
    cr_assert_not_null(name);
    name[1] = 'c';
    isa_image image;
    cr_assert_eq(load(&image), FMHA_ERROR_ARGUMENT);
    cr_assert_str_eq(fmha_last_error(), "code object: expected a descriptor kernel.kd in its segments, found none: the "
                                        "file is damaged: compile it again");
}

#define DAMAGED_METADATA                                                                                               \
    "code object: expected metadata with amdhsa.kernels, as code object version 3 and later have them, got something " \
    "else: the file is damaged: compile it again"

Test(image, damaged_metadata) {
    compile(sample, 32);
    *find_word(".symbol") = ',';
    refuse(FMHA_ERROR_ARGUMENT, DAMAGED_METADATA);
}

Test(image, hidden_argument_outside) {
    compile(sample, 32);
    static const unsigned char bytes[] = {0xcd, 0x01, 0x10}; /* 272 in MessagePack */
    unsigned char *at = find_word(".kernarg_segment_size") + strlen(".kernarg_segment_size");
    cr_assert_arr_eq(at, bytes, sizeof bytes);
    at[1] = 0;
    at[2] = 16 + 65; /* hidden_grid_dims has its first byte in it */
    refuse(FMHA_ERROR_ARGUMENT, DAMAGED_METADATA);
}

Test(image, entry_behind_the_code) {
    isa_image image;
    compile(sample, 32);
    cr_assert_eq(load(&image), FMHA_OK, "%s", fmha_last_error());
    uint64_t code_bytes = image.kernels[0].kernel.code_bytes, end = image.kernels[0].kernel.entry_address + code_bytes;
    isa_image_unload(&memory, &image);
    int64_t entry;
    unsigned char *at = find_descriptor() + 16;
    memcpy(&entry, at, sizeof entry);
    entry += (int64_t)code_bytes;
    memcpy(at, &entry, sizeof entry);
    char text[256];
    snprintf(
        text, sizeof text,
        "code object: descriptor of kernel kernel: expected an entry in a segment of code, got 0x%llx: the file is "
        "damaged: compile it again",
        (unsigned long long)end);
    refuse(FMHA_ERROR_ARGUMENT, text);
}

Test(image, relocation_over_the_end) {
    isa_image image;
    compile(pointers_inside, 32);
    cr_assert_eq(load(&image), FMHA_OK, "%s", fmha_last_error());
    uint64_t at = image.low + image.bytes - 4;
    isa_image_unload(&memory, &image);
    memcpy(find_relocation(13) - 8, &at, sizeof at);
    refuse(FMHA_ERROR_ARGUMENT, "code object: expected relocations inside its segments, got one outside: the file is "
                                "damaged: compile it again");
}

Test(image, unknown_relocation) {
    compile(pointers_inside, 32);
    *find_relocation(13) = 5;
    refuse(FMHA_ERROR_UNSUPPORTED, "code object: expected relocations R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64, got type "
                                   "5: link it again");
}

/* ---- Hostile bytes ----------------------------------------------------------------------------------------- */

/* Loads `bytes` in a block of just their size, where a sanitizer sees each byte too far. */
static void load_copy(const unsigned char *bytes, size_t count) {
    unsigned char *copy = malloc(count > 0 ? count : 1);
    cr_assert_not_null(copy);
    memcpy(copy, bytes, count);
    isa_image image;
    if (isa_image_load(&memory, "gfx1151", copy, count, &image) == FMHA_OK) {
        for (size_t i = 0; i < image.kernel_count; i++) {
            const isa_kernel *kernel = &image.kernels[i].kernel;
            cr_assert_leq(kernel->explicit_bytes, kernel->kernarg_bytes);
            cr_assert_leq(kernel->vgprs, ISA_VGPRS_MAX);
            cr_assert_geq(kernel->entry_address, image.low);
            cr_assert_leq(kernel->entry_address - image.low + kernel->code_bytes, image.bytes);
            unsigned char *kernarg = malloc(kernel->kernarg_bytes + 1);
            cr_assert_not_null(kernarg);
            isa_image_hidden(kernel, &(fmha_launch_config){.grid = {1, 1, 1}}, kernarg);
            free(kernarg);
        }
        isa_image_unload(&memory, &image);
    } else {
        cr_assert_neq(fmha_last_error()[0], '\0');
    }
    free(copy);
    cr_assert_eq(memory.count, 0);
}

Test(image, truncated, .timeout = 120) {
    compile(sample, 32);
    for (size_t count = 0; count < object_bytes; count += count < 2048 ? 1 : 37) {
        load_copy(object, count);
    }
}

Test(image, flipped_bits, .timeout = 120) {
    enum { ROUNDS = 20000 };
    uint64_t state = 5;
    compile(sample, 32);
    unsigned char *bytes = malloc(object_bytes);
    cr_assert_not_null(bytes);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(bytes, object, object_bytes);
        for (uint32_t flips = 1 + isa_test_random(&state) % 4; flips > 0; flips--) {
            bytes[isa_test_random(&state) % object_bytes] ^= (unsigned char)(1u << isa_test_random(&state) % 8);
        }
        load_copy(bytes, object_bytes);
    }
    free(bytes);
}

/* Bytes of any value in the headers, the metadata, the descriptor and the symbols, where flips alone rarely go. */
Test(image, overwritten_bytes, .timeout = 120) {
    enum { ROUNDS = 20000 };
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xc1, 0xdd, 0xdf, 0xff};
    uint64_t state = 6;
    compile(sample, 32);
    unsigned char *bytes = malloc(object_bytes);
    cr_assert_not_null(bytes);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(bytes, object, object_bytes);
        size_t at = isa_test_random(&state) % object_bytes, length = 1 + isa_test_random(&state) % 8;
        for (size_t i = at; i < at + length && i < object_bytes; i++) {
            bytes[i] = values[isa_test_random(&state) % sizeof values];
        }
        load_copy(bytes, object_bytes);
    }
    free(bytes);
}
