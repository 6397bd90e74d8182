"""Outcomes: does this event show how earlier advice turned out?

An event that names the decision settles it. Otherwise the oldest open fire of the same
domain whose entities and expected words the event has is settled: the first pattern seen
decides, and one event closes one fire. What is waited for in vain expires.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from projections.folds import outcome_patterns
from schemas.messages.learning import AdviceIgnored, OutcomeExpired, OutcomeObserved
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs import word_patterns
from schemas.packs.word_patterns import Said
from schemas.state.agent import AgentState, Expectation, OpenFire, ShownFire
from schemas.state.evidence import Belief
from schemas.values.reasons import Outcome, ReportedOutcome

_REPORTED: Mapping[ReportedOutcome, Outcome] = {
    "succeeded": "success",
    "failed": "fail",
    "overridden": "overridden",
    "cancelled": "cancelled",
}


def observed(
    state: AgentState,
    event: Sensed,
    event_id: str,
    domain: str,
    now: datetime,
    *,
    edition: int,
) -> OutcomeObserved | None:
    """The outcome that the event shows, if it shows one."""
    if event.in_reply_to is not None:
        return _reported(state, event, event_id)
    entities = frozenset(event.entities)
    waiting = [
        fire
        for fire in state.fires
        if fire.domain == domain and _shares_entities(fire, entities)
    ]
    words = outcome_patterns.words(event, edition) if waiting else word_patterns.NOTHING
    for fire in waiting:
        seen = _first_seen(fire.expectations, words, now)
        if seen is not None:
            return _outcome(
                fire,
                event_id,
                "success" if seen.is_success else "fail",
                pattern=seen.pattern,
            )
    return None


def undone(state: AgentState, fire: ShownFire, event_id: str) -> OutcomeObserved | None:
    """The failure of a fire whose advice was taken back, if its end is not known yet."""
    known = state.decisions.get(fire.decision_id)
    if known is None or known.outcome not in (None, "timeout"):
        return None
    return OutcomeObserved(
        fire_id=fire.fire_id,
        decision_id=fire.decision_id,
        heuristic_id=fire.heuristic_id,
        content_hash=fire.content_hash,
        outcome="fail",
        by="undo",
        event_id=event_id,
    )


def ignored(belief: Belief, end: OutcomeExpired, after: int) -> AdviceIgnored | None:
    """What is made of a fire of which nothing came, if so many in a row were ignored."""
    if not after or belief.ignored < after:
        return None
    return AdviceIgnored(
        fire_id=end.fire_id,
        decision_id=end.decision_id,
        heuristic_id=end.heuristic_id,
        content_hash=end.content_hash,
        count=belief.ignored,
    )


def expired(fires: Sequence[OpenFire], fire_id: str) -> OutcomeExpired:
    """The end of an open fire for which nothing came in time."""
    fire = next(each for each in fires if each.fire_id == fire_id)
    return OutcomeExpired(
        fire_id=fire.fire_id,
        decision_id=fire.decision_id,
        heuristic_id=fire.heuristic_id,
        content_hash=fire.content_hash,
    )


def replied_decision(state: AgentState, event: Sensed) -> str | None:
    """The id of the decision that a report is about, if it can be known."""
    target = event.in_reply_to
    if isinstance(target, EventRef):
        memory = state.sources.get(target.source)
        return memory.seen.get(target.event_id) if memory else None
    return target


def _reported(
    state: AgentState, event: Sensed, event_id: str
) -> OutcomeObserved | None:
    decision_id = replied_decision(state, event)
    if decision_id is None or event.outcome is None:
        return None
    known = state.decisions.get(decision_id)
    if known is None or known.fire_id is None or known.outcome not in (None, "timeout"):
        return None
    return OutcomeObserved(
        fire_id=known.fire_id,
        decision_id=decision_id,
        heuristic_id=known.heuristic_id or "",
        content_hash=known.content_hash or "",
        outcome=_REPORTED[event.outcome],
        by="report",
        event_id=event_id,
        reason=event.reason,
    )


def _outcome(
    fire: OpenFire, event_id: str, outcome: Outcome, pattern: str
) -> OutcomeObserved:
    return OutcomeObserved(
        fire_id=fire.fire_id,
        decision_id=fire.decision_id,
        heuristic_id=fire.heuristic_id,
        content_hash=fire.content_hash,
        outcome=outcome,
        by="pattern",
        event_id=event_id,
        pattern=pattern,
    )


def _shares_entities(fire: OpenFire, entities: frozenset[str]) -> bool:
    # Only where both sides say who takes part can they be about different ones.
    if not fire.entities or not entities:
        return True
    return not entities.isdisjoint(fire.entities)


def _first_seen(
    waited_for: tuple[Expectation, ...], words: Said, now: datetime
) -> Expectation | None:
    for expectation in waited_for:
        if now <= expectation.due and word_patterns.occurs(expectation.pattern, words):
            return expectation
    return None
