"""Shadow: another strategy is asked about each live decision, and never acts.

It reads the live log and cannot write. It is asked with the recorded candidates, goals and
settings of the decision. Fires and successes from before it began to follow are unknown to
it.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace

from replay.open_loop.asked import context_of
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.in_force import Asked, InForce, in_force_before
from replay.recording.recency import RECENCY_TOKENS, Recalling
from replay.recording.recorded_groups import RecordedGroup, in_context, records_in
from schemas.messages.arms import SILENT
from schemas.messages.decisions import Decided
from schemas.messages.experiments import VariantName
from schemas.ports.decision_context import Odds
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT, partition_of
from streams.live_groups import GroupJoiner
from streams.log import ReadableLog

AT_ONCE = 500
"""How many records are read at once."""

_READ = RECENCY_TOKENS | {Decided.token}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadowed:
    """One decision as it was made, and what another strategy would have done."""

    record: DecisionRecord
    odds: Odds
    """The other strategy's answer."""
    would_say: str | None
    """What its greedy arm says, if that is a heuristic's."""

    @property
    def would(self) -> str:
        """The strategy's greedy arm."""
        return self.odds.greedy

    @property
    def silence(self) -> str | None:
        """The reason of its silence, if silence is that arm."""
        return self.odds.silence if self.would == SILENT else None

    @property
    def agreement(self) -> float:
        """The probability that it gives to the arm that was taken."""
        return dict(self.odds.arms).get(self.record.decided.arm, 0.0)

    @property
    def is_flip(self) -> bool:
        """Whether its greedy arm is another than the one taken."""
        return self.record.decided.arm != self.would


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
    shadow = _Shadow(await in_force_before(log, agent, after + 1), strategy)
    joiner = GroupJoiner((agent, SHARED_AGENT))
    # The whole partition, since controls of the shared agent concern this one as well.
    subjects = f"ev.{partition_of(agent)}.>"
    async with aclosing(log.follow(subjects, after, AT_ONCE)) as following:
        async for records in following:
            for record in records:
                group = joiner.take(record)
                if group is None:
                    continue
                read = await in_context(group, shadow.in_force, log)
                for shadowed in shadow.take(read):
                    yield shadowed


class _Shadow:
    """The strategy, built for what is in force."""

    def __init__(self, in_force: InForce, strategy: StrategySpec) -> None:
        self._strategy = strategy
        self._recalling = Recalling({})
        self._records = DecisionRecords()
        self.change(in_force)
        # Built at once, so that an unknown strategy raises before anything is followed.
        self._asked(None)

    def change(self, in_force: InForce) -> None:
        """Replace what is in force."""
        self.in_force = in_force
        self._ready: dict[VariantName | None, tuple[InForce, Asked]] = {}

    def take(self, group: RecordedGroup) -> Iterator[Shadowed | None]:
        """Yield the decisions of a group, and apply its controls."""
        made = {record.id: record for record in records_in(group, self._records)}
        for output in group.outputs(_READ):
            self._recalling.take(output)
            if output.id in made:
                yield self._shadowed(made[output.id])
        if group.after is not group.before:
            self._recalling.change(group.input, group.before.agent, group.after.agent)
            self.change(group.after)

    def _shadowed(self, record: DecisionRecord) -> Shadowed | None:
        if record.is_gated:
            return None
        experiment = record.decided.experiment
        in_force, asked = self._asked(experiment.variant if experiment else None)
        context = context_of(record, in_force, asked.llm_arm, self._recalling)
        odds = asked.strategy.decide(context)
        words = in_force.words(odds.greedy)
        return Shadowed(
            record=record, odds=odds, would_say=words.text if words else None
        )

    def _asked(self, variant: VariantName | None) -> tuple[InForce, Asked]:
        if variant not in self._ready:
            in_force = self.in_force.under(variant)
            self._ready[variant] = in_force, in_force.asked(self._strategy)
        return self._ready[variant]
