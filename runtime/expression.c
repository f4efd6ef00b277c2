#include "expression.h"

#include <string.h>

#include "driver.h"

#define NESTING_MAX 32 /* of parentheses, calls and signs inside one another: bounds the parser's own stack */

/* Steps push a value or replace the topmost two (of NEGATE: one) by their result. From VALUE on a step is its base plus
 * an fmha_value. */
enum operation {
    CONSTANT, /* operand: the value */
    NEGATE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    CEIL_DIV,
    MAX,
    MIN,
    VALUE = 16,          /* pushes the value */
    VALUE_LOW_BITS = 136 /* pushes value % (operand + 1), the operand being a power of two less 1 */
};
_Static_assert((int)FMHA_VALUE_COUNT <= (int)VALUE_LOW_BITS - (int)VALUE &&
                   (int)FMHA_VALUE_COUNT <= 256 - (int)VALUE_LOW_BITS,
               "an operation is one byte");

const char *const fmha_value_names[FMHA_VALUE_COUNT] = {
    [FMHA_VALUE_BATCH] = "batch",
    [FMHA_VALUE_HEADS_Q] = "heads_q",
    [FMHA_VALUE_HEADS_K] = "heads_k",
    [FMHA_VALUE_SEQLEN_Q] = "seqlen_q",
    [FMHA_VALUE_SEQLEN_K] = "seqlen_k",
    [FMHA_VALUE_HEAD_DIM] = "head_dim",
    [FMHA_VALUE_HEAD_DIM_V] = "head_dim_v",
    [FMHA_VALUE_STRIDE_Q_BATCH] = "stride_q_batch",
    [FMHA_VALUE_STRIDE_Q_HEAD] = "stride_q_head",
    [FMHA_VALUE_STRIDE_Q_ROW] = "stride_q_row",
    [FMHA_VALUE_STRIDE_K_BATCH] = "stride_k_batch",
    [FMHA_VALUE_STRIDE_K_HEAD] = "stride_k_head",
    [FMHA_VALUE_STRIDE_K_ROW] = "stride_k_row",
    [FMHA_VALUE_STRIDE_V_BATCH] = "stride_v_batch",
    [FMHA_VALUE_STRIDE_V_HEAD] = "stride_v_head",
    [FMHA_VALUE_STRIDE_V_ROW] = "stride_v_row",
    [FMHA_VALUE_STRIDE_O_BATCH] = "stride_o_batch",
    [FMHA_VALUE_STRIDE_O_HEAD] = "stride_o_head",
    [FMHA_VALUE_STRIDE_O_ROW] = "stride_o_row",
    [FMHA_VALUE_STRIDE_FROM_BATCH] = "stride_from_batch",
    [FMHA_VALUE_STRIDE_FROM_HEAD] = "stride_from_head",
    [FMHA_VALUE_STRIDE_FROM_ROW] = "stride_from_row",
    [FMHA_VALUE_STRIDE_TO_BATCH] = "stride_to_batch",
    [FMHA_VALUE_STRIDE_TO_HEAD] = "stride_to_head",
    [FMHA_VALUE_STRIDE_TO_ROW] = "stride_to_row",
    [FMHA_VALUE_SPLITS] = "splits",
    [FMHA_VALUE_STRIDE_O_PARTIAL_SPLIT] = "stride_o_partial_split",
    [FMHA_VALUE_STRIDE_O_PARTIAL_BATCH] = "stride_o_partial_batch",
    [FMHA_VALUE_STRIDE_O_PARTIAL_HEAD] = "stride_o_partial_head",
    [FMHA_VALUE_STRIDE_O_PARTIAL_ROW] = "stride_o_partial_row",
    [FMHA_VALUE_STRIDE_KV_BATCH] = "stride_kv_batch",
    [FMHA_VALUE_STRIDE_KV_ROW] = "stride_kv_row",
    [FMHA_VALUE_WINDOW_LEFT] = "window_left",
    [FMHA_VALUE_WINDOW_RIGHT] = "window_right",
    [FMHA_VALUE_SINK_KEYS] = "sink_keys",
    [FMHA_VALUE_PAGE_SIZE] = "page_size",
    [FMHA_VALUE_BLOCK_MASK_Q] = "block_mask_q",
    [FMHA_VALUE_BLOCK_MASK_K] = "block_mask_k",
    [FMHA_VALUE_TOKENS_Q] = "tokens_q",
    [FMHA_VALUE_STRIDE_BLOCK_TABLE] = "stride_block_table",
    [FMHA_VALUE_STRIDE_ALIBI_BATCH] = "stride_alibi_batch",
    [FMHA_VALUE_STRIDE_BIAS_BATCH] = "stride_bias_batch",
    [FMHA_VALUE_STRIDE_BIAS_HEAD] = "stride_bias_head",
    [FMHA_VALUE_STRIDE_BIAS_ROW] = "stride_bias_row",
    [FMHA_VALUE_STRIDE_MASK_BATCH] = "stride_mask_batch",
    [FMHA_VALUE_STRIDE_MASK_HEAD] = "stride_mask_head",
    [FMHA_VALUE_STRIDE_MASK_ROW] = "stride_mask_row",
    [FMHA_VALUE_STRIDE_BLOCK_MASK_BATCH] = "stride_block_mask_batch",
    [FMHA_VALUE_STRIDE_BLOCK_MASK_HEAD] = "stride_block_mask_head",
    [FMHA_VALUE_STRIDE_BLOCK_MASK_ROW] = "stride_block_mask_row",
    [FMHA_VALUE_DROPOUT_SEED] = "dropout_seed",
    [FMHA_VALUE_DROPOUT_OFFSET] = "dropout_offset",
    [FMHA_VALUE_STRIDE_K_SCALE_BATCH] = "stride_k_scale_batch",
    [FMHA_VALUE_STRIDE_K_SCALE_HEAD] = "stride_k_scale_head",
    [FMHA_VALUE_STRIDE_K_SCALE_ROW] = "stride_k_scale_row",
    [FMHA_VALUE_STRIDE_V_SCALE_BATCH] = "stride_v_scale_batch",
    [FMHA_VALUE_STRIDE_V_SCALE_HEAD] = "stride_v_scale_head",
    [FMHA_VALUE_STRIDE_V_SCALE_ROW] = "stride_v_scale_row",
    [FMHA_VALUE_STRIDE_KV_SCALE_BATCH] = "stride_kv_scale_batch",
    [FMHA_VALUE_STRIDE_KV_SCALE_ROW] = "stride_kv_scale_row",
    [FMHA_VALUE_SEQLEN_NEW] = "seqlen_new",
    [FMHA_VALUE_TOKENS_NEW] = "tokens_new",
    [FMHA_VALUE_STRIDE_K_NEW_BATCH] = "stride_k_new_batch",
    [FMHA_VALUE_STRIDE_K_NEW_HEAD] = "stride_k_new_head",
    [FMHA_VALUE_STRIDE_K_NEW_ROW] = "stride_k_new_row",
    [FMHA_VALUE_STRIDE_V_NEW_BATCH] = "stride_v_new_batch",
    [FMHA_VALUE_STRIDE_V_NEW_HEAD] = "stride_v_new_head",
    [FMHA_VALUE_STRIDE_V_NEW_ROW] = "stride_v_new_row",
    [FMHA_VALUE_ROTARY_DIM] = "rotary_dim",
    [FMHA_VALUE_ROTARY_FIRST] = "rotary_first",
    [FMHA_VALUE_STRIDE_ROTARY_COS_ROW] = "stride_rotary_cos_row",
    [FMHA_VALUE_STRIDE_ROTARY_SIN_ROW] = "stride_rotary_sin_row",
    [FMHA_VALUE_PARTS] = "parts",
    [FMHA_VALUE_SCALES] = "scales",
    [FMHA_VALUE_STRIDE_SCALE_PARTIAL_BATCH] = "stride_scale_partial_batch",
    [FMHA_VALUE_STRIDE_SCALE_PARTIAL_HEAD] = "stride_scale_partial_head",
    [FMHA_VALUE_STRIDE_TO_SCALE_BATCH] = "stride_to_scale_batch",
    [FMHA_VALUE_STRIDE_TO_SCALE_HEAD] = "stride_to_scale_head",
    [FMHA_VALUE_STRIDE_TO_SCALE_ROW] = "stride_to_scale_row",
};

/* ---- Compiling ---- */

struct parser {
    const char *text, *at, *end;
    struct fmha_expression *expression;
    int height; /* values on the stack after the steps so far */
};

/* Always false, so that a caller can return it. */
static bool refuse(const struct parser *parser, const char *expected, const char *got) {
    fmha_fail(FMHA_ERROR_ARGUMENT, "expression '%.*s': expected %s, got %s", (int)(parser->end - parser->text),
              parser->text, expected, got);
    return false;
}

/* What was got are the `length` bytes at `got`. */
static bool refuse_word(const struct parser *parser, const char *expected, const char *got, size_t length) {
    fmha_fail(FMHA_ERROR_ARGUMENT, "expression '%.*s': expected %s, got '%.*s'", (int)(parser->end - parser->text),
              parser->text, expected, (int)length, got);
    return false;
}

static bool refuse_here(const struct parser *parser, const char *expected) {
    if (parser->at == parser->end) {
        return refuse(parser, expected, "its end");
    }
    return refuse_word(parser, expected, parser->at, (size_t)(parser->end - parser->at));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static char peek(const struct parser *parser) {
    return parser->at < parser->end ? *parser->at : '\0';
}

static void skip_blanks(struct parser *parser) {
    while (peek(parser) == ' ') {
        parser->at++;
    }
}

static bool take(struct parser *parser, char c) {
    skip_blanks(parser);
    if (peek(parser) != c) {
        return false;
    }
    parser->at++;
    return true;
}

static bool add_step(struct parser *parser, int operation, int64_t operand) {
    struct fmha_expression *expression = parser->expression;
    if (expression->count == FMHA_EXPRESSION_STEPS_MAX) {
        return refuse(parser, "at most 24 numbers, names and operators", "more");
    }
    expression->operation[expression->count] = (uint8_t)operation;
    expression->operand[expression->count] = operand;
    expression->count++;
    return true;
}

static bool push(struct parser *parser, int operation, int64_t operand) {
    if (parser->height == FMHA_EXPRESSION_STACK_MAX) {
        return refuse(parser, "at most 8 values that wait for their operators", "more");
    }
    parser->height++;
    return add_step(parser, operation, operand);
}

/* An operator whose two operands are compiled. `value % 2^n` becomes one step: most constraints are that. */
static bool combine(struct parser *parser, int operation) {
    struct fmha_expression *expression = parser->expression;
    int last = expression->count - 1;
    bool by_constant = expression->operation[last] == CONSTANT;
    int64_t constant = by_constant ? expression->operand[last] : 0;
    parser->height--;
    if (by_constant && constant == 0 && (operation == DIVIDE || operation == REMAINDER || operation == CEIL_DIV)) {
        return refuse(parser, "a divisor other than 0", "0");
    }
    int before = last > 0 ? expression->operation[last - 1] : CONSTANT;
    if (operation == REMAINDER && constant > 0 && (constant & (constant - 1)) == 0 && before >= VALUE &&
        before < VALUE_LOW_BITS) {
        expression->operation[last - 1] = (uint8_t)(before - VALUE + VALUE_LOW_BITS);
        expression->operand[last - 1] = constant - 1;
        expression->count--;
        return true;
    }
    return add_step(parser, operation, 0);
}

static bool parse_sum(struct parser *parser, int depth);

static bool is_word(const char *name, size_t length, const char *word) {
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

/* ceil_div(a, b), max(a, b), min(a, b); the name and '(' are taken. */
static bool parse_call(struct parser *parser, const char *name, size_t length, int depth) {
    int operation = is_word(name, length, "ceil_div") ? CEIL_DIV
                    : is_word(name, length, "max")    ? MAX
                    : is_word(name, length, "min")    ? MIN
                                                      : CONSTANT;
    if (operation == CONSTANT) {
        return refuse_word(parser, "ceil_div, max or min", name, (size_t)(parser->at - name));
    }
    if (!parse_sum(parser, depth)) {
        return false;
    }
    if (!take(parser, ',')) {
        return refuse_here(parser, "',' and a second argument");
    }
    if (!parse_sum(parser, depth)) {
        return false;
    }
    return take(parser, ')') ? combine(parser, operation) : refuse_here(parser, "')'");
}

static bool parse_number(struct parser *parser) {
    int64_t number = 0;
    for (; is_digit(peek(parser)); parser->at++) {
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *parser->at - '0', &number)) {
            return refuse(parser, "a value of 64 bits", "more");
        }
    }
    if (is_name(peek(parser)) || peek(parser) == '.') {
        return refuse_here(parser, "a whole number");
    }
    return push(parser, CONSTANT, number);
}

static bool parse_name(struct parser *parser, int depth) {
    const char *name = parser->at;
    while (is_name(peek(parser))) {
        parser->at++;
    }
    size_t length = (size_t)(parser->at - name);
    if (length == 0) {
        return refuse_here(parser, "a number, a name or '('");
    }
    if (take(parser, '(')) {
        return parse_call(parser, name, length, depth + 1);
    }
    for (int value = 0; value < FMHA_VALUE_COUNT; value++) {
        if (is_word(name, length, fmha_value_names[value])) {
            return push(parser, VALUE + value, 0);
        }
    }
    return refuse_word(parser, "a value that problems have (batch, heads_q, seqlen_k, stride_q_row, ...)", name,
                       length);
}

static bool parse_operand(struct parser *parser, int depth) {
    if (depth > NESTING_MAX) {
        return refuse(parser, "fewer parentheses", "too many inside one another");
    }
    if (take(parser, '-')) {
        return parse_operand(parser, depth + 1) && add_step(parser, NEGATE, 0);
    }
    if (take(parser, '(')) {
        return parse_sum(parser, depth + 1) && (take(parser, ')') || refuse_here(parser, "')'"));
    }
    return is_digit(peek(parser)) ? parse_number(parser) : parse_name(parser, depth);
}

static bool parse_product(struct parser *parser, int depth) {
    if (!parse_operand(parser, depth)) {
        return false;
    }
    for (;;) {
        int operation = take(parser, '*')   ? MULTIPLY
                        : take(parser, '/') ? DIVIDE
                        : take(parser, '%') ? REMAINDER
                                            : CONSTANT;
        if (operation == CONSTANT) {
            return true;
        }
        if (!parse_operand(parser, depth) || !combine(parser, operation)) {
            return false;
        }
    }
}

static bool parse_sum(struct parser *parser, int depth) {
    if (!parse_product(parser, depth)) {
        return false;
    }
    for (;;) {
        int operation = take(parser, '+') ? ADD : take(parser, '-') ? SUBTRACT : CONSTANT;
        if (operation == CONSTANT) {
            return true;
        }
        if (!parse_product(parser, depth) || !combine(parser, operation)) {
            return false;
        }
    }
}

fmha_status fmha_expression_compile(const char *text, size_t length, struct fmha_expression *expression) {
    struct parser parser = {.text = text, .at = text, .end = text + length, .expression = expression};
    expression->count = 0;
    if (parse_sum(&parser, 0)) {
        skip_blanks(&parser);
        if (parser.at == parser.end) {
            return FMHA_OK;
        }
        refuse_here(&parser, "an operator or the end");
    }
    expression->count = 0;
    return FMHA_ERROR_ARGUMENT;
}

/* ---- Evaluating ---- */

/* Both quotients truncate. False on a division by 0 and on INT64_MIN / -1. */
static bool divide(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
    if ((((uint64_t)a | (uint64_t)b) >> 32) == 0 && b != 0) { /* several times faster, and nearly always so */
        *quotient = (uint32_t)a / (uint32_t)b;
        *rest = (uint32_t)a % (uint32_t)b;
        return true;
    }
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        return false;
    }
    *quotient = a / b;
    *rest = a % b;
    return true;
}

static bool apply(int operation, int64_t a, int64_t b, int64_t *result) {
    int64_t quotient, rest;
    switch (operation) {
    case ADD:
        return !__builtin_add_overflow(a, b, result);
    case SUBTRACT:
        return !__builtin_sub_overflow(a, b, result);
    case MULTIPLY:
        return !__builtin_mul_overflow(a, b, result);
    case MAX:
        *result = a > b ? a : b;
        return true;
    case MIN:
        *result = a < b ? a : b;
        return true;
    default:
        if (!divide(a, b, &quotient, &rest)) {
            return false;
        }
        *result = operation == DIVIDE      ? quotient
                  : operation == REMAINDER ? rest
                                           : quotient + (rest != 0 && (rest < 0) == (b < 0));
        return true;
    }
}

/* Of a step that pushes. */
static inline int64_t pushed(int operation, int64_t operand, const int64_t *values) {
    if (operation >= VALUE_LOW_BITS) {
        int64_t value = values[operation - VALUE_LOW_BITS], low = value & operand;
        return value < 0 && low != 0 ? low - operand - 1 : low;
    }
    return operation >= VALUE ? values[operation - VALUE] : operand;
}

bool fmha_expression_evaluate(const struct fmha_expression *expression, const int64_t *values, int64_t *result) {
    int64_t stack[FMHA_EXPRESSION_STACK_MAX];
    int top = 0;
    if (expression->count == 0) { /* it did not compile */
        return false;
    }
    stack[0] = pushed(expression->operation[0], expression->operand[0], values);
    for (int i = 1; i < expression->count; i++) {
        int operation = expression->operation[i];
        if (operation >= VALUE || operation == CONSTANT) {
            stack[++top] = pushed(operation, expression->operand[i], values);
        } else if (operation == NEGATE) {
            if (__builtin_sub_overflow(INT64_C(0), stack[top], &stack[top])) {
                return false;
            }
        } else {
            top--;
            if (!apply(operation, stack[top], stack[top + 1], &stack[top])) {
                return false;
            }
        }
    }
    *result = stack[0];
    return true;
}

bool fmha_expression_is_simple(const struct fmha_expression *expression, uint8_t *value, int64_t *mask) {
    int operation = expression->count == 1 ? expression->operation[0] : CONSTANT;
    if (operation < VALUE) {
        return false;
    }
    bool low_bits = operation >= VALUE_LOW_BITS;
    *value = (uint8_t)(operation - (low_bits ? VALUE_LOW_BITS : VALUE));
    *mask = low_bits ? expression->operand[0] : -1;
    return true;
}

enum fmha_value fmha_expression_names(const struct fmha_expression *expression, enum fmha_value from) {
    for (int i = 0; i < expression->count; i++) {
        int operation = expression->operation[i];
        int value = operation - (operation >= VALUE_LOW_BITS ? VALUE_LOW_BITS : VALUE);
        if (operation >= VALUE && value >= (int)from) {
            return (enum fmha_value)value;
        }
    }
    return FMHA_VALUE_COUNT;
}

bool fmha_expression_is_remainder(const struct fmha_expression *expression, uint8_t *left, uint8_t *right) {
    const uint8_t *operation = expression->operation;
    if (expression->count != 3 || operation[0] < VALUE || operation[0] >= VALUE_LOW_BITS || operation[1] < VALUE ||
        operation[1] >= VALUE_LOW_BITS || operation[2] != REMAINDER) {
        return false;
    }
    *left = (uint8_t)(operation[0] - VALUE);
    *right = (uint8_t)(operation[1] - VALUE);
    return true;
}

bool fmha_expression_is_tiles(const struct fmha_expression *expression, uint8_t *value, uint32_t *divisor) {
    const uint8_t *operation = expression->operation;
    int64_t tile = expression->count == 3 ? expression->operand[1] : 1;
    bool alone = expression->count == 1;
    bool tiles = expression->count == 3 && operation[1] == CONSTANT && operation[2] == CEIL_DIV;
    if ((!alone && !tiles) || operation[0] < VALUE || operation[0] >= VALUE_LOW_BITS || tile < 1 ||
        tile > INT64_C(1) << 31) {
        return false;
    }
    *value = (uint8_t)(operation[0] - VALUE);
    *divisor = (uint32_t)tile;
    return true;
}
