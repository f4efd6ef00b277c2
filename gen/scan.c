#include "scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX     32 /* of parentheses in one substitution */
#define VALUES_PER_CALL 60 /* Lua allows some 250 arguments in a call */
#define LINE_SHOWN_MAX  300

struct scanner {
    const char *name;
    int number; /* of the line, from 1 */
    const char *line;
    size_t length;
    struct error *error;
};

static bool refuse(const struct scanner *scanner, size_t column, const char *message) {
    size_t shown = scanner->length < LINE_SHOWN_MAX ? scanner->length : LINE_SHOWN_MAX;
    if (column > shown)
        column = shown;
    char caret[LINE_SHOWN_MAX + 1];
    for (size_t i = 0; i < column; i++)
        caret[i] = scanner->line[i] == '\t' ? '\t' : ' ';
    return error_set(scanner->error, ERROR_RUN, "%s:%d: %s\n%.*s\n%.*s^", scanner->name, scanner->number, message,
                     (int)shown, scanner->line, (int)column, caret);
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_keyword(const char *word, size_t length) {
    static const char *const keywords[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                           "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                           "repeat",   "return", "then", "true", "until",  "while"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i]) == length && !memcmp(word, keywords[i], length))
            return true;
    return false;
}

/* ---- Expressions: names, fields, indices, numbers, + - * / // %, parentheses, calls ---- */

struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *cursor) {
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

static bool take(struct cursor *cursor, char c) {
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool take_name(struct cursor *cursor) {
    skip_blanks(cursor);
    const char *begin = cursor->at;
    if (begin == cursor->end || isdigit((unsigned char)*begin))
        return false;
    while (cursor->at < cursor->end && (isalnum((unsigned char)*cursor->at) || *cursor->at == '_'))
        cursor->at++;
    return cursor->at > begin && !is_keyword(begin, (size_t)(cursor->at - begin));
}

static bool take_number(struct cursor *cursor) {
    skip_blanks(cursor);
    const char *begin = cursor->at;
    if (begin == cursor->end || !isdigit((unsigned char)*begin))
        return false;
    while (cursor->at < cursor->end && (isalnum((unsigned char)*cursor->at) || *cursor->at == '.'))
        cursor->at++;
    return true;
}

static bool take_sum(struct cursor *cursor, int depth);

static bool take_arguments(struct cursor *cursor, int depth) {
    if (take(cursor, ')'))
        return true;
    do {
        if (!take_sum(cursor, depth + 1))
            return false;
    } while (take(cursor, ','));
    return take(cursor, ')');
}

static bool take_operand(struct cursor *cursor, int depth) {
    while (take(cursor, '-'))
        if (cursor->at < cursor->end && *cursor->at == '-') /* a Lua comment */
            return false;
    if (take_number(cursor))
        return true;
    if (take(cursor, '(')) {
        if (!take_sum(cursor, depth + 1) || !take(cursor, ')'))
            return false;
    } else if (!take_name(cursor))
        return false;
    for (;;) {
        const char *before = cursor->at;
        if (take(cursor, '.')) {
            if (!take_name(cursor))
                return false;
        } else if (take(cursor, '[')) {
            if (!take_sum(cursor, depth + 1) || !take(cursor, ']'))
                return false;
        } else if (take(cursor, '(')) {
            if (!take_arguments(cursor, depth))
                return false;
        } else {
            cursor->at = before;
            return true;
        }
    }
}

static bool take_sum(struct cursor *cursor, int depth) {
    if (depth > NESTING_MAX)
        return false;
    for (;;) {
        if (!take_operand(cursor, depth))
            return false;
        skip_blanks(cursor);
        if (cursor->at == cursor->end || !strchr("+-*/%", *cursor->at))
            return true;
        char sign = *cursor->at++;
        bool twice = cursor->at < cursor->end && *cursor->at == sign;
        if (sign == '-' && twice) /* a Lua comment */
            return false;
        cursor->at += sign == '/' && twice;
    }
}

/* ---- Lines ---- */

const char *scan_line(const char *bytes, size_t length, int number, size_t *line_length) {
    const char *end = bytes + length;
    for (; bytes < end; number--) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *stop = newline ? newline : end;
        if (number == 1) {
            *line_length = (size_t)(stop - bytes) - (stop > bytes && stop[-1] == '\r');
            return bytes;
        }
        bytes = newline ? newline + 1 : end;
    }
    return NULL;
}

bool scan_is_control(const char *line, size_t length) {
    size_t i = 0;
    while (i < length && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return length - i >= 3 && !memcmp(line + i, "//%", 3);
}

/* What stands at `at`: */
enum piece { PIECE_TEXT, PIECE_ESCAPE /* $$( */, PIECE_VALUE /* $( */ };

static enum piece piece_at(const char *line, size_t length, size_t at) {
    if (length - at >= 3 && !memcmp(line + at, "$$(", 3))
        return PIECE_ESCAPE;
    return length - at >= 2 && !memcmp(line + at, "$(", 2) ? PIECE_VALUE : PIECE_TEXT;
}

/* From the first byte after "$(" to its closing parenthesis; the line's length if the expression is not a simple one.
 */
static size_t expression_end(const char *line, size_t length, size_t begin) {
    struct cursor cursor = {line + begin, line + length};
    if (!take_sum(&cursor, 0) || !take(&cursor, ')'))
        return length;
    return (size_t)(cursor.at - line) - 1;
}

const char *scan_expression(const char *line, size_t length, int index, size_t *expression_length) {
    for (size_t at = 0; at < length;) {
        enum piece piece = piece_at(line, length, at);
        if (piece == PIECE_VALUE) {
            size_t end = expression_end(line, length, at + 2);
            if (index-- == 0) {
                *expression_length = end - at - 2;
                return line + at + 2;
            }
            at = end;
        }
        at += piece == PIECE_ESCAPE ? 3 : 1;
    }
    return NULL;
}

/* What `line` holds up to the parenthesis that closes `begin`, naively counted; 0 if none closes it. */
static size_t counted_end(const char *line, size_t length, size_t begin) {
    int depth = 1;
    for (size_t i = begin; i < length; i++) {
        depth += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return 0;
}

static bool refuse_expression(const struct scanner *scanner, size_t begin) {
    size_t end = counted_end(scanner->line, scanner->length, begin);
    if (!end)
        return refuse(scanner, begin - 2,
                      "expected ')' on the same line to close '$('; make the value in a "
                      "'//% local' above and name it here ('$$(' is a literal '$(')");
    char message[256];
    size_t length = end - begin < 80 ? end - begin : 80;
    snprintf(message, sizeof message,
             "expected a name or simple arithmetic in $(…), got '%.*s'; make the value in a '//%% local' above and "
             "name it here",
             (int)length, scanner->line + begin);
    return refuse(scanner, begin, message);
}

static void add_literal(struct text *lua, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\' || c < ' ' || c == 0x7f)
            text_printf(lua, "\\%03d", c);
        else
            text_add(lua, bytes + i, 1);
    }
}

static bool scan_text(const struct scanner *scanner, struct text *lua) {
    const char *line = scanner->line;
    size_t length = scanner->length;
    int values = 0;
    text_puts(lua, ";;__text(0,\"");
    for (size_t at = 0; at < length;) {
        if (length - at >= 3 && !memcmp(line + at, "//%", 3))
            return refuse(scanner, at,
                          "expected '//%' alone on its line, got it after other text; move the control "
                          "to a line of its own");
        enum piece piece = piece_at(line, length, at);
        if (piece == PIECE_TEXT) {
            add_literal(lua, line + at, 1);
            at++;
        } else if (piece == PIECE_ESCAPE) {
            text_puts(lua, "$(");
            at += 3;
        } else {
            if (at && is_name(line[at - 1]))
                return refuse(scanner, at,
                              "expected '$(' to begin a token, got a letter or digit before it; make "
                              "the whole token in a '//% local' above and substitute that");
            size_t end = expression_end(line, length, at + 2);
            if (end == length)
                return refuse_expression(scanner, at + 2);
            if (end + 1 < length && (is_name(line[end + 1]) || line[end + 1] == '$'))
                return refuse(scanner, end + 1,
                              "expected the token to end with the ')' of '$(', got more of it; make "
                              "the whole token in a '//% local' above and substitute that");
            text_puts(lua, "\",");
            text_add(lua, line + at + 2, end - at - 2);
            values++;
            if (values % VALUES_PER_CALL)
                text_puts(lua, ",\"");
            else
                text_printf(lua, ",\"\");__text(%d,\"", values);
            at = end + 1;
        }
    }
    text_puts(lua, "\\n\");\n");
    return true;
}

/* A string or a comment that goes on in the next line would swallow lines of text. */
static bool check_control(const struct scanner *scanner, size_t at) {
    const char *line = scanner->line;
    size_t length = scanner->length;
    while (at < length) {
        size_t begin = at;
        bool comment = length - at >= 2 && line[at] == '-' && line[at + 1] == '-';
        if (comment)
            at += 2;
        size_t level = at + 1;
        while (at < length && line[at] == '[' && level < length && line[level] == '=')
            level++;
        if (at < length && line[at] == '[' && level < length && line[level] == '[') { /* a long bracket */
            size_t equals = level - at - 1;
            for (at = level + 1;; at++) {
                if (at + equals + 2 > length)
                    return refuse(scanner, begin,
                                  "expected this long string or comment to end on its line; end it "
                                  "with ']' or use one '//%' line each");
                if (line[at] != ']' || line[at + equals + 1] != ']')
                    continue;
                size_t i = 0;
                while (i < equals && line[at + 1 + i] == '=')
                    i++;
                if (i == equals)
                    break;
            }
            at += equals + 2;
        } else if (comment)
            return true;
        else if (line[at] == '"' || line[at] == '\'') {
            char quote = line[at++];
            while (at < length && line[at] != quote)
                at += line[at] == '\\' ? 2 : 1;
            if (at >= length)
                return refuse(scanner, begin, "expected this string to end on its line");
            at++;
        } else
            at++;
    }
    return true;
}

static bool scan_control(const struct scanner *scanner, struct text *lua) {
    size_t at = 0;
    while (scanner->line[at] != '/')
        at++;
    at += 3;
    if (!check_control(scanner, at))
        return false;
    text_add(lua, scanner->line + at, scanner->length - at);
    text_puts(lua, "\n");
    return true;
}

bool scan_template(const char *name, const char *bytes, size_t length, struct text *lua, struct error *error) {
    struct scanner scanner = {.name = name, .error = error};
    const char *end = bytes + length;
    while (bytes < end) {
        const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        scanner.number++;
        scanner.line = bytes;
        scanner.length = (size_t)((newline ? newline : end) - bytes);
        if (scanner.length && bytes[scanner.length - 1] == '\r')
            scanner.length--;
        const char *nul = memchr(bytes, '\0', scanner.length);
        if (nul)
            return refuse(&scanner, (size_t)(nul - bytes), "expected text, got a NUL byte");
        bool control = scan_is_control(scanner.line, scanner.length);
        if (!(control ? scan_control(&scanner, lua) : scan_text(&scanner, lua)))
            return false;
        bytes = newline ? newline + 1 : end;
    }
    return !lua->failed || error_set(error, ERROR_RUN, "%s: out of memory", name);
}
