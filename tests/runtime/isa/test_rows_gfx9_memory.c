/* Memory as gfx9 alone reaches it: the transposing read of LDS, loads into LDS, and scratch through buffers. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "checks.h"
#include "isa/image.h"
#include "isa_test.h"
#include "machine.h"
#include "rows.h"

static uint64_t state = 13;

static uint32_t draw(void) {
    return isa_test_random(&state) << 16 ^ isa_test_random(&state);
}

/* ---- The transposing read ---------------------------------------------------------------------------------- */

ROWS_TEST(transposing_read) {
    if (!machine_has("ds_read_b64_tr_b16")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    uint16_t lds[2048];
    machine_fill_bytes(machine_lds(m), MACHINE_LDS_BYTES, draw);
    memcpy(lds, machine_lds(m), sizeof lds);
    /* Four matrices of 4 rows of 16 elements, one for each 16 lanes, of which four read a row. */
    for (unsigned lane = 0; lane < 64; lane++) {
        wave->vgpr[4][lane] = lane / 16 * 1000 + lane % 16 / 4 * 200 + lane % 4 * 8;
    }
    machine_run(m, "ds_read_b64_tr_b16 v[8:9], v4 offset:16");
    for (unsigned lane = 0; lane < 64; lane++) {
        for (unsigned row = 0; row < 4; row++) {
            unsigned at = (lane / 16 * 1000 + row * 200 + 16) / 2 + lane % 16;
            cr_assert_eq(wave->vgpr[8 + row / 2][lane] >> row % 2 * 16 & 0xffff, lds[at], "lane %u, row %u", lane, row);
        }
    }
    wave->vgpr[4][2] += 2;
    machine_run(m, "ds_read_b64_tr_b16 v[8:9], v4");
    machine_expect(m, "misaligned", "");
    wave->vgpr[4][2] -= 2;
    machine_set_exec(m, UINT64_MAX / 2);
    machine_run(m, "ds_read_b64_tr_b16 v[8:9], v4");
    machine_expect(m, "exchange-lanes-off", "");
    machine_free(m);
}

/* ---- From memory into LDS ---------------------------------------------------------------------------------- */

static void try_into_lds(const char *suffix, unsigned bytes, unsigned stored, bool is_signed, bool by_base) {
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m), exec = (uint64_t)draw() << 32 | draw();
    unsigned char before[MACHINE_LDS_BYTES], expected[16];
    char text[96];
    machine_fill_bytes(machine_memory(m), MACHINE_MEMORY_BYTES, draw);
    machine_fill_bytes(machine_lds(m), MACHINE_LDS_BYTES, draw);
    memcpy(before, machine_lds(m), sizeof before);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t address = (by_base ? 0 : memory) + lane * 24;
        wave->vgpr[4][lane] = (uint32_t)address;
        wave->vgpr[5][lane] = (uint32_t)(address >> 32);
    }
    wave->sgpr[2] = (uint32_t)memory;
    wave->sgpr[3] = (uint32_t)(memory >> 32);
    wave->sgpr[ISA_M0] = 0xfffc0000u + 513; /* what is above 17 bits and below 4 bytes does not count */
    machine_set_exec(m, exec);
    snprintf(text, sizeof text, "global_load_lds_%s %s offset:32", suffix, by_base ? "v4, s[2:3]" : "v[4:5], off");
    machine_run(m, text);
    cr_assert_not(wave->failed, "%s", text);
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned at = 512 + 32 + lane * (stored > 4 ? 16 : 4);
        bool on = (exec >> lane & 1) != 0;
        memset(expected, 0, sizeof expected);
        memcpy(expected, machine_memory(m) + lane * 24 + 32, bytes);
        if (is_signed && expected[bytes - 1] >= 128) {
            memset(expected + bytes, 255, 4 - bytes);
        }
        cr_assert_eq(memcmp(machine_lds(m) + at, on ? expected : before + at, stored), 0, "%s: lane %u", text, lane);
    }
    machine_free(m);
}

ROWS_TEST(loads_into_lds) {
    static const struct {
        const char *suffix;
        unsigned bytes, stored;
        bool is_signed;
    } cases[] = {{"ubyte", 1, 4, false}, {"sbyte", 1, 4, true},      {"ushort", 2, 4, false},   {"sshort", 2, 4, true},
                 {"dword", 4, 4, false}, {"dwordx3", 12, 12, false}, {"dwordx4", 16, 16, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char row[64];
        snprintf(row, sizeof row, "global_load_lds_%s", cases[i].suffix);
        for (int round = 0; round < 6 && machine_has(row); round++) {
            try_into_lds(cases[i].suffix, cases[i].bytes, cases[i].stored, cases[i].is_signed, round % 2);
        }
    }
}

ROWS_TEST(loads_into_lds_are_waited_for) {
    if (!machine_has("global_load_lds_dword")) {
        return;
    }
    static emu_lds lds;
    static const struct fmha_emu_site site = {.file = "", .line = 0};
    machine *m = machine_new(64, true);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    lds.area = machine_lds(m) - EMU_LDS_GAP_BYTES;
    emu_lds_begin(&lds);
    emu_lds_add(&lds, &site, MACHINE_LDS_BYTES);
    wave->group->lds_state = &lds;
    for (unsigned reg = 2; reg < 8; reg++) {
        wave->checks->vgpr_written[reg] = UINT64_MAX;
        wave->checks->sgpr_written[reg] = true;
    }
    wave->checks->sgpr_written[ISA_M0] = true;
    wave->sgpr[2] = (uint32_t)memory;
    wave->sgpr[3] = (uint32_t)(memory >> 32);
    for (int round = 0; round < 2; round++) {
        wave->sgpr[ISA_M0] = 1024 * (uint32_t)round;
        machine_run(m, "global_load_lds_dword v4, s[2:3]");
    }
    machine_set_exec(m, 1);
    machine_run(m, "s_waitcnt vmcnt(1)");
    machine_run(m, "ds_load_b32 v8, v4 offset:12");
    machine_expect(m, "", "");
    machine_run(m, "ds_load_b32 v9, v4 offset:1036");
    machine_expect(m, "missing-wait",
                   "reads byte 1036 of LDS before the load from memory that fills it has ended: a wait for vmcnt(0) or "
                   "less of wave 0 must come first");
    machine_run(m, "s_waitcnt vmcnt(0)");
    machine_run(m, "ds_load_b32 v10, v4 offset:1040");
    machine_expect(m, "", "");
    machine_free(m);
}

/* ---- Scratch through buffers ------------------------------------------------------------------------------- */

static void set_buffer(isa_wave *wave, uint32_t wave_offset) {
    uint64_t words[2] = {ISA_PRIVATE_BUFFER + wave_offset, ISA_PRIVATE_BUFFER_REST};
    memcpy(&wave->sgpr[4], words, sizeof words);
}

ROWS_TEST(scratch_through_buffers) {
    static const struct {
        const char *name, *data;
        unsigned bytes, first_byte;
        bool is_signed;
    } loads[] = {{"ubyte", "v8", 1, 0, false},         {"sbyte", "v8", 1, 0, true},
                 {"ushort", "v8", 2, 0, false},        {"sshort", "v8", 2, 0, true},
                 {"dword", "v8", 4, 0, false},         {"dwordx2", "v[8:9]", 8, 0, false},
                 {"dwordx3", "v[8:10]", 12, 0, false}, {"dwordx4", "v[8:11]", 16, 0, false}},
      stores[] = {{"byte", "v8", 1, 0, false},          {"short", "v8", 2, 0, false},
                  {"dword", "v8", 4, 0, false},         {"dwordx2", "v[8:9]", 8, 0, false},
                  {"dwordx3", "v[8:10]", 12, 0, false}, {"dwordx4", "v[8:11]", 16, 0, false},
                  {"short_d16_hi", "v8", 2, 2, false},  {"byte_d16_hi", "v8", 1, 2, false}};
    if (!machine_has("buffer_load_dword")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    char text[96];
    set_buffer(wave, 0);
    wave->sgpr[32] = 64 * 40;
    for (unsigned lane = 0; lane < 64; lane++) {
        wave->vgpr[4][lane] = lane % 8 * 4;
    }
    for (size_t i = 0; i < 8; i++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            machine_fill_bytes(machine_scratch(m, (int)lane), MACHINE_SCRATCH_BYTES, draw);
        }
        bool by_lane = i % 2;
        const char *place = by_lane ? "v4, s[4:7], s32 offen offset:12" : "off, s[4:7], s32 offset:12";
        snprintf(text, sizeof text, "buffer_load_%s %s, %s", loads[i].name, loads[i].data, place);
        machine_run(m, text);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t expected[4] = {0};
            memcpy(expected, machine_scratch(m, (int)lane) + 52 + (by_lane ? lane % 8 * 4 : 0), loads[i].bytes);
            uint32_t size = loads[i].bytes < 4 ? 1u << 8 * loads[i].bytes : 0;
            expected[0] -= loads[i].is_signed && expected[0] >= size / 2 ? size : 0;
            for (unsigned n = 0; 4 * n < loads[i].bytes; n++) {
                cr_assert_eq(wave->vgpr[8 + n][lane], expected[n], "%s: lane %u", text, lane);
            }
        }
        snprintf(text, sizeof text, "buffer_store_%s %s, %s", stores[i].name, stores[i].data, place);
        for (unsigned n = 0; n < 4; n++) {
            wave->vgpr[8 + n][9] = draw();
        }
        machine_run(m, text);
        for (unsigned byte = 0; byte < stores[i].bytes; byte++) {
            unsigned from = byte + stores[i].first_byte;
            cr_assert_eq(machine_scratch(m, 9)[52 + (by_lane ? 4 : 0) + byte],
                         wave->vgpr[8 + from / 4][9] >> from % 4 * 8 & 255, "%s: byte %u", text, byte);
        }
    }
    machine_free(m);
}

ROWS_TEST(other_buffers_are_refused) {
    if (!machine_has("buffer_load_dword")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    set_buffer(wave, 0);
    wave->sgpr[7] ^= 1;
    machine_run(m, "buffer_load_dword v8, off, s[4:7], 0");
    machine_expect(m, "unsupported-buffer", "uses a buffer other than the wave's scratch");
    set_buffer(wave, 0);
    wave->sgpr[32] = 100;
    machine_run(m, "buffer_store_dword v8, off, s[4:7], s32");
    machine_expect(m, "scratch-misplaced", "expected a multiple of 256 bytes behind the wave's scratch, got 0x64");
    machine_run(m, "buffer_store_dword v8, off, s[4:7], 0 offset:255");
    machine_expect(m, "scratch-out-of-bounds", "");
    cr_assert_str_eq(machine_refusal(m, "buffer_load_dword v8, v4, s[4:7], 0 idxen"),
                     "expected a modifier that is known, got 'idxen'");
    machine_free(m);
}
