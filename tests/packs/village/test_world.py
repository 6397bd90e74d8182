"""The village's world: it obeys, refuses, and reports what minds must know."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from packs.playing import Told
from packs.village.sensor.telling import AWAKE_S, PLACE
from packs.village.sensor.villager import NEEDS
from packs.village.sensor.world import World
from schemas.messages.arms import Action

SENSOR = Path(__file__).parents[3] / "packs" / "village" / "sensor"
NOON = 12 * 3_600.0


def village(at: float = NOON, *names: str) -> World:
    """A village in which all was told that there is at first."""
    made = World("7", names or ("aria",), at)
    made.told()
    return made


def obeyed(
    world: World, type_: str, target: str | None = None, **params: Any
) -> list[Told]:
    """What villagers are told until an action of aria's is over."""
    told = all_of(world, type_, target, **params)
    return [each for each in told if each.name != PLACE]


def all_of(
    world: World, type_: str, target: str | None = None, **params: Any
) -> list[Told]:
    """What anybody is told until an action of aria's is over."""
    id_ = f"{type_}-{world.at}"
    world.obey("aria", id_, Action(type=type_, target=target, params=params))
    told = list(world.told())
    for _ in range(2_000):
        if any(each.event.in_reply_to == id_ for each in told):
            return told
        told += world.advance()
    raise AssertionError(f"{type_} never ended")


def end_of(told: list[Told]) -> tuple[str | None, str | None]:
    """Outcome and reason of what was reported last."""
    return told[-1].event.outcome, told[-1].event.reason


def test_berries_are_eaten() -> None:
    """Somebody goes to the nearest bush, and is fed afterwards; the bush is emptier."""
    world = village()
    aria = world.scene.people["aria"]
    before = aria.level("hunger", world.at)
    told = obeyed(world, "seek_food")

    assert end_of(told) == ("succeeded", None)
    assert aria.level("hunger", world.at) > max(before, 0.9)
    bush = world.scene.land.sources[aria.where(world.at)]
    assert (bush.kind, bush.now(world.at)) == (
        "berries",
        12 - round((1 - before) / 0.1),
    )


def test_a_day_without_a_mind_ends_in_death() -> None:
    """Nobody decides: thirst kills, the dead are told so once, and nothing after."""
    world = village()
    told: list[Told] = []
    while world.at < NOON + 86_400:
        told += world.advance()

    assert world.scene.people["aria"].died == "of hunger or thirst"
    assert [each.event.fields.get("alive") for each in told].count(False) == 1
    assert told[-2].event.fields["alive"] is False
    assert (told[-1].name, told[-1].event.type) == (PLACE, "gone")
    world.obey("aria", "late", Action(type="wander"))
    (refused,) = world.told()
    assert (refused.event.outcome, refused.event.reason) == ("failed", "aria is dead")


@pytest.mark.parametrize(
    ("type_", "target", "why"),
    [
        ("fly", None, "nobody here knows how to fly"),
        ("gather", "gold", "there is no gold to gather"),
        ("build", "castle", "nobody can build castle"),
        ("build", "tent", "missing 5 wood, 10 cloth"),
        ("deposit_items", None, "there is nothing to deposit"),
        ("flee", None, "there is nothing to flee from"),
        ("craft", "gold", "nobody knows the recipe gold"),
    ],
)
def test_what_cannot_be_done_is_refused(
    type_: str, target: str | None, why: str
) -> None:
    """With the world's own reason, and not at once: who tries again does not do so for ever."""
    world = village()
    began = world.at

    assert end_of(obeyed(world, type_, target)) == ("failed", why)
    assert world.at >= began + 5


def test_a_tent_is_built_of_what_was_gathered() -> None:
    """Gathering, crafting and building take what they take, and are told."""
    world = village(NOON, "aria", "emil")
    for _ in range(2):
        told = obeyed(world, "gather", "plant_fiber", amount=10)
        assert told[-1].event.fields["amount"] == 10
        obeyed(world, "deposit_items")
    obeyed(world, "gather", "wood", amount=5)
    assert end_of(obeyed(world, "craft", "cloth", amount=10)) == ("succeeded", None)
    assert world.scene.land.stores["cloth"] == 10

    told = obeyed(world, "build", "tent")

    assert end_of(told) == ("succeeded", None)
    assert told[-1].event.fields["buildings"] == {"tent": 1}
    assert (
        world.scene.land.stores["cloth"] == world.scene.people["aria"].has("wood") == 0
    )


def test_a_new_action_overrides_the_old() -> None:
    """The old one is reported so; what is delivered twice is done once."""
    world = village()
    wander = Action(type="wander")
    world.obey("aria", "one", wander)
    world.obey("aria", "two", Action(type="seek_water"))
    world.obey("aria", "one", wander)
    told = world.told()

    ends = [(each.event.in_reply_to, each.event.outcome) for each in told]
    assert ends.count(("one", "overridden")) == 1
    task = world.scene.people["aria"].task
    assert task is not None
    assert task.decision_id == "two"


def test_reports_let_a_mind_reckon() -> None:
    """Between reports no need departs by over .05 of what the last one told, nor a minute
    passes.
    """
    world = village()
    world.obey("aria", "eat", Action(type="seek_food"))
    told = dict.fromkeys(NEEDS, (world.at, 1.0, 0.0))
    last = world.at
    first = True
    for each in _of_an_hour(world):
        fields, at = each.event.fields, each.at
        assert at - last <= AWAKE_S
        last = at
        for name in NEEDS:
            since, level, rate = told[name]
            expected = min(max(level + rate * (at - since), 0.0), 1.0)
            assert first or abs(float(fields[name]) - expected) <= 0.051
            told[name] = at, float(fields[name]), float(fields[f"{name}_rate"])
        first = False


def _of_an_hour(world: World) -> list[Told]:
    told = list(world.told())
    until = world.at + 3_600
    while world.at < until:
        told += world.advance()
    return [each for each in told if each.event.type == "body"]


def test_who_is_near_hears() -> None:
    """Words are company for who is within fifteen cells and awake; the place tells them."""
    world = village(NOON, "aria", "bram")
    bram = world.scene.people["bram"]
    before = bram.level("company", world.at)
    world.say("aria", "The berries are good.")

    assert bram.heard == "Aria: The berries are good."
    assert bram.level("company", world.at) > before
    told = [each.event.fields for each in world.told() if each.name == "bram"]
    assert [each.get("in_conversation") for each in told] == [True]


def test_the_place_knows_who_hears_where() -> None:
    """It is told where all are, again once one has moved, and who sleeps is gone."""
    world = World("7", ("aria", "bram"), NOON)
    first = [each.event for each in world.told() if each.name == PLACE]
    assert [(each.type, each.fields["agent"]) for each in first] == [
        ("position", "aria"),
        ("position", "bram"),
    ]
    told = all_of(world, "seek_water")
    moves = [each.event for each in told if each.name == PLACE]
    aria = world.scene.people["aria"].where(world.at)
    assert {each.fields["agent"] for each in moves} == {"aria"}
    assert (moves[-1].fields["x"], moves[-1].fields["y"]) == aria
    told = all_of(world, "forced_sleep")
    types = [each.event.type for each in told if each.name == PLACE]
    assert types[-2:] == ["gone", "position"]


def test_odd_commands_stop_nobody() -> None:
    """Strangers, huge amounts, words of the dead: the village goes on."""
    world = village()
    world.obey("nobody", "a", Action(type="wander"))
    world.obey(
        "aria", "b", Action(type="gather", target="wood", params={"amount": 1e300})
    )
    world.say("nobody", "x")
    for _ in range(50):
        world.advance()
    assert world.at > NOON


def test_the_same_run_is_the_same_bytes(tmp_path: Path) -> None:
    """Of its own process, too; another seed is another village."""
    files = [tmp_path / str(number) for number in range(3)]
    for file, seed in zip(files, ("3", "3", "4"), strict=True):
        subprocess.run(
            [sys.executable, str(SENSOR), "--agent", "aria", "--characters", "3", "--pace", "0",
             "--day", "2026-11-20", "--hours", "0.2", "--run", "test", "--seed", seed,
             "--out", str(file)],
            check=True, capture_output=True,
        )  # fmt: skip
    first, again, other = (file.read_bytes() for file in files)

    assert first == again
    assert first != other
    line = json.loads(first.splitlines()[0])
    assert line["subject"] == "in.aria.village.body"
