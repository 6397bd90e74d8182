"""Checkpoints: states of the partitions, so that nobody need fold a whole log to start.

A cache, never truth: whatever is missing, damaged, of another log or of other code is as
good as no checkpoint, and the log is folded from an earlier one or from its start.
Several are kept of each partition, spread over its log: a reader that stands behind the
newest, or asks for a time gone by, begins at the last one before.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol
from uuid import UUID

import orjson
import zstandard
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import ObjectMeta
from nats.js.errors import NotFoundError
from nats.js.object_store import ObjectStore

CHECKPOINT_BUCKET = "CHECKPOINTS"
LOAD_S = 10.0
"""How long a load may take; one that is being replaced meanwhile may never end."""

KEPT = 16
"""How many of a partition are kept at most."""

KEPT_BYTES = 32_000_000
"""How much they may take together, compressed; the newest two are kept whatever it is."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Which log and which code a state is of, and up to where."""

    partition: int
    sequence: int
    """Of the last input whose group is folded into it."""
    time_ns: int
    """When the log received that input, in nanoseconds since 1970."""
    message_id: str
    """The id of that input."""
    last_output: int
    """The sequence of the last output of that group."""
    epoch: UUID
    """Of the log."""
    code: str
    """A digest of whatever else the state depends on."""
    slot: int = 0
    """Where it is kept."""
    size: int = 0
    """In bytes, compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A state with its label."""

    label: Label
    state: bytes


class Checkpoints(Protocol):
    """Where checkpoints are kept."""

    async def labels(self, partition: int) -> tuple[Label, ...]:
        """Of all checkpoints of a partition, the newest first."""
        ...

    async def load(self, label: Label) -> bytes | None:
        """Return the state of a checkpoint, if it can be read."""
        ...

    async def save(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint, in an older one's place if there are many."""
        ...


class JetStreamCheckpoints:
    """Checkpoints in an object store beside the log, each partition's in a few slots."""

    def __init__(self, client: Client) -> None:
        """Take a connection that stays the caller's."""
        self._client = client

    async def labels(self, partition: int) -> tuple[Label, ...]:
        """Read the labels of all slots; whatever goes wrong is no more than logged."""
        try:
            store = await self._store()
            async with asyncio.timeout(LOAD_S):
                found = await asyncio.gather(
                    *(_label(store, partition, slot) for slot in range(KEPT))
                )
        except (NatsError, TimeoutError) as error:
            _log.warning("partition %d: no checkpoint answers: %r", partition, error)
            return ()
        kept = [label for label in found if label is not None]
        return tuple(sorted(kept, key=lambda label: -label.sequence))

    async def load(self, label: Label) -> bytes | None:
        """Read a slot; whatever goes wrong is no more than logged."""
        try:
            store = await self._store()
            async with asyncio.timeout(LOAD_S):
                found = await store.get(_name(label.partition, label.slot))
            if _read(found.info.description, label.partition, label.slot) != label:
                return None
            return await asyncio.to_thread(zstandard.decompress, found.data or b"")
        except (NatsError, TimeoutError, zstandard.ZstdError) as error:
            _log.warning(
                "the checkpoint of partition %d at %d is no use: %r",
                label.partition,
                label.sequence,
                error,
            )
            return None

    async def save(self, checkpoint: Checkpoint) -> None:
        """Put it into a free slot, or into that of the one that is missed least."""
        label = checkpoint.label
        packed = await asyncio.to_thread(zstandard.compress, checkpoint.state, 3)
        fields = {**asdict(label), "epoch": str(label.epoch), "size": len(packed)}
        try:
            kept = await self.labels(label.partition)
            slot, dropped = place(kept, label, len(packed))
            fields["slot"] = slot
            store = await self._store()
            await store.put(
                _name(label.partition, slot),
                packed,
                ObjectMeta(description=orjson.dumps(fields).decode()),
            )
            for each in dropped:
                await store.delete(_name(label.partition, each))
        except (NatsError, TimeoutError) as error:
            _log.warning("partition %d got no checkpoint: %r", label.partition, error)

    async def _store(self) -> ObjectStore:
        return await self._client.jetstream().object_store(CHECKPOINT_BUCKET)


def place(kept: Sequence[Label], new: Label, size: int) -> tuple[int, tuple[int, ...]]:
    """Return the slot for one more checkpoint of `size` bytes, and slots to be emptied.

    What is of another log or other code goes first, then whatever is closest to its
    neighbours, so that those that stay are spread over the whole log.
    """
    own = [
        each for each in kept if _is_like(each, new) and each.sequence < new.sequence
    ]
    goes = [each for each in kept if each not in own]
    own.sort(key=lambda label: label.sequence)
    while len(own) > 1 and (
        len(own) >= KEPT or size + sum(int(each.size) for each in own) > KEPT_BYTES
    ):
        ends = [0, *(each.sequence for each in own)]
        closest = min(range(len(own) - 1), key=lambda at: ends[at + 2] - ends[at])
        goes.append(own.pop(closest))
    used = {each.slot for each in own}
    slot = min(set(range(KEPT)) - used)
    return slot, tuple(each.slot for each in goes if each.slot != slot)


def _is_like(label: Label, other: Label) -> bool:
    return (label.epoch, label.code) == (other.epoch, other.code)


async def _label(store: ObjectStore, partition: int, slot: int) -> Label | None:
    try:
        info = await store.get_info(_name(partition, slot))
    except NotFoundError:
        return None
    return _read(info.description, partition, slot)


def _read(description: str | None, partition: int, slot: int) -> Label | None:
    """Return the label in an object's description; None if that is none of ours."""
    try:
        fields = orjson.loads(description or "")
        label = Label(**{**fields, "epoch": UUID(fields["epoch"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return label if (label.partition, label.slot) == (partition, slot) else None


def _name(partition: int, slot: int) -> str:
    return f"partition-{partition}.{slot}"
