"""Confidence: the Beta-Bernoulli belief in a heuristic, from its prior and its evidence.

The prior is alpha = kappa * c, beta = kappa * (1 - c) with the declared confidence c in
[0.05, 0.95]; each signal of weight w and value y adds w*y to alpha and w*(1-y) to beta;
confidence = alpha / (alpha + beta). With c = 0.5, kappa = 2 and weights of 1 that is the
Beta-Binomial (1 + successes) / (2 + fires). Forgetting gamma pulls what was learnt so far
toward the prior before each signal; gamma = 1 forgets nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from immutables import Map
from msgspec.structs import replace

from projections.folds.learning import signal_weights
from schemas.state.evidence import NEVER, Belief, Signal, SignalKind
from schemas.values.exact_math import round6, total
from schemas.values.learning_settings import LearningSettings

SIGNAL_LIMIT = 512
"""How many signals of a heuristic can still change; older ones are settled.

Each recount walks all of them, so this bounds both memory and the time of a fold.
"""

VOTER_LIMIT = 1_000
"""How many people's votes on one fire count."""


@dataclass(frozen=True, slots=True)
class Given:
    """The circumstances of a vote, by which it may count for less."""

    base: float = 0.0
    """The mean of the actor's earlier votes, -1 to 1, shrunk toward 0."""
    age_s: float | None = None
    """Seconds from the decision to the vote; None if the decision is forgotten."""
    is_models: bool = False
    """Whether the words that were judged were a model's."""
    share: float = 1.0
    """By which share it counts, as several answers were said as one."""


_AT_ONCE = Given()
_NO_VOTES = Signal(place=0, fire_id="", kind="explicit", value=0.5)


def initial(declared: float, learning: LearningSettings) -> Belief:
    """Return the belief before any evidence, whose mean is the declared confidence."""
    return _initial(declared, learning.kappa)


# Beliefs are frozen, so heuristics of equal prior may share one.
@lru_cache(maxsize=1024)
def _initial(declared: float, kappa: float) -> Belief:
    alpha, beta = signal_weights.prior_counts(declared, kappa)
    return Belief(
        declared=declared,
        confidence=round6(alpha / (alpha + beta)),
        alpha=round6(alpha),
        beta=round6(beta),
        # Not rounded: these are what later counts go on from, and errors would add up.
        settled_alpha=alpha,
        settled_beta=beta,
        recent=NEVER,
    )


def fired(belief: Belief, at: datetime) -> Belief:
    """Return the belief after the heuristic's action was shown once more."""
    return replace(
        belief,
        fire_count=belief.fire_count + 1,
        last_fired=at,
        recent=(belief.recent or NEVER).after_fire(at),
    )


def outcome_seen(
    belief: Belief, fire_id: str, is_success: bool, at: datetime
) -> Belief:
    """Return the belief with the time of the latest evidence on how a fire went."""
    return replace(
        belief, recent=(belief.recent or NEVER).after_outcome(fire_id, is_success, at)
    )


def observed(
    belief: Belief,
    fire_id: str,
    success: bool,
    place: int,
    learning: LearningSettings,
    is_second: bool = False,
) -> Belief:
    """Return the belief after an outcome of a fire was observed; later ones change nothing.

    The outcome replaces the signal of being ignored, if the fire has one. `is_second` is
    whether a vote on the same fire is settled, which has counted the fire already.
    """
    belief = replace(belief, ignored=0)
    if find(belief, fire_id, "implicit") is not None:
        return belief
    signal = Signal(
        place=place,
        fire_id=fire_id,
        kind="implicit",
        value=1.0 if success else 0.0,
        is_second=is_second,
    )
    index = find(belief, fire_id, "ignored")
    if index is None:
        return _with_signal(belief, signal, learning)
    # The replaced signal's place is kept: with forgetting, order decides the weight.
    signal = replace(signal, place=belief.signals[index].place)
    return _changed(belief, index, (signal,), learning)


def expired(belief: Belief, *, is_judged: bool) -> Belief:
    """Return the belief after a fire's outcome timed out.

    The run of ignored fires grows by one, or ends if a person judged this fire.
    """
    return replace(belief, ignored=0 if is_judged else belief.ignored + 1)


def ignored(
    belief: Belief, fire_id: str, place: int, learning: LearningSettings
) -> Belief:
    """Return the belief after a run of ignored fires, counted as one failure of the last.

    `fire_id` is that last fire.
    """
    signal = Signal(place=place, fire_id=fire_id, kind="ignored", value=0.0)
    return _with_signal(replace(belief, ignored=0), signal, learning)


def voted(
    belief: Belief,
    fire_id: str,
    actor: str,
    vote: float,
    place: int,
    learning: LearningSettings,
    given: Given = _AT_ONCE,
    is_second: bool = False,
) -> Belief:
    """Return the belief after an actor's vote, which replaces that actor's earlier one.

    `is_second` is whether the outcome of the fire is settled, which has counted it.
    """
    belief = replace(belief, ignored=0)
    index = find(belief, fire_id, "explicit")
    held = _NO_VOTES if index is None else belief.signals[index]
    # All votes on one fire are one signal, whose value is their mean: a crowd that judges
    # one fire is still a single observation.
    votes, bases, ages = held.votes, held.bases, held.ages
    # Beyond the limit a new voter is not counted, but a known one may still change.
    if actor in votes or len(votes) < VOTER_LIMIT:
        votes, bases = votes.set(actor, vote), _without(bases, actor)
        # A base of 0 is left out, as it is the default when shares are worked out.
        bases = bases.set(actor, given.base) if given.base else bases
        ages = _without(ages, actor)
        ages = ages if given.age_s is None else ages.set(actor, given.age_s)
    signal = Signal(
        place=place if index is None else held.place,
        fire_id=fire_id,
        kind="explicit",
        value=_mean_on_unit(votes),
        votes=votes,
        bases=bases,
        ages=ages,
        is_models=given.is_models,
        share=given.share if index is None else held.share,
        is_second=is_second if index is None else held.is_second,
    )
    if index is None:
        return _with_signal(belief, signal, learning)
    return _changed(belief, index, (signal,), learning)


def withdrawn(
    belief: Belief, fire_id: str, actor: str, learning: LearningSettings
) -> Belief:
    """Return the belief without an actor's vote on a fire, unless that vote is settled."""
    index = find(belief, fire_id, "explicit")
    if index is None or actor not in belief.signals[index].votes:
        return belief
    held = belief.signals[index]
    votes: Map[str, float] = held.votes.delete(actor)
    if not votes:
        return _changed(belief, index, (), learning)
    left = replace(
        held,
        votes=votes,
        bases=_without(held.bases, actor),
        ages=_without(held.ages, actor),
        value=_mean_on_unit(votes),
    )
    return _changed(belief, index, (left,), learning)


def endorsed(
    belief: Belief,
    decision_id: str,
    similarity: float,
    place: int,
    learning: LearningSettings,
) -> Belief:
    """Return the belief after a model gave the same answer without having seen it.

    Counts once for each decision; `similarity` (0 to 1) scales its weight.
    """
    if find(belief, decision_id, "endorsement") is not None:
        return belief
    signal = Signal(
        place=place,
        fire_id=decision_id,
        kind="endorsement",
        value=1.0,
        similarity=similarity,
    )
    return _with_signal(belief, signal, learning)


def find(belief: Belief, fire_id: str, kind: SignalKind) -> int | None:
    """Return the index of a fire's signal of one kind; None if absent or settled."""
    # A linear search: most beliefs hold a handful of signals, none over `SIGNAL_LIMIT`.
    for index, signal in enumerate(belief.signals):
        if signal.fire_id == fire_id and signal.kind == kind:
            return index
    return None


def relearnt(
    belief: Belief, before: LearningSettings, after: LearningSettings
) -> Belief:
    """Return the belief recounted under other settings.

    Settled evidence keeps the weight that it had; every signal that can still change is
    counted anew, so that going back to `before` restores the same belief exactly.
    """
    if after == before:
        return belief
    start, fresh = initial(belief.declared, before), initial(belief.declared, after)
    settled = belief.settled_alpha, belief.settled_beta
    # Nothing is settled yet: the counts are the prior alone, and take the new prior.
    if settled == (start.settled_alpha, start.settled_beta):
        settled = fresh.settled_alpha, fresh.settled_beta
    belief = replace(belief, settled_alpha=settled[0], settled_beta=settled[1])
    return _recounted(belief, after)


def redeclared(belief: Belief, declared: float, learning: LearningSettings) -> Belief:
    """Return the belief in the same evidence with another declared confidence as prior."""
    was, now = (
        signal_weights.prior_counts(each, learning.kappa)
        for each in (belief.declared, declared)
    )
    # Forgetting pulls toward the prior, so the distance of the settled counts from it is
    # evidence alone: moving both by the same amount keeps that.
    moved = replace(
        belief,
        declared=declared,
        settled_alpha=belief.settled_alpha + (now[0] - was[0]),
        settled_beta=belief.settled_beta + (now[1] - was[1]),
    )
    return _recounted(moved, learning)


def _with_signal(belief: Belief, signal: Signal, learning: LearningSettings) -> Belief:
    belief = replace(belief, signals=(*belief.signals, signal))
    if len(belief.signals) > SIGNAL_LIMIT:
        belief = _settled(belief, learning)
    return _recounted(belief, learning)


def _settled(belief: Belief, learning: LearningSettings) -> Belief:
    # Signals are counted in order, so moving the oldest into the settled counts leaves
    # the confidence as it is.
    oldest, rest = belief.signals[:1], belief.signals[1:]
    prior = signal_weights.prior_counts(belief.declared, learning.kappa)
    alpha, beta = signal_weights.pseudo_counts(
        belief.settled_alpha,
        belief.settled_beta,
        prior,
        oldest,
        learning,
        belief.settled_approvals,
    )
    # A fire is counted once, with whatever else is known of it by now.
    fire_id = oldest[0].fire_id
    of_fire = tuple(each for each in belief.signals if each.fire_id == fire_id)
    return replace(
        belief,
        settled_alpha=alpha,
        settled_beta=beta,
        settled_endorsed=signal_weights.endorsed_successes(
            belief.settled_endorsed, prior, oldest, learning
        ),
        signals=tuple(
            replace(each, is_second=True) if each.fire_id == fire_id else each
            for each in rest
        ),
        settled_successes=belief.settled_successes + signal_weights.successes(of_fire),
        settled_approvals=belief.settled_approvals
        + signal_weights.is_approval(oldest[0]),
    )


def counts(belief: Belief, learning: LearningSettings) -> tuple[float, float]:
    """Return alpha and beta of a belief, not rounded: its prior and all its evidence."""
    prior = signal_weights.prior_counts(belief.declared, learning.kappa)
    alpha, beta = signal_weights.pseudo_counts(
        belief.settled_alpha,
        belief.settled_beta,
        prior,
        belief.signals,
        learning,
        belief.settled_approvals,
    )
    # Endorsements are counted apart, since their sum has a cap of its own.
    added = signal_weights.endorsed_successes(
        belief.settled_endorsed, prior, belief.signals, learning
    )
    return alpha + added, beta


def _recounted(belief: Belief, learning: LearningSettings) -> Belief:
    # Always from the settled counts, never by a difference: taking a vote back has to
    # give exactly the number that was there before it.
    alpha, beta = counts(belief, learning)
    return replace(
        belief,
        confidence=round6(alpha / (alpha + beta)),
        alpha=round6(alpha),
        beta=round6(beta),
        success_count=belief.settled_successes
        + signal_weights.successes(belief.signals),
    )


def _changed(
    belief: Belief, index: int, into: tuple[Signal, ...], learning: LearningSettings
) -> Belief:
    signals = (*belief.signals[:index], *into, *belief.signals[index + 1 :])
    return _recounted(replace(belief, signals=signals), learning)


def _without(bases: Map[str, float], actor: str) -> Map[str, float]:
    return bases.delete(actor) if actor in bases else bases


def _mean_on_unit(votes: Map[str, float]) -> float:
    # Sorted, since a sum of floats depends on its order.
    votes_added = total(votes[actor] for actor in sorted(votes))
    return (votes_added / len(votes) + 1.0) / 2.0
