"""The world of docs/worlds.md, as it stands there: it runs, replays, and can be judged."""

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from echoic.api import Mind, Observation, estimate, load_pack
from echoic.client.recordings import FileSource, opened
from replay.verify import Span, verify

PAGE = Path(__file__).parents[2] / "docs" / "worlds.md"
MODULES = ("greenhouse", "judge")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the page's files."""
    for name, text in re.findall(
        r"```(?:yaml|python)\n# (\S+)\n(.*?)```", PAGE.read_text(), re.S
    ):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name, None)


def imported(name: str) -> ModuleType:
    """A module of the page."""
    return __import__(name)


def test_what_is_lived_is_the_same_each_time_and_replays(world: Path) -> None:
    """Two lives of one seed are one file, and a replay makes it again."""
    live = imported("greenhouse").live
    first, second = live(1, world / "a.echoic"), live(1, world / "b.echoic")

    async def replayed() -> bool:
        async with opened(FileSource(first, "wordllama")) as (recording, bringer):
            span = Span(
                recording.partition,
                recording.first - 1,
                recording.last,
                recording.agent,
            )
            found = await verify(
                recording.log,
                span,
                bringer,
                start=recording.start,
                expected_chain=recording.chain,
            )
        return found.is_identical

    assert first.read_bytes() == second.read_bytes()
    assert asyncio.run(replayed())


def test_the_page_finds_out_what_is_better(world: Path) -> None:
    """Advice helps there, and the recordings can tell."""
    told = imported("judge").judge(world, sessions=25)

    assert told.startswith("BETTER: +0.")


def test_a_reaction_says_what_came_of_an_event(world: Path) -> None:
    """A heuristic's words, a model's, silence with its reason; votes move confidence."""
    pack = load_pack(world / "greenhouse")
    mind = Mind(pack, model=lambda asked: f"Open it, {asked.channel}.")
    dry = mind.sense("The soil is dry", source="greenhouse", type="soil_dry", at=0)
    hot = mind.sense("The air is hot", source="greenhouse", type="air_hot", at=900)
    mute = Mind(pack, name="mute", model=lambda _: None)
    lost = mute.sense("The air is hot", source="greenhouse", type="air_hot", at=0)
    before = mind.confidence(dry.heuristic_id or "")
    mind.vote(dry, "negative")

    assert (dry.path, dry.said) == ("heuristic", "Water the plants.")
    assert (hot.path, hot.said) == ("llm", "Open it, say.")
    assert (lost.said, lost.silence) == (None, "llm_no_response")
    assert (mind.confidence(dry.heuristic_id or "") or 1) < (before or 0)
    assert mind.confidence("nobody") is None


def test_an_event_that_is_not_decided_on_says_why(world: Path) -> None:
    """Time that runs back is refused by the session's clock."""
    mind = Mind(load_pack(world / "greenhouse"))
    mind.sense("The soil is dry", source="greenhouse", type="soil_dry", at=900)

    with pytest.raises(ValueError, match="clock"):
        mind.sense("The soil is dry", source="greenhouse", type="soil_dry", at=0)


def test_what_is_withheld_is_none() -> None:
    """As the page says: of too few decisions there is a verdict, and no value."""
    log = [
        Observation(f"s{n}", arm, 0.5, float(n % 3 == 0), {"b": 1.0}, {"a": 1.0})
        for n in range(5)
        for arm in "aabb"
    ]

    found = estimate(log)

    assert found.difference.verdict == "NOT_ENOUGH_OVERLAP"
    for part in (found.difference, found.target):
        values = (part.ips, part.snips, part.dr, part.se, part.ci)
        assert values == (None,) * 5
    assert found.difference.p_value is None
