"""Read any program's decision log as observations, one JSON object a line.

A line that cannot be read or cannot be true ends the reading with its file and line.
Nothing is skipped but blank lines, and nothing is guessed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import orjson

from evaluation.ope.rows import Observation, ObservationError, check
from schemas.messages.arms import SILENT

_REQUIRED = ("arm", "p", "reward", "target", "baseline")
# Python's json writes these for NaN and infinity, and other readers accept them; the error
# then names the value instead of a column.
_NO_NUMBER = re.compile(rb"\b(NaN|Infinity)\b")
_SHOWN = 60
"""Characters of a value that an error message quotes."""


class LineError(ValueError):
    """A line cannot be used; the message names file and line and says why."""

    def __init__(self, name: str, line: int, what: str) -> None:
        super().__init__(f"{name}:{line}: {what}")
        self.line = line


def read(lines: Iterable[bytes], name: str) -> Iterator[Observation]:
    """Yield the observations of a log's lines; `name` is what errors call the file.

    Keys: `arm`, `p`, `reward`, `target`, `baseline`, and where known `session`, `decision`,
    `person` (whom it concerned), `agent` (who decided), `context` (a text that groups
    similar decisions), `logging` (the odds of all arms when it was logged) and `position`
    (a whole number that orders the decisions of a session). Others are ignored, and lines
    may come in any order. A session in which several persons are named is of them all.

    Carry-over is tested where `position` and `logging` are given and `silent` is one of
    the arms.

    Raises:
        LineError: a line is broken, misses a key or cannot be true, or there is none.
    """
    seen: dict[str, int] = {}
    is_empty = True
    for number, line in enumerate(lines, 1):
        # Windows programs begin a file with a byte order mark, which is no JSON.
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if text.isspace() or not text:
            continue
        try:
            # Checked here as well as by the columns, for here the line is known.
            row = observation(_parsed(text))
            check(row)
        except ObservationError as error:
            raise LineError(name, number, str(error)) from error
        if row.decision is not None:
            first = seen.setdefault(row.decision, number)
            if first != number:
                what = f"decision {row.decision!r} was already on line {first}"
                raise LineError(name, number, f"{what}: give each decision once")
        yield row
        is_empty = False
    if is_empty:
        what = "there is no decision: give one JSON object a line"
        raise LineError(name, 1, what)


def observation(fields: Mapping[str, object]) -> Observation:
    """Return one line's fields as an observation.

    Raises:
        ObservationError: a key is missing, or a value is of another type.
    """
    for key in _REQUIRED:
        if key not in fields:
            raise ObservationError(f"key {key!r} is missing: a line needs {_keys()}")
    reward = fields["reward"]
    context = fields.get("context")
    logging = fields.get("logging")
    arm = _text("arm", fields["arm"])
    odds = None if logging is None else _odds("logging", logging)
    return Observation(
        session=_name("session", fields.get("session")),
        arm=arm,
        propensity=_number("p", fields["p"]),
        reward=None if reward is None else _number("reward", reward),
        target=_odds("target", fields["target"]),
        baseline=_odds("baseline", fields["baseline"]),
        decision=_decision(fields.get("decision")),
        # Other programs log feature vectors and objects as `context`; only a text can be
        # a bucket of the reward model.
        context=context if isinstance(context, str) else "",
        logging=odds,
        position=_position(fields.get("position")),
        responded=arm != SILENT,
        respond_probability=None if odds is None else 1.0 - odds.get(SILENT, 0.0),
        person=_name("person", fields.get("person")),
        agent=_name("agent", fields.get("agent")),
    )


def _parsed(text: bytes) -> Mapping[str, object]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if found := _NO_NUMBER.search(text):
            raise ObservationError(
                f"{found[0].decode()} is no number in JSON: an unknown reward is null"
            ) from error
        try:
            text.decode()
        except UnicodeDecodeError as wrong:
            # Nothing of it is shown: such bytes may do anything to a terminal.
            raise ObservationError(
                f"not text (byte {wrong.start} is no UTF-8): a log is lines of JSON"
            ) from error
        why = str(error).removesuffix(": line 1 column 1 (char 0)")
        shown = text.strip()[:_SHOWN].decode(errors="replace")
        raise ObservationError(
            f"not JSON ({why}): a line is one whole object, this starts {shown!r}"
        ) from error
    if not isinstance(value, dict):
        raise ObservationError(
            f"a line is one JSON object with {_keys()}, not {_kind(value)}"
        )
    return value


def _name(key: str, value: object) -> str:
    if value is None:
        return ""
    if value == "":
        raise ObservationError(f"{key} '': give it a name, or leave the key out")
    return _text(key, value)


def _decision(value: object) -> str | None:
    # True and False are integers to Python, and no one's decision id.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None if value is None else _text("decision", value)


def _position(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise ObservationError(
            f"position {_shown(value)} is {_kind(value)}: give a whole number"
        )
    # Positions are held as signed 64-bit integers.
    if abs(value) >= 1 << 63:
        raise ObservationError(f"position {_shown(value)} is too large: count from 0")
    return value


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ObservationError(
            f"{key} {_shown(value)} is {_kind(value)}: give a string"
        )
    return value


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ObservationError(
            f"{key} {_shown(value)} is {_kind(value)}: give a number"
        )
    return float(value)


def _odds(key: str, value: object) -> Mapping[str, float]:
    if not isinstance(value, dict):
        raise ObservationError(
            f"{key} {_shown(value)} is {_kind(value)}: give an object of arm and probability,"
            ' such as {"a": 1.0}'
        )
    for arm, probability in value.items():
        # Nearly all are floats already; an exact type test keeps large logs fast.
        if type(probability) is not float:
            _number(f"{key} of {arm!r}", probability)
    return value


def _shown(value: object) -> str:
    """Return a value as an error message quotes it, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _keys() -> str:
    return ", ".join(_REQUIRED)


def _kind(value: object) -> str:
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")
