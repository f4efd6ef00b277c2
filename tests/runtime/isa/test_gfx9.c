/* What gfx9's kernels find when they begin: ids of work items in one register or in three, those of workgroups behind
 * the user registers, with scratch and without. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa_test.h"

enum { X = 8, Y = 4, Z = 6, ITEMS = X * Y * Z, GROUPS_X = 2, GROUPS_Y = 3, GROUPS_Z = 2, GROUPS = 12 };

/* Every work item leaves its six ids, packed. `before` is code that may need scratch. */
static void try_ids(const char *chip, const char *before) {
    static uint32_t seen[GROUPS * ITEMS];
    isa_test test = isa_test_open(chip);
    char text[1024];
    snprintf(text, sizeof text,
             ISA_TEST_KERNEL
             "(unsigned *out) { unsigned x = __builtin_amdgcn_workitem_id_x(), y = "
             "__builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z(), gx = "
             "__builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(), gz = "
             "__builtin_amdgcn_workgroup_id_z(); unsigned at = ((gz * %d + gy) * %d + gx) * %d + (z * %d "
             "+ y) * %d + x; %s out[at] = x | y << 4 | z << 8 | gx << 12 | gy << 16 | gz << 20; }",
             GROUPS_Y, GROUPS_X, ITEMS, Y, X, before);
    void *kernel = isa_test_kernel(&test, text, 64), *out = isa_test_buffer(&test, sizeof seen, "out", NULL);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){GROUPS_X, GROUPS_Y, GROUPS_Z}, (uint32_t[]){X, Y, Z}, &out,
                              sizeof out),
                 FMHA_OK, "%s: %s", chip, fmha_last_error());
    isa_test_read(&test, out, seen, sizeof seen);
    for (uint32_t at = 0; at < GROUPS * ITEMS; at++) {
        uint32_t item = at % ITEMS, group = at / ITEMS;
        uint32_t expected = item % X | item / X % Y << 4 | item / X / Y << 8 | group % GROUPS_X << 12 |
                            group / GROUPS_X % GROUPS_Y << 16 | group / GROUPS_X / GROUPS_Y << 20;
        cr_assert_eq(seen[at], expected, "%s, %s: place %u: 0x%x, expected 0x%x", chip, before, at, seen[at], expected);
    }
    isa_test_close(&test);
}

Test(gfx9, ids) {
    static const char *const chips[] = {"gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"};
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        try_ids(chips[i], "");
        /* An array that lanes index is in scratch, for which other registers stand before and behind the ids. */
        try_ids(chips[i], "volatile unsigned kept[300]; for (unsigned i = 0; i < 300; i++) kept[i] = x + i; "
                          "x = kept[(y + z) * 20] - (y + z) * 20;");
    }
}
