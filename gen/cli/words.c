#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* `count` numbers with commas between, into members; those of `heads` (a bit each) must not be 0. */
static bool parse_numbers(const char *text, int64_t *const *member, int count, unsigned heads) {
    for (int i = 0; i < count; i++) {
        const char *digits = text;
        *member[i] = 0;
        while (*text >= '0' && *text <= '9' && text - digits < 10)
            *member[i] = *member[i] * 10 + (*text++ - '0');
        if (text == digits || *text != (i + 1 < count ? ',' : '\0') || *member[i] > INT32_MAX ||
            (i < 32 && (heads >> i & 1) && *member[i] == 0))
            return false;
        text++;
    }
    return true;
}

/* `form` names the numbers and what each is. */
static bool refuse_numbers(const char *option, const char *form, const char *text, struct error *error) {
    return error_set(error, ERROR_USAGE,
                     "--%s: expected %s, got '%s'; write such numbers, whole and up to 2147483647, with commas between",
                     option, form, text);
}

bool words_shape(const char *text, struct verify_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->batch, &shape->heads_q, &shape->heads_k, &shape->seqlen_q, &shape->seqlen_k};
    return parse_numbers(text, member, 5, 6) ||
           refuse_numbers("shape",
                          "B,HQ,HK,SQ,SK (batch, query heads, key heads, query and key lengths; heads 1 and up, the "
                          "others 0 and up)",
                          text, error);
}

bool words_heads(const char *text, struct verify_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->heads_q, &shape->heads_k};
    *shape = (struct verify_shape){0};
    return parse_numbers(text, member, 2, 3) ||
           refuse_numbers("shape",
                          "HQ,HK (query heads and key heads, 1 and up) beside --q-lens and --k-lens, or B,HQ,HK,SQ,SK",
                          text, error);
}

bool words_lengths(const char *option, const char *text, int64_t **lengths, int64_t *count, struct error *error) {
    *count = 1;
    for (const char *at = text; *at; at++)
        *count += *at == ',';
    *lengths = calloc((size_t)*count, sizeof **lengths);
    int64_t **member = calloc((size_t)*count, sizeof *member);
    bool done = *lengths && member;
    if (!done)
        error_set(error, ERROR_RUN, "--%s: no memory for %lld lengths", option, (long long)*count);
    for (int64_t index = 0; done && index < *count; index++)
        member[index] = &(*lengths)[index];
    if (done && !parse_numbers(text, member, (int)*count, 0))
        done = refuse_numbers(option, "the length of each sequence (5,0,33), 0 and up", text, error);
    free(member);
    if (!done) {
        free(*lengths);
        *lengths = NULL;
    }
    return done;
}

bool words_pack_shape(const char *text, struct verify_pack_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->batch, &shape->heads, &shape->seqlen, &shape->head_dim};
    return parse_numbers(text, member, 4, 2) ||
           refuse_numbers("shape",
                          "B,H,S,D (batch, heads, length and head dimension; heads 1 and up, the others 0 and up)",
                          text, error);
}

bool words_append_shape(const char *text, struct verify_append_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->batch, &shape->heads, &shape->seqlen_new, &shape->seqlen_k};
    if (!parse_numbers(text, member, 4, 2))
        return refuse_numbers("shape",
                              "B,H,N,S (batch, key heads, new rows of a sequence, and the rows that it has room for; "
                              "heads 1 and up, the others 0 and up, S at least N)",
                              text, error);
    return shape->seqlen_new <= shape->seqlen_k ||
           error_set(error, ERROR_USAGE,
                     "--shape: expected room for the new rows, S at least N of B,H,N,S, got '%s'; make S at least "
                     "%" PRId64,
                     text, shape->seqlen_new);
}

bool words_quantize_shape(const char *text, struct verify_quantize_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->batch, &shape->heads, &shape->seqlen};
    return parse_numbers(text, member, 3, 2) ||
           refuse_numbers("shape", "B,H,S (batch, heads and length; heads 1 and up, the others 0 and up)", text, error);
}

bool words_merge_shape(const char *text, struct verify_merge_shape *shape, struct error *error) {
    int64_t *const member[] = {&shape->splits, &shape->batch, &shape->heads, &shape->seqlen, &shape->head_dim};
    return parse_numbers(text, member, 5, 20) ||
           refuse_numbers("shape",
                          "N,B,H,S,D (partial results, batch, heads, length and head dimension; heads and head "
                          "dimension 1 and up, the others 0 and up)",
                          text, error);
}

bool words_device(const char *device, struct error *error) {
    static const char *const drivers[] = {"emu", "isa", "hip", "cuda"};
    size_t length = strcspn(device, ":");
    const char *selector = device[length] ? device + length + 1 : NULL;
    bool chip = length == 3 && (strncmp(device, drivers[0], length) == 0 || strncmp(device, drivers[1], length) == 0);
    bool gpu = (length == 3 && strncmp(device, drivers[2], length) == 0) ||
               (length == 4 && strncmp(device, drivers[3], length) == 0);
    if ((chip && (!selector || *selector)) ||
        (gpu && (!selector || (*selector && !selector[strspn(selector, "0123456789")]))))
        return true;
    char driver[16];
    snprintf(driver, sizeof driver, "%.*s", (int)length, device);
    const char *nearest = text_nearest(driver, drivers, sizeof drivers / sizeof *drivers);
    return error_set(error, ERROR_USAGE,
                     "--device: expected emu, emu:ARCH, isa, isa:ARCH, hip, hip:N, cuda or cuda:N, got '%s'%s%s%s",
                     device, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
