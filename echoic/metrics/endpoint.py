"""The HTTP endpoint that Prometheus reads: one for an instance, whatever its processes.

It has no password, as Prometheus expects none: it listens on loopback unless told otherwise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server

from echoic.config.option import address_of
from echoic.metrics.reports import Reports


@contextmanager
def served(
    listen: str, reports: Reports, notify: Callable[[str], None]
) -> Iterator[str | None]:
    """Serve metrics at `host:port` for the length of the block; yield where they are.

    If another program has the port, nobody is stopped by it: they are at a free one.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(reports)
    host, port = address_of(listen)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        notify(
            f"metrics.listen is {listen}, and cannot be listened on ({error.strerror}):"
            " metrics are at a free port"
        )
        try:
            server, thread = start_http_server(0, host, registry)
        except OSError as again:
            notify(f"no metrics: {again.strerror}")
            yield None
            return
    try:
        yield f"http://{_bracketed(host)}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
