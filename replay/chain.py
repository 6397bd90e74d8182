"""The check of chains: each decision carries a hash of everything before it.

An agent's chain is a running hash over its raw inputs and outputs in order, so a message
that was altered, dropped or swapped shows in the next decision. Nothing is decided again.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from projections.folds.partition import linked
from schemas.codec.decode import UnreadableOutputError, read_input, read_output
from schemas.codec.encode import wire_digest
from schemas.codec.envelope import Output
from schemas.messages.decisions import Decided
from schemas.values.subjects import PARTITIONS
from streams.errors import LogDamaged
from streams.groups import Group, groups
from streams.log import ReadableLog


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the log contradicts its chains."""

    partition: int
    agent: str | None
    """The agent whose chain broke; None if the partition cannot be read any further."""
    sequence: int
    """The sequence of the decision with another chain, or of the damage; 0 if unknown."""
    detail: str


@dataclass(frozen=True, slots=True)
class Chained:
    """How far a partition was checked, with the chain of each of its agents there.

    It is kept as a mark, from which the next check continues.
    """

    position: int = 0
    """The sequence of the last input whose group was read."""
    message_id: str = ""
    """The id of that input."""
    digest: str = ""
    """The digest of its subject, headers and body, in hex."""
    last_output: int = 0
    """The sequence of the last output of that group."""
    groups: int = 0
    """How many groups were read up to there, from the log's first."""
    chains: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check."""

    breaks: tuple[Break, ...]
    """The first break of each agent; behind it the chain proves nothing."""
    ends: Mapping[int, Chained]
    """How far each partition without a break was checked."""


async def check(
    log: ReadableLog,
    progress: Callable[[int], None] = lambda count: None,
    since: Mapping[int, Chained] = MappingProxyType({}),
) -> Checked:
    """Check the chains of a log, from where they were checked before.

    `progress` is called with the number of groups read so far.
    """
    breaks: list[Break] = []
    ends: dict[int, Chained] = {}
    count = 0
    for partition in range(PARTITIONS):
        chains = _Chains(partition, since.get(partition, Chained()))
        found: list[Break] = []
        try:
            async for group in groups(log, partition, chains.end.position):
                found.extend(chains.take(group))
                count += 1
                progress(count)
        except LogDamaged as damage:
            found.append(Break(partition, None, damage.sequence, str(damage)))
        # Unlike a damaged log it carries no sequence, so 0 stands
        # for it; the text says more.
        except UnreadableOutputError as damage:
            found.append(Break(partition, None, 0, str(damage)))
        breaks += found
        # A broken partition gets no mark, so that the next check reports it again.
        if not found:
            ends[partition] = chains.end
    return Checked(tuple(breaks), ends)


class _Chains:
    """The chains of one partition's agents so far."""

    def __init__(self, partition: int, begin: Chained) -> None:
        self._partition = partition
        self._end = begin
        self._chains = dict(begin.chains)
        self._broken: set[str] = set()

    @property
    def end(self) -> Chained:
        """How far the partition was read."""
        return replace(self._end, chains=dict(self._chains))

    def take(self, group: Group) -> list[Break]:
        """Check a group, and return the breaks it shows."""
        input_ = read_input(group.input)
        outputs = [read_output(record) for record in group.outputs]
        # A decision carries the chain of what came before its group, so it is compared
        # before the group is linked.
        breaks = list(self._breaks(input_.agent, outputs))
        last = outputs[-1].record.sequence
        chain = self._chains.get(input_.agent, "")
        self._chains[input_.agent] = linked(chain, input_, outputs)
        record = group.input
        self._end = Chained(
            input_.sequence,
            input_.id,
            wire_digest(record.subject, record.headers, record.stored).hex(),
            last,
            self._end.groups + 1,
        )
        return breaks

    def _breaks(self, agent: str, outputs: list[Output]) -> Iterator[Break]:
        """Yield the first decision of the agent that carries another chain."""
        for output in outputs:
            message = output.message
            if not isinstance(message, Decided) or agent in self._broken:
                continue
            led, at = self._chains.get(agent, ""), output.record.sequence
            if message.chain == led:
                continue
            self._broken.add(agent)
            detail = f"it carries {message.chain!r}, the log leads to {led!r}"
            yield Break(self._partition, agent, at, detail)
