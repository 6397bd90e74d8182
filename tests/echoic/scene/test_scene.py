"""A scene folded from what a mind says, and drawn in a terminal of any size."""

import re
from typing import Any

import pytest

from echoic.scene.figures import Figure, marked
from echoic.scene.scene import Scene
from echoic.terminal.map import screen
from echoic.terminal.screen import Terminal, rendered
from schemas.packs.characters import CharacterMind
from tests.factories import AGENT
from tests.handlers.mind.characters.village import villager
from tests.scenario import Scenario, decision_id

HUNGRY = {"needs": {"hunger": 0.5, "energy": 80}}


def village(**fields: Any) -> tuple[Scenario, Scene]:
    """A hungry villager that reported its body, and the scene of it."""
    pack = villager()
    scenario, scene = Scenario(pack), Scene()
    scene.know(scenario.agent, (pack,))
    report(scenario, scene, {**HUNGRY, **fields})
    return scenario, scene


def report(
    scenario: Scenario, scene: Scene, fields: dict[str, Any], **more: Any
) -> Any:
    """Report a body, and let the scene take what the mind made of it."""
    turn = scenario.sense(
        "She is there.", source="world", type_="body", fields=fields, **more
    )
    return scene.take(turn.input, turn.outputs)


def drawn(scene: Scene, width: int = 80, height: int = 24) -> list[str]:
    """Return the lines of the screen."""
    terminal = Terminal(width)
    return rendered(screen(scene, (), terminal, height), terminal).split("\n")


def test_a_deed_is_shown_until_the_world_reports_on_it() -> None:
    """What is done, by which layer and why; then that it is over."""
    scenario, scene = village(x=3, y=4, place="the square")
    (aria,) = scene.drawn
    assert scene.at is not None
    deed = aria.doing(scene.at)
    assert deed is not None
    assert (deed.what, deed.layer) == ("seek food", "reflex")
    assert deed.why.startswith("hungry: hunger < 0.6")
    assert any("seek food reflex at the square" in each for each in drawn(scene))

    done = decision_id(scenario.turns[-1])
    scenario.wait(5)
    (ended, *_) = report(
        scenario, scene, {"needs": {"hunger": 0.9}}, in_reply_to=done, outcome="failed",
        reason="somebody has picked the berries",
    )  # fmt: skip

    assert aria.deed is None
    assert (ended.kind, ended.what, ended.why) == (
        "ends",
        "seek food: failed",
        "somebody has picked the berries",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"x": "3", "y": 4},
        {"x": True, "y": 1},
        {"x": 1e9, "y": 0},
        {"x": None, "y": [1]},
        {"x": {"x": {}}, "y": 10**400},
    ],
)
def test_a_position_that_is_none_is_drawn_nowhere(fields: dict[str, Any]) -> None:
    """The character is in the legend all the same."""
    aria = Figure("aria")
    aria.told(fields)

    assert (aria.x, aria.y) == (None, None)


def test_no_control_character_reaches_the_terminal() -> None:
    """Names of places and weathers are anybody's."""
    _, scene = village(x=1, y=1, place="\x1b[2J\x07home\n", weather="\u202erain\x00")

    shown = "\n".join(drawn(scene))

    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)
    assert "home" in shown


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (40, 12)])
@pytest.mark.parametrize("count", [1, 6, 100])
def test_any_number_fits_a_terminal(width: int, height: int, count: int) -> None:
    """Whoever has no room in the legend is counted there."""
    _, scene = village(x=0, y=0)
    for number in range(1, count):
        scene.begin(f"villager-{number}", somebody(number))

    lines = drawn(scene, width, height)

    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    named = sum(f"{AGENT}:" in each or "villager-" in each for each in lines)
    left = re.search(r"(\d+) more", "\n".join(lines))
    assert named >= 1
    assert named + (int(left[1]) if left else 0) == count


def test_nobody_is_drawn_before_anybody_tells() -> None:
    """And the legend says so."""
    assert "nobody has told" in "\n".join(drawn(Scene()))


def somebody(number: int) -> Any:
    """Somebody who stands somewhere."""
    scenario, _ = village(x=number, y=number * 2)
    return scenario.mind.character


def test_marks_are_letters_of_the_names_as_far_as_they_go() -> None:
    """Two who begin alike have two marks; the hundredth has a dot."""
    found = marked(["aria", "amos", "bram", *(f"n{n}" for n in range(97))])

    assert (found["aria"], found["amos"], found["bram"]) == ("A", "M", "B")
    assert len(set(found.values())) == len("ABCDEFGHIJKLMNOPQRSTUVWXYZ") * 2 + 10 + 1


def test_a_pack_says_which_field_is_the_position() -> None:
    """Into objects and lists; of an autonomous character it is its `position`."""
    actions = [{"id": "Wave"}]
    declared = {"layers": ["reflex"], "map": {"x": "at.2", "y": "at.0"}}
    by_pack = Figure("a", CharacterMind.model_validate(declared))
    by_pack.told({"at": [1.5, 0.0, -2.0]})
    usual = Figure(
        "b", CharacterMind.model_validate({"autonomous": {"actions": actions}})
    )
    usual.told({"position": [3.5, 0.0, 12.0]})

    assert (by_pack.x, by_pack.y) == (-2.0, 1.5)
    assert (usual.x, usual.y) == (3.5, 12.0)
