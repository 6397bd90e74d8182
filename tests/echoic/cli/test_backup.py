"""`echoic backup` and `echoic restore`, of instances that go on meanwhile."""

import asyncio
import json
import re
import shlex
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from echoic.config.load import defaults
from echoic.run import restoring
from schemas.messages.sensing import Sensed
from schemas.values.subjects import partition_of
from streams.backup_file import reading
from streams.broker import guarding
from streams.log import append_input
from tests.echoic.cli.acting import eventually, read_models
from tests.echoic.cli.conftest import SURVIVAL, Program, Ran
from tests.echoic.cli.test_instances import other_processes, running
from tests.patience import PATIENCE_S
from tests.servers import fresh_server

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

AGENTS = ("ana", "bo", "cy")
EVENTS = 150


def log_of(program: Program, **environment: str) -> list[dict[str, Any]]:
    """All messages of the log, as they are stored."""
    ran = program.here("log", "tail", "-n", "1000000", "--json", **environment)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def copied(
    messages: list[dict[str, Any]], logs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Those that the copies of the log's streams hold, by what a backup says of them."""
    held = [
        each
        for each in messages
        if any(
            log["last"] - log["messages"] < each["sequence"] <= log["last"]
            for log in logs
        )
    ]
    return sorted(held, key=lambda each: int(each["sequence"]))


def streaming(program: Program) -> list["subprocess.Popen[str]"]:
    """Events of every agent, published one after the other by processes of their own."""
    lines = "".join(f'{{"text": "The kettle is on {n}"}}\n' for n in range(EVENTS))
    (program.folder / "events.jsonl").write_text(lines)
    return [
        program.start("pub", "--file", "events.jsonl", "--agent", agent)
        for agent in AGENTS
    ]


def is_sound(program: Program, **environment: str) -> None:
    """The log, every decision and the tables hold what they must."""
    verified = eventually(
        lambda: program.here("log", "verify", "--full", "--json", **environment)
    )
    replayed = program.here("replay", "verify", "--all-agents", "--json", **environment)
    assert verified.code == 0, verified.out + verified.err
    assert verified.json["inputs"] == verified.json["groups"] > 0
    assert replayed.code == 0, replayed.out + replayed.err
    assert replayed.json["identical"] == replayed.json["total"] > 0


def test_a_backup_amid_events_and_a_killed_worker(echoic: Program) -> None:
    """Restored, it is the log up to one point; what came in then is decided after it."""
    variables = {"ECHOIC_LOG_STREAMS": "4", "ECHOIC_PACKS": str(SURVIVAL)}
    path = echoic.folder / "tonight.backup"
    other = Program(echoic.folder / "elsewhere")
    other.folder.mkdir()
    assert len({partition_of(each) // 8 for each in AGENTS}) == 2
    with running(echoic, ECHOIC_WORKER_PROCESSES="2", **variables):
        echoic.here("sensor", "access", "kitchen")
        senders = streaming(echoic)
        eventually(lambda: Ran(0 if len(log_of(echoic)) > 200 else 1, "", ""))
        (victim,) = other_processes(echoic)
        copying = echoic.start("backup", str(path), "--with-credentials", "--json")
        victim.kill()
        out, err = copying.communicate(timeout=PATIENCE_S)
        assert copying.returncode == 0, err
        told = json.loads(out)
        again = echoic.here("backup", str(path))
        for each in senders:
            # It also closes their pipes.
            each.communicate(timeout=PATIENCE_S)
            assert each.returncode == 0
        is_sound(echoic)
        original = log_of(echoic)
    restored = other.here("restore", str(path), "--json")
    assert restored.code == 0, restored.err
    refused = other.here("restore", str(path))
    with running(other):
        is_sound(other)
        proved = eventually(lambda: other.here("projection", "rebuild", "--verify"))
        goes_on = other.here("pub", "hello", "--wait", "--agent", "ana")
        found = log_of(other)

    logs = [each for each in told["streams"] if each["name"].startswith("LOG")]
    assert len(logs) == 5
    assert copied(found, logs) == copied(original, logs)
    assert len(copied(found, logs)) > 200
    assert (again.code, refused.code) == (2, 2)
    assert "replaces nothing" in again.err
    assert "is not empty" in refused.err
    assert (proved.code, goes_on.code) == (0, 0), proved.out + goes_on.err
    texts = [
        (each["subject"], each["body"]["text"])
        for each in found
        if ".in." in each["subject"] and "kettle" in str(each["body"])
    ]
    # Each agent's own events: a prefix of what was sent, none left out and none twice.
    assert len(texts) == len(set(texts))
    for agent in AGENTS:
        own = [text for subject, text in texts if f".{agent}." in subject]
        assert own == [f"The kettle is on {n}" for n in range(len(own))]
    access = "sensors/companion.kitchen.json"
    kept, there = (
        json.loads((each.data / access).read_text()) for each in (echoic, other)
    )
    assert kept["password"] == there["password"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_stopped_instance_is_backed_up_into_a_folder(echoic: Program) -> None:
    """Without passwords unless they are wanted; the file is named by the moment."""
    with running(echoic):
        echoic.here("sensor", "access", "kitchen")
        echoic.here("pub", "hello", "--wait")
    made = echoic.here("backup", ".", "--json")
    nothing = echoic.here("backup", "x.backup", "--data", "none")
    none_yet = echoic.here("restore", "last")
    path = Path(made.json["file"])
    whole = path if path.is_absolute() else echoic.folder / path
    with reading(whole) as file:
        names = [each.name for each in file.manifest.files]

    assert (made.code, nothing.code) == (0, 3), made.err
    assert none_yet.code == 2
    assert "holds no backup" in none_yet.err
    assert names == []
    assert not made.json["with_credentials"]
    assert not (echoic.folder / "x.backup").exists()
    assert not (echoic.folder / "none").exists()
    secrets = json.loads((echoic.data / "nats" / "identity.json").read_text())
    assert secrets["password"].encode() not in whole.read_bytes()


def test_an_older_backup_under_newer_tables_is_noticed(echoic: Program) -> None:
    """The read models stand still and say so, and a rebuild makes them anew."""
    with running(echoic):
        echoic.here("pub", "hello", "--wait")
        assert echoic.here("backup", "old.backup").code == 0
        echoic.here("pub", "hello again", "--wait")
        assert eventually(lambda: echoic.here("projection", "lag")).code == 0
    older = Program(echoic.folder / "older")
    older.folder.mkdir()
    assert older.here("restore", str(echoic.folder / "old.backup")).code == 0
    shutil.rmtree(echoic.data / "nats")
    (older.data / "nats").rename(echoic.data / "nats")
    with running(echoic):
        found = eventually(
            lambda: Ran(read_models(echoic)["verdict"] != "problem", "", "")
        )
        said = read_models(echoic)["found"]
        rebuilt = echoic.here("projection", "rebuild")
        proved = eventually(lambda: echoic.here("projection", "rebuild", "--verify"))

    assert found.code == 0
    assert "the log" in said
    assert (rebuilt.code, proved.code) == (0, 0), rebuilt.err + proved.out


async def test_a_broker_of_ones_own_is_backed_up_and_restored(echoic: Program) -> None:
    """By `NATS_URL`, from one broker to another, which must have none of the streams."""
    path = echoic.folder / "own.backup"
    async with fresh_server() as one, fresh_server() as another:
        first, second = (
            each.core.url.replace("://", f"://{each.core.user}:{each.core.password}@")
            for each in (one, another)
        )
        with running(echoic, NATS_URL=first):
            spoken = echoic("pub", "hello", "--wait", NATS_URL=first)
            made = echoic("backup", str(path), NATS_URL=first)
            wanted = echoic("backup", "c.backup", "--with-credentials", NATS_URL=first)
        restored = echoic("restore", str(path), NATS_URL=second)
        refused = echoic("restore", str(path), NATS_URL=first)
        with running(echoic, NATS_URL=second):
            verified = echoic("log", "verify", "--full", "--json", NATS_URL=second)
            goes_on = echoic("pub", "hello", "--wait", NATS_URL=second)

    assert spoken.code == made.code == restored.code == 0, made.err + restored.err
    assert (wanted.code, refused.code) == (2, 2)
    assert "already" in refused.err
    assert (verified.code, goes_on.code) == (0, 0), verified.out + goes_on.err
    assert verified.json["inputs"] > 0


def test_a_sealed_backup_says_that_its_keys_are_missing(echoic: Program) -> None:
    """At each end, at the next start, and where a replay proves nothing without them."""
    sealing = {"ECHOIC_PRIVACY_SEAL": "on"}
    path, other = echoic.folder / "a.backup", Program(echoic.folder / "elsewhere")
    other.folder.mkdir()
    with running(echoic, **sealing):
        said = echoic.here("pub", "The kettle is on", "--person", "ana", "--wait")
        assert said.code == 0, said.err
        made = echoic.here("backup", str(path))
        sound = echoic.here("replay", "verify", "--all-agents", "--json")
    restored = other.here("restore", str(path))
    started = other("up", "--detach", **sealing)
    try:
        shown = other.here("replay", "verify")
        whole = other.here("replay", "verify", "--all-agents", "--json")
        checks = other.here("doctor", "--json", "--exit-zero").json["checks"]
    finally:
        other("down")

    assert "its keys are in no backup" in made.err
    assert (sound.code, sound.json["verdict"], sound.json["lost"]) == (
        0,
        "identical",
        0,
    )
    for each in (restored, started, shown):
        assert "the keys of this sealed log are missing" in each.err, each.err
    assert (restored.code, started.code) == (0, 0), started.err
    assert (shown.code, whole.code) == (1, 1)
    assert "sealed: their keys are missing" in shown.out
    assert "divergence" not in shown.out
    found = whole.json
    assert (found["verdict"], found["divergence"]) == ("sealed", None)
    assert found["lost"] == found["sealed"] > 0
    assert found["identical"] + found["sealed"] == found["total"]
    [privacy] = [each for each in checks if each["name"] == "privacy"]
    assert privacy["verdict"] == "problem"
    assert "the keys of this sealed log are missing" in privacy["found"]


async def come_later(data: Path, text: str) -> int:
    """Put an event into the log of an instance that stopped; return where it stands."""
    async with restoring.over_stopped(replace(defaults(), data=data)) as connection:
        event = Sensed(source="user", type="message", text=text, person="ana")
        return await append_input(
            connection.log, connection.log.epoch, event,
            agent="companion", partition=partition_of("companion"), id_=text,
            source="/tests",
        )  # fmt: skip


def test_a_backup_by_hand_is_of_all_that_the_files_hold(
    live: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those that an instance makes by itself: what the broker passes over is no log."""

    async def passes_over(_: object, folder: Path) -> None:
        raise guarding.damage(
            folder / "jetstream/jetstream/CORE/streams/LOG", 7, "gone"
        )

    monkeypatch.setattr(guarding, "check_open_blocks", passes_over)
    refused = live.here("backup", str(tmp_path / "a.backup"))

    assert refused.code == 2
    assert "damaged at sequence 7" in refused.err
    assert "echoic log verify" in refused.err
    assert not (tmp_path / "a.backup").exists()


def test_a_damaged_log_is_restored_from_its_own_backup(echoic: Program) -> None:
    """No start drops what can be read, what is missing since is told, and it goes on; what was
    sealed is sealed, with the keys that are there."""
    sealing = {"ECHOIC_PRIVACY_SEAL": "on"}
    with running(echoic, ECHOIC_BACKUP_EVERY="1s", ECHOIC_BACKUP_KEEP="2", **sealing):
        assert echoic.here("pub", "kettle", "--person", "ana", "--wait").code == 0
        before = log_of(echoic)[-1]["sequence"]
        eventually(lambda: Ran(0 if newest(echoic) >= before else 1, "", ""))
    last = asyncio.run(come_later(echoic.data, "toaster"))
    kept = newest(echoic)
    [block] = (echoic.data / "nats").glob("jetstream/*/*/streams/LOG/msgs/1.blk")
    data = bytearray(block.read_bytes())
    data[len(data) // 2] ^= 0x55
    block.write_bytes(data)

    refused = echoic("up", "--detach", **sealing)
    verified = echoic.here("log", "verify", "--json")
    [advice] = re.findall(r"(restore last --data \S+)`", " ".join(refused.err.split()))
    assert block.read_bytes() == data
    restored = echoic.here(*shlex.split(advice), "--json")
    with running(echoic, **sealing):
        again = echoic.here("pub", "doorbell", "--person", "ana", "--wait")
        is_sound(echoic)
        lag = eventually(lambda: echoic.here("projection", "lag"))
        texts = str([each["body"] for each in log_of(echoic)])

    assert refused.code != 0
    assert "echoic log verify --data" in refused.err
    assert (verified.code, verified.json["sound"]) == (1, False)
    assert "restore last" in verified.json["damage"]
    assert restored.code == 0, restored.err
    [lost] = restored.json["lost"]
    assert (lost["stream"], lost["first"], lost["last"]) == ("LOG", kept + 1, last)
    assert lost["until"] is not None
    [found] = Path(restored.json["aside"]).glob("jetstream/*/*/streams/LOG/msgs/1.blk")
    assert found.read_bytes() == data
    assert (again.code, lag.code) == (0, 0), again.err
    assert [each in texts for each in ("kettle", "toaster", "doorbell")] == [
        True,
        False,
        True,
    ]


def newest(program: Program) -> int:
    """Where the log ends in the newest backup that an instance made by itself."""
    made = sorted((program.data / "backups").glob("*.backup"))
    if not made:
        return 0
    with reading(made[-1]) as file:
        return int(file.manifest.stream("LOG").state["last_seq"])
