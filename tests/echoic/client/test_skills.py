"""Which skills have a say, as `echoic skill list` shows it: by context, personality, hand."""

from typing import Any

from echoic.client.skills import SkillRow, skill_rows
from echoic.client.state import AgentSnapshot
from echoic.packs import personalities
from echoic.packs import skills as shipped
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    SkillLoaded,
    SkillUnloaded,
)
from schemas.packs.compiled import CompiledPack
from tests.factories import pack, plain_executive
from tests.handlers.mind.test_skills import EXPERTISE
from tests.scenario import Scenario

OFFICE = {
    "name": "desk",
    "kind": "domain",
    "context_binding": "work",
    "lines": [{"texts": ["{text} (by the calendar)"]}],
}
LIGHTS = {"name": "lights", "kind": "capability", "capabilities": ["switch_lights"]}
WAY = {"name": "way", "kind": "domain", "requires": ["user.location"]}
MINECRAFT = pack(
    name="minecraft", types=("health",), skills=[EXPERTISE, OFFICE, LIGHTS, WAY]
)


def beginning(**own: Any) -> Scenario:
    """A jester who plays, with all that ships."""
    given: dict[str, Any] = {
        "templates": personalities.shipped(),
        "skills": shipped.shipped(),
        "template": "jester",
        **own,
    }
    settings = plain_executive(**given)
    scenario = Scenario(MINECRAFT, executive=settings, relevance=0.0)
    scenario.control(ContextSwitched(context="gaming"))
    return scenario


def rows(scenario: Scenario, *packs: CompiledPack) -> dict[str, SkillRow]:
    """The rows of the list, by skill."""
    state = scenario.state
    known = AgentSnapshot(scenario.mind, state.shared, state.position)
    found = skill_rows(known, packs or (MINECRAFT,), scenario.at)
    return {each.skill: each for each in found}


def has_say(scenario: Scenario, kind: str) -> set[str]:
    """The skills of a kind that have a say."""
    found = rows(scenario).values()
    return {each.skill for each in found if each.in_force and each.kind == kind}


def test_on_a_switch_of_context_domains_change_and_styles_stay() -> None:
    """ADR-0014 §7.3: what is known of the game goes, what is known at work comes."""
    scenario = beginning()
    styles = has_say(scenario, "style")
    assert has_say(scenario, "domain") == {"minecraft/expertise"}
    scenario.control(ContextSwitched(context="home"))
    assert has_say(scenario, "domain") == set()
    # A game excites; else the styles are those of the personality.
    assert has_say(scenario, "style") == styles - {"enthusiasm"}
    scenario.control(ContextSwitched(context="work"))
    assert has_say(scenario, "domain") == {"minecraft/desk"}
    assert rows(scenario)["minecraft/expertise"].waits == "in another context"
    scenario.control(ContextSwitched(context="gaming"))
    assert has_say(scenario, "domain") == {"minecraft/expertise"}
    assert has_say(scenario, "style") == styles


def test_on_a_change_of_personality_styles_change_and_domains_stay() -> None:
    """ADR-0014 §7.3: the template is another one, and so is the style by its traits."""
    scenario = beginning()
    assert "sarcasm" in has_say(scenario, "style")
    scenario.control(PersonalitySelected(template="butler"))
    assert has_say(scenario, "style") == {"formality"}
    assert rows(scenario)["sarcasm"].waits == "no words at sarcasm 0.10"
    assert has_say(scenario, "domain") == {"minecraft/expertise"}
    scenario.control(PersonalitySelected(template="coach"))
    assert has_say(scenario, "style") >= {"enthusiasm", "formality", "helpfulness"}
    scenario.control(PersonalitySelected(template="none"))
    assert has_say(scenario, "style") == set()
    assert rows(scenario)["sarcasm"].waits == "nobody chose a character"
    assert has_say(scenario, "domain") == {"minecraft/expertise"}


def test_under_threat_no_style_jokes() -> None:
    """The list says in which context that is."""
    scenario = beginning()
    scenario.sense("a creeper", salience={"threat": 0.9})
    assert rows(scenario)["sarcasm"].waits == "no jokes in context high_threat"
    scenario.wait(30)
    assert rows(scenario)["sarcasm"].in_force


def test_by_hand_goes_before_context_and_personality() -> None:
    """A capability waits for a person; what is unloaded stays so wherever it would count."""
    scenario = beginning()
    assert rows(scenario)["minecraft/lights"].waits == "off until it is loaded"
    assert rows(scenario)["minecraft/way"].waits == "until known: user.location"
    for control in (
        SkillLoaded(skill="minecraft/lights"),
        SkillLoaded(skill="minecraft/desk"),
        SkillUnloaded(skill="sarcasm"),
        SkillUnloaded(skill="minecraft/expertise"),
    ):
        scenario.control(control)
    assert has_say(scenario, "capability") == {"minecraft/lights"}
    assert has_say(scenario, "domain") == {"minecraft/desk"}
    assert rows(scenario)["sarcasm"].waits == "unloaded"


def test_without_packs_and_styles_there_are_no_skills() -> None:
    """Nothing brings any."""
    bare = beginning(skills=())
    assert set(rows(bare, pack(name="other"))) == set()


def test_a_row_is_as_the_columns_are() -> None:
    """For programs, under the names of before."""
    row = rows(beginning())["minecraft/expertise"].as_json()
    assert list(row) == ["in_force", "skill", "kind", "for", "waits", "description"]
    assert row["for"] == "gaming.minecraft"
    assert row["description"] == "threat_assessment"
