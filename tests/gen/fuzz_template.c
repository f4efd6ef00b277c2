/* libFuzzer target: any bytes as a template, and as a table file that it may load, give text or an error.
 * Build with clang: ninja tests/gen/fuzz_template */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "template.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    /* What follows the first NUL is the table file. */
    const uint8_t *split = length ? memchr(bytes, '\0', length) : NULL;
    size_t first = split ? (size_t)(split - bytes) : length;
    const char *table = split ? (const char *)split + 1 : "return { x = { 1 } }";
    const struct template_file files[] = {{"a.hip", (const char *)bytes, first},
                                          {"b.hip", "$(n)\n", 5},
                                          {"t.lua", table, split ? length - first - 1 : strlen(table)}};
    struct error error = {0};
    struct text out = {0};
    struct template_engine *engine = template_engine_new_from(files, 3, NULL, &error);
    if (!engine)
        abort();
    template_engine_limit(engine, 100000, (size_t)4 << 20);
    for (int i = 0; i < 2; i++) {
        size_t before = out.length;
        if (!template_render(engine, "a.hip", NULL, NULL, &out, &error) && (!*error.text || out.length != before))
            abort();
    }
    text_free(&out);
    template_engine_free(engine);
    return 0;
}
