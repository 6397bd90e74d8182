"""Who holds which partition: it converges whatever comes and goes, with the fewest moves."""

import random
from dataclasses import replace

import pytest

from handlers.worker.leases import rules
from handlers.worker.leases.rules import (
    RENEW_S,
    STILL_S,
    STOP_S,
    Lease,
    Member,
    Stillness,
    Term,
    View,
)
from schemas.values.subjects import ALL_PARTITIONS, PARTITIONS

NOBODY = View({}, {})


class Registry:
    """The keys as the broker has them: one value each, written by compare-and-set."""

    def __init__(self) -> None:
        self.view = NOBODY
        self.revision = 0
        self.moves = 0

    def join(self, name: str) -> None:
        """A member's key is made."""
        self.revision += 1
        member = Member(name, self.revision, self.revision)
        self.view = replace(self.view, members={**self.view.members, name: member})

    def go(self, name: str) -> None:
        """A member's key is taken away, by itself or by whoever found it silent."""
        members = {k: v for k, v in self.view.members.items() if k != name}
        self.view = replace(self.view, members=members)

    def set(self, seen: View, partition: int, owner: str | None) -> bool:
        """Write a lease as somebody does who has seen `seen`; tell whether it was stored."""
        before = seen.leases.get(partition, Lease(None, 0, 0))
        now = self.view.leases.get(partition, Lease(None, 0, 0))
        if before.revision != now.revision:
            return False
        self.revision += 1
        self.moves += owner is not None
        lease = Lease(owner, now.term + (owner is not None), self.revision)
        leases = {**self.view.leases, partition: lease}
        self.view = replace(self.view, leases=leases)
        return True

    def act(self, name: str, seen: View) -> bool:
        """Let a member do one thing by what it has seen; tell whether it had anything to."""
        take = rules.to_take(seen, name)
        give = rules.to_hand_over(seen, name)
        if take:
            self.set(seen, take[0], name)
        elif give:
            self.set(seen, give[-1], None)
        return bool(take or give)

    def rest(self, chance: random.Random) -> None:
        """Let the members act, in any order, by views that may be old, until none has to."""
        seen = dict.fromkeys(self.view.members, self.view)
        for _ in range(10_000):
            if not any(self.has_to(each) for each in self.view.members):
                return
            name = chance.choice([*self.view.members])
            if chance.random() < 0.5:
                seen[name] = self.view
            self.act(name, seen[name])
        raise AssertionError("it does not come to rest")

    def has_to(self, name: str) -> bool:
        """Whether a member that sees all as it is has something to do."""
        seen = self.view
        return bool(rules.to_take(seen, name) or rules.to_hand_over(seen, name))

    def sizes(self) -> list[int]:
        """How many partitions each member holds."""
        return sorted(len(rules.held(self.view, each)) for each in self.view.members)


def least(members: int) -> list[int]:
    """The fair sizes."""
    whole, over = divmod(PARTITIONS, members)
    return sorted(whole + (each < over) for each in range(members))


@pytest.mark.parametrize("seed", range(12))
def test_each_change_is_followed_by_fair_shares_with_the_fewest_moves(
    seed: int,
) -> None:
    """Who joins gets its share and who goes leaves its own; nothing else moves."""
    chance, registry = random.Random(seed), Registry()
    registry.join("m0")
    registry.rest(chance)
    for number in range(1, 30):
        members, moves = [*registry.view.members], registry.moves
        if len(members) == 1 or (len(members) < 20 and chance.random() < 0.55):
            registry.join(f"m{number}")
            registry.rest(chance)
            needed = len(rules.held(registry.view, f"m{number}"))
        else:
            gone = chance.choice(members)
            needed = len(rules.held(registry.view, gone))
            registry.go(gone)
            registry.rest(chance)
        assert registry.sizes() == least(len(registry.view.members))
        assert registry.moves - moves == needed


@pytest.mark.parametrize("seed", range(12))
def test_many_changes_at_once_come_to_rest(seed: int) -> None:
    """Members come and go while partitions move; in the end each partition has one owner."""
    chance, registry = random.Random(seed), Registry()
    registry.join("m0")
    for number in range(1, 60):
        members = [*registry.view.members]
        if len(members) < 2 or chance.random() < 0.6:
            registry.join(f"m{number}")
        else:
            registry.go(chance.choice(members))
        for name in chance.choices([*registry.view.members], k=chance.randrange(6)):
            registry.act(name, registry.view)
    registry.rest(chance)
    assert registry.sizes() == least(len(registry.view.members))
    owned = [p for m in registry.view.members for p in rules.held(registry.view, m)]
    assert sorted(owned) == list(ALL_PARTITIONS)


def test_two_that_see_the_same_do_not_try_the_same() -> None:
    """Free partitions are dealt: nobody waits for another's refusal."""
    registry = Registry()
    for name in ("a", "b", "c"):
        registry.join(name)
    taken = [p for each in "abc" for p in rules.to_take(registry.view, each)]
    assert sorted(taken) == list(ALL_PARTITIONS)


def test_who_takes_no_part_has_nothing_to_do() -> None:
    """A member whose key is gone takes nothing, and there is nothing to hand over."""
    registry = Registry()
    registry.join("a")
    assert rules.to_take(registry.view, "b") == []
    assert rules.to_hand_over(registry.view, "b") == []
    assert rules.to_take(NOBODY, "a") == []
    assert rules.shares(NOBODY) == {}


def seen(revision: int) -> View:
    """One other member whose key has a revision."""
    return View({"other": Member("other", revision, 1)}, {})


def test_a_key_that_stands_still_is_noticed_by_the_own_clock() -> None:
    """Six seconds after it was last seen to move, and not a moment earlier."""
    stillness = Stillness()
    at = 0.0
    while at < STILL_S:
        assert stillness.silent(seen(7), at) == []
        at += 0.5
    assert [each.id for each in stillness.silent(seen(7), at)] == ["other"]
    assert stillness.silent(seen(8), at + 0.5) == []


def test_time_in_which_nothing_was_seen_counts_for_nobody() -> None:
    """Who was stopped, or cut off from the broker, does not bury those who were as well."""
    stillness = Stillness()
    stillness.silent(seen(7), 0.0)
    later = 10 * STILL_S
    assert stillness.silent(seen(7), later) == []
    assert stillness.silent(seen(7), later + RENEW_S) == []


def test_a_term_lapses_before_others_may_take_what_was_held() -> None:
    """It counts from when a renewal was asked for; an older one takes nothing back."""
    term = Term(0.0)
    assert not term.lapsed(STOP_S - 0.001)
    assert term.lapsed(STOP_S)
    term.renewed(3.0)
    term.renewed(1.0)
    assert not term.lapsed(3.0 + STOP_S - 0.001)
    assert term.lapsed(3.0 + STOP_S)
    assert STOP_S < STILL_S
    term.end()
    term.renewed(9.0)
    assert term.lapsed(3.0)
