"""The traits in force: template, contexts, overrides, mood, long sessions and rapport."""

from datetime import timedelta
from typing import Any

import pytest

from echoic.packs.personalities import shipped
from handlers.mind.stages.personality import USUAL, Traits, traits_in_force
from schemas.messages.controls import SessionStarted
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    PersonalitySelected,
    TraitAdjusted,
)
from schemas.messages.voices import Voice
from schemas.packs.compiled import CompiledPack
from schemas.values.exact_math import clamp
from schemas.values.personality import DETECTED, USUAL_TRAITS, Trait
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.scenario import Scenario, applied, one, refused

GARDEN = pack(heuristic("dusk", "dusk falls", "Go home.", confidence=0.9))


def living(*packs: CompiledPack, template: str = "", **settings: Any) -> Scenario:
    """A scenario with the executive on, and the shipped templates."""
    executive = plain_executive(templates=shipped(), template=template)
    packs = packs or (GARDEN,)
    return Scenario(*packs, executive=executive, relevance=0.0, **settings)


def in_force(scenario: Scenario) -> Traits:
    """The traits in force now, for nobody in particular."""
    executive = scenario.settings.executive
    assert executive is not None
    # What the broker's time would be at the next input.
    return traits_in_force(scenario.mind, executive, (), scenario.at)


def voice(scenario: Scenario, text: str = "dusk falls", **fields: Any) -> Voice:
    """What a decision records of the personality."""
    found = scenario.decide(text, **fields).voice
    assert found is not None
    return found


def trait_of(template: str, trait: Trait) -> float:
    """A shipped template's trait."""
    (found,) = (each for each in shipped() if each.name == template)
    return found.traits[trait]


def test_the_usual_traits_are_conservative_and_recorded_by_nobody() -> None:
    """Without a template all is in the middle, and the companion rather waits."""
    scenario = living()

    assert scenario.decide("dusk falls").voice is None
    assert in_force(scenario) is USUAL
    assert USUAL_TRAITS["proactive"] == 0.3
    assert {USUAL_TRAITS[each] for each in USUAL_TRAITS if each != "proactive"} == {0.5}


def test_four_templates_ship_and_differ_clearly() -> None:
    """Each pair of them differs by half the range in two traits at least."""
    names = [each.name for each in shipped()]
    apart = [
        sum(abs(a.traits[trait] - b.traits[trait]) >= 0.5 for trait in USUAL_TRAITS)
        for a in shipped()
        for b in shipped()
        if a.name < b.name
    ]

    assert names == ["butler", "coach", "engineer", "jester"]
    assert min(apart) >= 2


def test_a_template_is_selected_by_setting_or_by_hand() -> None:
    """What somebody selects goes before the setting, until `none` is selected."""
    scenario = living(template="butler")

    assert voice(scenario).template == "butler"
    applied(scenario.control(PersonalitySelected(template="jester")))
    assert voice(scenario).traits["humor"] == trait_of("jester", "humor")
    applied(scenario.control(PersonalitySelected(template="none")))
    assert scenario.decide("dusk falls").voice is None


def test_an_unknown_template_or_context_is_refused_by_name() -> None:
    """The refusal says what there is."""
    scenario = living()

    assert (
        refused(scenario.control(PersonalitySelected(template="x")))
        == "unknown_template"
    )
    assert refused(scenario.control(ContextSwitched(context="disco"))) == "invalid"


def test_a_pack_brings_templates_and_contexts() -> None:
    """They are named after the pack, or as they are."""
    garden = pack(
        heuristic("dusk", "dusk falls", "Go home."),
        personalities=[{"name": "gnome", "traits": {"humor": 0.9}}],
        contexts=[{"name": "harvest", "modifiers": {"humor": -0.2}}],
    )
    scenario = living(garden)
    name = f"{garden.pack.name}/gnome"

    applied(scenario.control(PersonalitySelected(template=name)))
    applied(scenario.control(ContextSwitched(context="harvest", by="ann")))
    found = voice(scenario)

    assert found.template == name
    assert found.traits["humor"] == 0.7
    assert found.contexts is not None
    assert [(each.name, each.cause) for each in found.contexts] == [("harvest", "ann")]


@pytest.mark.parametrize(
    ("fields", "context", "lasts_s"),
    [
        ({"salience": {"threat": 0.7}}, "high_threat", 10),
        ({"salience": {"opportunity": 0.6}}, "opportunity", 30),
        ({"sentiment": -0.31}, "user_struggling", 300),
    ],
)
def test_a_context_is_detected_in_events_and_passes(
    fields: dict[str, Any], context: str, lasts_s: int
) -> None:
    """It holds for the event that shows it, and so long after it."""
    scenario = living(template="jester")

    at_once = voice(scenario, **fields)
    later = voice(scenario.wait(lasts_s), "zombie near")
    after = voice(scenario.wait(1), "player died")

    for found in (at_once, later):
        assert found.contexts is not None
        assert [each.name for each in found.contexts] == [context]
        assert found.contexts[0].cause == scenario.turns[2].input.id
    assert after.contexts is None
    for trait, change in DETECTED[context].items():
        expected = clamp(after.traits[trait] + change, 0.0, 1.0)
        # Up to what the mood does, which the sentiment moved as well.
        assert at_once.traits[trait] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "fields",
    [
        {"salience": {"threat": 0.69}},
        {"salience": {"opportunity": 0.59}},
        {"sentiment": -0.3},
    ],
)
def test_just_below_no_context_holds(fields: dict[str, Any]) -> None:
    """The limits of the table are exact."""
    assert voice(living(template="coach"), **fields).contexts is None


def test_three_failures_within_five_minutes_are_a_struggle() -> None:
    """Two are not, and the third counts only while the first is fresh."""
    scenario = living(template="jester", threshold=0.1)
    before = in_force(scenario)
    for _ in range(3):
        said = scenario.sense("dusk falls")
        made = one(said, Decided)
        assert made.path == "heuristic"
        of = next(o.id for o in said.outputs if isinstance(o.message, Decided))
        before = in_force(scenario)
        scenario.sense("it went wrong", in_reply_to=of, outcome="failed")
        scenario.wait(100)

    assert before.contexts == ()
    (struggle,) = in_force(scenario).contexts
    assert (struggle.name, struggle.by, struggle.value) == (
        "user_struggling",
        "failures",
        3.0,
    )
    assert in_force(scenario.wait(60)).contexts == ()


def test_who_feels_better_struggles_no_more() -> None:
    """The latest sentiment of a person counts, and only for that person."""
    scenario = living(template="jester")
    scenario.sense(
        "oh no", source="user", type_="message", person="ann", sentiment=-0.8
    )

    assert voice(scenario, person="ann").contexts is not None
    assert voice(scenario, person="bob").contexts is None
    scenario.sense("great", source="user", type_="message", person="ann", sentiment=0.5)
    assert voice(scenario, person="ann").contexts is None


def test_an_override_is_added_for_its_time_and_its_person() -> None:
    """Everybody's and the person's own add up; each ends by itself or when taken back."""
    scenario = living(template="butler")
    humor = trait_of("butler", "humor")
    applied(scenario.control(TraitAdjusted(trait="humor", by_amount=0.2)))
    own = TraitAdjusted(trait="humor", by_amount=0.3, for_s=60.0, person="ann")
    applied(scenario.control(own))

    assert voice(scenario).traits["humor"] == humor + 0.2
    assert voice(scenario, person="ann").traits["humor"] == pytest.approx(humor + 0.5)
    scenario.wait(60)
    assert voice(scenario, person="ann").traits["humor"] == humor + 0.2
    applied(scenario.control(TraitAdjusted(trait="humor")))
    assert voice(scenario).traits["humor"] == humor


def test_traits_stay_between_zero_and_one() -> None:
    """However far they are pushed."""
    scenario = living(template="jester")
    for amount, expected in ((1.0, 1.0), (-1.0, 0.0)):
        applied(scenario.control(TraitAdjusted(trait="sarcasm", by_amount=amount)))
        assert voice(scenario).traits["sarcasm"] == expected


def test_mood_follows_votes_and_fades() -> None:
    """Liked words raise enthusiasm, disliked ones take sarcasm away, half by half."""
    scenario = living(template="engineer")
    usual = voice(scenario).traits
    liked = scenario.sense("dusk falls")
    scenario.feedback(liked, "positive")
    glad = in_force(scenario)
    scenario.wait(1800)
    halved = in_force(scenario)

    assert glad.mood is not None
    assert (glad.mood.valence, glad.mood.arousal) == (0.3, 0.3)
    assert glad["enthusiasm"] == pytest.approx(usual["enthusiasm"] + 0.03)
    assert halved["enthusiasm"] == pytest.approx(usual["enthusiasm"] + 0.015)
    for _ in range(9):
        scenario.feedback(scenario.sense("dusk falls"), "negative")
    low = in_force(scenario)
    assert low.mood is not None
    assert -1.0 <= low.mood.valence < -0.9
    assert low["sarcasm"] == pytest.approx(usual["sarcasm"] + 0.1 * low.mood.valence)
    assert low["enthusiasm"] == usual["enthusiasm"]


def test_a_long_session_makes_it_wait() -> None:
    """After two hours proactive falls by 0.1 an hour, and by 0.3 at most."""
    scenario = living(template="coach")
    scenario.control(SessionStarted(session_id="s", clock="broker"))
    wanted = {0: 0.0, 2: 0.0, 3: 0.1, 4: 0.2, 5: 0.3, 9: 0.3}
    usual, found = trait_of("coach", "proactive"), {}
    for hour in range(10):
        found[hour] = round(usual - voice(scenario).traits["proactive"], 6)
        # A session lapses without an input for half an hour.
        for _ in range(4):
            scenario.wait(900).sense("zombie near")

    assert {hour: found[hour] for hour in wanted} == wanted


def test_a_session_of_another_time_is_not_long_at_once() -> None:
    """Its clock is set by its events, be they years ahead; from there it counts."""
    scenario = living(template="coach")
    scenario.control(SessionStarted(session_id="s", clock="event"))
    usual = trait_of("coach", "proactive")
    day = scenario.at + timedelta(days=1_000)
    found = [
        voice(scenario, occurred_at=(day + timedelta(hours=hour)).isoformat())
        for hour in range(4)
    ]

    moved = [round(usual - each.traits["proactive"], 6) for each in found]
    assert moved == [0.0, 0.0, 0.0, 0.1]


def test_what_is_for_a_while_goes_along_with_the_clock() -> None:
    """An override and a threat last as long by the events' clock as by the broker's."""
    scenario = living(template="butler")
    scenario.control(TraitAdjusted(trait="humor", by_amount=0.2, for_s=8.0))
    scenario.sense("zombie near", salience={"threat": 0.9})
    scenario.control(SessionStarted(session_id="s", clock="event"))
    day = scenario.at + timedelta(days=1_000)
    first, last = (
        voice(scenario, occurred_at=(day + timedelta(seconds=after)).isoformat())
        for after in (0, 9)
    )

    humor = trait_of("butler", "humor")
    assert (first.traits["humor"], last.traits["humor"]) == (humor + 0.2, humor)
    assert first.contexts is not None
    assert last.contexts is not None
    assert [each.name for each in last.contexts] == ["high_threat"]


def test_formality_falls_as_rapport_grows() -> None:
    """That with the person addressed, now; with a stranger it is neutral."""
    scenario = living(template="butler")
    for _ in range(30):
        scenario.feedback(scenario.sense("dusk falls"), "positive", actor="ann")
    friend, stranger = voice(scenario, person="ann"), voice(scenario, person="bob")

    assert friend.rapport is not None
    assert friend.rapport > 0.75
    assert stranger.rapport is None
    assert friend.traits["formality"] == pytest.approx(
        0.95 - 0.3 * (friend.rapport - 0.5), abs=1e-6
    )
    assert stranger.traits["formality"] == 0.95


def test_a_templates_biases_are_the_only_ones() -> None:
    """Those of settings, profile and packs count only where no template is in force."""
    scenario = living(biases={"confidence_threshold": 0.1}, threshold=0.7)

    def threshold() -> float | None:
        gates = scenario.decide("dusk falls").gates
        return next(each.threshold for each in gates if each.name == "confidence")

    assert threshold() == 0.8
    scenario.control(PersonalitySelected(template="coach"))
    assert threshold() == 0.65
    scenario.control(PersonalitySelected(template="butler"))
    assert threshold() == 0.7


def test_a_strangers_garbage_is_no_template() -> None:
    """Templates and contexts of a pack have bounds, and names of their own."""
    taken: list[dict[str, Any]] = [
        {"personalities": [{"name": "none"}]},
        {"personalities": [{"name": "a"}, {"name": "a"}]},
        {"personalities": [{"name": "a", "traits": {"charm": 0.5}}]},
        {"personalities": [{"name": "a", "traits": {"humor": 1.5}}]},
        {"personalities": [{"name": "a", "biases": {"confidence_threshold": 0.2}}]},
        {"contexts": [{"name": "high_threat"}]},
        {"contexts": [{"name": "x", "modifiers": {"humor": 2}}]},
    ]
    for fields in taken:
        with pytest.raises(ValueError, match=r"personalities|contexts|one name"):
            pack(heuristic("a", "b c", "d"), **fields)


def test_a_new_mind_keeps_the_selection() -> None:
    """A selection and overrides are the agent's, and survive another start."""
    scenario = living(template="coach")
    scenario.control(PersonalitySelected(template="butler"))
    scenario.control(TraitAdjusted(trait="humor", by_amount=0.1))
    executive = plain_executive(templates=shipped(), template="jester")
    scenario.control(factories.mind_started(executive=executive), agent="_")

    found = voice(scenario)
    assert (found.template, found.traits["humor"]) == ("butler", 0.25)
