"""Sources of the log that the server asks again too late, or has no more.

A node of a cluster that comes to lead the log asks for the consumer of each intake stream. If
that has no leader yet, nats-server 2.15.1 waits for an answer that never comes, and then 10 s
and more before it asks again. A source that is taken out of the log's configuration and put
back is asked for at once.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from streams.jetstream.connection import insist
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.migrate import without
from streams.jetstream.one_instance import OneInstance
from streams.jetstream.registry import load
from streams.segment_streams import sources_of
from streams.segments import Segment, Segments

SILENT_NS = 3_000_000_000
"""Nanoseconds without a heartbeat, which come each second, after which a source is silent."""

FIRST_S = 2.0
"""Seconds for which a source is silent before it is asked again; the next time twice as long,
since a busy server that answers late would never come to its answer."""

_log = logging.getLogger(__name__)


class SilentSources:
    """The sources of the log that nothing is heard of, and when each is asked again."""

    def __init__(self, client: BrokerClient, alone: OneInstance) -> None:
        """Use a connection, which the caller closes, in turns with other instances."""
        self._client = client
        self._alone = alone
        self._waits: dict[str, Waits] = {}

    async def look(self) -> None:
        """Have those that are due asked again.

        Raises:
            StreamsError: the broker is away, or refuses.
        """
        segments, _ = await load(self._client)
        # A roll-over closes the intake, and opens it.
        for segment in () if segments.preparing else segments.open:
            subject = f"$JS.API.STREAM.INFO.{segment.stream}"
            info = await insist(self._client, subject, {})
            found = silent(info, sources_of(segment, segments))
            if due := self._waits.setdefault(segment.stream, Waits()).due(found):
                async with self._alone.turn() as may:
                    if may:
                        await ask_again(self._client, segments, segment, due)


async def ask_again(
    client: BrokerClient, segments: Segments, segment: Segment, names: Collection[str]
) -> None:
    """Take sources out of a segment's configuration, and put them back.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    _log.info("%s asks again for %s", segment.stream, ", ".join(sorted(names)))
    async with without(client, segments, segment, names):
        pass


def silent(info: Mapping[str, Any], wanted: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the names of the sources that a stream hears nothing of, or does not have.

    One that was taken out is missing if it could not be put back.
    """
    live = info.get("sources") or ()
    missing = {str(each["name"]) for each in wanted} - {each["name"] for each in live}
    # -1: not since its node leads it.
    return missing | {
        each["name"] for each in live if not 0 <= each["active"] <= SILENT_NS
    }


class Waits:
    """Since when sources are silent, and when each is due to be asked again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with none; `clock` counts seconds."""
        self._clock = clock
        self._until: dict[str, tuple[float, float]] = {}
        """By name: when it is due, and how long it waits then."""

    def due(self, names: set[str]) -> set[str]:
        """Return which of the silent sources are due now; the others have been heard."""
        now = self._clock()
        for heard in self._until.keys() - names:
            del self._until[heard]
        found = set()
        for name in names:
            due, wait = self._until.setdefault(name, (now + FIRST_S, FIRST_S))
            if now >= due:
                self._until[name] = now + 2 * wait, 2 * wait
                found.add(name)
        return found
