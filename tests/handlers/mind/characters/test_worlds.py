"""Members of a world: one clock, and what the world is told of each turn."""

from datetime import datetime, timedelta
from typing import Any

import orjson

from handlers.mind.turn import Turn
from handlers.worker.wakeups import told
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import SessionStarted
from schemas.messages.notes import Handled, Quarantined
from schemas.messages.results import Delivered
from schemas.packs.compiled import CompiledPack
from tests import factories
from tests.handlers.mind.characters.clearing import place_pack
from tests.handlers.mind.characters.village import HUNGRY
from tests.scenario import Scenario, one, said

CLOCK = {"type": "clock", "source": "world", "means": "clock"}


def villager() -> CompiledPack:
    """Who gets hungry after a hundred seconds."""
    return factories.pack(
        name="village",
        events=[{"type": "body", "means": "body"}, CLOCK],
        mind={
            "layers": ["reflex"],
            "needs": {"hunger": {"field": "hunger", "rate": "hunger_rate"}},
            "behaviours": {"seek_food": {"priority": 40}},
            "reflexes": [HUNGRY],
        },
    )


def member(pack: CompiledPack, agent: str = "aria", **more: Any) -> Scenario:
    """An agent in the world `w`."""
    scenario = Scenario(pack, agent=agent)
    scenario.control(
        SessionStarted(
            **{"session_id": f"s-{agent}", "clock": "event", "world": "w"} | more
        )
    )
    return scenario


def sense(scenario: Scenario, second: float, type_: str, **more: Any) -> Turn:
    """An event at a second of the world's."""
    at = factories.NOON + timedelta(seconds=second)
    given = {"source": "world", "occurred_at": at, **more}
    return scenario.sense("x", type_=type_, **given)


def body(scenario: Scenario, second: float = 0.0) -> Turn:
    """Report a body that will be hungry 100 s later."""
    fields = {"hunger": 0.7, "hunger_rate": -0.001}
    return sense(scenario, second, "body", fields=fields)


def read(turn: Turn) -> dict[str, Any]:
    """What the world is told of a turn."""
    payload = told(turn)
    assert payload is not None
    found: dict[str, Any] = orjson.loads(payload)
    return found


def test_a_world_is_told_when_a_mind_acts_next() -> None:
    """And the time alone lets it act then; that time is no event to decide on."""
    scenario = member(villager())
    turn = body(scenario)
    due = datetime.fromisoformat(read(turn)["due_at"])
    assert due == factories.NOON + timedelta(seconds=101)
    early = sense(scenario, 90, "clock")
    assert [type(each.message) for each in early.outputs] == [Handled]

    turn = sense(scenario, 101, "clock")

    (asked,) = said(turn, DeliveryAsked)
    assert asked.action is not None
    assert asked.action.type == "seek_food"
    assert one(turn, Handled).reason == "recorded"
    told_ = read(turn)
    assert told_["answers"] == turn.input.id
    assert len(told_["asks"]) == 1


def test_a_world_is_told_what_has_ended() -> None:
    """By the ask's id, as it was told when that was asked."""
    scenario = member(villager())
    body(scenario)
    asked = sense(scenario, 101, "clock")
    ((ask_id, receiver),) = read(asked)["asks"]
    assert receiver is None
    ended = read(scenario.tell(Delivered(ask_id=ask_id, channel="act")))
    assert (ended["ended"], ended["failed"], ended["asks"]) == (ask_id, False, [])


def test_it_is_told_whom_a_place_tells_something() -> None:
    """And what each hearer's event comes from."""
    place = member(place_pack(), agent="clearing")
    for agent in ("aria", "bram"):
        fields = {"agent": agent, "x": 1, "y": 1}
        sense(place, 0, "position", fields=fields)
    sense(place, 1, "said", fields={"agent": "aria", "tokens": 10})
    turn = sense(place, 5, "clock")
    assert [receiver for _, receiver in read(turn)["asks"]] == ["bram"]


def test_nobody_else_tells_anything() -> None:
    """A companion, a member on the broker's clock, a session without a world."""
    for more in ({"clock": "broker"}, {"world": None}):
        assert told(body(member(villager(), **more))) is None
    assert told(Scenario(villager(), agent="aria").sense("x", type_="body")) is None


def test_what_an_agent_tells_is_never_late() -> None:
    """A member that was told of nothing for a while is behind, and no sensor that errs."""
    scenario = member(villager())
    body(scenario, 100)
    turn = sense(scenario, 20, "heard", source="agent", fields={"agent": "clearing"})
    assert not said(turn, Quarantined)
    assert scenario.mind.now == factories.NOON + timedelta(seconds=100)
    sensors = sense(scenario, 20, "body")
    assert one(sensors, Quarantined).reason == "clock"
    assert not said(sensors, ModelAsked)
