"""`echoic http`: serve HTTP clients, and give them their tokens."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoic.cli.addresses import free_address, is_loopback
from echoic.cli.connected import on_instance
from echoic.cli.options import Call, TextCall, new_app
from echoic.client.connection import Connection, connect_when_up
from echoic.client.sensor_access import grant_persons
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note

if TYPE_CHECKING:
    from echoic.doors.http.tokens import AccessToken, TokenFile

app = new_app("http", "Serve HTTP clients: serve, token, tokens, revoke.")


@app.command()
def serve(
    call: TextCall,
    listen: str = "127.0.0.1:7380",
    origin: list[str] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    proxy: list[str] | None = None,
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
        proxy: The address of a proxy before it, whose X-Forwarded-For counts; may be given
            again.
    """
    needs_extra()
    host, port = free_address(listen)
    if (certificate is None) != (key is None):
        raise EchoicError("--certificate and --key belong together")
    context = None
    if certificate is not None and key is not None:
        context = _context(certificate, key)
    elif not is_loopback(host):
        note("what goes over this address is not encrypted, tokens included")

    origins, proxies = tuple(origin or ()), tuple(proxy or ())
    asyncio.run(_serve(call.settings, (host, port), origins, context, proxies))


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
    needs_extra()
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
    needs_extra()
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
    needs_extra()
    _file(call).revoke(name)
    note(f"{name!r} is refused from now on")


async def _serve(
    settings: Settings,
    listen: tuple[str, int],
    origins: tuple[str, ...],
    context: ssl.SSLContext | None,
    proxies: tuple[str, ...],
) -> None:
    """Serve until interrupted, and tell where once it listens."""
    from echoic.doors.http.app import http_app
    from echoic.doors.http.door import Door
    from echoic.doors.http.tokens import TokenFile

    async with connect_when_up(settings, note) as connection:
        app = http_app(Door(connection, TokenFile(settings.data)), origins)
        path = "/v1/openapi.json"
        await serve_app(app, listen, path, context=context, proxies=proxies)


async def serve_app(
    app: Callable[..., Any],
    listen: tuple[str, int],
    path: str,
    *,
    context: ssl.SSLContext | None = None,
    proxies: Sequence[str] = (),
    has_lifespan: bool = False,
) -> None:
    """Serve an ASGI application until interrupted, and tell the address of `path`."""
    # An extra, which no other command needs.
    from echoic.doors.http.guard import Connections, Guard
    from echoic.doors.http.limits import neighbourhood
    from echoic.doors.http.server import serve as served

    trusted = frozenset(map(neighbourhood, proxies))
    await served(
        app,
        listen,
        Guard(context, Connections(trusted=trusted)),
        proxies=proxies,
        has_lifespan=has_lifespan,
        begun=lambda url: note(f"{url}{path}"),
    )


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


def needs_extra() -> None:
    """Check that the libraries of the door are installed.

    Raises:
        EchoicError: they are not.
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise EchoicError(
            "FastAPI and uvicorn are not installed", next_step=bundled.extra("http")
        )


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return what https is served with.

    Raises:
        EchoicError: the two cannot be used.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise EchoicError(f"the certificate cannot be used: {error}") from error
    return context


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
