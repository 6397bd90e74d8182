"""Scenarios of many sessions, in which something is to be found by tuning."""

from random import Random

from schemas.messages.controls import SessionStarted
from schemas.messages.decisions import Decided
from schemas.values.model_settings import ModelSettings
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one

CHANCE = {"opportunity": 0.9}
"""No threat, for on a threat nothing is tried out."""
CONDITION = "health low"


def drifting(sessions: int, fires: int = 6) -> Scenario:
    """A heuristic that works in four sessions, then fails in four, and so on."""
    scenario = Scenario(
        pack(heuristic("h", CONDITION, "Rest.", confidence=0.7)),
        threshold=0.3,
        relevance=0.0,
        learning={"frozen_below": 0.0},
    )
    for number in range(sessions):
        scenario.control(SessionStarted(session_id=f"s{number:02}"))
        for _ in range(fires):
            report(scenario, is_success=number // 4 % 2 == 0)
    return scenario


def explored(
    sessions: int,
    *,
    decisions: int = 12,
    worth: float = 0.9,
    rate: float = 0.5,
    model: ModelSettings | None = None,
) -> Scenario:
    """A heuristic a little under the threshold that would have been worth saying."""
    random = Random(0)
    scenario = Scenario(
        pack(heuristic("h", CONDITION, "Rest.", confidence=0.65)),
        relevance=0.0,
        learning={"kappa": 1_000.0},
        exploration={"scheme": "uniform", "rate": rate},
        model=model,
    )
    for number in range(sessions):
        scenario.control(SessionStarted(session_id=f"s{number:02}"))
        for _ in range(decisions):
            report(scenario, is_success=random.random() < worth)
    return scenario


def report(scenario: Scenario, *, is_success: bool) -> None:
    """Let something happen, and tell how what was said of it turned out."""
    turn = scenario.wait(700).sense(CONDITION, salience=CHANCE)
    if one(turn, Decided).path != "heuristic":
        return
    scenario.sense(
        "how it went",
        type_="thing",
        in_reply_to=turn.outputs[0].id,
        outcome="succeeded" if is_success else "failed",
    )
