"""Before a model is asked the memory is; its answer is in the prompt, and decides nothing."""

from typing import Any

import pytest

from handlers.mind.stages import recall
from handlers.mind.turn import Turn
from projections.folds.pending_answers import RECALL_GRACE
from schemas.messages.asks import ModelAsked, RecallAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.notes import Handled
from schemas.messages.results import ClockTicked, ModelAnswered, Recalled, RecallFailed
from tests import factories
from tests.handlers.mind.stages.test_fenced_prompts import fences
from tests.handlers.mind.test_memory import GARDEN, INJECTIONS, says, states
from tests.scenario import Scenario, decision_id, names, one, output

LONG_AGO = "2026-03-01 12:00 ada: where is the red key | you said: In the drawer."


def alive(strategy: str = "heuristic_first", **executive: Any) -> Scenario:
    """A scenario whose model is asked after the memory."""
    how = {"prompt_tokens": 500, "recall": True, **executive}
    return Scenario(
        GARDEN,
        relevance=0.0,
        model=factories.MODEL,
        strategy={"name": strategy},
        executive=how,
    )


def remembers(scenario: Scenario, asked: Turn, *texts: str, wait: float = 0.02) -> Turn:
    """The memory answers what a turn asked."""
    scenario.wait(wait)
    ids = tuple(f"past-{place}" for place in range(len(texts)))
    ask = output(asked, RecallAsked).id
    return scenario.tell(Recalled(ask_id=ask, ids=ids, texts=texts, as_of=1))


def test_the_memory_is_asked_first() -> None:
    """Then the model, whose prompt holds the memories as data; its answer is said."""
    scenario = alive()
    turn = says(scenario, "where is the red key?")

    assert names(turn) == ["Decided", "RecallAsked"]
    asked = one(turn, RecallAsked)
    assert (asked.query, asked.person) == ("where is the red key?", "ada")
    assert (asked.ttl_s, asked.limit) == (0.15, 5)
    assert one(turn, Decided).prompt_digest is None

    then = remembers(scenario, turn, LONG_AGO)
    assert names(then) == ["Handled", "ModelAsked"]
    told = one(then, ModelAsked)
    assert LONG_AGO in fences(told.prompt)
    assert told.recall_id == output(turn, RecallAsked).id
    assert asked.then is not None
    assert LONG_AGO not in asked.then.prompt
    assert told.request_hash != asked.then.request_hash
    assert told.expires_at == asked.then.expires_at
    assert told.ttl_s == pytest.approx(asked.then.ttl_s - 0.02)

    end = one(scenario.answer_model(then, "Still in the drawer."), Completed)
    assert (end.decision_id, end.text) == (decision_id(turn), "Still in the drawer.")


def test_without_the_setting_the_model_is_asked_at_once() -> None:
    """So is it where nothing may be told, or there is no room."""
    for how in ({"recall": False}, {"prompt_tokens": 0}, {"prompt_tokens": 20}):
        assert names(says(alive(**how), "hello")) == ["Decided", "ModelAsked"]


@pytest.mark.parametrize("reason", ["timeout", "unavailable"])
def test_a_failure_asks_without_memories(reason: Any) -> None:
    """The prompt is the one that was ready, to the byte."""
    scenario = alive()
    turn = says(scenario, "where is the red key?")
    ask = output(turn, RecallAsked)
    failed = RecallFailed(ask_id=ask.id, reason=reason, detail="why")
    told = one(scenario.tell(failed), ModelAsked)
    assert isinstance(ask.message, RecallAsked)
    assert ask.message.then is not None
    assert told.prompt == ask.message.then.prompt
    assert told.request_hash == ask.message.then.request_hash


def test_nothing_remembered_adds_nothing() -> None:
    """Nor does what was said just now, which the conversation holds."""
    scenario = alive()
    first = says(scenario, "where is the red key?")
    scenario.answer_model(remembers(scenario, first), "In the drawer.")
    turn = says(scenario, "and the blue key?")
    ids = (decision_id(first), "past")
    recalled = Recalled(
        ask_id=output(turn, RecallAsked).id, ids=ids, texts=("known", "new"), as_of=1
    )
    told = one(scenario.tell(recalled), ModelAsked).prompt
    assert "new" in fences(told)
    assert "known" not in fences(told)


def test_a_lost_answer_is_not_waited_for() -> None:
    """The state's own timer asks the model without; what comes then is late."""
    scenario = alive()
    turn = says(scenario, "where is the red key?")
    scenario.wait(0.15 + RECALL_GRACE.total_seconds())
    ticked = scenario.tell(ClockTicked(due_at=scenario.at))

    assert names(ticked) == ["ModelAsked", "Handled"]
    late = remembers(scenario, turn, LONG_AGO)
    assert [one(late, Handled).reason, len(late.outputs)] == ["late", 1]
    assert names(scenario.answer_model(ticked)) == [
        "Handled", "Completed", "DeliveryAsked",
    ]  # fmt: skip
    assert not scenario.mind.pending
    assert scenario.mind.timers == ()


def test_the_first_answer_wins() -> None:
    """A second one, a model's to the memory's ask, and the memory's to a model's."""
    scenario = alive()
    turn = says(scenario, "where is the red key?")
    ask = output(turn, RecallAsked).id
    answer = ModelAnswered(ask_id=ask, request_hash="r", model="m", text="Obey.")
    assert one(scenario.tell(answer), Handled).reason == "unknown"

    then = remembers(scenario, turn, LONG_AGO)
    second = remembers(scenario, turn, "another")
    assert one(second, Handled).reason == "second"
    wrong = Recalled(ask_id=output(then, ModelAsked).id, as_of=1)
    assert one(scenario.tell(wrong), Handled).reason == "unknown"
    assert len(scenario.mind.pending) == 1


def test_what_comes_after_the_answer_is_of_use_is_dropped() -> None:
    """An event that is of use no longer costs no model call."""
    scenario = alive()
    turn = scenario.sense("a noise", ttl_s=0.1)
    assert names(turn) == ["Decided", "RecallAsked"]
    end = remembers(scenario, turn, LONG_AGO, wait=0.12)
    assert one(end, Dropped).reason == "stale"
    assert not scenario.mind.pending


def test_a_race_runs_while_the_memory_is_asked() -> None:
    """The heuristic answers at its deadline, whoever is slow."""
    scenario = alive("hybrid")
    turn = scenario.sense("a zombie is near", salience={"threat": 0.4})
    assert names(turn)[-1] == "RecallAsked"
    then = remembers(scenario, turn, LONG_AGO)
    told = one(then, ModelAsked)
    assert told.rival is not None
    scenario.wait(1)
    ticked = scenario.tell(ClockTicked(due_at=scenario.at))
    assert one(ticked, Completed).path == "heuristic"

    slow = scenario.wait(600).sense("a zombie is near", salience={"threat": 0.4})
    scenario.wait(1)
    ticked = scenario.tell(ClockTicked(due_at=scenario.at))
    assert one(ticked, Completed).path == "heuristic"
    assert one(remembers(scenario, slow, LONG_AGO), Handled).reason == "late"


def test_memories_stay_within_the_budget_and_are_data() -> None:
    """What is too much is left out; nothing written long ago is an instruction."""
    scenario = alive(prompt_tokens=200)
    states(scenario, "ada", "likes", "tea")
    turn = says(scenario, "hello")
    room = one(turn, RecallAsked).room or 0
    assert recall.LEAST_ROOM <= room <= 800
    then = one(turn, RecallAsked).then
    told = one(remembers(scenario, turn, *["x" * 290] * 5), ModelAsked)
    assert then is not None
    assert len(told.prompt) - len(then.prompt) <= room + 2
    assert fences(told.prompt).count("x" * 290) == 2

    scenario = alive(prompt_tokens=8_000)
    turn = says(scenario, "hello")
    told = one(remembers(scenario, turn, *INJECTIONS), ModelAsked)
    assert told.system == one(turn, RecallAsked).then.system  # type: ignore[union-attr]  # it has one
    assert len(fences(told.prompt)) == len(INJECTIONS) + 1


def test_the_budget_counts_a_call_once() -> None:
    """Asked for when the memory is, so that a burst cannot exceed it meanwhile."""
    scenario = alive(budget_calls=1)
    turn = says(scenario, "one")
    assert says(scenario, "two").outputs[0].message.path != "llm"  # type: ignore[union-attr]  # a decision
    remembers(scenario, turn)
    assert len(scenario.mind.executive.spent.calls) == 1
