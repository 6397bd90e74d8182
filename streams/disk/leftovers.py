"""What a loss leaves over in a partition: parts of groups, inputs without their answer, and
answers without their input.

It is fed every sound record in order. It keeps no message, only the sequences of unanswered
inputs and the group being read, so its memory does not grow with the log.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from schemas.codec.decode import read_input, read_mark
from schemas.messages.controls import MessagesLost, SegmentClosed, Stretches
from schemas.values.record import Record
from schemas.values.subjects import PARTITIONS, SHARED_AGENT, SubjectError, parse
from streams.disk.blocks import StoredRecord
from streams.headers import own_headers, parse_headers
from streams.jetstream.origins import origin
from streams.jetstream.taken import Taken
from streams.losses import Sequences, stretches

_RECORDED = f".in.{SHARED_AGENT}.{MessagesLost.kind}.{MessagesLost.token}"
_CLOSED = f".in.{SHARED_AGENT}.{SegmentClosed.kind}.{SegmentClosed.token}"


@dataclass(frozen=True, slots=True)
class _Suspect:
    """Messages that are void if something is lost strictly between `after` and `before`.

    Else they are only unusual: the last group of a log, say, whose rest was never written.
    """

    sequences: tuple[int, ...]
    agent: str
    after: int
    before: int


@dataclass(slots=True)
class _Partition:
    """The state of reading one partition."""

    waiting: deque[tuple[int, str]] = field(default_factory=deque)
    """The sequences and agents of inputs without an answer so far."""
    group: list[int] = field(default_factory=list)
    cause: tuple[int, int] = (0, 0)
    """Cause sequence and size of the group that is being read."""
    agent: str = ""
    suspects: list[_Suspect] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lost: list[tuple[int, int]] = field(default_factory=list)
    void: list[tuple[int, int]] = field(default_factory=list)
    """Stretches that the log already records as lost or void."""


class Leftovers:
    """Collects what is left over in each partition."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._partitions = [_Partition() for _ in range(PARTITIONS)]
        self.taken: defaultdict[str, Taken] = defaultdict(Taken)
        """What the log has of each intake stream."""
        self.closed: dict[str, int] = {}
        """The last sequence of each closed stream, as those behind it say."""

    def take(self, stored: StoredRecord) -> None:
        """Read the next record."""
        if came := origin(stored.headers):
            self.taken[came.stream].take(came.sequence)
        try:
            place = parse(stored.subject.decode())
        except (SubjectError, UnicodeDecodeError):
            # A sound record with a subject that no reader of a partition ever sees.
            return
        own = self._partitions[place.partition]
        if place.direction == "in":
            own.waiting.append((stored.sequence, place.agent))
            own.counts["inputs"] += 1
            if stored.subject.decode().endswith(_RECORDED):
                _heed(own, _as_record(stored))
            elif stored.subject.decode().endswith(_CLOSED):
                self._close(_as_record(stored))
        else:
            _output(own, _as_record(stored), place.agent)

    def _close(self, record: Record) -> None:
        message = read_input(record).message
        if isinstance(message, SegmentClosed):
            self.closed[message.stream] = message.last

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
        """Return the void sequences due to `lost` not recorded yet, and their agents."""
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
        # A sound record without a mark is no loss; `log verify` reports it.
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
    """Yield the group that was being read, which lacks its rest."""
    if own.group:
        yield _Suspect(tuple(own.group), own.agent, own.group[0], before)


def _passed(own: _Partition) -> Iterator[_Suspect]:
    """Yield what a whole group reveals: unanswered inputs before its cause, or no cause.

    Groups stand in the order of their inputs, so an input passed over has lost its answer.
    """
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
