"""Instances of different making: with a model, without a database, on foreign servers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # has no types
import psycopg
import pytest

from echoic.client.instance_note import sole_instance
from schemas.values.subjects import partition_of
from tests import strict_models
from tests.echoic.cli.acting import eventually, started_with
from tests.echoic.cli.conftest import SURVIVAL, Program, Ran
from tests.model_server import model_server
from tests.patience import PATIENCE_S
from tests.processes import command_of
from tests.servers import fresh_server

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]


@contextmanager
def running(program: Program, **environment: str) -> Iterator[str]:
    """An instance with some variables; what it said when it came up."""
    started = program("up", "--detach", **environment)
    assert started.code == 0, started.err
    try:
        yield started.out
    finally:
        program("down")


def written(path: str) -> dict[str, str]:
    """The credentials in a file whose path was printed."""
    found: dict[str, str] = json.loads(Path(path.strip()).read_text())
    return found


def checks(program: Program) -> dict[str, str]:
    """What the doctor says of each thing, with the settings of another shell."""
    found = program.here("doctor", "--json", "--exit-zero").json["checks"]
    return {each["name"]: each["verdict"] for each in found}


@pytest.mark.model
def test_a_model_answers_what_nothing_learnt_does(echoic: Program) -> None:
    """`pub --wait` waits for the completion; the prompt is the one that was asked.

    By the README's line, with a server that refuses what that model does.
    """
    reply = {"response": "Mind the step.", "predicted_success": 0.9, "confidence": 0.6}
    with model_server() as model:
        model.text = json.dumps(reply)
        model.refuses = strict_models.openai_reasoning
        arguments, settings = started_with("openai/gpt-5-mini")
        settings["ECHOIC_MODEL_API_BASE"] = model.base
        assert arguments == ["up", "--detach"]
        with running(echoic, **settings) as banner:
            ran = echoic.here("pub", "I am on the stairs.", "--wait", "--json")
            page = echoic.here("explain", "--last")
            healthy = checks(echoic)
            model.failures.extend([500] * 9)
            sick = checks(echoic)
            code = echoic.here("doctor").code
            screen = echoic.here("status")

    assert "openai/gpt-5-mini" in banner
    assert (healthy["model"], sick["model"], code) == ("fine", "problem", 1)
    for words in (
        "openai/gpt-5-mini",
        "every input is answered",
        "I am on the stairs.",
    ):
        assert words in screen.out
    assert ran.code == 0, ran.err
    assert ran.json["decision_path"] == "llm"
    assert "Mind the step." in ran.json["response_text"]
    assert "I am on the stairs." in ran.json["prompt_text"]
    assert ran.json["predicted_success"] <= 0.8
    assert "Spoke by the model" in page.out


def test_without_a_database_the_mind_goes_on(echoic: Program) -> None:
    """A database that is away makes read models stale, and nothing else."""
    away = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    with running(echoic, **away):
        spoken = echoic.here("pub", "hello", "--wait", **away)
        learnt = echoic.here("heuristic", "list", "--json", **away)
        sessions = echoic.here("session", "list", "--json", **away)
        models = echoic.here("projection", "lag", **away)
        sound = echoic.here("log", "verify", **away)

    assert spoken.code == learnt.code == sessions.code == sound.code == 0
    assert len(sessions.json["rows"]) == 1
    assert models.code == 3
    assert "is away" in models.err


@pytest.mark.timeout(400)
def test_processes_share_the_agents(echoic: Program) -> None:
    """Every agent is answered and known, by whichever process; one that dies comes back."""
    agents = ("ana", "bo", "cy")
    assert len({partition_of(each) // 8 for each in agents}) == 2
    with running(echoic, ECHOIC_WORKER_PROCESSES="2"):
        spoken = [said(echoic, "hello", agent) for agent in agents]
        owned = worker_check(echoic)
        (other,) = other_processes(echoic)
        other.kill()
        # The process, not what is said of it: it may be back before anybody asks.
        back = eventually(lambda: Ran(int(not is_back(echoic, other)), "", ""))
        whole = eventually(lambda: Ran(int(worker_check(echoic) != owned), "", ""))
        spoken += [said(echoic, "hello again", agent) for agent in agents]
        sound = echoic.here("log", "verify")

    assert [ran.code for ran in (*spoken, back, whole, sound)] == [0] * 9
    assert owned == ("every input is answered; worker-0 owns 0-7, worker-1 owns 8-15")


def said(program: Program, text: str, agent: str) -> Ran:
    """Tell an agent something and wait for its answer."""
    return program.here("pub", text, "--wait", "--agent", agent)


def worker_check(program: Program) -> str:
    """What the doctor says of the workers."""
    found = program.here("doctor", "--json", "--exit-zero").json["checks"]
    return str(next(each["found"] for each in found if each["name"] == "worker"))


def other_processes(program: Program) -> list[psutil.Process]:
    """The workers beside the instance's own."""
    note = json.loads((program.data / "instance.json").read_text())
    return [
        each
        for each in psutil.Process(note["pid"]).children()
        if "echoic.run.worker_process" in command_of(each)
    ]


def is_back(program: Program, killed: psutil.Process) -> bool:
    """Tell whether another process runs in place of one that was killed."""
    return any(each.pid != killed.pid for each in other_processes(program))


@pytest.mark.slow
def test_a_rebuild_sets_tables_going_that_stood_still(echoic: Program) -> None:
    """What the error proposes helps, and the instance need not be started anew."""
    with running(echoic):
        assert eventually(lambda: echoic.here("projection", "lag")).code == 0
        url = json.loads((echoic.data / "instance.json").read_text())["database_url"]
        with psycopg.connect(url) as database:
            database.execute("ALTER TABLE decisions__v1 DROP COLUMN message CASCADE")
        log = echoic.data / "echoic.log"
        echoic.here("pub", "hello", "--wait")
        assert (
            eventually(lambda: Ran("stand still" not in log.read_text(), "", "")).code
            == 0
        )

        rebuilt = echoic.here("projection", "rebuild")
        echoic.here("pub", "hello again", "--wait")
        lag = eventually(lambda: echoic.here("projection", "lag"))

    assert rebuilt.code == lag.code == 0, rebuilt.err + lag.err


async def test_a_broker_of_ones_own_serves_as_well(echoic: Program) -> None:
    """NATS_URL points the same program at another broker, user and password in it."""
    async with fresh_server() as server:
        core = server.core
        address = core.url.replace("://", f"://{core.user}:{core.password}@")
        with running(echoic, NATS_URL=address):
            ran = echoic("pub", "hello", "--wait", NATS_URL=address)
            sensor = echoic("sensor", "access", "door", NATS_URL=address)
            health = echoic("health", NATS_URL=address)
            stuck = health_while_it_hangs(echoic)
            again = eventually(lambda: echoic.here("health"))
            checked = echoic("doctor", "--json", "--exit-zero", NATS_URL=address)
        accounts = echoic("sensor", "accounts", NATS_URL=address)
        gone = echoic("health", NATS_URL=address)

    assert ran.code == 0, ran.err
    access = written(sensor.out)
    assert access["url"] == core.url
    assert "echoic sensor accounts" in sensor.err
    assert '"SENSOR.companion.door"' in accounts.out
    assert core.password not in accounts.out
    assert access["password"] not in accounts.out
    assert (health.code, gone.code) == (0, 3), health.err
    assert (stuck.code, again.code) == (1, 0), stuck.out + stuck.err
    assert "no sign of life for 9" in stuck.err
    # That it is not installed here would be no problem.
    assert "nats-server" not in [each["name"] for each in checked.json["checks"]]


def health_while_it_hangs(program: Program) -> Ran:
    """What the probe says of a process that stands still, 90 seconds after its last sign."""
    note = program.data / "instance.json"
    pid = json.loads(note.read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        before = time.time() - 90
        os.utime(note, (before, before))
        return program.here("health")
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_broker_without_a_password_gets_no_accounts(echoic: Program) -> None:
    """Nobody could be let in by them: the error says what to set."""
    ran = echoic("sensor", "accounts")

    assert ran.code == 2
    assert "NATS_URL" in ran.err


def test_the_projector_alone_needs_both_addresses(echoic: Program) -> None:
    """It starts no servers, whose log nobody would write."""
    ran = echoic("up", ECHOIC_PARTS="projector", NATS_URL="nats://127.0.0.1:1")

    assert ran.code == 2
    assert "set NATS_URL and DATABASE_URL" in ran.err


def test_a_broken_pack_stops_the_start(echoic: Program) -> None:
    """All of the pack's mistakes are named, and nothing keeps running."""
    folder = echoic.folder / "broken"
    folder.mkdir()
    (folder / "manifest.yaml").write_text("schema: 1\nname: broken\nvrsion: 1\n")

    ran = echoic("up", "--detach", "--pack", str(folder))

    assert ran.code == 2
    assert "the instance did not start" in ran.err
    assert "E-PACK-" in ran.err
    assert echoic.here("watch").code == 3


def test_ctrl_c_ends_an_instance_without_a_word_too_many(echoic: Program) -> None:
    """However early it comes: the whole group gets it, as in a terminal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "echoic", "up"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=echoic.folder,
        env=echoic.environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert "is up" in process.stdout.readline()

    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0
    assert err.splitlines() == ["starting …", "stopping …"]


def test_packs_named_by_settings_are_in_force_for_everyone(echoic: Program) -> None:
    """ECHOIC_PACKS loads packs at the start, once."""
    with running(echoic, ECHOIC_PACKS=str(SURVIVAL)):
        pass
    with running(echoic, ECHOIC_PACKS=str(SURVIVAL)):
        rows = echoic.here("pack", "list", "--agent", "any", "--json").json["rows"]
        tail = echoic.here("log", "tail", "--kind", "control", "-n", "100", "--json")

    loaded = [line for line in tail.out.splitlines() if ".pack_loaded" in line]
    assert [(row["name"], row["for"]) for row in rows] == [("survival", "all")]
    assert len(loaded) == 16


def test_packs_of_the_folder_packs_are_found(echoic: Program) -> None:
    """Where none is named, each subfolder with a manifest is loaded, by name."""
    for name in ("stable", "attic"):
        folder = echoic.folder / "packs" / name
        folder.mkdir(parents=True)
        (folder / "manifest.yaml").write_text(f"name: {name}\nversion: 1.0.0\n")
    (echoic.folder / "packs" / "notes").mkdir()
    echoic("config", "trust")

    with running(echoic):
        found = echoic.here("pack", "list", "--agent", "any", "--json").json["rows"]
    (echoic.folder / "packs" / "attic" / "manifest.yaml").write_text("nothing: 1\n")
    ran = echoic("up", "--detach")

    assert [(row["name"], row["for"]) for row in found] == [
        ("attic", "all"),
        ("stable", "all"),
    ]
    assert ran.code == 2
    assert "E-PACK-" in ran.err


def test_a_damaged_note_is_named(echoic: Program) -> None:
    """A note that cannot be read says what to do about it, while an instance runs."""
    with sole_instance(echoic.data):
        (echoic.data / "instance.json").write_text("{")
        ran = echoic.here("explain", "--last")

    assert ran.code == 2
    assert "instance.json is damaged" in ran.err


@pytest.mark.parametrize("pid", [2**22 - 1, os.getpid()], ids=["none", "ours"])
def test_a_note_without_a_lock_does_not_count(echoic: Program, pid: int) -> None:
    """A killed instance left its note; its process id may be anybody's by now."""
    echoic.data.mkdir(parents=True)
    note = {
        "pid": pid,
        "started_at": "2026-11-21T12:00:00+00:00",
        "nats_url": "nats://127.0.0.1:1",
        "nats_user": "echoic",
        "nats_password": "x",
        "database_url": None,
    }
    (echoic.data / "instance.json").write_text(json.dumps(note))

    assert echoic.here("explain", "--last").code == 3
    assert "nothing runs" in echoic.here("down").out
