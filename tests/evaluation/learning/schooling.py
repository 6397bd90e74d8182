"""A short scenario in which a lesson is taught, gains trust, loses it, and is edited."""

from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    SessionStarted,
)
from schemas.messages.feedback import FeedbackGiven
from tests.scenario import Scenario, decision_id

RESTS = "rest-when-low"
THREAT = {"threat": 0.9}


def taught(confidence: float = 0.5) -> Scenario:
    """A scenario with one lesson, in which a heuristic answers from .6 on."""
    scenario = Scenario(threshold=0.6)
    scenario.control(SessionStarted(session_id="first"))
    scenario.control(
        HeuristicSeeded(
            heuristic_id="h",
            name=RESTS,
            domain="game",
            condition="health low",
            text="Rest.",
            confidence=confidence,
        )
    )
    return scenario


def two_sessions() -> Scenario:
    """Two sessions: in the first it rises, in the second it falls and is changed."""
    scenario = taught()
    scenario.wait(600).sense("health low", salience=THREAT)
    scenario.tell(FeedbackGiven(heuristic_id="h", rating="positive", actor="ana"))
    fire(scenario, "succeeded", reason="slept well")
    scenario.wait(3_600).control(SessionStarted(session_id="second"))
    turn = fire(scenario, "failed")
    scenario.feedback(turn, "negative", actor="bo", comment="not now")
    scenario.wait(60).control(HeuristicEdited(heuristic_id="h", text="Sleep."))
    scenario.control(HeuristicFrozen(heuristic_id="h", reason="enough"))
    scenario.wait(60).sense("health low", salience=THREAT)
    return scenario


def fire(scenario: Scenario, outcome: str, reason: str | None = None) -> str:
    """Let it answer, and tell how that turned out; the decision's id."""
    turn = scenario.wait(600).sense("health low", salience=THREAT)
    id_ = decision_id(turn)
    scenario.wait(20).sense(
        "how it went", type_="thing", in_reply_to=id_, outcome=outcome, reason=reason
    )
    return id_
