"""What each personality would say of one event, in each context: without a model or a log.

The traits, the type of response and the words come from the stages that decide; only the
event is made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from handlers.mind.flows.character import manner_of
from handlers.mind.stages import personality, relevance, response_type, skills, voice
from handlers.mind.stages.personality import Traits
from projections.folds.executive import skills as skills_fold
from projections.folds.executive.signs import Moment
from schemas.messages.sensing import Dimension
from schemas.state.agent import AgentState
from schemas.state.executive import ActiveContext, Executive
from schemas.values import ids
from schemas.values.exact_math import clamp, round6
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.personality import CONTEXTS, PersonalityTemplate, Trait
from schemas.values.reasons import THREAT_ALWAYS_PASSES, ResponseType
from schemas.values.skills import Skill, SkillLine

CALM = "calm"
"""What a trial calls no context at all."""

SHOWN_BY: Mapping[str, Moment] = {
    "high_threat": Moment(dimensions={"threat": 0.9}),
    "opportunity": Moment(dimensions={"opportunity": 0.9}),
    "user_struggling": Moment(sentiment=-0.9),
}
"""The events that show each context which is found in events."""

_AT = datetime(2000, 1, 1, tzinfo=UTC)
_MIDDLE = 0.5
"""The relevance that new instances ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An event to be tried, and what there is to say of it."""

    text: str
    says: str = ""
    """What a heuristic would say of it; empty: the event's own words are passed on."""
    type: ResponseType = "suggestion"
    """The heuristic's, which it keeps in every context."""
    detail: str = ""
    """What a domain would add; `{field}` is a field of the event."""
    fields: Mapping[str, object]
    salience: Mapping[Dimension, float]
    """How far it threatens, amuses and so on, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one personality would be in one context."""

    personality: str
    context: str
    traits: Mapping[Trait, float]
    threshold: float
    """How relevant an event must be that it speaks, if 0.5 is set and nothing raises it."""
    response_type: ResponseType
    said: str
    """The sentence, by templates."""
    skills: tuple[str, ...]
    """Those that it is by."""
    filtered: tuple[str, ...]
    """Those that were left out or toned down, as they do not suit the moment."""
    words: tuple[int, int]
    """The fewest and the most that suit."""
    told: str
    """What a model is told of it, without the character's own text."""


def trials(
    attempt: Attempt,
    known: Sequence[PersonalityTemplate],
    styles: Sequence[Skill],
    contexts: Sequence[str],
) -> tuple[Trial, ...]:
    """Return each template in each context, with nothing else that moves the traits."""
    details: tuple[Skill, ...] = ()
    if attempt.detail:
        line = SkillLine(texts=("{text} " + attempt.detail,))
        details = (Skill(name="details", kind="domain", lines=(line,)),)
    settings = ExecutiveSettings(
        templates=tuple(known), skills=(*styles, *details), consistent=True
    )
    return tuple(
        _trial(attempt, settings, each.name, context)
        for each in known
        for context in contexts
    )


def _trial(
    attempt: Attempt, settings: ExecutiveSettings, name: str, context: str
) -> Trial:
    shown = SHOWN_BY.get(context, Moment())
    weighed = {**attempt.salience, **shown.dimensions}
    executive = Executive()
    if context != CALM and context not in SHOWN_BY:
        executive = Executive(context=ActiveContext(name=context, by="", at=_AT))
    moment = Moment(dimensions=weighed, sentiment=shown.sentiment)
    state = AgentState(executive=executive)
    traits = personality.traits_in_force(state, settings, (), _AT, moment, wanted=name)
    kind = attempt.type
    if not attempt.says:
        # As a model would be asked for it.
        takes_part = traits.active_context
        kind = response_type.response_type(weighed, traits.values, takes_part)
        if weighed.get("threat", 0.0) >= THREAT_ALWAYS_PASSES:
            kind = "alert"
    said, used, filtered = _said(attempt, settings, executive, traits, kind)
    moved = _MIDDLE + relevance.by_traits(traits.values, settings)
    declared = CONTEXTS.get(context)
    moved += declared.threshold if declared is not None else 0.0
    return Trial(
        personality=name,
        context=context,
        traits=traits.values,
        threshold=round6(clamp(moved, relevance.LEAST, relevance.MOST)),
        response_type=kind,
        said=said,
        skills=used,
        filtered=filtered,
        words=voice.shortest_and_longest(traits.values),
        told=voice.tone(None, traits.values).text,
    )


def _said(
    attempt: Attempt,
    settings: ExecutiveSettings,
    executive: Executive,
    traits: Traits,
    kind: ResponseType,
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the words, the skills that they are by, and those that were left out."""
    saying = skills.Saying(
        text=attempt.says or attempt.text,
        response_type=kind,
        type="trial",
        source="echoic",
        fields=attempt.fields,
    )
    found = skills.voiced(
        saying,
        skills_fold.in_force(executive, settings, (), "trial"),
        manner_of(traits, settings),
        # The same for each personality: what differs is the character alone.
        lambda purpose: ids.draw("trial", "", attempt.text, purpose),
    )
    if found is None:
        return saying.text, (), ()
    return found.text, found.skills, found.wording.filtered or ()
