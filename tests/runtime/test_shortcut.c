/* The shortcut by which a problem is checked and packed says what the constraints and arguments say one by one. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "support.h"

enum { INTERFACES = 400, PROBLEMS = 300 };

static uint64_t state = 1;

static unsigned below(unsigned limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

static const char *a_value(void) {
    return fmha_value_names[below(FMHA_VALUE_COUNT)];
}

/* Small numbers meet one another; the rest are where 32 and 64 bits end. */
static int64_t a_number(void) {
    static const int64_t edges[] = {0,
                                    1,
                                    -1,
                                    INT32_MAX,
                                    INT32_MIN,
                                    UINT32_MAX,
                                    INT64_MAX,
                                    INT64_MIN,
                                    INT64_MIN + 1,
                                    (int64_t)1 << 31,
                                    (int64_t)1 << 32,
                                    (int64_t)1 << 62};
    unsigned kind = below(10);
    return kind == 0  ? edges[below(sizeof edges / sizeof edges[0])]
           : kind < 8 ? (int64_t)below(40)
                      : (int64_t)(below(1u << 30) * (uint64_t)below(1u << 30));
}

static int add_constraint(char *text, size_t room) {
    static const char *const relations[] = {"equals", "min", "max"};
    char field[128];
    switch (below(6)) {
    case 0:
        snprintf(field, sizeof field, "%s %% %s", a_value(), a_value());
        break;
    case 1:
        snprintf(field, sizeof field, "%s + %s", a_value(), a_value());
        break;
    case 2:
    case 3:
        snprintf(field, sizeof field, "%s %% %u", a_value(), 1u << below(6));
        break;
    default:
        snprintf(field, sizeof field, "%s", a_value());
    }
    unsigned relation = strchr(field, '%') != NULL ? 0 : 1 + below(2);
    long long bound = relation == 0 ? 0 : relation == 1 ? (long long)below(3) : (long long)below(40) + 20;
    bound = below(16) == 0 ? (long long)a_number() : bound;
    relation = below(24) == 0 ? below(3) : relation;
    return snprintf(text, room, "constraint %s %lld %s\n", relations[relation], bound, field);
}

/* Lines of arguments; returns the bytes of the block. */
static unsigned add_arguments(char *text, size_t room) {
    static const char *const types[] = {"i64", "i32", "buffer", "f32"};
    unsigned offset = 0, arguments = below(30);
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < arguments; i++) {
        unsigned type = below(4), bytes = type % 2 == 0 ? 8 : 4;
        const char *name = type == 2 ? fmha_buffer_names[below(FMHA_BUFFER_COUNT)] : type == 3 ? "scale" : a_value();
        char promise[32] = "";
        offset = (offset + bytes - 1) / bytes * bytes + (below(5) == 0 ? bytes : 0);
        if (type == 2) {
            snprintf(promise, sizeof promise, " align %u%s", 1u << below(5), below(2) ? " optional" : "");
        }
        length +=
            (size_t)snprintf(text + length, room - length, "argument %s %s %u%s\n", types[type], name, offset, promise);
        offset += bytes;
    }
    return offset + below(3) * 4 + (below(8) == 0 ? 201 : 0);
}

/* An index of one instance with a random interface. */
static struct fmha_index *an_index(void) {
    static const char *const grids[] = {"seqlen_q",
                                        "ceil_div(seqlen_q, 64)",
                                        "ceil_div(seqlen_k, 2147483648)",
                                        "ceil_div(heads_q, 3) * 2",
                                        "ceil_div(batch, 1)",
                                        "5",
                                        "ceil_div(7, batch)"};
    char arguments[4096], constraints[4096] = "", text[16384];
    unsigned bytes = add_arguments(arguments, sizeof arguments), count = below(12);
    size_t length = 0;
    for (unsigned i = 0; i < count; i++) {
        length += (size_t)add_constraint(constraints + length, sizeof constraints - length);
    }
    int all =
        snprintf(text, sizeof text,
                 "fmha-index 1\nabi %d\nmade-by a test\ninterface 0 %u\n%s%sinstance one\ntarget gfx1151\nkey "
                 "operation=forward dtype=f16 head_dim=8 head_dim_v=8 mask=none v_layout=row align=16 "
                 "softcap=on\nlaunch wave=32 "
                 "workgroup=128 lds=0\nrank 0\nuses 0\ngrid %s\ngrid %s\ngrid %s\n",
                 FMHA_ABI_VERSION, bytes, arguments, constraints, grids[below(7)], grids[below(7)], grids[below(7)]);
    all +=
        snprintf(text + all, sizeof text - (size_t)all, "end 1 %016" PRIx64 "\n", fmha_index_hash(text, (size_t)all));
    struct fmha_index *index;
    cr_assert_eq(fmha_index_parse("index", text, (size_t)all, &index), FMHA_OK, "%s", fmha_last_error());
    return index;
}

static void a_problem(struct fmha_operands *operands) {
    int64_t usual = below(3) == 0 ? a_number() : (int64_t)below(5) * 32;
    for (int i = 0; i < FMHA_VALUE_COUNT; i++) {
        operands->value[i] = below(12) == 0 ? a_number() : usual;
    }
    for (int i = 0; i < FMHA_BUFFER_COUNT; i++) {
        unsigned kind = below(12);
        operands->buffer[i] = (void *)(uintptr_t)(kind == 0 ? 0 : kind == 1 ? 0x7000 + below(32) : 0x7000);
    }
    operands->real[0] = (float)below(100);
}

Test(shortcut, says_the_same) {
    unsigned served = 0, refused = 0, long_checks = 0, long_packs = 0;
    for (int i = 0; i < INTERFACES; i++) {
        struct fmha_index *index = an_index();
        const struct fmha_descriptor *quick = fmha_index_at(index, 0);
        struct fmha_interface interface = *quick->interface;
        struct fmha_descriptor slow = *quick;
        long_checks += !interface.shortcut.checks;
        long_packs += !interface.shortcut.packs;
        interface.shortcut.checks = interface.shortcut.packs = false;
        slow.interface = &interface;
        slow.tiles[0].divisor = slow.tiles[1].divisor = slow.tiles[2].divisor = 0;
        for (int j = 0; j < PROBLEMS; j++) {
            struct fmha_operands operands;
            int failed = -1, slow_failed = -1, axis = -1, slow_axis = -1;
            a_problem(&operands);
            bool serves = fmha_descriptor_serves(&slow, &operands, &slow_failed);
            cr_assert_eq(fmha_descriptor_serves(quick, &operands, NULL), serves);
            cr_assert_eq(fmha_descriptor_serves(quick, &operands, &failed), serves);
            cr_assert_eq(failed, slow_failed);
            served += serves;
            refused += !serves;
            unsigned char block[FMHA_ARGUMENT_BYTES_MAX], slow_block[FMHA_ARGUMENT_BYTES_MAX];
            memset(block, 0xee, sizeof block);
            memset(slow_block, 0xee, sizeof slow_block);
            fmha_descriptor_pack(quick, &operands, block);
            fmha_descriptor_pack(&slow, &operands, slow_block);
            cr_assert_arr_eq(block, slow_block, sizeof block);
            uint32_t grid[3] = {9, 9, 9}, slow_grid[3] = {9, 9, 9};
            bool empty, slow_empty, made = fmha_descriptor_grid(&slow, &operands, slow_grid, &slow_empty, &slow_axis);
            cr_assert_eq(fmha_descriptor_grid(quick, &operands, grid, &empty, &axis), made);
            cr_assert_eq(axis, slow_axis);
            cr_assert_arr_eq(grid, slow_grid, sizeof grid);
            cr_assert_eq(empty, slow_empty);
        }
        fmha_index_free(index);
    }
    /* Both ways are met often. */
    cr_assert_gt(served, INTERFACES * PROBLEMS / 20, "%u", served);
    cr_assert_gt(refused, INTERFACES * PROBLEMS / 20, "%u", refused);
    cr_assert_gt(long_checks, 2u, "%u", long_checks);
    cr_assert_gt(long_packs, 2u, "%u", long_packs);
    cr_assert_lt(long_packs, INTERFACES / 2u, "%u", long_packs);
    support_assert_clean();
}
