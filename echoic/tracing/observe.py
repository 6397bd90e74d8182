"""From answered inputs to finished traces: each decision is held until its end is known.

A decision that waits for a model or a delivery is held, bounded in number, so that its
trace is sent once and whole; a start takes up from the log what was held before. What comes
later becomes a trace of its own, linked to the first. For one thread.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from msgspec.structs import replace

from echoic.tracing import conventions as names
from echoic.tracing import results, steps, tags
from echoic.tracing.naming import Held, NameOf, nameless
from echoic.tracing.run import LIVE, Run
from echoic.tracing.spans import (
    DecisionTrace,
    FollowUp,
    Link,
    Scalar,
    Step,
    decision_link,
)
from handlers.worker.timing import Times
from schemas.codec.envelope import Input, Output
from schemas.messages.asks import DeliveryAsked, ModelAsked
from schemas.messages.controls import PackLoaded
from schemas.messages.decisions import Completed, Decided, Dropped
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.learning import OutcomeObserved
from schemas.messages.sensing import Sensed
from schemas.state.agent import STRANGER
from schemas.values.ids import span_id, traceparent

HELD_MAX = 1_000
"""Decisions that are held at once; beyond it the oldest is sent unfinished."""
HELD_NS_MAX = 60_000_000_000
"""Nanoseconds for which the report of a delivery is awaited: a minute. A decision whose
answer is still to come is held until it has ended, as each does."""
_WAIT_NS_MIN = 1_000_000
"""Nanoseconds of waiting for a model or a channel that are worth a span."""
_REMEMBERED_MAX = 10_000
"""Decisions that a late link can still find; it needs their event's id."""

Trace = DecisionTrace | FollowUp


@dataclass(frozen=True, slots=True)
class Answered:
    """An input with the group that answers it."""

    input: Input
    outputs: tuple[Output, ...]
    times: Times
    held: Held | None = None
    """None: only the log is known."""
    share: float = 1.0
    """Of which share of such decisions it was drawn to be traced."""

    @classmethod
    def of_log(
        cls,
        entry: Input,
        outputs: tuple[Output, ...],
        written_ns: int,
        held: Held | None = None,
    ) -> Self:
        """Return what a log has, with the broker's times; `written_ns` is since 1970."""
        arrived_ns = entry.record.time_ns
        # Queue and commit take a microsecond, the least by which Jaeger's page puts spans
        # in order.
        apart_ns = min(1_000, (written_ns - arrived_ns) // 3)
        times = Times(
            picked_up_ns=arrived_ns,
            started_ns=arrived_ns + apart_ns,
            decided_ns=written_ns - apart_ns,
            committed_ns=written_ns,
        )
        return cls(entry, outputs, times, held)


@dataclass(slots=True)
class _Open:
    trace: DecisionTrace
    input_id: str
    """Of the input that it answered."""
    since_ns: int
    """Since when it is held."""
    asks: dict[str, tuple[results.Asked, int]] = field(default_factory=dict)
    """The open asks by id, each with the nanosecond at which it was written."""
    final: bool = True


@dataclass(frozen=True, slots=True)
class _Apart:
    """An ask that belongs to no open decision."""

    ask: results.Asked
    at_ns: int
    cause: Input


class Observer:
    """Holds the decisions whose end is open."""

    def __init__(
        self,
        *,
        run: Run = LIVE,
        original: str = "",
        content: bool = False,
        packs: Mapping[str, str] | None = None,
    ) -> None:
        """`packs` are the versions of the packs in force, by name.

        `original` is the recorded decision that `run` makes again, if it is a replay.
        """
        self._run, self._original = run, original
        self._content = content
        self._packs = dict(packs or {})
        self._held: OrderedDict[str, _Open] = OrderedDict()
        # Decision ids by ask id, so that a result finds its decision.
        self._waiting: dict[str, str] = {}
        self._apart: OrderedDict[str, _Apart] = OrderedDict()
        # Event ids by decision id, oldest first; kept longer than the trace, for late
        # links.
        self._events: OrderedDict[str, str] = OrderedDict()

    def answered(self, seen: Answered) -> Iterator[Trace]:
        """Yield the traces that this input completes."""
        message = seen.input.message
        touched: list[str] = []
        if isinstance(message, PackLoaded):
            self._packs[message.name] = message.pack_version
        elif isinstance(message, results.Result):
            touched.append(self._result(seen.input, message))
            yield from self._answered_apart(seen.input, message)
        elif isinstance(message, FeedbackGiven):
            yield self._feedback(seen, message)
        for output in seen.outputs:
            said = output.message
            if isinstance(said, Decided):
                self._begin(seen, output.id, said)
                touched.append(output.id)
            elif isinstance(said, Completed | Dropped):
                yield from self._end(seen, output.id, said)
                touched.append(said.decision_id)
            elif isinstance(said, results.Asked):
                self._ask(seen, output.id, said)
        # After the whole group: it may answer one ask of a decision and open another.
        yield from self._finished(touched)

    def overdue(self, now_ns: int) -> Iterator[DecisionTrace]:
        """Yield decisions held too long or in excess, oldest first, unfinished."""
        excess = len(self._held) - HELD_MAX
        for place, (id_, each) in enumerate([*self._held.items()]):
            is_late = each.final and now_ns - each.since_ns >= HELD_NS_MAX
            if is_late or place < excess:
                yield self._release(id_)

    def again(self) -> "Observer":
        """Return an observer that shows as much, and holds nothing yet."""
        return Observer(content=self._content, packs=self._packs)

    def lacks(self, decision_ids: Iterable[str]) -> bool:
        """Tell whether one of these decisions was never seen."""
        return any(each not in self._events for each in decision_ids)

    def take_up(self, earlier: "Observer", now_ns: int) -> None:
        """Hold from now on what `earlier`, which read the log, holds; not what is known."""
        # What it saw begin before an error of the broker it goes on to hold itself.
        for id_, each in earlier._held.items():
            if id_ not in self._events:
                each.since_ns = now_ns
                self._held[id_] = each
                self._waiting |= dict.fromkeys(each.asks, id_)
        for id_, event_id in earlier._events.items():
            _remember(self._events, id_, event_id)
        self._apart = OrderedDict({**earlier._apart, **self._apart})

    def rest(self) -> Iterator[DecisionTrace]:
        """Yield all that is still held, as far as it is known."""
        while self._held:
            yield self._release(next(iter(self._held)))

    def _begin(self, seen: Answered, id_: str, decided: Decided) -> None:
        entry, times = seen.input, seen.times
        # The broker's clock and ours may differ, and a negative delay means nothing.
        delay_ms = max(0, times.started_ns - entry.record.time_ns) / 1e6
        name_of = _name_of(seen, decided)
        found = tags.decide_tags(entry.agent, id_, decided, delay_ms, name_of) | {
            **tags.run_tags(self._run, decided),
            **tags.person_tags(entry, content=self._content),
            names.SAMPLING_RATIO: seen.share,
            names.PACK_VERSION: self._pack_version(seen, decided) or names.NONE,
        }
        if self._content and decided.text:
            found[names.REPLY_TEXT] = decided.text
        # What a timer made the mind decide is no event's: its trace is named after itself.
        occasion_id = decided.event_id if isinstance(entry.message, Sensed) else id_
        trace = DecisionTrace(
            decision_id=id_,
            event_id=occasion_id,
            source=decided.source,
            type=decided.type,
            traceparent=entry.record.headers.get("traceparent"),
            received_ns=entry.record.time_ns,
            picked_up_ns=times.picked_up_ns,
            started_ns=times.started_ns,
            decided_ns=times.decided_ns,
            writing_ns=times.writing_ns,
            committed_ns=times.committed_ns,
            attributes=tags.root_attributes(entry, decided, content=self._content),
            tags=found,
            stages=steps.stages(decided, times, name_of),
            steps=tuple(self._outcomes(seen)),
            # Every other silence is a decision, and no failure.
            error="the mind failed" if decided.silence == "error" else None,
            run=self._run,
            original=self._original,
        )
        self._held[id_] = _Open(
            trace, entry.id, since_ns=times.committed_ns, final=decided.final
        )
        _remember(self._events, id_, occasion_id)

    def _pack_version(self, seen: Answered, decided: Decided) -> str | None:
        if seen.held is None:
            return self._packs.get(decided.domain)
        return seen.held.version(seen.input.agent, decided.domain)

    def _outcomes(self, seen: Answered) -> Iterator[Step]:
        messages = (output.message for output in seen.outputs)
        shown = [each for each in messages if isinstance(each, OutcomeObserved)]
        for outcome in shown[: steps.OUTCOMES_MAX]:
            links = self._links(seen, outcome.decision_id)
            yield steps.outcome_step(outcome, links, seen.times)

    def _ask(self, seen: Answered, id_: str, ask: results.Asked) -> None:
        held = self._held.get(ask.decision_id)
        if held is not None:
            held.asks[id_] = (ask, seen.times.committed_ns)
            self._waiting[id_] = ask.decision_id
        else:
            # Of a vote or a reflection, or of a decision whose trace was sent.
            self._apart[id_] = _Apart(ask, seen.times.committed_ns, seen.input)
            if len(self._apart) > HELD_MAX:
                self._apart.popitem(last=False)

    def _answered_apart(
        self, entry: Input, result: results.Result
    ) -> Iterator[FollowUp]:
        """Yield the trace of an ask that belonged to no open decision."""
        asked = self._apart.pop(result.ask_id, None)
        if asked is None:
            return
        step = results.answered_step(
            entry, asked.ask, result, asked_ns=asked.at_ns, content=self._content
        )
        if step is None:
            return
        cause, ask, context = asked.cause, asked.ask, None
        if isinstance(ask, DeliveryAsked):
            event_id = ask.event_id
        elif isinstance(ask, ModelAsked) and ask.is_afterwards:
            event_id = cause.id
        else:
            event_id = self._events.get(ask.decision_id, cause.id)
        if isinstance(cause.message, FeedbackGiven) and event_id == cause.id:
            context = traceparent(cause.id, span_id(cause.id, names.FEEDBACK, 0))
        yield FollowUp(
            id=result.ask_id, traceparent=context, event_id=event_id, root=step
        )

    def _result(self, entry: Input, result: results.Result) -> str:
        """Add the step of a result to its decision; return the decision's id, or ""."""
        decision_id = self._waiting.pop(result.ask_id, "")
        held = self._held.get(decision_id)
        if held is not None:
            ask, asked_ns = held.asks.pop(result.ask_id)
            step = results.answered_step(
                entry, ask, result, asked_ns=asked_ns, content=self._content
            )
            if step is not None:
                step = replace(step, attributes=_in_session(step, held.trace))
                if self._run is not LIVE:
                    # Nobody was told of a replay's span, and its id is to be its own.
                    step = replace(step, id=None)
                held.trace = replace(
                    held.trace, steps=(*held.trace.steps, *_with_wait(step, asked_ns))
                )
        return decision_id

    def _end(
        self, seen: Answered, id_: str, end: Completed | Dropped
    ) -> Iterator[FollowUp]:
        changed = (
            tags.completed_tags(end)
            if isinstance(end, Completed)
            else tags.dropped_tags(end)
        )
        if self._content and isinstance(end, Completed):
            changed[names.REPLY_TEXT] = end.text
        held = self._held.get(end.decision_id)
        if held is None:
            # Its trace was sent; a span that is added later may not be shown with it.
            yield self._late(seen, id_, end.decision_id, changed)
            return
        # Whatever it waited for, what it says now is to be delivered within the usual time.
        held.final, held.since_ns = True, seen.times.committed_ns
        held.trace = replace(
            held.trace,
            tags={**held.trace.tags, **changed},
            steps=(*held.trace.steps, *_completing(seen, end, held)),
        )
        # Its asks expired or were overtaken; results may never come.
        if isinstance(end, Dropped):
            self._forget_asks(held)

    def _late(
        self, seen: Answered, id_: str, decision_id: str, found: tags.Tags
    ) -> FollowUp:
        attributes = {**found, names.DECISION_ID: decision_id}
        root = self._root(seen, names.COMPLETE, attributes, decision_id)
        return FollowUp(id=id_, traceparent=None, root=root)

    def _feedback(self, seen: Answered, given: FeedbackGiven) -> FollowUp:
        attributes = tags.feedback_tags(given, content=self._content)
        times = seen.times
        return FollowUp(
            id=seen.input.id,
            traceparent=seen.input.record.headers.get("traceparent"),
            root=self._root(seen, names.FEEDBACK, attributes, given.decision_id or ""),
            steps=tuple(
                steps.learned_steps(seen.outputs, times.started_ns, times.decided_ns)
            ),
        )

    def _root(
        self, seen: Answered, name: str, attributes: tags.Tags, decision_id: str
    ) -> Step:
        return Step(
            name=name,
            kind="consumer",
            # The broker's clock may be ahead of ours.
            start_ns=min(seen.input.record.time_ns, seen.times.started_ns),
            end_ns=seen.times.committed_ns,
            attributes={names.AGENT_ID: seen.input.agent, **attributes},
            links=self._links(seen, decision_id),
        )

    def _links(self, seen: Answered, decision_id: str) -> tuple[Link, ...]:
        # After a restart this observer remembers nothing: the mind does, or the vote itself
        # has it from the log.
        event_id = self._events.get(decision_id) or _remembered(seen, decision_id)
        return () if event_id is None else (decision_link(event_id, decision_id),)

    def _finished(self, touched: list[str]) -> Iterator[DecisionTrace]:
        for id_ in touched:
            held = self._held.get(id_)
            if held is not None and held.final and not held.asks:
                yield self._release(id_)

    def _release(self, decision_id: str) -> DecisionTrace:
        held = self._held.pop(decision_id)
        trace = held.trace
        if not held.asks and (reason := results.undelivered(trace.steps)):
            told = {**trace.tags, **tags.undelivered_tags(reason)}
            trace = replace(trace, tags=told)
        self._forget_asks(held)
        return trace

    def _forget_asks(self, held: _Open) -> None:
        for ask_id in held.asks:
            self._waiting.pop(ask_id, None)
        held.asks.clear()


def _remembered(seen: Answered, decision_id: str) -> str | None:
    """Return the event of a decision by what the mind, or a vote, knows of it."""
    message = seen.input.message
    if isinstance(message, FeedbackGiven) and message.about is not None:
        return message.about.event_id
    if seen.held is None:
        return None
    agent = seen.held.state.agents.get(seen.input.agent, STRANGER)
    known = agent.decisions.get(decision_id)
    return None if known is None else known.event_id


def _name_of(seen: Answered, decided: Decided) -> NameOf:
    if seen.held is None:
        return nameless
    return partial(seen.held.name_of, seen.input.agent, decided.domain)


def _completing(
    seen: Answered, end: Completed | Dropped, held: _Open
) -> Iterator[Step]:
    """Yield the step by which a later input ended a decision."""
    if seen.input.id == held.input_id:
        return
    dropped = {names.REASON: end.reason} if isinstance(end, Dropped) else {}
    yield Step(
        name=names.COMPLETE,
        # The broker's clock may be ahead of ours.
        start_ns=min(seen.input.record.time_ns, seen.times.started_ns),
        end_ns=seen.times.committed_ns,
        attributes=dropped,
    )


def _in_session(step: Step, trace: DecisionTrace) -> Mapping[str, Scalar]:
    """Return a step's attributes; a model's call is one of its session's conversation."""
    session = trace.tags.get(names.SESSION_ID)
    if session is None or names.GEN_AI_OPERATION_NAME not in step.attributes:
        return step.attributes
    return {**step.attributes, names.GEN_AI_CONVERSATION_ID: session}


def _with_wait(step: Step, asked_ns: int) -> tuple[Step, ...]:
    if step.start_ns - asked_ns < _WAIT_NS_MIN:
        return (step,)
    return Step(name=names.WAIT, start_ns=asked_ns, end_ns=step.start_ns), step


def _remember(events: OrderedDict[str, str], decision_id: str, event_id: str) -> None:
    events[decision_id] = event_id
    if len(events) > _REMEMBERED_MAX:
        events.popitem(last=False)
