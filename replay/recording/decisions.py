"""Decisions as a log holds them: each with what led to it, and what came of it.

Pure, over whole groups in logical order, be they a recording's or those of a growing log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from msgspec import structs

from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked
from schemas.messages.decisions import (
    Candidate,
    Completed,
    Decided,
    Dropped,
    Held,
    HeuristicFired,
)
from schemas.messages.results import ModelAnswered, Recalled, RecallFailed
from schemas.messages.sensing import Sensed
from schemas.values.exact_math import total
from schemas.values.reasons import Drop, Path, Silence

_FOR_ITSELF = ("answer", "talker", "executor", "single", "autonomous")
"""The purposes of asks whose answer is the decision's own."""

_OPEN_LIMIT = 10_000
"""Decisions that may wait for their end; the oldest is dropped first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """One decision with all that the log says of it."""

    id: str
    agent: str
    sequence: int
    """The sequence of the input in whose group it was made: its event."""
    at: datetime
    """The agent's time."""
    arrived_ns: int
    """The broker's time of that input, in nanoseconds since 1970."""
    event: Sensed | None
    """None if it was decided on a due timer."""
    decided: Decided
    asks: Mapping[str, ModelAsked] = field(default_factory=dict)
    """What models were asked for its sake, by the ask's id."""
    answers: tuple[ModelAnswered, ...] = ()
    """What they sent, whatever was made of it."""
    recall: RecallAsked | None = None
    """What the memory was asked before, and by which ask."""
    recall_id: str | None = None
    recalled: Recalled | RecallFailed | None = None
    """What that answered."""
    deliveries: tuple[str, ...] = ()
    """The asks to deliver what it says."""
    undelivered: str | None = None
    """Why nobody was told, if each delivery failed and the log was read so far."""
    fires: Mapping[str, HeuristicFired] = field(default_factory=dict)
    """The fires of heuristics that spoke, or kept it silent, by the fire's id."""
    ending: Completed | Dropped | None = None
    asks_first: str | None = None
    """What a person is asked before it does anything, until that has ended."""
    answered_ns: int
    """The broker's time of the last message on it."""

    @property
    def session(self) -> str:
        """The id of its session."""
        return self.decided.session_id or ""

    @property
    def text(self) -> str:
        """The event's text; if a timer was the occasion, what kind it was."""
        if self.decided.timer is not None:
            return f"({self.decided.type})"
        return self.event.text if self.event else ""

    @property
    def ask(self) -> ModelAsked | None:
        """The last request for its answer; other purposes are no part of that."""
        own = [each for each in self.asks.values() if each.purpose in _FOR_ITSELF]
        return own[-1] if own else None

    @property
    def awaited(self) -> ModelAsked | None:
        """The last request for its answer, made or to be made once the memory answers."""
        return self.ask or (self.recall.then if self.recall is not None else None)

    @property
    def shown_fire(self) -> str | None:
        """The fire of the heuristic that the person saw."""
        shown = [id_ for id_, each in self.fires.items() if each.mode == "shown"]
        return shown[-1] if shown else None

    @property
    def is_gated(self) -> bool:
        """Whether no strategy was asked: a gate closed, a person is told what became of
        their words, a timer was due, or a character's layer decided."""
        if self.decided.layer is not None:
            return True
        return self.decided.path in ("none", "acknowledged", "proactive")

    @property
    def is_final(self) -> bool:
        """Whether the answer is final."""
        return self.decided.final or self.ending is not None

    @property
    def said(self) -> str | None:
        """The words that were said; None for silence."""
        if isinstance(self.ending, Completed):
            return self.ending.text
        if self.decided.final and self.decided.silence is None:
            return self.decided.text
        return None

    @property
    def silence(self) -> Silence | Drop | None:
        """The reason of a silence, from the closed lists."""
        if isinstance(self.ending, Dropped):
            return self.ending.reason
        return self.decided.silence

    @property
    def path(self) -> Path:
        """The path by which the final answer came about."""
        if isinstance(self.ending, Completed):
            return self.ending.path
        return "fallback" if isinstance(self.ending, Dropped) else self.decided.path

    @property
    def winner(self) -> str | None:
        """In a race of two arms, the one whose words were said."""
        return self.ending.winner if isinstance(self.ending, Completed) else None

    def is_same_arm(self, other: "DecisionRecord | None") -> bool:
        """Tell whether another decision did the same, as far as a person could tell.

        The winner belongs to it, since a race is one arm with two possible endings.
        """
        if other is None:
            return False
        theirs = other.decided.arm, other.winner
        return (self.decided.arm, self.winner) == theirs

    @property
    def answered(self) -> Candidate | None:
        """The candidate that answered, in a race the winner."""
        arm = self.winner or self.decided.arm
        return next((each for each in self.decided.candidates if each.arm == arm), None)

    @property
    def answer(self) -> Decided | Completed:
        """The message that holds the words: a late answer's, or the decision's own."""
        return self.ending if isinstance(self.ending, Completed) else self.decided

    @property
    def heuristic_id(self) -> str | None:
        """The heuristic that answered."""
        return self.answer.matched_heuristic_id if self.path == "heuristic" else None

    @property
    def latency_ms(self) -> float:
        """Milliseconds from the input to the last message on it, by the broker's clock."""
        # Clamped, as a broker whose clock is set back would make it negative.
        return max(0, self.answered_ns - self.arrived_ns) / 1e6

    @property
    def tokens(self) -> int:
        """How many tokens models read and wrote for it."""
        return sum(each.tokens for each in self.answers)

    @property
    def cost_usd(self) -> float:
        """What models cost for it."""
        return total(each.cost_usd or 0.0 for each in self.answers)

    def brief(self) -> "DecisionRecord":
        """Return it without what is large: the event, candidates, gates and prompts."""
        asks = {
            id_: structs.replace(ask, system="", prompt="")
            for id_, ask in self.asks.items()
        }
        decided = structs.replace(self.decided, candidates=(), gates=())
        return replace(self, event=None, decided=decided, asks=asks)


class DecisionRecords:
    """Folds groups into the records of their decisions."""

    def __init__(self, *, keeps_final: bool = False) -> None:
        """Start empty; a record is forgotten once it is final, unless `keeps_final`."""
        self._records: dict[str, DecisionRecord] = {}
        self._asked: dict[str, str] = {}
        """The decision of each ask, by the ask's id."""
        self._keeps_final = keeps_final

    def all(self) -> tuple[DecisionRecord, ...]:
        """Return the records, in order of their decisions, as they now stand."""
        return tuple(self._records.values())

    def take(self, input_: Input, outputs: Sequence[Output]) -> list[DecisionRecord]:
        """Return the records that this group opened or ended, as they now stand."""
        if isinstance(input_.message, ModelAnswered):
            self._answered(input_.message)
        elif isinstance(input_.message, Recalled | RecallFailed):
            self._recalled(input_.message)
        touched: dict[str, None] = {}
        for output in outputs:
            record = self._after(input_, output)
            if record is None:
                continue
            self._records[record.id] = record
            # Other purposes, such as reflection, are no part of the answer.
            if getattr(output.message, "purpose", "answer") == "answer":
                touched[record.id] = None
        found = [self._records[id_] for id_ in touched]
        if not self._keeps_final:
            # Only after the whole group: its fire and its ask follow the decision.
            self._forget(found)
        return found

    def _after(self, input_: Input, output: Output) -> DecisionRecord | None:
        """Return the record that an output concerns, with it; None if it concerns none."""
        message = output.message
        if isinstance(message, Decided):
            return _opened(input_, output, message)
        known = self._records.get(getattr(message, "decision_id", None) or "")
        if known is None:
            return None
        match message:
            case Completed() | Dropped():
                return replace(
                    known, ending=message, answered_ns=_time_ns(input_, output)
                )
            case Held(question=str() as question):
                return replace(known, asks_first=question)
            case ModelAsked():
                self._asked[output.id] = known.id
                return replace(known, asks={**known.asks, output.id: message})
            case RecallAsked():
                self._asked[output.id] = known.id
                return replace(known, recall=message, recall_id=output.id)
            case DeliveryAsked():
                return replace(known, deliveries=(*known.deliveries, output.id))
            case HeuristicFired(mode="shown" | "kept"):
                return replace(known, fires={**known.fires, output.id: message})
            case _:
                return None

    def _answered(self, answer: ModelAnswered) -> None:
        known = self._records.get(self._asked.get(answer.ask_id, ""))
        if known is not None:
            answers = (*known.answers, answer)
            self._records[known.id] = replace(known, answers=answers)

    def _recalled(self, result: Recalled | RecallFailed) -> None:
        known = self._records.get(self._asked.pop(result.ask_id, ""))
        if known is not None:
            self._records[known.id] = replace(known, recalled=result)

    def _forget(self, records: Sequence[DecisionRecord]) -> None:
        done = [each for each in records if each.is_final]
        # A dict keeps the order of insertion, so the first records are the oldest.
        done += list(self._records.values())[: max(0, len(self._records) - _OPEN_LIMIT)]
        for record in done:
            self._records.pop(record.id, None)
            for ask_id in (*record.asks, record.recall_id or ""):
                self._asked.pop(ask_id, None)


def _opened(input_: Input, output: Output, decided: Decided) -> DecisionRecord:
    # A timer may be due with an event that it has nothing to do with.
    event = input_.message if decided.timer is None else None
    if isinstance(event, Sensed) and decided.claimed is not None:
        # As the mind read it: the sensor may not name whom it did.
        event = structs.replace(event, person=decided.person)
    return DecisionRecord(
        id=output.id,
        agent=output.agent,
        sequence=input_.sequence,
        at=output.at,
        arrived_ns=input_.record.time_ns,
        event=event if isinstance(event, Sensed) else None,
        decided=decided,
        answered_ns=_time_ns(input_, output),
    )


def _time_ns(input_: Input, output: Output) -> int:
    """Return the broker's time of an output; its input's if it was never stored."""
    return output.record.time_ns or input_.record.time_ns
