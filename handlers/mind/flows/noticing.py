"""Noticing what people do: events that a pack declares to tell it change what is known."""

from collections.abc import Mapping

from pydantic import ValidationError

from handlers.mind.context import TurnContext
from handlers.mind.flows.infer import infer
from projections.folds.executive.grants import may_name
from schemas.messages.executive import BreakSignalled, ContextSwitched, UserStateChanged
from schemas.messages.sensing import SOMEBODY, Sensed
from schemas.packs.event_types import Meaning
from schemas.state.executive import EVERYBODY

_Told = type[UserStateChanged] | type[BreakSignalled] | type[ContextSwitched]
_CONTROLS: Mapping[Meaning, _Told] = {
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
    try:
        control = kind.from_fields(told | {"by": event.source})
    except ValidationError:
        return None
    infer(turn, control, "rule")
    if isinstance(control, BreakSignalled):
        return control.person or EVERYBODY
    return None
