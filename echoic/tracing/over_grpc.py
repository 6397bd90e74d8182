"""Traces over gRPC, by its own library; an extra."""

from pathlib import Path

import grpc  # type: ignore[import-untyped]  # has no types

from echoic.tracing.collector import CollectorError, Endpoint, PassingError

_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_PASSING = frozenset(("UNAVAILABLE", "RESOURCE_EXHAUSTED", "ABORTED", "OUT_OF_RANGE"))
"""Some of the codes after which OTLP lets a client try again; one that ran out of time
would run out of it again."""
_COMPRESSIONS = {
    "none": grpc.Compression.NoCompression,
    "gzip": grpc.Compression.Gzip,
    "deflate": grpc.Compression.Deflate,
}


class GrpcSender:
    """Calls one service, over a connection that is kept open."""

    def __init__(self, endpoint: Endpoint) -> None:
        host, port = endpoint.address
        # An address of IPv6 has colons itself.
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        compression = _COMPRESSIONS[endpoint.compression]
        if endpoint.is_secure:
            self._channel = grpc.secure_channel(
                target, _credentials(endpoint), compression=compression
            )
        else:
            self._channel = grpc.insecure_channel(target, compression=compression)
        # Without serializers it takes and returns bytes.
        self._call = self._channel.unary_unary(_EXPORT)
        # gRPC takes names in lower case only.
        headers = (endpoint.headers or {}).items()
        self._metadata = tuple((name.lower(), value) for name, value in headers)

    def send(self, body: bytes, timeout_s: float) -> None:
        """Send a batch.

        Raises:
            CollectorError: it was not taken.
        """
        try:
            self._call(body, timeout=timeout_s, metadata=self._metadata)
        except grpc.RpcError as error:
            code = error.code().name
            kind = PassingError if code in _PASSING else CollectorError
            raise kind(f"{code}: {error.details()}"[:200]) from error

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


def _credentials(endpoint: Endpoint) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=_read(endpoint.certificate),
        private_key=_read(endpoint.client_key),
        certificate_chain=_read(endpoint.client_certificate),
    )


def _read(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
