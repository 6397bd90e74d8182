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
from schemas.values.settings import LearningSettings
from schemas.values.settings_by_name import TuningError
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, mind_started, pack
from tests.handlers.mind.test_wild_lives import Wild
from tests.life import Life
from tests.replay.evening import evening, place, with_record
from tests.replay.lives import everything, recording_of, recording_of_life

THREAT = {"threat": 0.9}


async def evidence_of(life: Life) -> Evidence:
    """All the evidence of a life."""
    return joined(await gather(recording_of_life(life)))


def judged_life(*votes: str, gamma: float = 1.0) -> Life:
    """A life in which one heuristic is taught, fires, and is judged each time."""
    life = Life(threshold=0.3, learning={"gamma": gamma})
    life.control(
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
        life.wait(3_600)
        life.feedback(life.sense("health low", salience=THREAT), vote)
    return life


def held(life: Life) -> dict[str, float]:
    """What the mind itself believes in the end."""
    return {key: life.mind.beliefs[key].confidence for key in sorted(life.mind.beliefs)}


@pytest.mark.parametrize("seed", range(25))
async def test_the_recorded_settings_give_the_recorded_confidences(seed: int) -> None:
    """At every fire and candidate, which `gather` proves, and in the end."""
    wild = Wild(seed)
    wild.lead(60)
    life = wild.life
    life.agent = factories.AGENT
    life.decide("health low")

    evidence = await evidence_of(life)

    believing = BeliefFold(evidence.believed, evidence.learning, {})
    for fact in evidence.facts:
        believing.take(fact)
    found = believing.believed
    assert {key: found[key].confidence for key in sorted(found)} == held(life)


@pytest.mark.parametrize("seed", range(10))
async def test_a_changed_weight_changes_its_own_signals_alone(seed: int) -> None:
    """Pseudo-counts differ by what the votes weigh more, and by nothing else."""
    wild = Wild(seed)
    wild.life.control(mind_started(relevance=0.0), agent=SHARED_AGENT)
    for _ in range(6):
        wild.lead(10)
    wild.life.agent = factories.AGENT
    wild.life.decide("health low")
    evidence = await evidence_of(wild.life)
    facts = tuple(each for each in evidence.facts if not isinstance(each, Ruled))
    plain = BeliefFold(evidence.believed, LearningSettings(), {})
    changed = BeliefFold(
        evidence.believed, LearningSettings(), {"learning.weights.explicit": 1.8}
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

    assert len(predictions(evidence, {})) == len(evidence.happened) == 33
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
    life = Life(garden, model=factories.MODEL, strategy={"name": "hybrid"})
    life.sense("health low")
    life.tell(FeedbackGiven(heuristic_id=garden.ids[0], rating="negative"))
    life.wait(5).tell(ClockTicked(due_at=life.at))
    fired = [each for each in life.outputs() if isinstance(each, HeuristicFired)]

    (evidence,) = await gather(recording_of_life(life))

    assert [each.mode for each in fired] == ["suggested", "shown"]
    assert [each.confidence for each in fired] == [0.8, 0.8]
    assert [type(each) for each in evidence.facts] == [Judged, ShownFact]


async def test_a_curve_moves_with_its_evidence() -> None:
    """From the declared confidence on, under both settings."""
    evidence = await evidence_of(judged_life("positive", "negative"))
    (key,) = curves(evidence, {})

    def points(**changes: float) -> list[float]:
        named = {name.replace("__", "."): changes[name] for name in changes}
        return [point.confidence for point in curves(evidence, named)[key].points]

    assert points() == [0.6, 0.714286, 0.555556]
    assert points(learning__weights__explicit=0.0) == [0.6]
    assert points(learning__kappa=4.0) == [0.6, 0.666667, 0.571429]


async def test_a_prediction_is_made_before_its_outcome() -> None:
    """It is what was believed when the action was shown."""
    evidence = await evidence_of(judged_life("positive", "negative"))

    made = predictions(evidence, {})

    assert [(each.predicted, each.happened) for each in made] == [
        (0.6, 1.0),
        (0.714286, 0.0),
    ]


async def test_the_world_outdoes_votes() -> None:
    """Where both judge a fire, what happened is what the world showed."""
    garden = pack(heuristic("h", "health low", "Rest.", confidence=0.8))
    life = Life(garden)
    turn = life.sense("health low", salience=THREAT, id_="e")
    life.feedback(turn, "negative", actor="ana")
    life.feedback(turn, "positive", actor="bo")
    voted = (await evidence_of(life)).happened
    life.sense("fine", in_reply_to=life.turns[2].outputs[0].id, outcome="succeeded")
    seen = (await evidence_of(life)).happened

    assert list(voted.values()) == [0.5]
    assert list(seen.values()) == [1.0]
    said = [each for each in life.outputs() if isinstance(each, OutcomeObserved)]
    assert [each.outcome for each in said] == ["success"]


async def test_an_edit_may_carry_what_was_learnt() -> None:
    """The new content goes on where the old one stood, under any settings."""
    life = judged_life("positive")
    life.control(HeuristicEdited(heuristic_id="h", text="Sleep.", keep=True))
    life.wait(3_600).decide("health low", salience=THREAT)
    evidence = await evidence_of(life)

    found = curves(evidence, {"learning.weights.explicit": 0.0})

    assert [each.points[-1].confidence for each in found.values()] == [0.6, 0.6]
    ends = {each.points[-1].confidence for each in curves(evidence, {}).values()}
    assert ends == {0.714286}


async def test_settings_of_a_restart_hold_from_there() -> None:
    """What is changed stays changed; the rest is what was in force."""
    life = judged_life("positive")
    started = mind_started(threshold=0.3, learning={"gamma": 0.5})
    life.control(started, agent=SHARED_AGENT)
    for vote in ("positive", "negative"):
        life.wait(3_600)
        life.feedback(life.sense("health low", salience=THREAT), vote)
    evidence = await evidence_of(life)

    same = curves(evidence, {"learning.gamma": 1.0})
    untouched = await evidence_of(judged_life("positive", "positive", "negative"))

    assert curves(evidence, {}) != same
    assert [[p.confidence for p in each.points] for each in same.values()] == [
        [p.confidence for p in each.points] for each in curves(untouched, {}).values()
    ]


async def test_a_direct_vote_predicts_nothing() -> None:
    """No action was shown that it could be about."""
    life = judged_life()
    life.decide("health low")
    life.tell(FeedbackGiven(heuristic_id="h", rating="positive"))
    evidence = await evidence_of(life)

    assert predictions(evidence, {}) == ()
    assert [each for each in life.outputs() if isinstance(each, FeedbackApplied)]


async def test_unknown_settings_are_refused() -> None:
    """Before anything is folded."""
    evidence = await evidence_of(judged_life("positive"))

    with pytest.raises(TuningError, match=r"no setting 'learning\.gama'"):
        predictions(evidence, {"learning.gama": 0.9})
