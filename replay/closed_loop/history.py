"""The history of a recorded run, gathered before another run is made over its inputs.

For each decision: the arm and the winner of a race; for each ask: its decision, and what the
model answered. `carry_over` compares two histories.
"""

from collections import defaultdict
from contextlib import aclosing
from dataclasses import dataclass, replace

from replay.cassette import Cassette, Recorded, Spread, Take
from replay.recording import views
from replay.recording.source import Recording
from replay.recording.views import ResultView
from schemas.codec.decode import read_output
from schemas.messages.asks import ModelAsked
from schemas.values.record import Record
from streams.groups import Group

MILLISECOND_NS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChoice:
    """What a decision chose."""

    decision_id: str
    sequence: int
    """The sequence of its input."""
    session: str
    arm: str
    winner: str | None = None
    """The arm that won, where the arm is a race."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery that a decision asked for."""

    decision_id: str
    ordinal: int
    """Its place among the deliveries of the decision, from 0."""


class History:
    """What one run did, indexed by everything by which later inputs refer to it."""

    def __init__(self) -> None:
        """Start empty."""
        self.deliveries: dict[str, Delivery] = {}
        """By the ask's id."""
        self.asks: dict[str, ModelAsked] = {}
        """What was asked of models, by the ask's id."""
        self._decisions: dict[str, RecordedChoice] = {}
        self._by_sequence: dict[int, str] = {}
        self._by_event: dict[tuple[str, str], str] = {}
        self._said: dict[str, list[str]] = defaultdict(list)
        """The ids of each decision's delivery asks, in order."""

    def decision(self, decision_id: str) -> RecordedChoice | None:
        """Return a decision by its id."""
        return self._decisions.get(decision_id)

    def at(self, sequence: int) -> RecordedChoice | None:
        """Return the decision on the input at a sequence."""
        return self._decisions.get(self._by_sequence.get(sequence, ""))

    def on(self, source: str, event_id: str) -> RecordedChoice | None:
        """Return the decision on a sensor's event."""
        return self._decisions.get(self._by_event.get((source, event_id), ""))

    def chose(self, chosen: RecordedChoice, source: str, event_id: str) -> None:
        """Record a decision."""
        self._decisions[chosen.decision_id] = chosen
        self._by_sequence[chosen.sequence] = chosen.decision_id
        # The first decision of an event is the one that a report refers to.
        self._by_event.setdefault((source, event_id), chosen.decision_id)

    def won(self, decision_id: str, winner: str | None) -> None:
        """Record which arm won a race."""
        chosen = self._decisions.get(decision_id)
        if chosen is not None and winner is not None:
            self._decisions[decision_id] = replace(chosen, winner=winner)

    def had_said(self, ask_id: str, decision_id: str) -> None:
        """Record a delivery ask of a decision."""
        said = self._said[decision_id]
        self.deliveries[ask_id] = Delivery(decision_id, len(said))
        said.append(ask_id)

    def ask_of(self, decision_id: str, ordinal: int) -> str | None:
        """Return the id of a decision's delivery ask by its place, None if there is none."""
        said = self._said.get(decision_id, [])
        return said[ordinal] if ordinal < len(said) else None


async def history_of(recording: Recording, since: int) -> tuple[History, Cassette]:
    """Return what was done from the input `since` on, and what models answered to it.

    Raises:
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
    """
    gathering = Gathering(recording.agent, since)
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            gathering.take(group)
    return gathering.history, gathering.cassette()


class Gathering:
    """Builds a history, group by group."""

    def __init__(self, agent: str, since: int) -> None:
        """Gather what an agent did from the input `since` on."""
        self._agent = agent
        self._since = since
        self.history = History()
        self._requests: dict[str, Recorded] = {}
        """By the ask's id, in the order in which they were made."""
        self._asked_ns: dict[str, int] = {}

    def cassette(self) -> Cassette:
        """Return the requests so far."""
        return Cassette(tuple(self._requests.values()))

    def take(self, group: Group) -> None:
        """Add one group, if it is the agent's."""
        _, _, _, agent, kind, _ = group.input.subject.split(".", 5)
        if agent != self._agent:
            return
        if kind == "result":
            self._result(group.input)
        for record in group.outputs:
            match views.token_of(record):
                case "decided":
                    self._decided(group.input, record)
                case "completed":
                    completed = views.completed(record)
                    self.history.won(completed.decision_id, completed.winner)
                case "model_asked":
                    self._asked(group.input, record)
                case "delivery_asked" if self._is_told(group.input):
                    decision_id = views.delivery(record).decision_id
                    self.history.had_said(record.headers["ce-id"], decision_id)
                case _:
                    pass

    def _is_told(self, input_: Record) -> bool:
        return input_.sequence >= self._since

    def _decided(self, input_: Record, record: Record) -> None:
        decided = views.decided(record)
        chosen = RecordedChoice(
            decision_id=record.headers["ce-id"],
            sequence=input_.sequence,
            session=decided.session_id or "",
            arm=decided.arm,
        )
        if self._is_told(input_):
            self.history.chose(chosen, decided.source, decided.event_id)

    def _asked(self, input_: Record, record: Record) -> None:
        ask_id, asked = record.headers["ce-id"], read_output(record).message
        assert isinstance(asked, ModelAsked)
        if not self._is_told(input_):
            return
        chosen = self.history.decision(asked.decision_id)
        session = chosen.session if chosen else ""
        self.history.asks[ask_id] = asked
        self._requests[ask_id] = Recorded(session, asked, None)
        self._asked_ns[ask_id] = input_.time_ns

    def _result(self, input_: Record) -> None:
        result = views.result(input_)
        request = self._requests.get(result.ask_id) if result else None
        # Of several results of one ask the first counts.
        if result is None or request is None or request.take is not None:
            return
        # By the broker's clock on both ends: the time that the agent waited, with queueing.
        waited_ns = input_.time_ns - self._asked_ns[result.ask_id]
        take = _take(request.asked, result, waited_ns)
        self._requests[result.ask_id] = replace(request, take=take)


def _take(asked: ModelAsked, result: ResultView, waited_ns: int) -> Take:
    tokens = [each for each in (result.input_tokens, result.output_tokens) if each]
    cost = result.cost_usd
    return Take(
        source="recorded",
        text=result.text,
        failure=result.reason,
        detail=result.detail,
        model=result.model or asked.model,
        latency_ms=Spread.exactly(waited_ns / MILLISECOND_NS),
        cost_usd=None if cost is None else Spread.exactly(cost),
        tokens=sum(tokens) if tokens else None,
    )
