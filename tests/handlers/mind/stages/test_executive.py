"""The executive: an arm is taken by the odds, and everything weighed is on record."""

import pytest

from handlers.mind.stages import executive
from handlers.mind.strategies.baselines import Silent
from handlers.mind.strategies.heuristic_first import HeuristicFirst
from schemas.messages.decisions import Candidate
from schemas.ports.decision_context import DecisionContext, Odds
from tests.factories import candidate, heuristic, pack
from tests.scenario import Scenario

LLM = "llm:m@t@s"
CONTEXT = DecisionContext(
    event_id="e",
    event_text="x",
    event_source="game",
    candidates=(candidate("a"), candidate("b", eligible=False, reason="frozen")),
    llm_arm=LLM,
)
ARM_A = candidate("a").arm


class Fixed(Silent):
    """A strategy with given odds."""

    arms: tuple[tuple[str, float], ...]

    @property
    def odds(self) -> Odds:
        """All of them, the first one greedy."""
        return Odds(arms=self.arms, greedy=self.arms[0][0], silence="strategy_silent")

    def decide(self, context: DecisionContext) -> Odds:
        """The given odds."""
        return self.odds


def fixed(*arms: tuple[str, float]) -> Fixed:
    """A strategy with these odds."""
    return Fixed(arms=arms)


@pytest.mark.parametrize(
    ("value", "arm", "path"),
    [
        (0.0, ARM_A, "heuristic"),
        (0.499999, ARM_A, "heuristic"),
        (0.5, LLM, "llm"),
        (0.799999, LLM, "llm"),
        (0.8, "silent", "rejected"),
        (0.999999, "silent", "rejected"),
    ],
)
def test_the_draw_takes_the_arm_whose_share_it_falls_into(
    value: float, arm: str, path: str
) -> None:
    """In the order of the odds; the draw and its probability are on record."""
    strategy = fixed((ARM_A, 0.5), (LLM, 0.3), ("silent", 0.2))
    choice = executive.choose(strategy.odds, CONTEXT, lambda _: value)

    assert (choice.arm, choice.path) == (arm, path)
    assert choice.probability == dict(strategy.odds.arms)[arm]
    assert choice.draw is not None
    assert (choice.draw.purpose, choice.draw.value) == ("arm", value)


def test_a_draw_beyond_rounded_odds_takes_the_last_arm() -> None:
    """Odds that fall short of one by rounding leave no gap."""
    strategy = fixed((ARM_A, 0.5), ("silent", 0.499999))

    assert executive.choose(strategy.odds, CONTEXT, lambda _: 0.9999999).arm == "silent"


def test_every_arm_is_on_record() -> None:
    """Heuristics, the model, silence; with the reason where one was no choice."""
    strategy = fixed((ARM_A, 0.5), (LLM, 0.5))
    choice = executive.choose(strategy.odds, CONTEXT, lambda _: 0.0)

    assert [each.probability for each in choice.candidates] == [0.5, 0.0, 0.5, 0.0]
    assert choice.candidates[1:] == (
        Candidate(
            arm=candidate("b").arm,
            probability=0.0,
            eligible=False,
            reason="frozen",
            similarity=0.9,
            confidence=0.8,
            alpha=1.0,
            beta=1.0,
            score=0.9,
        ),
        Candidate(arm=LLM, probability=0.5),
        Candidate(arm="silent", probability=0.0),
    )


def test_a_model_that_must_not_be_waited_for_is_no_choice() -> None:
    """An event that is not immediate rules it out."""
    context = DecisionContext(
        event_id="e", event_text="x", event_source="game", llm_arm=LLM, immediate=False
    )
    choice = executive.choose(HeuristicFirst().decide(context), context, lambda _: 0.0)

    assert choice.candidates[0].reason == "not_immediate"
    assert not choice.candidates[0].eligible


def test_the_configuration_is_known_by_its_hash() -> None:
    """Another setting is another hash."""
    one = executive.config_hash(HeuristicFirst())

    assert one == executive.config_hash(HeuristicFirst())
    assert one != executive.config_hash(HeuristicFirst(max_candidates=2))


@pytest.mark.parametrize(
    ("of_event", "of_heuristic", "urgency"),
    [(0.2, 0.7, 0.7), (0.9, 0.7, 0.9), (None, 0.0, 0.0)],
)
def test_urgency_is_the_higher_of_event_and_heuristic(
    of_event: float | None, of_heuristic: float, urgency: float
) -> None:
    """Either may know that it cannot wait."""
    garden = pack(heuristic("h", "health low", "Rest.", urgency=of_heuristic))
    scenario = Scenario(garden)

    assert scenario.decide("health low", urgency=of_event).urgency == urgency
    assert scenario.decide("dusk falls", urgency=of_event).urgency == (of_event or 0.0)


@pytest.mark.parametrize(
    ("declared", "salience", "urgency"),
    [
        (None, {"threat": 0.9, "actionability": 0.4}, 0.9),
        (None, {"threat": 0.1, "actionability": 0.4}, 0.4),
        (None, {"social": 0.9}, 0.0),
        (0.0, {"threat": 0.9}, 0.0),
        (0.2, {"threat": 0.9}, 0.2),
    ],
)
def test_an_urgency_that_is_not_declared_is_the_higher_of_threat_and_actionability(
    declared: float | None, salience: dict[str, float], urgency: float
) -> None:
    """A declared one counts as it is."""
    decided = Scenario().decide("a", urgency=declared, salience=salience)

    assert decided.urgency == urgency
