#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor_manifest.h"

#define CURE  "; it is not as 'fmhagen vendor' left it: restore it, or vendor anew with --force"
#define SHA_A "0000000000000000000000000000000000000000000000000000000000000000"
#define SHA_B "00000000000000000000000000000000000000000000000000000000000000ff"
#define HEAD  "fmha-vendor 1\nmade-by fmhagen 0.1.0\ncommand fmhagen vendor . --arch gfx1151 --hd 64\n"

static bool parse(const char *text, struct manifest *manifest, struct error *error) {
    return manifest_parse("d/MANIFEST", text, strlen(text), manifest, error);
}

Test(manifest, reads_what_it_writes) {
    static const char text[] = "fmha-vendor 1\n"
                               "made-by fmhagen 0.1.0\n"
                               "command fmhagen vendor . --arch gfx942:sramecc+:xnack- 'a b' '' 'it'\\''s' '*' -x=y\n"
                               "sha256 " SHA_A " LICENSE\n"
                               "sha256 " SHA_B " kernels/fmha.index\n"
                               "sha256 " SHA_A " src/cache.c\n"
                               "end 3\n";
    static const char *const words[] = {"--arch", "gfx942:sramecc+:xnack-", "a b", "", "it's", "*", "-x=y"};
    struct manifest manifest;
    struct error error;
    cr_assert(parse(text, &manifest, &error), "%s", error.text);
    cr_expect_str_eq(manifest.version, "0.1.0");
    cr_assert_eq(manifest.word_count, sizeof words / sizeof *words);
    for (size_t i = 0; i < manifest.word_count; i++)
        cr_expect_str_eq(manifest.words[i], words[i]);
    cr_assert_eq(manifest.file_count, 3);
    cr_expect_str_eq(manifest.files[1].name, "kernels/fmha.index");
    cr_expect_str_eq(manifest.files[1].sha256, SHA_B);
    cr_expect_eq(manifest_find(&manifest, "LICENSE"), &manifest.files[0]);
    cr_expect_eq(manifest_find(&manifest, "src/cache.c"), &manifest.files[2]);
    cr_expect_null(manifest_find(&manifest, "src/cache.h"));
    struct text again = {0};
    manifest_add(&again, &manifest);
    cr_expect_str_eq(again.bytes, text);
    text_free(&again);
    manifest_free(&manifest);
}

Test(manifest, hashes_as_sha256_does) {
    char sha256[VENDOR_SHA_SIZE];
    manifest_hash("abc", 3, sha256);
    cr_expect_str_eq(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* What is refused, and the whole message but for its beginning and its end. */
Test(manifest, refuses_what_it_would_not_write) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "1: expected 'fmha-vendor 1', got 'the end of the file'"},
        {"Manifest-Version: 1.0\n", "1: expected 'fmha-vendor 1', got 'Manifest-Version: 1.0'"},
        {"fmha-vendor 0\n", "1: expected 'fmha-vendor 1', got 'fmha-vendor 0'"},
        {"fmha-vendor 1x\n", "1: expected 'fmha-vendor 1', got 'fmha-vendor 1x'"},
        {"fmha-vendor 02\n", "1: expected 'fmha-vendor 1', got 'fmha-vendor 02'"},
        {"fmha-vendor 2x\n", "1: expected 'fmha-vendor 1', got 'fmha-vendor 2x'"},
        {"fmha-vendor 1000000000\n", "1: expected 'fmha-vendor 1', got 'fmha-vendor 1000000000'"},
        {"fmha-vendor 1", "1: expected 'fmha-vendor 1', got 'fmha-vendor 1'"},
        {"fmha-vendor 1\nmade-by me\n", "2: expected 'made-by fmhagen' and a version, got 'made-by me'"},
        {"fmha-vendor 1\nmade-by fmhagen 1 2\n", "2: expected a version such as 0.1.0, got '1 2'"},
        {"fmha-vendor 1\nmade-by fmhagen 1\ncommand rm -r .\n",
         "3: expected 'command fmhagen vendor .' and options, got 'command rm -r .'"},
        {"fmha-vendor 1\nmade-by fmhagen 1\ncommand fmhagen vendor . $(true)\n",
         "3: expected 'command fmhagen vendor .' and options, got ' $(true)'"},
        {"fmha-vendor 1\nmade-by fmhagen 1\ncommand fmhagen vendor . 'a\n",
         "3: expected 'command fmhagen vendor .' and options, got ' 'a'"},
        {"fmha-vendor 1\nmade-by fmhagen 1\ncommand fmhagen vendor . 'a'\n",
         "3: expected 'command fmhagen vendor .' and options, got ' 'a''"},
        {"fmha-vendor 1\nmade-by fmhagen 1\ncommand fmhagen vendor .x\n",
         "3: expected 'command fmhagen vendor .' and options, got 'x'"},
        {HEAD, "4: expected 'sha256' and a file, or 'end' and their number, got 'the end of the file'"},
        {HEAD "sha256 00 LICENSE\n", "4: expected 'sha256', 64 hexadecimal digits and a name, got '00 LICENSE'"},
        {HEAD "sha256 " SHA_A " ../x\n", "4: expected the name of a file that fmhagen makes, got '../x'"},
        {HEAD "sha256 " SHA_A " /etc/passwd\n", "4: expected the name of a file that fmhagen makes, got '/etc/passwd'"},
        {HEAD "sha256 " SHA_A " src/../x\n", "4: expected the name of a file that fmhagen makes, got 'src/../x'"},
        {HEAD "sha256 " SHA_A " src/..\n", "4: expected the name of a file that fmhagen makes, got 'src/..'"},
        {HEAD "sha256 " SHA_A " src//x\n", "4: expected the name of a file that fmhagen makes, got 'src//x'"},
        {HEAD "sha256 " SHA_A " src/a/b\n", "4: expected the name of a file that fmhagen makes, got 'src/a/b'"},
        {HEAD "sha256 " SHA_A " other/x\n", "4: expected the name of a file that fmhagen makes, got 'other/x'"},
        {HEAD "sha256 " SHA_A " src/\n", "4: expected the name of a file that fmhagen makes, got 'src/'"},
        {HEAD "sha256 " SHA_A " .git\n", "4: expected the name of a file that fmhagen makes, got '.git'"},
        {HEAD "sha256 " SHA_A " MANIFEST\n", "4: expected the name of a file that fmhagen makes, got 'MANIFEST'"},
        {HEAD "sha256 " SHA_A " a\033[2J\n", "4: expected the name of a file that fmhagen makes, got 'a?[2J'"},
        {HEAD "sha256 " SHA_A " b\nsha256 " SHA_A " a\n", "5: expected names in their order, each once, got 'a'"},
        {HEAD "sha256 " SHA_A " a\nsha256 " SHA_A " a\n", "5: expected names in their order, each once, got 'a'"},
        {HEAD "sha256 " SHA_A " a\nend 2\n", "5: expected end 1, got 'end 2'"},
        {HEAD "sha256 " SHA_A " a\nend 1", "5: expected 'sha256' and a file, or 'end' and their number, got 'end 1'"},
        {HEAD "sha256 " SHA_A " a\nend 1\nmore\n", "6: expected nothing after the end, got 'more?'"},
        {HEAD "sha1 " SHA_A " a\n",
         "4: expected 'sha256' and a file, or 'end' and their number, got 'sha1 " SHA_A " a'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct manifest manifest;
        struct error error = {.text = ""};
        char expected[512];
        snprintf(expected, sizeof expected, "d/MANIFEST:%s" CURE, rows[i].message);
        cr_expect_not(parse(rows[i].text, &manifest, &error), "row %zu is taken", i);
        cr_expect_str_eq(error.text, expected);
        cr_expect_eq(error.kind, ERROR_RUN);
        manifest_free(&manifest);
    }
}

Test(manifest, tells_of_a_newer_fmhagen) {
    static const char *const formats[] = {"2", "10"};
    for (size_t i = 0; i < 2; i++) {
        struct manifest manifest;
        struct error error = {.text = ""};
        char text[64], expected[256];
        snprintf(text, sizeof text, "fmha-vendor %s\nwhatever\n", formats[i]);
        snprintf(expected, sizeof expected,
                 "d/MANIFEST:1: expected 'fmha-vendor 1', got 'fmha-vendor %s'; it was made by a newer fmhagen: use "
                 "that one, or vendor anew with --force",
                 formats[i]);
        cr_expect_not(parse(text, &manifest, &error));
        cr_expect_str_eq(error.text, expected);
        manifest_free(&manifest);
    }
}

Test(manifest, refuses_a_name_longer_than_it_holds) {
    char text[1024], name[VENDOR_NAME_MAX + 1];
    memset(name, 'a', sizeof name);
    struct manifest manifest;
    struct error error;
    name[VENDOR_NAME_MAX - 1] = '\0';
    snprintf(text, sizeof text, HEAD "sha256 " SHA_A " %s\nend 1\n", name);
    cr_expect(parse(text, &manifest, &error), "%s", error.text);
    manifest_free(&manifest);
    name[VENDOR_NAME_MAX - 1] = 'a';
    name[VENDOR_NAME_MAX] = '\0';
    snprintf(text, sizeof text, HEAD "sha256 " SHA_A " %s\nend 1\n", name);
    cr_expect_not(parse(text, &manifest, &error));
    manifest_free(&manifest);
}

Test(manifest, refuses_what_stands_behind_a_nul) {
    static const char text[] = HEAD "sha256 " SHA_A " a\nend 1\n\0more";
    struct manifest manifest;
    struct error error;
    cr_expect_not(manifest_parse("d/MANIFEST", text, sizeof text - 1, &manifest, &error));
    cr_expect_str_eq(error.text, "d/MANIFEST:6: expected nothing after the end, got 'a NUL'" CURE);
    manifest_free(&manifest);
}

/* Whatever is taken is, byte for byte, what would be written. */
Test(manifest, takes_nothing_that_it_would_not_write, .timeout = 60) {
    static const char text[] =
        "fmha-vendor 1\nmade-by fmhagen 0.1.0\ncommand fmhagen vendor . --hd=64 'a b' 'it'\\''s'\n"
        "sha256 " SHA_A " LICENSE\nsha256 " SHA_B " src/cache.c\nend 2\n";
    static const char letters[] = "'\\ \n./-0aM\0\377";
    unsigned state = 1;
    size_t taken = 0;
    for (int round = 0; round < 40000; round++) {
        char bytes[sizeof text + 8];
        size_t length = sizeof text - 1;
        memcpy(bytes, text, length);
        state = state * 1664525 + 1013904223;
        for (unsigned edits = 1 + (state >> 30); edits--;) {
            state = state * 1664525 + 1013904223;
            size_t at = (state >> 8) % length;
            char letter = letters[(state >> 4) % (sizeof letters - 1)];
            switch (state >> 30) {
            case 0:
                bytes[at] = letter;
                break;
            case 1:
                memmove(bytes + at, bytes + at + 1, --length - at);
                break;
            case 2:
                memmove(bytes + at + 1, bytes + at, length++ - at);
                bytes[at] = letter;
                break;
            default:
                bytes[at] = (char)(bytes[at] ^ (1 << (state >> 27) % 8));
            }
        }
        struct manifest manifest;
        struct error error;
        if (manifest_parse("m", bytes, length, &manifest, &error)) {
            struct text again = {0};
            manifest_add(&again, &manifest);
            cr_assert(again.length == length && memcmp(again.bytes, bytes, length) == 0, "round %d: %.*s", round,
                      (int)length, bytes);
            text_free(&again);
            taken++;
        }
        manifest_free(&manifest);
    }
    cr_expect_gt(taken, 100); /* edits of digits and names are taken */
}
