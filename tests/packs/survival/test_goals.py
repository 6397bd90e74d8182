"""How the player goes about what it is advised to do."""

import pytest

from packs.survival.sensor import goals, routes
from packs.survival.sensor.ends import End, Goal
from packs.survival.sensor.shelter import shelter
from tests.packs.survival.scenes import scene


def end_of(goal: Goal) -> End:
    """The end of a goal that asks for no action."""
    try:
        action = next(goal)
    except StopIteration as stop:
        end: End = stop.value
        return end
    raise AssertionError(f"asked for {action!r} instead of ending")


def test_the_way_leads_around_obstacles() -> None:
    """What is in the way is walked around, and lava is never stepped on."""
    see = scene("""
.....
.LT~.
..@t.
.###.
""")

    assert routes.use(see, see.chart.find("water")) == "move_left"
    assert routes.use(see, see.chart.find("table")) == "move_right"
    assert routes.use(see, see.chart.find("tree")) == "move_up"


def test_what_is_faced_is_used() -> None:
    """Standing before a tree, the next action is to fell it."""
    see = scene("T@", facing=(-1, 0))

    assert routes.use(see, see.chart.find("tree")) == "do"


def test_the_unknown_is_explored_from_its_nearest_edge() -> None:
    """Of two edges of the map the nearer one comes first."""
    see = scene("#######\n..@.. #\n#######")

    assert routes.explore(see) == "move_left"


def test_a_drinker_drinks_until_full() -> None:
    """The goal ends when the vital is full, and not before."""
    goal = goals.drink(scene("~@", vitals={"drink": 8}, facing=(-1, 0)))

    assert next(goal) == "do"
    with pytest.raises(StopIteration) as stopped:
        goal.send(scene("~@", vitals={"drink": 9}, facing=(-1, 0)))
    assert stopped.value.value.outcome == "succeeded"


def test_a_player_who_is_not_tired_cannot_sleep() -> None:
    """The game would ignore it, so the advice has failed."""
    assert end_of(goals.sleep(scene())).outcome == "failed"


def test_stone_needs_a_pickaxe() -> None:
    """What cannot be done fails at once, with its reason."""
    end = end_of(goals.gather(scene("@#"), "stone", 1))

    assert end == End("failed", "no wood pickaxe to collect stone with")


def test_a_retreat_runs_from_the_nearest_danger() -> None:
    """With a zombie to the east the player runs west."""
    field = "\n".join(["....", "..@.", "...."])
    see = scene(field, creatures={"zombie": (1, 0)})

    assert next(goals.retreat(see)) == "move_left"


def test_nobody_to_fight_is_no_failure() -> None:
    """The threat went by itself: the advice is cancelled."""
    assert end_of(goals.fight(scene(), "zombie")).outcome == "cancelled"


def test_a_shelter_is_dug_and_closed() -> None:
    """Two cells into the stone, one step back, and a stone in the way in."""
    rock = "\n".join(["#####", "@####", "#####"])
    see = scene(rock, inventory={"wood_pickaxe": 1})
    goal = shelter(see)

    actions = [next(goal)] + [goal.send(see) for _ in range(6)]
    assert actions == [
        "move_right", "do", "move_right", "do", "move_right", "move_left", "place_stone"
    ]  # fmt: skip


def test_an_unknown_action_is_no_goal() -> None:
    """Advice that the player does not understand is not tried."""
    assert goals.begin(scene(), "sing", "song", 1) is None
    assert goals.begin(scene(), "make", "trouble", 1) is None
