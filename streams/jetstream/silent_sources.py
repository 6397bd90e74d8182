"""Sources that a cluster's log hears nothing of, and another leader that asks for them anew.

A node that comes to lead the log asks for the consumer of each intake stream once. If that has
no leader yet, nats-server 2.15.1 waits 5 s for the answer, and may wait 10 s more until it asks
again. A node that has just come to lead asks at once. To hand over to one that has all of the
log takes milliseconds, to any other one a whole election. A source that was heard before needs
none of this: it is heard again once its consumer is led.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from streams.cancellation import heed_cancellation
from streams.errors import StreamsError
from streams.jetstream.connection import answer, call, translated
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.majority import is_of_a_cluster
from streams.jetstream.registry import Registry
from streams.topology import NANOSECONDS

LOOK_S = 0.5
"""Seconds between two looks."""

_ANSWER_S = 1.0
"""Seconds for which a look waits for an answer."""

_SILENT_S = 3.0
"""Seconds without a sign of life, of which a source gives one a second, after which it is
silent."""

_SPOKEN_S = 1.5
"""Seconds for which the consumer of a source that was heard before has to be led until the
source counts as missing."""

PATIENCE_S = 0.9, 0.9, 0.9, 2.0, 4.0, 8.0, 16.0, 32.0
"""Seconds for which one leader after the other is let try. Where all is well it takes one up to
.8 s until it has asked for all; a cluster that is busy needs more."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Silent:
    """A source that the stream's leader hears nothing of."""

    name: str
    consumer: str
    """The subject on which whoever leads its consumer is asked about it."""
    was_heard: bool
    """Whether this leader has heard of it before."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at a stream found."""

    leader: str | None = None
    missing: frozenset[str] = frozenset()
    """The sources of which the leader heard nothing."""
    tried: int = 0
    """The leaders that were made to hand over since all sources were heard."""


async def keep_hearing(client: BrokerClient) -> None:
    """Have another node lead each segment that does not hear its sources, until cancelled.

    A broker that is one node alone is left as it is.
    """
    looked: dict[str, Looked] = {}
    registry = Registry(client)
    while True:
        heed_cancellation()
        await asyncio.sleep(LOOK_S)
        if not is_of_a_cluster(client):
            continue
        try:
            segments = await registry.current()
            # A roll-over closes the intake, and opens it.
            for each in () if segments.preparing else segments.open:
                before = looked.get(each.stream, Looked())
                looked[each.stream] = await look(client, each.stream, before)
        except StreamsError as error:
            _log.info("not looked for sources that are silent: %s", error)


async def look(client: BrokerClient, stream: str, before: Looked) -> Looked:
    """Have another node lead a stream whose leader hears nothing of a source for too long.

    That takes two looks, this one and the one `before`: of a source that was just added
    nothing was heard either.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    info = await _info(client, stream)
    found = _looked(info, before.tried)
    if not found.missing:
        return found
    missing = before.missing & found.missing
    if found.leader != before.leader or not missing:
        return found
    speaking = await asyncio.gather(
        *(_speaks(client, each) for each in silent(info) if each.name in missing)
    )
    # Rather once, for all of them; but not for ever because of one.
    turns = 1 if all(speaking) else 2
    if not any(speaking) or not is_due(info, before.tried, turns):
        return found
    # Another instance may have done it while we asked.
    info = await _info(client, stream)
    again, successor = _looked(info, before.tried), successor_of(info)
    if again.leader != found.leader or not missing & again.missing or not successor:
        return again
    to = {"placement": {"preferred": successor}}
    await call(client, f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}", to)
    names = ", ".join(sorted(missing))
    _log.warning("%s does not hear %s: another node leads it now", stream, names)
    return Looked(tried=before.tried + 1)


def is_due(info: Mapping[str, Any], tried: int, turns: int = 1) -> bool:
    """Whether a stream's leader has had its time: `turns` times what this one is given."""
    return led_for_s(info) >= turns * PATIENCE_S[min(tried, len(PATIENCE_S) - 1)]


def _looked(info: Mapping[str, Any], tried: int) -> Looked:
    missing = frozenset(each.name for each in silent(info))
    leader = (info.get("cluster") or {}).get("leader")
    return Looked(leader, missing, tried if missing else 0)


async def _speaks(client: BrokerClient, source: Silent) -> bool:
    """Whether a silent source could be heard: its consumer has had a leader for a while."""
    # For one without a leader a replica answers, after a while, or nobody.
    with suppress(StreamsError):
        info = await _asked(client, source.consumer)
        if (info.get("cluster") or {}).get("leader"):
            return not source.was_heard or led_for_s(info) >= _SPOKEN_S
    return False


async def _info(client: BrokerClient, stream: str) -> dict[str, Any]:
    """Return what a stream's leader tells of it, if it answers soon."""
    return await _asked(client, f"$JS.API.STREAM.INFO.{stream}")


async def _asked(client: BrokerClient, subject: str) -> dict[str, Any]:
    with translated(repr(subject)):
        return answer(subject, await client.request(subject, b"{}", _ANSWER_S))


def silent(info: Mapping[str, Any]) -> list[Silent]:
    """Return the sources that a stream hears nothing of, as it tells itself."""
    configured = (info.get("config") or {}).get("sources") or ()
    durable = {each["name"]: each.get("consumer") for each in configured}
    # -1: not since its node leads it.
    return [
        Silent(each["name"], _consumer(each["name"], durable), each["active"] >= 0)
        for each in info.get("sources") or ()
        if not 0 <= each["active"] < _SILENT_S * NANOSECONDS
    ]


def _consumer(name: str, durable: Mapping[str, Any]) -> str:
    # One that is not durable is where its stream is led.
    consumer = durable.get(name)
    if consumer is None:
        return f"$JS.API.STREAM.INFO.{name}"
    return f"$JS.API.CONSUMER.INFO.{name}.{consumer['name']}"


def successor_of(info: Mapping[str, Any]) -> str | None:
    """Return the replica of a stream that can lead it at once; None if none can.

    The server would choose any that is connected. One that lacks the end of the log is not
    elected, and an election takes seconds.
    """
    replicas = (info.get("cluster") or {}).get("replicas") or ()
    able = [each for each in replicas if each["current"] and not each.get("offline")]
    heard_last = min(able, key=itemgetter("active"), default=None)
    return heard_last and str(heard_last["name"])


def led_for_s(info: Mapping[str, Any]) -> float:
    """Return for how many seconds a stream has had its leader, by the server's clock.

    0 if it does not tell, as a server before 2.12.
    """
    now, since = info.get("ts"), (info.get("cluster") or {}).get("leader_since")
    if now is None or since is None:
        return 0.0
    led = datetime.fromisoformat(now) - datetime.fromisoformat(since)
    return led.total_seconds()
