"""Being told off beside a running instance: by commands, by words, listed and undone."""

from typing import Any

import pytest

from tests.echoic.cli.acting import THIRST
from tests.echoic.cli.conftest import Program
from tests.echoic.cli.test_services import called

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


def thirsty(live: Program, agent: str, drink: int, hint: str = "novelty=1") -> str:
    """What is said to a player who is thirsty; empty: nothing."""
    ran = live.here(
        "pub", f"Your drink is low: {drink} of 9.", *THIRST, "--field", f"value={drink}",
        "--hint", hint, "--hint", "actionability=1", "--agent", agent, "--wait", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    said: str = ran.json["response_text"]
    return said


ALERT = "threat=0.9"


def says(live: Program, agent: str, words: str, *who: str) -> dict[str, Any]:
    """A person says something, and this is what was decided on it."""
    ran = live.here(
        "pub", words, "--source", "user", "--type", "message", "--agent", agent,
        "--wait", "--json", *who,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json
    return found


def test_quiet_by_command_and_by_words(live: Program) -> None:
    """Asked for, kept, explained, listed, taken back in words and acknowledged."""
    ran = live.here("quiet", "9m", "--agent", "hush")
    assert ran.out.strip() == "quiet for 9 min, from here"
    assert live.here("missed", "--agent", "hush", "--json").json["rows"] == []

    assert thirsty(live, "hush", 3) == ""
    page = live.here("explain", "--last", "--agent", "hush").out
    told = " ".join(page.split())
    assert "Stayed silent: quiet was asked for (asked for by user, for 8 min" in told
    assert "Alerts and answers to the words of whoever asked for it pass" in told
    rows = live.here("salience", "list", "--agent", "hush", "--json").json["rows"]
    assert [(each["change"], each["asked_by"]) for each in rows] == [("quiet", "user")]

    kept = live.here("missed", "--agent", "hush", "--json").json["rows"]
    why = [(each["text"], each["reason"], each["threat"]) for each in kept]
    assert why == [("Your drink is low: 3 of 9.", "quiet", False)]
    shown = live.here("missed", "--person", "ada", "--agent", "hush").out
    assert "Your drink is low: 3 of 9." in shown

    assert thirsty(live, "hush", 1, ALERT)

    back = says(live, "hush", "You can talk again!")
    missed = "You missed something. Ask me: what did I miss?"
    assert back["response_text"] == f"OK, I'm back. {missed}"
    assert back["decision_path"] == "acknowledged"
    assert thirsty(live, "hush", 2)
    page = live.here("explain", back["response_id"][:8], "--agent", "hush").out
    assert "Told the person what became of what they asked for." in page
    # A person of any script is the one who is meant, and nobody else.
    ran = live.here("quiet", "9m", "--person", "Zoë", "--agent", "hush")
    assert ran.out.strip() == "quiet for Zoë for 9 min, from here"
    ran = live.here("mute", "9m", "--person", "Zoë", "--agent", "hush")
    assert "; still quiet for Zoë until" in ran.out, ran.out
    off = live.here("mute", "off", "--agent", "hush")
    assert off.out.strip().endswith("; what was missed: echoic missed"), off.out


def test_what_is_asked_for_is_listed_and_undone(live: Program) -> None:
    """By its id, or all of it; what is not there is refused."""
    made = live.here(
        "salience", "set", "suppress", "drink", "--for", "1h", "--agent", "dry"
    )
    assert made.out.strip() == "suppress for 1 h, from here"
    assert thirsty(live, "dry", 3) == ""
    said = says(live, "dry", "Please watch for arrows")
    assert said["response_text"] == "OK, I'll watch for arrows."

    listed = live.here("salience", "list", "--agent", "dry", "--json").json["rows"]
    first, second = listed
    assert (first["change"], first["about"]) == ("suppress", "drink")
    assert (second["change"], second["about"]) == ("heighten", "arrows")
    cleared = live.here("salience", "clear", first["id"][:12], "--agent", "dry")
    assert cleared.out.strip() == "cleared, from here"
    again = live.here("salience", "clear", first["id"], "--agent", "dry")
    assert again.code == 1
    assert "no modulation" in again.err
    assert thirsty(live, "dry", 2)
    assert live.here("salience", "clear", "--all", "--agent", "dry").code == 0
    nothing = live.here("salience", "list", "--agent", "dry")
    assert "nothing is moved" in nothing.err


def test_a_mute_holds_until_taken_back(live: Program) -> None:
    """Even of alerts."""
    assert live.here("mute", "--agent", "mute").out.strip() == (
        "mute until taken back, from here"
    )
    assert thirsty(live, "mute", 1, ALERT) == ""

    off = live.here("mute", "off", "--agent", "mute")

    assert off.out.strip() == (
        "mute no longer, from here; what was missed: echoic missed"
    )
    assert thirsty(live, "mute", 2)


def test_what_is_still_in_force_is_told(live: Program) -> None:
    """Taking back a quiet while it is mute does not sound as if it would speak again."""
    agent = ("--agent", "stern")
    live.here("mute", *agent)
    still = live.here("quiet", "1h", "--person", "ada", *agent).out
    off = live.here("quiet", "off", *agent, "--json").json

    assert (
        still.strip() == "quiet for ada for 1 h, from here; still mute until taken back"
    )
    assert [each["mode"] for each in off["in_force"]] == ["mute"]

    status = live.here("status", "--json").json
    (mute,) = (each for each in status["peace"] if each["agent"] == "stern")
    assert (mute["mode"], mute["until"]) == ("mute", None)
    assert "stern: mute until taken back" in " ".join(live.here("status").out.split())
    checks = live.here("doctor", "--json", "--exit-zero").json["checks"]
    (quiet,) = (each for each in checks if each["name"] == "quiet")
    assert quiet["verdict"] == "notice"
    assert "stern: mute until taken back" in quiet["found"]

    off = live.here("mute", "off", *agent).out.strip()
    assert off == "mute no longer, from here; what was missed: echoic missed"
    peace = live.here("status", "--json").json["peace"]
    assert "stern" not in {each["agent"] for each in peace}


def test_people_who_speak_are_told_apart(live: Program) -> None:
    """Each is told why nothing was said to them; a reminder is set in units people use."""
    agent = "shared"
    asked = says(live, agent, "the sea is deep tonight", "--person", "ada")
    assert asked["response_text"] == ""

    told = says(live, agent, "why didn't you say anything?", "--person", "ada")
    other = says(live, agent, "why didn't you say anything?", "--person", "ben")
    reminder = live.here("remind", "tea", "--in", "90m", "--agent", agent).out

    assert "the sea is deep tonight" in told["response_text"]
    assert other["response_text"] == "I kept nothing from you that I remember."
    assert reminder.strip() == "a reminder, in 1 h 30 min"


def test_a_program_asks_for_peace_by_a_call(live: Program) -> None:
    """As a person does by a command; a modulation that is none is refused."""
    quiet = called(live, "svc.called.control", {"control": "muted", "for_s": 60})
    topic = {"control": "salience_modulated", "change": "suppress", "about": "drink"}
    moved = called(live, "svc.called.control", topic)
    wrong = called(
        live, "svc.called.control", {"control": "salience_modulated", "change": "focus"}
    )
    rows = live.here("salience", "list", "--agent", "called", "--json").json["rows"]

    assert quiet["accepted"] is moved["accepted"] is True
    assert wrong["answer"]["reason"] == "invalid"
    assert [each["change"] for each in rows] == ["quiet", "suppress"]


def test_people_are_listed_by_their_names(live: Program) -> None:
    """Not by the tokens that are derived of them."""
    whom = ("--person", "Łucja", "--agent", "named")
    assert live.here("pub", "hello", *whom, "--wait").code == 0
    set_ = live.here("remind", "tea", "--in", "2h", *whom)
    live.here("fact", "set", "the tea", "is", "green", *whom)
    live.here("salience", "set", "suppress", "drink", "--for", "1h", *whom)
    reminders = live.here("remind", "list", "--agent", "named", "--json").json["rows"]
    moved = live.here(
        "remind", "move", reminders[0]["id"], "--in", "3h", "--agent", "named"
    )
    rows = [
        *reminders,
        *live.here("fact", "list", "--agent", "named", "--json").json["rows"],
        *live.here("salience", "list", "--agent", "named", "--json").json["rows"],
    ]

    assert set_.code == moved.code == 0, set_.err + moved.err
    assert [each["for"] for each in rows] == ["Łucja"] * 3
    for told in (set_.out, moved.out):
        assert "for Łucja" in told, told


def test_a_span_too_long_is_told_as_such(echoic: Program) -> None:
    """It is one, in its form."""
    ran = echoic.here("quiet", "99999999d")

    assert ran.code == 2
    assert "is too long a span of time" in ran.err


@pytest.mark.parametrize("span", ["soon", "0m", "10 minutes", "-1s"])
def test_a_span_that_is_none_is_refused(echoic: Program, span: str) -> None:
    """Before anything is asked of an instance."""
    ran = echoic.here("quiet", "--", span)

    assert ran.code == 2
    assert "90s, 10m, 2h or 1d" in ran.err
