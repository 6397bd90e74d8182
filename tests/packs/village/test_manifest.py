"""The village's pack: what its minds know."""

from pathlib import Path

from echoic.packs.load import for_everybody, found_in, load
from packs.village.sensor.deeds import DEEDS
from packs.village.sensor.telling import PLACE
from schemas.packs.manifest import from_blob, to_blob

PACKS = Path(__file__).parents[3] / "packs"


def test_the_world_knows_all_that_a_villager_does() -> None:
    """Each behaviour and tool of the mind is an action that the world obeys."""
    mind = load(PACKS / "village").mind

    assert mind is not None
    assert mind.talker is not None
    tools = {each.name for each in mind.talker.tools}
    assert {*mind.behaviours, *tools} <= {*DEEDS, "talk", "leave_conversation"}


def test_its_place_is_where_its_talkers_talk() -> None:
    """The pack of the place is one of its own, in the folder under the agent's name."""
    villager, place = load(PACKS / "village").mind, load(PACKS / "village" / PLACE).mind

    assert villager is not None
    assert villager.talker is not None
    assert villager.talker.place == PLACE
    assert place is not None
    assert place.layers == ("place",)


def test_it_comes_out_of_the_log_as_it_went_in() -> None:
    """A blob is read strictly: what a layer's model may choose is there as well."""
    pack = load(PACKS / "village")
    assert from_blob(to_blob(pack)) == pack


def test_it_is_not_loaded_for_everybody() -> None:
    """Else each companion of an instance would become a villager."""
    assert PACKS / "village" in found_in(PACKS)
    assert [each.name for each in for_everybody(PACKS)] == ["desk", "home", "survival"]
