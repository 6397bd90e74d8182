"""One line a decision: the same columns for whatever was decided."""

import re
import time
from typing import Any

import pytest
from rich.cells import cell_len

from echoic.client.decision_json import as_fields
from echoic.client.decision_trace import ShownSpan
from echoic.explain.explain import explain
from echoic.terminal.decision_trace import traced
from echoic.terminal.decisions import answered, heading, line, unsaid
from echoic.terminal.explanation import explained
from echoic.terminal.output import show_list
from echoic.terminal.screen import (
    PLAIN,
    Terminal,
    bar,
    counted,
    cut,
    figure,
    number,
    rendered,
    table,
    text,
    words,
)
from echoic.tracing.spans import SpanData, SpanEvent
from replay.recording.decisions import DecisionRecords
from schemas.messages.decisions import Decided
from tests.echoic.samples import (
    NAMES,
    WARN,
    decided,
    group,
    race_won,
    racing,
    rejected,
    sensed,
)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def told(message: Decided, terminal: Terminal = PLAIN) -> str:
    """The line of one decision."""
    taken = sensed()
    (record,) = DecisionRecords().take(taken, group(taken, [message]))
    return rendered([line(record, NAMES, terminal)], terminal)


@pytest.mark.parametrize(
    ("path", "final", "words"),
    [
        ("proactive", False, "waits …"),
        ("heuristic", False, "waits …"),
        ("llm", False, "asks the model …"),
        ("none", True, "silent: quiet"),
    ],
)
def test_what_is_not_said_or_not_yet_has_words(
    path: Any, final: bool, words: str
) -> None:
    """A reminder that waits is no silence without a reason."""
    silence = "quiet" if final else None
    message = decided(path=path, final=final, silence=silence)
    taken = sensed()
    (record,) = DecisionRecords().take(taken, group(taken, [message]))

    assert unsaid(record) == words


def test_a_line_of_speech() -> None:
    """Who spoke, how much the heuristic is trusted, and the words."""
    text = told(decided())

    assert text.startswith("12:00:03 game      Creeper 6 m behind you")
    assert "▇▇▇▇▇▅▁▁ .72 S1 creeper-warn .82 “Behind you!”" in text
    assert re.search(r" {3,}11 ms [0-9a-f]{8}$", text)


def test_a_line_of_a_race_names_its_winner() -> None:
    """With the heuristic's confidence where it won, and else the model's name."""
    taken, ledger = sensed(), DecisionRecords()
    (opened,) = ledger.take(taken, group(taken, [racing()]))
    end = group(taken, [race_won("heuristic", opened.id)], late_s=0.411)
    (won,) = ledger.take(taken, end)

    assert "asks the model" in rendered([line(opened, NAMES)])
    assert "S1 creeper-warn .82 “Behind you!”" in rendered([line(won, NAMES)])
    assert as_fields(won)["winner"] == won.winner == f"heuristic:{WARN}@cafe"


def test_a_line_of_silence() -> None:
    """Silence stands where the words would, with its reason."""
    assert " -  silent: llm_unavailable " in told(rejected())


@pytest.mark.parametrize("colour", [True, False])
def test_words_that_are_cut_off_follow_in_whole(colour: bool) -> None:
    """An answer to a question is there to be read; one that fits is not repeated."""
    long, terminal = "Behind you! " * 20, Terminal(140, colour)

    def shown(message: Decided) -> str:
        taken = sensed()
        (record,) = DecisionRecords().take(taken, group(taken, [message]))
        return rendered(list(answered(record, NAMES, terminal)), terminal)

    assert long.strip() in " ".join(shown(decided(text=long)).split())
    assert shown(decided()).count("Behind you!") == 1


@pytest.mark.parametrize("width", [64, 80, 109, 110, 140])
def test_a_line_fits_its_terminal(width: int) -> None:
    """However long the words are, a line and its heading keep to the width."""
    message = decided(text="Behind you! " * 40)

    terminal = Terminal(width)
    shown = told(message, terminal)

    assert "\n" not in shown
    assert len(shown) <= width
    assert "“Beh" in shown
    head = rendered([heading(terminal)], terminal)
    assert head.index("id") == len(shown) - 8


def test_colour_changes_no_word() -> None:
    """Without the codes of colours the text is the plain one."""
    coloured = told(decided(), Terminal(colour=True))

    assert re.sub(r"\x1b\[\d+m", "", coloured) == told(decided())


@pytest.mark.parametrize("name", ["bold", "dim", "red", "green", "yellow", "cyan"])
def test_whatever_screens_paint_has_its_code(name: str) -> None:
    """Every colour that some screen asks for."""
    painted = rendered([text(("?", name))], Terminal(colour=True))
    assert painted.endswith("m?\x1b[0m")


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_grid_keeps_to_its_width(width: int) -> None:
    """Text is cut or wrapped, numbers are whole, and nothing is taken for markup."""
    rows = [["[red]暖炉[/red] " * 9, 1_234, "said so " * 12]]
    shown = table((cut("event"), number("count"), words("why")), rows)
    lines = rendered([shown], Terminal(width)).split("\n")

    assert max(map(cell_len, lines)) <= width
    assert "1234" in lines[1]
    assert lines[1].startswith("[red]")
    assert "…" in lines[1]


@pytest.mark.parametrize(
    ("value", "cells"),
    [(0.0, "▁▁▁▁▁▁▁▁"), (0.5, "▇▇▇▇▁▁▁▁"), (1.0, "▇▇▇▇▇▇▇▇"), (2.0, "▇▇▇▇▇▇▇▇")],
)
def test_a_bar_fills_from_the_left(value: float, cells: str) -> None:
    """A bar is always as wide, and full at 1."""
    assert bar(value) == cells


def test_figures_are_short() -> None:
    """Numbers from 0 to 1 take three columns at most."""
    assert [figure(value) for value in (0.0, 0.824, 1.0)] == [".00", ".82", "1.0"]


def test_what_to_do_next_ends_the_page() -> None:
    """After what was nearly alike; a command stands alone on its line, to be copied."""
    taken = sensed()
    message = decided(path="none", silence="below_relevance", text=None)
    (record,) = DecisionRecords().take(taken, group(taken, [message]))
    why = "perhaps not traced: few are; make it: echoic trace send --session game"

    page = explained(record, explain(record, NAMES), "", why, "Not alike enough: oven.")
    *_, near, to_try, trace, untraced, make = rendered(page).splitlines()

    assert near == "Not alike enough: oven."
    assert to_try.startswith("Try: ")
    assert trace.startswith("trace ")
    assert untraced == "perhaps not traced: few are"
    assert make == "make it: echoic trace send --session game"


def test_a_moment_of_a_trace_has_its_time() -> None:
    """And a count its noun; where the log knows no time, none is shown."""
    chat = SpanData(
        trace_id="a" * 32,
        span_id="b" * 16,
        parent=None,
        name="chat double",
        kind="client",
        start_ns=0,
        end_ns=800_000_000,
        attributes={"gen_ai.usage.output_tokens": 27},
        events=(SpanEvent("first part", 250_000_000),),
    )

    for is_timed, when in ((True, " 250.0 ms"), (False, "")):
        shown = traced([ShownSpan(chat, 0, is_timed)], "link", is_measured=True)
        _, call, first, *_ = rendered(shown).splitlines()
        assert call.endswith("27 tokens")
        assert re.fullmatch(rf"  - first part *{when}", first.rstrip())


def test_text_is_put_on_one_line() -> None:
    """Line breaks of an event never break the table."""
    assert str(text("a\n  b")) == "a b"


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x9b31m", "\x07", "\u202e"])
def test_no_text_commands_the_terminal(evil: str) -> None:
    """What sensors and models say is shown, and never obeyed."""
    taken = sensed(text=f"before{evil}after")
    message = decided(text=f"said{evil}so")
    (record,) = DecisionRecords().take(taken, group(taken, [message]))

    wide = Terminal(200)
    page = explained(record, explain(record, NAMES))
    shown = rendered([line(record, NAMES, wide), *page], wide)

    assert evil[0] not in shown
    assert f"before{evil!r}after".replace("'", "") in shown


@pytest.mark.parametrize(
    "text", ["short", "日本語の長いイベントの文です", "fire 🔥🔥🔥 alarm"]
)
@pytest.mark.parametrize("width", [9, 14, 25])
def test_wide_characters_keep_their_columns(text: str, width: int) -> None:
    """A character that takes two columns counts as two, cut or filled up."""
    row = table((cut("event"), ""), [(text, "|"), ("x" * width, "|")])
    lines = rendered([row], Terminal(width)).split("\n")[1:]

    assert [cell_len(line) for line in lines] == [width, width]
    assert all(line.endswith("|") for line in lines)


def test_a_table_keeps_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands in a cell, the next column begins in one place."""
    show_list(table(("what", "is"), [["暖炉", "on"], ["oven", "off"]]))

    lines = capsys.readouterr().out.splitlines()
    assert [cell_len(line[: line.rindex(" ")]) for line in lines] == [5, 5, 5]


def test_one_is_not_many() -> None:
    """What is counted stands in the right number."""
    assert [counted(1, "fire"), counted(2, "fire")] == ["1 fire", "2 fires"]
    assert counted(1_000, "success", "successes") == "1,000 successes"
