"""Events and votes of several agents, sent until acknowledged, and what came of them."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import NAMESPACE_OID, uuid5

import orjson

from bench.hours import Sent
from bench.open_loop import DECIDED
from echoic.client.connection import Connection
from echoic.client.publish import decided_on, publish, submit
from echoic.client.sensor_access import sensor_credentials
from schemas.messages.feedback import FeedbackGiven
from schemas.messages.sensing import Sensed
from schemas.values.record import Record
from schemas.values.subjects import partition_of
from streams.jetstream.connection import connected
from streams.jetstream.hardened_client import BrokerClient
from streams.log import ReadableLog, scan

SOURCE, TYPE = "crafter", "vital"
TEXTS = ("Player health is low", "It gets dark", "Cow nearby", "Food is low")
VOTED = 8
"""Each event of this number is voted on once it is decided."""
EVENTS = "ev.*.in.*.sensor.>"
VOTES = "ev.*.in.*.feedback.>"


@dataclass
class Told:
    """What several agents were told, in the order of telling."""

    events: dict[str, list[str]]
    """By agent: ids of the acknowledged events."""
    first_sent_ns: dict[str, int] = field(default_factory=dict)
    acknowledged_ns: dict[str, int] = field(default_factory=dict)
    votes: list[str] = field(default_factory=list)
    """Ids of votes that were answered."""
    sent: Sent = field(default_factory=Sent)

    @property
    def ids(self) -> list[str]:
        """The ids of all acknowledged events."""
        return [*itertools.chain.from_iterable(self.events.values())]


async def tell(
    connection: Connection, told: Told, pause_s: float, end: asyncio.Event
) -> None:
    """Tell each agent events until the end, each once the one before is acknowledged."""
    async with asyncio.TaskGroup() as group:
        for agent in told.events:
            decided: asyncio.Queue[str | None] = asyncio.Queue()
            telling = _events(connection, agent, told, decided, pause_s, end)
            group.create_task(telling)
            group.create_task(_votes(connection, agent, told, decided))


async def _events(
    connection: Connection,
    agent: str,
    told: Told,
    decided: "asyncio.Queue[str | None]",
    pause_s: float,
    end: asyncio.Event,
) -> None:
    credentials = await sensor_credentials(connection.settings, agent, SOURCE)
    async with connected(credentials, "crafter") as sensor:
        for number, text in enumerate(itertools.cycle(TEXTS), len(told.events[agent])):
            if end.is_set():
                break
            id_ = str(uuid5(NAMESPACE_OID, f"{agent} {number}"))
            told.first_sent_ns[id_] = time.time_ns()
            await told.sent.insisted(partial(_publish, sensor, agent, id_, text))
            told.acknowledged_ns[id_] = time.time_ns()
            told.events[agent].append(id_)
            if number % VOTED == 0:
                decided.put_nowait(id_)
            await asyncio.sleep(pause_s)
    decided.put_nowait(None)


async def _publish(sensor: BrokerClient, agent: str, id_: str, text: str) -> None:
    event = Sensed(source=SOURCE, type=TYPE, text=text, fields={"health": 1})
    await publish(sensor, agent, event, event_id=id_)


async def _votes(
    connection: Connection, agent: str, told: Told, decided: "asyncio.Queue[str | None]"
) -> None:
    log = connection.log
    while (event_id := await decided.get()) is not None:
        wait = partial(decided_on, log, agent, SOURCE, TYPE, event_id, 0)
        record = await told.sent.insisted(wait)
        given = FeedbackGiven(decision_id=record.id, rating="positive", actor="user")
        id_ = str(uuid5(NAMESPACE_OID, f"{event_id} positive"))
        place = partition_of(agent)
        await told.sent.insisted(
            partial(submit, log, agent, given, partition=place, id_=id_)
        )
        told.votes.append(id_)


@dataclass(frozen=True, slots=True)
class Found:
    """What the log has of what was told."""

    lost: int
    """Acknowledged events, and answered votes, that it does not have."""
    stored_twice: int
    """Events sent again although they were stored: the mind refuses the second."""
    undecided: int
    decided_twice: int
    votes_twice: int
    """Votes stored twice: a person's second one on a decision replaces the first."""
    out_of_order: int
    """Events that were stored or decided before one that was told earlier."""
    longest_pause_s: float
    """Between two decisions that follow each other, by the broker's times."""
    to_acknowledge_s: float
    """The longest from the first sending of an event to its acknowledgement."""
    to_arrive_s: float
    """The longest from there until it is in the log."""
    to_decide_s: float
    """The longest from there to its decision."""
    slowest_s: float
    """The longest from the first sending to the decision."""

    @property
    def is_sound(self) -> bool:
        """Whether everything is there, once, and in order."""
        return not (self.lost + self.undecided + self.decided_twice + self.out_of_order)


async def found(log: ReadableLog, told: Told, since_ns: int = 0) -> Found:
    """Count what the log has; of what was first sent since a time, tell how long it took."""
    arrived = [each async for each in scan(log, EVENTS, 0)]
    stored = [each.headers["ce-id"] for each in arrived]
    decided = [each async for each in scan(log, DECIDED, 0) if _is_of_its_cause(each)]
    causes = [each.headers["ce-causeid"] for each in decided]
    votes = Counter([each.headers["ce-id"] async for each in scan(log, VOTES, 0)])
    copies, answers = Counter(stored), Counter(causes)
    ids = told.ids
    return Found(
        lost=sum(not copies[id_] for id_ in ids) + len({*told.votes} - votes.keys()),
        stored_twice=sum(count > 1 for count in copies.values()),
        undecided=sum(not answers[id_] for id_ in ids),
        decided_twice=sum(count > 1 for count in answers.values()),
        votes_twice=sum(count > 1 for count in votes.values()),
        out_of_order=_disorder(told.events, stored) + _disorder(told.events, causes),
        longest_pause_s=_longest_pause_s(decided, since_ns),
        **_longest_s(
            told, _times(arrived, "ce-id"), _times(decided, "ce-causeid"), since_ns
        ),
    )


def _times(records: Sequence[Record], header: str) -> dict[str, int]:
    """Return the broker's first time by what a header says."""
    return {each.headers[header]: each.time_ns for each in reversed(records)}


def _longest_s(
    told: Told, arrived: Mapping[str, int], decided: Mapping[str, int], since_ns: int
) -> dict[str, float]:
    counted = [
        (sent, told.acknowledged_ns[id_], arrived[id_], decided[id_])
        for id_, sent in told.first_sent_ns.items()
        if sent >= since_ns
        and id_ in told.acknowledged_ns
        and id_ in arrived
        and id_ in decided
    ]
    return {
        "to_acknowledge_s": max(each[1] - each[0] for each in counted) / 1e9,
        "to_arrive_s": max(each[2] - each[1] for each in counted) / 1e9,
        "to_decide_s": max(each[3] - each[2] for each in counted) / 1e9,
        "slowest_s": max(each[3] - each[0] for each in counted) / 1e9,
    }


def _is_of_its_cause(decided: Record) -> bool:
    """Whether it answers the event that caused its group, and not a timer that was due."""
    return bool(orjson.loads(decided.body)["event_id"] == decided.headers["ce-causeid"])


def _disorder(told: Mapping[str, Sequence[str]], ids: Sequence[str]) -> int:
    first = {id_: place for place, id_ in reversed([*enumerate(ids)])}
    return sum(
        first[one] > first[other]
        for agent in told.values()
        for one, other in itertools.pairwise(id_ for id_ in agent if id_ in first)
    )


def _longest_pause_s(decided: Sequence[Record], since_ns: int) -> float:
    times: Iterator[int] = (each.time_ns for each in decided)
    counted = [each for each in times if each >= since_ns]
    return max((b - a for a, b in itertools.pairwise(counted)), default=0) / 1e9
