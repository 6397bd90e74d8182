"""Data folders of earlier versions under the present program: tests/fixtures/data_folders."""

import asyncio
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from projections.postgres.server import binaries, embedded_postgres
from projections.store.places import SHAPE
from schemas.messages.sensing import Sensed
from schemas.values.record import Wire
from schemas.values.subjects import outputs_of, parse, partition_of
from streams.broker.server import embedded_server
from streams.groups import groups
from streams.log import GroupWrite, append_input
from tests.echoic.cli.acting import eventually, read_models
from tests.echoic.cli.conftest import ROOT, Program, Ran
from tests.echoic.cli.test_instances import running
from tests.servers import opened

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

FOLDERS = ROOT / "tests" / "fixtures" / "data_folders"
ARCHIVES = sorted(FOLDERS.glob("*.tar.gz"))
BYTES_MAX = 300_000
TOLD_OF = 6
"""The shape of the tables when the archives were told whether theirs is another."""


def unpacked(program: Program, archive: Path) -> Any:
    """Make the archive the program's data folder; return what the old version told."""
    with tarfile.open(archive) as tar:
        tar.extractall(program.folder, filter="data")
    asyncio.run(restore_tables(program))
    return json.loads((program.folder / "expected.json").read_text())


async def restore_tables(program: Program) -> None:
    """Fill a new database with the old version's read models, as it left them."""
    dump = program.folder / "tables.sql"
    async with embedded_postgres(program.data / "postgres") as database:
        process = await asyncio.create_subprocess_exec(
            *(str(binaries() / "psql"), "-q", "-v", "ON_ERROR_STOP=1"),
            *("-f", str(dump), database.url),
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await process.wait() == 0


def test_the_archives_are_small() -> None:
    """There are two, and a clone does not suffer from them."""
    assert len(ARCHIVES) == 2
    assert all(archive.stat().st_size < BYTES_MAX for archive in ARCHIVES)


def repeats(replayed: Ran) -> bool:
    """Whether all is decided again as it was, but for what a later rule decides otherwise.

    Since these folders were made, an event that was held back stays as new as it was, so the
    next one like it gets as far as the cooldown, in which its answer waits: two messages
    instead of one. The replay of its agent ends there.
    """
    first = replayed.json["divergence"]
    assert first["what"] == "headers", replayed.out
    counts = [first[each].count("ce-count: 2") for each in ("recorded", "replayed")]
    assert counts == [0, 1], replayed.out
    left = int(replayed.json["total"]) - int(replayed.json["identical"])
    return 0 < left <= 2


@pytest.mark.parametrize(
    "archive", ARCHIVES, ids=lambda path: path.name.partition(".")[0]
)
def test_an_older_data_folder_is_taken_over(echoic: Program, archive: Path) -> None:
    """Read as it is, decided the same again, its tables made again, and gone on with."""
    told = unpacked(echoic, archive)
    whole = echoic.here("log", "verify", "--json")
    with running(echoic):
        verified = echoic.here("log", "verify", "--full", "--json")
        replayed = echoic.here("replay", "verify", "--all-agents", "--json")
        # At where it ended: the first start of a new version may bring new settings.
        known = echoic.here("state", "ada", "--at", str(told["position"]), "--json")
        voted = echoic.here("explain", told["voted"], "--agent", "ada", "--json")
        before = read_models(echoic)
        rebuilt = echoic.here("projection", "rebuild")
        proved = echoic.here("projection", "rebuild", "--verify")
        after = eventually(lambda: echoic.here("projection", "lag"))
        again = echoic.here(*told["event"], "--agent", "ada", "--wait", "--json")
        sound = echoic.here("log", "verify", "--json")
    # As a backup, and in segments, it is the same log.
    there = Program(echoic.folder / "there")
    there.folder.mkdir()
    kept = echoic.here("backup", "kept.backup", "--json")
    put_back = there.here("restore", str(echoic.folder / "kept.backup"))
    segmented = there.here("log", "segment", "--json")
    with running(there):
        later = there.here("log", "verify", "--full", "--json")
        as_before = there.here("replay", "verify", "--all-agents", "--json")

    assert (whole.code, whole.json["inputs"]) == (0, told["inputs"])
    assert verified.code == 0, verified.out
    assert verified.json["inputs"] == verified.json["groups"] > told["inputs"]
    assert repeats(replayed), replayed.out
    assert replayed.json["identical"] > told["inputs"] // 2
    beliefs = known.json["beliefs"]
    assert {each["heuristic_id"]: each["confidence"] for each in beliefs} == (
        told["beliefs"]
    )
    assert known.json["rapport"] == told["rapport"]
    assert voted.json["said"] == told["said"]
    is_other = told["other_shape"] or SHAPE != TOLD_OF
    assert ("shape" in before["found"]) == is_other, before
    assert rebuilt.code == proved.code == after.code == 0, rebuilt.err + proved.out
    assert again.json["response_text"] == told["said"], again.out
    assert (sound.code, later.code) == (0, 0), sound.out + later.out
    assert (kept.code, put_back.code, segmented.code) == (0, 0, 0), put_back.err
    assert repeats(as_before), as_before.out
    assert as_before.json["identical"] > replayed.json["identical"]


def test_an_older_data_folder_is_segmented(echoic: Program) -> None:
    """It goes on in four streams, and all of it verifies, a session over the cut as well."""
    told = unpacked(echoic, ARCHIVES[0])
    file = str(echoic.folder / "cleo.echoic")
    with running(echoic):
        refused = echoic.here("log", "segment")
        echoic.here("pub", "Good morning.", "--wait", "--agent", "cleo")
    cut = echoic.here("log", "segment", "--streams", "4", "--json")
    with running(echoic):
        again = echoic.here(*told["event"], "--agent", "ada", "--wait", "--json")
        echoic.here("pub", "Good night.", "--wait", "--agent", "cleo")
        sessions = echoic.here("session", "list", "--agent", "cleo", "--json")
        one = sessions.json["rows"][-1]
        echoic.here("session", "export", one["id"], "--agent", "cleo", "-o", file)
        whole = echoic.here("replay", "verify", file, "--json")
        tailed = echoic.here("log", "tail", "-n", "200", "--json")
        verified = echoic.here("log", "verify", "--full", "--json")
        replayed = echoic.here("replay", "verify", "--all-agents", "--json")
        rebuilt = echoic.here("projection", "rebuild")
        proved = echoic.here("projection", "rebuild", "--verify")
        after = eventually(lambda: echoic.here("projection", "lag"))
    stopped = echoic.here("log", "verify", "--full")

    assert refused.code != 0
    assert "no worker may write" in refused.err
    assert cut.code == 0, cut.err
    assert len(cut.json["segments"]) == 5
    assert again.json["response_text"] == told["said"], again.out
    assert whole.code == 0, whole.err
    assert one["inputs"] >= 2, one
    assert whole.json["identical"] == whole.json["total"] >= 2, whole.out
    assert tailed.out.count("segment_closed") >= 16, tailed.out
    assert verified.code == 0, verified.out
    assert verified.json["inputs"] == verified.json["groups"] > told["inputs"]
    assert repeats(replayed), replayed.out
    assert replayed.json["identical"] > told["inputs"] // 2
    assert rebuilt.code == proved.code == after.code == 0, rebuilt.err + proved.out
    assert stopped.code == 0, stopped.err
    assert "the log is sound" in stopped.err


async def written_by_a_newer_program(program: Program, agent: str) -> int:
    """Answer one more event with a message whose version is yet to come; return where."""
    partition = partition_of(agent)
    async with embedded_server(program.data / "nats") as server, opened(server) as log:
        whole = [each async for each in groups(log.reader, partition)]
        last = next(each for each in reversed(whole) if len(each.outputs) == 1)
        event = Sensed(source="user", type="message", text="Hello from tomorrow.")
        cause = await append_input(
            log.writer, log.reader.epoch, event,
            agent=agent, partition=partition, id_="of-tomorrow", source="/tests",
        )  # fmt: skip
        ((output,),) = [last.outputs]
        newer = {
            **output.headers, "ce-id": "decided-tomorrow", "ce-schemaversion": "99",
            "ce-causeid": "of-tomorrow", "ce-causeseq": str(cause),
        }  # fmt: skip
        fence = await log.reader.last_sequence(outputs_of(partition))
        message = Wire(output.subject, newer, output.body)
        assert parse(message.subject).direction == "out"
        write = GroupWrite(partition, fence, (message,))
        return (await log.writer.commit([write]))[partition]


def test_a_log_of_a_later_version_is_refused_whole(echoic: Program) -> None:
    """Who goes back is told at which message, and nothing is written behind it."""
    with running(echoic):
        assert echoic.here("pub", "Hello.", "--wait", "--agent", "ada").code == 0
    sequence = asyncio.run(written_by_a_newer_program(echoic, "ada"))
    before = echoic.here("log", "verify", "--json")

    refused = echoic("up", "--detach")
    after = echoic.here("log", "verify", "--json")

    assert refused.code == 2, refused.out
    assert f"output {sequence} " in refused.err
    assert "cannot be read: '" in refused.err
    assert "' has version 99" in refused.err
    assert "upgrade it" in refused.err
    assert after.json == before.json
