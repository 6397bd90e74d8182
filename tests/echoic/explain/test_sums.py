"""Sums: the terms that are shown add up to the number of the gate that they are of."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from echoic.explain.as_json import explained as as_json
from echoic.explain.explain import explain
from echoic.explain.sums import sums
from echoic.explain.what_if import opening, suppose
from echoic.terminal.explanation import explained
from echoic.terminal.screen import rendered
from handlers.mind.stages import relevance, salience
from projections.folds.events import Domain
from replay.recording.decisions import DecisionRecord, DecisionRecords
from schemas.messages.decisions import Decided, Salience
from schemas.messages.sensing import Sensed
from schemas.values.exact_math import round6
from schemas.values.executive_settings import ExecutiveSettings
from schemas.values.settings import MindSettings
from tests import factories
from tests.echoic.samples import NAMES, decided, group, sensed
from tests.factories import plain_executive
from tests.handlers.mind.wild_controls import EVERYTHING
from tests.scenario import Scenario, said

UNIT = st.floats(0.0, 1.0).map(round6)
WEIGHT = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0])


def held(found: Salience, settings: MindSettings, **weighed: Any) -> Decided:
    """A decision whose gates are those of the mind for such a salience."""
    executive = settings.executive
    further = None
    if executive.relevance:
        further = relevance.weigh(
            found, executive, threshold=settings.relevance, **weighed
        )
    event = Sensed(source="game", type="vital", text="x")
    raised = weighed.get("raises", 0.0)
    assessed = salience.assess(settings, Domain("game"), event, found, raised, further)
    return structs.replace(
        decided(),
        salience=found,
        relevance=further,
        gates=assessed.gates,
        silence=assessed.silence,
        path="rejected" if assessed.silence is None else "none",
        text=None,
    )


def check(made: Decided) -> None:
    """Each sum is true, in its record and as it is shown; each gate with a value has one."""
    found = {each.of: each for each in sums(made)}
    for gate in made.gates:
        if gate.name in ("relevance", "habituation") and gate.value is not None:
            assert found[gate.name].total == gate.value
            if made.relevance is not None:
                assert found["threshold"].total == gate.threshold
    for each in found.values():
        parts = sum(term.value for term in each.terms)
        assert abs(parts - each.total) <= 0.000005, each


@st.composite
def decisions(draw: st.DrawFn) -> Decided:
    """Decisions of any salience, weighed by any settings."""
    score, kept = draw(UNIT), draw(UNIT)
    found = Salience(
        dimensions={"novelty": draw(UNIT)},
        score=score,
        sensitivity=kept,
        effective=round6(score * kept),
    )
    names = ("weight_goal", "weight_focus", "weight_novelty", "weight_said")
    weights = {name: draw(WEIGHT) for name in names}
    weighs = draw(st.booleans())
    executive = ExecutiveSettings.model_validate({"relevance": weighs, **weights})
    settings = factories.settings(relevance=draw(UNIT), executive=executive)
    further = {
        "is_about_goal": draw(st.booleans()),
        "focus": draw(UNIT),
        "was_said": draw(st.booleans()),
        "raises": draw(st.sampled_from([0.0, 0.2, -0.15, 1.0])),
        "by_traits": draw(st.sampled_from([0.0, 0.08, -0.16, -1.0])),
    }
    return held(found, settings, **(further if weighs else {}))


@given(decisions())
def test_the_terms_add_up(made: Decided) -> None:
    """Whatever was weighed: within rounding, also where a limit took something off."""
    check(made)


@given(decisions(), UNIT)
def test_what_is_supposed_is_computed_as_the_mind_does(
    made: Decided, number: float
) -> None:
    """Its own salience, supposed, changes nothing."""
    own = {"salience": made.salience.score, "sensitivity": made.salience.sensitivity}
    if any(gate.name == "habituation" for gate in made.gates):
        assert [each.value for each in suppose(made, own)] == [
            each.value for each in made.gates
        ]
        assert suppose(made, {"salience": number})


def test_decisions_of_a_life_add_up() -> None:
    """By all that the executive weighs, of a mind that made them."""
    dry = factories.pack(factories.heuristic("dry", "the house is dry", "Good.", 0.9))
    led = Scenario(dry, executive=EVERYTHING, goals=("keep the house dry",))
    for number in range(40):
        text = ("the house is dry", "rain comes in", "dusk falls")[number % 3]
        led.wait(7.0 * number).sense(
            text, person="ada", salience={"social": 1 - number / 80}
        )
    made = [each for turn in led.turns for each in said(turn, Decided)]

    assert any(each.relevance and each.relevance.already_said for each in made)
    for each in made:
        check(each)


def quiet() -> DecisionRecord:
    """An event that was silent for one reason: a like one was answered lately."""
    found = Salience(
        dimensions={"novelty": 0.04}, score=0.513, sensitivity=1.0, effective=0.513
    )
    settings = factories.settings(
        relevance=0.5, executive=plain_executive(relevance=True)
    )
    made = held(
        found,
        settings,
        is_about_goal=False,
        focus=0.0,
        was_said=True,
        raises=0.0,
        by_traits=0.0,
    )
    taken = sensed()
    (record,) = DecisionRecords().take(taken, group(taken, [made]))
    return record


def test_a_silence_for_what_was_said_says_so() -> None:
    """The page names the terms; what would have changed it is relevance, not salience."""
    record = quiet()
    explanation = explain(record, NAMES)
    page = rendered(explained(record, explanation))

    assert explanation.verdict == (
        "Stayed silent: it did not matter enough (relevance 0.22 < 0.50)."
    )
    assert explanation.counterfactual == (
        "Would have passed if relevance ≥ 0.50 (was 0.22) and relevance"
        " after habituation ≥ 0.50 (was 0.22). A like event was answered lately (-0.30);"
        " without that it would have passed."
    )
    assert "salience 0.513 + novelty 0.004 - said already 0.300 = 0.217" in page
    assert opening(record.decided) == ("relevance", 0.21)


def test_programs_are_told_the_terms() -> None:
    """All of them, also those of 0."""
    record = quiet()
    fields: Any = as_json(record, explain(record, NAMES))["explanation"]
    by = {each["of"]: each for each in fields["sums"]}

    assert by["relevance"]["total"] == 0.217
    assert [(each["name"], each["value"]) for each in by["relevance"]["terms"]] == [
        ("salience", 0.513),
        ("goal", 0.0),
        ("focus", 0.0),
        ("novelty", 0.004),
        ("said already", -0.3),
    ]
    assert [each["name"] for each in by["threshold"]["terms"]] == [
        "usual",
        "raised",
        "character",
    ]


@pytest.mark.parametrize("moved", [0.9, -0.9])
def test_at_the_limit_of_thresholds_nothing_is_made_up(moved: float) -> None:
    """What the threshold was before is not recorded, and so not told."""
    found = Salience(dimensions={}, score=0.5, sensitivity=1.0, effective=0.5)
    settings = factories.settings(
        relevance=0.5, executive=plain_executive(relevance=True)
    )
    made = held(
        found,
        settings,
        is_about_goal=False,
        focus=0.0,
        was_said=False,
        raises=moved,
        by_traits=0.0,
    )
    (threshold,) = (each for each in sums(made) if each.of == "threshold")

    assert [each.name for each in threshold.terms] == ["limit of all thresholds"]
    assert threshold.terms[0].value == threshold.total
