"""Scenarios at random: whatever happens in whatever order, the books are kept.

`Scenario` checks every turn by itself; here is what must hold of a whole scenario.
"""

from collections import Counter

import pytest

from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.learning import OutcomeExpired, OutcomeObserved
from tests.handlers.mind.wild import Wild
from tests.scenario import Scenario


@pytest.mark.parametrize("seed", range(12))
def test_the_books_are_kept(seed: int) -> None:
    """What is not final ends once or is waited for; a fire has one outcome at most."""
    check_books(Wild(seed).lead(40))


def check_books(scenario: Scenario) -> None:
    """Fail unless each decision and fire of a scenario has an end, or is waited for."""
    outputs = [each for turn in scenario.turns for each in turn.outputs]
    waiting = {
        each.id
        for each in outputs
        if isinstance(each.message, Decided) and not each.message.final
    }
    ends = Counter(
        each.message.decision_id
        for each in outputs
        if isinstance(each.message, Completed | Dropped)
    )
    outcomes = Counter(
        each.message.fire_id
        for each in outputs
        if isinstance(each.message, OutcomeObserved)
    )
    agents = list(scenario.state.agents.values())
    pending = [each for agent in agents for each in agent.pending.values()]

    assert set(ends) <= waiting
    assert set(ends.values()) <= {1}
    awaited = {each.decision_id for each in pending}
    ready = {e.decision_id for agent in agents for e in agent.executive.waiting}
    assert waiting - set(ends) == awaited | ready
    assert set(outcomes.values()) <= {1}
    for agent in agents:
        open_fires = [each.fire_id for each in agent.fires]
        timed = sorted({each.id for each in agent.timers})
        # One that the model has answered waits by the timer of its decision.
        held = {each.decision_id: each.ask_id for each in agent.executive.waiting}
        asked = set(agent.pending) - set(held.values())
        reminders = [
            f"reminder/{each.id}" for each in agent.executive.reminders.awaited
        ]
        drawn = [
            f"opportunity/{each.purpose}"
            for each in agent.executive.initiative.opportunities
            if each.due is not None
        ]
        assert timed == sorted([*open_fires, *asked, *held, *reminders, *drawn])
        expired = {
            each.message.fire_id
            for each in outputs
            if isinstance(each.message, OutcomeExpired)
        }
        assert not expired & set(open_fires)
