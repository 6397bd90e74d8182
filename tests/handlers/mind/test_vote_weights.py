"""What a vote weighs: by how long after the decision it came, and by whose words it was."""

from typing import Any

from handlers.mind.turn import Turn
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from tests.factories import heuristic, pack, plain_learning
from tests.scenario import Scenario, decision_id, one

GARDEN = pack(heuristic("rest", "health low", "Rest.", 0.8))
THREAT = {"threat": 0.9}


def living(**learning: Any) -> Scenario:
    """A scenario with these learning settings."""
    return Scenario(GARDEN, learning=plain_learning(**learning))


def voted(
    scenario: Scenario, after_s: float, rating: str = "positive", **more: Any
) -> Turn:
    """A vote so long after a decision."""
    fire = decision_id(scenario.wait(3_600).sense("health low", salience=THREAT))
    return scenario.wait(after_s).feedback(fire, rating, **more)


def successes(scenario: Scenario) -> float:
    """What votes added to the declared successes."""
    held = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])
    return round(held.alpha - held.settled_alpha, 6)


def test_a_late_vote_counts_for_less() -> None:
    """Half as much after the half-life; without one as much as any."""
    scenarios = [living(feedback_half_life_s=60.0) for _ in range(3)] + [living()]
    for scenario, after_s in zip(scenarios, (0.0, 60.0, 120.0, 120.0), strict=True):
        voted(scenario, after_s)

    assert [successes(scenario) for scenario in scenarios] == [0.8, 0.4, 0.2, 0.8]


def test_each_persons_vote_has_its_own_age() -> None:
    """What came late weighs less in the mean as well; a changed vote is as late as it is."""
    scenario = living(feedback_half_life_s=60.0)
    fire = decision_id(scenario.sense("health low", salience=THREAT))
    scenario.feedback(fire, actor="eva")
    scenario.wait(60).feedback(fire, "negative", actor="tom")
    before = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0])
    scenario.wait(60).feedback(fire, "positive", actor="eva")
    (signal,) = scenario.belief(GARDEN.ids[0], GARDEN.content_hashes[0]).signals

    assert round(before.alpha - before.settled_alpha, 6) == 0.4
    assert round(before.beta - before.settled_beta, 6) == 0.2
    assert dict(signal.ages) == {"eva": 120.0, "tom": 60.0}


def test_votes_weigh_by_the_path_of_the_answer() -> None:
    """Those on a heuristic's words by one factor, those on the heuristic itself by none."""
    scenario = living(path_heuristic=0.5)
    voted(scenario, 0.0)
    direct = living(path_heuristic=0.5)
    direct.sense("hello")
    direct.tell(FeedbackGiven(heuristic_id=GARDEN.ids[0], rating="positive"))

    assert (successes(scenario), successes(direct)) == (0.4, 0.8)


def test_what_a_vote_weighed_is_a_matter_of_settings() -> None:
    """The age is a fact of the record."""
    assert one(voted(living(), 90.0), FeedbackApplied).age_s == 90.0
