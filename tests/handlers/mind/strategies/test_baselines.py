"""Baselines: what other strategies are measured against."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.mind.strategies.baselines import AlwaysLlm, Random, Silent
from schemas.messages.decisions import Decided
from schemas.ports.decision_context import DecisionContext
from schemas.values.exact_math import round6
from tests import factories
from tests.factories import candidate, heuristic, pack
from tests.scenario import Scenario

LLM = "llm:m@t@s"
THREAT = {"threat": 0.9}


def context(**changes: Any) -> DecisionContext:
    """An occasion with a trusted candidate and a model."""
    return DecisionContext(
        **{
            "event_id": "e",
            "event_text": "x",
            "event_source": "game",
            "candidates": (candidate("a", confidence=0.95),),
            "llm_arm": LLM,
            **changes,
        }
    )


def test_always_llm_asks_the_model_whatever_was_learnt() -> None:
    """It is silent only where the model cannot be asked."""
    assert AlwaysLlm().decide(context()).arms == ((LLM, 1.0),)
    assert AlwaysLlm().decide(context(llm_arm=None)).silence == "llm_unavailable"
    assert AlwaysLlm().decide(context(immediate=False)).silence == "not_immediate"


def test_silent_is_silent() -> None:
    """Even with a trusted candidate and a model."""
    odds = Silent().decide(context())

    assert (odds.arms, odds.greedy) == ((("silent", 1.0),), "silent")
    assert odds.silence == "strategy_silent"


@given(st.integers(0, 12), st.booleans(), st.booleans())
def test_random_spreads_its_odds(count: int, model: bool, immediate: bool) -> None:
    """Every eligible arm has the same share, and the shares add up to one."""
    candidates = [candidate(f"h{n}", similarity=0.5 + n / 50) for n in range(count)]
    ruled_out = candidate("out", eligible=False)
    odds = Random().decide(
        context(
            candidates=(*candidates, ruled_out),
            llm_arm=LLM if model else None,
            immediate=immediate,
        )
    )
    arms = [arm for arm, _ in odds.arms]
    shares = [share for _, share in odds.arms]

    assert len(arms) == len(set(arms)) == count + (model and immediate) + 1
    assert arms[-1] == "silent"
    assert ruled_out.arm not in arms
    assert round6(sum(shares)) == 1.0
    assert max(shares) - min(shares) < 2e-5
    assert odds.greedy == arms[0]


@pytest.mark.parametrize("baseline", [AlwaysLlm, Silent, Random])
def test_baselines_have_nothing_to_set(baseline: type[Any]) -> None:
    """Their name is their configuration."""
    assert baseline().config == {"strategy": baseline.name}
    with pytest.raises(ValueError, match="extra"):
        baseline(threshold=0.5)


def decisions(seed: str) -> list[Decided]:
    """What `random` decides on sixty events."""
    garden = pack(heuristic("low", "health low", "Drink."))
    scenario = Scenario(
        garden, strategy={"name": "random"}, seed=seed, model=factories.MODEL
    )
    return [scenario.decide("health low", salience=THREAT) for _ in range(60)]


def test_random_decides_by_a_keyed_draw() -> None:
    """The draw is on record, repeats with its key, and finds every arm."""
    first, again, other = decisions("a"), decisions("a"), decisions("b")

    assert [each.arm for each in first] == [each.arm for each in again]
    assert [each.arm for each in first] != [each.arm for each in other]
    assert {each.path for each in first} == {"heuristic", "llm", "rejected"}
    for decided in first:
        assert decided.draw is not None
        place = int(decided.draw.value * 3)
        weighed = [each.arm for each in decided.candidates]
        assert decided.arm == weighed[place]
        assert decided.probability in (0.333333, 0.333334)
        assert decided.greedy_arm == weighed[0]
        assert (decided.silence == "strategy_silent") == (decided.arm == "silent")


def test_one_arm_needs_no_draw() -> None:
    """A deterministic strategy draws nothing."""
    assert Scenario().decide("x").draw is None
