"""Where the messages of the log came from, as the log itself tells.

The server writes into each message that it sources of which intake stream it is, and we do so
into each that we bring over ourselves.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

from schemas.values.record import Record
from streams.errors import LogUnavailable
from streams.jetstream.ephemeral import ASKED_AT_ONCE, Consumer
from streams.jetstream.hardened_client import BrokerClient
from streams.topology import BOX_SUBJECTS, IN, SENSOR_SUBJECTS

BROUGHT_FROM = "ce-broughtfrom"
"""The header of a message that we brought over: its intake stream, and its sequence there."""

SENSED = "ev.*.in.*.sensor.>"
EVERYWHERE = (SENSED, SENSOR_SUBJECTS, BOX_SUBJECTS, "ev.*.in.*.stray.>")
"""The subjects under which the log has what intake streams held."""

_SOURCED = re.compile(rb"Nats-Stream-Source: (\w+)[^ ]* (\d+) [^ ]+ [^ ]+ ([^ \r]+)")
"""Stream (and a hash of the consumer), sequence, filters, transforms, subject over there. The
server joins several filters with form feeds, and begins no line of its own where a sensor's
headers lack their last line break."""

_BROUGHT = re.compile(rb"\r\n%b: (\w+) (\d+)\r" % BROUGHT_FROM.encode())


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a message of the log came from."""

    stream: str
    sequence: int
    name: str = ""
    """The source as `Segment.begins` names it; empty if the server did not source it."""
    position: int = 0
    """The sequence in the stream of the log."""


@dataclass(frozen=True, slots=True)
class _Page:
    """Some origins, in the order of the log, and how far the log was read for them."""

    origins: list[Origin]
    position: int


def since(moment: str) -> dict[str, Any]:
    """Return where a reading begins: at a moment (RFC 3339)."""
    return {"deliver_policy": "by_start_time", "opt_start_time": moment}


def behind(position: int) -> dict[str, Any]:
    """Return where a reading begins: behind a sequence of the log."""
    return {"deliver_policy": "by_start_sequence", "opt_start_seq": position + 1}


async def pages(
    client: BrokerClient, stream: str, filters: tuple[str, ...], start: dict[str, Any]
) -> AsyncIterator[_Page]:
    """Yield where the messages of a stream of the log came from, up to its present end.

    Raises:
        LogUnavailable: the reader was lost; what was yielded is right.
    """
    async with _Reader(client, stream, filters, start) as reader:
        while not reader.is_at_end:
            if await reader.rest(ASKED_AT_ONCE) is None:
                raise LogUnavailable(f"the reader of {stream!r} was lost: try again")
            found, reader.found = reader.found, []
            yield _Page(found, reader.position)


async def last_of_each(
    client: BrokerClient, stream: str, filters: tuple[str, ...], moment: str
) -> dict[str, int]:
    """Return the last sequence that the server sourced of each source since a moment."""
    last: dict[str, int] = {}
    async for page in pages(client, stream, filters, since(moment)):
        for each in page.origins:
            if each.name:
                last[each.name] = max(each.sequence, last.get(each.name, 0))
    return last


class _Reader(Consumer):
    """Reads where messages came from, and nothing else of them."""

    def __init__(
        self,
        client: BrokerClient,
        stream: str,
        filters: tuple[str, ...],
        start: dict[str, Any],
    ) -> None:
        super().__init__(client, "", 0, stream=stream)
        self._filters, self._start = filters, start
        self.found: list[Origin] = []

    def _record(
        self, subject: bytes, place: list[bytes], block: bytes, _: bytes
    ) -> Record:
        position = int(place[5])
        if found := origin(block):
            self.found.append(replace(found, position=position))
        return Record(subject="", headers={}, body=b"", sequence=position, time_ns=0)

    def _configuration(self) -> dict[str, Any]:
        whole = super()._configuration()
        config = {
            **whole["config"],
            **self._start,
            "filter_subjects": list(self._filters),
            "headers_only": True,
        }
        if "opt_start_time" in config:
            del config["opt_start_seq"]
        del config["filter_subject"]
        return whole | {"config": config}


def origin(block: bytes) -> Origin | None:
    """Return where a message of the log came from, by its headers as they were sent."""
    # The server writes its own last, whatever a sensor put into the headers before.
    sourced = [*_SOURCED.finditer(block)][-1:]
    if sourced:
        # A subject may hold any bytes: a sensor must not end the connection by them.
        stream, sequence, there = (
            each.decode(errors="replace") for each in sourced[0].groups()
        )
        routed = stream == IN.name and there.startswith("ip.")
        name = f"{stream}/{there.split('.', 2)[1]}" if routed else stream
        return Origin(stream, int(sequence), name)
    # Without the server's, nobody but us wrote the message.
    if brought := _BROUGHT.search(block):
        return Origin(brought[1].decode(errors="replace"), int(brought[2]))
    return None
