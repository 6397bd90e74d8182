"""A port that another program has is named, with its setting, and nothing seems to be up."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.echoic.cli.conftest import Program

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def port() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


DOORS = {
    "http": ("fastapi", ("http", "serve", "--listen")),
    "bridge": ("websockets", ("bridge", "--listen")),
    "neuro": ("websockets", ("neuro", "--listen")),
    "mcp": ("mcp", ("mcp", "--http")),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_doors_port_is_named(door: str, echoic: Program, port: int) -> None:
    """Before it waits for an instance, and with what to do."""
    library, command = DOORS[door]
    pytest.importorskip(library, reason="its extra is not installed")
    ran = echoic.here(*command, f"127.0.0.1:{port}")

    assert ran.code == 2
    assert f"another program listens at 127.0.0.1:{port}" in ran.err
    assert f"ss -ltnp 'sport = :{port}'" in ran.err


@pytest.mark.parametrize("setting", ["nats.mqtt", "nats.websocket"])
def test_a_failed_start_names_the_port_and_fails(
    setting: str, echoic: Program, port: int
) -> None:
    """In the background, too, where who reads what it says may hang up in the middle."""
    name = "ECHOIC_" + setting.replace(".", "_").upper()
    variables = {name: f"127.0.0.1:{port}"}
    ran = echoic("up", "--detach", **variables)
    unheard = unread(echoic, "up", "--detach", **variables)

    assert ran.code != 0
    assert (
        f"{setting} is 127.0.0.1:{port}, and another program listens there" in ran.err
    )
    assert unheard != 0
    assert echoic.here("health").code == 3


def unread(program: Program, *arguments: str, **environment: str) -> int:
    """The exit code of a command to which nobody listens any more."""
    read, write = os.pipe()
    os.close(read)
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "echoic", *arguments],
            stdout=write,
            stderr=write,
            cwd=program.folder,
            env=program.environment | environment,
            timeout=120,
            check=False,
        )
    finally:
        os.close(write)
    return ran.returncode
