"""The screen of `echoic watch --map`: who is where, does and says what, by which layer.

Pure. It fits the room that it is given; whoever has none on it is counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from echoic.scene.figures import Figure, Happening, marked
from echoic.scene.scene import Scene
from echoic.terminal.screen import PLAIN, Terminal, counted, text
from schemas.packs.characters import Map

_LEAST_ROWS = 12
"""Under so many rows of a terminal the screen is cut by the terminal itself."""

_LAYERS: Mapping[str, str] = {
    "reflex": "red",
    "queue": "yellow",
    "talker": "green",
    "executor": "magenta",
    "autonomous": "cyan",
    "place": "blue",
}
"""The colour of each layer; its name stands beside it."""

_SEVERAL = "+"
_EMPTY = " "
_GROUND = "·"


def screen(
    scene: Scene,
    latest: Sequence[Happening],
    terminal: Terminal = PLAIN,
    height: int = 24,
) -> Iterator[RenderableType]:
    """Yield the parts of the screen: heading, the map beside who is who, what happened."""
    figures, height = scene.drawn, max(height, _LEAST_ROWS)
    marks = marked([each.name for each in figures])
    rows = max((height - 3) * 3 // 4, 6)
    columns = min(2 * rows, max(terminal.width // 2 - 4, 8))
    at = scene.at
    yield _line(_heading(scene, figures))
    sides = Table.grid(padding=(0, 1, 0, 0), expand=True)
    sides.add_column(width=columns + 2, no_wrap=True)
    sides.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    drawn = _drawn(scene, marks, columns, rows)
    told = _legend(figures, marks, at, rows + 2)
    for index in range(rows + 2):
        beside = told[index] if index < len(told) else text("")
        sides.add_row(drawn[index], beside)
    yield sides
    left = height - rows - 4
    for each in latest[-left:] if left > 0 else ():
        yield _line(_happened(each))


def _line(line: Text) -> Text:
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _heading(scene: Scene, figures: Sequence[Figure]) -> Text:
    when = f"{scene.at:%a %d %b %H:%M:%S}" if scene.at is not None else "not begun"
    weather = next((each.weather for each in figures if each.weather), "")
    hour = next((each.hour for each in figures if each.hour is not None), None)
    light = "" if hour is None else "day" if 6 <= hour < 20 else "night"
    parts = (when, light, weather, counted(len(figures), "character"))
    return text((" · ".join(filter(None, parts)), "bold"))


def _drawn(
    scene: Scene, marks: Mapping[str, str], columns: int, rows: int
) -> list[Text]:
    """Return the map in its frame, a text a row."""
    figures = scene.drawn
    known = next((each.map for each in figures if each.mind is not None), Map())
    frame = _Frame.of(scene.extent, known, columns, rows)
    cells = [[_EMPTY] * columns for _ in range(rows)]
    styles = [[""] * columns for _ in range(rows)]
    _draw_spots(known, frame, cells, styles)
    for each in figures:
        place = frame.cell(each.x, each.y)
        if place is None:
            continue
        column, row = place
        taken = styles[row][column].startswith("bold")
        cells[row][column] = _SEVERAL if taken else marks[each.name]
        styles[row][column] = f"bold {_LAYERS.get(each.layer, '')}".strip()
    edge = "─" * columns
    inner = [
        text(("│", "dim"), *zip(cells[row], styles[row], strict=True), ("│", "dim"))
        for row in range(rows)
    ]
    return [text((f"┌{edge}┐", "dim")), *inner, text((f"└{edge}┘", "dim"))]


def _draw_spots(
    known: Map, frame: "_Frame", cells: list[list[str]], styles: list[list[str]]
) -> None:
    for spot in known.spots:
        found = frame.box(spot.x, spot.y, spot.width, spot.height)
        if found is None:
            continue
        left, top, right, bottom = found
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                cells[row][column], styles[row][column] = _GROUND, "dim"
        room = right - left + 1
        label = text(spot.name).plain.removeprefix("the ")[:room]
        # What is wider than one cell would push the row apart.
        if label.isascii():
            for column, letter in enumerate(label, start=left):
                cells[top][column] = letter


class _Frame:
    """Where places of the world are on the map."""

    def __init__(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        cells: tuple[int, int],
        *,
        is_upward: bool = False,
    ) -> None:
        """Lay a stretch of the world from its corner over so many columns and rows."""
        self._corner, self._size, self._cells = corner, size, cells
        self._is_upward = is_upward

    @classmethod
    def of(
        cls,
        extent: tuple[float, float, float, float] | None,
        known: Map,
        columns: int,
        rows: int,
    ) -> "_Frame":
        """Return the frame of a pack's size, else around wherever anybody was."""
        cells = (columns, rows)
        if known.size is not None:
            return cls((0.0, 0.0), known.size, cells, is_upward=known.is_upward)
        if extent is None:
            return cls((0.0, 0.0), (1.0, 1.0), cells)
        left, top, right, bottom = extent
        corner, size = (left - 1.0, top - 1.0), (right - left + 2.0, bottom - top + 2.0)
        return cls(corner, size, cells, is_upward=known.is_upward)

    def cell(self, x: float | None, y: float | None) -> tuple[int, int] | None:
        """Return column and row of a place; None if it is unknown, or not on the map."""
        if x is None or y is None:
            return None
        across, down = ((x, y)[n] - self._corner[n] for n in (0, 1))
        if not (0 <= across <= self._size[0] and 0 <= down <= self._size[1]):
            return None
        column, row = (
            min(int(far / self._size[n] * self._cells[n]), self._cells[n] - 1)
            for n, far in enumerate((across, down))
        )
        return column, self._cells[1] - 1 - row if self._is_upward else row

    def box(
        self, x: float, y: float, width: float, height: float
    ) -> tuple[int, int, int, int] | None:
        """Return the columns and rows of a rectangle: left, top, right, bottom."""
        # A cell's end belongs to the next one.
        near, far = self.cell(x, y), self.cell(x + width * 0.999, y + height * 0.999)
        if near is None or far is None:
            return None
        top, bottom = sorted((near[1], far[1]))
        return near[0], top, far[0], bottom


def _legend(
    figures: Sequence[Figure], marks: Mapping[str, str], at: datetime | None, rows: int
) -> list[Text]:
    """Return who is who, in so many rows at most; those with something to tell go first."""
    if at is None or not figures:
        return [text(("nobody has told where anybody is", "dim"))]
    told = [(each, list(_about(each, marks[each.name], at))) for each in figures]
    if sum(len(lines) for _, lines in told) > rows - 1:
        told.sort(key=lambda each: -_news(each[0], at))
    shown: list[Text] = []
    for index, (_, lines) in enumerate(told):
        # One row is kept for the count of those who are left out.
        if len(shown) + len(lines) > rows - 1:
            shown.append(text((f"… and {len(told) - index} more", "dim")))
            break
        shown += lines
    return shown


def _news(figure: Figure, at: datetime) -> int:
    return 2 * bool(figure.saying(at)) + (figure.doing(at) is not None)


def _about(figure: Figure, mark: str, at: datetime) -> Iterator[Text]:
    """Yield a character's line, and what it says below."""
    deed = figure.doing(at)
    does = figure.absent or (deed.what if deed is not None else "nothing")
    layer = deed.layer if deed is not None else figure.layer
    colour = _LAYERS.get(layer, "")
    where = figure.place or ("?" if figure.x is None else f"{figure.x:g},{figure.y:g}")
    yield text(
        (mark, f"bold {colour}".strip()),
        f" {figure.name}: {does} ",
        (layer or "-", colour),
        (f" at {where}{', talks' if figure.talk is not None else ''}", "dim"),
    )
    said = figure.saying(at)
    if said:
        yield text(f"  “{said}”")


def _happened(each: Happening) -> Text:
    words = f"“{each.what}”" if each.kind == "says" else each.what
    why = f" ({each.why})" if each.why else ""
    return text(
        (f"{each.at:%H:%M:%S} ", "dim"),
        f"{each.who} ",
        (f"{each.layer} " if each.layer else "", _LAYERS.get(each.layer, "")),
        words,
        (why, "dim"),
    )
