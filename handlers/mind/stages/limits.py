"""Limits: is the companion to hold its tongue for now, whatever the event says?

Muted and quiet as somebody asked for them, quiet hours, a cooldown between responses and
between two of one heuristic, and a number of responses an hour. Who passes each is declared
(`GATES`); the asker of a quiet of which nobody knows who asked for it is anybody. Each
limit that is in force is a gate on record. A cooldown closes to nothing: an answer waits
for its end.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from projections.folds.executive import restraints, sayings
from schemas.messages.decisions import Gate
from schemas.messages.sensing import PERSON, SOMEBODY
from schemas.state.executive import EVERYBODY, Executive, Matter, Restraint, Saying
from schemas.values import timezones
from schemas.values.exact_math import round6
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.reasons import Drop, Passer, passing

_RAISED_AFTER_QUIET = 0.3
"""How much more an event must matter in the minutes after a quiet that lapsed."""

_HOUR = timedelta(hours=1)
WAITS = "an answer waits until then"


class Heard(Struct, frozen=True):
    """What limits see of an event."""

    now: datetime
    person: str | None
    """Whom an answer is for; None: everybody."""
    speaker: str | None
    """Whose own words the event is; None: nobody's."""
    is_threat: bool
    is_urgent: bool = False
    is_watched: bool = False

    def passing(self, gate: str, by: str = "") -> str | None:
        """Return the note of a gate that it passes though that is closed, as `by` asked."""
        shown: list[Passer] = ["threat"] if self.is_threat else []
        if self.speaker is not None:
            shown.append("own_words")
            if by == PERSON or self.speaker in (SOMEBODY, by):
                shown.append("asker")
        if self.is_urgent:
            shown.append("urgent")
        if self.is_watched:
            shown.append("watched")
        return passing(gate, tuple(shown))


def before_salience(
    executive: Executive, settings: ExecutiveSettings, here: Heard
) -> Iterator[Gate]:
    """Yield the gates that come before what the event is worth."""
    return _tested(_BEFORE, executive, settings, here)


def after_salience(
    executive: Executive, settings: ExecutiveSettings, here: Heard
) -> Iterator[Gate]:
    """Yield the gates that come after what the event is worth."""
    return _tested(_AFTER, executive, settings, here)


def cool_at(
    executive: Executive, settings: ExecutiveSettings, now: datetime
) -> datetime:
    """Return when the cooldown of the last response is over; `now` if it is."""
    waited_s = _waited_s(executive, now) if settings.cooldown_s else None
    if waited_s is None or waited_s >= settings.cooldown_s:
        return now
    return now + timedelta(seconds=round6(settings.cooldown_s - waited_s))


def is_heeded(
    executive: Executive, settings: ExecutiveSettings, source: str, now: datetime
) -> bool:
    """Tell whether what is urgent of a sensor passes, which says so not too often."""
    sort = f"{source}."
    said = [
        each
        for each in _said_since(executive, now - _HOUR, now)
        if each.sort.startswith(sort)
    ]
    return len(said) < settings.urgent_per_hour


def cooling(
    executive: Executive,
    settings: ExecutiveSettings,
    here: Heard,
    others: Callable[[], frozenset[str]],
) -> Mapping[str, float]:
    """Return the heuristics that answered too recently, with the seconds since then.

    What was said of `others`, decisions on something else of the sort, does not count.
    """
    span_s = settings.heuristic_cooldown_s
    if not span_s or here.passing("heuristic_cooldown"):
        return {}
    since = here.now - timedelta(seconds=span_s)
    # Nearly always there is none, which takes less than to look at each.
    if not sayings.between(executive.sayings.said, since, here.now):
        return {}
    left_out = others()
    return {
        each.heuristic_id: (here.now - each.at).total_seconds()
        for each in _said_since(executive, since, here.now)
        if each.heuristic_id is not None and each.decision_id not in left_out
    }


def heuristic_gate(waited_s: float, settings: ExecutiveSettings) -> Gate:
    """Return the closed gate of a heuristic that answered so many seconds ago."""
    return _gate("heuristic_cooldown", waited_s, settings.heuristic_cooldown_s, None)


def matter_gate(matter: Matter, enough_s: float, here: Heard) -> Gate:
    """Return the gate of what goes on, and of which a word was enough for so long."""
    excuse = here.passing("already_said")
    waited_s = (here.now - matter.at).total_seconds()
    return _gate("already_said", waited_s, round6(enough_s), excuse)


def raised(executive: Executive, here: Heard) -> float:
    """Return how much more than usual an event must matter now."""
    is_after = any(
        each.mode == "quiet" and _is_after(each, here.now) and _concerns(each, here)
        for each in executive.peace.restraints
    )
    return _RAISED_AFTER_QUIET if is_after else 0.0


def stopped(executive: Executive, here: Heard) -> tuple[Drop, str] | None:
    """Return the mute or the quiet that an answer may not pass, with the detail."""
    for name, mode in _DROPS.items():
        gate = _restrained(mode, executive, None, here)
        if gate is not None and not gate.passed:
            return name, gate.note or ""
    return None


def muted_until(executive: Executive, here: Heard) -> datetime | None:
    """Return when the mutes that are in force end; None if one ends not by itself."""
    ends = [
        each.until
        for each in executive.peace.restraints
        if each.mode == "mute"
        and _is_in_force(each, here.now)
        and _concerns(each, here)
    ]
    known = [each for each in ends if each is not None]
    return max(known) if known and len(known) == len(ends) else None


_Test: TypeAlias = Callable[[Executive, ExecutiveSettings, Heard], Gate | None]
"""Returns the gate of a limit; None if the limit is not in force."""


def _tested(tests: tuple[_Test, ...], *of: Any) -> Iterator[Gate]:
    found = (test(*of) for test in tests)
    return (gate for gate in found if gate is not None)


def _quiet_hours(_: object, settings: ExecutiveSettings, here: Heard) -> Gate | None:
    if not settings.quiet_hours:
        return None
    local_time = timezones.local(here.now, settings.timezone)
    if not timezones.is_within(settings.quiet_hours, local_time):
        return None
    excuse = here.passing("quiet_hours")
    why = f"{settings.quiet_hours} {settings.timezone}, it is {local_time:%H:%M}"
    return Gate(name="quiet_hours", passed=excuse is not None, note=excuse or why)


def _cooldown(
    executive: Executive, settings: ExecutiveSettings, here: Heard
) -> Gate | None:
    waited_s = _waited_s(executive, here.now) if settings.cooldown_s else None
    if waited_s is None:
        return None
    is_over = waited_s >= settings.cooldown_s
    excuse = here.passing("cooldown") or (None if is_over else WAITS)
    return _gate("cooldown", waited_s, settings.cooldown_s, excuse)


def _rate(
    executive: Executive, settings: ExecutiveSettings, here: Heard
) -> Gate | None:
    most = settings.rate_per_hour
    if not most:
        return None
    said = len(list(_said_since(executive, here.now - _HOUR, here.now)))
    why = f"{said} of {most} responses in the last hour"
    return _gate("rate", float(most - said), 1.0, here.passing("rate"), why)


_DROPS: Mapping[Drop, Literal["mute", "quiet"]] = {"muted": "mute", "quiet": "quiet"}
_GATES: Mapping[str, str] = {mode: name for name, mode in _DROPS.items()}


def _restrained(
    mode: Literal["mute", "quiet"], executive: Executive, _: object, here: Heard
) -> Gate | None:
    """Return the gate of such a restraint, if one is in force for the event's person."""
    held = [
        each
        for each in executive.peace.restraints
        if each.mode == mode and _is_in_force(each, here.now) and _concerns(each, here)
    ]
    if not held:
        return None
    # The one that lets nothing through, if there is one, decides.
    name = _GATES[mode]
    kept = (one for one in held if here.passing(name, one.by) is None)
    each = next(kept, held[0])
    excuse = here.passing(name, each.by)
    note = excuse or _described(each, here.now)
    return Gate(name=name, passed=excuse is not None, note=note)


def _is_in_force(restraint: Restraint, now: datetime) -> bool:
    return restraint.until is None or now < restraint.until


def _is_after(restraint: Restraint, now: datetime) -> bool:
    until = restraint.until
    return (
        until is not None
        and 0.0 <= (now - until).total_seconds() < restraints.AFTER_QUIET_S
    )


def _concerns(restraint: Restraint, here: Heard) -> bool:
    # What is said to everybody would disturb the one who is to be spared as well.
    return here.person is None or restraint.person in (EVERYBODY, here.person)


def _described(restraint: Restraint, now: datetime) -> str:
    by = f"asked for by {restraint.by}"
    if restraint.until is None:
        return f"{by}, until taken back"
    return f"{by}, for {_left(restraint.until - now)} more"


def _left(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def _waited_s(executive: Executive, now: datetime) -> float | None:
    """Return the seconds since the last response that cools; None if none is known."""
    last = next(
        (each.at for each in reversed(executive.sayings.said) if each.cools), None
    )
    if last is None or last > now:
        return None
    return (now - last).total_seconds()


def _said_since(
    executive: Executive, since: datetime, now: datetime
) -> Iterator[Saying]:
    """Yield the responses of a span of time, oldest first."""
    return (each for each in executive.sayings.said if since < each.at <= now)


def _gate(
    name: str,
    value: float,
    threshold: float,
    excuse: str | None,
    why: str | None = None,
) -> Gate:
    value = round6(value)
    return Gate(
        name=name,
        passed=excuse is not None or value >= threshold,
        value=value,
        threshold=threshold,
        margin=round6(value - threshold),
        note=excuse or why,
    )


_BEFORE: tuple[_Test, ...] = (
    partial(_restrained, "mute"),
    partial(_restrained, "quiet"),
    _quiet_hours,
)
_AFTER: tuple[_Test, ...] = (_cooldown, _rate)
"""What holds it back, before and after what an event is worth, in the order of the gates."""
