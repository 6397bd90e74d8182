"""The village's pack: what its minds know."""

from pathlib import Path

from echoic.packs.load import for_everybody, found_in, load
from handlers.mind.characters import replies
from packs.village.sensor.errands import KNOWN
from packs.village.sensor.telling import PLACE
from schemas.packs.manifest import from_blob, to_blob

PACKS = Path(__file__).parents[3] / "packs"

# The source design's lists of tools.
TALKER = ("talk", "follow_agent", "call_meeting", "attend_meeting", "help")
EXECUTOR = {
    "priority and building": ("set_priorities", "plan_build", "build"),
    "gathering": ("gather", "pick"),
    "farming": ("till", "farm", "plant"),
    "exploration": ("explore", "research"),
    "animals": ("tame_animal", "house_animal", "hunt", "butcher"),
    "combat": ("initiate_combat",),
}
FURTHER = (
    "craft",
    "deposit_items",
    "create_memory",
    "go_to",
    "cancel_current_task",
    "cancel_planned_build",
    "sleep_until_queue_complete",
)
GATES = {
    ("building", 1): ("build",),
    ("farming", 1): ("till", "farm", "plant"),
    ("research", 1): ("research",),
    ("animal", 2): ("tame_animal", "house_animal"),
    ("combat", 1): ("hunt", "initiate_combat"),
    ("cooking", 1): ("butcher",),
}
INWARD = {
    *replies.SETS,
    "plan_build",
    "create_memory",
    "cancel_current_task",
    "cancel_planned_build",
    "sleep_until_queue_complete",
}
"""What a mind does by itself."""


def test_the_world_knows_all_that_a_villager_does() -> None:
    """Each behaviour and tool of the mind is an action that the world obeys."""
    mind = load(PACKS / "village").mind

    assert mind is not None
    assert mind.talker is not None
    assert mind.executor is not None
    assert mind.tactics is not None
    tools = {each.name for each in (*mind.talker.tools, *mind.executor.tools)}
    assert {*mind.behaviours, *tools} - INWARD <= KNOWN
    assert mind.tactics.remember in INWARD


def test_the_tools_are_the_source_designs() -> None:
    """Five of the talker's and its setters, the executor's fifteen in six groups, and more."""
    mind = load(PACKS / "village").mind
    assert mind is not None
    assert mind.talker is not None
    assert mind.executor is not None
    social = {each.name: each.when for each in mind.talker.tools}
    work = {each.name: each.when for each in mind.executor.tools}
    assert {*TALKER, *replies.SETS} == {*social} - {"leave_conversation"}
    fifteen = [name for group in EXECUTOR.values() for name in group]
    assert len(fifteen) == 15
    assert {*fifteen, *FURTHER} == {*work}
    assert not {*social} & {*work} - {"set_priorities"}
    gated = {name: when for name, when in work.items() if when}
    assert gated == {
        name: f"skills.{skill} >= {least}"
        for (skill, least), names in GATES.items()
        for name in names
    }
    assert {*mind.synonyms.values()} <= {*social, *work}


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
