"""A restart of an autonomous character: memory, routines and retries are as they were."""

from collections.abc import Callable, Sequence

import pytest

from handlers.mind.turn import Turn
from schemas.codec import checkpoint
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from tests.handlers.mind.characters.autonomous.cafe import (
    answer,
    body,
    clever,
    due,
    known,
    report,
)
from tests.scenario import Scenario, one, said

Step = Callable[[Scenario], object]


def chooses(action: str) -> Step:
    """Let the model choose what it was asked for last."""
    return lambda scenario: answer(scenario, last_asked(scenario), action)


def ends(outcome: str) -> Step:
    """Let the world report how the latest action ended."""

    def step(scenario: Scenario) -> object:
        (*_, act) = known(scenario).acts
        return report(scenario, act.decision_id, outcome, "No way.")

    return step


def last_asked(scenario: Scenario) -> Turn:
    """The latest turn that asks the model."""
    return next(each for each in reversed(scenario.turns) if said(each, ModelAsked))


DAY: Sequence[Step] = (
    body,
    due, chooses("Lean"), ends("succeeded"),
    due, chooses("Wave"), ends("succeeded"),
    due, chooses("SitAtChair"), ends("failed"),
    # Decided on anew at once, and then by chance; no third time.
    chooses("Lean"), ends("failed"), ends("failed"),
    due, chooses("Lean"), ends("succeeded"),
)  # fmt: skip


def restarted(scenario: Scenario) -> Scenario:
    """The same character in another process, which has nothing but the checkpoint."""
    state = checkpoint.load(checkpoint.dump(scenario.state))
    again = Scenario(agent="golem", state=state)
    again.blobs, again.at = scenario.blobs, scenario.at
    again._sequence, again._ids = scenario._sequence, scenario._ids
    again.turns = list(scenario.turns)
    return again


def lived(restart_after: int | None) -> Scenario:
    """Its day, with a restart behind a step."""
    scenario = clever(tier=2, routines={"explored": 0})
    for number, step in enumerate(DAY):
        step(scenario)
        if number == restart_after:
            scenario = restarted(scenario)
    return scenario


@pytest.fixture(scope="module")
def day() -> Scenario:
    """Its day without a restart."""
    return lived(None)


@pytest.mark.parametrize("step", range(len(DAY)))
def test_a_restart_changes_nothing_that_follows(day: Scenario, step: int) -> None:
    """Wherever it lies, every later output has the same bytes, and the state is the same."""
    again = lived(step)

    outputs = [
        [[each.record.body for each in turn.outputs] for turn in scenario.turns]
        for scenario in (day, again)
    ]
    assert outputs[0] == outputs[1]
    assert checkpoint.dump(again.state) == checkpoint.dump(day.state)


def test_the_one_retry_is_not_given_twice() -> None:
    """Between the failure and the next: the model is not asked a second time about it."""
    scenario = clever(tier=2)
    # Up to the second failure in a row.
    for step in DAY[:12]:
        step(scenario)
        scenario = restarted(scenario)
    assert known(scenario).retries == 2
    latest = scenario.turns[-1]
    assert said(latest, ModelAsked) == []
    assert one(latest, Decided).arm.startswith("random:")
    assert [act.outcome for act in known(scenario).acts][:4] == [
        "succeeded", "succeeded", "failed", "failed"
    ]  # fmt: skip
    assert known(scenario).routines
