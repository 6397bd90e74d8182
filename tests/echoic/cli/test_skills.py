"""Skills beside a running instance: in force, loaded by hand, changed while it runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.echoic.cli.conftest import Program

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

# As a threat, so that it is said however often.
OPEN = ("--source", "door", "--type", "door_opened", "--hint", "threat=0.9")


def listed(live: Program, agent: str = "porter") -> dict[str, dict[str, Any]]:
    """The skills there are, by name."""
    ran = live.here("skill", "list", "--agent", agent, "--json")
    assert ran.code == 0, ran.err
    return {each["skill"]: each for each in json.loads(ran.out)["rows"]}


def said(live: Program, minutes: int) -> dict[str, Any]:
    """The decision on a door that stands open."""
    field = ("--field", f"minutes={minutes}")
    ran = live.here(
        "pub",
        "The door stands open",
        *OPEN,
        *field,
        "--agent",
        "porter",
        "--wait",
        "--json",
    )
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def done(live: Program, *arguments: str, agent: str = "porter") -> str:
    """What a command says that works."""
    ran = live.here(*arguments, "--agent", agent)
    assert ran.code == 0, ran.err
    return ran.out


def test_a_new_pack_and_its_skill_from_the_first_file_to_the_hot_reload(
    live: Program, tmp_path: Path
) -> None:
    """Written, tested, loaded, said, unloaded and loaded by hand, and changed as it runs."""
    folder = tmp_path / "porter"
    assert live.here("pack", "new", "porter", "--folder", str(folder)).code == 0
    tested = live.here("pack", "test", str(folder))
    assert tested.code == 0, tested.out + tested.err
    assert "passed" in tested.out

    done(live, "pack", "load", str(folder))
    row = listed(live)["porter/details"]
    assert (row["in_force"], row["kind"]) == (True, "domain")
    assert said(live, 7)["response_text"] == (
        "The door is still open. It has been 7 minutes."
    )

    done(live, "skill", "unload", "porter/details")
    assert listed(live)["porter/details"]["waits"] == "unloaded"
    assert said(live, 8)["response_text"] == "The door is still open."
    done(live, "skill", "load", "porter/details")
    assert listed(live)["porter/details"]["in_force"] is True

    manifest = folder / "manifest.yaml"
    text = manifest.read_text()
    changed = text.replace("It has been {minutes} minutes.", "{minutes} minutes now!")
    assert changed != text
    manifest.write_text(changed.replace("version: 0.1.0", "version: 0.2.0"))
    tested = live.here("pack", "test", str(folder))
    assert tested.code == 1
    assert "'The door is still open. 9" not in tested.out
    assert (
        "text: 'The door is still open. It has been 7 minutes.' expected" in tested.out
    )

    # An event of the log: what was said before it is as it was.
    done(live, "pack", "load", str(folder))
    decided = said(live, 9)
    assert decided["response_text"] == "The door is still open. 9 minutes now!"
    shown = done(live, "explain", decided["response_id"][:8])
    assert "by the skills porter/details@1" in shown
    assert "instead of “The door is still open.”" in shown
    verified = live.here("replay", "verify", "--agent", "porter")
    assert verified.code == 0, verified.out + verified.err


def test_what_nobody_knows_is_refused(live: Program) -> None:
    """With the names of those there are."""
    ran = live.here("skill", "load", "porter/flying", "--agent", "porter")
    assert ran.code != 0
    assert "flying" in ran.err


def test_the_list_follows_context_and_personality(live: Program) -> None:
    """On a page: an arrow for those in force, the reason for the others."""
    mime = {"agent": "mime"}
    done(live, "personality", "use", "jester", **mime)
    assert listed(live, **mime)["sarcasm"]["in_force"] is True
    done(live, "personality", "use", "butler", **mime)
    assert "no words at sarcasm 0.10" in done(live, "skill", "list", **mime)
    done(live, "personality", "use", "none", **mime)
    assert listed(live, **mime)["sarcasm"]["waits"] == "nobody chose a character"
