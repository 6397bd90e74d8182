"""The headers of messages, read alike however a message was fetched.

Later ones win over earlier ones of the same name: the broker adds its own last, so that
a sensor cannot forge them.
"""

from collections.abc import Mapping
from functools import lru_cache

RESERVED = "Nats-"
"""How the headers begin that are the broker's, and no part of the message."""


def parse_headers(raw: bytes) -> dict[str, str]:
    """Return the headers of a block in the wire form of the NATS protocol.

    What is no header is left out; bytes that are not UTF-8 are replaced.
    """
    headers = {}
    for line in raw.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon and (key := _name(name)):
            headers[key] = value.strip(_SPACE)
    return headers


def own_headers_of(block: bytes) -> dict[str, str]:
    """Return the message's own headers of a block; its first line, the version, is no
    header.
    """
    headers = {}
    for line in block.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon and (key := _own_name(name)):
            headers[key] = value.strip(_SPACE)
    return headers


def status_of(block: bytes) -> tuple[str, str]:
    """Code and text of the status that a server's message bears; empty for none."""
    line = block.partition(b"\r\n")[0].removeprefix(_VERSION).decode()
    code, _, text = line.strip().partition(" ")
    return code, text.strip()


def block_of(headers: Mapping[str, str]) -> bytes | None:
    """Headers in the wire form of the NATS protocol; None if one of them is not plain."""
    if not headers:
        return b""
    if not all(key and _name(key) == key for key in headers):
        return None
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


_VERSION = b"NATS/1.0"
_SPACE = " \t\n\r\x0b\x0c"


@lru_cache(maxsize=4096)
def _name(raw: str) -> str:
    """Return a header's name, empty if it cannot be one."""
    name = raw.strip(_SPACE)
    return name if name.isascii() and name.split() == [name] else ""


@lru_cache(maxsize=4096)
def _own_name(raw: str) -> str:
    """Return a header's name, empty if it cannot be one or is the broker's."""
    name = _name(raw)
    return "" if _is_reserved(name) else name


@lru_cache(maxsize=4096)
def _is_reserved(name: str) -> bool:
    return name.startswith(RESERVED)
