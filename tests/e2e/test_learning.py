"""Feedback and outcomes: who gets credit, once, and who does not."""

import pytest

from echoic.client.publish import publish_raw
from echoic.errors import RefusedError
from schemas.messages.controls import HeuristicEdited, HeuristicFrozen
from schemas.messages.decisions import HeuristicFired
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import FeedbackApplied, LifecycleChanged, OutcomeObserved
from tests.e2e.companion import GAME, Companion, companion, of_pack
from tests.e2e.model_double import ModelDouble

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.services]

LOW = "Player health is low: 2 of 9"
HEAL = of_pack("heal")
ONE_DOWN, ONE_UP = 0.571429, 0.857143
"""From 0.8: (2 * 0.8 + 0.8 * y) / (2 + 0.8)."""


async def test_down_after_up_counts_once_as_down(ada: Companion) -> None:
    """Whoever changes their mind has one vote, and it is the last."""
    decision = await ada.senses(LOW, fields={"health": 2})

    await ada.votes(decision, "positive")
    await ada.votes(decision, "negative")

    assert await ada.confidence(HEAL) == ONE_DOWN
    assert (await ada.state()).rapport["user"].value == 0.45


async def test_three_clicks_count_once(ada: Companion) -> None:
    """A thumb pressed again and again is one thumb."""
    decision = await ada.senses(LOW, fields={"health": 2})

    for _ in range(3):
        await ada.votes(decision, "positive")

    assert await ada.confidence(HEAL) == ONE_UP
    assert (await ada.state()).rapport["user"].value == 0.525
    assert len(await ada.outputs(FeedbackApplied)) == 3


async def test_two_people_have_a_vote_each(ada: Companion) -> None:
    """Votes of different people are averaged: up and down cancel out."""
    decision = await ada.senses(LOW, fields={"health": 2})

    await ada.votes(decision, "positive", actor="ann")
    await ada.votes(decision, "negative", actor="ben")

    # The mean vote is 0.5 on the scale of success: (1.6 + 0.4) / 2.8
    assert await ada.confidence(HEAL) == 0.714286
    rapport = (await ada.state()).rapport
    assert rapport["ann"].value > 0.5 > rapport["ben"].value


async def test_feedback_on_an_unknown_decision_is_refused(ada: Companion) -> None:
    """A vote on nothing known moves nothing, and says why."""
    with pytest.raises(RefusedError, match=r"unknown_decision.*'no-such-decision'"):
        await ada.tell(FeedbackGiven(decision_id="no-such-decision", rating="positive"))

    assert "user" not in (await ada.state()).rapport


async def test_feedback_may_name_a_heuristic(ada: Companion) -> None:
    """A heuristic can be judged by itself, without a decision."""
    await ada.tell(FeedbackGiven(heuristic_id=HEAL, rating="negative"))

    assert await ada.confidence(HEAL) == ONE_DOWN
    with pytest.raises(RefusedError, match="unknown_heuristic"):
        await ada.tell(FeedbackGiven(heuristic_id="none", rating="negative"))


async def test_feedback_through_a_button(ada: Companion) -> None:
    """A client that can only publish gives feedback as an event, if it was granted."""
    async with companion(ada.live, f"{ada.agent}-b", grants=("feedback",)) as bob:
        decision = await bob.senses(LOW, fields={"health": 2})
        body = f'{{"decision_id": "{decision.id}", "rating": "positive"}}'.encode()

        await publish_raw(bob.sensor, f"in.{bob.agent}.{GAME}.feedback", body, {})

        (applied,) = await bob.comes(FeedbackApplied)
        assert (applied.decision_id, applied.actor) == (decision.id, GAME)
        assert await bob.confidence(HEAL) == ONE_UP


async def test_an_outcome_credits_its_own_fire(ada: Companion) -> None:
    """A report that names a decision moves that decision's heuristic and no other."""
    await ada.taught("door", "The front door stands open", "Close the door.")
    await ada.taught("tap", "The tap in the kitchen drips", "Close the tap.")
    first = await ada.senses("The front door stands open", type_="weather")
    second = await ada.senses("The tap in the kitchen drips", type_="weather")

    await ada.senses("Done", in_reply_to=first.id, outcome="failed")
    event = {"source": GAME, "event_id": second.decided.event_id}
    await ada.senses("Done that", in_reply_to=event, outcome="succeeded")

    seen = await ada.outputs(OutcomeObserved)
    assert [(each.heuristic_id, each.outcome) for each in seen] == [
        ("door", "fail"),
        ("tap", "success"),
    ]
    assert await ada.confidence("door") == 0.533333
    assert await ada.confidence("tap") == 0.866667


async def test_an_outcome_counts_once(ada: Companion) -> None:
    """The first report decides; what is reported later on the same fire is not credited."""
    decision = await ada.senses(LOW, fields={"health": 2})

    for outcome in ("succeeded", "failed", "succeeded"):
        await ada.senses(f"It {outcome}", in_reply_to=decision.id, outcome=outcome)

    assert len(await ada.outputs(OutcomeObserved)) == 1
    assert await ada.confidence(HEAL) == 0.866667


@pytest.mark.parametrize("outcome", ["overridden", "cancelled"])
async def test_an_outcome_that_proves_nothing_moves_nothing(
    ada: Companion, outcome: str
) -> None:
    """Advice that was overridden or cancelled was neither right nor wrong."""
    decision = await ada.senses(LOW, fields={"health": 2})

    await ada.senses("Never mind", in_reply_to=decision.id, outcome=outcome)

    (seen,) = await ada.outputs(OutcomeObserved)
    assert seen.outcome == outcome
    assert await ada.confidence(HEAL) == 0.8


async def test_nothing_about_a_models_answer_credits_a_heuristic(
    ada: Companion, double: ModelDouble
) -> None:
    """Votes, reports and silence on a model's words leave the suggested one as it was."""
    event = f"A storm is coming from the west, says {ada.agent}"
    decision = await ada.senses(event, type_="weather")
    await double.asked_about(event)

    applied, *_ = await ada.votes(decision, "positive")
    await ada.senses("Done", in_reply_to=decision.id, outcome="succeeded")
    await ada.senses("The storm is over", intent="informational")

    assert isinstance(applied, FeedbackApplied)
    assert applied.heuristic_id is None
    assert decision.decided.matched_heuristic_id == of_pack("shelter")
    assert await ada.outputs(OutcomeObserved) == []
    assert await ada.beliefs(of_pack("shelter")) == []
    assert {each.mode for each in await ada.outputs(HeuristicFired)} == {"suggested"}
    assert (await ada.state()).rapport["user"].value == 0.525


async def test_a_heuristic_that_keeps_failing_is_deprecated_then_frozen(
    ada: Companion,
) -> None:
    """Under 0.3 it is flagged for review, under 0.1 it never answers again."""
    threat = {"threat": 0.9}
    decisions = [
        await ada.senses(LOW, fields={"health": 2}, salience=threat) for _ in range(15)
    ]
    for decision in decisions:
        await ada.senses("No", in_reply_to=decision.id, outcome="failed")

    changes = await ada.outputs(LifecycleChanged)
    after = await ada.senses(LOW, fields={"health": 2}, salience=threat)

    assert [(each.before, each.after) for each in changes] == [
        ("active", "deprecated"),
        ("deprecated", "frozen"),
    ]
    # 1.6 / (2 + 4), and 1.6 / (2 + 15)
    assert [each.confidence for each in changes] == [0.266667, 0.094118]
    (candidate,) = [
        each
        for each in after.decided.candidates
        if each.arm.startswith(f"heuristic:{HEAL}@")
    ]
    assert (after.path, candidate.reason) == ("llm", "frozen")


async def test_a_frozen_heuristic_never_answers(
    ada: Companion, double: ModelDouble
) -> None:
    """Frozen by hand it is ineligible with the reason; released it answers again."""
    await ada.tell(HeuristicFrozen(heuristic_id=HEAL))
    event = f"{LOW} ({ada.agent})"

    frozen = await ada.senses(event, fields={"health": 2})
    (asked,) = await double.asked_about(event)
    await ada.tell(HeuristicFrozen(heuristic_id=HEAL, frozen=False))
    released = await ada.senses(event, fields={"health": 2}, salience={"threat": 0.9})

    (candidate,) = [
        each
        for each in frozen.decided.candidates
        if each.arm.startswith(f"heuristic:{HEAL}@")
    ]
    assert (candidate.eligible, candidate.reason) == (False, "frozen")
    assert frozen.path == "llm"
    assert "Drink a potion." not in asked.prompt
    assert released.path == "heuristic"


async def test_an_edited_heuristic_starts_anew(ada: Companion) -> None:
    """Evidence belongs to what was said then: other words have the declared confidence."""
    await ada.taught("soup", "The soup boils over", "Lower the heat.")
    decision = await ada.senses("The soup boils over", type_="weather")
    await ada.senses("No", in_reply_to=decision.id, outcome="failed")
    assert await ada.confidence("soup") == 0.533333

    await ada.tell(HeuristicEdited(heuristic_id="soup", text="Take it off the stove."))
    again = await ada.senses(
        "The soup boils over", type_="weather", salience={"threat": 0.9}
    )

    assert (again.path, again.said) == ("heuristic", "Take it off the stove.")
    assert again.decided.predicted_success == 0.8
