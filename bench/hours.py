"""Hours of the demo's game: the recorded evening again and again, sent until it is stored."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import NAMESPACE_OID, uuid5

import orjson
from msgspec import structs
from nats.errors import Error as NatsError

from echoic.client.connection import Connection
from echoic.client.playback import PlayedEvent, PlayedVote, played
from echoic.client.publish import decided_on, publish_raw, submit, tell
from echoic.client.sensor_access import sensor_credentials
from echoic.errors import EchoicError
from echoic.packs import bundled
from schemas.messages.controls import SessionStarted
from schemas.values.record import Wire
from schemas.values.subjects import partition_of
from streams.errors import StreamsError
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.session_files.file import read_session

T = TypeVar("T")
Item = PlayedEvent | PlayedVote

SOURCE = "crafter"
PATIENCE_S = 300.0
"""Seconds after which what is not acknowledged ends the run."""
PAUSE = timedelta(seconds=4)
"""Between one evening and the next; the recorded one takes 11 minutes and 26 seconds."""
PASSING = (NatsError, StreamsError, EchoicError, TimeoutError)
"""What a sender meets while the nodes elect another leader."""


@dataclass(slots=True)
class Sent:
    """What was sent, and what had to be sent again."""

    events: list[str] = field(default_factory=list)
    """The ids of the events that a broker has acknowledged."""
    votes: int = 0
    sent_again: int = 0
    """How often no acknowledgement came, so that the same was sent again."""
    longest_s: float = 0.0
    """The longest that one of them took, repetitions included."""
    longest_for: str = ""
    """What it met last before it succeeded."""

    async def insisted(self, act: Callable[[], Awaitable[T]]) -> T:
        """Do it again until it succeeds, and note how often and how long.

        Raises:
            TimeoutError: it did not within `PATIENCE_S`.
        """
        begun, met = time.monotonic(), ""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    result = await act()
                except PASSING as error:
                    met = repr(error)[:200]
                    self.sent_again += 1
                    await asyncio.sleep(0.2)
                else:
                    took_s = time.monotonic() - begun
                    if took_s > self.longest_s:
                        self.longest_s, self.longest_for = took_s, met
                    return result


def hours(agent: str, minutes: float) -> Iterator[Item]:
    """Yield the recorded evening again and again, each later than the one before.

    Ids are the same for the same agent. What happened after so many minutes is left out.
    """
    session = read_session(bundled.RECORDING)
    end = timedelta(minutes=minutes)
    begun: datetime | None = None
    shift = latest = timedelta()
    for number in itertools.count():
        for item in played(session, agent, uuid5(NAMESPACE_OID, f"{agent} {number}")):
            if isinstance(item, PlayedEvent):
                at = item.event.occurred_at
                if at is None:
                    raise ValueError(f"{item.id}: the recording does not say when")
                begun = begun or at
                latest = at + shift - begun
                if latest >= end:
                    return
                item = _at(item, at + shift)
            yield item
        shift = latest + PAUSE


def _at(item: PlayedEvent, at: datetime) -> PlayedEvent:
    body = orjson.loads(item.wire.body) | {"occurred_at": at.isoformat()}
    return replace(item, wire=structs.replace(item.wire, body=orjson.dumps(body)))


async def play(connection: Connection, agent: str, minutes: float, sent: Sent) -> None:
    """Send it with a sensor's rights, each item once the one before is acknowledged."""
    begun = SessionStarted(session_id="hours", title="Hours of Crafter", clock="event")
    await tell(connection.log, agent, begun)
    credentials = await sensor_credentials(connection.settings, agent, SOURCE)
    events: dict[str, PlayedEvent] = {}
    async with connected(credentials, "crafter") as sensor:
        for item in hours(agent, minutes):
            if isinstance(item, PlayedEvent):
                events[item.id] = item
                await sent.insisted(partial(_publish, sensor, item.wire))
                sent.events.append(item.id)
            else:
                event = events[item.event_id]
                await sent.insisted(partial(_vote, connection, agent, event, item))
                sent.votes += 1


async def _publish(sensor: BrokerClient, wire: Wire) -> None:
    await publish_raw(sensor, wire.subject, wire.body, wire.headers)


async def _vote(
    connection: Connection, agent: str, event: PlayedEvent, vote: PlayedVote
) -> None:
    # The recorded decision has another id here; the vote follows its event.
    told = event.event
    record = await decided_on(
        connection.log, agent, told.source, told.type, event.id, 0
    )
    given = structs.replace(vote.given, decision_id=record.id)
    # Under an id of its own, so that the broker knows it if it is sent again.
    id_ = str(uuid5(NAMESPACE_OID, f"{event.id} {given.rating}"))
    partition = partition_of(agent)
    await submit(connection.log, agent, given, partition=partition, id_=id_)
