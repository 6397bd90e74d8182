"""Named facts: the latest value of an event's field, as a skill's manifest provides it."""

from collections.abc import Mapping

from msgspec.structs import replace

from projections.folds.fold_context import FoldContext
from schemas.messages.decisions import Decided
from schemas.messages.sensing import Sensed
from schemas.packs import conditions
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.state.executive import Executive
from schemas.values.base import NAME_LIMIT
from schemas.values.by_identity import by_identity


def noticed(state: AgentState, context: FoldContext, message: Decided) -> AgentState:
    """Return the state after what an event, that was decided on, tells of named facts.

    A capability that nobody enabled notices nothing; nor does what was unloaded by hand.
    """
    event = context.input.message
    if not isinstance(event, Sensed):
        return state
    pack = context.appearance.domain.pack
    if pack is None or not pack.pack.skills or message.event_id != context.input.id:
        return state
    executive = state.executive
    for name, source in _sources(pack).get(event.type, ()):
        skill, _, fact = name.partition(":")
        if _notices(executive, pack, skill):
            is_there, value = conditions.field_value(source, event.fields)
            if is_there:
                executive = _noted(executive, fact, value)
    if executive is state.executive:
        return state
    return replace(state, executive=executive)


def as_fields(executive: Executive) -> Mapping[str, object]:
    """Return the facts as an event's fields would hold them: `a.b` is `b` within `a`."""
    return _nested(executive) if executive.known else _NOTHING


_NOTHING: Mapping[str, object] = {}


@by_identity(256)
def _nested(executive: Executive) -> Mapping[str, object]:
    fields: dict[str, object] = {}
    for name in executive.known.sorted_keys():
        *outer, last = name.split(".")
        inner = fields
        for each in outer:
            found = inner.setdefault(each, {})
            # A fact `a` and a fact `a.b`: the first by name is kept.
            inner = found if isinstance(found, dict) else {}
        inner[last] = executive.known[name]
    return fields


@by_identity(64)
def _sources(pack: CompiledPack) -> Mapping[str, list[tuple[str, str]]]:
    """Return by type of event what is noticed: `<skill>:<fact>`, and the field."""
    found: dict[str, list[tuple[str, str]]] = {}
    for skill in pack.pack.skills:
        for fact in sorted(skill.provides):
            source = skill.provides[fact]
            told = found.setdefault(source.type, [])
            told.append((f"{skill.name}:{fact}", source.field))
    return found


def _notices(executive: Executive, pack: CompiledPack, name: str) -> bool:
    by_hand = executive.skills.get(f"{pack.pack.name}/{name}")
    if by_hand is not None:
        return by_hand
    skill = next(each for each in pack.pack.skills if each.name == name)
    return skill.kind != "capability"


def _noted(executive: Executive, fact: str, value: object) -> Executive:
    if not isinstance(value, str | int | float):
        return executive
    if isinstance(value, str):
        value = value[:NAME_LIMIT]
    if executive.known.get(fact) == value:
        return executive
    return replace(executive, known=executive.known.set(fact, value))
