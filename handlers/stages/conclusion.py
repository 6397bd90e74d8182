"""Conclusion: what a decision that waited for the model comes to.

An answer in time is said; a stale one, an empty one and a failure are not, and the
decision ends as dropped with the reason.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from schemas.context import ReadAnswer
from schemas.decisions import Completed, Dropped
from schemas.reasons import Drop
from schemas.results import ModelFailed
from schemas.state import Pending

PENDING_LIMIT = 64
"""How many decisions of an agent may wait for the model."""

_DROPS: Mapping[str, Drop] = {
    "timeout": "llm_timeout",
    "no_response": "llm_no_response",
    "declined": "llm_declined",
    "unavailable": "llm_no_response",
}


def answered(
    pending: Pending, model: str, raw: str, answer: ReadAnswer, now: datetime
) -> Completed | Dropped:
    """The end of a decision whose model answered `raw`, read as `answer`."""
    if now > pending.expires_at:
        return _dropped(pending, "stale", f"stale since {pending.expires_at}")
    if not raw.strip():
        return _dropped(pending, "llm_no_response", "the model's answer was empty")
    if not answer.text:
        return _dropped(pending, "llm_declined", "the model chose to say nothing")
    return Completed(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        path="llm",
        text=answer.text,
        response_type=pending.response_type,
        model=model,
        predicted_success=answer.predicted_success,
        prediction_confidence=answer.prediction_confidence,
        matched_heuristic_id=pending.matched_heuristic_id,
    )


def failed(pending: Pending, message: ModelFailed) -> Dropped:
    """The end of a decision whose model failed."""
    return _dropped(pending, _DROPS[message.reason], message.detail)


def given_up(pending: Pending) -> Dropped:
    """The end of a decision whose model never answered."""
    return _dropped(pending, "llm_timeout", "no answer came")


def superseded(waiting: Iterable[Pending]) -> Dropped | None:
    """The end of the least salient waiting decision, if too many wait; the oldest first."""
    pending = sorted(
        waiting, key=lambda each: (each.priority, each.expires_at, each.ask_id)
    )
    if len(pending) <= PENDING_LIMIT:
        return None
    return _dropped(pending[0], "superseded", "too many wait for the model")


def _dropped(pending: Pending, reason: Drop, detail: str) -> Dropped:
    return Dropped(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        reason=reason,
        detail=detail,
    )
