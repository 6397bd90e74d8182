"""Experiments read off the log: which ran, what was decided under it, what it came to."""

from evaluation.experiments.switchback import analyse
from evaluation.experiments.trials import Course, course, newest
from replay.recording.in_force import in_force_before
from replay.recording.outcomes import OutcomeSettings
from schemas.messages.controls import (
    ExperimentStarted,
    ExperimentStopped,
    GoalsSet,
    SessionEnded,
    SessionStarted,
)
from schemas.messages.experiments import Variant
from schemas.values.settings import StrategySpec
from streams.session_files.memory_log import SessionLog
from tests.factories import heuristic, pack, pack_loaded, pattern
from tests.life import Life
from tests.replay.lives import file_of_life

SILENT = Variant(strategy=StrategySpec(name="silent"))
SPEAKING = Variant(strategy=StrategySpec(name="heuristic_first"))
GARDEN = pack(
    heuristic("low", "health low", "Drink.", confidence=0.9),
    patterns=[pattern("health low", "health restored", 60)],
)


def started(id_: str = "e1", **changes: object) -> ExperimentStarted:
    """An experiment that sets a heuristic against silence."""
    return ExperimentStarted.model_validate(
        {"experiment_id": id_, "a": SPEAKING, "b": SILENT, "washout_s": 0, **changes}
    )


def log_of(life: Life) -> SessionLog:
    """A life as the log would hold it."""
    return SessionLog(file_of_life(life))


async def went(life: Life) -> Course:
    """The course of the life's newest experiment."""
    log = log_of(life)
    begun = await newest(log, life.agent)
    assert begun is not None
    return await course(log, life.agent, begun, OutcomeSettings())


def in_session(life: Life, id_: str) -> None:
    """A session in which health falls; in a good one it is restored."""
    life.wait(3_600).control(SessionStarted(session_id=id_))
    life.sense("health low")
    life.wait(5).sense("health restored")


async def test_no_experiment_is_none() -> None:
    """An agent that had none has none, and a refused one does not count."""
    life = Life()
    life.control(SessionStarted(session_id="s"))
    life.control(started(a=Variant(strategy=StrategySpec(name="genius"))))

    assert await newest(log_of(life), "ana") is None


async def test_the_newest_experiment_is_found() -> None:
    """Whether it still runs or not; of others nothing is counted."""
    life = Life(relevance=0.0)
    life.control(started("first"))
    life.sense("under the first")
    life.control(ExperimentStopped())
    life.control(started("second", title="again"))
    life.control(started("refused"))
    life.sense("under the second")
    found = await went(life)

    assert found.begun.message.title == "again"
    assert len(found.trials) == 1
    assert found.stopped_at is None


async def test_each_decision_has_its_outcome() -> None:
    """By the patterns of the pack in force, and silence by its own value."""
    life = Life(GARDEN, relevance=0.0)
    life.control(started())
    for place in range(8):
        in_session(life, f"s{place}")
    life.control(SessionEnded())
    found = await went(life)
    fell = [each for each in found.trials if each.value == 1.0]
    shown = analyse(found.trials, found.open_unit)

    assert {each.unit for each in found.trials} == {f"s{place}" for place in range(8)}
    assert {each.unit for each in fell} == {f"s{place}" for place in range(8)}
    assert shown.a.counted + shown.b.counted == 8
    assert shown.unfinished == 0


async def test_votes_count() -> None:
    """A person's judgement is what a decision came to, where the world shows nothing."""
    life = Life(GARDEN, relevance=0.0)
    life.control(started(b=SPEAKING))
    life.feedback(life.sense("health low"), "negative")
    found = await went(life)

    assert [each.value for each in found.trials] == [0.0]


async def test_a_pack_that_is_loaded_meanwhile_counts() -> None:
    """What it expects is waited for from there."""
    life = Life(relevance=0.0)
    life.blobs[GARDEN.digest] = GARDEN
    life.control(started(b=SPEAKING))
    life.sense("health low")
    life.control(pack_loaded(GARDEN))
    life.sense("health low now")
    found = await went(life)

    assert [each.is_waiting for each in found.trials] == [False, True]


async def test_a_session_is_open_until_it_ends() -> None:
    """By its own end, by the next one, or by the end of the experiment."""
    life = Life(relevance=0.0)
    life.control(started())
    life.control(SessionStarted(session_id="s"))
    life.sense("something")

    assert (await went(life)).open_unit == "s"
    life.control(SessionEnded())
    assert (await went(life)).open_unit is None
    life.control(SessionStarted(session_id="t"))
    life.sense("something else")
    life.control(ExperimentStopped())
    life.sense("after it")
    over = await went(life)
    assert over.open_unit is None
    assert over.stopped_at is not None
    assert len(over.trials) == 2


async def test_a_gate_and_a_washout_are_told_apart() -> None:
    """Who did not decide is not judged, and who came too soon is left out."""
    life = Life(relevance=0.0)
    life.control(started(washout_s=60))
    for place in range(12):
        life.control(SessionStarted(session_id=f"s{place}"))
        life.sense(f"word{place}")
        life.sense(f"note{place}", intent="informational")
    found = await went(life)

    assert sum(each.was_asked for each in found.trials) == 12
    assert any(each.is_washout for each in found.trials)
    assert {each.probability for each in found.trials} == {0.5}


async def test_what_was_in_force_is_read_off_the_controls() -> None:
    """Before a place, or at the end; only what was applied counts."""
    life = Life(GARDEN, threshold=0.4)
    goals = life.control(GoalsSet(goals=("Explore",)))
    life.control(started(a=Variant(strategy=StrategySpec(name="genius"))))
    log = log_of(life)
    before = await in_force_before(log, life.agent, goals.input.sequence)
    at_the_end = await in_force_before(log, life.agent)
    in_the_beginning = await in_force_before(log, life.agent, 1)

    assert (before.settings.threshold, before.goals) == (0.4, ())
    assert [each.pack.name for each in before.packs] == ["garden"]
    assert at_the_end.goals == ("Explore",)
    assert at_the_end.agent.experiment is None
    assert in_the_beginning.shared.settings is None
