"""The sources of recorded inputs: a session's file, or a stretch of the log.

Either gives a `Recording`, which can only be read.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from handlers.aids import AidProvider
from replay.recording.sessions import (
    Step,
    UnknownSessionError,
    find_session,
    start_of,
    steps,
)
from schemas.codec import checkpoint
from schemas.codec.checkpoint import CheckpointError
from schemas.messages.decisions import Decided
from schemas.state.agent import PartitionState
from schemas.values import ids
from schemas.values.subjects import SHARED_AGENT, output_subject, partition_of
from streams.groups import Group, groups
from streams.log import ReadableLog
from streams.session_files.file import SessionFile
from streams.session_files.memory_log import SessionLog
from streams.session_files.paged_log import SessionStream


class RecordingError(ValueError):
    """The named source is no recording, or one that cannot be replayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded stretch of one agent's inputs and outputs."""

    log: ReadableLog
    partition: int
    agent: str
    first: int
    """The sequence of its first input."""
    last: int
    """The sequence of its last input."""
    start: PartitionState
    """The state of the agent and of what it shares, right before `first`."""
    sessions: tuple[str, ...]
    """The ids of its sessions that hold a decision, in order."""
    chain: str
    """The agent's chain after its last group."""
    origin: str
    """The file, or `log`."""
    altered: str | None = None
    """What is not as its file says that it was, in words."""
    is_open: bool = False
    """Whether it is a session of a log that had not ended when it was read."""

    @property
    def digest(self) -> str:
        """Its identity: the chain covers every message, so it changes with any of them."""
        place = f"{self.log.epoch}/{self.agent}/{self.first}/{self.last}"
        return ids.digest(place.encode(), self.chain.encode())

    def concerns(self, group: Group) -> bool:
        """Tell whether a group is the agent's, or of what it shares."""
        agent = group.input.subject.split(".", 4)[3]
        return agent in (self.agent, SHARED_AGENT)

    def groups(self) -> AsyncGenerator[Group, None]:
        """Iterate over the groups in order, other agents' of the partition included."""
        return groups(self.log, self.partition, self.start.position, self.last)


def from_file(path: Path, agent: str | None = None) -> Recording:
    """Open a session's file, or of a world's an agent's session, read page by page.

    Raises:
        SessionFileError: it is none, of another version, cut or damaged; names the line.
        RecordingError: it holds no decision, or a state that this program cannot read.
    """
    log = SessionStream(path, agent)
    header = log.outline.header
    decided = output_subject(header.partition, header.agent, *_DECIDED)
    has_decision = decided in log.subjects
    return _of_file(log.outline, log, str(path), has_decision=has_decision)


def of_file(file: SessionFile, origin: str) -> Recording:
    """Return the recording of a file in memory; `origin` is its name in errors.

    Raises:
        RecordingError: it holds no decision, or a state that this program cannot read.
    """
    header = file.header
    decided = output_subject(header.partition, header.agent, *_DECIDED)
    has_decision = any(each.subject == decided for each in file.records)
    return _of_file(file, SessionLog(file), origin, has_decision=has_decision)


async def from_session(
    log: ReadableLog, agent: str, session_id: str, provider: AidProvider
) -> Recording:
    """Return the newest session of an agent that is meant by an id, or by `last`.

    Raises:
        RecordingError: there is none, or it holds no decision.
        AmbiguousNameError: it begins several.
    """
    try:
        span = await find_session(log, agent, session_id, provider)
    except UnknownSessionError as error:
        raise RecordingError(str(error)) from error
    found = await from_range(log, agent, provider, first=span.first, last=span.last)
    return replace(found, is_open=span.is_open)


async def from_range(
    log: ReadableLog,
    agent: str,
    provider: AidProvider,
    *,
    first: int = 1,
    last: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Recording:
    """Return the inputs of an agent within a range of sequences, and of the broker's time.

    Raises:
        RecordingError: there is no decision in it.
    """
    scan = _Scan(agent, first, since)
    async for step in steps(log, partition_of(agent), provider, until=last):
        if until is not None and step.at > until:
            break
        scan.take(step)
    # A range without a decision has nothing to decide again.
    if scan.sessions and scan.first is not None:
        return scan.recording(log)
    ends = last or "the end"
    raise RecordingError(
        f"agent {agent!r} made no decision from sequence {first} to {ends}"
    )


_DECIDED = (Decided.kind, Decided.token)


class _Scan:
    """Finds where a range begins and ends, and the states there."""

    def __init__(self, agent: str, first: int, since: datetime | None) -> None:
        self._agent = agent
        self._from = first
        self._since = since
        self.first: int | None = None
        self.sessions: dict[str, None] = {}
        self._last = 0
        self._start = PartitionState()
        self._end = PartitionState()

    def take(self, step: Step) -> None:
        """Note one group."""
        # `first` counts sequences, `since` the broker's time; both must be reached.
        is_early = step.sequence < self._from
        if is_early or (self._since is not None and step.at < self._since):
            return
        if step.agent == self._agent:
            self._note(step)

    def recording(self, log: ReadableLog) -> Recording:
        """Return what was found."""
        assert self.first is not None
        return Recording(
            log=log,
            partition=partition_of(self._agent),
            agent=self._agent,
            first=self.first,
            last=self._last,
            # Of this agent alone, as in a session's file: both
            # sources give the same recording.
            start=checkpoint.of_agent(self._start, self._agent),
            sessions=tuple(self.sessions),
            chain=self._end.agents[self._agent].chain,
            origin="log",
        )

    def _note(self, step: Step) -> None:
        if self.first is None:
            self.first, self._start = step.sequence, step.before
        self._last, self._end = step.sequence, step.after
        for output in step.outputs:
            if isinstance(output.message, Decided):
                self.sessions[output.message.session_id or ""] = None


def _of_file(
    file: SessionFile, log: ReadableLog, origin: str, *, has_decision: bool
) -> Recording:
    header = file.header
    if not has_decision:
        raise RecordingError(
            f"{origin!r} holds no decision of agent {header.agent!r}: there is nothing"
            " to decide again"
        )
    return Recording(
        log=log,
        partition=header.partition,
        agent=header.agent,
        first=header.first,
        last=header.last,
        start=_start(file, origin),
        sessions=(header.session_id,),
        chain=file.trailer.chain,
        origin=origin,
        altered=file.altered,
    )


def _start(file: SessionFile, origin: str) -> PartitionState:
    try:
        return start_of(file)
    except CheckpointError as error:
        raise RecordingError(
            f"{origin!r}, line 1: {error}; export the session again"
        ) from error
