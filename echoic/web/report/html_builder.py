"""Markup that cannot be broken by what it holds.

Its rule: a plain `str` is text, and is made readable and escaped wherever it goes in;
only `Html` goes in as it is.
"""

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import orjson

Fields = Mapping[str, Any]
"""A part of the comparison's document, as JSON is read."""

NAME_SHOWN = 100
"""How many characters of a name are shown."""

SENTENCE_SHOWN = 1_000

_VOID = frozenset({"br", "input", "link", "meta"})
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What is not seen and yet changes what is: controls, directions, halves of pairs."""


class Html(str):
    """Markup that is whole and safe."""

    __slots__ = ()


Content = str | None
"""Text, markup, or nothing."""

NOTHING = Html("")


def el(
    name: str, /, *content: Content, **attributes: str | int | float | bool | None
) -> Html:
    """An element; `class_` is written class, `aria_label` aria-label.

    An attribute of None or False is left out, one of True stands without a value.
    """
    head = f"<{name}{_attributes(attributes)}>"
    if name in _VOID:
        return Html(head)
    return Html(f"{head}{join(content)}</{name}>")


def join(parts: Iterable[Content], between: str = "") -> Html:
    """Parts one after another; text among them is escaped."""
    return Html(between.join(_safe(part) for part in parts if part is not None))


def readable(text: str) -> str:
    """Text with what cannot be seen written out, so that nothing hides or turns in it."""
    return _UNSEEN.sub(
        lambda found: (
            f"\N{LEFT-POINTING ANGLE BRACKET}U+"
            f"{ord(found[0]):04X}\N{RIGHT-POINTING ANGLE BRACKET}"
        ),
        text,
    )


def brief(text: object, limit: int = NAME_SHOWN) -> str:
    """A name, cut where it is too long to be one."""
    words = str(text)
    return words if len(words) <= limit else words[:limit] + "…"


def said(text: str, class_: str | None = None) -> Html:
    """Somebody else's words: their direction ends where they end."""
    return el("bdi", text, class_=class_, dir="auto")


def prose(text: str) -> Html:
    """A sentence in which `backquotes` mark what to type."""
    pieces = brief(text, SENTENCE_SHOWN).split("`")
    if len(pieces) % 2 == 0:
        return join([brief(text, SENTENCE_SHOWN)])
    return join(
        el("code", piece) if index % 2 else piece for index, piece in enumerate(pieces)
    )


def data(name: str, value: object) -> Html:
    """A value for the page's script, as JSON that no text in it can end."""
    written = orjson.dumps(value).decode()
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(
        f'<script type="application/json" id="{escape(name)}">{written}</script>'
    )


def _safe(part: str) -> str:
    return part if isinstance(part, Html) else escape(readable(part))


def _attributes(attributes: Mapping[str, str | int | float | bool | None]) -> str:
    return "".join(
        _attribute(name.rstrip("_").replace("_", "-"), value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )


def _attribute(name: str, value: str | int | float | bool) -> str:
    return f" {name}" if value is True else f' {name}="{escape(readable(str(value)))}"'
