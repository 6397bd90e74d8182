"""A setting's declaration, and the parsers of values.

A value is checked where it is read. A parser takes a value of a TOML file or the text of
a flag or variable, and raises `ValueError` with a description of what is allowed.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.values import timezones
from schemas.values.executive_settings import HOURS
from schemas.values.model_settings import chain_of, links_of
from schemas.values.setting import Declared, Reach
from schemas.values.subjects import (
    ALL_PARTITIONS,
    is_agent,
    is_token,
    range_text,
    read_range,
)

_MOST_BIAS = 0.1
"""The largest bias, up or down; repeated from `schemas.values.personality`, slow to import."""

Value = (
    str
    | int
    | float
    | Path
    | tuple[str, ...]
    | tuple[float, float]
    | dict[str, float]
    | None
)
Parser = Callable[[object], Value]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting."""

    name: str
    """The name as in the file, with dots for tables."""
    parse: Parser
    default: Value
    meaning: str | None
    """None: `declared` tells it, slower."""
    also: tuple[str, ...] = ()
    """Well-known variables of other programs that set it, too, weaker than our own."""
    secret: bool = False
    """Whether it may hold a password, which is then hidden."""
    declared: Declared | None = None
    """Where it is recorded; None of what only this program reads."""
    reach: Reach | None = None
    """What it can do besides shaping decisions, as `Setting.reach` has it."""

    def told(self) -> str:
        """Return what it means to an operator."""
        if self.meaning is not None:
            return self.meaning
        return self.declared.meaning if self.declared else ""

    @property
    def needs_trust(self) -> bool:
        """Whether a folder's own file sets it only where its user trusts the folder."""
        return self.reach not in (None, "nothing")

    def needs_trust_in(self, given: Mapping[str, object]) -> bool:
        """Tell whether it is among what is given by name, and needs trust."""
        return self.needs_trust and self.name in given

    @property
    def variable(self) -> str:
        """Echoic's own environment variable for it."""
        return "ECHOIC_" + self.name.upper().replace(".", "_")

    @property
    def variables(self) -> tuple[str, ...]:
        """Every environment variable that sets it, the strongest first."""
        return (self.variable, *self.also)

    @property
    def field(self) -> str:
        """The attribute of `Settings` that holds it, unless it shapes behaviour."""
        return self.name.replace(".", "_")


def text(value: object) -> str:
    """Return any text."""
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def optional_text(value: object) -> str | None:
    """Return a text; an empty one means none."""
    return text(value) or None


def models(value: object) -> str | None:
    """Return the name of a model, or of a chain of them; an empty text means none.

    Several are divided by commas, or a list; the chain's own name is taken as well.
    """
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(each, str) for each in parts):
        raise ValueError("the name of a model, or several, divided by commas")
    names = [each.strip() for each in parts]
    if names in ([], [""]):
        return None
    return chain_of(links_of(names[0]) if len(names) == 1 else names)


def one_of(*choices: str) -> Parser:
    """Make a parser of one of a few words."""

    def parse(value: object) -> str:
        if value not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return str(value)

    return parse


def number(low: float, high: float) -> Parser:
    """Make a parser of a number within bounds, both included."""

    def parse(value: object) -> float:
        found = _number(value)
        if found is None or not low <= found <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return found

    return parse


def positive(value: object) -> float:
    """Return a number over zero."""
    found = _number(value)
    if found is None or not 0 < found < float("inf"):
        raise ValueError("a number over 0")
    return found


def prices(value: object) -> tuple[float, float] | None:
    """Return two prices, as a list or divided by a comma; an empty text means none."""
    parts = value.split(",") if isinstance(value, str) else value
    if parts in ([""], None):
        return None
    found = [_number(each) for each in parts] if isinstance(parts, list | tuple) else []
    match found:
        case [float(taken), float(given)] if taken >= 0 and given >= 0:
            return taken, given
    raise ValueError("two numbers from 0 up, as in 0.15,0.60")


def whole(low: int, high: int) -> Parser:
    """Make a parser of a whole number within bounds, both included."""

    def parse(value: object) -> int:
        found = _number(value)
        if found is None or found != int(found) or not low <= found <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(found)

    return parse


def processes(value: object) -> str:
    """Return a number of processes from 1 to 16, the number of partitions, or `auto`."""
    found = _number(value)
    if found in range(1, 17):
        return str(int(found or 1))
    if value != "auto":
        raise ValueError("a whole number from 1 to 16, or auto")
    return "auto"


def partitions(value: object) -> str:
    """Return a range of partitions as it is written the shortest way, or `all`."""
    # TOML has a single one as a number.
    held = read_range(str(value))
    return "all" if held == ALL_PARTITIONS else range_text(held)


def streams(value: object) -> str:
    """Return over how many streams a log is divided, or `kept`."""
    found = _number(value)
    if found in (1, 2, 4, 8, 16):
        return str(int(found or 1))
    if value != "kept":
        raise ValueError("1, 2, 4, 8, 16, or kept")
    return "kept"


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts; in a variable they are divided by semicolons."""
    # Not commas, which sentences such as goals hold.
    parts = value.split(";") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError("texts, divided by semicolons or as a list")
    return tuple(part.strip() for part in parts if part.strip())


def biases(value: object) -> dict[str, float]:
    """Return small numbers by name; in a variable `name=0.1;other=-0.05`."""
    allowed = ValueError(
        "numbers from -0.1 to 0.1 by name, such as confidence_threshold=0.1"
    )
    found = _numbers(value, allowed)
    if any(abs(each) > _MOST_BIAS for each in found.values()):
        raise allowed
    return found


def _numbers(value: object, allowed: ValueError) -> dict[str, float]:
    if isinstance(value, str):
        pairs: dict[object, object] = {}
        for part in texts(value):
            name, equals, amount = part.partition("=")
            if not equals:
                raise allowed
            pairs[name.strip()] = amount
        value = pairs
    if not isinstance(value, dict):
        raise allowed
    found = {str(name): _number(amount) for name, amount in value.items()}
    known = {name: amount for name, amount in found.items() if amount is not None}
    if len(known) < len(found):
        raise allowed
    return known


def bias_pairs(pairs: Sequence[str]) -> dict[str, float]:
    """Return biases from a command's arguments, each `name=number`.

    Raises:
        ValueError: one is none, or too large; it says what is allowed.
    """
    return biases(";".join(pairs))


def origin_factors(value: object) -> dict[str, float]:
    """Return factors from 0.001 to 1000 by origin; an origin that is not named has 1."""
    origins = ("skill_pack", "seeded", "learned")
    wrong = ValueError(f"factors from 0.001 to 1000 for {', '.join(origins)}")
    found = _numbers(value, wrong)
    if any(name not in origins for name in found):
        raise wrong
    if any(not 0.001 <= factor <= 1_000.0 for factor in found.values()):
        raise wrong
    return found


def folder(value: object) -> Path:
    """Return a folder, which need not exist yet."""
    if not isinstance(value, str) or not value:
        raise ValueError("a folder")
    return Path(value).expanduser().absolute()


def span_s(told: str) -> float:
    """Return the seconds of a span such as `90`, `90s`, `10m`, `2h` or `1d`; 0 of none."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhd]?)", told)
    units = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    seconds = float(found[1]) * units[found[2]] if found else 0.0
    return seconds if seconds <= 1e9 else 0.0


def span(value: object) -> str:
    """Return a span of time of a second at least, or `off`."""
    told = str(value)
    if told != "off" and span_s(told) < 1.0:
        raise ValueError("a span of time such as 30m, 6h or 1d, or off")
    return told


def optional_folder(value: object) -> str | None:
    """Return a folder as an absolute path; an empty one means none."""
    return str(folder(value)) if text(value) else None


def file(value: object) -> str | None:
    """Return the path of a file that exists; an empty one means none."""
    name = text(value)
    path = Path(name).expanduser().absolute()
    if name and not path.is_file():
        raise ValueError("a file that exists")
    return str(path) if name else None


def url(*schemes: str) -> Parser:
    """Make a parser of an address of one of these schemes; an empty one means none."""

    def parse(value: object) -> str | None:
        address = text(value)
        if address and address.partition("://")[0] not in schemes:
            raise ValueError("an address that starts with " + schemes[0] + "://")
        return address or None

    return parse


def listen(value: object) -> str | None:
    """Return a host and port to listen at; empty or `off` means nowhere."""
    place = text(value)
    if place in ("", "off"):
        return None
    try:
        host, port = address_of(place)
    except ValueError:
        host, port = "", -1
    if not host or not 0 <= port <= 65_535:
        raise ValueError("a host and port such as 127.0.0.1:9464, or off")
    return place


def address_of(place: str) -> tuple[str, int]:
    """Return the host and the port of `host:port` or `[ipv6]:port`.

    Raises:
        ValueError: the port is no number.
    """
    host, _, port = place.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def agent(value: object) -> str:
    """Return the name of an agent."""
    name = text(value)
    if not is_agent(name):
        raise ValueError("1 to 64 of A-Z a-z 0-9 _ -, and not '_' alone")
    return name


def token(value: object) -> str:
    """Return one token of a subject."""
    name = text(value)
    if not is_token(name):
        raise ValueError("1 to 64 of A-Z a-z 0-9 _ -")
    return name


def template(value: object) -> str:
    """Return the name of a shipped personality, of a pack's as `<pack>/<name>`, or ""."""
    # Imported here: few commands read the templates' files.
    from echoic.packs import personalities
    from schemas.values.personality import NO_TEMPLATE

    name = text(value)
    if name in ("", NO_TEMPLATE):
        return ""
    # Which packs there are is known only once they are loaded.
    if "/" not in name and name not in personalities.names():
        known = ", ".join(personalities.names())
        raise ValueError(f"one of {known}, or <pack>/<name>")
    return name


def languages(value: object) -> tuple[str, ...]:
    """Return languages that there are phrases of."""
    # Imported here: few commands read the files of phrases.
    from echoic.packs import phrases

    found = texts(value)
    known = phrases.languages()
    if not set(found) <= set(known):
        raise ValueError(f"some of {', '.join(known)}, divided by semicolons")
    return found


def timezone(value: object) -> str:
    """Return the name of a time zone that the `tzdata` wheel has."""
    name = text(value)
    if timezones.zone(name) is None:
        raise ValueError("a time zone such as UTC or Europe/Berlin")
    return name


def quiet_hours(value: object) -> str:
    """Return hours such as `22:00-07:00`; empty or `off` means none.

    The day ends at `24:00`, too, which is `00:00`.
    """
    hours = text(value)
    if hours in ("", "off"):
        return ""
    start, _, end = hours.partition("-")
    end = "00:00" if end == "24:00" else end
    if start == end:
        raise ValueError(
            "less than the whole day, such as 22:00-07:00, or `echoic mute`"
        )
    hours = f"{start}-{end}"
    if not re.fullmatch(HOURS, hours):
        raise ValueError("hours such as 22:00-07:00, or off")
    return hours


def _number(value: object) -> float | None:
    # A bool is an int to Python, but `true` in a file is not meant as 1.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None


def default_data() -> Path:
    """Return the default data folder, by the XDG base directories."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "echoic" / "default"
