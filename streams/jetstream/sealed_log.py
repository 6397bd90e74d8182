"""A sealed log behind the ports of any other: sealed when written, opened when read.

Whoever reads gets records with their fields opened and the bytes as stored beside them, of
which digests are taken. Outputs arrive sealed: their digests enter the chain before.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from uuid import UUID

from schemas.values.record import Record, Wire
from schemas.values.subjects import PARTITIONS, inputs_of, parse
from streams.jetstream.append import JetStreamWriter
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.keys import Keyring
from streams.jetstream.migrate import epoch_of, sealing
from streams.jetstream.read import JetStreamReader
from streams.log import After, GroupWrite, Records
from streams.sealing import HEADER

KEYS_MISSING = (
    "the keys of this sealed log are missing, as no backup holds them: what people said"
    " reads [forgotten] until the copy of the stream KV_KEYS is put back"
    " (`nats stream restore`)"
)


async def open_reader(client: BrokerClient) -> JetStreamReader:
    """Return a reader of the log of the connection's account, sealed or not.

    Raises:
        TopologyDrift: there is no log, or it has no epoch.
    """
    epoch, is_sealed = await epoch_of(client), await sealing(client)
    return (SealedReader if is_sealed else JetStreamReader)(client, epoch)


async def lacks_keys(log: JetStreamReader) -> bool:
    """Tell whether a sealed log came here without its keys, as out of a backup.

    Only the key of the first input of each partition is looked for, and a key that was
    destroyed is not missing.
    """
    if not isinstance(log, SealedReader):
        return False
    destroyed = {(agent, name) for agent, name, _ in await log.keys.marks()}
    for partition in range(PARTITIONS):
        for record in await log.page(inputs_of(partition), 0, 1):
            agent, name = parse(record.subject).agent, record.headers.get(HEADER)
            if name is None or (agent, name) in destroyed:
                continue
            if await log.keys.cipher(agent, name) is None:
                return True
    return False


class SealedReader(JetStreamReader):
    """A `ReadableLog` of sealed records."""

    def __init__(self, client: BrokerClient, epoch: UUID) -> None:
        """Use a connection, which the caller closes, and the epoch of its log."""
        super().__init__(client, epoch)
        self.keys = Keyring(client)

    @property
    def keyring(self) -> Keyring:
        """The keys of this log."""
        return self.keys

    async def page(self, subjects: str, after: int, limit: int) -> Records:
        """Return up to `limit` records, opened."""
        return await self.keys.opened(await super().page(subjects, after, limit))

    async def follow(
        self, subjects: str, after: After, limit: int
    ) -> AsyncGenerator[Records, None]:
        """Yield what is there and then what arrives, opened."""
        async with aclosing(super().follow(subjects, after, limit)) as following:
            async for records in following:
                yield await self.keys.opened(records)

    async def record(self, sequence: int) -> Record | None:
        """Return one record, opened."""
        found = await super().record(sequence)
        return None if found is None else (await self.keys.opened([found]))[0]


class SealedWriter(JetStreamWriter):
    """A `WritableLog` that seals inputs; outputs come sealed from the mind's turn."""

    keys: Keyring

    async def append(self, wire: Wire, message_id: str) -> int:
        """Seal an input, publish it until acknowledged, and return the sequence."""
        record = Record(wire.subject, wire.headers, wire.body, 0, 0)
        made = await self.keys.sealed_input(record)
        stored = Wire(made.subject, made.headers, made.stored)
        await self.keys.keep([stored])
        return await super().append(stored, message_id)

    async def commit(self, writes: Sequence[GroupWrite]) -> dict[int, int]:
        """Write all groups at once, behind what it takes to open them again."""
        await self.keys.keep([wire for write in writes for wire in write.messages])
        return await super().commit(writes)
