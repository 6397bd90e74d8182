"""Exploration in a scenario: who would have done otherwise gets a say, and it is on record."""

from collections import Counter

from handlers.mind.strategies.exploration import CRITICAL_URGENCY
from schemas.messages.arms import SILENT
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided, Excluded
from schemas.values.settings import ExplorationSettings, StrategySpec
from tests.factories import MODEL, heuristic, mind_started, pack
from tests.scenario import Scenario, names, one, refused

GARDEN = pack(
    heuristic("thirst", "the plants look dry", "Water them.", confidence=0.8),
    heuristic("dusk", "the plants look tired", "Let them rest.", confidence=0.6),
)
EVENTS = 400
RATE = 0.25


def exploring(*challengers: str, rate: float = RATE) -> ExplorationSettings:
    """Challenger exploration by these strategies."""
    specs = tuple(StrategySpec(name=name) for name in challengers)
    return ExplorationSettings(scheme="challenger", rate=rate, challengers=specs)


def decisions_of(events: int, exploration: ExplorationSettings | None) -> list[Decided]:
    """The decisions of a scenario in which the same sort of thing keeps happening."""
    scenario = Scenario(GARDEN, model=MODEL, relevance=0.0, exploration=exploration)
    return [scenario.wait(4_000).decide("the plants look dry") for _ in range(events)]


def test_a_challenger_is_followed_as_often_as_is_recorded() -> None:
    """Both arms are taken in their proportion; what answers is the arm's own."""
    decisions = decisions_of(EVENTS, exploring("always_llm"))
    taken = Counter(each.path for each in decisions)
    sigma = (EVENTS * RATE * (1 - RATE)) ** 0.5

    assert abs(taken["llm"] - EVENTS * RATE) < 4 * sigma
    for decided in decisions:
        weighed = {each.arm: each.probability for each in decided.candidates}
        assert decided.exploration == "challenger"
        assert decided.probability == weighed[decided.arm]
        assert decided.probability == (RATE if decided.path == "llm" else 1 - RATE)
        assert decided.greedy_arm.startswith("heuristic:")
        assert decided.draw is not None
        assert sum(weighed.values()) == 1.0


def test_the_same_scenario_draws_the_same() -> None:
    """A draw depends on seed, agent, event and purpose alone."""
    assert decisions_of(30, exploring("always_llm")) == decisions_of(
        30, exploring("always_llm")
    )


def test_silence_that_is_tried_has_its_reason() -> None:
    """The strategy would have spoken; that it did not is `strategy_silent`."""
    decisions = decisions_of(20, exploring("silent", rate=0.9))
    silent = next(each for each in decisions if each.arm == SILENT)

    assert (silent.path, silent.silence) == ("rejected", "strategy_silent")
    assert (silent.final, silent.expires_at) == (True, None)


def test_a_tried_model_is_really_asked() -> None:
    """The candidate that would have answered is shown to it like any other."""
    scenario = Scenario(
        GARDEN, model=MODEL, exploration=exploring("always_llm", rate=1.0)
    )
    turn = scenario.sense("the plants look dry")

    assert names(turn) == ["Decided", "HeuristicFired", "HeuristicFired", "ModelAsked"]
    assert one(turn, ModelAsked).matched_heuristic_id is not None
    assert one(turn, Decided).draw is None


def test_an_urgent_event_gets_the_strategys_answer() -> None:
    """What was held back is on record, and nothing is drawn."""
    scenario = Scenario(GARDEN, model=MODEL, exploration=exploring("always_llm"))
    decided = scenario.decide("the plants look dry", urgency=CRITICAL_URGENCY)

    assert (decided.path, decided.probability) == ("heuristic", 1.0)
    assert (decided.exploration, decided.draw) == ("none", None)
    assert decided.exploration_excluded == Excluded(
        reason="critical_urgency", mass=RATE
    )


def test_without_exploration_nothing_is_said_of_it() -> None:
    """The bytes are those of a mind that never heard of it."""
    (decided,) = decisions_of(1, None)

    assert b"exploration_excluded" not in decided.to_bytes()
    assert b'"exploration":"none"' in decided.to_bytes()


def test_a_gate_leaves_nothing_to_explore() -> None:
    """What does not matter is not answered by chance either."""
    scenario = Scenario(
        GARDEN, relevance=1.0, exploration=ExplorationSettings(scheme="uniform", rate=1)
    )
    decided = scenario.decide("the plants look dry", salience={"threat": 0.1})

    assert (decided.path, decided.probability) == ("none", 1.0)


def test_an_unknown_challenger_is_refused() -> None:
    """A mind does not start with a challenger that does not exist."""
    scenario = Scenario(GARDEN)
    started = mind_started(exploration=exploring("always_lm"))

    assert refused(scenario.control(started, agent="_")) == "unknown_strategy"
