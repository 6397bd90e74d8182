"""Judging: where a vote counts, by what of the decision it is about.

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
from projections.folds.learning.counting import DIRECT_VOTE
from schemas.messages.feedback import Aspect, FeedbackGiven, Strand
from schemas.messages.learning import FeedbackApplied
from schemas.state.agent import AgentState, Rapport
from schemas.state.evidence import Belief, belief_key
from schemas.values.exact_math import round6
from schemas.values.settings import LearningSettings

STRANDS: Mapping[Aspect, Strand | None] = {
    "overall": "pair",
    "action": "pair",
    "condition": "fit",
    "timing": None,
}
"""What a vote on each aspect is evidence of."""

TRUSTED = 0.95
"""What a condition is trusted with before anybody judged it."""

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
    """What the actor used to say until then."""
    place: int
    is_told: bool = False
    """Whether the world has shown how the fire went."""
    age_s: float | None = None
    """How long after the decision it came, if that is known."""
    is_models: bool = False
    """Whether the words that were judged were a model's."""

    def counted(
        self,
        strand: Strand,
        held: Belief,
        earlier: tuple[Strand, ...],
        learning: LearningSettings,
    ) -> Belief:
        """Return what is believed after it; `earlier` is where votes on the fire count already.

        Those that are settled can change no more, and no second entry is made.
        """
        if STRANDS[self.aspect] != strand:
            return confidence.withdrawn(held, self.fire_id, self.actor, learning)
        is_found = confidence.find(held, self.fire_id, "explicit") is not None
        if strand in earlier and not is_found:
            return held
        return confidence.voted(
            held,
            self.fire_id,
            self.actor,
            self.value,
            self.place,
            learning,
            Given(self.base, self.age_s, self.is_models),
            self.is_told and confidence.find(held, self.fire_id, "implicit") is None,
        )


def vote_place(vote: FeedbackApplied) -> str:
    """Return where a vote stands in a heuristic's evidence: each place has one such entry."""
    return vote.fire_id or vote.through or DIRECT_VOTE


def target(vote: FeedbackApplied) -> str:
    """Return what a person has one vote on."""
    return vote.decision_id or vote.through or vote.heuristic_id or ""


def base(state: AgentState, vote: FeedbackApplied, before: float | None) -> float:
    """Return what the voter used to say of anything else; `before` is what was said of this."""
    return raters.base(state.raters, vote.actor, target(vote), before)


def before(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> float | None:
    """Return what the same person said of the same before, whoever remembers it."""
    if vote.decision_id is None:
        key = belief_key(vote.heuristic_id or "", vote.content_hash or "")
        return vote_in(state.beliefs.get(key), vote)
    remembered = state.decisions.get(vote.decision_id)
    if remembered is not None:
        return remembered.votes.get(vote.actor)
    return heard.about.vote if heard is not None and heard.about is not None else None


def vote_in(held: Belief | None, vote: FeedbackApplied) -> float | None:
    """Return what the same person said of the same, where that is among this evidence."""
    place = vote_place(vote)
    index = None if held is None else confidence.find(held, place, "explicit")
    if held is None or index is None:
        return None
    return held.signals[index].votes.get(vote.actor)


def rated(state: AgentState, vote: FeedbackApplied, before: float | None) -> AgentState:
    """Return the state that knows how the voter uses to judge, this vote included."""
    people = raters.voted(state.raters, vote.actor, target(vote), vote.value, before)
    return replace(state, raters=people)


def felt(
    state: AgentState,
    vote: FeedbackApplied,
    now: datetime,
    before: float | None,
    pace: rapport.Pace = rapport.USUAL,
) -> AgentState:
    """Return the state in which the voter stands to the companion as after a vote on words.

    `before` is what the voter said earlier. Whoever does not know any more what that
    moved leaves it as it is.
    """
    decision_id = vote.decision_id or ""
    stood = state.rapport.get(vote.actor, Rapport())
    is_full = len(stood.deltas) >= stood.deltas.limit
    if before is not None and is_full and decision_id not in stood.deltas:
        return state
    if vote.aspect in _MOVES_RAPPORT:
        stands = rapport.voted(stood, decision_id, vote.value, now, pace)
    elif stood.deltas.get(decision_id):
        stands = rapport.voted(stood, decision_id, 0.0, now, pace)
    else:
        return state
    return replace(state, rapport=state.rapport.set(vote.actor, stands))


def given(
    vote: FeedbackApplied, base: float, place: int, *, is_told: bool = False
) -> Vote:
    """Return a vote as evidence; `base` is what the voter used to say until then."""
    return Vote(
        aspect=vote.aspect,
        fire_id=vote_place(vote),
        actor=vote.actor,
        value=vote.value,
        base=base,
        place=place,
        is_told=is_told,
        age_s=vote.age_s,
        is_models=vote.through is not None,
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
    """Return the state that believes of what stands under `key` what it should after a vote.

    `held` is what is believed of it, `earlier` where earlier votes on the fire count.
    """
    after = _told(given, given.counted("pair", held, earlier, learning), now)
    if after is not held:
        state = replace(state, beliefs=state.beliefs.set(key, after))
    fitted = state.fits.get(key)
    if given.aspect == "condition" or fitted is not None:
        fitted = fitted or initial_fit(learning)
        fitted = given.counted("fit", fitted, earlier, learning)
        state = replace(state, fits=state.fits.set(key, fitted))
    return state


def carried(state: AgentState, vote: FeedbackApplied) -> tuple[str, ...]:
    """Return the other contents of the heuristic that hold the vote which this one changes.

    An edit that keeps what was learnt takes its votes along.
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
    """Return the state that knows that a decision was judged, and where that counts.

    `before` is what was believed before the vote; `is_kept` says whether the vote itself
    is remembered.
    """
    remembered = state.decisions.get(vote.decision_id or "")
    if remembered is None or vote.decision_id is None:
        return state
    entries = tuple(
        strand
        for strand in _BOTH
        if _is_found(state, vote, strand)
        # What is settled is not found any more, and stays.
        or (strand in earlier and not _is_found(before, vote, strand))
    )
    judged = replace(remembered, is_judged=True, entries=entries)
    votes = judged.votes
    if is_kept and (vote.actor in votes or len(votes) < confidence.VOTER_LIMIT):
        judged = replace(judged, votes=votes.set(vote.actor, vote.value))
    return replace(state, decisions=state.decisions.set(vote.decision_id, judged))


def earlier(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> tuple[Strand, ...]:
    """Return where earlier votes on the same decision count."""
    remembered = state.decisions.get(vote.decision_id or "")
    if remembered is not None:
        return remembered.entries
    return heard.about.entries if heard is not None and heard.about is not None else ()


def counts_already(
    state: AgentState, heard: FeedbackGiven | None, vote: FeedbackApplied
) -> bool:
    """Tell whether the world has shown how the fire that is judged went."""
    known = state.decisions.get(vote.decision_id or "")
    about = known or (heard.about if heard is not None else None)
    return about is not None and about.outcome in ("success", "fail")


def initial_fit(learning: LearningSettings) -> Belief:
    """Return what is believed of a condition that nobody judged."""
    return confidence.initial(TRUSTED, learning)


def fit(state: AgentState, heuristic_id: str, content_hash: str) -> float:
    """Return how much of a likeness counts: 1 unless people said that it told wrongly.

    It is the share that votes have left of the trust that a condition begins with.
    """
    held = state.fits.get(belief_key(heuristic_id, content_hash))
    if held is None:
        return 1.0
    mean = held.alpha / (held.alpha + held.beta)
    return round6(min(1.0, mean / TRUSTED))


def _told(given: Vote, held: Belief, now: datetime) -> Belief:
    """Return the belief that remembers what was last told of the fire, if this vote tells
    it.
    """
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
