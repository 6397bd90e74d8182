"""Learning silence: what came of an occasion is evidence on silence at similar ones.

For it: a person says that nothing should have been said, by a vote on the condition.
Against it: praise, or success, where something was; or a person misses a word where
nothing was. Any other judgement of a decision, or none, counts for neither.
"""

from handlers.mind.context import TurnContext
from handlers.mind.stages import outcomes, quiet
from projections.folds import formation
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    CandidateRefused,
    FeedbackApplied,
    HeuristicFormed,
    OutcomeObserved,
    SilenceWeighed,
)
from schemas.messages.sensing import Sensed
from schemas.ports.decision_context import HeuristicCandidate
from schemas.state.agent import Remembered
from schemas.state.lessons import Lesson
from schemas.state.taught import Taught
from schemas.values import ids
from schemas.values.unicode_text import quoted

_SPOKE = ("heuristic", "llm")
_NAME = 40
"""How many characters of its condition are in its name."""


def silences(
    turn: TurnContext, event: Sensed, domain: str
) -> tuple[HeuristicCandidate, ...]:
    """Return the learnt silences that hold of an event; none for a person's own words."""
    vector = turn.aids.vector
    # Whoever speaks to the companion is never met with learnt silence (ADR 0017).
    if not turn.settings.silence or vector is None or event.is_persons:
        return ()
    occasion = formation.of_event(event, domain, vector)
    limits = turn.settings.limits
    held = {
        each.heuristic_id: turn.belief(each.heuristic_id, each.content_hash)
        for each in quiet.like(turn.state, occasion, limits)
    }
    return quiet.candidates(turn.state, occasion, limits, held, turn.learning)


def judged(turn: TurnContext, given: FeedbackGiven, vote: FeedbackApplied) -> None:
    """Count a vote on a decision as evidence on silence, or form a heuristic of it."""
    known = _known(turn, vote.decision_id)
    if known is None or vote.decision_id is None:
        return
    occasion, remembered = known
    if remembered.fire_id is not None and remembered.path not in _SPOKE:
        return  # The vote is on the silence itself, and credits what kept it.
    value = _value(given, is_spoken=remembered.path in _SPOKE)
    like = quiet.like(turn.state, occasion, turn.settings.limits)
    for each in like:
        # A vote that was changed to something else must take back what it counted before.
        if value is not None or _is_held(turn, each, vote):
            _weigh(turn, each, vote.decision_id, given.actor, value)
    # Only a vote for silence forms one; one against it has nothing to count against.
    if not like and value is not None and value > 0.0:
        _form(turn, vote.decision_id, occasion)


def shown(turn: TurnContext, event: Sensed, end: OutcomeObserved | None) -> None:
    """Count the success of what was said as evidence against silence there."""
    decision_id = _succeeded(turn, event, end)
    known = _known(turn, decision_id)
    if known is None or decision_id is None or known[1].path not in _SPOKE:
        return
    for each in quiet.like(turn.state, known[0], turn.settings.limits):
        # The full weight of an outcome, by nobody's vote.
        _weigh(turn, each, decision_id, None, -1.0)


def _known(
    turn: TurnContext, decision_id: str | None
) -> tuple[Lesson, Remembered] | None:
    """Return a decision's occasion and record; None if unknown or silence is not learnt."""
    if not turn.settings.silence or decision_id is None:
        return None
    occasion = turn.state.occasions.get(decision_id)
    remembered = turn.state.decisions.get(decision_id)
    if occasion is None or remembered is None:
        return None
    return occasion, remembered


def _value(given: FeedbackGiven, *, is_spoken: bool) -> float | None:
    """Return a vote's value for silence, from -1 to 1; None if it is no evidence on it."""
    vote = given.signed
    if given.aspect not in ("overall", "action", "condition") or vote == 0.0:
        return None
    if not is_spoken:
        return vote
    # That advice was bad does not tell that there was none to give.
    return None if vote < 0.0 and given.aspect != "condition" else -vote


def _succeeded(
    turn: TurnContext, event: Sensed, end: OutcomeObserved | None
) -> str | None:
    """Return the decision whose response the event shows to have succeeded."""
    if end is not None:
        return end.decision_id if end.outcome == "success" else None
    if event.in_reply_to is None or event.outcome != "succeeded":
        return None
    return outcomes.replied_decision(turn.state, event)


def _is_held(turn: TurnContext, each: Taught, vote: FeedbackApplied) -> bool:
    """Tell whether an earlier vote of the same person on the decision counts there."""
    held = turn.belief(each.heuristic_id, each.content_hash)
    return any(
        signal.fire_id == vote.decision_id and vote.actor in signal.votes
        for signal in held.signals
    )


def _weigh(
    turn: TurnContext,
    each: Taught,
    decision_id: str,
    actor: str | None,
    value: float | None,
) -> None:
    turn.credit(
        SilenceWeighed(
            heuristic_id=each.heuristic_id,
            content_hash=each.content_hash,
            decision_id=decision_id,
            actor=actor,
            value=value,
        )
    )


def _form(turn: TurnContext, decision_id: str, occasion: Lesson) -> None:
    """Form a learnt silence of an occasion, at low confidence."""
    when = quiet.situation(turn.state, turn.packs, occasion)
    if when is None or not occasion.text.strip():
        return
    if quiet.is_full(turn.state, occasion.domain):
        detail = (
            f"{quoted(occasion.domain)} has {quiet.LIMIT} heuristics that say nothing"
        )
        turn.emit(
            CandidateRefused(reason="crowded", detail=detail, decision_id=decision_id)
        )
        return
    id_ = ids.learnt_heuristic_id(f"{decision_id}/silence")
    turn.emit(
        HeuristicFormed(
            heuristic_id=id_,
            name=f"quiet: {occasion.text[:_NAME]}",
            domain=occasion.domain,
            condition=occasion.text[:1_000],
            when=when,
            response_type="observation",
            text=quiet.SAYS,
            confidence=quiet.CONFIDENCE,
            decision_id=decision_id,
            is_silence=True,
        )
    )
