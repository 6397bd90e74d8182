"""When the executor is asked: the rules, the tiers, and models that fail or hang."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.mind.characters import cadence
from schemas.messages.asks import ModelAsked
from schemas.messages.characters import PlannedBuild, PlanTask
from schemas.messages.decisions import Decided, Dropped
from schemas.messages.results import ClockTicked
from schemas.packs.layers import Executor, Talker, Tier
from schemas.state.character import Character, Doing, Plan
from tests import factories
from tests.handlers.mind.characters.planners import (
    EXECUTOR,
    SYNONYMS,
    aimed,
    asked,
    planned,
    site,
)
from tests.handlers.mind.characters.worksite import Worksite, pack, reply, verdict
from tests.scenario import Scenario, one, said

NOON = factories.NOON


def at(seconds: float) -> Any:
    """A time, in seconds after noon."""
    return NOON + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("character", "seconds", "occasion"),
    [
        ({"since": at(0)}, 299, None),
        ({"since": at(0)}, 300, "periodic"),
        ({"called": 0}, 299, None),
        ({"called": 0}, 300, "periodic"),
        # What is over counts after 5 s, and does not keep the periodic one waiting.
        ({"called": 0, "completed_at": at(100)}, 104.9, None),
        ({"called": 0, "completed_at": at(100)}, 105, "task_complete"),
        ({"called": 0, "completed_at": at(298)}, 301, "periodic"),
        ({"called": 101, "completed_at": at(100)}, 200, None),
        # Idle without a plan; 10 s after it was asked last, too.
        ({"called": 0, "idle_since": at(0)}, 9.9, None),
        ({"called": 0, "idle_since": at(0)}, 10, "idle"),
        ({"called": 50, "idle_since": at(0)}, 59, None),
        ({"called": 0, "idle_since": at(0), "has_plan": True}, 100, None),
        # Goals go first, at once, but not in the same instant.
        ({"called": 0, "aimed_at": at(20)}, 20, None),
        ({"called": 0, "aimed_at": at(20)}, 21, "goals_changed"),
        (
            {"called": 0, "aimed_at": at(20), "completed_at": at(1)},
            301,
            "goals_changed",
        ),
        ({"called": 30, "aimed_at": at(20)}, 31, None),
        ({"called": 0, "waits": True, "completed_at": at(1)}, 400, None),
        ({"called": 0, "waits": True, "aimed_at": at(1)}, 3, "goals_changed"),
    ],
)
def test_when_it_is_asked(
    character: dict[str, Any], seconds: float, occasion: str | None
) -> None:
    """The first rule that fits, in the order of the source design."""
    found = cadence.executor_occasion(Executor(), known(**character), {}, at(seconds))
    assert found[0] == occasion


def known(**told: Any) -> Character:
    """A character as the rules look at it."""
    builds = (PlannedBuild(building="tent"),) if told.pop("has_plan", False) else ()
    called = told.pop("called", None)
    plan = Plan(
        builds=builds,
        waits=told.pop("waits", False),
        completed_at=told.pop("completed_at", None),
    )
    found = Character(plan=plan, **told)
    if called is not None:
        asked_at = found.called.set("executor", at(called))
        found = Character(plan=plan, called=asked_at, **told)
    return found


@pytest.mark.parametrize(
    ("fields", "character", "seconds", "occasion"),
    [
        ({"tier": "reduced"}, {"called": 0, "idle_since": at(0)}, 1_799, None),
        ({"tier": "reduced"}, {"called": 0}, 1_800, "periodic"),
        (
            {"tier": "reduced"},
            {"called": 0, "completed_at": at(5)},
            10,
            "task_complete",
        ),
        ({"tier": "autonomic"}, {"called": 0, "aimed_at": at(5)}, 9_000, None),
        (
            {"tier": "autonomic", "spoken_to": True},
            {"called": 0, "aimed_at": at(5)},
            9_000,
            "goals_changed",
        ),
        ({"tier": "nonsense"}, {"called": 0, "idle_since": at(0)}, 10, "idle"),
    ],
)
def test_tiers_think_less(
    fields: dict[str, Any],
    character: dict[str, Any],
    seconds: float,
    occasion: str | None,
) -> None:
    """Reduced: not for idling, every half hour; autonomic: only when spoken to."""
    found = cadence.executor_occasion(
        Executor(), known(**character), fields, at(seconds)
    )
    assert found[0] == occasion


def test_settings_have_the_names_of_the_source_design_too() -> None:
    """A pack may use either; a tier's own numbers are honoured."""
    told = {
        "enableExecutor": False,
        "taskCompleteCadenceSec": 6,
        "idleThinkDelaySec": 11,
        "periodicThinkSec": 301,
    }
    layer = Executor.model_validate(told)
    assert (layer.enabled, layer.complete_s, layer.idle_s, layer.periodic_s) == (
        False,
        6,
        11,
        301,
    )
    assert cadence.executor_occasion(layer, known(called=0), {}, at(999))[0] is None
    talker = Talker.model_validate(
        {
            "enableTalker": False,
            "extrovertTalkCadenceSec": 31,
            "conversationPriority": 9,
        }
    )
    assert (talker.enabled, talker.extrovert_s, talker.conversation_priority) == (
        False,
        31,
        9,
    )
    own = Executor(tiers={"reduced": Tier(idle_s=60)}, tier="reduced")
    idle = known(called=0, idle_since=at(0))
    assert cadence.executor_occasion(own, idle, {}, at(60))[0] == "idle"


def test_its_own_priorities_ask_it_nothing_more() -> None:
    """Else it would be asked about what it said itself, for ever."""
    world = site()
    told = {"type": "set_priorities", "priorities": {"building": 90}}
    planned(world, [told, {"type": "go_to", "target": "river"}])
    turn = world.tick()
    assert one(turn, Decided).layer == "queue"
    assert said(world.tick(20), ModelAsked) == []


def test_a_model_that_fails_or_hangs_stops_nobody() -> None:
    """Each with its reason; meanwhile the queue works, and nothing is asked twice."""
    world = site()
    world.report()
    world.plans(tasks=[{"type": "go_to", "target": "river"}])
    aimed(world, "Go home")
    assert one(world.tick(), Decided).layer == "queue"
    turn = world.tick()
    assert one(turn, ModelAsked).purpose == "executor"
    again = world.report()
    assert said(again, ModelAsked) == []
    assert verdict(one(again, Decided), "executor")[0] == "goes_on"
    given_up = world.tick(95)
    assert [each.reason for each in said(given_up, Dropped)] == ["llm_timeout"]
    world.report(in_reply_to=world.decision_id, outcome="succeeded")
    turn = world.tick(5)
    assert one(turn, ModelAsked).reason == "task_complete"
    assert one(world.scenario.fail_model(turn), Dropped).reason == "llm_no_response"


def test_it_wakes_where_asking_each_tick_would_have_asked() -> None:
    """The next time that it tells equals the first tick at which it would be asked."""
    world = site(executor={"idle_s": 17.5, "periodic_s": 40, "complete_s": 7})
    turn = asked(world)
    go = {"type": "go_to", "target": "river"}
    reply(world.scenario, turn, {"action": go})
    world.tick()
    ask_ticks = []
    for _ in range(400):
        due = world.scenario.mind.character.due
        turn = world.tick()
        if said(turn, Decided):
            assert due == world.scenario.at
        else:
            assert due is None or due > world.scenario.at
        if said(turn, ModelAsked):
            ask_ticks.append(one(turn, ModelAsked).reason)
            reply(world.scenario, turn, {"thinking": "Let us see."})
    # The walk that nobody reports on is over after 300 s, and asked about 7 s later.
    assert ask_ticks[:7] == ["periodic"] * 7
    assert "task_complete" in ask_ticks
    assert ask_ticks[-1] == "idle"


def test_without_a_model_the_queue_goes_on() -> None:
    """Nothing is asked, and the record says why."""
    planner = pack(
        layers=["reflex", "queue", "executor"], executor=EXECUTOR, synonyms=SYNONYMS
    )
    world = Worksite(Scenario(planner, agent="aria"), {"wood": 5, "cloth": 10})
    turn = world.report()
    assert one(turn, Decided).layers[2].why == "no model is configured"  # type: ignore[index]
    world.plans(builds=[{"building": "tent"}])
    world.run(world.tick())
    assert world.buildings == {"tent": 1}


def test_urgency_follows_danger_and_occasion() -> None:
    """10 in combat, 5 once something is done, 3 for new goals, else 1."""
    layer = Executor.model_validate(EXECUTOR)
    assert [
        cadence.executor_priority(layer, fields, reason)
        for fields, reason in (
            ({"in_combat": True}, "idle"),
            ({}, "task_complete"),
            ({}, "goals_changed"),
            ({}, "idle"),
            ({}, "periodic"),
        )
    ] == [10.0, 5.0, 3.0, 1.0, 1.0]


def test_a_step_that_times_out_is_looked_at_as_over() -> None:
    """Before anything is written of it, the rules see it as it will be."""
    doing = Doing(
        decision_id="d",
        behaviour="go_to",
        priority=10,
        since=at(0),
        until=at(300),
        layer="queue",
    )
    character = Character(doing=doing, plan=Plan(tasks=(PlanTask(type="go_to"),)))
    found = cadence.executor_times(Executor(), character, {}, at(0))
    assert at(305) in found
    assert cadence.executor_occasion(Executor(), character, {}, at(305))[0] == (
        "task_complete"
    )


def test_ticks_when_nothing_is_due_write_nothing() -> None:
    """An hour of a character whose executor waits costs no decisions."""
    world = site(executor={"tier": "autonomic"})
    world.report()
    for _ in range(12):
        turn = world.scenario.wait(300).tell(ClockTicked(due_at=world.scenario.at))
        assert said(turn, Decided) == []
