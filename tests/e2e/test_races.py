"""Races through a running instance: a real broker, and a model on a loopback port.

Each companion's log is answered anew in the end, and must come out the same.
"""

import asyncio

import pytest

from schemas.messages.asks import ModelAsked
from schemas.messages.controls import StrategySelected
from schemas.messages.decisions import Completed, HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied
from schemas.messages.notes import Handled
from schemas.messages.results import ModelAnswered
from tests.e2e.companion import Companion
from tests.e2e.model_double import ModelDouble, Reply, reply
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

LAMP = "The lamp in the hut went out"


async def racing(ada: Companion, event: str, deadline_ms: int) -> None:
    """Teach what is to be said of an event, and let the model race against it."""
    await ada.taught("lamp", event, "Light it.", confidence=0.8)
    await ada.tell(
        StrategySelected(strategy="hybrid", parameters={"deadline_ms": deadline_ms})
    )


async def test_a_fast_model_speaks(ada: Companion, double: ModelDouble) -> None:
    """Its words go out, and the heuristic has not fired."""
    event = f"{LAMP} this morning"
    double.on(event, reply("Is there oil in it?"))
    await racing(ada, event, deadline_ms=15_000)

    decision = await ada.senses(event, type_="weather")

    heard = await ada.hears()
    assert decision.decided.arm.startswith("race:llm:")
    assert (heard["text"], heard["path"]) == ("Is there oil in it?", "llm")
    assert (decision.winner or "").startswith("llm:")
    assert {each.mode for each in await ada.outputs(HeuristicFired)} == {"suggested"}


async def test_a_slow_model_is_outrun(ada: Companion, double: ModelDouble) -> None:
    """The heuristic speaks at the deadline; the model's answer is recorded, not said."""
    event, release = f"{LAMP} at night", asyncio.Event()
    says = reply("Is there oil in it?")
    double.on(event, Reply(says.text, release=release))
    await racing(ada, event, deadline_ms=400)

    decision = await ada.senses(event, type_="weather")
    heard = await ada.hears()
    release.set()
    await late_answer(ada)

    assert (heard["text"], heard["path"]) == ("Light it.", "heuristic")
    assert (decision.path, decision.heuristic_id) == ("heuristic", "lamp")
    # The clock's tick goes over the broker; a busy machine may take its time for it.
    assert 400 <= decision.latency_ms < 2_000
    (answered,) = await ada.inputs(ModelAnswered)
    assert answered.text == says.text
    assert ada.words.empty()
    assert len(await ada.outputs(Completed)) == 1
    await ada.tell(FeedbackGiven(decision_id=decision.id, rating="positive"))
    (applied,) = await ada.outputs(FeedbackApplied)
    assert applied.heuristic_id == "lamp"


async def test_a_broken_model_need_not_be_waited_for(
    ada: Companion, double: ModelDouble
) -> None:
    """The heuristic speaks long before the deadline."""
    event = f"{LAMP} once more"
    double.on(event, Reply(status=400))
    await racing(ada, event, deadline_ms=15_000)

    decision = await ada.senses(event, type_="weather")

    assert (decision.said, decision.path) == ("Light it.", "heuristic")
    assert decision.latency_ms < 10_000


async def test_the_model_is_asked_again_for_a_prediction(
    ada: Companion, double: ModelDouble
) -> None:
    """Its words wait for what it holds of them, and carry that."""
    event = "The bridge over the brook is gone"
    double.on(event, Reply('{"response": "Swim."}'))
    double.on(
        'You said: <data>"Swim."',
        Reply('{"predicted_success": 0.25, "prediction_confidence": 0.75}'),
    )
    await ada.tell(
        StrategySelected(strategy="always_llm", parameters={"prediction": "separate"})
    )

    decision = await ada.senses(event, type_="weather")

    assert decision.said == "Swim."
    answer = decision.answer
    assert (answer.predicted_success, answer.prediction_confidence) == (0.25, 0.75)
    purposes = [each.purpose for each in await ada.outputs(ModelAsked)]
    assert purposes == ["answer", "prediction"]


async def late_answer(ada: Companion) -> None:
    """Wait until an answer came that nobody waited for any more."""
    async with asyncio.timeout(PATIENCE_S):
        while not await reasons(ada, "late"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def reasons(ada: Companion, reason: str) -> list[Handled]:
    """The inputs that were put aside for this reason."""
    return [each for each in await ada.outputs(Handled) if each.reason == reason]
