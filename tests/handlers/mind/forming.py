"""A scenario that forms heuristics of what its model says, for the tests of that."""

from typing import Any

import orjson

from handlers.mind.turn import Turn
from schemas.messages.learning import CandidateRefused
from schemas.state.taught import Taught
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, names, one

CONDITION = "the health of the player has become very low while food is near"
MESSAGE = "Your health is very low now so eat what lies near you"
EVENT = "health became very low"
GARDEN = pack(heuristic("dusk", "the sun goes down over the hills", "Go in.", 0.8))
WARM = 0.6


def alive(*packs: Any, **settings: Any) -> Scenario:
    """A scenario that forms heuristics."""
    return Scenario(
        *(packs or (GARDEN,)),
        model=factories.MODEL,
        **{"formation": True, "relevance": 0.0, **settings},
    )


def rule(**changes: Any) -> str:
    """What a model sends that was asked for a rule."""
    fields = {
        "condition": CONDITION,
        "type": "suggest",
        "message": MESSAGE,
        "when": "health <= 3",
        "time": None,
    }
    return orjson.dumps({**fields, **changes}).decode()


def answered(scenario: Scenario, text: str = EVENT, **fields: Any) -> str:
    """The decision on an event that a model answered."""
    turn = scenario.sense(text, **{"fields": {"health": 2}, **fields})
    scenario.wait(1).answer_model(turn, "Eat something.")
    return decision_id(turn)


def liked(scenario: Scenario, **vote: Any) -> Turn:
    """The vote on an answer of a model's."""
    return scenario.wait(1).feedback(answered(scenario), **vote)


def formed(scenario: Scenario, **changes: Any) -> Turn:
    """What comes of a rule that a model sends."""
    asked = liked(scenario)
    return scenario.wait(1).answer_model(asked, rule(**changes))


def refused(turn: Turn) -> tuple[str, str]:
    """Why nothing was formed."""
    assert names(turn)[-1] == "CandidateRefused"
    message = one(turn, CandidateRefused)
    return message.reason, message.detail


def learnt(scenario: Scenario, domain: str = "garden") -> list[Taught]:
    """What the agent has formed itself."""
    shelf = scenario.mind.shelves.get(domain)
    return list(shelf.heuristics.values()) if shelf else []
