"""Made-up villagers: many characters of one pack, and the reports on their bodies.

The bodies are those of the simulated village. Every second report of a villager says that it
is hungry, which a reflex answers; the report after that says that it has eaten.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from uuid import UUID

import orjson

from bench.world import Event
from echoic.packs.load import load
from packs.village.sensor.telling import BODY, SOURCE
from packs.village.sensor.villager import NEEDS, PEOPLE
from packs.village.sensor.world import World
from schemas.packs.manifest import Pack
from schemas.values.base import rfc3339
from schemas.values.record import Record
from schemas.values.subjects import parse

_NOON_S = 43_200.0
_BEGIN = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_HUNGRY, _CONTENT = 0.5, 0.9
_CALM = {"cold_by": 0.0, "hot_by": 0.0, "danger": "", "storm": False, "hour": 12.0,
         **dict.fromkeys(NEEDS, _CONTENT)}  # fmt: skip


def pack() -> Pack:
    """Return the pack that makes them characters."""
    return load(Path(__file__).parents[1] / "packs" / "village")


def names(count: int) -> list[str]:
    """Return the agents."""
    return [f"villager{number}" for number in range(count)]


def met(agents: Sequence[str], **fields: object) -> list[Event]:
    """Return the first report of each, with all that a body has; `fields` differ from it."""
    bodies = [each.event.fields for each in World("7", tuple(PEOPLE), _NOON_S).told()]
    return [
        _report(
            agent,
            str(UUID(int=number)),
            number,
            # Every second talks with somebody: then its model is asked every ten seconds.
            {
                **bodies[number % len(bodies)],
                **_CALM,
                "in_conversation": number % 2 == 0,
            }
            | fields,
        )
        for number, agent in enumerate(agents)
    ]


class Reports:
    """What villagers are told at a rate, one after the other, and what came of the last."""

    def __init__(self, agents: Sequence[str]) -> None:
        """Let each have been met, and know of nothing that they do."""
        self._agents = agents
        self._doing: dict[str, str] = {}

    def events(self, count: int, seed: int) -> list[Event]:
        """Return `count` reports; another seed gives others."""
        return list(islice(self._events(Random(seed)), count))

    def body(self, event: Event) -> bytes:
        """Return the report as it is sent: with what the villager has done by then."""
        decision = self._doing.pop(event.agent, None)
        if decision is None:
            return event.body
        done = orjson.dumps({"in_reply_to": decision, "outcome": "succeeded"})
        return event.body[:-1] + b"," + done[1:]

    def notice(self, decided: Record) -> None:
        """Take in what a villager decided to do."""
        if orjson.loads(decided.body)["path"] == "reflex":
            self._doing[parse(decided.subject).agent] = decided.headers["ce-id"]

    def _events(self, rng: Random) -> Iterator[Event]:
        number = 0
        while True:
            is_hungry = number // len(self._agents) % 2 == 0
            # Half of all at any time, since they are told in turn.
            is_hungry ^= number % 2 == 0
            fields = dict.fromkeys(NEEDS, _CONTENT)
            fields["hunger"] = _HUNGRY if is_hungry else _CONTENT
            rates = {f"{each}_rate": -1 / 36_000 for each in NEEDS}
            place = {"x": rng.randrange(48), "y": rng.randrange(48)}
            agent = self._agents[number % len(self._agents)]
            id_ = str(UUID(int=rng.getrandbits(128)))
            yield _report(agent, id_, number, {**fields, **rates, **place})
            number += 1


def _report(agent: str, id_: str, number: int, fields: dict[str, object]) -> Event:
    at = _BEGIN + timedelta(milliseconds=10 * number)
    body = {
        "text": f"{agent.capitalize()} is by the river: does nothing.",
        "fields": fields,
        "occurred_at": rfc3339(at),
    }
    return Event(agent, SOURCE, BODY, orjson.dumps(body), id_, at)
