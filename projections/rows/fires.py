"""Rows of fires, of how they ended, and of what people said about them."""

from projections.changes import Change, Patch, Put, Row
from projections.folds.judging import DIRECT_VOTE, STRANDS
from projections.rows.folded import Folded, Step
from schemas.decisions import HeuristicFired
from schemas.envelope import Output
from schemas.evidence import belief_key
from schemas.feedback import FeedbackGiven
from schemas.learning import FeedbackApplied, OutcomeExpired, OutcomeObserved
from schemas.state import (
    AgentState,
    Rapport,
)

_SHOWN_FIRST = ("success", "fail", "overridden", "cancelled")
"""Outcomes that the world showed; they stand before what people said."""


def fired(folded: Folded, output: Output, message: HeuristicFired) -> Put:
    """A fire, whose outcome is not known yet."""
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
        "episodic_event_id": None,
        "sequence": folded.taken.sequence,
    }
    return Put("heuristic_fires", (folded.name, output.id), row)


def ended(
    folded: Folded,
    fire_id: str,
    about: OutcomeObserved | OutcomeExpired | FeedbackApplied,
) -> list[Change]:
    """How a fire ended, by the stronger of what is known of it."""
    outcome, source = _stronger(folded.agent, fire_id, about)
    values: Row = {"outcome": outcome, "feedback_source": source}
    if source is not None:
        values["feedback_at"] = folded.now
    return [Patch("heuristic_fires", (folded.name, fire_id), values)]


def voted(folded: Folded, step: Step, message: FeedbackApplied) -> list[Change]:
    """A vote that counted: itself, its fire, and how that person stands now."""
    changes: list[Change] = [_feedback(folded, step, message)]
    if message.fire_id is not None and message.fire_id != DIRECT_VOTE:
        changes += ended(folded, message.fire_id, message)
    rapport = step.after.rapport.get(message.actor)
    if rapport is not None and rapport is not step.before.rapport.get(message.actor):
        row: Row = {
            "value": rapport.value,
            "at": rapport.at,
            "sequence": folded.taken.sequence,
        }
        changes.append(Put("rapport", (folded.name, message.actor), row))
    return changes


def _feedback(folded: Folded, step: Step, message: FeedbackApplied) -> Put:
    given = folded.taken.message
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
        "sequence": folded.taken.sequence,
    }
    return Put("feedback_events", (folded.name, step.output.id), row)


def _weight(folded: Folded, message: FeedbackApplied) -> float:
    """What a vote counts as evidence of anything; on the timing it is of nothing."""
    is_evidence = STRANDS[message.aspect] is not None
    return folded.learning.weights.explicit if is_evidence else 0.0


def _feedback_type(value: float) -> str:
    if value == 0:
        return "explicit_neutral"
    return "explicit_positive" if value > 0 else "explicit_negative"


def _stronger(
    agent: AgentState,
    fire_id: str,
    about: OutcomeObserved | OutcomeExpired | FeedbackApplied,
) -> tuple[str, str | None]:
    """A fire's outcome and where it is known from: the world before people."""
    remembered = agent.decisions.get(about.decision_id or "")
    shown = remembered.outcome if remembered is not None else None
    if shown in _SHOWN_FIRST:
        return str(shown), "implicit"
    said = _said(agent, fire_id, about.heuristic_id, about.content_hash)
    if said is not None:
        return said, "explicit"
    return shown or "unknown", None


def _said(
    agent: AgentState, fire_id: str, heuristic_id: str | None, content: str | None
) -> str | None:
    """What people's votes on a fire say on the whole; None if there are none."""
    held = agent.beliefs.get(belief_key(heuristic_id or "", content or ""))
    for signal in held.signals if held is not None else ():
        if signal.fire_id == fire_id and signal.kind == "explicit":
            if signal.value == 0.5:
                return "unknown"
            return "success" if signal.value > 0.5 else "fail"
    return None
