"""Modulation by itself: what is ignored, what is disliked, and where the agent is."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.decisions import Decided
from schemas.messages.executive import (
    ContextSwitched,
    SalienceModulated,
    UserStateChanged,
)
from schemas.messages.learning import OutcomeExpired, OutcomeObserved
from schemas.messages.notes import ControlInferred
from schemas.values.persons import token_of
from tests.factories import heuristic, pack, pattern
from tests.handlers.mind.test_restraint import THREAT
from tests.scenario import Scenario, decision_id, names, one, said

GARDEN = pack(
    heuristic("low", "food is low", "Eat now.", 0.8),
    heuristic("rain", "rain is near", "Take a coat.", 0.8),
    types=("vital", "thing", "message"),
    patterns=[pattern("food is low", "food is eaten", timeout_s=10.0)],
    contexts=[{"name": "party", "threshold": -0.2}],
)
LOW, RAIN = "food is low", "rain is near"


def alive(**executive: Any) -> Scenario:
    """A scenario that modulates by itself, with a threshold of 0.4."""
    return Scenario(GARDEN, relevance=0.4, executive={"modulates": True, **executive})


def shown(scenario: Scenario, text: str = LOW, **fields: Any) -> Turn:
    """An event that matters, long after any like it, and what is decided on it."""
    salience = {"novelty": 1.0}
    return scenario.wait(30_000).sense(text, **{"salience": salience, **fields})


def threshold(scenario: Scenario, **fields: Any) -> float | None:
    """What an event must matter now."""
    decided = scenario.decide("something else", type_="thing", **fields)
    (gate,) = (each for each in decided.gates if each.name == "relevance")
    return gate.threshold


def kept(scenario: Scenario, text: str = LOW, **fields: Any) -> float:
    """The sensitivity to an event."""
    return scenario.decide(text, **fields).salience.sensitivity


def ignored(scenario: Scenario, times: int) -> Turn:
    """Answers whose outcome never came, one after the other without delay."""
    for _ in range(times):
        scenario.wait(1).sense(LOW, salience={"threat": 1.0})
    scenario.wait(10)
    return scenario.sense("something else", type_="thing")


def test_what_is_ignored_matters_less() -> None:
    """By a tenth for each answer, for events of that sort alone; a threat always passes."""
    scenario = alive()

    turn = ignored(scenario, 2)

    assert len(said(turn, OutcomeExpired)) == 2
    assert scenario.mind.executive.peace.ignored["game.vital"].kept == 0.81
    assert kept(scenario, "quite new here") == pytest.approx(0.81, abs=1e-3)
    other = scenario.decide("quite other", type_="thing", source="desk").salience
    assert (other.sensitivity, other.share) == (1.0, None)
    assert scenario.decide(LOW, **THREAT).text is not None


def test_being_ignored_is_forgotten_with_time() -> None:
    """Of what was lost e^(-t/3600) is left after t seconds; there is always a tenth left."""
    scenario = alive()
    ignored(scenario, 1)

    scenario.wait(3_600)

    assert kept(scenario, "quite new here") == pytest.approx(
        1 - 0.1 * 0.36788, abs=1e-5
    )
    scenario = alive()
    ignored(scenario, 40)
    assert scenario.mind.executive.peace.ignored["game.vital"].kept == 0.1


def test_a_success_makes_it_good_at_once() -> None:
    """And so does praise."""
    scenario = alive()
    ignored(scenario, 2)
    turn = scenario.wait(1).sense(LOW, **THREAT)
    scenario.wait(1).sense("food is eaten", type_="thing")
    assert scenario.mind.executive.peace.ignored["game.vital"].kept == 1.0

    ignored(scenario, 1)
    turn = scenario.wait(1).sense(LOW, **THREAT)
    scenario.feedback(turn)

    assert scenario.mind.executive.peace.ignored["game.vital"].kept == 1.0


def test_an_answer_that_was_judged_was_not_ignored() -> None:
    """Nor one that is not remembered any more."""
    scenario = alive()
    turn = scenario.wait(1).sense(LOW, **THREAT)
    scenario.feedback(turn, "negative")
    scenario.wait(20).sense("something else", type_="thing")

    assert "game.vital" not in scenario.mind.executive.peace.ignored


def sour(turn: Turn) -> list[tuple[str, object, object]]:
    """What a turn inferred of a person's dislike."""
    return [
        (each.by, each.fields["amount"], each.fields["for_s"])
        for each in said(turn, ControlInferred)
    ]


BY_RULE = [("rule", 0.2, 600.0)]


@pytest.mark.parametrize(
    ("after_s", "sentiment", "is_sour"),
    [(60.0, -0.1, True), (60.001, -0.1, False), (1.0, 0.0, False), (1.0, None, False)],
)
def test_a_bad_feeling_within_a_minute_raises_the_threshold(
    after_s: float, sentiment: float | None, is_sour: bool
) -> None:
    """By 0.2 for ten minutes, to the second, and no further if it is said again."""
    scenario = alive()
    shown(scenario)

    turn = scenario.wait(after_s).sense("oh no", source="mic", sentiment=sentiment)

    assert sour(turn) == (BY_RULE if is_sour else [])
    assert threshold(scenario) == (0.6 if is_sour else 0.4)
    if is_sour:
        scenario.wait(599.999)
        assert threshold(scenario) == 0.6
        scenario.wait(0.001)
        assert threshold(scenario) == 0.4


def test_it_is_not_added_up() -> None:
    """What a person asked for stays beside it, and can be undone apart."""
    scenario = alive()
    scenario.control(SalienceModulated(change="threshold", amount=0.1))
    shown(scenario)
    for _ in range(3):
        scenario.wait(1).sense("oh no", source="mic", sentiment=-1.0)

    assert threshold(scenario) == pytest.approx(0.7)
    made = scenario.mind.executive.peace.modulations[-1]
    scenario.control(SalienceModulated(change="clear", modulation_id=made.id))
    assert threshold(scenario) == 0.5


def test_a_vote_against_it_counts_as_dislike() -> None:
    """Of a person by name, of any script, for that person; praise does not."""
    scenario = alive()
    turn = shown(scenario)

    bad = scenario.wait(1).feedback(turn, "negative", actor="ana")
    good = scenario.wait(1).feedback(turn, "positive", actor="bo")
    odd = scenario.wait(1).feedback(turn, "negative", actor="Zoë")
    usual = scenario.wait(1).feedback(turn, "negative")

    assert [sour(each) for each in (bad, good, odd, usual)] == [
        BY_RULE, [], BY_RULE, BY_RULE,
    ]  # fmt: skip
    persons = {each.person for each in scenario.mind.executive.peace.modulations}
    assert persons == {"ana", token_of("Zoë"), ""}


def test_a_state_that_is_told_counts_as_well() -> None:
    """As far as it tells how the person feels."""
    scenario = alive()
    shown(scenario)

    bad = scenario.wait(1).control(UserStateChanged(sentiment=-0.5, person="ana"))
    none = scenario.wait(1).control(UserStateChanged(busy=True))

    assert (sour(bad), sour(none)) == (BY_RULE, [])


def test_undoing_what_was_advised_counts_as_dislike() -> None:
    """As an event shows it, soon after."""
    scenario = Scenario(
        GARDEN, relevance=0.4, learning={"undo_s": 30.0}, executive={"modulates": True}
    )
    shown(scenario, RAIN, entities=["coat"])

    turn = scenario.wait(5).sense("put back", type_="thing", fields={"undoes": "coat"})

    assert [each.by for each in said(turn, OutcomeObserved)] == ["undo"]
    assert sour(turn) == BY_RULE


def test_switched_off_nothing_is_moved() -> None:
    """As for an agent with no such setting."""
    scenario = alive(modulates=False)
    shown(scenario)
    turn = scenario.wait(1).sense("oh no", source="mic", sentiment=-1.0)
    ignored(scenario, 2)
    scenario.control(ContextSwitched(context="work"))

    assert not said(turn, ControlInferred)
    assert "game.vital" not in scenario.mind.executive.peace.ignored
    assert threshold(scenario) == 0.4


@pytest.mark.parametrize(
    ("context", "least"), [("work", 0.5), ("gaming", 0.4), ("party", 0.2)]
)
def test_where_it_is_moves_the_threshold(context: str, least: float) -> None:
    """By what the context declares, be it ours or a pack's."""
    scenario = alive()

    scenario.control(ContextSwitched(context=context))

    assert threshold(scenario) == least


def test_the_record_agrees_with_the_decision() -> None:
    """What is ignored is part of the sensitivity that is on record."""
    scenario = alive()
    ignored(scenario, 3)

    turn = scenario.wait(1).sense("quite new here")
    decided = one(turn, Decided)

    found = decided.salience
    assert found.share == pytest.approx(0.729, abs=1e-3)
    assert found.effective == round(found.score * found.sensitivity, 6)
    assert decision_id(turn)
    assert names(turn) == ["Decided"]
