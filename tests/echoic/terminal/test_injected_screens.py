"""Whatever others wrote, screens show it as words: nothing steers the terminal."""

import json
import re
from collections.abc import Iterator

import pytest
from rich.console import RenderableType

from echoic.client.personality import character
from echoic.client.state import AgentSnapshot
from echoic.explain.explain import explain
from echoic.terminal import decisions, explanation, output, personality
from echoic.terminal.screen import Terminal, rendered
from replay.recording.decisions import DecisionRecords
from tests.handlers.mind.injections import TEXTS, attacked
from tests.scenario import Scenario

STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls, apart from the end of a line, and changes of direction."""


def screens(scenario: Scenario) -> Iterator[RenderableType]:
    """Every page and line of the scenario that a person may look at."""
    names = {"h": "a name\x1b[2J", "k": "k"}
    gathered = DecisionRecords(keeps_final=True)
    for turn in scenario.turns:
        gathered.take(turn.input, turn.outputs)
        for each in turn.outputs:
            yield decisions.lesson(each.message, names) or ""
    found = AgentSnapshot(scenario.mind, scenario.state.shared, scenario.state.position)
    yield from decisions.state(found, scenario.agent, names)
    yield from personality.shown(character(found, (), scenario.at))
    for record in gathered.all():
        yield decisions.line(record, names)
        yield from explanation.explained(record, explain(record, names))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_steers_a_terminal(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither on a screen in colour, nor as JSON, nor in what is noted beside results."""
    scenario = attacked(text)

    page = rendered(screens(scenario), Terminal(100, colour=True))
    output.print_json({"text": text, text: [text]})
    output.note(f"nobody is called {text}")
    printed = capsys.readouterr()

    assert not STEERS.search(re.sub(r"\x1b\[[\d;]*m", "", page))
    assert not STEERS.search(printed.out)
    assert json.loads(printed.out) == {"text": text, text: [text]}
    assert not STEERS.search(printed.err)
    assert page.count("SPOKE") >= 3
