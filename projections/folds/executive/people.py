"""What people are doing, as sensors and they themselves say."""

from immutables import Map
from msgspec.structs import replace

from projections.folds.executive.origin import Origin
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


def is_busy(executive: Executive, person: str | None) -> bool:
    """Tell whether the person is not to be talked to but urgently."""
    known = state_of(executive, person)
    return known is not None and (
        known.busy or known.typing or known.in_menu or known.asleep
    )


def _bounded(people: Map[str, UserState]) -> Map[str, UserState]:
    if len(people) <= limits.PEOPLE_PRESENT:
        return people
    # Sorted, since the order of a persistent map differs from one process to another.
    oldest = min(sorted(people), key=lambda person: people[person].at)
    return people.delete(oldest)
