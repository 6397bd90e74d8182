"""Tell a world how far its members are, on `out.<agent>.wakeup`.

A world whose members have its clock goes on when each has answered all that it was told, what
came of that has gone out, and none wakes earlier (design, "Worlds of several agents"). All of
it stands in the log; what is published is a hint, and one that is lost is told again with the
answer to the next event.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import nats.errors
import orjson

from handlers.mind.turn import Turn
from handlers.worker.listening import Timed
from schemas.messages.asks import DeliveryAsked, ModelAsked, RecallAsked, TurnAsked
from schemas.messages.results import DeliveryFailed, Result
from schemas.values.base import rfc3339
from schemas.values.subjects import AGENT_SOURCE, delivery_subject

CHANNEL = "wakeup"

_WAITED_FOR = (ModelAsked, RecallAsked, DeliveryAsked, TurnAsked)

_MOST = 10_000
"""So much is kept for a broker that is away; the oldest goes first."""


class _Outlet(Protocol):
    """The part of a broker connection that publishes."""

    async def publish(self, subject: str, payload: bytes = b"") -> None:
        """Publish a core NATS message; without a subscriber it is lost."""


def told(turn: Turn) -> bytes | None:
    """Return what a world is told of a turn as JSON; None if its agent has no world's clock.

    `due_at`: when the mind does something by itself; `answers`: the input; `ended`: the ask
    whose result that is; `cause`: the ask of another member that it comes from; `asks`: what
    was asked for, each with the member that is to be told of it.
    """
    own = turn.state.agents.get(turn.input.agent)
    session = own.session if own is not None else None
    if own is None or session is None or session.world is None:
        return None
    if session.clock == "broker":
        return None
    message = turn.input.message
    return orjson.dumps(
        {
            "due_at": rfc3339(own.timers[0].due) if own.timers else None,
            "answers": turn.input.id,
            "ended": message.ask_id if isinstance(message, Result) else None,
            "failed": isinstance(message, DeliveryFailed),
            "cause": turn.input.record.headers.get("ce-causeid"),
            "asks": [
                [each.id, _receiver(each.message)]
                for each in turn.outputs
                if isinstance(each.message, _WAITED_FOR)
            ],
        }
    )


def _receiver(asked: Any) -> str | None:
    """Return the agent that is told something by an ask; None if none is."""
    if isinstance(asked, DeliveryAsked) and asked.channel == AGENT_SOURCE:
        return asked.action.target if asked.action is not None else None
    return None


class Wakeups:
    """Publishes what worlds are told, in the order of the log, and beside the worker."""

    def __init__(self, outlet: _Outlet) -> None:
        """Publish by an open connection."""
        self._outlet = outlet
        self._waiting: deque[tuple[str, bytes]] = deque(maxlen=_MOST)
        self._sending: asyncio.Task[None] | None = None

    def observe(self, made: Sequence[Timed]) -> None:
        """Take turns that the log holds."""
        for turn, _ in made:
            payload = told(turn)
            if payload is not None:
                subject = delivery_subject(turn.input.agent, CHANNEL)
                self._waiting.append((subject, payload))
        if self._waiting and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            subject, payload = self._waiting.popleft()
            # Whoever missed it asks again.
            with suppress(nats.errors.Error, OSError):
                await self._outlet.publish(subject, payload)
