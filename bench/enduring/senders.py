"""Sensors, clients and people of a household, who send until they are acknowledged.

What was acknowledged is kept, to be looked for afterwards. What was not may be in the log
or not. Whoever speaks sends the same again until he is heard: over NATS under the same
event id, over HTTP under the same `Idempotency-Key`.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson
from nats.aio.msg import Msg

from bench import world
from bench.enduring.household import AGENTS, CLIENT, SENSOR, Household
from bench.hours import Sent
from echoic.client.publish import publish_raw
from streams.errors import StreamsError
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient

_AT_ONCE = 100
"""How many of a sender's events may wait for an acknowledgement; more wait themselves."""
_REQUEST_S = 20.0
_TOGETHER = 4
"""How many events an HTTP request has, when it has more than one."""
_TRANSIENT = (408, 429, 500, 502, 503, 504)


class AgainError(StreamsError):
    """A request was not acknowledged, and may be sent again."""


@dataclass(slots=True)
class Account:
    """What was acknowledged, by agent."""

    events: set[tuple[str, str]] = field(default_factory=set)
    """Agent and event id."""
    votes: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """By agent, actor and decision: the rating."""
    outcomes: int = 0
    refused: list[str] = field(default_factory=list)
    """What was refused, though it should not have been."""
    sent: Sent = field(default_factory=Sent)
    heard: dict[str, set[str]] = field(default_factory=dict)
    """By decision: the words that were heard at the broker under its id."""


class Senders:
    """All who send, at a rate that they share."""

    def __init__(self, home: Household, seed: int, rate: float) -> None:
        """Send to a household so many events a second, by all of its agents together."""
        self._home, self._rate = home, rate
        self._rng = random.Random(f"{seed}/senders")
        self._told = world.events(20_000, seed)
        self._numbers = iter(range(1 << 40))
        self._seed = seed
        self._going = asyncio.Event()
        self._doing = set[asyncio.Task[None]]()
        self.account = Account()

    async def run(self) -> None:
        """Send until cancelled."""
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
            http = await stack.enter_async_context(
                httpx.AsyncClient(
                    base_url=self._home.url, timeout=_REQUEST_S, limits=limits
                )
            )
            for agent in AGENTS:
                access = self._home.sensors[agent]
                sensor = await stack.enter_async_context(connected(access, SENSOR))
                hears = _Hears(self, agent, sensor, http)
                await sensor.subscribe(f"out.{agent}.>", cb=hears.hear)
                group.create_task(self._pace(self._by_nats(agent, sensor), 1))
                group.create_task(self._pace(self._by_http(agent, http), 2.5))

    def go(self) -> None:
        """Send from now on."""
        self._going.set()

    async def pause(self) -> None:
        """Send nothing new, and wait until all that was sent is acknowledged."""
        self._going.clear()
        while self._doing:
            await asyncio.wait(self._doing)

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Do it beside the rest."""
        task = asyncio.create_task(work)
        self._doing.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._doing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.account.refused.append(repr(task.exception())[:300])

    async def _pace(
        self, work: Callable[[], Coroutine[Any, Any, None]], events: float
    ) -> None:
        """Begin it as often as half an agent's share of the rate takes."""
        pause_s = 2 * len(AGENTS) * events / self._rate
        loop, own = asyncio.get_running_loop(), set[asyncio.Task[None]]()
        due = loop.time()
        while True:
            await self._going.wait()
            due = max(due + pause_s, loop.time() - 1.0)
            await asyncio.sleep(due - loop.time())
            # Of its own: one door that is away must not keep the others from sending.
            own = {each for each in own if not each.done()}
            if len(own) < _AT_ONCE:
                own.add(self.begin(work()))

    def _event(self) -> tuple[str, world.Event]:
        number = next(self._numbers)
        return f"e-{self._seed}-{number}", self._told[number % len(self._told)]

    def _by_nats(
        self, agent: str, sensor: BrokerClient
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        async def send() -> None:
            id_, event = self._event()
            subject = f"in.{agent}.{SENSOR}.{event.type}"
            await self.publish(sensor, subject, event.body, id_)
            self.account.events.add((agent, id_))

        return send

    async def publish(
        self, sensor: BrokerClient, subject: str, body: bytes, id_: str
    ) -> None:
        """Publish over NATS until it is acknowledged."""
        headers = {"ce-id": id_, "content-type": "application/json"}
        await self.account.sent.insisted(
            lambda: publish_raw(sensor, subject, body, headers)
        )

    def _by_http(
        self, agent: str, http: httpx.AsyncClient
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        async def send() -> None:
            count = self._rng.choice((1, _TOGETHER))
            told = [self._event() for _ in range(count)]
            body = [_as_request(each) for _, each in told]
            kept = await self.post(agent, http, "events", body, f"k-{told[0][0]}")
            for each in kept["events"]:
                if each["accepted"]:
                    self.account.events.add((agent, each["event_id"]))
                else:
                    self.account.refused.append(str(each["error"])[:300])

        return send

    async def post(
        self, agent: str, http: httpx.AsyncClient, path: str, body: Any, key: str
    ) -> dict[str, Any]:
        """Post something until it is acknowledged, or refused for good."""
        headers = {
            "Authorization": f"Bearer {self._home.tokens[agent]}",
            "Idempotency-Key": key,
            "Content-Type": "application/json",
        }

        async def once() -> dict[str, Any]:
            try:
                answer = await http.post(
                    f"/v1/{path}", content=orjson.dumps(body), headers=headers
                )
            except httpx.TransportError as error:
                raise AgainError(repr(error)) from error
            if answer.status_code in _TRANSIENT:
                raise AgainError(answer.text[:200])
            if not answer.is_success:
                raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")
            read: dict[str, Any] = answer.json()
            return read

        return await self.account.sent.insisted(once)


class _Hears:
    """Hears what one agent says, and judges some of it."""

    def __init__(
        self,
        senders: Senders,
        agent: str,
        sensor: BrokerClient,
        http: httpx.AsyncClient,
    ) -> None:
        self._senders, self._agent = senders, agent
        self._sensor, self._http = sensor, http
        self._numbers = iter(range(1 << 40))

    async def hear(self, message: Msg) -> None:
        """Note what is said, and judge it by turns in one of four ways, or not."""
        body = orjson.loads(message.data)
        decision = body.get("decision_id")
        if decision is None or message.subject.endswith(".part"):
            return
        account = self._senders.account
        is_new = decision not in account.heard
        account.heard.setdefault(decision, set()).add(str(body.get("text")))
        if not is_new:
            return
        ways: Sequence[Callable[[str], Coroutine[Any, Any, None]] | None] = (
            self._votes_over_http, self._votes_over_nats, self._reports_over_http,
            self._reports_over_nats, None,
        )  # fmt: skip
        way = ways[next(self._numbers) % len(ways)]
        if way is not None:
            self._senders.begin(way(decision))

    async def _votes_over_http(self, decision: str) -> None:
        body = {"decision_id": decision, "rating": "positive"}
        posted = await self._senders.post(
            self._agent, self._http, "feedback", body, f"v-{decision}"
        )
        if posted["accepted"]:
            self._voted(decision, CLIENT + self._agent, "positive")

    async def _votes_over_nats(self, decision: str) -> None:
        body = orjson.dumps({"decision_id": decision, "rating": "negative"})
        subject = f"in.{self._agent}.{SENSOR}.feedback"
        await self._senders.publish(self._sensor, subject, body, f"v-{decision}")
        self._voted(decision, SENSOR, "negative")

    def _voted(self, decision: str, actor: str, rating: str) -> None:
        self._senders.account.votes[self._agent, actor, decision] = rating

    async def _reports_over_http(self, decision: str) -> None:
        body = {"decision_id": decision, "outcome": "succeeded"}
        kept = await self._senders.post(
            self._agent, self._http, "outcomes", body, f"o-{decision}"
        )
        self._reported(kept["event_id"])

    async def _reports_over_nats(self, decision: str) -> None:
        body = {"text": "That failed.", "in_reply_to": decision, "outcome": "failed"}
        subject = f"in.{self._agent}.{SENSOR}.outcome"
        id_ = f"o-{decision}"
        await self._senders.publish(self._sensor, subject, orjson.dumps(body), id_)
        self._reported(id_)

    def _reported(self, id_: str) -> None:
        self._senders.account.events.add((self._agent, id_))
        self._senders.account.outcomes += 1


def _as_request(event: world.Event) -> dict[str, Any]:
    read: dict[str, Any] = orjson.loads(event.body)
    return {**read, "type": event.type}
