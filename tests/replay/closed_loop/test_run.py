"""Closed loop: a strategy runs over a recording with its own consequences."""

from pathlib import Path
from typing import Any

import pytest

from handlers.aids import AidProvider, PackLibrary
from replay.cassette import ModelMiss
from replay.closed_loop.decision import ClosedLoopDecision
from replay.closed_loop.run import Answers, ClosedLoopRun
from replay.closed_loop.simulation import Ending
from replay.recording.in_force import Contender
from replay.recording.source import Recording, of_file
from schemas.messages.asks import RecallAsked
from schemas.messages.results import Recalled, RecallFailed
from schemas.values.model_settings import ModelSettings
from schemas.values.settings import StrategySpec
from schemas.values.vectors import Embedder
from streams.session_files.file import read_session
from tests.factories import heuristic, pack, pattern
from tests.minds import the_embedder
from tests.replay.evening import evening
from tests.replay.open_loop.test_asked import replayed
from tests.replay.scenarios import (
    WordsEmbedder,
    everything,
    recording_of,
    recording_of_scenario,
)
from tests.scenario import Scenario, decision_id, output

STRICT = Answers(mode="strict")


THREAT = {"threat": 0.9}
GARDEN = pack(
    heuristic("low", "health low", "Drink."),
    heuristic("hit", "zombie hits", "Run.", confidence=0.5),
    patterns=[pattern("health", "health restored"), pattern("zombie", "zombie gone")],
)
EAGER = StrategySpec(parameters={"threshold": 0.4})
SHY = StrategySpec(parameters={"threshold": 0.9})
MODEL = ModelSettings(name="test/model")


async def run_over(
    recording: Recording,
    strategy: Contender,
    *,
    answers: Answers | None = None,
    since: int | None = None,
    embedder: Embedder | None = None,
) -> tuple[list[ClosedLoopDecision], Ending]:
    made = embedder or the_embedder()
    bringer = AidProvider(made, PackLibrary(recording.log, made))
    run = ClosedLoopRun(recording, strategy, bringer, answers=answers, since=since)
    return [each async for each in run.decisions()], run.ending


async def run_again(
    scenario: Scenario, strategy: Contender, **how: Any
) -> tuple[list[ClosedLoopDecision], Ending]:
    """Run a strategy over a scenario that a test made."""
    recording = recording_of_scenario(scenario)
    return await run_over(recording, strategy, embedder=WordsEmbedder(), **how)


async def test_a_character_by_its_own_strategy_repeats_its_day():
    """Each thought is that of its time, so what the world reported on it carries over."""
    file = Path("packs/golem/recording/cafe.echoic")
    decisions, ending = await run_over(of_file(read_session(file), "cafe"), None)

    assert all(
        each.recorded is not None
        and each.record.decided.arm == each.recorded.decided.arm
        for each in decisions
    )
    assert ending.hits > 200
    assert ending.misses == 0


@pytest.mark.parametrize("name", ["everything", "evening"])
async def test_the_own_strategy_repeats_the_recording(name):
    """A run by the recorded strategy takes every arm and says every word again."""
    recording = (
        recording_of(everything())
        if name == "everything"
        else of_file(evening(), "evening")
    )
    found, ending = await run_over(recording, None, answers=STRICT)
    recorded = await replayed(recording)

    for own, logged in zip(found, recorded, strict=True):
        ours, past = own.record, logged.record
        assert own.recorded is not None
        assert own.recorded.id == past.id
        assert ours.decided.arm == past.decided.arm
        assert (ours.decided.path, ours.path) == (past.decided.path, past.path)
        assert (own.said, ours.silence) == (past.said, past.silence), past
        assert own.is_recorded_arm
        assert not own.is_unknown
    assert ending.misses == 0
    assert set(ending.left_out) <= {"ClockTicked", "ModelAnswered", "ModelFailed"}


def curve(ending: Ending, row: int) -> list[float]:
    """The confidence of one of the garden's heuristics at each change."""
    key = GARDEN.ids[row], GARDEN.content_hashes[row]
    return [confidence for _, confidence in ending.curves.get(key, ())]


async def test_votes_count_where_the_arm_is_the_same():
    """A vote goes to the own decision on the same event, if that said the same words."""
    scenario = Scenario(GARDEN)
    advised = scenario.sense("health low", salience=THREAT)
    scenario.feedback(advised, "negative")
    believed = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0]).confidence

    same, ending = await run_again(scenario, EAGER)
    other, without = await run_again(scenario, SHY)

    assert [each.is_recorded_arm for each in same] == [True]
    assert curve(ending, 0) == [believed]
    assert ending.left_out == {}
    assert ending.rapport["user"] < 0.5
    assert [each.is_recorded_arm for each in other] == [False]
    assert (curve(without, 0), dict(without.rapport)) == ([], {})
    assert without.left_out == {"FeedbackGiven": 1}


async def test_reports_count_where_the_arm_is_the_same():
    """What is told of advice that was never given teaches nothing."""
    scenario = Scenario(GARDEN)
    advised = scenario.sense("health low", salience=THREAT)
    scenario.sense("done", in_reply_to=decision_id(advised), outcome="failed")
    event = {"source": "game", "event_id": "zombie-1"}
    scenario.sense("zombie hits", salience=THREAT, id_="zombie-1")
    scenario.sense("gone", in_reply_to=event, outcome="succeeded")

    eager, ending = await run_again(scenario, EAGER)
    _, shy = await run_again(scenario, SHY)

    assert [each.record.path for each in eager[::2]] == ["heuristic", "heuristic"]
    assert curve(ending, 0) == [
        scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0]).confidence
    ]
    assert curve(ending, 1) == curve(shy, 0) == curve(shy, 1) == []


async def test_patterns_count_where_the_arm_is_the_same():
    """The world shows how given advice turned out, never how other advice would have."""
    scenario = Scenario(GARDEN)
    scenario.sense("health low", salience=THREAT)
    scenario.sense("health restored")
    scenario.sense("zombie hits", salience=THREAT)
    scenario.sense("zombie gone")

    _, ending = await run_again(scenario, EAGER)

    assert len(curve(ending, 0)) == 1
    assert curve(ending, 1) == []


async def test_own_consequences_come_back():
    """What a strategy learnt earlier decides what it does later."""
    scenario = Scenario(GARDEN)
    for turn in range(6):
        advised = scenario.sense("health low", salience=THREAT, id_=f"low-{turn}")
        scenario.feedback(advised, "negative")
        scenario.wait(300)

    recorded, _ = await run_again(scenario, None)
    eager, ending = await run_again(scenario, EAGER)

    silent_from = [each.record.path for each in recorded].index("rejected")
    assert [each.record.path for each in eager][: silent_from + 1] == ["heuristic"] * (
        silent_from + 1
    )
    # Nobody voted on what only the eager one said.
    assert len(curve(ending, 0)) == silent_from


async def test_a_run_may_begin_later():
    """Before the fork all is as it was recorded, and what was said then still counts."""
    scenario = Scenario(GARDEN)
    first = scenario.sense("health low", salience=THREAT)
    scenario.wait(300)
    second = scenario.sense("health low", salience=THREAT)
    scenario.feedback(first, "negative")
    scenario.feedback(second, "negative")

    found, ending = await run_again(scenario, SHY, since=second.input.sequence)

    assert [each.record.sequence for each in found] == [second.input.sequence]
    assert found[0].record.path == "rejected"
    assert len(curve(ending, 0)) == 1
    assert ending.left_out == {"FeedbackGiven": 1}


async def test_a_missing_answer_fails_where_none_may_be_missing():
    """Strictly, a request that was never made stops the scenario and shows the nearest one."""
    scenario = Scenario(GARDEN, model=MODEL)
    asked = scenario.sense("something new", salience=THREAT)
    scenario.wait(0.25).answer_model(asked, "Look around.")
    scenario.sense("health low", salience=THREAT)
    always = StrategySpec(name="always_llm")

    with pytest.raises(ModelMiss, match=r"(?s)health low.*nearest.*something new"):
        await run_again(scenario, always, answers=STRICT)


async def test_a_missing_answer_is_unknown():
    """Otherwise its words are unknown, and what it takes is what is usual."""
    scenario = Scenario(GARDEN, model=MODEL)
    for number, waits in enumerate((0.2, 0.4, 0.9)):
        asked = scenario.sense("something new", salience=THREAT, id_=f"new-{number}")
        scenario.wait(waits).answer_model(asked, "Look around.")
        scenario.wait(300)
    scenario.sense("health low", salience=THREAT)
    always = StrategySpec(name="always_llm")

    found, ending = await run_again(scenario, always)

    assert [each.said for each in found] == ["Look around."] * 3 + [None]
    assert [each.is_unknown for each in found] == [False] * 3 + [True]
    assert [each.takes[0].source for each in found] == ["recorded"] * 3 + ["imputed"]
    known, unknown = found[0].latency_ms, found[-1].latency_ms
    assert known is not None
    assert (known.low, known.high) == (200.0, 200.0)
    assert unknown is not None
    assert (unknown.low, unknown.middle, unknown.high) == (200.0, 400.0, 900.0)
    assert (ending.hits, ending.misses) == (3, 1)


async def test_a_stub_leaves_a_watermark():
    """Words that nobody said are marked from all others."""
    scenario = Scenario(GARDEN, model=MODEL)
    scenario.sense("something new", salience=THREAT)
    stub = Answers(mode="stub", stub="So it is.")

    found, ending = await run_again(scenario, None, answers=stub)

    assert [each.said for each in found] == ["So it is."]
    assert ending.watermark == "stub: models say 'So it is.'"


async def test_a_failure_is_a_failure_again():
    """A model that failed then fails again, and one that never answered never does."""
    scenario = Scenario(GARDEN, model=MODEL)
    failed = scenario.sense("something new", salience=THREAT)
    scenario.wait(0.5).fail_model(failed, "declined")
    scenario.sense("something else", salience=THREAT)

    found, ending = await run_again(scenario, None, answers=STRICT)

    assert [each.record.silence for each in found] == ["llm_declined", None]
    assert [each.said for each in found] == [None, None]
    assert (ending.hits, ending.misses) == (2, 0)


async def test_timers_run_by_the_recorded_clock():
    """A race is lost or won by the time that the model took then, to the millisecond."""
    chance = {"opportunity": 0.9, "actionability": 0.9, "goal_relevance": 0.9}
    scenario = Scenario(GARDEN, model=MODEL, strategy=StrategySpec(name="hybrid"))
    asked = scenario.sense("health low", salience=chance, urgency=0.0)
    scenario.wait(0.25).answer_model(asked, "Drink some water.")
    scenario.wait(300).sense("health low", salience=chance, urgency=0.0)
    hasty = StrategySpec(name="hybrid", parameters={"deadline_ms": 100})

    same, _ = await run_again(scenario, None, answers=STRICT)
    other, _ = await run_again(scenario, hasty)

    assert same[0].said == "Drink some water."
    assert same[0].record.winner is not None
    assert same[0].record.winner.startswith("llm:")
    assert other[0].said == "Drink."
    assert (
        other[0].record.winner
        == f"heuristic:{GARDEN.ids[0]}@{GARDEN.content_hashes[0]}"
    )
    assert other[0].latency_ms is not None
    assert other[0].latency_ms.middle == 100.0


def remembering() -> Scenario:
    """A scenario whose model is told of what is like the event: once of nothing."""
    scenario = Scenario(
        GARDEN,
        relevance=0.0,
        model=MODEL,
        executive={"prompt_tokens": 500, "recall": True},
    )
    asked = scenario.sense("the red key is lost", source="user", type_="message")
    away = RecallFailed(ask_id=output(asked, RecallAsked).id, reason="unavailable")
    scenario.answer_model(scenario.wait(0.01).tell(away), "In the drawer.")
    asked = scenario.wait(60).sense("where is the red key", person="ada")
    found = Recalled(
        ask_id=output(asked, RecallAsked).id, ids=("d",), texts=("a drawer",), as_of=2
    )
    told = scenario.wait(0.02).tell(found)
    scenario.wait(1).answer_model(told, "In the drawer, I said.")
    scenario.wait(60).sense("health low red key")
    return scenario


async def test_what_was_recalled_is_recalled_again():
    """To the byte, so that the recorded answers of models are found."""
    found, ending = await run_again(remembering(), None, answers=STRICT)

    assert [each.said for each in found] == [
        "In the drawer.", "In the drawer, I said.", "Drink.",
    ]  # fmt: skip
    assert ending.misses == 0
    assert not any(each.is_memory_estimated for each in found)


async def test_what_was_not_recalled_is_estimated():
    """By a scan of what the recording holds, and marked; nothing of others is told."""
    found, ending = await run_again(remembering(), SHY)

    *recorded, new = found
    assert [each.is_memory_estimated for each in recorded] == [False, False]
    assert new.is_memory_estimated
    assert new.is_imputed
    assert ending.misses == 1
    told = new.record.ask
    assert told is not None
    assert "the red key is lost | you said: In the drawer." in told.prompt
    assert "ada" not in told.prompt
