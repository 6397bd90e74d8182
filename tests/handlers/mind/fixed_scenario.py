"""A fixed scenario of every sort of input; run as a program it prints what came of it.

Two runs must print the same, whatever the processor, the threads and the hash seed.
"""

import hashlib
import sys

from schemas.codec import checkpoint
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicSeeded,
    ProfileSet,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.results import ClockTicked
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, said

GARDEN = pack(
    heuristic("low", "player health is low", "Drink.", when="health < 4 or mana < 2"),
    heuristic("dusk", "dusk falls over the land", "Sleep.", confidence=0.5),
    heuristic("foe", "a zombie comes near", "Fight.", confidence=0.71),
    context="A garden at night.",
    patterns=[
        pattern("health", "health restored", 120),
        pattern("health", "player died", 60, success=False),
        pattern("zombie", "zombie gone", 20),
    ],
)


def played() -> Scenario:
    """The scenario, after its last input."""
    scenario = Scenario(GARDEN, model=factories.MODEL, biases={"a": 0.1, "b": -0.2})
    scenario.control(SessionStarted(session_id="s", clock="event"))
    scenario.control(GoalsSet(goals=("Live", "Explore")))
    seeded = HeuristicSeeded(
        heuristic_id="h",
        name="h",
        domain="camera",
        condition="a face appears",
        text="Smile.",
    )
    scenario.control(seeded)
    for step in range(60):
        _step(scenario, step)
    scenario.control(SessionEnded())
    scenario.wait(4_000).sense(
        "good morning to you all", type_="message", source="user"
    )
    scenario.tell(ClockTicked(due_at=scenario.at))
    return scenario


def _step(scenario: Scenario, step: int) -> None:
    at = factories.after(step * 7.5).isoformat()
    kind = step % 6
    if step == 30:
        scenario.control(StrategySelected(strategy="random"))
        scenario.control(HeuristicEdited(heuristic_id="h", text="Wave.", keep=True))
        scenario.control(ProfileSet(biases={"confidence_threshold": -0.1}))
    if kind == 0:
        fields = {"health": step % 5, "mana": 1.5, "names": ["b", "a"]}
        hints = {"threat": 0.9, "social": 0.25, "goal_relevance": 0.1}
        low = scenario.sense(
            "player health is low", fields=fields, salience=hints, occurred_at=at
        )
        scenario.feedback(low, "scaled", value=(step % 7 - 3) / 3, actor=f"a{step % 3}")
    elif kind == 1:
        scenario.sense(
            "a zombie comes near", entities=["zombie", "ana"], occurred_at=at
        )
    elif kind == 2:
        scenario.sense(f"health restored in step {step}", occurred_at=at)
    elif kind == 3:
        asked = scenario.sense(f"dusk falls over land {step}", occurred_at=at)
        if said(asked, ModelAsked):
            scenario.answer_model(asked, f"Rest {step}.", predicted_success=step / 50)
    elif kind == 4:
        scenario.sense("a face appears", source="camera", type_="seen", occurred_at=at)
        scenario.tell(
            FeedbackGiven(heuristic_id="h", rating="positive", actor=f"x{step}")
        )
    else:
        subject = f"ev.{scenario.partition}.in.ana.sensor.game.vital"
        scenario.take(subject, bytes([step]), {"ce-id": f"raw-{step}"})


def summary(scenario: Scenario) -> str:
    """The agent's chain, and a digest of everything known."""
    digest = hashlib.sha256(checkpoint.dump(scenario.state)).hexdigest()
    return f"{scenario.mind.chain} {digest}"


if __name__ == "__main__":
    sys.stdout.write(summary(played()))
