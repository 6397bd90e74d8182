"""Data folders of earlier versions under the present program: tests/fixtures/data_folders."""

import asyncio
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from projections.postgres.server import binaries, embedded_postgres
from tests.echoic.cli.acting import eventually, read_models
from tests.echoic.cli.conftest import ROOT, Program
from tests.echoic.cli.test_instances import running

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

FOLDERS = ROOT / "tests" / "fixtures" / "data_folders"
ARCHIVES = sorted(FOLDERS.glob("*.tar.gz"))
BYTES_MAX = 300_000


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


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name[:10])
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
    with running(echoic):
        later = echoic.here("log", "verify", "--full", "--json")

    assert (whole.code, whole.json["messages"]) == (0, told["messages"])
    assert verified.code == 0, verified.out
    assert verified.json["inputs"] == verified.json["groups"] > told["inputs"]
    assert replayed.code == 0, replayed.out
    assert replayed.json["identical"] == replayed.json["total"] > told["inputs"]
    beliefs = known.json["beliefs"]
    assert {each["heuristic_id"]: each["confidence"] for each in beliefs} == (
        told["beliefs"]
    )
    assert known.json["rapport"] == told["rapport"]
    assert voted.json["said"] == told["said"]
    assert ("shape" in before["found"]) == told["other_shape"], before
    assert rebuilt.code == proved.code == after.code == 0, rebuilt.err + proved.out
    assert again.json["response_text"] == told["said"], again.out
    assert (sound.code, later.code) == (0, 0), sound.out + later.out
