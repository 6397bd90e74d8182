"""Votes again: aspects, raters and silence under other settings than the recorded."""

import pytest

from evaluation.evidence.facts import Judged, Neglected
from evaluation.evidence.refold import BeliefFold, curves
from schemas.messages.results import ClockTicked
from schemas.values.settings_by_name import TuningError
from tests.evaluation.evidence.test_refold import THREAT, evidence_of, held
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario

GARDEN = pack(
    heuristic("low", "health low", "Drink.", confidence=0.5),
    patterns=[pattern("health", "health restored", 60)],
)


def harsh_scenario(**learning: float) -> Scenario:
    """A scenario with a person who dislikes everything, until something is said to them."""
    scenario = Scenario(GARDEN, threshold=0.3, learning=learning)
    for _ in range(30):
        scenario.feedback(
            scenario.wait(1).sense("dusk falls", salience=THREAT), "negative"
        )
    turn = scenario.wait(1).sense("health low", salience=THREAT)
    scenario.feedback(turn, "negative", aspect="action")
    scenario.wait(1).sense("dusk falls")
    return scenario


@pytest.mark.parametrize("is_recorded", [False, True])
async def test_raters_can_be_calibrated_afterwards(is_recorded: bool) -> None:
    """The recorded votes tell what it would have made of them, either way."""
    evidence = await evidence_of(harsh_scenario(calibrate_raters=is_recorded))

    def end(**changes: bool) -> float:
        named = {f"learning.{name}": changes[name] for name in changes}
        (curve,) = curves(evidence, named).values()
        return curve.points[-1].confidence

    assert end() == (0.454545 if is_recorded else 0.357143)
    assert end(calibrate_raters=True) == 0.454545
    assert end(calibrate_raters=False) == 0.357143


async def test_what_is_on_or_off_is_nothing_else() -> None:
    """Two is no switch."""
    evidence = await evidence_of(harsh_scenario())

    with pytest.raises(TuningError, match="give true or false"):
        curves(evidence, {"learning.calibrate_raters": 2})


async def test_a_vote_goes_with_what_its_giver_used_to_say() -> None:
    """Thirty votes against everything, shrunk by ten that nobody gave."""
    scenario = harsh_scenario()
    whole = await evidence_of(scenario)
    judged = [each for each in whole.facts if isinstance(each, Judged)]

    assert [each.vote.base for each in judged] == [-0.75]


async def test_ignored_advice_can_be_weighed_otherwise() -> None:
    """That it was ignored is a fact; what that counts for is a setting."""
    scenario = Scenario(GARDEN, threshold=0.3, learning={"ignored_after": 2})
    for _ in range(4):
        scenario.sense("health low", salience=THREAT)
        scenario.wait(100).tell(ClockTicked(due_at=scenario.at))
    scenario.sense("health low", salience=THREAT)
    evidence = await evidence_of(scenario)
    believing = BeliefFold(evidence.believed, evidence.learning, {})
    for fact in evidence.facts:
        believing.take(fact)
    (key,) = held(scenario)

    assert sum(isinstance(each, Neglected) for each in evidence.facts) == 2
    assert believing.believed[key].confidence == held(scenario)[key] == 0.384615
    (same,) = curves(evidence, {"learning.weights.ignored": 0.0}).values()
    assert {point.confidence for point in same.points} == {0.5}
