/* libFuzzer target: any bytes as a file of choices give choices that can be placed and described, or an error that
 * names the place. Build with clang: ninja tests/runtime/fuzz_choices */
#include <stdlib.h>
#include <string.h>

#include "choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fmha_choices choices = {0};
    char text[256];
    if (fmha_choices_parse("x", (const char *)bytes, length, &choices) != FMHA_OK) {
        if (choices.count != 0 || strncmp(fmha_last_error(), "x:", 2) != 0) {
            abort();
        }
        return fmha_choices_free(&choices), 0;
    }
    fmha_choices_settle(&choices);
    for (size_t i = 0; i < choices.count; i++) {
        struct fmha_choice_place place = fmha_choice_place(choices.list[i].length);
        if (fmha_choice_distance(&place, &place) != 0) {
            abort();
        }
        fmha_choice_describe(&choices.list[i], text, sizeof text);
    }
    fmha_choices_free(&choices);
    return 0;
}
