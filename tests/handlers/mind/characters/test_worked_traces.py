"""The source design's traces of a villager, held against its text tick by tick.

"Decision Flow": waking up hungry, and goals that change.
"""

from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.notes import ControlInferred
from tests.handlers.mind.characters.traces import Trace
from tests.handlers.mind.characters.worksite import verdict
from tests.scenario import one, said


def woken() -> Trace:
    """Somebody who woke up hungry, ate, and talks from tick 1200 on.

    The talker's cadence is 60 s here: with 30 s it would also be asked while the villager
    eats, since it talks during tasks.
    """
    trace = Trace(
        talker={
            "extrovertTalkCadenceSec": 60,
            "place": "clearing",
            "likelihood": False,
        },
        absent={"asleep": "asleep = true"},
    )
    world = trace.world
    body = {"extraversion": 0.7, "anybody_near": True, "social_depth": 0.5}
    turn = trace.report(600, hunger=20, **body)
    trace.answers(turn, {"thinking": "Good night."})
    trace.report(610, asleep=True)

    # Tick 1000: hunger = 80 -> seek_food (interrupts everything).
    turn = trace.report(1000, asleep=False, hunger=80)
    assert one(turn, Decided).arm == "reflex:hungry"
    eats = world.decision_id

    # Tick 1200: last call was 60 s ago, extraversion = 0.7 -> call talker.
    trace.report(1190, hunger=20, in_reply_to=eats, outcome="succeeded")
    turn = trace.tick(1200)
    decided = one(turn, Decided)
    assert verdict(decided, "reflex") == ("nothing_due", None)
    assert verdict(decided, "talker") == ("acts", "extrovert")
    told = {
        "thinking": "I feel like company.",
        "speaking": "Luna, good morning!",
        "action": {"type": "talk", "target": "Luna"},
        "priorities": {"social": 80, "gathering": 20},
    }
    turn = trace.answers(turn, told)
    weights = {"gathering": 0.2, "social": 0.8}
    assert dict(world.scenario.mind.character.priorities) == weights
    assert world.deeds[-1] == "talk Luna"
    trace.report(1201, in_conversation=True)
    return trace


def test_an_agent_wakes_up_hungry() -> None:
    """Ticks 1000 to 1600: it eats, talks for twenty seconds at least, then plans.

    The place says when to answer in a conversation.
    """
    trace = woken()
    world = trace.world
    luna = {"speaker": "luna", "distance": 3.0}
    trace.hears(1210, "heard", "Morning, Aria!", **luna, turn=1, ask=False)

    # Tick 1400: in active conversation, last call was 20 s ago -> call talker.
    turn = trace.hears(1400, "heard", "And did you eat?", **luna, turn=2, ask=True)
    decided = one(turn, Decided)
    assert verdict(decided, "talker") == ("acts", "in conversation")
    words = "I found some great berries earlier!"
    turn = trace.answers(turn, {"thinking": "Berries.", "speaking": words})
    assert one(turn, Completed).text == words
    # Executor: not called (agent busy talking).
    turn = trace.report(1401, in_conversation=True)
    (busy,) = (
        each for each in one(turn, Decided).layers or () if each.layer == "executor"
    )
    assert (busy.verdict, busy.why) == (
        "nothing_due",
        "it is busy: in_conversation = true",
    )

    # Tick 1600: conversation ended; last call was never -> call executor.
    turn = trace.report(1600, in_conversation=False)
    trace.hears(1600, "over")
    ask = one(turn, ModelAsked)
    assert "talk" in ask.prompt.partition("Done lately:")[2]
    assert trace.asked == [
        (600, "talker"),
        (1200, "talker"),
        (1400, "talker"),
        (1600, "executor"),
    ]
    berries = {"type": "gather", "target": "berries"}
    plan = [berries, berries, {"type": "deposit_items"}]
    trace.answers(turn, {"thinking": "Berries, and into the store.", "action": plan})
    kinds = [each.type for each in world.plan.tasks]
    assert kinds == ["gather", "gather", "deposit_items"]

    # Agent starts gathering berries (first action in queue).
    turn = trace.tick(1610)
    assert world.deeds[-1] == "gather 20 berries"
    world.run(turn)
    assert world.stockpile["berries"] == 40
    assert world.deeds[-1] == "deposit_items"


def test_the_talker_changes_goals_and_the_executor_responds() -> None:
    """Ticks 2000 and 2020: it comes on the next tick, which is two seconds away there."""
    trace = Trace(
        talker={"tools": [{"name": "set_personal_goal"}, {"name": "set_priorities"}]},
        executor={"idle_s": 1_000},
        think={"interval_s": 2.0},
    )
    world = trace.world
    turn = trace.report(2000, hunger=20, skills={"building": 1})
    decided = one(turn, Decided)
    assert decided.layer == "talker"
    # Executor: not called this tick (talker already ran).
    assert verdict(decided, "executor") == ("not_asked", None)
    weights = {"building": 90, "gathering": 50}
    told = [
        {"type": "set_personal_goal", "description": "Build a village"},
        {"type": "set_priorities", "priorities": weights},
    ]
    turn = trace.answers(turn, {"thinking": "We need homes.", "action": told})
    assert said(turn, ModelAsked) == []
    assert one(turn, ControlInferred).by == "talker"

    trace.until(2021)
    assert trace.asked == [(2000, "talker"), (2020, "executor")]
    turn = world.scenario.turns[-1]
    ask = one(turn, ModelAsked)
    assert ask.reason == "goals_changed"
    assert "Build a village" in ask.prompt
    assert "Priorities: building: 90, gathering: 50" in ask.prompt
    actions = [
        {"type": "plan_build", "building": "tent"},
        {"type": "gather", "target": "wood", "amount": 5},
        {"type": "gather", "target": "cloth", "amount": 10},
        {"type": "build", "building": "tent"},
        {"type": "create_memory", "text": "We built our first tent."},
    ]
    turn = trace.answers(turn, {"thinking": "A tent first.", "action": actions})
    assert one(turn, Completed).left_out is None

    # Agent starts gathering wood (first action in queue).
    turn = trace.tick(2040)
    assert world.deeds == ["gather 5 wood"]
    world.run(turn)
    world.run(trace.tick(3000))
    assert world.deeds == [
        "gather 5 wood",
        "deposit_items wood",
        "gather 10 cloth",
        "deposit_items cloth",
        "build tent",
    ]
    assert world.buildings == {"tent": 1}
    assert world.plan.builds == ()
    (memory,) = world.scenario.mind.character.memories
    assert memory.text == "We built our first tent."
