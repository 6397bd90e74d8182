"""The HTTP door over the rig's log, and who follows its streams.

    python -m bench.door serve PORT FOLDER
    python -m bench.door read|unread PORT FOLDER

Each is a process of its own, as in an instance. `unread` opens the streams and reads nothing.
"""

import asyncio
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson
import uvicorn

from bench import world
from bench.beside import until_terminated
from bench.rig import connected_child, given_credentials
from echoic.client.connection import Connection, LiveLog
from echoic.config.load import load
from echoic.doors.http.app import http_app
from echoic.doors.http.door import Door
from echoic.doors.http.tokens import TokenFile, new_token
from echoic.run.process import prepare
from streams.jetstream.migrate import epoch_of

STREAMS = 4
"""How many clients follow each agent."""
BUFFER_BYTES = 4_096
"""Of each socket, at both ends: the system's own would hold all that a run tells."""
SECRETS = "secrets.json"


async def serve(port: int, folder: Path) -> None:
    """Serve the door until terminated, with a token for each agent."""
    client = await connected_child()
    settings = load({"data": str(folder)}, environment={}, folder=folder)
    log = LiveLog(client, await epoch_of(client))
    file = TokenFile(folder)
    secrets = {
        agent: file.create(new_token(name=agent, agent=agent, scopes=("read",)))
        for agent in world.AGENTS
    }
    (folder / SECRETS).write_bytes(orjson.dumps(secrets))
    listening = socket.create_server(("127.0.0.1", port))
    # Accepted sockets have it from here.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    door = http_app(Door(Connection(settings, client, log, None), file), ())
    config = uvicorn.Config(door, log_level="warning", access_log=False, lifespan="off")
    serving = asyncio.create_task(uvicorn.Server(config).serve([listening]))
    print("ready", flush=True)
    await serving


async def follow(port: int, folder: Path, *, reads: bool) -> None:
    """Follow all agents' streams until terminated; read what comes, or do not."""
    given_credentials()
    secrets = orjson.loads((folder / SECRETS).read_bytes())
    opened = [
        await _opened(port, agent, secret)
        for agent, secret in secrets.items()
        for _ in range(STREAMS)
    ]
    await until_terminated(*(_read(each) for each in opened if reads))


async def _opened(port: int, agent: str, secret: str) -> socket.socket:
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    stream.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(stream, ("127.0.0.1", port))
    request = (
        f"GET /v1/agents/{agent}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {secret}\r\n\r\n"
    )
    await loop.sock_sendall(stream, request.encode())
    # Its first line, so that it runs before anything is measured.
    begun = await loop.sock_recv(stream, 64)
    if not begun.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"the door does not stream: {begun!r}")
    return stream


async def _read(stream: socket.socket) -> None:
    while await asyncio.get_running_loop().sock_recv(stream, 65_536):
        pass


def main(arguments: Sequence[str]) -> None:
    """Be what the first argument says."""
    prepare()
    role, port, folder = arguments
    if role == "serve":
        asyncio.run(serve(int(port), Path(folder)))
    else:
        asyncio.run(follow(int(port), Path(folder), reads=role == "read"))


if __name__ == "__main__":
    main(sys.argv[1:])
