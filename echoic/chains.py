"""Chain hashes: does each decision carry the chain of all that came before it?

Its rule: folded as the worker folds; a message that was altered, lost or swapped shows
at the next decision of its agent.
"""

from collections.abc import Callable

from handlers.aids import Bringer
from replay.sessions import Step, steps
from schemas.decisions import Decided
from schemas.reading import UnreadableOutputError
from schemas.subjects import PARTITIONS
from streams.errors import LogDamaged
from streams.log import ReadableLog


async def broken_chains(
    log: ReadableLog, bringer: Bringer, progress: Callable[[int], None]
) -> int:
    """How many decisions carry another chain than the log before them gives.

    A partition that cannot be folded to its end counts as one more.
    """
    broken = count = 0
    for partition in range(PARTITIONS):
        try:
            async for step in steps(log, partition, bringer):
                broken += _broken(step)
                count += 1
                progress(count)
        except (LogDamaged, UnreadableOutputError):
            broken += 1
    return broken


def _broken(step: Step) -> int:
    before = step.before.agents.get(step.agent)
    expected = before.chain if before else ""
    return sum(
        isinstance(output.message, Decided) and output.message.chain != expected
        for output in step.outputs
    )
