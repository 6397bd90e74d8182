"""An agent's scenario in a test: inputs go in, one after the other, and every turn is kept.

`Scenario` stands where the broker and the worker would: it numbers and times the records,
embeds texts, and takes each turn. After each it checks what must hold of every turn.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import orjson

from handlers.mind import turn as turns
from handlers.mind.needs import needs_of
from handlers.mind.turn import Turn
from schemas.codec.catalogue import ControlMessage, InputMessage, OutputMessage
from schemas.codec.decode import read_input
from schemas.codec.encode import write_input
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import ModelAsked
from schemas.messages.decisions import Decided
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.notes import ControlApplied, ControlRefused
from schemas.messages.results import ModelAnswered, ModelFailed
from schemas.packs.compiled import CompiledPack
from schemas.ports.aids import Aids, embedded
from schemas.state.agent import AgentState, PartitionState
from schemas.state.evidence import Belief, belief_key
from schemas.values import subjects
from schemas.values.record import Record, nanoseconds
from schemas.values.settings import MindSettings
from schemas.values.subjects import SHARED_AGENT
from schemas.values.vectors import Vector
from tests import factories, invariants

M = TypeVar("M", bound=OutputMessage)


class Scenario:
    """A partition with one agent of interest, from its first `MindStarted` on."""

    def __init__(
        self,
        *packs: CompiledPack,
        agent: str = factories.AGENT,
        state: PartitionState | None = None,
        **settings: Any,
    ) -> None:
        """Start a mind with `settings`, and load the packs for everybody."""
        self.agent = agent
        self.partition = subjects.partition_of(agent)
        self.at = factories.NOON
        self.state = state or PartitionState()
        self.turns: list[Turn] = []
        self.blobs = {pack.digest: pack for pack in packs}
        self.vectorless = False
        """Whether the embedder brings nothing."""
        self.may_fail = False
        """Whether the mind may raise: faults are injected."""
        self.is_exact = True
        """Whether any machine would compute the same vectors."""
        self._sequence = 0
        self._ids = 0
        if state is None:
            self.control(factories.mind_started(**settings), agent=SHARED_AGENT)
        for pack in packs:
            self.control(factories.pack_loaded(pack), agent=SHARED_AGENT)

    @property
    def mind(self) -> AgentState:
        """What is known of the agent."""
        return self.state.agents.get(self.agent, AgentState())

    @property
    def settings(self) -> MindSettings:
        """The settings in force."""
        settings = self.state.shared.settings
        assert settings is not None
        return settings

    def wait(self, seconds: float) -> "Scenario":
        """Let the broker's time pass."""
        self.at += timedelta(seconds=seconds)
        return self

    def sense(
        self,
        text: str,
        *,
        source: str = "game",
        type_: str = "vital",
        id_: str | None = None,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Turn:
        """An event of a sensor; `fields` are those of `Sensed`."""
        detail = f"{source}.{type_}"
        return self.take(
            subjects.input_subject(self.partition, self.agent, "sensor", detail),
            orjson.dumps({"text": text, **fields}),
            {"ce-id": id_ or self._fresh_id(), **(headers or {})},
        )

    def published(
        self, source: str, type_: str, body: Mapping[str, Any], id_: str | None = None
    ) -> Turn:
        """A vote or a control that a sensor with that right published."""
        detail = f"{source}.{type_}"
        return self.take(
            subjects.input_subject(self.partition, self.agent, "sensor", detail),
            orjson.dumps(body),
            {"ce-id": id_ or self._fresh_id()},
        )

    def decide(self, text: str, **fields: Any) -> Decided:
        """The decision on an event."""
        return one(self.sense(text, **fields), Decided)

    def control(self, message: ControlMessage, agent: str | None = None) -> Turn:
        """A control for the agent, or for another."""
        return self.tell(message, agent)

    def feedback(
        self,
        decision: Turn | str,
        rating: str = "positive",
        *,
        id_: str | None = None,
        **fields: Any,
    ) -> Turn:
        """A vote on a decision."""
        of = decision if isinstance(decision, str) else decision_id(decision)
        body = {"decision_id": of, "rating": rating, **fields}
        return self.tell(FeedbackGiven.from_fields(body), id_=id_)

    def answer_model(
        self,
        asked: Turn,
        text: str = "Well done.",
        *,
        tool_calls: str | None = None,
        **odds: float,
    ) -> Turn:
        """The model's answer to what a turn asked; with `odds` as it was told to answer."""
        ask = output(asked, ModelAsked)
        body = orjson.dumps({"response": text, **odds}).decode() if odds else text
        assert isinstance(ask.message, ModelAsked)
        return self.tell(
            ModelAnswered(
                ask_id=ask.id,
                request_hash=ask.message.request_hash,
                model=ask.message.model,
                text=body,
                tool_calls=tool_calls,
                finish_reason="tool_calls" if tool_calls else None,
            )
        )

    def fail_model(self, asked: Turn, reason: Any = "no_response") -> Turn:
        """The model's failure to answer what a turn asked."""
        ask = output(asked, ModelAsked)
        return self.tell(
            ModelFailed(ask_id=ask.id, request_hash="r", reason=reason, detail="why")
        )

    def tell(
        self,
        message: InputMessage,
        agent: str | None = None,
        *,
        id_: str | None = None,
        source: str = "/tests",
    ) -> Turn:
        """An input that our own program writes."""
        wire = write_input(
            message,
            agent=agent or self.agent,
            partition=self.partition,
            id_=id_ or self._fresh_id(),
            source=source,
        )
        return self.take(wire.subject, wire.body, wire.headers)

    def take(
        self, subject: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> Turn:
        """A record as the log would hold it, answered."""
        self._sequence += 1
        at = nanoseconds(self.at)
        record = Record(subject, dict(headers or {}), body, self._sequence, at)
        turn = self.answer(record)
        self._sequence += len(turn.outputs)
        self.state = turn.state
        self.turns.append(turn)
        return turn

    def answer(self, record: Record) -> Turn:
        """The turn that a record would be, checked but not taken."""
        taken = read_input(record)
        aids = self.aids_of(taken)
        turn = turns.answer(self.state, taken, aids, factories.EPOCH)
        invariants.check(
            self.state, turn, aids, factories.EPOCH, may_fail=self.may_fail
        )
        return turn

    def belief(self, heuristic_id: str, content_hash: str) -> Belief:
        """What the agent has learnt of a heuristic."""
        return self.mind.beliefs[belief_key(heuristic_id, content_hash)]

    def embed(self, text: str) -> Vector:
        """The vector of a text, by the tests' embedder."""
        return factories.embed(text)

    def outputs(self) -> Sequence[OutputMessage]:
        """Everything said so far."""
        return [each.message for turn in self.turns for each in turn.outputs]

    def aids_of(self, taken: Input) -> Aids:
        """What the shell brings for an input."""
        need = needs_of(taken, self.blobs.values())
        text, further = need.text, () if self.vectorless else need.further
        has_vector = text is not None and not self.vectorless
        vector = self.embed(text or "") if has_vector else None
        vectors = {embedded(each): self.embed(embedded(each)) for each in further}
        return Aids(
            vector=vector, packs=self.blobs, is_exact=self.is_exact, vectors=vectors
        )

    def _fresh_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"


def said(turn: Turn, type_: type[M]) -> list[M]:
    """The messages of one type in a turn's group."""
    return [each.message for each in turn.outputs if isinstance(each.message, type_)]


def one(turn: Turn, type_: type[M]) -> M:
    """The only message of its type in a turn's group."""
    (message,) = said(turn, type_)
    return message


def names(turn: Turn) -> list[str]:
    """The types of a turn's outputs, in order."""
    return [type(each.message).__name__ for each in turn.outputs]


def output(turn: Turn, type_: type[OutputMessage]) -> Output:
    """The only output of its type in a turn's group, with its id."""
    (found,) = (each for each in turn.outputs if isinstance(each.message, type_))
    return found


def decision_id(turn: Turn) -> str:
    """The id of a turn's decision."""
    return output(turn, Decided).id


def occurred(at: datetime) -> str:
    """A time as sensors write it."""
    return at.isoformat()


def applied(turn: Turn) -> str:
    """What is said of a control that was applied."""
    assert names(turn) == ["ControlApplied"]
    return one(turn, ControlApplied).detail


def refused(turn: Turn) -> str:
    """Why a control was refused."""
    assert names(turn) == ["ControlRefused"]
    message = one(turn, ControlRefused)
    assert message.detail
    return message.reason
