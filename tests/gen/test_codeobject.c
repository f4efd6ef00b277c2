/* Resources of real objects against the compiler's own words, and hostile objects of every kind. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/compiled.h"
#include "codeobject.h"

static const char *const to_text[] = {"-S", NULL}, *const to_text64[] = {"-S", "-DWAVE64", NULL};
static const char *const wave64[] = {"-DWAVE64", NULL};

static void assert_same(const struct resources *left, const struct resources *right) {
    cr_assert_str_eq(left->symbol, right->symbol);
    cr_assert_str_eq(left->target, right->target);
    cr_assert_eq(left->wave, right->wave);
    cr_assert_eq(left->vgpr, right->vgpr);
    cr_assert_eq(left->agpr, right->agpr);
    cr_assert_eq(left->sgpr, right->sgpr);
    cr_assert_eq(left->vgpr_spills, right->vgpr_spills);
    cr_assert_eq(left->sgpr_spills, right->sgpr_spills);
    cr_assert_eq(left->scratch_bytes, right->scratch_bytes);
    cr_assert_eq(left->lds_bytes, right->lds_bytes);
    cr_assert_eq(left->kernarg_bytes, right->kernarg_bytes);
    cr_assert_eq(left->waves_per_simd, right->waves_per_simd);
    cr_assert_eq(left->waves_by_vgpr, right->waves_by_vgpr);
    cr_assert_eq(left->waves_by_lds, right->waves_by_lds);
    cr_assert_eq(left->workgroup_max, right->workgroup_max);
}

static int number_after(const char *text, const char *words) {
    const char *found = strstr(text, words);
    cr_assert_not_null(found, "no '%s'", words);
    return atoi(found + strlen(words));
}

static void check_attention(int wave) {
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", wave, wave == 64 ? wave64 : NULL);
    struct compiled text =
        compile_file(sample_path("attention.hip"), "gfx1151", wave, wave == 64 ? to_text64 : to_text);
    struct resources from_object, from_text;
    struct error error;
    cr_assert(codeobject_resources(object.bytes, object.length, NULL, &from_object, &error), "%s", error.text);
    cr_assert(codeobject_resources_assembly(text.bytes, text.length, NULL, &from_text, &error), "%s", error.text);
    assert_same(&from_object, &from_text);
    cr_assert_str_eq(from_object.symbol, "attention");
    cr_assert_str_eq(from_object.target, "gfx1151");
    cr_assert_eq(from_object.wave, wave);
    cr_assert_eq(from_object.lds_bytes, 16 * 24 * 2);
    cr_assert_eq(from_object.workgroup_max, 128);
    cr_assert_eq(from_object.kernarg_bytes, 36);
    cr_assert_eq(from_object.scratch_bytes, 0);
    cr_assert_eq(from_object.vgpr, number_after(text.bytes, "; NumVgprs: "));
    cr_assert_eq(from_object.sgpr, number_after(text.bytes, "; TotalNumSgprs: "));
    cr_assert_eq(from_object.waves_by_vgpr, number_after(text.bytes, "; Occupancy: "));
    cr_assert(resources_clean(&from_object, &error));
    compiled_free(&object);
    compiled_free(&text);
}

Test(codeobject, resources_of_a_wave32_object) {
    check_attention(32);
}

Test(codeobject, resources_of_a_wave64_object) {
    check_attention(64);
}

Test(codeobject, an_object_without_program_headers_is_read_by_its_sections) {
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, NULL);
    struct resources linked, unlinked;
    struct error error;
    cr_assert(codeobject_resources(object.bytes, object.length, NULL, &linked, &error), "%s", error.text);
    memset(object.bytes + offsetof(Elf64_Ehdr, e_phnum), 0, sizeof(Elf64_Half));
    cr_assert(codeobject_resources(object.bytes, object.length, NULL, &unlinked, &error), "%s", error.text);
    assert_same(&linked, &unlinked);
    compiled_free(&object);
}

Test(codeobject, resources_of_text_are_the_kernels_and_not_its_arguments) {
    struct resources resources;
    struct error error;
    size_t length;
    char *text = read_sample("hand.s", &length);
    cr_assert(codeobject_resources_assembly(text, length, NULL, &resources, &error), "%s", error.text);
    const struct resources expected = {"hand", "gfx1151", 32, 47, 0, 14, 1, 0, 16, 2048, 8, 16, 16, 16, 128};
    assert_same(&resources, &expected);
    char *target = strstr(text, "amdhsa.target"); /* older compilers write the directive alone */
    memcpy(target, "amdhsa.absent", 13);
    cr_assert(codeobject_resources_assembly(text, length, NULL, &resources, &error), "%s", error.text);
    assert_same(&resources, &expected);
    memcpy(strstr(text, ".symbol:"), ".absent:", 8); /* then the name is the kernel's own, not its argument's */
    cr_assert(codeobject_resources_assembly(text, length, NULL, &resources, &error), "%s", error.text);
    assert_same(&resources, &expected);
    free(text);
}

/* ---- Spills ------------------------------------------------------------------------------------------------ */

Test(codeobject, a_kernel_that_spills_is_refused) {
    static const char *const few[] = {"-DFEW_REGISTERS=32", NULL};
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, few);
    struct resources resources;
    struct error error;
    char expected[600];
    cr_assert(codeobject_resources(object.bytes, object.length, "attention", &resources, &error), "%s", error.text);
    cr_assert_gt(resources.vgpr_spills, 0);
    cr_assert_gt(resources.scratch_bytes, 0);
    cr_assert_not(resources_clean(&resources, &error));
    snprintf(
        expected, sizeof expected,
        "attention: expected no spills and no scratch memory, got %d spilled VGPRs, 0 spilled SGPRs and %d bytes of "
        "scratch per work item with 32 VGPRs on gfx1151; take smaller tiles (--block-m, --block-k), more waves for "
        "the same tile (--waves), or Q in LDS (--q-path lds)",
        resources.vgpr_spills, resources.scratch_bytes);
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(error.kind, ERROR_RUN);
    compiled_free(&object);
}

Test(codeobject, each_kind_of_spill_is_refused_by_itself) {
    struct error error;
    const struct resources clean = {.symbol = "k", .vgpr = 256}, vector = {.symbol = "k", .vgpr_spills = 1},
                           scalar = {.symbol = "k", .sgpr_spills = 1}, scratch = {.symbol = "k", .scratch_bytes = 4};
    cr_assert(resources_clean(&clean, &error));
    cr_assert_not(resources_clean(&vector, &error));
    cr_assert_not(resources_clean(&scalar, &error));
    cr_assert_not(resources_clean(&scratch, &error));
}

/* ---- Waves per SIMD, against LLVM ---------------------------------------------------------------------------- */

/* A kernel for each number: it clobbers that vector register, so it uses one more. The numbers stand around the steps
 * in which chips hand registers out. */
static const int highest_register[] = {0,  7,  23, 24, 31,  32,  35,  36,  39,  40,  47,  48,  63,  64,  71, 72,
                                       83, 84, 95, 96, 112, 119, 120, 127, 128, 144, 168, 192, 216, 240, 255};
enum { KERNELS = sizeof highest_register / sizeof *highest_register };

static void compare_with_llvm(const char *arch, int wave) {
    static const char *const remarks[] = {"-Rpass-analysis=kernel-resource-usage", "-O1", NULL};
    char source[8192];
    size_t used = 0;
    for (int i = 0; i < KERNELS; i++) {
        used += (size_t)snprintf(source + used, sizeof source - used,
                                 "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) void "
                                 "k%d(int *p) { asm volatile(\"\" ::: \"v%d\"); *p = 0; }\n",
                                 i, highest_register[i]);
    }
    struct compiled object = compile_text(source, arch, wave, remarks);
    const char *words = object.words;
    for (int i = 0; i < KERNELS; i++) {
        struct resources resources;
        struct error error;
        char symbol[16], name[48];
        snprintf(symbol, sizeof symbol, "k%d", i);
        snprintf(name, sizeof name, "Function Name: %s ", symbol);
        words = strstr(words, name);
        cr_assert_not_null(words, "%s: no remark for %s", arch, symbol);
        cr_assert(codeobject_resources(object.bytes, object.length, symbol, &resources, &error), "%s", error.text);
        cr_assert_eq(resources.wave, wave);
        cr_assert_eq(resources.vgpr, number_after(words, " VGPRs: "), "%s %s", arch, symbol);
        cr_assert_eq(resources.waves_by_vgpr, number_after(words, "Occupancy [waves/SIMD]: "),
                     "%s wave%d with %d VGPRs: %d waves", arch, wave, resources.vgpr, resources.waves_by_vgpr);
    }
    compiled_free(&object);
}

Test(codeobject, waves_per_simd_are_those_of_llvm_on_rdna3) {
    static const char *const chips[] = {"gfx1100", "gfx1101", "gfx1102", "gfx1103",
                                        "gfx1150", "gfx1151", "gfx1152", "gfx1153"};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        compare_with_llvm(chips[i], 32);
        compare_with_llvm(chips[i], 64);
    }
}

Test(codeobject, waves_per_simd_are_those_of_llvm_on_other_chips) {
    static const char *const both[] = {"gfx1010", "gfx1030",         "gfx1036",       "gfx1200",
                                       "gfx1201", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"};
    static const char *const wide[] = {"gfx906", "gfx908",       "gfx90a",        "gfx942",
                                       "gfx950", "gfx9-generic", "gfx9-4-generic"};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        compare_with_llvm(both[i], 32);
        compare_with_llvm(both[i], 64);
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        compare_with_llvm(wide[i], 64);
    }
}

/* The compiler's own figures for a kernel that holds 64 accumulation registers: gfx908 keeps them in a second file as
 * large as the first, gfx90a and later behind the others (from accum_offset on), where they count for occupancy. */
Test(codeobject, accumulation_registers_are_counted_where_they_are) {
    static const struct {
        const char *arch;
        bool unified;
    } rows[] = {{"gfx908", false}, {"gfx90a", true}, {"gfx942", true}, {"gfx950", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compiled object = compile_text("extern \"C\" __attribute__((global)) void k(int *p) {\n"
                                              "  asm volatile(\"\" ::: \"v9\", \"a63\"); *p = 0;\n}\n",
                                              rows[i].arch, 64, NULL);
        struct resources resources;
        struct error error;
        cr_assert(codeobject_resources(object.bytes, object.length, NULL, &resources, &error), "%s", error.text);
        cr_assert_eq(resources.agpr, 64, "%s: %d", rows[i].arch, resources.agpr);
        cr_assert_eq(resources.vgpr, rows[i].unified ? 12 + 64 : 64, "%s: %d", rows[i].arch, resources.vgpr);
        cr_assert_eq(codeobject_unified_file(rows[i].arch), rows[i].unified);
        compiled_free(&object);
    }
    cr_assert_not(codeobject_unified_file("gfx1151"));
    cr_assert_not(codeobject_unified_file("gfx1300"));
}

static void expect_waves(const char *target, int wave, int vgpr, int lds_bytes, int workgroup, int by_lds, int waves) {
    struct resources resources = {.wave = wave, .vgpr = vgpr, .lds_bytes = lds_bytes, .workgroup_max = workgroup};
    strcpy(resources.target, target);
    resources.waves_by_vgpr = codeobject_waves_per_simd(target, wave, vgpr);
    resources_set_waves(&resources);
    cr_assert_eq(resources.waves_by_lds, by_lds, "%s, %d bytes: got %d by LDS", target, lds_bytes,
                 resources.waves_by_lds);
    cr_assert_eq(resources.waves_per_simd, waves, "%s, %d bytes: got %d", target, lds_bytes, resources.waves_per_simd);
}

Test(codeobject, lds_and_workgroups_bound_waves_too) {
    expect_waves("gfx1151", 32, 240, 64 << 10, 128, 2, 2);       /* two workgroups of four waves, on four SIMDs */
    expect_waves("gfx1151", 32, 240, (64 << 10) + 1, 128, 1, 1); /* one, since LDS is handed out in steps */
    expect_waves("gfx1151", 32, 240, 512, 128, 16, 6);           /* registers */
    expect_waves("gfx1151", 32, 240, 0, 128, 0, 6);
    expect_waves("gfx1151", 32, 240, 0, 512, 0, 4);       /* 24 places hold one workgroup of 16 waves */
    expect_waves("gfx900", 64, 24, 0, 128, 0, 8);         /* 16 barriers, of two waves each */
    expect_waves("gfx1151", 32, 240, 64 << 10, 32, 1, 1); /* two waves on four SIMDs */
    expect_waves("gfx1151", 32, 240, 40 << 10, 32, 1, 1);
    expect_waves("gfx1151", 64, 100, 64 << 10, 128, 1, 1);
    expect_waves("gfx942", 64, 128, 32 << 10, 256, 2, 2); /* 64 KiB of a compute unit */
    expect_waves("gfx950", 64, 128, 32 << 10, 256, 4, 4); /* 160 KiB, in steps of 1280: 26 take 33280 bytes */
    expect_waves("gfx1300", 32, 100, 1024, 128, 0, 0);
}

Test(codeobject, waves_per_simd_by_hand) {
    cr_assert_eq(codeobject_waves_per_simd("gfx1151", 32, 222), 6); /* 240 of 1536 */
    cr_assert_eq(codeobject_waves_per_simd("gfx1102", 32, 222), 4); /* 224 of 1024 */
    cr_assert_eq(codeobject_waves_per_simd("gfx1151", 64, 222), 3); /* 228 of 768 */
    cr_assert_eq(codeobject_waves_per_simd("gfx1102", 64, 222), 2); /* 224 of 512 */
    cr_assert_eq(codeobject_waves_per_simd("gfx1151", 32, 0), 16);
    cr_assert_eq(codeobject_waves_per_simd("gfx942:sramecc+:xnack-", 64, 512), 1);
    cr_assert_eq(codeobject_waves_per_simd("gfx942", 32, 100), 0); /* has no wave32 */
    cr_assert_eq(codeobject_waves_per_simd("gfx1300", 32, 100), 0);
    cr_assert_eq(codeobject_waves_per_simd("", 32, 100), 0);
    cr_assert_eq(codeobject_waves_per_simd("gfx1102", 32, 2000), 0);
}

/* ---- The chip --------------------------------------------------------------------------------------------------- */

/* Without the note's target the chip comes from the ELF flags: both must name the same. */
static void check_flags(const char *arch) {
    struct compiled object = compile_text("extern \"C\" __attribute__((global)) void k(int *p) { *p = 0; }", arch,
                                          strncmp(arch, "gfx9", 4) == 0 ? 64 : 32, NULL);
    struct resources named, flagged;
    struct error error;
    cr_assert(codeobject_resources(object.bytes, object.length, NULL, &named, &error), "%s", error.text);
    cr_assert_str_eq(named.target, arch);
    char *key = memmem(object.bytes, object.length, "amdhsa.target", 13);
    cr_assert_not_null(key);
    memcpy(key, "amdhsa.absent", 13);
    cr_assert(codeobject_resources(object.bytes, object.length, NULL, &flagged, &error), "%s", error.text);
    assert_same(&named, &flagged);
    compiled_free(&object);
}

Test(codeobject, the_chip_is_also_read_from_the_flags) {
    static const char *const chips[] = {
        "gfx900",        "gfx906",        "gfx908",       "gfx90a",         "gfx942",          "gfx942:sramecc+:xnack-",
        "gfx950",        "gfx1010",       "gfx1030",      "gfx1100",        "gfx1101",         "gfx1102",
        "gfx1103",       "gfx1150",       "gfx1151",      "gfx1152",        "gfx1153",         "gfx1200",
        "gfx1201",       "gfx1250",       "gfx9-generic", "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic",
        "gfx11-generic", "gfx12-generic", "gfx90a:xnack+"};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        check_flags(chips[i]);
    }
}

/* ---- Which kernel ---------------------------------------------------------------------------------------------------
 */

Test(codeobject, the_kernel_is_chosen_by_name) {
    static const char source[] = "extern \"C\" __attribute__((global)) void one(int *p) { *p = 0; }\n"
                                 "extern \"C\" __attribute__((global)) void two(int *p, int q) { *p = q; }\n";
    struct compiled object = compile_text(source, "gfx1151", 32, NULL),
                    text = compile_text(source, "gfx1151", 32, to_text);
    struct resources resources;
    struct error error;
    cr_assert(codeobject_resources(object.bytes, object.length, "two", &resources, &error), "%s", error.text);
    cr_assert_str_eq(resources.symbol, "two");
    cr_assert_eq(resources.kernarg_bytes, 12);
    cr_assert(codeobject_resources_assembly(text.bytes, text.length, "one", &resources, &error), "%s", error.text);
    cr_assert_str_eq(resources.symbol, "one");
    cr_assert_eq(resources.kernarg_bytes, 8);
    cr_assert_not(codeobject_resources(object.bytes, object.length, NULL, &resources, &error));
    cr_assert_str_eq(error.text, "code object: expected one kernel, got 2: one, two; name one of them");
    cr_assert_eq(error.kind, ERROR_USAGE);
    cr_assert_not(codeobject_resources(object.bytes, object.length, "three", &resources, &error));
    cr_assert_str_eq(error.text, "code object: expected kernel 'three', got one, two; name one of those");
    cr_assert_not(codeobject_resources_assembly(text.bytes, text.length, NULL, &resources, &error));
    cr_assert_str_eq(error.text, "code object: expected one kernel, got 2: one, two; name one of them");
    cr_assert_eq(resources.kernarg_bytes, 0);
    compiled_free(&object);
    compiled_free(&text);
}

/* ---- What is no code object
 * ------------------------------------------------------------------------------------------- */

static void refused(const void *bytes, size_t length, const char *expected) {
    struct resources resources;
    struct error error;
    struct guarded copy = guarded_copy(bytes, length);
    cr_assert_not(codeobject_resources(copy.bytes, length, NULL, &resources, &error));
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(error.kind, ERROR_USAGE);
    guarded_free(&copy);
}

Test(codeobject, other_files_are_refused) {
    static const char bundle[] =
        "code object: expected a bare ELF file, got a clang offload bundle; compile with "
        "--no-gpu-bundle-output or take the chip's part out with clang-offload-bundler --unbundle";
    refused("", 0,
            "code object: expected an ELF file, got 0 bytes of something else; give a code object as fmhagen build or "
            "clang "
            "--offload-device-only writes it");
    refused("#!/bin/sh", 9,
            "code object: expected an ELF file, got 9 bytes of something else; give a code object as fmhagen build or "
            "clang "
            "--offload-device-only writes it");
    refused("__CLANG_OFFLOAD_BUNDLE__\2", 25, bundle);
    refused("CCOB\2", 5, bundle);
    refused(
        "\177ELF\2\1", 6,
        "code object: ELF header: expected 64 bytes at offset 0, got a file of 6 bytes; it is cut short or damaged: "
        "compile it again");
    Elf64_Ehdr host = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB}, .e_machine = EM_X86_64};
    refused(
        &host, sizeof host,
        "code object: expected an ELF file for AMD GPUs (machine 224, 64-bit, little endian), got machine 62, class 2, "
        "byte order 1; compile with --offload-device-only");
    host.e_machine = EM_AMDGPU;
    refused(&host, sizeof host,
            "code object: expected an AMDGPU metadata note (code object version 3 and later), found none; compile it "
            "with a "
            "current compiler, unstripped");
    host.e_phnum = 3;
    host.e_phentsize = sizeof(Elf64_Phdr);
    host.e_phoff = 1000;
    refused(
        &host, sizeof host,
        "code object: program headers: expected 168 bytes at offset 1000, got a file of 64 bytes; it is cut short or "
        "damaged: compile it again");
    host.e_phoff = UINT64_MAX - 8;
    refused(&host, sizeof host,
            "code object: program headers: expected 168 bytes at offset 18446744073709551607, got a file of 64 bytes; "
            "it is "
            "cut short or damaged: compile it again");
}

/* An ELF file with nothing but a note that holds `metadata`, directly before a page that cannot be read. */
static struct guarded make_object(const void *metadata, size_t length, size_t *total) {
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        Elf64_Nhdr note;
        char name[8];
    } head;
    memset(&head, 0, sizeof head);
    memcpy(head.header.e_ident, "\177ELF\2\1\1", 7);
    head.header.e_machine = EM_AMDGPU;
    head.header.e_flags = 0x4a;
    head.header.e_phoff = offsetof(__typeof__(head), segment);
    head.header.e_phentsize = sizeof head.segment;
    head.header.e_phnum = 1;
    head.segment.p_type = PT_NOTE;
    head.segment.p_offset = offsetof(__typeof__(head), note);
    head.segment.p_filesz = sizeof head.note + sizeof head.name + length;
    head.note = (Elf64_Nhdr){.n_namesz = 7, .n_descsz = (Elf64_Word)length, .n_type = 32};
    memcpy(head.name, "AMDGPU", 7);
    size_t head_bytes = offsetof(__typeof__(head), name) + sizeof head.name;
    char *whole = malloc(head_bytes + length);
    cr_assert_not_null(whole);
    memcpy(whole, &head, head_bytes);
    memcpy(whole + head_bytes, metadata, length);
    *total = head_bytes + length;
    struct guarded copy = guarded_copy(whole, *total);
    free(whole);
    return copy;
}

/* Every encoding that MessagePack has for the same kernel. */
Test(codeobject, every_encoding_of_a_number_is_read) {
    // clang-format off
    static const char metadata[] = "\x81\xae" "amdhsa.kernels" "\xdc\x00\x01\xde\x00\x0d"
        "\xa5" ".name" "\xd9\x01k"
        "\xa6" ".other" "\x93\xc0\xca" "1234" "\x82\xa1" "a" "\xcb" "12345678" "\xa1" "b" "\xdd\x00\x00\x00\x01\xc2"
        "\xa5" ".blob" "\xc5\x00\x03xyz"
        "\xa4" ".ext" "\xd6\x01" "wxyz"
        "\xa5" ".ext2" "\xc7\x02\x05" "ab"
        "\xa6" ".minus" "\xff"
        "\xa6" ".false" "\xc2"
        "\xd9\x0b" ".vgpr_count" "\xcc\xc8"
        "\xda\x00\x0b" ".agpr_count" "\xd0\x07"
        "\xdb\x00\x00\x00\x0b" ".sgpr_count" "\xcd\x01\x02"
        "\xaf" ".wavefront_size" "\xce\x00\x00\x00\x20"
        "\xb9" ".group_segment_fixed_size" "\xcf\x00\x00\x00\x00\x00\x01\x00\x00"
        "\xb5" ".kernarg_segment_size" "\xd3\x00\x00\x00\x00\x00\x00\x00\x60";
    // clang-format on
    size_t total;
    struct resources resources;
    struct error error;
    struct guarded object = make_object(metadata, sizeof metadata - 1, &total);
    cr_assert(codeobject_resources(object.bytes, total, NULL, &resources, &error), "%s", error.text);
    const struct resources expected = {.symbol = "k",
                                       .target = "gfx1151",
                                       .wave = 32,
                                       .vgpr = 200,
                                       .agpr = 7,
                                       .sgpr = 258,
                                       .lds_bytes = 65536,
                                       .kernarg_bytes = 96,
                                       .waves_by_vgpr = 7,
                                       .waves_per_simd = 7}; /* the size of a workgroup is not known */
    assert_same(&resources, &expected);
    guarded_free(&object);
    for (size_t length = 0; length < sizeof metadata - 1; length++) { /* cut anywhere, it is refused */
        object = make_object(metadata, length, &total);
        cr_assert_not(codeobject_resources(object.bytes, total, NULL, &resources, &error), "%zu bytes", length);
        guarded_free(&object);
    }
}

static void damaged(const void *metadata, size_t length) {
    size_t total;
    char expected[200];
    struct resources resources;
    struct error error;
    struct guarded object = make_object(metadata, length, &total);
    cr_assert_not(codeobject_resources(object.bytes, total, NULL, &resources, &error));
    snprintf(
        expected, sizeof expected,
        "code object: metadata note of %zu bytes: expected MessagePack with amdhsa.kernels, got something else; it is "
        "damaged: compile it again",
        length);
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(resources.symbol[0], 0);
    guarded_free(&object);
}

#define DAMAGED(bytes) damaged(bytes, sizeof bytes - 1)

// clang-format off
#define KERNELS_KEY "\x81\xae" "amdhsa.kernels"
// clang-format on

Test(codeobject, hostile_metadata_is_refused_at_once) {
    static const char empty_list[] = KERNELS_KEY "\x90";
    size_t total, deep = 1 << 20;
    struct resources resources;
    struct error error;
    DAMAGED("\xdd\xff\xff\xff\xff");                                    /* no map */
    DAMAGED("\xdf\xff\xff\xff\xff");                                    /* a map of 2^32 - 1 entries */
    DAMAGED("\x81\xa1x\xdd\xff\xff\xff\xff");                           /* an array that long */
    DAMAGED("\x81\xa1x\xdb\xff\xff\xff\xff");                           /* a string that long */
    DAMAGED("\x81\xa1x\xc6\xff\xff\xff\xff");                           /* bytes that long */
    DAMAGED("\x81\xa1x\xc9\xff\xff\xff\xff");                           /* an extension that long */
    DAMAGED("\x81\xa1x\xc1");                                           /* a tag that is never used */
    DAMAGED(KERNELS_KEY "\xdd\xff\xff\xff\xff");                        /* kernels without end */
    DAMAGED(KERNELS_KEY "\x91\x81\xab.vgpr_count\xa1x");                /* text for a number */
    DAMAGED(KERNELS_KEY "\x91\x81\xab.vgpr_count\xff");                 /* less than nothing */
    DAMAGED(KERNELS_KEY "\x91\x81\xab.vgpr_count\xd0\x80");             /* likewise */
    DAMAGED(KERNELS_KEY "\x91\x81\xab.vgpr_count\xce\x80\x00\x00\x00"); /* more than an int */
    char *nested = malloc(deep);
    cr_assert_not_null(nested);
    memcpy(nested, "\x81\xa1x", 3);
    memset(nested + 3, 0x91, deep - 3); /* a million arrays in each other */
    damaged(nested, deep);
    free(nested);
    struct guarded object = make_object(empty_list, sizeof empty_list - 1, &total);
    cr_assert_not(codeobject_resources(object.bytes, total, NULL, &resources, &error));
    cr_assert_str_eq(error.text,
                     "code object: expected a kernel, its metadata lists none; compile a kernel for the device");
    guarded_free(&object);
}

Test(codeobject, a_wave_of_no_size_is_refused) {
    static const char metadata[] = KERNELS_KEY "\x91\x81\xa5.name\xa1k";
    size_t total;
    struct resources resources;
    struct error error;
    struct guarded object = make_object(metadata, sizeof metadata - 1, &total);
    cr_assert_not(codeobject_resources(object.bytes, total, NULL, &resources, &error));
    cr_assert_str_eq(error.text, "code object: expected .wavefront_size 32 or 64, got 0; compile it again");
    guarded_free(&object);
}

/* ---- Random damage
 * -------------------------------------------------------------------------------------------------------- */

Test(codeobject, a_cut_object_never_reads_past_its_end, .timeout = 60) {
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, NULL);
    struct resources resources;
    struct error error;
    for (size_t length = 0; length < object.length && length < 2048; length++) {
        struct guarded copy = guarded_copy(object.bytes, length);
        bool good = codeobject_resources(copy.bytes, length, NULL, &resources, &error);
        cr_assert(!good || length > 0x238, "%zu bytes", length); /* the note begins there */
        guarded_free(&copy);
    }
    compiled_free(&object);
}

Test(codeobject, a_damaged_object_never_reads_past_its_end, .timeout = 60) {
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, NULL);
    struct guarded copy = guarded_copy(object.bytes, object.length);
    struct resources resources;
    struct error error;
    unsigned state = 20240229;
    int refusals = 0, rounds = 20000;
    for (int round = 0; round < rounds; round++) {
        memcpy(copy.bytes, object.bytes, object.length);
        for (unsigned flips = 1 + next_random(&state) % 4; flips > 0; flips--) { /* in headers and note */
            copy.bytes[next_random(&state) % 0x520] = (char)next_random(&state);
        }
        refusals += !codeobject_resources(copy.bytes, object.length, NULL, &resources, &error);
    }
    cr_assert(refusals > rounds / 20 && refusals < rounds, "%d of %d refused: the damage misses its aim", refusals,
              rounds);
    guarded_free(&copy);
    compiled_free(&object);
}

Test(codeobject, cut_and_damaged_text_is_read_or_refused, .timeout = 60) {
    struct resources resources;
    struct error error;
    size_t length;
    char *text = read_sample("hand.s", &length);
    const char *metadata = strstr(text, "\t.amdgpu_metadata");
    size_t count = length - (size_t)(metadata - text);
    for (size_t cut = 0; cut < count; cut++) {
        struct guarded copy = guarded_copy(metadata, cut);
        codeobject_resources_assembly(copy.bytes, cut, NULL, &resources, &error);
        guarded_free(&copy);
    }
    struct guarded copy = guarded_copy(metadata, count);
    unsigned state = 7;
    for (int round = 0; round < 20000; round++) {
        memcpy(copy.bytes, metadata, count);
        copy.bytes[next_random(&state) % count] = " :-\n'\"x9"[next_random(&state) % 8];
        codeobject_resources_assembly(copy.bytes, count, NULL, &resources, &error);
    }
    guarded_free(&copy);
    char *number = strstr(text, ".vgpr_count:     47");
    memcpy(number, ".vgpr_count:     4x", 19);
    cr_assert_not(codeobject_resources_assembly(text, length, NULL, &resources, &error));
    cr_assert_str_eq(error.text,
                     "assembly: metadata: expected a number for .vgpr_count, got '4x'; give what the compiler "
                     "wrote");
    cr_assert_not(codeobject_resources_assembly("nothing", 7, NULL, &resources, &error));
    cr_assert_str_eq(error.text,
                     "assembly: expected .amdgpu_metadata, found none; give what the compiler wrote, not its "
                     "disassembly");
    free(text);
}
