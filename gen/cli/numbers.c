#include "numbers.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum kind { WHOLE, REAL };

static const struct row {
    enum spec_field_id field;
    const char *form, *expected;
    enum kind kind;
    int count;
    double minimum, maximum;
    size_t offset[2]; /* in struct modifiers_values */
} rows[] = {
    {SPEC_WINDOW,
     "L,R",
     "L,R, whole numbers of keys to the left and right of the diagonal, up to 2^30 (-1: unbounded), as 1023,0",
     WHOLE,
     2,
     -1,
     1 << 30,
     {offsetof(struct modifiers_values, window_left), offsetof(struct modifiers_values, window_right)}},
    {SPEC_SINK_KEYS,
     "N",
     "a whole number of keys from 0 to 2^30",
     WHOLE,
     1,
     0,
     1 << 30,
     {offsetof(struct modifiers_values, sink_keys)}},
    {SPEC_PREFIX,
     "N",
     "a whole number of keys from 0 to 2^30",
     WHOLE,
     1,
     0,
     1 << 30,
     {offsetof(struct modifiers_values, prefix)}},
    {SPEC_SOFTCAP,
     "X",
     "a number from 1e-30 to 1e30, as 30",
     REAL,
     1,
     1e-30,
     1e30,
     {offsetof(struct modifiers_values, softcap)}},
    {SPEC_DROPOUT,
     "P",
     "a probability from 0 to 0.999, as 0.1",
     REAL,
     1,
     0,
     0.999,
     {offsetof(struct modifiers_values, dropout)}},
};

static const struct row *row_of(const struct spec_field *field) {
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++)
        if (field == &spec_fields[rows[index].field])
            return &rows[index];
    return NULL;
}

const char *numbers_form(const struct spec_field *field) {
    const struct row *row = row_of(field);
    return row ? row->form : NULL;
}

bool numbers_begin(const char *text) {
    text += *text == '-';
    text += *text == '.';
    return *text >= '0' && *text <= '9';
}

bool numbers_parse(const struct spec_field *field, const char *text, struct modifiers_values *values,
                   struct error *error) {
    const struct row *row = row_of(field);
    const char *rest = text;
    for (int index = 0; index < row->count; index++) {
        char *end;
        double number = strtod(rest, &end);
        bool right = end != rest && *end == (index + 1 < row->count ? ',' : '\0') && number >= row->minimum &&
                     number <= row->maximum && (row->kind == REAL || number == floor(number));
        if (!right)
            return error_set(error, ERROR_USAGE, "--%s: expected %s, got '%s'", field->option, row->expected, text);
        void *value = (char *)values + row->offset[index];
        if (row->kind == REAL)
            *(double *)value = number;
        else
            *(int64_t *)value = (int64_t)number;
        rest = end + 1;
    }
    return true;
}
