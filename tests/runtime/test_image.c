#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "image.h"
#include "support.h"

#define CURE "; make it with `fmhagen build`, or with --offload-device-only --no-gpu-bundle-output"

static void expect_refusal(const void *bytes, size_t count, const char *text) {
    char target[FMHA_TARGET_BYTES];
    cr_assert_eq(fmha_image_target("image", bytes, count, target), FMHA_ERROR_ARGUMENT);
    cr_assert_str_eq(fmha_last_error(), text);
}

Test(image, names_its_target) {
    static const char *const targets[] = {"gfx1151", "gfx942:sramecc+:xnack-", "gfx11-generic", "sm_90", "sm_90a",
                                          "sm_89"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        unsigned char image[SUPPORT_IMAGE_BYTES];
        char target[FMHA_TARGET_BYTES];
        size_t count = support_make_image(targets[i], image);
        cr_assert_eq(fmha_image_target("image", image, count, target), FMHA_OK, "%s", fmha_last_error());
        cr_assert_str_eq(target, targets[i]);
    }
}

Test(image, other_bytes_are_refused) {
    expect_refusal("", 0, "image: expected an ELF code object, got 0 other bytes" CURE);
    expect_refusal("#!/bin/sh\n", 10, "image: expected an ELF code object, got 10 other bytes" CURE);
    expect_refusal("__CLANG_OFFLOAD_BUNDLE__\2\0\0", 27,
                   "image: expected a bare code object, got an offload bundle" CURE);
    expect_refusal("CCOB\2\0\0\0", 8, "image: expected a bare code object, got an offload bundle" CURE);
}

static void expect_refusal_of_type(uint16_t machine, uint16_t type) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    char text[300];
    size_t count = support_make_image("gfx1151", image);
    memcpy(image + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    memcpy(image + offsetof(Elf64_Ehdr, e_type), &type, sizeof type);
    snprintf(text, sizeof text,
             "image: expected a linked code object for an AMD GPU (ELF machine 224, type 3) or a cubin (machine 190, "
             "type 2), got machine %d, type %d" CURE,
             machine, type);
    expect_refusal(image, count, text);
}

Test(image, host_object_is_refused) {
    expect_refusal_of_type(EM_X86_64, ET_DYN);
}

Test(image, unlinked_object_is_refused) {
    expect_refusal_of_type(224, ET_REL);
    expect_refusal_of_type(190, ET_REL);
}

Test(image, without_a_target_is_refused) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t count = support_make_image("gfx1151", image);
    unsigned char *key = memmem(image, count, "amdhsa.target", 13);
    memcpy(key, "amdhsa.tarpit", 13);
    expect_refusal(
        image, count,
        "image: expected a code object that names its target (code object version 4 and later), got one that "
        "does not" CURE);
}

/* Each prefix is either refused or, when only bytes that nothing points at are gone, read; nothing past its end is
 * touched: the copy on the heap lets AddressSanitizer see that. */
Test(image, torn_file_is_refused) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    size_t count = support_make_image("gfx1151", image);
    for (size_t kept = 1; kept < count; kept++) {
        char target[FMHA_TARGET_BYTES];
        unsigned char *part = malloc(kept);
        cr_assert_not_null(part);
        memcpy(part, image, kept);
        cr_assert_eq(fmha_image_target("image", part, kept, target), FMHA_ERROR_ARGUMENT, "%zu of %zu bytes", kept,
                     count);
        free(part);
    }
    char text[200];
    snprintf(text, sizeof text,
             "image: expected a whole code object, got %zu bytes of one that is torn or damaged" CURE, count - 1);
    expect_refusal(image, count - 1, text);
}

/* Damage one byte at a time, also slightly, as a length would be: no crash, no read outside, and never a target that is
 * not a string. */
Test(image, damaged_file_is_read_safely) {
    unsigned char image[SUPPORT_IMAGE_BYTES];
    static const unsigned char damages[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t count = support_make_image("gfx1151", image);
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < 40; i++) {
            char target[FMHA_TARGET_BYTES];
            unsigned char *copy = malloc(count);
            cr_assert_not_null(copy);
            memcpy(copy, image, count);
            copy[at] = i < 5 ? damages[i] : (unsigned char)(copy[at] + i);
            if (fmha_image_target("image", copy, count, target) == FMHA_OK) {
                cr_assert_lt(strnlen(target, sizeof target), sizeof target);
            }
            free(copy);
        }
    }
}

Test(image, fits_its_chip) {
    cr_assert(fmha_image_fits("gfx1151", "gfx1151"));
    cr_assert_not(fmha_image_fits("gfx1151", "gfx1100"));
    cr_assert_not(fmha_image_fits("gfx115", "gfx1151"));
    cr_assert_not(fmha_image_fits("gfx1151", "gfx115"));
    cr_assert(fmha_image_fits("gfx942", "gfx942:sramecc+:xnack-"));
    cr_assert(fmha_image_fits("gfx942:xnack-", "gfx942:sramecc+:xnack-"));
    cr_assert_not(fmha_image_fits("gfx942:xnack+", "gfx942:sramecc+:xnack-"));
    cr_assert_not(fmha_image_fits("gfx942:sramecc-:xnack-", "gfx942:sramecc+:xnack-"));
    cr_assert_not(fmha_image_fits("gfx908:xnack-", "gfx90a:xnack-"));
    cr_assert(fmha_image_fits("sm_90", "sm_90"));
    cr_assert(fmha_image_fits("sm_80", "sm_89"), "later chips of one major version run it");
    cr_assert_not(fmha_image_fits("sm_89", "sm_80"));
    cr_assert_not(fmha_image_fits("sm_80", "sm_90"));
    cr_assert(fmha_image_fits("sm_90a", "sm_90"));
    cr_assert_not(fmha_image_fits("sm_100a", "sm_103"));
    cr_assert_not(fmha_image_fits("sm_90", "gfx90a"));
    cr_assert_not(fmha_image_fits("gfx90a", "sm_90"));
    cr_assert(fmha_image_fits("gfx11-generic", "gfx1151"), "what a generic target covers is the driver's to say");
}
