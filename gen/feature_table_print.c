#include <cjson/cJSON.h>
#include <string.h>

#include "feature_table.h"
#include "json.h"

enum { WIDTH = 120, NAME_WIDTH = 27, CELL_WIDTH = 9 };

static const char *const legend =
    "emu, isa  an ordinary test runs it on one chip of the family, on that device: the emulated one, or the one that "
    "executes\n"
    "          its machine code; each case twice, with the waves in another order\n"
    "long      only the long sweep runs it, as it runs all the others: every chip, format, device and orientation\n"
    "refused   by the templates\n"
    "-         the family has no instructions for the format\n";

/* ---- The table ---------------------------------------------------------------------------------- */

static bool same_family(const struct feature_table *table, size_t one, size_t other) {
    return strcmp(table->chips[one].family, table->chips[other].family) == 0;
}

/* The chips first ... of a family; returns the one behind its last. */
static size_t family_end(const struct feature_table *table, size_t first) {
    size_t end = first;
    while (end < table->chip_count && same_family(table, first, end))
        end++;
    return end;
}

/* Of a feature, a format and the family's chips first ... end - 1. A family is refused if no chip of it is left. */
static const char *cell(const struct feature_table *table, size_t feature, size_t first, size_t end, int dtype) {
    static const char *const devices[] = {"emu", "isa", "emu,isa"};
    enum feature_state state = FEATURE_NO_INSTRUCTIONS;
    bool emu = false, isa = false;
    for (size_t chip = first; chip < end; chip++) {
        enum feature_state own = feature_state_of(table, feature, chip, dtype);
        state = own > state ? own : state;
    }
    for (size_t i = 0; i < table->run_count; i++) {
        const struct feature_run *run = &table->runs[i];
        if (run->feature != feature || run->chip < first || run->chip >= end || run->dtype != dtype)
            continue;
        emu = emu || !run->isa;
        isa = isa || run->isa;
    }
    return state == FEATURE_NO_INSTRUCTIONS ? "-"
           : state == FEATURE_REFUSED       ? "refused"
           : state == FEATURE_LONG          ? "long"
                                            : devices[isa + (emu && isa)];
}

static void print_heading(const struct feature_table *table, struct text *out) {
    text_printf(out, "%-*s", NAME_WIDTH, "");
    for (size_t first = 0; first < table->chip_count; first = family_end(table, first)) {
        bool last = family_end(table, first) == table->chip_count;
        text_printf(out, "%-*s", last ? 0 : FEATURE_DTYPES * CELL_WIDTH, table->chips[first].family);
    }
    text_printf(out, "\n%-*s", NAME_WIDTH, "feature");
    for (size_t first = 0; first < table->chip_count; first = family_end(table, first))
        for (int dtype = 0; dtype < FEATURE_DTYPES; dtype++) {
            bool last = family_end(table, first) == table->chip_count && dtype == FEATURE_DTYPES - 1;
            text_printf(out, "%-*s", last ? 0 : CELL_WIDTH, spec_fields[SPEC_DTYPE].words[dtype]);
        }
    text_puts(out, "\n");
}

static void print_row(const struct feature_table *table, size_t feature, struct text *out) {
    text_printf(out, "%-*s", NAME_WIDTH, features[feature].name);
    for (size_t first = 0, end; first < table->chip_count; first = end) {
        end = family_end(table, first);
        for (int dtype = 0; dtype < FEATURE_DTYPES; dtype++) {
            bool last = end == table->chip_count && dtype == FEATURE_DTYPES - 1;
            text_printf(out, "%-*s", last ? 0 : CELL_WIDTH, cell(table, feature, first, end, dtype));
        }
    }
    text_puts(out, "\n");
}

/* Words behind an indentation on every line; `column`: how much stands on the first already. */
static void print_wrapped(const char *words, int indentation, int column, struct text *out) {
    while (*words) {
        int length = (int)strcspn(words, " ");
        if (column > indentation && column + 1 + length > WIDTH) {
            text_puts(out, "\n");
            column = 0;
        }
        if (column < indentation) {
            text_printf(out, "%*s", indentation - column, "");
            column = indentation;
        } else if (column > indentation) {
            text_puts(out, " ");
            column++;
        }
        text_add(out, words, (size_t)length);
        column += length;
        words += length;
        words += strspn(words, " ");
    }
    text_puts(out, "\n");
}

/* Each text once, with the features that meet it. */
static void print_refusals(const struct feature_table *table, struct text *out) {
    for (size_t i = 0; i < table->refusal_count; i++) {
        const char *because = table->refusals[i].because;
        size_t earlier = 0, named = feature_count;
        while (strcmp(table->refusals[earlier].because, because) != 0)
            earlier++;
        if (earlier < i)
            continue;
        struct text names = {0};
        for (size_t j = i; j < table->refusal_count; j++) {
            const struct feature_refusal *other = &table->refusals[j];
            if (strcmp(other->because, because) != 0 || other->feature == named)
                continue;
            text_printf(&names, "%s%s", names.length ? "; " : "", features[other->feature].name);
            named = other->feature;
        }
        text_puts(out, i ? "" : "\nWhat is refused, with these words, and of which features:\n");
        print_wrapped(because, 2, 0, out);
        print_wrapped(names.failed ? "" : names.bytes, 6, 0, out);
        out->failed = out->failed || names.failed;
        text_free(&names);
    }
}

static void print_table(const struct feature_table *table, struct text *out) {
    print_heading(table, out);
    for (size_t feature = 0; feature < feature_count; feature++)
        print_row(table, feature, out);
    text_printf(out, "\n%s", legend);
    print_refusals(table, out);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static cJSON *add_item(cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (item && cJSON_AddItemToArray(list, item))
        return item;
    cJSON_Delete(item);
    return NULL;
}

static bool add_runs(const struct feature_table *table, size_t feature, size_t chip, int dtype, cJSON *format) {
    cJSON *runs = cJSON_AddArrayToObject(format, "runs");
    bool done = runs != NULL;
    for (size_t i = 0; done && i < table->run_count; i++) {
        const struct feature_run *run = &table->runs[i];
        if (run->feature != feature || run->chip != chip || run->dtype != dtype)
            continue;
        cJSON *item = add_item(runs);
        done = item && cJSON_AddStringToObject(item, "device", run->isa ? "isa" : "emu") &&
               cJSON_AddStringToObject(item, "orientation", run->qk ? "qk" : "kq");
    }
    return done;
}

static bool add_chip(const struct feature_table *table, size_t feature, size_t chip, cJSON *list) {
    static const char *const states[] = {"no instructions", "refused", "long", "tested"};
    cJSON *item = add_item(list), *formats;
    bool done = item && cJSON_AddStringToObject(item, "arch", table->chips[chip].arch) &&
                cJSON_AddStringToObject(item, "family", table->chips[chip].family) &&
                (formats = cJSON_AddObjectToObject(item, "formats"));
    for (int dtype = 0; done && dtype < FEATURE_DTYPES; dtype++) {
        cJSON *format = cJSON_AddObjectToObject(formats, spec_fields[SPEC_DTYPE].words[dtype]);
        enum feature_state state = feature_state_of(table, feature, chip, dtype);
        done = format && cJSON_AddStringToObject(format, "state", states[state]) &&
               (state != FEATURE_TESTED || add_runs(table, feature, chip, dtype, format));
    }
    return done;
}

static bool add_refusals(const struct feature_table *table, size_t feature, cJSON *list) {
    bool done = list != NULL;
    for (size_t i = 0; done && i < table->refusal_count; i++) {
        const struct feature_refusal *refusal = &table->refusals[i];
        if (refusal->feature != feature)
            continue;
        cJSON *item = add_item(list);
        done = item && cJSON_AddStringToObject(item, "beside", refusal->beside) &&
               cJSON_AddStringToObject(item, "because", refusal->because);
    }
    return done;
}

static bool add_feature(const struct feature_table *table, size_t feature, cJSON *list) {
    cJSON *item = add_item(list), *chips;
    bool done = item && cJSON_AddStringToObject(item, "feature", features[feature].name) &&
                cJSON_AddStringToObject(item, "options", features[feature].words) &&
                add_refusals(table, feature, cJSON_AddArrayToObject(item, "refuses")) &&
                (chips = cJSON_AddArrayToObject(item, "chips"));
    for (size_t chip = 0; done && chip < table->chip_count; chip++)
        done = add_chip(table, feature, chip, chips);
    return done;
}

bool feature_table_print(const struct feature_table *table, bool json, struct text *out, struct error *error) {
    if (!json) {
        print_table(table, out);
        return true;
    }
    cJSON *list = cJSON_CreateArray();
    bool done = list != NULL;
    for (size_t feature = 0; done && feature < feature_count; feature++)
        done = add_feature(table, feature, list);
    return json_print(list, done, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}
