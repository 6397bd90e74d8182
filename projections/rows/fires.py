"""Rows of fires, of their outcomes, and of people's votes.

A fire's row keeps the observed outcome (`seen`) and people's votes (`said`) apart, each
with its time and the sequence of the last input that changed it. `outcome` and
`feedback_at` are those of the stronger: an observed outcome before a vote.
"""

from collections.abc import Iterator

from projections.folds.learning import vote_targets
from projections.folds.learning.signal_weights import DIRECT_VOTE
from projections.rows.changes import Change, Patch, Put, Row
from projections.rows.folded_group import Folded, Step
from schemas.codec.envelope import Output
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, OutcomeExpired, OutcomeObserved
from schemas.state.agent import AgentState, Rapport
from schemas.state.evidence import belief_key

_SHOWN_FIRST = ("success", "fail", "overridden", "cancelled")
"""Observed outcomes that go before people's votes; a timeout does not."""


def fired(folded: Folded, output: Output, message: HeuristicFired) -> Put:
    """Return the row of a fire, whose outcome is not known yet."""
    row: Row = {
        "heuristic_id": message.heuristic_id,
        "content_hash": message.content_hash,
        "decision_id": message.decision_id,
        "event_id": message.event_id,
        "mode": message.mode,
        "similarity": message.similarity,
        "confidence": message.confidence,
        "fired_at": output.at,
        "outcome": "unknown",
        "feedback_source": None,
        "feedback_at": None,
        "seen": None,
        "seen_at": None,
        "seen_sequence": None,
        "said": None,
        "said_at": None,
        "said_sequence": None,
        "episodic_event_id": None,
        "sequence": folded.input.sequence,
    }
    return Put("heuristic_fires", (folded.name, output.id), row)


def ended(
    folded: Folded, message: OutcomeObserved | OutcomeExpired
) -> Iterator[Change]:
    """Yield the observed outcome of a fire, or its timeout."""
    shown = message.outcome if isinstance(message, OutcomeObserved) else "timeout"
    values: Row = {
        "seen": shown,
        "seen_at": folded.now,
        "seen_sequence": folded.input.sequence,
    }
    if shown in _SHOWN_FIRST:
        values |= {
            "outcome": shown,
            "feedback_source": "implicit",
            "feedback_at": folded.now,
        }
    elif _said(folded.agent, message) is None:
        values["outcome"] = shown
    yield Patch("heuristic_fires", (folded.name, message.fire_id), values)


def voted(folded: Folded, step: Step, message: FeedbackApplied) -> list[Change]:
    """Return the rows of a vote: the vote itself, its fire, and the person's rapport."""
    changes: list[Change] = [_feedback(folded, step, message)]
    if message.fire_id is not None and message.fire_id != DIRECT_VOTE:
        changes += _judged(folded, message, message.fire_id)
    rapport = step.after.rapport.get(message.actor)
    # By identity: folds return the same object where nothing changed.
    if rapport is not None and rapport is not step.before.rapport.get(message.actor):
        row: Row = {
            "value": rapport.value,
            "at": rapport.at,
            "sequence": folded.input.sequence,
        }
        changes.append(Put("rapport", (folded.name, message.actor), row))
    return changes


def _feedback(folded: Folded, step: Step, message: FeedbackApplied) -> Put:
    given = folded.input.message
    by_decision = message.decision_id is not None
    row: Row = {
        "timestamp": step.output.at,
        "target_type": "decision" if by_decision else "heuristic",
        "target_id": message.decision_id if by_decision else message.heuristic_id,
        "feedback_type": _feedback_type(message.value),
        "feedback_value": message.value,
        "weight": _weight(folded, message),
        "aspect": message.aspect,
        "actor": message.actor,
        "comment": message.comment,
        "channel": given.channel if isinstance(given, FeedbackGiven) else None,
        "fire_id": message.fire_id,
        "heuristic_id": message.heuristic_id,
        "content_hash": message.content_hash,
        "rapport_before": step.before.rapport.get(message.actor, Rapport()).value,
        "rapport_after": step.after.rapport.get(message.actor, Rapport()).value,
        "sequence": folded.input.sequence,
    }
    return Put("feedback_events", (folded.name, step.output.id), row)


def _weight(folded: Folded, message: FeedbackApplied) -> float:
    """Return the weight of a vote as evidence; one on the timing is evidence of nothing."""
    is_evidence = vote_targets.STRANDS[message.aspect] is not None
    share = 1.0 if message.share is None else message.share
    return folded.learning.weights.explicit * share if is_evidence else 0.0


def _feedback_type(value: float) -> str:
    if value == 0:
        return "explicit_neutral"
    return "explicit_positive" if value > 0 else "explicit_negative"


def _judged(folded: Folded, message: FeedbackApplied, fire_id: str) -> Iterator[Patch]:
    """Yield the votes on a fire on average, and its outcome where they decide it."""
    known = folded.agent.decisions.get(vote_targets.judged(folded.agent, message))
    said, told = _said(folded.agent, message), (folded.now, folded.input.sequence)
    if said is None and known is not None and "pair" in known.entries:
        return  # What was said is settled, and stays.
    at, sequence = told if said is not None else (None, None)
    values: Row = {"said": said, "said_at": at, "said_sequence": sequence}
    shown = known.outcome if known is not None else None
    if shown not in _SHOWN_FIRST:
        source = "explicit" if said is not None else None
        values["outcome"] = said or shown or "unknown"
        values |= {"feedback_source": source, "feedback_at": at}
    yield Patch("heuristic_fires", (folded.name, fire_id), values)


def _said(
    agent: AgentState, about: FeedbackApplied | OutcomeObserved | OutcomeExpired
) -> str | None:
    """Return the outcome that the votes on a fire average to.

    None if there are none, or if they are settled.
    """
    key = belief_key(about.heuristic_id or "", about.content_hash or "")
    held = agent.beliefs.get(key)
    for signal in held.signals if held is not None else ():
        if signal.fire_id == about.fire_id and signal.kind == "explicit":
            if signal.value == 0.5:
                return "unknown"
            return "success" if signal.value > 0.5 else "fail"
    return None
