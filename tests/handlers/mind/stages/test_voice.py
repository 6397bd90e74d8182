"""Voice: what a model is told of the character, in five bands and never finer."""

from typing import Any

import pytest

from echoic.packs.personalities import shipped
from handlers.mind.stages import voice
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import ExperimentStarted
from schemas.messages.decisions import Decided
from schemas.messages.executive import PersonalitySelected, TraitAdjusted
from schemas.messages.experiments import Variant
from schemas.values.personality import TRAITS, USUAL_TRAITS
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.handlers.mind.stages.test_personality import living
from tests.scenario import Scenario, one

GARDEN = pack(heuristic("dusk", "dusk falls", "Go home.", confidence=0.3))


def asking(template: str = "", **settings: Any) -> Scenario:
    """A life in which a model is asked about everything."""
    return living(
        GARDEN,
        template=template,
        model=factories.MODEL,
        strategy=StrategySpec(name="always_llm"),
        **settings,
    )


def asked(life: Scenario, **fields: Any) -> ModelAsked:
    """What a model is asked about an event."""
    return one(life.sense("a storm is near", **fields), ModelAsked)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, 0),
        (0.1999999, 1),
        (0.1999994, 0),
        (0.2, 1),
        (0.4, 2),
        (0.6, 3),
        (0.8, 4),
        (1.0, 4),
    ],
)
def test_a_band_begins_at_its_edge(value: float, expected: int) -> None:
    """A value is rounded first, so that the same sum in another order is the same band."""
    assert voice.band(value) == expected


def test_nobody_chose_anything_so_no_prompt_changes() -> None:
    """With the executive and without it, through threat and praise alike."""
    old = Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        strategy=StrategySpec(name="always_llm"),
    )
    new = asking()
    for life in (old, new):
        life.sense("a snake", salience={"threat": 0.9})
    arms = [life.decide("a storm is near", sentiment=-0.9).arm for life in (old, new)]
    told = [asked(life) for life in (old, new)]

    assert arms[0] == arms[1]
    assert told[0].system == told[1].system
    assert told[0].template_digest == told[1].template_digest


def test_a_model_is_told_the_character_and_what_follows_of_its_traits() -> None:
    """Both in the system prompt, after what the settings say of the personality."""
    system = asked(asking("butler", personality="You are kind.")).system

    assert system.index("You are kind.") < system.index("You are a butler")
    assert "Speak formally: no contractions, no slang." in system
    assert "0.95" not in system


def test_sarcasm_leaves_under_threat() -> None:
    """The jester jokes on, without malice, and says it in fewer words."""
    life = asking("jester")

    calm, tense = asked(life).system, asked(life, salience={"threat": 0.9}).system
    assert "sarcastic, though never cruel" in calm
    assert "sarcas" not in tense
    assert "eight words" in tense


def test_traits_of_one_band_are_one_arm() -> None:
    """What is not told makes no difference; another band is another arm."""
    life = asking("butler")
    arms = [life.decide("a storm is near").arm]
    for amount in (0.01, 0.04, 0.06):
        life.control(TraitAdjusted(trait="humor", by_amount=amount))
        arms.append(life.decide("a storm is near").arm)

    assert arms[0] == arms[1] == arms[2]
    assert arms[3] != arms[2]


def test_each_template_is_an_arm_of_its_own() -> None:
    """What came of one personality says nothing of another."""
    arms = {asking(name).decide("dusk falls").arm for name in ("", "butler", "jester")}
    assert len(arms) == 3


def test_an_override_without_a_template_is_told_alone() -> None:
    """Only the trait that somebody moved leaves the middle."""
    life = asking()
    life.control(TraitAdjusted(trait="verbosity", by_amount=-0.5))

    assert voice.OF_TRAITS["verbosity"][0] in asked(life).system
    assert voice.OF_TRAITS["humor"][0] not in asked(life).system


def test_the_prompt_holds_no_persons_name() -> None:
    """Names are event data: as part of the prompt each person made an arm of its own."""
    life = asking("coach")
    for _ in range(30):
        life.feedback(life.sense("dusk falls"), "positive", actor="annabel")
    system = asked(life, person="annabel").system

    assert "use their name" in system
    assert "annabel" not in system


def test_every_band_has_its_sentence_and_the_middle_none() -> None:
    """The table is whole; proactive is no matter of words."""
    assert set(voice.OF_TRAITS) == set(TRAITS) - {"proactive"}
    for sentences in voice.OF_TRAITS.values():
        assert [bool(each) for each in sentences] == [True, True, False, True, True]


def test_verbosity_changes_the_length() -> None:
    """From eight words to ninety."""
    lengths = [
        voice.shortest_and_longest({**USUAL_TRAITS, "verbosity": value})
        for value in (0.0, 0.2, 0.4, 0.6, 0.8)
    ]
    assert lengths == sorted(lengths)
    assert lengths[0] == (3, 8)


def test_an_experiment_may_set_two_templates_against_each_other() -> None:
    """The variant's goes before what was selected by hand; each decision records it."""
    life = asking("coach")
    life.control(PersonalitySelected(template="engineer"))
    life.control(
        ExperimentStarted(
            experiment_id="e1",
            a=Variant(template="butler"),
            b=Variant(template="none"),
            by="person",
            washout_s=60,
        )
    )
    found: dict[str, set[str | None]] = {}
    for person in range(20):
        made = life.decide("dusk falls", fields={"person": f"p{person}"})
        assert made.experiment is not None
        own = made.voice.template if made.voice is not None else None
        found.setdefault(made.experiment.variant, set()).add(own)

    assert found in ({"a": {"butler"}, "b": {None}}, {"a": {"butler"}}, {"b": {None}})


def test_traits_never_replace_a_strategy_skip_a_check_or_ignore_feedback() -> None:
    """With the most extreme of templates the same arms are weighed and the same is learnt."""
    loud = dict.fromkeys(TRAITS, 1.0)
    executive = plain_executive(
        templates=(
            *shipped(),
            shipped()[0].model_copy(update={"name": "loud", "traits": loud}),
        ),
        template="loud",
    )
    plain, strong = (
        Scenario(GARDEN, relevance=0.0, executive=each)
        for each in (plain_executive(), executive)
    )
    for life in (plain, strong):
        said = life.sense("dusk falls")
        life.feedback(said, "negative")
        life.sense("dusk falls", intent="informational")
        life.sense("dusk falls")

    decided = [
        [
            structs
            for turn in life.turns
            for structs in (each.message for each in turn.outputs)
            if isinstance(structs, Decided)
        ]
        for life in (plain, strong)
    ]
    for ours, theirs in zip(*decided, strict=True):
        assert ours.strategy == theirs.strategy
        assert [each.arm for each in ours.candidates] == [
            each.arm for each in theirs.candidates
        ]
        assert ours.silence == theirs.silence
        assert theirs.voice is not None
    assert plain.mind.beliefs == strong.mind.beliefs
