"""The companion's character at an occasion: the traits in force, and how they show."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from handlers.mind.context import TurnContext
from handlers.mind.stages import known, personality, skills, voice
from handlers.mind.stages.known import Told
from handlers.mind.stages.personality import Traits
from handlers.mind.stages.skills import Manner, Saying
from handlers.mind.stages.voice import Tone
from projections.folds.executive import known_facts
from projections.folds.executive import skills as skills_fold
from projections.folds.executive.signs import Moment
from schemas.messages.decisions import Completed, Wording
from schemas.messages.sensing import Dimension, Sensed
from schemas.messages.voices import Voice
from schemas.packs.skills import NONE
from schemas.ports.decision_context import HeuristicCandidate
from schemas.values import ids
from schemas.values.base import rfc3339
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.reasons import ResponseType
from schemas.values.skills import Skills

SERIOUS = ("high_threat", "user_struggling")
"""The contexts in which nobody jokes."""


class Spoken(Struct, frozen=True):
    """What a timer says, and in which character."""

    text: str
    voice: Voice | None = None
    skills: tuple[str, ...] | None = None
    wording: Wording | None = None


def traits_of(
    turn: TurnContext, event: Sensed, dimensions: Mapping[Dimension, float]
) -> Traits:
    """Return the traits in force for an event of this salience.

    Called once the variant of an experiment is adopted, whose template goes first.
    """
    moment = Moment(
        id=turn.input.id,
        dimensions=dimensions,
        sentiment=event.feels(turn.settings.executive.feeling),
        person=event.person,
    )
    return _traits_at(turn, turn.settings.executive, moment)


def unasked(
    turn: TurnContext, saying: Saying, timer: str, person: str | None
) -> Spoken:
    """Return what a timer has to say, in character and by the skills in force.

    As it is without the setting, or if nobody chose a character.
    """
    settings = turn.settings.executive
    if not settings.consistent:
        return Spoken(saying.text)
    traits = _traits_at(turn, settings, Moment(person=person))
    # No output's id, which is another one wherever the log is decided on again.
    occasion, agent = f"{timer}@{rfc3339(turn.now)}", turn.input.agent
    words = skills.voiced(
        replace(saying, fields=known_facts.as_fields(turn.state.executive)),
        skills_of(turn, saying.source),
        manner_of(traits, settings),
        lambda purpose: ids.draw(turn.settings.seed, agent, occasion, purpose),
    )
    if words is None:
        return Spoken(saying.text, traits.record())
    return Spoken(words.text, traits.record(), words.skills or None, words.wording)


def trimmed(turn: TurnContext, end: Completed, person: str | None) -> Completed:
    """Return a model's answer in words that suit the character, if somebody chose one."""
    traits = _traits_at(turn, turn.settings.executive, Moment(person=person))
    if not traits.is_chosen or not turn.settings.executive.consistent:
        return end
    is_threat = any(each.name == "high_threat" for each in traits.contexts)
    text, broken = voice.trimmed(end.text, traits.values, is_threat=is_threat)
    return replace(end, text=text, out_of_character=broken or None)


def told(
    turn: TurnContext, event: Sensed, in_force: Skills, type_: ResponseType
) -> Told:
    """Return what a model is told of an event by the skills in force."""
    settings = turn.settings.executive
    if not settings.consistent or not in_force:
        return known.NOTHING
    saying = Saying(
        text="",
        response_type=type_,
        type=event.type,
        source=event.source,
        fields=known_with(turn, event).fields,
    )
    facts = turn.state.executive.known
    named = {name: facts[name] for name in facts.sorted_keys()}
    detail, used = skills.details(saying, in_force, turn.draw)
    return known.told(detail, used, in_force, named)


def _traits_at(
    turn: TurnContext, settings: ExecutiveSettings, moment: Moment
) -> Traits:
    return personality.traits_in_force(
        turn.state,
        settings,
        turn.packs,
        turn.now,
        moment,
        wanted=turn.variant.template,
        pace=turn.settings.rapport,
    )


def tone_of(traits: Traits | None, in_force: Skills = NONE) -> Tone | None:
    """Return what a model is told of character and skills; None if there is neither."""
    tone = None
    if traits is not None and traits.is_chosen:
        valence = traits.mood.valence if traits.mood is not None else 0.0
        tone = voice.tone(traits.template, traits.values, valence, traits.rapport)
    return voice.knowing(tone, in_force)


def skills_of(turn: TurnContext, domain: str) -> Skills:
    """Return the skills in force for events of a domain."""
    settings = turn.settings.executive
    return skills_fold.in_force(turn.state.executive, settings, turn.packs, domain)


def manner_of(traits: Traits, settings: ExecutiveSettings) -> Manner | None:
    """Return the character in bands; None if nobody chose one."""
    if not traits.is_chosen:
        return None
    return Manner(
        template=traits.name or "",
        at_rest={trait: voice.band(value) for trait, value in traits.at_rest.items()},
        now={trait: voice.band(value) for trait, value in traits.values.items()},
        is_serious=is_serious(traits),
        longest=voice.shortest_and_longest(traits.values)[1]
        if settings.consistent
        else None,
    )


def is_serious(traits: Traits) -> bool:
    """Tell whether nobody jokes now."""
    return any(each.name in SERIOUS for each in traits.contexts)


def known_with(turn: TurnContext, event: Sensed) -> Sensed:
    """Return an event with the named facts as further fields; its own go before them."""
    facts = known_facts.as_fields(turn.state.executive)
    if not facts:
        return event
    return replace(event, fields={**facts, **event.fields})


def voiced(
    turn: TurnContext,
    event: Sensed,
    candidates: tuple[HeuristicCandidate, ...],
    in_force: Skills,
    traits: Traits,
) -> tuple[HeuristicCandidate, ...]:
    """Return the candidates, those that may answer with their words by skills.

    All of them before a strategy chooses: other words are another arm.
    """
    if not in_force:
        return candidates
    manner = manner_of(traits, turn.settings.executive)
    # Without a character no style has a say.
    if manner is None and all(each.kind == "style" for each in in_force.values()):
        return candidates
    fields = known_with(turn, event).fields

    def in_words(each: HeuristicCandidate) -> HeuristicCandidate:
        if not each.eligible:
            return each
        saying = Saying(
            text=each.suggested_action,
            response_type=each.response_type,
            type=event.type,
            source=event.source,
            fields=fields,
        )
        words = skills.voiced(saying, in_force, manner, turn.draw)
        return each if words is None else replace(each, voiced=words)

    return tuple(map(in_words, candidates))
