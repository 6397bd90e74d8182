"""The budget of the model's arm: calls a minute, tokens and cost a day."""

from typing import Any

import pytest

from handlers.mind.turn import Turn
from schemas.messages.arms import Chained
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided, Gate
from schemas.messages.results import ModelAnswered, ModelFailed, TriedModel
from schemas.state.executive import IDLE
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, one, output, said

GARDEN = pack(heuristic("low", "food is low", "Eat now.", 0.8))


def alive(**executive: Any) -> Scenario:
    """A scenario with a model and a budget."""
    return Scenario(GARDEN, relevance=0.0, model=factories.MODEL, executive=executive)


def asks(scenario: Scenario, text: str, after_s: float = 1.0) -> Turn:
    """An event that nothing learnt answers."""
    return scenario.wait(after_s).sense(text)


def answers(scenario: Scenario, asked: Turn, **spent: Any) -> Turn:
    """The model's answer, with what it took."""
    ask = output(asked, ModelAsked)
    return scenario.wait(1).tell(
        ModelAnswered(ask_id=ask.id, request_hash="r", model="m", text="Hi.", **spent)
    )


def test_so_many_calls_a_minute() -> None:
    """At the budget no model is asked, with the reason; a heuristic answers as ever."""
    scenario = alive(budget_calls=2)
    asks(scenario, "one thing")
    asks(scenario, "another thing there")

    third = asks(scenario, "quite something else")
    known = scenario.wait(1).sense("food is low")

    assert not said(third, ModelAsked)
    decided = one(third, Decided)
    assert decided.silence == "budget_exhausted"
    assert decided.gates[-1] == Gate(
        name="budget", passed=False, value=0.0, threshold=1.0, margin=-1.0,
        note="2 of 2 calls in the last minute",
    )  # fmt: skip
    assert one(known, Decided).text == "Eat now."
    # A minute after the first call, which then no longer counts.
    early = asks(scenario, "it is early", after_s=56.999)
    late = asks(scenario, "it is late", after_s=0.001)
    assert (bool(said(early, ModelAsked)), bool(said(late, ModelAsked))) == (
        False,
        True,
    )


@pytest.mark.parametrize(
    ("budget", "spent", "note"),
    [
        ({"budget_tokens": 30}, {"input_tokens": 10, "output_tokens": 20}, "30 of 30"),
        ({"budget_tokens": 30}, {"input_tokens": 10, "output_tokens": 19}, None),
        ({"budget_cost": 0.5}, {"cost_usd": 0.5}, "0.5 of 0.5 US dollars today"),
        ({"budget_cost": 0.5}, {"cost_usd": 0.499999}, None),
        ({"budget_cost": 0.5}, {"cost_usd": -1.0, "input_tokens": -5}, None),
    ],
)
def test_so_much_a_day(
    budget: dict[str, float], spent: dict[str, float], note: str | None
) -> None:
    """Of tokens and of dollars, until midnight in the settings' time zone."""
    scenario = alive(timezone="Europe/Berlin", **budget)
    answers(scenario, asks(scenario, "one thing"), **spent)

    decided = one(asks(scenario, "another thing there"), Decided)

    assert (decided.silence == "budget_exhausted") == (note is not None)
    gate = decided.gates[-1]
    assert gate.name == "budget"
    assert (note or "") in (gate.note or "")
    # Noon in UTC is 14:00 in Berlin, so a new day begins there in ten hours.
    midnight = asks(scenario, "it is midnight", after_s=36_000)
    assert said(midnight, ModelAsked)


def test_the_tightest_limit_is_told() -> None:
    """The one of which the smallest share is left."""
    scenario = alive(budget_calls=10, budget_tokens=100)
    answers(scenario, asks(scenario, "one thing"), input_tokens=50)

    decided = one(asks(scenario, "another thing there"), Decided)

    assert decided.gates[-1].note == "50 of 100 tokens today"
    assert scenario.mind.executive.spent.tokens == 50


def test_tokens_that_no_server_counts_are_estimated() -> None:
    """As the effect wrote it down, so that a replay counts the same; and it is told."""
    scenario = alive(timezone="Europe/Berlin", budget_tokens=100)
    answers(scenario, asks(scenario, "one thing"), input_tokens=30, output_tokens=10)
    answers(scenario, asks(scenario, "another thing there"), estimated_tokens=60)

    decided = one(asks(scenario, "quite something else"), Decided)

    assert decided.silence == "budget_exhausted"
    assert decided.gates[-1].note == "100 of 100 tokens today, 60 of them estimated"
    # A new day begins with none.
    asked = asks(scenario, "it is midnight", after_s=36_000)
    answers(scenario, asked, estimated_tokens=5)
    spent = scenario.mind.executive.spent
    assert (spent.tokens, spent.estimated) == (5, 5)


def test_without_a_budget_nothing_is_counted() -> None:
    """And nothing is on record."""
    scenario = alive()
    answers(scenario, asks(scenario, "one thing"), input_tokens=50)

    assert scenario.mind.executive.spent is IDLE.spent


def test_a_failure_of_the_model_costs_no_tokens() -> None:
    """As far as anybody knows."""
    scenario = alive(budget_tokens=100)
    scenario.fail_model(asks(scenario, "one thing"))

    assert scenario.mind.executive.spent is IDLE.spent


def test_a_chain_costs_what_all_its_models_cost() -> None:
    """Also where the last of them fails."""
    tried = (TriedModel(model="a", reason="malformed", tokens=20, cost_usd=0.25),)
    scenario = alive(budget_tokens=100, budget_cost=9.0)
    answers(
        scenario, asks(scenario, "one thing"),
        link="b", attempts=tried, input_tokens=9, output_tokens=1, cost_usd=0.5,
    )  # fmt: skip
    failed = output(asks(scenario, "another thing there"), ModelAsked)
    scenario.wait(1).tell(
        ModelFailed(
            ask_id=failed.id, request_hash="r", reason="timeout", link="b",
            attempts=tried,
        )
    )  # fmt: skip

    spent = scenario.mind.executive.spent
    assert (spent.tokens, spent.cost) == (50, 0.75)


def test_it_is_told_who_of_a_chain_answered() -> None:
    """With how many were asked, and the price of all."""
    scenario = alive()
    tried = (TriedModel(model="a", reason="timeout"),)

    done = answers(
        scenario, asks(scenario, "one thing"), link="b", attempts=tried, cost_usd=0.5
    )

    chain = Chained(link="b", attempts=2, cost_usd=0.5)
    assert one(done, Completed).chain == chain


def test_where_no_day_is_counted_answers_cost_nothing() -> None:
    """Only calls are."""
    scenario = alive(budget_calls=5)
    answers(scenario, asks(scenario, "one thing"), input_tokens=50)
    scenario.fail_model(asks(scenario, "another thing there"))

    spent = scenario.mind.executive.spent
    assert (len(spent.calls), spent.tokens) == (2, 0)
