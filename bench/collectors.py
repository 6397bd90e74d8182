"""A trace collector that behaves as it is told: `python -m bench.collectors slow PORT`.

It is a process of its own, so that it takes no time from whoever measures.
"""

import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench.rig import Rig, child
from streams.embedded import free_port

SLOW_S = 2.0
"""Seconds that a slow collector takes for a batch: as long as one may take by default."""


@asynccontextmanager
async def collector(running: Rig, kind: str) -> AsyncIterator[str]:
    """Run a collector of a kind of `KINDS`; yield its address."""
    port = free_port()
    async with child(running, "bench.collectors", kind, str(port)):
        yield f"http://127.0.0.1:{port}"


def _good() -> int:
    return 200


def _refusing() -> int:
    return 503


def _slow() -> int:
    time.sleep(SLOW_S)
    return 200


def _hanging() -> int:
    threading.Event().wait()
    raise AssertionError("unreachable")


KINDS: dict[str, Callable[[], int]] = {
    "good": _good,
    "hanging": _hanging,
    "refusing": _refusing,
    "slow": _slow,
}
"""What is done with a batch that was received: returns the status of the answer."""


def main(kind: str, port: int) -> None:
    """Serve until terminated."""
    status = KINDS[kind]

    class Handler(BaseHTTPRequestHandler):
        # Connections are kept open, as real collectors do.
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            # A client that has waited too long closes its end.
            with suppress(OSError):
                super().handle()

        def do_POST(self) -> None:  # the name is the library's
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status())
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
