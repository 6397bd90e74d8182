"""An instance whose broker listens for MQTT and WebSockets, too."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.echoic.cli.conftest import SURVIVAL, Program
from tests.ports import free_port

AGENT = "ada"


@pytest.fixture(scope="session")
def house() -> Iterator[Program]:
    """The program beside such an instance; pages of one address alone may connect."""
    with TemporaryDirectory(prefix="echoic-ha-") as folder:
        program = Program(Path(folder))
        file = _settings(program)
        file.parent.mkdir(parents=True)
        ports = {each: free_port() for each in ("mqtt", "websocket", "page")}
        file.write_text(
            "[nats]\n"
            f'mqtt = "127.0.0.1:{ports["mqtt"]}"\n'
            f'websocket = "127.0.0.1:{ports["websocket"]}"\n'
            f'origins = ["http://127.0.0.1:{ports["page"]}"]\n'
        )
        started = program("up", "--detach", "--pack", str(SURVIVAL))
        assert started.code == 0, started.err
        try:
            access(program, AGENT, "home", "homeassistant")
            yield program
        finally:
            program("down")


def _settings(program: Program) -> Path:
    return program.folder / "config" / "echoic" / "config.toml"


def port_of(program: Program, listener: str) -> int:
    """The port of `mqtt` or `websocket`; `origins`: of the pages that may connect."""
    told = tomllib.loads(_settings(program).read_text())["nats"][listener]
    place = told[0] if isinstance(told, list) else told
    return int(place.rpartition(":")[2])


def access(program: Program, agent: str, source: str, *grants: str) -> dict[str, str]:
    """Give a source access, and return its account."""
    given = [word for each in grants for word in ("--grant", each)]
    ran = program.here("sensor", "access", source, "--agent", agent, *given)
    assert ran.code == 0, ran.err
    return account(program, agent, source)


def account(program: Program, agent: str, source: str) -> dict[str, str]:
    """The user and password of a source that has access."""
    file = program.data / "sensors" / f"{agent}.{source}.json"
    found: dict[str, str] = json.loads(file.read_text())
    return found
