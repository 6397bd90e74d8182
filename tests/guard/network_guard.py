"""Refuses every socket but loopback and local ones to the Python process it runs in.

The tests install it, and every Python child gets it through `sitecustomize`. A test
that needs the network is a test that fails on a train.
"""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

_BY_NAME = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")
_BY_ADDRESS = ("connect", "connect_ex", "sendto")


class NetworkRefusedError(OSError):
    """Something tried to leave this machine."""


def install() -> None:
    """Guard this process; a second call changes nothing."""
    if getattr(socket, "_guarded", False):
        return
    for name in _BY_NAME:
        setattr(socket, name, _guarded_lookup(getattr(socket, name)))
    for name in _BY_ADDRESS:
        setattr(socket.socket, name, _guarded_method(getattr(socket.socket, name)))
    socket._guarded = True  # type: ignore[attr-defined]


def is_local(host: str | bytes | None) -> bool:
    """Whether a host name or address stays on this machine."""
    if isinstance(host, bytes):
        host = host.decode()
    if host in (None, "", "localhost", "0.0.0.0", "::"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return host == socket.gethostname()


def _check(host: str | bytes | None) -> None:
    if not is_local(host):
        raise NetworkRefusedError(
            f"a test tried to reach {host!r}: use a server on a loopback address"
        )


def _guarded_lookup(original: Callable[..., Any]) -> Callable[..., Any]:
    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        _check(host)
        return original(host, *args, **kwargs)

    return lookup


def _guarded_method(original: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: socket.socket, *args: Any) -> Any:
        # The address is last; that of a local (unix) socket is a path.
        if isinstance(args[-1], tuple):
            _check(args[-1][0])
        return original(self, *args)

    return method
