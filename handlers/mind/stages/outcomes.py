"""Outcomes: does this event show how earlier advice turned out, or undo it?

An event that names the decision settles it. Otherwise the oldest open fire of the same
domain whose entities and expected words the event has is settled: the first pattern seen
decides, and one event closes one fire. A fire for which nothing comes in time expires.

To take advice back an event must say so in whole words and name an entity or the action of
a response of its own domain, shown a moment ago; or a field `undoes` must name that
response, its action or an entity. A text that merely speaks of cancelling undoes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from schemas.messages.arms import Action
from schemas.messages.learning import AdviceIgnored, OutcomeExpired, OutcomeObserved
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs import word_patterns
from schemas.packs.word_patterns import Said
from schemas.state.agent import AgentState, OpenFire, ShownFire
from schemas.state.evidence import Belief
from schemas.state.triggers import Expectation
from schemas.values.reasons import Outcome, ReportedOutcome

_REPORTED: Mapping[ReportedOutcome, Outcome] = {
    "succeeded": "success",
    "failed": "fail",
    "overridden": "overridden",
    "cancelled": "cancelled",
}


def observed(
    state: AgentState, event: Sensed, event_id: str, domain: str, now: datetime
) -> OutcomeObserved | None:
    """Return the outcome that the event shows, if it shows one."""
    # A report names its decision: no pattern needs to guess.
    if event.in_reply_to is not None:
        return _reported(state, event, event_id)
    entities = frozenset(event.entities)
    # Only where both sides say who takes part can they be about different ones. Up to 256
    # fires wait, so this is no call: 3 µs an event.
    waiting = [
        fire
        for fire in state.fires
        if fire.domain == domain
        and not (entities and fire.entities and entities.isdisjoint(fire.entities))
    ]
    # Splitting a text into words is the dearest step here, so not for nothing.
    words = word_patterns.words_of(event) if waiting else word_patterns.NOTHING
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
    """Return the failure of a fire whose advice was undone, if its outcome is still
    open.
    """
    known = state.decisions.get(fire.decision_id)
    # A timeout may still be corrected by what comes later; any other outcome is final.
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
    """Return the evidence of `after` or more ignored fires in a row; None for fewer."""
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
    """Return the end of an open fire for which nothing came in time."""
    fire = next(each for each in fires if each.fire_id == fire_id)
    return OutcomeExpired(
        fire_id=fire.fire_id,
        decision_id=fire.decision_id,
        heuristic_id=fire.heuristic_id,
        content_hash=fire.content_hash,
    )


def replied_decision(state: AgentState, event: Sensed) -> str | None:
    """Return the id of the decision that a report is about, if it can be known."""
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


def _first_seen(
    waited_for: tuple[Expectation, ...], words: Said, now: datetime
) -> Expectation | None:
    for expectation in waited_for:
        if now <= expectation.due and word_patterns.occurs(expectation.pattern, words):
            return expectation
    return None


WORDS = (
    "undo", "undid", "undone_fire", "undoes", "revert", "reverts", "reverted", "rollback",
    "roll back", "rolled back", "cancel", "cancels", "cancelled", "canceled",
    "nevermind", "never mind",
)  # fmt: skip
"""Words by which an event undoes something, each matched as whole words."""

UNDOES = "undoes"
"""The field in which a sensor names what an event undoes."""

_ActionOf = Callable[[ShownFire], Action | None]
"""Returns the action of a fire; None if it only spoke."""


def undone_fire(
    state: AgentState,
    event: Sensed,
    domain: str,
    now: datetime,
    undo_s: float,
    action_of: _ActionOf,
) -> ShownFire | None:
    """Return the latest fire, at most `undo_s` seconds old, that the event undoes, if
    any.
    """
    named = event.fields.get(UNDOES)
    words = word_patterns.words_of(event)
    # Before any fire is looked at: few events speak of undoing, and up to 64 were shown.
    if named is None and not word_patterns.any_occurs(WORDS, words):
        return None
    earliest = now - timedelta(seconds=undo_s)
    # The latest first: "undo" means what was just advised.
    for fire in reversed(state.shown):
        if fire.domain != domain or fire.at < earliest:
            continue
        names = (*fire.entities, *_names(action_of(fire)))
        if named is not None:
            if named in (fire.decision_id, *names):
                return fire
        elif not _names_other(fire, event) and _is_named(names, event, words):
            return fire
    return None


def _names_other(fire: ShownFire, event: Sensed) -> bool:
    """Tell whether both name entities, and share none."""
    # Where one side names nobody, they may well be about the same.
    ours, theirs = frozenset(fire.entities), frozenset(event.entities)
    return bool(ours) and bool(theirs) and ours.isdisjoint(theirs)


def _is_named(names: tuple[str, ...], event: Sensed, words: Said) -> bool:
    return any(
        name in event.entities or word_patterns.occurs(name, words) for name in names
    )


def _names(action: Action | None) -> tuple[str, ...]:
    """Return the names by which an event may refer to an action."""
    if action is None:
        return ()
    return (action.type, *([action.target] if action.target else []))
