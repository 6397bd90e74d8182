"""The open loop: any strategy is asked about each recorded decision, at the logged state.

The recording holds every candidate that was weighed, so the context of a decision is rebuilt
without matching, salience or learning. The answers change no state: the next decision is as
the recording made it, which is what off-policy estimates require.
"""

from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from msgspec import structs

from handlers.mind.stages import salience
from replay.open_loop.decision import LoggedDecision as LoggedDecision
from replay.open_loop.decision import decision_of
from replay.recording import views
from replay.recording.recency import Recalling, known
from replay.recording.source import Recording
from replay.recording.standing import CHANGE_TOKENS, Asked, Contender, InForce, brought
from replay.recording.views import CandidateView, DecidedView, EventView, ResultView
from schemas.codec.decode import UnreadableOutputError, read_input, read_output
from schemas.messages.experiments import VariantName
from schemas.ports.decision_context import DecisionContext, HeuristicCandidate, Odds
from schemas.state.agent import STRANGER
from schemas.values.record import Record
from streams.groups import Group

HELD = 10_000
"""How many decisions may be held until a model's answer to the first of them is read; beyond
it the first is yielded without, so that memory stays bounded."""

_HEURISTIC = "heuristic:"


async def ask_open_loop(
    recording: Recording, strategies: Sequence[Contender] = ()
) -> AsyncGenerator[LoggedDecision, None]:
    """Yield the decisions of a recording in order, with each strategy asked about each.

    A strategy of None is the agent's own as it was in force at that place, without
    exploration. Memory does not grow with the recording's length.

    Raises:
        UnknownStrategyError: there is no such strategy.
        UnreadableOutputError: an output is damaged, or of a newer program.
        LogDamaged, SessionFileError: the recording is not sound or not whole.
        MissingPackError: a pack in force is not in the recording's store.
        UnknownPastError: a strategy ranks by recency that the recording does not hold.
    """
    reader = Reader(recording, tuple(strategies))
    await reader.bring()
    async with aclosing(recording.groups()) as groups:
        async for group in groups:
            if not recording.concerns(group):
                continue
            for decision in reader.read(group):
                yield decision
            await reader.bring()
    for decision in reader.rest():
        yield decision


def context_of(
    decided: DecidedView,
    event: EventView,
    standing: InForce,
    llm_arm: str | None,
    recalling: Recalling,
    now: datetime,
) -> DecisionContext:
    """Return the context that a strategy had, or would have had, at a recorded decision.

    Raises:
        UnreadableOutputError: a candidate names a content that is not in force.
    """
    return DecisionContext(
        event_id=decided.event_id,
        event_text=event.text,
        event_source=decided.source,
        salience=decided.salience.dimensions,
        candidates=tuple(
            [
                _candidate(each, standing, recalling)
                for each in decided.candidates
                if each.arm.startswith(_HEURISTIC) and not each.silence
            ]
        ),
        immediate=event.immediate,
        goals=_goals(decided, standing),
        personality_biases=standing.biases_of(decided.domain),
        urgency=salience.urgency(
            event.urgency, decided.salience.dimensions, standing.settings.edition
        ),
        llm_arm=llm_arm,
        now=now,
        silences=tuple(
            _candidate(each, standing, recalling)
            for each in decided.candidates
            if each.silence
        ),
        silence_asks=standing.settings.silence,
    )


def _goals(decided: DecidedView, standing: InForce) -> tuple[str, ...]:
    if decided.goals is None:
        return standing.goals_of(decided.domain)
    return tuple(each.text for each in decided.goals)


def _candidate(
    weighed: CandidateView, standing: InForce, recalling: Recalling
) -> HeuristicCandidate:
    key = weighed.arm[len(_HEURISTIC) :]
    heuristic_id, _, content_hash = key.rpartition("@")
    words = standing.words(weighed.arm)
    if words is None:
        raise UnreadableOutputError(
            f"a decision weighs {weighed.arm!r}, which is not in force there"
        )
    return HeuristicCandidate(
        heuristic_id=heuristic_id,
        content_hash=content_hash,
        condition_text=words.condition,
        suggested_action=words.text,
        confidence=weighed.confidence or 0.0,
        alpha=1.0 if weighed.alpha is None else weighed.alpha,
        beta=1.0 if weighed.beta is None else weighed.beta,
        similarity=weighed.similarity or 0.0,
        eligible=weighed.eligible,
        reason=weighed.reason,
        response_type=words.response_type,
        action=words.action,
        urgency=words.urgency,
        origin=words.origin,
        recent=recalling.of(key),
    )


class Reader:
    """Reads the groups that concern a recording, in order.

    A decision is held until its completion is read, and decisions are yielded in order.
    """

    def __init__(self, recording: Recording, strategies: tuple[Contender, ...]) -> None:
        """Start with what was in force before the recording."""
        self._lacks_packs = True
        self._recording = recording
        self._strategies = strategies
        self._standing = InForce.of(recording.start, recording.agent)
        start = recording.start.agents.get(recording.agent, STRANGER)
        self._recalling = Recalling(start.beliefs)
        # Strategies built for what is in force; cleared by every control, so it holds one
        # entry a variant.
        self._ready: dict[VariantName | None, _Ready] = {}
        self._held: deque[_Held] = deque()
        self._open: dict[str, _Held] = {}

    async def bring(self) -> None:
        """Load the packs in force; to be called before the first group and after each."""
        if not self._lacks_packs:
            return
        self._standing = await brought(self._standing, self._recording.log)
        self._ready = {}
        self._lacks_packs = False

    def read(self, group: Group) -> Iterator[LoggedDecision]:
        """Read a group, and return the decisions that it completes."""
        is_control = False
        for record in group.outputs:
            # Nearly all outputs have version 1, and the full check parses the subject.
            if record.headers.get("ce-schemaversion") != "1":
                views.check_version(record)
            match views.token_of(record):
                case "decided":
                    self._decided(group.input, record)
                case "completed":
                    self._completed(group.input, record)
                case "dropped":
                    self._dropped(group.input, record)
                case token if token in CHANGE_TOKENS:
                    is_control = True
                case token:
                    self._recalling.take(token, record)
        if is_control:
            self._change(group)
        return self._complete()

    def rest(self) -> Iterator[LoggedDecision]:
        """Yield the decisions still held; the recording ends before some were completed."""
        for held in self._held:
            yield held.decision

    def _change(self, group: Group) -> None:
        outputs = [read_output(record) for record in group.outputs]
        input_, before = read_input(group.input), self._standing.agent
        self._standing = self._standing.after(input_, outputs)
        self._recalling.change(input_, before, self._standing.agent)
        self._ready = {}
        self._lacks_packs = bool(self._standing.needs_packs())

    def _decided(self, input_: Record, output: Record) -> None:
        if not self._recording.first <= input_.sequence:
            return
        decided, event = views.decided(output), views.event(input_)
        context: DecisionContext | None = None
        odds: tuple[Odds, ...] = ()
        # Path "none": a gate closed before any strategy was asked.
        if decided.path != "none":
            now = datetime.fromisoformat(output.headers["ce-time"])
            context, odds = self._ask(decided, event, now)
        held = _Held(
            decision_of(input_, output, decided, event, context, odds), decided.final
        )
        self._held.append(held)
        if not decided.final:
            self._open[held.decision.decision_id] = held

    def _ask(
        self, decided: DecidedView, event: EventView, now: datetime
    ) -> tuple[DecisionContext, tuple[Odds, ...]]:
        """Return the context with the agent's own model arm, and each strategy's odds."""
        variant = decided.experiment.variant if decided.experiment else None
        ready = self._ready.get(variant) or self._prepare(variant)
        own = context_of(
            decided, event, ready.standing, ready.llm_arm, self._recalling, now
        )
        if ready.recalls:
            for each in own.candidates:
                known(each.recent, each.arm)
        # A strategy may ask the model in its own way, which is another arm of the context.
        odds = []
        for asked in ready.asked:
            is_same = asked.llm_arm == own.llm_arm
            context = own if is_same else structs.replace(own, llm_arm=asked.llm_arm)
            odds.append(asked.strategy.decide(context))
        return own, tuple(odds)

    def _prepare(self, variant: VariantName | None) -> "_Ready":
        standing = self._standing.under(variant)
        asked = tuple(map(standing.asked, self._strategies))
        recalls = any(getattr(each.strategy, "rank", "") == "full" for each in asked)
        ready = _Ready(standing, standing.asked(None).llm_arm, asked, recalls)
        self._ready[variant] = ready
        return ready

    def _completed(self, input_: Record, output: Record) -> None:
        completed = views.completed(output)
        held = self._open.pop(completed.decision_id, None)
        if held is not None:
            held.end(
                said=completed.text,
                ended_by=completed.winner,
                answer=_answer(input_),
            )

    def _dropped(self, input_: Record, output: Record) -> None:
        dropped = views.dropped(output)
        held = self._open.pop(dropped.decision_id, None)
        if held is not None:
            held.end(dropped=dropped.reason, answer=_answer(input_))

    def _complete(self) -> Iterator[LoggedDecision]:
        held = self._held
        while held and (held[0].is_whole or len(held) > HELD):
            first = held.popleft()
            self._open.pop(first.decision.decision_id, None)
            yield first.decision


@dataclass(frozen=True, slots=True)
class _Ready:
    """The strategies, ready to be asked in one standing."""

    standing: InForce
    llm_arm: str | None
    """The model arm of the agent's own strategy."""
    asked: tuple[Asked, ...]
    recalls: bool
    """Whether one of them weighs when a heuristic last fired and succeeded."""


class _Held:
    """A decision that waits for its completion."""

    __slots__ = ("decision", "is_whole")

    def __init__(self, decision: LoggedDecision, is_whole: bool) -> None:
        self.decision = decision
        self.is_whole = is_whole

    def end(self, **fields: Any) -> None:
        """Set what came of it, as fields of the decision."""
        self.decision = replace(self.decision, **fields)
        self.is_whole = True


def _answer(input_: Record) -> ResultView | None:
    """Return the model's result if the group's input is one, else None."""
    is_result = input_.subject.split(".", 5)[4] == "result"
    return views.result(input_) if is_result else None
