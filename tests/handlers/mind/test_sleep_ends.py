"""How a sleep ends: by itself, by whoever waits, or because the model does not answer."""

from handlers.mind.flows.reflect import PATIENCE
from projections.folds.pending_answers import MODEL_GRACE
from schemas.messages.asks import ModelAsked
from schemas.messages.controls import SleepRequested as Sleep
from schemas.messages.results import ClockTicked, ModelAnswered
from schemas.messages.sleep import SleepBegun, SleepEnded
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import plain_sleep
from tests.handlers.mind.sleepers import (
    CONDITION,
    EVENT,
    MESSAGE,
    SAID,
    answered_event,
    living,
    rule,
    taught,
    told,
)
from tests.scenario import names, one, refused


def test_whoever_waits_for_the_model_ends_the_sleep() -> None:
    """An event that needs it comes first; what was found by then stands."""
    scenario = living()
    answered_event(scenario)
    answered_event(scenario, "the rain is over")
    turn = scenario.wait(60).control(Sleep())
    scenario.wait(1).sense("a wolf comes near")

    turn = told(scenario, turn, "Something else.")

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]
    assert one(turn, SleepEnded).reason == "woken"


def test_a_model_that_fails_or_never_answers_ends_the_sleep() -> None:
    """Nothing more is asked of it; a late answer is nothing."""
    failing = living()
    answered_event(failing)
    turn = failing.wait(1).fail_model(failing.wait(60).control(Sleep()))
    assert (names(turn), one(turn, SleepEnded).reason) == (
        ["Handled", "SleepEnded"],
        "model_failed",
    )

    silent = living()
    answered_event(silent)
    asked = silent.wait(60).control(Sleep())
    silent.wait((PATIENCE + MODEL_GRACE).total_seconds())
    turn = silent.tell(ClockTicked(due_at=factories.NOON))
    assert names(turn) == ["SleepEnded", "Handled"]
    assert one(turn, SleepEnded).reason == "model_timeout"
    assert names(told(silent, asked, SAID)) == ["Handled"]
    assert silent.mind.timers == ()


def test_a_second_answer_in_a_sleep_is_nothing() -> None:
    """The first one counts, while the next is waited for and afterwards."""
    scenario = living()
    answered_event(scenario)
    asked = scenario.wait(60).control(Sleep())
    told(scenario, asked, SAID)
    ask = scenario.turns[-2].outputs[-1]
    message = ask.message
    assert isinstance(message, ModelAsked)
    again = ModelAnswered(
        ask_id=ask.id, request_hash=message.request_hash, model="m", text=SAID
    )
    assert names(scenario.tell(again)) == ["Handled"]


def test_one_sleep_at_a_time_and_only_of_one_agent() -> None:
    """The others are refused with the reason."""
    scenario = living()
    answered_event(scenario)
    scenario.wait(60).control(Sleep())
    assert refused(scenario.control(Sleep())) == "asleep"
    assert refused(scenario.control(Sleep(), agent=SHARED_AGENT)) == "invalid"


def test_an_idle_agent_sleeps_by_itself_if_it_may() -> None:
    """Half an hour after the last event; each event puts that off."""
    scenario = living(sleep={"auto": True, "apply": "safe"})
    answered_event(scenario)
    assert [each.purpose for each in scenario.mind.timers] == ["sleep"]
    answered_event(scenario, "the rain is over")
    assert len(scenario.mind.timers) == 1

    assert names(scenario.wait(1_700).tell(ClockTicked(due_at=factories.NOON))) == [
        "Handled"
    ]
    turn = scenario.wait(100).tell(ClockTicked(due_at=factories.NOON))

    assert names(turn) == ["SleepBegun", "ModelAsked", "Handled"]
    begun = one(turn, SleepBegun)
    assert (begun.cause, begun.apply) == ("idle", "safe")
    scenario.wait(1).sense("nobody is idle")
    assert [each.purpose for each in scenario.mind.timers].count("sleep") == 0


def test_an_agent_without_a_model_sleeps_too() -> None:
    """Nothing is decided again, but what says the same twice is found."""
    scenario = living(model=None)
    scenario.sense(EVENT)
    taught(scenario, "eat", MESSAGE, condition=CONDITION)
    taught(scenario, "eat_too", MESSAGE, condition=CONDITION)

    turn = scenario.wait(60).control(Sleep())

    assert names(turn) == ["ControlApplied", "SleepBegun", "ProposalMade", "SleepEnded"]
    assert one(turn, SleepEnded).reason == "no_model"


def test_a_model_that_is_gone_meanwhile_teaches_nothing() -> None:
    """Its last answer is compared; then the sleep is over."""
    scenario = living()
    answered_event(scenario)
    asked = scenario.wait(60).control(Sleep())
    started = factories.mind_started(
        sleep=plain_sleep(events=4), formation=True, relevance=0.0
    )
    scenario.control(started, agent=SHARED_AGENT)

    turn = told(scenario, asked, SAID)

    assert names(turn) == ["Handled", "Reflected", "SleepEnded"]


def test_a_rule_that_waits_for_somebody_s_vote_stays_in_the_making() -> None:
    """A sleep that refuses its own candidate leaves another's alone."""
    scenario = living()
    decided = answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(Sleep()), SAID)
    vote = scenario.wait(1).feedback(decided, "positive")
    told(scenario, turn, "no rule")

    formed = told(scenario, vote, rule())

    assert "HeuristicFormed" in names(formed)
