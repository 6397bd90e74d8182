"""Which skills are in force: by personality, by context, or since a person enabled them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from projections.folds.fold_context import Origin
from schemas.messages.executive import SkillLoaded, SkillUnloaded
from schemas.packs import skills
from schemas.packs.compiled import CompiledPack
from schemas.state.executive import ActiveContext, Executive, Known
from schemas.values.bounded_map import Bounded
from schemas.values.by_identity import by_identity
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.skills import Skill, Skills

_GENERAL = "general"
"""The context of whoever never switched to another."""


def set_by_hand(
    executive: Executive, message: SkillLoaded | SkillUnloaded, _: Origin
) -> Executive:
    """Return the executive's state after a skill was loaded or unloaded by hand."""
    is_loaded = isinstance(message, SkillLoaded)
    if executive.skills.get(message.skill) == is_loaded:
        return executive
    return replace(executive, skills=executive.skills.set(message.skill, is_loaded))


def in_force(
    executive: Executive,
    settings: ExecutiveSettings,
    packs: Sequence[CompiledPack],
    domain: str,
) -> Skills:
    """Return the skills in force for events of a domain, in the order of their use.

    One that lacks a fact it requires is not. Domains come first, then capabilities, then
    styles. Whether a style's words suit the traits is for the voice to say.
    """
    by_domain = _by_domain(
        settings, executive.skills, executive.context, executive.known, *packs
    )
    found = by_domain.get(domain)
    return by_domain[_ANY] if found is None else found


_ANY = ""
"""The domain of a skill that is bound to none."""
_ORDER = ("domain", "capability", "style")


# Asked for at each event, while what it depends on seldom changes.
@by_identity(256)
def _by_domain(
    settings: ExecutiveSettings,
    by_hand: Bounded[str, bool],
    context: ActiveContext | None,
    facts: Bounded[str, Known],
    *packs: CompiledPack,
) -> Mapping[str, Skills]:
    """Return the skills in force for each domain that one is bound to, and for others."""
    present = Executive(skills=by_hand, context=context, known=facts)
    known = skills.known(settings, packs).items()
    fit = sorted(
        (each for each in known if missing(present, *each) is None),
        key=lambda each: _ORDER.index(each[1].kind),
    )
    domains = dict.fromkeys((_ANY, *(skill.domain for _, skill in fit)))
    return {
        domain: {name: skill for name, skill in fit if skill.domain in (_ANY, domain)}
        for domain in domains
    }


Missing = Literal["unloaded", "enabling", "context", "facts"]
"""Why a skill is not in force: it was unloaded by hand, nobody enabled it, this is another
context, or a fact that it requires is not known."""


def missing(executive: Executive, name: str, skill: Skill) -> Missing | None:
    """Return why a skill is not in force; None if it is."""
    by_hand = executive.skills.get(name)
    if by_hand is False:
        return "unloaded"
    if skill.kind == "capability" and not by_hand:
        return "enabling"
    context = executive.context.name if executive.context is not None else _GENERAL
    if not by_hand and skill.context not in ("", context):
        return "context"
    is_known = all(each in executive.known for each in skill.requires)
    return None if is_known else "facts"
