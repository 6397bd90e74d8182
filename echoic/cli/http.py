"""`echoic http`: serve HTTP clients, and give them their tokens."""

import asyncio
import ssl
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from echoic.cli.addresses import address, is_loopback
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, TextCall, new_app
from echoic.client.connection import Connection, connect
from echoic.client.sensor_access import grant_persons
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note

if TYPE_CHECKING:
    from echoic.doors.http.tokens import AccessToken, TokenFile

app = new_app("http", "Serve HTTP clients: serve, token, tokens, revoke.")

_AT_ONCE = 256
"""Requests that may be open at once; one more is answered 503."""

_GOODBYE_S = 5
_LOOK_S = 0.05


@app.command()
def serve(
    call: TextCall,
    listen: str = "127.0.0.1:7380",
    origin: list[str] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> None:
    """Serve HTTP until Ctrl-C: events, votes and outcomes come in, decisions go out.

    GET /v1/openapi.json describes it; docs/http.md has examples.

    Examples: `echoic http serve`, `echoic http serve --listen 0.0.0.0:443 --certificate
    cert.pem --key key.pem`.

    Args:
        listen: The address; of another machine only with a certificate, or a proxy before it.
        origin: A web page that may call, such as https://example.org; may be given again.
        certificate: A PEM file with the certificate, for https.
        key: A PEM file with its private key.
    """
    _needs_extra()
    host, port = address(listen)
    if (certificate is None) != (key is None):
        raise EchoicError("--certificate and --key belong together")
    pair = (certificate, key) if certificate is not None and key is not None else None
    if pair is not None:
        _check_pair(*pair)
    elif not is_loopback(host):
        note("what goes over this address is not encrypted, tokens included")

    asyncio.run(_serve(call.settings, (host, port), tuple(origin or ()), pair))


@app.command()
def token(
    call: Call,
    name: str,
    scope: list[str] | None = None,
    source: list[str] | None = None,
    person: str | None = None,
    per_s: float = 50.0,
    burst: int = 200,
) -> None:
    """Make a token for one client, and print it this once.

    Examples: `echoic http token kitchen --source kitchen`, `echoic http token phone --person
    ada --scope feedback --scope read`.

    Args:
        name: The client's name.
        scope: What it may do: events, feedback, outcomes, read; may be given again. Without
            any it publishes events.
        source: As which source it publishes events; may be given again. Else its name.
        person: Whose words and votes these are; without, it can name nobody.
        per_s: Requests and events a second, in the long run.
        burst: Requests and events at once.
    """
    _needs_extra()
    from echoic.doors.http.tokens import new_token

    settings = call.settings
    wanted = new_token(
        name=name,
        agent=settings.agent,
        scopes=tuple(dict.fromkeys(scope or ("events",))),
        sources=tuple(dict.fromkeys(source or (name,))),
        person=person,
        per_s=per_s,
        burst=burst,
    )
    file = _file(call)
    if wanted.person is not None:
        on_instance(call, lambda each: _grant(each, file, wanted))
    secret = file.create(wanted)
    shown = wanted.model_dump(exclude={"digest"}, exclude_none=True)
    call.show({**shown, "token": secret}, [secret])
    note("it is shown this once; the data folder keeps its hash")


@app.command()
def tokens(call: Call) -> None:
    """List the tokens, without their secrets.

    Example: `echoic http tokens`.
    """
    _needs_extra()
    rows = [each.model_dump(exclude={"digest"}) for each in _file(call).tokens]
    columns = ("name", "agent", "scopes", "sources", "person", "per_s", "burst")
    cells = [[_cell(row[name]) for name in columns] for row in rows]
    call.show_rows(rows, columns, cells, "no tokens yet: echoic http token NAME")


@app.command()
def revoke(call: TextCall, name: str) -> None:
    """Revoke a token; a running door refuses it from now on.

    Example: `echoic http revoke phone`.

    Args:
        name: The client's name.
    """
    _needs_extra()
    _file(call).revoke(name)
    note(f"{name!r} is refused from now on")


async def _serve(
    settings: Settings,
    listen: tuple[str, int],
    origins: tuple[str, ...],
    pair: tuple[Path, Path] | None,
) -> None:
    """Serve until interrupted, and tell where once it listens."""
    # An extra, which no other command needs.
    import uvicorn

    from echoic.doors.http.app import http_app
    from echoic.doors.http.door import Door
    from echoic.doors.http.tokens import TokenFile

    certificate, key = pair or (None, None)
    async with connect(settings) as connection:
        config = uvicorn.Config(
            http_app(Door(connection, TokenFile(settings.data)), origins),
            *listen,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_AT_ONCE,
            timeout_graceful_shutdown=_GOODBYE_S,
            lifespan="off",
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        # It tells nobody when it has begun to listen.
        while not server.started and not serving.done():  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_S)
        if server.started:
            scheme = "http" if pair is None else "https"
            note(f"{scheme}://{_bound(server)}/v1/openapi.json")
        await serving


def _file(call: Call) -> "TokenFile":
    from echoic.doors.http.tokens import TokenFile

    return TokenFile(call.settings.data)


async def _grant(
    connection: Connection, file: "TokenFile", wanted: "AccessToken"
) -> None:
    """Have the mind take this person, beside those of other tokens, from these sources."""
    for source in wanted.sources:
        others = (
            each.person
            for each in file.tokens
            if each.agent == wanted.agent and source in each.sources
        )
        persons = dict.fromkeys((*filter(None, others), wanted.person or ""))
        await grant_persons(connection.log, wanted.agent, source, tuple(persons))


def _needs_extra() -> None:
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise EchoicError(
            "FastAPI and uvicorn are not installed", next_step=bundled.extra("http")
        )


def _check_pair(certificate: Path, key: Path) -> None:
    """Check that a certificate and its key can be used.

    Raises:
        EchoicError: they cannot.
    """
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate, key
        )
    except (OSError, ssl.SSLError) as error:
        raise EchoicError(f"the certificate cannot be used: {error}") from error


def _bound(server: object) -> str:
    """Return the address that a server listens on; its port may have been left open."""
    bound = server.servers[0].sockets[0].getsockname()  # type: ignore[attr-defined]
    host = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    return f"{host}:{bound[1]}"


def _cell(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return (
        ""
        if value is None
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
