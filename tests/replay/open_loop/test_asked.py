"""Open loop: the context of every decision is rebuilt as the mind had it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from handlers.mind.stages import executive
from handlers.mind.stages.executive import Choice, Drawn
from replay.open_loop.asked import LoggedDecision, ask_open_loop
from replay.recording.source import Recording, of_file
from schemas.messages.controls import (
    ExperimentStarted,
    ProfileSet,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.experiments import Variant
from schemas.messages.sensing import Fields
from schemas.ports.decision_context import DecisionContext, Odds
from schemas.state.evidence import NEVER
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import ExplorationSettings, StrategySpec
from tests.factories import heuristic, pack
from tests.replay.evening import evening, verified
from tests.replay.scenarios import everything, recording_of, recording_of_scenario
from tests.scenario import Scenario

MODEL = ModelSettings(name="test/model")
THREAT = {"threat": 0.9}
CHANCE = {"opportunity": 0.9, "actionability": 0.9, "goal_relevance": 0.9}
GARDEN = pack(
    heuristic("low", "health low", "Drink."),
    heuristic("hit", "zombie hits", "Run.", confidence=0.5),
)


@contextmanager
def overhearing() -> Iterator[dict[str, DecisionContext]]:
    """Keep every context in which the mind takes an arm, by event."""
    heard: dict[str, DecisionContext] = {}
    choose = executive.choose

    def overheard(odds: Odds, context: DecisionContext, drawn: Drawn) -> Choice:
        heard[context.event_id] = context
        return choose(odds, context, drawn)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executive, "choose", overheard)
        yield heard


async def replayed(
    recording: Recording, *strategies: StrategySpec | None
) -> list[LoggedDecision]:
    return [each async for each in ask_open_loop(recording, strategies)]


def check_contexts(
    found: list[LoggedDecision], heard: dict[str, DecisionContext]
) -> None:
    """Every context that was heard is there again, and no other."""
    asked = {each.decided.event_id: each for each in found if each.context is not None}
    assert asked.keys() == heard.keys()
    for event_id, context in heard.items():
        rebuilt = asked[event_id].context
        assert rebuilt is not None
        assert without_recency(rebuilt) == without_recency(context)


def without_recency(context: DecisionContext) -> DecisionContext:
    """A context without when its candidates last fired and succeeded.

    These are rebuilt by the clocks of then; where a session with a clock of its own opens,
    the mind's memory of them moves along.
    """
    candidates = [replace(each, recent=NEVER) for each in context.candidates]
    return replace(context, candidates=tuple(candidates))


def check_own_odds(found: list[LoggedDecision]) -> None:
    """The agent's own strategy has the odds that were recorded."""
    for each in found:
        if each.context is None:
            assert not each.odds
            continue
        (odds,) = each.odds
        own = dict(odds.arms)
        assert odds.greedy == each.decided.greedy_arm
        assert own == {arm: p for arm, p in each.logging.items() if p or arm in own}


async def test_everything_is_met_again_as_the_mind_met_it():
    """Over a scenario of everything each context is rebuilt exactly, field by field."""
    with overhearing() as heard:
        session = everything()
    found = await replayed(recording_of(session), None)

    assert len(heard) > 100
    check_contexts(found, heard)
    check_own_odds(found)


async def test_the_evening_is_met_again_as_the_mind_met_it():
    """Over the shipped recording each context is rebuilt exactly, field by field."""
    with overhearing() as heard:
        assert (await verified(evening())).is_identical
    found = await replayed(of_file(evening(), "evening"), None)

    assert len(heard) > 50
    check_contexts(found, heard)
    check_own_odds(found)


async def test_other_settings_are_met_as_they_were():
    """Races, presentations and an experiment with personalities: each as it was asked."""
    parameters: Fields = {"present": "hint", "prediction": "separate"}
    with overhearing() as heard:
        scenario = Scenario(GARDEN, model=MODEL, strategy=StrategySpec(name="hybrid"))
        scenario.control(ProfileSet(biases={"confidence_threshold": -0.1}))
        for number in range(3):
            asked = scenario.sense(
                "health low", salience=CHANCE, urgency=0.0, id_=f"race-{number}"
            )
            scenario.answer_model(asked)
            scenario.wait(300)
        scenario.control(StrategySelected(strategy="always_llm", parameters=parameters))
        scenario.sense("zombie hits", salience=CHANCE)
        scenario.control(
            ExperimentStarted(
                experiment_id="e",
                a=Variant(personality="A pirate."),
                b=Variant(strategy=StrategySpec(), personality="A nurse."),
                washout_s=10.0,
            )
        )
        for number in range(8):
            scenario.control(SessionStarted(session_id=f"s{number}"))
            scenario.sense("health low", salience=THREAT, id_=f"drawn-{number}")
            scenario.wait(300)
    found = await replayed(recording_of_scenario(scenario), None)

    experiments = (each.decided.experiment for each in found)
    assert {each.variant for each in experiments if each} == {"a", "b"}
    assert len({context.llm_arm for context in heard.values()}) >= 4
    check_contexts(found, heard)
    check_own_odds(found)


async def test_an_urgency_that_nobody_declared_is_met():
    """What urgency an event had that declared none, and what `urgency` made of it."""
    hints = ({"threat": 0.95}, {"actionability": 0.5, "novelty": 1.0}, {"novelty": 1.0})
    with overhearing() as heard:
        scenario = Scenario(GARDEN, model=MODEL, strategy=StrategySpec(name="urgency"))
        for hint in hints:
            scenario.wait(3600).sense("health low", salience=hint)
            scenario.wait(3600).sense("zombie hits", salience=hint)
    found = await replayed(recording_of_scenario(scenario), None)

    urgencies = {context.urgency for context in heard.values()}
    assert urgencies == {0.95, 0.5, 0.0}
    check_contexts(found, heard)
    check_own_odds(found)


async def test_what_was_explored_is_told_apart():
    """The own strategy is asked without exploration; what was drawn from is recorded."""
    exploration = ExplorationSettings(scheme="uniform", rate=0.6)
    scenario = Scenario(GARDEN, model=MODEL, exploration=exploration)
    for number in range(30):
        scenario.sense("health low", salience=CHANCE, urgency=0.0, id_=f"low-{number}")
        scenario.wait(300)
    found = await replayed(recording_of_scenario(scenario), None)

    explored = [each for each in found if each.decided.arm != each.decided.greedy_arm]
    assert explored
    for each in found:
        (odds,), decided = each.odds, each.decided
        assert odds.arms == ((decided.greedy_arm, 1.0),)
        assert decided.exploration == "uniform"
        assert each.logging[decided.arm] == decided.probability < 1.0
        assert abs(sum(each.logging.values()) - 1.0) < 1e-9


async def test_a_decision_says_what_came_of_it():
    """A decision that waited for a model tells its words, or why there are none."""
    scenario = Scenario(GARDEN, model=MODEL)
    first = scenario.sense("something new", salience=THREAT)
    scenario.sense("health low", salience=THREAT)
    scenario.answer_model(first, "Look around.")
    second = scenario.sense("something else", salience=THREAT)
    scenario.fail_model(second, "declined")
    scenario.sense("something more", salience=THREAT)
    found = [each.record for each in await replayed(recording_of_scenario(scenario))]

    assert [each.said for each in found] == ["Look around.", "Drink.", None, None]
    assert [each.silence for each in found] == [None, None, "llm_declined", None]
    assert [each.text for each in found[0].answers] == ["Look around."]
