"""Which skills are in force: by personality, by context, or since a person enabled them."""

from collections.abc import Sequence
from typing import Literal

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

    One that lacks a fact it requires is not. Domains come first, then capabilities, then
    styles. Whether a style's words suit the traits is for the voice to say.
    """
    known = skills.known(settings, packs)
    if not known:
        return known
    found = {
        name: skill
        for name, skill in known.items()
        if skill.domain in ("", domain) and missing(executive, name, skill) is None
    }
    order = ("domain", "capability", "style")
    return dict(sorted(found.items(), key=lambda each: order.index(each[1].kind)))


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
    context = executive.context.name if executive.context is not None else GENERAL
    if not by_hand and skill.context not in ("", context):
        return "context"
    is_known = all(each in executive.known for each in skill.requires)
    return None if is_known else "facts"
