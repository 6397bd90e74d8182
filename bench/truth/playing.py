"""A real game of Crafter, heard and answered by the mind itself, without broker or clock.

Time is the game's, ids derive from the seed, and what is said arrives at once: the same
seed and settings play the same session to the byte. It comes back as a session file.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson

from echoic import packs
from echoic.embedders import embedder
from handlers import turns
from handlers.effects.delivering import spoken
from handlers.turns import Turn
from packs.survival.sensor.playing import Plan, play
from schemas import checkpoint
from schemas.aids import Aids
from schemas.asks import DeliveryAsked
from schemas.catalogue import InputMessage
from schemas.controls import MindStarted, PackLoaded, SessionEnded, SessionStarted
from schemas.packs import CompiledPack, to_blob
from schemas.reading import read_input
from schemas.record import Record, Wire, nanoseconds
from schemas.results import Delivered
from schemas.settings import CodeDigests, MatchLimits, MindSettings
from schemas.state import PartitionState
from schemas.subjects import SHARED_AGENT, input_subject, partition_of
from schemas.vectors import Embedder
from schemas.writing import write_input
from streams.session_file import SessionFile, SessionHeader, SessionTrailer

AGENT = "companion"
BASE = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)
SURVIVAL = Path(__file__).parents[2] / "packs" / "survival"


@dataclass(frozen=True, slots=True)
class Game:
    """One session to play."""

    seed: int
    """Of the world, of the player's obedience, and of every draw of the mind."""
    steps: int
    settings: MindSettings

    @property
    def name(self) -> str:
        """What the session is called."""
        return f"crafter-{self.seed}"


def settings_for(game_seed: int, **changes: object) -> MindSettings:
    """The mind's settings in a game, without a model."""
    limits = embedder("wordllama").limits
    return MindSettings.model_validate(
        {
            "limits": MatchLimits(
                match=limits.match, duplicate=limits.duplicate, endorse=limits.endorse
            ),
            "embedder": "wordllama",
            "seed": f"truth-{game_seed}",
            **changes,
        }
    )


def played(game: Game) -> SessionFile:
    """Play a session from its first second to its last."""
    mind = _Mind(game)
    asyncio.run(mind.play())
    return mind.recorded()


class _Mind:
    """Stands where broker and worker would, and keeps every message."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._partition = partition_of(AGENT)
        self._epoch: UUID = uuid5(NAMESPACE_URL, game.name)
        self._embedder: Embedder = embedder("wordllama")
        self._pack: CompiledPack = packs.compile_with(
            packs.load(SURVIVAL), self._embedder
        )
        self._state = PartitionState()
        self._records: list[Record] = []
        self._spoken: list[bytes] = []
        self._seconds = 0.0
        self._begin()

    async def play(self) -> None:
        """Play and listen."""
        game = self._game
        plan = Plan(
            agent=AGENT, base=BASE, run=game.name, steps=game.steps, seed=game.seed
        )
        await play(plan, self._publish, self._hear)
        self._tell(SessionEnded())

    def recorded(self) -> SessionFile:
        """The session, with the state before it."""
        first = self._records[0].sequence
        blob = to_blob(self._pack.pack)
        return SessionFile(
            header=SessionHeader(
                epoch=self._epoch,
                agent=AGENT,
                session_id=self._game.name,
                partition=self._partition,
                first=first,
                last=self._state.position,
                checkpoint=orjson.loads(checkpoint.dump(self._start)),
            ),
            records=tuple(self._records),
            blobs={self._pack.digest: blob},
            trailer=SessionTrailer(
                messages=len(self._records), chain=self._state.agents[AGENT].chain
            ),
        )

    def _begin(self) -> None:
        digests = CodeDigests(version="truth", embedder=self._embedder.digest)
        started = MindStarted(settings=self._game.settings, digests=digests)
        self._sequence = 0
        self._tell(started, SHARED_AGENT)
        pack = self._pack.pack
        self._tell(
            PackLoaded(
                name=pack.name, pack_version=pack.version, digest=self._pack.digest
            ),
            SHARED_AGENT,
        )
        self._start = checkpoint.of_agent(self._state, AGENT)
        self._records.clear()
        self._tell(
            SessionStarted(
                session_id=self._game.name, title=self._game.name, clock="event"
            )
        )

    async def _publish(self, wire: Wire) -> None:
        _, agent, source, type_ = wire.subject.split(".")
        subject = input_subject(self._partition, agent, "sensor", f"{source}.{type_}")
        at = datetime.fromisoformat(wire.headers["ce-time"])
        self._seconds = max(self._seconds, (at - BASE).total_seconds())
        self._take(Wire(subject, wire.headers, wire.body))

    async def _hear(self, ids: Sequence[str]) -> Sequence[bytes]:
        heard, self._spoken = self._spoken, []
        return heard

    def _tell(self, message: InputMessage, agent: str = AGENT) -> None:
        id_ = str(uuid5(self._epoch, f"own-{self._sequence}"))
        self._take(
            write_input(
                message,
                agent=agent,
                partition=self._partition,
                id_=id_,
                source="/bench/truth",
            )
        )

    def _take(self, wire: Wire) -> None:
        record = self._stored(wire)
        taken = read_input(record)
        text = turns.needs(taken).text
        vector = None if text is None else self._embedder.embed([text])[0]
        aids = Aids(vector=vector, packs={self._pack.digest: self._pack})
        turn = turns.answer(self._state, taken, aids, self._epoch)
        self._state = turn.state
        for output in turn.outputs:
            self._stored(
                Wire(output.record.subject, output.record.headers, output.record.body)
            )
        self._deliver(turn)

    def _stored(self, wire: Wire) -> Record:
        self._sequence += 1
        at = nanoseconds(BASE + timedelta(seconds=self._seconds))
        record = Record(wire.subject, wire.headers, wire.body, self._sequence, at)
        self._records.append(record)
        return record

    def _deliver(self, turn: Turn) -> None:
        for output in turn.outputs:
            if isinstance(output.message, DeliveryAsked):
                asked = output.message
                self._spoken.append(spoken(asked))
                self._tell(Delivered(ask_id=output.id, channel=asked.channel))
