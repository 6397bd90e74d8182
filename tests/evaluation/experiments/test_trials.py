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
from tests.replay.scenarios import file_of_scenario
from tests.scenario import Scenario

SILENT = Variant(strategy=StrategySpec(name="silent"))
SPEAKING = Variant(strategy=StrategySpec(name="heuristic_first"))
GARDEN = pack(
    heuristic("low", "health low", "Drink.", confidence=0.9),
    patterns=[pattern("health low", "health restored", 60)],
)


def started(id_: str = "e1", **changes: object) -> ExperimentStarted:
    """An experiment that sets a heuristic against silence."""
    return ExperimentStarted.from_fields(
        {"experiment_id": id_, "a": SPEAKING, "b": SILENT, "washout_s": 0, **changes}
    )


def log_of(scenario: Scenario) -> SessionLog:
    """A scenario as the log would hold it."""
    return SessionLog(file_of_scenario(scenario))


async def went(scenario: Scenario) -> Course:
    """The course of the scenario's newest experiment."""
    log = log_of(scenario)
    begun = await newest(log, scenario.agent)
    assert begun is not None
    return await course(log, scenario.agent, begun, OutcomeSettings())


def in_session(scenario: Scenario, id_: str) -> None:
    """A session in which health falls; in a good one it is restored."""
    scenario.wait(3_600).control(SessionStarted(session_id=id_))
    scenario.sense("health low")
    scenario.wait(5).sense("health restored")


async def test_no_experiment_is_none() -> None:
    """An agent that had none has none, and a refused one does not count."""
    scenario = Scenario()
    scenario.control(SessionStarted(session_id="s"))
    scenario.control(started(a=Variant(strategy=StrategySpec(name="genius"))))

    assert await newest(log_of(scenario), "ana") is None


async def test_the_newest_experiment_is_found() -> None:
    """Whether it still runs or not; of others nothing is counted."""
    scenario = Scenario(relevance=0.0)
    scenario.control(started("first"))
    scenario.sense("under the first")
    scenario.control(ExperimentStopped())
    scenario.control(started("second", title="again"))
    scenario.control(started("refused"))
    scenario.sense("under the second")
    found = await went(scenario)

    assert found.begun.message.title == "again"
    assert len(found.trials) == 1
    assert found.stopped_at is None


async def test_each_decision_has_its_outcome() -> None:
    """By the patterns of the pack in force, and silence by its own value."""
    scenario = Scenario(GARDEN, relevance=0.0)
    scenario.control(started())
    for place in range(8):
        in_session(scenario, f"s{place}")
    scenario.control(SessionEnded())
    found = await went(scenario)
    fell = [each for each in found.trials if each.value == 1.0]
    shown = analyse(found.trials, found.open_unit)

    assert {each.unit for each in found.trials} == {f"s{place}" for place in range(8)}
    assert {each.unit for each in fell} == {f"s{place}" for place in range(8)}
    assert shown.a.counted + shown.b.counted == 8
    assert shown.unfinished == 0


async def test_votes_count() -> None:
    """A person's judgement is what a decision came to, where the world shows nothing."""
    scenario = Scenario(GARDEN, relevance=0.0)
    scenario.control(started(b=SPEAKING))
    scenario.feedback(scenario.sense("health low"), "negative")
    found = await went(scenario)

    assert [each.value for each in found.trials] == [0.0]


async def test_a_pack_that_is_loaded_meanwhile_counts() -> None:
    """What it expects is waited for from there."""
    scenario = Scenario(relevance=0.0)
    scenario.blobs[GARDEN.digest] = GARDEN
    scenario.control(started(b=SPEAKING))
    scenario.sense("health low")
    scenario.control(pack_loaded(GARDEN))
    scenario.sense("health low now")
    found = await went(scenario)

    assert [each.is_waiting for each in found.trials] == [False, True]


async def test_a_session_is_open_until_it_ends() -> None:
    """By its own end, by the next one, or by the end of the experiment."""
    scenario = Scenario(relevance=0.0)
    scenario.control(started())
    scenario.control(SessionStarted(session_id="s"))
    scenario.sense("something")

    assert (await went(scenario)).open_unit == "s"
    scenario.control(SessionEnded())
    assert (await went(scenario)).open_unit is None
    scenario.control(SessionStarted(session_id="t"))
    scenario.sense("something else")
    scenario.control(ExperimentStopped())
    scenario.sense("after it")
    over = await went(scenario)
    assert over.open_unit is None
    assert over.stopped_at is not None
    assert len(over.trials) == 2


async def test_a_gate_and_a_washout_are_told_apart() -> None:
    """Who did not decide is not judged, and who came too soon is left out."""
    scenario = Scenario(relevance=0.0)
    scenario.control(started(washout_s=60))
    for place in range(12):
        scenario.control(SessionStarted(session_id=f"s{place}"))
        scenario.sense(f"word{place}")
        scenario.sense(f"note{place}", intent="informational")
    found = await went(scenario)

    assert sum(each.was_asked for each in found.trials) == 12
    assert any(each.is_washout for each in found.trials)
    assert {each.probability for each in found.trials} == {0.5}


async def test_what_was_in_force_is_read_off_the_controls() -> None:
    """Before a place, or at the end; only what was applied counts."""
    scenario = Scenario(GARDEN, threshold=0.4)
    goals = scenario.control(GoalsSet(goals=("Explore",)))
    scenario.control(started(a=Variant(strategy=StrategySpec(name="genius"))))
    log = log_of(scenario)
    before = await in_force_before(log, scenario.agent, goals.input.sequence)
    at_the_end = await in_force_before(log, scenario.agent)
    in_the_beginning = await in_force_before(log, scenario.agent, 1)

    assert (before.settings.threshold, before.goals) == (0.4, ())
    assert [each.pack.name for each in before.packs] == ["garden"]
    assert at_the_end.goals == ("Explore",)
    assert at_the_end.agent.experiment is None
    assert in_the_beginning.shared.settings is None
