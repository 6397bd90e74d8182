"""The source design's worked examples of a villager, held against its text line by line.

"Environmental Awareness in Conversation" and "Large-Scale Stockpiling".
"""

from collections.abc import Mapping
from typing import Any

from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.characters import PlannedBuild, PlanTask
from schemas.messages.decisions import Completed, Decided
from schemas.messages.notes import ControlInferred
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.planners import aimed
from tests.handlers.mind.characters.traces import Trace
from tests.handlers.mind.characters.worksite import reply
from tests.scenario import one, said

ARIA: Mapping[str, Any] = {
    "hunger": 30,
    "energy": 80,
    "social_depth": 0.4,
    "temperature": "65°F (comfortable)",
    "extraversion": 0.8,
    "location": "Forest clearing near the river",
    "weather": "Sunny, light breeze",
    "sees": ["Luna (gathering berries 10m away)", "oak tree", "berry bush", "river"],
    "people": ["Luna: gathering berries, looks focused"],
    "anybody_near": True,
    "inventory": {"wood": 3, "cloth": 0},
    "stockpile": {"wood": 45},
}
TALKED: Mapping[str, Any] = {
    "thinking": "I'm feeling social and I see Luna nearby. The weather is beautiful and I"
    " just found those berries - good conversation starter!",
    "speaking": "Luna! The berries here are amazing today! Have you tried the ones by the"
    " river?",
    "action": {"type": "talk", "target": "Luna"},
}

BUILDINGS = (
    "tent",
    "lean-to",
    "storage-chest",
    "campfire",
    "workbench",
    "forge",
    "bed",
)
PLANNED: Mapping[str, Any] = planners.ARIA_PLANS | {
    "thinking": "My goal is to build a home. I should plan a tent first, then upgrade to"
    " better shelter. The autonomic system will handle gathering resources. I'll also queue"
    " up some cloth crafting since we'll need it for multiple buildings."
}


def test_arias_talker_prompt_and_reply() -> None:
    """Each line of her state and environment is told; her reply is said and done."""
    found = "You found some delicious berries earlier today"
    trace = Trace(talker={})
    # A memory is made by the queue, as the executor plans it.
    trace.world.plans(tasks=[{"type": "create_memory", "text": found}])
    first = trace.report(0, **ARIA)
    assert one(first, Decided).arm == "queue:create_memory"
    turn = trace.tick(10)
    ask = one(turn, ModelAsked)
    assert (ask.purpose, ask.priority) == ("talker", 5.0)
    assert ask.system.startswith("You are Aria, a creative and extroverted villager.")
    for line in (
        "- hunger: good",
        "- energy: satisfied",
        "- social_depth: moderate",
        '- Temperature: <data>"65°F (comfortable)"</data>',
        '- Location: <data>"Forest clearing near the river"</data>',
        '- Weather: <data>"Sunny, light breeze"</data>',
        '- You can see: <data>"Luna (gathering berries 10m away)"</data>,'
        ' <data>"oak tree"</data>, <data>"berry bush"</data>, <data>"river"</data>',
        f'You remember:\n- <data>"{found}"</data>',
        "You are doing: nothing",
        '- Nearby agents: <data>"Luna: gathering berries, looks focused"</data>',
        "Tools: talk",
    ):
        assert line in ask.prompt, line
    for untold in ("wood", "cloth", "tent", "30", "80", "gather ", "plan_build"):
        assert untold not in ask.prompt, untold

    turn = trace.answers(turn, TALKED)
    completed = one(turn, Completed)
    assert (completed.text, completed.left_out) == (TALKED["speaking"], None)
    spoken, acted = said(turn, DeliveryAsked)
    assert (spoken.channel, spoken.text) == ("talk", TALKED["speaking"])
    assert acted.action is not None
    assert (acted.action.type, acted.action.target) == ("talk", "Luna")
    assert dict(trace.world.scenario.mind.character.asked) == {}


def test_arias_executor_prompt_and_reply() -> None:
    """Each line of what she may build, make and has in store; her plan is worked off."""
    trace = Trace(talker={"enabled": False}, executor={"who": "You are Aria, a creative"
                  " villager."})  # fmt: skip
    world = trace.world
    world.stockpile = {"wood": 45, "stone": 20, "plant_fiber": 15}
    trace.report(0, hunger=0)
    aimed(world, "Build a cozy home", building=0.9, gathering=0.5, social=0.3)
    turn = trace.tick(10)
    ask = one(turn, ModelAsked)
    assert (ask.purpose, ask.reason) == ("executor", "goals_changed")
    assert ask.system.startswith("You are Aria, a creative villager.")
    for line in (
        'Current goals:\n- <data>"Build a cozy home"</data>',
        "Priorities: building: 90, gathering: 50, social: 30",
        f"Available buildings: {', '.join(sorted(BUILDINGS))}",
        "Available recipes: cloth (from plant_fiber), rope (from plant_fiber),"
        " wood_plank (from wood)",
        "Village stockpile:\n- plant_fiber: 15\n- stone: 20\n- wood: 45",
        "Planned builds:\n(none)",
    ):
        assert line in ask.prompt, line

    turn = trace.answers(turn, PLANNED)
    assert one(turn, Completed).left_out is None
    assert [each.by for each in said(turn, ControlInferred)] == ["executor"] * 2
    assert world.plan.builds == (
        PlannedBuild(building="tent", priority="high", reason="immediate shelter"),
        PlannedBuild(
            building="storage-chest", priority="normal", reason="organize resources"
        ),
    )
    assert world.plan.tasks == (PlanTask(type="craft", target="cloth", amount=20),)
    weights = {"building": 0.9, "gathering": 0.6, "social": 0.3}
    assert dict(world.scenario.mind.character.priorities) == weights
    world.run(trace.tick(20))
    assert world.buildings == {"tent": 1, "storage-chest": 1}


def test_a_castle_takes_500_wood_at_a_time() -> None:
    """The source design's reply, word for word, by two, until 50,000 lie there."""
    told = {
        "thinking": "This will require massive stockpiling. Multiple agents need to focus"
        " on gathering wood for weeks.",
        "action": [
            {"type": "set_priorities", "priorities": {"gathering": 95, "building": 5}},
            {"type": "gather", "target": "wood", "amount": 500},
        ],
    }
    stockpile = {"wood": 47_000}
    sites = [
        planners.site(stockpile, agent=name, tactics={"load": 250})
        for name in ("aria", "kai")
    ]
    turns = [
        planners.asked(each, "Build a massive castle (requires 50,000 wood)")
        for each in sites
    ]
    for number in range(6):
        site = sites[number % 2]
        reply(site.scenario, turns[number % 2], told)
        weights = dict(site.scenario.mind.character.priorities)
        assert weights == {"building": 0.05, "gathering": 0.95}
        site.run(site.tick())
        there = 47_000 + 500 * (number + 1)
        assert stockpile["wood"] == there
        # Asked again 5 s after it put them down, and told how much there is.
        turns[number % 2] = site.tick(5)
        ask = one(turns[number % 2], ModelAsked)
        assert ask.reason == "task_complete"
        assert f"- wood: {there}\n" in ask.prompt
    assert stockpile == {"wood": 50_000}
    halves = ["gather 250 wood", "deposit_items wood"] * 2
    assert sites[0].deeds == sites[1].deeds == halves * 3


def test_one_answer_is_enough_for_the_castle() -> None:
    """By repeats, without another question until all is there."""
    site = planners.site(
        {"wood": 45_000}, tactics={"load": 500}, executor={"periodic_s": 80_000}
    )
    gather = {"type": "gather", "target": "wood", "amount": 500, "times": 10}
    planners.planned(site, [gather, {"type": "sleep_until_queue_complete"}])
    site.run(site.tick())
    assert site.stockpile == {"wood": 50_000}
    assert len(site.deeds) == 20
    asks = [each for each in site.scenario.outputs() if isinstance(each, ModelAsked)]
    assert len(asks) == 1
