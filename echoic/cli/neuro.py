"""`echoic neuro`: play games that speak the Neuro API."""

import asyncio
from functools import partial
from importlib.util import find_spec

from echoic.cli.addresses import free_address, is_loopback
from echoic.cli.bridge import granted, until_refused
from echoic.cli.options import TextCall, new_app
from echoic.config.load import Settings
from echoic.errors import EchoicError
from echoic.packs import bundled
from echoic.terminal.output import note

app = new_app("neuro", "Play games that speak the Neuro API.")


@app.command()
def neuro(
    call: TextCall,
    listen: str = "127.0.0.1:8000",
    source: str = "game",
    origin: list[str] | None = None,
    patience_s: float = 5.0,
) -> None:
    """Be the AI of a game with an SDK of the Neuro API: it tells, asks and is told what to do.

    The game connects to where NEURO_SDK_WS_URL points. docs/neuro.md says what becomes of its
    messages.

    Examples: `echoic neuro`, `echoic neuro --agent aria --listen 127.0.0.1:8001`.

    Args:
        listen: The address; the API has no token, so anybody who reaches it may play.
        source: As which source the game's events come.
        origin: A web page that may connect, such as https://example.org; may be given again.
        patience_s: Seconds that the mind may take over a forced choice before chance makes it.
    """
    if find_spec("websockets") is None or find_spec("jsonschema") is None:
        raise EchoicError(
            "websockets and jsonschema are not installed",
            next_step=bundled.extra("engine"),
        )
    host_port = free_address(listen)
    if not is_loopback(host_port[0]):
        note("anybody who reaches this address may play, and nothing is encrypted")
    asyncio.run(
        _serve(call.settings, host_port, source, tuple(origin or ()), patience_s)
    )


async def _serve(
    settings: Settings,
    listen: tuple[str, int],
    source: str,
    origins: tuple[str, ...],
    patience_s: float,
) -> None:
    # An extra, which no other command needs.
    from echoic.doors.engines.server import bridge as served
    from echoic.doors.neuro.seat import NeuroSeat

    access = await granted(settings, (settings.agent,), source, ())
    has_model = bool(settings["model.name"])
    seat = partial(NeuroSeat, patience_s=patience_s, has_model=has_model)
    host = f"[{listen[0]}]" if ":" in listen[0] else listen[0]
    async with served(
        access, source, None, listen=listen, origins=origins, seat=seat
    ) as bridge:
        note(f"ws://{host}:{bridge.port}")
        await until_refused(bridge, source)
