"""Weights: each source of credit has one, and it moves what that source said, alone."""

from collections.abc import Mapping
from random import Random

import pytest

from evaluation.evidence.facts import Evidence, Ruled
from evaluation.evidence.gather import gather, joined
from evaluation.evidence.refold import BeliefFold
from schemas.messages.asks import ModelAsked
from schemas.state.evidence import Belief, Signal, SignalKind
from tests import factories
from tests.factories import heuristic, pack, pattern, plain_learning
from tests.replay.scenarios import recording_of_scenario
from tests.replay.test_formed import recorded, taught
from tests.scenario import Scenario, decision_id, said

SOURCES: Mapping[str, SignalKind] = {
    "outcome": "implicit",
    "explicit": "explicit",
    "endorsement": "endorsement",
    "ignored": "ignored",
}
FREE = plain_learning(endorsement_cap=1.0)
"""Models' agreement without a cap, under which more of it would change nothing."""

MORE = 0.75
DRINK, HIDE = "drink a potion at once", "hide behind a wall"


GARDEN = pack(
    heuristic("drink", "health low", DRINK, confidence=0.8),
    heuristic("hide", "zombie near", HIDE, confidence=0.4),
    patterns=[pattern("health", "health fine", 30.0)],
)


def eventful(seed: int) -> Scenario:
    """A scenario at random that is full of votes, outcomes, silence and agreement."""
    random = Random(seed)
    scenario = Scenario(
        GARDEN,
        model=factories.MODEL,
        relevance=0.0,
        withhold=1.0,
        endorsement=True,
        learning={"ignored_after": 2},
    )
    for number in range(40):
        situation = random.choice(["health low", "zombie near"])
        turn = scenario.wait(400).sense(situation, salience={"threat": 0.9})
        if said(turn, ModelAsked):
            scenario.wait(1).answer_model(turn, random.choice([DRINK, HIDE, "Sing."]))
        for actor in random.sample(["ana", "bo"], random.choice([0, 0, 1, 2])):
            rating = random.choice(["positive", "negative"])
            scenario.wait(1).feedback(turn, rating, actor=actor)
        outcome = random.choice([None, None, "succeeded", "failed", "overridden"])
        if outcome is not None:
            scenario.wait(1).sense(
                f"report {number}",
                type_="thing",
                in_reply_to=decision_id(turn),
                outcome=outcome,
            )
    scenario.wait(400).decide("health low")
    return scenario


async def evidence_of(seed: int) -> Evidence:
    """All the evidence of such a scenario."""
    return joined(await gather(recording_of_scenario(eventful(seed))))


def folded(evidence: Evidence, **changes: float) -> Mapping[str, Belief]:
    """What is believed in the end, by the same facts under other weights."""
    believing = BeliefFold(
        evidence.believed,
        FREE,
        {f"learning.weights.{name}": changes[name] for name in changes},
    )
    for fact in evidence.facts:
        if not isinstance(fact, Ruled):
            believing.take(fact)
    return believing.believed


def weighed(signal: Signal) -> tuple[float, float]:
    """What one signal adds to successes and failures with a weight of 1."""
    if signal.kind == "endorsement":
        return signal.similarity, 0.0
    return signal.value, 1.0 - signal.value


def check(evidence: Evidence, source: str) -> int:
    """Hold each pseudo-count to the source's own signals; how many there were."""
    old = getattr(FREE.weights, source)
    plain, changed = folded(evidence), folded(evidence, **{source: old + MORE})
    count = 0
    for key in sorted(plain):
        one, other = plain[key], changed[key]
        own = [weighed(each) for each in one.signals if each.kind == SOURCES[source]]
        successes, failures = (sum(each) for each in zip((0.0, 0.0), *own, strict=True))
        assert other.alpha - one.alpha == pytest.approx(MORE * successes, abs=1e-5)
        assert other.beta - one.beta == pytest.approx(MORE * failures, abs=1e-5)
        count += len(own)
    return count


@pytest.mark.parametrize("seed", range(10))
async def test_each_weight_moves_its_own_source_alone(seed: int) -> None:
    """Whatever happened, in whatever order."""
    evidence = await evidence_of(seed)

    for source in SOURCES:
        check(evidence, source)


@pytest.mark.parametrize("source", ["explicit", "endorsement"])
async def test_a_scenario_that_forms_heuristics_keeps_to_that(source: str) -> None:
    """Votes that count through another decision, and models that agreed, too."""
    evidence = joined(await gather(recorded(taught(30))))

    assert check(evidence, source) > 0


async def test_the_scenarios_at_random_have_signals_of_every_source() -> None:
    """Else what is held of them would be held of nothing."""
    scenarios = [await evidence_of(seed) for seed in range(10)]

    for source in SOURCES:
        assert sum([check(each, source) for each in scenarios]) > 0, source
