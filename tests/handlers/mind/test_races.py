"""Races: the model against what was learnt, from the event to what is credited."""

from typing import Any

import pytest

from handlers.mind import handle
from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import HeuristicFrozen, SessionStarted
from schemas.messages.decisions import Completed, Decided, Dropped, HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.state import limits
from tests import factories
from tests.factories import heuristic, pack, pattern
from tests.scenario import Scenario, decision_id, names, occurred, one, output, said

DRINK = heuristic("low", "health low", "Drink.", confidence=0.8, urgency=0.3)


def racing(**settings: Any) -> Scenario:
    """A scenario with a trusted heuristic, a model and races between them."""
    garden = pack(
        DRINK,
        heuristic("doubted", "dusk falls", "Sleep.", confidence=0.4),
        patterns=[pattern("health low", "drank", timeout_s=10.0)],
    )
    return Scenario(
        garden, **{"model": factories.MODEL, "strategy": {"name": "hybrid"}, **settings}
    )


@pytest.fixture
def scenario() -> Scenario:
    """A scenario with races."""
    return racing()


def begun(scenario: Scenario, **event: Any) -> Turn:
    """An event that a race is run about."""
    turn = scenario.sense("health low", **event)
    assert names(turn) == ["Decided", "HeuristicFired", "ModelAsked"]
    return turn


def tick(scenario: Scenario) -> Turn:
    """A tick of the clock."""
    return scenario.tell(ClockTicked(due_at=scenario.at))


def shown(turn: Turn) -> list[HeuristicFired]:
    """The fires that the person saw."""
    return [each for each in said(turn, HeuristicFired) if each.mode == "shown"]


def test_a_race_begins_as_a_question_to_the_model(scenario: Scenario) -> None:
    """One arm with all the probability, its answer open, the rival in the ask."""
    turn = begun(scenario)
    decided, asked = one(turn, Decided), one(turn, ModelAsked)

    assert decided.arm.startswith("race:llm:test/model@")
    assert decided.arm.endswith("@400")
    assert (decided.probability, decided.greedy_arm) == (1.0, decided.arm)
    assert (decided.path, decided.final, decided.text) == ("llm", False, None)
    rival = asked.rival
    assert rival is not None
    assert decided.arm == (
        f"race:{rival.llm_arm}+heuristic:{rival.heuristic_id}@{rival.content_hash}@400"
    )
    assert (rival.text, rival.due_at) == ("Drink.", factories.after(0.4))
    assert decided.matched_heuristic_id == rival.heuristic_id
    assert [each.purpose for each in scenario.mind.timers] == ["race", "model"]


def test_a_model_in_time_wins(scenario: Scenario) -> None:
    """Its words are said; the heuristic has not fired, and no vote credits it."""
    turn = begun(scenario)
    told = scenario.wait(0.399).answer_model(turn, "Sit down.", predicted_success=0.6)
    voted = scenario.feedback(turn)

    completed, asked = one(told, Completed), one(turn, ModelAsked)
    assert names(told) == ["Handled", "Completed", "DeliveryAsked"]
    assert asked.rival is not None
    assert completed.winner == asked.rival.llm_arm
    assert (completed.path, completed.text) == ("llm", "Sit down.")
    assert one(told, DeliveryAsked).urgency == 0.0
    assert one(voted, FeedbackApplied).heuristic_id is None
    assert scenario.mind.timers == ()
    assert scenario.mind.fires == ()


def test_a_model_too_late_has_lost(scenario: Scenario) -> None:
    """The heuristic answers at the deadline; the model's words stay in the log alone."""
    turn = begun(scenario)
    won = tick(scenario.wait(0.4))
    late = scenario.wait(0.1).answer_model(turn, "Sit down.")

    assert names(won) == ["HeuristicFired", "Completed", "DeliveryAsked", "Handled"]
    completed, delivery = one(won, Completed), one(won, DeliveryAsked)
    (fire,) = shown(won)
    assert completed.winner == f"heuristic:{fire.heuristic_id}@{fire.content_hash}"
    assert (completed.path, completed.text) == ("heuristic", "Drink.")
    assert completed.predicted_success == completed.prediction_confidence == 0.8
    assert completed.ask_id == output(turn, ModelAsked).id
    assert (delivery.text, delivery.path, delivery.urgency) == (
        "Drink.",
        "heuristic",
        0.3,
    )
    assert delivery.ttl_s == 29.6
    assert (fire.decision_id, fire.event_id) == (decision_id(turn), turn.input.id)
    assert names(late) == ["Handled"]
    assert one(late, Handled).reason == "late"
    assert "model" not in [each.purpose for each in scenario.mind.timers]


def test_at_its_deadline_the_model_has_lost(scenario: Scenario) -> None:
    """What is due runs before the answer that came with it."""
    turn = begun(scenario)
    told = scenario.wait(0.4).answer_model(turn, "Sit down.")

    assert names(told) == ["HeuristicFired", "Completed", "DeliveryAsked", "Handled"]
    assert one(told, Completed).path == "heuristic"
    assert one(told, Handled).reason == "late"


@pytest.mark.parametrize("reason", ["timeout", "no_response", "declined"])
def test_a_model_that_fails_need_not_be_waited_for(
    scenario: Scenario, reason: str
) -> None:
    """The heuristic answers at once."""
    turn = begun(scenario)
    told = scenario.wait(0.1).fail_model(turn, reason)

    assert names(told) == ["Handled", "HeuristicFired", "Completed", "DeliveryAsked"]
    assert one(told, Completed).text == "Drink."
    assert one(scenario.answer_model(turn), Handled).reason == "second"


def test_an_empty_answer_is_a_failure(scenario: Scenario) -> None:
    """Nothing at all is no choice of the model's."""
    assert (
        one(scenario.answer_model(begun(scenario), " "), Completed).path == "heuristic"
    )


def test_a_model_may_win_by_silence(scenario: Scenario) -> None:
    """Where it chose to say nothing, nothing is said."""
    told = scenario.answer_model(begun(scenario), '{"response": ""}')

    assert names(told) == ["Handled", "Dropped"]
    assert one(told, Dropped).reason == "llm_declined"
    assert scenario.mind.timers == ()


def test_a_vote_credits_the_heuristic_that_won(scenario: Scenario) -> None:
    """On the decision, whose fire it is by then; before that it credits nothing."""
    turn = begun(scenario)
    early = scenario.feedback(turn, actor="ana")
    won = tick(scenario.wait(0.4))
    (fire,) = shown(won)
    before = scenario.belief(fire.heuristic_id, fire.content_hash).confidence
    voted = one(scenario.feedback(turn, "negative"), FeedbackApplied)

    assert one(early, FeedbackApplied).heuristic_id is None
    assert voted.heuristic_id == fire.heuristic_id
    assert scenario.belief(fire.heuristic_id, fire.content_hash).confidence < before


def test_outcomes_are_waited_for_from_when_it_was_said(scenario: Scenario) -> None:
    """The pack's window opens with the words, not with the event."""
    begun(scenario)
    tick(scenario.wait(0.4))
    (fire,) = scenario.mind.fires
    assert fire.expectations[0].due == factories.after(10.4)

    seen = scenario.wait(9.9).sense("drank")
    assert one(seen, OutcomeObserved).outcome == "success"


def test_no_outcome_is_waited_for_if_the_model_won(scenario: Scenario) -> None:
    """The heuristic did nothing that could turn out."""
    scenario.answer_model(begun(scenario), "Sit down.")

    assert said(scenario.sense("drank"), OutcomeObserved) == []


def test_the_next_event_runs_what_is_due(scenario: Scenario) -> None:
    """The fire belongs to its own event, whatever the one that runs the timer is."""
    first = begun(scenario)
    second = scenario.wait(1).sense("all quiet", entities=["zombie"])

    (fire,) = shown(second)
    assert names(second)[:3] == ["HeuristicFired", "Completed", "DeliveryAsked"]
    assert (fire.event_id, fire.decision_id) == (first.input.id, decision_id(first))
    assert scenario.mind.fires[0].entities == ()
    assert one(second, DeliveryAsked).event_id == first.input.id


def test_on_the_clock_of_events_the_deadline_waits_for_the_next() -> None:
    """No tick moves such a clock; an answer that comes before the next event wins."""
    scenario = racing(relevance=0.0)
    scenario.control(SessionStarted(session_id="s", clock="event"))
    start = factories.NOON
    in_time = begun(scenario, occurred_at=occurred(start))
    won = scenario.wait(20).answer_model(in_time, "Sit down.")
    assert one(won, Completed).path == "llm"

    begun(scenario, occurred_at=occurred(factories.after(60)))
    assert said(tick(scenario), Completed) == []
    then = scenario.sense("all quiet", occurred_at=occurred(factories.after(61)))
    assert one(then, Completed).text == "Drink."


def test_what_is_stale_is_not_said_by_either(scenario: Scenario) -> None:
    """An event that comes after the ttl finds nothing worth saying."""
    turn = begun(scenario)
    told = scenario.wait(200).sense("all quiet", intent="informational")

    dropped = one(told, Dropped)
    assert (dropped.reason, dropped.decision_id) == ("stale", decision_id(turn))
    assert shown(told) == []
    assert scenario.mind.timers == ()


def test_a_short_ttl_is_the_deadline(scenario: Scenario) -> None:
    """What is worth something for less than the deadline is said while it is."""
    turn = begun(scenario, ttl_s=0.25)
    asked = one(turn, ModelAsked)
    assert asked.rival is not None
    assert asked.rival.due_at == asked.expires_at
    won = tick(scenario.wait(0.25))

    assert one(won, Completed).path == "heuristic"
    assert one(won, DeliveryAsked).ttl_s > 0


def test_one_that_gives_way_is_answered_by_its_heuristic(scenario: Scenario) -> None:
    """If too many wait for the model, the least salient race ends at once."""
    limit, limits.PENDING_ANSWERS = limits.PENDING_ANSWERS, 1
    try:
        begun(scenario, salience={"social": 0.3})
        second = scenario.sense("health low", salience={"social": 0.9}, source="other")
    finally:
        limits.PENDING_ANSWERS = limit

    assert [each.text for each in said(second, Completed)] == ["Drink."]
    assert said(second, Dropped) == []
    assert len(scenario.mind.pending) == 1


def test_many_deadlines_at_once_run_in_their_order(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is over the limit runs with the next input, even past an answer in between."""
    monkeypatch.setattr(handle, "TIMERS_AT_ONCE", 1)
    begun(scenario)
    last = begun(scenario.wait(0.1), source="other", id_="e2")
    crowded = scenario.wait(1).answer_model(last, "Sit down.")

    texts = [each.text for each in said(crowded, Completed)]
    assert texts == ["Drink.", "Sit down."]


def test_no_race_where_it_is_urgent(scenario: Scenario) -> None:
    """The heuristic answers in the same breath; without one the model is asked alone."""
    at_once = scenario.sense("health low", urgency=0.9)
    doubted = scenario.sense("dusk falls", urgency=0.9)

    assert names(at_once) == ["Decided", "HeuristicFired", "DeliveryAsked"]
    assert one(doubted, Decided).arm.startswith("llm:")
    assert one(doubted, ModelAsked).rival is None
    assert one(scenario.answer_model(doubted, "Rest."), Completed).winner is None


def test_no_race_without_a_model() -> None:
    """What is trusted answers, and for the rest there is silence."""
    scenario = racing(model=None)

    assert one(scenario.sense("health low"), Decided).path == "heuristic"
    assert one(scenario.sense("dusk falls"), Decided).silence == "llm_unavailable"


def test_the_deadline_is_a_parameter() -> None:
    """Another deadline is another arm."""
    spec = {"name": "hybrid", "parameters": {"deadline_ms": 1_500}}
    scenario = racing(strategy=spec)
    turn = begun(scenario)

    assert one(turn, Decided).arm.endswith("@1500")
    assert said(tick(scenario.wait(1.4)), Completed) == []
    assert one(tick(scenario.wait(0.1)), Completed).path == "heuristic"


def test_exploration_leaves_a_race_its_share() -> None:
    """It is what the strategy holds best; the others get what is spread."""
    scenario = racing(exploration={"scheme": "uniform", "rate": 0.2}, relevance=0.0)
    decided = [scenario.decide("health low", id_=f"e{n}") for n in range(60)]

    races = [each for each in decided if each.arm.startswith("race:")]
    assert 30 < len(races) < 60
    for each in decided:
        assert each.greedy_arm.startswith("race:")
        weighed = sum(round(1e6 * one.probability) for one in each.candidates)
        assert weighed == 1_000_000


def test_a_rival_that_was_frozen_meanwhile_does_not_answer(scenario: Scenario) -> None:
    """Its words were ready at the deadline; whoever froze it meant these as well."""
    turn = begun(scenario)
    rival = one(turn, ModelAsked).rival
    assert rival is not None
    scenario.control(HeuristicFrozen(heuristic_id=rival.heuristic_id))
    ended = tick(scenario.wait(0.4))
    dropped = one(ended, Dropped)

    assert names(ended) == ["Dropped", "Handled"]
    assert (dropped.reason, dropped.decision_id) == ("cancelled", decision_id(turn))
    assert "frozen meanwhile" in dropped.detail
