"""Told quiet: only what may pass is said in ten minutes, and a replay says the same."""

from random import Random
from typing import Any

import pytest

from echoic.packs.phrases import shipped
from handlers.aids import AidProvider, PackLibrary
from handlers.mind.turn import Turn
from replay.open_loop.asked import ask_open_loop
from replay.verify import Span, verify
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import BreakSignalled, SalienceModulated
from schemas.messages.sensing import Sensed
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import heuristic, pack
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario, said

GARDEN = pack(
    heuristic("low", "food is low", "Eat now.", 0.8),
    heuristic("rain", "rain is near", "Take a coat.", 0.8),
    types=("vital", "thing"),
)
EXECUTIVE = {
    "cooldown_s": 4.0,
    "heuristic_cooldown_s": 30.0,
    "rate_per_hour": 100,
    "modulates": True,
    "budget_calls": 3,
    "timing": True,
    "relevance": True,
    "phrases": shipped(("en", "de")),
}
TEXTS = ("food is low", "rain is near", "something new", "a dog barks there")


def told_quiet(seed: int, minutes: float) -> tuple[Scenario, list[Turn]]:
    """A scenario in which Ana asks for quiet; and what happened in so many minutes then."""
    random = Random(seed)
    scenario = Scenario(
        GARDEN, model=factories.MODEL, relevance=0.2, executive=EXECUTIVE
    )
    happens(scenario, random, 300.0)
    before = len(scenario.turns)
    spoken = scenario.sense("be quiet", source="user", type_="message", person="ana")
    assert said(spoken, DeliveryAsked)
    happens(scenario, random, minutes * 60.0)
    return scenario, scenario.turns[before + 1 :]


def happens(scenario: Scenario, random: Random, seconds: float) -> None:
    """Let events, words, answers of the model and breaks come for so long."""
    ends = scenario.at.timestamp() + seconds
    asked: list[Turn] = [each for each in scenario.turns if said(each, ModelAsked)][-2:]
    while True:
        step = random.choice([0.5, 3.0, 9.0, 20.0])
        if scenario.at.timestamp() + step >= ends:
            break
        scenario.wait(step)
        if asked and random.random() < 0.4:
            scenario.answer_model(asked.pop(0), random.choice(TEXTS))
        elif random.random() < 0.1:
            scenario.control(BreakSignalled())
        else:
            turn = sensed(scenario, random)
            asked += [turn] if said(turn, ModelAsked) else []


def sensed(scenario: Scenario, random: Random) -> Turn:
    """An event of a sensor, or words of somebody."""
    fields: dict[str, Any] = {"salience": {"threat": random.choice([0.3, 0.6, 0.9])}}
    if random.random() < 0.3:
        fields = {"source": "user", "type_": "message"}
        fields["person"] = random.choice(["ana", "bo"])
    return scenario.sense(random.choice(TEXTS), **fields)


@pytest.mark.parametrize("seed", range(8))
def test_told_quiet_only_exceptions_are_said(seed: int) -> None:
    """Alerts, and answers to the words of whoever asked; whatever was under way before."""
    scenario, turns = told_quiet(seed, 10)
    events = {
        each.input.id: each.input.message
        for each in scenario.turns
        if isinstance(each.input.message, Sensed)
    }

    deliveries = [each for turn in turns for each in said(turn, DeliveryAsked)]

    for each in deliveries:
        event = events[each.event_id]
        is_alert = event.salience.get("threat", 0.0) >= 0.8
        is_hers = event.is_persons and event.person == "ana"
        assert is_alert or is_hers, (event, each)
    assert deliveries
    silences = {each.silence for turn in turns for each in said(turn, Decided)}
    assert "quiet" in silences


async def test_it_repeats_to_the_byte() -> None:
    """With what came before it, and what came after, and what was taken back."""
    scenario, _ = told_quiet(1, 12)
    scenario.control(SalienceModulated(change="suppress", about="rain", for_s=60))
    scenario.sense("stop telling me about food", source="user", type_="message")
    happens(scenario, Random(2), 600)
    scenario.sense("undo that", source="user", type_="message")
    happens(scenario, Random(3), 300)
    recording = recording_of_scenario(scenario)
    span = Span(recording.partition, recording.first - 1, recording.last)
    made_by = WordsEmbedder()
    bringer = AidProvider(made_by, PackLibrary(recording.log, made_by))

    found = await verify(recording.log, span, bringer, start=recording.start)

    assert found.is_identical, found.divergence
    paths = {each.path for turn in scenario.turns for each in said(turn, Decided)}
    assert {"acknowledged", "none", "heuristic", "llm"} <= paths


async def test_strategies_are_asked_as_the_mind_asked_them() -> None:
    """Not where a gate closed or a person was told; without a model where there was no
    budget; without what had answered just before."""
    scenario, _ = told_quiet(1, 12)
    scenario.wait(600)
    happens(scenario, Random(4), 600)
    recording = recording_of_scenario(scenario)
    own, asks = None, StrategySpec(name="always_llm")

    decisions = [each async for each in ask_open_loop(recording, (own, asks))]

    asked = [each for each in decisions if each.odds]
    for each in asked:
        assert dict(each.odds[0].arms) == {
            arm: odds for arm, odds in each.logging.items() if odds
        }
    gated = {each.decided.path for each in decisions if not each.odds}
    assert gated == {"none", "acknowledged"}
    spent = [each for each in asked if each.decided.silence == "budget_exhausted"]
    assert spent
    assert {each.odds[1].greedy for each in spent} == {"silent"}
