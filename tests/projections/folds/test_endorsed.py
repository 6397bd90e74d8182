"""Endorsements as evidence: what they add, and the cap that they alone cannot pass."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.folds.learning import confidence
from schemas.state.evidence import Belief
from schemas.values.learning_settings import LearningWeights
from tests.factories import NOON, plain_learning

DEFAULT = plain_learning()


def endorsed(belief: Belief, *likenesses: float, place: int = 0) -> Belief:
    """The belief after models' answers of these likenesses."""
    for number, likeness in enumerate(likenesses, place):
        belief = confidence.endorsed(belief, f"d{number}", likeness, number, DEFAULT)
    return belief


def test_each_counts_half_its_likeness() -> None:
    """Two answers of .8 and .6 add .4 and .3 to the successes, and nothing else."""
    belief = endorsed(confidence.initial(0.3, DEFAULT), 0.8, 0.6)

    assert (belief.alpha, belief.beta) == (1.3, 1.4)
    assert belief.confidence == round(1.3 / 2.7, 6)
    assert (belief.fire_count, belief.success_count) == (0, 0)


@pytest.mark.parametrize(
    ("declared", "reached"), [(0.3, 0.65), (0.05, 0.65), (0.65, 0.65), (0.9, 0.9)]
)
def test_models_alone_reach_the_cap_and_no_more(
    declared: float, reached: float
) -> None:
    """What was declared above it stays; nothing is lifted beyond."""
    belief = endorsed(confidence.initial(declared, DEFAULT), *[1.0] * 40)

    assert belief.confidence == reached


def test_people_and_the_world_come_on_top_of_the_cap() -> None:
    """From the cap one good word gives .708, one success .72, and a bad word lowers."""
    capped = endorsed(confidence.initial(0.3, DEFAULT), *[1.0] * 10)

    liked = confidence.voted(capped, "f", "ana", 1.0, 20, DEFAULT)
    worked = confidence.observed(capped, "f", success=True, place=20, learning=DEFAULT)
    failed = confidence.observed(capped, "f", success=False, place=20, learning=DEFAULT)
    again = endorsed(failed, *[1.0] * 10, place=30)

    assert (liked.confidence, worked.confidence) == (0.708333, 0.72)
    assert failed.confidence == again.confidence == 0.52
    assert (worked.success_count, failed.success_count) == (1, 0)


@given(
    st.lists(st.floats(0.0, 1.0), max_size=30),
    st.floats(0.05, 0.95),
    st.sampled_from([1.0, 0.9, 0.5]),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_no_number_of_models_passes_the_cap(
    likenesses: list[float], declared: float, gamma: float, weight: float
) -> None:
    """Whatever they say, forget and weigh, they never lift over it, and never lower."""
    weights = LearningWeights(endorsement=weight)
    learning = plain_learning(gamma=gamma, weights=weights)
    belief = start = confidence.initial(declared, learning)
    for number, likeness in enumerate(likenesses):
        belief = confidence.endorsed(belief, f"d{number}", likeness, number, learning)

    assert start.confidence <= belief.confidence
    assert belief.confidence <= max(start.confidence, learning.endorsement_cap)


def test_one_answer_endorses_once() -> None:
    """A second comparison of the same answer adds nothing."""
    belief = endorsed(confidence.initial(0.3, DEFAULT), 0.8)

    assert confidence.endorsed(belief, "d0", 0.9, 5, DEFAULT) is belief


def test_without_a_cap_models_go_on() -> None:
    """A cap of 1 is none."""
    free = plain_learning(endorsement_cap=1.0)
    belief = confidence.initial(0.3, free)
    for number in range(100):
        belief = confidence.endorsed(belief, f"d{number}", 1.0, number, free)

    assert belief.confidence == round(50.6 / 52, 6)


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=12),
    st.sampled_from([1.0, 0.9]),
)
def test_settling_old_endorsements_changes_nothing(
    said: list[tuple[bool, float]], gamma: float
) -> None:
    """The bounded list of signals gives what an endless one would."""
    learning = plain_learning(gamma=gamma)

    def folded() -> Belief:
        belief = confidence.initial(0.3, learning)
        for place, (by_model, value) in enumerate(said):
            if by_model:
                belief = confidence.endorsed(belief, f"{place}", value, place, learning)
            else:
                success = value > 0.5
                belief = confidence.observed(
                    belief, f"{place}", success, place, learning
                )
        return belief

    endless = folded()
    limit, confidence.SIGNAL_LIMIT = confidence.SIGNAL_LIMIT, 3
    try:
        settled = folded()
    finally:
        confidence.SIGNAL_LIMIT = limit

    assert settled.confidence == pytest.approx(endless.confidence, abs=2e-6)
    assert settled.success_count == endless.success_count


def test_other_settings_count_endorsements_anew() -> None:
    """Another weight changes just their share, another cap how far they lift."""
    belief = endorsed(confidence.initial(0.3, DEFAULT), 0.8, 0.6)
    belief = confidence.fired(belief, NOON + timedelta(seconds=1))
    voted = confidence.voted(belief, "f", "ana", 1.0, 9, DEFAULT)
    deaf = plain_learning(weights=LearningWeights(endorsement=0.0))
    low = plain_learning(endorsement_cap=0.4)

    assert confidence.relearnt(voted, DEFAULT, deaf).confidence == 0.5
    assert confidence.relearnt(belief, DEFAULT, low).confidence == 0.4
    assert (
        confidence.relearnt(confidence.relearnt(voted, DEFAULT, low), low, DEFAULT)
        == voted
    )
