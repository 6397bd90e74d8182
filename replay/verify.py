"""Verify: recorded inputs and the recorded strategy must give the recorded outputs again.

The very mind that the worker runs answers each input of the recording anew. Subject,
ce-headers and body of every output are compared; the first difference is named with both
sides. No model is asked: its answers are inputs, and stand in the recording.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from handlers.aids import Bringer
from handlers.mind import turn as turns
from replay.first_difference import first_difference
from schemas.codec.decode import UnreadableOutputError
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted
from schemas.messages.notes import Quarantined
from schemas.state.agent import PartitionState
from schemas.values.record import Record
from schemas.values.settings import CodeDigests
from schemas.values.subjects import parse
from streams.errors import LogDamaged
from streams.groups import Group, groups
from streams.log import ReadableLog

Progress = Callable[[int], None]
"""Told how many inputs have been answered."""

_PROGRESS_EVERY = 500


@dataclass(frozen=True, slots=True)
class Span:
    """Which part of a partition's log to answer anew; what lies before is only folded."""

    partition: int
    after: int = 0
    """The sequence of the last input before it."""
    until: int | None = None
    """The sequence of its last input; None is the log's end."""
    agent: str | None = None
    """Only this agent's groups; None is every agent's."""

    def holds(self, taken: Input) -> bool:
        """Whether an input is of the span."""
        within = self.after < taken.sequence
        return within and self.agent in (None, taken.agent)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where the replay differs from the recording."""

    sequence: int
    """Of the input whose answer differs, or of the message that is damaged."""
    index: int | None
    """Of the output in its group."""
    what: Literal[
        "missing", "added", "subject", "headers", "body", "chain", "damaged", "mended"
    ]
    """`mended`: answering raised when it was recorded, and raises nothing today."""
    recorded: str | None
    replayed: str | None
    path: str | None = None
    """Of the field of the body that differs; both values are then its own."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found."""

    inputs: int = 0
    """How many inputs were answered anew."""
    total: int = 0
    """How many outputs the recording holds for them."""
    identical: int = 0
    """How many of these came out the same, up to the first difference."""
    divergence: Divergence | None = None
    notes: tuple[str, ...] = ()
    """Differences that are no failure by themselves: other code, another embedder."""
    chains: tuple[tuple[str, str], ...] = ()
    """Each agent's chain hash at the end, by agent."""

    @property
    def is_identical(self) -> bool:
        """Whether every output came out the same."""
        return self.divergence is None and self.identical == self.total


async def verify(
    log: ReadableLog,
    span: Span,
    bringer: Bringer,
    *,
    start: PartitionState | None = None,
    expected_chain: str | None = None,
    digests: CodeDigests | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Answer a span of a log anew and compare; stop at the first difference.

    Args:
        log: a live log, or a session file.
        span: what to answer anew.
        bringer: brings vectors and packs, as it does for the worker.
        start: the state at the log's beginning, a session file's checkpoint; else empty.
        expected_chain: of the span's agent after its last group, a session file's
            trailer; it shows what no later decision could.
        digests: of the code at hand, to be compared with the recording's.
        progress: told now and then how many inputs have been answered.

    Raises:
        MissingPackError: a pack in force is not in the log's store.
    """
    state = start or PartitionState()
    await bringer.bring_packs_of(state)
    found = Verification()
    try:
        recorded = groups(log, span.partition, state.position, span.until)
        async for group, taken, aids in bringer.along(recorded):
            found = _noted(found, taken, digests)
            if not span.holds(taken):
                state = turns.fold(state, taken, group.outputs, aids)
                continue
            turn = turns.answer(state, taken, aids, log.epoch)
            state = turn.state
            found = _compared(found, group, turn)
            if found.divergence is not None:
                return found
            if progress is not None and found.inputs % _PROGRESS_EVERY == 0:
                progress(found.inputs)
    except (LogDamaged, UnreadableOutputError) as damage:
        return replace(found, divergence=_damaged(damage, found))
    found = replace(found, chains=_chains(state))
    return _ended(found, span, state.position, expected_chain)


def _ended(
    found: Verification, span: Span, position: int, expected_chain: str | None
) -> Verification:
    """Compare the chain at the end with the recorded one, if that is known."""
    chain = dict(found.chains).get(span.agent or "", "")
    if expected_chain in (None, chain):
        return found
    last = span.until or position
    differs = Divergence(last, None, "chain", expected_chain, chain)
    return replace(found, divergence=differs)


def _compared(found: Verification, group: Group, turn: turns.Turn) -> Verification:
    total = found.total + len(group.outputs)
    identical = found.identical
    replayed = [output.record for output in turn.outputs]
    if _error(group.outputs) and not _error(replayed):
        old, new = group.outputs[0], replayed[0]
        mended = Divergence(group.input.sequence, 0, "mended", _shown(old), _shown(new))
        return replace(found, total=total, divergence=mended)
    for index, (old, new) in enumerate(zip_longest(group.outputs, replayed)):
        divergence = _difference(group.input.sequence, index, old, new)
        if divergence is not None:
            return replace(
                found, total=total, identical=identical, divergence=divergence
            )
        identical += 1
    return replace(found, inputs=found.inputs + 1, total=total, identical=identical)


def _error(outputs: Sequence[Record]) -> bool:
    """Whether a group says that answering its input raised."""
    first = outputs[0]
    is_kept_apart = parse(first.subject).detail == Quarantined.token
    return is_kept_apart and first.body.startswith(b'{"reason":"error"')


def _difference(
    sequence: int, index: int, old: Record | None, new: Record | None
) -> Divergence | None:
    """How two outputs differ, if they do, by what a replay compares."""
    if old is None or new is None:
        what: Literal["added", "missing"] = "added" if old is None else "missing"
        return Divergence(sequence, index, what, _shown(old), _shown(new))
    if old.subject != new.subject:
        return Divergence(sequence, index, "subject", old.subject, new.subject)
    if _attributes(old) != _attributes(new):
        return Divergence(
            sequence, index, "headers", _attributes(old), _attributes(new)
        )
    if old.body != new.body:
        path, was, now = first_difference(old.body, new.body) or (
            None, _text(old), _text(new)
        )  # fmt: skip
        return Divergence(sequence, index, "body", was, now, path)
    return None


def _attributes(record: Record) -> str:
    headers = record.headers
    named = [name for name in sorted(headers) if name.startswith("ce-")]
    return "\n".join(f"{name}: {headers[name]}" for name in named)


def _shown(record: Record | None) -> str | None:
    return None if record is None else f"{record.subject} {_text(record)}"


def _text(record: Record) -> str:
    return record.body.decode(errors="replace")


def _noted(
    found: Verification, taken: Input, digests: CodeDigests | None
) -> Verification:
    message = taken.message
    if digests is None or not isinstance(message, MindStarted):
        return found
    recorded = message.digests
    notes = [
        f"recorded with {what} {old!r}, replayed with {new!r}"
        for what, old, new in (
            ("version", recorded.version, digests.version),
            ("embedder", recorded.embedder, digests.embedder),
        )
        if old != new
    ]
    fresh = tuple(note for note in notes if note not in found.notes)
    return replace(found, notes=found.notes + fresh)


def _damaged(
    damage: LogDamaged | UnreadableOutputError, found: Verification
) -> Divergence:
    sequence = damage.sequence if isinstance(damage, LogDamaged) else 0
    return Divergence(sequence, None, "damaged", str(damage), None)


def _chains(state: PartitionState) -> tuple[tuple[str, str], ...]:
    return tuple((agent, state.agents[agent].chain) for agent in sorted(state.agents))
