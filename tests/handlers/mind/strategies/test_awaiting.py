"""Strategies that await the model: an ask is an arm, its words are the strategy's own."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from handlers.mind.strategies import plugin
from handlers.mind.strategies.awaiting import AwaitingError, LLMRequest, awaiting
from handlers.mind.turn import Turn
from schemas.messages.arms import SILENT
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Completed, Decided
from schemas.ports.decision_context import DecisionContext, DecisionResult, Question
from schemas.values.settings import StrategySpec
from tests.factories import MODEL, candidate, heuristic, pack
from tests.scenario import Scenario, one

LLM = "llm:m@t@s"
HOME = "tests.handlers.mind.strategies.test_awaiting"


@dataclass
class Patient:
    """Trusts a heuristic from a threshold on, else asks the model, in its own words."""

    threshold: float = 0.7
    version: int = 4
    finished: list[str] = field(default_factory=list)

    @property
    def config(self) -> dict[str, Any]:
        """For the record."""
        return {"threshold": self.threshold}

    async def decide(self, context: DecisionContext, llm: Any) -> DecisionResult:
        """Answer, ask or reject."""
        best = context.candidates[0] if context.candidates else None
        if best and best.confidence >= self.threshold:
            return DecisionResult(
                path="heuristic", matched_heuristic_id=best.heuristic_id
            )
        if llm and context.immediate:
            prompt = f"{llm.model_name}: what of {context.event_text!r}?"
            answer = await llm.generate(LLMRequest(prompt, "Be kind."))
            self.finished.append(answer)
        return DecisionResult(path="rejected", metadata={"reason": "llm_unavailable"})


def patient(parameters: dict[str, Any]) -> Any:
    """The strategy, ready for use."""
    return awaiting(Patient(**parameters))


def context(*known: Any, llm_arm: str | None = LLM) -> DecisionContext:
    """An event with these candidates."""
    return DecisionContext(
        event_id="e",
        event_text="rain",
        event_source="sky",
        candidates=known,
        llm_arm=llm_arm,
    )


def test_a_trusted_heuristic_answers() -> None:
    """Without a word to the model."""
    best = candidate("best", confidence=0.9)

    assert patient({}).decide(context(best)).arms == ((best.arm, 1.0),)


def test_asking_is_an_arm() -> None:
    """The strategy is suspended there, and never goes on."""
    inner = Patient()
    odds = awaiting(inner).decide(context(candidate("weak", confidence=0.2)))

    assert odds.arms == ((LLM, 1.0),)
    assert odds.question == Question("Be kind.", "m: what of 'rain'?")
    assert inner.finished == []


def test_without_a_model_it_gives_its_reason() -> None:
    """A reason that is in no list counts as the strategy's own."""
    odds = patient({}).decide(context(llm_arm=None))

    assert (odds.arms, odds.silence) == (((SILENT, 1.0),), "llm_unavailable")


class Odd:
    """Does what it is told."""

    def __init__(self, deed: Any) -> None:
        self.deed = deed

    async def decide(self, context: DecisionContext, llm: Any) -> Any:
        """Await something else, or return something odd."""
        if self.deed == "sleep":
            await asyncio.sleep(0)
        return self.deed


@pytest.mark.parametrize(
    ("deed", "says"),
    [
        ("sleep", "something else than llm.generate"),
        (DecisionResult(path="heuristic", matched_heuristic_id="x"), "not on offer"),
        (DecisionResult(path="llm"), "without asking the model"),
    ],
)
def test_what_cannot_be_recorded_is_an_error(deed: Any, says: str) -> None:
    """As with every strategy of one's own it then comes out as silence."""
    with pytest.raises(AwaitingError, match=says):
        awaiting(Odd(deed)).decide(context())


def test_a_decide_that_is_not_async_is_no_such_strategy() -> None:
    """It needs no wrapping."""
    with pytest.raises(TypeError, match="no async decide"):
        awaiting(object())  # type: ignore[arg-type]  # that is the point


@pytest.fixture
def listed() -> Iterator[None]:
    """This module is the operator's."""
    plugin.allow([HOME])
    yield
    plugin.allow(())


@pytest.mark.usefixtures("listed")
def test_its_own_words_are_asked_and_the_answer_is_said() -> None:
    """The arm is its own: another threshold is another arm, another event is not."""
    garden = pack(heuristic("dry", "the plants look dry", "Water them.", 0.3))

    def asked(text: str, **parameters: Any) -> tuple[Scenario, Turn]:
        spec = StrategySpec(name=f"{HOME}:patient", parameters=parameters)
        scenario = Scenario(
            garden, model=MODEL, strategy=spec, strategy_modules=(HOME,)
        )
        return scenario, scenario.sense(text, salience={"threat": 0.9})

    def arm(text: str, **parameters: Any) -> str:
        return one(asked(text, **parameters)[1], Decided).arm

    scenario, turn = asked("the plants look dry")
    ask = one(turn, ModelAsked)
    end = scenario.answer_model(turn, "Water them, gently.")

    assert (ask.system, ask.prompt) == (
        "Be kind.",
        "test/model: what of 'the plants look dry'?",
    )
    assert one(end, Completed).text == "Water them, gently."
    assert arm("a cat sits outside") == arm("the plants look dry")
    assert arm("the plants look dry", threshold=0.8) != arm("the plants look dry")
