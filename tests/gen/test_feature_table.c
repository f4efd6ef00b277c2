/* The table of features: what the sample must contain, and that a kernel says nothing of a feature that it does not
 * have. */
#include <criterion/criterion.h>
#include <string.h>

#include "feature_table.h"
#include "instance.h"
#include "template.h"

static struct template_engine *engine;
static struct feature_table table;

static void set_up(void) {
    struct error error;
    engine = template_engine_new(NULL, &error);
    cr_assert(engine, "%s", error.text);
    cr_assert(feature_table_make(engine, &table, &error), "%s", error.text);
}

static void tear_down(void) {
    feature_table_free(&table);
    template_engine_free(engine);
}

TestSuite(feature_table, .init = set_up, .fini = tear_down);

/* What the runs of one feature, or of one chip, have between them. */
struct seen {
    bool device[2], orientation[2], dtype[FEATURE_DTYPES], dtype_on_device[FEATURE_DTYPES][2];
};

static struct seen see(size_t feature, size_t chip) {
    struct seen seen = {0};
    for (size_t i = 0; i < table.run_count; i++) {
        const struct feature_run *run = &table.runs[i];
        if ((feature != feature_count && run->feature != feature) || (chip != table.chip_count && run->chip != chip))
            continue;
        seen.device[run->isa] = seen.orientation[run->qk] = seen.dtype[run->dtype] = true;
        seen.dtype_on_device[run->dtype][run->isa] = true;
    }
    return seen;
}

Test(feature_table, each_feature_runs_on_both_devices_in_both_formats_and_orientations) {
    for (size_t feature = 0; feature < feature_count; feature++) {
        struct seen seen = see(feature, table.chip_count);
        for (int i = 0; i < 2; i++) {
            cr_expect(seen.device[i], "%s: no run on %s", features[feature].name, i ? "isa" : "emu");
            cr_expect(seen.orientation[i], "%s: no run in %s", features[feature].name, i ? "qk" : "kq");
            cr_expect(seen.dtype[i], "%s: no run in %s", features[feature].name, i ? "bf16" : "f16");
        }
    }
}

/* But those whose machine code no device here executes. */
Test(feature_table, each_chip_runs_on_both_devices) {
    for (size_t chip = 0; chip < table.chip_count; chip++) {
        struct seen seen = see(feature_count, chip);
        cr_expect(seen.device[0] && seen.device[1] == !table.chips[chip].text_alone, "%s: emu %d, isa %d",
                  table.chips[chip].arch, seen.device[0], seen.device[1]);
    }
}

Test(feature_table, each_family_that_does_not_refuse_a_feature_runs_it) {
    for (size_t feature = 0; feature < feature_count; feature++)
        for (size_t chip = 0; chip < table.chip_count; chip++) {
            bool run = feature_state_of(&table, feature, chip, 0) == FEATURE_REFUSED;
            for (size_t i = 0; i < table.run_count; i++)
                run = run || (table.runs[i].feature == feature &&
                              !strcmp(table.chips[table.runs[i].chip].family, table.chips[chip].family));
            cr_expect(run, "%s: no run on %s", features[feature].name, table.chips[chip].family);
        }
}

Test(feature_table, states_are_those_of_runs_and_of_the_chips_formats) {
    for (size_t feature = 0; feature < feature_count; feature++)
        for (size_t chip = 0; chip < table.chip_count; chip++) {
            struct seen seen = see(feature, chip);
            for (int dtype = 0; dtype < FEATURE_DTYPES; dtype++) {
                enum feature_state state = feature_state_of(&table, feature, chip, dtype);
                cr_expect_eq(state == FEATURE_TESTED, seen.dtype[dtype], "%s on %s", features[feature].name,
                             table.chips[chip].arch);
                cr_expect_eq(state == FEATURE_NO_INSTRUCTIONS, !table.chips[chip].has[dtype]);
            }
        }
}

Test(feature_table, each_name_and_each_set_of_words_stands_once) {
    for (size_t i = 0; i < feature_count; i++) {
        struct spec one, other;
        struct error error;
        spec_init(&one);
        cr_assert(feature_set(&one, features[i].words, &error), "%s: %s", features[i].name, error.text);
        for (size_t j = 0; j < i; j++) {
            spec_init(&other);
            cr_assert(feature_set(&other, features[j].words, &error), "%s", error.text);
            cr_expect_str_neq(features[i].name, features[j].name);
            cr_expect(memcmp(one.value, other.value, sizeof one.value) != 0, "%s and %s", features[i].name,
                      features[j].name);
        }
    }
}

static void expect_no_words(const char *words, const char *expected) {
    struct spec spec;
    struct error error;
    spec_init(&spec);
    cr_assert_not(feature_set(&spec, words, &error));
    cr_expect_str_eq(error.text, expected);
    cr_expect_eq(error.kind, ERROR_USAGE);
}

Test(feature_table, words_that_are_no_options_are_refused) {
    expect_no_words("--windw", "features: expected options of a kernel, got '--windw'");
    expect_no_words("--causal window", "features: expected options of a kernel, got 'window'");
    expect_no_words("--causal --softcap=maybe", "--softcap: expected off or on, got 'maybe'");
}

/* ---- What a text mentions ---- */

/* A word of a kernel's text, and the fields of the spec of which one must be on where it stands. A word that is not
 * there where its first field is on would be no test. */
static const struct {
    const char *word;
    enum spec_field_id fields[3];
    int count;
} vocabulary[] = {
    {"window", {SPEC_WINDOW}, 1},
    {"sink_keys", {SPEC_SINK_KEYS}, 1},
    {"sink", {SPEC_SINK, SPEC_SINK_KEYS}, 2},
    {"prefix", {SPEC_PREFIX}, 1},
    {"softcap", {SPEC_SOFTCAP}, 1},
    {"alibi", {SPEC_ALIBI}, 1},
    {"slope", {SPEC_ALIBI}, 1},
    {"bias", {SPEC_BIAS}, 1},
    {"stride_mask", {SPEC_ATTN_MASK}, 1},
    {"block_mask", {SPEC_BLOCK_MASK}, 1},
    {"head_scale", {SPEC_HEAD_SCALE}, 1},
    {"dropout", {SPEC_DROPOUT}, 1},
    {"philox", {SPEC_DROPOUT}, 1},
    {"cu_seqlens", {SPEC_VARLEN}, 1},
    {"seqlens_", {SPEC_VARLEN, SPEC_PAGED}, 2},
    {"tokens_q", {SPEC_VARLEN}, 1},
    {"page", {SPEC_PAGED}, 1},
    {"block_table", {SPEC_PAGED}, 1},
};
enum { VOCABULARY = sizeof vocabulary / sizeof vocabulary[0] };

static bool mentions(const char *text, const char *word) {
    return strcasestr(text, word) != NULL;
}

static bool is_on(const struct spec *spec, enum spec_field_id field) {
    return spec->value[field] != spec_fields[field].neutral;
}

static void expect_own_words(const struct spec *spec, const char *text, const char *feature, bool met[VOCABULARY]) {
    for (int i = 0; i < VOCABULARY; i++) {
        bool may = false, said = mentions(text, vocabulary[i].word);
        for (int j = 0; j < vocabulary[i].count; j++)
            may = may || is_on(spec, vocabulary[i].fields[j]);
        cr_expect(may || !said, "%s on %s: its text says '%s'", feature, spec->arch, vocabulary[i].word);
        met[i] = met[i] || said;
    }
}

/* In each way of a tile and each orientation there is. */
Test(feature_table, a_text_mentions_its_own_features_alone) {
    static const char *const archs[] = {"gfx906", "gfx942", "gfx950", "gfx1030", "gfx1151", "gfx1201"};
    static const char *const ways[] = {"", "--k-path=direct --v-path=gather", "--align=2", "--k-path=async"};
    bool met[VOCABULARY] = {false};
    for (size_t feature = 0; feature < feature_count; feature++)
        for (size_t chip = 0; chip < sizeof archs / sizeof archs[0]; chip++)
            for (int way = 0; way < 8; way++) {
                struct spec spec;
                struct error error;
                struct instance instance;
                spec_init(&spec);
                spec.value[SPEC_HEAD_DIM] = FEATURE_HEAD_DIM;
                spec.value[SPEC_ORIENTATION] = way % 2;
                bool made = spec_set_arch(&spec, engine, archs[chip], &error) &&
                            feature_set(&spec, features[feature].words, &error) &&
                            feature_set(&spec, ways[way / 2], &error) && spec_resolve(&spec, engine, &error) &&
                            instance_emit(engine, &spec, &instance, &error);
                cr_expect(made || error.kind == ERROR_USAGE, "%s", error.text);
                if (!made)
                    continue;
                expect_own_words(&spec, instance.text.bytes, features[feature].name, met);
                instance_free(&instance);
            }
    for (int i = 0; i < VOCABULARY; i++)
        cr_expect(met[i], "no text says '%s'", vocabulary[i].word);
}
