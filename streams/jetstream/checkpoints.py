"""Checkpoints: states of the partitions, so that a start need not fold the whole log.

A cache, never the authority: one that is missing, damaged, of another log or of other code
counts as absent, and the log is folded from an earlier one or from its start. Several of
each partition are kept, spread over its log, for readers that start before the newest.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID

import msgspec
import zstandard
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import ObjectMeta
from nats.js.errors import NotFoundError
from nats.js.object_store import ObjectStore

from streams.errors import StreamsError
from streams.sealing import Cipher

_CHECKPOINT_BUCKET = "CHECKPOINTS"
_LOAD_S = 10.0
"""Seconds that a load may take; one that is replaced meanwhile may never end by itself."""

KEPT = 16
"""How many checkpoints of a partition are kept at most; each has a slot."""

KEPT_BYTES = 32_000_000
"""How many bytes those of a partition may take together, compressed. The new one and at
least one other are kept all the same, so that a damaged one has a fallback."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Which log and which code a state belongs to, and up to which position."""

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
    key: str = ""
    """The name of the key that it is sealed under; empty: none, as of a log in clear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A state with its label."""

    label: Label
    state: bytes


class Checkpoints(Protocol):
    """Where checkpoints are kept."""

    async def labels(self, partition: int) -> tuple[Label, ...]:
        """Return the labels of a partition's checkpoints, the newest first."""
        ...

    async def load(self, label: Label) -> bytes | None:
        """Return the state of a checkpoint, if it can be read."""
        ...

    async def save(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint, replacing an older one if there are many."""
        ...


class _StateKeys(Protocol):
    """The keys that the states of a sealed log are under, one for each partition."""

    async def of_state(self, partition: int) -> Cipher:
        """Return a partition's key, made if there is none."""
        ...


class JetStreamCheckpoints:
    """Checkpoints in an object store beside the log, each partition's in a few slots."""

    def __init__(self, client: Client, keys: _StateKeys | None = None) -> None:
        """Use a connection, which the caller closes, and the keys of a sealed log."""
        self._client = client
        self._keys = keys

    async def labels(self, partition: int) -> tuple[Label, ...]:
        """Return the labels of all slots; an error is logged and counts as none.

        A start without checkpoints is slower, not wrong.
        """
        try:
            store = await self._store()
            async with asyncio.timeout(_LOAD_S):
                found = await asyncio.gather(
                    *(_label(store, partition, slot) for slot in range(KEPT))
                )
        except (NatsError, TimeoutError) as error:
            _log.warning("partition %d: no checkpoint answers: %r", partition, error)
            return ()
        kept = [label for label in found if label is not None]
        return tuple(sorted(kept, key=lambda label: -label.sequence))

    async def load(self, label: Label) -> bytes | None:
        """Return the state in a slot; an error is logged and counts as absent."""
        try:
            store = await self._store()
            async with asyncio.timeout(_LOAD_S):
                found = await store.get(_name(label.partition, label.slot))
            # The worker may have replaced the slot since its label was read.
            if _read(found.info.description, label.partition, label.slot) != label:
                return None
            # A state has megabytes: in a thread, the event loop goes on meanwhile.
            packed = await self._opened(label, found.data or b"")
            if packed is None:
                return None
            return await asyncio.to_thread(zstandard.decompress, packed)
        except (
            NatsError,
            StreamsError,
            TimeoutError,
            ValueError,
            zstandard.ZstdError,
        ) as error:
            _log.warning(
                "the checkpoint of partition %d at %d is no use: %r",
                label.partition,
                label.sequence,
                error,
            )
            return None

    async def save(self, checkpoint: Checkpoint) -> None:
        """Put it into a free slot, or replace the one that is missed least.

        Only the worker of a partition saves, so two saves never choose the same slot.
        """
        label = checkpoint.label
        # Level 3 is zstd's own default: most of the gain at little of the cost.
        packed = await asyncio.to_thread(zstandard.compress, checkpoint.state, 3)
        try:
            label, packed = await self._sealed(label, packed)
            kept = await self.labels(label.partition)
            slot, dropped = place(kept, label, len(packed))
            stored = replace(label, slot=slot, size=len(packed))
            store = await self._store()
            await store.put(
                _name(label.partition, slot),
                packed,
                ObjectMeta(description=msgspec.json.encode(stored).decode()),
            )
            # Deleted after the new one is stored, so that a crash in between leaves more
            # checkpoints rather than fewer.
            for each in dropped:
                await store.delete(_name(label.partition, each))
        except (NatsError, StreamsError, TimeoutError) as error:
            _log.warning("partition %d got no checkpoint: %r", label.partition, error)

    async def drop(self, partition: int) -> None:
        """Delete a partition's checkpoints."""
        store = await self._store()
        for label in await self.labels(partition):
            await store.delete(_name(partition, label.slot))

    async def _sealed(self, label: Label, packed: bytes) -> tuple[Label, bytes]:
        if self._keys is None:
            return label, packed
        cipher = await self._keys.of_state(label.partition)
        sealed = await asyncio.to_thread(cipher.seal_bytes, packed)
        return replace(label, key=cipher.name), sealed

    async def _opened(self, label: Label, sealed: bytes) -> bytes | None:
        """Return the bytes of a state; None if its key was destroyed."""
        if not label.key or self._keys is None:
            return None if label.key else sealed
        cipher = await self._keys.of_state(label.partition)
        if cipher.name != label.key:
            return None
        return await asyncio.to_thread(cipher.open_bytes, sealed)

    async def _store(self) -> ObjectStore:
        return await self._client.jetstream().object_store(_CHECKPOINT_BUCKET)


def place(kept: Sequence[Label], new: Label, size: int) -> tuple[int, tuple[int, ...]]:
    """Return the slot for a new checkpoint of `size` bytes, and the slots to be emptied.

    Those of another log or other code go first, then the one closest to its neighbours, so
    that those that stay are spread over the whole log.
    """
    # One of our own at or behind the new position comes from a history that is folded
    # anew, so it goes too.
    own = [
        each for each in kept if _is_like(each, new) and each.sequence < new.sequence
    ]
    goes = [each for each in kept if each not in own]
    own.sort(key=lambda label: label.sequence)
    while len(own) > 1 and (
        len(own) >= KEPT or size + sum(int(each.size) for each in own) > KEPT_BYTES
    ):
        # `ends[at]` and `ends[at + 2]` are the neighbours of `own[at]`: the gap that would
        # remain without it. The newest is never a candidate.
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
    """Return the label in an object's description; None if it has none of ours."""
    try:
        label = msgspec.json.decode(description or "", type=Label)
    except ValueError:
        return None
    return label if (label.partition, label.slot) == (partition, slot) else None


def _name(partition: int, slot: int) -> str:
    return f"partition-{partition}.{slot}"
