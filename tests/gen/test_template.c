/* The template engine, on templates held in memory. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "embed.h"
#include "template.h"

#define FILES_MAX 8

/* Pairs of path and text, sorted by path. */
static struct template_file files[FILES_MAX];

static struct template_engine *engine_with(const char *(*pairs)[2], size_t count) {
    struct error error;
    for (size_t i = 0; i < count; i++)
        files[i] = (struct template_file){pairs[i][0], pairs[i][1], strlen(pairs[i][1])};
    struct template_engine *engine = template_engine_new_from(files, count, NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    return engine;
}

/* The text of a.hip, or "error: …" ("usage: …"). The caller frees it. */
static char *render(struct template_engine *engine, const char *path) {
    struct text out = {0};
    struct error error = {0};
    text_puts(&out, "before");
    bool done = template_render(engine, path, NULL, NULL, &out, &error);
    cr_assert(done || (!strcmp(out.bytes, "before") && out.length == strlen("before")), "an error left text behind");
    cr_assert_eq(lua_gettop(template_engine_lua(engine)), 0);
    char *result = NULL;
    int length = done ? asprintf(&result, "%s", out.bytes + strlen("before"))
                      : asprintf(&result, "%s: %s", error.kind == ERROR_USAGE ? "usage" : "error", error.text);
    cr_assert(length >= 0);
    text_free(&out);
    return result;
}

static void expect_render(struct template_engine *engine, const char *path, const char *expected) {
    char *got = render(engine, path);
    cr_assert_str_eq(got, expected, "got:\n%s\nexpected:\n%s", got, expected);
    free(got);
}

static void expect(const char *source, const char *expected) {
    const char *pairs[][2] = {{"a.hip", source}};
    struct template_engine *engine = engine_with(pairs, 1);
    expect_render(engine, "a.hip", expected);
    template_engine_free(engine);
}

#define WITH(name, ...)                                                                                                \
    const char *name##_pairs[][2] = {__VA_ARGS__};                                                                     \
    struct template_engine *name = engine_with(name##_pairs, sizeof name##_pairs / sizeof *name##_pairs)

/* ---- Text, control, values ---- */

Test(template, text_stays_as_it_is) {
    expect("", "");
    expect("a\n\n  b\t\"c\\n\" \x01\xc3\xa9 %d\n", "a\n\n  b\t\"c\\n\" \x01\xc3\xa9 %d\n");
    expect("no end of line", "no end of line\n");
    expect("a\r\nb\r\n", "a\nb\n");
    expect("$ $x $$ $) #(x) {{ }} @ <% // %\n", "$ $x $$ $) #(x) {{ }} @ <% // %\n");
}

Test(template, dollar_dollar_is_a_literal) {
    expect("$$(x) $$$(y) f($$()\n", "$(x) $$(y) f($()\n");
}

Test(template, control_chooses_and_unrolls) {
    expect("//% for i = 1, 2 do\n"
           "  x[$(i)] = $(i * i);\n"
           "  //% if i == 2 then\n"
           "last\n"
           "//% end\n"
           "\t//% end\n",
           "  x[1] = 1;\n  x[2] = 4;\nlast\n");
    expect("//%\n//% -- a comment: //% $(x) \"\n//%local x = 5 -- [[ not a long one ]]\n$(x)\n", "5\n");
    expect("//% local t = {\n//%     a = 1,\n//% }\n$(t.a)\n", "1\n");
    expect("//% local s = [[one line]] .. [=[ ]] ]=] .. 'it\\'s' .. \"[[\"\n//% local a = { 1 } local b = "
           "a[a[1]]\n$(s) $(b)\n",
           "one line ]] it's[[ 1\n");
}

Test(template, functions_are_macros) {
    expect("//% local function twice(x)\n  $(x), $(x);\n//% end\na\n//% twice(3)\n//% twice(\"q\")\nb\n",
           "a\n  3, 3;\n  q, q;\nb\n");
}

Test(template, numbers_are_tokens_of_c) {
    expect("//% local a, b, c, d, e, f, g, h = 32.0, 0.5, 1e300, 0.1, -0.0, 2^53, math.mininteger, 1/3\n"
           "$(a) $(b) $(c) $(d) $(e) $(f) $(g) $(h)\n",
           "32 0.5 1e+300 0.1 0 9007199254740992 -9223372036854775808 0.3333333333333333\n");
    expect("//% local x = { y = { 7, 8 } }\n//% local function f(a, b) return a + b, 99 end\n"
           "$(7//2) $(7 / 2) $(7 % 4) $(-(2 - 5)) $(x.y[2]) $(x.y[1 + 1] * 2) $(f(1, 2)) $(f(f(1, 2), 3) + 1) $( 1 - "
           "-1 )\n",
           "3 3.5 3 3 8 16 3 7 2\n");
}

Test(template, a_line_may_hold_hundreds_of_values) {
    struct text source = {0}, expected = {0};
    text_puts(&source, "//% local x = 7\n");
    for (int i = 0; i < 1000; i++) {
        text_puts(&source, "$(x) ");
        text_puts(&expected, "7 ");
    }
    text_puts(&source, "\n");
    text_puts(&expected, "\n");
    expect(source.bytes, expected.bytes);
    text_puts(&source, "//% local y\n$(x) $(y)\n");
    expect(source.bytes, "error: templates/a.hip:4: expected a string or a finite number in $(y), got nil\n$(x) $(y)");
    text_free(&source);
    text_free(&expected);
}

/* ---- Errors ---- */

struct wrong {
    const char *source, *error;
};

static const struct wrong wrongs[] = {
    /* The scanner's. */
    {"x\nint x; //% if y then\n", "error: templates/a.hip:2: expected '//%' alone on its line, got it after other "
                                  "text; move the control to a line of its "
                                  "own\nint x; //% if y then\n       ^"},
    {"$(x\n",
     "error: templates/a.hip:1: expected ')' on the same line to close '$('; make the value in a '//% local' above and "
     "name it here ('$$(' is a literal '$(')\n$(x\n^"},
    {"\tf($(a .. \"b\"))\n", "error: templates/a.hip:1: expected a name or simple arithmetic in $(…), got 'a .. "
                             "\"b\"'; make the value in a '//% local' "
                             "above and name it here\n\tf($(a .. \"b\"))\n\t    ^"},
    {"$(3--2)\n", "error: templates/a.hip:1: expected a name or simple arithmetic in $(…), got '3--2'; make the value "
                  "in a '//% local' above and name it here\n$(3--2)\n  ^"},
    {"$(--2)\n", "error: templates/a.hip:1: expected a name or simple arithmetic in $(…), got '--2'; make the value in "
                 "a '//% local' above and name it here\n$(--2)\n  ^"},
    {"vec$(n) x;\n", "error: templates/a.hip:1: expected '$(' to begin a token, got a letter or digit before it; make "
                     "the whole token in a "
                     "'//% local' above and substitute that\nvec$(n) x;\n   ^"},
    {"$(type)8 x;\n", "error: templates/a.hip:1: expected the token to end with the ')' of '$(', got more of it; make "
                      "the whole token in a "
                      "'//% local' above and substitute that\n$(type)8 x;\n       ^"},
    {"$(a)$(b)\n", "error: templates/a.hip:1: expected the token to end with the ')' of '$(', got more of it; make the "
                   "whole token in a "
                   "'//% local' above and substitute that\n$(a)$(b)\n    ^"},
    {"//% local s = [[\ntext\n//% ]]\n", "error: templates/a.hip:1: expected this long string or comment to end on its "
                                         "line; end it with ']' or use one '//%' line "
                                         "each\n//% local s = [[\n              ^"},
    {"//% --[==[ comment ]=]\ntext\n", "error: templates/a.hip:1: expected this long string or comment to end on its "
                                       "line; end it with ']' or use one '//%' line "
                                       "each\n//% --[==[ comment ]=]\n    ^"},
    {"//% local s = \"a\\\n\n",
     "error: templates/a.hip:1: expected this string to end on its line\n//% local s = \"a\\\n              ^"},
    /* Lua's compiler. */
    {"text\n//% if x then\ntext\n",
     "error: templates/a.hip: 'end' expected (to close 'if' at line 2) before the end of the file"},
    {"//% local x =\nint y;\n", "error: templates/a.hip:2: unexpected symbol before this line of text\nint y;"},
    {"//% for i = 1, 2\nint y;\n//% end\n", "error: templates/a.hip:2: 'do' expected before this line of text\nint y;"},
    {"//% local t = { 1\nint y;\n//% }\n",
     "error: templates/a.hip:2: unexpected symbol before this line of text\nint y;"},
    {"//% while true\nint y;\n//% end\n", "error: templates/a.hip:2: 'do' expected before this line of text\nint y;"},
    {"//% return\nint y;\n", "error: templates/a.hip:2: <eof> expected before this line of text\nint y;"},
    {"a\n//% x = = 1\n", "error: templates/a.hip:2: unexpected symbol near '='\n//% x = = 1"},
    {"//% goto nowhere\n", "error: templates/a.hip:2: no visible label 'nowhere' for <goto> at line 1"},
    /* Values. */
    {"a\nx = $(block_q);\n", "error: templates/a.hip:2: undefined name 'block_q'\nx = $(block_q);"},
    {"//% block_m = 1\n$(blok_m)\n",
     "error: templates/a.hip:2: undefined name 'blok_m'; did you mean 'block_m'?\n$(blok_m)"},
    {"//% local width = 1\n//% local x = witdh\n",
     "error: templates/a.hip:2: undefined name 'witdh'; did you mean 'width'?\n//% local x = witdh"},
    {"//% includ(\"x\")\n",
     "error: templates/a.hip:1: undefined name 'includ'; did you mean 'include'?\n//% includ(\"x\")"},
    {"//% local t = { }\na $(1) $(t.x[1])\n",
     "error: templates/a.hip:2: attempt to index a nil value (field 'x')\na $(1) $(t.x[1])"},
    {"//% local t = { }\na $(1) $$( $(t.x)\n",
     "error: templates/a.hip:2: expected a string or a finite number in $(t.x), got nil\na $(1) $$( $(t.x)"},
    {"//% local t = { }\n$(t)\n",
     "error: templates/a.hip:2: expected a string or a finite number in $(t), got table\n$(t)"},
    {"//% local t = true\n$(t)\n",
     "error: templates/a.hip:2: expected a string or a finite number in $(t), got boolean\n$(t)"},
    {"$(ipairs)\n",
     "error: templates/a.hip:1: expected a string or a finite number in $(ipairs), got function\n$(ipairs)"},
    {"$(1 / 0)\n",
     "error: templates/a.hip:1: expected a string or a finite number in $(1 / 0), got an infinite number\n$(1 / 0)"},
    {"$(0 / 0)\n",
     "error: templates/a.hip:1: expected a string or a finite number in $(0 / 0), got not a number (NaN)\n$(0 / 0)"},
    {"$(1 // 0)\n", "error: templates/a.hip:1: attempt to divide by zero\n$(1 // 0)"},
    {"//% local a = \"x\" + 1\n",
     "error: templates/a.hip:1: attempt to add a 'string' with a 'number'\n//% local a = \"x\" + 1"},
    /* Raised by the template. */
    {"//% fail(\"--hd 12: a % b\\nsecond line\")\n", "usage: --hd 12: a % b\nsecond line"},
    {"//% error(\"odd\")\n", "error: templates/a.hip:1: odd\n//% error(\"odd\")"},
    {"//% error(\"odd\", 0)\n", "error: templates/a.hip:1: odd\n//% error(\"odd\", 0)"},
    {"//% error({ })\n", "error: templates/a.hip:1: expected a string as error, got a table\n//% error({ })"},
    {"//% assert(1 == 2, \"unequal\")\n", "error: templates/a.hip:1: unequal\n//% assert(1 == 2, \"unequal\")"},
    {"//% local function check(x)\n//%     if not x then error(\"no x\", 2) end\n//% end\n//% check()\n",
     "error: templates/a.hip:4: no x\n//% check()"},
    {"//% local function f(x)\nint $(x);\n//% end\n\n//% f()\n",
     "error: templates/a.hip:2: expected a string or a finite number in $(x), got nil\nint $(x);\nfrom "
     "templates/a.hip:5"},
    {"//% emit({ })\n",
     "error: templates/a.hip:1: emit: expected one string or finite number, got table\n//% emit({ })"},
    {"//% emit()\n", "error: templates/a.hip:1: emit: expected one string or finite number, got another number of "
                     "arguments\n//% emit()"},
    {"//% local s = (\"x\"):rep(1e9)\n",
     "error: templates/a.hip:1: string.rep: expected a result of at most 67108864 bytes, got more\n"
     "//% local s = (\"x\"):rep(1e9)"},
    {"//% local s = (\"x\"):rep(6e7)\n//% local t = s .. s .. s .. s .. s\n",
     "error: expected at most 268435456 bytes of memory for templates, got more"},
};

Test(template, errors_say_what_where_and_the_cure) {
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        expect(wrongs[i].source, wrongs[i].error);
}

Test(template, a_nul_byte_is_refused) {
    struct error error;
    struct text out = {0};
    const struct template_file nul = {"a.hip", "a\0b\n", 4};
    struct template_engine *engine = template_engine_new_from(&nul, 1, NULL, &error);
    cr_assert_not(template_render(engine, "a.hip", NULL, NULL, &out, &error));
    cr_assert(!memcmp(error.text, "templates/a.hip:1: expected text, got a NUL byte", 48), "%s", error.text);
    template_engine_free(engine);
}

Test(template, two_hundred_locals_are_the_limit_of_lua) {
    struct text source = {0};
    for (int i = 0; i < 200; i++)
        text_printf(&source, "//%% local x%d = %d\n", i, i);
    text_puts(&source, "$(x0) $(x199)\n");
    expect(source.bytes, "0 199\n");
    text_puts(&source, "//% local one_more = 1\n");
    expect(source.bytes,
           "error: templates/a.hip:202: too many local variables (limit is 200) in main function near '='; a template "
           "is one Lua function: put names into a table, or close blocks with do … end\n//% local one_more = 1");
    text_free(&source);
}

Test(template, a_long_path_is_shown_whole) {
    const char *path = "a/folder/with/a/name/that/is/longer/than/the/sixty/characters/of/lua.hip";
    WITH(engine, {path, "x\n$(nothing)\n"});
    char expected[256];
    snprintf(expected, sizeof expected, "error: templates/%s:2: undefined name 'nothing'\n$(nothing)", path);
    expect_render(engine, path, expected);
    template_engine_free(engine);
}

/* ---- Files ---- */

Test(template, include_renders_in_place_and_shares_globals) {
    WITH(engine, {"a.hip", "//% n = 4\nbegin\n//% include(\"b/c.hip\")\n//% include(\"b/c.hip\")\nend $(n)\n"},
         {"b/c.hip", "  n is $(n)\n//% n = n + 1\n"});
    expect_render(engine, "a.hip", "begin\n  n is 4\n  n is 5\nend 6\n");
    expect_render(engine, "b/c.hip", "error: templates/b/c.hip:1: undefined name 'n'\n  n is $(n)");
    expect_render(engine, "a.hip", "begin\n  n is 4\n  n is 5\nend 6\n");
    template_engine_free(engine);
}

Test(template, errors_name_the_way_to_an_included_file) {
    WITH(engine, {"a.hip", "x\n//% include(\"b.hip\")\n"}, {"b.hip", "\n//% include(\"c.hip\")\n"},
         {"c.hip", "y\ny\n$(nothing)\n"}, {"d.hip", "//% include(\"e.hip\")\n"}, {"e.hip", "a //% b\n"});
    expect_render(engine, "a.hip",
                  "error: templates/c.hip:3: undefined name 'nothing'\n$(nothing)\nfrom templates/b.hip:2\nfrom "
                  "templates/a.hip:2");
    expect_render(
        engine, "d.hip",
        "error: templates/e.hip:1: expected '//%' alone on its line, got it after other text; move the control "
        "to a line of its own\na //% b\n  ^\nfrom templates/d.hip:1");
    template_engine_free(engine);
}

Test(template, include_and_load_refuse_what_they_cannot_read) {
    WITH(engine, {"a.hip", "//% include(\"bb.hip\")\n"}, {"b.hip", "//% include(\"b.hip\")\n"},
         {"c.hip", "//% include(\"t.lua\")\n"}, {"d.hip", "//% load(\"a.hip\")\n"},
         {"e.hip", "//% include(\"../a.hip\")\n"}, {"f.hip", "//% include(12)\n"}, {"t.lua", "return { }"});
    expect_render(engine, "a.hip",
                  "error: templates/a.hip:1: include: expected the path of a file below templates/, got 'bb.hip'; did "
                  "you mean 'b.hip'?\n//% include(\"bb.hip\")");
    expect_render(
        engine, "b.hip",
        "error: templates/b.hip:1: include: expected no circle, got 'templates/b.hip', which is being read already\n"
        "//% include(\"b.hip\")");
    expect_render(
        engine, "c.hip",
        "error: templates/c.hip:1: include: expected a .hip file, got 't.lua'; the value of a .lua file is had by "
        "load()\n//% include(\"t.lua\")");
    expect_render(
        engine, "d.hip",
        "error: templates/d.hip:1: load: expected a .lua file, got 'a.hip'; a template is rendered by include()\n"
        "//% load(\"a.hip\")");
    expect_render(
        engine, "e.hip",
        "error: templates/e.hip:1: include: expected the path of a file below templates/, got '../a.hip'; did "
        "you mean 'a.hip'?\n//% include(\"../a.hip\")");
    expect_render(engine, "f.hip",
                  "error: templates/f.hip:1: include: expected the path of a file below templates/, got '12'\n"
                  "//% include(12)");
    expect_render(engine, "x/y.hip", "error: template: expected the path of a file below templates/, got 'x/y.hip'");
    template_engine_free(engine);
}

Test(template, includes_nest_sixteen_deep) {
    char names[18][16], texts[18][64];
    struct template_file chain[18];
    for (int i = 0; i < 18; i++) {
        snprintf(names[i], sizeof names[i], "%02d.hip", i);
        snprintf(texts[i], sizeof texts[i], i < 17 ? "%d\n//%% include(\"%02d.hip\")\n" : "%d\n", i, i + 1);
        chain[i] = (struct template_file){names[i], texts[i], strlen(texts[i])};
    }
    struct error error;
    struct template_engine *engine = template_engine_new_from(chain, 18, NULL, &error);
    expect_render(engine, "01.hip", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n");
    char *got = render(engine, "00.hip");
    const char *expected =
        "error: templates/16.hip:2: include: expected at most 16 templates inside one another, got more\n"
        "//% include(\"17.hip\")\nfrom templates/15.hip:2\n";
    cr_assert(!strncmp(got, expected, strlen(expected)), "%s", got);
    free(got);
    template_engine_free(engine);
}

Test(template, loaded_tables_are_shared_and_read_only) {
    WITH(engine, {"a.hip", "//% local t = load(\"t.lua\")\n$(t.one) $(t.inner.list[2]) $(#t.inner.list)\n"},
         {"b.hip", "//% local t = load(\"t.lua\")\n//% for k, v in pairs(t.inner.list) do\n$(k):$(v)\n//% end\n"
                   "//% for i, v in ipairs(t.inner.list) do\n$(i)=$(v)\n//% end\n$(t.f(3)) $(t.other.name)\n"},
         {"c.hip", "//% load(\"t.lua\").inner.list[3] = 1\n"},
         {"d.hip", "//% local t = load(\"t.lua\")\n//% t.one = 2\n"},
         {"e.hip", "//% local joined = table.concat(load(\"t.lua\").inner.list, \"+\")\n$(joined)\n"},
         {"t.lua", "local two = 2\nreturn { one = 1, inner = { list = { 'x', 'y' } }, other = load('u.lua'),\n"
                   "         f = function(x) return x * two end }\n"},
         {"u.lua", "return { name = 'u', deep = { 1 } }\n"});
    expect_render(engine, "a.hip",
                  "error: templates/a.hip:2: expected a name or simple arithmetic in $(…), got "
                  "'#t.inner.list'; make the value in a '//% local' above and name it here\n"
                  "$(t.one) $(t.inner.list[2]) $(#t.inner.list)\n"
                  "                              ^");
    expect_render(engine, "b.hip", "1:x\n2:y\n1=x\n2=y\n6 u\n");
    expect_render(engine, "c.hip",
                  "error: templates/c.hip:1: expected no assignment to a read-only table; copy what you want to "
                  "change\n//% load(\"t.lua\").inner.list[3] = 1");
    expect_render(engine, "d.hip",
                  "error: templates/d.hip:2: expected no assignment to a read-only table, got one to 'one'; copy "
                  "what you want to change\n//% t.one = 2");
    expect_render(engine, "e.hip", "x+y\n");
    template_engine_free(engine);
}

Test(template, views_of_other_files_keep_their_contents) {
    WITH(engine,
         {"a.hip", "//% local chip = load(\"chip.lua\")\n//% for name, value in pairs(chip.rows) do\n$(name) "
                   "$(value.m)\n//% end\n"},
         {"chip.lua",
          "local chip = {}\nfor k, v in pairs(load('family.lua')) do chip[k] = v end\nchip.name = 'x'\nreturn chip\n"},
         {"family.lua", "return { rows = { small = { m = 1 }, large = { m = 2 } } }\n"});
    expect_render(engine, "a.hip", "large 2\nsmall 1\n");
    template_engine_free(engine);
}

Test(template, table_files_have_no_globals_and_no_text) {
    WITH(engine, {"a.hip", "//% load(\"t.lua\")\n"}, {"b.hip", "//% load(\"u.lua\")\n"},
         {"c.hip", "//% load(\"v.lua\")\n"}, {"d.hip", "//% load(\"w.lua\")\n"}, {"t.lua", "x = 1\n"},
         {"u.lua", "emit('x')\nreturn {}\n"}, {"v.lua", "return 1\n"}, {"w.lua", "return {\n"});
    expect_render(
        engine, "a.hip",
        "error: templates/t.lua:1: expected no global name in a .lua file, got 'x'; write 'local x'\nx = 1\nfrom "
        "templates/a.hip:1");
    expect_render(
        engine, "b.hip",
        "error: templates/u.lua:1: emit: expected a template that is being rendered, got a .lua file that is being "
        "loaded\nemit('x')\nfrom templates/b.hip:1");
    expect_render(engine, "c.hip",
                  "error: templates/c.hip:1: templates/v.lua: expected a file that returns a table, got number\n"
                  "//% load(\"v.lua\")");
    expect_render(engine, "d.hip",
                  "error: templates/w.lua: unexpected symbol before the end of the file\nfrom templates/d.hip:1");
    template_engine_free(engine);
}

static void read_table(lua_State *L, void *context) {
    lua_getfield(L, -1, "one");
    *(lua_Integer *)context = luaL_checkinteger(L, -1);
    if (*(lua_Integer *)context == 2)
        luaL_error(L, "two is wrong");
}

Test(template, tables_are_read_from_c) {
    WITH(engine, {"t.lua", "return { one = 1, b = 2, [3] = 4 }"}, {"u.lua", "return { one = 2 }"});
    struct error error;
    lua_Integer one = 0;
    lua_State *L = template_engine_lua(engine);
    cr_assert(template_with_table(engine, "t.lua", read_table, &one, &error));
    cr_assert_eq(one, 1);
    cr_assert_not(template_with_table(engine, "u.lua", read_table, &one, &error));
    cr_assert_str_eq(error.text, "two is wrong");
    cr_assert_not(template_with_table(engine, "w.lua", read_table, &one, &error));
    cr_assert_str_eq(error.text,
                     "load: expected the path of a file below templates/, got 'w.lua'; did you mean 't.lua'?");
    cr_assert_eq(lua_gettop(L), 0);
    cr_assert(template_load_table(engine, "t.lua", &error));
    int count = 0;
    for (lua_pushnil(L); template_table_next(L, -2); lua_pop(L, 1))
        count++;
    cr_assert_eq(count, 3);
    cr_assert_eq(lua_gettop(L), 1);
    template_engine_free(engine);
}

static void prepare_seven(lua_State *L, void *context) {
    lua_pushinteger(L, *(int *)context);
    lua_setfield(L, -2, "seven");
}

static void prepare_badly(lua_State *L, void *context) {
    (void)context;
    luaL_error(L, "no wish to prepare");
}

static void prepare_render(lua_State *L, void *context) {
    struct text out = {0};
    struct error error;
    cr_assert_not(template_render(context, "a.hip", NULL, NULL, &out, &error));
    luaL_error(L, "%s", error.text);
}

Test(template, prepare_adds_names_of_one_run) {
    WITH(engine, {"a.hip", "$(seven)\n"});
    struct text out = {0};
    struct error error;
    int seven = 7;
    cr_assert(template_render(engine, "a.hip", prepare_seven, &seven, &out, &error));
    cr_assert_str_eq(out.bytes, "7\n");
    cr_assert_not(template_render(engine, "a.hip", NULL, NULL, &out, &error));
    cr_assert_not(template_render(engine, "a.hip", prepare_badly, NULL, &out, &error));
    cr_assert_str_eq(error.text, "no wish to prepare");
    cr_assert_not(template_render(engine, "a.hip", prepare_render, engine, &out, &error));
    cr_assert_str_eq(error.text, "templates/a.hip: expected no render inside a render");
    cr_assert_str_eq(out.bytes, "7\n");
    text_free(&out);
    template_engine_free(engine);
}

Test(template, list_filters_by_prefix) {
    WITH(engine, {"arch/a.lua", ""}, {"arch/b.lua", ""}, {"ops/a.hip", ""});
    size_t count;
    const char *const *paths = template_list(engine, "arch/", &count);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(paths[1], "arch/b.lua");
    template_list(engine, "zebra", &count);
    cr_assert_eq(count, 0);
    template_list(engine, "", &count);
    cr_assert_eq(count, 3);
    template_engine_free(engine);
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[512];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(file_write(path, text, strlen(text), &error), "%s", error.text);
}

Test(template, a_folder_replaces_single_files) {
    char folder[] = "/tmp/fmhagen test XXXXXX", inner[64], gone[128];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/new", folder);
    cr_assert_eq(mkdir(inner, 0777), 0);
    write_file(folder, "b.hip", "replaced\n");
    write_file(folder, "b.hip~", "backup\n");
    write_file(folder, ".c.hip", "hidden\n");
    write_file(folder, "new/x.hip", "added\n");
    const struct template_file own[] = {{"a.hip", "//% include(\"b.hip\")\n//% include(\"new/x.hip\")\n", 46},
                                        {"b.hip", "built in\n", 9}};
    struct error error;
    char odd[64], refused[200];
    snprintf(odd, sizeof odd, "%s/a.hip", folder);
    for (int pipe = 0; pipe < 2; pipe++) { /* reading it would wait for ever */
        cr_assert_eq(pipe ? mkfifo(odd, 0600) : mkdir(odd, 0700), 0);
        snprintf(refused, sizeof refused, "--template-dir: expected a file, got '%s', which is %s", odd,
                 pipe ? "no regular file" : "a folder");
        cr_assert_null(template_engine_new_from(own, 2, folder, &error));
        cr_assert_eq(error.kind, ERROR_USAGE);
        cr_assert_str_eq(error.text, refused);
        cr_assert_eq(remove(odd), 0);
    }
    struct template_engine *engine = template_engine_new_from(own, 2, folder, &error);
    cr_assert_not_null(engine, "%s", error.text);
    expect_render(engine, "a.hip", "replaced\nadded\n");
    size_t count;
    template_list(engine, "", &count);
    cr_assert_eq(count, 3);
    template_engine_free(engine);

    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
    snprintf(gone, sizeof gone, "--template-dir: expected a folder of templates, got '%s': No such file or directory",
             folder);
    cr_assert_null(template_engine_new_from(own, 2, folder, &error));
    cr_assert_eq(error.kind, ERROR_USAGE);
    cr_assert_str_eq(error.text, gone);
}

/* ---- The restricted environment ---- */

Test(template, nothing_leads_out_of_the_sandbox) {
    static const char *const names[] = {
        "io",         "os",           "debug",        "package",        "require", "dofile",   "loadfile",
        "loadstring", "getmetatable", "setmetatable", "rawget",         "rawset",  "rawequal", "rawlen",
        "pcall",      "xpcall",       "coroutine",    "collectgarbage", "print",   "utf8",     "_G"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char source[64], expected[128];
        snprintf(source, sizeof source, "//%% local x = %s\n", names[i]);
        snprintf(expected, sizeof expected, "error: templates/a.hip:1: undefined name '%s'", names[i]);
        const char *pairs[][2] = {{"a.hip", source}};
        struct template_engine *engine = engine_with(pairs, 1);
        char *got = render(engine, "a.hip");
        cr_assert(!strncmp(got, expected, strlen(expected)), "%s", got);
        free(got);
        template_engine_free(engine);
    }
    expect("//% local a = string.dump == nil and (\"\").dump == nil and table.move == nil and math.random == nil\n"
           "//% local b = a and \"all gone\" or \"there\"\n$(b)\n",
           "all gone\n");
    expect("//% string.format = nil\n",
           "error: templates/a.hip:1: expected no assignment to a read-only table, got one to "
           "'format'; copy what you want to change\n//% string.format = nil");
    expect("//% (\"\").format = nil\n",
           "error: templates/a.hip:1: attempt to index a string value (constant '')\n//% (\"\").format = nil");
    expect("//% load(\"x = 1\")\n",
           "error: templates/a.hip:1: load: expected the path of a file below templates/, got 'x = 1'\n"
           "//% load(\"x = 1\")");
}

Test(template, a_run_cannot_harm_the_next) {
    WITH(engine, {"a.hip", "//% emit = nil\n//% __text = 1\n//% _ENV = nil\n"}, {"b.hip", "//% emit(\"fine\")\n\n"});
    char *got = render(engine, "a.hip");
    free(got);
    expect_render(engine, "b.hip", "fine\n");
    expect_render(engine, "b.hip", "fine\n");
    template_engine_free(engine);
}

Test(template, tables_are_walked_in_the_order_of_their_keys) {
    const char *walked = "-1 a\n1 b\n1.5 c\n2 d\n9007199254740993 e\nx f\nxy g\ny h\n";
    const char *table =
        "//% local t = { y = \"h\", xy = \"g\", [1.5] = \"c\", [2] = \"d\", x = \"f\", [-1] = \"a\", [1] = \"b\",\n"
        "//%     [9007199254740993] = \"e\" }\n";
    struct text source = {0};
    text_printf(&source, "%s//%% for k, v in pairs(t) do\n$(k) $(v)\n//%% end\n", table);
    expect(source.bytes, walked);
    source.length = 0;
    text_printf(&source, "%s//%% for k, v in next, t do\n$(k) $(v)\n//%% end\n", table);
    expect(source.bytes, walked);
    text_free(&source);
    expect("//% local t = { a = 1, b = 2, c = 3 }\n//% for k in pairs(t) do t.b = nil\n$(k)\n//% end\n", "a\nc\n");
    expect("//% local t = { }\n//% if next(t) == nil then\nempty\n//% end\n", "empty\n");
    expect("//% for k in pairs({ [true] = 1 }) do end\n",
           "error: templates/a.hip:1: expected numbers and strings as keys of a table that is walked, got a boolean: "
           "the order "
           "would change from run to run\n//% for k in pairs({ [true] = 1 }) do end");
}

Test(template, addresses_do_not_reach_the_text) {
    expect("//% local s = tostring({ })\n",
           "error: templates/a.hip:1: tostring: expected a string, a number, a boolean or nil, got "
           "a table: its address would change from run to run\n//% local s = tostring({ })");
    expect("//% local s = string.format(\"%s\", ipairs)\n",
           "error: templates/a.hip:1: string.format: expected a string, a number, a boolean or nil as argument 2, got "
           "a function: "
           "its address would change from run to run\n//% local s = string.format(\"%s\", ipairs)");
    expect("//% local s = (\"%p\"):format(\"x\")\n",
           "error: templates/a.hip:1: string.format: expected no '%p': an address changes from run to run\n"
           "//% local s = (\"%p\"):format(\"x\")");
    expect("//% local s = string.format(\"%5.1f|%%p|%s|%s|%d\", 1.25, true, nil, 3)\n$(s)\n", "  1.2|%p|true|nil|3\n");
    expect("//% local s = string.format(\"%d\", \"x\")\n",
           "error: templates/a.hip:1: bad argument #2 to 'format' (number expected, got string)\n"
           "//% local s = string.format(\"%d\", \"x\")");
}

Test(template, endless_loops_end) {
    WITH(engine, {"a.hip", "x\n//% while true do end\n"}, {"b.hip", "//% while true do\nmore\n//% end\n"},
         {"c.hip", "//% local t = { }\n//% while true do t[#t + 1] = { } end\n"},
         {"d.hip", "//% local function f() return 1 + f() end\n//% f()\n"}, {"e.hip", "fine\n"});
    template_engine_limit(engine, 2000000, (size_t)16 << 20);
    expect_render(engine, "a.hip",
                  "error: templates/a.hip:2: expected an end within 2000000 steps, got none; is there a loop that "
                  "never ends?\n//% while true do end");
    expect_render(engine, "c.hip",
                  "error: templates/c.hip:2: expected at most 16777216 bytes of memory, got more; is there a table "
                  "that grows for ever?\n//% while true do t[#t + 1] = { } end");
    char *got = render(engine, "d.hip");
    cr_assert(!strncmp(got, "error: templates/d.hip:1: ", 26), "%s", got);
    free(got);
    template_engine_limit(engine, 100000000, (size_t)16 << 20);
    got = render(engine, "b.hip");
    cr_assert(strstr(got, "error: templates/b.hip:2: expected at most 67108864 bytes of text, got more"), "%.200s",
              got);
    free(got);
    expect_render(engine, "e.hip", "fine\n"); /* each run has all its steps */
    template_engine_free(engine);
}

/* One call is one instruction of Lua, and must not last for ever. */
Test(template, one_call_ends_too) {
    static const char *const wrong[] = {
        "(\"a\"):rep(100):find((\".-\"):rep(20) .. \"b\")",
        "string.match((\"a\"):rep(3000), \".-.-.-b\")",
        "(\"a\"):rep(100000):gsub(\"a*b\", \"\")",
        "(\"a\"):rep(300):gmatch(\"%b()[]+]*[^]-]*x?\")",
        "(\"x\"):rep(6e7):find(\"^(x*)%1$\")",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char source[128], expected[400];
        snprintf(source, sizeof source, "//%% local s = %s\n", wrong[i]);
        snprintf(expected, sizeof expected,
                 "error: templates/a.hip:1: expected to match a pattern or repeat a string within what is left of "
                 "100000000 steps, got more; is the pattern simple, and the string short?\n//%% local s = %s",
                 wrong[i]);
        expect(source, expected);
    }
    expect("//% local s = (\"\"):rep(1 << 62)\n[$(s)]\n", "[]\n");
    expect("//% local s = (\"ab\"):rep(3, \"-\")\n$(s)\n", "ab-ab-ab\n");
    expect("//% local a, b = (\"head_dim = 64\"):match(\"^([%w_]+)%s*=%s*(%d+)$\")\n$(a) $(b)\n", "head_dim 64\n");
    expect("//% local s = (\"a+b-c\"):gsub(\"[+-]\", { [\"+\"] = \"p\", [\"-\"] = \"m\" })\n$(s)\n", "apbmc\n");
    expect("//% for word in (\"x y z\"):gmatch(\"%S+\") do\n$(word)\n//% end\n", "x\ny\nz\n");
}

/* Every allocation of Lua is refused once in some round: each round gives the text or an error, and leaks nothing. */
Test(template, memory_may_end_anywhere) {
    int rendered = 0, refused = 0;
    for (size_t limit = 0; limit < 120000; limit += 211) {
        WITH(engine,
             {"a.hip", "//% local t = load(\"t.lua\")\n//% include(\"b.hip\")\n"
                       "//% for k, v in pairs(t) do\n$(k) $(v.x)\n//% end\n$(nothing)\n"},
             {"b.hip", "//% local function f(x)\n$(x)\n//% end\n//% f(1) f((\"long\"):rep(100))\n"},
             {"t.lua", "return { a = { x = 1 }, b = { x = string.format('%d', 2) } }\n"});
        struct text out = {0};
        struct error error = {0};
        template_engine_limit(engine, 100000, limit);
        cr_assert_not(template_render(engine, "a.hip", NULL, NULL, &out, &error));
        if (strstr(error.text, "undefined name 'nothing'"))
            rendered++;
        else {
            refused++;
            cr_assert(strstr(error.text, "of memory"), "%s", error.text);
        }
        template_engine_limit(engine, 100000, (size_t)16 << 20);
        cr_assert_not(template_render(engine, "a.hip", NULL, NULL, &out, &error));
        cr_assert(strstr(error.text, "undefined name 'nothing'"), "%s", error.text);
        text_free(&out);
        template_engine_free(engine);
    }
    cr_assert(rendered > 10 && refused > 10, "%d rendered, %d refused", rendered, refused);
}

Test(template, steps_are_counted_anew_for_each_run) {
    WITH(engine, {"a.hip", "//% for i = 1, 100000 do end\n"});
    template_engine_limit(engine, 150000, (size_t)16 << 20);
    for (int i = 0; i < 5; i++)
        expect_render(engine, "a.hip", "");
    template_engine_free(engine);
}

/* ---- Speed and robustness ---- */

Test(template, five_hundred_renders_take_well_under_a_second) {
    struct text source = {0};
    for (int i = 0; i < 100; i++)
        text_printf(
            &source,
            "//%% local v%d = %d * 2\n//%% if v%d > 3 then\n    float x$$(%d) = f($(v%d), $(v%d + 1));\n//%% end\n"
            "    // a comment of some length that stands between two lines of code\n    y += x;\n",
            i, i, i, i, i, i);
    const char *pairs[][2] = {{"a.hip", source.bytes}};
    struct template_engine *engine = engine_with(pairs, 1);
    struct text out = {0};
    struct error error;
    clock_t begin = clock();
    for (int i = 0; i < 500; i++) {
        out.length = 0;
        cr_assert(template_render(engine, "a.hip", NULL, NULL, &out, &error), "%s", error.text);
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_log_info("500 renders of 600 lines: %.3f s of CPU time", seconds);
    cr_assert_lt(seconds, 1.0);
    text_free(&source);
    text_free(&out);
    template_engine_free(engine);
}

static unsigned next_random(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Changed, dropped, doubled and swapped bytes of a template that uses everything must give text or an error, never a
 * crash. */
Test(template, mutations_never_crash) {
    const char *seed_text = "//% local D, t = 64, { a = { 1, 2 }, s = \"x\" }\n"
                            "//% local function twice(x)\n"
                            "    f($(x), $(t.a[1] + D // 2), $$(y));\n"
                            "//% end\n"
                            "//% for i = 0, 3 do\n"
                            "    v[$(i)] = $(i * 2 - 1.5);\n"
                            "//%     if i % 2 == 0 then twice(i) else emit(\"e\" .. i) end\n"
                            "//% end\n"
                            "//% for k, v in pairs(t.a) do\n$(k) $(v)\n//% end\n"
                            "//% include(\"b.hip\")\n"
                            "//% local u = load(\"t.lua\")\n$(u.x[1]) --[[ ]] \"'\n"
                            "//% local s = [=[ ]] ]=] .. tostring(nil) .. string.format(\"%d\", 3) -- end\n$(s)\n";
    const char *alphabet = "$()/%[]=-\"'\\\n {}.,;:#~<>0129abxend";
    unsigned state = 20251129;
    int rendered = 0, refused = 0;
    for (int round = 0; round < 1500; round++) {
        char mutated[1024];
        size_t length = strlen(seed_text);
        memcpy(mutated, seed_text, length + 1);
        for (unsigned edits = 1 + next_random(&state) % 4; edits; edits--) {
            size_t at = next_random(&state) % length;
            switch (next_random(&state) % 4) {
            case 0:
                mutated[at] = alphabet[next_random(&state) % strlen(alphabet)];
                break;
            case 1:
                memmove(mutated + at, mutated + at + 1, length - at - 1);
                length--;
                break;
            case 2:
                memmove(mutated + at + 1, mutated + at, length - at);
                mutated[at] = alphabet[next_random(&state) % strlen(alphabet)];
                length++;
                break;
            default:
                mutated[at] = (char)next_random(&state);
            }
        }
        const struct template_file fuzzed[] = {
            {"a.hip", mutated, length}, {"b.hip", "b\n", 2}, {"t.lua", "return { x = { 5 } }", 20}};
        struct error error = {0};
        struct text out = {0};
        struct template_engine *engine = template_engine_new_from(fuzzed, 3, NULL, &error);
        cr_assert_not_null(engine);
        template_engine_limit(engine, 1000000, (size_t)8 << 20);
        if (template_render(engine, "a.hip", NULL, NULL, &out, &error))
            rendered++;
        else {
            refused++;
            cr_assert_gt(strlen(error.text), 20);
        }
        text_free(&out);
        template_engine_free(engine);
    }
    cr_assert(rendered > 50 && refused > 50, "%d rendered, %d refused", rendered, refused);
}
