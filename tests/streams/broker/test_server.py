"""The embedded broker: private, alone on its folder, and back after a crash."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import IO

import psutil  # type: ignore[import-untyped]  # has no types
import pytest

from schemas.values.subjects import SubjectError, inputs_of
from streams.broker import data_folder as folders
from streams.broker.enrolment import add_sensor
from streams.broker.server import MEMORY, EmbeddedServer, embedded_server
from streams.errors import LogUnavailable, ServerFailed
from streams.jetstream.connection import connected
from tests.patience import PATIENCE_S
from tests.servers import Broker, opened
from tests.streams.messages import append_inputs

pytestmark = pytest.mark.services


async def test_what_is_acknowledged_is_there_after_a_restart(tmp_path: Path) -> None:
    """A folder that was used before gives the same log, at the same address."""
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        await append_inputs(broker.writer, 3)
        before = broker.reader.epoch, server.core

    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        assert (broker.reader.epoch, server.core) == before
        assert await broker.reader.last_sequence(inputs_of("*")) == 3


async def test_what_is_acknowledged_survives_a_kill(broker: Broker) -> None:
    """After kill -9 the log holds every acknowledged input, and connections come back."""
    acknowledged = await append_inputs(broker.writer, 20)

    await broker.server.kill()
    await broker.server.restart()

    found = await broker.reader.page(inputs_of("*"), 0, 100)
    assert [each.sequence for each in found] == acknowledged


class Short(EmbeddedServer):
    """A server that is killed as soon as it says that it is ready."""

    async def _launch(self, lock: IO[bytes]) -> bool:
        is_ready = await super()._launch(lock)
        assert self.process_id is not None
        os.kill(self.process_id, signal.SIGKILL)
        return is_ready


async def test_one_that_dies_as_it_is_looked_at_did_not_start(tmp_path: Path) -> None:
    """Who keeps it up tries a server again that failed, and ends with any other error."""
    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        await append_inputs(broker.writer, 3)
        await server.kill()

    with pytest.raises(
        ServerFailed, match="ended before it told what it has of the log"
    ):
        await Short(tmp_path / "nats").start()

    async with embedded_server(tmp_path / "nats") as server, opened(server) as broker:
        assert await broker.reader.last_sequence(inputs_of("*")) == 3


async def test_secrets_are_the_owners_alone(tmp_path: Path) -> None:
    """Nobody else may read the folder, the credentials or the configuration."""
    async with embedded_server(tmp_path / "nats") as server:
        await server.add_sensor("ada", "cam")
        names = ("identity.json", "nats.conf")
        modes = [(server.folder / name).stat().st_mode & 0o777 for name in names]

        assert modes == [0o600, 0o600]
        assert server.folder.stat().st_mode & 0o777 == 0o700


async def test_it_listens_on_loopback_alone(broker: Broker) -> None:
    """The process has one listening socket, on 127.0.0.1."""
    assert broker.server.process_id is not None
    connections = psutil.Process(broker.server.process_id).net_connections()
    listening = [each.laddr.ip for each in connections if each.status == "LISTEN"]

    assert listening == ["127.0.0.1"]


async def test_a_wrong_password_is_refused(broker: Broker) -> None:
    """Only the generated credentials open the log, and the error names the user."""
    stranger = type(broker.server.core)(broker.server.core.url, "echoic", "guess")

    with pytest.raises(LogUnavailable, match="as 'echoic'"):
        async with connected(stranger):
            pass


async def test_two_servers_never_share_a_folder(tmp_path: Path) -> None:
    """The second start fails and says why; the first goes on."""
    async with embedded_server(tmp_path / "nats") as server:
        with pytest.raises(ServerFailed, match="another nats-server uses"):
            await EmbeddedServer(server.folder).start()

        identity = folders.recall(server.folder)
        assert identity is not None
        assert identity.core == server.core
        assert folders.running(server.folder) is not None
    assert folders.running(tmp_path / "nats") is None


async def test_a_server_that_does_not_start_shows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds what nats-server itself said."""
    broken = "port: nonsense\n"
    monkeypatch.setattr(folders, "server_configuration", lambda **_: broken)

    with pytest.raises(ServerFailed, match="string, not int"):
        await EmbeddedServer(tmp_path / "nats").start()


async def test_a_port_that_was_taken_is_replaced(tmp_path: Path) -> None:
    """Another program on the remembered port only costs the address."""
    async with embedded_server(tmp_path / "nats") as server:
        port = int(server.core.url.rsplit(":", 1)[1])

    taken = await asyncio.start_server(lambda _, __: None, "127.0.0.1", port)
    async with taken, embedded_server(tmp_path / "nats") as server:
        assert server.core.url != f"nats://127.0.0.1:{port}"
        async with connected(server.core):
            pass


async def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    """Spaces, quotes and letters beyond ASCII in the path are only a name."""
    folder = tmp_path / 'ünï "日本" $HOME' / "nats"

    async with embedded_server(folder) as server, connected(server.core):
        pass


@pytest.mark.parametrize("kept", [b"{", b'{"port": 1, "password": "\xff"}'])
async def test_a_damaged_identity_is_named(tmp_path: Path, kept: bytes) -> None:
    """The error says which file, and what deleting it costs."""
    (tmp_path / "identity.json").write_bytes(kept)

    with pytest.raises(ServerFailed, match=r"identity\.json.*delete it"):
        await EmbeddedServer(tmp_path).start()


async def test_stopping_leaves_no_process(tmp_path: Path) -> None:
    """After the block the process is gone, and a second stop does nothing."""
    async with embedded_server(tmp_path / "nats") as server:
        process_id = server.process_id
        assert process_id is not None

    await server.stop()
    assert not psutil.pid_exists(process_id)


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG")
async def test_the_server_dies_with_its_program(tmp_path: Path) -> None:
    """When the program is killed, its server does not stay behind."""
    program = (
        "import asyncio, sys; from pathlib import Path;"
        " from streams.broker.server import EmbeddedServer\n"
        "async def main():\n"
        "    server = EmbeddedServer(Path(sys.argv[1])); await server.start()\n"
        "    print(server.process_id, flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        str(tmp_path / "nats"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    server = psutil.Process(int(await parent.stdout.readline()))
    parent.kill()
    await parent.wait()

    server.wait(timeout=PATIENCE_S)
    assert not server.is_running()


async def test_a_sensor_added_again_keeps_its_password(broker: Broker) -> None:
    """Adding is repeatable, also from another program that knows only the folder."""
    first = await broker.server.add_sensor("ada", "cam")
    second = await add_sensor(broker.server.folder, "ada", "cam", ("feedback",))

    assert first == second
    async with connected(second):
        pass


async def test_sensors_are_known_after_a_restart(tmp_path: Path) -> None:
    """Credentials that were handed out stay good, also those made while stopped."""
    async with embedded_server(tmp_path / "nats") as server:
        cam = await server.add_sensor("ada", "cam")
    mic = await add_sensor(tmp_path / "nats", "ada", "mic")

    async with embedded_server(tmp_path / "nats"):
        for credentials in (cam, mic):
            async with connected(credentials):
                pass


@pytest.mark.parametrize(
    ("agent", "source"),
    [("a.b", "cam"), ("_", "cam"), ("ada", "*"), ("ada", ">"), ("", "cam")],
)
async def test_rights_cannot_be_widened_by_a_name(
    broker: Broker, agent: str, source: str
) -> None:
    """A name that is no token, or the shared agent, gets no rights at all."""
    with pytest.raises(SubjectError):
        await broker.server.add_sensor(agent, source)


async def test_only_reserved_types_are_granted(broker: Broker) -> None:
    """A grant that does not exist is refused by name."""
    with pytest.raises(ValueError, match="'everything'"):
        await broker.server.add_sensor("ada", "cam", ("everything",))


async def test_its_memory_has_a_limit_of_which_the_operator_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go's runtime reads it from the server's environment."""

    async def limit(name: str) -> str:
        async with embedded_server(tmp_path / name) as server:
            assert server.process_id is not None
            return str(psutil.Process(server.process_id).environ()["GOMEMLIMIT"])

    own = await limit("own")
    monkeypatch.setenv("GOMEMLIMIT", "123MiB")
    assert (own, await limit("operator")) == (MEMORY, "123MiB")
