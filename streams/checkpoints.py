"""Checkpoints: the newest state of each partition, so that a start need not fold it all.

A cache, never truth: whatever is missing, damaged, of another log or of other code is as
good as no checkpoint, and the whole log is folded.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import orjson
import zstandard
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

CHECKPOINT_BUCKET = "CHECKPOINTS"
LOAD_S = 10.0
"""How long a load may take; one that is being replaced meanwhile may never end."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A state, and of which log and which code it is."""

    partition: int
    sequence: int
    """Of the last input whose group is folded into it."""
    message_id: str
    """The id of that input."""
    last_output: int
    """The sequence of the last output of that group."""
    epoch: UUID
    """Of the log."""
    code: str
    """A digest of whatever else the state depends on."""
    state: bytes


class Checkpoints(Protocol):
    """Where checkpoints are kept."""

    async def load(self, partition: int) -> Checkpoint | None:
        """The newest checkpoint of a partition, if there is one that can be read."""
        ...

    async def save(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint instead of the partition's older one; may fail silently."""
        ...


class JetStreamCheckpoints:
    """Checkpoints in an object store beside the log."""

    def __init__(self, client: Client) -> None:
        """Take a connection that stays the caller's."""
        self._client = client

    async def load(self, partition: int) -> Checkpoint | None:
        """Read the partition's object; whatever goes wrong is no more than logged."""
        try:
            store = await self._client.jetstream().object_store(CHECKPOINT_BUCKET)
            async with asyncio.timeout(LOAD_S):
                found = await store.get(_name(partition))
            return _unpacked(found.data or b"")
        except NotFoundError:
            return None
        except (NatsError, TimeoutError, ValueError, zstandard.ZstdError) as error:
            _log.warning(
                "the checkpoint of partition %d is no use: %r", partition, error
            )
            return None

    async def save(self, checkpoint: Checkpoint) -> None:
        """Replace the partition's object."""
        packed = await asyncio.to_thread(_packed, checkpoint)
        try:
            store = await self._client.jetstream().object_store(CHECKPOINT_BUCKET)
            await store.put(_name(checkpoint.partition), packed)
        except (NatsError, TimeoutError) as error:
            _log.warning(
                "partition %d got no checkpoint: %r", checkpoint.partition, error
            )


def _name(partition: int) -> str:
    return f"partition-{partition}"


def _packed(checkpoint: Checkpoint) -> bytes:
    """One line of JSON that says what it is, then the state, compressed."""
    label = {
        "partition": checkpoint.partition,
        "sequence": checkpoint.sequence,
        "message_id": checkpoint.message_id,
        "last_output": checkpoint.last_output,
        "epoch": str(checkpoint.epoch),
        "code": checkpoint.code,
    }
    return orjson.dumps(label) + b"\n" + zstandard.compress(checkpoint.state, 3)


def _unpacked(packed: bytes) -> Checkpoint:
    line, _, compressed = packed.partition(b"\n")
    label = orjson.loads(line)
    try:
        return Checkpoint(
            partition=int(label["partition"]),
            sequence=int(label["sequence"]),
            message_id=str(label["message_id"]),
            last_output=int(label["last_output"]),
            epoch=UUID(label["epoch"]),
            code=str(label["code"]),
            state=zstandard.decompress(compressed),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no checkpoint: {error!r}") from error
