"""What people are doing, as sensors and they themselves say."""

from datetime import datetime

from immutables import Map
from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.executive import UserStateChanged
from schemas.state import limits
from schemas.state.executive import EVERYBODY, Executive, UserState

_SAID = ("busy", "typing", "in_menu", "asleep", "away", "activity", "sentiment")


def changed(
    executive: Executive, control: UserStateChanged, origin: Origin
) -> Executive:
    """Return the state after a person's state changed; what was not said stays."""
    person = control.person or EVERYBODY
    known = executive.people.get(person) or UserState(at=origin.at)
    said = {
        name: value for name in _SAID if (value := getattr(control, name)) is not None
    }
    if control.focus is not None:
        said["focus"] = control.focus
        said["focus_vector"] = origin.aids.of(control.focus) or b""
    people = executive.people.set(person, replace(known, at=origin.at, **said))
    return replace(executive, people=_bounded(people))


def state_of(executive: Executive, person: str | None) -> UserState | None:
    """Return what is known of a person; of nobody in particular, what holds for all."""
    own = executive.people.get(person) if person is not None else None
    return own or executive.people.get(EVERYBODY)


def last_sign(executive: Executive) -> datetime | None:
    """Return when anybody was last noticed who is not away since; None if nobody is."""
    known = executive.people.values()
    here = [each.at for each in known if not each.away]
    left = max((each.at for each in known if each.away), default=None)
    heard = executive.heard_at
    if heard is not None and (left is None or heard > left):
        here.append(heard)
    return max(here, default=None)


def is_busy(executive: Executive, person: str | None) -> bool:
    """Tell whether the person is not to be talked to but urgently, or is not there.

    Nobody in particular is busy if everybody is said to be, or each one that is known is.
    """
    if not executive.people:
        return False
    known = state_of(executive, person)
    if known is not None and _is_out_of_reach(known):
        return True
    if person is not None:
        return False
    named = [executive.people[each] for each in executive.people if each != EVERYBODY]
    return bool(named) and all(map(_is_out_of_reach, named))


def _is_out_of_reach(known: UserState) -> bool:
    return known.busy or known.typing or known.in_menu or known.asleep or known.away


def _bounded(people: Map[str, UserState]) -> Map[str, UserState]:
    if len(people) <= limits.PEOPLE_PRESENT:
        return people
    # Sorted, since the order of a persistent map differs from one process to another.
    oldest = min(sorted(people), key=lambda person: people[person].at)
    return people.delete(oldest)
