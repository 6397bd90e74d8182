"""What only one of several instances may do at a time."""

from contextlib import suppress

import pytest

from streams.jetstream.one_instance import FORGOTTEN_S, OneInstance
from streams.jetstream.owners import OwnerBucket
from tests.servers import Broker

pytestmark = pytest.mark.services


@pytest.fixture
async def shared(broker: Broker) -> Broker:
    """A broker whose log may have several instances."""
    await OwnerBucket(broker.client).prepare()
    return broker


async def test_one_has_its_turn_and_then_the_next(shared: Broker) -> None:
    """Who finds it taken does not wait; after an end, even by an error, it is free."""
    first, second = (OneInstance(shared.client, "work") for _ in range(2))

    with suppress(ValueError):
        async with first.turn() as mine, second.turn() as theirs:
            assert (mine, theirs) == (True, False)
            raise ValueError
    async with second.turn() as theirs, first.turn() as mine:
        assert (mine, theirs) == (False, True)


async def test_two_that_ask_for_different_things_both_may(shared: Broker) -> None:
    """A turn is of a key."""
    first, second = (OneInstance(shared.client, each) for each in ("work", "rest"))

    async with first.turn() as mine, second.turn() as theirs:
        assert mine
        assert theirs


async def test_an_instance_that_died_in_its_turn_is_forgotten(shared: Broker) -> None:
    """Its key holds nobody up for longer than that."""
    now = 100.0
    await OwnerBucket(shared.client).write("work", b"1", 0)
    other = OneInstance(shared.client, "work", lambda: now)

    async with other.turn() as at_first:
        pass
    now += FORGOTTEN_S - 1
    async with other.turn() as soon:
        pass
    now += 1
    async with other.turn() as later:
        pass

    assert (at_first, soon, later) == (False, False, True)


async def test_a_log_without_owners_has_one_instance(broker: Broker) -> None:
    """It may always, and nothing is written for it."""
    async with OneInstance(broker.client, "work").turn() as may:
        assert may
    assert not await OwnerBucket(broker.client).exists()
