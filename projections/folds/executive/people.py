"""What people are doing, as sensors and they themselves say."""

from datetime import datetime, timedelta

from immutables import Map
from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.executive import BreakSignalled, UserStateChanged
from schemas.state import limits
from schemas.state.agent import within
from schemas.state.executive import EVERYBODY, Executive, UserState

_SAID = ("busy", "typing", "in_menu", "asleep", "away", "activity", "sentiment")
_ENDS = {"typing_paused": "typing", "menu_closed": "in_menu"}
"""What is over by a break of that signal."""


def changed(
    executive: Executive, control: UserStateChanged, origin: Origin
) -> Executive:
    """Return the state after a person's state changed; what was not said stays."""
    person, settings = control.person or EVERYBODY, origin.context.settings.executive
    known = executive.presence.people.get(person) or UserState(at=origin.at)
    known = standing(known, origin.at)
    said = {
        name: value for name in _SAID if (value := getattr(control, name)) is not None
    }
    if control.focus is not None:
        said["focus"] = control.focus
        said["focus_vector"] = origin.aids.of(control.focus) or b""
    if control.typing:
        known = replace(known, typing_until=_after(origin.at, settings.typing_s))
    if control.busy or control.in_menu:
        known = replace(known, busy_until=_after(origin.at, settings.busy_s))
    people = executive.presence.people.set(person, replace(known, at=origin.at, **said))
    return within(executive, "presence", people=_bounded(people))


def paused(executive: Executive, control: BreakSignalled, origin: Origin) -> Executive:
    """Return the state after a break, by whose signal something is over."""
    is_over = _ENDS.get(control.signal)
    people = executive.presence.people
    for person in sorted(people) if control.person is None else (control.person,):
        known = people.get(person)
        if is_over is not None and known is not None and getattr(known, is_over):
            over = replace(known, at=origin.at, **{is_over: False})
            people = people.set(person, over)
    return within(executive, "presence", people=people)


def standing(known: UserState, now: datetime) -> UserState:
    """Return what somebody does still, less what lapsed."""
    if known.typing and _is_past(known.typing_until, now):
        known = replace(known, typing=False)
    if (known.busy or known.in_menu) and _is_past(known.busy_until, now):
        known = replace(known, busy=False, in_menu=False)
    return known


def lapse_at(
    executive: Executive, person: str | None, now: datetime
) -> datetime | None:
    """Return when something next lapses that keeps a person busy, or anybody; None if never."""
    own = executive.presence.people.get(person) if person is not None else None
    known = (own,) if own is not None else executive.presence.people.values()
    ends = [
        until
        for each in known
        for is_on, until in (
            (each.typing, each.typing_until),
            (each.busy or each.in_menu, each.busy_until),
        )
        if is_on and until is not None and until > now
    ]
    return min(ends, default=None)


def state_of(executive: Executive, person: str | None) -> UserState | None:
    """Return what is known of a person; of nobody in particular, what holds for all."""
    own = executive.presence.people.get(person) if person is not None else None
    return own or executive.presence.people.get(EVERYBODY)


def last_sign(executive: Executive) -> datetime | None:
    """Return when anybody was last noticed who is not away since; None if nobody is."""
    known = executive.presence.people.values()
    here = [each.at for each in known if not each.away]
    left = max((each.at for each in known if each.away), default=None)
    heard = executive.presence.heard_at
    if heard is not None and (left is None or heard > left):
        here.append(heard)
    return max(here, default=None)


def is_busy(executive: Executive, person: str | None, now: datetime) -> bool:
    """Tell whether the person is not to be talked to but urgently, or is not there.

    Nobody in particular is busy if everybody is said to be, or each one that is known is.
    """
    if not executive.presence.people:
        return False
    known = state_of(executive, person)
    if known is not None and _is_out_of_reach(known, now):
        return True
    if person is not None:
        return False
    named = [
        executive.presence.people[each]
        for each in executive.presence.people
        if each != EVERYBODY
    ]
    return bool(named) and all(_is_out_of_reach(each, now) for each in named)


def _is_out_of_reach(known: UserState, now: datetime) -> bool:
    known = standing(known, now)
    return known.busy or known.typing or known.in_menu or known.asleep or known.away


def _after(now: datetime, span_s: float) -> datetime | None:
    return now + timedelta(seconds=span_s) if span_s else None


def _is_past(until: datetime | None, now: datetime) -> bool:
    return until is not None and until <= now


def _bounded(people: Map[str, UserState]) -> Map[str, UserState]:
    if len(people) <= limits.PEOPLE_PRESENT:
        return people
    # Sorted, since the order of a persistent map differs from one process to another.
    oldest = min(sorted(people), key=lambda person: people[person].at)
    return people.delete(oldest)
