/* Loads from memory into LDS: where each lane's value goes, what ends them, what is counted and what is refused. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "emu_test.h"

enum { IN_BYTES = 4096, LDS_WORDS = 1024, TEXT_BYTES = 4096 };

typedef struct buffers {
    void *in, *out;
} buffers;

/* Byte i of the input. */
static unsigned char byte_at(size_t i) {
    return (unsigned char)(i * 7 + i / 256);
}

static buffers make_buffers(emu_test *test) {
    unsigned char values[IN_BYTES];
    for (size_t i = 0; i < sizeof values; i++) {
        values[i] = byte_at(i);
    }
    return (buffers){emu_test_buffer(test, sizeof values, "in", values),
                     emu_test_buffer(test, LDS_WORDS * sizeof(uint32_t), "out", NULL)};
}

/* A kernel that fills LDS with 0xee bytes, does `body` and copies LDS to `out`. LOAD(from, to, size, offset) loads. */
static void write_text(const char *body, char text[TEXT_BYTES]) {
    snprintf(text, TEXT_BYTES,
             "#define LOAD(from, to, size, offset) \\\n"
             "    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \\\n"
             "                                     (__attribute__((address_space(3))) void *)(to), size, offset, 0)\n"
             "#define WAIT(loads) __builtin_amdgcn_s_waitcnt(0x0f70 | (loads))\n"
             "#define FENCE(order, ...) __builtin_amdgcn_fence(__ATOMIC_##order, __VA_ARGS__)\n"
             "extern \"C\" __global__ void kernel(const unsigned char *in, unsigned *out) {\n"
             "    const unsigned i = threadIdx.x, wave = i / 64, lane = i %% 64;\n"
             "    unsigned char *lds = (unsigned char *)fmha_emu_lds(4096);\n"
             "    for (unsigned at = i; at < 1024; at += blockDim.x) ((unsigned *)lds)[at] = 0xeeeeeeeeu;\n"
             "    __builtin_amdgcn_s_barrier();\n"
             "#line 1\n"
             "    %s\n"
             "    __builtin_amdgcn_s_barrier();\n"
             "    for (unsigned at = i; at < 1024; at += blockDim.x) out[at] = ((unsigned *)lds)[at];\n"
             "    (void)wave; (void)lane;\n"
             "}\n",
             body);
}

/* The launch's status; `got` NULL: not wanted. */
static fmha_status run(emu_test *test, const char *body, unsigned items, unsigned char *got) {
    char text[TEXT_BYTES];
    buffers given = make_buffers(test);
    write_text(body, text);
    fmha_status status = emu_test_run(test, emu_test_kernel(test, text, "k.hip", 64), 1, items, &given, sizeof given);
    if (got != NULL) {
        emu_test_read(test, given.out, got, LDS_WORDS * sizeof(uint32_t));
    }
    return status;
}

/* Lanes of two waves of 64 load from i * step on; wave w's values begin 64 strides behind the first's. */
static void expect_values(const char *chip, unsigned items, size_t size, int offset, size_t step) {
    static unsigned char got[LDS_WORDS * sizeof(uint32_t)], expected[LDS_WORDS * sizeof(uint32_t)];
    size_t stride = size > 4 ? 16 : 4;
    char body[512];
    snprintf(body, sizeof body, "LOAD(in + 64 + i * %zu, lds + 64 + wave * %zu, %zu, %d); WAIT(0);", step, 64 * stride,
             size, offset);
    memset(expected, 0xee, sizeof expected);
    for (unsigned i = 0; i < items; i++) {
        unsigned char *to = expected + 64 + offset + i * stride;
        memset(to, 0, size > 4 ? size : 4);
        for (size_t n = 0; n < size; n++) {
            to[n] = byte_at(64 + (size_t)((long)(i * step) + offset) + n);
        }
    }
    emu_test test = emu_test_open(chip);
    cr_assert(eq(int, run(&test, body, items, got), FMHA_OK), "%s: %s", body, fmha_last_error());
    for (size_t i = 0; i < sizeof got; i++) {
        cr_assert(eq(uint, got[i], expected[i]), "%s %s with %u work items: byte %zu", chip, body, items, i);
    }
    emu_test_close(&test);
}

Test(load_lds, values) {
    expect_values("gfx942", 128, 4, 0, 4);
    expect_values("gfx942", 128, 4, 48, 20); /* the offset counts on both sides */
    expect_values("gfx9-4-generic", 64, 2, -8, 6);
    expect_values("gfx942", 64, 1, 4, 3);
    expect_values("gfx950", 128, 16, 0, 16);
    expect_values("gfx950", 128, 12, 32, 20);
}

/* Lanes that the last wave does not have write nothing. */
Test(load_lds, lanes_that_are_not_there) {
    expect_values("gfx942", 100, 4, 0, 4);
    expect_values("gfx950", 70, 16, 16, 16);
}

/* What has waited: nothing is found. What has not: words of the finding. */
static void expect_wait(const char *wait, bool ends) {
    char body[512];
    snprintf(body, sizeof body,
             "LOAD(in + i * 4, lds + wave * 256, 4, 0); LOAD(in + i * 4, lds + 2048 + wave * 256, 4, 0); %s", wait);
    emu_test test = emu_test_open("gfx950");
    emu_test_ended(&test, run(&test, body, 128, NULL), ends ? NULL : "lds-not-arrived", wait);
    emu_test_close(&test);
}

Test(load_lds, what_ends_a_load) {
    expect_wait("WAIT(0);", true);
    expect_wait("__builtin_amdgcn_s_waitcnt(0);", true);
    expect_wait("if (lane == 3) WAIT(0);", true); /* a wave's lanes wait together */
    expect_wait("", false);
    expect_wait("WAIT(1);", false); /* the first of two has arrived */
    expect_wait("WAIT(0xc000);", false);
    expect_wait("__builtin_amdgcn_s_waitcnt(0xcf7f);", false); /* lgkmcnt and expcnt are others' */
    /* A compiler may make a fence wait, or see no load behind it and not do so. */
    expect_wait("FENCE(RELEASE, \"workgroup\");", false);
    expect_wait("FENCE(RELEASE, \"workgroup\", \"local\");", false);
    expect_wait("FENCE(SEQ_CST, \"agent\");", false);
    expect_wait("FENCE(ACQ_REL, \"\");", false);
    expect_wait("if (wave == 0) WAIT(0);", false);
}

/* With vmcnt(1) the older of two loads has ended: its bytes may be read, the other's may not. */
Test(load_lds, waits_for_the_oldest_first) {
    static const char format[] = "LOAD(in + i * 4, lds, 4, 0); LOAD(in + i * 4, lds + 256, 4, 0); WAIT(1);"
                                 "__builtin_amdgcn_s_barrier(); out[i] = *(unsigned *)(lds + %d + i * 4); WAIT(0);";
    for (int place = 0; place <= 256; place += 256) {
        char body[512];
        emu_test test = emu_test_open("gfx942");
        snprintf(body, sizeof body, format, place);
        cr_expect(eq(int, run(&test, body, 64, NULL), place == 0 ? FMHA_OK : FMHA_ERROR_KERNEL));
        emu_test_close(&test);
    }
}

/* Of 64 loads, more than vmcnt counts, the oldest has ended and the next has not. */
Test(load_lds, more_than_can_be_counted) {
    static const char format[] = "for (int n = 0; n < 64; n++) LOAD(in + 4 * n, lds + 4 * n, 4, 0);"
                                 "out[0] = ((unsigned *)lds)[%d]; WAIT(0);";
    for (int word = 0; word < 2; word++) {
        char body[512];
        emu_test test = emu_test_open("gfx942");
        snprintf(body, sizeof body, format, word);
        cr_expect(eq(int, run(&test, body, 1, NULL), word == 0 ? FMHA_OK : FMHA_ERROR_KERNEL), "word %d: %s", word,
                  fmha_last_error());
        emu_test_close(&test);
    }
}

/* The gaps that 12 bytes leave are not waited for. */
Test(load_lds, gaps_are_free) {
    emu_test test = emu_test_open("gfx950");
    cr_expect(eq(int, run(&test, "LOAD(in + i * 16, lds, 12, 0); ((unsigned *)lds)[i * 4 + 3] = i; WAIT(0);", 64, NULL),
                 FMHA_OK),
              "%s", fmha_last_error());
    emu_test_close(&test);
    test = emu_test_open("gfx950");
    cr_expect(eq(int, run(&test, "LOAD(in + i * 16, lds, 12, 0); ((unsigned *)lds)[i * 4 + 2] = i; WAIT(0);", 64, NULL),
                 FMHA_ERROR_KERNEL));
    emu_test_finding(&test, "lds-not-arrived",
                     "k.hip:1: writes byte 1000 of the LDS block of line 8 (4096 bytes), which a load of wave 0 from "
                     "memory fills and no wait of that wave has ended (workgroup (0,0,0), wave 0, lane 62): wait in "
                     "the wave that loads, before the barrier, by __builtin_amdgcn_s_waitcnt(0x0f70), which is "
                     "vmcnt(0)");
    emu_test_close(&test);
}

/* One instruction of a wave, beside the 16 that fill LDS first. */
Test(load_lds, counts) {
    emu_test test = emu_test_open("gfx950");
    emu_test_set(&test, "count", 1);
    cr_assert(eq(int, run(&test, "LOAD(in + i * 16, lds, 16, 0); WAIT(0);", 64, NULL), FMHA_OK));
    cr_expect(eq(u64, emu_test_counter(&test, "bytes_read", "in"), 64 * 16));
    cr_expect(eq(u64, emu_test_counter(&test, "lds_writes", NULL), 16 + 1));
    cr_expect(eq(u64, emu_test_counter(&test, "lds_bytes_written", NULL), 4096 + 64 * 16));
    cr_expect(
        eq(u64, emu_test_counter(&test, "lds_cycles", NULL), 2 * 16 + 16 + 8)); /* reads find 64 banks, writes 32 */
    emu_test_close(&test);
}

/* Without checks it does the same. */
Test(load_lds, unchecked) {
    static unsigned char got[LDS_WORDS * sizeof(uint32_t)];
    emu_test test = emu_test_open("gfx950");
    emu_test_set(&test, "checks", 0);
    cr_assert(eq(int, run(&test, "LOAD(in + i * 4, lds, 4, 0);", 64, got), FMHA_OK));
    for (unsigned i = 0; i < 256; i++) {
        cr_assert(eq(uint, got[i], byte_at(i)), "byte %u", i);
    }
    cr_assert(eq(int, run(&test, "LOAD((char *)0 + 64, lds, 4, 0);", 64, NULL), FMHA_ERROR_KERNEL));
    emu_test_close(&test);
}

static void expect_error(const char *chip, const char *body, const char *words) {
    char text[TEXT_BYTES];
    write_text(body, text);
    emu_test_compile_error(chip, text, 64, words);
}

Test(load_lds, refused) {
    expect_error("gfx942", "LOAD(in, lds, 16, 0);",
                 "__builtin_amdgcn_global_load_lds: size: expected 1, 2 or 4; on gfx950 also 12 and 16");
    expect_error("gfx950", "LOAD(in, lds, 8, 0);",
                 "__builtin_amdgcn_global_load_lds: size: expected 1, 2 or 4; on gfx950 also 12 and 16");
    expect_error("gfx950", "LOAD(in, lds, 4, 4096);",
                 "__builtin_amdgcn_global_load_lds: offset: expected -4096 to 4095");
    expect_error("gfx950", "LOAD(in, lds, 4, lane);", "constant expression");
    expect_error("gfx950", "__builtin_amdgcn_global_load_lds((void *)in, (void *)lds, 4, 0, 0);",
                 "no matching function");
    expect_error("gfx1151", "LOAD(in, lds, 4, 0);", "__builtin_amdgcn_global_load_lds");
}
