"""What fails time and again: reflexes are held back, and without its model one is scripted."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked, WakeupSet
from schemas.messages.decisions import Decided, LayerVerdict
from schemas.values.settings import CharacterSettings
from tests.factories import plain_characters
from tests.handlers.mind.characters import planners
from tests.handlers.mind.characters.test_talker import TALKER
from tests.handlers.mind.characters.village import HUNGRY
from tests.handlers.mind.characters.worksite import MODEL, Worksite, pack, reply
from tests.scenario import Scenario, one, said

RULES = plain_characters(backs_off=True, falls_back=True)
AIMLESS = {"name": "aimless", "when": "scripted = true", "behaviour": "wander"}


def site(rules: CharacterSettings = RULES, **mind: Any) -> Worksite:
    """A villager under these settings, with a model."""
    return Worksite(Scenario(pack(**mind), agent="aria", model=MODEL, characters=rules))


def talker(model: Any = MODEL, **mind: Any) -> Worksite:
    """A villager who talks, and wanders about while it is scripted."""
    parts = {
        "layers": ["reflex", "queue", "talker"],
        "talker": TALKER,
        "reflexes": [HUNGRY, AIMLESS],
        **mind,
    }
    return Worksite(
        Scenario(pack(**parts), agent="aria", model=model, characters=RULES)
    )


def layer(turn: Turn, name: str) -> LayerVerdict:
    """What a layer came to in the decision of a turn."""
    (found,) = (each for each in one(turn, Decided).layers or () if each.layer == name)
    return found


def ended(world: Worksite, outcome: str = "failed") -> Turn:
    """Report how the latest action ended; it is hungry still."""
    reply_to = {"in_reply_to": world.decision_id, "outcome": outcome}
    return world.report(hunger=0.2, **reply_to)


def held_for(world: Worksite) -> float:
    """After how many seconds it tries again."""
    began = world.scenario.at
    for _ in range(200):
        if said(world.tick(), DeliveryAsked):
            return (world.scenario.at - began).total_seconds()
    raise AssertionError("it never tries again")


def test_a_reflex_that_fails_is_tried_less_and_less_often() -> None:
    """Not in the same moment: after 1, 2, 4 and 8 seconds, as the default has it."""
    world = site()
    world.report(hunger=0.2)
    waits = []
    for _ in range(4):
        turn = ended(world)
        assert not said(turn, DeliveryAsked)
        waits.append(held_for(world))
    assert waits == [1.0, 2.0, 4.0, 8.0]
    turn = ended(world)
    verdict = layer(turn, "reflex")
    assert (verdict.verdict, verdict.rule) == ("held_back", "hungry")
    assert "seek_food failed 5 times in a row, held back until" in verdict.why
    assert one(turn, WakeupSet).due_at is not None


def test_a_pack_says_how_long() -> None:
    """How long after the first failure, and how long at most."""
    world = site(backoff={"first_s": 5, "most_s": 12})
    world.report(hunger=0.2)
    waits = []
    for _ in range(4):
        ended(world)
        waits.append(held_for(world))
    assert waits == [5.0, 10.0, 12.0, 12.0]


@pytest.mark.parametrize(
    ("outcome", "waits"), [("succeeded", 1.0), ("cancelled", 2.0), ("overridden", 2.0)]
)
def test_only_a_success_ends_it(outcome: str, waits: float) -> None:
    """What was stopped or overridden tells nothing."""
    world = site()
    world.report(hunger=0.2)
    ended(world)
    held_for(world)
    ended(world, outcome)
    ended(world)
    assert held_for(world) == waits


def test_the_next_reflex_acts_while_one_is_held_back() -> None:
    """And its verdict says which one was."""
    lower = {**HUNGRY, "name": "bored", "when": "hunger < 1", "behaviour": "wander"}
    world = site(reflexes=[HUNGRY, {**lower, "priority": 10}])
    world.report(hunger=0.2)
    turn = ended(world)
    assert world.deeds == ["seek_food", "wander"]
    verdict = layer(turn, "reflex")
    assert (verdict.verdict, verdict.rule) == ("acts", "bored")
    assert "seek_food failed 1 times in a row" in verdict.why


def test_without_the_setting_it_tries_at_once() -> None:
    """Nothing is held back."""
    world = site(plain_characters())
    world.report(hunger=0.2)
    assert said(ended(world), DeliveryAsked)


@pytest.mark.parametrize("reason", ["no_response", "timeout", "declined"])
def test_who_has_a_model_falls_back_with_the_reason(reason: str) -> None:
    """Its decisions say so until a model answers; what is scripted is done meanwhile."""
    world = talker()
    asked = world.report()
    world.scenario.fail_model(asked, reason)
    turn = world.tick()
    assert world.deeds == ["wander"]
    turn = world.report()
    why = f"scripted since its model failed: llm_{reason}"
    assert why in layer(turn, "talker").why

    # It is asked again in its time, and then all is as before.
    world.fails("succeeded")
    world.scenario.wait(1)
    world.fails("succeeded")
    asked = world.tick(70)
    while not said(asked, ModelAsked):
        asked = (
            world.fails("succeeded") if said(asked, DeliveryAsked) else world.tick(9)
        )
    reply(world.scenario, asked, {"thinking": "I am back."})
    assert not world.scenario.mind.character.failed
    assert "scripted" not in layer(world.report(), "talker").why


def test_without_a_model_it_is_scripted() -> None:
    """None is configured: it says so, and does what is scripted."""
    world = talker(None)
    turn = world.report()
    assert world.deeds == ["wander"]
    turn = world.report()
    assert layer(turn, "talker").why == "no model is configured"


def test_one_model_that_is_asked_makes_nobody_think_meanwhile() -> None:
    """Until it answers nothing is due, however long that takes."""
    world = planners.site(
        layers=["reflex", "queue", "talker", "executor"], talker=TALKER, mode="single"
    )
    turn = world.report()
    assert said(turn, ModelAsked)
    assert not [each for each in said(turn, WakeupSet) if each.due_at is not None]
