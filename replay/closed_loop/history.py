"""The history of a recorded run, gathered before another run is made over its inputs.

For each decision: the arm and the winner of a race; for each ask: its decision, and what the
model answered. `carry_over` compares two histories.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from replay.cassette import Cassette, Recorded, Source, Spread, Take
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.recorded_groups import RecordedGroup, read_groups, records_in
from replay.recording.source import Recording
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.results import (
    ModelAnswered,
    ModelFailed,
    Recalled,
    RecallFailed,
    TurnFailed,
    TurnGranted,
)

MILLISECOND_NS = 1_000_000

_ASKS = frozenset(
    (ModelAsked.token, DeliveryAsked.token, RecallAsked.token, TurnAsked.token)
)


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A delivery that a decision asked for."""

    decision_id: str
    ordinal: int
    """Its place among the deliveries of the decision, from 0."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """A search of the memory, and its answer if one came."""

    asked: RecallAsked
    result: Recalled | RecallFailed | None = None
    waited_ns: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """A layer's wait for its turn, and what ended it."""

    decision_id: str
    result: TurnGranted | TurnFailed | None = None
    waited_ns: int = 0


class History:
    """What one run did, indexed by everything by which later inputs refer to it."""

    def __init__(self) -> None:
        """Start empty."""
        self.deliveries: dict[str, _Delivery] = {}
        """By the ask's id."""
        self.asks: dict[str, ModelAsked] = {}
        """What was asked of models, by the ask's id."""
        self.recalls: dict[str, Recollection] = {}
        """What was asked of the memory, by the ask's id."""
        self.turns: dict[str, Wait] = {}
        """The waits for turns, by the ask's id."""
        self._turn_of: dict[str, str] = {}
        """The id of that ask, by the decision's."""
        self._recall_of: dict[str, str] = {}
        """The id of that ask, by the decision's."""
        self._decisions: dict[str, DecisionRecord] = {}
        self._by_sequence: dict[int, str] = {}
        self._by_timer: dict[tuple[str, datetime | None], str] = {}
        self._by_event: dict[tuple[str, str], str] = {}
        self._said: dict[str, list[str]] = defaultdict(list)
        """The ids of each decision's delivery asks, in order."""

    def decision(self, decision_id: str) -> DecisionRecord | None:
        """Return a decision by its id."""
        return self._decisions.get(decision_id)

    def like(self, other: DecisionRecord) -> DecisionRecord | None:
        """Return the decision at the occasion of one of another run."""
        if other.decided.timer is not None:
            return self._decisions.get(self._by_timer.get(_timer_of(other), ""))
        return self._decisions.get(self._by_sequence.get(other.sequence, ""))

    def on(self, source: str, event_id: str) -> DecisionRecord | None:
        """Return the decision on a sensor's event."""
        return self._decisions.get(self._by_event.get((source, event_id), ""))

    def decided(self, record: DecisionRecord) -> None:
        """Record a decision, or what came of it."""
        self._decisions[record.id] = record
        if record.decided.timer is not None:
            self._by_timer[_timer_of(record)] = record.id
            return
        self._by_sequence[record.sequence] = record.id
        # The first decision of an event is the one that a report refers to.
        event = record.decided.source, record.decided.event_id
        self._by_event.setdefault(event, record.id)

    def had_said(self, ask_id: str, decision_id: str) -> None:
        """Record a delivery ask of a decision."""
        said = self._said[decision_id]
        self.deliveries[ask_id] = _Delivery(decision_id, len(said))
        said.append(ask_id)

    def recalled(self, ask_id: str, made: Recollection) -> None:
        """Record a search of the memory, or its answer."""
        self.recalls[ask_id] = made
        self._recall_of[made.asked.decision_id] = ask_id

    def recall_of(self, decision_id: str) -> Recollection | None:
        """Return the search of the memory for a decision, None if there was none."""
        return self.recalls.get(self._recall_of.get(decision_id, ""))

    def waited(self, ask_id: str, wait: Wait) -> None:
        """Record a wait for a turn, or its end."""
        self.turns[ask_id] = wait
        self._turn_of[wait.decision_id] = ask_id

    def turn_of(self, decision_id: str) -> Wait | None:
        """Return the wait for a decision's turn, None if there was none."""
        return self.turns.get(self._turn_of.get(decision_id, ""))

    def before(self, sequence: int) -> Iterator[DecisionRecord]:
        """Yield the decisions on inputs before one."""
        earlier = (each for each in self._decisions.values() if each.event is not None)
        return (each for each in earlier if each.sequence < sequence)

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
    reader, records = HistoryReader(since), DecisionRecords()
    await read_groups(
        recording, lambda group: reader.read(group, records_in(group, records))
    )
    return reader.history, reader.cassette()


class HistoryReader:
    """Builds a history, group by group."""

    def __init__(self, since: int) -> None:
        """Gather what was done from the input `since` on."""
        self._since = since
        self.history = History()
        self._requests: dict[str, Recorded] = {}
        """By the ask's id, in the order in which they were made."""
        self._asked_ns: dict[str, int] = {}

    def cassette(self) -> Cassette:
        """Return the requests so far."""
        return Cassette(tuple(self._requests.values()))

    def read(self, group: RecordedGroup, records: Sequence[DecisionRecord]) -> None:
        """Take one group, with the decisions that it opened or ended."""
        if group.is_result:
            self._result(group)
        for record in records:
            # A decision from before `since` may end after it. Both runs share it, so what
            # refers to it has to carry over unchanged.
            if record.sequence >= self._since:
                self.history.decided(record)
        if group.sequence < self._since:
            return
        for output in group.outputs(_ASKS):
            match output.message:
                case ModelAsked() as asked:
                    self._asked(output.id, asked, group.arrived_ns)
                case RecallAsked() as asked:
                    self.history.recalled(output.id, Recollection(asked))
                    self._asked_ns[output.id] = group.arrived_ns
                case TurnAsked(decision_id=decision_id):
                    self.history.waited(output.id, Wait(decision_id))
                    self._asked_ns[output.id] = group.arrived_ns
                case DeliveryAsked(decision_id=decision_id):
                    self.history.had_said(output.id, decision_id)
                case _:
                    pass

    def _asked(self, ask_id: str, asked: ModelAsked, asked_ns: int) -> None:
        record = self.history.decision(asked.decision_id)
        session = record.session if record else ""
        self.history.asks[ask_id] = asked
        self._requests[ask_id] = Recorded(session, asked, None)
        self._asked_ns[ask_id] = asked_ns

    def _result(self, group: RecordedGroup) -> None:
        result = group.input.message
        if isinstance(result, Recalled | RecallFailed):
            self._recalled(result, group.arrived_ns)
            return
        if isinstance(result, TurnGranted | TurnFailed):
            self._turn_came(result, group.arrived_ns)
        if not isinstance(result, ModelAnswered | ModelFailed):
            return
        request = self._requests.get(result.ask_id)
        # Of several results of one ask the first counts.
        if request is None or request.take is not None:
            return
        # By the broker's clock on both ends: the time that the agent waited, with queueing.
        waited_ns = group.arrived_ns - self._asked_ns[result.ask_id]
        take = take_of(request.asked, result, waited_ns)
        self._requests[result.ask_id] = replace(request, take=take)

    def _recalled(self, result: Recalled | RecallFailed, arrived_ns: int) -> None:
        known = self.history.recalls.get(result.ask_id)
        # Of several results of one ask the first counts.
        if known is None or known.result is not None:
            return
        waited_ns = arrived_ns - self._asked_ns[result.ask_id]
        made = replace(known, result=result, waited_ns=waited_ns)
        self.history.recalled(result.ask_id, made)

    def _turn_came(self, result: TurnGranted | TurnFailed, arrived_ns: int) -> None:
        known = self.history.turns.get(result.ask_id)
        if known is None or known.result is not None:
            return
        waited_ns = arrived_ns - self._asked_ns[result.ask_id]
        came = replace(known, result=result, waited_ns=waited_ns)
        self.history.waited(result.ask_id, came)


def _timer_of(record: DecisionRecord) -> tuple[str, datetime | None]:
    """Return the due timer that a decision was made on.

    The timer of a character's thoughts has one id, however often it is set: which of them it
    was, its time tells.
    """
    timer = record.decided.timer or ""
    return timer, record.at if record.decided.type == "think" else None


def take_of(
    asked: ModelAsked,
    result: ModelAnswered | ModelFailed,
    waited_ns: int,
    source: Source = "recorded",
) -> Take:
    """Return what came of asking, and of waiting so long."""
    latency = Spread.exactly(waited_ns / MILLISECOND_NS)
    if isinstance(result, ModelFailed):
        return Take(
            source=source,
            text=None,
            failure=result.reason,
            detail=result.detail,
            model=asked.model,
            latency_ms=latency,
        )
    tokens = [each for each in (result.input_tokens, result.output_tokens) if each]
    cost = result.cost_usd
    return Take(
        source=source,
        text=result.text,
        finish_reason=result.finish_reason,
        tool_calls=result.tool_calls,
        refusal=result.refusal,
        model=result.model,
        latency_ms=latency,
        cost_usd=None if cost is None else Spread.exactly(cost),
        tokens=sum(tokens) if tokens else None,
    )
