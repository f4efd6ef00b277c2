/* libFuzzer target: any bytes as an index give descriptors that can be used, or an error that names the place. Where
 * the last line has room for the hash, it is put right, so that what is behind its check is reached. Build with clang:
 * ninja tests/runtime/fuzz_index */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void use(const struct fmha_descriptor *descriptor, int64_t number) {
    struct fmha_operands operands = {.real = {0.5f}};
    unsigned char block[FMHA_ARGUMENT_BYTES_MAX];
    char why[256];
    uint32_t grid[3];
    bool empty;
    int failed;
    for (int value = 0; value < FMHA_VALUE_COUNT; value++) {
        operands.value[value] = number;
    }
    for (int buffer = 0; buffer < FMHA_BUFFER_COUNT; buffer++) {
        operands.buffer[buffer] = (void *)(uintptr_t)number;
    }
    if (!fmha_descriptor_serves(descriptor, &operands, &failed)) {
        fmha_descriptor_explain(descriptor, &operands, failed, why, sizeof why);
        if (strncmp(why, "expected ", 9) != 0) {
            abort();
        }
    }
    fmha_descriptor_pack(descriptor, &operands, block);
    if (!fmha_descriptor_grid(descriptor, &operands, grid, &empty, &failed) && (failed < 0 || failed > 2)) {
        abort();
    }
}

static void put_hash_right(char *text, size_t length) {
    size_t line = length > 0 ? length - 1 : 0;
    char digits[17];
    while (line > 0 && text[line - 1] != '\n') {
        line--;
    }
    if (length - line > sizeof digits) {
        snprintf(digits, sizeof digits, "%016" PRIx64, fmha_index_hash(text, line));
        memcpy(text + length - sizeof digits, digits, sizeof digits - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const int64_t numbers[] = {0, 1, -1, 4096, 4097, INT64_MAX, INT64_MIN};
    struct fmha_index *index;
    char *text = malloc(length + 1);
    if (!text) {
        abort();
    }
    memcpy(text, bytes, length);
    put_hash_right(text, length);
    fmha_status status = fmha_index_parse("x", text, length, &index);
    free(text);
    if (status != FMHA_OK) {
        if (index || strncmp(fmha_last_error(), "x:", 2) != 0) {
            abort();
        }
        return 0;
    }
    for (size_t i = 0; i < fmha_index_count(index); i++) {
        for (size_t number = 0; number < sizeof numbers / sizeof *numbers; number++) {
            use(fmha_index_at(index, i), numbers[number]);
        }
    }
    fmha_index_free(index);
    return 0;
}
