"""The errors of reading and writing a log; every message says what to do next."""


class StreamsError(Exception):
    """Base of all errors of this package."""


class ServerFailed(StreamsError):
    """The embedded nats-server did not start, or did not take a new configuration."""


class PortTaken(ServerFailed):
    """Another program listens where the embedded nats-server, or a door, was told to."""


class LogUnavailable(StreamsError):
    """The broker did not answer in time; the request may have been carried out or not."""


class LogForbidden(LogUnavailable):
    """The broker does not let these credentials in, and would not the next time."""


class LogRefused(StreamsError):
    """The broker refused a request, and asking again would not help."""


class LogFull(StreamsError):
    """The log takes no more messages: its disk or its configured limit is used up."""


class IntakeFull(LogFull):
    """An intake stream holds all that it may until the log has taken some, or there is disk."""


class Fenced(StreamsError):
    """Another writer owns the partition, and nothing of the write was stored as ours.

    Drop the state of every partition of the write and fold it again from the log.
    """

    def __init__(self, partition: int, expected: int) -> None:
        super().__init__(
            f"partition {partition} no longer ends at sequence {expected}: another"
            " worker wrote to it; drop its state and fold it again from the log"
        )
        self.partition = partition
        self.expected = expected


class LogDamaged(StreamsError):
    """The log breaks one of the invariants that `streams.groups` relies on."""

    def __init__(
        self,
        kind: str,
        sequence: int,
        detail: str,
        *,
        advice: str = "run `echoic log verify` for the whole picture",
    ) -> None:
        super().__init__(
            f"the log is damaged at sequence {sequence} ({kind}): {detail}; {advice}"
        )
        self.kind = kind
        self.sequence = sequence


class LogReclaimed(StreamsError):
    """What is to be read stood in a segment whose stream was given up for its archive."""

    def __init__(self, stream: str, last: int) -> None:
        super().__init__(
            f"the log up to sequence {last} ({stream}) is in its archive alone: echoic log"
            f" archive --to URL --put-back {stream}"
        )
        self.stream = stream
        self.last = last
        """The last sequence that it had."""


class Unanswered(StreamsError):
    """What was waited for did not come in time."""

    def __init__(self, text: str, sequence: int | None = None) -> None:
        super().__init__(text)
        self.sequence = sequence
        """The sequence of the unanswered input; None if the input itself did not arrive."""


class TopologyDrift(StreamsError):
    """A stream of the broker is not configured as Echoic needs it."""


class SessionFileError(StreamsError):
    """A file is no session file, has another version, or is truncated or damaged."""


class BackupDamaged(StreamsError):
    """A file is no backup, is cut off or altered, or is of a later format."""
