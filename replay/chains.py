"""Chains: does each decision carry the hash of all that came before it?

An agent's chain covers every raw input and output in order, so a message that was
altered, dropped or swapped shows in the next decision. No mind is needed to check it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from projections.folds.partition import linked
from schemas.decisions import Decided
from schemas.envelope import Output
from schemas.reading import UnreadableOutputError, read_input, read_output
from schemas.subjects import PARTITIONS
from streams.errors import LogDamaged
from streams.log import ReadableLog
from streams.order import groups


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the log is not what its chains say."""

    partition: int
    agent: str | None
    """Whose chain broke; None if the partition cannot be read on from here."""
    sequence: int
    """Of the decision whose chain is another, or of what is damaged."""
    detail: str


async def check(
    log: ReadableLog, progress: Callable[[int], None] = lambda count: None
) -> tuple[Break, ...]:
    """Follow the chains of a log, and return the first break of each agent.

    What follows a break cannot be told. `progress` is told how many groups were read.
    """
    found: list[Break] = []
    count = 0
    for partition in range(PARTITIONS):
        chains = _Chains(partition)
        try:
            async for group in groups(log, partition):
                taken = read_input(group.input)
                outputs = [read_output(record) for record in group.outputs]
                found.extend(chains.breaks(taken.agent, outputs))
                chains.lengthen(
                    taken.agent, linked(chains.of(taken.agent), taken, outputs)
                )
                count += 1
                progress(count)
        except LogDamaged as damage:
            found.append(Break(partition, None, damage.sequence, str(damage)))
        except UnreadableOutputError as damage:
            found.append(Break(partition, None, 0, str(damage)))
    return tuple(found)


class _Chains:
    """The chains of one partition's agents so far."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._chains: dict[str, str] = {}
        self._broken: set[str] = set()

    def of(self, agent: str) -> str:
        """An agent's chain after its last group."""
        return self._chains.get(agent, "")

    def lengthen(self, agent: str, chain: str) -> None:
        """Go on from a group."""
        self._chains[agent] = chain

    def breaks(self, agent: str, outputs: list[Output]) -> Iterator[Break]:
        """The first decision of the agent that carries another chain."""
        for output in outputs:
            message = output.message
            if not isinstance(message, Decided) or agent in self._broken:
                continue
            if message.chain != self.of(agent):
                self._broken.add(agent)
                yield Break(
                    self._partition,
                    agent,
                    output.record.sequence,
                    f"it carries {message.chain!r}, the log leads to {self.of(agent)!r}",
                )
