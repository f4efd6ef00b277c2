/* Loads, stores and atomic operations of one wave: in memory, LDS and scratch, where and how wide. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa_test.h"
#include "machine.h"
#include "rows.h"

/* Suffix; bytes; of loads: bits of the register that are written, where they begin, whether they are signed. */
typedef struct access {
    const char *suffix;
    unsigned bytes, first_bit, bits;
    bool is_signed;
} access;

static const access loads[] = {
    {"u8", 1, 0, 32, false},          {"i8", 1, 0, 32, true},        {"u16", 2, 0, 32, false},
    {"i16", 2, 0, 32, true},          {"b32", 4, 0, 32, false},      {"b64", 8, 0, 32, false},
    {"b96", 12, 0, 32, false},        {"b128", 16, 0, 32, false},    {"d16_b16", 2, 0, 16, false},
    {"d16_hi_b16", 2, 16, 16, false}, {"d16_u8", 1, 0, 16, false},   {"d16_i8", 1, 0, 16, true},
    {"d16_hi_u8", 1, 16, 16, false},  {"d16_hi_i8", 1, 16, 16, true}};
/* In LDS the forms of 16 bits have other names. */
static const char *const lds_loads[] = {"u8",   "i8",      "u16",        "i16",    "b32",    "b64",       "b96",
                                        "b128", "u16_d16", "u16_d16_hi", "u8_d16", "i8_d16", "u8_d16_hi", "i8_d16_hi"};
static const access stores[] = {{"b8", 1, 0, 0, false},          {"b16", 2, 0, 0, false},
                                {"b32", 4, 0, 0, false},         {"b64", 8, 0, 0, false},
                                {"b96", 12, 0, 0, false},        {"b128", 16, 0, 0, false},
                                {"d16_hi_b16", 2, 16, 0, false}, {"d16_hi_b8", 1, 16, 0, false}};
static const char *const lds_stores[] = {"b8", "b16", "b32", "b64", "b96", "b128", "b16_d16_hi", "b8_d16_hi"};

enum { LOADS = sizeof loads / sizeof loads[0], STORES = sizeof stores / sizeof stores[0] };

static uint64_t state = 3;

static uint32_t draw(void) {
    return isa_test_random(&state) << 16 ^ isa_test_random(&state);
}

/* ---- One place for each lane, however it is written -------------------------------------------------------- */

/* How an address is written, and what stands there. */
typedef enum way { BY_LANE, BY_BASE, BY_SCRATCH, BY_STACK, BY_LDS, BY_FLAT, BY_FLAT_LDS, BY_FLAT_SCRATCH, WAYS } way;

enum { STRIDE = 16, OFFSET = 32, DATA = 8, ADDRESS = 4 };

static void set_address(isa_wave *wave, unsigned lane, uint64_t address) {
    wave->vgpr[ADDRESS][lane] = (uint32_t)address;
    wave->vgpr[ADDRESS + 1][lane] = (uint32_t)(address >> 32);
}

/* Where the lane's bytes are; sets the registers that the text names. */
static unsigned char *place(machine *m, way how, unsigned lane) {
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    uint32_t at = lane * STRIDE;
    switch (how) {
    case BY_LANE:
    case BY_FLAT:
        set_address(wave, lane, memory + at);
        return machine_memory(m) + at + OFFSET;
    case BY_BASE:
        wave->vgpr[ADDRESS][lane] = at;
        wave->sgpr[2] = (uint32_t)memory;
        wave->sgpr[3] = (uint32_t)(memory >> 32);
        return machine_memory(m) + at + OFFSET;
    case BY_SCRATCH:
        wave->vgpr[ADDRESS][lane] = lane % 4;
        return machine_scratch(m, (int)lane) + lane % 4 + OFFSET;
    case BY_STACK:
        wave->sgpr[2] = 48;
        return machine_scratch(m, (int)lane) + 48 + OFFSET;
    case BY_LDS:
        wave->vgpr[ADDRESS][lane] = at;
        return machine_lds(m) + at + OFFSET;
    case BY_FLAT_LDS:
        set_address(wave, lane, (UINT64_C(1) << 60) + at);
        return machine_lds(m) + at + OFFSET;
    default:
        set_address(wave, lane, (UINT64_C(2) << 60) + lane);
        return machine_scratch(m, (int)lane) + lane + OFFSET;
    }
}

static const char *prefix_of(way how) {
    static const char *const prefixes[WAYS] = {"global", "global", "scratch", "scratch", "ds", "flat", "flat", "flat"};
    return prefixes[how];
}

static void data_register(char *text, unsigned bytes) {
    if (bytes > 4) {
        sprintf(text, "v[%d:%u]", DATA, DATA + bytes / 4 - 1);
    } else {
        sprintf(text, "v%d", DATA);
    }
}

static void write_text(char text[128], way how, bool store, const char *suffix, unsigned bytes) {
    static const char *const forms[WAYS] = {"v[4:5]", "v4", "v4", "off", "v4", "v[4:5]", "v[4:5]", "v[4:5]"};
    static const char *const bases[WAYS] = {", off", ", s[2:3]", ", off", ", s2", "", "", "", ""};
    char data[16];
    data_register(data, bytes);
    sprintf(text, "%s_%s_%s %s, %s%s offset:%d", prefix_of(how), store ? "store" : "load", suffix,
            store ? forms[how] : data, store ? data : forms[how], bases[how], OFFSET);
}

/* Whether the family has the access in that way. */
static bool has_access(way how, bool store, const char *suffix, unsigned lanes) {
    char text[128];
    write_text(text, how, store, suffix, 4);
    return machine_takes(text) && (machine_family()->waves & lanes) != 0;
}

static void try_load(way how, size_t i, unsigned lanes) {
    machine *m = machine_new(lanes, false);
    isa_wave *wave = machine_wave(m);
    const access *a = &loads[i];
    unsigned char *places[64];
    char text[128];
    uint32_t old[64];
    uint64_t exec = (uint64_t)draw() << 32 | draw();
    machine_fill(m, MACHINE_VGPRS, draw);
    for (unsigned lane = 0; lane < lanes; lane++) {
        places[lane] = place(m, how, lane);
        machine_fill_bytes(places[lane], a->bytes, draw);
        old[lane] = wave->vgpr[DATA][lane];
    }
    machine_set_exec(m, exec);
    write_text(text, how, false, how == BY_LDS ? lds_loads[i] : a->suffix, a->bytes);
    machine_run(m, text);
    cr_assert_not(wave->failed, "%s", text);
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned n = 0; n * 4 < a->bytes; n++) {
            uint64_t value = 0;
            for (unsigned b = 0; b < 4 && n * 4 + b < a->bytes; b++) {
                value += (uint64_t)places[lane][n * 4 + b] << 8 * b;
            }
            if (a->is_signed && value >> (8 * a->bytes - 1) != 0) {
                value -= UINT64_C(1) << 8 * a->bytes;
            }
            uint64_t mask = ((UINT64_C(1) << a->bits) - 1) << a->first_bit;
            uint32_t expected = (uint32_t)((old[lane] & ~mask) | (value << a->first_bit & mask));
            bool on = (exec >> lane & 1) != 0;
            if (on || n == 0) {
                cr_assert_eq(wave->vgpr[DATA + n][lane], on ? expected : old[lane], "%s: lane %u of %u", text, lane,
                             lanes);
            }
        }
    }
    machine_free(m);
}

static void try_store(way how, size_t i, unsigned lanes) {
    machine *m = machine_new(lanes, false);
    isa_wave *wave = machine_wave(m);
    const access *a = &stores[i];
    unsigned char before[64][20], *places[64];
    char text[128];
    uint64_t exec = (uint64_t)draw() << 32 | draw();
    machine_fill(m, MACHINE_VGPRS, draw);
    for (unsigned lane = 0; lane < lanes; lane++) {
        places[lane] = place(m, how, lane);
        machine_fill_bytes(places[lane], STRIDE, draw);
        memcpy(before[lane], places[lane], STRIDE);
    }
    machine_set_exec(m, exec);
    write_text(text, how, true, how == BY_LDS ? lds_stores[i] : a->suffix, a->bytes);
    machine_run(m, text);
    cr_assert_not(wave->failed, "%s", text);
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned b = 0; b < STRIDE; b++) {
            uint32_t word = wave->vgpr[DATA + b / 4][lane] >> a->first_bit;
            bool written = (exec >> lane & 1) && b < a->bytes;
            cr_assert_eq(places[lane][b], written ? word >> b % 4 * 8 & 255 : before[lane][b], "%s: lane %u byte %u",
                         text, lane, b);
        }
    }
    machine_free(m);
}

ROWS_TEST(loads) {
    for (way how = BY_LANE; how < WAYS; how++) {
        for (size_t i = 0; i < LOADS; i++) {
            for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
                if (has_access(how, false, how == BY_LDS ? lds_loads[i] : loads[i].suffix, lanes)) {
                    try_load(how, i, lanes);
                }
            }
        }
    }
}

ROWS_TEST(stores) {
    for (way how = BY_LANE; how < WAYS; how++) {
        for (size_t i = 0; i < STORES; i++) {
            for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
                if (has_access(how, true, how == BY_LDS ? lds_stores[i] : stores[i].suffix, lanes)) {
                    try_store(how, i, lanes);
                }
            }
        }
    }
}

ROWS_TEST(two_places_of_lds) {
    for (unsigned wide = 1; wide <= 2; wide++) {
        for (unsigned stride = 1; stride <= 64; stride += 63) {
            machine *m = machine_new(32, false);
            isa_wave *wave = machine_wave(m);
            char text[128];
            machine_fill(m, MACHINE_VGPRS, draw);
            machine_fill_bytes(machine_lds(m), MACHINE_LDS_BYTES, draw);
            for (unsigned lane = 0; lane < 32; lane++) {
                wave->vgpr[4][lane] = lane * 16;
            }
            unsigned unit = 4 * wide * stride, one = 3, two = 1;
            snprintf(text, sizeof text, "ds_load_2addr%s_b%u v[8:%u], v4 offset0:%u offset1:%u",
                     stride > 1 ? "_stride64" : "", 32 * wide, 7 + 2 * wide, one, two);
            machine_run(m, text);
            for (unsigned lane = 0; lane < 32; lane++) {
                for (unsigned n = 0; n < 2 * wide; n++) {
                    uint32_t expected, at = lane * 16 + (n < wide ? one : two) * unit + n % wide * 4;
                    memcpy(&expected, machine_lds(m) + at, 4);
                    cr_assert_eq(wave->vgpr[8 + n][lane], expected, "%s: lane %u", text, lane);
                }
            }
            snprintf(text, sizeof text,
                     wide > 1 ? "ds_store_2addr%s_b64 v4, v[12:13], v[14:15] offset0:%u offset1:%u"
                              : "ds_store_2addr%s_b32 v4, v12, v13 offset0:%u offset1:%u",
                     stride > 1 ? "_stride64" : "", one, two);
            machine_set_exec(m, 1u << 5);
            machine_run(m, text);
            for (unsigned n = 0; n < 2 * wide; n++) {
                uint32_t stored, at = 5 * 16 + (n < wide ? one : two) * unit + n % wide * 4;
                memcpy(&stored, machine_lds(m) + at, 4);
                cr_assert_eq(stored, wave->vgpr[12 + n][5], "%s", text);
            }
            machine_free(m);
        }
    }
}

ROWS_TEST(outside_lds) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_set_exec(m, 4);
    wave->vgpr[4][2] = MACHINE_LDS_BYTES - 4;
    wave->vgpr[8][2] = wave->vgpr[9][2] = 77;
    machine_run(m, "ds_load_b64 v[8:9], v4");
    cr_assert_eq(wave->vgpr[8][2], 0, "what is outside reads as 0");
    machine_expect(m, "lds-out-of-bounds",
                   "reads 8 bytes of LDS up to byte 4099; the workgroup has 4096 (workgroup (0,0,0), wave 0, lane 2)");
    machine_run(m, "ds_store_b64 v4, v[8:9]");
    machine_expect(m, "lds-out-of-bounds", "");
    wave->vgpr[4][2] = UINT32_MAX;
    machine_run(m, "ds_store_b8 v4, v8 offset:1");
    machine_expect(m, "", ""); /* addresses of LDS have 32 bits */
    machine_free(m);
}

ROWS_TEST(outside_memory_and_scratch) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_set_exec(m, 1);
    set_address(wave, 0, (uint64_t)(uintptr_t)machine_memory(m) + MACHINE_MEMORY_BYTES - 2);
    machine_run(m, "global_load_b32 v8, v[4:5], off");
    cr_assert(wave->failed);
    machine_expect(m, "out-of-bounds", "");
    if (machine_has("scratch_store_b32")) {
        wave->vgpr[4][0] = MACHINE_SCRATCH_BYTES - 3;
        machine_run(m, "scratch_store_b32 v4, v8, off");
        cr_assert(wave->failed);
        machine_expect(m, "scratch-out-of-bounds", "");
    }
    machine_free(m);
}

ROWS_TEST(exchanges_of_lanes) {
    for (unsigned lanes = machine_least(); lanes <= 64; lanes += 32) {
        machine *m = machine_new(lanes, false);
        isa_wave *wave = machine_wave(m);
        uint64_t exec = (uint64_t)draw() << 32 | draw();
        uint32_t sent[64] = {0}, old[64];
        machine_fill(m, MACHINE_VGPRS, draw);
        memcpy(old, wave->vgpr[8], sizeof old);
        machine_set_exec(m, exec);
        bool halves = machine_has("ds_bpermute_b32"), fetches = machine_has("ds_bpermute_fi_b32");
        machine_run(m, halves ? "ds_bpermute_b32 v8, v4, v5 offset:8" : "ds_bpermute_b32@wave v8, v4, v5 offset:8");
        machine_run(m, halves ? "ds_permute_b32 v9, v4, v5 offset:8" : "ds_permute_b32@wave v9, v4, v5 offset:8");
        if (fetches) {
            machine_run(m, "ds_bpermute_fi_b32 v10, v4, v5 offset:8");
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            unsigned at = (wave->vgpr[4][lane] + 8) / 4, to = halves ? at % 32 + lane / 32 * 32 : at % lanes;
            bool on = (exec >> lane & 1) != 0;
            cr_assert_eq(wave->vgpr[8][lane],
                         !on                ? old[lane]
                         : (exec >> to & 1) ? wave->vgpr[5][to]
                                            : 0,
                         "lane %u", lane);
            cr_assert(!fetches || !on || wave->vgpr[10][lane] == wave->vgpr[5][to], "lane %u", lane);
            sent[to] = on ? wave->vgpr[5][lane] : sent[to];
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            cr_assert((exec >> lane & 1) == 0 || wave->vgpr[9][lane] == sent[lane], "lane %u", lane);
        }
        machine_free(m);
    }
}

ROWS_TEST(patterns_of_lanes) {
    static const struct {
        const char *words;
        unsigned lanes[8]; /* that the first eight read */
    } cases[] = {{"offset:swizzle(QUAD_PERM,1,0,3,2)", {1, 0, 3, 2, 5, 4, 7, 6}},
                 {"offset:0x80b1", {1, 0, 3, 2, 5, 4, 7, 6}},
                 {"offset:swizzle(SWAP,4)", {4, 5, 6, 7, 0, 1, 2, 3}},
                 {"offset:swizzle(REVERSE,8)", {7, 6, 5, 4, 3, 2, 1, 0}},
                 {"offset:swizzle(BROADCAST,8,3)", {3, 3, 3, 3, 3, 3, 3, 3}},
                 {"offset:swizzle(BITMASK_PERM,\"ppp0i\")", {1, 0, 1, 0, 5, 4, 5, 4}},
                 {"offset:0xc040", {2, 3, 4, 5, 6, 7, 8, 9}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine *m = machine_new(64, false);
        char text[96];
        machine_fill(m, MACHINE_VGPRS, draw);
        snprintf(text, sizeof text, "ds_swizzle_b32 v8, v5 %s", cases[i].words);
        machine_run(m, text);
        for (unsigned lane = 0; lane < 8; lane++) {
            cr_assert_eq(machine_wave(m)->vgpr[8][lane], machine_wave(m)->vgpr[5][cases[i].lanes[lane]], "%s: lane %u",
                         text, lane);
            cr_assert_eq(machine_wave(m)->vgpr[8][lane + 32], machine_wave(m)->vgpr[5][cases[i].lanes[lane] + 32]);
        }
        machine_free(m);
    }
}

ROWS_TEST(scalar_loads) {
    static const unsigned counts[] = {1, 2, 4, 8, 16};
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    machine_fill_bytes(machine_memory(m), 256, draw);
    for (size_t i = 0; i < 5; i++) {
        char text[96], data[16];
        snprintf(data, sizeof data, counts[i] > 1 ? "s[20:%u]" : "s20", 19 + counts[i]);
        for (int form = 0; form < 3; form++) {
            static const char *const forms[] = {"0x20", "s6", "s6 offset:0x10"};
            wave->sgpr[2] = (uint32_t)memory;
            wave->sgpr[3] = (uint32_t)(memory >> 32);
            wave->sgpr[6] = form == 1 ? 0x23 : 0x10; /* addresses are taken down to a multiple of 4 */
            snprintf(text, sizeof text, "s_load_b%u %s, s[2:3], %s", 32 * counts[i], data, forms[form]);
            machine_run(m, text);
            cr_assert_not(wave->failed, "%s", text);
            cr_assert_eq(memcmp(&wave->sgpr[20], machine_memory(m) + 0x20, counts[i] * 4), 0, "%s", text);
        }
    }
    machine_run(m, "s_load_b32 s20, s[2:3], -0x4");
    cr_assert(wave->failed, "outside");
    machine_free(m);
}

ROWS_TEST(narrow_scalar_loads) {
    static const struct {
        const char *suffix;
        unsigned bytes;
        bool is_signed;
    } cases[] = {{"u8", 1, false}, {"i8", 1, true}, {"u16", 2, false}, {"i16", 2, true}};
    if (!machine_has("s_load_u8")) {
        return;
    }
    char text[96];
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    wave->sgpr[2] = (uint32_t)memory;
    wave->sgpr[3] = (uint32_t)(memory >> 32);
    for (unsigned round = 0; round < 64; round++) {
        unsigned bytes = cases[round % 4].bytes, at = draw() % 100 / bytes * bytes;
        machine_fill_bytes(machine_memory(m), 256, draw);
        wave->sgpr[6] = at;
        snprintf(text, sizeof text, "s_load_%s s20, s[2:3], s6 offset:0x8", cases[round % 4].suffix);
        machine_run(m, text);
        uint32_t value = machine_memory(m)[at + 8];
        value += bytes == 2 ? machine_memory(m)[at + 9] * 256u : 0;
        value -= cases[round % 4].is_signed && value >= 1u << (8 * bytes - 1) ? 1u << 8 * bytes : 0;
        cr_assert_eq(wave->sgpr[20], value, "%s: 0x%x", text, wave->sgpr[20]);
    }
    machine_run(m, "s_load_b96 s[20:22], s[2:3], 0x10");
    cr_assert_eq(memcmp(&wave->sgpr[20], machine_memory(m) + 0x10, 12), 0);
    machine_run(m, "s_load_u16 s20, s[2:3], 0x1");
    machine_expect(m, "misaligned", "");
    machine_free(m);
}

ROWS_TEST(caches_are_not_modelled) {
    static const char *const texts[] = {"buffer_gl0_inv",
                                        "buffer_gl1_inv",
                                        "s_gl1_inv",
                                        "s_dcache_inv",
                                        "s_icache_inv",
                                        "global_inv scope:SCOPE_DEV",
                                        "global_wb scope:SCOPE_SYS",
                                        "global_wbinv"};
    machine *m = machine_new(32, false);
    isa_wave before = *machine_wave(m);
    enum { TEXTS = sizeof texts / sizeof texts[0], MNEMONICS = 4 }; /* for a row */
    for (size_t i = 0; i < MNEMONICS * TEXTS; i++) {
        if (!machine_takes(texts[i % TEXTS])) {
            continue;
        }
        machine_run(m, texts[i % TEXTS]);
        cr_assert_eq(memcmp(machine_wave(m)->sgpr, before.sgpr, sizeof before.sgpr), 0);
    }
    machine_free(m);
}

/* ---- Atomic operations ------------------------------------------------------------------------------------- */

/* Name in LDS (with _rtn before the type), name in memory, registers; what stands there afterwards. */
typedef struct atomic {
    const char *lds, *type, *memory;
    unsigned registers;
    uint64_t (*after)(uint64_t old, uint64_t data, uint64_t expected);
} atomic;

static uint64_t after_add(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old + data;
}

static uint64_t after_sub(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old + ~data + 1;
}

static uint64_t after_rsub(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return data + ~old + 1;
}

static uint64_t after_and(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return ~(~old | ~data);
}

static uint64_t after_or(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return ~(~old & ~data);
}

static uint64_t after_xor(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return (old | data) & ~(old & data);
}

static uint64_t after_swap(uint64_t old, uint64_t data, uint64_t expected) {
    (void)old, (void)expected;
    return data;
}

static uint64_t after_umin(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old > data ? data : old;
}

static uint64_t after_umax(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old < data ? data : old;
}

static uint64_t after_smin32(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return (old ^ 0x80000000) > (data ^ 0x80000000) ? data : old;
}

static uint64_t after_smax32(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return (old ^ 0x80000000) < (data ^ 0x80000000) ? data : old;
}

static uint64_t after_smin64(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return (int64_t)old > (int64_t)data ? data : old;
}

static uint64_t after_smax64(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return (int64_t)old < (int64_t)data ? data : old;
}

static uint64_t after_inc(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old < data ? old + 1 : 0;
}

static uint64_t after_dec(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old > 0 && old <= data ? old - 1 : data;
}

static uint64_t after_cmpswap(uint64_t old, uint64_t data, uint64_t expected) {
    return old != expected ? old : data;
}

static uint64_t after_fadd(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return rows_float_bits((float)((double)rows_float(old) + (double)rows_float(data)));
}

static uint64_t after_fmin(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return rows_float_bits(fminf(rows_float(old), rows_float(data)));
}

static uint64_t after_fmax(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return rows_float_bits(fmaxf(rows_float(old), rows_float(data)));
}

static uint64_t after_sub_clamp(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old > data ? old - data : 0;
}

static uint64_t after_cond_sub(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    return old >= data ? old - data : old;
}

static uint64_t after_pk_add_f16(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    uint64_t high = rows_half_bits_once((double)rows_half(old >> 16) + (double)rows_half(data >> 16));
    return rows_half_bits_once((double)rows_half(old) + (double)rows_half(data)) | high << 16;
}

/* Of small whole numbers, whose sums are exact. */
static uint64_t after_pk_add_bf16(uint64_t old, uint64_t data, uint64_t expected) {
    (void)expected;
    uint64_t low = rows_float_bits(rows_float(old << 16) + rows_float(data << 16)) >> 16;
    return low | (rows_float_bits(rows_float(old & 0xffff0000) + rows_float(data & 0xffff0000)) & 0xffff0000);
}

static const atomic atomics[] = {{"add", "u32", "add_u32", 1, after_add},
                                 {"sub", "u32", "sub_u32", 1, after_sub},
                                 {"rsub", "u32", NULL, 1, after_rsub},
                                 {"min", "i32", "min_i32", 1, after_smin32},
                                 {"max", "i32", "max_i32", 1, after_smax32},
                                 {"min", "u32", "min_u32", 1, after_umin},
                                 {"max", "u32", "max_u32", 1, after_umax},
                                 {"and", "b32", "and_b32", 1, after_and},
                                 {"or", "b32", "or_b32", 1, after_or},
                                 {"xor", "b32", "xor_b32", 1, after_xor},
                                 {"inc", "u32", "inc_u32", 1, after_inc},
                                 {"dec", "u32", "dec_u32", 1, after_dec},
                                 {"add", "f32", "add_f32", 1, after_fadd},
                                 {"min", "f32", "min_f32", 1, after_fmin},
                                 {"max", "f32", "max_f32", 1, after_fmax},
                                 {"min_num", "f32", "min_num_f32", 1, after_fmin},
                                 {"max_num", "f32", "max_num_f32", 1, after_fmax},
                                 {"sub_clamp", "u32", "sub_clamp_u32", 1, after_sub_clamp},
                                 {"cond_sub", "u32", "cond_sub_u32", 1, after_cond_sub},
                                 {"pk_add", "f16", "pk_add_f16", 1, after_pk_add_f16},
                                 {"pk_add", "bf16", "pk_add_bf16", 1, after_pk_add_bf16},
                                 {"cmpstore", "b32", "cmpswap_b32", 1, after_cmpswap},
                                 {"storexchg", "b32", "swap_b32", 1, after_swap},
                                 {"add", "u64", "add_u64", 2, after_add},
                                 {"sub", "u64", "sub_u64", 2, after_sub},
                                 {"rsub", "u64", NULL, 2, after_rsub},
                                 {"min", "i64", "min_i64", 2, after_smin64},
                                 {"max", "i64", "max_i64", 2, after_smax64},
                                 {"min", "u64", "min_u64", 2, after_umin},
                                 {"max", "u64", "max_u64", 2, after_umax},
                                 {"and", "b64", "and_b64", 2, after_and},
                                 {"or", "b64", "or_b64", 2, after_or},
                                 {"xor", "b64", "xor_b64", 2, after_xor},
                                 {"inc", "u64", "inc_u64", 2, after_inc},
                                 {"dec", "u64", "dec_u64", 2, after_dec},
                                 {"cmpstore", "b64", "cmpswap_b64", 2, after_cmpswap},
                                 {"storexchg", "b64", "swap_b64", 2, after_swap}};

/* Floats are whole numbers, whose sums are exact; of the others many are small. */
static uint32_t draw_operand(const char *type) {
    float low = (float)(draw() % 128) - 64, high = (float)(draw() % 128) - 64;
    if (strcmp(type, "f32") == 0) {
        return (uint32_t)rows_float_bits((float)(draw() % 1000) - 500);
    }
    if (strcmp(type, "f16") == 0) {
        return (uint32_t)(rows_half_bits(low) | rows_half_bits(high) << 16);
    }
    if (strcmp(type, "bf16") == 0) {
        return (uint32_t)(rows_float_bits(low) >> 16 | rows_float_bits(high));
    }
    return draw() % 3 ? draw() : draw() % 4;
}

/* Half of the lanes do theirs at one place each; the values that compare are equal in half of the cases. */
static void try_atomic(const atomic *a, way how, bool result) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    bool lds = how == BY_LDS, compares = a->after == after_cmpswap;
    unsigned words = a->registers;
    char text[128], data[32], expected[32] = "", to[32] = "";
    unsigned char *places[32];
    uint64_t old[32], given[32], wanted[32];
    for (unsigned lane = 0; lane < 32; lane++) {
        places[lane] = place(m, how, lane);
        for (unsigned n = 0; n < words; n++) {
            uint32_t value = draw_operand(a->type);
            memcpy(places[lane] + 4 * n, &value, 4);
            wave->vgpr[DATA + n][lane] = draw_operand(a->type);
            wave->vgpr[DATA + words + n][lane] = lane % 2 ? value : draw();
        }
        old[lane] = given[lane] = wanted[lane] = 0;
        memcpy(&old[lane], places[lane], 4 * words);
        for (unsigned n = 0; n < words; n++) {
            given[lane] |= (uint64_t)wave->vgpr[DATA + n][lane] << 32 * n;
            wanted[lane] |= (uint64_t)wave->vgpr[DATA + words + n][lane] << 32 * n;
        }
    }
    unsigned first = DATA + words, last = DATA + words * (compares && !lds ? 2 : 1) - 1;
    snprintf(data, sizeof data, last > DATA ? "v[%d:%u]" : "v%d", DATA, last);
    if (compares && lds) {
        snprintf(expected, sizeof expected, words > 1 ? ", v[%u:%u]" : ", v%u", first, first + 1);
    }
    if (result) {
        snprintf(to, sizeof to, words > 1 ? "v[%u:%u], " : "v%u, ", 20, 21);
    }
    if (lds) {
        snprintf(text, sizeof text, "ds_%s_%s%s %sv4, %s%s offset:%d", a->lds, result ? "rtn_" : "", a->type, to, data,
                 expected, OFFSET);
    } else {
        snprintf(text, sizeof text, "%s_atomic_%s %s%s, %s%s offset:%d%s%s",
                 how == BY_BASE || how == BY_LANE ? "global" : "flat", a->memory, to, how == BY_BASE ? "v4" : "v[4:5]",
                 data,
                 how == BY_BASE   ? ", s[2:3]"
                 : how == BY_LANE ? ", off"
                                  : "",
                 OFFSET, result ? " " : "", result ? machine_family()->returning : "");
    }
    machine_set_exec(m, 0xffff0000u);
    machine_run(m, text);
    cr_assert_not(wave->failed, "%s", text);
    for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t now = 0, after = a->after(old[lane], given[lane], wanted[lane]);
        memcpy(&now, places[lane], 4 * words);
        after &= words == 1 ? UINT32_MAX : UINT64_MAX;
        cr_assert_eq(now, lane < 16 ? old[lane] : after, "%s: lane %u: 0x%llx of 0x%llx and 0x%llx", text, lane,
                     (unsigned long long)now, (unsigned long long)old[lane], (unsigned long long)given[lane]);
        if (result && lane >= 16) {
            uint64_t got =
                words == 2 ? (uint64_t)wave->vgpr[21][lane] << 32 | wave->vgpr[20][lane] : wave->vgpr[20][lane];
            cr_assert_eq(got, old[lane], "%s: lane %u", text, lane);
        }
    }
    machine_free(m);
}

static bool has_atomic(const atomic *a, const char *prefix) {
    char row[64];
    snprintf(row, sizeof row, "%s_atomic_%s", prefix, a->memory);
    if (strcmp(prefix, "ds") == 0) {
        snprintf(row, sizeof row, "ds_%s_rtn_%s", a->lds, a->type);
    }
    return machine_has(row);
}

ROWS_TEST(atomic_operations) {
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
        for (int round = 0; round < 8; round++) {
            bool result = round % 2;
            if (has_atomic(&atomics[i], "ds") && (result || atomics[i].after != after_swap)) {
                try_atomic(&atomics[i], BY_LDS, result);
            }
            if (atomics[i].memory != NULL && has_atomic(&atomics[i], "global")) {
                try_atomic(&atomics[i], BY_LANE, result);
                try_atomic(&atomics[i], BY_BASE, result);
            }
            if (atomics[i].memory != NULL && has_atomic(&atomics[i], "flat")) {
                try_atomic(&atomics[i], BY_FLAT, result);
                try_atomic(&atomics[i], BY_FLAT_LDS, result);
            }
        }
    }
}

ROWS_TEST(lanes_at_one_place_take_turns) {
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned lane = 0; lane < 64; lane++) {
        wave->vgpr[4][lane] = 128;
        wave->vgpr[8][lane] = 1;
    }
    machine_run(m, "ds_add_rtn_u32 v9, v4, v8");
    for (unsigned lane = 0; lane < 64; lane++) {
        cr_assert_eq(wave->vgpr[9][lane], lane);
    }
    machine_free(m);
}
