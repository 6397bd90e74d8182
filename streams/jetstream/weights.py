"""Whose messages take most room of those that came last, as the log has them."""

import re
from collections import Counter
from typing import Any

from schemas.values.record import Record
from schemas.values.subjects import SubjectError, parse
from streams.jetstream import registry
from streams.jetstream.ephemeral import ASKED_AT_ONCE, Consumer
from streams.jetstream.hardened_client import BrokerClient
from streams.jetstream.sourced import state_of

_SENSED = "ev.*.in.*.sensor.>"

_LAST = 5_000
"""How many of the last sequences of each stream of the log are looked at."""

_SIZE = re.compile(rb"\r\nNats-Msg-Size: (\d+)")
"""What the server says of a body that it leaves out."""


async def weights(client: BrokerClient) -> "Counter[str]":
    """Return the bytes of what sensors sent last, by `<agent>.<source>`.

    Raises:
        StreamsError: the broker is away, or refuses.
    """
    found: Counter[str] = Counter()
    segments, _ = await registry.load(client)
    for segment in segments.open:
        last = (await state_of(client, segment.stream))["last_seq"]
        after = max(segment.first - 1, last - _LAST)
        async with _Weighing(client, _SENSED, after, stream=segment.stream) as weighing:
            while not weighing.is_at_end:
                if await weighing.rest(ASKED_AT_ONCE) is None:
                    break
            found.update(weighing.found)
    return found


class _Weighing(Consumer):
    """Reads how large messages are, and not what is in them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.found: Counter[str] = Counter()

    def _record(
        self, subject: bytes, place: list[bytes], block: bytes, _: bytes
    ) -> Record:
        name, size = _sender(subject), _SIZE.search(block)
        self.found[name] += len(block) + (int(size[1]) if size else 0)
        return Record(
            subject="", headers={}, body=b"", sequence=int(place[5]), time_ns=0
        )

    def _configuration(self) -> dict[str, Any]:
        whole = super()._configuration()
        return whole | {"config": whole["config"] | {"headers_only": True}}


def _sender(subject: bytes) -> str:
    try:
        parsed = parse(subject.decode(errors="replace"))
    except SubjectError:
        return "?"
    return f"{parsed.agent}.{parsed.detail.partition('.')[0]}"
