"""A broker that stands still, as in a paused virtual machine, as first events are sent to it.

The intake streams were never used, whoever sends waits for the acknowledgement and never sends
again, and what came of it is read with the plain client of NATS: nothing of it is our own.
"""

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import nats
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig

from schemas.messages.decisions import Decided
from schemas.values.subjects import PARTITIONS, partition_of
from streams.jetstream.accounts import Credentials

RETURN_S = 30.0
"""Within so many seconds of the broker's return the log has all of it."""

_ANSWER_S = 120.0
_PAGE = 500


@dataclass(slots=True)
class Stood:
    """What came of it."""

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    """What the log does not have in time."""
    again: list[str] = field(default_factory=list)
    """What the log has more than once."""
    undecided: list[str] = field(default_factory=list)
    """Agents with another number of decisions than of events."""
    whole_after_s: float = 0.0
    """Seconds after the broker's return, after which the log had all of it."""

    @property
    def faults(self) -> list[str]:
        """What was found wrong, in words."""
        told = {
            "acknowledged while the broker stood still and not in the log": self.lost,
            "in the log more than once": self.again,
            "with more or fewer decisions than events": self.undecided,
        }
        return [
            f"{len(each)} {what}: {each[:5]}" for what, each in told.items() if each
        ]


def unused(begin: str) -> Iterator[str]:
    """Yield names of agents, each of a partition of its own."""
    seen = set[int]()
    number = 0
    while len(seen) < PARTITIONS:
        number += 1
        if (partition := partition_of(f"{begin}{number}")) not in seen:
            seen.add(partition)
            yield f"{begin}{number}"


async def stand_still(
    process_id: int,
    core: Credentials,
    sensors: Mapping[str, Credentials],
    *,
    events: int = 40,
    seconds: float = 30.0,
) -> Stood:
    """Stop the broker while each sensor sends so many events, and compare once it is back.

    Args:
        process_id: Of the broker.
        core: Credentials that may read all streams.
        sensors: The credentials of `cam`, by agent.
        events: Of each.
        seconds: For which the broker stands still.
    """
    clients = {agent: await _connected(each) for agent, each in sensors.items()}
    stood, sending = Stood(), list[asyncio.Task[str]]()
    os.kill(process_id, signal.SIGSTOP)
    try:
        for agent, client in clients.items():
            sending += [
                asyncio.create_task(_send(client, agent, number))
                for number in range(events)
            ]
        await asyncio.sleep(seconds)
    finally:
        os.kill(process_id, signal.SIGCONT)
    returned = time.monotonic()
    sent = await asyncio.gather(*sending)
    stood.acknowledged = len(sent)
    for client in clients.values():
        await client.close()
    await compare(core, sent, stood, returned)
    return stood


async def _connected(credentials: Credentials) -> Client:
    return await nats.connect(
        credentials.url,
        user=credentials.user,
        password=credentials.password,
        inbox_prefix=credentials.inbox_prefix.encode(),
        # Who stands still answers no ping.
        ping_interval=600,
        allow_reconnect=False,
    )


async def _send(client: Client, agent: str, number: int) -> str:
    """Send an event once, each second one without an id, and wait until it is stored."""
    text = f"{agent}/{number}"
    body = json.dumps({"text": text}).encode()
    headers = {"ce-id": text} if number % 2 else None
    reply = await client.request(
        f"in.{agent}.cam.seen", body, _ANSWER_S, headers=headers
    )
    if "seq" not in json.loads(reply.data):
        raise RuntimeError(f"{text} was refused: {reply.data!r}")
    return text


async def compare(
    core: Credentials, sent: Sequence[str], stood: Stood, returned: float
) -> None:
    """Read the log until it has all that was sent, with a decision for each, or time is up."""
    agents = Counter(each.partition("/")[0] for each in sent)
    client = await _connected(core)
    try:
        while True:
            texts, decided = await _read(client, agents)
            stood.lost = [each for each in sent if not texts[each]]
            stood.again = [each for each, count in texts.items() if count > 1]
            stood.undecided = [each for each in agents if decided[each] != agents[each]]
            stood.whole_after_s = time.monotonic() - returned
            # Whatever is in the log is decided a moment later.
            late = stood.whole_after_s > RETURN_S
            if late and (stood.lost or stood.whole_after_s > 2 * RETURN_S):
                return
            if not stood.faults:
                return
            await asyncio.sleep(0.5)
    finally:
        await client.close()


async def _read(
    client: Client, agents: Mapping[str, int]
) -> tuple[Counter[str], Counter[str]]:
    """Return the events that the log has, by text, and the decisions of each agent."""
    texts, decided = Counter[str](), Counter[str]()
    for agent in agents:
        reader = await client.jetstream().pull_subscribe(
            f"ev.*.*.{agent}.>",
            stream="LOG",
            config=ConsumerConfig(ack_policy=AckPolicy.NONE, inactive_threshold=60),
        )
        left = (await reader.consumer_info()).num_pending or 0
        while left > 0:
            page = await reader.fetch(min(_PAGE, left), timeout=10)
            left -= len(page)
            for each in page:
                if ".in." in each.subject and ".sensor." in each.subject:
                    texts[json.loads(each.data)["text"]] += 1
                if each.subject.endswith(f".{Decided.token}"):
                    decided[agent] += 1
        await reader.unsubscribe()
    return texts, decided
