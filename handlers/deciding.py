"""Deciding on an event: what it shows, whether it matters, who answers, and with what.

The stages in order: outcomes, salience, matching, executive, delivery. The one `Decided`
of the event holds everything that led to it.
"""

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from handlers.group import Group
from handlers.stages import (
    conclusion,
    delivery,
    executive,
    matching,
    outcomes,
    prompts,
    salience,
)
from handlers.stages.executive import Choice
from handlers.stages.prompts import Prompt
from handlers.stages.salience import Assessment
from handlers.strategies import registry
from handlers.strategies.ranking import ranked
from projections.folds import domains
from projections.folds.domains import Domain
from schemas.asks import DeliveryAsked, ModelAsked
from schemas.context import (
    DecisionContext,
    DecisionResult,
    HeuristicCandidate,
    Strategy,
)
from schemas.decisions import SILENT, Decided, HeuristicFired
from schemas.numbers import round6
from schemas.reasons import ResponseType
from schemas.sensing import Sensed


@dataclass(frozen=True, slots=True)
class Occasion:
    """An event on its way to a decision."""

    event: Sensed
    domain: Domain
    assessment: Assessment
    ttl_s: float
    expires_at: datetime
    channel: str

    @property
    def priority(self) -> float:
        """What asks about it are served by."""
        return delivery.priority(self.assessment.salience, self.assessment.is_threat)


def decide(group: Group, event: Sensed) -> None:
    """Say what the event shows of earlier advice, and decide on it."""
    domain = domains.of_event(group.packs, event)
    shown = outcomes.observed(
        group.state, event, group.taken.id, domain.name, group.now
    )
    if shown is not None:
        group.credit(shown)
    occasion = _occasion(group, event, domain)
    if occasion.assessment.silence is None:
        _choose(group, occasion)
    else:
        group.say(_gated(group, occasion))


def expire(group: Group, fire_id: str) -> None:
    """Give up waiting for the outcome of a fire."""
    for fire in group.state.fires:
        if fire.fire_id == fire_id:
            group.say(outcomes.expired(fire))


def strategy_in_force(group: Group) -> Strategy:
    """The agent's own strategy, else the settings'."""
    spec = group.state.strategy or group.settings.strategy
    return registry.create_decision_strategy(spec, group.settings)


def ceiling(group: Group) -> float:
    """Up to where a model's own confidence counts."""
    config = strategy_in_force(group).config
    value = config.get("llm_confidence_ceiling", group.settings.confidence_ceiling)
    return float(value) if isinstance(value, int | float) else 0.0


def _occasion(group: Group, event: Sensed, domain: Domain) -> Occasion:
    declared = domain.event_type
    ttl_s = (
        event.ttl_s
        or (declared.ttl_s if declared else None)
        or (domain.pack.pack.ttl_s if domain.pack else None)
        or group.settings.ttl_s
    )
    return Occasion(
        event=event,
        domain=domain,
        assessment=salience.assess(
            group.state, group.settings, domain, event, group.aids.vector
        ),
        ttl_s=ttl_s,
        expires_at=group.now + timedelta(seconds=ttl_s),
        channel=(declared.channel if declared else None) or group.settings.channel,
    )


def _choose(group: Group, occasion: Occasion) -> None:
    strategy = strategy_in_force(group)
    matched = _matched(group, occasion)
    system, llm_arm = _model(group, strategy)
    context = _context(group, occasion, matched, llm_arm)
    choice = executive.choose(strategy, context, group.draw)
    prompt = _prompt(group, context, strategy, system) if choice.asks_model else None
    result = executive.result(context, choice, group.next_id)
    decided = _decided(group, occasion, strategy, choice, result, prompt)
    decision_id = group.say(decided)
    if choice.heuristic is not None:
        _answer_by_heuristic(group, occasion, choice.heuristic, decision_id)
    elif prompt is not None:
        _ask_model(group, occasion, prompt, decided, decision_id)


def _matched(group: Group, occasion: Occasion) -> tuple[HeuristicCandidate, ...]:
    return matching.candidates(
        group.state,
        occasion.domain,
        occasion.event,
        group.aids.vector,
        group.belief,
        group.settings.learning,
        group.settings.limits.match,
    )


def _context(
    group: Group,
    occasion: Occasion,
    matched: tuple[HeuristicCandidate, ...],
    llm_arm: str | None,
) -> DecisionContext:
    state, settings = group.state, group.settings
    best = ranked(matched)
    rest = tuple(each for each in matched if not each.eligible)
    return DecisionContext(
        event_id=group.taken.id,
        event_text=occasion.event.text,
        event_source=occasion.event.source,
        salience={
            str(name): value
            for name, value in occasion.assessment.salience.dimensions.items()
        },
        candidates=(*best, *rest),
        immediate=occasion.event.immediate,
        goals=settings.goals if state.goals is None else state.goals,
        personality_biases={**settings.biases, **state.biases},
        urgency=occasion.event.urgency or 0.0,
        llm_arm=llm_arm,
    )


def _model(group: Group, strategy: Strategy) -> tuple[str, str | None]:
    """The system prompt and the arm of asking the model; no arm without a model."""
    model = group.settings.model
    if model is None:
        return "", None
    goals = group.settings.goals if group.state.goals is None else group.state.goals
    system = prompts.system_prompt(group.settings, group.packs, goals)
    return system, prompts.arm(model, system, _max_candidates(group, strategy))


def _max_candidates(group: Group, strategy: Strategy) -> int:
    value = strategy.config.get("max_candidates", group.settings.max_candidates)
    return value if isinstance(value, int) else 0


def _prompt(
    group: Group, context: DecisionContext, strategy: Strategy, system: str
) -> Prompt | None:
    model = group.settings.model
    if model is None:
        return None
    eligible = [each for each in context.candidates if each.eligible]
    return prompts.build(
        context,
        eligible,
        system,
        model,
        _max_candidates(group, strategy),
        group.draw,
    )


def _answer_by_heuristic(
    group: Group, occasion: Occasion, heuristic: HeuristicCandidate, decision_id: str
) -> None:
    group.say(_fired(group, heuristic, decision_id, shown=True))
    group.say(
        DeliveryAsked(
            decision_id=decision_id,
            event_id=group.taken.id,
            channel=occasion.channel,
            text=heuristic.suggested_action,
            response_type=heuristic.response_type,
            urgency=_urgency(occasion, heuristic),
            path="heuristic",
            action=heuristic.action,
            priority=occasion.priority,
            expires_at=occasion.expires_at,
            ttl_s=occasion.ttl_s,
        )
    )


def _ask_model(
    group: Group,
    occasion: Occasion,
    prompt: Prompt,
    decided: Decided,
    decision_id: str,
) -> None:
    model = group.settings.model
    if model is None:
        return
    for heuristic in prompt.shown:
        group.say(_fired(group, heuristic, decision_id, shown=False))
    group.say(
        ModelAsked(
            decision_id=decision_id,
            priority=occasion.priority,
            expires_at=occasion.expires_at,
            ttl_s=occasion.ttl_s,
            model=model.name,
            system=prompt.system,
            prompt=prompt.user,
            temperature=model.temperature,
            max_tokens=model.max_tokens,
            deadline_s=model.deadline_s,
            channel=occasion.channel,
            response_type=_response_type(occasion),
            urgency=_urgency(occasion, None),
            matched_heuristic_id=decided.matched_heuristic_id,
            request_hash=prompt.request_hash,
        )
    )
    pending = group.state.pending
    crowded_out = conclusion.superseded(pending[id_] for id_ in sorted(pending))
    if crowded_out is not None:
        group.say(crowded_out)


def _fired(
    group: Group, heuristic: HeuristicCandidate, decision_id: str, *, shown: bool
) -> HeuristicFired:
    return HeuristicFired(
        decision_id=decision_id,
        event_id=group.taken.id,
        heuristic_id=heuristic.heuristic_id,
        content_hash=heuristic.content_hash,
        mode="shown" if shown else "suggested",
        similarity=heuristic.similarity,
        confidence=heuristic.confidence,
    )


def _decided(
    group: Group,
    occasion: Occasion,
    strategy: Strategy,
    choice: Choice,
    result: DecisionResult,
    prompt: Prompt | None,
) -> Decided:
    heuristic = choice.heuristic
    return Decided(
        **_base(group, occasion, strategy),
        path=result.path,
        arm=choice.arm,
        probability=choice.probability,
        greedy_arm=choice.odds.greedy,
        silence=choice.odds.silence if choice.arm == SILENT else None,
        final=not choice.asks_model,
        text=result.response_text or None,
        response_type=heuristic.response_type if heuristic else None,
        action=heuristic.action if heuristic else None,
        urgency=_urgency(occasion, heuristic),
        timing="queued" if choice.asks_model else "immediate",
        expires_at=occasion.expires_at if choice.arm != SILENT else None,
        matched_heuristic_id=result.matched_heuristic_id,
        predicted_success=result.predicted_success,
        prediction_confidence=result.prediction_confidence,
        draw=choice.draw,
        candidates=choice.candidates,
        gates=(*occasion.assessment.gates, *choice.odds.gates),
        prompt_digest=prompt.request_hash if prompt else None,
    )


def _gated(group: Group, occasion: Occasion) -> Decided:
    """The decision to say nothing that a gate made before any strategy."""
    return Decided(
        **_base(group, occasion, strategy_in_force(group)),
        path="none",
        arm=SILENT,
        probability=1.0,
        greedy_arm=SILENT,
        silence=occasion.assessment.silence,
        final=True,
        gates=occasion.assessment.gates,
    )


def _base(group: Group, occasion: Occasion, strategy: Strategy) -> dict[str, Any]:
    """What every decision says, whatever came of it."""
    event, aids, state = occasion.event, group.aids, group.state
    return {
        "event_id": group.taken.id,
        "source": event.source,
        "type": event.type,
        "domain": occasion.domain.name,
        "strategy": strategy.name,
        "strategy_version": strategy.version,
        "config_hash": executive.config_hash(strategy),
        "salience": occasion.assessment.salience,
        "session_id": state.session.id if state.session else None,
        "embedding": None if aids.is_exact else _recorded_vector(aids.vector),
        "flags": _flags(group, event),
        "chain": state.chain,
    }


def _recorded_vector(vector: bytes | None) -> str | None:
    return base64.b64encode(vector).decode() if vector is not None else None


_IMPLAUSIBLE_S = 24 * 3600.0


def _flags(group: Group, event: Sensed) -> tuple[str, ...]:
    """Oddities worth a look: a time that cannot be, a report on nothing known."""
    flags = []
    if event.occurred_at is not None:
        apart = (event.occurred_at - group.now).total_seconds()
        if abs(apart) > _IMPLAUSIBLE_S:
            flags.append("implausible_time")
    if event.in_reply_to is not None:
        decision_id = outcomes.replied_decision(group.state, event)
        if decision_id is None or group.state.decisions.get(decision_id) is None:
            flags.append("unknown_reply")
    return tuple(flags)


def _response_type(occasion: Occasion) -> ResponseType:
    return "alert" if occasion.assessment.is_threat else "suggestion"


def _urgency(occasion: Occasion, heuristic: HeuristicCandidate | None) -> float:
    own = heuristic.urgency if heuristic else 0.0
    return round6(max(occasion.event.urgency or 0.0, own))
