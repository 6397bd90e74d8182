"""Days of the home as its sensor publishes them, without a broker."""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

from packs.home.sensor.playing import Plan, Played, play
from schemas.messages.sensing import Sensed
from schemas.values.record import Wire

BASE = datetime(2026, 11, 20, tzinfo=UTC)
SEEDS = (1, 4, 7)

Answers = Callable[[Sensed, str], bytes | None]
"""What is said to an event, given its id."""


def silent(event: Sensed, id_: str) -> None:
    """Nobody says anything."""


def lived(
    seed: int, answers: Answers = silent, *, follow: float = 1.0
) -> tuple[list[Wire], Played]:
    """All messages of a day, and what it came to."""
    sent: list[Wire] = []

    async def publish(message: Wire) -> None:
        sent.append(message)

    async def hear(id_: str | None) -> Sequence[tuple[str, bytes]]:
        said = answers(event_of(sent[-1]), id_) if id_ else None
        return [] if said is None else [("say", said)]

    plan = Plan(agent="anna", base=BASE, run="test", seed=seed, follow=follow)
    return sent, asyncio.run(play(plan, publish, hear))


def event_of(wire: Wire) -> Sensed:
    """A message as the event that the log would hold."""
    _, _, source, type_ = wire.subject.split(".")
    fields = json.loads(wire.body) | {"source": source, "type": type_}
    return Sensed.from_fields(fields)


@cache
def events(seed: int) -> tuple[Sensed, ...]:
    """The events of a day on which nothing is said."""
    return tuple(event_of(each) for each in lived(seed)[0])


def advice(type_: str, action: str, target: str, kind: str = "alert") -> Answers:
    """Say something to every event of a type."""

    def answer(event: Sensed, id_: str) -> bytes | None:
        if event.type != type_:
            return None
        said = {
            "decision_id": f"decision-{id_}",
            "type": kind,
            "action": {"type": action, "target": target},
        }
        return json.dumps(said).encode()

    return answer
