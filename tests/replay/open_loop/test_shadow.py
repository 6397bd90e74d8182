"""Shadow: another strategy is asked with what the mind's own was asked with."""

from contextlib import aclosing

import pytest

from handlers.mind.strategies.registry import UnknownStrategyError
from replay.open_loop.shadow import Shadowed, Totals, follow
from schemas.messages.controls import ExperimentStarted, GoalsSet
from schemas.messages.experiments import Variant
from schemas.values.settings import StrategySpec
from streams.log import ReadableLog
from tests import factories
from tests.evaluation.experiments.test_trials import log_of
from tests.factories import heuristic, pack, pack_loaded
from tests.scenario import Scenario, decision_id

GARDEN = pack(heuristic("low", "health low", "Drink.", confidence=0.6))
FIRST = StrategySpec(name="heuristic_first", parameters={"threshold": 0.5})


async def shadowed(
    log: ReadableLog, strategy: StrategySpec, after: int = 0
) -> list[Shadowed | None]:
    """All that a shadow tells of a log that has an end."""
    async with aclosing(follow(log, "ana", strategy, after)) as following:
        return [each async for each in following]


async def test_a_flip_names_both_arms() -> None:
    """The event, what was done, and what would have been said."""
    scenario = Scenario(GARDEN, model=factories.MODEL)
    turn = scenario.sense("health low")
    (found,) = await shadowed(log_of(scenario), FIRST)

    assert found is not None
    assert (found.record.id, found.record.text) == (decision_id(turn), "health low")
    assert found.record.decided.arm.startswith("llm:")
    assert found.would == f"heuristic:{GARDEN.ids[0]}@{GARDEN.content_hashes[0]}"
    assert (found.would_say, found.record.said, found.silence) == ("Drink.", None, None)
    assert (found.is_flip, found.agreement) == (True, 0.0)


async def test_the_strategy_in_force_agrees_with_itself() -> None:
    """Whatever packs, goals and strategies came meanwhile; a gate is nobody's choice."""
    scenario = Scenario(model=factories.MODEL, threshold=0.5, relevance=0.0)
    scenario.blobs[GARDEN.digest] = GARDEN
    scenario.sense("health low")
    scenario.control(pack_loaded(GARDEN))
    scenario.control(GoalsSet(goals=("Explore",)))
    scenario.sense("health low again")
    scenario.sense("note", intent="informational")
    totals = Totals()
    for each in await shadowed(log_of(scenario), FIRST):
        totals = totals.after(each)

    assert (totals.decisions, totals.gated, totals.flips) == (2, 1, 0)
    assert totals.agreement == 1.0


async def test_a_running_experiment_is_followed() -> None:
    """A personality of a variant makes the model's arm another, for the shadow too."""
    scenario = Scenario(model=factories.MODEL)
    dry = Variant(personality="You are dry.")
    scenario.control(ExperimentStarted(experiment_id="e", a=dry, b=dry))
    scenario.sense("something")
    (found,) = await shadowed(log_of(scenario), StrategySpec(name="always_llm"))

    assert found is not None
    assert not found.is_flip


async def test_chance_agrees_in_part() -> None:
    """A strategy that draws agrees with the probability of the arm that was taken."""
    scenario = Scenario(model=factories.MODEL)
    scenario.sense("something")
    (found,) = await shadowed(log_of(scenario), StrategySpec(name="random"))

    assert found is not None
    assert found.agreement == 0.5


async def test_it_begins_behind_a_place() -> None:
    """What was decided before is not told, but what was put in force then holds."""
    scenario = Scenario(GARDEN, model=factories.MODEL, relevance=0.0)
    first = scenario.sense("health low")
    second = scenario.sense("health low now")
    place = first.input.sequence
    (found,) = await shadowed(log_of(scenario), FIRST, place)

    assert found is not None
    assert found.record.id == decision_id(second)
    assert found.would_say == "Drink."


async def test_an_unknown_strategy_is_told_at_once() -> None:
    """Before anything is followed."""
    scenario = Scenario()
    scenario.sense("something")
    with pytest.raises(UnknownStrategyError):
        await shadowed(log_of(scenario), StrategySpec(name="genius"))


def test_nothing_has_no_agreement() -> None:
    """Before the first decision there is no mean."""
    assert Totals().agreement is None
    assert Totals().after(None).agreement is None
