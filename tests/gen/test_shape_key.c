/* Shape keys: facts make them differ, knobs do not, and their bytes lie as the ruler in key.h draws them. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "generator.h"
#include "shape_key.h"

static struct spec plain(void) {
    struct spec spec;
    spec_init(&spec);
    strcpy(spec.arch, "gfx1151");
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        spec.value[id] = spec_fields[id].always ? 0 : spec_fields[id].neutral;
    spec.value[SPEC_HEAD_DIM] = spec.value[SPEC_HEAD_DIM_V] = 128;
    return spec;
}

/* The same of forward, or of the first operation that has the row. */
static struct spec plain_with(int id) {
    struct spec spec = plain();
    while (!spec_has(&spec, (enum spec_field_id)id) && spec.value[SPEC_OP] + 1 < SPEC_OPERATION_COUNT)
        spec.value[SPEC_OP]++;
    cr_assert(spec_has(&spec, (enum spec_field_id)id), "%s", spec_fields[id].name);
    return spec;
}

static struct fmha_key key_of(const struct spec *spec) {
    struct fmha_key key;
    struct error error;
    memset(&key, 0xee, sizeof key);
    cr_assert(spec_key(spec, &key, &error), "%s", error.text);
    return key;
}

/* The second value that a field may have, after `plain`. */
static int32_t another(int id, const struct spec *spec) {
    if (spec_fields[id].words)
        return spec->value[id] ? 0 : 1;
    return spec->value[id] == spec_fields[id].maximum ? spec_fields[id].minimum : spec_fields[id].maximum;
}

Test(shape_key, every_fact_and_no_knob_changes_it) {
    struct fmha_key seen[SPEC_FIELD_COUNT];
    int count = 0;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec base = plain_with(id);
        const struct fmha_key key = key_of(&base);
        struct spec spec = base;
        spec.value[id] = another(id, &base);
        struct fmha_key changed = key_of(&spec);
        cr_assert_eq(fmha_key_equal(&key, &changed), spec_fields[id].knob, "%s", spec_fields[id].name);
        for (int i = 0; !spec_fields[id].knob && i < count; i++)
            cr_assert_not(fmha_key_equal(&seen[i], &changed), "%s", spec_fields[id].name);
        seen[count] = changed;
        count += !spec_fields[id].knob;
    }
    struct spec set = plain();
    const struct fmha_key key = key_of(&set);
    strcpy(set.set[0].name, "PAD");
    strcpy(set.set[0].value, "16");
    set.set_count = 1;
    struct fmha_key same = key_of(&set);
    cr_assert(fmha_key_equal(&key, &same));
}

Test(shape_key, rows_that_an_operation_does_not_have_are_zero) {
    struct spec spec;
    spec_init(&spec);
    strcpy(spec.arch, "gfx1151");
    spec.value[SPEC_OP] = SPEC_OP_PACK;
    spec.value[SPEC_V_LAYOUT] = 1;
    spec.value[SPEC_ALIGN] = 2;
    struct fmha_key key = key_of(&spec);
    const unsigned char expected[32] = {1, 4, 11, 5, 1, [13] = 1, [14] = 2};
    cr_assert_arr_eq(&key, expected, sizeof expected);
    spec.value[SPEC_OP] = SPEC_OP_MERGE;
    spec.value[SPEC_V_LAYOUT] = SPEC_UNSET;
    spec.value[SPEC_DTYPE] = 1;
    spec.value[SPEC_PARTIAL] = 1;
    spec.value[SPEC_VARLEN] = 2;
    key = key_of(&spec);
    unsigned char merge[32] = {1, 2, 11, 5, 1, [6] = 2, [14] = 2};
    memcpy(merge + 16, &(uint32_t){FMHA_KEY_PARTIAL | FMHA_KEY_VARLEN * FMHA_KEY_VARLEN_PADDED}, 4);
    cr_assert_arr_eq(&key, merge, sizeof merge);
}

Test(shape_key, without_v_there_is_no_head_dimension_of_it) {
    struct spec spec = plain_with(SPEC_VALUES);
    spec.value[SPEC_HEAD_DIM] = spec.value[SPEC_HEAD_DIM_V] = 576;
    spec.value[SPEC_VALUES] = 1;
    struct fmha_key key = key_of(&spec);
    cr_assert_eq(key.head_dim, 576);
    cr_assert_eq(key.head_dim_v, 0);
    cr_assert(fmha_key_can_be_served(&key));
}

Test(shape_key, every_word_has_a_number_of_its_own) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        struct fmha_key keys[8];
        for (int word = 0; !spec_fields[id].knob && spec_fields[id].words && spec_fields[id].words[word]; word++) {
            struct spec spec = plain_with(id);
            spec.value[id] = word;
            keys[word] = key_of(&spec);
            for (int i = 0; i < word; i++)
                cr_assert_not(fmha_key_equal(&keys[i], &keys[word]), "%s %s", spec_fields[id].name,
                              spec_fields[id].words[word]);
        }
    }
}

Test(shape_key, bytes_lie_as_drawn) {
    struct spec spec = plain();
    strcpy(spec.arch, "gfx942:sramecc+:xnack-");
    spec.value[SPEC_DTYPE] = 1;
    spec.value[SPEC_MASK] = 2;
    spec.value[SPEC_V_LAYOUT] = 1;
    spec.value[SPEC_HEAD_DIM] = 192;
    spec.value[SPEC_KV_DTYPE] = 3;
    spec.value[SPEC_KV_SCALE] = 1;
    struct fmha_key key = key_of(&spec);
    unsigned char expected[32] = {1, 0, 9, 4, 2, 0x6, 2, 3, [12] = 2, [13] = 1, [14] = 16};
    memcpy(expected + 16, &(uint32_t){FMHA_KEY_KV_SCALE}, 4);
    memcpy(expected + 8, &(uint16_t){192}, 2);
    memcpy(expected + 10, &(uint16_t){128}, 2);
    cr_assert_arr_eq(&key, expected, sizeof expected);
    cr_assert_eq(sizeof key, 32);
    cr_assert_eq(offsetof(struct fmha_key, reserved), 15);
}

Test(shape_key, targets) {
    static const struct {
        const char *target;
        uint8_t major, minor, stepping, features;
    } cases[] = {
        {"gfx1151", 11, 5, 1, 0},
        {"gfx90a:xnack+", 9, 0, 10, 8},
        {"gfx90a:sramecc-", 9, 0, 10, 1},
        {"gfx11-generic", 11, FMHA_KEY_GENERIC, FMHA_KEY_GENERIC, 0},
        {"gfx9-4-generic:xnack-", 9, 4, FMHA_KEY_GENERIC, 4},
        {"gfx900", 9, 0, 0, 0},
        {"sm_90", 9, 0, FMHA_KEY_SM, 0},
        {"sm_120", 12, 0, FMHA_KEY_SM, 0},
    };
    struct fmha_key key, before;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fmha_key_init(&key);
        cr_assert(fmha_key_set_target(&key, cases[i].target), "%s", cases[i].target);
        const uint8_t got[] = {key.gfx_major, key.gfx_minor, key.gfx_stepping, key.features};
        const uint8_t expected[] = {cases[i].major, cases[i].minor, cases[i].stepping, cases[i].features};
        cr_assert_arr_eq(got, expected, sizeof got, "%s", cases[i].target);
    }
    static const char *const wrong[] = {"",
                                        "gfx",
                                        "gfx11",
                                        "sm_9",
                                        "sm_9x",
                                        "sm_90a",
                                        "sm_9000",
                                        "sm_90:xnack-",
                                        "gfx11x1",
                                        "gfx1151:",
                                        "gfx90a:xnack",
                                        "gfx90a:foo+",
                                        "gfx90a:xnack+x",
                                        "gfx90a:xnack+:xnack-",
                                        "gfx-generic",
                                        "gfx99900",
                                        "gfx1151+",
                                        "gfx9--generic"};
    before = key;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_not(fmha_key_set_target(&key, wrong[i]), "%s", wrong[i]);
        cr_assert(fmha_key_equal(&key, &before), "%s", wrong[i]);
    }
}

/* What libfmha says cannot be served is what the spec refuses. */
Test(shape_key, head_dimensions_are_those_of_the_spec) {
    static const int fields[] = {SPEC_HEAD_DIM, SPEC_HEAD_DIM_V};
    static const int most[] = {FMHA_KEY_HEAD_DIM_MAX, FMHA_KEY_HEAD_DIM_V_MAX};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        cr_assert_eq(spec_fields[fields[i]].minimum, FMHA_KEY_HEAD_DIM_MIN);
        cr_assert_eq(spec_fields[fields[i]].maximum, most[i]);
        cr_assert_eq(spec_fields[fields[i]].multiple_of, FMHA_KEY_HEAD_DIM_STEP);
    }
    struct fmha_key key;
    fmha_key_init(&key);
    for (int head_dim = 0; head_dim <= UINT16_MAX; head_dim++) {
        bool whole = head_dim % 8 == 0;
        key.head_dim = (uint16_t)head_dim, key.head_dim_v = 64;
        cr_assert_eq(fmha_key_can_be_served(&key), whole && head_dim <= 576, "%d", head_dim);
        key.head_dim = 64, key.head_dim_v = (uint16_t)head_dim;
        cr_assert_eq(fmha_key_can_be_served(&key), whole && head_dim <= 512, "%d", head_dim);
    }
}

/* ---- By way of the command line --------------------------------------------------------------------------- */

/* Sets what "--hd 128 --bias=f32 --softcap" says. */
static void parse(const char *options, struct spec *spec) {
    char copy[512], *rest = copy;
    struct error error;
    snprintf(copy, sizeof copy, "%s", options);
    spec_init(spec);
    for (char *word = strtok_r(rest, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        cr_assert_eq(strncmp(word, "--", 2), 0, "%s", word);
        char *equals = strchr(word, '=');
        const char *value = equals ? equals + 1 : *rest && *rest != '-' ? strtok_r(NULL, " ", &rest) : "";
        if (equals)
            *equals = '\0';
        if (!strcmp(word, "--arch")) {
            snprintf(spec->arch, sizeof spec->arch, "%s", value);
            continue;
        }
        int id = 0;
        while (id < SPEC_FIELD_COUNT && strcmp(spec_fields[id].option, word + 2) != 0)
            id++;
        cr_assert_lt(id, SPEC_FIELD_COUNT, "%s", word);
        cr_assert(spec_set(spec, (enum spec_field_id)id, value, &error), "%s", error.text);
    }
    const struct spec usual = plain();
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (spec->value[id] == SPEC_UNSET)
            spec->value[id] = id == SPEC_HEAD_DIM_V ? spec->value[SPEC_HEAD_DIM] : usual.value[id];
}

static void expect_same_by_options(const struct spec *spec) {
    char options[512];
    struct spec parsed;
    struct fmha_key key = key_of(spec), again;
    fmha_generator_options(&key, spec->arch, options, sizeof options);
    parse(options, &parsed);
    again = key_of(&parsed);
    cr_assert(fmha_key_equal(&key, &again), "%s", options);
}

/* Spec, key, the options that libfmha gives to fmhagen, spec, key: for each value of each fact, and of two of them. */
Test(shape_key, options_of_a_key_make_the_key_again) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        struct spec spec = plain();
        if (spec_fields[id].knob || id == SPEC_OP)
            continue;
        for (int word = 0; spec_fields[id].words && spec_fields[id].words[word]; word++) {
            spec.value[id] = word;
            expect_same_by_options(&spec);
            for (int other = 0; other < SPEC_FIELD_COUNT; other++) {
                struct spec both = spec;
                if (spec_fields[other].knob || other == SPEC_OP || other == id)
                    continue;
                both.value[other] = another(other, &spec);
                expect_same_by_options(&both);
            }
        }
    }
}

/* All of them at once, by their longest names. */
Test(shape_key, options_of_everything_fit) {
    char options[512];
    struct spec spec = plain();
    strcpy(spec.arch, "gfx942:sramecc+:xnack-");
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        for (int word = 0;
             !spec_fields[id].knob && id != SPEC_OP && spec_fields[id].words && spec_fields[id].words[word]; word++)
            spec.value[id] = word;
    spec.value[SPEC_HEAD_DIM_V] = 256;
    spec.value[SPEC_ALIGN] = 2;
    expect_same_by_options(&spec);
    struct fmha_key key = key_of(&spec);
    fmha_generator_options(&key, spec.arch, options, sizeof options);
    cr_assert_str_eq(
        options,
        "--arch gfx942:sramecc+:xnack- --dtype bf16 --hd 128 --hd-v 256 --causal=top-left "
        "--v-layout transposed --align 2 --window --sink-keys --prefix --softcap --alibi "
        "--bias=f32 --mask --block-mask --sink --head-scale --dropout --varlen=padded --paged --kv-dtype=mxfp4 "
        "--kv-scale=token --scale-rule=threequarters");
}

Test(shape_key, a_modifier_from_outside_changes_it) {
    struct spec spec = plain();
    struct fmha_key without = key_of(&spec), with;
    spec.modifier_hash = 0x12345678;
    with = key_of(&spec);
    cr_assert_not(fmha_key_equal(&without, &with));
    cr_assert_eq(with.modifier, 0x12345678);
}
