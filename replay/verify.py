"""Verification: recorded inputs and the recorded strategy must give the recorded outputs.

The same function that the worker calls answers each input again. Subject, ce-headers and
body of every output are compared byte for byte, and the first difference is reported. No
model is called: its answers are inputs, and so part of the recording.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Literal
from uuid import UUID

import orjson

from handlers.aids import AidProvider
from handlers.mind import turn as turns
from projections.folds.partition import fold_recorded
from replay.recording.source import Recording
from schemas.codec.decode import UnreadableOutputError
from schemas.codec.envelope import Input
from schemas.messages.controls import MindStarted
from schemas.messages.notes import Quarantined
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record
from schemas.values.settings import CodeDigests
from schemas.values.subjects import SHARED_AGENT, parse
from streams import sealing
from streams.errors import LogDamaged
from streams.groups import Group, groups
from streams.log import ReadableLog

_SHOWN = 200
"""Characters of a value that are shown; a prompt may have thousands."""

_Difference = tuple[str, str | None, str | None]
"""A path such as `candidates[0].confidence`, and both values as JSON; None if absent."""

_ABSENT = object()

Progress = Callable[[int], None]
"""Called with the sequence of the last input that was read."""


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a partition's log to answer again; what lies before is only folded."""

    partition: int
    after: int = 0
    """The sequence of the last input before it."""
    until: int | None = None
    """The sequence of its last input; None is the log's end."""
    agent: str | None = None
    """Only this agent's groups; None is every agent's."""

    @classmethod
    def of(cls, recording: Recording) -> "Span":
        """Return all of a recording."""
        before = recording.first - 1
        return cls(recording.partition, before, recording.last, recording.agent)

    def holds(self, input_: Input) -> bool:
        """Tell whether an input has to be answered again."""
        within = self.after < input_.sequence
        return within and self.agent in (None, input_.agent)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where the replay differs from the recording."""

    sequence: int
    """The sequence of the input whose answer differs, or of the damaged message."""
    index: int | None
    """The index of the output in its group."""
    what: Literal[
        "missing",
        "added",
        "subject",
        "headers",
        "body",
        "chain",
        "damaged",
        "mended",
        "digest",
    ]
    """`mended`: answering raised an error when it was recorded, and raises none today;
    `digest`: every output came out the same, and the file is not what it was."""
    recorded: str | None
    replayed: str | None
    path: str | None = None
    """The path of the field of the body that differs, which both values are then of."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification."""

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
    sealed: int = 0
    """How many outputs could not be made again, since they rest on what was forgotten."""
    lost: int = 0
    """How many of these rest on words that nobody forgot: only their keys are missing."""

    @property
    def is_identical(self) -> bool:
        """Whether every output came out the same that can still be made."""
        compared = self.total - self.sealed
        return self.divergence is None and self.identical == compared

    @property
    def verdict(self) -> Literal["identical", "sealed", "different"]:
        """`sealed`: nothing differs, and without their keys some outputs prove nothing."""
        if not self.is_identical:
            return "different"
        return "sealed" if self.lost else "identical"


def as_in_file(found: Verification, altered: str | None, last: int) -> Verification:
    """Return a verification of a file, with what is not as the file says that it was.

    A difference in an output is kept, as it says more. `last` is the last input's sequence.
    """
    if altered is None or found.divergence is not None:
        return found
    wrong = Divergence(last, None, "digest", "as its digest says", altered)
    return replace(found, divergence=wrong)


async def verify(
    log: ReadableLog,
    span: Span,
    provider: AidProvider,
    *,
    start: PartitionState | None = None,
    expected_chain: str | None = None,
    digests: CodeDigests | None = None,
    progress: Progress = lambda sequence: None,
    is_partly: bool = False,
) -> Verification:
    """Answer a span of a log again and compare; stop at the first difference.

    What follows a difference starts from another state, so it could not be compared.

    Args:
        log: a live log, or a session file.
        span: what to answer again.
        provider: supplies vectors and packs, as it does for the worker.
        start: the state at the log's beginning, a session file's checkpoint; else empty.
        expected_chain: the chain of the span's agent after its last group, from a session
            file's trailer; it covers the groups that no later decision covers.
        digests: those of the running code, to be compared with the recording's.
        progress: called with the sequence of each input that was read.
        is_partly: whether something of the span cannot be read any more.

    Raises:
        MissingPackError: a pack in force is not in the log's store.
    """
    forgotten = await sealing.forgotten_until(log, span.partition)
    if is_partly:
        agents = (span.agent or SHARED_AGENT, SHARED_AGENT)
        forgotten = dict.fromkeys(agents, span.until or sys.maxsize)
    verifying = Verifying(
        span, log.epoch, start=start, digests=digests, forgotten=forgotten
    )
    state = verifying.state
    await provider.fetch_packs_of(state)
    recorded = groups(log, span.partition, state.position, span.until)
    try:
        async for group, input_, aids in provider.for_recorded(recorded):
            verifying.take(group, input_, aids)
            if verifying.is_over:
                break
            progress(input_.sequence)
    except (LogDamaged, UnreadableOutputError) as damage:
        verifying.damaged(damage)
    return verifying.found(expected_chain)


def joined(parts: Sequence[Verification]) -> Verification:
    """Combine several partitions' verifications; the earliest difference is kept."""
    differences = [each.divergence for each in parts if each.divergence is not None]
    return Verification(
        inputs=sum(each.inputs for each in parts),
        total=sum(each.total for each in parts),
        identical=sum(each.identical for each in parts),
        sealed=sum(each.sealed for each in parts),
        lost=sum(each.lost for each in parts),
        divergence=min(differences, key=lambda each: each.sequence, default=None),
        notes=tuple(dict.fromkeys(note for each in parts for note in each.notes)),
        chains=tuple(sorted(chain for each in parts for chain in each.chains)),
    )


class Verifying:
    """A verification under way, group by group in logical order."""

    def __init__(
        self,
        span: Span,
        epoch: UUID,
        *,
        start: PartitionState | None = None,
        digests: CodeDigests | None = None,
        forgotten: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Start from the state `start`, else from an empty one; see `verify` for the rest.

        `forgotten` holds the input at which each agent last forgot somebody: what came
        before may rest on words that are gone.
        """
        self.state = start or PartitionState()
        self._span = span
        self._epoch = epoch
        self._digests = digests
        self._notes: dict[str, None] = {}
        self._forgotten = forgotten
        self._inputs = self._total = self._identical = 0
        self._sealed = self._lost = 0
        self._divergence: Divergence | None = None

    @property
    def is_over(self) -> bool:
        """Whether a difference was found, behind which nothing can be compared."""
        return self._divergence is not None

    def take(self, group: Group, input_: Input, aids: Aids) -> None:
        """Answer one input again and compare, or only fold what lies before the span.

        Raises:
            MissingPackError: a pack in force is not in the log's store.
            UnreadableOutputError: an output to be folded is damaged, or of a newer program.
        """
        self._note(input_)
        # Outside the span the recorded outputs are the truth, so they are only folded.
        if not self._span.holds(input_):
            self.state = fold_recorded(self.state, input_, group.outputs, aids)
            return
        seal = sealing.like(group.outputs)
        turn = turns.answer(self.state, input_, aids, self._epoch, seal=seal)
        self._total += len(group.outputs)
        replayed = [output.record for output in turn.outputs]
        is_forgotten = input_.sequence <= self._forgotten.get(input_.agent, 0)
        is_sealed = is_forgotten or seal is not None
        if is_sealed and _differ(group.outputs, replayed):
            is_lost = not is_forgotten and _is_lost(group)
        else:
            is_forgotten = is_lost = False
        if is_forgotten or is_lost:
            self._sealed += len(group.outputs)
            self._lost += len(group.outputs) * is_lost
            self._inputs += 1
            self.state = fold_recorded(self.state, input_, group.outputs, aids)
            return
        self.state = turn.state
        self._divergence = self._mended(group, replayed)
        if self._divergence is None:
            self._compare(group, replayed)

    def damaged(self, damage: LogDamaged | UnreadableOutputError) -> None:
        """End with damage that keeps the log from being read on."""
        sequence = damage.sequence if isinstance(damage, LogDamaged) else 0
        self._divergence = Divergence(sequence, None, "damaged", str(damage), None)

    def found(self, expected_chain: str | None = None) -> Verification:
        """Return the result so far, with the chain compared if all else is identical."""
        divergence = self._divergence
        chains: tuple[tuple[str, str], ...] = ()
        # Behind a difference the state is no longer the recorded one, nor its chains.
        if divergence is None:
            chains = _chains(self.state)
            divergence = self._ended(dict(chains), expected_chain)
        return Verification(
            inputs=self._inputs,
            total=self._total,
            identical=self._identical,
            sealed=self._sealed,
            lost=self._lost,
            divergence=divergence,
            notes=tuple(self._notes),
            chains=chains,
        )

    def _ended(
        self, chains: Mapping[str, str], expected_chain: str | None
    ) -> Divergence | None:
        chain = chains.get(self._span.agent or "", "")
        if expected_chain in (None, chain):
            return None
        last = self._span.until or self.state.position
        return Divergence(last, None, "chain", expected_chain, chain)

    def _mended(self, group: Group, replayed: Sequence[Record]) -> Divergence | None:
        """Return the difference if answering the input raised then and does not today."""
        if not _error(group.outputs) or _error(replayed):
            return None
        old, new = group.outputs[0], replayed[0]
        return Divergence(group.input.sequence, 0, "mended", _shown(old), _shown(new))

    def _compare(self, group: Group, replayed: Sequence[Record]) -> None:
        sequence = group.input.sequence
        for index, (old, new) in enumerate(zip_longest(group.outputs, replayed)):
            self._divergence = _difference(sequence, index, old, new)
            if self._divergence is not None:
                return
            self._identical += 1
        self._inputs += 1

    def _note(self, input_: Input) -> None:
        """Note that the recording was made by other code, which alone is no failure."""
        message, digests = input_.message, self._digests
        if digests is None or not isinstance(message, MindStarted):
            return
        recorded = message.digests
        # Only where time zones were used: of before, no version was recorded.
        known = digests.tzdata if recorded.tzdata else ""
        for what, old, new in (
            ("version", recorded.version, digests.version),
            ("embedder", recorded.embedder, digests.embedder),
            ("tzdata", recorded.tzdata, known),
        ):
            if old != new:
                note = f"recorded with {what} {old!r}, replayed with {new!r}"
                self._notes[note] = None


def _is_lost(group: Group) -> bool:
    """Tell whether something of a group cannot be opened: input, or answer.

    An answer is sealed under the keys of everybody whom the agent knew by then, so one that
    opens rests on nothing that does not.
    """
    return any(map(sealing.is_lost, (group.input, *group.outputs)))


def _differ(recorded: Sequence[Record], replayed: Sequence[Record]) -> bool:
    if len(recorded) != len(replayed):
        return True
    return any(
        (old.stored, old.subject, _attributes(old))
        != (new.stored, new.subject, _attributes(new))
        for old, new in zip(recorded, replayed, strict=True)
    )


def _error(outputs: Sequence[Record]) -> bool:
    """Tell whether a group records that answering its input raised an error."""
    # A prefix instead of parsing JSON: `reason` is the first field that we write.
    first = outputs[0]
    is_kept_apart = parse(first.subject).detail == Quarantined.token
    return is_kept_apart and first.body.startswith(b'{"reason":"error"')


def _difference(
    sequence: int, index: int, old: Record | None, new: Record | None
) -> Divergence | None:
    """Return how two outputs differ, if they do, by what a replay compares."""
    if old is None or new is None:
        what: Literal["added", "missing"] = "added" if old is None else "missing"
        return Divergence(sequence, index, what, _shown(old), _shown(new))
    # The usual case in one comparison; below, headers other than ce-* do not count.
    if (old.stored, old.subject, old.headers) == (new.stored, new.subject, new.headers):
        return None
    if old.subject != new.subject:
        return Divergence(sequence, index, "subject", old.subject, new.subject)
    if _attributes(old) != _attributes(new):
        return Divergence(
            sequence, index, "headers", _attributes(old), _attributes(new)
        )
    if old.stored != new.stored:
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


def _chains(state: PartitionState) -> tuple[tuple[str, str], ...]:
    return tuple((agent, state.agents[agent].chain) for agent in sorted(state.agents))


def first_difference(recorded: bytes, replayed: bytes) -> _Difference | None:
    """Return the first field, in the recorded order, in which two JSON bodies differ."""
    try:
        old, new = orjson.loads(recorded), orjson.loads(replayed)
    except orjson.JSONDecodeError:
        return None
    return next(_differences("", old, new), None)


def _differences(path: str, old: object, new: object) -> Iterator[_Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        # In the recorded order, with fields that are new at the end.
        for name in dict.fromkeys((*old, *new)):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(
                inner, old.get(name, _ABSENT), new.get(name, _ABSENT)
            )
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            sides = (
                each[index] if index < len(each) else _ABSENT for each in (old, new)
            )
            yield from _differences(f"{path}[{index}]", *sides)
    # The types count: 1 and 1.0, or 1 and true, are equal in Python but other bytes.
    elif type(old) is not type(new) or old != new:
        yield path or "(whole)", _value_shown(old), _value_shown(new)


def _value_shown(value: object) -> str | None:
    if value is _ABSENT:
        return None
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
