"""The keys of members and leases: how they are written, and read as a view."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from handlers.worker.leases.rules import Lease, Member, View
from streams.jetstream.leases import Entry

MEMBER = "member."
PARTITION = "partition."


class MemberKey(msgspec.Struct, frozen=True, kw_only=True):
    """What the key of a member holds."""

    name: str
    host: str
    pid: int
    since: datetime
    """When it joined, by its own clock."""
    joined: int = 0
    """The first revision of the key; 0 in that one itself."""


class PartitionKey(msgspec.Struct, frozen=True, kw_only=True):
    """What the key of a partition holds."""

    owner: str | None
    term: int
    since: datetime
    """When it was taken or handed over, by the clock of whoever did."""


class Bucket(Protocol):
    """Where the keys are; `streams.jetstream.leases` keeps them at the broker."""

    async def read(self) -> dict[str, Entry]:
        """Return all keys; some may be older than what was read before."""
        ...

    async def write(self, key: str, value: bytes, revision: int) -> int | None:
        """Set a key whose revision is this one, and return the new; None: it is another."""
        ...

    async def tell(self) -> None:
        """Tell the other members to look at the keys now."""
        ...


def newest(known: Mapping[str, Entry], found: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return what is known after a look; a replica that lags takes nothing back."""
    after = {key: each for key, each in known.items() if each.value}
    for key, each in found.items():
        if key not in known or known[key].revision < each.revision:
            after[key] = each
        elif not known[key].value:
            after[key] = known[key]
    return after


def member_of(key: str, entry: Entry) -> tuple[Member, MemberKey]:
    """Return a member as its key says it."""
    held = msgspec.json.decode(entry.value, type=MemberKey)
    identity = key.removeprefix(MEMBER)
    joined = held.joined or entry.revision
    return Member(identity, entry.revision, joined, held.name), held


def _lease_of(entry: Entry) -> tuple[Lease, PartitionKey]:
    """Return a lease as the key of its partition says it."""
    held = msgspec.json.decode(entry.value, type=PartitionKey)
    return Lease(held.owner, held.term, entry.revision), held


def view_of(entries: Mapping[str, Entry]) -> View:
    """Return the members that are there, and the leases."""
    members = [
        member_of(key, each)[0]
        for key, each in entries.items()
        if key.startswith(MEMBER) and each.value
    ]
    leases = {
        int(key.removeprefix(PARTITION)): _lease_of(each)[0]
        for key, each in entries.items()
        if key.startswith(PARTITION) and each.value
    }
    return View({each.id: each for each in members}, leases)
