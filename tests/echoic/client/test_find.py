"""A decision is found with what was remembered for it, and what the model was asked then."""

import pytest

from echoic.client.decision_json import as_response
from echoic.client.find import find_decision, record_of
from echoic.errors import NotFoundError
from echoic.explain.explain import explain
from echoic.terminal.explanation import explained
from echoic.terminal.screen import rendered
from schemas.messages.asks import DeliveryAsked, RecallAsked
from schemas.messages.decisions import Decided
from schemas.messages.results import Delivered, DeliveryFailed, Recalled, RecallFailed
from schemas.values.ids import trace_id
from tests import factories
from tests.handlers.mind.test_memory import says
from tests.handlers.mind.test_recall import LONG_AGO, alive, remembers
from tests.projections.chronicle import Chronicle
from tests.scenario import Scenario, output


async def test_what_reached_nobody_is_said_to_have() -> None:
    """Each delivery failed: it was to speak, and nobody heard it."""
    scenario = Scenario(
        factories.pack(factories.heuristic("drink", "thirsty", "Drink."))
    )
    heard, unheard = [
        scenario.wait(60).sense("thirsty", fields={}, salience={"threat": 1.0})
        for _ in range(2)
    ]
    for turn, told in ((heard, Delivered), (unheard, DeliveryFailed)):
        ask = output(turn, DeliveryAsked).id
        why = {} if told is Delivered else {"reason": "expired"}
        scenario.tell(told.from_fields({"ask_id": ask, "channel": "say", **why}))
    log = await Chronicle(scenario).catch_up()

    verdicts = []
    for turn in (heard, unheard):
        found = await record_of(log, output(turn, Decided))
        verdicts.append(explain(found, {}).verdict)
    assert verdicts[0].startswith("Spoke by the heuristic")
    assert verdicts[1].startswith("Was to speak by the heuristic")
    assert verdicts[1].endswith("Nobody heard it: it came too late to be delivered.")


async def test_it_is_found_by_whatever_id_somebody_has() -> None:
    """Its own or how that begins, that of the event which `pub` told, that of its trace."""
    scenario = Scenario()
    turns = [scenario.wait(60).sense("thirsty") for _ in range(3)]
    log = await Chronicle(scenario).catch_up()
    wanted = output(turns[1], Decided)
    event_id, agent = turns[1].input.id, wanted.agent

    for id_ in (
        wanted.id, wanted.id[:8], wanted.id.replace("-", ""), event_id, trace_id(event_id),
    ):  # fmt: skip
        assert (await find_decision(log, agent, id_)).id == wanted.id
    with pytest.raises(NotFoundError, match="has no decision"):
        await find_decision(log, agent, event_id + "0")


async def test_a_decision_tells_what_was_remembered() -> None:
    """The memories, and the prompt that held them; or why there were none."""
    scenario = alive()
    turn = says(scenario, "where is the red key?")
    waits = await Chronicle(scenario).catch_up()
    open_ = await record_of(waits, output(turn, Decided))
    scenario.answer_model(remembers(scenario, turn, LONG_AGO), "In the drawer.")
    failed = says(scenario, "and the blue key?")
    ask = output(failed, RecallAsked).id
    scenario.tell(RecallFailed(ask_id=ask, reason="timeout"))
    log = await Chronicle(scenario).catch_up()

    assert (open_.ask, open_.is_final) == (None, False)
    assert open_.awaited is not None
    found = await record_of(log, output(turn, Decided))
    assert found.said == "In the drawer."
    assert isinstance(found.recalled, Recalled)
    response = as_response(found)
    assert LONG_AGO in str(response["prompt_text"])
    assert response["metadata"]["memories"] == [LONG_AGO]  # type: ignore[index]  # a dict
    without = await record_of(log, output(failed, Decided))
    assert without.ask is not None
    pages = [
        rendered(explained(each, explain(each, {}))) for each in (open_, found, without)
    ]
    assert "remembered nothing: the memory has not answered" in pages[0]
    assert f"remembered {LONG_AGO}" in pages[1]
    assert "remembered nothing: the memory failed (timeout)" in pages[2]
