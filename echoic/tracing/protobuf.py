"""Spans as one export request of OTLP in protobuf's wire format, made directly; pure.

OpenTelemetry's encoder makes objects of each span and attribute first, and takes ten times
as long (ADR 0040). Field numbers are those of `opentelemetry/proto/trace/v1/trace.proto` and
what it imports; a test compares the two. A field is its key, which is its number times 8
plus its wire type (0 a varint, 1 eight bytes, 2 with a length before it, 5 four bytes), and
its value.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from struct import Struct

from echoic.tracing import conventions as names
from echoic.tracing.spans import Attributes, Link, Scalar, SpanData, SpanEvent, SpanKind

KINDS: Mapping[SpanKind, int] = {
    "internal": 1, "client": 3, "producer": 4, "consumer": 5,
}  # fmt: skip
"""Numbers of the enum Span.SpanKind."""
ERROR = 2
"""The number of the enum Status.StatusCode."""
SAMPLED = 1
"""The flag of W3C Trace Context."""
SCOPE = "echoic.tracing"

_KEPT = 4_096
"""Attributes whose bytes are kept: most have one of a few values."""
_KEPT_LENGTH = 100
"""Characters of a text up to which that is so: prompts and answers are another each time."""
_FIXED64 = Struct("<Q").pack
_DOUBLE = Struct("<d").pack
_TIMES = Struct("<BQBQ").pack
# fixed32 flags = 16.
_SPAN_FLAGS = b"\x85\x01" + SAMPLED.to_bytes(4, "little")
_BYTES = tuple(bytes([number]) for number in range(0x80))


def request(services: Iterable[tuple[Attributes, Iterable[SpanData]]]) -> bytes:
    """Return a request with the spans of some services, each after its resource."""
    return b"".join(
        _sized(b"\x0a", _resource_spans(whose, own)) for whose, own in services
    )


def _resource_spans(resource: Attributes, spans: Iterable[SpanData]) -> bytes:
    scope = _sized(b"\x0a", _sized(b"\x0a", SCOPE.encode()))
    written = b"".join([_sized(b"\x12", _span(each)) for each in spans])
    return b"".join(
        (
            _sized(b"\x0a", b"".join(_attributes(b"\x0a", resource))),
            _sized(b"\x12", scope + written),
            _sized(b"\x1a", names.SCHEMA_URL.encode()),
        )
    )


def _span(span: SpanData) -> bytes:
    parts = [b"\x0a\x10", bytes.fromhex(span.trace_id)]
    parts += b"\x12\x08", bytes.fromhex(span.span_id)
    if span.parent is not None:
        parts += b"\x22\x08", bytes.fromhex(span.parent)
    parts.append(_named(span.name, span.kind))
    parts.append(_TIMES(0x39, span.start_ns, 0x41, span.end_ns))
    parts += _attributes(b"\x4a", span.attributes)
    parts += [_sized(b"\x5a", _event(event)) for event in span.events]
    parts += [_sized(b"\x6a", _link(link)) for link in span.links]
    if span.error is not None:
        code = b"\x18" + _BYTES[ERROR]
        parts.append(_sized(b"\x7a", _sized(b"\x12", span.error.encode()) + code))
    parts.append(_SPAN_FLAGS)
    return b"".join(parts)


@lru_cache(_KEPT)
def _named(name: str, kind: SpanKind) -> bytes:
    return _sized(b"\x2a", name.encode()) + b"\x30" + _BYTES[KINDS[kind]]


def _event(event: SpanEvent) -> bytes:
    parts = [b"\x09", _FIXED64(event.at_ns), _sized(b"\x12", event.name.encode())]
    parts += _attributes(b"\x1a", event.attributes)
    return b"".join(parts)


def _link(link: Link) -> bytes:
    parts = [b"\x0a\x10", bytes.fromhex(link.trace_id)]
    parts += b"\x12\x08", bytes.fromhex(link.span_id)
    parts += _attributes(b"\x22", link.attributes)
    return b"".join(parts)


def _attributes(key: bytes, attributes: Attributes) -> list[bytes]:
    """Return a repeated field of attributes."""
    return [
        # The commonest kinds first; a text is kept if it is short, as most come again.
        (_kept if len(value) <= _KEPT_LENGTH else _text)(key, name, value)
        if type(value) is str
        else _double_head(key, name) + _DOUBLE(value)
        if type(value) is float
        else _number(key, name, value)
        for name, value in attributes.items()
    ]


def _text(key: bytes, name: str, value: str) -> bytes:
    return _pair(key, name, _sized(b"\x0a", value.encode()))


_kept = lru_cache(_KEPT)(_text)


@lru_cache(_KEPT)
def _double_head(key: bytes, name: str) -> bytes:
    """Return all of the attribute but the number, which always has eight bytes."""
    return _pair(key, name, b"\x21" + bytes(8))[:-8]


def _number(key: bytes, name: str, value: Scalar) -> bytes:
    if isinstance(value, bool):
        return _kept_bool(key, name, value)
    # An int64: negative ones are written as their two's complement.
    return _pair(key, name, b"\x18" + _varint(int(value) & 0xFFFF_FFFF_FFFF_FFFF))


@lru_cache(_KEPT)
def _kept_bool(key: bytes, name: str, value: bool) -> bytes:
    return _pair(key, name, b"\x10" + _BYTES[value])


def _pair(key: bytes, name: str, value: bytes) -> bytes:
    """Return a KeyValue field: the name, and the value as an AnyValue."""
    return _sized(key, _name(name) + _sized(b"\x12", value))


@lru_cache(_KEPT)
def _name(name: str) -> bytes:
    return _sized(b"\x0a", name.encode())


def _sized(key: bytes, body: bytes) -> bytes:
    """Return a field with its length."""
    size = len(body)
    return key + (_BYTES[size] if size < 0x80 else _varint(size)) + body


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
