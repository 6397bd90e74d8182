"""What members owe, and what a world does about it: in memory, without a broker."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from msgspec.structs import replace
from nats.aio.msg import Msg

from packs import playing, simulating
from packs.broker import BrokerError
from packs.lockstep import Debts
from packs.playing import CLOCK, Plan, Told, play
from packs.simulating import Steps
from packs.wires import Run
from schemas.messages.arms import Action
from schemas.values.record import Wire

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
PLAN = Plan(
    names=("aria", "bram"),
    place="clearing",
    base=MIDNIGHT,
    run="r",
    begins_s=0.0,
    lasts_s=100.0,
)


def test_an_event_is_owed_until_it_is_answered() -> None:
    """By its own mind; what that asks for goes on being owed."""
    debts = Debts(PLAN.members)
    debts.told("aria", "e1")
    assert debts.owing == ["aria"]
    debts.heard("aria", {"answers": "e1", "asks": [["a1", None]]})
    assert debts.owing == ["aria"]
    debts.heard("aria", {"answers": "r1", "ended": "a1", "asks": []})
    assert debts.owing == []


@pytest.mark.parametrize("is_early", [False, True])
def test_what_one_tells_another_is_owed_by_both(is_early: bool) -> None:
    """In whichever order that is heard of: of the sender's end and of the receiver's."""
    debts = Debts(PLAN.members)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("aria", {"answers": "e1", "asks": [["a1", "clearing"]]}),
        ("clearing", {"answers": "x", "cause": "a1", "asks": []}),
        ("aria", {"answers": "r1", "ended": "a1", "asks": []}),
    ]
    owing = []
    for agent, said in reversed(steps[:2]) if is_early else steps[:2]:
        debts.heard(agent, said)
        owing.append(debts.owing)
    debts.heard(*steps[2])
    assert debts.owing == []
    assert owing == ([[], ["aria"]] if is_early else [["aria", "clearing"], ["aria"]])


def test_what_is_told_to_no_member_is_not_waited_for() -> None:
    """Nor what could not be told."""
    debts = Debts(PLAN.members)
    debts.heard("aria", {"answers": "e", "asks": [["a1", "stranger"], ["a2", "bram"]]})
    debts.heard("aria", {"answers": "r1", "ended": "a1", "asks": []})
    debts.heard("aria", {"answers": "r2", "ended": "a2", "failed": True, "asks": []})
    assert debts.owing == []


class Minds:
    """Minds that answer what they are told, once they do; the latest event is kept."""

    def __init__(self) -> None:
        self.published: list[Wire] = []
        self.silent = 0
        """So many times nothing is heard of them."""
        self._waiting: list[Msg] = []

    async def publish(self, wire: Wire) -> None:
        """Take an event, and answer it."""
        self.published.append(wire)
        agent = wire.subject.split(".")[1]
        said: dict[str, Any] = {
            "due_at": None,
            "answers": wire.headers["ce-id"],
            "asks": [],
        }
        if not self.silent:
            self.say(agent, said)

    def say(self, agent: str, said: dict[str, Any]) -> None:
        """Tell the world something."""
        subject, data = f"out.{agent}.wakeup", orjson.dumps(said)
        self._waiting.append(Msg(_client=None, subject=subject, data=data))  # type: ignore[arg-type]  # no reply is sent

    async def listen(self, wait_s: float) -> Sequence[Msg]:
        """Return what they said."""
        if wait_s and self.silent:
            self.silent -= 1
            return ()
        waiting, self._waiting = self._waiting, []
        return waiting

    def steps(self) -> Steps:
        """A world's side of it."""
        doors = {
            (name, source): self.publish
            for name in PLAN.members
            for source in ("village", "world")
        }
        return Steps(PLAN, doors, self.listen, 0.01)


def event(name: str, number: int) -> Wire:
    """An event of the village's."""
    told = replace(CLOCK, source="village", type="body")
    return Run(name, "r").event("village", told, MIDNIGHT, number)


async def test_who_does_not_answer_is_told_the_time_again() -> None:
    """A mind that was killed may have told before what it cannot tell any more."""
    minds = Minds()
    steps = minds.steps()
    await steps.publish(event("aria", 0))
    assert [agent for agent, _, _ in await steps.hear()] == ["aria"]
    minds.silent = 3
    await steps.publish(event("aria", 1))
    await steps.publish(event("bram", 2))
    await steps.hear()

    again = [each.subject for each in minds.published[3:]]
    assert again == ["in.aria.world.clock", "in.bram.world.clock"] * 3
    assert len({each.headers["ce-id"] for each in minds.published}) == 9


async def test_a_broker_that_is_away_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The world stands still meanwhile; without lockstep its time goes on, and it ends."""
    monkeypatch.setattr(simulating, "_PAUSE_S", 0.0)
    fails = [3]

    async def door(_: Wire) -> None:
        if fails[0]:
            fails[0] -= 1
            raise BrokerError("nobody stored it")

    for patience_s in (0.01, 0.0):
        minds = Minds()
        steps = Steps(PLAN, {("aria", "village"): door}, minds.listen, patience_s)
        if patience_s:
            await steps.publish(event("aria", 0))
        else:
            fails[0] = 1
            with pytest.raises(BrokerError):
                await steps.publish(event("aria", 1))
    assert fails[0] == 0


async def test_minds_that_tell_nothing_hold_up_no_world() -> None:
    """They are in no world, so nobody knows what they have answered."""
    minds = Minds()
    minds.silent = 10**6
    steps = minds.steps()
    await steps.publish(event("aria", 0))
    assert await steps.hear() == []
    assert len(minds.published) == 1


async def test_answers_are_obeyed_in_the_same_order() -> None:
    """Whichever mind was faster."""
    minds = Minds()
    steps = minds.steps()
    for name in ("bram", "aria", "bram"):
        minds.say(name, {"answers": "x", "asks": []})
    assert [agent for agent, _, _ in await steps.hear()] == ["aria", "bram", "bram"]


class Still:
    """A world in which nothing happens but every minute."""

    def __init__(self) -> None:
        self.at = 0.0
        self.obeyed: list[tuple[float, str]] = []
        self.said: list[tuple[float, str, str]] = []

    def next_at(self) -> float:
        """Return the next whole minute."""
        return (self.at // 60 + 1) * 60

    def advance(self) -> Sequence[Told]:
        """Go there."""
        self.at = self.next_at()
        body = replace(CLOCK, source="village", type="body")
        return [Told("aria", self.at, body)]

    def told(self) -> Sequence[Told]:
        """Return nothing."""
        return ()

    def pass_to(self, at: float) -> None:
        """Pass."""
        self.at = min(at, self.next_at())

    def obey(self, name: str, decision_id: str, action: Action) -> None:
        """Note who does something, and when."""
        self.obeyed.append((self.at, name))

    def late(self, name: str, decision_id: str) -> bool:
        """Refuse nothing."""
        return False

    def say(self, name: str, words: str) -> None:
        """Note who speaks, and when."""
        self.said.append((self.at, name, words))


async def test_a_mind_is_told_the_time_at_which_it_wakes() -> None:
    """To the second, though the world has nothing to tell; with an event that tells it."""
    told: list[tuple[str, str]] = []
    due = {"aria": ["00:00:17", "00:01:00", None], "bram": ["00:01:00", None]}
    said: list[tuple[str, str, bytes]] = []

    def wakes(name: str) -> None:
        at = due[name].pop(0)
        payload = {"due_at": at and f"2026-11-20T{at}Z"}
        said.append((name, playing.WAKEUP, orjson.dumps(payload)))

    async def publish(wire: Wire) -> None:
        _, name, _, type_ = wire.subject.split(".")
        told.append((f"{name} {type_}", wire.headers["ce-time"][11:19]))
        if due[name]:
            wakes(name)

    async def hear() -> Sequence[tuple[str, str, bytes]]:
        heard = tuple(said)
        said.clear()
        return heard

    wakes("aria")
    wakes("bram")
    await play(Still(), PLAN, publish, hear)

    assert told == [
        ("aria clock", "00:00:17"),
        ("aria body", "00:01:00"),
        ("bram clock", "00:01:00"),
    ]


async def test_a_place_tells_who_speaks() -> None:
    """Without one it is whose words they are."""
    world = Still()
    speak = {"text": "Hm.", "action": {"type": "speak", "target": "bram"}}
    said = [
        ("clearing", "talk", orjson.dumps(speak)),
        ("aria", "talk", orjson.dumps({"text": "Ah."})),
    ]

    async def publish(wire: Wire) -> None:
        pass

    async def hear() -> Sequence[tuple[str, str, bytes]]:
        heard = tuple(said)
        said.clear()
        return heard

    await play(world, PLAN, publish, hear)
    assert world.said == [(0.0, "bram", "Hm."), (0.0, "aria", "Ah.")]
