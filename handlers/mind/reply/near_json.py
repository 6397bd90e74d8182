"""Reading JSON as models write it: a little wrong, and never guessed.

Beyond JSON it takes what has one meaning only: a comma before the end, single or curly
quotes, names without quotes, comments, Python's words, line breaks in a text. What is cut
off, said twice, no number, or half a character is refused.
"""

import re
from collections.abc import Callable, Iterable, Mapping

VERSION = 1
"""Raise it when a text is read differently: `replay verify --reread` shows where."""

DEEPEST = 32
"""How many objects and lists may stand in one another."""

_LONGEST_NUMBER = 32

_CLOSING: Mapping[str, str] = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201c\u201d",
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
}
"""What ends a text, by what begins it."""

_PLAIN = {
    closing: re.compile(rf"[^\\{closing}\x00-\x1f\ud800-\udfff]+")
    for closing in sorted(set(_CLOSING.values()))
}
"""What a text holds that needs no look, by what ends it."""

_BLANK = re.compile(r"(?:\s|\ufeff|//[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BEGUN = re.compile(r"-?(?:\d++\.?+\d*+(?:[eE][+-]?)?|\.)?\Z")
"""A number that the end of the text may have cut off."""
_ESCAPES: Mapping[str, str] = {
    '"': '"', "'": "'", "\\": "\\", "/": "/",
    "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: Mapping[str, bool | None] = {
    "true": True, "false": False, "null": None,
    "True": True, "False": False, "None": None,
}  # fmt: skip
_BREAKS = "\n\r\t"
"""Control characters that a text may hold as they are."""


class NotJson(ValueError):
    """A text that is no JSON, nor nearly so."""


class CutOff(NotJson):
    """The text ends before the value does."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("its JSON has no end")


class Reader:
    """Reads one value, from a place in a text."""

    def __init__(self, text: str, at: int = 0) -> None:
        """Begin at `at`."""
        self.at = at
        """Up to where it has read."""
        self.fields: dict[str, object] = {}
        """What the outermost object holds so far."""
        self.unfinished: tuple[str, str] | None = None
        """The name and the beginning of its text that was cut off."""
        self._text = text
        self._depth = 0

    def value(self) -> object:
        """Return the value that begins here.

        Raises:
            CutOff: the text ends first.
            NotJson: there is none.
        """
        self._skip()
        head = self._head()
        if head in _NESTED:
            return self._nested(head)
        if head in _CLOSING:
            return self._string(None)
        if self._depth and _BEGUN.match(self._text, self.at):
            raise CutOff
        number = _NUMBER.match(self._text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number[0])
        return self._word()

    def _nested(self, head: str) -> object:
        if self._depth == DEEPEST:
            raise NotJson("its JSON is nested too deep")
        self._depth += 1
        found = _NESTED[head](self)
        self._depth -= 1
        return found

    def _object(self) -> dict[str, object]:
        found = self.fields if self._depth == 1 else {}
        self.at += 1
        while not self._ends("}"):
            name = self._key()
            if name in found:
                raise NotJson(f'its JSON has "{name[:40]}" twice')
            self._skip()
            self._expect(":")
            self._skip()
            is_text = self._depth == 1 and self._head() in _CLOSING
            found[name] = self._string(name) if is_text else self.value()
            self._separate("}")
        return found

    def _list(self) -> list[object]:
        found: list[object] = []
        self.at += 1
        while not self._ends("]"):
            found.append(self.value())
            self._separate("]")
        return found

    def _key(self) -> str:
        if self._head() in _CLOSING:
            return self._string(None)
        name = _NAME.match(self._text, self.at)
        if name is None:
            raise NotJson("its JSON cannot be read")
        self.at = name.end()
        if self.at == len(self._text):
            raise CutOff
        return name[0]

    def _string(self, name: str | None) -> str:
        """Return the text that begins here; of a field's, `name`, keep what is cut off."""
        closing = _CLOSING[self._text[self.at]]
        self.at += 1
        parts: list[str] = []
        while True:
            match = _PLAIN[closing].match(self._text, self.at)
            if match is not None:
                parts.append(match[0])
                self.at = match.end()
            if self.at == len(self._text):
                self._keep(name, parts)
            head = self._text[self.at]
            if head in closing:
                self.at += 1
                return "".join(parts)
            if head == "\\":
                parts.append(self._escaped(name, parts))
            elif head in _BREAKS:
                parts.append(head)
                self.at += 1
            else:
                raise NotJson("its JSON cannot be read")

    def _escaped(self, name: str | None, parts: list[str]) -> str:
        sign = self._text[self.at + 1 : self.at + 2]
        if not sign:
            self._keep(name, parts)
        if sign in _ESCAPES:
            self.at += 2
            return _ESCAPES[sign]
        if sign != "u":
            raise NotJson("its JSON cannot be read")
        return self._character(name, parts)

    def _character(self, name: str | None, parts: list[str]) -> str:
        """Return the character of one `\\u`, or of two that are its halves."""
        high = self._code(self.at, name, parts)
        self.at += 6
        if not 0xD800 <= high < 0xE000:
            return chr(high)
        if len(self._text) - self.at < 2 and "\\u".startswith(self._text[self.at :]):
            self._keep(name, parts)
        is_pair = high < 0xDC00 and self._text.startswith("\\u", self.at)
        low = self._code(self.at, name, parts) if is_pair else 0
        if not 0xDC00 <= low < 0xE000:
            raise NotJson("its JSON holds half a character")
        self.at += 6
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    def _code(self, at: int, name: str | None, parts: list[str]) -> int:
        digits = self._text[at + 2 : at + 6]
        if _HEX.fullmatch(digits) is None:
            if at + 2 + len(digits) == len(self._text):
                self._keep(name, parts)
            raise NotJson("its JSON cannot be read")
        return int(digits, 16)

    def _keep(self, name: str | None, parts: list[str]) -> None:
        """Keep the beginning of a field's text that is cut off here."""
        if name is not None:
            self.unfinished = name, "".join(parts)
        raise CutOff

    def _word(self) -> bool | None:
        name = _NAME.match(self._text, self.at)
        if name is not None and name[0] in _WORDS:
            self.at = name.end()
            return _WORDS[name[0]]
        if name is not None and name.end() == len(self._text):
            raise CutOff
        raise NotJson("its JSON cannot be read")

    def _skip(self) -> None:
        blank = _BLANK.match(self._text, self.at)
        assert blank is not None, "it may be empty"
        self.at = blank.end()

    def _head(self) -> str:
        if self.at >= len(self._text):
            raise CutOff
        return self._text[self.at]

    def _ends(self, sign: str) -> bool:
        self._skip()
        is_end = self._head() == sign
        self.at += is_end
        return is_end

    def _separate(self, end: str) -> None:
        """Pass the comma after a value, which may be missing before the end."""
        self._skip()
        if self._head() != end:
            self._expect(",")

    def _expect(self, sign: str) -> None:
        if self._head() != sign:
            raise NotJson("its JSON cannot be read")
        self.at += 1


_NESTED: Mapping[str, Callable[[Reader], object]] = {
    "{": Reader._object,  # a table of its own methods
    "[": Reader._list,
}


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def is_shallow(value: object) -> bool:
    """Tell whether a value that was read is nested no deeper than is read here."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            for inner in _inside(each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False


def _number(text: str) -> int | float:
    if len(text) > _LONGEST_NUMBER:
        raise NotJson("a number in its JSON is too long")
    if text.lstrip("-").isdigit():
        return int(text)
    found = float(text)
    if found in (float("inf"), float("-inf")):
        raise NotJson("a number in its JSON is too large")
    return found
