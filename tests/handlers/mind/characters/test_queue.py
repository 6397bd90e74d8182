"""The queue: plans are worked off without a model, whatever comes between."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.characters import TASKS, PlannedBuild, PlanSet, PlanTask
from schemas.messages.decisions import Decided
from schemas.messages.notes import ControlInferred
from schemas.packs.tactics import Building
from tests.handlers.mind.characters.worksite import Worksite, site, verdict
from tests.scenario import one, said

TENT = {"building": "tent"}


def working(site_: Worksite, **plan: Any) -> Any:
    """Report a body, and set a plan; return the turn at which it begins."""
    site_.report()
    site_.plans(**plan)
    return site_.tick()


def test_a_tent_is_gathered_for_made_and_built() -> None:
    """Nothing is there: the most-missing first, what is made of others last, then the tent."""
    world = site()
    turn = working(world, builds=[TENT])
    decided = one(turn, Decided)
    assert (decided.layer, decided.path, decided.arm) == (
        "queue",
        "queue",
        "queue:gather",
    )
    assert decided.probability == 1.0
    assert verdict(decided, "queue") == ("acts", "tent")

    world.run(turn)
    assert world.deeds == [
        "gather 10 plant_fiber for tent",
        "craft 10 cloth for tent",
        "gather 5 wood for tent",
        "build tent for tent",
    ]
    assert world.buildings == {"tent": 1}
    assert world.plan.builds == ()
    assert [each.what for each in world.plan.finished] == ["build tent"]


def test_when_nothing_is_missing_it_builds() -> None:
    """What lies in the stockpile counts as what is carried does."""
    world = site({"wood": 5, "cloth": 10})
    working(world, builds=[TENT])
    assert world.deeds == ["build tent for tent"]


def test_of_equally_missing_things_the_nearest_comes_first() -> None:
    """And the nearest thing that has it is named to the world."""
    world = site(
        tactics={"buildings": {"hut": {"costs": {"wood": 5, "stone": 5, "clay": 5}}}}
    )
    near = [
        {"item": "clay", "id": "pit", "distance": 30},
        {"item": "stone", "id": "rock-far", "distance": 9},
        {"item": "stone", "id": "rock", "distance": 4.5},
        {"item": "wood", "id": "oak", "distance": "far"},
        "junk",
        {"item": "stone"},
    ]
    world.report(near=near)
    world.plans(builds=[{"building": "hut"}])
    turn = world.tick()
    action = one(turn, DeliveryAsked).action
    assert action is not None
    assert (action.target, action.params["object"]) == ("stone", "rock")


def test_builds_go_high_normal_low() -> None:
    """In the order of their priority, and else as they were planned."""
    world = site({"wood": 100, "stone": 100, "cloth": 100, "plant_fiber": 100})
    builds = [
        {"building": "bed", "priority": "low"},
        {"building": "tent", "priority": "normal"},
        {"building": "campfire", "priority": "high"},
        {"building": "storage-chest", "priority": "normal"},
    ]
    world.run(working(world, builds=builds))
    assert [each.split()[1] for each in world.deeds] == [
        "campfire",
        "tent",
        "storage-chest",
        "bed",
    ]


def test_the_queue_runs_in_order_with_repeats() -> None:
    """Each entry as often as it says; the last one ends it."""
    world = site()
    turn = working(
        world,
        tasks=[
            {"type": "gather", "target": "wood", "amount": 8, "times": 2},
            {"type": "go_to", "target": "river"},
        ],
    )
    assert verdict(one(turn, Decided), "queue") == ("acts", "task 1 of 2")
    world.run(turn)
    assert world.deeds == [
        "gather 8 wood",
        "deposit_items wood",
        "gather 8 wood",
        "deposit_items wood",
        "go_to river",
    ]
    assert world.stockpile == {"wood": 16}
    assert world.plan.tasks == ()
    assert [each.what for each in world.plan.finished] == [
        "gather 8 wood",
        "gather 8 wood",
        "go_to river",
    ]


def test_a_large_amount_is_brought_a_load_at_a_time() -> None:
    """A world that brings less than was asked for is asked again."""
    world = site()
    turn = working(world, tasks=[{"type": "gather", "target": "wood", "amount": 50}])
    turn = world.do(turn, amount=15)
    assert world.plan.task.done == 15
    turn = world.do(turn)
    assert world.deeds[-1] == "deposit_items wood"
    world.run(turn)
    assert world.plan.tasks == ()
    # 15, then 20, put down, then 15 and the rest put down.
    assert world.deeds == [
        "gather 20 wood",
        "gather 20 wood",
        "deposit_items wood",
        "gather 15 wood",
        "deposit_items wood",
    ]


def test_crafting_brings_what_it_takes_first() -> None:
    """A recipe that makes four at once is not done more often than needed."""
    world = site()
    world.run(
        working(world, tasks=[{"type": "craft", "target": "wood_plank", "amount": 10}])
    )
    assert world.deeds == ["gather 6 wood", "craft 10 wood_plank"]


def test_a_reflex_pauses_it_and_it_resumes_at_the_same_entry() -> None:
    """Hungry in the middle of the second entry: it eats, and goes on with the second."""
    world = site()
    tasks = [
        {"type": "go_to", "target": "river"},
        {"type": "gather", "target": "wood", "amount": 20},
        {"type": "go_to", "target": "home"},
    ]
    turn = world.do(working(world, tasks=tasks))
    assert world.deeds[-1] == "gather 20 wood"
    gathering = world.decision_id
    hungry = world.report(hunger=0.2)
    assert one(hungry, Decided).arm == "reflex:hungry"
    assert verdict(one(hungry, Decided), "queue") == ("not_asked", None)
    # What the world says of the interrupted gathering is late, and ends nothing.
    late = world.report(hunger=0.2, in_reply_to=gathering, outcome="cancelled")
    assert verdict(one(late, Decided), "queue") == ("matters_less", "task 2 of 3")
    turn = world.report(
        hunger=1.0,
        in_reply_to=one(hungry, DeliveryAsked).decision_id,
        outcome="succeeded",
    )
    assert verdict(one(turn, Decided), "queue") == ("acts", "task 2 of 3")
    assert world.deeds[-1] == "gather 20 wood"
    world.run(turn)
    assert world.plan.tasks == ()


def test_it_takes_the_place_of_wandering_only() -> None:
    """Planned work runs in idle, wander, talk, follow and explore."""
    bored = {"name": "bored", "when": "idle_s >= 1", "behaviour": "wander"}
    world = site(reflexes=[bored])
    world.report()
    assert one(world.tick(), Decided).arm == "reflex:bored"
    world.plans(builds=[TENT])
    turn = world.tick()
    assert one(turn, Decided).layer == "queue"
    assert "in place of wander" in one(turn, Decided).layers[1].why  # type: ignore[index]

    world = site(reflexes=[{**bored, "behaviour": "seek_food"}])
    world.report()
    world.tick()
    world.plans(builds=[TENT])
    assert said(world.tick(), Decided) == []


def test_a_full_inventory_is_put_down_and_then_it_goes_on() -> None:
    """Putting down belongs to the entry, which stays where it was."""
    world = site()
    world.report(inventory_full=True)
    world.plans(builds=[TENT])
    turn = world.tick()
    assert world.deeds == ["deposit_items for tent"]
    world.run(world.do(turn, inventory_full=False))
    assert world.buildings == {"tent": 1}


@pytest.mark.parametrize(
    ("builds", "fields", "why"),
    [
        ([{"building": "castle"}], {}, "castle: nobody knows how to build it"),
        (
            [{"building": "storage-chest"}],
            {"buildings": {"storage-chest": 2}},
            "storage-chest: 2 stand, and 2 may",
        ),
        (
            [{"building": "campfire"}],
            {"buildings": {"campfire": 2}, "villagers": 3},
            "campfire: 2 stand, and 2 may",
        ),
    ],
)
def test_what_cannot_be_built_goes_with_its_reason(
    builds: list[Any], fields: dict[str, Any], why: str
) -> None:
    """The rest stays planned."""
    world = site()
    world.report(**fields)
    world.plans(builds=[*builds, TENT])
    turn = world.tick()
    assert why in one(turn, ControlInferred).after
    assert one(turn, ControlInferred).by == "rule"
    assert [each.building for each in world.plan.builds] == ["tent"]


def test_limits_follow_how_many_live_there() -> None:
    """Half a one for each, rounded up, and ten at most, as the source's code has it."""
    some = Building(per_head=0.5, limit=10)
    assert [some.most(heads) for heads in (None, 1, 2, 3, 9, 40)] == [
        10,
        1,
        1,
        2,
        5,
        10,
    ]


def test_what_fails_is_skipped_and_a_build_is_given_up_after_three() -> None:
    """An entry once, a build after three failures in a row, each with the reason."""
    world = site()
    tasks = [{"type": "go_to", "target": "moon"}, {"type": "go_to", "target": "river"}]
    working(world, tasks=tasks, builds=[TENT])
    turn = world.fails()
    assert world.deeds[-1] == "go_to river"
    assert [(each.what, each.outcome) for each in world.plan.finished] == [
        ("go_to moon", "failed")
    ]
    turn = world.do(turn)
    for _ in range(3):
        turn = world.fails()
    assert "tent: 3 steps failed" in one(turn, ControlInferred).after
    assert world.plan.builds == ()
    assert one(turn, Decided).silence == "nothing_due"


def test_what_nobody_ends_is_over_after_five_minutes() -> None:
    """The next entry begins by itself."""
    world = site()
    tasks = [{"type": "go_to", "target": "moon"}, {"type": "go_to", "target": "river"}]
    turn = working(world, tasks=tasks)
    due = one(turn, WakeupSet).due_at
    assert due is not None
    assert (due - world.scenario.at).total_seconds() == 300
    assert said(world.tick(299), Decided) == []
    assert one(world.tick(1), Decided).layer == "queue"
    assert world.deeds[-1] == "go_to river"
    assert world.plan.finished[-1].outcome == "timed out"


def test_a_new_plan_leaves_what_is_done_and_planned_alone() -> None:
    """Only what is no longer planned is interrupted."""
    world = site()
    first = {"type": "go_to", "target": "river"}
    working(world, tasks=[first])
    doing = world.scenario.mind.character.doing
    world.plans(tasks=[first, {"type": "go_to", "target": "home"}])
    assert world.scenario.mind.character.doing == doing
    world.plans(tasks=[{"type": "go_to", "target": "home"}])
    assert world.scenario.mind.character.doing is None
    world.tick()
    assert world.deeds == ["go_to river", "go_to home"]


def test_a_queue_is_bounded() -> None:
    """The twenty-first entry is refused."""
    task = PlanTask(type="gather")
    assert PlanSet(tasks=(task,) * TASKS).tasks is not None
    with pytest.raises(ValidationError):
        PlanSet(tasks=(task,) * (TASKS + 1)).checked()
    with pytest.raises(ValidationError):
        PlanSet(builds=(PlannedBuild(building="tent"),) * (TASKS + 1)).checked()


def test_odd_worlds_stop_nobody() -> None:
    """Amounts that are none, reports of nothing brought, stocks that are lists."""
    world = site()
    world.report(inventory=["wood"], stockpile="much", near={"wood": 3}, buildings=7)
    world.plans(
        tasks=[{"type": "gather", "target": "wood", "amount": 5}], builds=[TENT]
    )
    turn = world.tick()
    turn = world.do(turn, amount=0)
    assert world.plan.finished[-1].outcome == "brought nothing"
    turn = world.do(turn, amount="lots", inventory={"wood": True, "cloth": 1e300})
    world.report(inventory={"wood": -5, "plant_fiber": None})
    assert world.plan.builds[0].building == "tent"


def test_nothing_planned_costs_nothing() -> None:
    """No wake-up and no message, however long it takes."""
    world = site()
    turn = world.report()
    assert said(turn, WakeupSet) == []
    assert verdict(one(turn, Decided), "queue") == ("nothing_due", None)
