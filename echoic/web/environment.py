"""The template environment of all pages: Jinja with escaping everywhere.

Whatever a template shows is made readable and escaped; only `Markup` goes in as it is.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup, escape

_NAME_SHOWN = 100
"""How many characters of a name are shown."""
_SENTENCE_SHOWN = 1_000

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What is not seen and yet changes what is: controls, directions, halves of pairs."""


def environment(
    filters: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]
) -> Environment:
    """Make the environment of a page, with its own filters and global names."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        extensions=[_Compact],
        # For every template, whatever its ending: all text is from outside.
        autoescape=True,
        # A misspelt name is an error, not an empty place in a report.
        undefined=StrictUndefined,
        finalize=_shown,
    )
    made.filters |= {"brief": brief, "prose": prose, **filters}
    made.globals |= names
    # Escaped by `tojson` so that no text can end the block that holds it.
    made.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "separators": (",", ":"),
    }
    return made


def readable(text: str) -> str:
    """Write out what cannot be seen, so that nothing hides or turns in a text."""
    return _UNSEEN.sub(
        lambda found: (
            f"\N{LEFT-POINTING ANGLE BRACKET}U+"
            f"{ord(found[0]):04X}\N{RIGHT-POINTING ANGLE BRACKET}"
        ),
        text,
    )


def brief(text: object, limit: int = _NAME_SHOWN) -> str:
    """Cut a name where it is too long to be one."""
    words = str(text)
    return words if len(words) <= limit else words[:limit] + "…"


def prose(text: str) -> Markup:
    """Return a sentence in which `backquotes` mark what to type."""
    pieces = readable(brief(text, _SENTENCE_SHOWN)).split("`")
    # An odd number of backquotes pairs with nothing: then none of them is markup.
    if len(pieces) % 2 == 0:
        return escape("`".join(pieces))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if index % 2 else escape(piece)
        for index, piece in enumerate(pieces)
    )


class _Compact(Extension):
    """Remove a template's line breaks from the page.

    One between two tags is there for whoever reads the template, and would be a space
    between two words of the page; any other is one space.
    """

    def preprocess(
        self, source: str, name: str | None, filename: str | None = None
    ) -> str:
        """Join the lines before they are parsed."""
        # Before parsing, so it sees templates and never their values.
        joined = re.sub(r"(?<=[>}])\s*\n\s*(?=[<{])", "", source.strip())
        return re.sub(r"\s*\n\s*", " ", joined)


def _shown(value: object) -> object:
    """Return what a template puts in, before it is escaped."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return readable(value)
    return value
