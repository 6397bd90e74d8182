"""An agent's personality as it is now, and how others would be: for commands and services."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from echoic.client.state import AgentSnapshot
from handlers.mind.stages import personality, voice
from handlers.mind.stages.personality import Traits
from projections.folds.executive import templates
from projections.folds.executive.personality import lasting
from projections.folds.executive.signs import Moment
from schemas.messages.decisions import ContextInForce
from schemas.packs.manifest import CompiledPack
from schemas.state.agent import AgentState
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import TRAITS, ContextDeclared, PersonalityTemplate
from schemas.values.settings import UNSTARTED


@dataclass(frozen=True, slots=True)
class Character:
    """A personality in force, and what there is to choose from."""

    selected: str
    """The template's name; empty: none."""
    traits: Traits
    overrides: tuple[Mapping[str, object], ...]
    templates: Mapping[str, PersonalityTemplate]
    contexts: Mapping[str, ContextDeclared]

    def as_fields(self) -> dict[str, object]:
        """Return it as fields for JSON."""
        found = self.traits
        mood = found.mood
        return {
            "template": self.selected or None,
            "traits": dict(found.values),
            "bands": {each: voice.band(found.values[each]) for each in TRAITS},
            "contexts": [_context(each) for each in found.contexts],
            "overrides": [dict(each) for each in self.overrides],
            "mood": mood and {"valence": mood.valence, "arousal": mood.arousal},
            "rapport": found.rapport,
            "templates": sorted(self.templates),
        }


def character(
    known: AgentSnapshot,
    packs: Sequence[CompiledPack],
    now: datetime,
    person: str | None = None,
) -> Character:
    """Return the personality of an agent now, towards a person or towards all."""
    settings = _settings(known)
    moment = Moment(person=person)
    pace = (known.shared.settings or UNSTARTED).rapport
    return Character(
        templates.selected(known.agent, settings),
        personality.traits_in_force(
            known.agent, settings, packs, now, moment, pace=pace
        ),
        overrides_of(known, now),
        all_templates(settings, packs),
        templates.contexts(packs),
    )


def now_of(agent: AgentState) -> datetime:
    """Return the agent's time: that of its events where these set its clock, else now."""
    session = agent.session
    if session is not None and session.clock == "event" and agent.now is not None:
        return agent.now
    return datetime.now(UTC)


def overrides_of(
    known: AgentSnapshot, now: datetime
) -> tuple[Mapping[str, object], ...]:
    """Return the traits that somebody moved, by person and trait."""
    held = known.agent.executive.personality.overrides
    return tuple(
        {
            "person": who or None,
            "trait": trait,
            "by": own[trait].amount,
            "until": own[trait].until,
        }
        for who in held.sorted_keys()
        for own in (lasting(held[who], now),)
        for trait in sorted(own)
    )


def all_templates(
    settings: ExecutiveSettings, packs: Sequence[CompiledPack]
) -> dict[str, PersonalityTemplate]:
    """Return every template that can be selected, by name."""
    names = templates.names(settings, packs)
    found = ((name, templates.named(settings, packs, name)) for name in names)
    return {name: template for name, template in found if template is not None}


def _settings(known: AgentSnapshot) -> ExecutiveSettings:
    settings = known.shared.settings or UNSTARTED
    return settings.executive or ExecutiveSettings()


def _context(each: ContextInForce) -> dict[str, object]:
    return {"name": each.name, "by": each.by, "value": each.value, "cause": each.cause}
