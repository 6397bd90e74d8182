"""A short life in which a lesson is taught, gains trust, loses it, and is edited."""

from schemas.messages.controls import (
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    SessionStarted,
)
from schemas.messages.feedback import FeedbackGiven
from tests.life import Life, decision_id

RESTS = "rest-when-low"
THREAT = {"threat": 0.9}


def taught(confidence: float = 0.5) -> Life:
    """A life with one lesson, in which a heuristic answers from .6 on."""
    life = Life(threshold=0.6)
    life.control(SessionStarted(session_id="first"))
    life.control(
        HeuristicSeeded(
            heuristic_id="h",
            name=RESTS,
            domain="game",
            condition="health low",
            text="Rest.",
            confidence=confidence,
        )
    )
    return life


def lived() -> Life:
    """Two sessions: in the first it rises, in the second it falls and is changed."""
    life = taught()
    life.wait(600).sense("health low", salience=THREAT)
    life.tell(FeedbackGiven(heuristic_id="h", rating="positive", actor="ana"))
    fire(life, "succeeded", reason="slept well")
    life.wait(3_600).control(SessionStarted(session_id="second"))
    turn = fire(life, "failed")
    life.feedback(turn, "negative", actor="bo", comment="not now")
    life.wait(60).control(HeuristicEdited(heuristic_id="h", text="Sleep."))
    life.control(HeuristicFrozen(heuristic_id="h", reason="enough"))
    life.wait(60).sense("health low", salience=THREAT)
    return life


def fire(life: Life, outcome: str, reason: str | None = None) -> str:
    """Let it answer, and tell how that turned out; the decision's id."""
    turn = life.wait(600).sense("health low", salience=THREAT)
    id_ = decision_id(turn)
    life.wait(20).sense(
        "how it went", type_="thing", in_reply_to=id_, outcome=outcome, reason=reason
    )
    return id_
