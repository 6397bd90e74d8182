"""Scenarios of heuristics: freezing, new trials, constraints, priors and drift, in the mind."""

import pytest

from evaluation.evidence.facts import Revived, Termed
from evaluation.evidence.gather import gather, joined
from evaluation.evidence.refold import BeliefFold, curves, predictions
from schemas.messages.controls import HeuristicFrozen, HeuristicSeeded, PriorUpdated
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import DriftRaised, LifecycleChanged
from schemas.packs.compiled import CompiledPack
from schemas.packs.constraints import Constraints
from schemas.values.subjects import SHARED_AGENT
from tests.factories import heuristic, pack, pack_loaded
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario, applied, names, one, said

THREAT = {"threat": 0.9}
RELEASE = HeuristicFrozen(heuristic_id="h", frozen=False)


def seeded(confidence: float = 0.8, **changes: object) -> HeuristicSeeded:
    """A heuristic taught for events of the source `game`."""
    fields: dict[str, object] = {
        "heuristic_id": "h",
        "name": "rest",
        "domain": "game",
        "condition": "health low",
        "text": "Rest.",
        "confidence": confidence,
        **changes,
    }
    return HeuristicSeeded.from_fields(fields)


def test_what_froze_of_itself_is_revived_by_hand() -> None:
    """It begins a new trial from what was declared, and fails again before it freezes."""
    scenario = Scenario(threshold=0.3, learning={"kappa": 0.5, "frozen_below": 0.2})
    scenario.control(seeded(0.5))
    scenario.wait(3_600).feedback(
        scenario.sense("health low", salience=THREAT), "negative"
    )

    assert scenario.wait(3_600).decide("health low", salience=THREAT).path == "rejected"
    turn = scenario.control(RELEASE)
    assert names(turn) == ["ControlApplied", "LifecycleChanged"]
    changed = one(turn, LifecycleChanged)
    assert (changed.before, changed.after) == ("frozen", "active")
    assert changed.confidence == 0.5
    scenario.wait(3_600)
    assert scenario.decide("health low", salience=THREAT).path == "heuristic"
    again = scenario.feedback(scenario.wait(3_600).sense("health low", salience=THREAT))
    assert said(again, LifecycleChanged) == []


def test_a_release_changes_nothing_of_what_was_only_frozen_by_hand() -> None:
    """What it earned it keeps."""
    scenario = Scenario(threshold=0.3)
    scenario.control(seeded())
    scenario.feedback(scenario.sense("health low", salience=THREAT))
    (before,) = scenario.mind.beliefs.values()
    scenario.control(HeuristicFrozen(heuristic_id="h"))
    scenario.control(RELEASE)

    assert list(scenario.mind.beliefs.values()) == [before]
    assert before.signals


def garden(**constraints: object) -> CompiledPack:
    """A pack whose one heuristic is under constraints."""
    said_ = Constraints.model_validate(constraints)
    return pack(
        heuristic("h", "health low", "Rest.", confidence=0.8, constraints=said_)
    )


@pytest.mark.parametrize(
    ("constraints", "confidence"),
    [
        ({}, 0.571429),
        ({"locked": True}, 0.8),
        ({"floor": 0.6}, 0.6),
        ({"ceiling": 0.5}, 0.5),
        ({"feedback_weight": 0.25}, 0.727273),
        ({"feedback_weight": 2.0}, 0.444444),
    ],
)
def test_a_pack_says_how_far_a_vote_moves_it(
    constraints: dict[str, object], confidence: float
) -> None:
    """One vote against a confidence of 0.8, and what is then believed."""
    bounded = garden(**constraints)
    scenario = Scenario(bounded, threshold=0.3)
    vote = {"heuristic_id": bounded.ids[0], "rating": "negative"}
    scenario.tell(FeedbackGiven.from_fields(vote))
    (candidate, *_) = scenario.decide("health low", salience=THREAT).candidates

    assert candidate.confidence == confidence


async def test_bounds_hold_at_once_when_a_pack_is_loaded_anew() -> None:
    """And retuning, which folds the same facts, proves every confidence."""
    free = garden()
    scenario = Scenario(free, threshold=0.3)
    for _ in range(3):
        scenario.wait(3_600)
        scenario.feedback(scenario.sense("health low", salience=THREAT), "negative")
    low = scenario.decide("health low", salience=THREAT).candidates[0].confidence
    held = garden(floor=0.7, feedback_weight=0.5)
    scenario.blobs[held.digest] = held
    scenario.wait(3_600).control(pack_loaded(held), agent=SHARED_AGENT)
    kept = scenario.decide("health low", salience=THREAT).candidates[0].confidence
    scenario.feedback(scenario.wait(3_600).sense("health low", salience=THREAT))
    scenario.wait(3_600).control(PriorUpdated(origin="skill_pack", kappa=4.0, mean=0.6))
    scenario.decide("health low", salience=THREAT)

    assert low is not None
    assert low < 0.7 == kept
    evidence = joined(await gather(recording_of_scenario(scenario)))
    assert [type(fact) for fact in evidence.facts].count(Termed) >= 2
    assert predictions(evidence, {})
    (curve,) = curves(evidence, {}).values()
    assert curve.points[-1].confidence >= 0.7


async def test_a_revived_scenario_is_proven_and_replayed() -> None:
    """A new trial is a fact like any other, under whatever settings it is folded."""
    scenario = Scenario(threshold=0.3, learning={"kappa": 0.5, "frozen_below": 0.2})
    scenario.control(seeded(0.5))
    scenario.feedback(scenario.sense("health low", salience=THREAT), "negative")
    scenario.wait(3_600).control(RELEASE)
    scenario.feedback(scenario.sense("health low", salience=THREAT))
    scenario.wait(3_600).decide("health low", salience=THREAT)
    recording = recording_of_scenario(scenario)

    evidence = joined(await gather(recording))
    assert any(isinstance(fact, Revived) for fact in evidence.facts)
    weightier = BeliefFold(
        evidence.believed, evidence.learning, {"learning.weights.explicit": 2.0}
    )
    for fact in evidence.facts:
        weightier.take(fact)
    (belief,) = weightier.believed.values()
    assert belief.alpha == 0.25 + 2.0


def test_a_prior_holds_for_what_nothing_was_learnt_of() -> None:
    """By hand, for one origin, and taken back."""
    scenario = Scenario(threshold=0.3)
    scenario.control(seeded(0.8))

    prior = PriorUpdated(origin="seeded", kappa=4.0, mean=0.75)
    assert applied(scenario.control(prior)) == "seeded: from 0.75, weight 4"
    first = scenario.decide("health low", salience=THREAT).candidates[0]
    assert (first.confidence, first.alpha, first.beta) == (0.75, 3.0, 1.0)
    other = PriorUpdated(origin="learned", kappa=4.0)
    assert (
        applied(scenario.control(other)) == "learned: from what is declared, weight 4"
    )
    back = PriorUpdated(origin="seeded", is_default=True)
    assert applied(scenario.control(back)) == "seeded: as the settings say"
    assert applied(scenario.control(back)) == "seeded: as the settings say"
    held = scenario.wait(3_600).decide("health low", salience=THREAT).candidates[0]
    assert held.confidence == 0.75


def test_drift_is_raised_once() -> None:
    """When the latest fires leave what was to be expected, and not while they stay so."""
    scenario = Scenario(
        threshold=0.3, learning={"drift_fires": 5, "drift_level": 0.95, "kappa": 2.0}
    )
    scenario.control(seeded())
    raised: list[DriftRaised] = []
    for number in range(18):
        scenario.wait(3_600)
        turn = scenario.sense("health low", salience=THREAT)
        rating = "positive" if number < 12 else "negative"
        raised += said(scenario.feedback(turn, rating), DriftRaised)

    (one_,) = raised
    assert one_.heuristic_id == "h"
    assert one_.fires == 5
    assert one_.successes / one_.fires < one_.low <= one_.expected
