"""An agent's personality as it is now, and how others would be: for commands and services."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from echoic.client.state import AgentSnapshot
from handlers.mind.stages import personality, voice
from handlers.mind.stages.personality import Traits
from projections.folds.executive import templates
from projections.folds.executive.personality import lasting, session_began
from projections.folds.executive.signs import Moment
from projections.folds.learning.rapport import NEUTRAL
from schemas.messages.voices import ContextInForce
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import AgentState
from schemas.state.executive import EVERYBODY
from schemas.values.bounded_map import EMPTY
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import (
    TRAITS,
    ContextDeclared,
    PersonalityTemplate,
    Trait,
)
from schemas.values.settings import UNSTARTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that moves the traits from what the template says."""

    by: Literal["context", "override", "mood", "session", "rapport"]
    moves: Mapping[Trait, float]
    """What it adds to each trait, before they are held within 0 and 1."""
    context: ContextInForce | None = None
    person: str | None = None
    """Towards whom an override counts; None: towards everybody."""
    left_s: float | None = None
    """For how long it still does; None: until it is cleared."""


@dataclass(frozen=True, slots=True)
class Character:
    """A personality in force, and what there is to choose from."""

    selected: str
    """The template's name; empty: none."""
    traits: Traits
    overrides: tuple[Mapping[str, object], ...]
    templates: Mapping[str, PersonalityTemplate]
    contexts: Mapping[str, ContextDeclared]
    causes: tuple[Cause, ...]
    """All that moves the traits now."""
    session_s: float | None
    """How long the session has lasted; None: there is none."""

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
            "causes": [_cause(each) for each in self.causes],
            "session_s": self.session_s,
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
    traits = personality.traits_in_force(
        known.agent, settings, packs, now, moment, pace=pace
    )
    began = session_began(known.agent)
    return Character(
        templates.selected(known.agent, settings),
        traits,
        overrides_of(known, now),
        _all_templates(settings, packs),
        templates.contexts(packs),
        tuple(_causes(known, packs, traits, now, person)),
        None if began is None else (now - began).total_seconds(),
    )


def _causes(
    known: AgentSnapshot,
    packs: Sequence[CompiledPack],
    traits: Traits,
    now: datetime,
    person: str | None,
) -> Iterator[Cause]:
    """Yield what moves the traits: contexts, overrides, mood, a long session, rapport."""
    for each in traits.contexts:
        moves = templates.modifiers(packs, each.name)
        yield Cause(by="context", moves=moves, context=each)
    held = known.agent.executive.personality.overrides
    for who in (EVERYBODY, person) if person else (EVERYBODY,):
        own = lasting(held.get(who, EMPTY), now)
        for trait in (each for each in TRAITS if each in own):
            until = own[trait].until
            yield Cause(
                by="override",
                moves={trait: own[trait].amount},
                person=who or None,
                left_s=None if until is None else (until - now).total_seconds(),
            )
    if traits.mood is not None:
        yield Cause(by="mood", moves=personality.of_mood(traits.mood.valence))
    tired = personality.of_session(known.agent, now)
    if tired:
        yield Cause(by="session", moves={"proactive": tired})
    if traits.rapport != NEUTRAL:
        yield Cause(by="rapport", moves=personality.of_rapport(traits.rapport))


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


def _all_templates(
    settings: ExecutiveSettings, packs: Sequence[CompiledPack]
) -> dict[str, PersonalityTemplate]:
    """Return every template that can be selected, by name."""
    names = templates.names(settings, packs)
    found = ((name, templates.named(settings, packs, name)) for name in names)
    return {name: template for name, template in found if template is not None}


def _settings(known: AgentSnapshot) -> ExecutiveSettings:
    settings = known.shared.settings or UNSTARTED
    return settings.executive


def _cause(each: Cause) -> dict[str, object]:
    return {
        "by": each.by,
        "moves": dict(each.moves),
        "context": each.context and each.context.name,
        "person": each.person,
        "left_s": each.left_s,
    }


def _context(each: ContextInForce) -> dict[str, object]:
    return {"name": each.name, "by": each.by, "value": each.value, "cause": each.cause}
