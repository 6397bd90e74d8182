"""A collector of traces: where it is, as OpenTelemetry's variables say, and how to send.

Spans are encoded here; what sends them is a library of the protocol (ADR 0040).
"""

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol
from urllib.parse import unquote, urlsplit

from echoic.errors import SettingsError
from echoic.tracing import encode
from echoic.tracing.spans import Attributes, SpanData

PROTOCOLS = ("http/protobuf", "http/json", "grpc")
"""The values of OTEL_EXPORTER_OTLP_PROTOCOL, the default first."""
COMPRESSIONS = ("none", "gzip", "deflate")
"""The values of OTEL_EXPORTER_OTLP_COMPRESSION, the default first."""
PROBE_S = 0.3
"""Seconds that a collector may take to accept a connection."""
POST_S = 2.0
"""Seconds that it may take to take a batch, a second try included."""
POST_MAX_S = 10.0
"""The same at most, whatever OTEL_EXPORTER_OTLP_TIMEOUT says; its default there."""
PAUSE_S = 0.5
"""Seconds before that second try."""

_VARIABLE = "OTEL_EXPORTER_OTLP_"


class CollectorError(Exception):
    """A collector did not take a batch."""


class PassingError(CollectorError):
    """It may take the batch if it is asked again."""


class Sender(Protocol):
    """Sends encoded batches over one protocol."""

    def send(self, body: bytes, timeout_s: float) -> None:
        """Send a batch.

        Raises:
            CollectorError: it was not taken.
        """

    def close(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A collector's address and protocol, as OpenTelemetry's variables name them."""

    url: str
    protocol: str = PROTOCOLS[0]
    headers: Mapping[str, str] | None = None
    timeout_s: float = POST_S
    compression: str = COMPRESSIONS[0]
    certificate: str | None = None
    """The file with the certificates to trust; None: those of the system."""
    client_certificate: str | None = None
    client_key: str | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or (443 if self.is_secure else 80)

    @property
    def is_secure(self) -> bool:
        """Whether it is reached over TLS."""
        return self.url.startswith("https:")

    @property
    def is_loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        host, _ = self.address
        return host == "localhost" or host == "::1" or host.startswith("127.")


def endpoint(base: str | None, environment: Mapping[str, str]) -> Endpoint:
    """Return the collector's endpoint; OpenTelemetry's variables win over `base`.

    Raises:
        SettingsError: the endpoint is no http address, the protocol is unknown or not
            installed, or the compression is unknown.
    """
    protocol = _one_of(PROTOCOLS, "PROTOCOL", environment)
    is_grpc = protocol == "grpc"
    if is_grpc and find_spec("grpc") is None:
        raise SettingsError(
            "traces over gRPC need an extra that is not installed",
            next_step="pip install 'echoic[grpc]', or unset " + _VARIABLE + "PROTOCOL",
        )
    usual = f"http://127.0.0.1:{4317 if is_grpc else 4318}"
    base = (base or usual).rstrip("/")
    # The variable for traces is used as it stands; a base gets the signal's path appended,
    # by the OTLP exporter specification. gRPC knows no paths.
    url = environment.get(f"{_VARIABLE}TRACES_ENDPOINT") or (
        base if is_grpc else f"{base}/v1/traces"
    )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(
            f"the trace endpoint {url!r} is no http address",
            next_step=f"use one like {usual}: echoic config show --origin",
        )
    return Endpoint(
        url=url,
        protocol=protocol,
        headers=dict(pairs(_variable("HEADERS", environment))),
        timeout_s=_timeout_s(_variable("TIMEOUT", environment)),
        compression=_one_of(COMPRESSIONS, "COMPRESSION", environment),
        certificate=_variable("CERTIFICATE", environment) or None,
        client_certificate=_variable("CLIENT_CERTIFICATE", environment) or None,
        client_key=_variable("CLIENT_KEY", environment) or None,
    )


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the decoded pairs of `a=b,c=d`, as OpenTelemetry's variables write them."""
    for pair in text.split(","):
        name, equals, value = pair.partition("=")
        if equals:
            yield unquote(name.strip()), unquote(value.strip())


def _variable(name: str, environment: Mapping[str, str]) -> str:
    """Return the value for traces, else the one for all signals, else ""."""
    of_all = environment.get(f"{_VARIABLE}{name}", "")
    return environment.get(f"{_VARIABLE}TRACES_{name}") or of_all


def _one_of(known: Sequence[str], name: str, environment: Mapping[str, str]) -> str:
    given = _variable(name, environment) or known[0]
    if given not in known:
        raise SettingsError(
            f"the trace {name.lower()} {given!r} is unknown",
            next_step=f"set {_VARIABLE}{name} to one of {', '.join(known)}",
        )
    return given


def _timeout_s(text: str) -> float:
    # Seconds to OpenTelemetry's Python packages, milliseconds to its specification: the
    # bound keeps either reading harmless.
    try:
        given = float(text)
    except ValueError:
        return POST_S
    return min(given, POST_MAX_S) if given > 0 else POST_S


class Collector:
    """A collector; what sends to it is loaded when needed."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._sender: Sender | None = None

    @property
    def name(self) -> str:
        """Its host and port, without the secrets that a URL may hold."""
        host, port = self.endpoint.address
        return f"{host}:{port}"

    def answers(self) -> bool:
        """Tell whether something accepts connections at the address."""
        try:
            with socket.create_connection(self.endpoint.address, timeout=PROBE_S):
                return True
        except OSError:
            return False

    def open(self) -> "Sender":
        """Load what sends; it connects with the first batch."""
        if self._sender is None:
            self._sender = _sender(self.endpoint)
        return self._sender

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch, within the endpoint's timeout.

        Raises:
            CollectorError: it was not taken.
        """
        is_json = self.endpoint.protocol == "http/json"
        encoded = encode.to_json if is_json else encode.to_protobuf
        body, sender = encoded(resource, spans), self.open()
        end_s = time.monotonic() + self.endpoint.timeout_s
        try:
            sender.send(body, self.endpoint.timeout_s)
        except PassingError:
            # Busy, or the connection was closed meanwhile: once more, if there is time.
            left_s = end_s - time.monotonic() - PAUSE_S
            if left_s <= 0:
                raise
            time.sleep(PAUSE_S)
            sender.send(body, left_s)

    def close(self) -> None:
        """Let go of the connection; the next batch opens another."""
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.close()


def _sender(endpoint: Endpoint) -> Sender:
    # One of the two alone is imported, and only when it is needed.
    if endpoint.protocol == "grpc":
        from echoic.tracing.over_grpc import GrpcSender

        return GrpcSender(endpoint)
    from echoic.tracing.over_http import HttpSender

    return HttpSender(endpoint)
