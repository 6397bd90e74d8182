"""A broker or a database that is away at the start, or dies in the middle."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from echoic.client.connection import connect
from echoic.client.instance_note import InstanceNote, write_note
from echoic.client.sensor_access import access_file, sensor_credentials, write_access
from echoic.run import starting
from echoic.run.instance import Instance
from echoic.run.servers import ServerMoved
from projections.errors import ProjectionError
from projections.store.store import Store
from schemas.messages.decisions import Decided
from streams.broker import data_folder as folders
from streams.errors import LogUnavailable
from streams.groups import groups
from tests.e2e.companion import Companion, companion
from tests.e2e.conftest import running_instance
from tests.patience import PATIENCE_S
from tests.ports import free_port
from tests.servers import fresh_server

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

DISK_BYTES = 256_000_000


async def test_without_a_broker_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that is away is a clear error, with its address and what to check."""
    monkeypatch.setattr(starting, "PATIENCE_S", 0.3)
    address = f"nats://127.0.0.1:{free_port()}"

    with pytest.raises(LogUnavailable, match=f"no broker answers at '{address}'"):
        async with running_instance(tmp_path, {"NATS_URL": address}):
            raise AssertionError("it started")


async def test_without_a_database_the_mind_goes_on(tmp_path: Path) -> None:
    """A database that is away costs the read models, and no decision."""
    address = f"postgresql://nobody:nothing@127.0.0.1:{free_port()}/none"

    async with (
        running_instance(tmp_path, {"DATABASE_URL": address}) as live,
        companion(live, "ada") as ada,
    ):
        decision = await ada.senses("Player health is low", fields={"health": 1})

    assert decision.said == "Drink a potion."


async def test_a_broker_that_is_killed_comes_back(tmp_path: Path) -> None:
    """After kill -9 everything acknowledged is decided once, and life goes on."""
    async with running_instance(tmp_path, {}) as live, companion(live, "ada") as ada:
        before = [await ada.publish(f"Thunder {n}", type_="weather") for n in range(20)]

        kill(folders.running(tmp_path / "nats"))
        after = await insisting(ada, "Player health is low")

        decided = [each.event_id for each in await ada.comes(Decided, 21)]
        assert [id_ for id_ in decided if id_ in before] == before
        assert len(decided) == len(set(decided))
        assert (await ada.decided(after)).said == "Drink a potion."


async def test_a_broker_may_die_while_it_is_started_again(tmp_path: Path) -> None:
    """Killed as often as it comes up, it is tried again, and in the end it serves."""
    async with running_instance(tmp_path, {}) as live, companion(live, "ada") as ada:
        killed = set[int]()
        async with asyncio.timeout(PATIENCE_S):
            while len(killed) < 3:
                process_id = folders.running(tmp_path / "nats")
                if process_id is not None and process_id not in killed:
                    with suppress(ProcessLookupError):
                        kill(process_id)
                    killed.add(process_id)
                await asyncio.sleep(0.002)

        event = await insisting(ada, "Player health is low")
        assert (await ada.decided(event)).said == "Drink a potion."


async def test_a_full_disk_is_named_and_heals(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broker that lives and stores nothing says why, and goes on when there is room."""
    async with running_instance(small_disk, {}) as live, companion(live, "ada") as ada:
        filler = small_disk / "filler"
        fill(filler)
        said = ""
        async with asyncio.timeout(PATIENCE_S):
            while "no space is left on the disk" not in said:
                with suppress(LogUnavailable):
                    await ada.publish("x" * 10_000, id_="too much")
                said += capsys.readouterr().out
        filler.unlink()

        event = await insisting(ada, "Player health is low")
        assert (await ada.decided(event)).said == "Drink a potion."
    assert said.count("no space is left") == 1


async def test_a_port_that_was_taken_is_left(tmp_path: Path) -> None:
    """The instance says that it moved; run again, it is found, by its sensors too."""
    async with running_instance(tmp_path, {}) as live:
        before = await sensor_credentials(live.settings, "ada", "door")
        path = access_file(tmp_path, "ada", "door")
        write_access(path, before)
        port = urlsplit(before.url).port
        kill(folders.running(tmp_path / "nats"))
        with taken(port), pytest.raises(ServerMoved):
            async with asyncio.timeout(PATIENCE_S):
                await live.wait()

    async with running_instance(tmp_path, {}) as live:
        moved = json.loads(path.read_text())
        assert moved["url"] == live.credentials.url != before.url
        assert moved["password"] == before.password


async def test_a_command_that_goes_on_follows_the_broker(tmp_path: Path) -> None:
    """What was connected before the broker moved reads its log again afterwards."""
    async with AsyncExitStack() as stack:
        async with running_instance(tmp_path, {}) as live:
            write_note(tmp_path, note_of(live))
            connection = await stack.enter_async_context(connect(live.settings))
            before = live.credentials.url
            kill(folders.running(tmp_path / "nats"))
            with taken(urlsplit(before).port), pytest.raises(ServerMoved):
                async with asyncio.timeout(PATIENCE_S):
                    await live.wait()

        async with running_instance(tmp_path, {}) as live:
            write_note(tmp_path, note_of(live))
            async with asyncio.timeout(PATIENCE_S):
                while not connection.client.is_connected:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)

            assert live.credentials.url != before
            assert await connection.log.last_sequence("ev.>") == await known(live)


async def test_a_broker_of_others_that_comes_back_is_waited_for() -> None:
    """The mind neither ends nor forgets while a broker that is not ours is away."""
    async with fresh_server() as server:
        core = server.core
        address = core.url.replace("://", f"://{core.user}:{core.password}@")
        folder = server.folder / "instance"
        async with running_instance(folder, {"NATS_URL": address}) as live:
            first = await known(live)
            await server.kill()
            await asyncio.sleep(0.5)
            assert not live.client.is_connected

            await server.restart()

            await known_again(live, first)


async def test_a_database_that_is_killed_delays_no_decision(tmp_path: Path) -> None:
    """System 1 answers while PostgreSQL is dead; then the tables catch up."""
    async with running_instance(tmp_path, {}) as live, companion(live, "ada") as ada:
        await ada.senses("Player health is low", fields={"health": 1})

        kill(postgres(tmp_path))
        async with asyncio.timeout(PATIENCE_S):
            decision = await ada.senses(
                "Player health is full", fields={"health": 9}, salience={"threat": 0.9}
            )

        assert decision.said == "Fit as a fiddle!"
        last = [group.input.sequence async for group in groups(live.log, ada.partition)]
        await until(lambda: position(live, ada.partition) >= last[-1])


async def test_an_instance_ends_though_its_broker_is_dead(tmp_path: Path) -> None:
    """Whoever stops an instance does not wait for a broker that is gone."""
    async with fresh_server() as server:
        core = server.core
        address = core.url.replace("://", f"://{core.user}:{core.password}@")
        async with asyncio.timeout(PATIENCE_S):
            async with running_instance(tmp_path, {"NATS_URL": address}):
                await server.kill()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that is soon full."""
    size = f"size={DISK_BYTES}"
    mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(tmp_path)]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"this user may mount no file system: {made.stderr.strip()}")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def note_of(live: Instance) -> InstanceNote:
    """What `up` leaves for the commands."""
    return InstanceNote(
        pid=os.getpid(),
        started_at="",
        nats_url=live.credentials.url,
        nats_user=live.credentials.user,
        nats_password=live.credentials.password,
        database_url=live.database_url,
    )


def fill(path: Path) -> None:
    """Leave no room on the disk of a file."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4_096))


@contextmanager
def taken(port: int | None) -> Iterator[None]:
    """A port on which another program listens, as soon as it is free."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        while True:
            with suppress(OSError):
                other.bind(("127.0.0.1", port or 0))
                break
        other.listen()
        yield


def kill(process_id: int | None) -> None:
    """End a process as a crash would."""
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)


def postgres(data: Path) -> int:
    """The process id of the instance's own database."""
    lines = (data / "postgres" / "data" / "postmaster.pid").read_text().splitlines()
    return int(lines[0])


async def insisting(ada: Companion, text: str) -> str:
    """Publish an event until it is acknowledged, always under one id."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await ada.publish(text, fields={"health": 1}, id_="insisting")
            except LogUnavailable:
                await asyncio.sleep(0.1)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds that takes a moment to look at."""
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


def position(live: Instance, partition: int) -> int:
    """Up to where the read models have followed a partition; -1 while they are away."""
    assert live.database_url is not None
    try:
        with Store(live.database_url) as store:
            stands = store.positions(store.serving().number).get(partition)
            return stands.sequence if stands else 0
    except ProjectionError:
        return -1


async def known(live: Instance) -> int:
    """The last sequence of the log."""
    return await live.log.last_sequence("ev.>")


async def known_again(live: Instance, least: int) -> None:
    """Wait until the broker answers again, and whatever is published is decided on."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                assert await known(live) >= least
                await live.client.request("in.ada.game.weather", b"It rains", timeout=2)
                break
            except (LogUnavailable, TimeoutError):
                await asyncio.sleep(0.1)
        async for records in live.log.follow("ev.*.out.ada.decision.>", 0, 10):
            assert records
            return
