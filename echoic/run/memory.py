"""The memory that effects search: the read models, by the instance's embedder."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import UUID

from handlers.effects.recalling import Memories, MemoryAway
from handlers.effects.subscribers import RECALL_SLOTS
from projections.errors import ProjectionError
from projections.rows.episodes import in_words, memorable
from projections.store.recall import Wanted, nearest_in_time
from projections.store.store import Store
from schemas.messages.asks import RecallAsked
from schemas.values.vectors import Embedder

_REPEATS = 4
"""How many times as many are looked up, since what happens often is told once."""


@dataclass(frozen=True, slots=True)
class TableMemory:
    """Episodes in PostgreSQL."""

    store: Store
    embedder: Embedder
    epoch: UUID
    """The log that the tables have to be of."""
    threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(RECALL_SLOTS, "recall")
    )
    """Its own: one that waits for a database which is away keeps its thread for longer than
    anybody waits, and would take the loop's few from embeddings and checkpoints."""

    async def prepare(self) -> None:
        """Connect, which takes longer than a search; without a database it does nothing."""
        try:
            await asyncio.to_thread(self.store.versions)
        except ProjectionError:
            # Each search tells so, and the first that finds it up again connects.
            return

    async def search(
        self, asked: RecallAsked, agent: str, before: int, within_s: float
    ) -> Memories:
        """Return the memories nearest to a query, each text once.

        Raises:
            MemoryAway: the read models are away, of another log, or too slow.
        """
        (vector,) = await asyncio.to_thread(self.embedder.embed, [asked.query])
        wanted = Wanted(
            vector=vector,
            embedder=self.embedder.name,
            as_of=before - 1,
            person=asked.person,
            is_private=True,
            limit=asked.limit * _REPEATS,
        )
        # The caller gives up first, and tells why; what it left then ends by itself.
        patience_s = 2 * within_s
        try:
            # The store's driver blocks.
            found, as_of = await asyncio.get_running_loop().run_in_executor(
                self.threads,
                nearest_in_time,
                self.store,
                agent,
                wanted,
                self.epoch,
                patience_s,
            )
        except ProjectionError as error:
            raise MemoryAway(str(error)) from error
        # Less alike than an event is to a goal that it is about, it is about something else.
        kept = memorable(found, self.embedder.limits.goal, asked.limit)
        return Memories([each.id for each in kept], list(map(in_words, kept)), as_of)
