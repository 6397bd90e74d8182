"""Limits of each token: a bucket of requests and events, and a few streams at once."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from echoic.doors.http.problems import ProblemError
from echoic.doors.http.tokens import AccessToken

STREAMS = 8
"""Streams of decisions that a token may have open at once."""


class Limits:
    """What each token has used of late."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with full buckets."""
        self._now = now
        self._used: dict[str, tuple[float, float]] = {}
        """By digest: what is left in the bucket, and when that was."""
        self._streams: Counter[str] = Counter()

    def take(self, token: AccessToken, count: int = 1) -> None:
        """Take so many from a token's bucket.

        Raises:
            ProblemError: it does not hold as many.
        """
        now = self._now()
        left, since = self._used.get(token.digest, (float(token.burst), now))
        left = min(float(token.burst), left + (now - since) * token.per_s)
        if count > left:
            self._used[token.digest] = (left, now)
            wait = math.ceil((min(count, token.burst) - left) / token.per_s)
            raise ProblemError(
                429,
                "rate_limited",
                f"the token {token.name!r} may send {token.per_s:g} a second, and"
                f" {token.burst} at once",
                headers={"Retry-After": str(max(wait, 1))},
            )
        self._used[token.digest] = (left - count, now)

    @contextmanager
    def stream(self, token: AccessToken) -> Iterator[None]:
        """Count an open stream for the length of the block.

        Raises:
            ProblemError: too many are open.
        """
        if self._streams[token.digest] >= STREAMS:
            raise ProblemError(
                429, "rate_limited", f"a token may have {STREAMS} streams open"
            )
        self._streams[token.digest] += 1
        try:
            yield
        finally:
            self._streams[token.digest] -= 1
