"""A collector of traces: where it is, as OpenTelemetry's variables say, and how to send.

OpenTelemetry's own exporters send, over HTTP or gRPC.
"""

import logging
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from echoic.errors import SettingsError
from echoic.tracing import encode
from echoic.tracing.spans import Attributes, SpanData

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

PROTOCOLS = ("http/protobuf", "http/json", "grpc")
"""The values of OTEL_EXPORTER_OTLP_PROTOCOL, the default first."""
PROBE_S = 0.3
"""Seconds that a collector may take to accept a connection."""
POST_S = 2.0
"""Seconds that it may take to take a batch, the exporter's own retries included."""
POST_MAX_S = 10.0
"""The same at most, whatever OTEL_EXPORTER_OTLP_TIMEOUT says; its default there."""

_VARIABLE = "OTEL_EXPORTER_OTLP_"


class CollectorError(Exception):
    """A collector did not take a batch."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A collector's address and protocol, as OpenTelemetry's variables name them."""

    url: str
    protocol: str = PROTOCOLS[0]
    headers: Mapping[str, str] | None = None
    timeout_s: float = POST_S

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
        SettingsError: the endpoint is no http address, or the protocol is unknown or not
            installed.
    """
    protocol = _variable("PROTOCOL", environment) or PROTOCOLS[0]
    if protocol not in PROTOCOLS:
        raise SettingsError(
            f"the trace protocol {protocol!r} is unknown",
            next_step=f"set {_VARIABLE}PROTOCOL to one of {', '.join(PROTOCOLS)}",
        )
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


def _timeout_s(text: str) -> float:
    # Seconds to OpenTelemetry's Python exporters, milliseconds to its specification: the
    # bound keeps either reading harmless.
    try:
        given = float(text)
    except ValueError:
        return POST_S
    return min(given, POST_MAX_S) if given > 0 else POST_S


class Collector:
    """A collector, reached by OpenTelemetry's exporter, which is loaded when needed."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._exporter: SpanExporter | None = None
        self._problem = _LastProblem()

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

    def open(self) -> None:
        """Load the exporter, which takes about 0.2 s; it connects when it sends."""
        if self._exporter is None and self.endpoint.protocol != "http/json":
            self._exporter = _exporter(self.endpoint)

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch, within the endpoint's timeout.

        Raises:
            CollectorError: it was not taken.
        """
        self.open()
        exporter = self._exporter
        if exporter is None:
            self._post(encode.to_json(resource, spans))
            return
        from opentelemetry.sdk.trace.export import SpanExportResult

        with self._problem as problem:
            sent = exporter.export(encode.to_sdk(resource, spans))
        if sent is not SpanExportResult.SUCCESS:
            raise CollectorError(problem.text)

    def _post(self, body: bytes) -> None:
        # OpenTelemetry's JSON exporter needs other versions of its own packages than the
        # stable ones have, so this form goes out by hand.
        import urllib3

        headers = {"Content-Type": "application/json", **(self.endpoint.headers or {})}
        try:
            answer = urllib3.request(
                "POST", self.endpoint.url, body=body, headers=headers, retries=False,
                timeout=self.endpoint.timeout_s,
            )  # fmt: skip
        except urllib3.exceptions.HTTPError as error:
            raise CollectorError(repr(error)) from error
        if answer.status >= 300:
            raise CollectorError(f"{answer.status} {answer.reason}")

    def close(self) -> None:
        """Let go of the connection; the next batch opens another."""
        exporter, self._exporter = self._exporter, None
        if exporter is not None:
            exporter.shutdown()


def _exporter(endpoint: Endpoint) -> "SpanExporter":
    """Make the exporter; certificates and compression it reads from the environment."""
    # One of the two alone is imported: each takes about 100 ms.
    if endpoint.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc

        return grpc.OTLPSpanExporter(
            endpoint.url,
            insecure=not endpoint.is_secure,
            # gRPC takes names in lower case only.
            headers={k.lower(): v for k, v in (endpoint.headers or {}).items()},
            timeout=endpoint.timeout_s,
        )
    from opentelemetry.exporter.otlp.proto.http import trace_exporter as http

    return http.OTLPSpanExporter(
        endpoint.url, headers=endpoint.headers, timeout=endpoint.timeout_s
    )


class _LastProblem(logging.Handler):
    """Keeps what an exporter last logged, its only word on why it failed."""

    text = "no answer"
    _LOGGER = logging.getLogger("opentelemetry.exporter")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message, which may be as long as a stack of errors."""
        self.text = record.getMessage()[:200]

    def __enter__(self) -> "_LastProblem":
        """Listen, and keep the messages from the terminal: the notice says it once."""
        self._LOGGER.addHandler(self)
        self._LOGGER.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no longer."""
        self._LOGGER.removeHandler(self)
