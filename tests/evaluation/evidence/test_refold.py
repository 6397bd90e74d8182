"""Retuning: the same evidence under other settings, by the mind's own fold."""

import orjson
import pytest
from msgspec import structs

from evaluation.evidence.facts import Carried, Evidence, Judged, Ruled, Seen, ShownFact
from evaluation.evidence.gather import UnprovenError, gather, joined
from evaluation.evidence.refold import BeliefFold, curves, predictions
from replay.recording.source import of_file
from schemas.messages.controls import HeuristicEdited, HeuristicSeeded
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.results import ClockTicked
from schemas.values.learning_settings import LearningSettings
from schemas.values.settings_by_name import TuningError
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, mind_started, pack, plain_learning
from tests.handlers.mind.wild import Wild
from tests.replay.evening import evening, place, with_record
from tests.replay.scenarios import everything, recording_of, recording_of_scenario
from tests.scenario import Scenario

THREAT = {"threat": 0.9}


async def evidence_of(scenario: Scenario) -> Evidence:
    """All the evidence of a scenario."""
    return joined(await gather(recording_of_scenario(scenario)))


def judged_scenario(*votes: str, gamma: float = 1.0) -> Scenario:
    """A scenario in which one heuristic is taught, fires, and is judged each time."""
    scenario = Scenario(threshold=0.3, learning={"gamma": gamma})
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name="rest",
            domain="game",
            condition="health low",
            text="Rest.",
            confidence=0.6,
        )
    )
    for vote in votes:
        scenario.wait(3_600)
        scenario.feedback(scenario.sense("health low", salience=THREAT), vote)
    return scenario


def held(scenario: Scenario) -> dict[str, float]:
    """What the mind itself believes in the end."""
    return {
        key: scenario.mind.beliefs[key].confidence
        for key in sorted(scenario.mind.beliefs)
    }


@pytest.mark.parametrize("seed", range(25))
async def test_the_recorded_settings_give_the_recorded_confidences(seed: int) -> None:
    """At every fire and candidate, which `gather` proves, and in the end."""
    wild = Wild(seed)
    wild.lead(60)
    scenario = wild.scenario
    scenario.agent = factories.AGENT
    scenario.decide("health low")

    evidence = await evidence_of(scenario)

    believing = BeliefFold(evidence.believed, evidence.learning, {})
    for fact in evidence.facts:
        believing.take(fact)
    found = believing.believed
    assert {key: found[key].confidence for key in sorted(found)} == held(scenario)


@pytest.mark.parametrize("seed", range(10))
async def test_a_changed_weight_changes_its_own_signals_alone(seed: int) -> None:
    """Pseudo-counts differ by what the votes weigh more, and by nothing else."""
    wild = Wild(seed)
    wild.scenario.control(mind_started(relevance=0.0), agent=SHARED_AGENT)
    for _ in range(6):
        wild.lead(10)
    wild.scenario.agent = factories.AGENT
    wild.scenario.decide("health low")
    evidence = await evidence_of(wild.scenario)
    facts = tuple(each for each in evidence.facts if not isinstance(each, Ruled))
    plain = BeliefFold(evidence.believed, plain_learning(), {})
    changed = BeliefFold(
        evidence.believed, plain_learning(), {"learning.weights.explicit": 1.8}
    )
    for fact in facts:
        plain.take(fact)
        changed.take(fact)

    for key in sorted(plain.believed):
        one, other = plain.believed[key], changed.believed[key]
        votes = [each.value for each in one.signals if each.kind == "explicit"]
        assert other.alpha - one.alpha == pytest.approx(sum(votes), abs=1e-5)
        assert other.beta - one.beta == pytest.approx(
            sum(1.0 - each for each in votes), abs=1e-5
        )


async def test_a_session_of_everything_is_proven() -> None:
    """Packs, edits, frozen heuristics, reports and votes, from the first input on."""
    parts = await gather(recording_of(everything()))

    kinds = {type(fact) for part in parts for fact in part.facts}
    assert kinds >= {ShownFact, Seen, Judged, Carried}
    assert [part.session for part in parts if part.session]


async def test_the_shipped_recording_is_proven() -> None:
    """Its curves end where its own beliefs do."""
    (evidence,) = await gather(of_file(evening(), "evening"))

    assert len(predictions(evidence, {})) == len(evidence.happened) > 0
    assert evidence.names.keys() >= {key.split("@")[0] for key in curves(evidence, {})}


async def test_a_recording_that_disagrees_with_itself_is_refused() -> None:
    """With the input at which it does."""
    file = evening()
    index = place(file, f".{HeuristicFired.token}", 5)
    record = file.records[index]
    body = {**orjson.loads(record.body), "confidence": 0.123}
    forged = with_record(file, index, structs.replace(record, body=orjson.dumps(body)))

    with pytest.raises(UnprovenError, match=r"input \d+: .* 0\.123"):
        await gather(of_file(forged, "forged"))


async def test_a_race_is_proven_by_its_decision() -> None:
    """What answers later was trusted as of then, whatever a vote changed meanwhile."""
    garden = pack(heuristic("h", "health low", "Drink.", confidence=0.8))
    scenario = Scenario(
        garden,
        model=factories.MODEL,
        strategy={"name": "hybrid"},
        learning=LearningSettings(),
    )
    scenario.sense("health low")
    scenario.tell(FeedbackGiven(heuristic_id=garden.ids[0], rating="negative"))
    scenario.wait(5).tell(ClockTicked(due_at=scenario.at))
    fired = [each for each in scenario.outputs() if isinstance(each, HeuristicFired)]

    (evidence,) = await gather(recording_of_scenario(scenario))

    assert [each.mode for each in fired] == ["suggested", "shown"]
    assert [each.confidence for each in fired] == [0.8, 0.8]
    assert [type(each) for each in evidence.facts] == [Judged, ShownFact]


async def test_a_curve_moves_with_its_evidence() -> None:
    """From the declared confidence on, under both settings."""
    evidence = await evidence_of(judged_scenario("positive", "negative"))
    (key,) = curves(evidence, {})

    def points(**changes: float) -> list[float]:
        named = {name.replace("__", "."): changes[name] for name in changes}
        return [point.confidence for point in curves(evidence, named)[key].points]

    assert points() == [0.6, 0.714286, 0.555556]
    assert points(learning__weights__explicit=0.0) == [0.6]
    assert points(learning__kappa=4.0) == [0.6, 0.666667, 0.571429]


async def test_a_prediction_is_made_before_its_outcome() -> None:
    """It is what was believed when the action was shown."""
    evidence = await evidence_of(judged_scenario("positive", "negative"))

    made = predictions(evidence, {})

    assert [(each.predicted, each.happened) for each in made] == [
        (0.6, 1.0),
        (0.714286, 0.0),
    ]


async def test_the_world_outdoes_votes() -> None:
    """Where both judge a fire, what happened is what the world showed."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.8))
    scenario = Scenario(garden)
    turn = scenario.sense("health low", salience=THREAT, id_="e")
    scenario.feedback(turn, "negative", actor="ana")
    scenario.feedback(turn, "positive", actor="bo")
    voted = (await evidence_of(scenario)).happened
    scenario.sense(
        "fine", in_reply_to=scenario.turns[2].outputs[0].id, outcome="succeeded"
    )
    seen = (await evidence_of(scenario)).happened

    assert list(voted.values()) == [0.5]
    assert list(seen.values()) == [1.0]
    said = [each for each in scenario.outputs() if isinstance(each, OutcomeObserved)]
    assert [each.outcome for each in said] == ["success"]


async def test_an_edit_may_carry_what_was_learnt() -> None:
    """The new content goes on where the old one stood, under any settings."""
    scenario = judged_scenario("positive")
    scenario.control(HeuristicEdited(heuristic_id="h", text="Sleep.", keep=True))
    scenario.wait(3_600).decide("health low", salience=THREAT)
    evidence = await evidence_of(scenario)

    found = curves(evidence, {"learning.weights.explicit": 0.0})

    assert [each.points[-1].confidence for each in found.values()] == [0.6, 0.6]
    ends = {each.points[-1].confidence for each in curves(evidence, {}).values()}
    assert ends == {0.714286}


async def test_settings_of_a_restart_hold_from_there() -> None:
    """What is changed stays changed; the rest is what was in force."""
    scenario = judged_scenario("positive")
    started = mind_started(threshold=0.3, learning={"gamma": 0.5})
    scenario.control(started, agent=SHARED_AGENT)
    for vote in ("positive", "negative"):
        scenario.wait(3_600)
        scenario.feedback(scenario.sense("health low", salience=THREAT), vote)
    evidence = await evidence_of(scenario)

    same = curves(evidence, {"learning.gamma": 1.0})
    untouched = await evidence_of(judged_scenario("positive", "positive", "negative"))

    assert curves(evidence, {}) != same
    assert [[p.confidence for p in each.points] for each in same.values()] == [
        [p.confidence for p in each.points] for each in curves(untouched, {}).values()
    ]


async def test_a_direct_vote_predicts_nothing() -> None:
    """No action was shown that it could be about."""
    scenario = judged_scenario()
    scenario.decide("health low")
    scenario.tell(FeedbackGiven(heuristic_id="h", rating="positive"))
    evidence = await evidence_of(scenario)

    assert predictions(evidence, {}) == ()
    assert [each for each in scenario.outputs() if isinstance(each, FeedbackApplied)]


async def test_unknown_settings_are_refused() -> None:
    """Before anything is folded."""
    evidence = await evidence_of(judged_scenario("positive"))

    with pytest.raises(TuningError, match=r"no setting 'learning\.gama'"):
        predictions(evidence, {"learning.gama": 0.9})
