"""Which skills are in force: by personality, by context, or since a person enabled them."""

from collections.abc import Sequence

from msgspec.structs import replace

from schemas.messages.executive import SkillLoaded, SkillUnloaded
from schemas.packs import skills
from schemas.packs.manifest import CompiledPack
from schemas.state.executive import Executive
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.skills import Skill, Skills

GENERAL = "general"
"""The context of whoever never switched to another."""


def set_by_hand(
    executive: Executive, message: SkillLoaded | SkillUnloaded
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

    Domains come first, then capabilities, then styles. Whether a style's words suit the
    traits is for the voice to say.
    """
    known = skills.known(settings, packs)
    if not known:
        return known
    context = executive.context.name if executive.context is not None else GENERAL
    found = {
        name: skill
        for name, skill in known.items()
        if _is_in_force(skill, executive.skills.get(name), context, domain)
    }
    order = ("domain", "capability", "style")
    return dict(sorted(found.items(), key=lambda each: order.index(each[1].kind)))


def _is_in_force(skill: Skill, by_hand: bool | None, context: str, domain: str) -> bool:
    if by_hand is False or skill.domain not in ("", domain):
        return False
    if by_hand or skill.kind == "style":
        return True
    return skill.kind == "domain" and skill.context in ("", context)
