"""The embedded PostgreSQL: it starts, keeps its data, and leaves nothing running."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from projections.errors import StoreUnavailable
from projections.postgres.data_folder import recalled
from projections.postgres.server import EmbeddedPostgres, embedded_postgres
from tests.minds import until
from tests.processes import is_alive

pytestmark = pytest.mark.services

_OWNER = """
import asyncio, sys
from pathlib import Path
from projections.postgres.server import embedded_postgres

async def own():
    async with embedded_postgres(Path(sys.argv[1]), durable=False) as server:
        print(server.process_id, flush=True)
        await asyncio.Event().wait()

asyncio.run(own())
"""


def count(url: str) -> int:
    """How many rows the tests' table has."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM things").fetchone()
    assert row is not None
    return int(row[0])


async def test_data_outlives_the_server(folder: Path) -> None:
    """A second start over the folder finds what the first one stored."""
    async with embedded_postgres(folder / "pg") as server:
        first = server.url
        with psycopg.connect(first) as connection:
            connection.execute("CREATE TABLE things AS SELECT 1")
    async with embedded_postgres(folder / "pg") as server:
        identity = recalled(folder / "pg")
        assert identity is not None
        assert server.url == first == identity.url
        assert count(server.url) == 1


async def test_nothing_is_left_running(folder: Path) -> None:
    """When the block ends, so has the server with all its processes."""
    async with embedded_postgres(folder, durable=False) as server:
        assert server.process_id is not None
        process = psutil.Process(server.process_id)
        children = process.children()
        assert children

    assert not process.is_running()
    assert [each for each in children if each.is_running()] == []


async def test_a_crash_loses_no_commit(folder: Path) -> None:
    """What was committed is there after the server was killed and started again."""
    async with embedded_postgres(folder) as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE things AS SELECT 1")
        await server.kill()
        await server.restart()

        assert count(server.url) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own way to tell")
async def test_the_server_ends_with_its_owner(folder: Path) -> None:
    """Killed with -9, the program takes PostgreSQL with it; the folder can be used."""
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _OWNER, str(folder)), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    server = psutil.Process(int(await owner.stdout.readline()))
    owner.kill()
    await owner.wait()
    await until(lambda: not is_alive(server), "the server has ended")

    async with embedded_postgres(folder, durable=False) as again:
        assert again.process_id != server.pid


async def test_two_servers_do_not_share_a_folder(folder: Path) -> None:
    """The second is refused while the first one runs, even by another program."""
    async with embedded_postgres(folder, durable=False):
        (folder / "owner").write_text(str(os.getppid()))
        with pytest.raises(StoreUnavailable, match="another PostgreSQL uses"):
            await EmbeddedPostgres(folder).start()


async def test_a_stranger_needs_the_password(folder: Path) -> None:
    """Whoever is on the machine does not get in, and cannot read the password."""
    async with embedded_postgres(folder, durable=False) as server:
        password = server.url.split(":")[2].partition("@")[0]
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(server.url.replace(password, "guessed"))

    mode = (folder / "identity.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


async def test_a_taken_port_is_exchanged(folder: Path) -> None:
    """If somebody else listens where the server used to, it moves."""
    async with embedded_postgres(folder / "one", durable=False) as other:
        (folder / "two").mkdir()
        identity = (folder / "one" / "identity.json").read_text()
        (folder / "two" / "identity.json").write_text(identity)
        async with embedded_postgres(folder / "two", durable=False) as server:
            assert server.url != other.url
            with psycopg.connect(server.url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)


async def test_a_start_that_fails_tells_why(folder: Path) -> None:
    """The error holds the end of the server's own log and what to do instead."""
    (folder / "data").mkdir()
    (folder / "data" / "PG_VERSION").write_text("7")
    with pytest.raises(StoreUnavailable, match=r"(?s)stopped with.*DATABASE_URL"):
        await EmbeddedPostgres(folder).start()


@pytest.mark.parametrize("kept", [b"{}", b'{"port": 1, "password": "\xff"}'])
async def test_a_damaged_identity_is_told(folder: Path, kept: bytes) -> None:
    """The file is named, and that nothing is lost by deleting the folder."""
    (folder / "identity.json").write_bytes(kept)
    with pytest.raises(StoreUnavailable, match=r"identity\.json.*made again"):
        await EmbeddedPostgres(folder).start()


def test_a_folder_without_a_server_has_no_url(folder: Path) -> None:
    """Whoever looks for a server that never was is told so."""
    assert recalled(folder) is None
