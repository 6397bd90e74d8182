"""Errors between the log and the read models; each message says what to do."""


class ProjectionError(Exception):
    """Base of all errors of this package's shell."""


class StoreUnavailable(ProjectionError):
    """PostgreSQL did not start, cannot be reached, or broke off; nothing is lost."""


class StoreUnusable(ProjectionError):
    """PostgreSQL answers, and what it holds or allows is not what is needed."""


class PositionLost(ProjectionError):
    """Another projector moved a position of this version; nothing of the write counts."""

    def __init__(self, version: int, partition: int) -> None:
        super().__init__(
            f"another projector moved partition {partition} of version {version} of the"
            " read models: stop one of the two; this one can start again from there"
        )
        self.version = version
        self.partition = partition


class VersionRetired(ProjectionError):
    """The version written to is not the one that serves any more."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"version {version} of the read models was replaced by a rebuild:"
            " go on from the position of the version that serves now"
        )
        self.version = version


class LogTruncated(ProjectionError):
    """The log is not the one that the read models were made of, or is shorter."""
