"""Ownership of partitions: each worker process answers for its own, over NATS.

The instance's process answers callers for all agents; for an agent of another process it
forwards the request to that process.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error, NoRespondersError

from schemas.values.subjects import PARTITIONS, partition_of, read_range
from streams.errors import LogUnavailable

_WHO = "svc._.owners"
"""Every worker answers; only our own account may ask."""

_ASKED_S = 10.0
"""Seconds that an answer for an agent may take: longer than a partition goes without an owner
when that is killed."""

ATTEMPT_S = 2.5
"""Seconds until the owner is asked again: it may be another by then."""

_AGAIN_S = 0.1
"""Seconds after which a partition that nobody answers for is asked for again."""

_MOVED = {"moved": True}
"""The answer of a process that was asked for a partition which it does not own any more."""

_GATHERED_S = 0.5
"""Seconds to wait for all processes to say what they own."""

_Reply = dict[str, Any]
_State = Callable[[str], Awaitable[Mapping[str, object] | None]]
_Call = Callable[[str, Mapping[str, Any]], Awaitable[_Reply]]


@dataclass(frozen=True, slots=True)
class Owner:
    """A worker and its partitions."""

    name: str
    host: str
    pid: int
    range: str
    """Those that it owns or stands by for, as `worker.partitions` names them."""
    has_standbys: bool
    """Whether others with the same range stand by for it, or may."""
    partitions: tuple[int, ...] = ()
    """Those that it owns now."""


class Desk:
    """Answers requests for the partitions of this process, whichever these are now."""

    def __init__(
        self,
        client: Client,
        owns: Callable[[int], bool],
        state: _State,
        calls: Mapping[str, _Call],
        about: Owner,
    ) -> None:
        """Answer for the partitions that `owns` tells of; `calls` are by name.

        `about` tells who this is, and of which partitions it may be asked.
        """
        self._client = client
        self._about = about
        self._owns = owns
        self._state = state
        self._calls = calls
        self._open: dict[int, Subscription] = {}

    async def start(self) -> None:
        """Tell whoever asks which partitions these are."""
        await self._client.subscribe(_WHO, cb=self._tell_who)

    async def open(self, partition: int) -> None:
        """Answer for a partition from now on."""
        if partition not in self._open:
            self._open[partition] = await self._client.subscribe(
                _subject(partition), cb=self._answer
            )

    async def close(self, partition: int) -> None:
        """Answer for a partition no more."""
        if (subscription := self._open.pop(partition, None)) is not None:
            # A connection that is away has lost it already.
            with suppress(Error, OSError):
                await subscription.unsubscribe()

    async def _tell_who(self, message: Msg) -> None:
        own = tuple(each for each in read_range(self._about.range) if self._owns(each))
        await message.respond(orjson.dumps(replace(self._about, partitions=own)))

    async def _answer(self, message: Msg) -> None:
        asked = orjson.loads(message.data)
        agent, call = asked["agent"], asked.get("call")
        partition = partition_of(agent)
        found: object = _MOVED
        if self._owns(partition):
            if call is None:
                found = await self._state(agent)
            else:
                found = await self._calls[call](agent, asked["body"])
        # Looked at again, for a process may be stopped in the middle of it.
        if not self._owns(partition):
            found = _MOVED
        await message.respond(orjson.dumps(found))


async def state_elsewhere(client: Client, agent: str) -> Mapping[str, object] | None:
    """Return an agent's state from the owner of its partition; None if it has none.

    Raises:
        LogUnavailable: the owner does not answer.
    """
    found: Mapping[str, object] | None = await _ask(client, {"agent": agent})
    return found


async def called_elsewhere(
    client: Client, call: str, agent: str, body: Mapping[str, Any]
) -> _Reply:
    """Return the reply of the owner of an agent's partition to a call.

    Raises:
        LogUnavailable: the owner does not answer.
    """
    asked = {"agent": agent, "call": call, "body": dict(body)}
    found: _Reply = await _ask(client, asked)
    return found


async def owners(client: Client) -> tuple[Owner, ...]:
    """Return every worker that answers, owners and who stands by."""
    found: list[Owner] = []
    complete = asyncio.Event()

    async def hear(message: Msg) -> None:
        # The server's 503: nobody subscribes to the subject.
        if not message.data:
            complete.set()
            return
        fields = orjson.loads(message.data)
        found.append(Owner(**{**fields, "partitions": tuple(fields["partitions"])}))
        # All partitions are accounted for, so nobody is left to wait for.
        if not unowned(found) and not any(each.has_standbys for each in found):
            complete.set()

    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, cb=hear)
    try:
        # Not a request, which ends with the first reply.
        await client.publish(_WHO, reply=inbox)
        async with asyncio.timeout(_GATHERED_S):
            await complete.wait()
    # Whoever is silent so long is left out; `unowned` shows which partitions that concerns.
    except TimeoutError:
        pass
    finally:
        await subscription.unsubscribe()
    return tuple(sorted(found, key=lambda each: (read_range(each.range), each.name)))


def unowned(found: Sequence[Owner]) -> list[int]:
    """Return the partitions that none of some workers owns."""
    owned = {partition for each in found for partition in each.partitions}
    return [each for each in range(PARTITIONS) if each not in owned]


async def _ask(client: Client, asked: Mapping[str, Any]) -> Any:
    """Return what the owner of an agent's partition says; wait while the partition moves.

    Raises:
        LogUnavailable: nobody owns it in time, or its owner does not answer.
    """
    subject, request = _subject(partition_of(asked["agent"])), orjson.dumps(asked)
    loop = asyncio.get_running_loop()
    end = loop.time() + _ASKED_S
    error: Exception | None = None
    while (left := end - loop.time()) > 0:
        try:
            reply = await client.request(subject, request, min(left, ATTEMPT_S))
            found = orjson.loads(reply.data)
            if found != _MOVED:
                return found
        # Nobody answers for it just now, or whoever did is being replaced.
        except (NoRespondersError, TimeoutError) as nobody:
            error = nobody
        except (Error, OSError) as away:
            error = away
            break
        await asyncio.sleep(_AGAIN_S)
    raise LogUnavailable(
        f"the worker of {asked['agent']!r} does not answer ({error!r}):"
        " it may be starting"
    ) from error


def _subject(partition: int) -> str:
    return f"svc._.owner.{partition}"
