"""Replaying a scenario that learns from models: what it formed and what endorsed it."""

from typing import Any

import orjson
import pytest

from evaluation.evidence.gather import gather, joined
from evaluation.evidence.refold import BeliefFold
from handlers.aids import AidProvider, PackLibrary
from replay.closed_loop.run import Answers
from replay.recording.source import Recording
from replay.verify import Span, verify
from schemas.messages.asks import ModelAsked
from schemas.messages.learning import (
    CandidateRefused,
    Endorsed,
    HeuristicFormed,
    HeuristicReinforced,
)
from tests import factories
from tests.factories import heuristic, pack, plain_learning
from tests.replay.closed_loop.test_run import run_over
from tests.replay.open_loop.test_asked import (
    check_contexts,
    check_own_odds,
    overhearing,
)
from tests.replay.open_loop.test_asked import replayed as met_again
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario, said

SITUATION = "the health of the player is low while food is near by"
ADVICE = "your health is low so eat the food that is near by now"
GARDEN = pack(heuristic("eat", SITUATION, ADVICE, 0.3, when="health < 4"))
OTHER = "the rain falls on all the dry fields of the old garden"
SHELTER = "go into the house before the rain makes you wet and cold"


def rule(condition: str, message: str, **more: Any) -> str:
    """What a model makes of an answer."""
    fields = {"condition": condition, "type": "suggest", "message": message, **more}
    return orjson.dumps(fields).decode()


def taught(rounds: int = 12) -> Scenario:
    """A scenario whose model says what is known, forms what is not, and babbles."""
    scenario = Scenario(
        GARDEN,
        model=factories.MODEL,
        relevance=0.0,
        withhold=0.5,
        formation=True,
        endorsement=True,
    )
    for number in range(rounds):
        situation, words = (SITUATION, ADVICE) if number % 2 else (OTHER, SHELTER)
        fields = {"health": 2}
        turn = scenario.wait(400).sense(situation, id_=f"event-{number}", fields=fields)
        if not said(turn, ModelAsked):
            scenario.wait(2).feedback(turn)
            continue
        scenario.wait(1).answer_model(turn, words)
        asked = scenario.wait(1).feedback(turn)
        when = "health < 4" if number % 2 else None
        text = rule(situation, words, when=when) if number % 3 else "I forgot."
        scenario.wait(1).answer_model(asked, text)
    return scenario


def recorded(scenario: Scenario) -> Recording:
    """The scenario as a recording."""
    return recording_of_scenario(scenario)


def bringer(recording: Recording) -> AidProvider:
    """Brings aids as the worker would."""
    return AidProvider(WordsEmbedder(), PackLibrary(recording.log, WordsEmbedder()))


def test_the_scenario_has_all_that_is_to_be_replayed() -> None:
    """Heuristics formed, reinforced, refused and endorsed."""
    said_ = {type(each) for each in taught().outputs()}

    assert {HeuristicFormed, HeuristicReinforced, CandidateRefused, Endorsed} <= said_


async def test_it_is_decided_again_byte_for_byte() -> None:
    """The shell brings the same vectors of the models' words."""
    recording = recorded(taught())
    span = Span(recording.partition, recording.first - 1, recording.last, "ana")

    found = await verify(
        recording.log,
        span,
        bringer(recording),
        start=recording.start,
        expected_chain=recording.chain,
    )

    assert found.is_identical, found.divergence


async def test_each_context_is_met_again() -> None:
    """What was formed is among the candidates of the fast path, too."""
    with overhearing() as heard:
        scenario = taught()
    found = await met_again(recorded(scenario), None)

    formed = next(e for e in scenario.outputs() if isinstance(e, HeuristicFormed))
    arms = {arm for each in found for arm in each.logging}
    assert any(formed.heuristic_id in arm for arm in arms)
    check_contexts(found, heard)
    check_own_odds(found)


async def test_its_own_strategy_repeats_it() -> None:
    """The cassette answers what asks for rules, and the same is learnt of it."""
    recording = recorded(taught())

    found, ending = await run_over(
        recording, None, answers=Answers(mode="strict"), embedder=WordsEmbedder()
    )

    past = await met_again(recording)
    assert [(each.record.decided.arm, each.said) for each in found] == [
        (each.decided.arm, each.record.said) for each in past
    ]
    assert ending.misses == 0


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0])
async def test_another_weight_moves_what_models_said_alone(weight: float) -> None:
    """Without a cap each pseudo-count differs by the endorsements, and nothing else."""
    scenario = taught()
    evidence = joined(await gather(recorded(scenario)))
    free = plain_learning(endorsement_cap=1.0)
    plain = BeliefFold(evidence.believed, free, {"learning.weights.endorsement": 0.0})
    other = BeliefFold(
        evidence.believed, free, {"learning.weights.endorsement": weight}
    )
    own = BeliefFold(evidence.believed, evidence.learning, {})
    for fact in evidence.facts:
        for each in (plain, other, own):
            each.take(fact)

    for key in sorted(plain.believed):
        one, two = plain.believed[key], other.believed[key]
        endorsed = sum(e.similarity for e in one.signals if e.kind == "endorsement")
        assert two.alpha - one.alpha == pytest.approx(weight * endorsed, abs=1e-5)
        assert two.beta == one.beta
        assert own.believed[key].confidence == scenario.mind.beliefs[key].confidence
    assert evidence.names.keys() >= {
        each.heuristic_id
        for each in scenario.outputs()
        if isinstance(each, HeuristicFormed)
    }
