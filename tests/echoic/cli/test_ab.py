"""Live experiments from the command line: start, events, status, stop."""

import pytest

from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program, Ran

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def ab(live: Program, *arguments: str, agent: str) -> Ran:
    """Run `echoic ab` for an agent."""
    return live.here("ab", *arguments, "--agent", agent)


def test_an_experiment_from_its_start_to_its_stop(live: Program) -> None:
    """Each session has one variant, the screen counts them, and a stop ends it."""
    own = ("--washout", "0", "--silence", "0.3")
    begun = ab(live, "start", "heuristic_first", "silent", *own, agent="ab1")
    assert begun.code == 0, begun.err
    assert "a  heuristic_first" in begun.out
    # Before the agent has decided anything, too.
    (own_in_force,) = live.here("status", "--json", "--agent", "ab1").json["own"]
    assert own_in_force == "ab1: experiment: heuristic_first against silent"
    # Of whichever agent one asks.
    assert own_in_force in live.here("status", "--json").json["own"]
    for session in range(6):
        live.here("session", "start", "--id", f"s{session}", "--agent", "ab1")
        thirsty(live, "ab1", 3, "Your drink is low: 3 of 9.")
        live.here("outcome", "last", "succeeded", "--agent", "ab1")
    live.here("session", "end", "--agent", "ab1")

    found = ab(live, "status", "--json", agent="ab1").json
    screen = ab(live, "status", agent="ab1").out

    assert found["a"]["units"] + found["b"]["units"] == 6
    assert found["a"]["strategy"]["name"] == "heuristic_first"
    assert (found["verdict"], found["may_stop"]) == ("INCONCLUSIVE", False)
    assert found["reasons"][0]["code"] == "too_few"
    assert found["washout_share"] == 0.0
    assert found["silence"] == 0.3
    assert "counts 0.3" in screen
    assert found["stopped_at"] is None
    assert "b over a" in screen
    assert "INCONCLUSIVE" in screen
    assert "runs since" in screen

    assert ab(live, "stop", agent="ab1").code == 0
    stopped = ab(live, "status", "--json", agent="ab1").json
    assert stopped["stopped_at"] is not None
    assert stopped["a"] == found["a"]
    verified = live.here("replay", "verify", "--agent", "ab1")
    assert verified.code == 0, verified.out


def test_nothing_is_compared_with_itself(live: Program) -> None:
    """However it is written, and whether it is named or left to the agent."""
    for pair in (
        ("silent", "silent"),
        ("heuristic_first", "heuristic_first:threshold=0.7"),
        ("heuristic_first",),
    ):
        ran = ab(live, "start", *pair, agent="ab3")
        assert ran.code == 2, ran.out
        assert "a and b are one and the same" in ran.err
    assert ab(live, "status", agent="ab3").code == 1


def test_a_side_that_has_no_model_to_ask_is_refused(live: Program) -> None:
    """It would be silent throughout, and so an experiment about nothing."""
    ran = live.here("ab", "start", "heuristic_first", "always_llm")

    assert ran.code == 2
    assert (
        "always_llm asks a model whatever comes, and this instance has none" in ran.err
    )


def test_a_personality_can_be_tried(live: Program) -> None:
    """Strategies may be left out where the personalities differ."""
    ran = ab(
        live, "start", "--by", "person", "--personality-b", "You are dry.", agent="ab2"
    )
    again = ab(live, "start", "silent", "random", agent="ab2")

    assert ran.code == 0, ran.err
    assert "b  “You are dry.”" in ran.out
    assert again.code == 1
    assert "experiment_running" in again.err
    assert "no person has a value yet" in ab(live, "status", agent="ab2").out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("start",), 2, "nothing is to be compared"),
        (("start", "silent", "genius"), 2, "there is no strategy 'genius'"),
        (("start", "silent", "silent:x="), 2, "'x=' in 'silent:x='"),
        (("start", "silent", "random", "--washout", "soon"), 2, "'soon' is no span"),
        (("stop",), 1, "no experiment runs"),
        (("status",), 1, "has had no experiment"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said(
    live: Program, arguments: tuple[str, ...], code: int, says: str
) -> None:
    """A clear error, its code, and nothing begins."""
    ran = ab(live, *arguments, agent="ab3")

    assert ran.code == code
    assert says in ran.err
