/* Expressions: values, what 64 bits do not hold, limits, whole error texts, and random ones against a plain evaluation
 * of the same tree. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

#define NAMES "a value that problems have (batch, heads_q, seqlen_k, stride_q_row, ...)"

static const int64_t values[FMHA_VALUE_COUNT] = {
    [FMHA_VALUE_BATCH] = 0,
    [FMHA_VALUE_HEADS_Q] = 32,
    [FMHA_VALUE_SEQLEN_Q] = 100,
    [FMHA_VALUE_SEQLEN_K] = 7,
    [FMHA_VALUE_STRIDE_Q_BATCH] = INT64_MAX,
    [FMHA_VALUE_STRIDE_Q_ROW] = -13,
    [FMHA_VALUE_STRIDE_K_ROW] = INT64_MIN,
    [FMHA_VALUE_STRIDE_O_ROW] = 11,
};

/* The text is handed over without its NUL, so that a sanitizer sees a read past its end. */
static fmha_status compile(const char *text, struct fmha_expression *expression) {
    size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    cr_assert(copy);
    memcpy(copy, text, length);
    fmha_status status = fmha_expression_compile(copy, length, expression);
    free(copy);
    return status;
}

Test(expression, every_name_is_its_value) {
    for (int value = 0; value < FMHA_VALUE_COUNT; value++) {
        int64_t all[FMHA_VALUE_COUNT] = {0}, got = 0;
        struct fmha_expression expression;
        all[value] = 1000 + value;
        cr_assert(fmha_value_names[value]);
        cr_assert_eq(compile(fmha_value_names[value], &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert(fmha_expression_evaluate(&expression, all, &got));
        cr_assert_eq(got, 1000 + value, "%s", fmha_value_names[value]);
    }
}

Test(expression, evaluates) {
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1", 1},
        {" seqlen_q ", 100},
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 2 - 3", 5},
        {"100 / 7", 14},
        {"100 % 7", 2},
        {"64 / 4 / 2", 8},
        {"-7 / 2", -3},
        {"-7 % 2", -1},
        {"7 / -2", -3},
        {"7 % -2", 1},
        {"- -3", 3},
        {"2--3", 5},
        {"-(1 + 1)", -2},
        {"2*-3", -6},
        {"ceil_div(seqlen_q, 64)", 2},
        {"ceil_div(128, 64)", 2},
        {"ceil_div(0, 64)", 0},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(-7, -2)", 4},
        {"ceil_div(7, -2)", -3},
        {"ceil_div (1,1)", 1},
        {"max(seqlen_k, 8)", 8},
        {"min(seqlen_k, 8)", 7},
        {"max(-1, -2)", -1},
        {"min(-1, -2)", -2},
        {"heads_q / (heads_q / 8) % 4", 0},
        {"ceil_div(max(seqlen_q, 1), min(64, 32)) * 2", 8},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"stride_k_row", INT64_MIN},
        {"stride_q_row % 8", -5},
        {"stride_q_row % 1", 0},
        {"stride_k_row % 4", 0},
        {"stride_o_row % 8", 3},
        {"stride_o_row % 4611686018427387904", 11},
        {"stride_q_row % 4611686018427387904", -13},
        {"stride_k_row % 4611686018427387904", 0},
        {"stride_k_row % 6", -2},
        {"stride_o_row % -8", 3},
        {"stride_q_batch % 16", 15},
        {"3 * stride_o_row % 4", 1},
        {"3 + stride_o_row % 4", 6},
        {"(3 + stride_o_row) % 4", 2},
        {"stride_q_batch / 4294967296", 2147483647},
        {"4294967296 / 3", 1431655765},
        {"4294967295 / 3", 1431655765},
        {"4294967295 % 4294967294", 1},
        {"(stride_k_row + 1) / -1", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fmha_expression expression;
        int64_t value = 77;
        cr_assert_eq(compile(cases[i].text, &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert(fmha_expression_evaluate(&expression, values, &value), "%s", cases[i].text);
        cr_assert_eq(value, cases[i].value, "%s: got %" PRId64, cases[i].text, value);
    }
}

Test(expression, has_no_value) {
    static const char *const cases[] = {
        "1 / batch",          "1 % batch",         "ceil_div(1, batch)",
        "stride_k_row / -1",  "stride_k_row % -1", "ceil_div(stride_k_row, -1)",
        "stride_q_batch + 1", "stride_k_row - 1",  "-stride_k_row",
        "stride_q_batch * 2", "stride_k_row * -1", "batch * (1 / batch)",
        "max(1, 1 / batch)",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fmha_expression expression;
        int64_t value = 77;
        cr_assert_eq(compile(cases[i], &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert_not(fmha_expression_evaluate(&expression, values, &value), "%s: got %" PRId64, cases[i], value);
        cr_assert_eq(value, 77, "%s changed the result", cases[i]);
    }
}

Test(expression, errors) {
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "expected a number, a name or '(', got its end"},
        {"  ", "expected a number, a name or '(', got its end"},
        {"1 +", "expected a number, a name or '(', got its end"},
        {"1 2", "expected an operator or the end, got '2'"},
        {"(1", "expected ')', got its end"},
        {"1)", "expected an operator or the end, got ')'"},
        {"1.5", "expected a whole number, got '.5'"},
        {"2x", "expected a whole number, got 'x'"},
        {"+1", "expected a number, a name or '(', got '+1'"},
        {"seqlen", "expected " NAMES ", got 'seqlen'"},
        {"seqlen_qq", "expected " NAMES ", got 'seqlen_qq'"},
        {"Batch", "expected " NAMES ", got 'Batch'"},
        {"max", "expected " NAMES ", got 'max'"},
        {"1 / 0", "expected a divisor other than 0, got 0"},
        {"1 % 0", "expected a divisor other than 0, got 0"},
        {"ceil_div(1, 0)", "expected a divisor other than 0, got 0"},
        {"9223372036854775808", "expected a value of 64 bits, got more"},
        {"99999999999999999999", "expected a value of 64 bits, got more"},
        {"floor(1, 2)", "expected ceil_div, max or min, got 'floor('"},
        {"max(1)", "expected ',' and a second argument, got ')'"},
        {"max(1", "expected ',' and a second argument, got its end"},
        {"max(1, 2, 3)", "expected ')', got ', 3)'"},
        {"max()", "expected a number, a name or '(', got ')'"},
        {"seqlen_q; 1", "expected an operator or the end, got '; 1'"},
        {"seqlen_q\t", "expected an operator or the end, got '\t'"},
        {"(((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))",
         "expected fewer parentheses, got too many inside one another"},
        {"---------------------------------1", "expected fewer parentheses, got too many inside one another"},
        {"1+(1+(1+(1+(1+(1+(1+(1+1)))))))", "expected at most 8 values that wait for their operators, got more"},
        {"1+1+1+1+1+1+1+1+1+1+1+1+1", "expected at most 24 numbers, names and operators, got more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fmha_expression expression;
        char expected[256];
        int64_t value;
        snprintf(expected, sizeof expected, "expression '%s': %s", cases[i].text, cases[i].error);
        cr_assert_eq(compile(cases[i].text, &expression), FMHA_ERROR_ARGUMENT, "%s", cases[i].text);
        cr_assert_str_eq(fmha_last_error(), expected);
        cr_assert_not(fmha_expression_evaluate(&expression, values, &value), "what did not compile has no value");
    }
}

Test(expression, reaches_its_limits) {
    static const char *const cases[] = {
        "1+1+1+1+1+1+1+1+1+1+1+seqlen_k",                                    /* 23 steps */
        "-(1+1+1+1+1+1+1+1+1+1+1+1)",                                        /* 24 steps */
        "1+(1+(1+(1+(1+(1+(1+1))))))",                                       /* 8 values */
        "((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))", /* 32 levels */
        "-----------------------1",                                          /* 24 steps */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fmha_expression expression;
        int64_t value;
        cr_assert_eq(compile(cases[i], &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert(fmha_expression_evaluate(&expression, values, &value));
    }
}

Test(expression, simple_forms_are_known) {
    static const struct {
        const char *text;
        uint8_t value;
        int64_t mask;
    } cases[] = {
        {"batch", FMHA_VALUE_BATCH, -1},
        {"(stride_o_row)", FMHA_VALUE_STRIDE_O_ROW, -1},
        {"stride_q_row % 8", FMHA_VALUE_STRIDE_Q_ROW, 7},
        {"seqlen_k % 1", FMHA_VALUE_SEQLEN_K, 0},
        {"seqlen_k % 4611686018427387904", FMHA_VALUE_SEQLEN_K, INT64_C(4611686018427387903)},
    };
    static const char *const others[] = {"8",          "seqlen_k % 6",      "seqlen_k % -8", "seqlen_k / 8",
                                         "seqlen_k*8", "8 % seqlen_k",      "-seqlen_k",     "heads_q % heads_k",
                                         "8 % 8",      "(seqlen_k + 1) % 8"};
    struct fmha_expression expression;
    uint8_t value;
    int64_t mask;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(compile(cases[i].text, &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert(fmha_expression_is_simple(&expression, &value, &mask), "%s", cases[i].text);
        cr_assert_eq(value, cases[i].value, "%s", cases[i].text);
        cr_assert_eq(mask, cases[i].mask, "%s", cases[i].text);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cr_assert_eq(compile(others[i], &expression), FMHA_OK, "%s", fmha_last_error());
        cr_assert_not(fmha_expression_is_simple(&expression, &value, &mask), "%s", others[i]);
    }
}

/* ---- Random trees, evaluated twice ---- */

__extension__ typedef __int128 wide;

static uint64_t state = 1;

static unsigned draw(unsigned below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

struct written {
    char text[2048];
    size_t length;
};

static void write_text(struct written *written, const char *text) {
    size_t length = strlen(text);
    cr_assert_lt(written->length + length, sizeof written->text);
    memcpy(written->text + written->length, text, length + 1);
    written->length += length;
}

/* Writes a tree in full parentheses and returns its value; *has_none is set when it has none. */
static wide grow(struct written *written, int depth, const int64_t *at, bool *has_none) {
    static const int64_t numbers[] = {0, 1, 2, 3, 7, 8, 64, 4294967296, INT64_MAX};
    wide a, b, result;
    unsigned kind = depth == 0 ? draw(2) : draw(11);
    char number[32];
    if (kind == 0) {
        int64_t constant = numbers[draw(9)];
        snprintf(number, sizeof number, "%" PRId64, constant);
        write_text(written, number);
        return constant;
    }
    if (kind == 1 || kind == 10) {
        unsigned value = draw(FMHA_VALUE_COUNT);
        write_text(written, fmha_value_names[value]);
        if (kind == 1) {
            return at[value];
        }
        int64_t divisor = INT64_C(1) << draw(63); /* the form that is one step */
        snprintf(number, sizeof number, "%% %" PRId64, divisor);
        write_text(written, number);
        return at[value] % divisor;
    }
    if (kind == 2) {
        write_text(written, "-(");
        result = -grow(written, depth - 1, at, has_none);
        write_text(written, ")");
    } else {
        static const char *const open[] = {"((", "((", "((", "((", "((", "ceil_div(", "max("};
        static const char *const middle[] = {") + (", ") - (", ")*(", ") / (", ") % (", ",", ", "};
        static const char *const close[] = {"))", "))", "))", "))", "))", ")", ")"};
        write_text(written, open[kind - 3]);
        a = grow(written, depth - 1, at, has_none);
        write_text(written, middle[kind - 3]);
        b = grow(written, depth - 1, at, has_none);
        write_text(written, close[kind - 3]);
        if (kind >= 6 && kind <= 8 && b == 0) {
            *has_none = true;
        }
        if (*has_none) {
            return 0;
        }
        result = kind == 3   ? a + b
                 : kind == 4 ? a - b
                 : kind == 5 ? a * b
                 : kind == 6 ? a / b
                 : kind == 7 ? a % b
                 : kind == 8 ? a / b + (a % b != 0 && (a < 0) == (b < 0))
                             : (a > b ? a : b);
        /* the remainder by -1 of the smallest number is what the processor does not compute */
        *has_none = *has_none || ((kind == 7 || kind == 8) && a == INT64_MIN && b == -1);
    }
    *has_none = *has_none || result < INT64_MIN || result > INT64_MAX;
    return *has_none ? 0 : result;
}

Test(expression, agrees_with_a_plain_evaluation) {
    static const int64_t extremes[] = {0, 1, -1, INT64_MAX, INT64_MIN, 8, -8, 12345, -12345, 4294967295};
    int evaluated = 0, without = 0;
    for (int i = 0; i < 20000; i++) {
        struct written written = {.length = 0};
        struct fmha_expression expression;
        int64_t at[FMHA_VALUE_COUNT], got = 77;
        bool has_none = false;
        for (int value = 0; value < FMHA_VALUE_COUNT; value++) {
            at[value] = extremes[draw(10)];
        }
        wide expected = grow(&written, 3, at, &has_none);
        if (compile(written.text, &expression) != FMHA_OK) {
            bool literal = strstr(fmha_last_error(), "a divisor other than 0"); /* written as such: has_none, too */
            cr_assert(literal ? has_none : strstr(fmha_last_error(), "at most") != NULL, "%s", fmha_last_error());
            continue;
        }
        bool has_value = fmha_expression_evaluate(&expression, at, &got);
        cr_assert_eq(has_value, !has_none, "%s", written.text);
        cr_assert(has_none || got == (int64_t)expected, "%s: got %" PRId64, written.text, got);
        evaluated += has_value;
        without += has_none;
    }
    cr_assert(evaluated > 5000 && without > 1000, "%d with a value, %d without", evaluated, without);
}
