"""What it takes to look whether to speak unasked: `python -m bench.proactive`.

CPU time, in microseconds, of a whole tick of a mind in memory: a timer is due, an opportunity
is looked at, a check-in is decided on, routed and asked for, the next is drawn, and all is
encoded and folded. `waits_us` is a tick at which somebody spoke a moment ago, so that only
the next is drawn. The median and the 95th percentile of many ticks at the same state.
"""

import argparse
import json
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import process_time_ns
from uuid import UUID

from bench.worker import PROACTIVE
from echoic.run.process import prepare
from echoic.world.memory import settings_for
from handlers.mind import turn as turns
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.messages.asks import DeliveryAsked
from schemas.messages.controls import MindStarted, SessionStarted
from schemas.messages.results import ClockTicked
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record, Wire, nanoseconds
from schemas.values.settings import CodeDigests
from schemas.values.subjects import SHARED_AGENT, input_subject, partition_of

TICKS = 2_000
AGENT = "companion"
EPOCH = UUID(int=7)
BEGAN = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)


def measured(ticks: int = TICKS) -> dict[str, float]:
    """Return CPU µs of a tick that speaks, and of one that only draws anew."""
    known = _Known()
    known.tell(
        MindStarted(
            settings=settings_for("p", executive=PROACTIVE),
            digests=CodeDigests(version="bench", embedder="none"),
        ),
        SHARED_AGENT,
    )
    known.tell(SessionStarted(session_id="s", title="A quiet hour"))
    known.hear("Good evening.")
    speaks = _each(known, ticks, is_spoken=True)
    known.at = known.due - timedelta(seconds=1)
    known.hear("Well.")
    waits = _each(known, ticks, is_spoken=False)
    return {
        "speaks_p50_us": round(statistics.median(speaks), 1),
        "speaks_p95_us": round(statistics.quantiles(speaks, n=20)[-1], 1),
        "waits_p50_us": round(statistics.median(waits), 1),
        "waits_p95_us": round(statistics.quantiles(waits, n=20)[-1], 1),
    }


def _each(known: "_Known", ticks: int, *, is_spoken: bool) -> Sequence[float]:
    """Return CPU µs of each of many ticks, all from the same state."""
    spent = []
    for _ in range(ticks):
        begun = process_time_ns()
        turn = known.tick()
        spent.append((process_time_ns() - begun) / 1e3)
        said = [
            each for each in turn.outputs if isinstance(each.message, DeliveryAsked)
        ]
        assert bool(said) is is_spoken, "the tick is not the one that is meant"
    return spent


class _Known:
    """A partition with one agent, whose state moves by what it is told alone."""

    def __init__(self) -> None:
        self._state = PartitionState()
        self._sequence = 0
        self._partition = partition_of(AGENT)
        self.at = BEGAN

    @property
    def due(self) -> datetime:
        """When the agent's next timer is due."""
        return self._state.agents[AGENT].timers[0].due

    def tell(self, message: InputMessage, agent: str = AGENT) -> None:
        """Take an input of our own."""
        self._state = self._answer(self._written(message, agent)).state

    def hear(self, text: str) -> None:
        """Take a person's words."""
        subject = input_subject(self._partition, AGENT, "sensor", "user.message")
        headers = {"ce-id": text, "ce-type": "echoic.sensed"}
        body = b'{"text": "%s", "person": "ada"}' % text.encode()
        self._state = self._answer(Wire(subject, headers, body)).state

    def tick(self) -> turns.Turn:
        """Answer the tick of the next timer, and leave the state as it is."""
        due = self.due
        self.at = max(self.at, due)
        return self._answer(self._written(ClockTicked(due_at=due), AGENT))

    def _written(self, message: InputMessage, agent: str) -> Wire:
        id_ = str(self._sequence)
        return write_input(
            message, agent=agent, partition=self._partition, id_=id_, source="/bench"
        )

    def _answer(self, wire: Wire) -> turns.Turn:
        self._sequence += 1
        at = nanoseconds(self.at)
        record = Record(wire.subject, wire.headers, wire.body, self._sequence, at)
        return turns.answer(self._state, read_input(record), Aids(vector=None), EPOCH)


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.proactive")
    parser.add_argument("--ticks", type=int, default=TICKS)
    print(json.dumps(measured(parser.parse_args().ticks)))


if __name__ == "__main__":
    main()
