"""The members of a world in a log, and the export of all their sessions.

A world opens a session of each of its members with its id. It lasts until the last of these
sessions ends; up to there everything that a member got and did belongs to it, so that what
one tells another stands in the file twice: as the ask, and as the event.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from handlers.aids import AidProvider
from replay.recording.sessions import LAST, UnknownSessionError, exported
from schemas.codec.decode import read_input
from schemas.messages.controls import SessionEnded, SessionStarted
from schemas.values import naming
from schemas.values.subjects import partition_of
from streams.log import ReadableLog, scan
from streams.session_files.file import SessionFile


@dataclass(frozen=True, slots=True)
class _Member:
    """One member of a world, and where it is in its log."""

    agent: str
    session_id: str
    first: int
    """The sequence of its first input there."""
    last: int
    """The sequence up to which its inputs belong to the world."""


@dataclass(frozen=True, slots=True)
class _WorldSpan:
    """A world's place in the log."""

    id: str
    members: tuple[_Member, ...]
    """By their first input."""


async def find_world(log: ReadableLog, id_: str) -> _WorldSpan:
    """Return the world that is meant by an id, or by `last`, the newest.

    Raises:
        UnknownSessionError: no session was begun in such a world.
        AmbiguousNameError: it begins several.
    """
    starts = [each async for each in _starts(log)]
    ids = [each.world for each, _, _ in starts if each.world is not None]
    if id_ == LAST and ids and LAST not in ids:
        newest = max(starts, key=lambda each: each[2] if each[0].world else 0)
        id_ = newest[0].world or LAST
    try:
        found = naming.meant(id_, ids, "world")
    except naming.UnknownNameError as error:
        raise UnknownSessionError(f"no session was begun there: {error}") from error
    begun: dict[str, tuple[str, int]] = {}
    for started, agent, sequence in starts:
        if started.world == found:
            begun.setdefault(agent, (started.session_id, sequence))
    last = max([await _end(log, agent, found) for agent in begun])
    return _WorldSpan(
        found,
        tuple(
            _Member(agent, session_id, first, last)
            for agent, (session_id, first) in begun.items()
        ),
    )


async def worlds(log: ReadableLog) -> tuple[str, ...]:
    """Return the ids of all worlds in which sessions were begun."""
    found = [each.world async for each, _, _ in _starts(log)]
    return tuple(dict.fromkeys(each for each in found if each is not None))


async def export(
    log: ReadableLog, world: _WorldSpan, provider: AidProvider
) -> tuple[SessionFile, ...]:
    """Return the session of each member, to be written as one file.

    Raises:
        LogDamaged: the log is not sound there.
    """
    return tuple(
        [
            await exported(
                log,
                each.agent,
                each.session_id,
                provider,
                within=(each.first, each.last),
            )
            for each in world.members
        ]
    )


async def _starts(log: ReadableLog) -> AsyncIterator[tuple[SessionStarted, str, int]]:
    """Yield each session that was started on purpose, by sequence."""
    async for record in scan(log, f"ev.*.in.*.control.{SessionStarted.token}"):
        input_ = read_input(record)
        if isinstance(input_.message, SessionStarted):
            yield input_.message, input_.agent, input_.sequence


async def _end(log: ReadableLog, agent: str, world: str) -> int:
    """Return the sequence of a member's last input in a world."""
    place, is_in, last = partition_of(agent), False, 0
    async for record in scan(log, f"ev.{place}.in.{agent}.>"):
        message = read_input(record).message
        if isinstance(message, SessionStarted):
            is_in = message.world == world
        if is_in:
            last = record.sequence
        if isinstance(message, SessionEnded):
            is_in = False
    return last
