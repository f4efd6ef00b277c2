/* Loads that exchange what they load between lanes, against the place that each value must come from. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "emu_test.h"

enum { WAVE_MAX = 64, TEXT_BYTES = 4096 };

typedef struct form {
    const char *chip, *builtin, *element;
    unsigned wave, space;
    unsigned lanes; /* that exchange among themselves */
    unsigned count; /* elements of a lane */
} form;

#define TR_128(chip, suffix, type)                                                                                     \
    { chip, "global_load_tr_b128_v8" suffix, type, 32, 1, 8, 8 }
#define TR_64(suffix, type)                                                                                            \
    { "gfx950", "ds_read_tr16_b64_v4" suffix, type, 64, 3, 16, 4 }

static const form forms[] = {
    TR_128("gfx1200", "i16", "short"),
    TR_128("gfx1201", "i16", "short"),
    TR_128("gfx1201", "f16", "__fp16"),
    TR_128("gfx1201", "bf16", "__bf16"),
    TR_64("i16", "short"),
    TR_64("f16", "__fp16"),
    TR_64("bf16", "__bf16"),
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* `from` is what each lane loads, in words of the kernel's in, lds (a copy of it), i and row. */
static void write_text(const form *of, const char *from, char text[TEXT_BYTES]) {
    snprintf(text, TEXT_BYTES,
             "typedef %s vector __attribute__((ext_vector_type(%u)));\n"
             "extern \"C\" __global__ void kernel(const unsigned short *in, unsigned short *out) {\n"
             "    const unsigned i = threadIdx.x, row = i * 5 %% %u;\n"
             "    unsigned short *lds = (unsigned short *)fmha_emu_lds(1024);\n"
             "    ((volatile unsigned long long *)lds)[i] = ((const unsigned long long *)in)[i];\n"
             "    ((volatile unsigned long long *)lds)[i + %u] = ((const unsigned long long *)in)[i + %u];\n"
             "    __builtin_amdgcn_s_barrier();\n"
             "    (void)row;\n"
             "    vector got = __builtin_amdgcn_%s((__attribute__((address_space(%u))) vector *)(%s));\n"
             "    __builtin_memcpy(out + i * %u, &got, %u);\n"
             "}\n",
             of->element, of->count, of->wave, of->wave, of->wave, of->builtin, of->space, from, of->count,
             2 * of->count);
}

typedef struct buffers {
    void *in, *out;
} buffers;

static buffers make_buffers(emu_test *test) {
    unsigned short values[512];
    for (unsigned i = 0; i < 512; i++) {
        values[i] = (unsigned short)(0x3c00 + i); /* finite in every format */
    }
    return (buffers){emu_test_buffer(test, sizeof values, "in", values),
                     emu_test_buffer(test, sizeof values, "out", NULL)};
}

/* Element n of lane l of those that exchange. */
static unsigned expected(const form *of, unsigned lane, unsigned n) {
    unsigned first = lane / of->lanes * of->lanes, l = lane % of->lanes;
    unsigned source = of->count == 8 ? first + n : first + 4 * n + l / 4, index = of->count == 8 ? l : l % 4;
    return 0x3c00 + source * 5 % of->wave * of->count + index;
}

static const char *source_of(const form *of) {
    return of->space == 1 ? "in + row * 8" : "lds + row * 4";
}

Test(loads, values) {
    for (int f = 0; f < FORMS; f++) {
        const form *of = &forms[f];
        char text[TEXT_BYTES];
        unsigned short got[512];
        emu_test test = emu_test_open(of->chip);
        buffers given = make_buffers(&test);
        write_text(of, source_of(of), text);
        void *kernel = emu_test_kernel(&test, text, "k.hip", (int)of->wave);
        cr_assert(eq(int, emu_test_run(&test, kernel, 1, of->wave, &given, sizeof given), FMHA_OK), "%s",
                  fmha_last_error());
        emu_test_read(&test, given.out, got, sizeof got);
        for (unsigned lane = 0; lane < of->wave; lane++) {
            for (unsigned n = 0; n < of->count; n++) {
                cr_assert(eq(uint, got[lane * of->count + n], expected(of, lane, n)), "%s: lane %u, element %u",
                          of->builtin, lane, n);
            }
        }
        emu_test_close(&test);
    }
}

/* Filling LDS reads 16 bytes of each lane; what comes on top is the load's. */
Test(loads, count_like_other_loads) {
    for (int f = 1; f < FORMS; f += 3) {
        const form *of = &forms[f];
        char text[TEXT_BYTES];
        emu_test test = emu_test_open(of->chip);
        buffers given = make_buffers(&test);
        write_text(of, source_of(of), text);
        emu_test_set(&test, "count", 1);
        void *kernel = emu_test_kernel(&test, text, "k.hip", (int)of->wave);
        cr_assert(eq(int, emu_test_run(&test, kernel, 1, of->wave, &given, sizeof given), FMHA_OK));
        bool memory = of->space == 1;
        cr_expect(eq(u64, emu_test_counter(&test, "bytes_read", "in"), of->wave * (memory ? 16u + 16 : 16u)));
        cr_expect(eq(u64, emu_test_counter(&test, "lds_reads", NULL), memory ? 0 : 1));
        cr_expect(eq(u64, emu_test_counter(&test, "lds_bytes_read", NULL), memory ? 0 : 64 * 8));
        cr_expect(eq(u64, emu_test_counter(&test, "matrix_instructions", NULL), 0));
        emu_test_close(&test);
    }
}

/* A workgroup without the last lanes of its wave. */
Test(loads, need_whole_waves) {
    static const struct {
        int form;
        unsigned items;
        const char *text;
    } cases[] = {
        {1, 24,
         "k.hip:9: __builtin_amdgcn_global_load_tr_b128_v8i16 needs all 32 lanes of the wave, got 24 (workgroup "
         "(0,0,0), wave 0): launch a multiple of 32 work items"},
        {4, 48,
         "k.hip:9: __builtin_amdgcn_ds_read_tr16_b64_v4i16 needs all 64 lanes of the wave, got 48 (workgroup "
         "(0,0,0), wave 0): launch a multiple of 64 work items"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const form *of = &forms[cases[i].form];
        char text[TEXT_BYTES];
        emu_test test = emu_test_open(of->chip);
        buffers given = make_buffers(&test);
        write_text(of, of->space == 1 ? "in + row * 8" : "lds + i * 4", text);
        void *kernel = emu_test_kernel(&test, text, "k.hip", (int)of->wave);
        cr_assert(eq(int, emu_test_run(&test, kernel, 1, cases[i].items, &given, sizeof given), FMHA_ERROR_KERNEL));
        emu_test_finding(&test, "divergent-collective", cases[i].text);
        emu_test_close(&test);
    }
}

static void expect_error(const char *chip, int wave, const char *call, const char *words) {
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "typedef short short8 __attribute__((ext_vector_type(8)));\n"
             "typedef short short4 __attribute__((ext_vector_type(4)));\n"
             "typedef _Float16 half8 __attribute__((ext_vector_type(8)));\n"
             "#define GLOBAL __attribute__((address_space(1)))\n"
             "#define SHARED __attribute__((address_space(3)))\n"
             "extern \"C\" __global__ void kernel(char *p) { (void)__builtin_amdgcn_%s; }\n",
             call);
    emu_test_compile_error(chip, text, wave, words);
}

/* What the device's compiler refuses is refused here. */
Test(loads, refused) {
    expect_error("gfx1201", 64, "global_load_tr_b128_v8i16((GLOBAL short8 *)p)",
                 "__builtin_amdgcn_global_load_tr_b128_v8i16 needs waves of 32");
    expect_error("gfx1201", 32, "global_load_tr_b128_v8i16((short8 *)p)", "no matching function");
    expect_error("gfx1201", 32, "global_load_tr_b128_v8i16((SHARED short8 *)p)", "no matching function");
    expect_error("gfx1201", 32, "global_load_tr_b128_v8i16((const GLOBAL short8 *)p)", "no matching function");
    expect_error("gfx1201", 32, "global_load_tr_b128_v8i16((GLOBAL short4 *)p)", "no matching function");
    expect_error("gfx1201", 32, "global_load_tr_b128_v8f16((GLOBAL half8 *)p)", "no matching function");
    expect_error("gfx950", 64, "ds_read_tr16_b64_v4i16((GLOBAL short4 *)p)", "no matching function");
    expect_error("gfx942", 64, "ds_read_tr16_b64_v4i16((SHARED short4 *)p)", "__builtin_amdgcn_ds_read_tr16_b64_v4i16");
    expect_error("gfx1151", 32, "global_load_tr_b128_v8i16((GLOBAL short8 *)p)",
                 "__builtin_amdgcn_global_load_tr_b128_v8i16");
}
