"""Performing `RecallAsked`: what is remembered, in time or not at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from schemas.codec.envelope import Output
from schemas.messages.asks import RecallAsked
from schemas.messages.results import Recalled, RecallFailed


class MemoryAway(Exception):
    """The memory cannot be asked now."""


@dataclass(frozen=True, slots=True)
class Memories:
    """What a memory answers."""

    ids: Sequence[str]
    """The decisions that they are of, nearest first."""
    texts: Sequence[str]
    as_of: int
    """The sequence up to which it is complete."""


class Memory(Protocol):
    """What happened and was said, to be searched."""

    async def prepare(self) -> None:
        """Get ready for the first search, if that takes time."""

    async def search(
        self, asked: RecallAsked, agent: str, before: int, within_s: float
    ) -> Memories:
        """Return the memories of an agent nearest to a query, from before a sequence.

        Raises:
            MemoryAway: it cannot be asked.
            TimeoutError: it took longer than `within_s`.
        """


async def recall(
    memory: Memory | None, output: Output, asked: RecallAsked, *, within_s: float
) -> Recalled | RecallFailed:
    """Return what is remembered as of an ask's input, that input itself left out.

    `within_s` is how many seconds are left; at 0 or less nothing is searched.
    """
    failed = partial(RecallFailed, ask_id=output.id)
    if memory is None:
        return failed(reason="unavailable", detail="there are no read models")
    if within_s <= 0:
        return failed(reason="timeout", detail="it was asked too late")
    before = output.mark.cause_sequence
    search = memory.search(asked, output.agent, before, within_s)
    try:
        found = await asyncio.wait_for(search, within_s)
    except TimeoutError:
        return failed(reason="timeout", detail=f"it took more than {within_s:.3f} s")
    except MemoryAway as error:
        return failed(reason="unavailable", detail=str(error)[:2_000])
    return Recalled(
        ask_id=output.id,
        ids=tuple(found.ids),
        texts=tuple(found.texts),
        as_of=found.as_of,
    )
