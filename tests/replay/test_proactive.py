"""What is said unasked is replayed, compared, listed and explained like any decision."""

import pytest

from echoic.client.decision_json import as_fields
from echoic.explain.explain import explain
from handlers.aids import AidProvider, PackLibrary
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.sessions import start_of
from replay.verify import Span, verify
from schemas.messages.executive import BreakSignalled, ReminderSet, UserStateChanged
from schemas.messages.results import ClockTicked
from schemas.values import ids
from schemas.values.phrases import Phrases
from schemas.values.settings import StrategySpec
from streams.session_files.memory_log import SessionLog
from tests.factories import heuristic, pack, plain_executive
from tests.projections.test_rows import rows
from tests.replay.closed_loop.test_run import run_again
from tests.replay.open_loop.test_asked import replayed
from tests.replay.scenarios import (
    WordsEmbedder,
    file_of_scenario,
    recording_of_scenario,
)
from tests.scenario import Scenario

WORDS = Phrases(
    language="en", patterns={}, replies={}, refusal="No.", check_ins=("All well?",)
)


@pytest.fixture(scope="module", name="day")
def _day() -> Scenario:
    """A reminder at an event's own time, another that waits for a break, and a check-in."""
    scenario = Scenario(
        pack(heuristic("low", "health low", "Drink.", 0.9)),
        executive=plain_executive(timing=True, check_in=True, phrases=(WORDS,)),
    )
    scenario.sense("hello there", source="user", type_="message")
    scenario.control(ReminderSet(text="Tea.", in_s=60.0, reminder_id="tea"))
    scenario.wait(90).sense("health low", salience={"threat": 0.9})
    scenario.control(ReminderSet(text="Oven!", in_s=10.0, reminder_id="oven"))
    scenario.control(UserStateChanged(busy=True))
    scenario.wait(20).tell(ClockTicked(due_at=scenario.at))
    scenario.wait(5).control(BreakSignalled())
    scenario.control(UserStateChanged(busy=False))
    scenario.at = scenario.mind.timers[0].due
    scenario.tell(ClockTicked(due_at=scenario.at))
    scenario.wait(1).sense("nothing much")
    return scenario


def records(day: Scenario) -> list[DecisionRecord]:
    """What was decided, by timers alone."""
    gathered = DecisionRecords(keeps_final=True)
    for turn in day.turns:
        gathered.take(turn.input, turn.outputs)
    return [each for each in gathered.all() if each.decided.timer is not None]


def test_a_record_has_no_event(day: Scenario) -> None:
    """Not even where one came with the same input."""
    tea, oven, asked = records(day)

    assert [each.event for each in (tea, oven, asked)] == [None] * 3
    assert [each.text for each in (tea, oven, asked)] == [
        "(reminder)", "(reminder)", "(check_in)",
    ]  # fmt: skip
    assert [each.said for each in (tea, oven, asked)] == ["Tea.", "Oven!", "All well?"]
    assert tea.is_gated
    assert oven.path == "proactive"


def test_it_is_explained(day: Scenario) -> None:
    """By who wanted it, or why it came by itself."""
    tea, _, asked = records(day)

    assert explain(tea, {}).verdict == (
        "Spoke by itself: somebody asked to be reminded of it."
    )
    assert explain(asked, {}).verdict == (
        "Spoke by itself: somebody was there, and nothing had been said for a while."
    )


def test_its_trace_is_named_after_itself(day: Scenario) -> None:
    """In what programs read, in the delivery, and in the trace itself."""
    for record in records(day):
        own = ids.trace_id(record.id)
        assert as_fields(record)["trace_id"] == own
        assert ids.trace_id(record.decided.event_id) == own


def test_its_rows_tell_of_no_event(day: Scenario) -> None:
    """The event of the same input has its own row."""
    found = {row["event_id"]: row for row in rows(day, "decisions")}

    for record in records(day):
        assert found[record.id]["event_text"] is None
    assert sum(row["event_text"] == "health low" for row in found.values()) == 1


async def test_a_verification_repeats_it(day: Scenario) -> None:
    """Byte for byte."""
    session = file_of_scenario(day)
    log, header = SessionLog(session), session.header
    made = WordsEmbedder()
    found = await verify(
        log,
        Span(header.partition, header.first - 1, header.last, header.agent),
        AidProvider(made, PackLibrary(log, made)),
        start=start_of(session),
        expected_chain=session.trailer.chain,
    )

    assert found.is_identical, found.divergence


@pytest.mark.parametrize("strategy", [None, StrategySpec(name="silent")])
async def test_a_run_of_its_own_says_it_again(
    day: Scenario, strategy: StrategySpec | None
) -> None:
    """Whatever strategy decides on events; each finds the recorded one of its timer."""
    found, _ = await run_again(day, strategy)
    unasked = [each for each in found if each.record.decided.timer is not None]

    assert [each.said for each in unasked] == ["Tea.", "Oven!", "All well?"]
    for each in unasked:
        assert each.recorded is not None
        assert each.recorded.decided.timer == each.record.decided.timer
        assert each.is_recorded_arm
    on_events = [each for each in found if each.record.decided.timer is None]
    assert all(each.recorded and each.recorded.event for each in on_events)


async def test_no_strategy_is_asked_about_it(day: Scenario) -> None:
    """At the logged state there is nothing to choose."""
    asked = await replayed(recording_of_scenario(day))

    assert all(
        each.record.is_gated for each in asked if each.record.decided.timer is not None
    )
