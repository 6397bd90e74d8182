"""An occasion, that is an event to decide on, and the messages of its decision."""

import base64
from datetime import datetime, timedelta
from typing import Any, Literal

from msgspec import Struct

from handlers.mind.context import TurnContext
from handlers.mind.flows import character, converse
from handlers.mind.flows.consult import Consultation
from handlers.mind.stages import (
    executive,
    modulation,
    response_type,
    voice,
    withholding,
)
from handlers.mind.stages.executive import Choice, Race
from handlers.mind.stages.personality import Traits
from handlers.mind.stages.prompts import Prompt, Situation
from handlers.mind.stages.salience import Assessment
from handlers.mind.stages.situation import Surroundings
from handlers.mind.stages.voice import Tone
from projections.folds.events import Domain
from schemas.messages.arms import ACKNOWLEDGE, SILENT, template_of
from schemas.messages.asks import DeliveryAsked, ModelAsked, Rival
from schemas.messages.decisions import (
    Candidate,
    Decided,
    Gate,
    HeldHeuristic,
    HeuristicFired,
    Relevance,
    RelevantGoal,
    Wording,
)
from schemas.messages.experiments import Assignment
from schemas.messages.sensing import SOMEBODY, Sensed
from schemas.messages.voices import Voice
from schemas.packs.skills import NONE
from schemas.ports.decision_context import DecisionResult, HeuristicCandidate, Strategy
from schemas.state.executive import Modulation
from schemas.values import timezones
from schemas.values.exact_math import round6
from schemas.values.reasons import Hearing, ResponseType, Silence, Timing
from schemas.values.skills import Skills

SOONEST_S = 0.001
"""No ask has fewer seconds to live: a prediction is not asked for then."""

_LATEST_S = 1e9
"""No time to live in a message is longer, in seconds (some 30 years): an agent's clock may
leap by centuries."""


class Occasion(Struct, frozen=True):
    """An event that is decided on."""

    id: str
    """The event's."""
    at: datetime
    """The agent's time."""
    event: Sensed
    domain: Domain
    assessment: Assessment
    ttl_s: float
    """For how many seconds an answer is worth delivering."""
    expires_at: datetime
    kept_until: datetime
    """Until when it is worth saying if it waits for its time."""
    channel: str
    """Where an answer goes."""
    flags: tuple[str, ...]
    """Names of oddities in the input, for people to look at."""
    assignment: Assignment | None
    """Which variant of a running experiment is in force."""
    relevance: Relevance | None
    """What was added to salience, if anything was."""
    own_urgency: float
    """How soon an answer is worth having, by the event alone."""
    traits: Traits
    """The personality in force."""
    tone: Tone | None = None
    """What a model is told of it, and of skills; None if there is nothing to tell."""
    skills: Skills = NONE
    """Those in force."""
    watch: Modulation | None = None
    """What somebody asked to be told of, if this is it."""

    @property
    def priority(self) -> float:
        """The priority of its asks."""
        return self.assessment.priority

    @property
    def response_type(self) -> ResponseType:
        """What sort of response a model's answer will be."""
        if self.assessment.is_threat:
            return "alert"
        dimensions = self.assessment.salience.dimensions
        context = self.traits.active_context
        return response_type.response_type(dimensions, self.traits.values, context)

    @property
    def hidden_from(self) -> tuple[str, ...]:
        """From whom answers are hidden, as the event names them."""
        declared = self.domain.event_type
        return declared.hides(self.event) if declared is not None else ()

    def urgency(self, heuristic: HeuristicCandidate | None = None) -> float:
        """Return the urgency, 0 to 1: the higher of the event's and the heuristic's."""
        own = heuristic.urgency if heuristic else 0.0
        return round6(max(self.own_urgency, own))


class When(Struct, frozen=True):
    """When something is to be said."""

    timing: Timing
    hearing: Hearing | None = None
    """Why it is not simply said aloud at once."""


def gated(
    turn: TurnContext,
    occasion: Occasion,
    strategy: Strategy,
    gates: tuple[Gate, ...],
    silence: Silence | None,
) -> Decided:
    """Return the decision to say nothing, for a gate failed before any strategy was
    asked.
    """
    return Decided(
        **_common(turn, occasion, strategy),
        path="none",
        arm=SILENT,
        probability=1.0,
        greedy_arm=SILENT,
        silence=silence,
        final=True,
        gates=gates,
    )


def acknowledgement(
    turn: TurnContext, occasion: Occasion, strategy: Strategy, text: str
) -> Decided:
    """Return the decision to tell a person what became of what they asked for."""
    return Decided(
        **_common(turn, occasion, strategy),
        path="acknowledged",
        arm=ACKNOWLEDGE,
        probability=1.0,
        greedy_arm=ACKNOWLEDGE,
        final=True,
        text=text,
        response_type="observation",
        urgency=occasion.urgency(),
        expires_at=occasion.expires_at,
        candidates=(Candidate(arm=ACKNOWLEDGE, probability=1.0),),
        gates=occasion.assessment.gates,
    )


def acknowledgement_delivery(
    occasion: Occasion, text: str, decision_id: str
) -> DeliveryAsked:
    """Return the ask to deliver an acknowledgement."""
    return DeliveryAsked(
        decision_id=decision_id,
        event_id=occasion.id,
        channel=occasion.channel,
        text=text,
        response_type="observation",
        urgency=occasion.urgency(),
        path="acknowledged",
        priority=occasion.priority,
        expires_at=occasion.expires_at,
        ttl_s=occasion.ttl_s,
    )


def decided(
    turn: TurnContext,
    occasion: Occasion,
    strategy: Strategy,
    choice: Choice,
    result: DecisionResult,
    prompt: Prompt | None,
    goals: tuple[RelevantGoal, ...] | None,
    *,
    when: When,
) -> Decided:
    """Return the decision by a strategy; only if it is immediate it is final."""
    heuristic = choice.heuristic
    return Decided(
        **_common(turn, occasion, strategy),
        path=result.path,
        arm=choice.arm,
        probability=choice.probability,
        greedy_arm=choice.odds.greedy,
        silence=choice.odds.silence if choice.arm == SILENT else None,
        final=when.timing == "immediate",
        text=result.response_text or None,
        response_type=heuristic.response_type if heuristic else None,
        action=heuristic.action if heuristic else None,
        urgency=occasion.urgency(heuristic),
        timing=when.timing,
        expires_at=occasion.expires_at if choice.arm != SILENT else None,
        matched_heuristic_id=result.matched_heuristic_id,
        predicted_success=result.predicted_success,
        prediction_confidence=result.prediction_confidence,
        exploration=choice.odds.exploration,
        exploration_excluded=choice.odds.excluded,
        draw=choice.draw,
        candidates=withholding.marked(choice.candidates, prompt.withheld)
        if prompt is not None
        else choice.candidates,
        gates=(*occasion.assessment.gates, *choice.odds.gates),
        prompt_digest=prompt.request_hash if prompt else None,
        goals=goals,
        skills=_skills(occasion, choice, prompt),
        wording=_wording(choice),
        hearing=when.hearing,
    )


def fired(
    occasion: Occasion,
    heuristic: HeuristicCandidate,
    decision_id: str,
    mode: Literal["shown", "suggested", "kept"],
) -> HeuristicFired:
    """Return a fire: a heuristic shown to the person, or suggested to the model.

    With `kept` it is a learnt silence, which was applied.
    """
    return HeuristicFired(
        decision_id=decision_id,
        event_id=occasion.id,
        heuristic_id=heuristic.heuristic_id,
        content_hash=heuristic.content_hash,
        mode=mode,
        similarity=heuristic.similarity,
        confidence=heuristic.confidence,
    )


def heuristic_delivery(
    occasion: Occasion, heuristic: HeuristicCandidate, decision_id: str
) -> DeliveryAsked:
    """Return the ask to deliver a heuristic's response."""
    return DeliveryAsked(
        decision_id=decision_id,
        event_id=occasion.id,
        channel=occasion.channel,
        text=heuristic.words,
        response_type=heuristic.response_type,
        urgency=occasion.urgency(heuristic),
        path="heuristic",
        action=heuristic.action,
        priority=occasion.priority,
        expires_at=occasion.expires_at,
        ttl_s=occasion.ttl_s,
    )


def model_asked(
    turn: TurnContext,
    occasion: Occasion,
    consulted: Consultation,
    prompt: Prompt,
    decision_id: str,
    matched_heuristic_id: str | None,
    race: Race | None,
) -> ModelAsked:
    """Return the ask to the model."""
    model, prediction = consulted.model, consulted.manner.prediction
    return ModelAsked(
        decision_id=decision_id,
        priority=occasion.priority,
        expires_at=occasion.expires_at,
        ttl_s=occasion.ttl_s,
        model=model.name,
        system=prompt.system,
        prompt=prompt.user,
        turns=prompt.turns,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        deadline_s=model.deadline_s,
        channel=occasion.channel,
        response_type=occasion.response_type,
        urgency=occasion.urgency(),
        matched_heuristic_id=matched_heuristic_id,
        request_hash=prompt.request_hash,
        prediction=None if prediction == "same" else prediction,
        rival=_rival(occasion, consulted, race) if race else None,
        # Needed once more when the prediction is asked for; otherwise not put on record.
        goals=consulted.goals if prediction == "separate" else None,
        domain=consulted.domain if prediction == "separate" else None,
        template_digest=template_of(consulted.arm),
        acts=prompt.acts or None,
    )


def situation(turn: TurnContext, occasion: Occasion) -> Situation | None:
    """Return in which situation a model is asked; None if it is told of none."""
    settings, event = turn.settings.executive, occasion.event
    if not settings.situated:
        return None
    traits, speaker = occasion.traits, event.speaker
    turns, words = converse.chat(turn, event)
    is_named = speaker not in (None, SOMEBODY)
    here = Surroundings(
        now=turn.now.astimezone(timezones.zone(settings.timezone)),
        place=settings.place,
        context=traits.active_context,
        type=occasion.response_type,
        is_serious=occasion.assessment.is_threat or character.is_serious(traits),
        longest=voice.shortest_and_longest(traits.values)[1]
        if traits.is_chosen
        else None,
        left_out=modulation.left_out(
            turn.state.executive.peace.modulations, turn.now, event.person
        ),
        is_spoken=speaker is not None,
    )
    called = speaker if is_named or speaker is None else "Somebody"
    return Situation(here.told(), called, words, turns)


def late_fire(
    decision_id: str, event_id: str, heuristic_id: str, of: Rival | HeldHeuristic
) -> HeuristicFired:
    """Return the fire of a heuristic that answers later than its event."""
    return HeuristicFired(
        decision_id=decision_id,
        event_id=event_id,
        heuristic_id=heuristic_id,
        content_hash=of.content_hash,
        mode="shown",
        similarity=of.similarity,
        confidence=of.confidence,
    )


def left_s(expires_at: datetime, now: datetime) -> float:
    """Return the seconds that a late answer has left, within what an ask may have."""
    return min(max((expires_at - now).total_seconds(), SOONEST_S), _LATEST_S)


def _rival(occasion: Occasion, consulted: Consultation, race: Race) -> Rival:
    heuristic = race.heuristic
    deadline = occasion.at + timedelta(milliseconds=race.deadline_ms)
    return Rival(
        # A heuristic's answer turns stale as any other, so it cannot wait for longer.
        due_at=min(deadline, occasion.expires_at),
        llm_arm=consulted.arm,
        model=consulted.model.name,
        heuristic_id=heuristic.heuristic_id,
        content_hash=heuristic.content_hash,
        text=heuristic.words,
        response_type=heuristic.response_type,
        action=heuristic.action,
        urgency=occasion.urgency(heuristic),
        similarity=heuristic.similarity,
        confidence=heuristic.confidence,
    )


def _common(
    turn: TurnContext, occasion: Occasion, strategy: Strategy
) -> dict[str, Any]:
    """Return the fields that every decision has, whatever was chosen."""
    event, state = occasion.event, turn.state
    return {
        "event_id": occasion.id,
        "source": event.source,
        "type": event.type,
        "domain": occasion.domain.name,
        "strategy": strategy.name,
        "strategy_version": strategy.version,
        "config_hash": executive.config_hash(strategy),
        "salience": occasion.assessment.salience,
        "session_id": state.session.id if state.session else None,
        "embedding": _recorded_vector(turn),
        "flags": occasion.flags,
        "experiment": occasion.assignment,
        # The hash over all inputs and outputs before: a replay compares it decision by
        # decision.
        "chain": state.chain,
        "voice": _voice(occasion),
        "person": event.person,
        "claimed": turn.claimed,
        "relevance": occasion.relevance,
        "follows": converse.follows(turn, event),
    }


def _answering(choice: Choice) -> HeuristicCandidate | None:
    """Return the heuristic that answers, or would in a race."""
    return choice.race.heuristic if choice.race is not None else choice.heuristic


def _wording(choice: Choice) -> Wording | None:
    answering = _answering(choice)
    voiced = answering.voiced if answering is not None else None
    return voiced.wording if voiced is not None else None


def _skills(
    occasion: Occasion, choice: Choice, prompt: Prompt | None
) -> tuple[str, ...] | None:
    """Return the skills that the words are by; for a model, those it is told of."""
    answering, tone = _answering(choice), occasion.tone
    told = tone.skills if tone is not None and choice.asks_model else ()
    told += prompt.skills if prompt is not None else ()
    voiced = answering.voiced if answering is not None else None
    said = voiced.skills if voiced is not None else ()
    # A race may be both; each is named once.
    return tuple(dict.fromkeys((*told, *said))) or None


def _voice(occasion: Occasion) -> Voice | None:
    tone = occasion.tone if occasion.traits.is_chosen else None
    return occasion.traits.record(tone.digest if tone is not None else None)


def _recorded_vector(turn: TurnContext) -> str | None:
    """Return the event's vector, if another machine might compute another one."""
    vector = turn.aids.vector
    if vector is None or turn.aids.is_exact:
        return None
    return base64.b64encode(vector).decode()
