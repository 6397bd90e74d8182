"""Named facts: what the events of one pack tell, and the words of another read."""

from typing import Any

from schemas.messages.arms import SILENT
from schemas.messages.decisions import Decided
from schemas.messages.executive import SkillLoaded, SkillUnloaded
from tests.factories import heuristic, pack
from tests.handlers.mind.test_skills import playing
from tests.scenario import Scenario

PHONE = {
    "name": "place",
    "kind": "capability",
    "provides": {"user.location": {"type": "moved", "field": "where"}},
}
CALENDAR = {
    "name": "way",
    "kind": "domain",
    "requires": ["user.location"],
    "lines": [{"texts": ["{text} You are in {user.location}."]}],
}


def travelling(**settings: Any) -> Scenario:
    """A phone that knows where its owner is, and a calendar that wants to know."""
    phone = pack(name="phone", types=("moved",), skills=[PHONE])
    calendar = pack(
        heuristic("due", "a date is near", "Your date is near.", confidence=0.9),
        heuristic(
            "far",
            "the platform is crowded",
            "Take the train.",
            confidence=0.9,
            when='user.location = "Rome"',
        ),
        name="calendar",
        types=("dated",),
        skills=[CALENDAR],
    )
    return playing(phone, calendar, context="", own={"template": ""}, **settings)


def dated(scenario: Scenario, text: str = "a date is near", **fields: Any) -> Decided:
    """The calendar's decision."""
    return scenario.wait(60).decide(text, type_="dated", fields=fields)


def moved(scenario: Scenario, where: Any) -> None:
    """The phone tells where its owner is."""
    scenario.sense("you move", type_="moved", source="phone", fields={"where": where})


def test_a_pack_reads_what_another_provides() -> None:
    """A calendar that needs the place of the phone: named facts, filled by events."""
    scenario = travelling()
    moved(scenario, "Rome")
    assert dated(scenario).text == "Your date is near."  # nobody allowed that yet

    scenario.control(SkillLoaded(skill="phone/place"))
    assert dated(scenario).text == "Your date is near."
    moved(scenario, "Rome")
    assert dated(scenario).text == "Your date is near. You are in Rome."
    moved(scenario, "Oslo")
    assert dated(scenario).text == "Your date is near. You are in Oslo."


def test_a_heuristic_may_ask_for_a_named_fact() -> None:
    """In its `when`; heuristics of other domains still never match."""
    scenario = travelling()
    assert dated(scenario, "the platform is crowded").arm == SILENT
    scenario.control(SkillLoaded(skill="phone/place"))
    moved(scenario, "Rome")
    said = dated(scenario, "the platform is crowded").text
    assert said == "Take the train. You are in Rome."
    # The event's own field goes before what is known.
    own = dated(scenario, "the platform is crowded", user={"location": "Oslo"})
    assert own.arm == SILENT
    moved(scenario, ["Rome"])  # no value: what was known stays
    assert dated(scenario, "the platform is crowded").text is not None


def test_what_was_unloaded_notices_nothing() -> None:
    """So a person who takes an ability back is followed no more."""
    scenario = travelling()
    scenario.control(SkillLoaded(skill="phone/place"))
    moved(scenario, "Rome")
    scenario.control(SkillUnloaded(skill="phone/place"))
    moved(scenario, "Oslo")
    assert scenario.mind.executive.known.get("user.location") == "Rome"
