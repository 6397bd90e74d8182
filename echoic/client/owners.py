"""Ownership of partitions: each worker process answers for its own, over NATS.

The instance's process answers callers for all agents; for an agent of another process it
forwards the request to that process.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from schemas.values.subjects import PARTITIONS, partition_of
from streams.errors import LogUnavailable

WHO = "svc._.owners"
"""Every process answers; only our own account may ask."""

ASKED_S = 5.0
"""Seconds that a process may take to answer for an agent."""

GATHERED_S = 0.5
"""Seconds to wait for all processes to say what they own."""

Reply = dict[str, Any]
State = Callable[[str], Awaitable[Mapping[str, object] | None]]
Call = Callable[[str, Mapping[str, Any]], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Owner:
    """A process and its partitions."""

    pid: int
    partitions: tuple[int, ...]


async def answer(
    client: Client, partitions: Sequence[int], state: State, calls: Mapping[str, Call]
) -> None:
    """Answer requests for this process's partitions and agents; `calls` are by name."""
    # Encoded once: a process keeps its partitions for as long as it runs.
    own = orjson.dumps({"pid": os.getpid(), "partitions": partitions})

    async def who(message: Msg) -> None:
        await message.respond(own)

    async def tell(message: Msg) -> None:
        asked = orjson.loads(message.data)
        agent, call = asked["agent"], asked.get("call")
        wanted = state(agent) if call is None else calls[call](agent, asked["body"])
        found = await wanted
        await message.respond(orjson.dumps(found))

    await client.subscribe(WHO, cb=who)
    for partition in partitions:
        await client.subscribe(_subject(partition), cb=tell)


async def state_elsewhere(client: Client, agent: str) -> Mapping[str, object] | None:
    """Return an agent's state from the owner of its partition; None if it has none.

    Raises:
        LogUnavailable: the owner does not answer.
    """
    found: Mapping[str, object] | None = await _ask(client, {"agent": agent})
    return found


async def called_elsewhere(
    client: Client, call: str, agent: str, body: Mapping[str, Any]
) -> Reply:
    """Return the reply of the owner of an agent's partition to a call.

    Raises:
        LogUnavailable: the owner does not answer.
    """
    asked = {"agent": agent, "call": call, "body": dict(body)}
    found: Reply = await _ask(client, asked)
    return found


async def owners(client: Client) -> tuple[Owner, ...]:
    """Return every process that answers; () if the instance's own is the only one."""
    found: list[Owner] = []
    complete = asyncio.Event()

    async def hear(message: Msg) -> None:
        # The server's 503: nobody subscribes to the subject.
        if not message.data:
            complete.set()
            return
        fields = orjson.loads(message.data)
        found.append(Owner(fields["pid"], tuple(fields["partitions"])))
        # All partitions are accounted for, so nobody is left to wait for.
        if not unowned(found):
            complete.set()

    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, cb=hear)
    try:
        # Not a request, which ends with the first reply.
        await client.publish(WHO, reply=inbox)
        async with asyncio.timeout(GATHERED_S):
            await complete.wait()
    # Whoever is silent so long is left out; `unowned` shows which partitions that concerns.
    except TimeoutError:
        pass
    finally:
        await subscription.unsubscribe()
    return tuple(sorted(found, key=lambda each: each.partitions))


def unowned(found: Sequence[Owner]) -> list[int]:
    """Return the partitions that none of some processes owns."""
    owned = {partition for each in found for partition in each.partitions}
    return [each for each in range(PARTITIONS) if each not in owned]


async def _ask(client: Client, asked: Mapping[str, Any]) -> Any:
    subject = _subject(partition_of(asked["agent"]))
    try:
        reply = await client.request(subject, orjson.dumps(asked), timeout=ASKED_S)
    except (Error, OSError) as error:
        raise LogUnavailable(
            f"the worker of {asked['agent']!r} does not answer ({error!r}):"
            " it may be starting"
        ) from error
    return orjson.loads(reply.data)


def _subject(partition: int) -> str:
    return f"svc._.owner.{partition}"
