"""Noticing what events tell that a pack declares: of people, and milestones worth a word."""

from collections.abc import Mapping

from pydantic import ValidationError

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from projections.folds.executive import milestones
from projections.folds.executive.grants import may_name
from schemas.messages.executive import (
    BreakSignalled,
    ContextSwitched,
    ReminderSet,
    UserStateChanged,
)
from schemas.messages.sensing import SOMEBODY, Sensed
from schemas.packs.event_types import Meaning
from schemas.state.executive import EVERYBODY
from schemas.values.prompt_fencing import shown

_SOON_S = 1.0
"""After how long a milestone is said: after the answer to the event itself, and not while
the person is busy."""
_Noticed = UserStateChanged | BreakSignalled | ContextSwitched
_CONTROLS: Mapping[Meaning, type[_Noticed]] = {
    "user_state": UserStateChanged,
    "break": BreakSignalled,
    "context": ContextSwitched,
}


def noticed(turn: TurnContext, event: Sensed) -> str | None:
    """Infer what the event tells of a person; return whose break it is, if it is one.

    Fields that do not fit are left alone: the event is decided on all the same.
    """
    declared = turn.appearance.domain.event_type
    if declared is None or declared.means is None:
        return None
    kind = _CONTROLS.get(declared.means)
    if kind is None:
        return None
    told = {
        name: event.fields[name]
        for name in kind.__struct_fields__
        if name in event.fields
    }
    if event.person is not None:
        told["person"] = event.person
    elif not may_name(turn.state.executive, event.source, event.fields.get("person")):
        told["person"] = SOMEBODY
    control = _fitting(kind, told | {"by": event.source})
    if control is None:
        return None
    infer(turn, control, "rule")
    if isinstance(control, BreakSignalled):
        return control.person or EVERYBODY
    return None


def _fitting(kind: type[_Noticed], told: dict[str, object]) -> _Noticed | None:
    """Return the control by the fields that fit; None if it needs one that does not."""
    try:
        return kind.from_fields(told)
    except ValidationError as error:
        unfit = {each["loc"][0] for each in error.errors()}
    fit = {name: value for name, value in told.items() if name not in unfit}
    return _fitting(kind, fit) if len(fit) < len(told) else None


def noted(turn: TurnContext, event: Sensed) -> None:
    """Have a milestone said that the event just decided on has reached."""
    domain = turn.appearance.domain
    declared = domain.event_type
    if declared is None or not declared.milestones:
        return
    held = turn.state.executive.initiative.counters
    for key, milestone, value in milestones.keys(
        declared.milestones, domain.name, event
    ):
        count = held.get(key) or 0
        if count in milestone.counts:
            text = milestone.text.replace("{count}", str(count))
            control = ReminderSet(
                text=text.replace("{value}", shown(value, len(value))),
                in_s=_SOON_S,
                person=event.person,
                by=event.source,
                purpose="milestone",
            )
            infer(turn, control, "rule", after=f"{key} is {count}"[:500])
