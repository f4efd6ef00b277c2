/* How kernels round weights to bf16 (templates/device/element_bf16.hip) in packed operations: every float32 of one
 * power of two, of which the others are copies, and the ends of what a weight may be. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "halves.h"
#include "running.h"
#include "template.h"

enum { ITEMS = 256, GROUPS = 16, PAIRS = 1024 }; /* 2^23 numbers */

static const char round_kernel[] =
    "FMHA_KERNEL(256) void round_weights(const u32 *in, u32 *out, u32)\n"
    "{\n"
    "    const u32 at = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    for (u32 i = 0; i < 1024; ++i) {\n"
    "        const u32 bits = in[0] + at * 2048 + i * 2;\n"
    "        out[at * 1024 + i] = fmha_pack_weights((f32x2){__builtin_bit_cast(float, bits), "
    "__builtin_bit_cast(float, bits + 1)});\n"
    "    }\n"
    "}\n";

static void packs_f32(lua_State *L, void *context) {
    (void)context;
    lua_newtable(L);
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "packed_f32");
    lua_setfield(L, -2, "arch");
}

static void check(const char *name) {
    struct text text = {0};
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    cr_assert(template_render(engine, "device/prelude.hip", packs_f32, NULL, &text, &error), "%s", error.text);
    cr_assert(template_render(engine, "device/element_bf16.hip", packs_f32, NULL, &text, &error), "%s", error.text);
    text_puts(&text, round_kernel);
    template_engine_free(engine);
    struct target target = open_target(name, 64, text.bytes, "round_weights");
    text_free(&text);

    /* The least normal numbers, those below 1, from 1 on, from the largest weight on. */
    static const uint32_t firsts[] = {0x00800000, 0x3f000000, 0x3f800000, 0x43800000};
    size_t bytes = (size_t)GROUPS * ITEMS * PAIRS * sizeof(uint32_t);
    uint32_t *out = malloc(bytes);
    cr_assert_not_null(out);
    for (size_t n = 0; n < sizeof firsts / sizeof *firsts; n++) {
        run_kernel(&target, "round_weights", 0, GROUPS, ITEMS, &firsts[n], sizeof firsts[n], out, bytes);
        for (uint32_t i = 0; i < 2u * GROUPS * ITEMS * PAIRS; i++) {
            uint32_t bits = firsts[n] + i;
            float x;
            memcpy(&x, &bits, sizeof x);
            uint16_t expected = half_from_double(HALF_BF16, (double)x), got = (uint16_t)(out[i / 2] >> 16 * (i % 2));
            if (got != expected)
                cr_assert_fail("%s: %a to bf16: expected 0x%04x, got 0x%04x", name, (double)x, expected, got);
        }
    }
    free(out);
    fmha_device_close(target.device);
}

Test(rounding, on_the_emulated_device, .timeout = 300) {
    check("emu:gfx942");
}

Test(rounding, in_machine_code_of_gfx942, .timeout = 300) {
    check("isa:gfx942");
}
