"""A fixed life of every sort of input; run as a program it prints what came of it.

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
from tests.life import Life, said

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


def lived() -> Life:
    """The life, after its last input."""
    life = Life(GARDEN, model=factories.MODEL, biases={"a": 0.1, "b": -0.2})
    life.control(SessionStarted(session_id="s", clock="event"))
    life.control(GoalsSet(goals=("Live", "Explore")))
    seeded = HeuristicSeeded(
        heuristic_id="h",
        name="h",
        domain="camera",
        condition="a face appears",
        text="Smile.",
    )
    life.control(seeded)
    for step in range(60):
        _step(life, step)
    life.control(SessionEnded())
    life.wait(4_000).sense("good morning to you all", type_="message", source="user")
    life.tell(ClockTicked(due_at=life.at))
    return life


def _step(life: Life, step: int) -> None:
    at = factories.after(step * 7.5).isoformat()
    kind = step % 6
    if step == 30:
        life.control(StrategySelected(strategy="random"))
        life.control(HeuristicEdited(heuristic_id="h", text="Wave.", keep=True))
        life.control(ProfileSet(biases={"confidence_threshold": -0.1}))
    if kind == 0:
        fields = {"health": step % 5, "mana": 1.5, "names": ["b", "a"]}
        hints = {"threat": 0.9, "social": 0.25, "goal_relevance": 0.1}
        low = life.sense(
            "player health is low", fields=fields, salience=hints, occurred_at=at
        )
        life.feedback(low, "scaled", value=(step % 7 - 3) / 3, actor=f"a{step % 3}")
    elif kind == 1:
        life.sense("a zombie comes near", entities=["zombie", "ana"], occurred_at=at)
    elif kind == 2:
        life.sense(f"health restored in step {step}", occurred_at=at)
    elif kind == 3:
        asked = life.sense(f"dusk falls over land {step}", occurred_at=at)
        if said(asked, ModelAsked):
            life.answer_model(asked, f"Rest {step}.", predicted_success=step / 50)
    elif kind == 4:
        life.sense("a face appears", source="camera", type_="seen", occurred_at=at)
        life.tell(FeedbackGiven(heuristic_id="h", rating="positive", actor=f"x{step}"))
    else:
        subject = f"ev.{life.partition}.in.ana.sensor.game.vital"
        life.take(subject, bytes([step]), {"ce-id": f"raw-{step}"})


def summary(life: Life) -> str:
    """The agent's chain, and a digest of everything known."""
    digest = hashlib.sha256(checkpoint.dump(life.state)).hexdigest()
    return f"{life.mind.chain} {digest}"


if __name__ == "__main__":
    sys.stdout.write(summary(lived()))
