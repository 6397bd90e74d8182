"""Limits of each token, and of addresses that guess: buckets, and counts of what is open."""

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network

from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken

STREAMS = 8
"""Streams of decisions that a token may have open at once."""
REQUESTS = 32
"""Requests of a token that may be open at once, its streams included."""

GUESSES = 20
"""Unknown tokens that an address may show at once; then one a second."""
MOST_GUESSERS = 4_096
"""Addresses that are remembered for it; the one that was quiet for longest is forgotten."""


def neighbourhood(host: str) -> str:
    """Return whom limits by address count together: an address, or an IPv6 network of 64 bits.

    Whoever has one address of such a network usually has all.
    """
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, 64), strict=False))


class Bucket:
    """What may be taken at once, and what flows back a second."""

    __slots__ = ("_left", "_since")

    def __init__(self, full: float, now: float) -> None:
        self._left = full
        self._since = now

    def take(self, count: int, full: float, per_s: float, now: float) -> float:
        """Take so many, and return 0; or take none, and return the seconds to wait."""
        self._left = min(full, self._left + (now - self._since) * per_s)
        self._since = now
        if count > self._left:
            return (min(count, full) - self._left) / per_s
        self._left -= count
        return 0.0


class Limits:
    """What each token has used of late, by one door."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with full buckets."""
        self._now = now
        self._used: dict[str, Bucket] = {}
        """By digest; one for each token that was ever shown."""
        self._guessed: OrderedDict[str, Bucket] = OrderedDict()
        """By address."""
        self._requests: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()

    def take(self, token: AccessToken, count: int = 1) -> None:
        """Take so many from a token's bucket.

        Raises:
            ProblemError: it does not hold as many.
        """
        now, full = self._now(), float(token.burst)
        bucket = self._used.setdefault(token.digest, Bucket(full, now))
        if wait_s := bucket.take(count, full, token.per_s, now):
            raise _too_much(
                f"the token {token.name!r} may send {token.per_s:g} a second, and"
                f" {token.burst} at once",
                wait_s,
            )

    def guess(self, address: str) -> None:
        """Count an unknown token against the address that shows it.

        A known one is let in all the same: who shares its address could lock it out.

        Raises:
            ProblemError: it showed too many.
        """
        now = self._now()
        bucket = self._guessed.setdefault(address, Bucket(GUESSES, now))
        self._guessed.move_to_end(address)
        if len(self._guessed) > MOST_GUESSERS:
            self._guessed.popitem(last=False)
        if wait_s := bucket.take(1, GUESSES, 1.0, now):
            raise _too_much("too many unknown tokens", wait_s, Connection="close")

    @contextmanager
    def request(self, token: AccessToken) -> Iterator[None]:
        """Count an open request for the length of the block.

        Raises:
            ProblemError: too many are open.
        """
        with _held(self._requests, token, REQUESTS, "requests"):
            yield

    @contextmanager
    def stream(self, token: AccessToken) -> Iterator[None]:
        """Count an open stream for the length of the block.

        Raises:
            ProblemError: too many are open.
        """
        with _held(self._streams, token, STREAMS, "streams"):
            yield


@contextmanager
def _held(
    counts: Counter[str], token: AccessToken, most: int, what: str
) -> Iterator[None]:
    if counts[token.digest] >= most:
        raise _too_much(f"a token may have {most} {what} open", 1.0)
    counts[token.digest] += 1
    try:
        yield
    finally:
        counts[token.digest] -= 1


def _too_much(detail: str, wait_s: float, **headers: str) -> ProblemError:
    wait = {"Retry-After": str(max(math.ceil(wait_s), 1))}
    return ProblemError(429, "rate_limited", detail, headers=wait | headers)
