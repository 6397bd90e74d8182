"""Ends of heads by which a proxy and a server may come to differ on where a request ends.

Each takes what would be another request, if anybody took it for one.
"""

from collections.abc import Callable, Sequence

_SPLIT = b"\r\n\r\n"


def _lengths(inner: bytes) -> bytes:
    return b"Content-Length: 0\r\nContent-Length: %d%b" % (len(inner), _SPLIT) + inner


def _both(inner: bytes) -> bytes:
    return (
        b"Content-Length: %d\r\nTransfer-Encoding: chunked%b0\r\n\r\n"
        % (len(inner) + 5, _SPLIT)
        + inner
    )


def _odd_coding(inner: bytes) -> bytes:
    return b"Transfer-Encoding: xchunked\r\nContent-Length: 0" + _SPLIT + inner


def _folded(inner: bytes) -> bytes:
    return b"X: a\r\n Content-Length: 0\r\nContent-Length: -1" + _SPLIT + inner


def _broken_chunk(inner: bytes) -> bytes:
    return b"Transfer-Encoding: chunked" + _SPLIT + b"zz\r\n" + inner


def _long_chunk(inner: bytes) -> bytes:
    return b"Transfer-Encoding: chunked" + _SPLIT + b"f" * 30 + b"\r\n" + inner


def _head_only(inner: bytes) -> bytes:
    return b"X: " + inner.replace(b"\r\n", b" ")


def _many(inner: bytes) -> bytes:
    return b"a: b\r\n" * 2_000 + _SPLIT + inner


def _nul(inner: bytes) -> bytes:
    return b"X: \x00\r\n" + _SPLIT + inner


SHAPES: Sequence[Callable[[bytes], bytes]] = (
    _lengths,
    _both,
    _odd_coding,
    _folded,
    _broken_chunk,
    _long_chunk,
    _head_only,
    _many,
    _nul,
)
