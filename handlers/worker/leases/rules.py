"""Who holds which partition, when one is taken and when handed over: rules, without I/O.

Shares follow from who takes part alone, in the order in which they joined, so that all
members compute the same and no half-done change moves a partition twice. With one member
more or less no partition moves but those that have to.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.values.subjects import ALL_PARTITIONS

RENEW_S = 2.0
"""Seconds between two renewals of a member's key (design, "Leases")."""

STOP_S = 4.0
"""Seconds without a renewal after which a member decides nothing more."""

STILL_S = 6.0
"""Seconds for which another's key must stand still until its partitions are taken; longer
than `STOP_S`, so that it has stopped by then."""


MOVED_AT_ONCE = 2
"""How many partitions wait for their next owner at most, where the last one could go on, and
how many a member takes up at once: each waits only for its own fold."""


@dataclass(frozen=True, slots=True)
class Member:
    """A worker process that takes part; it is there for as long as its key is."""

    id: str
    revision: int
    """Of its key: it changes with each renewal."""
    joined: int
    """The first revision of its key: the order of joining."""
    name: str = ""
    """What people know it by."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who owns a partition, as its key says."""

    owner: str | None
    """The id of a member; None: it was handed over, and nobody has taken it."""
    term: int
    """How often it was taken so far."""
    revision: int
    """Of its key."""


@dataclass(frozen=True, slots=True)
class View:
    """The members and leases that a member knows of."""

    members: Mapping[str, Member]
    leases: Mapping[int, Lease]
    """By partition; one that was never taken has none."""

    def owner(self, partition: int) -> str | None:
        """Return the member that owns a partition; None if none that is there does."""
        lease = self.leases.get(partition)
        return lease.owner if lease and lease.owner in self.members else None


def shares(view: View) -> dict[str, int]:
    """Return how many partitions each member is to hold; they differ by one at most."""
    members = sorted(view.members.values(), key=lambda each: (each.joined, each.id))
    if not members:
        return {}
    least, over = divmod(len(ALL_PARTITIONS), len(members))
    # The earliest have one more. Who joins is last, so nobody's share grows by it; and who
    # leaves makes nobody's share smaller.
    return {each.id: least + (at < over) for at, each in enumerate(members)}


def held(view: View, member: str) -> list[int]:
    """Return the partitions that a member owns."""
    return [each for each in ALL_PARTITIONS if view.owner(each) == member]


def free(view: View) -> list[int]:
    """Return the partitions that nobody owns."""
    return [each for each in ALL_PARTITIONS if view.owner(each) is None]


def to_hand_over(view: View, member: str) -> list[int]:
    """Return the partitions that a member is to hand over now, of those it has too many."""
    own = held(view, member)
    over = own[shares(view).get(member, len(own)) :]
    return over[: max(MOVED_AT_ONCE - len(free(view)), 0)]


def to_take(view: View, member: str) -> list[int]:
    """Return the free partitions that a member is to take.

    They are dealt to all that have too few, so that two members seldom try the same one.
    """
    lacking = {
        each: share - len(held(view, each)) for each, share in shares(view).items()
    }
    rounds = range(max(lacking.values(), default=0))
    takers = [each for turn in rounds for each in lacking if lacking[each] > turn]
    # Not strict: where some are still to be handed over, there are more takers than free.
    dealt = zip(free(view), takers, strict=False)
    return [partition for partition, taker in dealt if taker == member]


class Stillness:
    """How long the keys of the other members have stood still, by a clock of one's own."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self._moved: dict[str, tuple[int, float]] = {}
        """The revision of each member, and since when it is known, in seconds."""
        self._looked: float | None = None

    def silent(self, view: View, now: float) -> list[Member]:
        """Return the members whose keys have stood still for too long.

        Time in which this member saw nothing, cut off or stopped, counts for nobody.
        """
        if self._looked is not None and now - self._looked > RENEW_S:
            self._moved.clear()
        self._looked = now
        for each in view.members.values():
            if self._moved.get(each.id, (None, now))[0] != each.revision:
                self._moved[each.id] = each.revision, now
        self._moved = {each: self._moved[each] for each in sorted(view.members)}
        return [
            each
            for each in view.members.values()
            if now - self._moved[each.id][1] >= STILL_S
        ]


class Term:
    """How long a member may go on deciding: until it lapses, or is ended for good."""

    def __init__(self, renewed: float) -> None:
        """Begin with a renewal that was asked for at a time, in seconds."""
        self._until = renewed + STOP_S
        self.is_over = False
        """Whether others took what it held; it can only join again as another member."""

    def renewed(self, asked: float) -> None:
        """Go on: a renewal that was asked for at a time has been stored."""
        # From when it was asked: it may have been stored at once, and been seen by others.
        self._until = max(self._until, asked + STOP_S)

    def end(self) -> None:
        """End it: its key is gone."""
        self.is_over = True

    def lapsed(self, now: float) -> bool:
        """Tell whether nothing may be decided now."""
        return self.is_over or now >= self._until
