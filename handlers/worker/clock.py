"""The clock: if a timer is due and no other input comes, a tick is appended to run it.

Only events move the time of a session that keeps its own: there a tick comes when that
session has lapsed.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from projections.folds import sessions
from schemas.state.agent import AgentState, PartitionState

_AGAIN = timedelta(seconds=1)
"""After how long a tick that changed nothing is repeated: the broker's clock, by which
timers are due, may be behind ours."""

_AGAIN_AT_MOST = timedelta(minutes=1)
"""The wait doubles up to this, so that a tick that is refused cannot flood the log."""


_STALE = 64
"""How many entries of the heap may be stale, besides one for each agent."""


def wall_clock() -> datetime:
    """Return the system's time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Alarm:
    """An agent's earliest timer."""

    agent: str
    partition: int
    due: datetime
    at: datetime
    """When the next tick for it is to be made."""
    again: timedelta = _AGAIN
    """How long the one after it waits."""


class Alarms:
    """The earliest timer of each agent that has one."""

    def __init__(self, clock: Callable[[], datetime] = wall_clock) -> None:
        """Tell the time by `clock`."""
        self._clock = clock
        self._alarms: dict[str, _Alarm] = {}
        self._times: list[tuple[datetime, str]] = []
        """A heap of when each alarm rings; entries of moved or dropped alarms stay, as
        stale."""

    def note(self, partition: int, agent: str, state: AgentState) -> None:
        """Set the agent's alarm by its earliest timer, or drop it."""
        due = sessions.next_due(state)
        if due is None:
            self._alarms.pop(agent, None)
            return
        known = self._alarms.get(agent)
        # The same timer keeps its alarm, or the doubling of its waits would start over.
        if known is None or known.due != due:
            self._set(_Alarm(agent, partition, due, at=due))

    def note_all(self, partition: int, state: PartitionState) -> None:
        """Set the alarms of a whole partition anew, after it was folded again."""
        stale = [each for each in self._alarms.values() if each.partition == partition]
        for alarm in stale:
            del self._alarms[alarm.agent]
        for agent, own in state.agents.items():
            self.note(partition, agent, own)

    def wait_s(self) -> float | None:
        """Seconds until the next tick; None while no timer is set."""
        soonest = self._soonest()
        if soonest is None:
            return None
        return max((soonest.at - self._clock()).total_seconds(), 0.0)

    def ring(self) -> Iterable[_Alarm]:
        """Return the alarms that are due, and put each off: its tick is answered later."""
        now, ringing = self._clock(), []
        while (alarm := self._soonest()) is not None and alarm.at <= now:
            ringing.append(alarm)
            # Put off before the tick is appended: its answer drops or moves the alarm.
            later = min(2 * alarm.again, _AGAIN_AT_MOST)
            self._set(replace(alarm, at=now + alarm.again, again=later))
        return ringing

    def _set(self, alarm: _Alarm) -> None:
        self._alarms[alarm.agent] = alarm
        heapq.heappush(self._times, (alarm.at, alarm.agent))
        # With each event an agent's session ends later: what is stale must not pile up.
        if len(self._times) > 2 * len(self._alarms) + _STALE:
            self._times = [(each.at, each.agent) for each in self._alarms.values()]
            heapq.heapify(self._times)

    def _soonest(self) -> _Alarm | None:
        """Return the alarm that rings next, dropping stale entries from the heap's top."""
        while self._times:
            at, agent = self._times[0]
            alarm = self._alarms.get(agent)
            if alarm is not None and alarm.at == at:
                return alarm
            heapq.heappop(self._times)
        return None
