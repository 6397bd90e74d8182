"""One heuristic's life in a terminal: the curve of its confidence, and its signals.

Pure; it reads the same without colour.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from rich.console import RenderableType
from rich.table import Column

from echoic.terminal.called import as_typed
from echoic.terminal.screen import PLAIN, Terminal, counted, cut, table, text
from evaluation.learning.causes import EVIDENCE, CauseKind
from evaluation.learning.heuristics_at import Known
from evaluation.learning.history import Move

_NARROWEST, _WIDEST = 80, 160
"""Bounds of the columns used, whatever the terminal has."""
SHOWN = 40
"""How many signals stand below a curve."""

_AXIS = 6
"""Columns of the numbers at the left, with the line behind them."""
_LEAST_TENTHS = 4
# Below that, minutes alone would give several columns the same time.
_SHORT = timedelta(hours=1)
# Characters of an id: the first two groups of a UUID.
_ID = 13
_UNSIGNALLED: frozenset[CauseKind] = frozenset(("fire", "kept", "expired", "life"))
"""Causes that move nothing by themselves, shown in the history alone."""

_MESSAGES: Mapping[CauseKind, str] = {
    "fire": "event",
    "kept": "event",
    "outcome": "event",
    "vote": "feedback",
    "endorsement": "answer",
    "formed": "answer",
    "reinforced": "answer",
    "ignored": "input",
    "silence": "input",
    "drift": "input",
    "trust": "input",
    "expired": "input",
    "life": "input",
}
"""Which kind of message a cause is; any other is a control."""

_MARKS: Mapping[str, str] = {
    "+": "success",
    "-": "failure",
    "▲": "vote up",
    "▼": "vote down",
    "△": "vote that changed nothing",
    "≈": "endorsement",
    "o": "taught, edited, frozen or retuned",
    "*": "several",
}


def curve(
    known: Known, moves: Sequence[Move], threshold: float, terminal: Terminal = PLAIN
) -> Iterator[RenderableType]:
    """Yield the heuristic, the plot, and the signals with their causes."""
    yield from head(known)
    yield ""
    if not moves:
        yield "nothing has happened to it: it stands where it was declared"
        return
    yield from _plot(moves, threshold, bounded(terminal).width)
    yield ""
    signals = [move for move in moves if move.cause.kind not in _UNSIGNALLED]
    yield history(signals[-SHOWN:], terminal)
    if len(signals) > SHOWN:
        rest = as_typed(f"echoic heuristic history {known.name}")
        yield f"and {len(signals) - SHOWN} earlier: {rest}"


def head(known: Known) -> Iterator[RenderableType]:
    """Yield which heuristic it is, and where it stands."""
    life = "" if known.life == "active" else f", {known.life}"
    yield text(
        (known.name, "bold"),
        f"  {known.confidence:.2f} (declared {known.declared:.2f}){life}",
    )
    yield (
        f"  {known.domain}, {known.origin}; {counted(known.fires, 'fire')},"
        f" {counted(known.successes, 'success', 'successes')}"
    )
    yield table(("", cut()), (("  on ", known.condition), ("  say", known.text)))


def history(moves: Sequence[Move], terminal: Terminal = PLAIN) -> RenderableType:
    """Return one line for each move: time, signal, actor, trust before and after, cause.

    A narrow terminal has no room for what sort of signal it is; the words tell that, too.
    """
    header: tuple[str | Column, ...] = (
        "when",
        cut("what"),
        cut("by"),
        "trust",
        "cause",
    )
    if not terminal.is_narrow:
        header = ("when", "signal", *header[1:], "")
    return table(
        header, (_cells(move, is_wide=not terminal.is_narrow) for move in moves)
    )


def bounded(terminal: Terminal) -> Terminal:
    """Return the terminal, or one so narrow or wide as a curve may be."""
    return Terminal(max(_NARROWEST, min(_WIDEST, terminal.width)), terminal.colour)


def _plot(moves: Sequence[Move], threshold: float, width: int) -> Iterator[str]:
    """Yield the confidence over time, the threshold as a dotted line, and marks below."""
    columns = width - _AXIS
    scale = _scale(moves, threshold)
    limit = scale.row(threshold)
    for row, line in enumerate(_drawn(moves, columns, scale, threshold)):
        sign = "┤" if row == limit else "│"
        note = f"{threshold:.2f}" if row == limit else scale.label(row)
        yield f"{note:>{_AXIS - 2}} {sign}{''.join(line)}".rstrip()
    yield f"{'':>{_AXIS - 2}} └{'─' * columns}"
    marks = _marks(moves, columns)
    yield f"{'':>{_AXIS}}{marks}".rstrip()
    yield f"{'':>{_AXIS}}{_times(moves, columns)}"
    for each in _legend(marks, threshold, columns):
        yield f"{'':>{_AXIS}}{each}"


def _drawn(
    moves: Sequence[Move], columns: int, scale: "_Scale", threshold: float
) -> list[list[str]]:
    """Return the rows of the plot; each column goes from its first value to its last."""
    rows = [[" "] * columns for _ in range(scale.rows)]
    rows[scale.row(threshold)] = ["┄"] * columns
    began = moves[0].before
    place = None if began is None else scale.row(began)
    by_column = _by_column(moves, columns)
    for column in range(columns):
        here = [
            scale.row(value)
            for move in by_column.get(column, ())
            for value in (move.before, move.after)
            if value is not None
        ]
        if place is None and not here:
            continue
        start = here[0] if place is None else place
        end = here[-1] if here else start
        # Rows count from the top, so the smaller one is higher. Within one column the order
        # of moves is lost: the line spans all that was reached.
        top, bottom = min([start, *here]), max([start, *here])
        for row in range(top, bottom + 1):
            rows[row][column] = "│"
        if start == end:
            # It moved within this column and came back: the line crosses where it goes on.
            rows[end][column] = "─" if top == bottom else "┼"
        else:
            rows[start][column] = "┘" if end < start else "┐"
            rows[end][column] = "┌" if end < start else "└"
        place = end
    return rows


def _marks(moves: Sequence[Move], columns: int) -> str:
    line = [" "] * columns
    for column, here in _by_column(moves, columns).items():
        signals = [_mark(move) for move in here if _mark(move)]
        if len(set(signals)) > 1:
            line[column] = "*"
        elif signals:
            line[column] = signals[0]
    return "".join(line)


def _mark(move: Move) -> str:
    cause = move.cause
    if cause.kind in EVIDENCE:
        up = move.after - (move.before or 0.0)
        if cause.kind == "endorsement":
            return "≈"
        if cause.kind == "vote":
            return "▲" if up > 0 else "▼" if up < 0 else "△"
        # An outcome that moved nothing (locked, or at a bound) leaves no mark.
        return "+" if up > 0 else "-" if up < 0 else ""
    return "" if cause.kind in _UNSIGNALLED else "o"


def _legend(marks: str, threshold: float, columns: int) -> Iterator[str]:
    """Yield what the marks mean, on as many lines as that takes."""
    line = f"┄ answers from {threshold:.2f} on"
    for part in (f"{mark} {_MARKS[mark]}" for mark in _MARKS if mark in marks):
        if len(line) + 2 + len(part) > columns:
            yield line
            line = part
        else:
            line += f"  {part}"
    yield line


def _by_column(moves: Sequence[Move], columns: int) -> dict[int, list[Move]]:
    began, ended = moves[0].cause.at, moves[-1].cause.at
    span = (ended - began).total_seconds()
    found: dict[int, list[Move]] = {}
    for move in moves:
        since = (move.cause.at - began).total_seconds()
        # All at one moment: there is no time to spread over.
        column = round(since / span * (columns - 1)) if span > 0.0 else 0
        found.setdefault(max(0, min(columns - 1, column)), []).append(move)
    return found


def _times(moves: Sequence[Move], columns: int) -> str:
    began, ended = moves[0].cause.at, moves[-1].cause.at
    form = "%Y-%m-%d %H:%M:%S" if ended - began < _SHORT else "%Y-%m-%d %H:%M"
    left, middle, right = (
        at.strftime(form) for at in (began, began + (ended - began) / 2, ended)
    )
    before = columns // 2 - len(middle) // 2 - len(left)
    after = columns - len(left) - before - len(middle) - len(right)
    return f"{left}{'':<{before}}{middle}{'':<{after}}{right}"


def _scale(moves: Sequence[Move], threshold: float) -> "_Scale":
    """Choose whole tenths around all values, four at least, and rows for each."""
    values = [threshold, *(move.after for move in moves)]
    values += [move.before for move in moves[:1] if move.before is not None]
    # Rounded first: 0.7 * 10 is 7.000000000000001, which would add a tenth.
    low, high = int(min(values) * 10), ceil(round(max(values) * 10, 6))
    while high - low < _LEAST_TENTHS:
        low, high = max(0, low - 1), min(10, high + 1)
    # Between 8 and 15 rows, whatever the range.
    return _Scale(low, high, 3 if high - low <= 4 else 2 if high - low <= 7 else 1)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From which tenth to which, and how many rows each has."""

    low: int
    high: int
    each: int

    @property
    def rows(self) -> int:
        """How many there are."""
        return (self.high - self.low) * self.each + 1

    def row(self, value: float) -> int:
        """Return the row of a confidence, counted from the top."""
        return round((self.high - value * 10) * self.each)

    def label(self, row: int) -> str:
        """Return what a row is called: each tenth is."""
        if row % self.each:
            return ""
        return f"{(self.high - row / self.each) / 10:.2f}"


def _trust(move: Move) -> str:
    if move.before is None:
        return f"→ {move.after:.2f}"
    if move.before == move.after:
        return f"{move.after:.2f}"
    return f"{move.before:.2f} → {move.after:.2f}"


def _cells(move: Move, *, is_wide: bool) -> tuple[str, ...]:
    cause, at = move.cause, move.cause.at
    by, trust = cause.by or "-", _trust(move)
    message = _MESSAGES.get(cause.kind, "control")
    if is_wide:
        when = f"{at:%Y-%m-%d %H:%M:%S}"
        return when, cause.kind, cause.what, by, trust, message, cause.id[:_ID]
    return f"{at:%m-%d %H:%M:%S}", cause.what, by, trust, cause.id[:_ID] or message
