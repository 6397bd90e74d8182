"""The probe hears the stages of a decision, and has no part in it."""

from functools import partial
from typing import Any

import pytest

from handlers.mind import turn as turns
from schemas.codec import checkpoint
from schemas.ports.probe import Probe, Stage
from tests import factories
from tests.factories import heuristic, pack
from tests.handlers.mind.fixed_scenario import played
from tests.scenario import Scenario

WHOLE: list[Stage] = [
    "outcomes",
    "salience",
    "gate",
    "consult",
    "match",
    "choose",
    "messages",
]
ANSWER = turns.answer
GARDEN = pack(heuristic("dusk", "dusk falls", "Sleep.", confidence=0.9))


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Stage]:
    """The stages that the mind enters from here on."""
    stages: list[Stage] = []
    probe_all(monkeypatch, stages.append)
    return stages


def probe_all(monkeypatch: pytest.MonkeyPatch, probe: Probe) -> None:
    """Have every input answered with a probe."""
    monkeypatch.setattr(turns, "answer", partial(ANSWER, probe=probe))


@pytest.mark.parametrize("text", ["dusk falls", "a stranger at the gate"])
def test_stages_are_entered_in_order(heard: list[Stage], text: str) -> None:
    """A heuristic's answer and one for which a model is asked pass all of them."""
    scenario = Scenario(GARDEN, model=factories.MODEL)
    scenario.sense(text, salience={"threat": 0.9})

    # Twice: the invariants have each input answered once more.
    assert heard == WHOLE * 2


def test_what_a_gate_stops_is_not_matched(heard: list[Stage]) -> None:
    """Silence at a gate goes on to the messages at once."""
    Scenario(GARDEN).sense("rain", intent="informational")

    assert heard == ["outcomes", "salience", "gate", "messages"] * 2


def silly(_: Stage) -> Any:
    """Return something all the same."""
    return "choose silence"


def failing(_: Stage) -> None:
    """Fail at every stage."""
    raise ValueError("the clock is broken")


def leaving(_: Stage) -> None:
    """Try to end the process."""
    raise SystemExit


def test_no_probe_changes_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario of every sort of input has the same bytes and states under any probe."""
    plain = played()
    for probe in (silly, failing, leaving):
        probe_all(monkeypatch, probe)
        same = played()

        assert [each.record for turn in same.turns for each in turn.outputs] == [
            each.record for turn in plain.turns for each in turn.outputs
        ]
        assert checkpoint.dump(same.state) == checkpoint.dump(plain.state)
