#include "evaluate.h"

#include <ctype.h>
#include <string.h>

#define NESTING_MAX 32

struct parser {
    const char *expression, *at;
    const struct problem_value *values;
    int value_count;
    bool check; /* only the form counts: names are 1, and no value is an error */
    struct error *error;
};

static bool refuse(struct parser *parser, const char *expected, const char *got) {
    return error_set(parser->error, ERROR_RUN, "expression '%s': expected %s, got %s", parser->expression, expected,
                     got);
}

static bool refuse_here(struct parser *parser, const char *expected) {
    if (!*parser->at)
        return refuse(parser, expected, "its end");
    return error_set(parser->error, ERROR_RUN, "expression '%s': expected %s, got '%s'", parser->expression, expected,
                     parser->at);
}

static bool take(struct parser *parser, char c) {
    while (*parser->at == ' ')
        parser->at++;
    if (*parser->at != c)
        return false;
    parser->at++;
    return true;
}

static bool apply(struct parser *parser, char sign, int64_t a, int64_t b, int64_t *result) {
    bool overflow;
    if (sign == '+')
        overflow = __builtin_add_overflow(a, b, result);
    else if (sign == '-')
        overflow = __builtin_sub_overflow(a, b, result);
    else if (sign == '*')
        overflow = __builtin_mul_overflow(a, b, result);
    else if (b == 0) {
        *result = 0;
        return parser->check || refuse(parser, "a divisor other than 0", "0");
    } else {
        overflow = a == INT64_MIN && b == -1;
        *result = overflow ? 0 : sign == '/' ? a / b : a % b;
    }
    return !overflow || parser->check || refuse(parser, "a value of 64 bits", "more");
}

static bool parse_sum(struct parser *parser, int depth, int64_t *result);

/* ceil_div(a, b), max(a, b), min(a, b); the name is already taken. */
static bool parse_call(struct parser *parser, const char *name, size_t length, int depth, int64_t *result) {
    int64_t a = 0, b = 0;
    if (!parse_sum(parser, depth, &a))
        return false;
    if (!take(parser, ','))
        return refuse_here(parser, "',' and a second argument");
    if (!parse_sum(parser, depth, &b))
        return false;
    if (!take(parser, ')'))
        return refuse_here(parser, "')'");
    if (length == 3 && !memcmp(name, "max", 3))
        *result = a > b ? a : b;
    else if (length == 3 && !memcmp(name, "min", 3))
        *result = a < b ? a : b;
    else if (length == 8 && !memcmp(name, "ceil_div", 8)) {
        int64_t rest = 0;
        if (!apply(parser, '/', a, b, result) || !apply(parser, '%', a, b, &rest))
            return false;
        *result += rest != 0 && (rest < 0) == (b < 0);
    } else
        return error_set(parser->error, ERROR_RUN, "expression '%s': expected ceil_div, max or min, got '%.*s('",
                         parser->expression, (int)length, name);
    return true;
}

static bool find_value(struct parser *parser, const char *name, size_t length, int64_t *result) {
    *result = 1;
    if (parser->check)
        return true;
    for (int i = 0; i < parser->value_count; i++)
        if (!strncmp(parser->values[i].name, name, length) && !parser->values[i].name[length]) {
            *result = parser->values[i].value;
            return true;
        }
    return error_set(parser->error, ERROR_RUN, "expression '%s': expected a value of the problem, got '%.*s'",
                     parser->expression, (int)length, name);
}

static bool parse_operand(struct parser *parser, int depth, int64_t *result) {
    if (depth > NESTING_MAX)
        return refuse(parser, "fewer parentheses", "too many inside one another");
    if (take(parser, '-')) {
        int64_t positive = 0;
        return parse_operand(parser, depth + 1, &positive) && apply(parser, '-', 0, positive, result);
    }
    if (take(parser, '(')) {
        if (!parse_sum(parser, depth + 1, result))
            return false;
        return take(parser, ')') || refuse_here(parser, "')'");
    }
    const char *begin = parser->at;
    if (isdigit((unsigned char)*begin)) {
        *result = 0;
        for (; isdigit((unsigned char)*parser->at); parser->at++)
            if (!apply(parser, '*', *result, 10, result) || !apply(parser, '+', *result, *parser->at - '0', result))
                return false;
        if (isalpha((unsigned char)*parser->at) || *parser->at == '_' || *parser->at == '.')
            return refuse_here(parser, "a whole number");
        return true;
    }
    while (isalnum((unsigned char)*parser->at) || *parser->at == '_')
        parser->at++;
    size_t length = (size_t)(parser->at - begin);
    if (!length)
        return refuse_here(parser, "a number, a name or '('");
    if (take(parser, '('))
        return parse_call(parser, begin, length, depth + 1, result);
    return find_value(parser, begin, length, result);
}

static bool parse_product(struct parser *parser, int depth, int64_t *result) {
    if (!parse_operand(parser, depth, result))
        return false;
    for (;;) {
        char sign = take(parser, '*') ? '*' : take(parser, '/') ? '/' : take(parser, '%') ? '%' : '\0';
        int64_t right = 0;
        if (!sign)
            return true;
        if (!parse_operand(parser, depth, &right) || !apply(parser, sign, *result, right, result))
            return false;
    }
}

static bool parse_sum(struct parser *parser, int depth, int64_t *result) {
    if (!parse_product(parser, depth, result))
        return false;
    for (;;) {
        char sign = take(parser, '+') ? '+' : take(parser, '-') ? '-' : '\0';
        int64_t right = 0;
        if (!sign)
            return true;
        if (!parse_product(parser, depth, &right) || !apply(parser, sign, *result, right, result))
            return false;
    }
}

static bool parse(struct parser *parser, int64_t *result) {
    parser->at = parser->expression;
    if (!parse_sum(parser, 0, result))
        return false;
    return take(parser, '\0') ? true : refuse_here(parser, "an operator or the end");
}

bool evaluate(const char *expression, const struct problem_value *values, int value_count, int64_t *result,
              struct error *error) {
    struct parser parser = {.expression = expression, .values = values, .value_count = value_count, .error = error};
    int64_t value = 0;
    if (!parse(&parser, &value))
        return false;
    *result = value;
    return true;
}

bool evaluate_check(const char *expression, struct error *error) {
    struct parser parser = {.expression = expression, .check = true, .error = error};
    int64_t value = 0;
    return parse(&parser, &value);
}
