"""What a loss leaves over in a partition: parts of groups, causes, answers.

Fed with every record that is still whole, in order. It keeps no message: only where the
inputs stand that wait for an answer, and the group that is being read.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from schemas.codec.decode import read_input, read_mark
from schemas.messages.controls import MessagesLost, Stretches
from schemas.values.record import Record
from schemas.values.subjects import PARTITIONS, SHARED_AGENT, SubjectError, parse
from streams.disk.blocks import StoredRecord
from streams.headers import own_headers, parse_headers
from streams.losses import Sequences, stretches

_RECORDED = f".in.{SHARED_AGENT}.{MessagesLost.kind}.{MessagesLost.token}"


@dataclass(frozen=True, slots=True)
class _Suspect:
    """Messages that cannot be read on, if something is lost where it should have been."""

    sequences: tuple[int, ...]
    agent: str
    after: int
    before: int


@dataclass(slots=True)
class _Partition:
    """One partition on its way."""

    waiting: deque[tuple[int, str]] = field(default_factory=deque)
    """The sequences and agents of inputs without an answer so far."""
    group: list[int] = field(default_factory=list)
    cause: tuple[int, int] = (0, 0)
    """Of the group that is being read, with its count."""
    agent: str = ""
    suspects: list[_Suspect] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lost: list[tuple[int, int]] = field(default_factory=list)
    void: list[tuple[int, int]] = field(default_factory=list)
    """What the log records as lost and void already."""


class Leftovers:
    """Finds out what is left over in each partition."""

    def __init__(self) -> None:
        """Nothing read yet."""
        self._partitions = [_Partition() for _ in range(PARTITIONS)]

    def take(self, stored: StoredRecord) -> None:
        """Read one more record."""
        try:
            place = parse(stored.subject.decode())
        except (SubjectError, UnicodeDecodeError):
            return
        own = self._partitions[place.partition]
        if place.direction == "in":
            own.waiting.append((stored.sequence, place.agent))
            own.counts["inputs"] += 1
            if stored.subject.decode().endswith(_RECORDED):
                _heed(own, _as_record(stored))
        else:
            _output(own, _as_record(stored), place.agent)

    def recorded(self, partition: int) -> tuple[Sequences, Sequences]:
        """Return what the log itself records as lost and as void."""
        own = self._partitions[partition]
        return Sequences(own.lost), Sequences(own.void)

    def counts(self) -> Counter[str]:
        """Return how many inputs and groups were read."""
        whole: Counter[str] = Counter()
        for each in self._partitions:
            whole += each.counts
        return whole

    def void(self, partition: int, lost: Sequences) -> tuple[Stretches, frozenset[str]]:
        """Return what is left over by `lost` and not recorded yet, and of which agents."""
        own = self._partitions[partition]
        known = Sequences(own.void)
        found: set[int] = set()
        agents: set[str] = set()
        for suspect in [*own.suspects, *_unfinished(own)]:
            new = [each for each in suspect.sequences if each not in known]
            if new and lost.between(suspect.after, suspect.before):
                found.update(new)
                agents.add(suspect.agent)
        return stretches(sorted(found)), frozenset(agents)


def _heed(own: _Partition, record: Record) -> None:
    message = read_input(record).message
    if isinstance(message, MessagesLost):
        own.lost += message.lost
        own.void += message.void


def _output(own: _Partition, record: Record, agent: str) -> None:
    try:
        mark = read_mark(record)
    except (KeyError, ValueError):
        return
    cause = (mark.cause_sequence, mark.count)
    if own.group and (cause != own.cause or mark.index != len(own.group)):
        own.suspects += _unfinished(own, record.sequence)
        own.group = []
    if mark.index != len(own.group):
        own.suspects.append(_alone(record.sequence, agent, mark.cause_sequence))
        return
    own.group.append(record.sequence)
    own.cause, own.agent = cause, agent
    if len(own.group) == mark.count:
        own.suspects += _passed(own)
        own.group = []


def _alone(sequence: int, agent: str, cause: int) -> _Suspect:
    return _Suspect((sequence,), agent, cause, sequence)


def _unfinished(own: _Partition, before: int = 1 << 62) -> Iterable[_Suspect]:
    """Yield the group that was being read, of which something is missing."""
    if own.group:
        yield _Suspect(tuple(own.group), own.agent, own.group[0], before)


def _passed(own: _Partition) -> Iterator[_Suspect]:
    """Yield what a whole group shows: its cause may be gone, and answers of inputs before."""
    cause, first = own.cause[0], own.group[0]
    while own.waiting and own.waiting[0][0] < cause:
        passed, agent = own.waiting.popleft()
        yield _Suspect((passed,), agent, passed, first)
    if own.waiting and own.waiting[0][0] == cause:
        own.waiting.popleft()
        own.counts["groups"] += 1
    else:
        yield _Suspect(tuple(own.group), own.agent, cause - 1, cause + 1)


def _as_record(stored: StoredRecord) -> Record:
    return Record(
        subject=stored.subject.decode(),
        headers=own_headers(parse_headers(stored.headers)),
        body=stored.body,
        sequence=stored.sequence,
        time_ns=stored.time_ns,
    )
