"""The mind in memory: without broker, clock or process.

The caller moves the time and appends inputs. Ids derive from a name, so the same inputs
make the same log, to the byte. The log can be saved as a session file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson
from msgspec.structs import replace

from echoic.embedders import embedder
from echoic.packs import load
from handlers.mind import turn as turns
from handlers.mind.needs import needs_of
from handlers.mind.turn import Turn
from schemas.codec import checkpoint
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.upcasts import as_before
from schemas.messages.controls import MindStarted, PackLoaded
from schemas.messages.notes import Quarantined
from schemas.packs.compiled import CompiledPack
from schemas.packs.manifest import Pack, from_blob, to_blob
from schemas.ports.aids import Aids, embedded
from schemas.state.agent import PartitionState
from schemas.values.record import Record, Wire, nanoseconds
from schemas.values.settings import CodeDigests, MatchLimits, MindSettings
from schemas.values.subjects import SHARED_AGENT, input_subject, partition_of
from schemas.values.vectors import Embedder, cosine
from streams.session_files.file import SessionFile
from streams.session_files.reading import SessionHeader, SessionTrailer

AGENT = "companion"
# Any fixed moment would do; fixed, so that the same inputs have the same times.
BASE = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Setting:
    """The configuration of an in-memory mind."""

    name: str
    """The name from which all ids derive."""
    program: str
    """The calling program's name, for the sources of inputs."""
    pack: Pack
    settings: MindSettings
    agent: str = AGENT
    began: datetime = BASE


def settings_for(seed: str, **changes: object) -> MindSettings:
    """Return settings with the embedder's limits, and nothing on that is not given."""
    given = {"limits": match_limits(), "embedder": "wordllama", "seed": seed, **changes}
    return MindSettings.model_validate(as_before(given))


def match_limits() -> MatchLimits:
    """Return the embedder's cosines from which texts count as similar."""
    limits = _embedder().limits
    return MatchLimits(
        match=limits.match, duplicate=limits.duplicate, endorse=limits.endorse
    )


class InMemoryMind:
    """Takes the place of broker and worker, and keeps every message."""

    def __init__(self, setting: Setting, answered: Callable[[Turn], None]) -> None:
        """Call `answered` with each turn; it may append further inputs."""
        self.seconds = 0.0
        """Seconds since the beginning."""
        self._setting = setting
        self._answered = answered
        self.agent = setting.agent
        self._partition = partition_of(setting.agent)
        self.epoch: UUID = uuid5(NAMESPACE_URL, setting.name)
        self.last_note = ""
        """The reason of the last quarantine; "" if there was none."""
        self._embedder = _embedder()
        # As it comes out of the log, to which a replay goes back: its keys are in order.
        pack = from_blob(to_blob(setting.pack))
        self._pack: CompiledPack = load.compile_with(pack, self._embedder)
        self._state = PartitionState()
        self._records: list[Record] = []
        self._sequence = 0
        self._begin()

    @property
    def state(self) -> PartitionState:
        """The partition's present state."""
        return self._state

    def publish(self, wire: Wire) -> None:
        """Append an event as if a sensor had published it, and answer it."""
        _, agent, source, type_ = wire.subject.split(".")
        subject = input_subject(self._partition, agent, "sensor", f"{source}.{type_}")
        at = datetime.fromisoformat(wire.headers["ce-time"])
        self.receive(Wire(subject, wire.headers, wire.body), at)

    def receive(self, wire: Wire, at: datetime) -> None:
        """Append an input as the log holds it, and answer it."""
        # As the broker's clock: it never runs backwards, even if events are out of order.
        self.seconds = max(self.seconds, (at - self._setting.began).total_seconds())
        self._take(wire)

    def tell(self, message: InputMessage, agent: str | None = None) -> None:
        """Append an input for the mind's agent, or for `agent`, and answer it."""
        id_ = str(uuid5(self.epoch, f"own-{self._sequence}"))
        self._take(
            write_input(
                message,
                agent=agent or self.agent,
                partition=self._partition,
                id_=id_,
                source=f"/memory/{self._setting.program}",
            )
        )

    def recorded(self) -> SessionFile:
        """Return the messages since the beginning as a session, with the state before."""
        return SessionFile(
            header=SessionHeader(
                epoch=self.epoch,
                agent=self.agent,
                session_id=self._setting.name,
                partition=self._partition,
                first=self._records[0].sequence,
                last=self._state.position,
                checkpoint=orjson.loads(checkpoint.dump(self._start)),
            ),
            records=tuple(self._records),
            blobs={self._pack.digest: to_blob(self._pack.pack)},
            trailer=SessionTrailer(
                messages=len(self._records), chain=self._state.agents[self.agent].chain
            ),
        )

    def _begin(self) -> None:
        digests = CodeDigests(
            version=self._setting.program, embedder=self._embedder.digest
        )
        started = MindStarted(settings=self._setting.settings, digests=digests)
        self.tell(started, SHARED_AGENT)
        pack = self._pack.pack
        self.tell(
            PackLoaded(
                name=pack.name, pack_version=pack.version, digest=self._pack.digest
            ),
            SHARED_AGENT,
        )
        self._start = checkpoint.of_agent(self._state, self.agent)
        # A session file begins with a checkpoint; the start is in it, and not among the
        # records.
        self._records.clear()

    def _take(self, wire: Wire) -> None:
        input_ = read_input(self._stored(wire))
        need = needs_of(input_, [self._pack])
        further = [embedded(text) for text in need.further]
        vectors = self._embedder.embed(further) if further else []
        aids = Aids(
            vector=None if need.text is None else self._embedder.embed([need.text])[0],
            packs={self._pack.digest: self._pack},
            vectors=dict(zip(further, vectors, strict=True)),
        )
        turn = turns.answer(self._state, input_, aids, self.epoch)
        self._state = turn.state
        outputs = []
        for output in turn.outputs:
            made = output.record
            stored = self._stored(Wire(made.subject, made.headers, made.body))
            outputs.append(replace(output, record=stored))
            if isinstance(output.message, Quarantined):
                self.last_note = f"{output.message.reason}: {output.message.detail}"
        # After the whole group is stored: it may append the next input from within.
        self._answered(replace(turn, outputs=tuple(outputs)))

    def _stored(self, wire: Wire) -> Record:
        self._sequence += 1
        at = nanoseconds(self._setting.began + timedelta(seconds=self.seconds))
        record = Record(wire.subject, wire.headers, wire.body, self._sequence, at)
        self._records.append(record)
        return record


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are to the embedder, -1 to 1."""
    return cosine(*_embedder().embed([one, other]))


@cache
def _embedder() -> Embedder:
    """Return one embedder for all minds: loading it takes longer than a short session."""
    return embedder("wordllama")
