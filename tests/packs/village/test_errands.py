"""Errands: whatever tool a model chooses is done, or refused with the world's own reason."""

import pytest

from packs.village.sensor.errands import ABSENT, MEETS_S
from packs.village.sensor.land import SQUARE, distance
from packs.village.sensor.world import World
from schemas.messages.arms import Action
from tests.packs.village.test_manifest import EXECUTOR, FURTHER, INWARD, TALKER
from tests.packs.village.test_world import obeyed, village

TOOLS = sorted(
    {*TALKER, *FURTHER, *(each for group in EXECUTOR.values() for each in group)}
    - INWARD
)


def ended(
    world: World, tool: str, target: str | None = None, **params: int
) -> tuple[str | None, str | None]:
    """How an action of aria's ends, and why."""
    (end,) = (
        each.event
        for each in obeyed(world, tool, target, **params)
        if each.event.outcome is not None and each.name == "aria"
    )
    return end.outcome, end.reason


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_is_obeyed_or_refused_with_a_reason(tool: str) -> None:
    """Without a target as well: no tool is unknown, and none hangs."""
    outcome, reason = ended(village(), tool)
    assert outcome in ("succeeded", "failed")
    if outcome == "failed":
        assert reason
        assert "knows how to" not in reason
    if tool in ABSENT:
        assert (outcome, reason) == ("failed", ABSENT[tool])


def test_one_thing_is_picked() -> None:
    """However many are asked for."""
    world = village()
    assert ended(world, "pick", "berries", amount=9) == ("succeeded", None)
    assert world.scene.people["aria"].has("berries") == 1


@pytest.mark.parametrize("where", ["the square", "River", "home", "bram"])
def test_one_goes_to_places_and_people(where: str) -> None:
    """By the names that they have here."""
    world = village(12 * 3_600.0, "aria", "bram")
    assert ended(world, "go_to", where) == ("succeeded", None)


def test_nobody_goes_where_nobody_knows() -> None:
    """The reason names it."""
    assert ended(village(), "go_to", "Atlantis") == (
        "failed",
        "nobody knows where Atlantis is",
    )


def test_a_meeting_is_called_and_attended() -> None:
    """One at a time; who comes stays until it is over."""
    world = village(12 * 3_600.0, "aria", "bram")
    assert ended(world, "attend_meeting")[1] == "there is no meeting"
    world.obey("bram", "calls", Action(type="call_meeting"))
    told = list(world.told())
    while world.scene.meets_until < 0:
        told += world.advance()
    told += world.advance()
    assert any(each.event.fields.get("meeting") is True for each in told)
    assert ended(world, "attend_meeting") == ("succeeded", None)
    aria = world.scene.people["aria"]
    assert distance(aria.where(world.at), SQUARE) == 0
    assert world.at >= world.scene.meets_until
    assert ended(world, "call_meeting") == ("succeeded", None)
    assert world.scene.meets_until > world.at - MEETS_S


def test_somebody_near_is_helped() -> None:
    """And nobody who is not there."""
    world = village(12 * 3_600.0, "aria", "bram")
    world.scene.people["bram"].cell = world.scene.people["aria"].where(world.at)
    assert ended(world, "help", "Bram") == ("succeeded", None)
    assert ended(world, "help", "Zara")[1] == "Zara is not near"
