"""Predictions: with the answer, in a call of their own after it, or none at all."""

from typing import Any

import orjson
import pytest

from handlers.mind.turn import Turn
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import MindStarted
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from schemas.values.subjects import SHARED_AGENT
from tests import factories
from tests.factories import heuristic, pack
from tests.scenario import Scenario, decision_id, names, one, output

SURE: dict[str, Any] = {"predicted_success": 0.7, "prediction_confidence": 0.6}
UNKNOWN = {"predicted_success": 0.5, "prediction_confidence": 0.5}


def living(
    prediction: str = "separate", *packs: CompiledPack, **settings: Any
) -> Scenario:
    """A scenario whose model is asked for predictions in this way."""
    return Scenario(*packs, model=factories.MODEL, prediction=prediction, **settings)


def predicted(turn: Turn) -> dict[str, Any]:
    """The prediction on record."""
    completed = one(turn, Completed)
    return {name: getattr(completed, name) for name in SURE}


def judged(scenario: Scenario, turn: Turn, **odds: float) -> Turn:
    """The model's answer to what it was asked about its own."""
    return scenario.answer_model(turn, orjson.dumps(odds).decode())


def test_the_answer_waits_for_its_prediction() -> None:
    """A second ask shows the model what it was asked and said; then both are said."""
    scenario = living()
    asked = scenario.sense("dusk falls")
    told = scenario.wait(2).answer_model(asked, '{"response": "Sleep."}')
    done = judged(scenario.wait(1), told, **SURE)

    first, second = one(asked, ModelAsked), one(told, ModelAsked)
    assert names(told) == ["Handled", "ModelAsked"]
    assert (first.purpose, first.prediction) == ("answer", "separate")
    assert "predicted_success" not in first.system
    assert second.purpose == "prediction"
    assert "predicted_success" in second.system
    assert second.prompt.startswith(first.prompt)
    assert 'You said: <data>"Sleep."</data>' in second.prompt
    assert second.decision_id == decision_id(asked)
    assert (second.ttl_s, second.deadline_s) == (14.0, 14.0)
    assert second.request_hash != first.request_hash
    completed = one(done, Completed)
    assert names(done) == ["Handled", "Completed", "DeliveryAsked"]
    assert completed.text == one(done, DeliveryAsked).text == "Sleep."
    assert completed.ask_id == output(asked, ModelAsked).id
    assert predicted(done) == SURE
    assert scenario.mind.timers == ()
    assert len(scenario.mind.pending) == 0


def test_goals_measure_success_in_both_calls() -> None:
    """What a good outcome is stands in the system prompt of the second too."""
    scenario = living(goals=("Stay alive",))
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")

    assert "- Stay alive" in one(told, ModelAsked).system


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"predicted_success": 0.9, "prediction_confidence": 1}', (0.8, 0.8)),
        ('Surely {"predicted_success": 0.2, "note": 1}.', (0.2, 0.5)),
        ("It will be fine.", (0.5, 0.5)),
        ("", (0.5, 0.5)),
    ],
)
def test_a_prediction_is_read_as_any(text: str, expected: tuple[float, float]) -> None:
    """Capped at the ceiling, and unknown where it cannot be read."""
    scenario = living()
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")
    done = one(scenario.answer_model(told, text), Completed)

    assert (done.predicted_success, done.prediction_confidence) == expected
    assert done.text == "Sleep."


def test_an_answer_without_its_prediction_is_said() -> None:
    """The model failed the second time: the first words stand, nobody knows for what."""
    scenario = living(confidence_ceiling=0.4)
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")
    done = scenario.fail_model(told)

    assert names(done) == ["Handled", "Completed", "DeliveryAsked"]
    assert set(predicted(done).values()) == {0.4}


def test_a_prediction_is_waited_for_only_so_long() -> None:
    """Half the time that the words are worth something; what comes after it is late."""
    scenario = living()
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")
    almost = scenario.wait(14.999).tell(ClockTicked(due_at=scenario.at))
    done = scenario.wait(0.001).tell(ClockTicked(due_at=scenario.at))
    late = judged(scenario, told, **SURE)

    assert one(almost, Handled).reason == "nothing_due"
    assert names(done) == ["Completed", "DeliveryAsked", "Handled"]
    assert predicted(done) == UNKNOWN
    assert one(done, DeliveryAsked).ttl_s == 15.0
    assert one(late, Handled).reason == "late"


def test_the_models_own_deadline_is_kept() -> None:
    """Where that is shorter."""
    model = factories.MODEL.model_copy(update={"deadline_s": 3.0})
    scenario = Scenario(model=model, prediction="separate")
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")

    assert one(told, ModelAsked).expires_at == factories.after(3)


def test_words_that_waited_too_long_are_stale() -> None:
    """No more is said than of any answer, be the prediction there or not."""
    scenario = living()
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.")
    done = scenario.wait(31).sense("all quiet", intent="informational")
    assert one(done, Dropped).reason == "stale"
    assert one(judged(scenario, told, **SURE), Handled).reason == "second"


@pytest.mark.parametrize("text", ["", '{"response": ""}'])
def test_a_refusal_needs_no_second_call(text: str) -> None:
    """Nothing was said of which anything could come."""
    scenario = living()
    told = scenario.answer_model(scenario.sense("dusk falls"), text)

    assert names(told) == ["Handled", "Dropped"]


def test_an_answer_in_its_last_moment_is_said_at_once() -> None:
    """There is no time left in which to ask."""
    scenario = living()
    asked = scenario.sense("dusk falls")
    told = scenario.wait(30).answer_model(asked, "Sleep.")

    assert names(told) == ["Handled", "Completed", "DeliveryAsked"]
    assert predicted(told) == UNKNOWN


def test_without_a_model_by_then_the_answer_is_said() -> None:
    """Another start took it away while the answer was under way."""
    scenario = living()
    asked = scenario.sense("dusk falls")
    restarted: MindStarted = factories.mind_started(prediction="separate")
    scenario.control(restarted, agent=SHARED_AGENT)

    assert predicted(scenario.answer_model(asked, "Sleep.")) == UNKNOWN


def test_off_asks_for_none() -> None:
    """What the model tells of itself unasked does not count."""
    scenario = living("off")
    asked = scenario.sense("dusk falls")
    told = scenario.answer_model(asked, "Sleep.", **SURE)

    assert "predicted_success" not in one(asked, ModelAsked).system
    assert one(asked, ModelAsked).prediction == "off"
    assert names(told) == ["Handled", "Completed", "DeliveryAsked"]
    assert predicted(told) == UNKNOWN


def test_the_strategy_goes_before_the_settings() -> None:
    """A parameter of the same name is the agent's own."""
    spec = {"name": "always_llm", "parameters": {"prediction": "same"}}
    scenario = living("off", strategy=spec)
    told = scenario.answer_model(scenario.sense("dusk falls"), "Sleep.", **SURE)

    assert predicted(told) == SURE


def test_each_way_of_predicting_is_an_arm() -> None:
    """What one of them earns is not the others'."""
    arms = [
        one(living(each).sense("dusk falls"), Decided).arm
        for each in ("same", "separate", "off")
    ]

    assert len(set(arms)) == 3
    assert (
        arms[0] == one(Scenario(model=factories.MODEL).sense("dusk falls"), Decided).arm
    )


def test_in_a_race_the_words_wait_until_its_deadline() -> None:
    """The model has won by its answer; at the deadline that is said as it stands."""
    garden = pack(heuristic("low", "health low", "Drink."))
    scenario = living("separate", garden, strategy={"name": "hybrid"})
    asked = scenario.sense("health low")
    told = scenario.wait(0.1).answer_model(asked, "Sit down.")
    done = scenario.wait(0.3).tell(ClockTicked(due_at=scenario.at))

    second, completed = one(told, ModelAsked), one(done, Completed)
    assert (second.ttl_s, second.expires_at) == (0.3, factories.after(0.4))
    assert (completed.path, completed.text) == ("llm", "Sit down.")
    assert (completed.winner or "").startswith("llm:")
    assert names(done) == ["Completed", "DeliveryAsked", "Handled"]
    assert predicted(done) == UNKNOWN
