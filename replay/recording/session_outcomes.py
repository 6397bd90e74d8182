"""Outcomes of whole sessions, such as a game's score or the length of a life, as packs
declare them.

Values of single decisions do not show these: each advice may be right, and lives be shorter
for it. They are counted from the domain's own events, one value for each session.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.messages.sensing import Sensed
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import SessionOutcome
from schemas.values.exact_math import total


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionValue:
    """The value of one session by one measure."""

    session: str
    domain: str
    declared: SessionOutcome
    value: float | None
    """None if no event carried it."""
    is_censored: bool = False
    """Whether the session ended before the life did, so that the value is a lower bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """The mean over a recording's sessions by one measure."""

    domain: str
    name: str
    measure: str
    type: str
    better: str
    sessions: int
    """Those with a value."""
    censored: int
    """Those cut off before the life ended: their value is a lower bound."""
    mean: float | None
    se: float | None
    """The standard error of the mean over sessions; None with fewer than two."""
    judged: bool = False
    """Always false: no verdict of a comparison rests on it."""


def ends_life(pack: CompiledPack | None, type_: str) -> bool:
    """Tell whether an event of this type ends a life, after which advice cannot matter."""
    outcomes = pack.pack.session_outcomes if pack is not None else ()
    return any(each.measure == "duration" and each.type == type_ for each in outcomes)


@dataclass(slots=True)
class _Tally:
    declared: SessionOutcome
    domain: str
    count: int = 0
    last: float | None = None


@dataclass(slots=True)
class _Session:
    began: datetime
    now: datetime
    tallies: dict[tuple[str, str], _Tally] = field(default_factory=dict)


class SessionLedger:
    """Counts the outcomes of sessions, event by event."""

    def __init__(self) -> None:
        """Start with no session."""
        self._sessions: dict[str, _Session] = {}

    def sensed(
        self, session: str, event: Sensed, pack: CompiledPack | None, now: datetime
    ) -> None:
        """Count an event of a session; `pack` is that of its domain."""
        found = self._sessions.setdefault(session, _Session(now, now))
        found.now = max(found.now, now)
        if pack is None:
            return
        for declared in pack.pack.session_outcomes:
            key = pack.pack.name, declared.name
            tally = found.tallies.setdefault(key, _Tally(declared, pack.pack.name))
            if declared.type == event.type:
                _count(tally, event)

    def values(self) -> tuple[SessionValue, ...]:
        """Return the values of every session, in order of their first event."""
        return tuple(
            _value(name, session, tally)
            for name, session in self._sessions.items()
            for tally in session.tallies.values()
        )


def summaries(values: Iterable[SessionValue]) -> tuple[SessionSummary, ...]:
    """Return one summary for each measure, over all sessions."""
    by_measure: dict[tuple[str, str], list[SessionValue]] = {}
    for each in values:
        by_measure.setdefault((each.domain, each.declared.name), []).append(each)
    return tuple(_summary(by_measure[key]) for key in sorted(by_measure))


def _count(tally: _Tally, event: Sensed) -> None:
    tally.count += 1
    number = _number(event.fields, tally.declared.field)
    if number is not None:
        tally.last = number


def _number(fields: Mapping[str, object], name: str | None) -> float | None:
    value = fields.get(name) if name is not None else None
    # A bool is an int in Python, and no number in JSON.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]  # it is a number


def _value(name: str, session: _Session, tally: _Tally) -> SessionValue:
    declared, value, is_censored = tally.declared, tally.last, False
    if declared.measure == "count":
        value = float(tally.count)
    elif declared.measure == "duration":
        # Total time at risk over the number of ends seen, so that the last, censored life
        # counts as well: Epstein and Sobel (1953), "Life testing", J. Am. Stat. Assoc. 48.
        lived_s = (session.now - session.began).total_seconds()
        value, is_censored = lived_s / max(tally.count, 1), tally.count == 0
    return SessionValue(
        session=name,
        domain=tally.domain,
        declared=declared,
        value=value,
        is_censored=is_censored,
    )


def _summary(values: Sequence[SessionValue]) -> SessionSummary:
    known = [each.value for each in values if each.value is not None]
    mean = total(known) / len(known) if known else None
    se = None
    if mean is not None and len(known) > 1:
        # The standard error of the mean: sqrt(s^2 / n), s^2 with the divisor n - 1.
        squares = total((each - mean) ** 2 for each in known)
        se = math.sqrt(squares / (len(known) - 1) / len(known))
    declared = values[0].declared
    return SessionSummary(
        domain=values[0].domain,
        name=declared.name,
        measure=declared.measure,
        type=declared.type,
        better=declared.better,
        sessions=len(known),
        censored=sum(each.is_censored for each in values),
        mean=mean,
        se=se,
    )
