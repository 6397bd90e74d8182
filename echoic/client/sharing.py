"""Who shares the partitions by leases, as the broker's bucket says it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from handlers.worker.leases import registry, rules
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.leases import Entry, LeaseBucket

GONE = timedelta(minutes=1)
"""After so long without a sign of life of any, nobody shares anything: the clocks of two
machines may differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingWorker:
    """A worker process that takes part."""

    name: str
    host: str
    pid: int
    since: datetime
    """When it joined, by its own clock."""
    renewed: str
    """When it last gave a sign of life, by the broker's clock."""
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """All that take part, and what nobody owns."""

    workers: tuple[SharingWorker, ...]
    unowned: tuple[int, ...]


async def sharing(client: BrokerClient) -> Sharing | None:
    """Return who shares the partitions; None where nobody does.

    Raises:
        LogUnavailable: the broker does not answer.
    """
    bucket = LeaseBucket(client)
    if not await bucket.exists():
        return None
    entries = await bucket.read()
    view = registry.view_of(entries)
    # One that was killed leaves its key behind, if nobody is there to take it away.
    if not any(_is_fresh(entries[registry.MEMBER + each]) for each in view.members):
        return None
    found = []
    for each in sorted(view.members.values(), key=lambda member: member.joined):
        entry = entries[registry.MEMBER + each.id]
        _, held = registry.member_of(each.id, entry)
        found.append(
            SharingWorker(
                name=held.name,
                host=held.host,
                pid=held.pid,
                since=held.since,
                renewed=entry.at,
                partitions=tuple(rules.held(view, each.id)),
            )
        )
    return Sharing(tuple(found), tuple(rules.free(view)))


def _is_fresh(entry: Entry) -> bool:
    return datetime.now(UTC) - datetime.fromisoformat(entry.at) < GONE
