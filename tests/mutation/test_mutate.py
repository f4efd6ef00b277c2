"""What is mutated, how mutants are named, and what is left alone."""

import unittest

import mutate

TEXT = """\
/* A comment with a + b. */
#ifdef FMHA_EMULATED
#define FMHA_KERNEL(threads) extern "C" __global__
#else
#define FMHA_KERNEL(threads) other
#endif
typedef _Float16 element;
#ifndef FMHA_EMULATED
static int unseen(int a)
{
    return a + 1;
}
#endif
struct keys {
    int row[2];
};

FMHA_KERNEL(32) void fmha_forward_x(int n, float *to)
{
BODY
}
"""


def names(body):
    text = TEXT.replace("BODY", body)
    return [(mutant.name, mutant.apply(text)) for mutant in mutate.mutants(text, "fmha_forward_x")]


def mutated(body):
    """{MUTATION: what the body becomes}"""
    head, tail = TEXT.split("BODY")
    return {name.rsplit(" | ", 1)[1]: text[len(head) : -len(tail)] for name, text in names(body)}


class Mutate(unittest.TestCase):
    def test_statement_is_deleted_and_each_sign_and_number_altered(self):
        self.assertEqual(
            mutated("n = n * 3 - 0x10;"),
            {
                "delete": ";",
                "'*' to '/'": "n = n / 3 - 0x10;",
                "3 to 4": "n = n * 4 - 0x10;",
                "3 to 2": "n = n * 2 - 0x10;",
                "'-' to '+'": "n = n * 3 + 0x10;",
                "0x10 to 0x00000011": "n = n * 3 - 0x00000011;",
                "0x10 to 0x0000000f": "n = n * 3 - 0x0000000f;",
            },
        )

    def test_names_tell_function_statement_and_ordinal(self):
        self.assertEqual(
            [name for name, _ in names("n = n\n  + n + n;")],
            [
                "kernel | n = n + n + n; | delete",
                "kernel | n = n + n + n; | '+' to '-'",
                "kernel | n = n + n + n; | '+' to '-' #2",
            ],
        )

    def test_condition_operands_and_branches(self):
        self.assertEqual(
            mutated("if (n > 2 && n != m) continue;"),
            {
                "condition negated": "if (!(n > 2 && n != m)) continue;",
                "condition to true": "if (true) continue;",
                "condition to false": "if (false) continue;",
                "'>' to '>='": "if (n >= 2 && n != m) continue;",
                "'>' to '<'": "if (n < 2 && n != m) continue;",
                "2 to 3": "if (n > 3 && n != m) continue;",
                "2 to 1": "if (n > 1 && n != m) continue;",
                "'&&' to '||'": "if (n > 2 || n != m) continue;",
                "without what is left of '&&'": "if ( n != m) continue;",
                "without what is right of '&&'": "if (n > 2 ) continue;",
                "'!=' to '=='": "if (n > 2 && n == m) continue;",
                "delete": "if (n > 2 && n != m) ;",
            },
        )

    def test_loop(self):
        self.assertEqual(
            mutated("for (int i = 0; i < 4; ++i) f(i);"),
            {
                "no pass": "for (int i = 0; false; ++i) f(i);",
                "0 to 1": "for (int i = 1; i < 4; ++i) f(i);",
                "'<' to '<='": "for (int i = 0; i <= 4; ++i) f(i);",
                "4 to 5": "for (int i = 0; i < 5; ++i) f(i);",
                "4 to 3": "for (int i = 0; i < 3; ++i) f(i);",
                "'++' to '--'": "for (int i = 0; i < 4; --i) f(i);",
                "delete": "for (int i = 0; i < 4; ++i) ;",
                "without f": "for (int i = 0; i < 4; ++i) (i);",
            },
        )

    def test_declaration_keeps_sizes_and_loses_values(self):
        self.assertEqual(
            mutated("float a[2], b = -1.0f;"),
            {
                "b to {}": "float a[2], b = {};",
                "without unary '-'": "float a[2], b = 1.0f;",
                "1.0f to 0.0f": "float a[2], b = -0.0f;",
                "1.0f to 2.0f": "float a[2], b = -2.0f;",
            },
        )

    def test_ternary_call_and_conversion(self):
        self.assertEqual(
            mutated("to[0] = n == low ? fmha_pack(low, high) : (int)n;"),
            {
                "delete": ";",
                "0 to 1": "to[1] = n == low ? fmha_pack(low, high) : (int)n;",
                "'==' to '!='": "to[0] = n != low ? fmha_pack(low, high) : (int)n;",
                "low to high": "to[0] = n == high ? fmha_pack(low, high) : (int)n;",
                "condition negated": "to[0] = !(n == low) ? fmha_pack(low, high) : (int)n;",
                "ternary to its first side": "to[0] = fmha_pack(low, high);",
                "ternary to its second side": "to[0] = (int)n;",
                "fmha_pack of truncated values": "to[0] = n == low ? fmha_pack("
                "__builtin_bit_cast(float, __builtin_bit_cast(u32, (float)(low)) & 0xffffe000u), "
                "__builtin_bit_cast(float, __builtin_bit_cast(u32, (float)(high)) & 0xffffe000u)) : (int)n;",
                "first arguments of fmha_pack swapped": "to[0] = n == low ? fmha_pack(high, low) : (int)n;",
                "low to high #2": "to[0] = n == low ? fmha_pack(high, high) : (int)n;",
                "high to low": "to[0] = n == low ? fmha_pack(low, low) : (int)n;",
                "without (int)": "to[0] = n == low ? fmha_pack(low, high) : n;",
            },
        )

    def test_hints_types_and_silenced_warnings_are_left_alone(self):
        self.assertEqual(names("FMHA_SCHEDULE_FENCE(); (void)n; typedef int word; if (n) FMHA_OPAQUE(n); const float *from;"), [])

    def test_what_cannot_be_read_is_an_error(self):
        with self.assertRaisesRegex(mutate.Trouble, "kernel: expected no 'while' in a kernel; teach tests/mutation/mutate.py"):
            names("while (n) f(n);")
        with self.assertRaisesRegex(mutate.Trouble, r"#if N \+ 1: expected names, numbers, comparisons and && \|\| ! alone; teach"):
            names("\n#if N + 1\n#endif\n")

    def test_branches_of_the_preprocessor(self):
        for condition, compiled in (
            ("defined(FMHA_EMULATED) && __clang_major__ >= 19", True),
            ("!defined(FMHA_EMULATED)", False),
            ("defined(A) || (B != 0)", False),
            ("defined(A) && A != 1", False),
        ):
            self.assertEqual(bool(names(f"\n#if {condition}\nf(n);\n#endif\n")), compiled, condition)
            self.assertEqual(bool(names(f"\n#if {condition}\n#else\nf(n);\n#endif\n")), not compiled, condition)


if __name__ == "__main__":
    unittest.main()
