"""Decisions as they are made: what `watch` shows.

Its rule: read through the one reader; what arrives only says when to look again.
"""

from collections.abc import AsyncIterator

from echoic.accounts import Account, Accounts
from schemas.reading import read_input, read_mark, read_output
from schemas.subjects import outputs_of, partition_of
from streams.log import ReadableLog
from streams.order import groups

_PAGE = 1_000


async def last_position(log: ReadableLog, partition: int) -> int:
    """The sequence of the last input that was answered."""
    last = await log.last_sequence(outputs_of(partition))
    record = await log.record(last)
    return read_mark(record).cause_sequence if record is not None else 0


async def follow_accounts(
    log: ReadableLog, agent: str, position: int
) -> AsyncIterator[Account]:
    """Each decision of the agent behind a position, when it opens and when it ends."""
    partition = partition_of(agent)
    ledger = Accounts()
    async for _ in log.follow(outputs_of(partition), position, _PAGE):
        async for group in groups(log, partition, position):
            outputs = [read_output(record) for record in group.outputs]
            for account in ledger.take(read_input(group.input), outputs):
                if account.agent == agent:
                    yield account
            position = group.input.sequence
