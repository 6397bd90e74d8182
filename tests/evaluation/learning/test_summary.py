"""The learning report: shares over time, three measures apart, rises, and credit."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from evaluation.learning.answers import Answer, answers
from evaluation.learning.differences import differences
from evaluation.learning.history import learning_history
from evaluation.learning.periods import by_voice, period, quarters, stretches
from evaluation.learning.summary import read, report
from evaluation.learning.time_to_trust import _Climb, _hours
from replay.recording.decisions import DecisionRecords
from replay.recording.source import of_file
from schemas.messages.controls import ExperimentStarted, SessionStarted
from schemas.messages.experiments import Variant
from tests.echoic import samples
from tests.echoic.samples import decided, group, model_asked, sensed
from tests.evaluation.learning.schooling import (
    RESTS,
    THREAT,
    fire,
    taught,
    two_sessions,
)
from tests.factories import MODEL, NOON
from tests.replay.evening import evening
from tests.replay.scenarios import recording_of_scenario
from tests.scenario import Scenario


def answer(
    number: int,
    path: str | None = None,
    *,
    session: str | None = None,
    weighed: tuple[float, float] = (0.5, 0.5),
    calls: Sequence[str] = (),
    success: float | None = None,
    worth: float | None = None,
    voice: str = "dry",
) -> Answer:
    """A decision that was made up; `weighed` are similarity and confidence."""
    event = sensed(number)
    choice = decided(
        path=path or "rejected",
        text="Behind you!" if path else None,
        session_id=session or f"s{number}",
        candidates=(samples.weighed(*weighed, 1.0),),
    )
    (record,) = DecisionRecords().take(event, group(event, [choice]))
    asks = {str(place): model_asked(each) for place, each in enumerate(calls)}
    at = NOON + timedelta(minutes=number)
    record = replace(record, at=at, asks=asks)
    return Answer(record=record, success=success, worth=worth, voice=voice)


def test_a_rise_between_two_clocks_has_no_duration() -> None:
    """A lesson of today that rises in a session by the clock of last month's events."""
    rise = _Climb(0.5, NOON, 0, reached_at=NOON + timedelta(hours=2), decisions=1)

    assert _hours(rise) == 2.0
    assert _hours(replace(rise, reached_at=NOON - timedelta(days=30))) is None


def test_a_period_keeps_three_measures_apart() -> None:
    """How alike, how trusted and how true, each over the answers that tell it."""
    found = period(
        "all",
        [
            answer(1, "heuristic", weighed=(0.8, 0.9), success=1.0),
            answer(2, "heuristic", weighed=(0.6, 0.7)),
            answer(3, "llm", calls=("answer", "formation"), worth=0.0),
            answer(4),
        ],
    )

    assert (found.decisions, found.answers, found.by_heuristics) == (4, 3, 2)
    assert found.system_1_share == pytest.approx(2 / 3)
    assert found.calls_per_event == 0.25
    assert found.calls == {"answer": 1, "formation": 1}
    assert (found.context_match.value, found.context_match.n) == (0.7, 2)
    assert found.confidence.value == pytest.approx(0.8)
    assert (found.success.value, found.success.n) == (1.0, 1)
    assert (found.model_worth.value, found.worth.value) == (0.0, None)


def test_silence_is_no_answer() -> None:
    """Without an answer there is no share."""
    assert period("all", [answer(1), answer(2)]).system_1_share is None


def test_quarters_are_of_sessions_if_there_are_four() -> None:
    """No session is cut in two; fewer sessions are quartered by their decisions."""
    many = [answer(each, session=f"s{each // 3}") for each in range(18)]
    one = [answer(each, session="s") for each in range(10)]

    assert [each.decisions for each in quarters(many)] == [3, 6, 3, 6]
    assert [each.decisions for each in quarters(one)] == [2, 3, 2, 3]
    assert [each.decisions for each in quarters(one[:2])] == [1, 1]
    assert [each.decisions for each in stretches(one, 4)] == [4, 4, 2]


def test_voices_stand_side_by_side() -> None:
    """In the order in which they were first heard."""
    found = by_voice([answer(1), answer(2, voice="kind"), answer(3)])

    assert [(each.label, each.decisions) for each in found] == [("dry", 2), ("kind", 1)]


async def test_answers_tell_who_spoke_and_what_came_of_it() -> None:
    """By the recording alone."""
    recording = recording_of_scenario(two_sessions())
    history = await learning_history(recording)

    found = await answers(recording, history.evidence[0].happened)

    spoke = [each for each in found if each.spoke]
    assert [each.spoke for each in spoke] == ["heuristic", "heuristic"]
    weighed = [each.candidate for each in spoke if each.candidate]
    assert [each.confidence for each in weighed] == [0.642857, 0.736842]
    assert [each.success for each in spoke] == [1.0, 0.0]
    assert [each.similarity for each in weighed] == [1.0, 1.0]
    assert {each.record.session for each in found} == {"first", "second"}


async def test_a_models_calls_are_counted_by_purpose() -> None:
    """Whatever they were for, on the decision they were for."""
    scenario = Scenario(model=MODEL)
    asked = scenario.sense("something new", salience=THREAT)
    scenario.answer_model(asked, "Look up.")
    recording = recording_of_scenario(scenario)

    (found,) = await answers(recording, {})

    assert (found.spoke, dict(found.calls)) == ("llm", {"answer": 1})


async def test_variants_of_an_experiment_are_voices() -> None:
    """Each under its experiment's name."""
    scenario = Scenario()
    dry, kind = Variant(personality="dry"), Variant(personality="kind")
    scenario.control(ExperimentStarted(experiment_id="e", a=dry, b=kind, washout_s=0.0))
    for number in range(12):
        scenario.control(SessionStarted(session_id=f"s{number}"))
        scenario.wait(60).sense(f"case {number}", salience=THREAT)

    found = by_voice(await answers(recording_of_scenario(scenario), {}))

    assert {each.label for each in found} == {"e: a", "e: b"}


async def test_a_rise_is_timed() -> None:
    """From the lesson's birth until it answers by itself, in decisions and hours."""
    found = report([await read(recording_of_scenario(two_sessions()))])

    (rise,) = found.rises
    assert (rise.name, rise.origin) == (RESTS, "seeded")
    assert (rise.began, rise.confidence, rise.threshold) == (0.5, 0.5, 0.6)
    assert rise.decisions == 1
    assert rise.hours == pytest.approx(600 / 3_600)


async def test_what_stays_under_the_threshold_has_not_risen() -> None:
    """It is listed all the same; what began above it is not."""
    low, high = taught(0.3), taught(0.9)
    for scenario in (low, high):
        scenario.decide("health low", salience=THREAT)

    (rise,) = report([await read(recording_of_scenario(low))]).rises
    assert (rise.reached_at, rise.decisions, rise.hours) == (None, None, None)
    assert report([await read(recording_of_scenario(high))]).rises == ()


async def test_calibration_needs_ten_fires() -> None:
    """Of fewer nothing is said; of more it stands beside its null band."""
    scenario = taught(0.9)
    for _ in range(9):
        fire(scenario, "succeeded")
    few = report([await read(recording_of_scenario(scenario))])
    fire(scenario, "failed")
    enough = report([await read(recording_of_scenario(scenario))])

    assert (few.fires, few.calibration) == (9, None)
    assert enough.calibration is not None
    assert enough.calibration.null_band.p95 > 0.0
    assert enough.as_json()["wrong_credits"] == 0


async def test_the_shipped_recording_is_reported() -> None:
    """All figures of it, the same each time."""
    recording = of_file(evening(), "evening")
    found = report([await read(recording)], has_voices=True)

    assert found.total.decisions == sum(each.decisions for each in found.periods) > 200
    assert found.total.by_heuristics == found.total.answers > 0
    assert found.fires > 0
    assert found.credits > 0
    assert found.faults == ()
    assert found.as_json() == report([await read(recording)], has_voices=True).as_json()


async def test_a_difference_names_what_changed() -> None:
    """New, edited or moved, with both ends."""
    first, second = taught(), two_sessions()
    first.decide("health low", salience=THREAT)
    before, after = [
        await learning_history(recording_of_scenario(each)) for each in (first, second)
    ]

    (edited,) = differences(before.ends, after.ends)
    (new,) = differences({}, after.ends)
    (gone,) = differences(after.ends, {})
    (same,) = differences(after.ends, after.ends)

    assert [each.sort for each in (edited, new, gone, same)] == [
        "edited",
        "new",
        "gone",
        "same",
    ]
    assert (new.by, gone.known.name) == (0.0, RESTS)
