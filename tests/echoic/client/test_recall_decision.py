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
from tests.life import Life, decision_id, one, output, said
from tests.projections.chronicle import GARDEN, HINTS, LOW, Chronicle, garden


def forgetful(life: Life) -> None:
    """Let the mind forget every decision it made."""
    nothing: Bounded[str, Remembered] = Bounded(limits.DECISIONS)
    me = replace(life.mind, decisions=nothing)
    life.state = replace(life.state, agents=life.state.agents.set(life.agent, me))


@pytest.mark.parametrize("aspect", ["overall", "condition"])
async def test_a_vote_on_a_forgotten_decision_is_the_same_vote(aspect: Aspect) -> None:
    """The heuristic that answered is credited as if it had been remembered."""
    lives = garden(), garden()
    for life, forgets in zip(lives, (True, False), strict=True):
        turn = life.sense(LOW, salience=HINTS)
        life.feedback(turn, "positive", actor="kim")
        log = await Chronicle(life).catch_up()
        given = FeedbackGiven(
            decision_id=decision_id(turn), rating="negative", aspect=aspect
        )
        if forgets:
            forgetful(life)
            assert one(life.tell(given), FeedbackRefused).reason == "unknown_decision"
            informed = await recall_decision.with_recalled(log, life.agent, given)
            assert informed is not None
            assert informed.about is not None
            assert informed.about.entries == ("pair",)
            given = informed
        assert said(life.tell(given), FeedbackApplied)

    (forgot, remembered) = (life.mind for life in lives)
    assert [each.votes for each in next(iter(forgot.beliefs.values())).signals] == [
        each.votes for each in next(iter(remembered.beliefs.values())).signals
    ]
    assert sorted(forgot.fits) == sorted(remembered.fits)


async def test_a_race_is_told_by_how_it_ended() -> None:
    """Who answered late is found where the race ended."""
    life = Life(GARDEN, model=factories.MODEL, strategy={"name": "hybrid"})
    turn = life.sense(LOW)
    late = life.wait(5).tell(ClockTicked(due_at=life.at))
    log = await Chronicle(life).catch_up()

    found = await recall_decision.recalled(log, life.agent, decision_id(turn))

    assert found is not None
    assert found.path == "heuristic"
    assert found.fire_id == output(late, HeuristicFired).id


async def test_what_never_was_is_not_found() -> None:
    """Nor is a vote that names a heuristic looked up."""
    life = garden()
    life.sense("the wind blows")
    log = await Chronicle(life).catch_up()
    nobody = FeedbackGiven(decision_id="nobody", rating="positive")
    direct = FeedbackGiven(heuristic_id="h", rating="positive")

    assert await recall_decision.with_recalled(log, life.agent, nobody) is None
    assert await recall_decision.with_recalled(log, life.agent, direct) is None


async def test_a_dropped_decision_is_known_to_have_come_to_nothing() -> None:
    """The model that was asked had nothing to say."""
    life = Life(model=factories.MODEL)
    turn = life.sense("a visitor", salience=HINTS)
    life.fail_model(turn)
    log = await Chronicle(life).catch_up()

    found = await recall_decision.recalled(log, life.agent, decision_id(turn))

    assert found is not None
    assert (found.path, found.fire_id, found.entries) == ("fallback", None, ())
