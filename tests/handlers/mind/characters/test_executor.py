"""The executor by the examples of the source design: what it is told, and what it plans."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.characters import PlanTask
from schemas.messages.decisions import Completed, Decided
from schemas.messages.notes import ControlInferred
from schemas.packs.layers import Tool
from tests.handlers.mind.characters.planners import (
    ARIA_PLANS,
    EXECUTOR,
    aimed,
    asked,
    site,
)
from tests.handlers.mind.characters.worksite import pack, reply, verdict
from tests.scenario import one, said


def test_aria_plans_a_home() -> None:
    """The source design's example: a tent, a chest, cloth and priorities, and it is built."""
    world = site({"wood": 45, "stone": 20, "plant_fiber": 15})
    world.report()
    aimed(world, "Build a cozy home", building=0.9, gathering=0.5, social=0.3)
    turn = world.tick()
    decided, ask = one(turn, Decided), one(turn, ModelAsked)
    assert (decided.layer, decided.final, decided.path) == ("executor", False, "llm")
    assert decided.arm.startswith("executor:llm:")
    assert verdict(decided, "executor") == ("acts", "goals_changed")
    assert (ask.purpose, ask.reason, ask.priority) == ("executor", "goals_changed", 3.0)
    assert "You are aria, a creative villager." in ask.system

    turn = reply(world.scenario, turn, ARIA_PLANS)
    assert one(turn, Completed).left_out is None
    assert [each.by for each in said(turn, ControlInferred)] == ["executor", "executor"]
    character = world.scenario.mind.character
    assert dict(character.priorities) == {
        "building": 0.9,
        "gathering": 0.6,
        "social": 0.3,
    }
    assert [(each.building, each.priority) for each in world.plan.builds] == [
        ("tent", "high"),
        ("storage-chest", "normal"),
    ]
    assert world.plan.tasks == (PlanTask(type="craft", target="cloth", amount=20),)

    # Nobody is asked again: five more fibres are gathered, and all of it is made and built.
    world.run(world.tick())
    assert world.deeds == [
        "gather 5 plant_fiber",
        "craft 20 cloth",
        "build tent for tent",
        "build storage-chest for storage-chest",
    ]
    assert world.buildings == {"tent": 1, "storage-chest": 1}
    assert world.stockpile["wood"] == 30


def test_its_prompt_tells_what_it_may_know_and_no_more() -> None:
    """The seven things of the source design are in; costs, steps and talk are not."""
    world = site({"wood": 45, "stone": 20, "plant_fiber": 15})
    urge: Any = {"urge": "to leave something behind", "heard": "Luna: hello!"}
    world.report(**urge)
    aimed(world, "Build a cozy home", building=0.9, gathering=0.5)
    reply(world.scenario, world.tick(), ARIA_PLANS)
    world.run(world.tick())
    aimed(world, "Build a bed", building=0.8)
    world.plans(builds=[{"building": "bed", "reason": "to sleep"}])
    world.scenario.wait(1)
    world.report(**urge)
    prompts = [
        each.message
        for turn in world.scenario.turns
        for each in turn.outputs
        if isinstance(each.message, ModelAsked)
    ]
    last = prompts[-1].prompt
    for told in (
        "Current goals",
        "Build a bed",
        "Priorities: building: 80",
        "An urge",
        "to leave something behind",
        "Village stockpile",
        "- wood: 30",
        "Planned builds",
        "to sleep",
        "cloth (from plant_fiber)",
        "Available buildings: bed, campfire, storage-chest, tent",
        "Done lately",
        "craft 20 cloth",
        "succeeded",
        "as what you are after has changed",
    ):
        assert told in last, told
    for each in prompts:
        whole = each.system + each.prompt
        for untold in ("Luna", "talk", "follow_agent", "meeting", "10 cloth", "5 wood"):
            assert untold not in whole, untold
        assert "building costs" not in whole


def test_goals_change_and_the_executor_comes_a_tick_later() -> None:
    """The trace of the source design: never on the talker's tick, on the next one."""
    talker = {"tools": [{"name": "talk"}], "moderate_s": 300}
    world = site(layers=["reflex", "queue", "talker", "executor"], talker=talker)
    turn = world.report(inventory={"cloth": 10})
    assert one(turn, Decided).layer == "talker"
    assert verdict(one(turn, Decided), "executor") == ("not_asked", None)
    turn = reply(
        world.scenario,
        turn,
        {
            "thinking": "We need homes.",
            "goal": {"type": "personal", "description": "Build a village"},
            "priorities": {"building": 90, "gathering": 50},
        },
    )
    assert said(turn, ModelAsked) == []
    assert world.scenario.mind.character.due == world.scenario.at + timedelta(seconds=1)
    turn = world.tick()
    assert one(turn, ModelAsked).reason == "goals_changed"
    assert "Build a village" in one(turn, ModelAsked).prompt
    told = [
        {"type": "plan_build", "building": "tent"},
        {"type": "gather", "target": "wood", "amount": 5},
        {"type": "gather", "target": "cloth", "amount": 10},
        {"type": "create_memory", "text": "We began our village."},
    ]
    reply(world.scenario, turn, {"thinking": "Tents first.", "action": told})
    assert one(world.tick(), DeliveryAsked).action.target == "wood"  # type: ignore[union-attr]
    assert world.deeds == ["gather 5 wood"]


def test_waking_up_hungry() -> None:
    """The trace of the source design, with the conversation as the world tells of it."""
    world = site(
        layers=["reflex", "queue", "talker", "executor"],
        talker={"tools": [{"name": "talk"}]},
        executor={"idle_s": 500},
    )
    sociable = {"extraversion": 0.7}
    # Tick 1000: hunger of 80 in the source's scale, which interrupts everything.
    turn = world.report(hunger=0.2, **sociable)
    assert one(turn, Decided).arm == "reflex:hungry"
    eating = world.decision_id
    # Tick 1200: nothing is critical; the talker talks.
    world.scenario.wait(0.5)
    turn = world.report(in_reply_to=eating, outcome="succeeded", hunger=0.8, **sociable)
    assert one(turn, Decided).layer == "talker"
    told = {
        "thinking": "I feel like company.",
        "speaking": "Hello!",
        "action": {"type": "talk", "target": "Luna"},
        "priorities": {"social": 80, "gathering": 20},
    }
    reply(world.scenario, turn, told)
    world.report(in_conversation=True, **sociable)
    # Tick 1400: the last call was 20 s ago, and it talks; the executor is busy talking.
    turn = world.tick(20)
    assert one(turn, Decided).layer == "talker"
    found = {"speaking": "I found some great berries earlier!"}
    turn = reply(world.scenario, turn, found)
    assert one(turn, Completed).text == "I found some great berries earlier!"
    turn = world.report(in_conversation=True, **sociable)
    assert verdict(one(turn, Decided), "executor") == ("nothing_due", None)
    # Tick 1600: the conversation is over, and the executor was never asked. The priorities
    # have changed as well, which goes before the talk that is over.
    turn = world.report(in_conversation=False, **sociable)
    ask = one(turn, ModelAsked)
    assert (ask.purpose, ask.reason) == ("executor", "goals_changed")
    assert "talk" in ask.prompt.partition("Done lately:")[2]
    berries = {"type": "gather", "target": "berries", "amount": 5}
    plan = [berries, berries, {"type": "deposit_items"}]
    reply(world.scenario, turn, {"thinking": "Berries.", "action": plan})
    world.run(world.tick())
    assert world.deeds[-5:] == [
        "gather 5 berries",
        "deposit_items berries",
        "gather 5 berries",
        "deposit_items berries",
        "deposit_items",
    ]


def test_three_stockpile_for_a_castle() -> None:
    """500 a turn, each asked again when it is done, until 50,000 lie there."""
    stockpile: dict[str, int] = {}
    sites = [
        site(stockpile, agent=name, tactics={"load": 500}, executor={"complete_s": 1})
        for name in ("aria", "luna", "kai")
    ]
    told = [
        {"type": "set_priorities", "priorities": {"gathering": 95, "building": 5}},
        {"type": "gather", "target": "wood", "amount": 500},
    ]
    turns = 0
    waiting = [asked(each, "Build a massive castle") for each in sites]
    while stockpile.get("wood", 0) < 50_000:
        each = sites[turns % 3]
        before = stockpile.get("wood", 0)
        reply(each.scenario, waiting[turns % 3], {"thinking": "More.", "action": told})
        each.run(each.tick())
        assert stockpile["wood"] - before == 500
        waiting[turns % 3] = each.tick()
        assert one(waiting[turns % 3], ModelAsked).reason == "task_complete"
        turns += 1
    assert turns == 100
    assert {each.split()[0] for each in sites[0].deeds} == {"gather", "deposit_items"}


def test_packs_that_cannot_work_are_refused() -> None:
    """Reflexes are no model's choice, and an executor needs a queue."""
    for name in ("wander", "idle", "rest", "seek_food"):
        with pytest.raises(ValidationError, match="never a model's choice"):
            Tool(name=name)
    with pytest.raises(Exception, match="layer queue"):
        pack(layers=["reflex", "executor"], executor=EXECUTOR, tactics=None)
