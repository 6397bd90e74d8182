"""Shadow: another strategy is asked about each live decision, and never acts.

It reads the live log and cannot write. It is asked with the recorded candidates, goals and
settings of the decision. Fires and successes from before it began to follow are unknown to
it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from replay.open_loop.asked import Asking, LoggedDecision
from replay.recording.decisions import DecisionRecord, DecisionRecords
from replay.recording.in_force import InForce, in_force_before
from replay.recording.recorded_groups import in_context, records_in
from schemas.messages.arms import SILENT
from schemas.ports.decision_context import Odds
from schemas.values.settings import StrategySpec
from schemas.values.subjects import SHARED_AGENT, partition_of
from streams.live_groups import GroupJoiner
from streams.log import ReadableLog

_AT_ONCE = 500
"""How many records are read at once."""


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
    in_force = await in_force_before(log, agent, after + 1)
    # Built at once, so that an unknown strategy raises before anything is followed.
    in_force.asked(strategy)
    asking, records = Asking({}, (strategy,), own=strategy), DecisionRecords()
    joiner = GroupJoiner((agent, SHARED_AGENT))
    # The whole partition, since controls of the shared agent concern this one as well.
    subjects = f"ev.{partition_of(agent)}.>"
    async with aclosing(log.follow(subjects, after, _AT_ONCE)) as following:
        async for page in following:
            for stored in page:
                joined = joiner.take(stored)
                if joined is None:
                    continue
                group = await in_context(joined, in_force, log)
                for decision in asking.ask(group, records_in(group, records)):
                    yield _shadowed(decision, in_force)
                in_force = group.after


def _shadowed(decision: LoggedDecision, in_force: InForce) -> Shadowed | None:
    if not decision.odds:
        return None
    (odds,) = decision.odds
    known = in_force.heuristic(odds.greedy)
    return Shadowed(
        record=decision.record, odds=odds, would_say=known.text if known else None
    )
