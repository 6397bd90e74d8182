"""The log on NATS JetStream: fenced appends, paged reads, the live tail, checkpoints.

Only these modules send requests to a broker.
"""

import sys


def _import_client() -> None:
    """Import the NATS client without aiohttp, of which only its WebSockets make use.

    Ours goes over TCP and TLS alone (`nats.url`); aiohttp takes longer to load than all
    the rest of the client, and a command of the program is over in that time.
    """
    if "nats" in sys.modules or "aiohttp" in sys.modules:
        return
    # What Python has of a module that cannot be imported, as the client then goes on.
    sys.modules["aiohttp"] = None  # type: ignore[assignment]
    try:
        import nats.aio.client  # noqa: F401  # for its side effect
    finally:
        del sys.modules["aiohttp"]


_import_client()
