"""Words and figures as a terminal shows them: cut, filled up, counted and coloured.

Pure, text in and text out; the words are the same without colour.
"""

import unicodedata
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

BAR_CELLS = 8
WIDE = 110
"""Columns from which a line shows everything."""
_BLOCKS = " ▁▂▃▄▅▆▇"
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text behind them."""
_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How much room there is, and whether in colour."""

    width: int = 120
    colour: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for all columns."""
        return self.width < WIDE

    def paint(self, text: str, name: str) -> str:
        """Return the text in a colour, if there are colours."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()


def short(id_: str) -> str:
    """Return an id as people see it; any unique beginning is accepted back."""
    return id_[:8]


def figure(value: float) -> str:
    """Return a number from 0 to 1 with two digits: `.82`, `1.0`."""
    # From there on two digits would round to `1.00`, one column too wide.
    return "1.0" if value >= 0.995 else f"{value:.2f}".lstrip("0")


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun: `1 fire`, `2 fires`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def bar(value: float, cells: int = BAR_CELLS) -> str:
    """Return a number from 0 to 1 as a bar of that many cells."""
    # Seven heights of a cell besides the empty one.
    eighths = round(max(0.0, min(1.0, value)) * cells * 7)
    return "".join(
        _BLOCKS[max(0, min(7, eighths - 7 * cell))] if eighths > 7 * cell else "▁"
        for cell in range(cells)
    )


def fitted(text: str, width: int) -> str:
    """Return the text on one line in exactly so many columns."""
    flat = visible(text)
    # Columns, not characters: an ideograph or an emoji takes two.
    if cell_len(flat) <= width:
        return padded(flat, width)
    return set_cell_size(flat, width - 1) + "…"


def padded(text: str, width: int) -> str:
    """Return the text with spaces up to so many columns; a wide character takes two."""
    return text + " " * max(0, width - cell_len(text))


def visible(text: str) -> str:
    """Return the text on one line, with whatever would command a terminal written out."""
    return "".join(
        repr(each)[1:-1] if _commands(each) else each for each in " ".join(text.split())
    )


def _commands(character: str) -> bool:
    # Control characters move the cursor or recolour; direction marks reorder what follows.
    return unicodedata.category(character) == "Cc" or character in _TURNS
