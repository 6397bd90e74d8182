"""Milestones: a pack says which numbers of events are worth a word."""

from typing import Any

from schemas.messages.asks import DeliveryAsked
from schemas.messages.decisions import Decided
from schemas.messages.executive import Muted, UserStateChanged
from schemas.messages.notes import ControlInferred
from schemas.messages.results import ClockTicked
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import to_blob
from schemas.values.executive_settings import ExecutiveSettings
from tests.factories import pack, plain_executive
from tests.scenario import Scenario, one, said

MINED: dict[str, Any] = {
    "type": "mined",
    "milestones": [
        {"field": "item", "counts": [1, 3], "text": "Your {value} number {count}!"},
        {"counts": [4], "text": "{count} things in all."},
    ],
}


def start(executive: ExecutiveSettings | None = None, **settings: Any) -> Scenario:
    """A scenario with a mine."""
    own = executive or plain_executive(timing=True, cooldown_s=600.0)
    return Scenario(mine(), executive=own, **settings)


def mine() -> CompiledPack:
    """The pack that declares milestones."""
    return pack(events=[MINED])


def dig(scenario: Scenario, item: Any = "diamond") -> list[str]:
    """What is said of one more, a second later."""
    scenario.wait(5).sense("something was mined", type_="mined", fields={"item": item})
    scenario.wait(1)
    turn = scenario.tell(ClockTicked(due_at=scenario.at))
    return [each.text for each in said(turn, DeliveryAsked)]


def test_each_number_is_said_once_and_values_are_counted_apart() -> None:
    """However lately something was said."""
    scenario = start()

    assert dig(scenario) == ["Your diamond number 1!"]
    assert dig(scenario) == []
    assert dig(scenario, "coal") == ["Your coal number 1!"]
    assert sorted(dig(scenario)) == ["4 things in all.", "Your diamond number 3!"]
    assert dig(scenario) == dig(scenario, ["a"]) == []


def test_it_is_a_decision_of_its_own_by_a_rule() -> None:
    """The control that it came by is on record."""
    scenario = start()
    mined = scenario.sense("one", type_="mined", fields={"item": "coal"})
    turn = scenario.wait(1).tell(ClockTicked(due_at=scenario.at))

    assert one(mined, ControlInferred).by == "rule"
    decided = one(turn, Decided)
    assert (decided.type, decided.arm, decided.response_type) == (
        "milestone", "milestone", "observation",
    )  # fmt: skip


def test_it_waits_while_the_person_is_busy_and_keeps_quiet() -> None:
    """Nobody asked for it."""
    scenario = start()
    scenario.control(UserStateChanged(busy=True))
    assert dig(scenario) == []
    free = scenario.control(UserStateChanged(busy=False))
    scenario.control(Muted())

    assert one(free, DeliveryAsked).text == "Your diamond number 1!"
    assert dig(scenario, "coal") == []


def test_a_pack_without_milestones_has_no_word_of_them() -> None:
    """So packs of before keep their digest."""
    assert b"milestones" not in to_blob(pack().pack)
