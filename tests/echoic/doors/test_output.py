"""What a caller hears of output, from a worker's state."""

from typing import Any

from echoic.doors.answers import Serving
from schemas.messages.asks import DeliveryAsked
from schemas.messages.results import DeliveryBegun, DeliveryInterrupted
from tests.factories import heuristic, pack
from tests.scenario import Scenario, output

UNUSED: Any = None


def serving(scenario: Scenario) -> Serving:
    """Answers from the scenario's state."""

    async def known(agent: str) -> Any:
        return scenario.state if agent in scenario.state.agents else None

    return Serving(known, UNUSED, UNUSED, UNUSED, UNUSED)


async def test_a_caller_hears_what_is_being_said() -> None:
    """And what is still to be said, and what was cut off."""
    scenario = Scenario(
        pack(heuristic("low", "food is low", "Eat now.", 0.8)),
        relevance=0.0,
        executive={"speech": True},
    )
    asks = [output(scenario.sense("food is low"), DeliveryAsked).id for _ in range(2)]
    scenario.tell(DeliveryBegun(ask_id=asks[0], channel="speech"))
    during = await serving(scenario).query("output", scenario.agent, {})
    scenario.tell(
        DeliveryInterrupted(
            ask_id=asks[0], channel="speech", reason="urgent", after_ms=1_000.0
        )
    )
    after = await serving(scenario).query("output", scenario.agent, {})

    assert (during["speaking"], during["said"]["ask_id"]) == (True, asks[0])
    assert [each["ask_id"] for each in during["waiting"]] == [asks[1]]
    assert (after["speaking"], after["said"]) == (False, None)
    [unsaid] = after["unsaid"]
    assert (unsaid["reason"], unsaid["after_ms"]) == ("urgent", 1_000.0)
    nobody = await serving(scenario).query("output", "nobody", {})
    assert nobody["error"]["reason"] == "unknown_agent"
