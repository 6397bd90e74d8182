"""Memory of one busy agent's state: `python -m bench.state [--events N]`.

Three sources tell one agent of the household what happens. What is counted is every
object that the state alone holds, so settings and packs are left out.
"""

import argparse
import gc
import json
import sys
from collections.abc import Iterator
from itertools import count
from types import FunctionType, ModuleType
from uuid import UUID

import orjson

from bench import world
from bench.worker import started
from echoic.embedders import embedder
from echoic.run.process import prepare
from handlers.mind import turn
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.messages.controls import PackLoaded
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.record import Record, Wire
from schemas.values.subjects import SHARED_AGENT
from schemas.values.vectors import Vector

EVENTS = 200_000
EVERY = 10_000
"""What is remembered of a source is at its most just before so many more of its events."""

AGENT = "ada"
SOURCES = world.SOURCES[:3]
HEURISTICS = 1_000
EPOCH = UUID(int=3)
BEGIN_NS = 1_767_600_000_000_000_000
STEP_NS = 700_000_000
# Reachable from instances through their classes, but not part of any one state.
_CODE = type | ModuleType | FunctionType


def measured(events: int = EVENTS) -> dict[str, float]:
    """Return the highest megabytes of the state, up to each round number of events."""
    life, most = _Life(), 0.0
    found, every = {}, min(EVERY, events)
    for number, wire in enumerate(_told(events), start=1):
        life.take(wire)
        # One event before the round number, when the bounded lists are fullest.
        if (number + 1) % every == 0:
            most = max(most, life.size_mb())
            found[f"until_{number + 1}"] = round(most, 1)
    return found


class _Life:
    """One agent with a pack in force."""

    def __init__(self) -> None:
        self._embedder = embedder("wordllama")
        pack = world.pack(HEURISTICS)
        texts = [each.condition for each in pack.heuristics]
        compiled: CompiledPack = compile_pack(pack, self._embedder.embed(texts))
        self._packs = {compiled.digest: compiled}
        self._state = PartitionState()
        # Five apart: an input and room for its outputs.
        self._sequences = count(1, 5)
        loaded = PackLoaded(
            name=pack.name, pack_version=pack.version, digest=compiled.digest
        )
        self._say(started())
        self._say(loaded)

    def take(self, wire: Wire) -> None:
        """Answer an event."""
        (vector,) = self._embedder.embed([orjson.loads(wire.body)["text"]])
        self._answer(wire, vector)

    def size_mb(self) -> float:
        """Return what the agent's state holds by itself."""
        shared: set[int] = set()
        # Counted first, so that objects that the agent shares are left out of its own size.
        _size(self._state.shared, shared)
        return _size(self._state.agents[AGENT], shared) / 2**20

    def _say(self, message: InputMessage) -> None:
        id_ = f"own-{next(self._sequences)}"
        self._answer(
            write_input(
                message, agent=SHARED_AGENT, partition=0, id_=id_, source="/bench"
            )
        )

    def _answer(self, wire: Wire, vector: Vector | None = None) -> None:
        sequence = next(self._sequences)
        at = BEGIN_NS + STEP_NS * sequence
        taken = read_input(Record(wire.subject, wire.headers, wire.body, sequence, at))
        aids = Aids(vector, self._packs)
        self._state = turn.answer(self._state, taken, aids, EPOCH).state


def _told(events: int) -> Iterator[Wire]:
    """Yield `events` events of the three sources, all sent to the agent."""
    told = 0
    for seed in count(1):
        for event in world.events(4_000, seed):
            if event.source in SOURCES:
                subject = f"ev.0.in.{AGENT}.sensor.{event.source}.{event.type}"
                yield Wire(subject, event.headers, event.body)
                told += 1
            if told == events:
                return


def _size(root: object, seen: set[int]) -> int:
    """Return the bytes of all objects under one that were not seen yet."""
    found, waiting = 0, [root]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, _CODE):
            seen.add(id(each))
            found += sys.getsizeof(each)
            waiting += gc.get_referents(each)
            # A struct that the collector does not know still refers to its fields.
            waiting += [
                getattr(each, n) for n in getattr(each, "__struct_fields__", ())
            ]
    return found


def main() -> None:
    """Measure and print."""
    prepare()
    parser = argparse.ArgumentParser(prog="python -m bench.state", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    print(json.dumps(measured(parser.parse_args().events), indent=2))


if __name__ == "__main__":
    main()
