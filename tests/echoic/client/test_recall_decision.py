"""Long ago: a vote on a decision that the mind forgot counts by what the log knows."""

import pytest
from msgspec.structs import replace

from echoic.client import recall_decision
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import Aspect, FeedbackGiven
from schemas.messages.learning import FeedbackApplied, FeedbackRefused
from schemas.messages.results import ClockTicked
from schemas.state import limits
from schemas.state.agent import Remembered
from schemas.values.bounded_map import Bounded
from tests import factories
from tests.projections.chronicle import GARDEN, HINTS, LOW, Chronicle, garden
from tests.scenario import Scenario, decision_id, one, output, said


def forgetful(scenario: Scenario) -> None:
    """Let the mind forget every decision it made."""
    nothing: Bounded[str, Remembered] = Bounded(limits.DECISIONS)
    me = replace(scenario.mind, decisions=nothing)
    scenario.state = replace(
        scenario.state, agents=scenario.state.agents.set(scenario.agent, me)
    )


@pytest.mark.parametrize("aspect", ["overall", "condition"])
async def test_a_vote_on_a_forgotten_decision_is_the_same_vote(aspect: Aspect) -> None:
    """The heuristic that answered is credited as if it had been remembered."""
    scenarios = garden(), garden()
    for scenario, forgets in zip(scenarios, (True, False), strict=True):
        turn = scenario.sense(LOW, salience=HINTS)
        scenario.feedback(turn, "positive", actor="kim")
        log = await Chronicle(scenario).catch_up()
        given = FeedbackGiven(
            decision_id=decision_id(turn), rating="negative", aspect=aspect
        )
        if forgets:
            forgetful(scenario)
            assert (
                one(scenario.tell(given), FeedbackRefused).reason == "unknown_decision"
            )
            informed = await recall_decision.with_recalled(log, scenario.agent, given)
            assert informed is not None
            assert informed.about is not None
            assert informed.about.entries == ("pair",)
            given = informed
        assert said(scenario.tell(given), FeedbackApplied)

    (forgot, remembered) = (scenario.mind for scenario in scenarios)
    assert [each.votes for each in next(iter(forgot.beliefs.values())).signals] == [
        each.votes for each in next(iter(remembered.beliefs.values())).signals
    ]
    assert sorted(forgot.fits) == sorted(remembered.fits)


async def test_a_race_is_told_by_how_it_ended() -> None:
    """Who answered late is found where the race ended."""
    scenario = Scenario(GARDEN, model=factories.MODEL, strategy={"name": "hybrid"})
    turn = scenario.sense(LOW)
    late = scenario.wait(5).tell(ClockTicked(due_at=scenario.at))
    log = await Chronicle(scenario).catch_up()

    found = await recall_decision.recalled(log, scenario.agent, decision_id(turn))

    assert found is not None
    assert found.path == "heuristic"
    assert found.fire_id == output(late, HeuristicFired).id


async def test_what_never_was_is_not_found() -> None:
    """Nor is a vote that names a heuristic looked up."""
    scenario = garden()
    scenario.sense("the wind blows")
    log = await Chronicle(scenario).catch_up()
    nobody = FeedbackGiven(decision_id="nobody", rating="positive")
    direct = FeedbackGiven(heuristic_id="h", rating="positive")

    assert await recall_decision.with_recalled(log, scenario.agent, nobody) is None
    assert await recall_decision.with_recalled(log, scenario.agent, direct) is None


async def test_a_dropped_decision_is_known_to_have_come_to_nothing() -> None:
    """The model that was asked had nothing to say."""
    scenario = Scenario(model=factories.MODEL)
    turn = scenario.sense("a visitor", salience=HINTS)
    scenario.fail_model(turn)
    log = await Chronicle(scenario).catch_up()

    found = await recall_decision.recalled(log, scenario.agent, decision_id(turn))

    assert found is not None
    assert (found.path, found.fire_id, found.entries) == ("fallback", None, ())
