"""The program beside a running instance: its log, sessions, sensors and servers."""

import json
import re
import signal
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from echoic.client import admission
from tests.echoic.cli.acting import eventually, thirsty, watching
from tests.echoic.cli.conftest import ROOT, Program
from tests.patience import PATIENCE_S

# Each command is a process of its own, or waits for real servers.
pytestmark = [pytest.mark.services, pytest.mark.timeout(240)]


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


def test_a_name_used_twice_is_told(live: Program) -> None:
    """The newest of two sessions of a name hides the other; a notice says so."""
    named = ("session", "start", "--id", "noon", "--agent", "named-twice")

    first, again = live.here(*named), live.here(*named)

    assert (first.code, again.code) == (0, 0)
    assert "earlier session" not in first.err
    assert "an earlier session is called noon" in again.err


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


def test_an_agent_without_a_session_is_told_of_others(live: Program) -> None:
    """Whoever plays a village has sessions, though not of the default companion."""
    thirsty(live, "busy", 3, "Your drink is low: 3 of 9.")

    ran = live.here("session", "list", ECHOIC_AGENT="hermit")

    assert ran.code == 0
    assert re.search(r"hermit has none; --agent may name: .*busy", ran.err)


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


def test_every_agent_replays_identically_in_several_processes(live: Program) -> None:
    """All partitions come to one result, which is the sum of what each comes to."""
    for agent in ("one", "another", "third"):
        thirsty(live, agent, 3, "Your drink is low: 3 of 9.")

    ran = live.here("replay", "verify", "--all-agents", "--jobs", "2", "--json")
    alone = live.here("replay", "verify", "--all-agents", "--jobs", "1", "--json")

    assert ran.code == 0, ran.out + ran.err
    assert ran.json == alone.json
    assert {"one", "another", "third"} <= {agent for agent, _ in ran.json["chains"]}
    assert ran.json["identical"] == ran.json["total"] > 6
    assert ran.err == ""


def test_all_agents_are_all(live: Program) -> None:
    """Beside a session or an agent the option has no meaning, and says so."""
    ran = live.here("replay", "verify", "evening", "--all-agents")

    assert ran.code == 2
    assert "--all-agents" in ran.err


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


def test_what_was_quarantined_shows_in_doctor_and_log(
    live: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that cannot be read, of a sensor that asks nobody, is kept and explained."""
    monkeypatch.setattr(admission, "refused", lambda *_: None)
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
    out = live.here("pack", "unload", "desk", "--agent", "packed")
    twice = live.here("pack", "unload", "desk", "--agent", "packed")
    left = live.here("pack", "list", "--agent", "packed", "--json").json["rows"]

    assert "out of force for packed" in out.out, out.err
    assert twice.code == 1
    assert "echoic pack unload desk --all" in twice.err
    assert [row["name"] for row in left] == ["survival"]
    assert first.code == again.code == 0, first.err + again.err
    assert "already" in again.out
    owners = {row["name"]: row["for"] for row in rows}
    assert owners == {"survival": "all", "desk": "packed"}


def test_a_sensor_loses_its_access(live: Program) -> None:
    """Its file goes, the broker knows it no more, and revoking again says so."""
    made = live.here("sensor", "access", "porch", "--agent", "ada")
    path = Path(made.out.strip())
    assert path.exists()

    gone = live.here("sensor", "revoke", "porch", "--agent", "ada")
    again = live.here("sensor", "revoke", "porch", "--agent", "ada")

    assert gone.code == 0, gone.err
    assert not path.exists()
    assert again.code == 2
    assert "there is no sensor 'porch' of 'ada'" in again.err


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


def test_people_of_a_home_speak_with_rights_of_their_own(live: Program) -> None:
    """A day of the home is played, and its people have an account beside the house's."""
    ran = live.here("sensor", "home", "--agent", "house", "--pace", "0")
    folder = live.data / "sensors"
    names = sorted(
        json.loads(path.read_text())["user"] for path in folder.glob("house.*.json")
    )

    assert ran.code == 0, ran.err
    assert names == ["house.home", "house.user"]
    found = live.here("explain", "--last", "--agent", "house", "--json").json
    assert found["source"] == "home"


def test_watch_shows_what_is_decided_from_now_on(live: Program) -> None:
    """Each decision is one line of JSON; the last one wanted ends it."""
    with watching(live, "watch", "--agent", "seen", "-n", "1", "--json") as watcher:
        thirsty(live, "seen", 3, "Your drink is low: 3 of 9.")
        out, _ = watcher.communicate(timeout=PATIENCE_S)

    assert json.loads(out.splitlines()[-1])["said"].startswith("You are thirsty")


def test_ctrl_c_ends_watch_with_130(live: Program) -> None:
    """Interrupting is no error and leaves no traceback."""
    with watching(live, "watch", "--agent", "seen") as watcher:
        watcher.send_signal(signal.SIGINT)
        _, err = watcher.communicate(timeout=PATIENCE_S)

    assert watcher.returncode == 130
    assert "Traceback" not in err


def test_the_read_models_come_up_with_the_log(live: Program) -> None:
    """One version serves, and in the end it is not behind."""
    listed = eventually(lambda: live.here("projection", "list", "--json")).json

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


def test_an_input_whose_rows_are_missing_shows_in_doctor(live: Program) -> None:
    """The row that a mistake of ours leaves is told, with how to mend it."""
    eventually(lambda: live.here("projection", "lag"))
    url = json.loads((live.data / "instance.json").read_text())["database_url"]
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(
            "INSERT INTO quarantine (agent, id, reason, detail, sequence)"
            " VALUES ('ada', 'x/rows', 'no_rows', 'KeyError in projections', 7)"
        )
        checks = live.here("doctor", "--json").json["checks"]
        database.execute("DELETE FROM quarantine WHERE id = 'x/rows'")

    (told,) = (each for each in checks if each["name"] == "read models")
    assert "1 input" in told["found"]
    assert "KeyError" in told["found"]
    assert "rebuild" in told["advice"]


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
    # What the start before wrote is kept beside.
    assert (echoic.data / "echoic.log.1").exists()
    rows = echoic("heuristic", "list", "--json").json["rows"]
    assert echoic("down").code == 0

    assert [row["name"] for row in rows] == ["c"]
    assert not (echoic.data / "instance.json").exists()


def test_the_data_folder_keeps_passwords_to_its_owner(live: Program) -> None:
    """Files with credentials are readable by nobody else."""
    for path in (live.data / "instance.json", *secret_files(live.data / "sensors")):
        assert path.stat().st_mode & 0o077 == 0


def secret_files(folder: Path) -> list[Path]:
    """What is in a folder, if it is there."""
    return sorted(folder.glob("*.json"))
