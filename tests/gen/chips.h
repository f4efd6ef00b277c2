/* Templates in memory for the tests of spec and instance: three chips and an operation. */
#ifndef TESTS_GEN_CHIPS_H
#define TESTS_GEN_CHIPS_H

#include <criterion/criterion.h>
#include <string.h>

#include "embed.h"
#include "template.h"

#define CHIP_LARGE                                                                                                     \
    "local kq = {\n"                                                                                                   \
    "    [64] = { block_m = 128, block_k = 64, waves = 4, q_path = 'lds',\n"                                           \
    "             window = { block_k = 16 }, varlen = { block_k = 32, waves = 2 }, packed = { waves = 1 },\n"          \
    "             native = { block_k = 128, waves = 1, mxfp4 = { waves = 8 } } },\n"                                   \
    "    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = 'direct', gqa = 2,\n"                               \
    "              transposed = { v_path = 'direct', block_k = 48 }, bf16 = { waves = 2 } },\n"                        \
    "    [192] = { block_m = 64, block_k = 16, waves = 4, q_path = 'lds',\n"                                           \
    "              together = { block_m = 64, block_k = 32, waves = 8, v_waves = 2, v_slices = 1,\n"                   \
    "                           bf16 = { v_waves = 1, waves = 4 }, head_dim_v = { [64] = { block_k = 48 } } },\n"      \
    "              native = { block_k = 64 } },\n"                                                                     \
    "    [512] = { block_m = 32, block_k = 32, waves = 2, v_slices = 4, transposed = { block_k = 16 },\n"              \
    "              head_dim_v = { [128] = { v_slices = 1, transposed = { block_k = 48 } }, [256] = { v_slices = 2 } "  \
    "} },\n"                                                                                                           \
    "}\n"                                                                                                              \
    "return { name = 'gfx900', fp8 = 'e4m3fnuz', atoms = { f16 = 'a', bf16 = 'a' }, waves = { 64, 32 }, lds_bytes = "  \
    "4096,\n"                                                                                                          \
    "         features = { 'xnack', 'sramecc' }, matrix = { ['16x16'] = {}, ['32x32'] = {} },\n"                       \
    "         defaults = { forward = { orientation = 'kq', kq = { wave64 = kq, wave32 = kq } },\n"                     \
    "                      pack = { wave64 = { waves = 4, transposed = { waves = 2 } } } } }\n"

#define CHIP_SMALL                                                                                                     \
    "return { name = 'gfx901', atoms = { f16 = 'a' }, waves = { 32 }, lds_bytes = 1024,\n"                             \
    "         defaults = { forward = { orientation = 'qk', qk = { wave32 = { [256] = { block_m = 32, block_k = 16,\n"  \
    "         waves = 2 } } }, kq = { wave32 = { [256] = { block_m = 16, block_k = 16, waves = 1 } } } } } }\n"

/* The caller frees it. `pairs`: path and text each, sorted by path. */
static inline struct template_engine *chips_engine(const char *(*pairs)[2], size_t count) {
    static struct template_file files[16];
    struct error error;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct template_file){pairs[i][0], pairs[i][1], strlen(pairs[i][1])};
    struct template_engine *engine = template_engine_new_from(files, count, NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    return engine;
}

#endif
