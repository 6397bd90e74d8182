"""The golem's pack: what its mind may choose is what the café obeys, and nothing else."""

from pathlib import Path

from echoic.packs.load import for_everybody, found_in, load
from handlers.mind.characters.autonomous import actions, prompt
from packs.golem.sensor import states
from packs.golem.sensor.actions import BY_ID, TABLE
from packs.golem.sensor.rooms import THINGS
from schemas.packs.autonomous import Autonomous
from schemas.packs.manifest import from_blob, to_blob

PACKS = Path(__file__).parents[3] / "packs"

SOURCE_DESIGN = (
    "Idle, MoveToLocation, TurnTo, SitAtChair, StandUp, LookAt, Lean, ExamineMenu, "
    "PlayArcade, PlayClaw, Wave"
)


def how() -> Autonomous:
    """What makes the golem decide by itself."""
    mind = load(PACKS / "golem").mind
    assert mind is not None
    assert mind.autonomous is not None
    return mind.autonomous


def test_list_check_and_table_are_one() -> None:
    """The prompt's list, what an answer is held against, chance, and the café's table."""
    may = {row.id for row in TABLE if row.by == "itself"}
    offered = prompt.lasting(how()).split("## Valid Actions\n")[1].split("\n")[0]

    assert offered == SOURCE_DESIGN
    assert {*offered.split(", ")} == may
    known = actions.choices(how())
    assert [each.id for each in known] == offered.split(", ")
    for row in TABLE:
        meant = actions.closest(row.id, known)
        assert (meant is not None and meant.id == row.id) == (row.id in may)
    assert {each.id for each in how().actions if each.kind is not None} <= may


def test_the_mind_knows_actions_as_the_cafe_does() -> None:
    """Tags, states in which nothing changes, and longer times than any action takes."""
    for each in how().actions:
        row = BY_ID[each.id]
        assert each.by_command == (row.by == "command"), each.id
        assert each.tag is None or (each.tag,) == row.tags, each.id
        assert {*each.nothing_in} <= {*states.STATES, "*"}, each.id
        longest = 66 if row.does in ("walk", "use") else row.seconds + 2
        assert each.lasts_s > longest, each.id
    tags = {each.tag for each in THINGS}
    assert {tag for row in TABLE for tag in row.tags} <= tags


def test_it_comes_out_of_the_log_as_it_went_in() -> None:
    """A blob is read strictly."""
    pack = load(PACKS / "golem")
    assert from_blob(to_blob(pack)) == pack


def test_it_is_not_loaded_for_everybody() -> None:
    """Else each companion of an instance would become a golem."""
    assert PACKS / "golem" in found_in(PACKS)
    assert "golem" not in [each.name for each in for_everybody(PACKS)]
