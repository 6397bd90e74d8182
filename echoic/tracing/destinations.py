"""Destinations of spans: a collector that answers, otherwise a file.

A collector that is away costs one short probe, one notice, and another probe after a
minute. No batch is sent twice, and nothing waits for the collector.
"""

import http.client
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from echoic.tracing import encode
from echoic.tracing.spans import Attributes, SpanData

DEFAULT_COLLECTOR = "http://127.0.0.1:4318"
"""The usual address of a collector: OTLP over HTTP on port 4318."""
PROBE_S = 0.3
"""Seconds that a collector may take to accept a connection."""
POST_S = 2.0
"""Seconds that it may take to answer a batch."""
AGAIN_S = 60.0
"""Seconds before a collector that was away is probed again."""
SPOOL_BYTES_MAX = 64 * 1024 * 1024
"""Bytes at which a spool file is rotated; one older file is kept, so two bound the disk."""


class CollectorError(Exception):
    """A collector did not take a batch."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A collector's address and protocol, as OpenTelemetry's variables name them."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    as_json: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host == "localhost" or host == "::1" or host.startswith("127.")


def endpoint(base: str | None, environment: Mapping[str, str]) -> Endpoint:
    """Return the collector's endpoint; OpenTelemetry's variables win over `base`.

    Raises:
        ValueError: the endpoint is no http address.
    """
    base = (base or DEFAULT_COLLECTOR).rstrip("/")
    # The variable for traces is used as it stands; a base gets the signal's path appended,
    # by the OTLP exporter specification.
    url = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or f"{base}/v1/traces"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"the trace endpoint {url!r} is no http address: "
            f"use one like {DEFAULT_COLLECTOR}"
        )
    return Endpoint(
        url=url,
        headers=tuple(pairs(environment.get("OTEL_EXPORTER_OTLP_HEADERS", ""))),
        as_json=environment.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "http/json",
    )


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the decoded pairs of `a=b,c=d`, as OpenTelemetry's variables write them."""
    for pair in text.split(","):
        name, equals, value = pair.partition("=")
        if equals:
            yield unquote(name.strip()), unquote(value.strip())


class Collector:
    """An HTTP connection to a collector, kept open; for one thread, except `abort`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        parts = urlsplit(endpoint.url)
        connection = (
            http.client.HTTPSConnection
            if parts.scheme == "https"
            else http.client.HTTPConnection
        )
        self._path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._address = (
            parts.hostname or "",
            parts.port or (443 if parts.scheme == "https" else 80),
        )
        # This connects nothing yet; the first request does.
        self._connection = connection(*self._address, timeout=POST_S)

    @property
    def name(self) -> str:
        """Its host and port, without the secrets that a URL may hold."""
        return f"{self._address[0]}:{self._address[1]}"

    def answers(self) -> bool:
        """Tell whether something accepts connections at the address."""
        try:
            with socket.create_connection(self._address, timeout=PROBE_S):
                return True
        except OSError:
            return False

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Post a batch, once.

        Raises:
            CollectorError: it was not taken.
        """
        as_json = self.endpoint.as_json
        body = (encode.to_json if as_json else encode.to_protobuf)(resource, spans)
        kind = "application/json" if as_json else "application/x-protobuf"
        headers = {"Content-Type": kind, **dict(self.endpoint.headers)}
        try:
            self._connection.request("POST", self._path, body, headers)
            response = self._connection.getresponse()
            # http.client reuses a connection only after the body has been read.
            response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise CollectorError(repr(error)) from error
        if response.status >= 300:
            raise CollectorError(f"{response.status} {response.reason}")

    def abort(self) -> None:
        """Break off a request under way in another thread."""
        under_way = self._connection.sock
        if under_way is not None:
            try:
                # Closing the socket would not wake the thread that reads from it; a
                # shutdown does.
                under_way.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Spool:
    """A file of OTLP-JSON lines, one batch a line, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Append a batch.

        Raises:
            OSError: the file cannot be written.
        """
        line = encode.to_json(resource, spans) + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # The mode is set at creation, so the file is never readable by others.
        descriptor = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
            size = file.tell()
        if size > SPOOL_BYTES_MAX:
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))


class Destination:
    """Chooses between collector and spool for each batch."""

    def __init__(
        self,
        collector: Collector,
        spool: Spool,
        notify: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Call `notify` once when spans go into the file, with the reason."""
        self._collector = collector
        self._spool = spool
        self._notify = notify
        self._clock = clock
        self._away_until = 0.0
        self._noticed = False
        self._probed = False

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch to the collector, or else to the file.

        Raises:
            OSError: neither the collector nor the file takes it.
        """
        reason = self._try_collector(resource, spans)
        if reason is None:
            return
        if not self._noticed:
            self._noticed = True
            self._notify(
                f"{reason}; traces go to {self._spool.path} "
                "(open it with 'Upload' in Jaeger)"
            )
        self._spool.send(resource, spans)

    def abort(self) -> None:
        """Break off a request from another thread; later batches go into the file."""
        self._away_until = float("inf")
        self._collector.abort()

    def close(self) -> None:
        """Let go of the collector."""
        self._collector.close()

    def _try_collector(
        self, resource: Attributes, spans: Sequence[SpanData]
    ) -> str | None:
        """Send a batch to the collector; return why it was not sent, None if it was."""
        where, now = self._collector.name, self._clock()
        if now < self._away_until:
            return f"the trace collector at {where} is away"
        # A probe fails within 0.3 s, where a post to a silent address would take 2 s.
        if not self._probed and not self._collector.answers():
            self._away_until = now + AGAIN_S
            return f"no trace collector at {where}"
        self._probed = True
        try:
            self._collector.send(resource, spans)
        except CollectorError as error:
            self._probed = False
            # `abort` may have set it to infinity meanwhile, which must stay.
            self._away_until = max(self._away_until, now + AGAIN_S)
            return f"the trace collector at {where} took no batch ({error})"
        return None
