"""The finished sessions of a partition, found and told in one fold of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from handlers.aids import AidProvider
from replay.recording.sessions import (
    SessionSpan,
    assembled,
    opened,
    packs_of,
    steps,
    with_step,
)
from schemas.state.agent import PartitionState
from schemas.values.subjects import SHARED_AGENT
from streams.log import ReadableLog
from streams.session_files.file import SessionFile


@dataclass(frozen=True, slots=True)
class Finished:
    """A session that nothing is added to any more, with what its file needs."""

    span: SessionSpan
    start: PartitionState
    """Before its first input."""
    packs: frozenset[str]
    chain: str
    """Of its agent, after its last input."""

    async def file(self, log: ReadableLog) -> SessionFile:
        """Return it as it can be written to a file, equal to an export of it."""
        span = self.span
        return await assembled(
            log,
            (span.agent, span.id),
            (span.first, span.last),
            start=self.start,
            packs=self.packs,
            chain=self.chain,
        )


async def finished(
    log: ReadableLog, partition: int, provider: AidProvider
) -> AsyncIterator[Finished]:
    """Yield each session of a partition once another of its agent begins, or it ended."""
    open_: dict[str, Finished] = {}
    async for step in steps(log, partition, provider):
        own = step.after.agents.get(step.agent)
        session = own.session if own is not None else None
        known = open_.get(step.agent)
        if known is not None and (
            session is None
            or (session.id, session.first_sequence) != (known.span.id, known.span.first)
        ):
            yield open_.pop(step.agent)
            known = None
        if own is not None and session is not None:
            span = known.span if known else opened(step.agent, session)
            open_[step.agent] = Finished(
                with_step(span, session, step),
                known.start if known else step.before,
                known.packs if known else frozenset(),
                own.chain,
            )
        # What the shared agent loads is in force for all.
        touched = open_ if step.agent == SHARED_AGENT else {step.agent} & open_.keys()
        for agent in touched:
            packs = packs_of(step.before, agent) | packs_of(step.after, agent)
            open_[agent] = replace(open_[agent], packs=open_[agent].packs | packs)
