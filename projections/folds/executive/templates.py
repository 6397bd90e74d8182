"""Which personality template is in force, and which templates and contexts are known."""

from collections.abc import Mapping, Sequence

from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import (
    CONTEXTS,
    DETECTED,
    NO_TEMPLATE,
    ContextDeclared,
    PersonalityTemplate,
    Trait,
)
from schemas.values.unicode_text import quoted


def in_force(
    state: AgentState,
    settings: ExecutiveSettings,
    packs: Sequence[CompiledPack],
    wanted: str | None = None,
) -> PersonalityTemplate | None:
    """Return the template in force; None if none is selected, or it is known no more."""
    return named(settings, packs, selected(state, settings, wanted))


def selected(
    state: AgentState, settings: ExecutiveSettings, wanted: str | None = None
) -> str:
    """Return the name of the template: the one `wanted`, else selected, else set."""
    if wanted is not None:
        return wanted
    own = state.executive.personality.template
    return settings.template if own is None else own


def named(
    settings: ExecutiveSettings, packs: Sequence[CompiledPack], name: str
) -> PersonalityTemplate | None:
    """Return the template of a name such as `butler` or `<pack>/<template>`."""
    if name in ("", NO_TEMPLATE):
        return None
    of_pack, _, own = name.rpartition("/")
    known = settings.templates
    if of_pack:
        known = next(
            (each.pack.personalities for each in packs if each.pack.name == of_pack), ()
        )
    return next((each for each in known if each.name == own), None)


def names(
    settings: ExecutiveSettings, packs: Sequence[CompiledPack]
) -> tuple[str, ...]:
    """Return the names of all templates that can be selected."""
    return (
        *(each.name for each in settings.templates),
        *(f"{p.pack.name}/{each.name}" for p in packs for each in p.pack.personalities),
    )


def problem(
    settings: ExecutiveSettings, packs: Sequence[CompiledPack], name: str
) -> str | None:
    """Return what is wrong with the name of a template, `none` included; None if nothing."""
    known = (*names(settings, packs), NO_TEMPLATE)
    if name in known:
        return None
    return f"no personality {quoted(name)}, there are {', '.join(known)}"


def contexts(packs: Sequence[CompiledPack]) -> dict[str, ContextDeclared]:
    """Return the contexts that can be switched to, by name; a pack's go before ours."""
    declared = {each.name: each for pack in packs for each in pack.pack.contexts}
    return {**CONTEXTS, **declared}


def modifiers(packs: Sequence[CompiledPack], context: str) -> Mapping[Trait, float]:
    """Return what a context adds to each trait; nothing if it is known no more."""
    found = DETECTED.get(context)
    if found is not None:
        return found
    declared = contexts(packs).get(context)
    return declared.modifiers if declared is not None else {}
