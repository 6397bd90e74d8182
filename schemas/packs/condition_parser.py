"""The parser of conditions: from the text of a `when` to the tree evaluated on events.

    or    = and { "or" and }
    and   = not { "and" not }
    not   = "not" not | "(" or ")" | field operator value | field "in" "[" value, … "]"
    value = "text" | number | true | false | null

Every error names its column and, where there is a likely intention, what to write.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NoReturn, cast

from schemas.values import unicode_text
from schemas.values.text_form import normalized
from schemas.values.unicode_text import quoted

Scalar = str | int | float | bool | None
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in"]

LONGEST = 1000
"""The most characters of a condition."""
DEEPEST = 20
"""How deep parentheses and `not` may nest: reading and evaluating recurse, and a condition
may be a model's or a stranger's."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field against one value, or against a list of them for `in`."""

    field: str
    operator: Operator
    values: tuple[Scalar, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """True when its part is false."""

    part: "Part"
    text: str


@dataclass(frozen=True, slots=True)
class Every:
    """True when all parts are: `and`."""

    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """True when at least one part is: `or`."""

    parts: tuple["Part", ...]


Part = Comparison | Not | Every | Some


@dataclass(frozen=True, slots=True)
class ParsedWhen:
    """A parsed condition."""

    text: str
    part: Part


class ConditionError(ValueError):
    """A text is no condition: what is wrong, the column (from 1), what to write instead."""

    def __init__(self, message: str, column: int, suggestion: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.suggestion = suggestion


# Agents that load one pack share its trees, and what is compiled of them by identity.
@lru_cache(maxsize=16_384)
def parse(text: str) -> ParsedWhen:
    """Parse a condition; equal texts give the same tree.

    Raises:
        ConditionError: the text is no condition.
    """
    text = normalized(text)
    if len(text) > LONGEST:
        raise ConditionError(f"is longer than {LONGEST} characters", LONGEST + 1)
    reader = _Reader(text, _tokens(text))
    part = reader.read_some(0)
    reader.finish()
    return ParsedWhen(text, part)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """One of the names in `_TOKEN`, or `end`."""
    text: str
    start: int
    """Characters before it."""

    @property
    def column(self) -> int:
        return self.start + 1

    @property
    def end(self) -> int:
        return self.start + len(self.text)


# Operators of other languages are tokens, too, so that the error can say what to write.
# `L` and `D` and no `\w` and `\d`, which follow the Unicode tables of each Python.
_TOKEN = r"""
      (?P<space>\s+)
    | (?P<string>"(?:[^"\\]|\\["\\])*")
    | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?![LD_.]))
    | (?P<word>[L_][LD_-]*(?:\.[LD_-]+)*)
    | (?P<operator>!=|<=|>=|==|=<|=>|<>|&&|\|\||[=<>≠≤≥])
    | (?P<mark>[()\[\],])
    """
"""`L` stands for letters and `D` for decimal digits."""

_OPERATORS = {
    "=": "=", "!=": "!=", "≠": "!=", "<": "<", "<=": "<=", "≤": "<=",
    ">": ">", ">=": ">=", "≥": ">=", "in": "in",
}  # fmt: skip
_CONSTANTS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
_KEYWORDS = ("and", "or", "not", "in", *_CONSTANTS)
# What other languages call these operators.
_INTENDED = {
    "==": "=",
    "=<": "<=",
    "=>": ">=",
    "<>": "!=",
    "&&": "and",
    "||": "or",
    "!": "not",
}


def _tokens(text: str) -> list[_Token]:
    """Cut a text into tokens, with an `end` after the last."""
    tokens = []
    start = 0
    grammar = _grammar(text.isascii())
    while start < len(text):
        found = grammar.match(text, start)
        if found is None:
            _refuse_character(text, start)
        token = _Token(str(found.lastgroup), found.group(), start)
        # Refused here and not by the grammar, so that the error can name what was meant.
        if token.text in _INTENDED:
            _refuse_operator(token.text, start)
        if token.kind != "space":
            tokens.append(token)
        start = found.end()
    return [*tokens, _Token("end", "", len(text))]


@cache
def _grammar(is_ascii: bool) -> re.Pattern[str]:
    letters = "A-Za-z" if is_ascii else unicode_text.ranges("w")
    digits = "0-9" if is_ascii else unicode_text.ranges("n")
    return re.compile(_TOKEN.replace("L", letters).replace("D", digits), re.VERBOSE)


def _refuse_character(text: str, start: int) -> NoReturn:
    character = text[start]
    if character == '"':
        raise ConditionError('the text has no closing "', start + 1, 'close it with "')
    if character == "'":
        raise ConditionError("' does not quote", start + 1, 'use double quotes: "…"')
    if character in _INTENDED:
        _refuse_operator(character, start)
    raise ConditionError(f"unexpected {quoted(character)}", start + 1)


def _refuse_operator(operator: str, start: int) -> NoReturn:
    intended = _INTENDED[operator]
    raise ConditionError(
        f"no operator {quoted(operator)}", start + 1, f"write {intended}"
    )


class _Reader:
    """A recursive-descent parser: one method for each line of the grammar."""

    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._next = 0

    def read_some(self, depth: int) -> Part:
        parts = [self._read_every(depth)]
        while self._accept("or"):
            parts.append(self._read_every(depth))
        # No node around a single part: conditions that mean the same shall have one tree.
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def finish(self) -> None:
        token = self._here
        if token.kind != "end":
            hint = token.text.lower()
            suggestion = (
                f"write {hint}" if hint in ("and", "or") else "join with and, or"
            )
            raise ConditionError(
                f"unexpected {quoted(token.text)}", token.column, suggestion
            )

    def _read_every(self, depth: int) -> Part:
        parts = [self._read_not(depth)]
        while self._accept("and"):
            parts.append(self._read_not(depth))
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _read_not(self, depth: int) -> Part:
        token = self._here
        # Every cycle of the grammar leads through here, so one check bounds the recursion.
        if depth > DEEPEST:
            raise ConditionError(f"is nested deeper than {DEEPEST}", token.column)
        if self._accept("not"):
            part = self._read_not(depth + 1)
            return Not(part, self._text[token.start : self._tokens[self._next - 1].end])
        if self._accept("("):
            part = self.read_some(depth + 1)
            self._expect(")")
            return part
        return self._read_comparison()

    def _read_comparison(self) -> Comparison:
        field = self._take()
        if field.kind != "word" or field.text in _KEYWORDS:
            found = quoted(field.text) if field.text else "the end"
            raise ConditionError(
                f"a field name must stand before {found}", field.column
            )
        operator = self._read_operator(field)
        values = (
            self._read_list() if operator == "in" else (self._read_value(operator),)
        )
        end = self._tokens[self._next - 1].end
        return Comparison(field.text, operator, values, self._text[field.start : end])

    def _read_operator(self, field: _Token) -> Operator:
        token = self._take()
        # `x not in […]` is Python and SQL, so it is a likely mistake.
        if token.text == "not":
            message = "`not` stands before the whole comparison"
            raise ConditionError(
                message, token.column, f"write not {field.text} in […]"
            )
        if token.text not in _OPERATORS:
            raise ConditionError(
                f"an operator must follow {quoted(field.text)}",
                token.column,
                f"for instance {field.text} = true",
            )
        return cast(Operator, _OPERATORS[token.text])

    def _read_list(self) -> tuple[Scalar, ...]:
        self._expect("[")
        values = [self._read_value("in")]
        while self._accept(","):
            values.append(self._read_value("in"))
        self._expect("]")
        return tuple(values)

    def _read_value(self, operator: Operator) -> Scalar:
        token = self._take()
        if token.text in _CONSTANTS:
            if operator not in ("=", "!=", "in"):
                message = f"{token.text} has no order"
                raise ConditionError(message, token.column, "use = or !=")
            return _CONSTANTS[token.text]
        if token.kind == "string":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind == "number":
            # Whole numbers stay ints: a float could not tell large ids apart.
            return float(token.text) if "." in token.text else int(token.text)
        suggestion = f'quote it: "{token.text}"' if token.kind == "word" else ""
        found = quoted(token.text) if token.text else "the end"
        raise ConditionError(
            f"a value must stand instead of {found}", token.column, suggestion
        )

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._here
        # The end stays, so that there is always a token to look at.
        self._next += token.kind != "end"
        return token

    def _accept(self, text: str) -> bool:
        accepted = self._here.text == text
        self._next += accepted
        return accepted

    def _expect(self, text: str) -> None:
        token = self._here
        if not self._accept(text):
            found = quoted(token.text) if token.text else "the end"
            raise ConditionError(
                f"{quoted(text)} must stand before {found}", token.column
            )
