"""Fold a control of the executive, whether somebody sent it or the mind inferred it."""

from msgspec.structs import replace

from projections.folds.executive import (
    context,
    facts,
    modulations,
    people,
    personality,
    restraints,
    skills,
)
from projections.folds.executive.origin import Origin
from schemas.messages.executive import (
    ContextSwitched,
    FactStated,
    Muted,
    OfPerson,
    PersonalitySelected,
    SalienceModulated,
    SkillLoaded,
    SkillUnloaded,
    TraitAdjusted,
    UserStateChanged,
)
from schemas.state.executive import Executive


def applied(executive: Executive, control: OfPerson, origin: Origin) -> Executive:
    """Return the executive's state after a control that was applied."""
    memory = facts.called(executive.memory, control.person, control.called)
    if memory is not executive.memory:
        executive = replace(executive, memory=memory)
    match control:
        case PersonalitySelected():
            own = personality.selected(executive.personality, control)
            return replace(executive, personality=own)
        case TraitAdjusted():
            own = personality.adjusted(executive.personality, control, origin)
            return replace(executive, personality=own)
        case ContextSwitched():
            return context.switched(executive, control, origin)
        case Muted():
            return restraints.muted(executive, control, origin)
        case UserStateChanged():
            return people.changed(executive, control, origin)
        case FactStated():
            memory = facts.stated(executive.memory, control, origin)
            return replace(executive, memory=memory)
        case SalienceModulated():
            return modulations.modulated(executive, control, origin)
        case SkillLoaded() | SkillUnloaded():
            return skills.set_by_hand(executive, control)
        case _:
            return executive
