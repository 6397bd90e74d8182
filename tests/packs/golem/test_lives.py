"""A golem in its café: a closed loop of world and mind, on each tier and without a model."""

from functools import cache
from pathlib import Path

import pytest

from bench.cafe import counting
from bench.cafe.counting import Counts
from bench.cafe.playing import TIERS, Cafe
from packs.golem import model
from packs.golem.sensor import rooms
from packs.golem.sensor.world import World
from schemas.codec.decode import read_output
from schemas.messages.arms import RANDOM
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.messages.learning import InsightFormed
from schemas.packs.autonomous import Tier
from streams.session_files.file import SessionFile, read_session
from tests.replay.evening import verified

RECORDING = Path(__file__).parents[3] / "packs" / "golem" / "recording" / "cafe.echoic"
HOURS = 4.0


@cache
def session(tier: Tier, *, has_model: bool = True) -> SessionFile:
    """Four hours on a tier."""
    cafe = Cafe(7, tier, hours=HOURS, has_model=has_model)
    cafe.played()
    return cafe.recorded()


def counts(tier: Tier) -> Counts:
    """What they came to."""
    found = Counts()
    counting.count(found, session(tier), HOURS)
    return found


def outputs(recorded: SessionFile, *kinds: type) -> list[object]:
    """The messages of some kinds."""
    tokens = tuple(f".{kind.token}" for kind in kinds)  # type: ignore[attr-defined]
    return [
        read_output(each).message
        for each in recorded.records
        if each.subject.endswith(tokens)
    ]


@pytest.mark.parametrize("tier", TIERS)
def test_it_lives_on_each_tier(tier: Tier) -> None:
    """It acts by its interval, never thrice the same, and only as its tier lets it."""
    found = counts(tier)

    assert len(found.done) > 30 * HOURS
    assert found.longest <= 2
    assert found.ends["succeeded"] > found.ends["failed"] > 0
    assert (found.calls["autonomous"] > 0) == (tier > 0)
    assert (found.by["routine"] > 0) == (tier >= 2)
    assert (found.calls["reflection"] > 0) == (found.calls["review"] > 0) == (tier == 3)
    assert (found.by["chance"] == found.by.total()) == (tier == 0)


def test_memory_saves_calls() -> None:
    """What worked is done again without the model."""
    one, two = counts(1), counts(2)
    assert two.by["model"] / two.by.total() < 0.9 * one.by["model"] / one.by.total()
    assert counts(0).calls_an_hour == counts(0).dollars_an_hour == 0.0
    assert 0 < counts(1).dollars_an_hour < 0.02


@pytest.mark.parametrize("tier", TIERS)
def test_all_chance_has_its_probability(tier: Tier) -> None:
    """Of a decision's own draws as of those in a model's place, which say why."""
    drawn = 0
    for each in outputs(session(tier), Decided, Completed):
        if isinstance(each, Decided) and each.final and each.arm.startswith(RANDOM):
            drawn += 1
            assert 0 < each.probability <= 1
        if (
            isinstance(each, Completed)
            and each.choice is not None
            and each.choice.fallback
        ):
            drawn += 1
            assert each.choice.arm.startswith(RANDOM)
            assert 0 < each.choice.probability <= 1
    assert drawn > 0


def test_without_a_model_it_lives_by_chance() -> None:
    """And its log says that no model is configured."""
    found = session(2, has_model=False)
    decided = [
        each
        for each in outputs(found, Decided)
        if isinstance(each, Decided) and each.layer is not None
    ]

    assert len(decided) > 30 * HOURS
    assert not outputs(found, ModelAsked)
    assert all(each.layers and "no model" in each.layers[0].why for each in decided[:1])


def test_the_third_tier_reflects_and_reviews() -> None:
    """What it found is in the log, by its model."""
    found = [
        each
        for each in outputs(session(3), InsightFormed)
        if isinstance(each, InsightFormed)
    ]
    assert {each.of for each in found} == {"reflection", "review"}
    assert {each.by for each in found} == {"model"}


def test_the_same_seed_is_the_same_log() -> None:
    """To the byte, and another seed is another."""
    bodies = []
    for seed in (7, 7, 8):
        cafe = Cafe(seed, 2, hours=0.5)
        cafe.played()
        bodies.append([each.body for each in cafe.recorded().records])
    assert bodies[0] == bodies[1]
    assert bodies[0] != bodies[2]


async def test_it_is_decided_again_as_it_was() -> None:
    """The shipped recording is identical, under a megabyte, and has hours of life in it."""
    recorded = read_session(RECORDING)
    found = await verified(recorded)

    assert found.is_identical, found.divergence
    assert RECORDING.stat().st_size < 1_000_000
    assert len(outputs(recorded, DeliveryAsked)) > 200


async def test_the_third_tier_is_decided_again_as_it_was() -> None:
    """Reflections and reviews as well."""
    found = await verified(session(3))
    assert found.is_identical, found.divergence


def test_the_source_designs_routine_comes_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Idle, near a bench, having walked: it sits, first by its model, then by itself."""
    monkeypatch.setattr(rooms, "hindrance", lambda *_: None)
    bench = [each for each in rooms.THINGS if each.name == "bench_01"]
    monkeypatch.setattr(rooms, "THINGS", tuple(bench))
    monkeypatch.setattr(rooms, "START", (34.0, 6.0))
    monkeypatch.setattr(rooms, "WANDERS_M", 1.0)

    def walks_then_sits(_: str, prompt: str) -> str:
        recent = prompt.partition("- Recent actions")[2].partition("\n")[0]
        if recent.endswith("MoveToLocation: succeeded"):
            return '{"action": "SitAtChair", "target": "bench_01"}'
        return '{"action": "MoveToLocation", "target": null}'

    monkeypatch.setattr(model, "answer", walks_then_sits)
    cafe = Cafe(7, 2, hours=2)
    cafe.played(World("7", "golem", cafe.plan.begins_s, noise=0.0, orders_h=0.0))

    known = cafe.mind.state.agents["golem"].character.autonomy
    situation = "idle + near_bench + walked_recently"
    routine = known.routines[situation]
    assert (routine.action, routine.target) == ("SitAtChair", "bench_01")
    assert routine.uses >= 3
    assert any(
        each.by == "routine" and each.situation == situation for each in known.acts
    )


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Sit down.",
        '{"action": "Fly"}',
        '{"action": "Wave", "confidence": 0}',
        "[1]",
    ],
)
def test_a_broken_model_stops_nobody(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """It goes on by chance, with the reason in its log."""
    monkeypatch.setattr(model, "answer", lambda *_: said)
    cafe = Cafe(7, 2, hours=0.5)
    cafe.played()
    fell = [
        each.choice.fallback
        for each in outputs(cafe.recorded(), Completed)
        if isinstance(each, Completed) and each.choice is not None
    ]
    assert len(fell) > 10
    assert all(fell)


def test_orders_interrupt_the_golem() -> None:
    """What it does is cancelled, and it goes on afterwards; late ends are no one else's."""
    cafe = Cafe(7, 0, hours=3)
    played = cafe.played(World("7", "golem", cafe.plan.begins_s, orders_h=20.0))
    acts = cafe.mind.state.agents["golem"].character.autonomy.acts
    known = counting.Counts()
    counting.count(known, cafe.recorded(), 3)

    assert "cancelled" in {each.outcome for each in acts}
    assert {"succeeded", "failed"} < {each.outcome for each in acts}
    # Each order is reported on as well, under the event that it was.
    assert len(played.outcomes) > len(known.done) + 40
