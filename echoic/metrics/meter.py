"""What a worker has answered, counted: called by the worker, so it never waits.

It is one of the worker's listeners, beside the tracer, and sees the same: each input with
its group and times, once the log holds them.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter

from echoic.metrics import catalogue
from echoic.metrics.catalogue import AGENT_DECISIONS, NONE, Metric
from echoic.metrics.series import Series
from handlers.worker.listening import Timed
from schemas.codec.envelope import Input
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.learning import (
    AdviceIgnored,
    FeedbackApplied,
    FeedbackRefused,
    OutcomeExpired,
    OutcomeObserved,
)
from schemas.messages.notes import Quarantined, TimerFailed
from schemas.messages.results import (
    Delivered,
    DeliveryFailed,
    DeliveryInterrupted,
    ModelAnswered,
    ModelFailed,
)
from schemas.packs.compiled import CompiledPack
from schemas.state.agent import PartitionState
from schemas.values import topics
from schemas.values.subjects import parse
from streams.errors import Fenced, LogFull, LogRefused, LogUnavailable

_OPEN_MAX = 10_000
"""Decisions whose end is awaited; of more, an end counts without path and time."""

_Packs = Callable[[], Mapping[str, CompiledPack]]
"""Returns the packs at hand, by digest."""

_KINDS: Mapping[type[Exception], str] = {
    Fenced: "fenced",
    LogUnavailable: "log_unavailable",
    LogFull: "log_full",
    LogRefused: "log_refused",
}


class _Untraced(Protocol):
    """Counts what it leaves out of traces."""

    thinned: int
    dropped: int
    dropped_silent: int


class Meter:
    """Counts what one worker answers."""

    def __init__(self, packs: _Packs = dict, agents: int = 0) -> None:
        """`agents` is how many agents may have series of their own."""
        self.registry = CollectorRegistry()
        self._series = {
            each: Series(each, self.registry)
            for each in catalogue.WORKER
            if each is not catalogue.AGENT_DECISIONS
        }
        self._by_agent = _AgentDecisions(self.registry, agents)
        self._packs = packs
        self._states: dict[int, PartitionState] = {}
        self._tracer: _Untraced | None = None
        self._untraced: dict[str, int] = {}
        """What was counted of it so far."""
        # By decision id, oldest first: its path, and when the broker received its event.
        self._open: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def observe(self, made: Sequence[Timed]) -> None:
        """Count turns that are in the log; the worker's listener for answered inputs."""
        for turn, times in made:
            entry = turn.input
            place = parse(entry.record.subject)
            kind = place.kind
            self._note(catalogue.INPUTS, 1, kind)
            if topics.of_input(place.agent, place.detail) is not None:
                self._note(catalogue.MAPPED_TOPICS, 1)
            self._result(entry)
            if kind == "sensor":
                self._note(
                    catalogue.QUEUE_DELAY,
                    _seconds(entry.record.time_ns, times.started_ns),
                )
            for output in turn.outputs:
                said = output.message
                if isinstance(said, Decided):
                    self._note(
                        catalogue.DECIDE,
                        _seconds(times.started_ns, times.decided_ns),
                        said.path,
                    )
                    self._begin(entry, output.id, said, times.committed_ns)
                elif isinstance(said, Completed | Dropped):
                    self._end(entry, said, times.committed_ns)
                else:
                    self._lesson(said)
            self._states[entry.partition] = turn.state
        # They share one write.
        self._note(catalogue.COMMIT, _seconds(times.writing_ns, times.committed_ns))
        self._note(
            catalogue.ANSWERED_SEQUENCE, max(turn.input.sequence for turn, _ in made)
        )

    def failed(self, error: Exception) -> None:
        """Count an error that made the worker fold its state again."""
        self._note(catalogue.FAULTS, 1, _KINDS.get(type(error), "process"))

    def watch(self, tracer: _Untraced) -> None:
        """Count what this tracer leaves out."""
        self._tracer = tracer

    def _look_at_traces(self) -> None:
        if self._tracer is None:
            return
        found = {
            "thinned": self._tracer.thinned,
            "silent": self._tracer.dropped_silent,
            "dropped": self._tracer.dropped,
        }
        for why, amount in found.items():
            self._note(catalogue.UNTRACED, amount - self._untraced.get(why, 0), why)
        self._untraced = found

    def look(self) -> None:
        """Set what is counted only when somebody asks: heuristics, agents, lost traces."""
        self._look_at_traces()
        count = dict.fromkeys(catalogue.HEURISTICS.labels["origin"], 0)
        agents = 0
        packs = self._packs()
        # States are persistent values: the worker may go on meanwhile, in its own thread.
        for state in list(self._states.values()):
            agents += len(state.agents)
            for agent in state.agents.values():
                refs = state.shared.packs.update(agent.packs)
                held = (packs.get(ref.digest) for ref in refs.values())
                count["skill_pack"] += sum(len(each.ids) for each in held if each)
                for shelf in agent.shelves.values():
                    for taught in shelf.heuristics.values():
                        count[taught.origin] += 1
        self._note(catalogue.AGENTS, agents)
        for origin, found in count.items():
            self._note(catalogue.HEURISTICS, found, origin)

    def _note(self, metric: Metric, amount: float, *values: str) -> None:
        self._series[metric](amount, *values)

    def _result(self, entry: Input) -> None:
        match entry.message:
            case ModelAnswered() as said:
                self._note(catalogue.MODEL_CALLS, 1, "answered")
                self._note(catalogue.MODEL_TOKENS, said.input_tokens or 0, "input")
                self._note(catalogue.MODEL_TOKENS, said.output_tokens or 0, "output")
                self._note(catalogue.MODEL_COST, max(0.0, said.cost_usd or 0.0))
                if said.latency_ms is not None:
                    self._note(catalogue.MODEL_SECONDS, said.latency_ms / 1e3)
            case ModelFailed(reason=reason):
                self._note(catalogue.MODEL_CALLS, 1, reason)
            case Delivered():
                self._note(catalogue.DELIVERIES, 1, "delivered")
            case DeliveryInterrupted():
                self._note(catalogue.DELIVERIES, 1, "interrupted")
            case DeliveryFailed(reason=reason):
                self._note(catalogue.DELIVERIES, 1, reason)
            case _:
                pass

    def _begin(self, entry: Input, id_: str, decided: Decided, now_ns: int) -> None:
        received_ns = entry.record.time_ns
        if not decided.final:
            self._open[id_] = (decided.path, received_ns)
            if len(self._open) > _OPEN_MAX:
                self._open.popitem(last=False)
        elif decided.silence is None:
            self._final(entry.agent, decided.path, "spoke", NONE)
            self._note(catalogue.ANSWER, _seconds(received_ns, now_ns), decided.path)
        else:
            self._final(entry.agent, decided.path, "silent", decided.silence)
            if decided.silence == "error":
                self._note(catalogue.FAULTS, 1, "mind")

    def _end(self, entry: Input, end: Completed | Dropped, now_ns: int) -> None:
        path, received_ns = self._open.pop(end.decision_id, ("none", None))
        if isinstance(end, Dropped):
            self._final(entry.agent, path, "dropped", end.reason)
            return
        self._final(entry.agent, end.path, "spoke", NONE)
        if received_ns is not None:
            self._note(catalogue.ANSWER, _seconds(received_ns, now_ns), end.path)

    def _final(self, agent: str, path: str, outcome: str, reason: str) -> None:
        self._note(catalogue.DECISIONS, 1, path, outcome, reason)
        self._by_agent.note(agent, outcome)

    def _lesson(self, said: object) -> None:
        match said:
            case FeedbackApplied(value=value, aspect=aspect) if not said.is_passed_on:
                label = "positive" if value > 0 else "negative" if value else "neutral"
                self._note(catalogue.FEEDBACK, 1, label, aspect)
            case FeedbackRefused(reason=reason):
                self._note(catalogue.FEEDBACK_REFUSED, 1, reason)
            case OutcomeObserved(outcome=outcome):
                self._note(catalogue.OUTCOMES, 1, outcome)
            case OutcomeExpired():
                self._note(catalogue.OUTCOMES, 1, "expired")
            case AdviceIgnored():
                self._note(catalogue.OUTCOMES, 1, "ignored")
            case Quarantined(reason=reason):
                self._note(catalogue.QUARANTINED, 1, reason)
                if reason == "error":
                    self._note(catalogue.FAULTS, 1, "mind")
            case TimerFailed():
                self._note(catalogue.FAULTS, 1, "timer")
            case _:
                pass


def _seconds(start_ns: int, end_ns: int) -> float:
    # The broker's clock and ours may differ, and a negative time means nothing.
    return max(0, end_ns - start_ns) / 1e9


REST = "(other)"
"""The agents beyond the bound; no agent can be called so."""


class _AgentDecisions:
    """Counts decisions of the first few agents; of none if the bound is 0."""

    def __init__(self, registry: CollectorRegistry, bound: int) -> None:
        """Make the metric, which has no series yet."""
        metric = AGENT_DECISIONS
        names = tuple(metric.labels)
        self._family = Counter(metric.name, metric.meaning, names, registry=registry)
        self._bound = bound
        self._known: set[str] = set()

    def note(self, agent: str, outcome: str) -> None:
        """Count a decision."""
        if not self._bound:
            return
        if len(self._known) < self._bound:
            self._known.add(agent)
        name = agent if agent in self._known else REST
        self._family.labels(name, outcome).inc()
