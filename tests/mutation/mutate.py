"""Makes mutants of an emitted kernel: its text with one thing altered in each.

A mutant is named by what it alters, never by a line number, so that its name outlives edits elsewhere:

    FUNCTION | STATEMENT | MUTATION

STATEMENT is the statement's text, of `if` and `for` the text up to the body; a number (#2) follows the mutation where one
statement, or several that read alike, have it more than once. Mutants come in the order of the text, the same ones each time.

Left alone: comments; what only the chip's compiler sees (branches of #if without FMHA_EMULATED); declarations of types, of parameters and
of the sizes of arrays; functions that the kernel does not reach; and what has no meaning by itself: scheduling hints, `#pragma`,
statements that only silence a warning.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"(?P<number>0x[0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?|\d+[uUlL]*)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r'|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])"
)
SPACE = re.compile(r"\s*")

OPERATORS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"],
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "|=": ["&=", "="], "++": ["--"],
}  # fmt: skip
TYPES = {"element", "u32", "u64", "i64", "int", "float", "char", "bool", "void", "unsigned", "const", "struct", "accumulator", "auto",
         "u32x2", "u32x4", "u32x8", "element2", "constant", "fmha_operand", "fmha_keys", "fmha_rows", "fmha_forward_arguments"}  # fmt: skip
CASTS = {"u32", "i64", "int"}
CONVERSIONS = {"FMHA_F32_TO_F16", "FMHA_F16_TO_F32", "fmha_to_element", "fmha_from_element"}  # the language makes the same ones
HINTS = {"FMHA_SCHEDULE_FENCE", "FMHA_OPAQUE", "FMHA_OPAQUE_UNIFORM"}
UNLIKE = {"keys", "rows", "u32", "float", "int", "fmha_operand"}  # first arguments that have no like
COMMUTATIVE = {"fmha_min", "fmha_max", "__builtin_fmaxf", "__builtin_fminf"}

# Words that play each other's part. A replacement is made only where the function knows the other word.
PARTNERS = [
    ("row", "column"), ("low", "high"), ("even", "odd"), ("first", "second"), ("i", "j"), ("j", "t"), ("i", "t"), ("thread", "lane"),
    ("group", "lane"), ("wave", "lane"), ("key", "query"), ("query", "head"), ("batch", "head"), ("tile", "tiles"), ("tiles", "full"),
    ("full", "unmasked"), ("seen", "seen_by_all"), ("present", "key"), ("m", "l"), ("maximum", "reference"), ("seqlen_q", "seqlen_k"),
    ("heads_q", "heads_k"), ("first_query", "last_query"), ("low", "sum"), ("key_head", "head"), ("fmha_min", "fmha_max"),
    ("__builtin_fmaxf", "__builtin_fminf"), ("fmha_natural", "fmha_row"), ("fmha_k_row", "fmha_v_row"), ("fmha_k_column", "fmha_v_column"),
    ("fmha_k_shares", "fmha_v_shares"), ("fmha_group_max", "fmha_group_sum"), ("fmha_row_max", "fmha_row_sum"), ("other", "own"),
]  # fmt: skip
FUNCTIONS = re.compile(r"fmha_|__builtin_")


class Trouble(Exception):
    """The text is not what this reads."""


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass
class Mutant:
    name: str
    kind: str
    function: str
    statement: str
    start: int
    end: int
    replacement: str

    def apply(self, text):
        return text[: self.start] + self.replacement + text[self.end :]


def _is_compiled(condition, defined):
    """Of an #if on the emulated device, whose compiler is new. A name that is not defined counts as 0, as in C."""
    value = re.sub(r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)", lambda match: str(int((match[1] or match[2]) in defined)), condition)
    value = re.sub(r"[A-Za-z_]\w*", lambda match: "99" if match[0] == "__clang_major__" else "0", value)
    value = re.sub(r"!(?!=)", " not ", value.replace("&&", " and ").replace("||", " or "))
    if not re.fullmatch(r"(?:\s|\d|[()<>=!]|and|or|not)+", value):
        raise Trouble(f"#if {condition}: expected names, numbers, comparisons and && || ! alone; teach tests/mutation/mutate.py")
    return bool(eval(value))  # noqa: S307, digits and operators alone


def _blank_out(text):
    """The text with spaces for comments, directives and branches that are not compiled."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    defined = {"FMHA_EMULATED", "__global__", "__device__", "__shared__"}
    lines, active = [], [True]
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)\s*(.*?)\s*$", line)
        if not directive:
            lines.append(line if all(active) else " " * len(line))
            continue
        word, rest = directive.groups()
        if word == "ifdef":
            active.append(rest in defined)
        elif word == "ifndef":
            active.append(rest not in defined)
        elif word == "if":
            active.append(_is_compiled(rest, defined))
        elif word == "else":
            active[-1] = not active[-1]
        elif word == "endif":
            active.pop()
        elif word == "elif":
            raise Trouble("#elif: expected #if, #else and #endif alone; teach tests/mutation/mutate.py")
        lines.append(" " * len(line))
    return "\n".join(lines)


def _tokens(text):
    tokens, at = [], SPACE.match(text).end()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            line = text.count("\n", 0, at) + 1
            raise Trouble(f"line {line}: expected a token of C, got {text[at:at + 20]!r}")
        tokens.append(Token(match.lastgroup, match[0], match.start(), match.end()))
        at = SPACE.match(text, match.end()).end()
    return tokens


class _Reader:
    def __init__(self, text, kernel):
        self.text, self.kernel = text, kernel
        self.tokens = _tokens(_blank_out(text))
        self.closes = self._match_brackets()
        self.mutants, self.names, self.in_loop = [], {}, False
        self.uses = {}
        self.mask = "0xffffe000u" if "_Float16 element;" in text else "0xffff0000u"

    def _match_brackets(self):
        closes, open_ = {}, []
        for index, token in enumerate(self.tokens):
            if token.text in ("(", "[", "{"):
                open_.append(index)
            elif token.text in (")", "]", "}"):
                closes[open_.pop()] = index
        return closes

    def read(self):
        index = 0
        while index < len(self.tokens):
            if self.tokens[index].text == "{":
                end = self.closes[index]
                if self.tokens[index - 1].text == ")":
                    self._function(index, end)
                index = end
            index += 1
        reached, left = set(), ["kernel"]
        while left:
            function = left.pop()
            if function not in reached:
                reached.add(function)
                left += [word for word in self.uses.get(function, ()) if word in self.uses]
        return [mutant for mutant in self.mutants if mutant.function in reached]

    def _function(self, begin, end):
        parameters = begin - 1
        depth = 0
        while True:
            depth += {")": 1, "(": -1}.get(self.tokens[parameters].text, 0)
            if depth == 0:
                break
            parameters -= 1
        name = self.tokens[parameters - 1].text
        self.function = "kernel" if name == self.kernel else name
        words = self.tokens[parameters:end]
        self.uses[self.function] = {token.text for token in self.tokens[begin:end] if token.kind == "word"}
        self.plain = {t.text for b, t in zip(words, words[1:]) if t.kind == "word" and b.text not in (".", "->")}
        self.members = {t.text for b, t in zip(self.tokens, self.tokens[1:]) if t.kind == "word" and b.text in (".", "->")}
        self._statements(begin + 1, end)

    def _statements(self, index, end):
        while index < end:
            index = self._statement(index)

    def _source(self, begin, end):
        return " ".join(self.text[self.tokens[begin].start : self.tokens[end - 1].end].split())

    def _simple_end(self, index):
        """The index after the ';' of a simple statement."""
        while self.tokens[index].text != ";":
            index = self.closes.get(index, index) + 1
        return index + 1

    def _statement_end(self, index):
        """The index after the statement."""
        word = self.tokens[index].text
        if word == "{":
            return self.closes[index] + 1
        if word in ("if", "for", "while"):
            index = self._statement_end(self.closes[index + 1] + 1)
            if word == "if" and self.tokens[index].text == "else":
                index = self._statement_end(index + 1)
            return index
        return self._simple_end(index)

    def _is_hint(self, index):
        word = self.tokens[index].text
        if word == "if":
            return self._is_hint(self.closes[index + 1] + 1)
        return word in HINTS or (word == "(" and self.tokens[index + 1].text == "void" and self.tokens[index + 2].text == ")")

    def _statement(self, index):
        word = self.tokens[index].text
        if self._is_hint(index):
            return self._statement_end(index)
        if word == "{":
            self._statements(index + 1, self.closes[index])
            return self.closes[index] + 1
        if word == "if":
            return self._if(index)
        if word == "for":
            return self._for(index)
        if word in ("while", "do", "switch"):
            raise Trouble(f"{self.function}: expected no '{word}' in a kernel; teach tests/mutation/mutate.py")
        end = self._simple_end(index)
        self.statement = self._source(index, end)
        if word == "typedef":
            return end
        if word == "return":
            if end > index + 2:
                self._add("zero", "value to {}", index + 1, end - 1, "{}")
        elif self._is_declaration(index, end):
            self._initializers(index, end)
            self._expressions(index, end, declaration=True)
            return end
        else:
            self._add("delete", "delete", index, end, ";")
        self._expressions(index, end)
        return end

    def _if(self, index):
        begin, end = index + 2, self.closes[index + 1]
        body = end + 1
        self.statement = self._source(index, body)
        self._condition(begin, end)
        self._add("force", "condition to true", begin, end, "true")
        self._add("force", "condition to false", begin, end, "false")
        self._expressions(begin, end)
        after = self._statement_end(body)
        self._statement(body)
        if self.tokens[after].text == "else":
            self._statement(after + 1)
            return self._statement_end(after + 1)
        return after

    def _for(self, index):
        begin, end = index + 2, self.closes[index + 1]
        self.statement = self._source(index, end + 1)
        first = self._simple_end(begin)
        second = self._simple_end(first)
        self._add("force", "no pass", first, second - 1, "false")
        self.in_loop = True
        if self._is_declaration(begin, first):
            self._expressions(begin, first, declaration=True)
        self._expressions(first, end)
        self.in_loop = False
        self._statement(end + 1)
        return self._statement_end(end + 1)

    def _is_declaration(self, begin, end):
        first, second = self.tokens[begin], self.tokens[begin + 1]
        return first.kind == "word" and (first.text in TYPES) and (second.kind == "word" or second.text == "*") and end > begin + 2

    def _initializers(self, begin, end):
        index = begin
        while index < end:
            if self.tokens[index].text == "=":
                last = index + 1
                while self.tokens[last].text not in (",", ";"):
                    last = self.closes.get(last, last) + 1
                if not re.fullmatch(r"\{?(0(\.0f)?(, )?)+\}?", self._source(index + 1, last)):
                    self._add("zero", f"{self._declared(index)} to {{}}", index + 1, last, "{}")
                index = last
            else:
                index = self.closes.get(index, index) + 1

    def _declared(self, index):
        index -= 1
        while self.tokens[index].kind != "word":
            index -= 1
        return self.tokens[index].text

    def _add(self, kind, mutation, begin, end, replacement):
        start, stop = self.tokens[begin].start, self.tokens[end - 1].end
        if self.text[start:stop] == replacement:
            return
        name = f"{self.function} | {self.statement} | {mutation}"
        self.names[name] = self.names.get(name, 0) + 1
        if self.names[name] > 1:
            name += f" #{self.names[name]}"
        self.mutants.append(Mutant(name, kind, self.function, self.statement, start, stop, replacement))

    def _condition(self, begin, end):
        self._add("negate", "condition negated", begin, end, f"!({self.text[self.tokens[begin].start:self.tokens[end - 1].end]})")

    # Everything within the expressions of tokens begin to end.

    def _expressions(self, begin, end, declaration=False):
        initializer = not declaration
        index = begin
        while index < end:
            token = self.tokens[index]
            if declaration and token.text == "=":
                initializer = True
            if declaration and not initializer and token.text == "[":
                index = self.closes[index] + 1  # the size of an array
                continue
            if token.kind == "number":
                self._number(index)
            elif token.kind == "word" and (initializer or declaration):
                if initializer:
                    self._word(index)
                elif token.text not in TYPES and self.tokens[index + 1].text == "(":
                    self._word(index)
            elif token.kind == "sign":
                if declaration and token.text == "," and self._is_between_declarators(begin, index):
                    initializer = False
                elif initializer:
                    self._sign(index, begin, end)
            index += 1

    def _is_between_declarators(self, begin, index):
        at = begin
        while at < index:
            at = self.closes.get(at, at) + 1
        return at == index

    def _number(self, index):
        text = self.tokens[index].text
        if re.fullmatch(r"0x[0-9a-fA-F]+[uUlL]*|\d+[uUlL]*", text):
            digits = re.match(r"0x[0-9a-fA-F]+|\d+", text)[0]
            suffix = text[len(digits) :]
            value = int(digits, 0)
            show = (lambda n: f"{n:#010x}") if digits.startswith("0x") else str
            for other in (value + 1, value - 1):
                if other >= 0:
                    self._add("integer", f"{text} to {show(other)}{suffix}", index, index + 1, show(other) + suffix)
            return
        value = float(text.rstrip("fF"))
        others = {0.0: ["1.0f"], 1.0: ["0.0f", "2.0f"]}.get(value)
        for other in others or [f"{value * 1.001:.9g}f", f"{value * 0.999:.9g}f"]:
            self._add("float", f"{text} to {other}", index, index + 1, other)

    def _word(self, index):
        token, before, after = self.tokens[index], self.tokens[index - 1].text, self.tokens[index + 1].text
        word = token.text
        if word in ("true", "false"):
            other = "false" if word == "true" else "true"
            self._add("flag", f"{word} to {other}", index, index + 1, other)
            return
        member = before in (".", "->")
        if after == "(" and not member:
            self._call(index)
        for other in [] if self.in_loop and len(word) == 1 else self._partners(word, member):
            self._add("identifier", f"{word} to {other}", index, index + 1, other)

    def _partners(self, word, member):
        others = []
        for pair in PARTNERS:
            if word in pair:
                others.append(pair[1 - pair.index(word)])
        if member or word in ("k", "v"):
            others += [{"k": "v", "v": "k"}[word]] if word in ("k", "v") else []
        match = re.fullmatch(r"(k|v)_(stride|lds|offset|next|tile)", word)
        if match:
            others.append(("v_" if match[1] == "k" else "k_") + match[2])
        match = re.fullmatch(r"stride_([qkvo])_(batch|head|row)", word)
        if match:
            tensor, axis = match.groups()
            others += [f"stride_{tensor}_{other}" for other in ("batch", "head", "row") if other != axis]
            others.append(f"stride_{ {'q': 'o', 'o': 'q', 'k': 'v', 'v': 'k'}[tensor] }_{axis}")
        known = self.members if member else self.plain
        return [other for other in others if other in known or (not member and FUNCTIONS.match(other))]

    def _call(self, index):
        word, begin, end = self.tokens[index].text, index + 2, self.closes[index + 1]
        arguments, first = [], begin
        at = begin
        while at < end:
            if self.tokens[at].text == ",":
                arguments.append((first, at))
                first = at + 1
            at = self.closes.get(at, at) + 1
        if first < end:
            arguments.append((first, end))
        text = [self.text[self.tokens[a].start : self.tokens[b - 1].end] for a, b in arguments]
        if word in ("fmha_to_element", "fmha_pack", "FMHA_F32_TO_F16"):
            truncated = [f"__builtin_bit_cast(float, __builtin_bit_cast(u32, (float)({one})) & {self.mask})" for one in text]
            self._add("truncate", f"{word} of truncated values", index, end + 1, f"{word}({', '.join(truncated)})")
        if len(arguments) == 1 and word != "FMHA_ARGUMENTS_AGAIN" and word not in CONVERSIONS:
            self._add("call", f"without {word}", index, end + 1, f"({text[0]})")
        if len(arguments) > 1 and word not in COMMUTATIVE and text[0] != text[1] and text[0] not in UNLIKE:
            begin, end = arguments[0][0], arguments[1][1]
            self._add("arguments", f"first arguments of {word} swapped", begin, end, f"{text[1]}, {text[0]}")

    def _is_unary(self, index):
        before = self.tokens[index - 1]
        if before.text in ("return",) or (before.kind == "sign" and before.text not in (")", "]")):
            return True
        return before.text == ")" and self._is_cast(index - 1)

    def _is_cast(self, close):
        """Whether the ')' ends a cast to a type."""
        index = close - 1
        while self.tokens[index].text == "*" or self.tokens[index].text in TYPES:
            index -= 1
        return index < close - 1 and self.tokens[index].text == "("

    def _sign(self, index, begin, end):
        sign, before = self.tokens[index].text, self.tokens[index - 1]
        if sign == "(":
            if self.tokens[index + 1].text in CASTS and self.tokens[index + 2].text == ")":
                self._add("cast", f"without ({self.tokens[index + 1].text})", index, index + 3, "")
            return
        if sign == "?":
            self._ternary(index, begin, end)
            return
        if sign == "!":
            self._add("operator", "without '!'", index, index + 1, "")
            return
        if sign in ("-", "*", "&", "+") and (before.text in TYPES or self._is_unary(index)):
            if sign == "-":
                self._add("operator", "without unary '-'", index, index + 1, "")
            return
        for other in OPERATORS.get(sign, [])[: 1 if self.in_loop else 2]:
            self._add("operator", f"'{sign}' to '{other}'", index, index + 1, other)
        if sign in ("&&", "||"):
            left, right = self._left(index, begin), self._right(index, end)
            self._add("operand", f"without what is left of '{sign}'", left, index + 1, "")
            self._add("operand", f"without what is right of '{sign}'", index, right, "")

    def _left(self, index, begin):
        """Where the operand left of a logical sign, or the condition of a '?', begins."""
        stops = ("=", ",", "(", "return", "&&", "||", "?", ":", "|=", ";", "[", "{")
        opens = {close: open_ for open_, close in self.closes.items()}
        if self.tokens[index].text == "?":
            stops = tuple(stop for stop in stops if stop not in ("&&", "||"))
        at = index - 1
        while at >= begin and self.tokens[at].text not in stops:
            at = opens.get(at, at) - 1
        return at + 1

    def _right(self, index, end, stops=("&&", "||", ")", "?", ":", ";", ",")):
        at = index + 1
        while at < end and self.tokens[at].text not in stops:
            at = self.closes.get(at, at) + 1
        return at

    def _ternary(self, index, begin, end):
        left = self._left(index, begin)
        colon = self._right(index, end, (":",))
        last = self._right(colon, end, (")", ":", ";", ","))
        text = lambda a, b: self.text[self.tokens[a].start : self.tokens[b - 1].end]
        self._condition(left, index)
        self._add("force", "ternary to its first side", left, last, text(index + 1, colon))
        self._add("force", "ternary to its second side", left, last, text(colon + 1, last))


def mutants(text, kernel):
    """All mutants of the text of a kernel of that name."""
    return _Reader(text, kernel).read()


def outline(text):
    """The text without what a head dimension or a tile changes."""
    return " ".join("0" if token.kind == "number" else token.text for token in _tokens(_blank_out(text)))


def outlines(text, kernel):
    """Of each function its text without what a head dimension or a tile changes, {name: outline}: to tell those that two kernels
    share."""
    reader = _Reader(text, kernel)
    bodies = {}

    def note(begin, end):
        bodies[reader.function] = outline(text[reader.tokens[begin].start : reader.tokens[end - 1].end])

    reader._statements = note
    reader.read()
    return bodies
