"""`echoic emit` and `output`: words that somebody wants said, by a running instance."""

import pytest

from tests.echoic.cli.conftest import Program

pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

ME = ("--agent", "announcer")


def test_a_text_is_said_and_recorded_unless_a_mute_is_in_force(live: Program) -> None:
    """The command says what became of it, and so does the explanation."""
    said = live.here("emit", "Dinner is ready.", "--person", "ada", *ME)
    told = live.here("explain", "--last", *ME)
    live.here("mute", *ME)
    muted = live.here("emit", "Nobody hears this.", *ME, "--json")
    idle = live.here("output", *ME)

    assert (said.code, said.out) == (0, "said\n")
    assert "Spoke by itself: somebody wanted it said." in told.out
    assert (muted.json["silence"], muted.json["path"]) == ("muted", "none")
    assert "nothing is being spoken" in idle.out + idle.err
    assert live.here("emit", "", *ME).code == 2
