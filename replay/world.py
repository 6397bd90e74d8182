"""Verification of a world: each member by itself, and what they told each other.

Members share no state, so each is decided again from its own log; what joins them is that
each message from one to another stems from an ask in the sender's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from handlers.aids import AidProvider
from replay.agent_messages import Stray, is_agents, strays
from replay.recording.sessions import start_of
from replay.verify import Progress, Span, Verification, as_in_file, joined, verify
from schemas.values.record import Record
from schemas.values.settings import CodeDigests
from streams.session_files.file import SessionFile
from streams.session_files.memory_log import SessionLog

_Providing = Callable[[SessionLog], AidProvider]
"""Return what brings the aids out of a session."""


@dataclass(frozen=True, slots=True)
class WorldVerification:
    """The result of a world's verification."""

    members: Mapping[str, Verification]
    """By agent."""
    told: int
    """How many messages of agents there are."""
    strays: tuple[Stray, ...]
    """Those that stem from no ask in the world."""

    @property
    def whole(self) -> Verification:
        """The members' verifications as one."""
        return joined(list(self.members.values()))

    @property
    def is_identical(self) -> bool:
        """Whether every output came out the same, and every message stems from an ask."""
        return self.whole.is_identical and not self.strays


async def verify_session(
    session: SessionFile,
    providing: _Providing,
    digests: CodeDigests | None = None,
    progress: Progress = lambda sequence: None,
) -> Verification:
    """Verify one session by nothing but what its file holds.

    Raises:
        MissingPackError: a pack in force is not in the file.
        CheckpointError: its checkpoint is of another version.
    """
    header, log = session.header, SessionLog(session)
    found = await verify(
        log,
        Span(header.partition, header.first - 1, header.last, header.agent),
        providing(log),
        start=start_of(session),
        # What was redacted is not what the chain was over.
        expected_chain=None if header.redacted else session.trailer.chain,
        digests=digests,
        progress=progress,
        is_partly=session.is_partly or header.redacted,
    )
    return as_in_file(found, session.altered, header.last)


async def verify_world(
    members: Sequence[SessionFile],
    providing: _Providing,
    digests: CodeDigests | None = None,
    progress: Progress = lambda sequence: None,
) -> WorldVerification:
    """Verify the session of each member, and what they told each other.

    Raises:
        MissingPackError: a pack in force is not in the file.
        CheckpointError: a checkpoint is of another version.
    """
    found = {
        each.header.agent: await verify_session(each, providing, digests, progress)
        for each in members
    }
    logs = {each.header.agent: SessionLog(each) for each in members}

    async def find(agent: str, sequence: int) -> tuple[UUID, Record] | None:
        log = logs.get(agent)
        record = await log.record(sequence) if log is not None else None
        return (log.epoch, record) if log is not None and record is not None else None

    told = [record for each in members for record in each.records if is_agents(record)]
    wrong = [each async for each in strays(told, find)]
    return WorldVerification(found, len(told), tuple(wrong))
