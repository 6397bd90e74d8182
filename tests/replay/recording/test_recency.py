"""Ranking by the full score at logged state: of any recording, or refused in words."""

import dataclasses

import pytest
from msgspec.structs import replace

from replay.open_loop.asked import ask_open_loop
from replay.recording.recency import UnknownPastError
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded
from schemas.values.settings import StrategySpec
from tests.factories import heuristic, pack
from tests.replay.scenarios import everything, recording_of, recording_of_scenario
from tests.scenario import Scenario

THREAT = {"threat": 0.9}
FULL = StrategySpec(parameters={"rank": "full"})
GARDEN = pack(
    heuristic("low", "health low", "Drink.", confidence=0.8),
    heuristic("lower", "health low now", "Eat.", confidence=0.8),
)


def habitual(strategy: StrategySpec) -> Scenario:
    """A scenario in which the same thing happens again and again, and is liked."""
    scenario = Scenario(GARDEN, strategy=strategy)
    seeded = HeuristicSeeded(
        heuristic_id="h",
        name="rest",
        domain="game",
        condition="health low",
        text="Rest.",
        confidence=0.75,
    )
    scenario.control(seeded)
    for number in range(12):
        turn = scenario.sense("health low", salience=THREAT, id_=f"e-{number}")
        if number % 3 == 0:
            scenario.feedback(turn, "positive" if number % 2 else "negative")
        if number == 6:
            scenario.control(HeuristicEdited(heuristic_id="h", text="Sit.", keep=True))
        scenario.wait(20)
    return scenario


async def test_a_recording_that_ranked_otherwise_is_ranked_by_the_full_score() -> None:
    """Each score is the one that the mind itself would have recorded in that state."""
    recorded = recording_of_scenario(habitual(FULL))
    found = [each async for each in ask_open_loop(recorded, (None, FULL))]

    asked = [each for each in found if each.context is not None]
    assert len(asked) == 12
    factors = set()
    for each in asked:
        own, full = each.odds
        assert own == full
        assert each.decided.greedy_arm == full.greedy
        factors |= {scored.factors for scored in full.scores}
    assert {each.habituation for each in factors if each} > {1.0, 0.8}
    assert {each.recency for each in factors if each} == {1.0, 1.2}


async def test_similarity_and_the_full_score_can_be_compared_on_any_scenario() -> None:
    """Nothing of it needs to be recorded: fires, outcomes and votes tell."""
    found = [
        each async for each in ask_open_loop(recording_of(everything()), (None, FULL))
    ]

    scores = [odds.scores for each in found for odds in each.odds[1:]]
    assert any(scores)
    assert any(
        each.factors is not None and each.factors.recency > 1.0
        for some in scores
        for each in some
    )


async def test_a_recording_that_does_not_tell_is_refused_in_words() -> None:
    """Its beliefs are of a program that did not keep when anything last fired."""
    scenario = habitual(StrategySpec())
    recorded = recording_of_scenario(scenario)
    agent = scenario.mind
    old = {key: replace(agent.beliefs[key], recent=None) for key in agent.beliefs}
    start = recorded.start
    before = replace(
        start,
        agents=start.agents.set(
            scenario.agent, replace(agent, beliefs=agent.beliefs.update(old))
        ),
    )
    unknown = dataclasses.replace(recorded, start=before)

    with pytest.raises(UnknownPastError, match="does not tell when 'heuristic:"):
        _ = [each async for each in ask_open_loop(unknown, (FULL,))]
    assert [each async for each in ask_open_loop(unknown, (None,))]
