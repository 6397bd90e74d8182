"""Scenarios that sleep, and what they are asked and told."""

from typing import Any

import orjson

from handlers.mind.turn import Turn
from schemas.codec import checkpoint
from schemas.messages.controls import HeuristicSeeded
from schemas.state.lessons import Sleeping
from tests import factories
from tests.factories import heuristic, pack, plain_sleep
from tests.scenario import Scenario, applied, decision_id

GARDEN = pack(heuristic("dusk", "the sun goes down over the hills", "Go in.", 0.8))
EVENT, SAID = "health became very low", "Eat what lies near you now."
CONDITION = "the health of the player has become very low while food is near"
MESSAGE = "Your health is very low now so eat what lies near you"


def living(*, sleep: Any = None, **settings: Any) -> Scenario:
    """A scenario that remembers what a sleep may look at."""
    how = plain_sleep(**{"events": 4, **(sleep or {})})
    defaults = {"model": factories.MODEL, "relevance": 0.0, "endorsement": True}
    return Scenario(GARDEN, sleep=how, **{**defaults, "formation": True, **settings})


def rule(**changes: Any) -> str:
    """What a model sends that was asked for a rule."""
    fields = {"condition": CONDITION, "type": "suggest", "message": MESSAGE}
    return orjson.dumps({**fields, **changes}).decode()


def answered_event(scenario: Scenario, text: str = EVENT, answer: str = SAID) -> str:
    """The decision on an event that a model answered."""
    turn = scenario.wait(60).sense(text, fields={"health": 2})
    scenario.wait(1).answer_model(turn, answer)
    return decision_id(turn)


def taught(scenario: Scenario, name: str, says: str = SAID, **more: Any) -> str:
    """Teach a heuristic of the garden."""
    fields = {"condition": "health is low", "domain": "garden", "confidence": 0.5}
    seeded = HeuristicSeeded.from_fields(
        {"heuristic_id": name, "name": name, "text": says, **fields, **more}
    )
    applied(scenario.control(seeded))
    return name


def asleep(scenario: Scenario) -> Sleeping:
    """The sleep under way."""
    sleeping = scenario.mind.sleeping
    assert sleeping is not None
    return sleeping


def told(scenario: Scenario, turn: Turn, text: str) -> Turn:
    """The model's answer to what a sleep asked."""
    return scenario.wait(1).answer_model(turn, text)


def state(scenario: Scenario) -> bytes:
    """What is known of heuristics, as bytes."""
    mind = scenario.mind
    kept = scenario.state.agents.set(
        scenario.agent,
        type(mind)(shelves=mind.shelves, frozen=mind.frozen, beliefs=mind.beliefs),
    )
    return checkpoint.dump(type(scenario.state)(agents=kept))
