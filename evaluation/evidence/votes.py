"""Reconstruct what the mind knew of each recorded vote when it was cast.

A vote counts relative to its rater's usual votes and to earlier votes on the same fire.
Both follow from the votes before it alone, whatever the learning settings.
"""

from immutables import Map

from evaluation.evidence.facts import Judged
from projections.folds.learning import confidence, raters
from projections.folds.learning import vote_targets as judging
from schemas.codec.catalogue import InputMessage
from schemas.codec.envelope import Unreadable
from schemas.messages.feedback import FeedbackGiven, Strand
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.state.agent import AgentState
from schemas.state.evidence import Belief
from schemas.values.exact_math import total

_ENDS = ("success", "fail")


class Voting:
    """The votes read so far, beside what the agent remembered at the start."""

    def __init__(self, start: AgentState) -> None:
        """Start from the votes remembered from before the recording."""
        self._start = start
        self._raters = start.raters
        self._entered: dict[str, bool] = {}
        self._said: dict[str, dict[str, float]] = {}
        self._given: dict[tuple[str, str], float] = {}

    def judged(
        self,
        sequence: int,
        key: str,
        declared: float,
        vote: FeedbackApplied,
        given: InputMessage | Unreadable,
        before: float | None = None,
        *,
        is_seen: bool = False,
    ) -> Judged:
        """Return a vote on a heuristic as a fact.

        `before` is the same rater's earlier vote on it, -1 to 1; `is_seen` says that the
        recording showed the fire's outcome before the vote.
        """
        remembered = self._start.decisions.get(judging.judged(self._start, vote))
        about = given.about if isinstance(given, FeedbackGiven) else None
        known = remembered or about
        is_seen = is_seen or (known is not None and known.outcome in _ENDS)
        judged = judging.Vote(
            aspect=vote.aspect,
            fire_id=judging.vote_place(vote),
            actor=vote.actor,
            value=vote.value,
            base=raters.base(self._raters, vote.actor, judging.target(vote), before),
            place=sequence,
            is_told=is_seen,
            age_s=vote.age_s,
            is_models=vote.through is not None and not vote.is_passed_on,
            share=1.0 if vote.share is None else vote.share,
        )
        return Judged(sequence, key, declared, judged, self._earlier(vote, given))

    def before(
        self,
        vote: FeedbackApplied,
        given: InputMessage | Unreadable,
        held: Belief | None,
    ) -> float | None:
        """Return the same person's earlier vote on the same, as the mind remembers it."""
        if vote.decision_id is None:
            return judging.vote_in(held, vote)
        # The mind has forgotten the decision, so Echoic looked it up in the log when the
        # vote came in, and what it found came along.
        if isinstance(given, FeedbackGiven) and given.about is not None:
            return given.about.vote
        place = vote.decision_id, vote.actor
        remembered = self._start.decisions.get(vote.decision_id)
        earlier = remembered.votes.get(vote.actor) if remembered is not None else None
        return self._given.get(place, earlier)

    def take(
        self,
        fact: Judged | None,
        vote: FeedbackApplied,
        before: Map[str, Belief],
        after: Map[str, Belief],
        earlier: float | None = None,
    ) -> None:
        """Record a vote that was folded; `fact` if it was on a heuristic.

        `before` and `after` are the beliefs around it, and `earlier` is the same person's
        previous vote on the same.
        """
        target = judging.target(vote)
        self._raters = raters.voted(
            self._raters, vote.actor, target, vote.value, earlier
        )
        if vote.decision_id is not None:
            self._given[vote.decision_id, vote.actor] = vote.value
        if fact is None or not (vote.decision_id or vote.is_passed_on):
            return
        was_settled = "pair" in fact.earlier and not _is_found(before, fact)
        self._entered[_place(vote)] = _is_found(after, fact) or was_settled
        # A vote on several answers that were said as one tells of none how it went.
        if vote.fire_id is not None and vote.share is None:
            said = self._said.setdefault(vote.fire_id, {})
            # A new vote replaces the person's earlier one, also if it is on an aspect that
            # is no evidence of the action.
            said.pop(vote.actor, None)
            if judging.STRANDS[vote.aspect] == "pair":
                said[vote.actor] = vote.value

    def is_voted(self, seen: OutcomeObserved) -> bool:
        """Tell whether votes on a fire count for the heuristic that answered."""
        remembered = self._start.decisions.get(seen.decision_id)
        entered = remembered is not None and "pair" in remembered.entries
        return self._entered.get(seen.fire_id, entered)

    def happened(self) -> dict[str, float]:
        """Return the outcome of each fire that people judged, by their latest votes, 0 to 1."""
        return {
            fire: _mean(self._said[fire])
            for fire in sorted(self._said)
            if self._said[fire]
        }

    def _earlier(
        self, vote: FeedbackApplied, given: InputMessage | Unreadable
    ) -> tuple[Strand, ...]:
        if isinstance(given, FeedbackGiven) and given.about is not None:
            return given.about.entries
        # Votes in this recording are newer than what the agent remembered at its start.
        known = self._entered.get(_place(vote))
        if known is not None:
            return ("pair",) if known else ()
        remembered = self._start.decisions.get(judging.judged(self._start, vote))
        return remembered.entries if remembered is not None else ()


def _place(vote: FeedbackApplied) -> str:
    """Return what a vote is entered by: the fire, or the decision of a model's words."""
    return vote.fire_id or vote.decision_id or ""


def _is_found(believed: Map[str, Belief], fact: Judged) -> bool:
    held = believed.get(fact.key)
    if held is None:
        return False
    return confidence.find(held, fact.vote.fire_id, "explicit") is not None


def _mean(votes: dict[str, float]) -> float:
    """Return the mean of people's latest votes, mapped from [-1, 1] to [0, 1]."""
    return (total(votes[actor] for actor in sorted(votes)) / len(votes) + 1.0) / 2.0
