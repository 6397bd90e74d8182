"""The pack's manifest against the sensor that it was written for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from echoic.embedders import embedder
from echoic.packs.load import load
from packs.survival.sensor import events, goals
from schemas.messages.sensing import Sensed
from schemas.packs import conditions, word_patterns
from schemas.packs.manifest import Heuristic
from schemas.values import vectors
from tests.packs.survival.scenes import ACHIEVEMENTS, scene

PACK = load(Path(__file__).parents[3] / "packs" / "survival")
SOURCE = "crafter"

Scene = dict[str, Any]
Change = tuple[Scene, Scene]


def sensor_events() -> Iterator[Sensed]:
    """One event at least of every sort that the sensor can tell."""
    yield events.greet(scene())
    for step in range(6):
        for before, now in _changes():
            yield from events.observe(scene(**before), scene(**now, step=step))


def _changes() -> Iterator[Change]:
    yield from _needs()
    yield from _meetings()
    yield from _findings()
    for light, later in ((0.7, 0.5), (0.5, 0.2), (0.2, 0.5), (0.5, 0.7)):
        for pickaxe in (0, 1):
            bag = {"inventory": {"wood_pickaxe": pickaxe}, "vitals": {"energy": 4}}
            yield bag | {"daylight": light}, bag | {"daylight": later}
    yield {"sleeping": True}, {"vitals": {"health": 6}}


def _needs() -> Iterator[Change]:
    for vital in ("health", "food", "drink", "energy"):
        for value in (5, 3, 2, 1):
            yield {"vitals": {vital: value + 1}}, {"vitals": {vital: value}}
        yield {"vitals": {vital: 6}}, {"vitals": {vital: 7}}
    for empty in ("drink", "food", "energy"):
        yield {"vitals": {empty: 1}}, {"vitals": {empty: 0}}
        yield {"vitals": {empty: 0}}, {"vitals": {empty: 0, "health": 8}}
    yield {"vitals": {"health": 1}}, {"vitals": {"health": 0}, "alive": False}


def _meetings() -> Iterator[Change]:
    for kind in ("zombie", "skeleton", "arrow", "cow", "ripe_plant"):
        for health in (9, 3):
            alone: Scene = {"vitals": {"health": health, "food": health}}
            here = alone | {"creatures": {kind: (0, 2)}}
            yield alone, here
            yield alone | {"creatures": {kind: (0, 3)}}, here
            yield here, alone
            yield here | {"vitals": {"health": health + 2}}, here
    for kind in ("zombie", "skeleton"):
        yield {"creatures": {kind: (0, 1)}}, {"achievements": {f"defeat_{kind}": 1}}


def _findings() -> Iterator[Change]:
    for item, count in (("wood", 1), ("wood", 4), ("stone", 1), ("stone", 4)):
        tools = {"wood_pickaxe": int(item == "stone")}
        had = {"inventory": tools | {item: count - 1}}
        yield had, {"inventory": tools | {item: count}}
    for achievement in ACHIEVEMENTS:
        yield {}, {"achievements": {achievement: 1}}


EVENTS = tuple(sensor_events())
WORDS = sorted(
    {each.trigger_pattern for each in PACK.executive.outcome_patterns}
    | {each.outcome_pattern for each in PACK.executive.outcome_patterns}
)


@pytest.mark.parametrize("heuristic", PACK.heuristics, ids=lambda each: each.name)
def test_every_heuristic_can_answer_an_event(heuristic: Heuristic) -> None:
    """Some event of the sensor means what its condition says, and fulfils its `when`."""
    model = embedder("wordllama")
    assert heuristic.when is not None
    when = conditions.parse(heuristic.when)
    fitting = [
        event.text
        for event in EVENTS
        if conditions.holds(when, event.type, SOURCE, event.fields)
    ]

    assert fitting, "no event fulfils its `when`"
    condition, *texts = model.embed([heuristic.condition, *fitting])
    assert vectors.top(vectors.stack(texts), condition, 1, model.limits.match), fitting


@pytest.mark.parametrize("heuristic", PACK.heuristics, ids=lambda each: each.name)
def test_the_player_knows_every_advised_action(heuristic: Heuristic) -> None:
    """What the pack advises is something the player can try."""
    action = heuristic.action.action
    if action is not None:
        goal = goals.begin(scene(), action.type, action.target or "", 1)
        assert goal is not None


@pytest.mark.parametrize("words", WORDS)
def test_every_outcome_pattern_can_be_seen(words: str) -> None:
    """The events that are answered, and those that settle it, are told in its words."""
    assert any(
        word_patterns.matches(words, event.text, event.type, SOURCE, event.fields)
        for event in EVENTS
    )


def test_every_event_type_is_declared() -> None:
    """What the sensor tells belongs to the pack's domain."""
    declared = {event.type for event in PACK.events}

    assert {event.type for event in EVENTS} <= declared
    assert "action_reported" in declared


def test_confidences_leave_room_to_learn() -> None:
    """Some heuristics answer by themselves from the start, some must earn it first."""
    trusted = [each for each in PACK.heuristics if each.confidence >= 0.7]

    assert 10 < len(trusted) < len(PACK.heuristics)
