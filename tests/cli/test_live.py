"""The program beside a running instance: what people do all day."""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.cli.conftest import ROOT, Program, Ran

# Each command is a process of its own, and waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]

THIRST = ("--source", "crafter", "--type", "vital_changed", "--field", "vital=drink")


def thirsty(live: Program, agent: str, drink: int, text: str) -> dict[str, Any]:
    """Publish that the player is thirsty; what was decided, under the seed's names."""
    ran = live.here(
        "pub", text, *THIRST, "--field", f"value={drink}", "--hint", "threat=0.9",
        "--agent", agent, "--wait", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json
    return found


def test_pub_waits_for_the_decision(live: Program) -> None:
    """A heuristic of the pack answers; the reply is under the seed's names."""
    found = thirsty(live, "pub", 3, "Your drink is low: 3 of 9.")

    assert found["accepted"] is True
    assert found["decision_path"] == "heuristic"
    assert found["response_text"] == "You are thirsty. Find water and drink."
    assert found["predicted_success"] == found["prediction_confidence"] == 0.8
    assert found["matched_heuristic_id"]
    assert found["prompt_text"] == ""


def test_pub_prints_one_line_a_decision(live: Program) -> None:
    """Without --json a person reads who said what."""
    ran = live.here(
        "pub", "Your drink is low: 2 of 9.", *THIRST, "--field", "value=2", "--hint",
        "threat=0.9", "--agent", "lines", "--wait",
    )  # fmt: skip

    assert re.search(r"S1 drink-soon \.80 “You are thirsty.* ms [0-9a-f]{8}$", ran.out)


def test_pub_reads_stdin_and_files(live: Program) -> None:
    """`-` and -f publish each line, under ids that are new each time."""
    lines = "hello there\n" + json.dumps(
        {"source": "door", "type": "bell", "text": "Ding"}
    )
    path = live.folder / "two.jsonl"
    path.write_text(lines)

    first = live.here("pub", "-", "--agent", "files", "--json", stdin=lines)
    again = live.here("pub", "-f", str(path), "--agent", "files", "--wait", "--json")

    assert first.code == again.code == 0, first.err + again.err
    ids = [json.loads(line)["event_id"] for line in first.out.splitlines()]
    assert len(set(ids)) == 2
    assert all(json.loads(line)["accepted"] for line in again.out.splitlines())


def test_a_bad_line_stops_the_file_and_is_named(live: Program) -> None:
    """What came before it is published; the error says which line it was."""
    ran = live.here("pub", "-", "--agent", "bad", stdin="fine\n{broken\n")

    assert ran.code == 2
    assert "line 2 is no event" in ran.err


def test_a_recorded_session_is_published_again(live: Program) -> None:
    """Events go out under new ids, with references that fit, and votes are given."""
    recording = ROOT / "packs" / "survival" / "recording" / "evening.echoic"
    live.here("session", "start", "--clock", "event", "--agent", "replayed")

    ran = live.here("pub", "-f", str(recording), "--agent", "replayed")

    assert ran.code == 0, ran.err
    assert re.search(r"\d{3} published", ran.err)
    state = live.here("state", "replayed", "--json").json
    assert state["rapport"]
    assert sum(belief["successes"] for belief in state["beliefs"]) > 0


def test_explain_finds_a_decision_by_the_beginning_of_its_id(live: Program) -> None:
    """The page names who spoke and the gates with their margins."""
    found = thirsty(live, "explain", 3, "Your drink is low: 3 of 9.")

    ran = live.here("explain", found["response_id"][:8], "--agent", "explain")

    assert ran.code == 0, ran.err
    assert "Spoke by the heuristic drink-soon (confidence 0.80 ≥ 0.70)." in ran.out
    assert "✓ confidence   0.80 ≥ 0.70  +0.10" in ran.out
    assert "→ drink-soon" in ran.out


def test_explain_supposes_another_threshold(live: Program) -> None:
    """`--what-if` says what the recorded numbers would have led to."""
    thirsty(live, "suppose", 3, "Your drink is low: 3 of 9.")

    ran = live.here(
        "explain", "--last", "--what-if", "threshold=0.9", "--agent", "suppose"
    )

    assert "What if threshold=0.9: would have stayed silent" in ran.out


def test_explain_tells_the_last_silence(live: Program) -> None:
    """The last decision may have spoken; the last silence is found behind it."""
    live.here("pub", "The kettle boils.", "--agent", "quiet", "--wait")
    thirsty(live, "quiet", 3, "Your drink is low: 3 of 9.")

    last = live.here("explain", "--last", "--agent", "quiet", "--json").json
    silent = live.here("explain", "--last-silent", "--agent", "quiet", "--json").json

    assert (last["v"], last["silence"]) == (1, None)
    assert silent["silence"] == "llm_unavailable"
    assert silent["text"] == "The kettle boils."
    assert silent["explanation"]["verdict"].startswith("Stayed silent")


def test_an_unknown_decision_is_exit_code_1(live: Program) -> None:
    """There is nothing to explain, and the error says what to do."""
    ran = live.here("explain", "ffffffff", "--agent", "nobody")

    assert (ran.code, ran.out) == (1, "")
    assert "has no decision 'ffffffff'" in ran.err


def test_feedback_moves_the_heuristic(live: Program) -> None:
    """Down after up counts once, as down; the history shows each step."""
    found = thirsty(live, "votes", 3, "Your drink is low: 3 of 9.")
    id_ = found["response_id"][:8]

    for vote in ("up", "down"):
        ran = live.here("feedback", id_, vote, "--agent", "votes", "--comment", "hm")
        assert ran.code == 0, ran.err

    shown = live.here(
        "heuristic", "show", "drink-soon", "--agent", "votes", "--json"
    ).json
    declared, up, down = shown["history"]
    assert [declared["why"], up["why"], down["why"]] == ["pack", "vote", "vote"]
    assert up["after"] > up["before"] == declared["after"] == 0.8
    assert shown["confidence"] == down["after"] < 0.8


def test_feedback_on_an_unknown_heuristic_is_refused(live: Program) -> None:
    """A misspelt heuristic gets a suggestion."""
    ran = live.here("feedback", "drink-son", "down", "--heuristic")

    assert ran.code == 1
    assert "did you mean 'drink-soon'?" in ran.err


def test_an_outcome_counts_for_the_fire_of_its_decision(live: Program) -> None:
    """A success reported by hand lifts the heuristic that advised it."""
    thirsty(live, "outcomes", 3, "Your drink is low: 3 of 9.")

    ran = live.here("outcome", "last", "success", "--agent", "outcomes")

    assert ran.code == 0, ran.err
    shown = live.here(
        "heuristic", "show", "drink-soon", "--agent", "outcomes", "--json"
    ).json
    assert [step["why"] for step in shown["history"]] == ["pack", "outcome_report"]
    assert (shown["fires"], shown["successes"]) == (1, 1)
    assert shown["confidence"] > 0.8


def test_a_taught_heuristic_answers_until_it_is_frozen(live: Program) -> None:
    """Teach, hear it, freeze, hear it no more, release, hear it again."""
    taught = live.here(
        "heuristic", "seed", "--condition", "the oven is done baking", "--say",
        "Your cake is ready.", "--name", "cake", "--domain", "kitchen",
        "--confidence", "0.9", "--agent", "cook",
    )  # fmt: skip
    assert taught.code == 0, taught.err

    def said(text: str) -> str:
        ran = live.here(
            "pub", text, "--source", "kitchen", "--type", "oven", "--hint",
            "threat=0.9", "--agent", "cook", "--wait", "--json",
        )  # fmt: skip
        return str(ran.json["response_text"])

    assert said("the oven is done baking") == "Your cake is ready."
    assert live.here("heuristic", "freeze", "cake", "--agent", "cook").code == 0
    assert said("the oven has done its baking") == ""
    assert (
        live.here("heuristic", "freeze", "cake", "--off", "--agent", "cook").code == 0
    )
    assert said("now the oven is done with baking") == "Your cake is ready."


def test_heuristic_list_shows_packs_and_lessons(live: Program) -> None:
    """What an agent goes by, with how far each is trusted."""
    rows = live.here("heuristic", "list", "--agent", "anyone", "--json").json["rows"]

    names = {row["name"]: row for row in rows}
    assert names["drink-soon"]["origin"] == "pack"
    assert names["drink-soon"]["confidence"] == 0.8


def test_state_shows_then_and_now(live: Program) -> None:
    """The state as of an earlier input knows nothing of what came later."""
    thirsty(live, "past", 3, "Your drink is low: 3 of 9.")
    first = live.here("state", "past", "--json").json
    live.here("feedback", "last", "up", "--agent", "past")

    now = live.here("state", "past", "--json").json
    then = live.here("state", "past", "--at", str(first["position"]), "--json").json

    assert then == first
    assert now["rapport"]["user"] > 0.5
    assert then["rapport"] == {}
    assert "survival 1.0.0" in now["packs"]


def test_sessions_start_end_and_are_exported(live: Program) -> None:
    """A session that was started is listed, exported, and replays from its file."""
    live.here(
        "session", "start", "--id", "evening", "--title", "At home", "--agent", "s"
    )
    thirsty(live, "s", 3, "Your drink is low: 3 of 9.")
    assert live.here("session", "end", "--agent", "s").code == 0

    listed = live.here("session", "list", "--agent", "s", "--json").json["rows"]
    exported = live.here(
        "session", "export", "evening", "--agent", "s", "-o", "e.echoic"
    )
    replayed = live.here("replay", "verify", "e.echoic", "--json")

    assert [(row["id"], row["title"], row["spoke"]) for row in listed] == [
        ("evening", "At home", 1)
    ]
    assert exported.code == 0, exported.err
    assert replayed.code == 0, replayed.out
    assert replayed.json["inputs"] >= 2


def test_an_unknown_session_is_exit_code_1(live: Program) -> None:
    """The next command lists those that there are."""
    ran = live.here("session", "show", "nowhere", "--agent", "s")

    assert ran.code == 1
    assert "echoic session list" in ran.err


def test_the_live_log_replays_identically(live: Program) -> None:
    """Everything the agent ever decided comes out the same again."""
    thirsty(live, "again", 3, "Your drink is low: 3 of 9.")

    ran = live.here("replay", "verify", "--agent", "again")

    assert ran.code == 0, ran.out
    assert re.match(r"✓ (\d+)/\1 outputs identical", ran.out)


def test_the_log_is_sound(live: Program) -> None:
    """Inputs answered = inputs appended, and every chain is whole."""
    ran = live.here("log", "verify", "--json")

    assert ran.code == 0, ran.out
    assert ran.json["sound"]
    assert ran.json["inputs"] == ran.json["groups"] > 16
    assert ran.json["broken_chains"] == 0


def test_log_tail_shows_the_last_messages(live: Program) -> None:
    """Messages of one agent and kind, the newest last, raw for programs."""
    thirsty(live, "tail", 3, "Your drink is low: 3 of 9.")

    ran = live.here("log", "tail", "--agent", "tail", "--kind", "decision", "--json")

    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[-1]["subject"].endswith(".out.tail.decision.decided")
    assert lines[-1]["body"]["text"] == "You are thirsty. Find water and drink."


def test_what_was_quarantined_shows_in_doctor_and_log(live: Program) -> None:
    """An event that cannot be read is kept, counted and explained."""
    line = json.dumps({"text": "x", "urgency": 9})
    ran = live.here("pub", "-", "--agent", "odd", "--wait", stdin=line)
    assert ran.code == 1
    assert "quarantined (invalid)" in ran.err

    checks = live.here("doctor", "--json").json["checks"]
    tail = live.here("log", "tail", "--agent", "odd", "--kind", "note")

    found = {check["name"]: check for check in checks}
    assert "invalid" in found["quarantine"]["found"]
    assert found["streams"]["verdict"] == found["worker"]["verdict"] == "fine"
    assert "urgency" in tail.out


def test_packs_are_loaded_for_one_agent_once(live: Program) -> None:
    """A pack in force is not loaded again; the list tells for whom it is."""
    desk = str(ROOT / "packs" / "desk")

    first = live.here("pack", "load", desk, "--agent", "packed")
    again = live.here("pack", "load", desk, "--agent", "packed")
    rows = live.here("pack", "list", "--agent", "packed", "--json").json["rows"]

    assert first.code == again.code == 0, first.err + again.err
    assert "already" in again.out
    owners = {row["name"]: row["for"] for row in rows}
    assert owners == {"survival": "all", "desk": "packed"}


def test_a_sensor_runs_with_rights_of_its_own(live: Program) -> None:
    """The desk's sensor gets credentials and a pack, and its events are answered."""
    ran = live.here(
        "sensor", "desk", "--agent", "desktop", "--interval", "0.1", "--count", "2"
    )

    assert ran.code == 0, ran.err
    credentials = json.loads((live.data / "sensors" / "desktop.desk.json").read_text())
    assert credentials["user"] == "desktop.desk"
    found = live.here("explain", "--last", "--agent", "desktop", "--json").json
    assert found["source"] == "desk"


def test_watch_shows_what_is_decided_from_now_on(live: Program) -> None:
    """Each decision is one line of JSON; the last one wanted ends it."""
    with watching(live, "watch", "--agent", "seen", "-n", "1", "--json") as watcher:
        thirsty(live, "seen", 3, "Your drink is low: 3 of 9.")
        out, _ = watcher.communicate(timeout=30)

    assert json.loads(out.splitlines()[-1])["said"].startswith("You are thirsty")


def test_ctrl_c_ends_watch_with_130(live: Program) -> None:
    """Interrupting is no error and leaves no traceback."""
    with watching(live, "watch", "--agent", "seen") as watcher:
        watcher.send_signal(signal.SIGINT)
        _, err = watcher.communicate(timeout=30)

    assert watcher.returncode == 130
    assert "Traceback" not in err


def test_the_read_models_come_up_with_the_log(live: Program) -> None:
    """One version serves, and in the end it is not behind."""
    listed = live.here("projection", "list", "--json").json

    assert [row["state"] for row in listed["rows"]] == ["serving"]
    assert "heuristics" in listed["views"]
    assert eventually(lambda: live.here("projection", "lag")).code == 0


def test_the_read_models_are_made_again_and_proved(live: Program) -> None:
    """A rebuild serves in the old one's place, and both are the fold of the log."""
    rebuilt = live.here("projection", "rebuild", "--json")
    proved = live.here("projection", "rebuild", "--verify", "--json")
    states = [
        row["state"] for row in live.here("projection", "list", "--json").json["rows"]
    ]

    assert rebuilt.code == 0, rebuilt.err
    assert proved.code == 0, proved.out
    assert proved.json["is_equal"]
    assert states.count("serving") == 1


@pytest.mark.parametrize("server", ["nats-server", "postgres"])
def test_a_server_that_is_killed_comes_back(live: Program, server: str) -> None:
    """The instance starts its own servers again, and goes on where it was."""
    note = json.loads((live.data / "instance.json").read_text())
    children = psutil.Process(note["pid"]).children()
    (victim,) = (child for child in children if child.name() == server)

    victim.kill()

    ran = eventually(lambda: live.here("pub", "hello", "--agent", server, "--wait"))
    assert ran.code == 0, ran.err
    rows = eventually(lambda: live.here("heuristic", "list", "--agent", server))
    assert "drink-soon" in rows.out
    assert eventually(lambda: live.here("projection", "lag")).code == 0
    assert live.here("log", "verify").code == 0


def test_a_second_instance_over_the_same_folder_is_refused(live: Program) -> None:
    """It says which process runs there and how to stop it."""
    for arguments in (("up",), ("up", "--detach")):
        ran = live.here(*arguments)

        assert ran.code == 2
        assert f"an instance runs over {live.data} already (process " in ran.err
        assert "echoic down" in ran.err


def test_up_and_down_again_keep_what_was_learnt(echoic: Program) -> None:
    """The data folder is all of an instance: a stop and a start lose nothing."""
    assert echoic("up", "--detach").code == 0
    taught = echoic(
        "heuristic", "seed", "--condition", "a", "--say", "b", "--name", "c"
    )
    assert taught.code == 0, taught.err
    stopped = echoic("down")
    assert stopped.out == f"stopped; the data stays in {echoic.data}\n"

    assert echoic("up", "--detach").code == 0
    rows = echoic("heuristic", "list", "--json").json["rows"]
    assert echoic("down").code == 0

    assert [row["name"] for row in rows] == ["c"]
    assert not (echoic.data / "instance.json").exists()


@contextmanager
def watching(live: Program, *arguments: str) -> Iterator[Any]:
    """A command that goes on, once it says that it watches."""
    with live.start(*arguments) as process:
        try:
            assert process.stderr is not None
            assert "watching" in process.stderr.readline()
            yield process
        finally:
            process.kill()


def eventually(attempt: Callable[[], Ran], within_s: float = 60.0) -> Ran:
    """The first attempt that worked, or the last one in time."""
    deadline = time.monotonic() + within_s
    while (ran := attempt()).code != 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    return ran


def test_the_data_folder_keeps_passwords_to_its_owner(live: Program) -> None:
    """Files with credentials are readable by nobody else."""
    for path in (live.data / "instance.json", *secret_files(live.data / "sensors")):
        assert path.stat().st_mode & 0o077 == 0


def secret_files(folder: Path) -> list[Path]:
    """What is in a folder, if it is there."""
    return sorted(folder.glob("*.json"))
