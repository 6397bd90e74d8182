"""Traces over HTTP, by urllib3."""

import gzip
import zlib
from collections.abc import Callable, Mapping

import urllib3

from echoic.tracing.collector import CollectorError, Endpoint, PassingError

_PASSING = frozenset((429, 502, 503, 504))
"""The statuses after which OTLP lets a client try again."""
_CONTENT = {"http/json": "application/json", "http/protobuf": "application/x-protobuf"}
_COMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}


class HttpSender:
    """Posts to one address, over connections that are kept open."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._url = endpoint.url
        self._compress = _COMPRESS.get(endpoint.compression)
        self._headers = {"Content-Type": _CONTENT[endpoint.protocol]}
        if self._compress is not None:
            self._headers["Content-Encoding"] = endpoint.compression
        self._headers |= endpoint.headers or {}
        self._pool = urllib3.PoolManager(
            ca_certs=endpoint.certificate,
            cert_file=endpoint.client_certificate,
            key_file=endpoint.client_key,
        )

    def send(self, body: bytes, timeout_s: float) -> None:
        """Post a batch.

        Raises:
            CollectorError: it was not taken.
        """
        sent = body if self._compress is None else self._compress(body)
        try:
            answer = self._pool.request(
                "POST", self._url, body=sent, headers=self._headers, retries=False,
                timeout=timeout_s,
            )  # fmt: skip
        except urllib3.exceptions.ProtocolError as error:
            # A connection that was kept open may have been closed meanwhile.
            raise PassingError(repr(error)) from error
        # Of files that are no certificates, too.
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise CollectorError(repr(error)) from error
        if answer.status >= 300:
            kind = PassingError if answer.status in _PASSING else CollectorError
            raise kind(f"{answer.status} {answer.reason}")

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()
