"""Votes: which belief or rapport a person's vote moves, by the aspect it judges.

| aspect    | confidence in the answer | fit of the condition | rapport |
|-----------|--------------------------|----------------------|---------|
| overall   | yes                      |                      | yes     |
| action    | yes                      |                      |         |
| condition |                          | yes                  |         |
| timing    |                          |                      | yes     |

Each person has one vote on a decision: a later one, on whatever aspect, withdraws the
earlier wherever that counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from projections.folds.learning import confidence, rapport, raters
from projections.folds.learning.confidence import Given
from projections.folds.learning.signal_weights import DIRECT_VOTE
from schemas.messages.feedback import Aspect, FeedbackGiven, Strand
from schemas.messages.learning import FeedbackApplied
from schemas.state.agent import AgentState, Rapport
from schemas.state.evidence import Belief, belief_key
from schemas.values.exact_math import round6
from schemas.values.learning_settings import LearningSettings
from schemas.values.rapport_pace import USUAL, Pace

STRANDS: Mapping[Aspect, Strand | None] = {
    "overall": "pair",
    "action": "pair",
    "condition": "fit",
    "timing": None,
}
"""What a vote on each aspect is evidence of."""

_TRUSTED = 0.95
"""The prior mean of a condition's fit: the highest value that a prior may declare."""

_MOVES_RAPPORT = ("overall", "timing")
_BOTH: tuple[Strand, ...] = ("pair", "fit")


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote as evidence on one heuristic."""

    aspect: Aspect
    fire_id: str
    actor: str
    value: float
    base: float
    """The mean of the actor's earlier votes, -1 to 1, shrunk toward 0."""
    place: int
    is_told: bool = False
    """Whether an outcome of the fire was observed."""
    age_s: float | None = None
    """Seconds from the decision to the vote; None if the decision is forgotten."""
    is_models: bool = False
    """Whether the words that were judged were a model's."""
    share: float = 1.0
    """By which share it counts, as several answers were said as one."""

    def counted(
        self,
        strand: Strand,
        held: Belief,
        earlier: tuple[Strand, ...],
        learning: LearningSettings,
    ) -> Belief:
        """Return the belief `held` after this vote, on one strand of evidence.

        `earlier` names the strands that hold votes on the fire. Where such an entry is
        settled it cannot change any more, and no second one is made.
        """
        # One vote a person: judging another aspect withdraws the earlier vote here.
        if STRANDS[self.aspect] != strand:
            return confidence.withdrawn(held, self.fire_id, self.actor, learning)
        is_found = confidence.find(held, self.fire_id, "explicit") is not None
        # Recorded, yet not found: it was settled, and would count twice.
        if strand in earlier and not is_found:
            return held
        return confidence.voted(
            held,
            self.fire_id,
            self.actor,
            self.value,
            self.place,
            learning,
            Given(self.base, self.age_s, self.is_models, self.share),
            self.is_told and confidence.find(held, self.fire_id, "implicit") is None,
        )


def vote_place(vote: FeedbackApplied) -> str:
    """Return the fire id under which a vote is entered in a heuristic's evidence.

    All votes of one id share one signal.
    """
    return vote.fire_id or vote.through or DIRECT_VOTE


def target(vote: FeedbackApplied) -> str:
    """Return what the vote is on: a person has one vote on each target."""
    return vote.decision_id or vote.through or vote.heuristic_id or ""


def judged(state: AgentState, vote: FeedbackApplied) -> str:
    """Return the decision whose answer a vote judges; empty if it judges no answer.

    Of a vote on answers said as one that is the further decision, where it is passed on.
    """
    lead = state.decisions.get(vote.through or "") if vote.is_passed_on else None
    for each in lead.batch.members if lead is not None and lead.batch else ():
        known = state.decisions.get(each)
        if known is not None and known.fire_id == vote.fire_id:
            return each
    return vote.decision_id or ""


def base(state: AgentState, vote: FeedbackApplied, before: float | None) -> float:
    """Return the voter's base, -1 to 1, over all other targets.

    `before` is the voter's earlier vote on this one, which must not count in it.
    """
    return raters.base(state.raters, vote.actor, target(vote), before)


def before(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> float | None:
    """Return the same person's earlier vote on the same target, -1 to 1; None if none."""
    if vote.decision_id is None:
        key = belief_key(vote.heuristic_id or "", vote.content_hash or "")
        return vote_in(state.beliefs.get(key), vote)
    remembered = state.decisions.get(vote.decision_id)
    if remembered is not None:
        return remembered.votes.get(vote.actor)
    # The decision is forgotten: what the log says of it came with the feedback.
    return heard.about.vote if heard is not None and heard.about is not None else None


def vote_in(held: Belief | None, vote: FeedbackApplied) -> float | None:
    """Return the same person's vote among this evidence; None if absent or settled."""
    place = vote_place(vote)
    index = None if held is None else confidence.find(held, place, "explicit")
    if held is None or index is None:
        return None
    return held.signals[index].votes.get(vote.actor)


def rated(state: AgentState, vote: FeedbackApplied, before: float | None) -> AgentState:
    """Return the state with the voter's base, this vote included."""
    # After `base` was read for this vote: a vote must not weigh itself.
    people = raters.voted(state.raters, vote.actor, target(vote), vote.value, before)
    return replace(state, raters=people)


def felt(
    state: AgentState,
    vote: FeedbackApplied,
    now: datetime,
    before: float | None,
    pace: Pace = USUAL,
) -> AgentState:
    """Return the state with the voter's rapport moved by a vote on a decision.

    `before` is the voter's earlier vote on it. If how far that one moved rapport is
    forgotten, rapport stays as it is.
    """
    decision_id = vote.decision_id or ""
    stood = state.rapport.get(vote.actor, Rapport())
    # Only a full map has forgotten anything; in another one a missing delta is none.
    is_full = len(stood.deltas) >= stood.deltas.limit
    if before is not None and is_full and decision_id not in stood.deltas:
        return state
    if vote.aspect in _MOVES_RAPPORT:
        stands = rapport.voted(stood, decision_id, vote.value, now, pace)
    elif stood.deltas.get(decision_id):
        # The earlier vote moved rapport and this aspect does not: take that back.
        stands = rapport.voted(stood, decision_id, 0.0, now, pace)
    else:
        return state
    return replace(state, rapport=state.rapport.set(vote.actor, stands))


def given(
    vote: FeedbackApplied, base: float, place: int, *, is_told: bool = False
) -> Vote:
    """Make evidence of a vote; `base` is the voter's, from before this vote."""
    return Vote(
        aspect=vote.aspect,
        fire_id=vote_place(vote),
        actor=vote.actor,
        value=vote.value,
        base=base,
        place=place,
        is_told=is_told,
        age_s=vote.age_s,
        is_models=vote.through is not None and not vote.is_passed_on,
        share=1.0 if vote.share is None else vote.share,
    )


def counted(
    state: AgentState,
    key: str,
    given: Vote,
    held: Belief,
    earlier: tuple[Strand, ...],
    learning: LearningSettings,
    now: datetime,
) -> AgentState:
    """Return the state with a vote counted in the belief and the fit under `key`.

    `held` is the belief before it, `earlier` the strands that hold votes on the fire.
    """
    after = _told(given, given.counted("pair", held, earlier, learning), now)
    if after is not held:
        state = replace(state, beliefs=state.beliefs.set(key, after))
    fitted = state.fits.get(key)
    # A fit is kept only once somebody judged the condition; most heuristics have none.
    if given.aspect == "condition" or fitted is not None:
        fitted = fitted or _initial_fit(learning)
        fitted = given.counted("fit", fitted, earlier, learning)
        state = replace(state, fits=state.fits.set(key, fitted))
    return state


def carried(state: AgentState, vote: FeedbackApplied) -> tuple[str, ...]:
    """Return the hashes of the heuristic's other contents that hold the vote being changed.

    An edit that keeps the evidence copies its votes to the new content.
    """
    id_, known = vote.heuristic_id or "", {*state.beliefs, *state.fits}
    return tuple(
        key.rpartition("@")[2]
        for key in sorted(known - {belief_key(id_, vote.content_hash or "")})
        if key.rpartition("@")[0] == id_
        and any(
            vote_in(held.get(key), vote) is not None
            for held in (state.beliefs, state.fits)
        )
    )


def noted(
    before: AgentState,
    state: AgentState,
    vote: FeedbackApplied,
    earlier: tuple[Strand, ...],
    *,
    is_kept: bool,
) -> AgentState:
    """Return the state whose decision records that it was judged, and on which strands.

    `before` is the state before the vote; `is_kept` is whether the vote itself is kept.
    """
    decision_id = judged(state, vote)
    remembered = state.decisions.get(decision_id)
    if remembered is None:
        return state
    entries = tuple(
        strand
        for strand in _BOTH
        if _is_found(state, vote, strand)
        # What is settled is not found any more, and stays.
        or (strand in earlier and not _is_found(before, vote, strand))
    )
    known = replace(remembered, is_judged=True, entries=entries)
    votes = known.votes
    if is_kept and (vote.actor in votes or len(votes) < confidence.VOTER_LIMIT):
        known = replace(known, votes=votes.set(vote.actor, vote.value))
    return replace(state, decisions=state.decisions.set(decision_id, known))


def earlier(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> tuple[Strand, ...]:
    """Return the strands that hold earlier votes on the same decision."""
    remembered = state.decisions.get(judged(state, vote))
    if remembered is not None:
        return remembered.entries
    return heard.about.entries if heard is not None and heard.about is not None else ()


def counts_already(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> bool:
    """Tell whether an outcome of the judged fire was observed."""
    known = state.decisions.get(judged(state, vote))
    about = known or (heard.about if heard is not None else None)
    return about is not None and about.outcome in ("success", "fail")


def _initial_fit(learning: LearningSettings) -> Belief:
    """Return the prior belief in the fit of a condition that nobody judged."""
    return confidence.initial(_TRUSTED, learning)


def fit(state: AgentState, heuristic_id: str, content_hash: str) -> float:
    """Return the factor, 0 to 1, by which similarity to a condition counts.

    It is the posterior mean of the fit over its prior mean, and 1 where nobody judged it.
    """
    held = state.fits.get(belief_key(heuristic_id, content_hash))
    if held is None:
        return 1.0
    # At most 1: praise of a condition cannot make an event more like it than it is.
    mean = held.alpha / (held.alpha + held.beta)
    return round6(min(1.0, mean / _TRUSTED))


def _told(given: Vote, held: Belief, now: datetime) -> Belief:
    """Return the belief with the vote as the latest evidence on the fire, if it is that."""
    # Any vote, also one on the timing, shows that the advice was noticed.
    held = replace(held, ignored=0) if held.ignored else held
    if STRANDS[given.aspect] != "pair" or given.value == 0.0:
        return held
    return confidence.outcome_seen(held, given.fire_id, given.value > 0.0, now)


def _is_found(state: AgentState, vote: FeedbackApplied, strand: Strand) -> bool:
    """Tell whether votes on the fire are among the evidence that can still change."""
    believed = state.beliefs if strand == "pair" else state.fits
    held = believed.get(belief_key(vote.heuristic_id or "", vote.content_hash or ""))
    if held is None:
        return False
    return confidence.find(held, vote_place(vote), "explicit") is not None
