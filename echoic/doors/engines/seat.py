"""One character's seat: what waits to be taken by its engine, and what the engine reports.

Nothing is kept on disk. What was asked waits here until it is taken or expires; an event
stays with the engine until the log has it.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from echoic.client import admission
from echoic.client.publish import publish
from echoic.doors.deliveries import Deliveries, Delivery
from echoic.doors.engines import messages
from echoic.doors.engines.messages import Event, Expired, Kept, Refused, Taken
from schemas.messages.sensing import EventRef, Sensed
from schemas.values.base import Part
from streams.errors import LogFull, LogRefused, LogUnavailable
from streams.jetstream.hardened_client import BrokerClient

_MOST_HELD = 100
"""What waits for an engine at most; the oldest makes room."""
_MOST_UNSENT = 256
"""Messages that may wait for a slow engine; with more its connection is closed."""
_MOST_UNSTORED = 64
"""Events that may wait for the broker; the engine's further ones wait in the socket."""

REPLACED = 4001
"""The code that ends a connection whose place another engine has taken."""
_TOO_SLOW = 4002
"""The code that ends a connection that does not read what it is sent."""

_PAUSE_S = 0.5
"""Seconds before an event is sent again to a broker that is away."""

_log = logging.getLogger(__name__)


class Socket(Protocol):
    """The part of a WebSocket's connection that a seat uses."""

    async def send(self, message: str) -> None:
        """Send a text message."""

    async def recv(self) -> str | bytes:
        """Receive a message."""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection."""

    async def wait_closed(self) -> None:
        """Wait until it is closed."""


@dataclass(frozen=True, slots=True)
class _Held:
    """An action or a speech that nobody has taken yet."""

    fields: dict[str, Any]
    timer: asyncio.TimerHandle


class _Visit:
    """An engine that is connected."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.unsent: asyncio.Queue[str] = asyncio.Queue(_MOST_UNSENT)
        self.unstored: asyncio.Queue[Event] = asyncio.Queue(_MOST_UNSTORED)
        self.too_slow = asyncio.Event()

    def tell(self, message: Part | dict[str, Any]) -> None:
        """Have a message sent, after those that wait."""
        if isinstance(message, Part):
            text = message.model_dump_json(exclude_none=True)
        else:
            text = json.dumps(message)
        try:
            self.unsent.put_nowait(text)
        except asyncio.QueueFull:
            self.too_slow.set()

    async def send(self) -> None:
        """Send what is to be told, until cancelled."""
        while True:
            await self.socket.send(await self.unsent.get())

    async def watch(self) -> None:
        """Close the connection of an engine that does not keep up."""
        await self.too_slow.wait()
        await self.socket.close(_TOO_SLOW, "it does not read what it is sent")


class Seat:
    """The seat of one character; `open` it before an engine comes."""

    def __init__(self, client: BrokerClient, agent: str, source: str) -> None:
        """Use a connection with the rights of this source, which the caller closes."""
        self._client = client
        self._agent = agent
        self._source = source
        self._deliveries = Deliveries(client, agent, self._hold)
        self._visit: _Visit | None = None
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin to hear what the character does and says."""
        await self._deliveries.open()

    def close(self) -> None:
        """Let go of what waits."""
        for held in self._held.values():
            held.timer.cancel()
        for task in self._telling:
            task.cancel()

    async def play(self, socket: Socket) -> None:
        """Serve an engine until it leaves, or another takes its place."""
        visit, before = _Visit(socket), self._visit
        self._visit = visit
        if before is not None:
            # Not awaited: one that was lost does not answer.
            self._run(before.socket.close(REPLACED, "another engine is here"))
        for held in self._held.values():
            visit.tell(held.fields)
        tasks = [
            asyncio.ensure_future(each)
            for each in (
                self._listen(visit),
                visit.send(),
                visit.watch(),
                self._store(visit),
                socket.wait_closed(),
            )
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._visit is visit:
                self._visit = None

    async def _listen(self, visit: _Visit) -> None:
        while True:
            await self._hear(visit, await visit.socket.recv())

    async def _hear(self, visit: _Visit, text: str | bytes) -> None:
        try:
            message = messages.read(text)
        except ValueError as error:
            wrong = messages.wrong_fields(error)
            detail = f"{wrong[0].field or 'the message'}: {wrong[0].problem}"
            visit.tell(_refused(_id_of(text), "invalid", detail, wrong))
            return
        match message:
            case Taken(id=id_):
                self._let_go(id_)
            case Event():
                self._answered(message)
                await visit.unstored.put(message)

    async def _store(self, visit: _Visit) -> None:
        """Publish an engine's events one after the other, as a later one may depend on it."""
        while True:
            event = await visit.unstored.get()
            visit.tell(await self._stored(event))

    async def _stored(self, event: Event) -> Kept | Refused:
        sensed = _sensed(event, self._source)
        # By its length alone, the broker would end the connection of all of the agent's
        # engines.
        if (fault := admission.too_large(sensed)) is not None:
            return _refused(event.id, "too_large", fault)
        while True:
            try:
                await publish(self._client, self._agent, sensed, event_id=event.id)
                return Kept(message="kept", id=event.id)
            except LogUnavailable:
                await asyncio.sleep(_PAUSE_S)
            except (LogFull, LogRefused) as error:
                return _refused(event.id, "not_stored", str(error))

    async def _hold(self, delivery: Delivery) -> None:
        """Hold what is to be done or said, and pass it on to the engine if there is one."""
        said, id_ = delivery.said, delivery.id
        kind = "speech" if said.get("action") is None else "action"
        fields = {"message": kind, "id": id_, "channel": delivery.channel, **said}
        if len(self._held) >= _MOST_HELD:
            self._expire(next(iter(self._held)), "too much waited for an engine")
        loop = asyncio.get_running_loop()
        late = "no engine took it in time"
        timer = loop.call_later(said["ttl_s"], self._expire, id_, late)
        self._held[id_] = _Held(fields, timer)
        if self._visit is not None:
            self._visit.tell(fields)

    def _expire(self, id_: str, why: str) -> None:
        """Give up what nobody took; that an action was not done is told to the log."""
        held = self._let_go(id_)
        if held is None:
            return
        if self._visit is not None:
            self._visit.tell(Expired(message="expired", id=id_))
        if held["message"] == "action":
            self._run(self._report(id_, held, why))

    async def _report(self, id_: str, action: dict[str, Any], why: str) -> None:
        event = Event(
            message="event",
            id=f"{id_}-expired",
            type="expired",
            text=f"Nobody did it: {action['text']}"[:1_000],
            in_reply_to=action["decision_id"],
            outcome="cancelled",
            reason=why,
        )
        answer = await self._stored(event)
        if isinstance(answer, Refused):
            _log.warning("%s is not told to be expired: %s", id_, answer.detail)

    def _answered(self, event: Event) -> None:
        """Let go of the action that an event reports on: it was taken, then."""
        on = event.in_reply_to
        name = on.event_id if isinstance(on, EventRef) else on
        for id_, held in list(self._held.items()):
            fields = held.fields
            of = (fields["decision_id"], fields["event_id"])
            if fields["message"] == "action" and name in of:
                self._let_go(id_)

    def _let_go(self, id_: str) -> dict[str, Any] | None:
        held = self._held.pop(id_, None)
        if held is None:
            return None
        held.timer.cancel()
        return held.fields

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        # The loop itself keeps no reference to a task.
        task = asyncio.create_task(work)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


def _sensed(event: Event, source: str) -> Sensed:
    fields = event.model_dump(exclude={"message", "id"}, exclude_unset=True)
    return Sensed.from_fields({**fields, "source": source})


def _refused(
    id_: str | None, reason: Any, detail: str, fields: tuple[messages.Wrong, ...] = ()
) -> Refused:
    return Refused(
        message="refused", id=id_, reason=reason, detail=detail, fields=fields
    )


def _id_of(text: str | bytes) -> str | None:
    """Return the id of a message that cannot be read otherwise, if it has one."""
    try:
        id_ = json.loads(text)["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return id_ if isinstance(id_, str) and 0 < len(id_) <= 200 else None
