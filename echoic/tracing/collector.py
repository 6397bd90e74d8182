"""A collector of traces: where it is, as OpenTelemetry's variables say, and how to send.

OpenTelemetry's own exporters send; what they read from the environment by themselves
(headers, certificates, credential providers) is not repeated here.
"""

import logging
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from echoic.errors import SettingsError
from echoic.tracing.spans import Attributes, SpanData

_USUAL = "http://127.0.0.1:4318"
_PROTOCOLS = ("http/protobuf", "http/json")
"""The values of OTEL_EXPORTER_OTLP_PROTOCOL, the default first."""
_COMPRESSIONS = ("none", "gzip", "deflate")
"""The values of OTEL_EXPORTER_OTLP_COMPRESSION, the default first."""
PROBE_S = 0.3
"""Seconds that a collector may take to accept a connection."""
_POST_S = 2.0
"""Seconds that it may take to take a batch, the exporter's own retries included."""
_POST_MAX_S = 10.0
"""The same at most, whatever OTEL_EXPORTER_OTLP_TIMEOUT says; its default there."""
REASON_MAX = 200
"""Characters of a reason at most."""

_VARIABLE = "OTEL_EXPORTER_OTLP_"


class CollectorError(Exception):
    """A collector did not take a batch."""


class Sender(Protocol):
    """Sends batches over one protocol."""

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch, within the endpoint's timeout.

        Raises:
            CollectorError: it was not taken.
        """

    def shutdown(self) -> None:
        """Let go of the connection."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A collector's address and protocol, as OpenTelemetry's variables name them."""

    url: str
    protocol: str = _PROTOCOLS[0]
    timeout_s: float = _POST_S
    compression: str = _COMPRESSIONS[0]

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
        SettingsError: the endpoint is no http address, or the protocol or the compression
            is unknown.
    """
    protocol = _one_of(_PROTOCOLS, "PROTOCOL", environment)
    base = (base or _USUAL).rstrip("/")
    # The variable for traces is used as it stands; a base gets the signal's path appended,
    # by the OTLP exporter specification.
    url = environment.get(f"{_VARIABLE}TRACES_ENDPOINT") or f"{base}/v1/traces"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(
            f"the trace endpoint {url!r} is no http address",
            next_step=f"use one like {_USUAL}: echoic config show --origin",
        )
    return Endpoint(
        url=url,
        protocol=protocol,
        timeout_s=_timeout_s(_variable("TIMEOUT", environment)),
        compression=_one_of(_COMPRESSIONS, "COMPRESSION", environment),
    )


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
        return _POST_S
    return min(given, _POST_MAX_S) if given > 0 else _POST_S


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

    def open(self) -> Sender:
        """Load the exporter, which takes about 0.2 s; it connects when it sends.

        Raises:
            CollectorError: what the environment says of it cannot be used.
        """
        if self._sender is None:
            try:
                self._sender = _sender(self.endpoint)
            # Of certificates, of an unknown provider of credentials: each has errors of
            # its own.
            except Exception as error:
                raise CollectorError(str(error)[:REASON_MAX]) from error
        return self._sender

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch, within the endpoint's timeout.

        Raises:
            CollectorError: it was not taken.
        """
        self.open().send(resource, spans)

    def close(self) -> None:
        """Let go of the connection; the next batch opens another."""
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.shutdown()


def _sender(endpoint: Endpoint) -> Sender:
    # Imported only when it is needed.
    from echoic.tracing.over_http import HttpSender

    return HttpSender(endpoint)


class LastProblem(logging.Handler):
    """Keeps what an exporter last logged: why it failed."""

    text = "no answer"
    _LOGGER = logging.getLogger("opentelemetry.exporter")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message, which may be as long as a stack of errors."""
        self.text = record.getMessage()[:REASON_MAX]

    def __enter__(self) -> "LastProblem":
        """Listen, and keep the messages from the terminal: the notice says it once."""
        self._LOGGER.addHandler(self)
        self._LOGGER.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no longer."""
        self._LOGGER.removeHandler(self)
