"""Addresses to listen on, as options name them."""

from typing import Final

from echoic.config import option
from echoic.errors import EchoicError

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def address(listen: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`; an address of IPv6 stands in brackets.

    Raises:
        EchoicError: it is something else.
    """
    try:
        place = option.listen(listen)
    except ValueError:
        place = None
    if place is None:
        raise EchoicError(f"--listen {listen!r} is no HOST:PORT such as 127.0.0.1:7350")
    return option.address_of(place)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a host's address."""
    return host in _LOOPBACK
