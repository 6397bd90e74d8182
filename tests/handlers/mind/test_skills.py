"""Skills: words by domain, style and filter, loaded by context, personality and by hand."""

from typing import Any

import pytest

from echoic.packs import personalities
from echoic.packs import skills as shipped
from schemas.messages.arms import SILENT, heuristic_of, voice_of
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    SkillLoaded,
    SkillUnloaded,
    TraitAdjusted,
)
from schemas.packs.compiled import CompiledPack
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, applied, one, refused

EXPERTISE = {
    "name": "expertise",
    "kind": "domain",
    "context_binding": "gaming.minecraft",
    "capabilities": ["threat_assessment"],
    "knowledge": "Zombies burn by day.",
    "lines": [
        {
            "when": 'type = "health" and enemy != null',
            "texts": ["{text} {hearts} hearts remaining, fighting {enemy}."],
        },
        {"when": 'type = "health"', "texts": ["{text} {hearts} hearts remaining."]},
    ],
}
MOCKERY = {
    "name": "mockery",
    "version": "2",
    "kind": "style",
    "trait": "sarcasm",
    "lines": [
        {
            "when": 'type = "health"',
            "bands": [3, 4],
            "texts": ["Oh look, you're about to die. Again."],
        }
    ],
}
PLAIN = "Your health is low. 12 hearts remaining, fighting zombie."
MOCKED = "Oh look, you're about to die. Again."
LOW = {"hearts": 12.0, "enemy": "zombie"}


def minecraft(**changes: Any) -> CompiledPack:
    """The seed's game: one heuristic, what is known of the game, and mockery."""
    return pack(
        heuristic("low", "your health is low", "Your health is low.", confidence=0.9),
        name="minecraft",
        types=("health",),
        **{"skills": [EXPERTISE, MOCKERY], **changes},
    )


def playing(*packs: CompiledPack, context: str = "gaming", **settings: Any) -> Scenario:
    """A scenario in a context, with a personality."""
    own = {
        "templates": personalities.shipped(),
        "template": "jester",
        **settings.pop("own", {}),
    }
    scenario = Scenario(
        *(packs or (minecraft(),)),
        executive=plain_executive(**own),
        relevance=0.0,
        **settings,
    )
    if context:
        scenario.control(ContextSwitched(context=context))
    return scenario


def low(scenario: Scenario, **fields: Any) -> Decided:
    """The decision on low health."""
    given = {"fields": LOW, "type_": "health", **fields}
    return scenario.decide("your health is low", **given)


def test_the_seeds_example_without_threat() -> None:
    """Intent, domain, style: a sarcastic line, as ADR-0014 §7.2 has it."""
    scenario = playing()
    decided = low(scenario)

    assert decided.text == MOCKED
    assert decided.skills == ("minecraft/expertise@1", "minecraft/mockery@2")
    assert decided.wording is not None
    assert decided.wording.intent == "Your health is low."
    assert decided.wording.filtered is None
    asked = one(scenario.turns[-1], DeliveryAsked)
    assert asked.text == MOCKED


def test_the_seeds_example_with_threat() -> None:
    """The filter takes the sarcasm out, and the plain line is said."""
    decided = low(playing(), salience={"threat": 0.9})

    assert decided.text == PLAIN
    assert decided.skills == ("minecraft/expertise@1",)
    assert decided.wording is not None
    assert decided.wording.filtered == ("minecraft/mockery@2",)


def test_even_the_most_sarcastic_is_plain_under_threat() -> None:
    """Traits over the edge after what a threat takes from them are filtered all the same."""
    scenario = playing()
    scenario.control(TraitAdjusted(trait="sarcasm", by_amount=1.0))
    decided = low(scenario, salience={"threat": 0.9})

    assert decided.voice is not None
    assert decided.voice.traits["sarcasm"] >= 0.6
    assert decided.text == PLAIN


@pytest.mark.parametrize("template", ["", "butler", "coach"])
def test_who_is_not_sarcastic_says_it_plainly(template: str) -> None:
    """The style's words belong to two bands of sarcasm."""
    assert low(playing(own={"template": template})).text == PLAIN


def test_few_words_are_wanted_so_details_are_left_out() -> None:
    """Verbosity is read in its lowest band."""
    scenario = playing(own={"template": "engineer"})
    assert low(scenario, salience={"threat": 0.9}).text == "Your health is low."


def test_an_event_without_the_field_has_the_next_line() -> None:
    """A place that cannot be filled is never said."""
    butler = {"template": "butler"}
    scenario = playing(own=butler)
    assert low(scenario, fields={"hearts": 3}).text == (
        "Your health is low. 3 hearts remaining."
    )
    plain = low(playing(own=butler), fields={})
    assert plain.text == "Your health is low."
    assert plain.skills is None
    assert plain.wording is None


def test_without_skills_in_force_nothing_changes() -> None:
    """The same words, arm and all, as where there are none."""
    bare = low(playing(minecraft(skills=[])))
    other = low(playing(minecraft(), context="work", own={"template": ""}))

    assert (other.text, other.arm) == (bare.text, bare.arm)
    assert b"skills" not in other.to_bytes()
    assert b"wording" not in other.to_bytes()


def test_other_words_are_another_arm_of_the_same_heuristic() -> None:
    """The digest is of template, skills and bands: nothing of the event is part of it."""
    scenario = playing()
    mocked, again = low(scenario), low(scenario.wait(60), fields=LOW | {"hearts": 2})
    plain = low(playing(context="work"), salience={"threat": 0.9})

    assert mocked.arm == again.arm
    assert voice_of(mocked.arm)
    assert voice_of(plain.arm) is None
    assert heuristic_of(mocked.arm) == heuristic_of(plain.arm)
    assert plain.wording is not None  # what was left out is on record


def test_on_a_switch_of_context_domains_change_and_the_style_stays() -> None:
    """ADR-0014 §7.3: at work nothing is known of hearts, and the mockery goes on."""
    quiet = [
        {**MOCKERY, "lines": [{"bands": [3, 4], "texts": ["{text} Again."]}]},
        EXPERTISE,
    ]
    scenario = playing(minecraft(skills=quiet))
    assert low(scenario).text == f"{PLAIN} Again."

    scenario.control(ContextSwitched(context="work"))
    scenario.control(TraitAdjusted(trait="sarcasm", by_amount=0.15))
    assert low(scenario.wait(60)).text == "Your health is low. Again."

    scenario.control(ContextSwitched(context="gaming"))
    assert low(scenario.wait(60)).text == f"{PLAIN} Again."


def test_on_a_change_of_personality_the_style_changes_and_domains_stay() -> None:
    """ADR-0014 §7.3: the butler knows the hearts and mocks nobody."""
    scenario = playing()
    assert low(scenario).text == MOCKED

    scenario.control(PersonalitySelected(template="butler"))
    assert low(scenario.wait(60)).text == PLAIN


def test_a_skill_is_unloaded_and_loaded_by_hand() -> None:
    """By hand goes before context and personality."""
    scenario = playing()
    assert applied(scenario.control(SkillUnloaded(skill="minecraft/mockery"))) == (
        "minecraft/mockery, style"
    )
    assert low(scenario).text == PLAIN
    scenario.control(SkillUnloaded(skill="minecraft/expertise"))
    assert low(scenario.wait(60)).text == "Your health is low."
    scenario.control(ContextSwitched(context="home"))
    scenario.control(SkillLoaded(skill="minecraft/expertise"))
    assert low(scenario.wait(60)).text == PLAIN


def test_a_skill_that_nobody_knows_is_refused() -> None:
    """With the reason, and the names of those there are."""
    turn = playing().control(SkillLoaded(skill="minecraft/flying"))
    assert refused(turn) == "unknown_skill"
    bare = playing(minecraft(skills=[])).control(SkillUnloaded(skill="x"))
    assert refused(bare) == "unknown_skill"


def test_a_capability_is_off_until_a_person_enables_it() -> None:
    """And a model is told of it only then."""
    ability = {
        "name": "lights",
        "kind": "capability",
        "capabilities": ["switch_lights"],
        "knowledge": "You can switch lights.",
        "lines": [{"texts": ["{text} Shall I switch on the light?"]}],
    }
    scenario = playing(minecraft(skills=[ability]), own={"template": ""})
    assert low(scenario).text == "Your health is low."
    scenario.control(SkillLoaded(skill="minecraft/lights", by="alice"))
    decided = low(scenario.wait(60))
    assert decided.text == "Your health is low. Shall I switch on the light?"
    assert decided.skills == ("minecraft/lights@1",)


def test_a_model_is_told_what_the_skills_in_force_know() -> None:
    """Its arm covers that: with another skill it is another arm."""
    asking: dict[str, Any] = {
        "model": factories.MODEL,
        "strategy": StrategySpec(name="always_llm"),
    }
    gaming, working = (
        playing(context=each, own={"template": ""}, **asking)
        for each in ("gaming", "work")
    )
    decided, other = low(gaming), low(working)

    assert "Zombies burn by day." in one(gaming.turns[-1], ModelAsked).system
    assert decided.skills == ("minecraft/expertise@1",)
    assert "Zombies" not in one(working.turns[-1], ModelAsked).system
    assert other.skills is None
    assert decided.arm != other.arm


def test_one_of_several_texts_is_drawn_with_a_key_and_recorded() -> None:
    """The same event gives the same words; others come in their turn."""
    several = {**MOCKERY, "lines": [{"texts": [f"No {each}." for each in range(8)]}]}
    found = set()
    for event in range(40):
        first, again = (
            low(playing(minecraft(skills=[several])), id_=f"event-{event}")
            for _ in range(2)
        )
        assert first == again
        assert first.wording is not None
        assert first.wording.draws is not None
        (draw,) = first.wording.draws
        assert first.text == f"No {int(draw.value * 8)}."
        found.add(first.text)
    assert len(found) > 4


def test_words_are_swapped_whole_and_keep_their_capitals() -> None:
    """A table of words, by bands of formality."""
    says = "Do not go. You are tired, and donotgo is no word."
    garden = pack(heuristic("dusk", "dusk falls", says, confidence=0.9))

    def words(template: str) -> str | None:
        own = {"template": template, "skills": shipped.shipped()}
        scenario = playing(garden, context="", own=own)
        scenario.control(SkillUnloaded(skill="sarcasm"))
        return scenario.decide("dusk falls").text

    assert words("jester") == "Don't go. You're tired, and donotgo is no word."
    assert words("butler") == says
    assert words("") == says


def test_a_field_of_any_kind_is_one_line_of_data() -> None:
    """What a sensor sends cannot fill in other places, nor grow without end."""
    butler = {"template": "butler"}
    for value, shown in (
        ("{text} {enemy}\n\nx", "{text} {enemy} x"),
        (True, "yes"),
        (2.5, "2.5"),
        ("y" * 5_000, "y" * 200),
    ):
        decided = low(playing(own=butler), fields={"hearts": value})
        assert decided.text == f"Your health is low. {shown} hearts remaining."
    for nothing in (None, [1], {"a": 1}):
        decided = low(playing(own=butler), fields={"hearts": nothing})
        assert decided.text == "Your health is low."


def test_the_shipped_templates_say_one_thing_in_their_own_ways() -> None:
    """By the shipped skills; none of them jokes under threat."""
    garden = pack(
        heuristic("dusk", "dusk falls", "You are late! Do not stay.", confidence=0.9)
    )
    said = {}
    for template in personalities.names():
        own = {"template": template, "skills": shipped.shipped()}
        scenario = playing(garden, context="", own=own)
        said[template] = scenario.decide("dusk falls", id_="a").text
        scenario = playing(garden, context="", own=own)
        serious = scenario.decide("dusk falls", salience={"threat": 0.9})
        assert serious.text is not None
        assert "know" not in serious.text
        assert serious.arm != SILENT
    assert said == {
        "butler": "You are late. Do not stay.",
        "coach": "You're late! Don't stay. You can do it! Ask if you want more detail.",
        "engineer": "You're late. Don't stay. Just saying.",
        "jester": "You're late! Don't stay. Shocking, I know.",
    }


def test_no_style_makes_an_answer_longer_than_suits() -> None:
    """The engineer's irony is left out where eight words are used up; facts never are."""
    styles = shipped.shipped()
    plants = "Water the plants, and the lawn, please."
    garden = pack(heuristic("dusk", "dusk falls", plants, confidence=0.9))
    own = {"template": "engineer", "skills": styles}
    before = playing(garden, context="", own=own).decide("dusk falls")
    assert before.text in (f"{plants} Just saying.", f"{plants} No pressure.")

    kept = playing(garden, context="", own={**own, "consistent": True})
    decided = kept.decide("dusk falls")
    assert decided.text == plants
    assert decided.skills is None
    assert decided.wording is not None
    assert decided.wording.filtered == ("sarcasm@1",)
    assert voice_of(decided.arm) is None

    known = playing(own={"template": "butler", "consistent": True})
    known.control(TraitAdjusted(trait="verbosity", by_amount=-0.25))
    assert low(known).text == PLAIN
