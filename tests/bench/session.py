"""A session of everything the mind can meet, made up from a seed, answered in memory."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal
from uuid import UUID

from bench import world
from echoic.embedders import embedder
from handlers.mind import turn as turns
from handlers.mind.needs import needs_of
from handlers.mind.turn import Turn
from schemas.codec.catalogue import InputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.envelope import Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import (
    GoalsSet,
    HeuristicEdited,
    HeuristicFrozen,
    HeuristicSeeded,
    MindStarted,
    PackLoaded,
    ProfileSet,
    SessionStarted,
    StrategySelected,
)
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import OutcomeObserved
from schemas.messages.results import Delivered, ModelAnswered, ModelFailed
from schemas.messages.sensing import EventRef, Sensed
from schemas.packs.compiled import CompiledPack, compile_pack
from schemas.ports.aids import Aids
from schemas.state.agent import PartitionState
from schemas.values.model_settings import ModelSettings
from schemas.values.record import Record, Wire
from schemas.values.settings import CodeDigests, MatchLimits
from schemas.values.vectors import Embedder
from tests import factories

AGENT = "ada"
PARTITION = 0
EPOCH = UUID(int=7)
BEGIN_NS = 1_767_600_000_000_000_000
STEP_NS = 700_000_000


class Session:
    """One agent's log as it grows; each input is answered at once."""

    def __init__(self, heuristics: int, seed: int) -> None:
        self._embedder: Embedder = embedder("wordllama")
        pack = world.pack(heuristics)
        vectors = self._embedder.embed([each.condition for each in pack.heuristics])
        self.pack: CompiledPack = compile_pack(pack, vectors)
        self._rng = Random(seed)
        self._sequence = 0
        self._steps = 0
        self.state = PartitionState()
        self.turns: list[Turn] = []

    def run(self, events: Sequence[world.Event]) -> None:
        """Start, then take events and whatever people and the world say in between."""
        for message in self._beginning():
            self.say(message, agent="_")
        for message in self._setting():
            self.say(message)
        for number, event in enumerate(events):
            if number == len(events) // 2:
                self.say(SessionStarted(session_id="second", clock="event"))
            if number % 29 == 0:
                self.say(self._strategy())
            self._hear(event)
            for message in self._reactions():
                self.say(message)

    def say(self, message: InputMessage, agent: str = AGENT) -> None:
        """Take one of our own inputs."""
        id_ = f"own-{self._sequence}"
        wire = write_input(
            message, agent=agent, partition=PARTITION, id_=id_, source="/test"
        )
        self._take(wire)

    def _hear(self, event: world.Event) -> None:
        subject = f"ev.{PARTITION}.in.{AGENT}.sensor.{event.source}.{event.type}"
        self._steps += 1
        self._take(Wire(subject, event.headers, event.body))
        if self._rng.random() < 0.03:
            self._take(Wire(subject, event.headers, event.body))

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
        self._sequence += len(turn.outputs)

    def _beginning(self) -> Iterator[InputMessage]:
        limits = self._embedder.limits
        settings = factories.settings(
            limits=MatchLimits(
                match=limits.match, duplicate=limits.duplicate, endorse=limits.endorse
            ),
            embedder=self._embedder.name,
            model=ModelSettings(name="test/model"),
            goals=("keep the house whole",),
        )
        digests = CodeDigests(version="golden", embedder="golden")
        yield MindStarted(settings=settings, digests=digests)
        pack = self.pack.pack
        yield PackLoaded(
            name=pack.name, pack_version=pack.version, digest=self.pack.digest
        )

    def _setting(self) -> Iterator[InputMessage]:
        yield GoalsSet(goals=("rest", "a dry cellar"))
        yield ProfileSet(biases={"confidence_threshold": -0.05})
        yield HeuristicSeeded(
            heuristic_id="taught",
            name="taught",
            domain=world.PACK,
            condition="the kettle is well and somebody hums",
            when='value > 500 or device = "kettle"',
            text="Enjoy the song.",
            confidence=0.75,
        )
        yield HeuristicEdited(heuristic_id="taught", text="Hum along.", keep=True)
        yield HeuristicFrozen(heuristic_id=self.pack.ids[3])
        yield HeuristicFrozen(heuristic_id="nobody's")
        yield HeuristicSeeded(
            heuristic_id="doubted",
            name="doubted",
            domain=world.PACK,
            condition="the postman wonders",
            text="Never mind.",
            confidence=0.3,
        )
        yield FeedbackGiven(heuristic_id="doubted", rating="negative")
        yield FeedbackGiven(heuristic_id="doubted", rating="scaled", value=0.4)

    def _strategy(self) -> StrategySelected:
        others = ("random", "always_llm", "silent")
        name = self._rng.choice((*others, *["heuristic_first"] * 9))
        threshold = self._rng.choice((0.5, 0.7, 0.8))
        is_first = name == "heuristic_first"
        return StrategySelected(
            strategy=name, parameters={"threshold": threshold} if is_first else {}
        )

    def _reactions(self) -> list[InputMessage]:
        """What follows the last answers: results, votes, reports."""
        said: list[InputMessage] = []
        for output in self.turns[-1].outputs:
            match output.message:
                case ModelAsked(request_hash=request_hash):
                    said.append(self._model_says(output.id, request_hash))
                case DeliveryAsked(channel=channel):
                    said.append(Delivered(ask_id=output.id, channel=channel))
                case Decided(path="heuristic"):
                    said.extend(self._judged(output))
                case _:
                    pass
        return said

    def _model_says(self, ask_id: str, request_hash: str) -> InputMessage:
        if self._rng.random() < 0.2:
            return ModelFailed(
                ask_id=ask_id, request_hash=request_hash, reason="timeout"
            )
        text = '{"response": "Look after it.", "predicted_success": 0.7}'
        return ModelAnswered(
            ask_id=ask_id, request_hash=request_hash, model="test/model", text=text
        )

    def _judged(self, output: Output) -> Iterator[InputMessage]:
        liked = self._rng.choice((True, False, None))
        if liked is not None:
            rating: Literal["positive", "negative"] = (
                "positive" if liked else "negative"
            )
            yield FeedbackGiven(decision_id=output.id, rating=rating)

    def report(self, number: int, fire: Output) -> None:
        """Tell how the advice of a decision turned out."""
        decided = fire.message
        assert isinstance(decided, Decided)
        about = EventRef(source=decided.source, event_id=decided.event_id)
        event = Sensed(
            source="user",
            type="outcome",
            text="it went well",
            in_reply_to=about,
            outcome="succeeded" if number % 2 else "failed",
        )
        subject = f"ev.{PARTITION}.in.{AGENT}.sensor.user.outcome"
        self._take(Wire(subject, {"ce-id": f"report-{number}"}, event.to_bytes()))

    def outcomes(self) -> list[OutcomeObserved]:
        """Every outcome so far."""
        return [
            output.message
            for turn in self.turns
            for output in turn.outputs
            if isinstance(output.message, OutcomeObserved)
        ]
