"""The skills there are, and why each is in force now or is not: for commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from echoic.client.personality import Character, character
from echoic.client.state import AgentSnapshot
from handlers.mind.flows.character import SERIOUS
from handlers.mind.stages import voice
from handlers.mind.stages.skills import JOKES
from projections.folds.executive import skills as in_force
from schemas.packs import skills
from schemas.packs.compiled import CompiledPack
from schemas.state.executive import Executive
from schemas.values.skills import Skill

_WAITS: Mapping[in_force.Missing, str] = {
    "unloaded": "unloaded",
    "enabling": "off until it is loaded",
    "context": "in another context",
    "facts": "until known: ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """A skill, and whether it has a say."""

    in_force: bool
    skill: str
    kind: str
    # In JSON it is named `for`, which is no name here.
    meant_for: str
    """The context of a domain, the trait of a style."""
    waits: str
    """Why it is not in force; empty: it is."""
    description: str

    def as_json(self) -> dict[str, object]:
        """Return it as fields for JSON, in the order of the columns."""
        return {
            "in_force": self.in_force,
            "skill": self.skill,
            "kind": self.kind,
            "for": self.meant_for,
            "waits": self.waits,
            "description": self.description,
        }


def skill_rows(
    known: AgentSnapshot, packs: Sequence[CompiledPack], now: datetime
) -> list[SkillRow]:
    """Return every skill there is; none in a log of before there were skills."""
    settings = known.shared.settings
    if settings is None or settings.executive is None:
        return []
    found = skills.known(settings.executive, packs)
    here = character(known, packs, now)
    return [_row(known.agent.executive, here, name, found[name]) for name in found]


def _row(executive: Executive, here: Character, name: str, skill: Skill) -> SkillRow:
    why = in_force.missing(executive, name, skill)
    waits = _WAITS[why] if why is not None else _unfit(here, skill)
    if why == "facts":
        waits += ", ".join(
            each for each in skill.requires if each not in executive.known
        )
    return SkillRow(
        in_force=not waits,
        skill=name,
        kind=skill.kind,
        meant_for=skill.context_binding or skill.trait or "",
        waits=waits,
        description=skill.description or ", ".join(skill.capabilities),
    )


def _unfit(here: Character, skill: Skill) -> str:
    """Return why a style that is loaded has no words for the character as it is now."""
    trait = skill.trait
    if trait is None:
        return ""
    if not here.traits.is_chosen:
        return "nobody chose a character"
    contexts = [each.name for each in here.traits.contexts if each.name in SERIOUS]
    if trait in JOKES and contexts:
        return f"no jokes in context {contexts[0]}"
    value = here.traits[trait]
    bands = [line.bands for line in skill.lines]
    bands += [table.bands for table in skill.tables]
    has_words = any(not each or voice.band(value) in each for each in bands)
    return "" if has_words else f"no words at {trait} {value:.2f}"
