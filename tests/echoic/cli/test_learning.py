"""Seeing what was learnt, from the command line: on files and on a running instance."""

import re
from pathlib import Path

import pytest

from streams.session_files.file import write_session
from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.evaluation.learning.schooling import RESTS, taught, two_sessions
from tests.replay.scenarios import file_of_scenario

EVENING = str(SURVIVAL / "recording" / "evening.echoic")


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a scenario in which a lesson rises and falls."""
    file = tmp_path_factory.mktemp("school") / "school.echoic"
    write_session(file, file_of_scenario(two_sessions()))
    return file


def test_a_curve_is_drawn_of_a_file(echoic: Program, school: Path) -> None:
    """With every signal and its cause below it, at any width, without an instance."""
    command = ("heuristic", "show", RESTS, "--curve", str(school))
    wide = echoic.here(*command, COLUMNS="140")
    narrow = echoic.here(*command, COLUMNS="80")

    assert wide.code == narrow.code == 0, wide.err
    assert max(map(len, wide.out.splitlines())) <= 140
    assert max(map(len, narrow.out.splitlines())) <= 80
    assert "0.60 ┤" in wide.out
    assert "success, reported: slept well" in wide.out
    assert "vote -1: not now" in wide.out
    fields = echoic.here(*command, "--json").json
    assert fields["moves"][0]["kind"] == "taught"
    assert fields["threshold"] == 0.6


def test_a_history_is_one_line_a_move(echoic: Program, school: Path) -> None:
    """Fires that nothing came of are in it, too; the name may be the id's beginning."""
    ran = echoic.here("heuristic", "history", "h", str(school))
    fields = echoic.here("heuristic", "history", RESTS, str(school), "--json").json

    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) == 4 + 1 + 1 + len(fields["moves"])
    assert fields["name"] == RESTS
    assert all(move["id"] for move in fields["moves"])


def test_a_difference_is_told_between_two_ends(
    echoic: Program, school: Path, tmp_path: Path
) -> None:
    """What was edited is named first, with both its ends."""
    earlier = tmp_path / "earlier.echoic"
    scenario = taught()
    scenario.decide("health low")
    write_session(earlier, file_of_scenario(scenario))

    ran = echoic.here("heuristic", "diff", str(earlier), str(school))
    fields = echoic.here("heuristic", "diff", EVENING, EVENING, "--json").json

    assert ran.code == 0, ran.err
    assert "1 edited" in ran.out
    assert "active → frozen" in ran.out
    assert {each["change"] for each in fields["heuristics"]} == {"same"}


def test_near_misses_are_counted_by_threshold(echoic: Program) -> None:
    """With the similarity under which nothing was weighed."""
    ran = echoic.here("heuristic", "near-misses", EVENING)
    fields = echoic.here("heuristic", "near-misses", EVENING, "--json").json

    assert ran.code == 0, ran.err
    assert "by 0.55 or more was weighed" in ran.out
    assert fields["thresholds"] == [0.5, 0.6, 0.7, 0.8, 0.9]
    counts = fields["by_threshold"]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_a_report_is_one_calm_screen(echoic: Program) -> None:
    """The same each time, and no credit is wrong."""
    command = ("learning", "report", EVENING, "--by", "personality")
    ran, again = echoic.here(*command), echoic.here(*command)

    assert ran.code == 0, ran.err
    assert ran.out == again.out
    assert len(ran.out.splitlines()) < 40
    assert max(map(len, ran.out.splitlines())) <= 120
    assert re.search(r"wrong credit  0 of \d+ signals", ran.out)
    fields = echoic.here("learning", "report", EVENING, "--per", "100", "--json").json
    *whole, last = (each["decisions"] for each in fields["periods"])
    assert set(whole) == {100}
    assert 0 < last <= 100
    assert fields["wrong_credits"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("heuristic", "history", "dusk", EVENING), "there is no heuristic 'dusk'"),
        (("heuristic", "diff", EVENING, "none.echoic"), "cannot read 'none.echoic'"),
        (("heuristic", "near-misses", "none.echoic"), "cannot read 'none.echoic'"),
        (("learning", "report", "none.echoic"), "cannot read 'none.echoic'"),
    ],
)
def test_what_cannot_be_shown_is_told(
    echoic: Program, arguments: tuple[str, ...], said: str
) -> None:
    """With an exit code over 0 and what is wrong."""
    ran = echoic.here(*arguments)

    assert ran.code in (1, 2)
    assert said in ran.err


@pytest.mark.services
def test_the_running_log_is_read_alike(live: Program) -> None:
    """All of an agent without a name, and a session by its id."""
    found = thirsty(live, "school", 3, "Your drink is low: 3 of 9.")
    live.here(
        "feedback", found["response_id"], "up", "--agent", "school", "--comment", "yes"
    )
    session = live.here("session", "list", "--agent", "school", "--json").json["rows"]

    ran = live.here("heuristic", "show", "drink-soon", "--curve", "--agent", "school")
    whole = live.here("learning", "report", "--agent", "school", "--json").json
    named = live.here(
        "learning", "report", session[0]["id"], "--agent", "school", "--json"
    ).json

    assert ran.code == 0, ran.err
    assert "vote +1: yes" in ran.out
    assert whole["total"]["decisions"] == named["total"]["decisions"] == 1
    assert (whole["credits"], whole["wrong_credits"]) == (1, 0)
