"""The queue of turns: which character may ask its model next, and when.

A turn is granted while fewer calls of characters are in hand than run at once, no faster than
the settings say. The most urgent goes first, but what a character had in the last minute counts
against it, so that no one character has all of them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from handlers.effects.priority_queue import AskQueue, Perform, QueuedAsk
from schemas.messages.asks import ModelAsked, TurnAsked
from streams.cancellation import heed_cancellation

_LAYERS = ("talker", "executor", "single")
"""The purposes of calls that a turn comes before."""

_MINUTE_S = 60.0

_COMING_S = 5.0
"""How long a granted call is waited for; the mind may have had reason not to make it."""

LOOK_S = 0.05
"""Seconds between two looks at turns that may not be granted yet."""


class TurnQueue(AskQueue):
    """A queue that grants one turn after the other."""

    def __init__(
        self,
        perform: Perform,
        *,
        calls: AskQueue,
        slots: int,
        left_s: Callable[[QueuedAsk], float],
    ) -> None:
        """Grant while fewer than `slots` calls of characters are in hand of `calls`.

        `left_s` tells for how many seconds a turn is worth having.
        """
        super().__init__(perform, slots=1)
        self._calls = calls
        self._at_once = slots
        self._left_s = left_s
        self._coming: dict[str, float] = {}
        """Until when the call of each decision is waited for, by the loop's clock."""
        self._granted: deque[tuple[float, str, bool]] = deque()
        """The turns of the last minute: when, whose, and whether it was to talk."""

    def arrived(self, asked: ModelAsked) -> None:
        """Take note that the call for which a turn was granted is in hand now."""
        self._coming.pop(asked.decision_id, None)

    async def _serve(self) -> None:
        while True:
            heed_cancellation()
            held = self._chosen()
            if held is None:
                # What may not be granted now may be a moment later.
                wait_s = LOOK_S if self._waiting else None
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._waits.acquire(), wait_s)
                continue
            self._serving.add(held)
            await self._finish(held)
            self._serving.discard(held)

    def _chosen(self) -> QueuedAsk | None:
        if not self._waiting:
            return None
        now_s = asyncio.get_running_loop().time()
        late = next((each for each in self._waiting if self._left_s(each) <= 0), None)
        if late is not None:
            # It is told so at once, whoever else waits.
            self._waiting.remove(late)
            return late
        self._forget(now_s)
        if self._busy() >= self._at_once:
            return None
        open_ = [each for each in self._waiting if self._may_have(each, now_s)]
        if not open_:
            return None
        chosen = max(open_, key=self._fair_rank)
        self._waiting.remove(chosen)
        self._granted.append((now_s, chosen.output.agent, _is_talk(chosen)))
        self._coming[chosen.ask.decision_id] = now_s + _COMING_S
        return chosen

    def _forget(self, now_s: float) -> None:
        while self._granted and self._granted[0][0] <= now_s - _MINUTE_S:
            self._granted.popleft()
        passed = [each for each, until_s in self._coming.items() if until_s <= now_s]
        for decision_id in passed:
            del self._coming[decision_id]

    def _busy(self) -> int:
        """Return how many calls of characters are in hand, or about to be."""
        in_hand = (each.ask for each in self._calls.in_hand)
        calls = (each for each in in_hand if isinstance(each, ModelAsked))
        return len(self._coming) + sum(each.purpose in _LAYERS for each in calls)

    def _may_have(self, held: QueuedAsk, now_s: float) -> bool:
        """Tell whether the settings that a turn was asked under allow it now."""
        ask = held.ask
        assert isinstance(ask, TurnAsked)
        if self._granted and now_s < self._granted[-1][0] + ask.gap_s:
            return False
        if not ask.per_minute:
            return True
        is_talk = _is_talk(held)
        alike = sum(each == is_talk for _, _, each in self._granted)
        return alike < ask.per_minute

    def _fair_rank(self, held: QueuedAsk) -> tuple[float, int]:
        priority, age = held.rank
        had = sum(agent == held.output.agent for _, agent, _ in self._granted)
        return priority - had, age


def _is_talk(held: QueuedAsk) -> bool:
    ask = held.ask
    return isinstance(ask, TurnAsked) and (ask.layer == "talker" or ask.reason is None)
