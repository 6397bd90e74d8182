"""A small world to try things out in: a greenhouse, played in memory, kept as sessions.

In each session watering helps at first and less later on, so whoever forgets predicts
better; opening the window helps more often than the strategy asks of it, so whoever trusts
it earlier does better. Which arm is taken is drawn now and then, so that recordings tell.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from echoic.world.world import Mind
from schemas.packs.event_types import EventType
from schemas.packs.manifest import (
    ExecutiveOfPack,
    Heuristic,
    OutcomePattern,
    Pack,
    Response,
)

_ROUNDS = 52
"""Occasions of one session."""
# Less than the half hour without events that ends a session.
_EVERY_S = 900.0
# Within the patterns' 600 seconds, and before the next occasion.
_AFTER_S = 300.0
_STRATEGY = "heuristic_first:threshold=0.8"
# Far more than a live instance would explore: few sessions have to be enough.
_EXPLORATION = {"scheme": "uniform", "rate": 0.8}
_WINDOW_HELPS = 0.72
_WATER_HELPS = (0.97, 0.5)
"""In the first half of a session, and in the second."""
_TYPES = {
    "soil_dry": ("The soil is dry", "The soil is moist"),
    "air_hot": ("The air is hot", "The air is mild"),
}
"""Each kind of occasion: what it says, and what shows that advice helped."""
_FAILED = "The leaves hang"


def recordings(folder: Path, sessions: int, seed: int) -> Iterator[Path]:
    """Play so many sessions into files of a folder; the same seed plays the same bytes."""
    for number in range(sessions):
        name = f"greenhouse-{seed}-{number:03}"
        yield _played(name, folder / f"{name}.echoic")


def _played(name: str, file: Path) -> Path:
    # Seeded by the session's name, so sessions differ and each is always the same.
    chance = Random(name)
    mind = Mind(
        _pack(), name=name, strategy=_STRATEGY, settings={"exploration": _EXPLORATION}
    )
    for each in range(_ROUNDS):
        type_ = chance.choice(list(_TYPES))
        bad, good = _TYPES[type_]
        at = each * _EVERY_S
        said = mind.sense(bad, source="greenhouse", type=type_, at=at).said
        # Drawn whether or not it is used: the next occasions do not depend on what is said.
        helps = chance.random() < _chance(type_, each)
        if said:
            text = good if helps else _FAILED
            mind.sense(text, source="greenhouse", type="after", at=at + _AFTER_S)
    return mind.save(file)


def _chance(type_: str, each: int) -> float:
    return _WINDOW_HELPS if type_ == "air_hot" else _WATER_HELPS[each >= _ROUNDS // 2]


def _pack() -> Pack:
    """Return what its events are, what is known of them, and what shows that it helped."""
    patterns = tuple(
        OutcomePattern(
            trigger_pattern=bad,
            outcome_pattern=after,
            timeout_sec=600,
            is_success=helped,
        )
        for bad, good in _TYPES.values()
        for after, helped in ((good, True), (_FAILED, False))
    )
    return Pack(
        schema=1,
        name="greenhouse",
        version="1.0.0",
        executive=ExecutiveOfPack(outcome_patterns=patterns),
        events=(
            *(
                EventType(
                    type=type_,
                    source="greenhouse",
                    salience={"actionability": 0.7},
                    tau_s=60,
                )
                for type_ in _TYPES
            ),
            EventType(type="after", source="greenhouse"),
        ),
        heuristics=(
            _heuristic("water", "soil_dry", "Water the plants.", 0.9),
            _heuristic("window", "air_hot", "Open the window.", 0.7),
        ),
    )


def _heuristic(name: str, type_: str, text: str, confidence: float) -> Heuristic:
    return Heuristic(
        name=name,
        condition=_TYPES[type_][0],
        when=f'type = "{type_}"',
        action=Response(type="suggestion", text=text),
        confidence=confidence,
    )
