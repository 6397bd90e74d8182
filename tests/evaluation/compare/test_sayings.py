"""Two templates on one recording: a table of facts on words, and what is predicted of it."""

import asyncio
from typing import Any

import orjson
import pytest

from echoic.packs import personalities, skills
from echoic.terminal import comparison as screens
from echoic.terminal.screen import rendered
from echoic.web.report.page import render
from evaluation.compare.document import Comparison, Document, Fact
from evaluation.compare.document_of import document
from evaluation.compare.overall import Wish
from evaluation.compare.session import Plan, compared
from evaluation.ope.settings import EstimationSettings
from handlers.aids import AidProvider, PackLibrary
from replay.closed_loop.run import Answers
from schemas.messages.executive import ReminderSet
from schemas.messages.experiments import Variant
from schemas.messages.results import ClockTicked
from schemas.values.settings import StrategySpec
from tests import factories
from tests.factories import heuristic, pack, plain_executive
from tests.replay.scenarios import WordsEmbedder, recording_of_scenario
from tests.scenario import Scenario

PLANTS = pack(
    heuristic("dry", "the soil is dry", "Do not wait! Water the plants.", 0.9),
    heuristic("wet", "the soil is wet", "Wet.", 0.9),
)


def gardening(template: str = "jester", **settings: Any) -> Scenario:
    """Plain sentences of a jester's, most of which are said otherwise by others."""
    own = plain_executive(
        templates=personalities.shipped(),
        skills=skills.shipped(),
        template=template,
        consistent=True,
        relevance=True,
    )
    scenario = Scenario(PLANTS, executive=own, relevance=0.3, **settings)
    scenario.sense("nothing at all")
    scenario.wait(60).sense("the soil is wet", salience={"threat": 0.9})
    scenario.wait(60).sense("the soil is dry", salience={"actionability": 0.9})
    scenario.control(ReminderSet(text="It is tea time!", in_s=30.0))
    scenario.wait(30).tell(ClockTicked(due_at=scenario.at))
    scenario.wait(60).sense("the soil is dry", salience={"actionability": 0.5})
    return scenario


def compared_with(scenario: Scenario, *templates: str, **plan: Any) -> Document:
    """A recording compared with challengers that differ in their templates alone."""
    recording, made = recording_of_scenario(scenario), WordsEmbedder()
    challengers = tuple(Variant(template=each) for each in templates)
    wanted = Plan(baseline=Variant(), challengers=challengers, **plan)
    bringer = AidProvider(made, PackLibrary(recording.log, made))
    found = asyncio.run(compared(recording, bringer, wanted, lambda done, whole: None))
    wish = Wish(command="echoic", echoic="0", estimation=EstimationSettings())
    return document([found], wanted, wish)


def facts(found: Comparison) -> dict[str, Fact]:
    """The facts of a comparison, by name."""
    return {each.name: each for each in found.facts}


def test_two_templates_give_a_table_of_words() -> None:
    """Types, lengths, exclamation marks, silences and what is said otherwise."""
    butler, coach = compared_with(gardening(), "butler", "coach").comparisons
    for each in (butler, coach):
        assert each.estimate.target.dr is None
        assert each.flips_total == 0
        found = facts(each)
        assert found["said_otherwise"].challenger
        assert found["suggestions"].baseline
        # The logged state holds the recorded voice, which is no other choice.
        assert found["drift"].challenger == 0.0
    quiet, loud = facts(butler)["exclamations"], facts(coach)["exclamations"]
    assert quiet.challenger == 0.0
    assert (quiet.baseline or 0.0) > 0.0
    assert (loud.challenger or 0.0) > (loud.baseline or 0.0)


def test_the_other_side_is_what_it_would_truly_have_said() -> None:
    """As a run that had the template from the beginning; whatever it says of itself."""
    (found,) = compared_with(gardening(), "butler").comparisons
    truly = compared_with(gardening("butler"), "jester").comparisons[0]
    ours = {each.sequence: each.challenger.text for each in found.sayings}
    theirs = {
        each.sequence: each.baseline.text for each in truly.sayings if each.baseline
    }
    assert ours == theirs
    assert "Do not wait. Water the plants." in ours.values()
    assert "It is tea time." in ours.values()


def test_words_are_facts_until_the_first_other_ones() -> None:
    """What people do after other words is not on record, so the rest is predicted."""
    (found,) = compared_with(gardening(), "butler").comparisons
    kinds = [each.kind for each in found.sayings]
    assert kinds[0] == "fact"
    assert set(kinds[1:]) == {"predicted"}
    row = facts(found)["said_otherwise"]
    assert row.kind == "predicted"
    assert row.note is not None
    assert "fact for the first 3 of" in row.note


def test_the_same_template_says_nothing_otherwise() -> None:
    """All of it is fact."""
    (found,) = compared_with(gardening(), "jester").comparisons
    assert found.sayings == ()
    rows = facts(found)
    assert rows["said_otherwise"].challenger == 0.0
    for name in ("said_otherwise", "words", "exclamations", "suggestions"):
        assert rows[name].kind == "fact"
        assert rows[name].delta in (0.0, None)


def test_silences_are_compared_with_their_reasons() -> None:
    """A coach speaks where a butler keeps what matters little to himself."""
    (found,) = compared_with(gardening("butler"), "coach").comparisons
    rows = [each for each in found.facts if each.name.startswith("silent")]
    assert rows
    assert sum(each.delta or 0.0 for each in rows) <= 0.0


def test_a_models_words_in_another_voice_are_unknown() -> None:
    """Nobody asked it: no sentence is made up."""
    scenario = gardening(
        model=factories.MODEL, strategy=StrategySpec(name="always_llm")
    )
    asked = scenario.wait(60).sense("the soil is dry", salience={"threat": 0.9})
    scenario.answer_model(asked, "Pour!")
    answers = Answers(mode="cassette")
    (found,) = compared_with(scenario, "butler", answers=answers).comparisons
    unknown = [each for each in found.sayings if each.challenger.text is None]
    assert unknown
    assert all(each.challenger.response_type for each in unknown)
    assert "of a model unknown" in (facts(found)["said_otherwise"].note or "")


def test_another_strategy_alone_compares_no_words() -> None:
    """Its screen and document are as they were."""
    recording, made = recording_of_scenario(gardening()), WordsEmbedder()
    plan = Plan(
        baseline=Variant(), challengers=(Variant(strategy=StrategySpec(name="silent")),)
    )
    bringer = AidProvider(made, PackLibrary(recording.log, made))
    result = asyncio.run(compared(recording, bringer, plan, lambda done, whole: None))
    wish = Wish(command="echoic", echoic="0", estimation=EstimationSettings())
    (found,) = document([result], plan, wish).comparisons
    assert found.sayings == ()
    assert "said_otherwise" not in facts(found)


@pytest.fixture(scope="module", name="compared_butler")
def _compared_butler() -> Document:
    return compared_with(gardening(), "butler")


def test_the_screen_and_the_page_show_both_sentences(compared_butler: Document) -> None:
    """With what is fact and what is predicted."""
    page = rendered(screens.screen(compared_butler))
    html = render(compared_butler)
    for text in ("Do not wait. Water the plants.", "It is tea time."):
        assert f"→ “{text}”" in page
        assert text in html
    assert "said otherwise" in page
    assert "predicted" in page
    assert "said otherwise" in html
    assert orjson.dumps(compared_butler.as_json())
