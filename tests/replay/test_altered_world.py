"""Whatever a stranger changes in a world's file, verify says so."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from replay.world import verify_world
from streams.errors import SessionFileError
from streams.session_files.file import SessionFile, read_session, world_of, write_world
from streams.session_files.redigest import redigest
from tests.handlers.mind.characters.test_hearing import two
from tests.replay.scenarios import file_of_scenario
from tests.replay.test_altered import (
    Edit,
    Lines,
    later,
    lines_of,
    messages,
    providing,
    written,
)


@pytest.fixture(scope="module")
def a_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world's file as it was written."""
    village = two(likelihood=False)
    village.lines = {"aria": ["Hello Luna!", "Bye."], "luna": ["Hello Aria!"]}
    village.begin("aria", 0.9)
    village.until(60)
    path = tmp_path_factory.mktemp("altered") / "world.echoic"
    write_world(path, "w-1", [file_of_scenario(e) for e in village.agents.values()])
    return path


def world_line(**changes: object) -> Edit:
    def edit(lines: Lines) -> None:
        lines[0] |= changes

    return edit


def renamed(lines: Lines) -> None:
    lines[0]["members"][1] = "lena"
    heads = [each for each in lines if each.get("agent") == "luna"]
    heads[0]["agent"] = "lena"


def in_other_order(lines: Lines) -> None:
    lines[0]["members"].reverse()


def one_less(lines: Lines) -> Lines:
    ended = [n for n, each in enumerate(lines) if "end" in each]
    lines[0]["members"].pop()
    return lines[: ended[-2] + 1]


def of_another_member(lines: Lines) -> None:
    heads = [n for n, each in enumerate(lines) if "session" in each]
    later(len(messages(lines)) - 3, t=1)(lines)
    assert len(heads) == 3


def world_of_another_session(lines: Lines) -> None:
    heads = [each for each in lines if "session" in each]
    heads[2]["last"] += 1


WORLD_EDITS: dict[str, Edit] = {
    "name": world_line(world="w-2"),
    "members": world_line(members=["aria", "luna", "glade"]),
    "a member's name": renamed,
    "order": in_other_order,
    "a member less": one_less,
    "digest": world_line(digest="0"),
    "no digest": world_line(digest=""),
    "a time of another member": of_another_member,
    "another member's session": world_of_another_session,
}


def faults_of(path: Path) -> list[str]:
    """What verify says of a world's members."""
    world = world_of(path)
    assert world is not None
    found: Sequence[SessionFile] = [read_session(path, each) for each in world.members]
    done = asyncio.run(verify_world(found, providing))
    wrong = [each.divergence for each in done.members.values()]
    return [f"{each.what}: {each.replayed}" for each in wrong if each is not None]


def test_a_world_is_what_it_was(a_world: Path) -> None:
    """Digests written anew are those that it had."""
    before = a_world.read_bytes()
    redigest(a_world)

    assert faults_of(a_world) == []
    assert lines_of(a_world)[0]["digest"]
    assert a_world.read_bytes() == before


@pytest.mark.parametrize("name", WORLD_EDITS)
def test_each_edit_of_a_world_is_named(
    a_world: Path, tmp_path: Path, name: str
) -> None:
    """Its name and whose sessions it has are under a digest of their own."""
    lines = lines_of(a_world)
    made = WORLD_EDITS[name](lines)
    path = written(tmp_path / "edited.echoic", lines if made is None else made)

    try:
        faults = faults_of(path)
    except SessionFileError as refused:
        faults = [str(refused)]

    assert faults
