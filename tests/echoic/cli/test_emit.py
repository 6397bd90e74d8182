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


def test_a_text_that_waits_is_told_why(live: Program) -> None:
    """In words, with the command that shows who is busy."""
    busy = ("--agent", "waiter")
    set_ = live.here(
        "activity", "set", "--busy", "--focus", "", "--person", "ada", *busy
    )

    waits = live.here("emit", "Dinner is ready.", "--person", "ada", *busy)

    assert set_.out == "ada: busy, no focus\n"
    assert waits.out.startswith("not said yet: it waits until nobody is busy")


@pytest.mark.parametrize(
    ("arguments", "next_step"),
    [
        (("personality", "use", "nobody"), "echoic personality list"),
        (("context", "use", "nowhere"), "echoic context list"),
        (("skill", "load", "juggling"), "echoic skill list"),
        (("remind", "cancel", "zz"), "echoic remind list"),
        (("fact", "forget", "nothing"), "echoic fact list"),
        (("salience", "clear", "nope"), "echoic salience list"),
        # Words without quotes: the first alone would be said.
        (("remind", "call", "Lee", "--in", "10m"), 'echoic remind "call Lee" --in 10m'),
    ],
)
def test_a_refusal_names_the_next_command(
    live: Program, arguments: tuple[str, ...], next_step: str
) -> None:
    """What there is, is shown by a command."""
    refused = live.here(*arguments, *ME)

    assert refused.code in (1, 2)
    assert next_step in refused.err
