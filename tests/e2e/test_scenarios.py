"""The six scenarios of the executive, from a sensor's event to what was learnt of it."""

import pytest

from schemas.messages.decisions import HeuristicFired
from schemas.messages.learning import FeedbackApplied, OutcomeObserved
from tests.e2e.companion import Companion, of_pack
from tests.e2e.model_double import ModelDouble, reply

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

LOW = "Player health is low: 2 of 9"


async def test_scenario_1_high_confidence_heuristic_fires(
    ada: Companion, double: ModelDouble
) -> None:
    """A trusted heuristic answers by itself, at once, and no model is asked."""
    event = f"{LOW}, {ada.agent}!"

    decision = await ada.senses(event, fields={"health": 2})

    said = await ada.hears()
    assert (decision.path, decision.said) == ("heuristic", "Drink a potion.")
    assert decision.decided.matched_heuristic_id == of_pack("heal")
    assert decision.decided.predicted_success == 0.8
    assert said["text"] == "Drink a potion."
    assert (said["decision_id"], said["type"]) == (decision.id, "alert")
    (fire,) = await ada.outputs(HeuristicFired)
    assert (fire.mode, fire.heuristic_id) == ("shown", of_pack("heal"))
    assert not [each for each in double.asked if event in each.prompt]


async def test_scenario_2_low_confidence_heuristic_is_suggested_to_the_model(
    ada: Companion, double: ModelDouble
) -> None:
    """A heuristic under the threshold goes to the model as a hint; the model answers."""
    event = "A storm is coming from the west, says the old man"
    double.on(event, reply("Up to the cave, quickly."))

    decision = await ada.senses(event, type_="weather")

    (asked,) = await double.asked_about(event)
    assert "Find shelter before the storm." in asked.prompt
    assert (decision.path, decision.said) == ("llm", "Up to the cave, quickly.")
    assert (await ada.hears())["path"] == "llm"
    fires = await ada.outputs(HeuristicFired)
    assert {fire.mode for fire in fires} == {"suggested"}
    assert of_pack("shelter") in {fire.heuristic_id for fire in fires}


async def test_scenario_3_without_a_match_the_model_answers_from_scratch(
    ada: Companion, double: ModelDouble
) -> None:
    """Where nothing was learnt the model is asked without any hint."""
    event = "A merchant with a blue parrot wants to trade"
    double.on(event, reply("Ask for the price of the map."))

    decision = await ada.senses(event, type_="creature")

    (asked,) = await double.asked_about(event)
    assert (decision.path, decision.said) == ("llm", "Ask for the price of the map.")
    assert "you may ignore" not in asked.prompt
    assert "advising a player in a survival game" in asked.system
    assert (await ada.hears())["text"] == "Ask for the price of the map."
    assert await ada.outputs(HeuristicFired) == []


async def test_scenario_4_positive_feedback_raises_confidence(ada: Companion) -> None:
    """A thumb up on a heuristic's answer raises its confidence, and rapport."""
    decision = await ada.senses(LOW, fields={"health": 2})

    (applied,) = await ada.votes(decision, "positive")

    assert isinstance(applied, FeedbackApplied)
    assert applied.heuristic_id == of_pack("heal")
    # Declared 0.8 counts as two observations, a thumb as 0.8 of one.
    assert await ada.confidence(of_pack("heal")) == 0.857143
    assert (await ada.state()).rapport["user"].value > 0.5


async def test_scenario_5_negative_feedback_lowers_confidence(ada: Companion) -> None:
    """A thumb down lowers both; the next such event is the model's to answer."""
    decision = await ada.senses(LOW, fields={"health": 2})

    await ada.votes(decision, "negative")

    assert await ada.confidence(of_pack("heal")) == 0.571429
    assert (await ada.state()).rapport["user"].value < 0.5
    again = await ada.senses(LOW, fields={"health": 2}, salience={"threat": 0.9})
    assert again.path == "llm"


async def test_scenario_6_an_outcome_is_credited_to_its_fire(ada: Companion) -> None:
    """What the world shows later moves the heuristic that had advised, and no other."""
    decision = await ada.senses(LOW, fields={"health": 2})

    await ada.senses("Player health restored to 9 of 9", intent="informational")

    (seen,) = await ada.outputs(OutcomeObserved)
    assert (seen.outcome, seen.by) == ("success", "pattern")
    assert (seen.decision_id, seen.heuristic_id) == (decision.id, of_pack("heal"))
    # An outcome counts as one whole observation.
    assert await ada.confidence(of_pack("heal")) == 0.866667
    assert await ada.beliefs(of_pack("celebrate")) == []


async def test_scenario_6_a_bad_outcome_lowers_confidence(ada: Companion) -> None:
    """The failure pattern of the same trigger is armed too: the first seen decides."""
    await ada.senses(LOW, fields={"health": 2})

    await ada.senses("The player died", intent="informational")
    await ada.senses("Player health restored to 9 of 9", intent="informational")

    (seen,) = await ada.outputs(OutcomeObserved)
    assert seen.outcome == "fail"
    assert await ada.confidence(of_pack("heal")) == 0.533333
