"""Whom a sensor may name: as its account was granted, by `PersonsGranted`.

Whatever else it claims is in the log as it was sent, and is read here as `unknown`: by the
mind, the fold and the read models alike.
"""

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.codec.envelope import Input
from schemas.messages.controls import Control
from schemas.messages.executive import PersonsGranted
from schemas.messages.sensing import SOMEBODY, Sensed
from schemas.state import limits
from schemas.state.agent import AgentState
from schemas.state.executive import Executive
from schemas.values import subjects
from schemas.values.unicode_text import quoted


def granted(state: AgentState, control: PersonsGranted, _: Origin) -> AgentState:
    """Return the state after a sensor was granted some persons alone."""
    known = state.executive.granted.set(control.source, control.persons)
    return replace(state, executive=replace(state.executive, granted=known))


def is_full(executive: Executive, control: PersonsGranted) -> bool:
    """Tell whether no further sensor can be remembered."""
    known = executive.granted
    return control.source not in known and len(known) >= limits.SOURCES_GRANTED


def may_name(executive: Executive, source: str, person: object) -> bool:
    """Tell whether a sensor may name a person; each may name nobody in particular."""
    if person is None or person == SOMEBODY:
        return True
    known = executive.granted.get(source)
    return known is None or person in known


def claimed(executive: Executive, message: object) -> str | None:
    """Return whom an event names though its sensor may not; None if it does not."""
    # First of all, since hardly any agent has grants, and every event comes by here.
    if not executive.granted or not isinstance(message, Sensed):
        return None
    is_true = may_name(executive, message.source, message.person)
    return None if is_true else message.person


def believed(executive: Executive, input_: Input) -> Input:
    """Return an input as it may be read: whom its sensor may not name is `unknown`."""
    message = input_.message
    if claimed(executive, message) is None:
        return input_
    assert isinstance(message, Sensed)
    unknown = replace(message, person=SOMEBODY)
    return replace(input_, message=unknown)


def refused(executive: Executive, input_: Input, control: Control) -> str | None:
    """Return why a control that a sensor published is not its to send; None if it is."""
    place = subjects.parse(input_.record.subject)
    if place.kind != "sensor":
        return None
    if isinstance(control, PersonsGranted):
        return "a sensor cannot grant persons"
    source, _, _ = place.detail.partition(".")
    person = getattr(control, "person", None)
    if may_name(executive, source, person):
        return None
    return f"{source} may not name {quoted(person)}"
