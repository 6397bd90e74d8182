"""Reflexes of a character: its table, its needs over time, and what it does meanwhile."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from handlers.mind.characters import reflexes
from schemas.messages.asks import DeliveryAsked, WakeupSet
from schemas.messages.decisions import Decided
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.state.character import Character, Doing
from tests import factories
from tests.handlers.mind.characters.village import BEHAVIOURS, HUNGRY, villager
from tests.scenario import Scenario, one, said


def village(**mind: Any) -> Scenario:
    """A scenario of one villager."""
    return Scenario(villager(**mind))


def body(scenario: Scenario, *, health: float = 1.0, **needs: Any) -> Decided:
    """Report the villager's body, and return what it decides."""
    rates = needs.pop("rates", {})
    fields = {"needs": needs, "rates": rates, "health": health}
    return one(report(scenario, fields), Decided)


def report(scenario: Scenario, fields: dict[str, Any], **more: Any) -> Any:
    """Report fields of a body."""
    return scenario.sense(
        "Aria stands there.", source="world", type_="body", fields=fields, **more
    )


def tick(scenario: Scenario, seconds: float) -> Any:
    """Let time pass, and tell the mind so."""
    scenario.wait(seconds)
    return scenario.tell(ClockTicked(due_at=scenario.at))


def test_a_hungry_villager_seeks_food() -> None:
    """A reflex that holds is done: the action goes to the world, with its layer."""
    scenario = village()
    turn = report(scenario, {"needs": {"hunger": 0.5, "energy": 80}})
    decided, asked = one(turn, Decided), one(turn, DeliveryAsked)

    assert (decided.path, decided.arm, decided.layer) == (
        "reflex",
        "reflex:hungry",
        "reflex",
    )
    assert decided.probability == 1.0
    assert decided.layers is not None
    (verdict,) = decided.layers
    assert (verdict.layer, verdict.verdict, verdict.rule) == (
        "reflex",
        "acts",
        "hungry",
    )
    assert asked.channel == "act"
    assert asked.action is not None
    assert asked.action.type == "seek_food"
    assert asked.output == "action"


def test_the_highest_priority_wins_whatever_the_order() -> None:
    """Upstream takes the first that holds: a starving, tired villager would sleep."""
    scenario = village()
    starving = body(scenario, hunger=0.05, energy=80)
    assert starving.arm == "reflex:starving"
    assert {each.arm: each.probability for each in starving.candidates} == {
        "reflex:hungry": 0.0,
        "reflex:starving": 1.0,
    }
    # `tired` comes before `starving` in the table; here its 85 is more than 80.
    assert body(village(), hunger=0.05, energy=10).arm == "reflex:tired"


@pytest.mark.parametrize(
    ("hunger", "arm"),
    [
        (0.6, "silent"),
        (0.599999, "reflex:hungry"),
        (0.1, "reflex:hungry"),
        (0.0999, "reflex:starving"),
    ],
)
def test_thresholds_are_strict(hunger: float, arm: str) -> None:
    """`hunger < 0.6` does not hold at 0.6 exactly."""
    assert body(village(), hunger=hunger, energy=80).arm == arm


def test_other_scales_are_converted_at_the_edge() -> None:
    """The seed's hunger of 80 means hungry: satisfaction of 0.2."""
    upside_down = {"hunger": {"field": "needs.hunger", "unmet": 100, "met": 0}}
    scenario = village(needs=upside_down)
    assert body(scenario, hunger=20).arm == "silent"
    assert body(scenario, hunger=80).arm == "reflex:hungry"
    reading = scenario.mind.character.body.needs["hunger"]
    assert reading.value == 0.2


def test_what_it_does_already_goes_on() -> None:
    """A reflex for what is being done is no new action."""
    scenario = village()
    body(scenario, hunger=0.5, energy=80)
    again = body(scenario, hunger=0.45, energy=80)
    assert (again.silence, again.arm) == ("nothing_due", "silent")
    assert again.layers is not None
    assert again.layers[0].verdict == "goes_on"


def test_the_stronger_interrupts_and_the_weaker_waits() -> None:
    """Only a strictly higher priority takes the place of what is done."""
    scenario = village()
    assert body(scenario, hunger=0.5, energy=80).arm == "reflex:hungry"
    assert body(scenario, hunger=0.5, energy=10).arm == "reflex:tired"
    weaker = body(scenario, hunger=0.05, energy=10)
    assert weaker.layers is not None
    assert weaker.layers[0].verdict == "goes_on", "tired is still the best"
    weaker = body(scenario, hunger=0.05, energy=50)
    assert weaker.layers is not None
    assert weaker.layers[0].verdict == "matters_less"


def test_forced_sleep_is_not_interrupted() -> None:
    """Not even by what matters more."""
    scenario = village(
        reflexes=[
            {"name": "exhausted", "when": "energy <= 0", "behaviour": "forced_sleep"},
            {
                "name": "burning",
                "when": "fire = true",
                "behaviour": "flee",
                "priority": 200,
            },
        ]
    )
    assert body(scenario, energy=0).arm == "reflex:exhausted"
    turn = report(scenario, {"fire": True})
    assert one(turn, Decided).layers[0].verdict == "uninterruptible"  # type: ignore[index]


def test_a_report_ends_it_and_the_next_begins() -> None:
    """The world says that it ate; being rested and fed, there is nothing to do."""
    scenario = village()
    begun = report(scenario, {"needs": {"hunger": 0.5, "energy": 80}})
    decision_id = begun.outputs[0].id
    over = report(
        scenario,
        {"needs": {"hunger": 0.9}},
        in_reply_to=decision_id,
        outcome="succeeded",
    )
    assert one(over, Decided).silence == "nothing_due"
    assert scenario.mind.character.doing is None
    assert scenario.mind.character.idle_since == scenario.at


def test_a_late_report_ends_nothing() -> None:
    """It is about something that was interrupted meanwhile."""
    scenario = village()
    first = report(scenario, {"needs": {"hunger": 0.5, "energy": 80}}).outputs[0].id
    body(scenario, hunger=0.5, energy=10)
    report(scenario, {}, in_reply_to=first, outcome="failed")
    doing = scenario.mind.character.doing
    assert doing is not None
    assert doing.behaviour == "seek_sleep"


def test_the_dead_and_the_played_do_not_decide() -> None:
    """With the reason."""
    assert body(village(), health=0, hunger=0.0, energy=80).silence == "dead"
    scenario = village()
    turn = report(scenario, {"needs": {"hunger": 0.0}, "player": True})
    assert one(turn, Decided).silence == "player_controlled"
    assert said(turn, WakeupSet) == []


def test_a_falling_need_wakes_it_by_itself() -> None:
    """It tells when; until then time costs no decision, and then it acts."""
    scenario = village(reflexes=[HUNGRY])
    turn = report(scenario, {"needs": {"hunger": 0.7}, "rates": {"hunger": -0.001}})
    due = one(turn, WakeupSet).due_at
    # 0.7 falls to 0.6 in 100 s; a tick later it is under it.
    assert due == factories.NOON + timedelta(seconds=101)
    early = tick(scenario, 100)
    assert [each.message for each in early.outputs] == [Handled(reason="nothing_due")]
    acts = tick(scenario, 1)
    decided = one(acts, Decided)
    assert (decided.arm, decided.timer, decided.event_id) == (
        "reflex:hungry",
        "think",
        acts.outputs[0].id,
    )


def test_boredom_comes_after_five_idle_seconds() -> None:
    """Having nothing to do is a need as well."""
    scenario = village()
    turn = report(scenario, {"needs": {"hunger": 1.0, "energy": 100}})
    assert one(turn, WakeupSet).due_at == factories.NOON + timedelta(seconds=5)
    assert one(tick(scenario, 5), Decided).arm == "reflex:bored"


def test_what_nobody_ends_is_over_after_its_time() -> None:
    """A world that lost an action stops nobody for ever."""
    scenario = village(behaviours={**BEHAVIOURS, "wander": {"lasts_s": 60}})
    report(scenario, {"needs": {"hunger": 1.0, "energy": 100}})
    tick(scenario, 5)
    assert scenario.mind.character.doing is not None
    # Over at 65 s, bored again 5 s later.
    assert scenario.mind.character.due == factories.NOON + timedelta(seconds=70)
    assert one(tick(scenario, 65), Decided).arm == "reflex:bored"


def test_thinking_only_where_something_can_change_equals_asking_each_tick() -> None:
    """The next time found is the first tick at which asking would act."""
    scenario = village()
    report(
        scenario,
        {
            "needs": {"hunger": 0.93, "energy": 41},
            "rates": {"hunger": -0.0007, "energy": -0.11},
        },
    )
    character, now = scenario.mind.character, scenario.at
    mind = villager().pack.mind
    assert mind is not None
    for _ in range(4):
        found = reflexes.due(character, mind, now, partial(_acts_with, character, mind))
        assert found is not None
        asked = now + timedelta(seconds=1)
        while not _acts(character, mind, asked):
            asked += timedelta(seconds=1)
        assert found == asked
        now = found
        character = _doing(character, mind, now)


def test_a_pack_without_a_mind_leaves_a_companion() -> None:
    """Nothing of a character stands in its decisions or its state."""
    scenario = Scenario(factories.pack())
    decided = scenario.decide("It is noon.")
    assert (decided.layer, decided.layers) == (None, None)
    assert scenario.mind.character == Character()


def test_odd_bodies_change_nothing_and_stop_nobody() -> None:
    """Texts as needs, truths as numbers, huge values, too many fields."""
    scenario = village()
    fields: dict[str, Any] = {f"f{n}": n for n in range(200)}
    odd = {"hunger": "much", "energy": True}
    decided = one(
        report(scenario, {"needs": odd, "huge": "x" * 10_000, **fields}), Decided
    )
    assert decided.silence == "nothing_due"
    known = scenario.mind.character.body
    assert dict(known.needs) == {}
    assert len(known.fields) <= 64
    assert "huge" not in known.fields


def _acts_with(character: Character, mind: Any, at: Any, _: object) -> bool:
    return _acts(character, mind, at)


def _acts(character: Character, mind: Any, at: Any) -> bool:
    fields = reflexes.fields_at(character, mind, at)
    return reflexes.find(mind, fields, reflexes.doing_at(character, at)).acts


def _doing(character: Character, mind: Any, now: Any) -> Character:
    """Begin what asking comes to, as the decision's fold does."""
    fields = reflexes.fields_at(character, mind, now)
    best = reflexes.find(mind, fields, reflexes.doing_at(character, now)).best
    assert best is not None
    doing = Doing(
        decision_id="d",
        behaviour=best.behaviour,
        priority=mind.priority(best),
        since=now,
        until=now + timedelta(seconds=300),
    )
    return replace(character, doing=doing, idle_since=None)
