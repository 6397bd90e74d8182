"""A rendered page, taken apart: its elements, its words, its data."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import orjson

_VOID = {"meta", "link", "input", "br"}
_UNREAD = {"script", "style"}


@dataclass
class Page:
    """What a reader without a script gets, and what the script gets."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    words: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def having(self, attribute: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [
            attributes[attribute] or ""
            for _, attributes in self.elements
            if attribute in attributes
        ]


def taken_apart(html: str) -> Page:
    """Parse a page; every element in it must be closed in order."""
    parser = _Parser()
    parser.feed(html)
    parser.close()

    assert parser.open == []
    parser.page.words = " ".join(parser.page.words.split())
    return parser.page


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        _tag, attributes = self.page.elements[-1] if self.page.elements else ("", {})
        if self.open and self.open[-1] in _UNREAD:
            if attributes.get("type") == "application/json":
                self.page.data[attributes["id"] or ""] = orjson.loads(data)
            return
        self.page.words += f" {data}"
