"""Lives that sleep, and what they are asked and told."""

from typing import Any

import orjson

from handlers.mind.turn import Turn
from schemas.codec import checkpoint
from schemas.messages.controls import HeuristicSeeded
from schemas.messages.sleep import Sleeping
from schemas.values.settings import SleepSettings
from tests import factories
from tests.factories import heuristic, pack
from tests.life import Life, applied, decision_id

GARDEN = pack(heuristic("dusk", "the sun goes down over the hills", "Go in.", 0.8))
EVENT, SAID = "health became very low", "Eat what lies near you now."
CONDITION = "the health of the player has become very low while food is near"
MESSAGE = "Your health is very low now so eat what lies near you"


def living(*, sleep: Any = None, **settings: Any) -> Life:
    """A life that remembers what a sleep may look at."""
    how = SleepSettings(**{"events": 4, **(sleep or {})})
    defaults = {"model": factories.MODEL, "relevance": 0.0, "endorsement": True}
    return Life(GARDEN, sleep=how, **{**defaults, "formation": True, **settings})


def rule(**changes: Any) -> str:
    """What a model sends that was asked for a rule."""
    fields = {"condition": CONDITION, "type": "suggest", "message": MESSAGE}
    return orjson.dumps({**fields, **changes}).decode()


def lived(life: Life, text: str = EVENT, answer: str = SAID) -> str:
    """The decision on an event that a model answered."""
    turn = life.wait(60).sense(text, fields={"health": 2})
    life.wait(1).answer_model(turn, answer)
    return decision_id(turn)


def taught(life: Life, name: str, says: str = SAID, **more: Any) -> str:
    """Teach a heuristic of the garden."""
    fields = {"condition": "health is low", "domain": "garden", "confidence": 0.5}
    seeded = HeuristicSeeded.model_validate(
        {"heuristic_id": name, "name": name, "text": says, **fields, **more}
    )
    applied(life.control(seeded))
    return name


def asleep(life: Life) -> Sleeping:
    """The sleep under way."""
    sleeping = life.mind.sleeping
    assert sleeping is not None
    return sleeping


def told(life: Life, turn: Turn, text: str) -> Turn:
    """The model's answer to what a sleep asked."""
    return life.wait(1).answer_model(turn, text)


def state(life: Life) -> bytes:
    """What is known of heuristics, as bytes."""
    mind = life.mind
    kept = life.state.agents.set(
        life.agent,
        type(mind)(shelves=mind.shelves, frozen=mind.frozen, beliefs=mind.beliefs),
    )
    return checkpoint.dump(type(life.state)(agents=kept))
