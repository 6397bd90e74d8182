"""What the sensor says of a change between two observations."""

from itertools import pairwise
from typing import Any

import pytest

from packs.survival.sensor import events
from schemas.messages.sensing import Sensed
from tests.packs.survival.scenes import scene


def told(before: dict[str, Any], now: dict[str, Any]) -> list[Sensed]:
    """The events between two scenes."""
    return list(events.observe(scene(**before), scene(**now)))


def test_nothing_new_is_not_told() -> None:
    """Two equal moments make no event."""
    assert told({}, {"step": 1}) == []


@pytest.mark.parametrize(
    ("before", "now", "is_told"),
    [(6, 5, True), (5, 4, False), (4, 3, True), (3, 2, True), (8, 7, False)],
)
def test_vitals_are_told_at_thresholds(before: int, now: int, is_told: bool) -> None:
    """A vital that falls is told at 5, 3, 2, 1 and 0 only."""
    found = told({"vitals": {"drink": before}}, {"vitals": {"drink": now}})

    assert [event.fields for event in found] == [
        {"vital": "drink", "value": now, "previous": before}
    ] * is_told


def test_a_vital_that_recovers_is_told_as_restored() -> None:
    """Rising to 7 says that it is restored, in the words of the outcome patterns."""
    (event,) = told({"vitals": {"food": 3}}, {"vitals": {"food": 9}})

    assert event.text == "Your food is restored to 9 of 9."


def test_a_zombie_is_told_when_noticed_close_and_gone() -> None:
    """One creature makes three events, and none while nothing changes."""
    far: dict[str, Any] = {"creatures": {"zombie": (-4, 0)}}
    near: dict[str, Any] = {"creatures": {"zombie": (-2, 0)}}

    assert [event.type for event in told({}, far)] == ["creature_appeared"]
    assert [event.type for event in told(far, near)] == ["creature_near"]
    assert told(near, near) == []
    assert [event.text for event in told(near, {})] == [
        "The zombie is gone, last seen to the west."
    ]


def test_a_creature_tells_where_it_is() -> None:
    """Distance and direction stand in the text and in the fields."""
    (event,) = told({}, {"creatures": {"zombie": (-3, 0)}})

    assert event.text == "A zombie is 3 steps to the west."
    assert event.fields["distance"] == 3
    assert event.fields["direction"] == "west"


def test_a_defeated_zombie_is_not_gone() -> None:
    """The kill is told as a kill."""
    found = told(
        {"creatures": {"zombie": (0, 1)}}, {"achievements": {"defeat_zombie": 1}}
    )

    assert found[0].text == "The zombie is defeated."
    assert "creature_left" not in [event.type for event in found]


def test_damage_names_the_attacker_that_is_near() -> None:
    """Health lost beside a zombie was lost to it, and is a threat."""
    beside: dict[str, Any] = {"creatures": {"zombie": (0, 1)}}
    found = told(beside, beside | {"vitals": {"health": 7}})

    (damage,) = [event for event in found if event.type == "damage_taken"]
    assert damage.fields == {"amount": 2, "health": 7, "cause": "zombie"}
    assert damage.salience["threat"] >= 0.8


def test_an_arrow_that_hit_is_blamed_although_it_is_gone() -> None:
    """The cause is sought in the moment before as well."""
    found = told({"creatures": {"arrow": (0, 1)}}, {"vitals": {"health": 7}})

    assert found[0].fields["cause"] == "arrow"


def test_damage_without_an_attacker_comes_from_an_empty_vital() -> None:
    """One health lost with nothing to drink is thirst."""
    dry = {"drink": 0}
    found = told({"vitals": dry}, {"vitals": dry | {"health": 8}})

    assert found[0].fields["cause"] == "thirst"


def test_death_is_told_once_and_names_no_creature() -> None:
    """The next life must not earn or cost credit for advice on the last."""
    beside: dict[str, Any] = {"creatures": {"zombie": (0, 1)}, "vitals": {"health": 1}}
    dead: dict[str, Any] = beside | {"vitals": {"health": 0}, "alive": False}

    (death,) = told(beside, dead)
    assert death.text == "The player died in combat. The first life is over."
    assert told(dead, dead) == []


def test_items_are_told_when_they_make_something_possible() -> None:
    """The third piece of wood is not news."""
    counts = [
        event.fields["count"]
        for wood in range(5)
        for event in told(
            {"inventory": {"wood": wood}}, {"inventory": {"wood": wood + 1}}
        )
    ]

    assert counts == [1, 2, 4]


def test_an_achievement_is_told_the_first_time() -> None:
    """Reaching it again is not news."""
    first = told({}, {"achievements": {"eat_cow": 1}})
    again = told({"achievements": {"eat_cow": 1}}, {"achievements": {"eat_cow": 2}})

    assert [event.text for event in first] == ["Achievement unlocked: you ate a cow."]
    assert again == []


def test_the_light_is_told_at_its_four_turns() -> None:
    """Dusk, night, dawn and day, and nothing in between."""
    light = [0.9, 0.7, 0.5, 0.4, 0.2, 0.1, 0.35, 0.65]
    turns = [
        event.fields["turn"]
        for one, other in pairwise(light)
        for event in told({"daylight": one}, {"daylight": other})
    ]

    assert turns == ["dusk", "night", "dawn", "day"]


def test_sleep_is_told_at_both_ends() -> None:
    """Falling asleep is information; being woken by an attack is not."""
    asleep: dict[str, Any] = {"sleeping": True}
    (started,) = told({}, asleep)
    ended = told(asleep, {"vitals": {"health": 6}})[-1]

    assert started.intent == "informational"
    assert ended.type == "sleep_ended"
    assert ended.fields["hurt"] is True
