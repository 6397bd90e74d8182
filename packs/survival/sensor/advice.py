"""How the player handles advice: followed or not, tried, and reported on.

No I/O. Whether advice is followed is a keyed draw on its decision id, so the same advice is
treated the same way each time; advice that is followed gets exactly one report.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from packs.survival.sensor import goals, words
from packs.survival.sensor.ends import End, Goal
from packs.survival.sensor.routes import Action
from packs.survival.sensor.world import Observation
from schemas.messages.sensing import Sensed
from schemas.values.ids import draw

LIMIT = 90
"""After how many seconds of the game an attempt is given up."""

_REMEMBERED = 1_000
"""How many decisions are remembered: delivery is at-least-once, so each may come again."""


_Reports = tuple[Sensed, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing the companion said that asks for an action."""

    decision_id: str
    type: str
    target: str
    count: int
    alert: bool
    """Alerts go before all else."""
    urgency: float
    expires_at: datetime | None


def parse(payload: bytes) -> Advice | None:
    """Read a delivered message; None if it is no advice that names an action."""
    try:
        said = json.loads(payload)
        action = said["action"]
        expires_at = said.get("expires_at")
        return Advice(
            decision_id=str(said["decision_id"]),
            type=str(action["type"]),
            target=str(action.get("target") or ""),
            count=_count(action.get("params") or {}),
            alert=said.get("type") == "alert",
            urgency=float(said.get("urgency") or 0.0),
            expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        )
    # Plain words without an action, or another program's message: nothing to do with it.
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


@dataclass(slots=True)
class _Attempt:
    advice: Advice
    goal: Goal
    action: Action | None = None
    steps: int = 0


class Follower:
    """Follows advice for the player, at most one piece at a time."""

    def __init__(self, seed: str, chance: float) -> None:
        """Follow advice with probability `chance`, by draws keyed on `seed`."""
        self._seed = seed
        self._chance = chance
        self._trying: _Attempt | None = None
        self._heard: dict[str, bool] = {}

    @property
    def action(self) -> Action | None:
        """What the advice asks to do next; None leaves the player to itself."""
        return self._trying.action if self._trying else None

    def hear(self, advice: Advice, see: Observation, now: datetime) -> _Reports:
        """Follow or leave advice; return reports on the attempts that this ended."""
        if not self._takes(advice, now):
            return ()
        goal = goals.begin(see, advice.type, advice.target, advice.count)
        # Nothing was tried, so there is nothing to report.
        if goal is None:
            return ()
        given_up = self.end(End("cancelled", "more urgent advice came"))
        self._trying = _Attempt(advice, goal)
        return given_up + self._go_on(self._trying, see)

    def watch(self, see: Observation) -> _Reports:
        """Continue the attempt after its last action; report its end, if it ended."""
        return self._go_on(self._trying, see) if self._trying else ()

    def end(self, end: End) -> _Reports:
        """End the attempt under way, if any, and report it."""
        attempt = self._trying
        if attempt is None:
            return ()
        self._trying = None
        # The generator may be suspended in the middle of its plan; nobody resumes it.
        attempt.goal.close()
        return (_report(attempt, end),)

    def _takes(self, advice: Advice, now: datetime) -> bool:
        # Remembered even if it is not followed: a second delivery must not draw again.
        if advice.decision_id in self._heard:
            return False
        self._heard[advice.decision_id] = True
        # A dict iterates in order of insertion, so the oldest goes.
        while len(self._heard) > _REMEMBERED:
            del self._heard[next(iter(self._heard))]
        if advice.expires_at is not None and advice.expires_at < now:
            return False
        if self._trying and not _outranks(advice, self._trying.advice):
            return False
        return draw(self._seed, "player", advice.decision_id, "follow") < self._chance

    def _go_on(self, attempt: _Attempt, see: Observation) -> _Reports:
        end = _prevented(attempt, see)
        if end is not None:
            return self.end(end)
        try:
            # A generator that has not started takes no value, so the first step is `next`.
            if attempt.action is None:
                attempt.action = next(attempt.goal)
            else:
                attempt.action = attempt.goal.send(see)
        except StopIteration as stop:
            return self.end(stop.value)
        attempt.steps += 1
        return ()


def _prevented(attempt: _Attempt, see: Observation) -> End | None:
    """Return the end forced from outside the goal, by sleep or the time limit, if any."""
    if see.sleeping and attempt.advice.type != "rest":
        return End("overridden", "the player is asleep")
    if attempt.steps >= LIMIT:
        return End("failed", "it took too long")
    return None


def _outranks(new: Advice, old: Advice) -> bool:
    return (new.alert, new.urgency) > (old.alert, old.urgency)


def _report(attempt: _Attempt, end: End) -> Sensed:
    advice = attempt.advice
    doing = words.plain(f"{advice.type} {advice.target}".strip())
    return Sensed(
        type="action_reported",
        text=words.report(doing, end.outcome, end.reason),
        fields={"action": advice.type, "target": advice.target, "steps": attempt.steps},
        in_reply_to=advice.decision_id,
        outcome=end.outcome,
        reason=end.reason,
    )


def _count(params: Mapping[str, object]) -> int:
    count = params.get("count", 1)
    return count if isinstance(count, int) else 1
