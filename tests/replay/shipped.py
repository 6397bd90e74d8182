"""Verifies every shipped session, and scenarios a scenario of many scripts, in this Python.

Run as `python -m tests.replay.shipped`; prints one JSON object.
"""

import asyncio
import json
import sys

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import (
    ExperimentStopped,
    SessionEnded,
    SessionStarted,
    StrategySelected,
)
from schemas.values import unicode_text
from streams.session_files.file import read_session
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.handlers.mind.fixed_scenario import summary
from tests.replay.evening import EVENING, verified
from tests.scenario import Scenario, occurred, said

RULE = json.dumps(
    {
        "condition": "Größe und Straße कमी \U0001fa77 नमस्ते café sind heute an der Reihe",
        "type": "suggest",
        "message": "take a long rest by the fire now and then go on home",
    }
)
WORDS = (
    "कमी",
    "\U0001fae8",
    "Straße",
    "cafe\u0301",
    "\uff35\uff2e\uff24\uff2f",
    "\U0001e4d0",
    "ΟΔΟΣ",
)


def sessions() -> dict[str, dict[str, object]]:
    """How each shipped session came out, by file."""
    paths = sorted(EVENING.parents[2].glob("*/recording/*.echoic"))
    return {path.name: _verified(path.name) for path in paths}


def scenario() -> str:
    """What came of a scenario whose numbers and words depend on the Python, if any do."""
    scenario = Scenario(
        pack(
            heuristic("low", "strength low", "Drink.", confidence=0.61),
            heuristic("street", "Straße कमी", "Walk.", confidence=0.58),
            patterns=[pattern("कमी", "café", 60), pattern("strength", "undo", 60)],
        ),
        model=factories.MODEL,
        formation=True,
        relevance=0.0,
        learning={"undo_s": 60.0},
    )
    for number, strategy in enumerate(("heuristic_first", "thompson", "hybrid") * 8):
        scenario.control(StrategySelected(strategy=strategy))
        _some(scenario, number)
    scenario.control(SessionStarted(session_id="s", clock="event"))
    scenario.sense("strength low", occurred_at=occurred(factories.after(-9_000.0)))
    scenario.control(SessionEnded())
    return summary(scenario)


def _some(scenario: Scenario, number: int) -> None:
    hints = {"threat": 0.1 + number / 70, "social": 0.7 / (number + 1), "humor": 1 / 3}
    word = WORDS[number % len(WORDS)]
    turn = scenario.wait(7).sense(f"strength low {word} कमी", salience=hints)
    scenario.feedback(turn, "scaled", value=(number % 7 - 3) / 3, actor=word)
    if said(turn, ModelAsked):
        scenario.answer_model(turn, RULE if number % 2 else word)
        liked = scenario.feedback(turn, actor=word)
        if said(liked, ModelAsked):
            scenario.answer_model(liked, RULE)
    scenario.control(ExperimentStopped(experiment_id=word))
    scenario.wait(3).sense(word, type_=f"t{number % 3}")


def _verified(name: str) -> dict[str, object]:
    path = next(EVENING.parents[2].glob(f"*/recording/{name}"))
    found = asyncio.run(verified(read_session(path)))
    return {
        "identical": found.identical,
        "total": found.total,
        "divergence": str(found.divergence) if found.divergence else None,
    }


def main() -> None:
    """Verify, live and print."""
    report = {
        "version": sys.version.split()[0],
        "sessions": sessions(),
        "scenario": scenario(),
        "quoted": unicode_text.quoted(" ".join(WORDS)),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
