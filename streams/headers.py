"""The headers of messages in the NATS wire form, parsed alike however a message was fetched.

Of several headers of one name the last wins: the broker appends its own, so that a sensor
cannot forge them.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

_RESERVED = "Nats-"
"""The prefix of the broker's headers, which are no part of the message. They differ with
the way a message was fetched, so they must not enter a digest of it."""


def parse_headers(raw: bytes) -> dict[str, str]:
    """Return the headers of a block in the wire form of the NATS protocol.

    Lines that are no header are left out and bytes that are not UTF-8 are replaced: a
    sensor may send anything, and the log must stay readable.
    """
    return _read(raw, _name)


def own_headers_of(block: bytes) -> dict[str, str]:
    """Return the headers of a block that are the message's own, not the broker's.

    The first line, the protocol's version, has no colon and so drops out.
    """
    return _read(block, _own_name)


def status_of(block: bytes) -> tuple[str, str]:
    """Return the code and text of a server's status line; both empty if there is none."""
    line = block.partition(b"\r\n")[0].removeprefix(_VERSION).decode()
    code, _, text = line.strip().partition(" ")
    return code, text.strip()


def block_of(headers: Mapping[str, str]) -> bytes | None:
    """Return headers in the wire form of the NATS protocol; None if one is not plain.

    A line break inside a value would start a header of the sender's choice.
    """
    if not headers:
        return b""
    if not _are_plain(tuple(headers)):
        return None
    # Counting the breaks of the joined text checks all values in two passes.
    lines = "\r\n".join([f"{key}: {value}" for key, value in headers.items()])
    breaks = len(headers) - 1
    if lines.count("\r") != breaks or lines.count("\n") != breaks:
        return None
    return b"%b\r\n%b\r\n\r\n" % (_VERSION, lines.encode())


def own_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the headers that are the message's own."""
    if not headers:
        return {}
    return {key: value for key, value in headers.items() if not _is_reserved(key)}


def _read(block: bytes, name_of: Callable[[str], str]) -> dict[str, str]:
    """Return the headers of a block that `name_of` gives a name."""
    headers = {}
    for line in block.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon and (key := name_of(name)):
            headers[key] = value.strip(_SPACE)
    return headers


_VERSION = b"NATS/1.0"
BARE_BLOCK = _VERSION + b"\r\n\r\n"
"""The wire form of no headers, to which some can be added."""

# What `bytes.strip` takes for white space; `str.strip` would take Unicode's as well.
_SPACE = " \t\n\r\x0b\x0c"


# Cached because a log has a few dozen names in millions of messages; bounded because a
# sensor may invent names.
@lru_cache(maxsize=4096)
def _name(raw: str) -> str:
    """Return a header's name, empty if it cannot be one."""
    name = raw.strip(_SPACE)
    return name if name.isascii() and name.split() == [name] else ""


# Nearly all messages have one of a few sets of headers.
@lru_cache(maxsize=1024)
def _are_plain(names: tuple[str, ...]) -> bool:
    return all(name and _name(name) == name for name in names)


@lru_cache(maxsize=4096)
def _own_name(raw: str) -> str:
    """Return a header's name, empty if it cannot be one or is the broker's."""
    name = _name(raw)
    return "" if _is_reserved(name) else name


@lru_cache(maxsize=4096)
def _is_reserved(name: str) -> bool:
    return name.startswith(_RESERVED)
