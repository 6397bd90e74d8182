"""Confidence: from what was declared and what was seen since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.folds.learning import beliefs, confidence
from schemas.state.evidence import Belief
from schemas.values.learning_settings import SEED_LEARNING, LearningWeights
from tests.factories import NOON, after, plain_learning

DEFAULT = plain_learning()


def outcomes(*results: bool, declared: float = 0.5) -> Belief:
    """The belief after outcomes of as many fires, counted as whole observations."""
    belief = confidence.initial(declared, SEED_LEARNING)
    for place, success in enumerate(results):
        belief = confidence.observed(belief, f"f{place}", success, place, SEED_LEARNING)
    return belief


@pytest.mark.parametrize(
    ("results", "confidence"),
    [
        ((), 0.5),
        ((True,), 0.666667),
        ((True, True), 0.75),
        ((False,), 0.333333),
        ((True, False), 0.5),
        ((True, True, True), 0.8),
    ],
)
def test_whole_observations_are_beta_binomial(
    results: tuple[bool, ...], confidence: float
) -> None:
    """With weights of 1 confidence is (1 + successes) / (2 + fires)."""
    belief = outcomes(*results)

    assert confidence == belief.confidence
    assert sum(results) == belief.success_count


def test_a_first_thumb_counts_less_than_an_outcome() -> None:
    """An outcome outweighs a vote: 2/3 against (1 + 0.8) / 2.8."""
    belief = confidence.initial(0.5, DEFAULT)

    up = confidence.voted(belief, "f", "ana", 1.0, 1, DEFAULT)
    down = confidence.voted(belief, "f", "ana", -1.0, 1, DEFAULT)
    seen = confidence.observed(belief, "f", True, 1, DEFAULT)

    assert up.confidence == 0.642857
    assert down.confidence == 0.357143
    assert seen.confidence == 0.666667


@pytest.mark.parametrize("declared", [0.05, 0.3, 0.5, 0.7, 0.9, 0.95])
def test_the_declared_confidence_is_the_prior(declared: float) -> None:
    """Bad news never raises it and good news never lowers it, wherever it starts."""
    start = confidence.initial(declared, DEFAULT)

    assert start.confidence == declared
    assert outcomes(False, declared=declared).confidence < declared
    assert outcomes(True, declared=declared).confidence > declared


@pytest.mark.parametrize(("declared", "held"), [(0.0, 0.05), (1.0, 0.95)])
def test_nothing_is_declared_certain(declared: float, held: float) -> None:
    """A prior of 0 or 1 could never be unlearnt."""
    assert held == confidence.initial(declared, DEFAULT).confidence


def test_votes_on_one_fire_are_bounded() -> None:
    """The first thousand people count; whoever is among them may still change."""
    belief = confidence.initial(0.5, DEFAULT)
    for number in range(confidence.VOTER_LIMIT):
        belief = confidence.voted(belief, "f", f"p{number}", 1.0, 1, DEFAULT)

    one_more = confidence.voted(belief, "f", "late", -1.0, 2, DEFAULT)
    changed = confidence.voted(belief, "f", "p0", -1.0, 2, DEFAULT)

    assert one_more == belief
    assert changed.confidence < belief.confidence


def test_the_latest_vote_of_an_actor_counts() -> None:
    """Down after up is down; clicking three times is clicking once."""
    start = confidence.initial(0.5, DEFAULT)
    once = confidence.voted(start, "f", "ana", -1.0, 5, DEFAULT)

    changed = confidence.voted(start, "f", "ana", 1.0, 1, DEFAULT)
    changed = confidence.voted(changed, "f", "ana", -1.0, 5, DEFAULT)
    thrice = start
    for place in (1, 2, 3):
        thrice = confidence.voted(thrice, "f", "ana", -1.0, place, DEFAULT)

    assert once.confidence == changed.confidence == thrice.confidence
    assert [signal.place for signal in changed.signals] == [1]


def test_several_actors_are_heard_as_their_mean() -> None:
    """One fire holds one explicit entry, however many people vote."""
    belief = confidence.initial(0.5, SEED_LEARNING)
    belief = confidence.voted(belief, "f", "ana", 1.0, 1, SEED_LEARNING)
    belief = confidence.voted(belief, "f", "bo", -1.0, 2, SEED_LEARNING)
    belief = confidence.voted(belief, "f", "cy", 0.6, 3, SEED_LEARNING)

    (signal,) = belief.signals
    assert signal.value == pytest.approx(0.6)
    assert belief.confidence == pytest.approx(1.6 / 3, abs=1e-6)


def test_a_fire_holds_one_outcome_and_one_vote() -> None:
    """The first outcome stands; a vote adds to it and does not replace it."""
    belief = confidence.initial(0.5, DEFAULT)
    belief = confidence.observed(belief, "f", True, 1, DEFAULT)
    again = confidence.observed(belief, "f", False, 2, DEFAULT)
    voted = confidence.voted(belief, "f", "ana", -1.0, 3, DEFAULT)

    assert again == belief
    assert [signal.kind for signal in voted.signals] == ["implicit", "explicit"]
    assert voted.confidence == pytest.approx(2.0 / 3.8, abs=1e-6)


def test_successes_count_fires_by_their_stronger_signal() -> None:
    """An outcome is stronger than a vote, whichever came first."""
    belief = confidence.initial(0.5, DEFAULT)
    belief = confidence.voted(belief, "f1", "ana", 1.0, 1, DEFAULT)
    assert belief.success_count == 1

    belief = confidence.observed(belief, "f1", False, 2, DEFAULT)
    assert belief.success_count == 0

    belief = confidence.observed(belief, "f2", True, 3, DEFAULT)
    belief = confidence.voted(belief, "f2", "ana", -1.0, 4, DEFAULT)
    assert belief.success_count == 1


def test_forgetting_pulls_toward_the_prior() -> None:
    """With gamma < 1 each signal first decays what was learnt before it."""
    learning = plain_learning(gamma=0.5, weights=LearningWeights(outcome=1.0))
    belief = confidence.initial(0.5, learning)
    belief = confidence.observed(belief, "f1", True, 1, learning)
    belief = confidence.observed(belief, "f2", False, 2, learning)

    alpha, beta = 1 + 0.5 * 1, 1 + 1
    assert belief.confidence == pytest.approx(alpha / (alpha + beta), abs=1e-6)


def test_a_fire_is_counted_and_moves_nothing() -> None:
    """Saying something is no evidence yet."""
    start = confidence.initial(0.5, DEFAULT)
    fired = confidence.fired(confidence.fired(start, NOON), after(60))

    assert (fired.fire_count, fired.success_count) == (2, 0)
    assert fired.last_fired == after(60)
    assert fired.confidence == start.confidence


@pytest.mark.parametrize(
    ("confidence", "life"),
    [
        (0.3, "active"),
        (0.299999, "deprecated"),
        (0.1, "deprecated"),
        (0.099999, "frozen"),
    ],
)
def test_a_life_has_exact_limits(confidence: float, life: str) -> None:
    """Below 0.3 a heuristic is deprecated, below 0.1 it is frozen."""
    belief = Belief(
        declared=0.5,
        confidence=confidence,
        alpha=1.0,
        beta=1.0,
        settled_alpha=1.0,
        settled_beta=1.0,
    )

    assert life == beliefs.lifecycle(belief, False, DEFAULT)
    assert beliefs.lifecycle(belief, True, DEFAULT) == "frozen"


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from([1.0, 0.9]))
def test_settling_old_evidence_changes_nothing(
    results: list[bool], gamma: float
) -> None:
    """The bounded list of signals gives what an endless one would."""
    learning = plain_learning(gamma=gamma)
    endless = settled = confidence.initial(0.6, learning)
    for place, success in enumerate(results):
        endless = confidence.observed(endless, f"f{place}", success, place, learning)
    limit, confidence.SIGNAL_LIMIT = confidence.SIGNAL_LIMIT, 3
    try:
        for place, success in enumerate(results):
            settled = confidence.observed(
                settled, f"f{place}", success, place, learning
            )
    finally:
        confidence.SIGNAL_LIMIT = limit

    assert endless.confidence == settled.confidence
    assert endless.success_count == settled.success_count
    assert len(settled.signals) <= 3


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 2),
)
def test_a_fire_adds_at_most_one_success_however_much_is_settled(
    ends: list[tuple[bool, bool]], late: int
) -> None:
    """Each fire has an outcome and a vote, the vote so many fires later."""
    steps = sorted(
        [(number, "seen", number) for number in range(len(ends))]
        + [(number + late, "voted", number) for number in range(len(ends))]
    )
    lives, limit = [], confidence.SIGNAL_LIMIT
    for bound in (limit, 2):
        held, confidence.SIGNAL_LIMIT = confidence.initial(0.6, DEFAULT), bound
        try:
            for place, (_, kind, number) in enumerate(steps):
                held = _one_more(held, ends[number], kind, number, place)
        finally:
            confidence.SIGNAL_LIMIT = limit
        lives.append(held)

    endless, settled = lives
    assert settled.success_count == endless.success_count
    assert settled.success_count == sum(seen for seen, _ in ends)
    assert settled.confidence == endless.confidence


def _one_more(
    held: Belief, end: tuple[bool, bool], kind: str, number: int, place: int
) -> Belief:
    fire = f"f{number}"
    if kind == "seen":
        return confidence.observed(held, fire, end[0], place, DEFAULT)
    is_told = confidence.find(held, fire, "implicit") is None
    vote = 1.0 if end[1] else -1.0
    return confidence.voted(held, fire, "ana", vote, place, DEFAULT, is_second=is_told)


@given(st.lists(st.booleans(), max_size=12), st.floats(0.05, 0.95))
def test_confidence_is_the_mean_of_the_pseudo_counts(
    results: list[bool], declared: float
) -> None:
    """Whoever draws from Beta(alpha, beta) draws around the confidence."""
    belief = confidence.initial(declared, DEFAULT)
    for number, success in enumerate(results):
        belief = confidence.observed(belief, f"fire-{number}", success, number, DEFAULT)
    total = belief.alpha + belief.beta

    assert belief.alpha / total == pytest.approx(belief.confidence, abs=1e-5)
    assert total == pytest.approx(DEFAULT.kappa + len(results), abs=1e-5)


def test_other_settings_count_what_can_change_anew() -> None:
    """Settled evidence keeps its weight; going back gives the very belief that was."""
    before, after = plain_learning(), plain_learning(gamma=0.9, kappa=4.0)
    limit, confidence.SIGNAL_LIMIT = confidence.SIGNAL_LIMIT, 2
    try:
        few = confidence.observed(
            confidence.initial(0.6, before), "f", success=True, place=1, learning=before
        )
        many = few
        for place in range(2, 6):
            many = confidence.observed(
                many, f"f{place}", success=False, place=place, learning=before
            )
    finally:
        confidence.SIGNAL_LIMIT = limit

    for belief in (few, many):
        there = confidence.relearnt(belief, before, after)
        assert there.confidence != belief.confidence
        assert confidence.relearnt(there, after, before) == belief
    assert confidence.relearnt(many, before, after).settled_alpha == many.settled_alpha
    assert confidence.relearnt(few, before, before) is few
