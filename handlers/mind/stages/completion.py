"""Completion: how a decision that waited for the model ends.

An answer in time is delivered; a stale one, an empty one and a failure are not. The
decision then ends as dropped with the reason, unless a heuristic stands by.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from handlers.mind.reply.reading import Unread
from schemas.messages.arms import Action, Chained, heuristic_arm
from schemas.messages.asks import Rival, UnpredictedWords
from schemas.messages.decisions import Completed, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ModelFailed, Result
from schemas.ports.decision_context import ReadAnswer
from schemas.state.agent import AgentState, Pending
from schemas.values.reasons import Drop

_NONE: Mapping[str, float] = {}
_KNOWN = 0.5
"""What nobody predicted."""
DROPS: Mapping[str, Drop] = {
    "timeout": "llm_timeout",
    "no_response": "llm_no_response",
    "declined": "llm_declined",
    "unavailable": "llm_no_response",
    "stale": "stale",
    "malformed": "llm_malformed",
}

ECHO = "the model repeated what it was asked"

_ECHOED_CHARACTERS = 80
"""An answer with so many characters of the prompt's beginning, verbatim, is an echo; of a
shorter prompt one with all of it."""
_ECHOED_BEGINNING = 5
"""How many words that beginning has at least: `just now, from user:` and what happened."""
_FENCE = re.compile('</?data>|"')
"""What stands around what happened, which models that copy leave out."""

_ECHOED_WORDS = 8
"""An answer of so many words or more that stands verbatim in the prompt is an echo."""


def answered(
    pending: Pending,
    model: str,
    answer: ReadAnswer,
    now: datetime,
    agrees_with: Mapping[str, float] = _NONE,
    chain: Chained | None = None,
    action: Action | None = None,
) -> Completed | Dropped:
    """Return the end of a decision whose model's reply was read as `answer`.

    `agrees_with` are the heuristics shown to it that say the same, with how alike they
    are; `chain` is who of a chain answered, and `action` what is done besides.
    """
    if now > pending.expires_at:
        return stale(pending)
    # Like a character's: who does something without a word is told by its name.
    text = answer.text or (action.type if action is not None else "")
    if not text:
        return _dropped(pending, "llm_declined", "the model chose to say nothing")
    words = UnpredictedWords(
        ask_id=pending.ask_id,
        model=model,
        text=text,
        agrees_with=tuple(agrees_with) or None,
        agreement=tuple(agrees_with.values()) or None,
        chain=chain,
        action=action,
    )
    return _spoken(pending, words, answer)


def settled(
    pending: Pending, model: str, told: str, now: datetime
) -> Completed | Dropped:
    """Return the end of a decision that changed what a person asked to be changed."""
    if now > pending.expires_at:
        return stale(pending)
    return Completed(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        path="acknowledged",
        text=told,
        response_type="observation",
        model=model,
        predicted_success=_KNOWN,
        prediction_confidence=_KNOWN,
    )


def predicted(
    pending: Pending, about: UnpredictedWords, answer: ReadAnswer, now: datetime
) -> Completed | Dropped:
    """Return the end of a decision whose answer waited for its prediction."""
    if now > pending.expires_at:
        return stale(pending)
    return _spoken(pending, about, answer)


def answered_by_rival(
    pending: Pending, rival: Rival, now: datetime
) -> Completed | Dropped:
    """Return the end of a decision that the heuristic answers, for the model has not."""
    if now > pending.expires_at:
        return stale(pending)
    return Completed(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        path="heuristic",
        text=rival.text,
        response_type=rival.response_type,
        action=rival.action,
        model=rival.model,
        # A heuristic's prediction is its confidence, so that calibration compares like with
        # like.
        predicted_success=rival.confidence,
        prediction_confidence=rival.confidence,
        matched_heuristic_id=rival.heuristic_id,
        winner=heuristic_arm(rival.heuristic_id, rival.content_hash),
    )


def failed(pending: Pending, message: ModelFailed) -> Dropped:
    """Return the end of a decision whose model failed."""
    return _dropped(pending, DROPS[message.reason], message.detail)


def unread(pending: Pending, fault: Unread) -> Dropped:
    """Return the end of a decision whose model's reply nobody may hear."""
    return _dropped(pending, DROPS[fault.reason], fault.detail)


def given_up(pending: Pending) -> Dropped:
    """Return the end of a decision whose model never answered."""
    return _dropped(pending, "llm_timeout", "no answer came")


def declined(pending: Pending, why: str) -> Dropped:
    """Return the end of a decision whose model sent what nobody should hear."""
    return _dropped(pending, "llm_declined", why)


def broken(pending: Pending, detail: str) -> Dropped:
    """Return the end of a decision whose timer could not be run."""
    return _dropped(pending, "error", detail)


def superseded(pending: Pending) -> Dropped:
    """Return the end of a decision that gives way to others."""
    return _dropped(pending, "superseded", "too many wait for the model")


def withheld(pending: Pending, reason: Drop, detail: str) -> Dropped:
    """Return the end of a decision whose answer may not be said any more."""
    return _dropped(pending, reason, detail)


def crowded_out(waiting: Iterable[Pending]) -> Pending:
    """Return the least salient decision that waits; of equals the oldest."""
    return min(waiting, key=lambda each: (each.priority, each.expires_at, each.ask_id))


def _spoken(pending: Pending, words: UnpredictedWords, answer: ReadAnswer) -> Completed:
    return Completed(
        decision_id=pending.decision_id,
        ask_id=words.ask_id,
        path="llm",
        text=words.text,
        response_type=pending.response_type,
        action=words.action,
        model=words.model,
        predicted_success=answer.predicted_success,
        prediction_confidence=answer.prediction_confidence,
        matched_heuristic_id=pending.matched_heuristic_id,
        # Only a race has a winner; credit for its arm goes by it.
        winner=pending.rival.llm_arm if pending.rival else None,
        agrees_with=words.agrees_with,
        agreement=words.agreement,
        chain=words.chain,
    )


def stale(pending: Pending) -> Dropped:
    """Return the end of a decision that nobody needs an answer to any more."""
    return _dropped(pending, "stale", f"stale since {pending.expires_at}")


def _dropped(pending: Pending, reason: Drop, detail: str) -> Dropped:
    return Dropped(
        decision_id=pending.decision_id,
        ask_id=pending.ask_id,
        reason=reason,
        detail=detail,
    )


def refusal(state: AgentState, result: Result) -> Handled | None:
    """Return why a result is not used; None if it is the first for an open ask."""
    match state.asks.get(result.ask_id):
        case "open":
            return None
        case "answered":
            return Handled(reason="second", detail=result.ask_id)
        case "late":
            return Handled(reason="late", detail=result.ask_id)
        case _:
            return Handled(reason="unknown", detail=result.ask_id)


def nonsense(raw: str, said: str, asked: str) -> str | None:
    """Return why a model's text is no answer; None if it may be delivered.

    Small models repeat the prompt. That is neither delivered nor learnt from.

    Args:
        raw: the whole text of the model.
        said: the part of it that would be delivered.
        asked: the beginning of its prompt.
    """
    question, answer = _plain(asked), _plain(said)
    beginning = question[:_ECHOED_CHARACTERS]
    if len(beginning.split()) >= _ECHOED_BEGINNING and beginning in _plain(raw):
        return ECHO
    if len(answer.split()) >= _ECHOED_WORDS and answer in question:
        return ECHO
    return None


def _plain(text: str) -> str:
    """Return a text as models copy it: with small changes of case and white space."""
    return " ".join(_FENCE.sub("", text.lower()).split())
