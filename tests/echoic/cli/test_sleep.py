"""Goals and sleep from the command line: set, look back, apply, take back."""

import pytest

from tests.echoic.cli.acting import thirsty
from tests.echoic.cli.conftest import Program


@pytest.mark.services
@pytest.mark.timeout(240)
def test_goals_are_set_and_listed(live: Program) -> None:
    """For every event, and for those of one domain; new ones take the place of the old."""
    me = ("--agent", "striver")
    assert live.here("goals", "set", "Sleep well", "Live long", *me).code == 0
    told = live.here("goals", "set", "Find water", "--domain", "survival", *me)
    assert told.out == "1 goal for survival from here\n"

    rows = live.here("goals", "list", "--json", *me).json["rows"]
    assert [(row["domain"], row["goal"]) for row in rows] == [
        ("-", "Sleep well"),
        ("-", "Live long"),
        ("survival", "Find water"),
    ]
    assert live.here("state", "striver", "--json").json["domain_goals"] == {
        "survival": ["Find water"]
    }

    gone = live.here("goals", "set", "--none", "--domain", "survival", *me, "--json")
    assert gone.json == {"v": 1, "goals": [], "domain": "survival"}
    assert "Find water" not in live.here("goals", "list", *me).out
    assert live.here("goals", "set", "--none", *me).out == "no goals from here\n"
    empty = live.here("goals", "list", *me)
    assert "no goals yet" in empty.err


def test_goals_are_named_or_none(echoic: Program) -> None:
    """One of both, not both."""
    for arguments in ((), ("Sleep well", "--none")):
        ran = echoic.here("goals", "set", *arguments)
        assert ran.code == 2
        assert "--none" in ran.err


@pytest.mark.services
@pytest.mark.timeout(240)
def test_a_sleep_is_asked_for_reported_and_taken_back(live: Program) -> None:
    """Without a model it finds what says the same; verify holds throughout."""
    me = ("--agent", "sleeper")
    assert thirsty(live, "sleeper", 3, "Your drink is low: 3 of 9.")["accepted"]
    assert "never slept yet" in live.here("sleep", "--report", *me).err
    assert live.here("sleep", "--report", "--json", *me).json["id"] is None
    for name in ("umbrella", "umbrella_too"):
        seeded = live.here(
            "heuristic", "seed", "--name", name, "--condition", "It begins to rain",
            "--say", "Take an umbrella.", "--domain", "survival", *me,
        )  # fmt: skip
        assert seeded.code == 0, seeded.err

    slept = live.here("sleep", "--since", "2h", "--apply", "by_hand", *me)
    assert slept.code == 0, slept.err
    assert "no model to ask" in slept.out
    assert "says the same as" in slept.out
    report = live.here("sleep", "--report", "--json", *me).json
    (proposal,) = report["proposals"]
    assert (report["reason"], proposal["status"]) == ("no_model", "submitted")
    assert "merge: " in live.here("tune", "list", *me).out

    assert live.here("tune", "apply", proposal["id"], *me).code == 0
    lives = live.here("heuristic", "list", "--json", *me).json["rows"]
    assert [each["lifecycle"] for each in lives].count("frozen") == 1
    assert f"proposal {proposal['id']}" in live.here("state", "sleeper").out
    assert live.here("tune", "revert", proposal["id"], *me).code == 0
    lives = live.here("heuristic", "list", "--json", *me).json["rows"]
    assert [each["lifecycle"] for each in lives].count("frozen") == 0
    assert live.here("replay", "verify", *me).code == 0
    proved = live.here("projection", "rebuild", "--verify")
    assert proved.code == 0, proved.err


@pytest.mark.parametrize("since", ["yesterday", "xh", "1e99d"])
def test_a_time_that_is_none_is_told(echoic: Program, since: str) -> None:
    """With exit code 2 and what there is."""
    ran = echoic.here("sleep", "--since", since)

    assert ran.code == 2
    assert "is no time" in ran.err
