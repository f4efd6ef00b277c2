/* Verification of one instance, for tests: made from settings, run, its report or its error looked at. */
#ifndef TESTS_GEN_VERIFYING_H
#define TESTS_GEN_VERIFYING_H

#include <criterion/criterion.h>
#include <string.h>

#include "template.h"
#include "verify.h"

/* `settings`: "field=text" of spec_set by option name, "arch=…", "set=NAME=VALUE". NULL-terminated. */
static inline void make_spec(struct template_engine *engine, const char *const *settings, struct spec *spec) {
    struct error error;
    spec_init(spec);
    cr_assert(spec_set_arch(spec, engine, "gfx1151", &error), "%s", error.text);
    for (; *settings; settings++) {
        const char *equals = strchr(*settings, '=');
        size_t length = (size_t)(equals - *settings);
        if (length == 3 && strncmp(*settings, "set", 3) == 0) {
            cr_assert(spec_add_set(spec, equals + 1, &error), "%s", error.text);
            continue;
        }
        int field = 0;
        while (field < SPEC_FIELD_COUNT && (strlen(spec_fields[field].option) != length ||
                                            strncmp(spec_fields[field].option, *settings, length) != 0))
            field++;
        cr_assert(field < SPEC_FIELD_COUNT, "no option %s", *settings);
        cr_assert(spec_set(spec, (enum spec_field_id)field, equals + 1, &error), "%s", error.text);
    }
    cr_assert(spec_resolve(spec, engine, &error), "%s", error.text);
}

static inline bool verify(const char *template_dir, const char *const *settings, const struct verify_options *options,
                          struct verify_report *report, struct error *error) {
    struct template_engine *engine = template_engine_new(template_dir, error);
    cr_assert(engine, "%s", error->text);
    struct spec spec;
    struct verify_options standard;
    verify_options_init(&standard);
    make_spec(engine, settings, &spec);
    bool done = verify_run(engine, &spec, options ? options : &standard, report, error);
    template_engine_free(engine);
    return done;
}

static inline void expect_pass(const char *template_dir, const char *const *settings,
                               const struct verify_options *options) {
    struct verify_report report;
    struct error error;
    struct text table = {0};
    cr_assert(verify(template_dir, settings, options, &report, &error), "%s", error.text);
    verify_report_table(&report, &table);
    cr_assert(report.passed, "%s", table.bytes);
    cr_assert(report.case_count > 0);
    text_free(&table);
    verify_report_free(&report);
}

#define EXPECT_PASS(dir, options, ...) expect_pass(dir, (const char *const[]){__VA_ARGS__, NULL}, options)

static inline size_t findings_that_begin(const struct verify_report *report, const char *words) {
    size_t found = 0;
    for (size_t index = 0; index < report->case_count; index++)
        for (size_t line = 0; line < report->cases[index].finding_count; line++)
            found += strncmp(report->cases[index].findings[line], words, strlen(words)) == 0;
    return found;
}

static inline void expect_error(const char *template_dir, const char *const *settings,
                                const struct verify_options *options, enum error_kind kind, const char *text) {
    struct verify_report report;
    struct error error;
    cr_assert(!verify(template_dir, settings, options, &report, &error));
    cr_assert(error.kind == kind, "%s", error.text);
    cr_assert_str_eq(error.text, text);
}

#endif
