/* Fields, names, defaults of chips and products, with chips that are held in memory. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chips.h"
#include "spec.h"

static struct template_engine *engine;

static void setup(void) {
    static const char *pairs[][2] = {{"arch/common.lua", "return { }"}, {"arch/gfx900.lua", CHIP_LARGE},
                                     {"arch/gfx901.lua", CHIP_SMALL},   {"arch/gfx9-generic.lua", CHIP_SMALL},
                                     {"ops/forward.hip", "x\n"},        {"ops/pack.hip", "x\n"}};
    engine = chips_engine(pairs, sizeof pairs / sizeof *pairs);
}

static void teardown(void) {
    template_engine_free(engine);
}

TestSuite(spec, .init = setup, .fini = teardown);

static enum spec_field_id field_of(const char *option) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (!strcmp(spec_fields[id].option, option))
            return (enum spec_field_id)id;
    cr_assert_fail("no option %s", option);
    return SPEC_OP;
}

/* "arch=gfx900 hd=64 causal= set=A=1": options with their texts. */
static bool make(const char *options, struct spec *spec, struct error *error) {
    char copy[512], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", options);
    spec_init(spec);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        bool done = !strcmp(word, "arch")  ? spec_set_arch(spec, engine, value, error)
                    : !strcmp(word, "set") ? spec_add_set(spec, value, error)
                                           : spec_set(spec, field_of(word), value, error);
        if (!done)
            return false;
    }
    return spec_resolve(spec, engine, error);
}

static void expect_name(const char *options, const char *expected) {
    struct spec spec;
    struct error error;
    char name[SPEC_NAME_MAX];
    cr_assert(make(options, &spec, &error), "%s: %s", options, error.text);
    spec_name(&spec, name);
    cr_assert_str_eq(name, expected, "%s\ngot      %s\nexpected %s", options, name, expected);
}

static void expect_command(const char *options, const char *expected) {
    struct spec spec;
    struct error error;
    struct text command = {0};
    cr_assert(make(options, &spec, &error), "%s: %s", options, error.text);
    spec_command(&spec, &command);
    cr_assert_str_eq(command.bytes, expected, "got      %s\nexpected %s", command.bytes, expected);
    text_free(&command);
}

static void expect_error(const char *options, const char *expected) {
    struct spec spec;
    struct error error = {0};
    cr_assert_not(make(options, &spec, &error), "%s was accepted", options);
    cr_assert_str_eq(error.text, expected, "%s\ngot      %s\nexpected %s", options, error.text, expected);
    cr_assert_eq(error.kind, ERROR_USAGE);
}

Test(spec, rows_are_sound) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        for (int other = 0; other < id; other++)
            cr_assert(strcmp(field->name, spec_fields[other].name) != 0 &&
                      strcmp(field->option, spec_fields[other].option) != 0);
        cr_assert(field->help && *field->help);
        if (!field->words) {
            cr_assert(field->symbol && strstr(field->symbol, "%d"));
            cr_assert_lt(field->minimum, field->maximum);
            continue;
        }
        bool bare_known = !field->bare;
        for (int i = 0; field->words[i]; i++) {
            cr_assert(field->shorts[i] && spec_typed_words(field)[i], "--%s has a list that is too short",
                      field->option);
            cr_assert_eq(*field->shorts[i] == '\0', !field->always && i == field->neutral, "--%s %s", field->option,
                         field->words[i]);
            bare_known = bare_known || !strcmp(field->bare, spec_typed_words(field)[i]);
        }
        cr_assert(bare_known);
    }
}

Test(spec, names_hold_every_field_that_differs) {
    expect_name("arch=gfx901 hd=128 orientation=kq", "fmha_forward_gfx901_f16_d128_m16k16w1");
    expect_name("arch=gfx901 hd=128", "fmha_forward_gfx901_f16_d128_qk_m32k16w2");
    expect_name("arch=gfx901 hd=128 causal= orientation=kq block-m=64 block-k=32 waves=4",
                "fmha_forward_gfx901_f16_d128_causal_m64k32w4");
    expect_name("arch=gfx900 hd=64 hd-v=128 dtype=bf16 causal=top-left v-layout=transposed align=2 wave=64 block-m=32 "
                "block-k=16 waves=2 k-path=direct v-path=gather q-path=lds pipeline=2 gqa=4 orientation=qk",
                "fmha_forward_gfx900_bf16_d64v128_causaltl_vt_a2_qk_wave64_m32k16w2_kdirect_vgather_qlds_p2_gqa4");
    expect_name("arch=gfx901 hd=512 hd-v=512 orientation=kq block-m=16 block-k=16 waves=1 gqa=4 v-slices=8",
                "fmha_forward_gfx901_f16_d512_m16k16w1_gqa4_vs8");
    expect_name("arch=gfx900 hd=64 hd-v=64 causal=none wave=32", "fmha_forward_gfx900_f16_d64_m128k64w4_qlds");
}

Test(spec, targets_keep_their_features) {
    expect_name("arch=gfx900:xnack-:sramecc+ hd=64 wave=32",
                "fmha_forward_gfx900_sramecc1_xnack0_f16_d64_m128k64w4_qlds");
    expect_name("arch=gfx900:sramecc+:xnack- hd=64 wave=32",
                "fmha_forward_gfx900_sramecc1_xnack0_f16_d64_m128k64w4_qlds");
    expect_name("arch=gfx900:xnack+ hd=64 wave=32", "fmha_forward_gfx900_xnack1_f16_d64_m128k64w4_qlds");
    expect_name("arch=gfx9-generic hd=64", "fmha_forward_gfx9_generic_f16_d64_qk_m32k16w2");
}

Test(spec, types_of_k_and_v) {
    expect_name("arch=gfx901 hd=128 kv-dtype=same", "fmha_forward_gfx901_f16_d128_qk_m32k16w2");
    expect_name("arch=gfx901 hd=128 kv-dtype=f16", "fmha_forward_gfx901_f16_d128_qk_m32k16w2");
    expect_name("arch=gfx901 hd=128 kv-dtype=e5m2fnuz", "fmha_forward_gfx901_f16_kve5m2fnuz_d128_qk_m32k16w2");
    expect_name("arch=gfx901 hd=128 kv-dtype=mxfp4", "fmha_forward_gfx901_f16_kvmxfp4_d128_qk_m32k16w2");
    expect_name("arch=gfx901 hd=128 kv-dtype=mxfp4 kv-math=native",
                "fmha_forward_gfx901_f16_kvmxfp4_d128_qk_m32k16w2_native");
    /* The OCP's unless the chip's table says otherwise */
    expect_name("arch=gfx901 hd=128 kv-dtype=fp8 kv-scale=token",
                "fmha_forward_gfx901_f16_kve4m3_scaletoken_d128_qk_m32k16w2");
    expect_name("arch=gfx900 hd=64 wave=32 kv-dtype=fp8", "fmha_forward_gfx900_f16_kve4m3fnuz_d64_m128k64w4_qlds");
    expect_error("arch=gfx900 hd=64 kv-dtype=bf16",
                 "--kv-dtype: expected the type of Q, f16, or a smaller one, got 'bf16'; use --dtype bf16, or leave "
                 "--kv-dtype out");
    expect_error("arch=gfx900 hd=64 kv-dtype=e4m2",
                 "--kv-dtype: expected same, e4m3, e5m2, e4m3fnuz, e5m2fnuz, mxfp4, fp8, f16 or bf16, got 'e4m2'; did "
                 "you mean 'e4m3'?");
    expect_error("arch=gfx900 hd=64 kv-dtype=mxfp4 kv-scale=token",
                 "--kv-scale: expected it with an fp8 type of K and V, got 'token' with --kv-dtype mxfp4; leave it "
                 "out, or use --kv-dtype e4m3, e5m2, e4m3fnuz or e5m2fnuz");
    expect_error("arch=gfx900 hd=64 kv-scale=token",
                 "--kv-scale: expected it with an fp8 type of K and V, got 'token' with --kv-dtype same; leave it "
                 "out, or use --kv-dtype e4m3, e5m2, e4m3fnuz or e5m2fnuz");
}

Test(spec, wrong_targets) {
    expect_error("arch=gfx90 hd=64",
                 "--arch: expected gfx9-generic, gfx900 or gfx901, got 'gfx90'; did you mean 'gfx900'?");
    expect_error("arch=mi300 hd=64", "--arch: expected gfx9-generic, gfx900 or gfx901, got 'mi300'");
    expect_error("arch=common hd=64", "--arch: expected gfx9-generic, gfx900 or gfx901, got 'common'");
    expect_error("arch=../arch/gfx900 hd=64", "--arch: expected gfx9-generic, gfx900 or gfx901, got '../arch/gfx900'");
    expect_error("hd=64", "--arch: expected gfx9-generic, gfx900 or gfx901, got none; the chip is never guessed");
    expect_error("arch= hd=64", "--arch: expected gfx9-generic, gfx900 or gfx901, got none");
    expect_error("arch=gfx900:xnak+ hd=64",
                 "--arch: expected a feature that gfx900 has (xnack, sramecc), got 'xnak+'; leave ':xnak+' out");
    expect_error("arch=gfx901:xnack+ hd=64",
                 "--arch: expected a feature that gfx901 has (none), got 'xnack+'; leave ':xnack+' out");
    expect_error("arch=gfx900:xnack hd=64", "--arch: expected features as ':name+' or ':name-', got 'gfx900:xnack'");
    expect_error("arch=gfx900: hd=64", "--arch: expected features as ':name+' or ':name-', got 'gfx900:'");
    expect_error("arch=gfx900:xnack+:xnack- hd=64", "--arch: expected each feature once, got 'gfx900:xnack+:xnack-'");
    expect_error("arch=gfx900:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa+ hd=64",
                 "--arch: expected gfx9-generic, gfx900 or gfx901, got "
                 "'gfx900:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'");
}

Test(spec, wrong_values) {
    expect_error("hd=12", "--hd: expected a multiple of 8 from 8 to 576, got '12'; the nearest are 8 and 16");
    expect_error("hd=0", "--hd: expected a multiple of 8 from 8 to 576, got '0'");
    expect_error("hd=584", "--hd: expected a multiple of 8 from 8 to 576, got '584'");
    expect_error("hd-v=520", "--hd-v: expected a multiple of 8 from 8 to 512, got '520'");
    expect_error("hd=-8", "--hd: expected a multiple of 8 from 8 to 576, got '-8'");
    expect_error("hd=+8", "--hd: expected a multiple of 8 from 8 to 576, got '+8'");
    expect_error("hd=64x", "--hd: expected a multiple of 8 from 8 to 576, got '64x'");
    expect_error("hd=", "--hd: expected a multiple of 8 from 8 to 576, got none");
    expect_error("hd=18446744073709551624", "--hd: expected a multiple of 8 from 8 to 576, got '18446744073709551624'");
    expect_error("arch=gfx900", "--hd: expected a multiple of 8 from 8 to 576, got none");
    expect_error("wave=48", "--wave: expected 32 or 64, got '48'");
    expect_error("align=8", "--align: expected 2 or 16, got '8'");
    expect_error("waves=17", "--waves: expected a whole number from 1 to 16, got '17'");
    expect_error("dtype=fp16", "--dtype: expected f16 or bf16, got 'fp16'; did you mean 'f16'?");
    expect_error("dtype=", "--dtype: expected f16 or bf16, got none");
    expect_error("causal=topleft",
                 "--causal: expected none, bottom-right or top-left, got 'topleft'; did you mean 'top-left'?");
    expect_error("causal=causal-top-left", "--causal: expected none, bottom-right or top-left, got 'causal-top-left'");
    expect_error("op=backwards", "--op: expected forward, decode, merge, backward, pack, append, mla or quantize, got "
                                 "'backwards'; did you mean 'backward'?");
    expect_error("arch=gfx901 hd=64 wave=64", "--wave: expected 32 on gfx901, got '64'");
    expect_error("arch=gfx901 hd=64 matrix=32x32", "--matrix: expected 16x16 on gfx901, got '32x32'");
    expect_error("arch=gfx900 hd=64 matrix=16x16x32", "--matrix: expected 16x16 or 32x32 on gfx900, got '16x16x32'");
    expect_error("arch=gfx901 hd=64 dtype=bf16",
                 "--dtype: expected f16 on gfx901, got 'bf16'; chips with instructions for bf16: gfx900");
}

Test(spec, operations_that_are_not_built) {
    expect_error("op=backward",
                 "--op: expected an operation that is built, got 'backward': backward is reserved until it is built");
    expect_error("op=decode",
                 "--op: expected an operation that is built, got 'decode': decode is reserved until it is built");
    expect_error("op=merge",
                 "--op: expected an operation that is built, got 'merge': merge is reserved until it is built");
}

/* ---- Rows of an operation ---- */

Test(spec, an_operation_has_its_rows_alone) {
    for (int operation = 0; operation < SPEC_OPERATION_COUNT; operation++) {
        cr_assert(spec_operation_has(operation, SPEC_OP) && spec_operation_has(operation, SPEC_WAVE));
        cr_assert_str_eq(spec_operation_words[operation], spec_fields[SPEC_OP].words[operation]);
    }
    cr_assert_null(spec_operation_words[SPEC_OPERATION_COUNT]);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        bool others = id == SPEC_PARTIAL || id == SPEC_VALUES || id == SPEC_FROM || id == SPEC_PASS ||
                      id == SPEC_ROTARY || id == SPEC_ROWS;
        cr_assert_eq(spec_operation_has(SPEC_OP_FORWARD, (enum spec_field_id)id), !others, "%s", spec_fields[id].name);
        cr_assert_lt(spec_fields[id].operations, 1u << SPEC_OPERATION_COUNT, "%s", spec_fields[id].name);
    }
    struct text options = {0};
    spec_operation_options(SPEC_OP_PACK, &options);
    cr_assert_str_eq(options.bytes, "--v-layout, --align, --wave and --waves");
    text_free(&options);
    spec_operation_options(SPEC_OP_MERGE, &options);
    cr_assert_str_eq(options.bytes, "--dtype, --varlen, --partial, --align, --wave and --waves");
    text_free(&options);
}

Test(spec, rows_of_other_operations_stay_unset) {
    struct spec spec;
    struct error error;
    cr_assert(make("arch=gfx900 op=pack", &spec, &error), "%s", error.text);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        cr_assert_eq(spec.value[id] == SPEC_UNSET, !spec_has(&spec, (enum spec_field_id)id), "%s",
                     spec_fields[id].name);
    cr_assert_eq(spec.value[SPEC_WAVE], 64);
    cr_assert_eq(spec.value[SPEC_WAVES], 4);
}

Test(spec, names_and_commands_of_an_operation_with_few_rows) {
    expect_name("arch=gfx900 op=pack", "fmha_pack_gfx900_wave64_w4");
    expect_name("arch=gfx900 op=pack wave=32 waves=8", "fmha_pack_gfx900_w8");
    expect_name("arch=gfx900 op=pack v-layout=transposed align=2", "fmha_pack_gfx900_vt_a2_wave64_w2");
    expect_name("arch=gfx901 op=pack waves=1 set=A=1", "fmha_pack_gfx901_w1_x8787c414");
    expect_command("arch=gfx900 op=pack", "fmhagen generate --arch gfx900 --op pack --wave 64 --waves 4");
    expect_command("arch=gfx900 op=pack v-layout=transposed align=2 waves=1",
                   "fmhagen generate --arch gfx900 --op pack --v-layout transposed --align 2 --wave 64 --waves 1");
}

Test(spec, options_of_other_operations_are_refused) {
    static const char *const others[] = {"dtype=f16",      "hd=64",      "hd-v=64",    "causal=none",
                                         "orientation=kq", "block-m=64", "block-k=32", "k-path=lds",
                                         "v-path=lds",     "q-path=lds", "pipeline=1", "gqa=1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char options[64], expected[256];
        snprintf(options, sizeof options, "arch=gfx900 op=pack %s", others[i]);
        snprintf(
            expected, sizeof expected,
            "--%.*s: expected an option that --op pack has (--v-layout, --align, --wave and --waves), got one that "
            "it does not have; leave it out",
            (int)strcspn(others[i], "="), others[i]);
        expect_error(options, expected);
    }
    expect_error("op=pack wave=32",
                 "--arch: expected gfx9-generic, gfx900 or gfx901, got none; the chip is never guessed");
    expect_error("arch=gfx901 op=pack",
                 "--op: expected an operation that gfx901 has (forward), got 'pack'; take another chip");
    expect_error("arch=gfx900 op=pack wave=32", "--waves: expected a value, got none: templates/arch/gfx900.lua has no "
                                                "default for pack with waves of 32 lanes");
    expect_error("arch=gfx901 op=pack wave=64 waves=1", "--wave: expected 32 on gfx901, got '64'");
}

static void expect_values(const char *options, const char *names, const char *expected) {
    struct spec spec;
    struct error error;
    cr_assert(make(options, &spec, &error), "%s: %s", options, error.text);
    char copy[256], *rest = NULL;
    struct text got = {0};
    snprintf(copy, sizeof copy, "%s", names);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        enum spec_field_id id = field_of(word);
        if (spec_fields[id].words)
            text_printf(&got, "%s ", spec_fields[id].words[spec.value[id]]);
        else
            text_printf(&got, "%d ", (int)spec.value[id]);
    }
    cr_assert_str_eq(got.bytes, expected, "%s\ngot      %s\nexpected %s", options, got.bytes, expected);
    text_free(&got);
}

Test(spec, unset_knobs_come_from_the_chip) {
    const char *knobs = "orientation wave block-m block-k waves k-path v-path q-path pipeline gqa";
    expect_values("arch=gfx900 hd=64", knobs, "kq 64 128 64 4 lds lds lds 1 1 ");
    expect_values("arch=gfx900 hd=8", knobs, "kq 64 128 64 4 lds lds lds 1 1 ");
    expect_values("arch=gfx900 hd=72", knobs, "kq 64 64 32 4 direct lds register 1 2 ");
    expect_values("arch=gfx900 hd=64 hd-v=128", knobs, "kq 64 64 32 4 direct lds register 1 2 ");
    expect_values("arch=gfx901 hd=256", knobs, "qk 32 32 16 2 lds lds register 1 1 ");
    expect_values("arch=gfx900 hd=128 v-layout=transposed", knobs, "kq 64 64 48 4 direct direct register 1 2 ");
    expect_values("arch=gfx900 hd=128 dtype=bf16", knobs, "kq 64 64 32 2 direct lds register 1 2 ");
    expect_values("arch=gfx900 hd=64 v-layout=transposed dtype=bf16", knobs, "kq 64 128 64 4 lds lds lds 1 1 ");
}

Test(spec, a_fact_may_have_a_row_for_all_its_words_but_the_neutral_one) {
    const char *knobs = "block-m block-k waves";
    expect_values("arch=gfx900 hd=64 window=", knobs, "128 16 4 ");
    expect_values("arch=gfx900 hd=64 window=none", knobs, "128 64 4 ");
    expect_values("arch=gfx900 hd=64 varlen=padded", knobs, "128 32 2 ");
    expect_values("arch=gfx900 hd=64 varlen=packed", knobs, "128 32 1 ");
    expect_values("arch=gfx900 hd=64 varlen=padded window=", knobs, "128 32 2 ");
}

Test(spec, a_choice_may_have_a_row_for_a_word_that_was_given) {
    const char *knobs = "block-m block-k waves kv-math";
    expect_values("arch=gfx900 hd=64 kv-math=convert varlen=packed", knobs, "128 32 1 convert ");
    expect_values("arch=gfx900 hd=64 kv-math=native varlen=padded", knobs, "128 128 1 native ");
    expect_values("arch=gfx900 hd=64 kv-math=native kv-dtype=mxfp4", knobs, "128 128 8 native ");
    expect_values("arch=gfx900 hd=64 kv-dtype=mxfp4", knobs, "128 64 4 convert ");
    expect_values("arch=gfx900 hd=64 kv-math=native block-k=16", knobs, "128 16 1 native ");
}

Test(spec, knobs_that_belong_together_hold_where_what_was_asked_for_leaves_room) {
    const char *knobs = "block-m block-k waves v-waves v-slices q-path";
    expect_values("arch=gfx900 hd=192", knobs, "64 32 8 2 1 lds ");
    expect_values("arch=gfx900 hd=192 v-waves=2 v-slices=1 waves=8", knobs, "64 32 8 2 1 lds ");
    expect_values("arch=gfx900 hd=192 gqa=2 q-path=register", knobs, "64 32 8 2 1 register ");
    expect_values("arch=gfx900 hd=192 v-waves=1", knobs, "64 16 4 1 1 lds ");
    expect_values("arch=gfx900 hd=192 v-slices=2", knobs, "64 16 4 1 2 lds ");
    expect_values("arch=gfx900 hd=192 waves=2", knobs, "32 16 2 1 1 lds ");
    expect_values("arch=gfx900 hd=192 waves=16", knobs, "128 32 16 2 1 lds ");
    expect_values("arch=gfx900 hd=192 block-m=16", knobs, "16 16 1 1 1 lds ");
    expect_values("arch=gfx900 hd=192 block-m=128", knobs, "128 32 16 2 1 lds ");
    expect_values("arch=gfx900 hd=192 block-k=16", knobs, "64 16 8 2 1 lds ");
    expect_values("arch=gfx900 hd=192 block-k=48", knobs, "64 48 4 1 1 lds ");
    expect_values("arch=gfx900 hd=192 dtype=bf16", knobs, "64 32 4 1 1 lds ");
    expect_values("arch=gfx900 hd=192 dtype=bf16 v-waves=2", knobs, "64 16 4 2 1 lds ");
    expect_values("arch=gfx900 hd=192 hd-v=64", knobs, "64 48 8 2 1 lds ");
    expect_values("arch=gfx900 hd=192 kv-math=native", knobs, "64 64 8 2 1 lds ");
    expect_command("arch=gfx900 hd=192 v-slices=2",
                   "fmhagen generate --arch gfx900 --dtype f16 --hd 192 --orientation kq --wave 64 --matrix 16x16 "
                   "--block-m 64 --block-k 16 --waves 4 --k-path lds --v-path lds --q-path lds --pipeline 1 --gqa 1 "
                   "--v-slices 2");
}

Test(spec, a_head_dimension_of_v_may_have_a_row_of_its_own) {
    const char *knobs = "block-m block-k waves v-slices";
    expect_values("arch=gfx900 hd=512", knobs, "32 32 2 4 ");
    expect_values("arch=gfx900 hd=264 hd-v=264", knobs, "32 32 2 4 ");
    expect_values("arch=gfx900 hd=64 hd-v=512 v-layout=transposed", knobs, "32 16 2 4 ");
    expect_values("arch=gfx900 hd=512 hd-v=136 v-layout=transposed", knobs, "32 16 2 2 ");
    expect_values("arch=gfx900 hd=512 hd-v=256", knobs, "32 32 2 2 ");
    expect_values("arch=gfx900 hd=512 hd-v=8", knobs, "32 32 2 1 ");
    expect_values("arch=gfx900 hd=512 hd-v=128 v-layout=transposed", knobs, "32 48 2 1 ");
    expect_values("arch=gfx900 hd=512 v-slices=1", knobs, "32 32 2 1 ");
    expect_values("arch=gfx900 hd=128 hd-v=64", knobs, "64 32 4 1 ");
}

Test(spec, an_explicit_knob_wins) {
    const char *knobs = "block-m waves block-k v-path gqa";
    expect_values("arch=gfx900 hd=128 v-layout=transposed v-path=lds gqa=1", knobs, "64 4 48 lds 1 ");
    expect_values("arch=gfx900 hd=128 block-m=32", knobs, "32 2 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 block-m=1024", knobs, "1024 16 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 waves=8", knobs, "128 8 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 waves=1 block-m=64", knobs, "64 1 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 waves=3 matrix=32x32", knobs, "96 3 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 block-m=128 matrix=32x32", knobs, "128 4 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 block-m=16 matrix=32x32", knobs, "16 1 32 lds 2 ");
    expect_values("arch=gfx900 hd=128 dtype=bf16 block-k=64", knobs, "64 2 64 lds 2 ");
}

Test(spec, a_chip_without_defaults_needs_every_tile_size) {
    expect_error("arch=gfx900 hd=520", "--block-m: expected a value, got none: templates/arch/gfx900.lua has no "
                                       "default for forward in orientation kq with "
                                       "waves of 64 lanes and head dimension 520");
    expect_error("arch=gfx900 hd=64 orientation=qk waves=2",
                 "--block-k: expected a value, got none: templates/arch/gfx900.lua has no default for forward in "
                 "orientation qk with "
                 "waves of 64 lanes and head dimension 64");
    expect_values("arch=gfx900 hd=520 waves=2 block-k=16", "block-m waves block-k k-path", "32 2 16 lds ");
}

Test(spec, broken_chip_tables_are_errors) {
    static const struct {
        const char *table, *error;
    } cases[] = {
        {"return { atoms = { f16 = 'a' } }", "templates/arch/gfx1.lua: expected a list as 'waves', got none"},
        {"return { waves = { 32 } }", "templates/arch/gfx1.lua: expected a table as 'atoms', got nil"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { orientation = 'kk' } } }",
         "templates/arch/gfx1.lua: expected kq or qk as 'orientation' of defaults"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { blok_m = "
         "64 } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'blok_m'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { block_m "
         "= 60 } } } } } }",
         "templates/arch/gfx1.lua: expected a value of --block-m as 'block_m', got '60'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { k_path = "
         "'LDS' } } } } } }",
         "templates/arch/gfx1.lua: expected a value of --k-path as 'k_path', got 'LDS'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "transposd = { } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'transposd'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "dtype = { } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'dtype'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "row = { sink = { } } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'sink'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { 1 } } } "
         "} } }",
         "templates/arch/gfx1.lua: expected names of knobs in a row of defaults, got a number"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "head_dim_v = 64 } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'head_dim_v'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "head_dim_v = { [64] = { head_dim_v = { } } } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'head_dim_v'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "row = { head_dim_v = { } } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'head_dim_v'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "together = { together = { } } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'together'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "together = { native = { } } } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'native'"},
        {"return { atoms = { f16 = 'a' }, waves = { 32 }, defaults = { forward = { kq = { wave32 = { [64] = { "
         "together = 1 } } } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'together'"},
        {"return { waves = { 32 }, defaults = { pack = { wave32 = { block_m = 64 } } } }",
         "templates/arch/gfx1.lua: expected a knob or a word of a fact in a row of defaults, got 'block_m'"},
        {"return 1", "templates/arch/gfx1.lua: expected a file that returns a table, got number"},
        {"return {", "templates/arch/gfx1.lua: unexpected symbol before the end of the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *pairs[][2] = {{"arch/gfx1.lua", cases[i].table}, {"ops/forward.hip", ""}, {"ops/pack.hip", ""}};
        teardown();
        engine = chips_engine(pairs, 3);
        struct spec spec;
        struct error error;
        cr_assert_not(make(strstr(cases[i].table, "pack") ? "arch=gfx1 op=pack" : "arch=gfx1 hd=64", &spec, &error));
        cr_assert_str_eq(error.text, cases[i].error, "%s\ngot      %s\nexpected %s", cases[i].table, error.text,
                         cases[i].error);
        cr_assert_eq(error.kind, ERROR_RUN);
    }
}

Test(spec, a_failed_resolve_changes_nothing) {
    struct spec spec, before;
    struct error error;
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, "gfx901", &error));
    cr_assert(spec_set(&spec, SPEC_HEAD_DIM, "64", &error));
    cr_assert(spec_set(&spec, SPEC_WAVE, "64", &error));
    before = spec;
    cr_assert_not(spec_resolve(&spec, engine, &error));
    cr_assert(!memcmp(&before, &spec, sizeof spec));
}

Test(spec, set_enters_the_name_as_a_hash) {
    /* FNV-1a of "A=1\nB=x\n" and "A=1\n", by another program. */
    expect_name("arch=gfx901 hd=64 set=B=x set=A=1", "fmha_forward_gfx901_f16_d64_qk_m32k16w2_xb26ac4bf");
    expect_name("arch=gfx901 hd=64 set=A=1 set=B=x", "fmha_forward_gfx901_f16_d64_qk_m32k16w2_xb26ac4bf");
    expect_name("arch=gfx901 hd=64 set=A=1", "fmha_forward_gfx901_f16_d64_qk_m32k16w2_x8787c414");
    expect_command(
        "arch=gfx901 hd=64 set=B=x set=AB=2 set=A=-1.5e+3",
        "fmhagen generate --arch gfx901 --dtype f16 --hd 64 --orientation qk --wave 32 --matrix 16x16 --block-m 32 "
        "--block-k 16 "
        "--waves "
        "2 --k-path lds --v-path lds --q-path register --pipeline 1 --gqa 1 --set A=-1.5e+3 --set AB=2 --set B=x");
}

Test(spec, wrong_sets) {
    static const char *const wrong[] = {"A", "=1", "A=", "1A=2", "A-B=1", "A=*/", "A=a,b", "A=\xc3\xa4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char options[64], expected[256];
        snprintf(options, sizeof options, "set=%s", wrong[i]);
        snprintf(expected, sizeof expected,
                 "--set: expected NAME=VALUE, a name as in C and a value of letters, digits and _ + - ., got '%s'",
                 wrong[i]);
        expect_error(options, expected);
    }
    expect_error("set=A=1 set=A=2", "--set: expected A once, got it twice");
    expect_error("set=A1=1 set=A2=1 set=A3=1 set=A4=1 set=A5=1 set=A6=1 set=A7=1 set=A8=1 set=A9=1",
                 "--set: expected it at most 8 times, got more");
    expect_error(
        "set=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=1",
        "--set: expected at most 31 characters before and after '=', got 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=1'");
}

Test(spec, the_command_spells_everything_out) {
    expect_command(
        "arch=gfx900:xnack-:sramecc+ hd=128 hd-v=64 causal= v-layout=transposed align=2",
        "fmhagen generate --arch gfx900:sramecc+:xnack- --dtype f16 --hd 128 --hd-v 64 --causal --v-layout transposed "
        "--align 2 --orientation kq --wave 64 --matrix 16x16 --block-m 64 --block-k 48 --waves 4 --k-path direct "
        "--v-path direct "
        "--q-path register --pipeline 1 --gqa 2");
    expect_command("arch=gfx901 hd=128 causal=top-left",
                   "fmhagen generate --arch gfx901 --dtype f16 --hd 128 --causal=top-left --orientation qk --wave 32 "
                   "--matrix 16x16 --block-m 32 "
                   "--block-k 16 --waves 2 --k-path lds --v-path lds --q-path register --pipeline 1 --gqa 1");
    /* --v-slices where it says something: it is not 1, or the chip's table has another number. */
    expect_command("arch=gfx901 hd=128 v-slices=2",
                   "fmhagen generate --arch gfx901 --dtype f16 --hd 128 --orientation qk --wave 32 --matrix 16x16 "
                   "--block-m 32 --block-k 16 --waves 2 --k-path lds --v-path lds --q-path register --pipeline 1 "
                   "--gqa 1 --v-slices 2");
    expect_command("arch=gfx900 hd=512 v-slices=1",
                   "fmhagen generate --arch gfx900 --dtype f16 --hd 512 --orientation kq --wave 64 --matrix 16x16 "
                   "--block-m 32 --block-k 32 --waves 2 --k-path lds --v-path lds --q-path register --pipeline 1 "
                   "--gqa 1 --v-slices 1");
}

/* ---- Products ---- */

static char *product_names(const struct spec_choices *choices) {
    struct spec *specs;
    size_t count;
    struct error error;
    struct text names = {0};
    if (!spec_product(choices, engine, &specs, &count, &error)) {
        cr_assert(!specs && !count);
        text_printf(&names, "%s", error.text);
    } else if (!count)
        text_puts(&names, "none\n");
    else
        for (size_t i = 0; i < count; i++) {
            char name[SPEC_NAME_MAX];
            spec_name(&specs[i], name);
            text_printf(&names, "%s\n", name);
        }
    free(specs);
    return names.bytes;
}

static void expect_product(struct spec_choices choices, const char *expected) {
    char *got = product_names(&choices);
    cr_assert_str_eq(got, expected, "got\n%s\nexpected\n%s", got, expected);
    free(got);
}

Test(spec, products_of_lists) {
    expect_product((struct spec_choices){.arch = "gfx901", .field[SPEC_HEAD_DIM] = "64"},
                   "fmha_forward_gfx901_f16_d64_qk_m32k16w2\n");
    expect_product((struct spec_choices){.arch = "gfx901,gfx9-generic",
                                         .field[SPEC_HEAD_DIM] = "64,128",
                                         .field[SPEC_MASK] = "",
                                         .field[SPEC_ORIENTATION] = "kq,qk"},
                   "fmha_forward_gfx901_f16_d64_causal_m16k16w1\n"
                   "fmha_forward_gfx901_f16_d64_causal_qk_m32k16w2\n"
                   "fmha_forward_gfx901_f16_d128_causal_m16k16w1\n"
                   "fmha_forward_gfx901_f16_d128_causal_qk_m32k16w2\n"
                   "fmha_forward_gfx9_generic_f16_d64_causal_m16k16w1\n"
                   "fmha_forward_gfx9_generic_f16_d64_causal_qk_m32k16w2\n"
                   "fmha_forward_gfx9_generic_f16_d128_causal_m16k16w1\n"
                   "fmha_forward_gfx9_generic_f16_d128_causal_qk_m32k16w2\n");
    const char *const sets[] = {"A=1"};
    expect_product((struct spec_choices){.arch = "gfx901",
                                         .field[SPEC_HEAD_DIM] = "64",
                                         .field[SPEC_MASK] = "none,top-left",
                                         .set = sets,
                                         .set_count = 1},
                   "fmha_forward_gfx901_f16_d64_qk_m32k16w2_x8787c414\n"
                   "fmha_forward_gfx901_f16_d64_causaltl_qk_m32k16w2_x8787c414\n");
}

Test(spec, products_of_operations) {
    expect_product((struct spec_choices){.arch = "gfx900",
                                         .field[SPEC_OP] = "pack",
                                         .field[SPEC_V_LAYOUT] = "row,transposed",
                                         .field[SPEC_ALIGN] = "16,2"},
                   "fmha_pack_gfx900_wave64_w4\nfmha_pack_gfx900_a2_wave64_w4\n"
                   "fmha_pack_gfx900_vt_wave64_w2\nfmha_pack_gfx900_vt_a2_wave64_w2\n");
    expect_product(
        (struct spec_choices){.arch = "gfx900", .field[SPEC_OP] = "forward,pack", .field[SPEC_HEAD_DIM] = "64"},
        "--hd: expected an option that --op pack has (--v-layout, --align, --wave and --waves), got one that it does "
        "not have; leave it out (for the member --arch gfx900 --op pack --hd 64 of the product)");
}

Test(spec, products_of_what_chips_have) {
    const unsigned both = 1 << SPEC_DTYPE | 1 << SPEC_WAVE;
    struct spec_choices choices = {.arch = "gfx901,gfx900",
                                   .field[SPEC_HEAD_DIM] = "64",
                                   .field[SPEC_DTYPE] = "f16,bf16",
                                   .field[SPEC_WAVE] = "32,64",
                                   .if_chip_has = both};
    expect_product(choices, "fmha_forward_gfx901_f16_d64_qk_m32k16w2\n"
                            "fmha_forward_gfx900_f16_d64_m128k64w4_qlds\n"
                            "fmha_forward_gfx900_f16_d64_wave64_m128k64w4_qlds\n"
                            "fmha_forward_gfx900_bf16_d64_m128k64w4_qlds\n"
                            "fmha_forward_gfx900_bf16_d64_wave64_m128k64w4_qlds\n");
    choices.arch = "gfx901";
    choices.field[SPEC_DTYPE] = "bf16";
    expect_product(choices, "none\n");
    choices.if_chip_has = 1 << SPEC_WAVE;
    choices.field[SPEC_WAVE] = "32";
    expect_product(choices, "--dtype: expected f16 on gfx901, got 'bf16'; chips with instructions for bf16: gfx900");
    choices.if_chip_has = 1 << SPEC_DTYPE;
    choices.field[SPEC_DTYPE] = "f16";
    choices.field[SPEC_WAVE] = "64";
    expect_product(choices, "--wave: expected 32 on gfx901, got '64'");
}

Test(spec, wrong_products) {
    expect_product(
        (struct spec_choices){.arch = "gfx900,gfx901", .field[SPEC_HEAD_DIM] = "64", .field[SPEC_WAVE] = "32,64"},
        "--wave: expected 32 on gfx901, got '64' (for the member --arch gfx901 --hd 64 --wave 64 of the product)");
    expect_product((struct spec_choices){.arch = "gfx901", .field[SPEC_HEAD_DIM] = "64", .field[SPEC_WAVE] = "64"},
                   "--wave: expected 32 on gfx901, got '64'");
    expect_product((struct spec_choices){.arch = "gfx901", .field[SPEC_HEAD_DIM] = "64,65"},
                   "--hd: expected a multiple of 8 from 8 to 576, got '65'; the nearest are 64 and 72");
    expect_product((struct spec_choices){.arch = "gfx901", .field[SPEC_HEAD_DIM] = "64,64"},
                   "--hd: expected each entry of the list once, got '64' twice");
    expect_product((struct spec_choices){.arch = "gfx901,gfx900,gfx901", .field[SPEC_HEAD_DIM] = "64"},
                   "--arch: expected each entry of the list once, got 'gfx901' twice");
    expect_product((struct spec_choices){.arch = "gfx901", .field[SPEC_HEAD_DIM] = "64,,128"},
                   "--hd: expected an entry on both sides of each comma, got '64,,128'");
    expect_product((struct spec_choices){.arch = "gfx901,", .field[SPEC_HEAD_DIM] = "64"},
                   "--arch: expected an entry on both sides of each comma, got 'gfx901,'");
    expect_product((struct spec_choices){.field[SPEC_HEAD_DIM] = "64"},
                   "--arch: expected gfx9-generic, gfx900 or gfx901, got none; the chip is never guessed");
}

Test(spec, products_are_bounded) {
    expect_product(
        (struct spec_choices){.arch = "gfx901",
                              .field[SPEC_HEAD_DIM] = "8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128",
                              .field[SPEC_HEAD_DIM_V] = "8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128",
                              .field[SPEC_BLOCK_K] = "16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256",
                              .field[SPEC_WAVES] = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
                              .field[SPEC_GQA] = "1,2"},
        "expected at most 100000 instances in the product of all lists, got more");
}
