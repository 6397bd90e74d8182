"""The files that people have, as records: lines, one JSON array, or CSV with a header.

Which it is shows in its beginning. What is none of these is refused before its first record
is sent. Pure: what is read comes as lines of text.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import orjson

from echoic.errors import EchoicError

_WHOLE_CHARACTERS = 64 * 1024 * 1024
"""How long one JSON array may be, which is read as a whole; lines have no such limit."""

TAKES = (
    "it takes lines of text or of JSON objects, one JSON array of objects, CSV whose first"
    " row names the columns (--map text=COLUMN), or a recorded session"
)

Record = str | dict[str, Any]
"""Bare text, or fields by their names."""
Place = str
"""Where a record stands, such as `line 3`."""

_MOST_COMMENTS = 100
"""How many lines of comment may stand before a table."""

_LIST = re.compile(r"\[\s*(?:[{\[\]]|$)")
"""The beginning of a JSON array of objects; `[12:03] hello` is text."""
_MARKUP = re.compile(r"<(?:\?xml|!doctype|[a-z][\w:-]*[\s>/])|%YAML|%PDF|PK\x03", re.I)
_NAMED_SEPARATOR = re.compile(r'"?sep=([,;|\t])"?', re.IGNORECASE)
"""A first line with which a spreadsheet says what separates its columns."""
_COLUMN = re.compile(r"[^\W\d][\w .:/()°%#-]{0,63}")
_WORD = re.compile(r"[^\W\d][\w.-]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")


def records(
    lines: Iterable[str], *, is_table: bool = False
) -> Iterator[tuple[Place, Record]]:
    """Yield the records of a file, each with its place.

    Args:
        lines: Its lines; only one JSON array is held as a whole.
        is_table: Whether columns were named, so that lines that are no JSON are CSV.

    Raises:
        EchoicError: it is nothing that is read here, or a line is none of its kind.
    """
    numbered = ((at, line) for at, line in enumerate(lines, start=1) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    at, line = first[0], first[1].removeprefix("\ufeff")
    begin = line.strip()
    if "\0" in line or _MARKUP.match(begin):
        raise EchoicError("this is no file of events", next_step=TAKES)
    rest: Iterator[tuple[int, str]]
    if _LIST.match(begin) or _parses(begin, list):
        yield from _array(_whole([line, *(text for _, text in numbered)]))
        return
    if begin.startswith("{"):
        rest = chain([(at, line)], numbered)
        if _parses(begin):
            yield from map(_line, rest)
        else:
            yield from _object_or_lines(list(islice(rest, 10_000)), rest)
        return
    named = _NAMED_SEPARATOR.fullmatch(begin)
    if named is not None:
        yield from _table(numbered, named[1], is_table)
        return
    held = [(at, line)]
    # Comments before the first row are none of a table's; of a text each is a line.
    for each in islice(numbered, _MOST_COMMENTS if line.startswith("#") else 0):
        held.append(each)
        if not each[1].startswith("#"):
            break
    second = list(islice(numbered, 1))
    # Without its end, which `csv` would read as a second row.
    heads = [each.rstrip("\r\n") for _, each in (held[-1], *second, (0, ""))]
    delimiter = _delimiter(heads[0], heads[1], is_table)
    if delimiter:
        yield from _table(chain(held[-1:], second, numbered), delimiter, is_table)
    else:
        yield from map(_line, chain(held, second, numbered))


def _line(numbered: tuple[int, str]) -> tuple[Place, Record]:
    at, line = numbered
    place = f"line {at}"
    if not line.lstrip().startswith("{"):
        return place, line.strip()
    try:
        fields = orjson.loads(line)
    except ValueError as error:
        raise _no_event(place, error) from error
    return place, fields


def _array(whole: str) -> Iterator[tuple[Place, Record]]:
    try:
        elements = orjson.loads(whole)
    except ValueError as error:
        raise EchoicError(
            f"this begins as a JSON array and is none: {error}", next_step=TAKES
        ) from error
    places = [(f"element {at}", each) for at, each in enumerate(elements, start=1)]
    for place, each in places:
        # All of them, before the first is sent.
        if not isinstance(each, str | dict):
            raise EchoicError(
                f"{place} of the JSON array is {_kind(each)}, no object",
                next_step=TAKES,
            )
    yield from places


def _object_or_lines(
    held: list[tuple[int, str]], rest: Iterator[tuple[int, str]]
) -> Iterator[tuple[Place, Record]]:
    """Read one object that is written over several lines; else lines, the first broken."""
    whole = "".join(f"{line}\n" for _, line in held)
    if _parses(whole) and next(rest, None) is None:
        yield "line 1", orjson.loads(whole)
        return
    yield from map(_line, chain(held, rest))


def _table(
    numbered: Iterator[tuple[int, str]], delimiter: str, is_mapped: bool
) -> Iterator[tuple[Place, Record]]:
    """Read CSV (RFC 4180, or with another delimiter) whose first row names the columns."""
    # A value in quotes may hold line breaks: the reader joins lines, and the place is the
    # last of them.
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for at, line in numbered:  # noqa: B007
            yield line

    rows = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True)
    columns = [each.strip() for each in next(_rows(rows, lambda: at), ())]
    # A separator that ends each line begins a column without a name and without values.
    spare = bool(columns) and not columns[-1]
    columns = columns[:-1] if spare else columns
    if not columns:
        return
    if len(set(columns)) != len(columns) or not all(columns):
        raise EchoicError(
            f"the first row does not name each column once: {', '.join(columns)}",
            next_step=TAKES,
        )
    if not is_mapped and "text" not in columns:
        raise EchoicError(
            f"these are the columns {', '.join(columns)}, and none is the text",
            next_step=f"--map text={columns[-1]}, or a text of several:"
            f' --map text="{{{columns[0]}}} is {{{columns[-1]}}}"',
        )
    for row in _rows(rows, lambda: at):
        place = f"line {at}"
        if spare and len(row) == len(columns) + 1 and not row[-1].strip():
            row = row[:-1]
        if len(row) != len(columns):
            raise _no_event(place, f"{len(row)} values for {len(columns)} columns")
        yield (
            place,
            {
                name: value(cell)
                for name, cell in zip(columns, row, strict=True)
                if cell.strip()
            },
        )


def _rows(rows: Iterator[list[str]], at: Callable[[], int]) -> Iterator[list[str]]:
    """Yield rows; name the line that `csv` cannot read, such as a value of 200 kB."""
    try:
        yield from rows
    except csv.Error as error:
        raise _no_event(f"line {at()}", error) from error


def value(cell: str) -> object:
    """Return a number or a truth for a cell that is one as JSON writes it, else its text."""
    text = cell.strip()
    if _NUMBER.fullmatch(text) or text in ("true", "false"):
        return orjson.loads(text)
    return text


def _delimiter(first: str, second: str, is_table: bool) -> str | None:
    """Return what separates the columns of a table; None if these lines are text."""
    for each in (",", ";", "\t", "|"):
        names = _cells(first, each) or []
        if len(names) < 2:
            continue
        cells = _cells(second, each)
        # A value in quotes may go on in the next line.
        is_cut = cells is None or second.count('"') % 2
        width = len(names) if is_cut else len(cells or [])
        if is_table or _are_columns(names, width):
            return each
    return "," if is_table else None


def _cells(line: str, delimiter: str) -> list[str] | None:
    """Return the values of a line; None if `csv` cannot read it."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return None


def _are_columns(names: list[str], width: int) -> bool:
    """Tell whether a first line names columns, and is no sentence with commas."""
    if len(names) > 2 and not names[-1]:
        names, width = names[:-1], width - (width == len(names))
    if width != len(names) or not all(
        _COLUMN.fullmatch(name.strip()) for name in names
    ):
        return False
    # "Hello, ada" has a blank behind its comma, as sentences do and headers rarely.
    is_tight = not any(name.startswith(" ") for name in names)
    is_words = all(_WORD.fullmatch(name.strip()) for name in names)
    return len(names) > 2 if is_tight != is_words else is_words


def _whole(lines: Iterable[str]) -> str:
    held: list[str] = []
    size = 0
    for line in lines:
        size += len(line)
        if size > _WHOLE_CHARACTERS:
            raise EchoicError(
                f"one JSON array of more than {_WHOLE_CHARACTERS:,} characters",
                next_step="write its elements as lines: jq -c '.[]' FILE | echoic pub -",
            )
        held.append(line)
    return "\n".join(held)


def _parses(text: str, kind: type = dict) -> bool:
    try:
        return isinstance(orjson.loads(text), kind)
    except ValueError:
        return False


def _kind(value: object) -> str:
    return {list: "an array", type(None): "null"}.get(type(value), f"{value!r}")


def _no_event(place: Place, why: object) -> EchoicError:
    return EchoicError(f"{place} is no event: {why}", next_step=EXAMPLE)


EXAMPLE = (
    "a line is text, or JSON such as"
    ' {"source": "door", "type": "bell", "text": "The bell rings"}'
)
