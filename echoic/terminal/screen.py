"""How screens are laid out: rich's tables and texts in, lines for a terminal out.

Pure. Plain strings may go in anywhere: they are shown as they stand, never as markup, and
what would command a terminal is written out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from typing import TYPE_CHECKING

from echoic.terminal.written_out import written_out
from schemas.values.lazily import Lazily

if TYPE_CHECKING:
    from rich import console as consoles
    from rich import padding
    from rich import table as tables
    from rich import text as texts
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.table import Column
    from rich.text import Text
else:
    # A command that says one line takes none of them.
    consoles = Lazily("rich.console")
    padding = Lazily("rich.padding")
    tables = Lazily("rich.table")
    texts = Lazily("rich.text")

_WIDE = 110
"""Columns from which a screen shows everything."""
_BAR_CELLS = 8
_BLOCKS = " ▁▂▃▄▅▆▇"
_BREAK = re.compile(r"\s*[^\S ]\s*")
"""White space that would begin a new line or a tab, with the spaces around it."""

Part = str | tuple[str, str]
"""Words, or words with the style in which rich paints them: `("BETTER", "green")`."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """How much room there is, and whether in colour."""

    width: int = 120
    colour: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for all columns."""
        return self.width < _WIDE


PLAIN = Terminal()


def rendered(screen: "Iterable[RenderableType]", terminal: Terminal = PLAIN) -> str:
    """Return a screen as text of the terminal's width, in colour if it has any."""
    parts = list(screen)
    if (plain := _plain_lines(parts, terminal)) is not None:
        return "\n".join(plain)
    page = StringIO()
    # Not the real terminal: the text is returned, and the caller decides where it goes.
    console = consoles.Console(
        file=page,
        width=terminal.width,
        color_system="standard" if terminal.colour else None,
        force_terminal=terminal.colour,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for each in parts:
        part = text(each) if isinstance(each, str) else each
        # Printed together with others, a text would lose how it may be wrapped.
        how = (
            (part.no_wrap, part.overflow)
            if isinstance(part, texts.Text)
            else (None, None)
        )
        console.print(part, no_wrap=how[0], overflow=how[1], crop=False)
    return "\n".join(line.rstrip() for line in page.getvalue().split("\n")[:-1])


def _plain_lines(
    parts: Iterable["RenderableType"], terminal: Terminal
) -> list[str] | None:
    """Return words that surely fit their lines; None if there is anything to lay out."""
    lines: list[str] = []
    for each in parts:
        # A character takes two columns at most.
        if not isinstance(each, str) or 2 * len(line := visible(each)) > terminal.width:
            return None
        lines.append(line.rstrip())
    return lines


def text(*parts: Part) -> "Text":
    """Return parts as one text without a line break, wrapped where it is too wide."""
    return texts.Text.assemble(
        *(
            visible(part) if isinstance(part, str) else (visible(part[0]), part[1])
            for part in parts
        )
    )


def verbatim(content: str) -> "Text":
    """Return lines as they stand, such as those of a file: none is wrapped."""
    return texts.Text(
        written_out(content, kept="\n\t"), no_wrap=True, overflow="ignore"
    )


def indented(columns: int, *parts: Part) -> "Padding":
    """Return a text with so many spaces before each of its lines."""
    return padding.Padding(text(*parts), (0, 0, 0, columns))


def number(name: str = "") -> "Column":
    """Return a column of numbers, which stand at the right."""
    return tables.Column(name, justify="right", no_wrap=True)


def cut(name: str = "") -> "Column":
    """Return a column whose cells are cut where there is too little room."""
    return tables.Column(name, overflow="ellipsis")


def words(name: str = "") -> "Column":
    """Return a column whose cells are wrapped where there is too little room."""
    return tables.Column(name, overflow="fold")


def table(
    header: "Iterable[str | Column]", rows: Iterable[Iterable[object]], indent: int = 0
) -> "RenderableType":
    """Return rows below their header, in columns as wide as they need to be.

    A column that is given by its name alone is the last to be made narrower. Without any
    name there is no header. A cell is a text, a time, or what `str` makes of it.
    """
    columns = [
        tables.Column(c, no_wrap=True) if isinstance(c, str) else c for c in header
    ]
    made = tables.Table(
        *columns,
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="none",
        show_header=any(column.header for column in columns),
    )
    for row in rows:
        cells = [
            each if isinstance(each, texts.Text) else text(_words(each)) for each in row
        ]
        for cell, column in zip(cells, columns, strict=True):
            # Only the text itself can be cut and its column be made narrower.
            cell.no_wrap = column.overflow == "ellipsis"
        made.add_row(*cells)
    return padding.Padding(made, (0, 0, 0, indent))


def _words(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)


def pairs(rows: Mapping[str, object], indent: int = 2) -> "RenderableType":
    """Return names with their values beside them."""
    return table(("", words()), rows.items(), indent)


def marked(mark: Part, *parts: Part, indent: int = 0) -> "RenderableType":
    """Return a text behind a mark, under which none of its lines stands."""
    row = tables.Table.grid(
        tables.Column(no_wrap=True),
        tables.Column(overflow="fold"),
        padding=(0, 1, 0, 0),
    )
    row.add_row(text(mark), text(*parts))
    return padding.Padding(row, (0, 0, 0, indent))


def short(id_: str) -> str:
    """Return an id as people see it; any unique beginning is accepted back."""
    return id_[:8]


def figure(value: float) -> str:
    """Return a number from 0 to 1 with two digits: `.82`, `1.0`."""
    # From there on two digits would round to `1.00`, one column too wide.
    return "1.0" if value >= 0.995 else f"{value:.2f}".lstrip("0")


def counted(count: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun: `1 fire`, `2 fires`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def bar(value: float, cells: int = _BAR_CELLS) -> str:
    """Return a number from 0 to 1 as a bar of that many cells."""
    # Seven heights of a cell besides the empty one.
    eighths = round(max(0.0, min(1.0, value)) * cells * 7)
    return "".join(
        _BLOCKS[max(0, min(7, eighths - 7 * cell))] if eighths > 7 * cell else "▁"
        for cell in range(cells)
    )


def visible(content: str) -> str:
    """Return a text on one line, with whatever would command a terminal written out."""
    return written_out(_BREAK.sub(" ", content))
