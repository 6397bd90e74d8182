"""Addresses to listen on, as options name them."""

import errno
import socket
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


def free_address(listen: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, on which nobody listens yet.

    Tried before a door is opened: its server would end the program by itself.

    Raises:
        EchoicError: it is something else, or another program listens there.
    """
    host, port = address(listen)
    for family, kind, *_, place in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    ):
        with socket.socket(family, kind) as probe:
            # As servers do: what has just ended must not seem to be there.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(place)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise EchoicError(
                    f"another program listens at {listen}",
                    next_step="name another port, or end that program"
                    f" (`ss -ltnp 'sport = :{port}'` names it)",
                ) from error
    return host, port


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches a host's address."""
    return host in _LOOPBACK
