"""`echoic mcp`: let a language model look into an instance, by the Model Context Protocol."""

import asyncio
from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from echoic import doctor
from echoic.cli.addresses import free_address, is_loopback
from echoic.cli.http import needs_extra, serve_app
from echoic.cli.options import TextCall, new_app
from echoic.client import peace
from echoic.client.connection import Connection
from echoic.client.watch import settings_in_force
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note

app = new_app("mcp", "Let a language model ask why a companion did what it did.")


@app.command()
def mcp(
    call: TextCall,
    actor: str = "user",
    read_only: bool = False,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT")] = None,
) -> None:
    """Serve the Model Context Protocol: tools that read the log, and one that votes.

    A client such as an editor starts it and speaks with it over standard input and output;
    docs/mcp.md has what to configure. With --agent it tells of that agent alone.

    Examples: `echoic mcp --agent ada`, `echoic mcp --http 127.0.0.1:7390`.

    Args:
        actor: Whose votes those of `feedback` are.
        read_only: Leave `feedback` out.
        http: Serve HTTP there instead, to bearers of a token of `echoic http token`, each with
            its own agent, scopes and person.
    """
    if find_spec("mcp") is None:
        raise EchoicError("mcp is not installed", next_step=bundled.extra("mcp"))
    if http is not None:
        asyncio.run(_over_http(call.settings, *free_address(http)))
        return
    # An extra, which no other command needs.
    from echoic.doors.mcp.reach import Reach
    from echoic.doors.mcp.rights import Rights
    from echoic.doors.mcp.server import mcp_server

    rights = Rights(agent=call.agent, actor=None if read_only else actor)
    reach = Reach(call.settings, lambda: rights)
    mcp_server(reach, _looks(call.settings)).run("stdio")


async def _over_http(settings: Settings, host: str, port: int) -> None:
    needs_extra()
    from echoic.doors.http.tokens import TokenFile
    from echoic.doors.mcp.over_http import mcp_app

    if not is_loopback(host):
        note("what goes over this address is not encrypted, tokens included")
    served = mcp_app(settings, TokenFile(settings.data), _looks(settings), host)
    await serve_app(served, (host, port), "/mcp", has_lifespan=True)


def _looks(settings: Settings) -> Any:
    from echoic.doors.mcp.reading import Looks

    async def checked() -> dict[str, Any]:
        checks = [
            *doctor.of_installation(settings),
            *await doctor.of_instance(settings),
        ]
        return {"checks": [asdict(each) for each in checks]}

    return Looks(_status, checked)


async def _status(connection: Connection, agent: str | None) -> dict[str, Any]:
    """Return how an instance goes, of one agent alone where one is named."""
    mind = await settings_in_force(connection.log, 0)
    held = await peace.of_all(connection)
    return {
        "checks": [asdict(each) for each in await doctor.of_flow(connection)],
        "strategy": mind.strategy.name,
        "threshold": mind.threshold,
        "model": mind.model.name if mind.model else None,
        "quiet": [asdict(each) for each in held if agent in (None, each.agent)],
        "quiet_hours": peace.quiet_hours(mind),
    }
