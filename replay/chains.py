"""Chains: does each decision carry the hash of all that came before it?

An agent's chain covers every raw input and output in order, so a message that was
altered, dropped or swapped shows in the next decision. No mind is needed to check it.
"""

from dataclasses import dataclass

from projections.folds.partition import linked
from schemas.decisions import Decided
from schemas.reading import read_input, read_output
from streams.log import ReadableLog
from streams.order import groups


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """A decision whose chain is not the one that the log leads to."""

    agent: str
    sequence: int
    """Of the decision."""
    recorded: str
    computed: str


@dataclass(frozen=True, slots=True)
class Chains:
    """What a partition's chains came to."""

    decisions: int
    """How many decisions were checked."""
    broken: tuple[BrokenChain, ...]
    """The first break of each agent; what follows it cannot be told."""
    ends: tuple[tuple[str, str], ...]
    """Each agent's chain after its last group, by agent."""


async def check(log: ReadableLog, partition: int) -> Chains:
    """Follow the chains of a partition from its start.

    Raises:
        LogDamaged, UnreadableOutputError: the log is not sound there.
    """
    chains: dict[str, str] = {}
    broken: dict[str, BrokenChain] = {}
    decisions = 0
    async for group in groups(log, partition):
        taken = read_input(group.input)
        outputs = [read_output(record) for record in group.outputs]
        computed = chains.get(taken.agent, "")
        for output in outputs:
            if not isinstance(output.message, Decided):
                continue
            decisions += 1
            recorded = output.message.chain
            if recorded != computed and taken.agent not in broken:
                broken[taken.agent] = BrokenChain(
                    taken.agent, output.record.sequence, recorded, computed
                )
        chains[taken.agent] = linked(computed, taken, outputs)
    return Chains(
        decisions=decisions,
        broken=tuple(broken[agent] for agent in sorted(broken)),
        ends=tuple((agent, chains[agent]) for agent in sorted(chains)),
    )
