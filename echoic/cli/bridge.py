"""`echoic bridge`: let game engines be the bodies of characters, by JSON over a WebSocket."""

import asyncio
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from echoic.cli.addresses import free_address, is_loopback
from echoic.cli.options import TextCall, new_app
from echoic.client.connection import connect_when_up
from echoic.client.sensor_access import grant_persons, sensor_credentials
from echoic.config.load import Settings
from echoic.errors import EchoicError, NotRunningError
from echoic.packs import bundled
from echoic.terminal.output import note
from streams.embedded import write_private
from streams.jetstream.accounts import Credentials

if TYPE_CHECKING:
    from echoic.doors.engines.server import Bridge

app = new_app("bridge", "Let game engines be the bodies of characters.")

_TOKEN_BYTES = 32
_LOOK_S = 1.0
"""Seconds between two looks whether the broker still lets it in."""


@app.command()
def bridge(
    call: TextCall,
    characters: Annotated[
        list[str] | None, typer.Argument(metavar="[CHARACTER]...")
    ] = None,
    listen: str = "127.0.0.1:7350",
    source: str = "engine",
    token_file: Path | None = None,
    origin: list[str] | None = None,
    person: list[str] | None = None,
) -> None:
    """Serve game engines: what characters do goes out, what happens to them comes in.

    Engines connect to ws://HOST:PORT/v1/CHARACTER with the header `Authorization: Bearer
    TOKEN`. docs/engines.md has the messages, packs/golem/clients a client for Unity and one
    for Godot.

    Examples: `echoic bridge`, `echoic bridge aria ben --listen 127.0.0.1:7351`.

    Args:
        characters: Whose bodies they are; else that of --agent.
        listen: The address; of another machine only with a proxy before it that encrypts.
        source: As which source they speak.
        token_file: A file with the token; else one in the data folder, made when needed.
        origin: A web page that may connect, such as https://example.org; may be given
            again. Programs that are no browsers always may.
        person: Whom events may name; may be given again.
    """
    if find_spec("websockets") is None:
        raise EchoicError(
            "websockets is not installed", next_step=bundled.extra("engine")
        )
    settings, host_port = call.settings, free_address(listen)
    names = tuple(dict.fromkeys(characters or [settings.agent]))
    given = _read(token_file) if token_file is not None else None

    async def run() -> None:
        access = await granted(settings, names, source, tuple(person or ()))
        token = given or _own_token(settings.data / "bridge.token")
        await _serve(access, source, token, host_port, tuple(origin or ()))

    if not is_loopback(host_port[0]):
        note("what goes over this address is not encrypted, the token included")
    asyncio.run(run())


async def granted(
    settings: Settings, names: tuple[str, ...], source: str, persons: tuple[str, ...]
) -> dict[str, Credentials]:
    """Return a sensor's credentials for each character, once there is an instance.

    No more rights are used.
    """
    found = {}
    async with connect_when_up(settings, note) as connection:
        for name in names:
            # Before the account, which could name anybody until then.
            await grant_persons(connection.log, name, source, persons)
            found[name] = await sensor_credentials(
                settings, name, source, persons=persons
            )
    return found


async def _serve(
    access: dict[str, Credentials],
    source: str,
    token: str,
    listen: tuple[str, int],
    origins: tuple[str, ...],
) -> None:
    # An extra, which no other command needs.
    from echoic.doors.engines.server import bridge as served

    host = f"[{listen[0]}]" if ":" in listen[0] else listen[0]
    async with served(access, source, token, listen=listen, origins=origins) as bridge:
        for name in access:
            note(f"ws://{host}:{bridge.port}/v1/{name}")
        await until_refused(bridge, source)


async def until_refused(bridge: "Bridge", source: str) -> None:
    """Wait for as long as the broker lets the bridge in.

    Raises:
        NotRunningError: it does not any more.
    """
    # The client library tells nobody.
    while not bridge.is_refused:  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_S)
    raise NotRunningError(
        f"the broker does not let the source {source!r} in any more",
        next_step="echoic doctor",
    )


def _own_token(file: Path) -> str:
    """Return the token in the data folder, and make it when needed."""
    if not file.exists():
        write_private(file, secrets.token_urlsafe(_TOKEN_BYTES).encode())
    note(f"the token is in {file}")
    return _read(file)


def _read(file: Path) -> str:
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise EchoicError(f"{str(file)!r} holds no token")
    return token
