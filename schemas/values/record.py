"""A message as bytes: what the log stores, before anyone reads meaning into it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Wire(Struct, frozen=True):
    """A message on its way into the log."""

    subject: str
    headers: Mapping[str, str]
    body: bytes


class Record(Struct, frozen=True):
    """A message that the log holds."""

    subject: str
    headers: Mapping[str, str]
    body: bytes
    sequence: int
    """Its place in the stream, from 1, without gaps over the whole log."""
    time_ns: int
    """The broker's time of arrival, nanoseconds since 1970."""
    sealed: bytes | None = None
    """The body as the log stores it, if personal fields are sealed there; None: as it is."""

    @property
    def stored(self) -> bytes:
        """The body as the log stores it; digests are taken of these bytes."""
        return self.body if self.sealed is None else self.sealed

    @property
    def recorded_at(self) -> datetime:
        """The broker's time of arrival, cut to microseconds."""
        return moment(self.time_ns)


def moment(time_ns: int) -> datetime:
    """Return a time in nanoseconds since 1970 as an aware datetime, cut to microseconds."""
    # Whole numbers throughout: a float of seconds could round up to the next microsecond,
    # where this cuts.
    return _EPOCH + timedelta(microseconds=time_ns // 1000)


def nanoseconds(at: datetime) -> int:
    """Return the nanoseconds since 1970 of an aware datetime."""
    since = at - _EPOCH
    # Not `timestamp()`: a float of seconds cannot hold these nanoseconds.
    return (
        since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds
    ) * 1000
