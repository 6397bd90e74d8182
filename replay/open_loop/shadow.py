"""Shadow: another strategy is asked about each live decision, and never acts.

It reads the live log and cannot write. It is asked with the recorded candidates, goals and
settings of the decision. Fires and successes from before it began to follow are unknown to
it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from replay.open_loop.asked import context_of
from replay.recording import views
from replay.recording.in_force import standing_before
from replay.recording.recency import Recalling
from replay.recording.standing import CHANGE_TOKENS, Asked, InForce, brought
from schemas.codec.decode import read_input, read_mark, read_output
from schemas.messages.decisions import SILENT
from schemas.messages.experiments import VariantName
from schemas.ports.decision_context import Odds
from schemas.values.record import Record
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT, parse, partition_of
from streams.groups import Group
from streams.log import ReadableLog

AT_ONCE = 500
"""How many records are read at once."""

WAITING_LIMIT = 10_000
"""How many inputs may wait for their group before the oldest is dropped; without a bound an
agent whose worker is down would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadowed:
    """One decision, and what another strategy would have done."""

    decision_id: str
    event_id: str
    source: str
    type: str
    text: str
    """The event's."""
    done: str
    """The arm that was taken."""
    said: str | None
    """What was said at once, before any completion."""
    would: str
    """The strategy's greedy arm."""
    would_say: str | None
    """What that arm says, if it is a heuristic's."""
    silence: str | None
    """The reason of its silence, if silence is that arm."""
    agreement: float
    """The probability that it gives to the arm that was taken."""

    @property
    def is_flip(self) -> bool:
        """Whether its greedy arm is another than the one taken."""
        return self.done != self.would


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts so far."""

    decisions: int = 0
    """In which a strategy decided."""
    gated: int = 0
    """That ended at a gate before any strategy."""
    flips: int = 0
    agreed: float = 0.0
    """The sum of the agreements."""

    @property
    def agreement(self) -> float | None:
        """The mean probability of doing the same; None before the first decision."""
        return self.agreed / self.decisions if self.decisions else None

    def after(self, shadowed: Shadowed | None) -> "Totals":
        """Return the totals with one more decision; None is one that a gate made."""
        if shadowed is None:
            return replace(self, gated=self.gated + 1)
        return replace(
            self,
            decisions=self.decisions + 1,
            flips=self.flips + shadowed.is_flip,
            agreed=self.agreed + shadowed.agreement,
        )


async def follow(
    log: ReadableLog, agent: str, strategy: StrategySpec, after: int
) -> AsyncGenerator[Shadowed | None, None]:
    """Yield each decision of an agent behind a sequence, live, until it is closed.

    None stands for a decision that a gate made, in which no strategy has a part.

    Raises:
        UnknownStrategyError: there is no such strategy.
    """
    shadow = _Shadow(await standing_before(log, agent, after + 1), strategy)
    gathering = _Gathering(agent)
    # The whole partition, since controls of the shared agent concern this one as well.
    subjects = f"ev.{partition_of(agent)}.>"
    async with aclosing(log.follow(subjects, after, AT_ONCE)) as following:
        async for records in following:
            for record in records:
                group = gathering.take(record)
                if group is None:
                    continue
                for shadowed in shadow.take(group):
                    yield shadowed
                if shadow.standing.needs_packs():
                    shadow.change(await brought(shadow.standing, log))


class _Shadow:
    """The strategy, built for what is in force."""

    def __init__(self, standing: InForce, strategy: StrategySpec) -> None:
        self._strategy = strategy
        self._recalling = Recalling({})
        self.change(standing)
        # Built at once, so that an unknown strategy raises before anything is followed.
        self._asked(None)

    def change(self, standing: InForce) -> None:
        """Replace what is in force."""
        self.standing = standing
        self._ready: dict[VariantName | None, tuple[InForce, Asked]] = {}

    def take(self, group: Group) -> list[Shadowed | None]:
        """Return the decisions of a group, and apply its controls."""
        found: list[Shadowed | None] = []
        is_control = False
        for output in group.outputs:
            token = views.token_of(output)
            is_control |= token in CHANGE_TOKENS
            self._recalling.take(token, output)
            if token == "decided":
                found.append(self._shadowed(group.input, output))
        if is_control:
            outputs = [read_output(each) for each in group.outputs]
            input_, before = read_input(group.input), self.standing.agent
            self.change(self.standing.after(input_, outputs))
            self._recalling.change(input_, before, self.standing.agent)
        return found

    def _shadowed(self, input_: Record, output: Record) -> Shadowed | None:
        decided, event = views.decided(output), views.event(input_)
        if decided.path == "none":
            return None
        variant = decided.experiment.variant if decided.experiment else None
        standing, asked = self._asked(variant)
        now = datetime.fromisoformat(output.headers["ce-time"])
        recalling = self._recalling
        context = context_of(decided, event, standing, asked.llm_arm, recalling, now)
        odds: Odds = asked.strategy.decide(context)
        words = standing.words(odds.greedy)
        return Shadowed(
            decision_id=output.headers["ce-id"],
            event_id=decided.event_id,
            source=decided.source,
            type=decided.type,
            text=event.text,
            done=decided.arm,
            said=decided.text,
            would=odds.greedy,
            would_say=words.text if words else None,
            silence=odds.silence if odds.greedy == SILENT else None,
            agreement=dict(odds.arms).get(decided.arm, 0.0),
        )

    def _asked(self, variant: VariantName | None) -> tuple[InForce, Asked]:
        if variant not in self._ready:
            standing = self.standing.under(variant)
            self._ready[variant] = standing, standing.asked(self._strategy)
        return self._ready[variant]


class _Gathering:
    """Joins inputs and outputs into groups as they arrive."""

    def __init__(self, agent: str) -> None:
        self._owners = (agent, SHARED_AGENT)
        self._inputs: dict[int, Record] = {}
        self._outputs: dict[int, list[Record]] = {}

    def take(self, record: Record) -> Group | None:
        """Return the group that this record completes, None if it completes none."""
        subject = parse(record.subject)
        if subject.agent not in self._owners:
            return None
        if subject.direction == "in":
            self._inputs[record.sequence] = record
            # A dict keeps the order of insertion, so its first key is the oldest input.
            while len(self._inputs) > WAITING_LIMIT:
                del self._inputs[next(iter(self._inputs))]
            return None
        mark = read_mark(record)
        outputs = self._outputs.setdefault(mark.cause_sequence, [])
        outputs.append(record)
        if len(outputs) < mark.count:
            return None
        del self._outputs[mark.cause_sequence]
        # The input may stand before the place where following began.
        input_ = self._inputs.pop(mark.cause_sequence, None)
        return None if input_ is None else Group(input_, tuple(outputs))
