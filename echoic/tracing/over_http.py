"""Traces over HTTP, by OpenTelemetry's own exporter."""

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from echoic.tracing import encode, protobuf
from echoic.tracing.collector import REASON_MAX, CollectorError, Endpoint, LastProblem
from echoic.tracing.spans import Attributes, SpanData


class HttpSender(OTLPSpanExporter):
    """The exporter, which is given spans of our own instead of the SDK's."""

    def __init__(self, endpoint: Endpoint) -> None:
        # OpenTelemetry's JSON exporter needs other versions of its packages than the
        # stable ones; all that differs is the body and its type.
        self._is_json = endpoint.protocol == "http/json"
        super().__init__(
            endpoint.url,
            headers={"Content-Type": "application/json"} if self._is_json else None,
            timeout=endpoint.timeout_s,
            compression=Compression(endpoint.compression),
        )

    def send(self, resource: Attributes, spans: Sequence[SpanData]) -> None:
        """Send a batch; what passes is tried again within the timeout.

        Raises:
            CollectorError: it was not taken.
        """
        with LastProblem():
            # A private name, which the tests with a real collector guard: `export` takes
            # the SDK's spans, whose encoder costs six times as much (ADR 0044).
            found = self._client.export(self._encoded(resource, spans))
        if not found.success:
            said = (found.status_code, found.reason, found.error)
            reason = " ".join(str(each) for each in said if each is not None)
            raise CollectorError(reason[:REASON_MAX] or LastProblem.text)

    def _encoded(self, resource: Attributes, spans: Sequence[SpanData]) -> bytes:
        if self._is_json:
            return encode.to_json(resource, spans)
        written: bytes = protobuf.request(resource, spans).SerializeToString()
        return written
