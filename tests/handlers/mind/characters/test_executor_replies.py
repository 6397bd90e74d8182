"""What becomes of an executor's answers: plans, what is left out and why, bad replies."""

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.state.character import Plan
from tests.handlers.mind.characters.planners import asked, planned, site
from tests.handlers.mind.characters.worksite import reply
from tests.scenario import one, said


def test_what_cannot_be_is_left_out_with_its_reason_and_the_rest_counts() -> None:
    """Unknown buildings, recipes, tools; amounts that are none; what is said of nothing."""
    world = site()
    turn = planned(
        world,
        [
            {"type": "plan_build", "building": "castle"},
            {"type": "plan_build", "building": "tent", "priority": "urgent"},
            {"type": "craft", "recipe": "gold", "amount": 2},
            {"type": "gather", "target": "wood", "amount": -3},
            {"type": "gather"},
            {"type": "talk", "target": "Luna"},
            {"type": "wander"},
            {"type": "build", "building": "tent"},
            {"type": "go_to"},
            {"type": "create_memory"},
            {"type": "cancel_planned_build", "building": "forge"},
            {"type": "cancel_current_task"},
            {"type": "sleep_until_queue_complete"},
            {"type": "set_priorities", "priorities": "high"},
            7,
            None,
        ],
    )
    left_out = one(turn, Completed).left_out
    assert left_out is not None
    whole = "\n".join(left_out)
    for why in (
        "'castle' is not planned: nobody knows how to build it",
        "craft 'gold' is not queued: there is no such recipe",
        "gather 'wood' is not queued",
        "gather 'nothing' is not queued: it does not say what",
        "'talk' was not offered",
        "'wander' was not offered",
        "'build' was not offered",
        "it does not say where",
        "it does not say of what",
        "'forge' is not planned",
        "could be cancelled",
        "could wait for",
        "the priorities are no numbers",
        "'7' was not offered",
    ):
        assert why in whole, why
    assert len(left_out) == 15
    assert [each.building for each in world.plan.builds] == ["tent"]
    assert world.plan.tasks == ()


def test_limits_count_what_is_planned_and_queues_overflow_with_a_reason() -> None:
    """Two chests may stand; twenty entries may wait."""
    world = site()
    chest = {"type": "plan_build", "building": "storage-chest"}
    wood = {"type": "gather", "target": "wood", "amount": 1}
    turn = planned(world, [chest, chest, chest, *[wood] * 30])
    left_out = one(turn, Completed).left_out
    assert left_out is not None
    assert "0 stand and 2 are planned, and 2 may" in left_out[0]
    assert "the queue holds 20" in left_out[-1]
    assert (len(world.plan.builds), len(world.plan.tasks)) == (2, 20)


def test_synonyms_are_data_of_the_pack() -> None:
    """What small models call things is understood, whatever its case."""
    world = site()
    planned(
        world,
        [
            {"type": "Stockpile", "target": "wood", "amount": 7, "repeat": 2},
            {"type": "GRAB", "item": "stick"},
            {"type": "plow"},
            {"type": "Go To", "place": "river"},
        ],
    )
    assert [(each.type, each.target) for each in world.plan.tasks] == [
        ("gather", "wood"),
        ("pick", "stick"),
        ("till", None),
        ("go_to", "river"),
    ]
    assert world.plan.tasks[0].times == 2


def test_skills_gate_tools() -> None:
    """`build` needs a building skill of 1; then it is offered, and builds."""
    world = site({"wood": 5, "cloth": 10})
    turn = asked(world, skills={"building": 1})
    assert "build" in one(turn, ModelAsked).prompt.rpartition("Tools: ")[2].split(", ")
    reply(world.scenario, turn, {"action": {"type": "build", "building": "tent"}})
    world.run(world.tick())
    assert world.buildings == {"tent": 1}


def test_what_is_done_can_be_cancelled_and_slept_over() -> None:
    """The current entry goes and the next begins; nobody is asked until all is done."""
    world = site(executor={"periodic_s": 20})
    go = [{"type": "go_to", "target": each} for each in ("moon", "river", "home")]
    planned(world, go)
    world.tick()
    turn = world.tick(20)
    assert one(turn, ModelAsked).reason == "periodic"
    told = [{"type": "cancel_current_task"}, {"type": "sleep_until_queue_complete"}]
    reply(world.scenario, turn, {"action": told})
    turn = world.tick()
    assert world.deeds == ["go_to moon", "go_to river"]
    turn = world.do(turn)
    assert world.deeds[-1] == "go_to home"
    assert said(world.tick(100), ModelAsked) == []
    turn = world.report(in_reply_to=world.decision_id, outcome="succeeded")
    assert not world.plan.waits
    assert one(turn, ModelAsked).reason == "periodic"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I would rather build a tent.", "no JSON"),
        ('{"thinking": "half', "broken"),
        ("{}", "says nothing"),
        ('{"action": {"type": "dance"}}', "was not offered"),
        ('{"action": []}', "says nothing"),
        ('{"thinking": "\\ud800"}', "half a character"),
        ("这是我的计划。", "no JSON"),
        ("", "no JSON"),
    ],
)
def test_a_bad_reply_ends_with_its_reason_and_life_goes_on(text: str, why: str) -> None:
    """Nothing is planned, reflexes act, and it is asked again at its next time."""
    world = site()
    turn = reply(world.scenario, asked(world), text)
    is_read = text.startswith('{"action"')
    assert one(turn, Dropped).reason == ("llm_declined" if is_read else "llm_malformed")
    assert why in one(turn, Dropped).detail
    assert world.plan == Plan()
    assert one(world.tick(10), ModelAsked).reason == "idle"
    assert one(world.report(hunger=0.1), Decided).arm == "reflex:hungry"


def test_odd_numbers_and_names_do_no_harm() -> None:
    """Infinite priorities, names with spaces, huge amounts, prose around the JSON."""
    world = site()
    text = (
        'Sure! {"thinking": "x", "action": [{"type": "gather", "target": "wood",'
        ' "amount": 1e999}, {"type": "gather", "target": "wood", "amount": '
        + "9" * 400
        + '}, {"type": "pick", "target": "'
        + "y" * 5_000
        + '"}], "priorities": {"my work": 3, "building": 90}} Good luck!'
    )
    turn = reply(world.scenario, asked(world), text)
    assert len(one(turn, Completed).left_out or ()) == 3
    assert dict(world.scenario.mind.character.priorities) == {"building": 0.9}
    assert [len(each.target or "") for each in world.plan.tasks] == [200]
    world = site()
    turn = reply(
        world.scenario, asked(world), '{"thinking": "x", "priorities": {"a": Infinity}}'
    )
    assert "no numbers" in (one(turn, Completed).left_out or ("",))[0]
