"""The sessions of a log, and the export of one of them to a file.

A session file is self-contained: it holds the state before its first input, every raw
message of its agent and of the shared one, and the packs that are in force.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from handlers.aids import AidProvider
from projections.folds.partition import fold_recorded
from schemas.codec import checkpoint
from schemas.codec.decode import read_output
from schemas.codec.envelope import Output
from schemas.messages.decisions import Completed, Decided
from schemas.state.agent import PartitionState, Session
from schemas.values import naming
from schemas.values.settings import SessionClock
from schemas.values.subjects import partition_of
from streams.groups import groups
from streams.log import ReadableLog
from streams.session_files.file import SessionFile, collect
from streams.session_files.reading import SessionHeader, SessionTrailer

LAST = "last"
"""The newest session of an agent, unless one is called so."""


class UnknownSessionError(LookupError):
    """No session of the log has this id."""


@dataclass(frozen=True, slots=True)
class SessionSpan:
    """A session's place in the log, with its counts."""

    agent: str
    id: str
    title: str
    clock: SessionClock
    first: int
    """The sequence of its first input."""
    last: int
    """The sequence of its last input so far."""
    started_at: datetime
    last_at: datetime
    inputs: int = 0
    decisions: int = 0
    spoke: int = 0
    is_open: bool = False
    """Whether nothing has ended it by the end of what was read."""


@dataclass(frozen=True, slots=True)
class Step:
    """One group of a partition, with the states before and after it."""

    before: PartitionState
    after: PartitionState
    agent: str
    sequence: int
    at: datetime
    """The broker's time of its input."""
    outputs: tuple[Output, ...]


async def steps(
    log: ReadableLog, partition: int, provider: AidProvider, until: int | None = None
) -> AsyncIterator[Step]:
    """Fold a partition from its start, group by group."""
    state = PartitionState()
    async for group, input_, aids in provider.for_recorded(
        groups(log, partition, until=until)
    ):
        outputs = tuple(read_output(record) for record in group.outputs)
        after = fold_recorded(state, input_, group.outputs, aids)
        yield Step(state, after, input_.agent, input_.sequence, input_.at, outputs)
        state = after


async def sessions(
    log: ReadableLog, partition: int, provider: AidProvider
) -> tuple[SessionSpan, ...]:
    """Return the sessions of a partition's agents, by their first input."""
    found: dict[tuple[str, str, int], SessionSpan] = {}
    open_: dict[str, tuple[str, str, int] | None] = {}
    async for step in steps(log, partition, provider):
        own = step.after.agents.get(step.agent)
        open_[step.agent] = None
        if own is None or own.session is None:
            continue
        key = (step.agent, own.session.id, own.session.first_sequence)
        span = found.get(key) or opened(step.agent, own.session)
        found[key] = with_step(span, own.session, step)
        open_[step.agent] = key
    for key in filter(None, open_.values()):
        found[key] = replace(found[key], is_open=True)
    return tuple(sorted(found.values(), key=lambda span: span.first))


async def find_session(
    log: ReadableLog, agent: str, session_id: str, provider: AidProvider
) -> SessionSpan:
    """Return the newest session of an agent that is meant by an id, or by `last`.

    Raises:
        UnknownSessionError: there is none.
        AmbiguousNameError: it begins several.
    """
    spans = await sessions(log, partition_of(agent), provider)
    # Sorted by first input: of several with one id the newest is kept, and comes last.
    own = {span.id: span for span in spans if span.agent == agent}
    if session_id == LAST and own and LAST not in own:
        return max(own.values(), key=lambda span: span.first)
    try:
        return own[naming.meant(session_id, own, "session")]
    except naming.UnknownNameError as error:
        raise UnknownSessionError(f"agent {agent!r}: {error}") from error


async def export(
    log: ReadableLog, span: SessionSpan, provider: AidProvider
) -> SessionFile:
    """Return a session as it can be written to a file and replayed anywhere.

    Raises:
        LogDamaged: the log is not sound there.
    """
    within = (span.first, span.last)
    return await exported(log, span.agent, span.id, provider, within=within)


async def exported(
    log: ReadableLog,
    agent: str,
    session_id: str,
    provider: AidProvider,
    *,
    within: tuple[int, int],
) -> SessionFile:
    """Return an agent's inputs from a sequence to another as a session of this id.

    Raises:
        LogDamaged: the log is not sound there.
    """
    first, last = within
    partition = partition_of(agent)
    start, end, digests = PartitionState(), PartitionState(), set[str]()
    async for step in steps(log, partition, provider, until=last):
        if step.sequence < first:
            start = step.after
        else:
            # The state before as well: what is in force at the start may be replaced by
            # the first input, and the replay needs both.
            digests |= packs_of(step.before, agent) | packs_of(step.after, agent)
        end = step.after
    return await assembled(
        log,
        (agent, session_id),
        within,
        start=start,
        packs=frozenset(digests),
        chain=end.agents[agent].chain,
    )


async def assembled(
    log: ReadableLog,
    named: tuple[str, str],
    within: tuple[int, int],
    *,
    start: PartitionState,
    packs: frozenset[str],
    chain: str,
) -> SessionFile:
    """Return a session of which agent, id, place, start, packs and end are known.

    Raises:
        LogDamaged: the log is not sound there.
    """
    (agent, session_id), (first, last) = named, within
    partition = partition_of(agent)
    records = await collect(
        log, partition=partition, agent=agent, first=first, last=last
    )
    blobs = {digest: await log.blob(digest) for digest in sorted(packs)}
    # Other agents of the partition do not belong into the file.
    known = orjson.loads(checkpoint.dump(checkpoint.of_agent(start, agent)))
    return SessionFile(
        header=SessionHeader(
            epoch=log.epoch,
            agent=agent,
            session_id=session_id,
            partition=partition,
            first=first,
            last=last,
            checkpoint=known,
        ),
        records=records,
        # A pack that the store has lost is an error where it is
        # used, not where it is exported.
        blobs={digest: blob for digest, blob in blobs.items() if blob is not None},
        trailer=SessionTrailer(messages=len(records), chain=chain),
    )


def start_of(session: SessionFile) -> PartitionState:
    """Return the state before a recorded session's first input.

    Raises:
        CheckpointError: the file's checkpoint is of another version, or is sealed.
    """
    if session.header.sealed is not None:
        raise checkpoint.CheckpointError(
            "the session is of a sealed log, and opens only beside it, with its keys:"
            " name the data folder or the broker; who was forgotten since closes it"
        )
    return checkpoint.load(orjson.dumps(session.header.checkpoint))


def opened(agent: str, session: Session) -> SessionSpan:
    """Return the place of a session that begins."""
    return SessionSpan(
        agent=agent,
        id=session.id,
        title=session.title,
        clock=session.clock,
        first=session.first_sequence,
        last=session.first_sequence,
        started_at=session.started_at,
        last_at=session.last_at,
    )


def with_step(span: SessionSpan, session: Session, step: Step) -> SessionSpan:
    """Return a session's place with one more group."""
    messages = [output.message for output in step.outputs]
    decided = [each for each in messages if isinstance(each, Decided)]
    spoke = sum(1 for each in decided if each.final and each.silence is None)
    spoke += sum(1 for each in messages if isinstance(each, Completed))
    return replace(
        span,
        last=step.sequence,
        started_at=session.started_at,
        last_at=session.last_at,
        inputs=span.inputs + 1,
        decisions=span.decisions + len(decided),
        spoke=span.spoke + spoke,
    )


def packs_of(state: PartitionState, agent: str) -> set[str]:
    """Return the digests of the packs that are in force for an agent."""
    refs = [*state.shared.packs.values()]
    if agent in state.agents:
        refs += state.agents[agent].packs.values()
    return {ref.digest for ref in refs}
