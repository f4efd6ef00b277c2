/* Emitted instances: the file's head, descriptors, and what templates may call. Error texts are compared
 * whole. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chips.h"
#include "instance.h"

#define KERNEL                                                                                                         \
    "//% kernel { workgroup = spec.wave * spec.waves, grid = { \"ceil_div(seqlen_q, 64)\", \"heads_q\", \"batch\" "    \
    "},\n"                                                                                                             \
    "//%     lds_bytes = 1024, flop_per_tile = 2 * 1.5e6, bytes_per_tile = 16384 }\n"
#define BUFFER                                                                                                         \
    "//% argument { name = \"q\", kind = \"buffer\", type = spec.dtype, access = \"read\", shape = \"batch "           \
    "seqlen_q\",\n"                                                                                                    \
    "//%     strides = \"stride_q_batch 1\" }\n"

static struct template_engine *engine_for(const char *operation) {
    const char *pairs[][2] = {
        {"arch/gfx900.lua", CHIP_LARGE}, {"arch/gfx901.lua", CHIP_SMALL}, {"ops/forward.hip", operation}};
    return chips_engine(pairs, 3);
}

/* Options as in test_spec.c are not needed here: one chip, head dimension 64, and --set. */
static bool emit(const char *operation, const char *arch, const char *const *sets, int set_count,
                 struct instance *instance, struct error *error) {
    struct template_engine *engine = engine_for(operation);
    struct spec_choices choices = {.arch = arch, .field[SPEC_HEAD_DIM] = "64", .set = sets, .set_count = set_count};
    struct spec *specs;
    size_t count;
    cr_assert(spec_product(&choices, engine, &specs, &count, error), "%s", error->text);
    bool done = instance_emit(engine, &specs[0], instance, error);
    free(specs);
    template_engine_free(engine);
    return done;
}

/* An operation with few rows: its template's spec has these alone, and its head names no key tiles. */
static bool emit_pack(const char *operation, struct instance *instance, struct error *error) {
    const char *pairs[][2] = {{"arch/gfx900.lua", CHIP_LARGE}, {"ops/pack.hip", operation}};
    struct template_engine *engine = chips_engine(pairs, 2);
    struct spec_choices choices = {.arch = "gfx900", .field[SPEC_OP] = "pack"};
    struct spec *specs;
    size_t count;
    cr_assert(spec_product(&choices, engine, &specs, &count, error), "%s", error->text);
    bool done = instance_emit(engine, &specs[0], instance, error);
    free(specs);
    template_engine_free(engine);
    return done;
}

#define PACK                                                                                                           \
    "//% kernel { workgroup = 256, grid = { \"seqlen_k\", \"heads_k\", \"batch\" },\n"                                 \
    "//%     lds_bytes = 0, flop_per_tile = 0, bytes_per_tile = 8192 }\n"                                              \
    "//% argument { name = \"to\", kind = \"buffer\", type = \"b16\", access = \"write\", shape = \"batch\",\n"        \
    "//%     strides = \"1\" }\n"

Test(instance, of_an_operation_with_few_rows) {
    struct instance instance;
    struct error error;
    cr_assert(emit_pack(PACK "$(spec.v_layout) $(spec.align) $(spec.wave) $(spec.waves)\n", &instance, &error), "%s",
              error.text);
    cr_assert_str_eq(instance.arguments[0].type, "b16");
    cr_assert_eq(instance.arguments[0].align_bytes, 2);
    cr_assert_str_eq(instance.text.bytes,
                     "/* fmha_pack_gfx900_wave64_w4\n *\n * Made by fmhagen " FMHA_VERSION
                     ". DO NOT EDIT: this command makes it anew.\n"
                     " *     fmhagen generate --arch gfx900 --op pack --wave 64 --waves 4\n *\n"
                     " * Cost of one tile, which is what a workgroup has: 8192 bytes read and as many written.\n"
                     " * A workgroup has 256 threads and 0 bytes of LDS.\n */\n"
                     "#if defined(FMHA_ABI_VERSION) && FMHA_ABI_VERSION != 1\n"
                     "#error \"this kernel is for ABI version 1 of libfmha: make it anew with the fmhagen of your "
                     "libfmha\"\n#endif\n\nrow 16 64 4\n");
    instance_free(&instance);
    cr_assert_not(emit_pack(PACK "$(spec.head_dim)\n", &instance, &error));
    cr_assert(strstr(error.text, "expected a field of spec that pack has, got 'head_dim'\n"), "%s", error.text);
    cr_assert_not(emit_pack(PACK "$(spec.head_dims)\n", &instance, &error));
    cr_assert(strstr(error.text, "expected a field of spec, got 'head_dims'\n"), "%s", error.text);
}

static void expect_text(const char *operation, const char *body) {
    struct instance instance;
    struct error error;
    cr_assert(emit(operation, "gfx901", NULL, 0, &instance, &error), "%s", error.text);
    const char *got = strstr(instance.text.bytes, "#endif\n\n") + 8;
    cr_assert_str_eq(got, body, "got\n%s\nexpected\n%s", got, body);
    instance_free(&instance);
}

static void expect_error(const char *operation, enum error_kind kind, const char *expected) {
    struct instance instance;
    struct error error = {0};
    cr_assert_not(emit(operation, "gfx901", NULL, 0, &instance, &error), "%s was accepted", operation);
    char *end = strchr(error.text, '\n'); /* the source line is the template engine's business */
    if (end)
        *end = '\0';
    cr_assert_str_eq(error.text, expected, "got      %s\nexpected %s", error.text, expected);
    cr_assert_eq(error.kind, kind);
    cr_assert_null(instance.text.bytes);
}

Test(instance, the_file_says_how_to_remake_it) {
    struct instance instance;
    struct error error;
    cr_assert(emit(BUFFER KERNEL "kernel $(spec.name)\n", "gfx900:xnack-", NULL, 0, &instance, &error), "%s",
              error.text);
    const char *expected =
        "/* fmha_forward_gfx900_xnack0_f16_d64_wave64_m128k64w4_qlds\n"
        " *\n"
        " * Made by fmhagen " FMHA_VERSION ". DO NOT EDIT: this command makes it anew.\n"
        " *     fmhagen generate --arch gfx900:xnack- --dtype f16 --hd 64 --orientation kq --wave 64 --matrix 16x16 "
        "--block-m 128 "
        "--block-k "
        "64 --waves 4 --k-path lds --v-path lds --q-path lds --pipeline 1 --gqa 1\n"
        " *\n"
        " * Cost of one key tile of a workgroup: 3000000 FLOP, 16384 bytes of K and V.\n"
        " * A workgroup has 256 threads and 1024 bytes of LDS.\n"
        " */\n"
        "#if defined(FMHA_ABI_VERSION) && FMHA_ABI_VERSION != 1\n"
        "#error \"this kernel is for ABI version 1 of libfmha: make it anew with the fmhagen of your libfmha\"\n"
        "#endif\n"
        "\n"
        "kernel fmha_forward_gfx900_xnack0_f16_d64_wave64_m128k64w4_qlds\n";
    cr_assert_str_eq(instance.text.bytes, expected, "got\n%s\nexpected\n%s", instance.text.bytes, expected);
    cr_assert_eq(instance.workgroup, 256);
    cr_assert_eq(instance.lds_bytes, 1024);
    cr_assert_eq(instance.flop_per_tile, 3e6);
    cr_assert_str_eq(instance.grid[0], "ceil_div(seqlen_q, 64)");
    cr_assert_str_eq(instance.grid[2], "batch");
    instance_free(&instance);
}

Test(instance, templates_see_spec_and_chip) {
    expect_text(BUFFER KERNEL
                "$(spec.arch) $(spec.dtype) $(spec.head_dim) $(spec.head_dim_v) $(spec.mask) $(spec.k_path) "
                "$(arch.name) $(arch.atoms.f16) $(arch.waves[1]) $(abi_version)\n"
                "//% for name, value in pairs(spec) do if name < \"b\" then\n$(name)=$(value)\n//% end end\n",
                "gfx901 f16 64 64 none lds gfx901 a 32 1\nalibi=off\nalign=16\narch=gfx901\nattn_mask=off\n");
    expect_error("$(spec.blok_k)\n", ERROR_RUN,
                 "templates/ops/forward.hip:1: expected a field of spec, got 'blok_k'; did you mean 'block_k'?");
    expect_error("//% spec.block_k = 1\n", ERROR_RUN,
                 "templates/ops/forward.hip:1: expected no assignment to a read-only table, got one to 'block_k'; copy "
                 "what you want "
                 "to change");
    expect_error(
        "//% arch.waves[1] = 1\n", ERROR_RUN,
        "templates/ops/forward.hip:1: expected no assignment to a read-only table; copy what you want to change");
    expect_error("//% fail(\"too large\")\n", ERROR_USAGE, "too large");
}

Test(instance, arguments_are_laid_out_as_in_c) {
    struct instance instance;
    struct error error;
    cr_assert(
        emit("//% argument { name = \"n\", kind = \"value\", type = \"i32\" }\n" BUFFER
             "//% argument { name = \"lse\", kind = \"buffer\", type = \"f32\", access = \"write\", optional = true,\n"
             "//%            align = 16, shape = \"batch\", strides = \"1\" }\n"
             "//% argument { name = \"scale\", kind = \"value\", type = \"f32\" }\n"
             "//% argument { name = \"stride\", kind = \"value\", type = \"i64\" }\n"
             "//% argument { name = \"last\", kind = \"value\", type = \"i32\" }\n"
             "//% for i, a in ipairs(arguments) do\n"
             "//%     local access = a.access or \"-\"\n"
             "$(i) $(a.name) $(a.kind) $(a.type) $(access) $(a.offset)\n"
             "//% end\n" KERNEL,
             "gfx901", NULL, 0, &instance, &error),
        "%s", error.text);
    cr_assert_str_eq(strstr(instance.text.bytes, "#endif\n\n") + 8, "1 n value i32 - 0\n"
                                                                    "2 q buffer f16 read 8\n"
                                                                    "3 lse buffer f32 write 16\n"
                                                                    "4 scale value f32 - 24\n"
                                                                    "5 stride value i64 - 32\n"
                                                                    "6 last value i32 - 40\n");
    struct same {
        int32_t n;
        void *q, *lse;
        float scale;
        int64_t stride;
        int32_t last;
    };
    cr_assert_eq(instance.argument_count, 6);
    cr_assert_eq(instance.argument_bytes, sizeof(struct same));
    cr_assert_eq(instance.arguments[1].align_bytes, 2); /* one element */
    cr_assert_eq(instance.arguments[2].align_bytes, 16);
    cr_assert_eq(instance.arguments[4].align_bytes, 0); /* a value */
    cr_assert_eq(instance.arguments[4].offset_bytes, offsetof(struct same, stride));
    cr_assert_eq(instance.arguments[4].size_bytes, 8);
    cr_assert_eq(instance.arguments[5].offset_bytes, offsetof(struct same, last));
    cr_assert(instance.arguments[2].optional && !instance.arguments[1].optional);
    cr_assert_str_eq(instance.arguments[1].shape, "batch seqlen_q");
    cr_assert_str_eq(instance.arguments[1].strides, "stride_q_batch 1");
    instance_free(&instance);
    cr_assert(emit("//% argument { name = \"n\", kind = \"value\", type = \"i32\" }\n" KERNEL, "gfx901", NULL, 0,
                   &instance, &error));
    cr_assert_eq(instance.argument_bytes, 4);
    instance_free(&instance);
}

#define VALUE "//% argument { name = \"n\", kind = \"value\", type = \"i32\" }\n"

Test(instance, wrong_arguments) {
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"argument()", "argument: expected one table, got another number of arguments"},
        {"argument(1)", "argument: expected one table, got number"},
        {"argument { name = \"q\", sort = 1 }", "argument: unknown field 'sort'"},
        {"argument { naem = \"q\" }", "argument: unknown field 'naem'; did you mean 'name'?"},
        {"argument { \"q\" }", "argument: unknown field '(a number)'"},
        {"argument { kind = \"value\" }", "argument: expected a string as 'name', got nil"},
        {"argument { name = \"a b\" }", "argument: expected a C identifier as 'name', got 'a b'"},
        {"argument { name = (\"a\"):rep(32) }",
         "argument: expected at most 31 characters as 'name', got 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
        {"argument { name = \"q\", kind = \"tensor\" }", "argument: expected another word as 'kind', got 'tensor'"},
        {"argument { name = \"q\", kind = \"value\", type = \"f16\" }",
         "argument: expected another word as 'type', got 'f16'"},
        {"argument { name = \"q\", kind = \"value\", type = \"i32\", shape = \"x\" }",
         "argument: expected no 'shape' of a value, got one of 'q'"},
        {"argument { name = \"q\", kind = \"buffer\", type = \"f16\" }",
         "argument: expected a string as 'access', got nil"},
        {"argument { name = \"q\", kind = \"buffer\", type = \"f16\", access = \"read\", shape = \"a b\", strides = "
         "\"1\" }",
         "argument: expected as many words in 'strides' as in 'shape' of 'q', got '1' and 'a b'"},
        {"argument { name = \"q\", kind = \"buffer\", type = \"f16\", access = \"read\", shape = \" \", strides = \"\" "
         "}",
         "argument: expected as many words in 'strides' as in 'shape' of 'q', got '' and ' '"},
        {"argument { name = \"q\", kind = \"value\", type = \"i32\", align = 16 }",
         "argument: expected no 'align' of a value, got one of 'q'"},
        {"argument { name = \"q\", kind = \"buffer\", type = \"f32\", access = \"read\", shape = \"a\", strides = "
         "\"1\", "
         "align = 2 }",
         "argument: expected a whole number from 4 to 256 as 'align', got 2"},
        {"argument { name = \"q\", kind = \"buffer\", type = \"f16\", access = \"read\", shape = \"a\", strides = "
         "\"1\", "
         "align = 24 }",
         "argument: expected a power of two as 'align' of 'q', got 24"},
        {"for i = 1, 65 do argument { name = \"a\" .. i, kind = \"value\", type = \"i32\" } end",
         "argument: expected at most 64 arguments, got more"},
        {"for i = 1, 2 do argument { name = \"a\", kind = \"value\", type = \"i32\" } end",
         "argument: expected each name once, got 'a' twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[256], expected[256];
        snprintf(source, sizeof source, "//%% %s\n", cases[i].line);
        snprintf(expected, sizeof expected, "templates/ops/forward.hip:1: %s", cases[i].error);
        expect_error(source, ERROR_RUN, expected);
    }
    expect_error(KERNEL, ERROR_RUN, "templates/ops/forward.hip: expected calls of argument{…}, got none");
}

Test(instance, wrong_kernels) {
    static const struct {
        const char *fields, *error;
    } cases[] = {
        {"", "kernel: expected a whole number from 1 to 1024 as 'workgroup', got nil"},
        {"workgroup = 2048", "kernel: expected a whole number from 1 to 1024 as 'workgroup', got 2048"},
        {"workgroup = 64.5", "kernel: expected a whole number from 1 to 1024 as 'workgroup', got 64.5"},
        {"workgroup = \"64\"", "kernel: expected a whole number from 1 to 1024 as 'workgroup', got string"},
        {"workgroup = 48", "kernel: expected a multiple of the wave (32) as 'workgroup', got 48"},
        {"workgroup = 64, lds_bytes = -1",
         "kernel: expected a whole number from 0 to 4294967295 as 'lds_bytes', got -1"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 0 / 0",
         "kernel: expected a whole number from 0 to 9007199254740992 as 'flop_per_tile', got nan"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1, flushes_subnormals = 1",
         "kernel: expected true or false as 'flushes_subnormals', got number"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1, flushes_subnormals = \"true\"",
         "kernel: expected true or false as 'flushes_subnormals', got string"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1",
         "kernel: expected a list of three expressions as 'grid', got nil"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1, grid = { \"1\", \"1\" }",
         "kernel: expected a list of three expressions as 'grid', got table"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1, grid = { \"1\", true, \"1\" }",
         "kernel: expected an expression of at most 95 characters as grid[2]"},
        {"workgroup = 64, lds_bytes = 0, flop_per_tile = 1, bytes_per_tile = 1, grid = { \"1\", \"1 +\", \"1\" }",
         "kernel: expression '1 +': expected a number, a name or '(', got its end"},
        {"workgroups = 64", "kernel: unknown field 'workgroups'; did you mean 'workgroup'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[256], expected[256];
        snprintf(source, sizeof source, "//%% kernel { %s }\n", cases[i].fields);
        snprintf(expected, sizeof expected, "templates/ops/forward.hip:1: %s", cases[i].error);
        if (strstr(cases[i].error, "got nan")) { /* its sign is the processor's */
            struct instance instance;
            struct error error;
            cr_assert_not(emit(source, "gfx901", NULL, 0, &instance, &error));
            continue;
        }
        expect_error(source, ERROR_RUN, expected);
    }
    expect_error(VALUE, ERROR_RUN, "templates/ops/forward.hip: expected one call of kernel{…}, got none");
    expect_error(VALUE KERNEL KERNEL, ERROR_RUN,
                 "templates/ops/forward.hip:4: kernel: expected one call, got a second");
}

Test(instance, subnormals_are_flushed_where_the_kernel_says_so) {
    static const struct {
        const char *fields;
        bool flushes;
    } cases[] = {{"", false}, {", flushes_subnormals = false", false}, {", flushes_subnormals = true", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[512];
        struct instance instance;
        struct error error;
        snprintf(source, sizeof source,
                 "%s//%% kernel { workgroup = 64, grid = { \"1\", \"1\", \"1\" }, lds_bytes = 0, flop_per_tile = 1, "
                 "bytes_per_tile = 1%s }\n",
                 BUFFER, cases[i].fields);
        cr_assert(emit(source, "gfx901", NULL, 0, &instance, &error), "%s", error.text);
        cr_assert_eq(instance.flushes_subnormals, cases[i].flushes, "%s", source);
        instance_free(&instance);
    }
}

Test(instance, lds_is_bounded_by_the_chip) {
    expect_error(VALUE
                 "//% kernel { workgroup = 64, grid = { \"1\", \"1\", \"1\" }, lds_bytes = 1025, flop_per_tile = 1,\n"
                 "//%     bytes_per_tile = 1 }\n",
                 ERROR_USAGE,
                 "fmha_forward_gfx901_f16_d64_qk_m32k16w2: expected at most 1024 bytes of LDS on gfx901, got 1025; "
                 "make --block-k or "
                 "--block-m smaller");
}

Test(instance, constraints) {
    struct instance instance;
    struct error error;
    cr_assert(emit(VALUE "//% constraint(\"heads_q % heads_k\", \"equals\", 0)\n"
                         "//% constraint(\"seqlen_k\", \"max\", 1 << 40)\n" KERNEL,
                   "gfx901", NULL, 0, &instance, &error),
              "%s", error.text);
    cr_assert_eq(instance.constraint_count, 2);
    cr_assert_str_eq(instance.constraints[0].field, "heads_q % heads_k");
    cr_assert_str_eq(instance.constraints[0].relation, "equals");
    cr_assert_eq(instance.constraints[1].value, INT64_C(1) << 40);
    instance_free(&instance);
    expect_error("//% constraint(\"a\", \"less\", 1)\n", ERROR_RUN,
                 "templates/ops/forward.hip:1: constraint: expected equals, max or min as relation, got 'less'");
    expect_error(
        "//% constraint(\"batch )\", \"max\", 1)\n", ERROR_RUN,
        "templates/ops/forward.hip:1: constraint: expression 'batch )': expected an operator or the end, got ')'");
    expect_error("//% constraint(\"batches\", \"max\", 1)\n", ERROR_RUN,
                 "templates/ops/forward.hip:1: constraint: expression 'batches': expected a value that problems have "
                 "(batch, heads_q, seqlen_k, stride_q_row, ...), got 'batches'");
    expect_error("//% constraint(\"a\", \"max\", 1.5)\n", ERROR_RUN,
                 "templates/ops/forward.hip:1: bad argument #3 to 'constraint' (number has no integer representation)");
}

/* ---- --set ---- */

static void expect_set(const char *operation, const char *const *sets, int count, const char *expected) {
    struct instance instance;
    struct error error;
    char source[512];
    snprintf(source, sizeof source, "%s%s%s", VALUE, KERNEL, operation);
    if (emit(source, "gfx901", sets, count, &instance, &error)) {
        cr_assert_str_eq(strstr(instance.text.bytes, "#endif\n\n") + 8, expected);
        instance_free(&instance);
        return;
    }
    char *end = strchr(error.text, '\n');
    if (end)
        *end = '\0';
    cr_assert_str_eq(error.text, expected, "got      %s\nexpected %s", error.text, expected);
}

Test(instance, set_is_read_by_name) {
    const char *const sets[] = {"PAD=16", "MODE=fast"};
    const char *read = "//% local pad = set_or(\"PAD\", 8) + 1\n$(pad) $(set.MODE)\n";
    expect_set(read, sets, 2, "17 fast\n");
    expect_set("//% local pad, mode = set_or(\"PAD\", 8), set_or(\"MODE\", \"slow\")\n$(pad) $(mode)\n", NULL, 0,
               "8 slow\n");
    expect_set(read, sets, 1,
               "templates/ops/forward.hip:5: expected --set MODE, which was not given; set_or(\"MODE\", default) reads "
               "it with a "
               "default");
    expect_set("//% local pad = set_or(\"PADDING\", 8) + set_or(\"STAGES\", 1)\n", sets, 1,
               "--set: expected a name that the template reads (PADDING, STAGES), got 'PAD'");
    expect_set("x\n", sets, 1, "--set: expected a name that the template reads (it reads none), got 'PAD'");
    expect_set("//% local pad = set_or(\"MODE\", 8)\n", &sets[1], 1,
               "templates/ops/forward.hip:4: --set MODE: expected a number, got 'fast'");
    expect_set("//% set.PAD = 1\n", sets, 1,
               "templates/ops/forward.hip:4: expected no assignment to the read-only table 'set'");
    expect_set("//% local x = set_or(\"A B\", 1)\n", sets, 1,
               "templates/ops/forward.hip:4: set: expected a C identifier of at most 31 characters, got 'A B'");
}
