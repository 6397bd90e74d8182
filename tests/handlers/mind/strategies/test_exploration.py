"""Exploring: odds mixed with others add up, and are those by which the draw is made."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.stages import executive
from handlers.mind.strategies import exploration
from handlers.mind.strategies.baselines import AlwaysLlm, Random, Silent
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Excluded
from schemas.ports.decision_context import DecisionContext, Odds, Strategy
from schemas.values.ids import draw
from schemas.values.settings import ExplorationSettings
from tests.factories import candidate

LLM = "llm:m@t@s"
A, B = candidate("a"), candidate("b", similarity=0.8, confidence=0.6)


def context(*candidates: Any, **more: Any) -> DecisionContext:
    """An occasion with these candidates and a model."""
    return DecisionContext(
        **{
            "event_id": "e",
            "event_text": "x",
            "event_source": "game",
            "candidates": candidates,
            "llm_arm": LLM,
            **more,
        }
    )


def explored(
    scheme: Any,
    rate: float,
    here: DecisionContext,
    *challengers: Strategy,
    strategy: Strategy | None = None,
) -> Odds:
    """The odds of `heuristic_first`, or of another strategy, explored."""
    settings = ExplorationSettings(scheme=scheme, rate=rate)
    odds = (strategy or HeuristicFirst()).decide(here)
    return exploration.explored(odds, here, settings, challengers)


def test_uniform_gives_every_eligible_arm_its_floor() -> None:
    """(1 - rate) of the strategy's odds and rate / K for each of K arms."""
    frozen = candidate("c", eligible=False, reason="frozen")
    odds = explored("uniform", 0.2, context(A, B, frozen))

    assert dict(odds.arms) == {A.arm: 0.85, B.arm: 0.05, LLM: 0.05, SILENT: 0.05}
    assert (odds.exploration, odds.greedy, odds.excluded) == ("uniform", A.arm, None)


def test_silence_that_exploration_added_is_not_the_strategys() -> None:
    """Its reason would be one that the strategy never had; its own silence keeps its own."""
    here = context(B, llm_arm=None)
    doubting = HeuristicFirst().decide(here)
    kept = explored("uniform", 0.5, here)
    uniform = explored("uniform", 0.5, context(B), strategy=Asking())
    challenged = explored("challenger", 0.5, context(B), Silent(), strategy=Asking())

    assert dict(doubting.arms) == {SILENT: 1.0}
    assert (kept.exploration, kept.silence) == ("uniform", "llm_unavailable")
    for added in (uniform, challenged):
        assert dict(added.arms)[SILENT] > 0.0
        assert added.silence == "strategy_silent"


class Asking(HeuristicFirst):
    """A strategy that asks the model, with the reason of a silence it does not choose."""

    def decide(self, context: DecisionContext) -> Odds:
        """Ask, whatever is known."""
        return Odds(arms=((LLM, 1.0),), greedy=LLM, silence="low_confidence")


def test_a_model_that_may_not_be_asked_is_not_explored() -> None:
    """Neither when there is none nor when the event cannot wait for it."""
    for here in (context(A, llm_arm=None), context(A, immediate=False)):
        assert dict(explored("uniform", 0.5, here).arms) == {A.arm: 0.75, SILENT: 0.25}


def test_a_challenger_gets_the_rate_where_it_differs() -> None:
    """Its arm is taken with just that probability."""
    odds = explored("challenger", 0.2, context(A, B), AlwaysLlm())

    assert odds.arms == ((A.arm, 0.8), (LLM, 0.2))
    assert (odds.exploration, odds.greedy) == ("challenger", A.arm)


def test_where_challengers_agree_nothing_is_drawn() -> None:
    """The odds stay the strategy's own, and no scheme is named."""
    here = context(A, B)
    own = HeuristicFirst().decide(here)

    assert (
        explored("challenger", 0.2, here, HeuristicFirst(confidence_threshold=0.5))
        == own
    )


def test_challengers_share_the_rate_by_distinct_arms() -> None:
    """Two that want the same have one share together; one that agrees has none."""
    challengers = (
        AlwaysLlm(),
        Silent(),
        HeuristicFirst(confidence_threshold=0.95),
        HeuristicFirst(),
    )
    odds = explored("challenger", 0.2, context(A, B), *challengers)

    assert dict(odds.arms) == {A.arm: 0.8, LLM: 0.1, SILENT: 0.1}


def test_a_challenger_that_draws_is_followed_to_its_odds() -> None:
    """The mix goes toward all of its arms, the greedy one among them."""
    odds = explored("challenger", 0.4, context(A, B), Random())

    assert dict(odds.arms) == {A.arm: 0.7, B.arm: 0.1, LLM: 0.1, SILENT: 0.1}


def test_the_same_odds_are_no_dissent() -> None:
    """A strategy that draws, challenged by itself, stays as it is."""
    here = context(A, B)

    assert explored(
        "challenger", 0.4, here, Random(), strategy=Random()
    ) == Random().decide(here)


def test_a_challenger_that_failed_has_no_say() -> None:
    """Its silence is an error, not a proposal."""

    class Broken(Silent):
        """Fails as a strategy of one's own does."""

        def decide(self, context: DecisionContext) -> Odds:
            """What is made of a failure."""
            return Odds.certain(SILENT, "error")

    here = context(A)

    assert explored("challenger", 0.4, here, Broken()).exploration == "none"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"urgency": 0.9}, "critical_urgency"),
        ({"salience": {"threat": 0.8}}, "threat"),
        ({"candidates": (candidate("a", urgency=0.95),)}, "critical_urgency"),
    ],
    ids=["an urgent event", "a threat", "an urgent answer"],
)
def test_a_critical_occasion_is_not_explored(more: dict[str, Any], reason: Any) -> None:
    """The odds stay the strategy's; what would have gone elsewhere is on record."""
    here = context(A, B, **more)
    odds = explored("challenger", 0.2, here, AlwaysLlm())

    assert odds.arms == HeuristicFirst().decide(here).arms
    assert odds.exploration == "none"
    assert odds.excluded == Excluded(reason=reason, mass=0.2)


def test_just_below_critical_is_explored() -> None:
    """The limits themselves are critical, less is not."""
    here = context(A, urgency=0.899999, salience={"threat": 0.799999})

    assert explored("uniform", 0.2, here).excluded is None


def test_nothing_is_excluded_where_nothing_would_be_explored() -> None:
    """Agreement at a critical occasion is no loss."""
    odds = explored("challenger", 0.2, context(A, urgency=1.0), HeuristicFirst())

    assert odds.excluded is None


def test_silence_by_exploration_is_the_strategys_to_name_only_if_it_was_silent() -> (
    None
):
    """A silence that was tried is `strategy_silent`; one's own keeps its reason."""
    tried = explored("uniform", 0.2, context(A))
    own = explored("uniform", 0.2, context(B, llm_arm=None))

    assert tried.silence == "strategy_silent"
    assert (own.greedy, own.silence) == (SILENT, "llm_unavailable")


def test_what_rounding_takes_too_much_the_likeliest_gives() -> None:
    """A greedy arm without enough of its own is not made negative."""
    third = 0.3333335
    arms = exploration.whole({"g": 0.0, "a": third, "b": third, "c": third}, "g")

    assert arms == (("a", 0.333332), ("b", 0.333334), ("c", 0.333334))


candidates = st.lists(
    st.builds(
        lambda place, similarity, confidence, eligible: candidate(
            f"h{place}", similarity, confidence, eligible=eligible
        ),
        st.integers(0, 9),
        st.sampled_from([0.6, 0.7, 0.9]),
        st.floats(0, 1).map(lambda each: round(each, 6)),
        st.booleans(),
    ),
    max_size=10,
    unique_by=lambda each: each.heuristic_id,
)
strategies = st.sampled_from(
    [HeuristicFirst(), HeuristicFirst(confidence_threshold=0.3), AlwaysLlm(), Random()]
)


@given(
    candidates,
    st.sampled_from([None, LLM]),
    st.booleans(),
    st.sampled_from(["uniform", "challenger"]),
    st.floats(0, 1),
    strategies,
    st.lists(strategies, max_size=3),
    st.integers(0, 1000),
)
def test_odds_are_whole_and_what_is_drawn_has_some(
    present: Any,
    llm_arm: str | None,
    immediate: bool,
    scheme: Any,
    rate: float,
    strategy: Strategy,
    challengers: list[Strategy],
    event: int,
) -> None:
    """Millionths that add up to one; the drawn arm's are over zero and on record."""
    here = context(*present, llm_arm=llm_arm, immediate=immediate)
    odds = explored(scheme, rate, here, *challengers, strategy=strategy)
    choice = executive.choose(odds, here, lambda of: draw("s", "ana", str(event), of))
    again = executive.choose(odds, here, lambda of: draw("s", "ana", str(event), of))

    assert sum(round(share * 1e6) for _, share in odds.arms) == 1_000_000
    assert round(sum(share for _, share in odds.arms), 6) == 1.0
    assert all(share > 0.0 for _, share in odds.arms)
    assert choice == again
    assert choice.probability == dict(odds.arms)[choice.arm] > 0.0
    recorded = {each.arm: each.probability for each in choice.candidates}
    assert recorded[choice.arm] == choice.probability


@pytest.mark.parametrize("scheme", ["uniform", "challenger"])
def test_frequencies_are_the_odds(scheme: Any) -> None:
    """Over many events each arm is taken as often as its odds say, within 4 sigma."""
    here = context(A, B)
    odds = explored(scheme, 0.3, here, AlwaysLlm(), Silent())
    count = 20_000
    taken = [
        executive.choose(odds, here, partial(draw, "s", "a", str(event))).arm
        for event in range(count)
    ]

    for arm, share in odds.arms:
        sigma = (count * share * (1 - share)) ** 0.5
        assert abs(taken.count(arm) - count * share) < 4 * sigma
