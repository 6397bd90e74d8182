"""The report of a sleep: what was decided again, who agreed, and what is proposed."""

from typing import Any

from echoic.terminal import sleep, tuning
from echoic.terminal.screen import rendered
from schemas.messages.controls import SleepRequested
from schemas.state.agent import AgentState
from tests.handlers.mind.sleepers import (
    SAID,
    answered_event,
    living,
    rule,
    taught,
    told,
)


def test_nothing_is_told_of_who_never_slept() -> None:
    """Neither a person nor a program is."""
    assert list(sleep.screen(AgentState())) == []
    assert sleep.fields(AgentState()) is None


def test_a_sleep_is_told_while_it_goes_on_and_when_it_is_over() -> None:
    """Each event once, with what was said and what would be said now."""
    scenario = living()
    answered_event(scenario)
    answered_event(scenario, "the rain is over", "Go out.")
    turn = told(scenario, scenario.wait(60).control(SleepRequested()), SAID)

    half = rendered(sleep.screen(scenario.mind)).split("\n")
    assert half[0].endswith("(asked): under way, 2 to go")
    assert half[1] == "1 decided again: 1 the same, 0 otherwise; 0 candidates refused"
    assert half[2] == "= health became very low"
    assert half[-1] == "nothing to change"

    turn = told(scenario, turn, rule())
    told(scenario, turn, '{"response": ""}')
    whole = rendered(sleep.screen(scenario.mind))
    assert "≠ the rain is over\n    was  “Go out.”\n    now  (silence)" in whole
    assert "a model said the same twice, and no heuristic does" in whole
    fields: Any = sleep.fields(scenario.mind)
    assert fields is not None
    assert (fields["agreed"], fields["differed"], fields["left"]) == (1, 1, 0)
    assert [each["status"] for each in fields["proposals"]] == ["submitted"]


def test_a_proposal_about_heuristics_says_what_comes_and_what_goes() -> None:
    """By name, with what a new one is for and what it says."""
    scenario = living()
    answered_event(scenario)
    turn = told(scenario, scenario.wait(60).control(SleepRequested()), SAID)
    told(scenario, turn, rule())
    taught(scenario, "a", "Sing a song.", condition="dusk falls")
    taught(scenario, "b", "Sing a song.", condition="dusk falls")
    scenario.control(SleepRequested())

    listed = rendered(tuning.proposals(scenario.mind.proposals))

    assert "new: the_health_of_the_player_has_" in listed
    assert "merge: b stays, a goes" in listed
