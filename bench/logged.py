"""Decide a long recording again in open loop: `python -m bench.logged FILE`.

The recording is one session that the mind made, repeated with other times and ids. What is
measured runs in a process of its own.
"""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import overload
from uuid import UUID

import orjson
import psutil  # type: ignore[import-untyped]  # has no types
from msgspec import structs
from msgspec.structs import replace

from bench import world
from bench.worker import started
from echoic.embedders import embedder
from handlers.mind import turn as turns
from handlers.mind.needs import needs_of
from handlers.mind.turn import Turn
from replay.open_loop.asked import ask_open_loop
from replay.recording.source import from_file
from schemas.codec import checkpoint
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import PackLoaded
from schemas.messages.results import Delivered, ModelAnswered
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.packs.manifest import PackSalience, to_blob
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.ids import output_id
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Record, Wire
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT, partition_of
from streams.session_files.file import SessionFile, write_session
from streams.session_files.reading import SessionHeader, SessionTrailer

INPUTS = 100_000
# Enough kinds of events for caches to see variety, few enough to be decided in seconds.
EVENTS = 1_500
"""Events of the session that is repeated."""
HEURISTICS = 1_000
AGENT = "ada"
PARTITION = partition_of(AGENT)
EPOCH = UUID(int=11)
# 2026-01-05 08:00 UTC, the first moment of `bench.world`.
BEGIN_NS = 1_767_600_000_000_000_000
# Half a second between events.
STEP_NS = 500_000_000
STRATEGIES = (None, StrategySpec(parameters={"threshold": 0.6}))
WARM_PART = 20
"""After this part of the inputs memory has what it needs; then it must not grow."""

# Version 5 alone: ids that derive from causes. Ids of events are not of that version.
_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Found:
    """Rate and memory of an open-loop replay."""

    inputs_per_s: float
    """Per second of the process's CPU time: others use this machine, too."""
    decisions: int
    rss_mb: float
    rss_growth_mb: float
    """From the first few thousand decisions to the last."""


def measured(inputs: int = INPUTS) -> Found:
    """Make a recording of so many inputs, and decide it again in another process."""
    with TemporaryDirectory(prefix="echoic-bench-") as folder:
        path = Path(folder) / "long.echoic"
        write_session(path, _long_session(inputs))
        asked = [sys.executable, "-m", "bench.logged", str(path), str(inputs)]
        told = subprocess.run(asked, check=True, capture_output=True).stdout
    return Found(**orjson.loads(told))


async def replayed(path: Path, inputs: int) -> Found:
    """Decide every decision of a file of so many inputs again under two strategies."""
    process = psutil.Process()
    recording = from_file(path)
    begin, decisions, warm_rss = time.process_time(), 0, 0
    async for _ in ask_open_loop(recording, STRATEGIES):
        decisions += 1
        if decisions == inputs // WARM_PART:
            warm_rss = process.memory_info().rss
    seconds = time.process_time() - begin
    rss = process.memory_info().rss
    return Found(
        inputs_per_s=inputs / seconds,
        decisions=decisions,
        rss_mb=rss / 2**20,
        rss_growth_mb=(rss - warm_rss) / 2**20,
    )


class _Scenario:
    """A session made by the mind: each model answers at once, all is delivered."""

    def __init__(self) -> None:
        self._embedder = embedder("wordllama")
        pack = world.pack(HEURISTICS)
        # Everything matters, so that nearly every event is asked about.
        pack = pack.model_copy(update={"salience": PackSalience(threshold=0.0)})
        texts = [each.condition for each in pack.heuristics]
        self.pack: CompiledPack = compile_pack(pack, self._embedder.embed(texts))
        self.state = PartitionState()
        self.turns: list[Turn] = []
        self._sequence = 0
        self._steps = 0

    def tell(self, events: int = EVENTS) -> None:
        """Answer so many events."""
        message = started()
        model = ModelSettings(name="bench/model")
        settings = message.settings.model_copy(update={"model": model})
        self._say(replace(message, settings=settings), SHARED_AGENT)
        pack = self.pack.pack
        digest = self.pack.digest
        self._say(
            PackLoaded(name=pack.name, pack_version=pack.version, digest=digest),
            SHARED_AGENT,
        )
        for event in world.events(events):
            self._steps += 1
            subject = f"ev.{PARTITION}.in.{AGENT}.sensor.{event.source}.{event.type}"
            self._take(Wire(subject, event.headers, event.body))
            self._react()

    def _react(self) -> None:
        for output in self.turns[-1].outputs:
            match output.message:
                case ModelAsked() as asked:
                    said = ModelAnswered(
                        ask_id=output.id,
                        request_hash=asked.request_hash,
                        model=asked.model,
                        text="Have a look.",
                        latency_ms=400.0,
                    )
                    self._say(said, AGENT)
                    self._react()
                case DeliveryAsked(channel=channel):
                    self._say(Delivered(ask_id=output.id, channel=channel), AGENT)
                case _:
                    pass

    def _say(self, message: InputMessage, agent: str) -> None:
        self._take(
            write_input(
                message,
                agent=agent,
                partition=PARTITION,
                id_=f"own-{self._sequence}",
                source="/bench",
            )
        )

    def _take(self, wire: Wire) -> None:
        self._sequence += 1
        at = BEGIN_NS + STEP_NS * self._steps
        taken = read_input(
            Record(wire.subject, wire.headers, wire.body, self._sequence, at)
        )
        text = needs_of(taken).text
        vector = None if text is None else self._embedder.embed([text])[0]
        aids = Aids(vector=vector, packs={self.pack.digest: self.pack})
        turn = turns.answer(self.state, taken, aids, EPOCH)
        self.state = turn.state
        self.turns.append(turn)
        # The log has one sequence: a group stands right behind its input.
        self._sequence += len(turn.outputs)


def _long_session(inputs: int) -> SessionFile:
    scenario = _Scenario()
    scenario.tell()
    told = _ToldAgain(scenario.turns, inputs)
    return _session_file(scenario, told, told.last, "of no chain")


def session(events: int = EVENTS) -> SessionFile:
    """Return the session once, unrepeated: it replays identically."""
    scenario = _Scenario()
    scenario.tell(events)
    records = [
        structs.replace(
            each,
            sequence=turn.input.sequence + place,
            time_ns=turn.input.record.time_ns,
        )
        for turn in scenario.turns
        for place, each in enumerate(
            (turn.input.record, *(output.record for output in turn.outputs))
        )
    ]
    chain = scenario.state.agents[AGENT].chain
    return _session_file(scenario, records, scenario.turns[-1].input.sequence, chain)


def _session_file(
    scenario: "_Scenario", records: Sequence[Record], last: int, chain: str
) -> SessionFile:
    return SessionFile(
        header=SessionHeader(
            epoch=EPOCH,
            agent=AGENT,
            session_id="long",
            partition=PARTITION,
            first=1,
            last=last,
            checkpoint=orjson.loads(checkpoint.dump(PartitionState())),
        ),
        records=records,
        blobs={scenario.pack.digest: to_blob(scenario.pack.pack)},
        trailer=SessionTrailer(messages=len(records), chain=chain),
    )


class _ToldAgain(Sequence[Record]):
    """The records of a session, repeated with the times and ids of each round."""

    def __init__(self, turns_: Sequence[Turn], inputs: int) -> None:
        self._turns = turns_
        self._length = turns_[-1].input.sequence + len(turns_[-1].outputs)
        # One more step, so that the next round begins after the last event and not at it.
        self._took_ns = turns_[-1].input.record.time_ns - BEGIN_NS + STEP_NS
        self._inputs = inputs
        self._places = {
            output.id: (turn.input.sequence, index)
            for turn in turns_
            for index, output in enumerate(turn.outputs)
        }
        rounds, rest = divmod(inputs, len(turns_))
        of_rest = sum(1 + len(turn.outputs) for turn in turns_[:rest])
        self._count = rounds * self._length + of_rest
        # Without a rest the last input is that of the last whole round, before its outputs.
        last = turns_[rest - 1].input.sequence if rest else -len(turns_[-1].outputs)
        self.last = rounds * self._length + last

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Record]:
        for number in range(self._inputs):
            time_, place = divmod(number, len(self._turns))
            yield from self._again(self._turns[place], time_)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        raise NotImplementedError("the records are only told in order")

    def _again(self, turn: Turn, time_: int) -> Iterator[Record]:
        beyond = time_ * self._length
        taken = turn.input.record
        at = taken.time_ns + time_ * self._took_ns
        id_ = f"{turn.input.id}-{time_}"
        cause = taken.sequence + beyond
        headers = {**taken.headers, "ce-id": id_}
        yield Record(taken.subject, headers, self._other(taken, time_), cause, at)
        for index, output in enumerate(turn.outputs):
            record = output.record
            headers = {
                **record.headers,
                "ce-id": output_id(EPOCH, cause, index),
                "ce-causeid": id_,
                "ce-causeseq": str(cause),
            }
            body = self._other(record, time_)
            yield structs.replace(
                record,
                headers=headers,
                body=body,
                sequence=cause + 1 + index,
                time_ns=at,
            )

    def _other(self, record: Record, time_: int) -> bytes:
        """Return the body with the ids of that round."""
        return _ID.sub(lambda found: self._id(found[0], time_), record.body)

    def _id(self, id_: bytes, time_: int) -> bytes:
        place = self._places.get(id_.decode())
        # An id of something outside this session: it stays the same each time.
        if place is None:
            return id_
        sequence, index = place
        return output_id(EPOCH, sequence + time_ * self._length, index).encode()


if __name__ == "__main__":
    found = asyncio.run(replayed(Path(sys.argv[1]), int(sys.argv[2])))
    sys.stdout.buffer.write(orjson.dumps(found))
