"""Near misses: what other thresholds would have let answer."""

from typing import Any

import pytest

from evaluation.learning.near_misses import THRESHOLDS, NearMisses, near_misses
from replay.recording.source import of_file
from tests.evaluation.learning.schooling import THREAT
from tests.factories import MODEL, heuristic, pack
from tests.replay.evening import evening
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario


async def found(scenario: Scenario) -> NearMisses:
    """The near misses of a scenario."""
    return await near_misses(recording_of_scenario(scenario))


def scenario_of(*confidences: float, **settings: Any) -> Scenario:
    """One heuristic for each confidence, each with its event."""
    rows = [
        heuristic(f"h{place}", f"case {word}", f"Do {word}.", confidence=confidence)
        for place, (word, confidence) in enumerate(
            zip(("one", "two", "three", "four"), confidences, strict=False)
        )
    ]
    scenario = Scenario(pack(*rows), relevance=0.0, **settings)
    for row in rows:
        scenario.wait(700).sense(str(row["condition"]), salience=THREAT)
    return scenario


async def test_each_threshold_lets_answer_what_reaches_it() -> None:
    """At .5 what is believed by .5 or more, and so on, a column each."""
    missed = await found(scenario_of(0.5, 0.65, 0.7, 0.9))

    assert missed.by_threshold == (4, 3, 2, 1, 1)
    assert (missed.decisions, missed.answered, missed.threshold) == (4, 2, 0.7)
    by_confidence = {each.confidence[0]: each for each in missed.counts}
    assert {key: each.by_threshold for key, each in by_confidence.items()} == {
        0.9: (1, 1, 1, 1, 1),
        0.7: (1, 1, 1, 0, 0),
        0.65: (1, 1, 0, 0, 0),
        0.5: (1, 0, 0, 0, 0),
    }
    assert [each.answered for each in by_confidence.values()].count(1) == 2


async def test_the_nearest_miss_comes_first() -> None:
    """With its event, how alike and how trusted it was, and what happened instead."""
    missed = await found(scenario_of(0.5, 0.65, 0.9))

    assert [
        (each.text, each.similarity, each.confidence, each.needed, each.happened)
        for each in missed.misses
    ] == [
        ("case two", 1.0, 0.65, 0.6, "llm_unavailable"),
        ("case one", 1.0, 0.5, 0.5, "llm_unavailable"),
    ]


async def test_the_threshold_in_force_counts_what_answered() -> None:
    """In the shipped recording the column .7 is what happened."""
    missed = await near_misses(of_file(evening(), "evening"))

    assert missed.by_threshold[THRESHOLDS.index(0.7)] == missed.answered > 0
    assert list(missed.by_threshold) == sorted(missed.by_threshold, reverse=True)
    assert missed.gated + missed.without_candidate <= missed.decisions
    assert missed.match_limit == 0.55


async def test_a_strategy_without_a_threshold_is_stood_in_for() -> None:
    """And the finding says so."""
    missed = await found(
        scenario_of(0.65, model=MODEL, strategy={"name": "always_llm"})
    )

    assert (missed.strategy, missed.is_own) == ("heuristic_first", False)
    assert missed.by_threshold == (1, 1, 0, 0, 0)
    assert missed.misses[0].happened == "llm"


async def test_a_strategy_keeps_its_other_parameters() -> None:
    """And its own threshold is the one in force, whatever the settings say."""
    own = {"name": "urgency", "parameters": {"threshold": 0.55}}
    missed = await found(scenario_of(0.65, strategy=own))

    assert (missed.strategy, missed.is_own, missed.threshold) == ("urgency", True, 0.55)


async def test_the_personality_is_named() -> None:
    """Its bias goes on top of every threshold."""
    missed = await found(scenario_of(0.65, biases={"confidence_threshold": 0.1}))

    assert missed.bias == pytest.approx(0.1)
    assert missed.by_threshold == (1, 0, 0, 0, 0)


async def test_a_closed_gate_is_counted_apart() -> None:
    """Where no strategy was asked, no threshold would have helped."""
    scenario = scenario_of(0.9)
    scenario.wait(700).sense("case one", intent="informational")

    missed = await found(scenario)

    assert (missed.decisions, missed.gated) == (2, 1)
