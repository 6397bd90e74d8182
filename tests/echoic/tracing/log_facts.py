"""What a log says of each decision, read without any code of tracing: what a trace is held
against."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from schemas.codec.decode import read_input, read_output
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import (
    FeedbackApplied,
    FeedbackRefused,
    LifecycleChanged,
    OutcomeObserved,
)
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    ModelAnswered,
    ModelFailed,
)
from streams.groups import Group

_CALLS = ModelAnswered | ModelFailed
_RESULTS = _CALLS | Delivered | DeliveryFailed
_LEARNT = FeedbackApplied | FeedbackRefused | LifecycleChanged


@dataclass(frozen=True, slots=True)
class Ask:
    """An ask of a decision, in the log."""

    message: ModelAsked | DeliveryAsked
    written_ns: int
    """The broker's time of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an ask that its decision waited for."""

    ask: Ask
    result: _RESULTS
    arrived_ns: int
    """The broker's time of it."""


@dataclass(slots=True, kw_only=True)
class Facts:
    """One decision."""

    id: str
    agent: str
    decided: Decided
    arrived_ns: int
    """The broker's time of its event."""
    written_ns: int
    """The broker's time of the decision."""
    outcomes: int
    """Outcomes of earlier decisions that its event showed."""
    answers: list[Answer] = field(default_factory=list)
    end: Completed | Dropped | None = None
    ended_ns: tuple[int, int] | None = None
    """The broker's times of the later input that ended it, and of the end."""
    open: dict[str, Ask] = field(default_factory=dict)
    """The asks that it waits for."""
    is_over: bool = False
    """Whether it waits for nothing more: what comes then is no part of its trace."""

    @property
    def tags(self) -> dict[str, str]:
        """What it is to be found by, as its end has it."""
        path, outcome, reason = self.decided.path, "spoke", "none"
        if self.decided.silence is not None:
            outcome, reason = "silent", self.decided.silence
        elif isinstance(self.end, Completed):
            path = self.end.path
        elif self.end is not None:
            outcome, reason = "dropped", self.end.reason
        told = [
            it.result
            for it in self.answers
            if isinstance(it.result, Delivered | DeliveryFailed)
        ]
        failed = [each.reason for each in told if isinstance(each, DeliveryFailed)]
        if failed and len(failed) == len(told) and "unknown" not in failed:
            outcome, reason = "undelivered", failed[-1]
        return {
            "echoic.agent.id": self.agent,
            "echoic.heuristic.id": self.decided.matched_heuristic_id or "none",
            "echoic.decision.path": path,
            "echoic.decision.outcome": outcome,
            "echoic.decision.reason": reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """Feedback, with what it taught."""

    id: str
    decision_id: str | None
    arrived_ns: int
    learnt: int
    """Messages that say so."""


@dataclass(slots=True)
class LogFacts:
    """All decisions and votes of some agents."""

    decisions: dict[str, Facts] = field(default_factory=dict)
    votes: list[Vote] = field(default_factory=list)
    unanswered: set[str] = field(default_factory=set)
    """The asks that have no result, whether or not a decision waits for it."""
    _asked_by: dict[str, str] = field(default_factory=dict)

    def take(self, group: Group) -> None:
        """Add what a group says; those of an agent come in their order."""
        entry, outputs = read_input(group.input), [*map(read_output, group.outputs)]
        touched = [self._result(entry)] if isinstance(entry.message, _RESULTS) else []
        if isinstance(entry.message, FeedbackGiven):
            self.votes.append(_vote(entry, entry.message, outputs))
        for output in outputs:
            said = output.message
            if isinstance(said, Decided):
                self.decisions[output.id] = _facts(entry, output, said, outputs)
                touched.append(output.id)
            elif isinstance(said, Completed | Dropped):
                touched.append(self._end(entry, output, said))
            elif isinstance(said, ModelAsked | DeliveryAsked):
                self._ask(output, said)
        for decided in self._known(touched):
            is_final = decided.decided.final or decided.end is not None
            decided.is_over = decided.is_over or (is_final and not decided.open)

    def _known(self, ids: list[str]) -> Iterator[Facts]:
        return (self.decisions[id_] for id_ in ids if id_ in self.decisions)

    def _result(self, entry: Input) -> str:
        result = entry.message
        assert isinstance(result, _RESULTS)
        self.unanswered.discard(result.ask_id)
        decision_id = self._asked_by.get(result.ask_id, "")
        for decided in self._known([decision_id]):
            ask = decided.open.pop(result.ask_id, None)
            if ask is not None:
                decided.answers.append(Answer(ask, result, entry.record.time_ns))
        return decision_id

    def _end(self, entry: Input, output: Output, said: Completed | Dropped) -> str:
        for decided in self._known([said.decision_id]):
            decided.end = said
            if entry.record.time_ns > decided.arrived_ns:
                decided.ended_ns = entry.record.time_ns, output.record.time_ns
            if isinstance(said, Dropped):
                decided.open.clear()
        return said.decision_id

    def _ask(self, output: Output, said: ModelAsked | DeliveryAsked) -> None:
        self.unanswered.add(output.id)
        for decided in self._known([said.decision_id]):
            if not decided.is_over:
                decided.open[output.id] = Ask(said, output.record.time_ns)
                self._asked_by[output.id] = said.decision_id


def _facts(entry: Input, output: Output, said: Decided, outputs: list[Output]) -> Facts:
    return Facts(
        id=output.id,
        agent=output.agent,
        decided=said,
        arrived_ns=entry.record.time_ns,
        written_ns=output.record.time_ns,
        outcomes=sum(isinstance(each.message, OutcomeObserved) for each in outputs),
    )


def _vote(entry: Input, given: FeedbackGiven, outputs: list[Output]) -> Vote:
    return Vote(
        id=entry.id,
        decision_id=given.decision_id,
        arrived_ns=entry.record.time_ns,
        learnt=sum(isinstance(each.message, _LEARNT) for each in outputs),
    )
