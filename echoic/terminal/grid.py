"""Tables in a terminal, laid out by rich: columns as wide as they need, words wrapped.

Pure, cells in and lines out; a cell is text, and never rich's own markup.
"""

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from echoic.terminal.text import PLAIN, Style


def grid(
    header: Sequence[str], rows: Iterable[Sequence[object]], style: Style = PLAIN
) -> Iterator[str]:
    """Lay rows out below their header, within the width of the style.

    `>fires` heads a column of numbers, which stand at the right. Where there is too little
    room, cells below `~event` are cut, and those below `¶kind` are wrapped. Cells may be
    painted.
    """
    # Imported here: most commands show no table, and should start at once.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        header_style="none",
        show_header=any(name.lstrip(">~¶") for name in header),
    )
    for name in header:
        table.add_column(
            Text(name.lstrip(">~¶")),
            justify="right" if name.startswith(">") else "left",
            # What may not be wrapped is the last to be made narrower.
            no_wrap="~" not in name and "¶" not in name,
        )
    for row in rows:
        # Never a plain string: rich would read `[bold]` in a sensor's text as markup.
        cells = [Text.from_ansi(str(cell)) for cell in row]
        for cell, name in zip(cells, header, strict=True):
            if name.startswith("~"):
                cell.no_wrap, cell.overflow = True, "ellipsis"
        table.add_row(*cells)
    page = StringIO()
    # Not the real terminal: lines are returned, and the caller decides where they go.
    console = Console(
        file=page,
        width=style.width,
        color_system="standard" if style.colour else None,
        force_terminal=style.colour,
        legacy_windows=False,
    )
    console.print(table)
    yield from (line.rstrip() for line in page.getvalue().splitlines())
