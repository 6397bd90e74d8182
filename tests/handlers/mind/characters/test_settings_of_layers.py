"""What layers set for others: aims with an end, priorities that weigh, things kept in mind."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.codec import checkpoint
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.characters import AimsSet
from schemas.messages.decisions import Completed, Decided
from schemas.messages.notes import ControlInferred, ControlRefused
from schemas.state import limits
from tests.handlers.mind.characters.planners import aimed, planned, site
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack, reply
from tests.scenario import Scenario, one, said

SETTERS = [
    "talk",
    "set_personal_goal",
    "set_medium_term_goal",
    "set_group_goal",
    "set_priorities",
]
DAY_S = 86_400.0

BERRIES = "Luna showed me where the best berries grow."


def talker(**mind: Any) -> Worksite:
    """A villager who talks, and may say by tools what it is after."""
    layer = {
        "tools": [{"name": name} for name in SETTERS],
        "horizons": {"personal": 7, "medium_term": 14, "group": 30},
        **mind.pop("talker", {}),
    }
    known = pack(layers=["reflex", "queue", "talker"], talker=layer, **mind)
    return Worksite(Scenario(known, agent="aria", model=MODEL))


def aims(site_: Worksite) -> list[tuple[str, str]]:
    """What the character is after, each with for whom."""
    return [(each.kind, each.text) for each in site_.scenario.mind.character.aims]


def test_aims_and_priorities_are_set_by_tools_too() -> None:
    """Several at once, beside one action; a second action is left out with its reason."""
    world = talker()
    turn = reply(
        world.scenario,
        world.report(),
        {
            "thinking": "We need homes.",
            "action": [
                {"type": "set_personal_goal", "description": "Build a village"},
                {"type": "set_medium_term_goal", "goal": "Learn to weave"},
                {"type": "set_group_goal", "target": "A feast for all"},
                {"type": "set_priorities", "priorities": {"building": 90}},
                {"type": "talk", "target": "Luna"},
                {"type": "talk", "target": "Kai"},
                {"type": "set_personal_goal"},
                {"type": "gather", "target": "wood"},
            ],
        },
    )
    assert aims(world) == [
        ("personal", "Build a village"),
        ("medium_term", "Learn to weave"),
        ("group", "A feast for all"),
    ]
    assert dict(world.scenario.mind.character.priorities) == {"building": 0.9}
    assert one(turn, ControlInferred).by == "talker"
    completed = one(turn, Completed)
    assert completed.action is not None
    assert completed.action.target == "Luna"
    left_out = "\n".join(completed.left_out or ())
    assert "talk is one too many" in left_out
    assert "a goal was left out" in left_out
    assert "'gather' was not offered" in left_out


def test_priorities_alone_are_an_answer_where_they_are_a_tool() -> None:
    """By one action, in shares of 1 or in percent."""
    world = talker()
    told = {"action": {"type": "set_priorities", "priorities": {"social": 0.8}}}
    reply(world.scenario, world.report(), told)
    assert dict(world.scenario.mind.character.priorities) == {"social": 0.8}


@pytest.mark.parametrize(
    ("kind", "days"), [("personal", 7), ("medium_term", 14), ("group", 30)]
)
def test_what_is_wanted_is_given_up_after_its_days(kind: str, days: int) -> None:
    """7, 14 and 30 in the source design; the log says which, and why."""
    world = talker()
    goal = {"type": kind, "description": "Build a village"}
    reply(world.scenario, world.report(), {"thinking": "So be it.", "goal": goal})
    world.scenario.wait(days * DAY_S - 10)
    reply(world.scenario, world.report(), {"thinking": "Still.", "goal": goal})
    assert len(aims(world)) == 1
    world.scenario.wait(10)
    turn = world.report()
    inferred = one(turn, ControlInferred)
    assert inferred.by == "rule"
    assert inferred.after == f"given up, its time is over: {kind} 'Build a village'"
    assert aims(world) == []
    asks = said(turn, ModelAsked)
    assert all("Build a village" not in each.prompt for each in asks)


def test_what_a_person_sets_has_no_end_of_its_own() -> None:
    """Nor has what a talker wants whose pack names no horizons."""
    world = talker(talker={"horizons": {}})
    aimed(world, "Live long")
    goal = {"type": "personal", "description": "Eat well"}
    reply(world.scenario, world.report(), {"thinking": "Yes.", "goal": goal})
    world.scenario.wait(400 * DAY_S)
    world.report()
    assert aims(world) == [("personal", "Live long"), ("personal", "Eat well")]


def test_an_executor_hears_that_an_aim_was_given_up() -> None:
    """On the next tick, as of any other change."""
    world = site(executor={"idle_s": 1_000})
    until = world.scenario.at + timedelta(seconds=100)
    world.report()
    told = {"aims": [{"text": "Sow in time", "until": until}]}
    world.scenario.control(AimsSet.from_fields(told))
    reply(world.scenario, world.tick(), {"thinking": "Later."})
    world.scenario.wait(100)
    turn = world.report()
    assert one(turn, ControlInferred).by == "rule"
    found = said(turn, ModelAsked) or said(world.tick(), ModelAsked)
    assert found[0].reason == "goals_changed"
    assert "Sow in time" not in found[0].prompt


KINDS = {"gathering": ["gather", "pick"], "building": ["build"], "social": ["talk"]}
PLAN: dict[str, Any] = {
    "tasks": [{"type": "gather", "target": "stone", "amount": 5}],
    "builds": [{"building": "storage-chest"}],
}


@pytest.mark.parametrize(
    ("priorities", "first"),
    [
        ({"building": 0.9, "gathering": 0.5}, "build storage-chest for storage-chest"),
        ({"building": 0.5, "gathering": 0.9}, "gather 5 stone"),
        ({"building": 0.5, "gathering": 0.5}, "gather 5 stone"),
        ({"building": 0.1}, "build storage-chest for storage-chest"),
        ({}, "gather 5 stone"),
    ],
)
def test_priorities_weigh_which_kind_of_work_comes_next(
    priorities: dict[str, float], first: str
) -> None:
    """Of equal weight the queue comes first, as without kinds; the other one follows."""
    for kinds in (KINDS, {}):
        world = Worksite(Scenario(pack(kinds=kinds), agent="aria"), {"wood": 10})
        world.report()
        aimed(world, "Build a home", **priorities)
        world.plans(**PLAN)
        turn = world.tick()
        assert world.deeds[0] == (first if kinds else "gather 5 stone")
        world.run(turn)
        assert world.plan.tasks == world.plan.builds == ()
        assert world.buildings == {"storage-chest": 1}


def test_new_priorities_turn_the_queue_at_its_next_step() -> None:
    """What is being done is done first, and the queue resumes where it was."""
    world = Worksite(Scenario(pack(kinds=KINDS), agent="aria"), {"wood": 10})
    world.report()
    world.plans(
        tasks=[{"type": "gather", "target": "stone", "amount": 40}],
        builds=PLAN["builds"],
    )
    turn = world.tick()
    aimed(world, "Build", building=0.9, gathering=0.1)
    world.run(turn)
    assert world.deeds == [
        "gather 20 stone",
        "build storage-chest for storage-chest",
        "deposit_items stone",
        "gather 20 stone",
        "deposit_items stone",
    ]


def test_what_cannot_be_built_keeps_nobody_from_the_queue() -> None:
    """However important building is."""
    world = Worksite(Scenario(pack(kinds=KINDS), agent="aria"))
    world.report()
    aimed(world, "Build", building=1.0)
    world.plans(tasks=PLAN["tasks"], builds=[{"building": "castle"}])
    world.tick()
    assert world.deeds == ["gather 5 stone"]


def test_reflexes_follow_priorities() -> None:
    """The reflexes turn them into what is done: who thinks most of company seeks it."""
    table = [
        {"name": "bored", "when": "idle_s >= 5", "behaviour": "wander"},
        {"name": "sociable", "when": "priorities.social >= 0.7", "behaviour": "talk"},
    ]
    behaviours = {"wander": {"priority": 5}, "talk": {"priority": 18}}
    mind = {"reflexes": table, "behaviours": behaviours}
    for kinds, arm in ((KINDS, "reflex:sociable"), ({}, "silent")):
        world = Worksite(Scenario(pack(kinds=kinds, **mind), agent="aria"))
        world.report()
        aimed(world, "Find company", social=0.8, gathering=0.2)
        assert one(world.report(), Decided).arm == arm


def test_a_memory_is_kept_by_the_character_itself() -> None:
    """At its place in the queue, without the world; the talker is told of it from then on."""
    world = site(
        layers=["reflex", "queue", "talker", "executor"],
        tactics={"remember": "create_memory"},
        talker={"moderate_s": 1_000, "memories": 5},
    )
    reply(world.scenario, world.report(), {"thinking": "Nothing to say."})
    told = [
        {"type": "gather", "target": "berries", "amount": 5},
        {"type": "create_memory", "text": BERRIES},
        {"type": "deposit_items"},
    ]
    turn = world.tick(10)
    reply(world.scenario, turn, {"thinking": "Berries.", "action": told})
    turn = world.do(world.tick())
    turn = world.do(turn)
    assert world.deeds == ["gather 5 berries", "deposit_items berries"]
    decided = one(turn, Decided)
    assert decided.arm == "queue:create_memory"
    assert said(turn, DeliveryAsked) == []
    (memory,) = world.scenario.mind.character.memories
    assert (memory.text, memory.at) == (BERRIES, world.scenario.at)
    world.run(world.tick())
    assert world.deeds[-1] == "deposit_items"
    assert world.plan.tasks == ()
    ask = next(
        each for each in said(world.tick(1_000), ModelAsked) if each.purpose == "talker"
    )
    assert f'You remember:\n- <data>"{BERRIES}"</data>' in ask.prompt


def test_an_executor_that_has_done_so_is_told() -> None:
    """As of any entry of its queue."""
    world = site(tactics={"remember": "create_memory"})
    planned(world, {"type": "create_memory", "text": BERRIES})
    world.tick()
    assert one(world.tick(5), ModelAsked).reason == "task_complete"


def test_memories_are_bounded_and_none_is_kept_twice() -> None:
    """The oldest go; one that comes again is the newest."""
    world = site(tactics={"remember": "create_memory"})
    world.report()
    for number in (*range(30), 15):
        task = {"type": "create_memory", "text": f"Day {number} was good."}
        world.plans(tasks=[task])
        world.tick()
    kept = [each.text for each in world.scenario.mind.character.memories]
    assert len(kept) == limits.MEMORIES
    assert (kept[0], kept[-1]) == ("Day 10 was good.", "Day 15 was good.")
    assert kept.count("Day 15 was good.") == 1
    dumped = checkpoint.dump(world.scenario.state)
    assert checkpoint.dump(checkpoint.load(dumped)) == dumped


def test_a_world_that_keeps_memories_is_asked_to() -> None:
    """As without a name for it in the pack."""
    world = site()
    planned(world, {"type": "create_memory", "text": BERRIES})
    world.tick()
    assert world.deeds == ["create_memory"]
    assert world.scenario.mind.character.memories == ()


def test_a_talker_is_told_what_it_said_and_thought() -> None:
    """The latest, as many as its pack says; without that neither is recorded."""
    for words in (2, 0):
        world = talker(talker={"words": words})
        for number in range(4):
            told = {"thinking": f"Thought {number}.", "speaking": f"Line {number}."}
            turn = reply(world.scenario, world.report(), told)
            thought = f"Thought {number}." if words else None
            assert one(turn, Completed).thought == thought
            world.scenario.wait(60)
        asks = said(world.report(), ModelAsked)
        assert len(asks) == 1
        lately = asks[0].prompt.partition("You said and thought lately:\n")[2]
        lines = lately.split("\n\n")[0].splitlines()
        assert lines[:1] == (['- You said: <data>"Line 2."</data>'] if words else [])
        assert len(lines) == 2 * words


def test_a_sixth_aim_by_a_tool_is_refused_too() -> None:
    """With the reason, and the five stay."""
    world = talker()
    for number in range(6):
        action = {"type": "set_group_goal", "description": f"Aim {number}"}
        reply(world.scenario, world.report(), {"action": action})
        world.scenario.wait(60)
    assert "5 aims" in one(world.scenario.turns[-1], ControlRefused).detail
    assert len(aims(world)) == 5
