/* Which work a workgroup has on a chip of several dies (templates/device/dies.hip): each number once, whatever the
 * grid, and neighbours on one die. On the emulated device and as machine code. */
#include <criterion/criterion.h>
#include <string.h>

#include "running.h"
#include "template.h"

enum { ITEMS = 256, CASES = 64 * ITEMS, DIES_MAX = 16 };

static const char kernel[] =
    "FMHA_KERNEL(256) void work(const u32 *in, u32 *out, u32 dies)\n"
    "{\n"
    "    const u32 at = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n"
    "    out[at] = fmha_work_of(in[2 * at], in[2 * at + 1], dies);\n"
    "}\n";

static struct target open_work(const char *name, int wave) {
    struct text text = {0};
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    static const char *const parts[] = {"device/prelude.hip", "device/dies.hip"};
    for (int i = 0; i < 2; i++)
        cr_assert(template_render(engine, parts[i], any_chip, NULL, &text, &error), "%s", error.text);
    text_puts(&text, kernel);
    cr_assert(!text.failed);
    template_engine_free(engine);
    struct target target = open_target(name, wave, text.bytes, "work");
    text_free(&text);
    return target;
}

static uint32_t in[2 * CASES], out[CASES];

/* Grids of 0 to 40 workgroups and more for each die, with a few to spare. */
static void check_grids(struct target *target, uint32_t dies) {
    static bool had[CASES];
    uint32_t count = 0;
    memset(in, 0, sizeof in);
    for (uint32_t each = 0; each <= 40 && count + each * dies + each % 5 <= CASES; each++)
        for (uint32_t place = 0; place < each * dies + each % 5; place++, count++) {
            in[2 * count] = place;
            in[2 * count + 1] = each;
        }
    run_kernel(target, "work", dies, CASES / ITEMS, ITEMS, in, sizeof in, out, sizeof out);
    for (uint32_t first = 0, grid; first < count; first += grid) {
        uint32_t each = in[2 * first + 1];
        grid = each * dies + each % 5;
        memset(had, 0, sizeof had);
        for (uint32_t place = 0; place < grid; place++) {
            uint32_t work = out[first + place];
            cr_assert(work < grid && !had[work], "%s: %u dies, %u each, %u in all: workgroup %u has work %u",
                      target->name, dies, each, grid, place, work);
            had[work] = true;
            if (place >= dies && place < each * dies)
                cr_assert_eq(work, out[first + place - dies] + 1, "%u dies, %u each: workgroup %u", dies, each, place);
            if (place >= each * dies)
                cr_assert_eq(work, place);
        }
    }
}

/* The largest grids: all arithmetic is of 32 bits. */
static void check_large(struct target *target, uint32_t dies) {
    const uint32_t each = UINT32_MAX / dies;
    for (uint32_t i = 0; i < CASES; i++) {
        in[2 * i] = i % 2 == 0 ? i : UINT32_MAX - i;
        in[2 * i + 1] = each;
    }
    run_kernel(target, "work", dies, CASES / ITEMS, ITEMS, in, sizeof in, out, sizeof out);
    for (uint32_t i = 0; i < CASES; i++) {
        uint64_t place = in[2 * i], work = place % dies * each + place / dies;
        cr_assert_eq(out[i], place < (uint64_t)each * dies ? work : place, "%s: %u dies, workgroup %u", target->name,
                     dies, in[2 * i]);
    }
}

static void check_all(const char *name, int wave) {
    struct target target = open_work(name, wave);
    for (uint32_t dies = 1; dies <= DIES_MAX; dies++) {
        check_grids(&target, dies);
        check_large(&target, dies);
    }
    fmha_device_close(target.device);
}

Test(dies, on_the_emulated_device, .timeout = 300) {
    check_all("emu:gfx942", 64);
}

Test(dies, in_machine_code, .timeout = 300) {
    check_all("isa:gfx950", 64);
}
